"""``depslice harness``: from functions to validated test harnesses."""

from __future__ import annotations

import fnmatch
import os
import random
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.failures import Finished
from depslice.cli.gating import gate_options
from depslice.cli.interpreters import Interpreter, python_options
from depslice.cli.modelling import ModelOptions, model_options, say_usage
from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
)
from depslice.cli.prompting import PromptOptions, prompt_options
from depslice.cli.results import Write, json_text, result_stream
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.dataset.model import Made
    from depslice.dataset.summary import Row
    from depslice.harness import Settings

_DEFAULT_GENERATORS = ("replay", "insitu", "hypothesis")


@click.command("harness", cls=Command)
@repository_options
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option("--all", "all_", is_flag=True, help="All functions of REPO, but for its tests.")
@click.option(
    "--match",
    multiple=True,
    metavar="PATTERN",
    help="With --all, ids that match (as file names do): `pkg.module:*`.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --all, so many of them, drawn by --seed.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N")
@click.option(
    "--called",
    is_flag=True,
    help="With --all, those that tests call.",
)
@click.option(
    "--generator",
    "generators",
    multiple=True,
    metavar="NAME",
    help="Asked in this order.  [default: replay, insitu, hypothesis]",
)
@click.option(
    "--every",
    is_flag=True,
    help="Ask every generator, also when the harness of an earlier one was accepted.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Drafts for a function and generator, repairs included.",
)
@prompt_options(builder="equivalence")
@model_options
@click.option(
    "--tests",
    multiple=True,
    metavar="PATH",
    help="Tests to record, as pytest names them.  [default: REPO's]",
)
@click.option(
    "--test-seconds",
    type=click.IntRange(min=1),
    default=600,
    show_default=True,
    metavar="N",
    help="The limit for running them all, once.",
)
@click.option(
    "--into",
    type=click.Path(),
    default="harnesses",
    show_default=True,
    metavar="FOLDER",
    help="Where harnesses and the manifest go; a run goes on where the last one ended.",
)
@gate_options
@format_option("table", "jsonl", help="jsonl: a line for each function and generator.")
@python_options
@sandbox_options
@output_options
def harness(
    *,
    repository: Repository,
    targets: tuple[str, ...],
    all_: bool,
    match: tuple[str, ...],
    sample: int | None,
    seed: int,
    called: bool,
    generators: tuple[str, ...],
    every: bool,
    rounds: int,
    prompting: PromptOptions,
    asking: ModelOptions,
    tests: tuple[str, ...],
    test_seconds: int,
    into: str,
    format_: str,
    interpreter: Interpreter,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    output: Output,
    **gates: Any,
) -> None:
    """Write test harnesses for TARGETs, and keep those that are worth something.

    REPO's own tests run once in a sandbox, and calls of the TARGETs are recorded. Each
    generator drafts a harness, which is validated and, as long as the generator knows how,
    mended. Without a model: `replay` makes the recorded calls again, `insitu` compares
    where the tests make them, `hypothesis` makes arguments up.
    """
    if bool(targets) == all_:
        raise click.UsageError("give TARGETs, or --all")
    if (match or sample or called) and not all_:
        raise click.UsageError("--match, --sample and --called go with --all")
    notes = Notes(output)
    with opened(repository, notes) as program:
        run = _Run(
            program=program,
            repository=repository,
            into=Path(into),
            interpreter=interpreter,
            settings=_settings(prompting, asking, seed, use_cache=repository.use_cache),
            notes=notes,
        )
        wanted = run.wanted(match) if all_ else run.named(targets)
        if asking.dry_run:
            _say_expected(program, wanted, run.settings, notes)
            return
        with ExitStack() as stack:
            sandbox_ = sandbox_of(sandbox, unsafe=unsafe_no_sandbox, notes=notes)
            maker = run.opened(
                stack,
                sandbox_,
                wanted,
                generators=generators,
                gates=gates,
                rounds=rounds,
                every=every,
                tests=tests,
                test_seconds=test_seconds,
            )
            if called:
                wanted = [each for each in wanted if maker.recording.calls.get(each.id)]
            if sample is not None and sample < len(wanted):
                chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
                wanted = sorted(chance.sample(wanted, sample), key=lambda each: each.id)
            run.make(maker, wanted, output, format_)


def _settings(
    prompting: PromptOptions, asking: ModelOptions, seed: int, *, use_cache: bool
) -> Settings:
    from depslice.harness import Settings

    return Settings(
        model=asking.model or "",
        builder=prompting.builder,
        strategy=prompting.strategy,
        limit=prompting.limit,
        templates=prompting.templates,
        samples=asking.samples,
        sampling=asking.options(),
        task_caps=asking.task_caps(),
        seed=seed,
        models=asking.settings(use_cache=use_cache),
    )


def _say_expected(
    program: Program, wanted: Sequence[Symbol], settings: Settings, notes: Notes
) -> None:
    """What the first prompts for all functions would take. Repairs come on top."""
    from depslice.harness import Task
    from depslice.harness.llm import LlmGenerator
    from depslice.llm import Usage

    with closing(LlmGenerator(settings)) as generator:
        tasks = (Task(program=program, target=each) for each in wanted)
        most = sum((generator.expected(task) for task in tasks), Usage())
    say_usage(notes, f"first round for {len(wanted):,} functions, at most", most)


class _Run:
    """The parts of a run, in the order in which they are needed."""

    def __init__(
        self,
        *,
        program: Program,
        repository: Repository,
        into: Path,
        interpreter: Interpreter,
        settings: Settings,
        notes: Notes,
    ) -> None:
        self.program = program
        self.repository = repository
        self.into = into
        self.interpreter = interpreter
        self.settings = settings
        self.notes = notes

    def named(self, targets: Sequence[str]) -> list[Symbol]:
        """The functions that the user names."""
        from depslice.callgraph.model import SymbolKind
        from depslice.callgraph.targets import find_symbol

        found = []
        for each in targets:
            symbol = find_symbol(self.program, each)
            if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD):
                raise click.UsageError(f"{symbol.id} is a {symbol.kind.value}, not a function")
            found.append(symbol)
        return list(dict.fromkeys(found))

    def wanted(self, patterns: Sequence[str]) -> list[Symbol]:
        """All functions that match, but for lambdas and tests."""
        from depslice.callgraph import list_functions
        from depslice.validator.calls import is_test_module

        with self.notes.progress("reading") as progress:
            self.program.load_all(workers=self.repository.workers, progress=progress)
        return [
            symbol
            for symbol in list_functions(self.program, workers=1)
            if "<lambda>" not in symbol.id
            and not is_test_module(symbol.id.partition(":")[0])
            and (not patterns or any(fnmatch.fnmatchcase(symbol.id, each) for each in patterns))
        ]

    def opened(
        self,
        stack: ExitStack,
        sandbox: Any,
        wanted: Sequence[Symbol],
        *,
        generators: Sequence[str],
        gates: dict[str, Any],
        rounds: int,
        every: bool,
        tests: Sequence[str],
        test_seconds: int,
    ) -> Any:
        """The maker, with a recording of the calls of ``wanted``."""
        from depslice.dataset.making import Maker
        from depslice.dataset.recorded import recorded_calls
        from depslice.harness import GeneratorUnavailable, open_generator
        from depslice.validator import check_limits, open_workspace
        from depslice.validator.validation import Gates, open_session

        made = []
        for name in generators or _DEFAULT_GENERATORS:
            try:
                generator = open_generator(name, self.settings)
                stack.callback(getattr(generator, "close", lambda: None))
                made.append(generator)
            except GeneratorUnavailable as error:
                if generators:
                    raise
                self.notes.say(f"without {name}: {error.message}")
        python = self.interpreter.chosen(self.repository, self.program, sandbox, self.notes)
        whole = os.path.isdir(self.repository.path)
        self.into.mkdir(parents=True, exist_ok=True)
        with (
            open_workspace(
                self.program.project,
                python=python,
                sandbox=sandbox,
                limits=check_limits(test_seconds),
                whole_folder=whole,
            ) as space,
            self.notes.steps("running the tests of the repository") as step,
        ):
            step("recording calls")
            recording = recorded_calls(
                space,
                self.program,
                [each.id for each in wanted],
                tests=tests,
                kept=self.into / "calls.json",
            )
        if recording.ended:
            self.notes.say(f"recording ended early: {recording.ended}")
        called = sum(bool(recording.calls.get(each.id)) for each in wanted)
        self.notes.say(f"{called:,} of {len(wanted):,} functions are called by tests")
        session = stack.enter_context(
            open_session(self.program, sandbox=sandbox, python=python, gates=Gates(**gates))
        )
        return Maker(
            session=session,
            generators=made,
            recording=recording,
            folder=self.into,
            settings=self.settings,
            rounds=rounds,
            every=every,
        )

    def make(self, maker: Any, wanted: Sequence[Symbol], output: Output, format_: str) -> None:
        """Make harnesses, and tell of them."""
        from depslice.dataset.model import made_document
        from depslice.dataset.summary import summarized

        started = time.monotonic()
        found: list[Made] = []
        with result_stream(output) as write, self.notes.progress("harnesses") as progress:
            for made in maker.make(wanted, progress=progress):
                found.append(made)
                if format_ == "jsonl":
                    write(json_text(made_document(made), indent=None))
                else:
                    _tell(write, made, self.into)
            if format_ == "table" and found:
                write("\n" + "\n".join(_table(summarized(found))) + "\n")
        self.notes.say(f"{len(wanted):,} functions; {time.monotonic() - started:.1f} s")
        accepted = {each.target for each in found if each.verdict == "accepted"}
        if len(accepted) < len(wanted):
            left = [each for each in found if each.target not in accepted]
            raise Finished(3 if all(m.verdict == "inconclusive" for m in left) else 1)


def _tell(write: Write, made: Made, into: Path) -> None:
    parts = [f"{made.verdict:<12}", f"{made.generator:<10}", made.target]
    if made.branch_coverage is not None:
        parts.append(f"branches {made.branch_coverage:.0%}")
    if made.mutation_score is not None:
        parts.append(f"mutants {made.mutation_score:.0%}")
    if made.harness:
        parts.append(str(into / made.harness))
    write("  ".join(parts) + "\n")
    if made.verdict != "accepted":
        for slug, message in made.reasons[:2]:
            write(f"    {slug}: {message}\n")


def _table(rows: Sequence[Row]) -> list[str]:
    head = (
        "generator", "functions", "valid", "accepted", "branches", "mutants", "rounds",
        "tokens", "dollars", "seconds",
    )  # fmt: skip
    cells = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(head))]
    lines = []
    for line in cells:
        first, *rest = line
        lines.append(
            "  ".join(
                [
                    f"{first:<{widths[0]}}",
                    *(f"{c:>{w}}" for c, w in zip(rest, widths[1:], strict=True)),
                ]
            )
        )
    return lines


def _cells(row: Row) -> tuple[str, ...]:
    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    return (
        row.name,
        str(row.functions),
        str(row.self_equivalent),
        str(row.accepted),
        share(row.branch_coverage),
        share(row.mutation_score),
        f"{row.rounds:.1f}",
        f"{row.tokens:,}",
        f"{row.dollars:.2f}",
        f"{row.seconds:.0f}",
    )

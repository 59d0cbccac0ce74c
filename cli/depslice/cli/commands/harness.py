"""``depslice harness``: from functions to validated test harnesses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.failures import Finished
from depslice.cli.gating import gate_options
from depslice.cli.interpreters import Interpreter, python_options
from depslice.cli.made_table import made_lines, summary_table
from depslice.cli.making import Selection, Site, open_generators, refuse_no_files
from depslice.cli.modelling import ModelOptions, model_options, say_usage
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    complete_names,
    format_option,
    output_options,
    repository_options,
    target_argument,
    tests_options,
)
from depslice.cli.prompting import PromptOptions, prompt_options
from depslice.cli.results import json_text, make_folder, result_stream, write_result
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.dataset.model import Made
    from depslice.harness import Settings


def _generators() -> tuple[str, ...]:
    from depslice.harness.choosing import generator_names

    return generator_names()


@click.command(
    "harness",
    cls=Command,
    short_help="Write test harnesses for TARGETs, validated.",
    examples=(
        "depslice harness . package.module:function",
        'depslice harness . --all --match "package.parser:*" --into harnesses',
    ),
)
@repository_options
@target_argument("targets", nargs=-1, required=False, metavar="[TARGET]...")
@click.option("--all", "all_", is_flag=True, help="All functions of REPO, but for its tests.")
@click.option(
    "--match",
    multiple=True,
    metavar="PATTERN",
    help="With --all, ids that match (as file names do): `pkg.module:*`.",
)
@click.option(
    "--sample",
    type=Whole(min=1),
    metavar="N",
    help="With --all, so many of them, drawn by --seed.",
)
@click.option("--seed", type=Whole(), default=0, show_default=True, metavar="N")
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
    shell_complete=complete_names(_generators),
    help="Asked in this order.  [default: replay, insitu, hypothesis]",
)
@click.option(
    "--every",
    is_flag=True,
    help="Ask every generator, also when the harness of an earlier one was accepted.",
)
@click.option(
    "--rounds",
    type=Whole(min=1),
    default=4,
    show_default=True,
    metavar="N",
    help="Drafts for a function and generator, repairs included.",
)
@prompt_options(builder="equivalence")
@click.option(
    "--output-prediction",
    is_flag=True,
    help="For comparison: have the model predict outputs, and call no reference. Implies"
    " --generator llm, --builder output-prediction, --no-equivalence.",
)
@model_options
@tests_options
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
@click.option(
    "--problems",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the accepted ones there as problems for `depslice evaluate`.",
)
@click.option(
    "--show-calls",
    type=Whole(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="With --problems, recorded calls that a problem shows: at most N, and a third.",
)
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
    output_prediction: bool,
    asking: ModelOptions,
    tests: tuple[str, ...],
    test_seconds: int,
    into: str,
    format_: str,
    problems: Path | None,
    show_calls: int,
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
    from depslice.validator.validation import Gates

    selection = Selection(
        targets=targets, all=all_, match=match, sample=sample, seed=seed, called=called
    )
    selection.refuse_nonsense()
    if output_prediction:
        prompting, generators = _predicting(prompting, generators)
        gates["equivalence"] = False
    notes, folder = Notes(output), Path(into)
    settings = _settings(prompting, asking, seed, notes, use_cache=repository.use_cache)
    with opened(repository, notes) as program, ExitStack() as stack:
        wanted = selection.symbols(program, repository, notes)
        if asking.dry_run:
            _say_expected(program, wanted, settings, notes)
            return
        refuse_no_files(program, tests)
        make_folder(folder)
        runs_in = sandbox_of(sandbox, unsafe=unsafe_no_sandbox, notes=notes)
        made_by = open_generators(generators, settings, notes, stack)
        site = Site(
            program=program,
            repository=repository,
            sandbox=runs_in,
            python=interpreter.chosen(repository, program, runs_in, notes),
            notes=notes,
        )
        space = stack.enter_context(site.workspace(test_seconds))
        recording = site.recording(
            space,
            wanted,
            tests,
            needed=called or all(each.needs_calls for each in made_by),
            kept=folder / "calls.json",
        )
        wanted = selection.drawn(wanted, recording)
        making = site.maker(
            made_by, recording, settings, Gates(**gates), into=folder, rounds=rounds, every=every
        )
        started = time.monotonic()
        with making as maker, notes.progress("harnesses", slow=True) as progress:
            found = _told(maker.make(wanted, progress=progress), folder, format_, output)
        notes.say(f"{counted(len(wanted), 'function')}; {time.monotonic() - started:.1f} s")
        if problems is not None:
            lines = site.problems(space, found, recording, problems, into=folder, shown=show_calls)
            _write_problems(problems, lines, notes)
    _finish(wanted, found)


def _told(found: Iterator[Made], into: Path, format_: str, output: Output) -> list[Made]:
    """What is made, told as it comes; then the table."""
    from depslice.dataset.model import made_document
    from depslice.dataset.summary import summarized

    told = []
    with result_stream(output) as write:
        for made in found:
            told.append(made)
            if format_ == "jsonl":
                write(json_text(made_document(made), indent=None))
            else:
                write(made_lines(made, into))
        if format_ == "table" and told:
            write("\n" + summary_table(summarized(told)))
    return told


def _write_problems(path: Path, lines: Sequence[dict[str, Any]], notes: Notes) -> None:
    place = Output(path=str(path), quiet=True, verbose=False, color=False)
    write_result(place, "".join(json_text(line, indent=None) for line in lines))
    shown = sum(bool(line["visible"]) for line in lines)
    notes.say(f"{path}: {counted(len(lines), 'problem')}, {shown:,} of them show calls")


def _finish(wanted: Sequence[Symbol], found: Sequence[Made]) -> None:
    """The exit code: whether there is an accepted harness for each."""
    accepted = {each.target for each in found if each.verdict == "accepted"}
    if len(accepted) < len(wanted):
        left = [each for each in found if each.target not in accepted]
        raise Finished(3 if all(made.verdict == "inconclusive" for made in left) else 1)


def _predicting(
    prompting: PromptOptions, generators: tuple[str, ...]
) -> tuple[PromptOptions, tuple[str, ...]]:
    """The options with those that ``--output-prediction`` implies."""
    if prompting.builder not in ("equivalence", "output-prediction"):
        raise click.UsageError("--output-prediction and --builder do not go together")
    if set(generators) - {"llm"}:
        raise click.UsageError("--output-prediction is for the generator llm alone")
    return replace(prompting, builder="output-prediction"), ("llm",)


def _settings(
    prompting: PromptOptions, asking: ModelOptions, seed: int, notes: Notes, *, use_cache: bool
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
        models=asking.settings(notes, use_cache=use_cache),
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
    say_usage(notes.tell, f"first round for {counted(len(wanted), 'function')}, at most", most)

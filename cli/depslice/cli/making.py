"""The parts of a run of ``depslice harness``; ``refine`` uses the first of them."""

from __future__ import annotations

import fnmatch
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.callgraph.counting import counted
from depslice.cli.notes import Notes
from depslice.cli.options import Repository

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.callgraph.model import Symbol
    from depslice.dataset.making import Maker
    from depslice.dataset.model import Made
    from depslice.dataset.recorded import Recording
    from depslice.harness import HarnessGenerator, Settings
    from depslice.validator import Workspace
    from depslice.validator.sandbox import Sandbox
    from depslice.validator.validation import Gates

DEFAULT_GENERATORS = ("replay", "insitu", "hypothesis")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which functions the user wants harnesses for."""

    targets: tuple[str, ...]
    all: bool
    match: tuple[str, ...]
    sample: int | None
    seed: int
    called: bool

    def refuse_nonsense(self) -> None:
        """Raise ``UsageError`` for options that do not go together."""
        if bool(self.targets) == self.all:
            raise click.UsageError("give TARGETs, or --all")
        if (self.match or self.sample or self.called) and not self.all:
            raise click.UsageError("--match, --sample and --called go with --all")

    def symbols(self, program: Program, repository: Repository, notes: Notes) -> list[Symbol]:
        """Those that are named, or all that match, but for lambdas and tests.

        :raises click.UsageError: no function matches, or what is named is none.
        """
        if not self.all:
            return _named(program, self.targets)
        from depslice.callgraph import list_functions
        from depslice.validator.calls import is_test_module

        with notes.progress("reading") as progress:
            program.load_all(workers=repository.workers, progress=progress)
        found = [
            symbol
            for symbol in list_functions(program, workers=1)
            if "<lambda>" not in symbol.id
            and not is_test_module(symbol.id.partition(":")[0])
            and (not self.match or any(fnmatch.fnmatchcase(symbol.id, m) for m in self.match))
        ]
        if self.match and not found:
            wanted = " or ".join(repr(each) for each in self.match)
            raise click.UsageError(
                f"no function matches {wanted}: patterns are of whole ids, as"
                " `depslice functions` lists them"
            )
        return found

    def drawn(self, symbols: Sequence[Symbol], recording: Recording) -> list[Symbol]:
        """Of these, those that tests call if that is wanted, and the sample of them."""
        found = [s for s in symbols if not self.called or recording.calls.get(s.id)]
        if self.sample is None or self.sample >= len(found):
            return found
        chance = random.Random(self.seed)  # noqa: S311 - a sample, not a secret
        return sorted(chance.sample(found, self.sample), key=lambda each: each.id)


def _named(program: Program, targets: Sequence[str]) -> list[Symbol]:
    from depslice.callgraph.model import SymbolKind
    from depslice.callgraph.targets import find_symbol

    found = []
    for each in targets:
        symbol = find_symbol(program, each)
        if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD):
            raise click.UsageError(f"{symbol.id} is a {symbol.kind.value}, not a function")
        found.append(symbol)
    return list(dict.fromkeys(found))


def refuse_no_files(program: Program, tests: Sequence[str]) -> None:
    """See that the files of ``tests`` are there, before anything is made or run for them.

    :raises click.UsageError: one is not; pytest would run none of them then.
    """
    root = program.project.root
    for test in tests:
        path = test.partition("::")[0]
        if not os.path.exists(os.path.join(root, path)):
            raise click.UsageError(f"--tests {test}: there is no {path} in {root}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A repository, and where its code runs."""

    program: Program
    repository: Repository
    sandbox: Sandbox
    python: str
    notes: Notes

    @contextmanager
    def workspace(self, seconds: float) -> Iterator[Workspace]:
        """A copy of the repository to run its tests in, each process within ``seconds``."""
        from depslice.validator import check_limits, open_workspace

        with open_workspace(
            self.program.project,
            python=self.python,
            sandbox=self.sandbox,
            limits=check_limits(seconds),
            whole_folder=os.path.isdir(self.repository.path),
        ) as space:
            yield space

    def recording(
        self,
        space: Workspace,
        wanted: Sequence[Symbol],
        tests: Sequence[str],
        *,
        needed: bool = False,
        kept: Path | None = None,
    ) -> Recording:
        """The calls of ``wanted`` by the tests; those in the file ``kept`` are not made again.

        :raises CheckUnavailable: the tests cannot be run to their end, there is no call at all,
            and without calls there is nothing to do: they are ``needed``.
        """
        from depslice.dataset.recorded import recorded_calls
        from depslice.validator import CheckUnavailable

        with self.notes.steps("running the tests of the repository", slow=True) as step:
            step(f"recording calls of {counted(len(wanted), 'function')}")
            found = recorded_calls(
                space,
                self.program,
                [each.id for each in wanted],
                tests=tests,
                kept=kept,
            )
        if found.ended and needed and not any(found.calls.values()):
            raise CheckUnavailable(f"no call is recorded: {found.ended}", hint=found.hint)
        if found.ended:
            what = "recording is not complete" if found.ran else "no call is recorded"
            self.notes.tell(f"{what}: {found.ended}")
            self.notes.tell(f"  hint: {found.hint}")
        called = sum(bool(found.calls.get(each.id)) for each in wanted)
        self.notes.say(f"{called:,} of {len(wanted):,} functions are called by tests")
        return found

    @contextmanager
    def maker(
        self,
        generators: Sequence[HarnessGenerator],
        recording: Recording,
        settings: Settings,
        gates: Gates,
        *,
        into: Path,
        rounds: int,
        every: bool,
    ) -> Iterator[Maker]:
        """What makes the harnesses in ``into``, as many side by side as there are workers."""
        from depslice.dataset.making import Maker
        from depslice.validator.validation import open_session

        with open_session(
            self.program,
            sandbox=self.sandbox,
            python=self.python,
            gates=gates,
            whole_folder=os.path.isdir(self.repository.path),
        ) as session:
            yield Maker(
                session=session,
                generators=generators,
                recording=recording,
                folder=into,
                settings=settings,
                rounds=rounds,
                every=every,
                workers=self.repository.workers or os.cpu_count() or 1,
            )

    def problems(
        self,
        space: Workspace,
        made: Sequence[Made],
        recording: Recording,
        path: Path,
        *,
        into: Path,
        shown: int,
    ) -> list[dict[str, Any]]:
        """The accepted harnesses as problems, each with so many calls shown at most."""
        from depslice.dataset.examples import shown as shown_calls
        from depslice.dataset.problems import problem_document
        from depslice.dataset.summary import best_of

        found = []
        best = [each for each in best_of(made) if each.verdict == "accepted"]
        with self.notes.progress("calls that problems show", slow=True) as progress:
            for number, each in enumerate(best, 1):
                calls = recording.calls.get(each.target, ())
                found.append(
                    problem_document(
                        each,
                        shown_calls(space, self.program, each.target, calls, most=shown),
                        repository=Path(self.repository.path),
                        harnesses=into,
                        file=path,
                    )
                )
                progress(number, len(best))
        return found


def open_generators(
    names: Sequence[str], settings: Settings, notes: Notes, stack: ExitStack
) -> list[HarnessGenerator]:
    """Those that are named; without names the default ones, as far as they work here.

    :raises GeneratorUnavailable: one that is named does not.
    """
    from depslice.harness import GeneratorUnavailable, open_generator

    found = []
    for name in names or DEFAULT_GENERATORS:
        try:
            generator = open_generator(name, settings)
        except GeneratorUnavailable as error:
            if names:
                raise
            notes.say(f"without {name}: {error.message}")
            continue
        close: Callable[[], None] | None = getattr(generator, "close", None)
        if close is not None:
            stack.callback(close)
        found.append(generator)
    return found

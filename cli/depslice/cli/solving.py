"""What ``solve`` and ``evaluate`` share: problems, solvers, the model, where answers run."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from depslice.cli.interpreters import interpreter_at
from depslice.cli.modelling import ModelOptions, model_options
from depslice.cli.notes import Notes
from depslice.cli.numbers import Number, Whole
from depslice.cli.options import complete_names, with_options
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.solvers.problem import Task
    from depslice.solvers.running.attempt import Place

_Function = TypeVar("_Function", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say; :meth:`tasks` and :meth:`place` are what they mean."""

    path: str
    problems: tuple[str, ...]
    limit: int | None
    strategies: tuple[str, ...]
    seconds: float
    run_python: str | None
    oracle: bool
    use_cache: bool
    sandbox: str | None
    unsafe: bool

    def tasks(self, notes: Notes) -> list[Task]:
        """The problems that are asked for.

        :raises ProblemError: their file cannot be used, or has no such problem.
        """
        from depslice.solvers.loading import load_tasks
        from depslice.solvers.problem import HiddenHarness, ProblemError

        found = load_tasks(
            Path(self.path), strategies=self.strategies, cache="auto" if self.use_cache else None
        )
        if self.strategies and not any(isinstance(each.hidden, HiddenHarness) for each in found):
            notes.say("--strategy is for functions of repositories: these problems have none")
        names = list(dict.fromkeys(task.problem.id for task in found))
        for name in self.problems:
            if name not in names:
                raise ProblemError(f"{self.path} has no problem {name!r}")
        chosen = set((self.problems or names)[: self.limit])
        return [self._limited(task) for task in found if task.problem.id in chosen]

    @property
    def python(self) -> Path:
        """The Python that answers run with."""
        return Path(interpreter_at(self.run_python) if self.run_python else sys.executable)

    def _limited(self, task: Task) -> Task:
        from depslice.solvers.problem import HiddenTests

        if not isinstance(task.hidden, HiddenTests):
            return task
        return replace(task, hidden=replace(task.hidden, seconds=self.seconds))

    @contextmanager
    def place(self, asking: ModelOptions, notes: Notes) -> Iterator[Place]:
        """Where attempts are made; what was started for the model ends with the context.

        :raises DepsliceError: there is no such model, or no sandbox.
        """
        from depslice.llm import Caps
        from depslice.solvers.execution.trials import Grounds
        from depslice.solvers.running.attempt import Place

        if asking.dry_run:
            raise click.UsageError(
                "--dry-run cannot say what solvers take: what they ask depends on the answers that"
                " they get; --max-dollars, --max-total-tokens and --max-calls bound it"
            )
        if asking.samples > 1 and asking.options().temperature == 0:
            notes.say(
                "at temperature 0 all samples are the same, but those of solvers that set their own"
            )
        with asking.open(notes, use_cache=self.use_cache) as model:
            sandbox = sandbox_of(self.sandbox, unsafe=self.unsafe, notes=notes)
            if not sandbox.isolates:
                notes.say("no sandbox: a solver that looks for the hidden tests can find them")
            with Grounds(sandbox=sandbox, python=self.python) as grounds:
                caps = asking.task_caps()
                yield Place(
                    model=model,
                    grounds=grounds,
                    options=asking.options(),
                    oracle=self.oracle,
                    caps=caps if caps != Caps() else None,
                )


def solving_options(function: _Function) -> Callable[..., None]:
    """Add PROBLEMS, the model and where answers run; the command gets ``asked``, ``asking``."""

    @functools.wraps(function)
    def packed(*, unsafe_no_sandbox: bool, no_cache: bool, **given: Any) -> None:
        mine = {name: given.pop(name) for name in Asked.__slots__ if name in given}
        function(asked=Asked(**mine, unsafe=unsafe_no_sandbox, use_cache=not no_cache), **given)

    return with_options(packed, _OPTIONS)


_OPTIONS = (
    click.argument("path", metavar="PROBLEMS", type=click.Path()),
    click.option(
        "--problem", "problems", multiple=True, metavar="ID", help="Only this one; repeat."
    ),
    click.option("--limit", type=Whole(min=1), metavar="N", help="Only the first N problems."),
    click.option(
        "--strategy",
        "strategies",
        type=click.Choice(["naive", "sliced", "usages", "full"]),
        multiple=True,
        help="The context of functions of repositories; repeat to compare.  [default: sliced]",
    ),
    click.option(
        "--seconds",
        type=Number(min=0.1, max=3600),
        default=10.0,
        show_default=True,
        metavar="N",
        help="Of CPU time for the hidden tests of a problem; each visible one has 1 second.",
    ),
    model_options,
    click.option(
        "--no-cache", is_flag=True, help="Neither read nor write recorded answers, or the cache."
    ),
    click.option(
        "--run-python",
        type=click.Path(),
        metavar="PATH",
        help="The Python that executes answers.  [default: depslice's own]",
    ),
    click.option(
        "--oracle",
        is_flag=True,
        help="Let solvers ask for the outcome of the hidden tests; counted apart.",
    ),
    sandbox_options,
)


def _solvers() -> tuple[str, ...]:
    from depslice.solvers.choosing import solver_names

    return solver_names()


def solver_option(*, multiple: bool) -> Callable[[Any], Any]:
    """Add ``--solver``; of ``multiple`` ones, the command says whether it needs any."""
    return click.option(
        "--solver",
        "solvers" if multiple else "solver",
        multiple=multiple,
        required=not multiple,
        metavar="NAME[:OPTION=VALUE,…]",
        shell_complete=complete_names(_solvers),
        help="A method; " + ("repeat to compare." if multiple else "see docs/solvers.md."),
    )


__all__ = ["Asked", "solver_option", "solving_options"]

"""What ``solve`` and ``evaluate`` share: problems, solvers, the model, where answers run."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from depslice.cli.notes import Notes
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.llm.opening import ModelSettings
    from depslice.solvers.problem import Task
    from depslice.solvers.running.attempt import Place

_Function = TypeVar("_Function", bound=Callable[..., None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options say; :meth:`tasks` and :meth:`place` are what they mean."""

    path: str
    problems: tuple[str, ...]
    limit: int | None
    model: str
    base_url: str
    completions: str | None
    replay: bool
    threads: int
    max_dollars: float | None
    max_tokens_total: int | None
    max_calls: int | None
    temperature: float
    max_tokens: int
    seed: int
    run_python: str | None
    sandbox: str | None
    unsafe: bool
    oracle: bool

    def tasks(self) -> list[Task]:
        """The problems that are asked for.

        :raises ProblemError: their file cannot be used, or has no such problem.
        """
        from depslice.solvers.loading import load_tasks
        from depslice.solvers.problem import ProblemError

        found = {task.problem.id: task for task in load_tasks(Path(self.path))}
        for name in self.problems:
            if name not in found:
                raise ProblemError(f"{self.path} has no problem {name!r}")
        chosen = [found[name] for name in self.problems] or list(found.values())
        return chosen[: self.limit]

    @contextmanager
    def place(self, notes: Notes) -> Iterator[Place]:
        """Where attempts are made; what was started for the model ends with the context.

        :raises DepsliceError: there is no such model, or no sandbox.
        """
        from depslice.llm.opening import open_model
        from depslice.llm.port import Options
        from depslice.solvers.running.attempt import Place

        sandbox = sandbox_of(self.sandbox, unsafe=self.unsafe, notes=notes)
        if not sandbox.isolates:
            notes.say("no sandbox: a solver that looks for the hidden tests can find them")
        with open_model(self.model, self._settings()) as model:
            yield Place(
                model=model,
                sandbox=sandbox,
                python=Path(self.run_python or sys.executable),
                options=Options(
                    temperature=self.temperature,
                    max_tokens=self.max_tokens,
                    seed=self.seed if self.temperature > 0 else None,
                ),
                oracle=self.oracle,
            )

    def _settings(self) -> ModelSettings:
        from depslice.llm.cache import Mode
        from depslice.llm.caps import Caps
        from depslice.llm.opening import ModelSettings

        return ModelSettings(
            base_url=self.base_url,
            mode=Mode.REPLAY if self.replay else Mode.USE,
            completions=Path(self.completions) if self.completions else None,
            caps=Caps(dollars=self.max_dollars, tokens=self.max_tokens_total, calls=self.max_calls),
            threads=self.threads,
        )


def solving_options(function: _Function) -> Callable[..., None]:
    """Add PROBLEMS and all that attempts need; the command gets ``asked``."""

    @functools.wraps(function)
    def packed(*, unsafe_no_sandbox: bool, **given: Any) -> None:
        names = {each for each in Asked.__slots__ if each in given}
        mine = {name: given.pop(name) for name in names}
        function(asked=Asked(**mine, unsafe=unsafe_no_sandbox), **given)

    for option in reversed(_options()):
        packed = option(packed)
    return packed


def _options() -> Sequence[Callable[[Any], Any]]:
    count = click.IntRange(min=1)
    return (
        click.argument("path", metavar="PROBLEMS", type=click.Path()),
        click.option(
            "--problem", "problems", multiple=True, metavar="ID", help="Only this one; repeat."
        ),
        click.option("--limit", type=count, metavar="N", help="Only the first N problems."),
        click.option(
            "--model",
            required=True,
            metavar="MODEL",
            help="openai:NAME, anthropic:NAME, local:PATH.gguf, or NAME with --base-url.",
        ),
        click.option(
            "--base-url", default="", metavar="URL", help="An OpenAI-compatible endpoint."
        ),
        click.option(
            "--completions",
            type=click.Path(),
            metavar="FOLDER",
            help="Where answers of the model are kept.  [default: in the cache]",
        ),
        click.option("--replay", is_flag=True, help="Only recorded answers; a miss is an error."),
        click.option(
            "--threads", type=count, default=1, show_default=True, help="Of a local model."
        ),
        click.option(
            "--max-dollars", type=click.FloatRange(min=0), metavar="N", help="A cap for the run."
        ),
        click.option(
            "--max-tokens-total", type=count, metavar="N", help="A cap for the run, in and out."
        ),
        click.option("--max-calls", type=count, metavar="N", help="A cap for the run."),
        click.option(
            "--temperature",
            type=click.FloatRange(min=0, max=2),
            default=0.0,
            show_default=True,
            metavar="T",
            help="Where a solver does not set its own.",
        ),
        click.option(
            "--max-tokens", type=count, default=1024, show_default=True, help="Of one answer."
        ),
        click.option(
            "--seed", type=int, default=0, show_default=True, help="Of draws above temperature 0."
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


def solver_option(*, multiple: bool) -> Callable[[Any], Any]:
    """Add ``--solver``."""
    return click.option(
        "--solver",
        "solvers" if multiple else "solver",
        multiple=multiple,
        required=True,
        metavar="NAME[:OPTION=VALUE,…]",
        help="A method; " + ("repeat to compare." if multiple else "see docs/solvers.md."),
    )


__all__ = ["Asked", "solver_option", "solving_options"]

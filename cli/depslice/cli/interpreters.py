"""Which Python runs a repository's code."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.notes import Notes
from depslice.cli.options import Repository, with_options

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.validator.sandbox import Sandbox

_ENVIRONMENTS = (".venv", "venv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """What the user says of the Python to run: its path, to make one, or nothing."""

    path: str | None
    make: bool

    def chosen(
        self, repository: Repository, program: Program, sandbox: Sandbox, notes: Notes
    ) -> str:
        """Its path; an environment is made unless it is there already.

        :raises EnvironmentFailed: it cannot be made.
        """
        if self.make:
            return _made_for(program, sandbox, notes)
        return python_for(self.path, repository)


def python_options(function: Callable[..., None]) -> Callable[..., None]:
    """``--run-python`` and ``--make-environment``; the command gets ``interpreter``."""

    @functools.wraps(function)
    def packed(*, run_python: str | None, make_environment: bool, **rest: Any) -> None:
        if run_python and make_environment:
            raise click.UsageError("--run-python and --make-environment do not go together")
        function(interpreter=Interpreter(path=run_python, make=make_environment), **rest)

    return with_options(packed, _OPTIONS)


make_environment_option = click.option(
    "--make-environment",
    is_flag=True,
    help="Make an environment with pytest and what REPO and its tests declare and import, from"
    " the registry.",
)

_OPTIONS = (
    click.option(
        "--run-python",
        type=click.Path(),
        metavar="PATH",
        help="The Python that has what REPO needs.  [default: REPO's .venv, or depslice's own]",
    ),
    make_environment_option,
)


def interpreter_at(path: str) -> str:
    """The absolute path of an interpreter that the user names: by path, as a command, or by the
    folder of its environment.

    Links are not followed: an interpreter finds its environment by where it was called.

    :raises click.UsageError: there is none.
    """
    found = shutil.which(os.path.join(path, "bin", "python") if os.path.isdir(path) else path)
    if found is None:
        raise click.UsageError(f"there is no Python {path}")
    return os.path.abspath(found)


def python_for(path: str | None, repository: Repository) -> str:
    """The interpreter that the user names, else that of the repository."""
    return interpreter_at(path) if path else _python_of(repository.path)


def _python_of(path: str) -> str:
    """The interpreter of the repository's own environment, or the one that runs depslice."""
    for name in _ENVIRONMENTS:
        found = os.path.join(path, name, "bin", "python")
        if os.path.exists(found):
            return os.path.abspath(found)
    return sys.executable


def _made_for(program: Program, sandbox: Sandbox, notes: Notes) -> str:
    from depslice.validator.environment import make_environment

    with notes.steps("environment", slow=True) as step:
        step("found, or made from the registry now: that may take minutes")
        made = make_environment(program.project, sandbox, tests=True)
    guessed = ", ".join(f"{name} by {distribution}" for name, distribution in made.guessed)
    if guessed:
        notes.say(f"imports that nothing declares: {guessed}")
    return str(made.python)

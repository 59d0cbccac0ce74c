"""Which Python runs a repository's code, when the user does not say."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from depslice.cli.notes import Notes

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.validator.sandbox import Sandbox

_ENVIRONMENTS = (".venv", "venv")


def python_of(path: str) -> str:
    """The interpreter of the repository's own environment, or the one that runs depslice."""
    for name in _ENVIRONMENTS:
        found = os.path.join(path, name, "bin", "python")
        if os.path.exists(found):
            return os.path.abspath(found)
    return sys.executable


def python_made_for(program: Program, sandbox: Sandbox, notes: Notes) -> str:
    """The interpreter of an environment that is made for the repository, unless it is kept.

    :raises EnvironmentFailed: it cannot be made.
    """
    from depslice.validator.environment import make_environment

    made = make_environment(program.project, sandbox)
    guessed = ", ".join(f"{name} by {distribution}" for name, distribution in made.guessed)
    if guessed:
        notes.say(f"imports that nothing declares: {guessed}")
    return str(made.python)

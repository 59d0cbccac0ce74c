"""Virtual environments for repositories: what they declare and import, installed in a sandbox."""

from __future__ import annotations

from depslice.validator.environment.building import make_environment
from depslice.validator.environment.declared import read_declared
from depslice.validator.environment.model import (
    Cause,
    Declared,
    Environment,
    EnvironmentFailed,
    Interpreter,
)
from depslice.validator.environment.pythons import choose_interpreter, find_interpreters
from depslice.validator.environment.undeclared import needed_imports

__all__ = [
    "Cause",
    "Declared",
    "Environment",
    "EnvironmentFailed",
    "Interpreter",
    "choose_interpreter",
    "find_interpreters",
    "make_environment",
    "needed_imports",
    "read_declared",
]

"""What an environment is made of, and what came of making it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from depslice.callgraph.errors import DepsliceError


class Cause(StrEnum):
    """Why an environment cannot be made."""

    UV = "uv"  # it is not installed
    PYTHON = "python"  # no interpreter that the project wants
    METADATA = "metadata"  # the project's files cannot be understood
    RESOLUTION = "resolution"  # no versions that fit together
    NETWORK = "network"  # the registry cannot be reached
    BUILD = "build"  # a build script failed
    LIMIT = "limit"  # time, memory or disk
    SANDBOX = "sandbox"  # the sandbox ended
    FOLDER = "folder"  # there is no place to keep it


class EnvironmentFailed(DepsliceError):
    """No environment can be made for a repository; ``log`` holds all that was said."""

    slug = "environment-failed"
    exit_code = 3

    def __init__(self, cause: Cause, message: str, *, log: Path | None = None) -> None:
        super().__init__(message, hint=f"the log: {log}" if log else "")
        self.cause = cause
        self.log = log


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python of this machine."""

    path: Path
    version: tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a project says of itself, as far as an environment depends on it.

    ``installable``: it can be built. ``requirements`` are lines, as in a requirement file;
    ``constraints`` versions that a lock file has fixed; ``for_tests`` what its groups (PEP 735,
    Poetry) and requirement files for development and tests name. ``sources`` names the files that
    said so. ``dynamic``: its version comes from version control.
    """

    name: str = ""
    requires_python: str = ""
    installable: bool = False
    requirements: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    dynamic: bool = False
    for_tests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment of one repository state, ready and never changed.

    ``installed``: ``name==version`` lines. ``generated`` is a folder with the files that
    building added to the sources (``_version.py``, compiled modules), to be laid over a
    copy of them; the sources themselves are not in the environment. ``guessed``: imports that
    nobody declared and the distribution installed for each; ``unknown``: those for which
    there is none. ``fresh``: it was made now, not found.
    """

    folder: Path
    python: Path
    generated: Path
    log: Path
    installed: tuple[str, ...]
    guessed: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()
    fresh: bool = False

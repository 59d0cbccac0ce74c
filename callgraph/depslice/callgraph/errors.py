"""Errors a caller made, as opposed to facts about the analysed code.

Misuse and a broken environment raise :class:`DepsliceError`; what is wrong in
the analysed code is a :class:`~depslice.callgraph.model.Diagnostic` value.
"""

from __future__ import annotations

from typing import ClassVar


class DepsliceError(Exception):
    """Base of every error depslice raises on purpose.

    ``slug`` is stable and documented in ``docs/errors.md``; ``hint`` says what
    to do next and is empty when the message already does.
    """

    slug: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class RepositoryError(DepsliceError):
    """The repository path cannot be analysed at all (missing, empty, unreadable)."""

    slug = "repository"


class UnknownTarget(DepsliceError):
    """No symbol answers to the name the caller gave."""

    slug = "unknown-target"

    def __init__(self, message: str, *, candidates: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class AmbiguousTarget(UnknownTarget):
    """More than one symbol answers to the name the caller gave."""

    slug = "ambiguous-target"


class ResolverUnavailable(DepsliceError):
    """A selected resolver cannot run here (package missing, wrong Python, crashed)."""

    slug = "resolver-unavailable"
    exit_code = 3


class OptionError(DepsliceError):
    """An option value, or a combination of options, makes no sense."""

    slug = "option"


class EnvironmentNotFound(DepsliceError):
    """No installed packages lie where the named interpreter would have them."""

    slug = "environment"

    def __init__(self, python: str) -> None:
        super().__init__(
            f"{python}: no site-packages folder belongs to it",
            hint="give the path of an interpreter, or of the folder of a virtual environment",
        )


class SourceChanged(DepsliceError):
    """A file of the repository was changed between being analysed and being shown."""

    slug = "source-changed"
    exit_code = 3


class WorkspaceClosed(DepsliceError):
    """A workspace is asked after it was closed."""

    slug = "closed"

    def __init__(self) -> None:
        super().__init__("the workspace is closed", hint="open_workspace makes another")

"""The values every component speaks in.

All are frozen, slotted and keyword-only. Lines are 1-based and inclusive,
columns are 0-based UTF-8 byte offsets, both as :mod:`ast` reports them. Names
follow the Python language reference, section 4 ("Execution model").
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SymbolKind(StrEnum):
    """What a symbol is."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"


class ReferenceKind(StrEnum):
    """How one symbol refers to another."""

    CALL = "call"
    READ = "read"
    WRITE = "write"
    INHERIT = "inherit"
    DECORATE = "decorate"
    ANNOTATE = "annotate"
    IMPORT = "import"


class Certainty(StrEnum):
    """How sure a reference is.

    ``DEFINITE``: flow or a precise type shows it, and nothing else can stand in its place.
    ``LIKELY``: it is one of a few that can. ``POSSIBLE``: it cannot be ruled out, but most
    of its kind do not happen.
    """

    DEFINITE = "definite"
    LIKELY = "likely"
    POSSIBLE = "possible"

    @property
    def rank(self) -> int:
        """0 for the surest."""
        return _RANKS[self]


_RANKS = {"definite": 0, "likely": 1, "possible": 2}


class Severity(StrEnum):
    """How much of a file a diagnostic costs."""

    ERROR = "error"  # the file, or part of it, is not analysed
    WARNING = "warning"  # analysed, but something is suspicious
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Site:
    """A position in a file: 1-based line, 0-based column."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Span:
    """A range of lines, 1-based and inclusive at both ends (decorators included)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A named definition of the repository.

    ``id`` is ``pkg.mod:Class.method``, ``pkg.mod:outer.<locals>.inner``,
    ``pkg.mod:f.<locals>.<lambda>@LINE``, or ``pkg.mod`` for a module body.
    ``path`` is relative to the repository root, with ``/``.
    """

    id: str
    kind: SymbolKind
    path: str
    span: Span

    @property
    def module(self) -> str:
        """The dotted module part of the id."""
        return self.id.partition(":")[0]

    @property
    def qualname(self) -> str:
        """The part after the colon: ``Class.method``; empty for a module."""
        return self.id.partition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """``source`` refers to ``target`` (symbol ids) at ``sites``.

    ``evidence`` names the rules or resolvers that found it, sorted.
    ``via_external`` marks an edge that passes through code outside the repo.
    """

    source: str
    target: str
    kind: ReferenceKind
    sites: tuple[Site, ...]
    certainty: Certainty
    evidence: tuple[str, ...]
    via_external: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A call or name in ``source`` that analysis could not resolve, and why.

    ``reason`` is a stable slug: ``dynamic-attribute``, ``unknown-receiver``,
    ``external``, ``star-import``, ``exec``, ``undefined-name``,
    ``missing-module``, ...
    """

    source: str
    name: str
    reason: str
    site: Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A fact about analysed code that limits the analysis."""

    slug: str
    severity: Severity
    message: str
    path: str
    span: Span | None = None

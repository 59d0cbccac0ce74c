"""What the server answers: plain values, whose fields are the output schemas of the tools.

Paths are relative to the repository's root, with ``/``; lines are 1-based and inclusive.
Every list is bounded, and what a bound leaves out is told in ``cut``. (Without slots: the
SDK takes a slot for the default of its field.)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What an answer leaves out of ``what``: it has ``shown`` of ``total``, and why."""

    what: str
    shown: int
    total: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What every answer has.

    ``revision`` grows with each change of the repository's files that the server has
    seen. ``outdated`` names earlier answers of this server that a change since may have
    made wrong, until they are asked for again. ``stale_files`` are files that changed
    after what this answer was made from; empty unless stale answers were allowed.
    """

    revision: int = 0
    outdated: tuple[str, ...] = ()
    stale_files: tuple[str, ...] = ()
    cut: tuple[Cut, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Place:
    """A definition: ``kind`` is module, class, function, method or variable."""

    id: str
    kind: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class SymbolsAnswer(Answer):
    """Which definitions a name means: ``exact`` when it can mean only the one listed."""

    query: str
    exact: bool
    symbols: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class SlicedDefinition:
    """A definition of a slice, ``distance`` references away from the target.

    ``form`` is how much of it ``text`` shows: full, signature or name.
    """

    id: str
    kind: str
    path: str
    start: int
    end: int
    distance: int
    form: str


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A name that analysis could not resolve, and why."""

    source: str
    name: str
    reason: str
    line: int


@dataclass(frozen=True, kw_only=True)
class SliceAnswer(Answer):
    """A dependency slice: ``text`` is code, ``definitions`` are what it is made of.

    ``externals`` are the modules from outside the repository that it imports;
    ``omitted`` are definitions that depth, certainty, guesses or budget kept out; not what only they bring.
    """

    target: str
    format: str
    text: str
    tokens: int
    tokenizer: str
    definitions: tuple[SlicedDefinition, ...]
    externals: tuple[str, ...]
    unresolved: tuple[Gap, ...]
    omitted: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StatsAnswer(Answer):
    """The size of a slice. ``by_distance[n]`` definitions are n references away.

    ``tokens`` are those of the target alone (naive), of its slice (sliced), and of its
    file with the files that it imports (full).
    """

    target: str
    definitions: int
    files: int
    lines: int
    by_kind: dict[str, int]
    by_distance: tuple[int, ...]
    tokens: dict[str, int]
    tokenizer: str
    externals: tuple[str, ...]
    unresolved: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class EffectOfImport:
    """A statement that an import makes run, on ``line`` of ``path``; it builds or changes ``item``."""

    path: str
    line: int
    code: str
    item: str


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """``source`` refers to ``target`` on ``line`` of ``path``, whose text is ``code``.

    ``effects``: of an import that is there for what it makes run, the nearest such statements.
    """

    source: str
    target: str
    kind: str
    certainty: str
    evidence: str
    path: str
    line: int
    code: str
    effects: tuple[EffectOfImport, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ExplanationAnswer(Answer):
    """Why ``symbol`` is in the slice of ``target``: the shortest chain of references.

    ``item`` is the definition of the slice that ``symbol`` is or is a part of. When it is
    not in the slice, ``item`` is null and ``nearest`` has definitions that are.
    """

    target: str
    symbol: str
    in_slice: bool
    item: str | None
    chain: tuple[ChainStep, ...]
    nearest: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CallEdge:
    """``caller`` calls ``callee`` on ``lines`` of ``path``; ``distance`` steps from the target."""

    caller: str
    callee: str
    certainty: str
    path: str
    lines: tuple[int, ...]
    distance: int


@dataclass(frozen=True, kw_only=True)
class CallsAnswer(Answer):
    """The calls around a definition, nearest first."""

    target: str
    direction: str
    depth: int
    calls: tuple[CallEdge, ...]

"""The reference graph: symbols, the references between them, and what is unknown.

A :class:`ReferenceGraph` is immutable. Its ids are symbol ids; a reference may
also point at code outside the repository, as ``external:dotted.name``
(``external:builtins.print``). Everything it yields is sorted by id, so that
equal graphs read the same whatever order they were built in.

Adjacency is kept in plain lists and dictionaries: at 400,000 references networkx took
twice the time and three times the memory (3.3 s, 228 MB against 1.7 s, 80 MB).
:meth:`ReferenceGraph.to_networkx` converts for those who want its algorithms.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, get_args

from depslice.callgraph.arguments import (
    check_choice,
    check_kind,
    check_member,
    check_number,
    check_text,
    check_texts,
)
from depslice.callgraph.errors import UnknownTarget
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    Reference,
    ReferenceKind,
    Symbol,
    Unresolved,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import networkx as nx

Direction = Literal["targets", "sources", "both"]

EXTERNAL_PREFIX = "external:"

_EdgeKey = tuple[str, str, ReferenceKind]
_edge_key = attrgetter("source", "target", "kind")


def is_external(symbol_id: str) -> bool:
    """Whether ``symbol_id`` names code outside the repository (``external:os.path.join``)."""
    return symbol_id.startswith(EXTERNAL_PREFIX)


def external_name(symbol_id: str) -> str:
    """The dotted name in an external id: ``external:os.path.join`` -> ``os.path.join``."""
    return symbol_id.removeprefix(EXTERNAL_PREFIX)


def is_inside(symbol_id: str, outer: str) -> bool:
    """Whether a symbol is in the module, class or function ``outer``."""
    return symbol_id.startswith((f"{outer}.", f"{outer}:"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which references are of interest.

    Those of one of ``kinds`` (``None``: of any) that are at least as certain as ``least``,
    and, without ``externals``, that stay in the repository.
    """

    kinds: frozenset[ReferenceKind] | None = None
    least: Certainty = Certainty.POSSIBLE
    externals: bool = True

    def __post_init__(self) -> None:
        for kind in self.kinds or ():
            check_member("kind", kind, ReferenceKind)
        check_member("least", self.least, Certainty)

    def admits(self, kind: ReferenceKind, certainty: Certainty) -> bool:
        """Whether a reference of that kind and certainty is, wherever it leads."""
        is_kind = self.kinds is None or kind in self.kinds
        return is_kind and certainty.rank <= self.least.rank

    def __contains__(self, reference: Reference) -> bool:
        if not self.admits(reference.kind, reference.certainty):
            return False
        return self.externals or not (
            is_external(reference.target) or is_external(reference.source)
        )


class ReferenceGraph:
    """Who refers to whom in one repository.

    References of the same ``(source, target, kind)`` become one: their sites
    and their evidence are united, the surer certainty stays, and
    ``via_external`` stays only if every one of them has it.
    """

    def __init__(
        self,
        *,
        symbols: Iterable[Symbol],
        references: Iterable[Reference] = (),
        unresolved: Iterable[Unresolved] = (),
        diagnostics: Iterable[Diagnostic] = (),
    ) -> None:
        self._symbols = {symbol.id: symbol for symbol in symbols}
        self._references = _merged(references)
        self._unresolved = tuple(unresolved)
        self._diagnostics = tuple(diagnostics)

    @classmethod
    def of_merged(
        cls,
        *,
        symbols: Iterable[Symbol],
        references: list[Reference],
        unresolved: Iterable[Unresolved] = (),
        diagnostics: Iterable[Diagnostic] = (),
    ) -> ReferenceGraph:
        """One of references that are sorted and each there once, as a graph yields them."""
        made = cls(symbols=symbols, unresolved=unresolved, diagnostics=diagnostics)
        made._references = references
        return made

    def __contains__(self, symbol_id: object) -> bool:
        return symbol_id in self._symbols

    def __repr__(self) -> str:
        return f"<ReferenceGraph: {len(self._symbols)} symbols, {len(self._references)} references>"

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """All symbols of the repository, sorted by id."""
        return tuple(self._symbols[key] for key in sorted(self._symbols))

    @cached_property
    def unresolved(self) -> tuple[Unresolved, ...]:
        """What could not be resolved, sorted by source, site and name, without repeats."""
        return tuple(
            sorted(set(self._unresolved), key=lambda u: (u.source, u.site, u.name, u.reason))
        )

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Facts that limit the analysis, sorted by path and line, without repeats."""
        return tuple(
            sorted(
                set(self._diagnostics),
                key=lambda d: (d.path, d.span.start if d.span else 0, d.slug, d.message),
            )
        )

    def symbol(self, symbol_id: str) -> Symbol:
        """The symbol with this id.

        Raises:
            UnknownTarget: there is none; its candidates are the nearest ids.
        """
        check_text("symbol_id", symbol_id)
        found = self._symbols.get(symbol_id)
        if found is None:
            nearest = tuple(difflib.get_close_matches(symbol_id, self._symbols, n=5))
            raise UnknownTarget(f"no symbol is called {symbol_id!r}", candidates=nearest)
        return found

    def references(
        self, *, kind: ReferenceKind | None = None, certainty: Certainty | None = None
    ) -> Iterator[Reference]:
        """The references, sorted by source, target and kind.

        ``kind``: only those. ``certainty``: only those at least so certain.

        Raises:
            OptionError: one of the two is of another type.
        """
        _check_kind(kind)
        if certainty is not None:
            check_member("certainty", certainty, Certainty)
        return self._chosen(kind, certainty)

    def _chosen(
        self, kind: ReferenceKind | None, certainty: Certainty | None
    ) -> Iterator[Reference]:
        for reference in self._references:
            if kind is not None and reference.kind is not kind:
                continue
            if certainty is not None and reference.certainty.rank > certainty.rank:
                continue
            yield reference

    def outgoing(
        self, symbol_id: str, *, kind: ReferenceKind | None = None
    ) -> tuple[Reference, ...]:
        """The references whose source is ``symbol_id``, sorted by target and kind.

        Raises:
            UnknownTarget: there is no such symbol, and nothing outside has that id.
        """
        return self._at(symbol_id, self._outgoing, kind)

    def incoming(
        self, symbol_id: str, *, kind: ReferenceKind | None = None
    ) -> tuple[Reference, ...]:
        """The references whose target is ``symbol_id``, sorted by source and kind.

        Raises:
            UnknownTarget: there is no such symbol, and nothing outside has that id.
        """
        return self._at(symbol_id, self._incoming, kind)

    def callees(self, symbol_id: str, *, depth: int | None = 1) -> tuple[str, ...]:
        """Ids called from ``symbol_id`` in at most ``depth`` steps (``None``: any number), sorted.

        ``symbol_id`` itself is among them only if a chain of calls leads back to it.
        """
        return self._reached_by_calls(symbol_id, self._outgoing, depth=depth, forward=True)

    def callers(self, symbol_id: str, *, depth: int | None = 1) -> tuple[str, ...]:
        """Ids that call ``symbol_id`` in at most ``depth`` steps (``None``: any number), sorted."""
        return self._reached_by_calls(symbol_id, self._incoming, depth=depth, forward=False)

    def call_graph(self) -> ReferenceGraph:
        """The ``call`` part: the same symbols, the references of kind ``call`` alone."""
        return self.select(Selection(kinds=frozenset({ReferenceKind.CALL})))

    def at_least(self, certainty: Certainty) -> ReferenceGraph:
        """The same symbols, and the references that are at least so certain."""
        return self.select(Selection(least=certainty))

    def select(self, selection: Selection) -> ReferenceGraph:
        """The same symbols, and the references of the ``selection``."""
        check_kind("selection", selection, Selection, "a Selection")
        return self.where(selection.__contains__)

    def where(self, wanted: Callable[[Reference], bool]) -> ReferenceGraph:
        """The same symbols, and the references for which ``wanted`` is true."""
        return ReferenceGraph.of_merged(
            symbols=self._symbols.values(),
            references=[reference for reference in self._references if wanted(reference)],
            unresolved=self._unresolved,
            diagnostics=self._diagnostics,
        )

    def inside(self, symbol_id: str) -> list[str]:
        """A symbol and those inside of it: members of a class, definitions of a module.

        Raises:
            UnknownTarget: there is no such symbol.
        """
        first = self.symbol(symbol_id).id
        return [first, *(each.id for each in self.symbols if is_inside(each.id, first))]

    def neighbourhood(
        self, symbol_ids: Iterable[str], *, direction: Direction, depth: int | None
    ) -> ReferenceGraph:
        """The part of the graph within ``depth`` references (``None``: any number) of some symbols.

        ``targets`` follows references forwards (callees, bases, variables read),
        ``sources`` backwards, ``both`` unites the two. The result holds the
        references that were followed, the symbols at their ends, and the
        unresolved names and diagnostics that belong to these symbols.

        Raises:
            UnknownTarget: one of ``symbol_ids`` is not a symbol.
            OptionError: an unknown direction, a negative depth, or no list of ids.
        """
        check_texts("symbol_ids", symbol_ids, "a list of ids, such as ['pkg.mod:f']")
        check_choice("direction", direction, get_args(Direction))
        depth = check_number("depth", depth, least=0)
        starts = [self.symbol(symbol_id).id for symbol_id in symbol_ids]
        followed: dict[_EdgeKey, Reference] = {}
        if direction in ("targets", "both"):
            _follow(starts, self._outgoing, depth=depth, forward=True, followed=followed)
        if direction in ("sources", "both"):
            _follow(starts, self._incoming, depth=depth, forward=False, followed=followed)
        kept = set(starts)
        for reference in followed.values():
            kept.update((reference.source, reference.target))
        symbols = [self._symbols[key] for key in sorted(kept) if key in self._symbols]
        paths = {symbol.path for symbol in symbols}
        return ReferenceGraph(
            symbols=symbols,
            references=followed.values(),
            unresolved=(u for u in self._unresolved if u.source in kept),
            diagnostics=(d for d in self._diagnostics if d.path in paths),
        )

    def merge(
        self,
        references: Iterable[Reference],
        *,
        unresolved: Iterable[Unresolved] = (),
        diagnostics: Iterable[Diagnostic] = (),
    ) -> ReferenceGraph:
        """This graph with what another resolver found added to it."""
        return ReferenceGraph(
            symbols=self._symbols.values(),
            references=(*self._references, *references),
            unresolved=(*self._unresolved, *unresolved),
            diagnostics=(*self._diagnostics, *diagnostics),
        )

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """A networkx ``MultiDiGraph`` of the symbols and references.

        Nodes carry ``kind``, ``path``, ``start`` and ``end`` (an external node
        only ``kind="external"``); edges are keyed by reference kind and carry
        ``kind``, ``certainty``, ``evidence`` and ``sites``. All attributes are
        plain strings, numbers or booleans, as the file formats of networkx want.
        """
        import networkx as nx  # 0.15 s to import

        converted: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        for symbol in self.symbols:
            converted.add_node(
                symbol.id,
                kind=symbol.kind.value,
                path=symbol.path,
                start=symbol.span.start,
                end=symbol.span.end,
            )
        for reference in self.references():
            for end in (reference.source, reference.target):
                if end not in converted:
                    converted.add_node(end, kind="external")
            converted.add_edge(
                reference.source,
                reference.target,
                key=reference.kind.value,
                kind=reference.kind.value,
                certainty=reference.certainty.value,
                evidence=" ".join(reference.evidence),
                sites=" ".join(f"{site.line}:{site.column}" for site in reference.sites),
                via_external=reference.via_external,
            )
        return converted

    @cached_property
    def _outgoing(self) -> dict[str, list[Reference]]:
        adjacency: dict[str, list[Reference]] = {}
        for reference in self._references:
            adjacency.setdefault(reference.source, []).append(reference)
        return adjacency

    @cached_property
    def _incoming(self) -> dict[str, list[Reference]]:
        adjacency: dict[str, list[Reference]] = {}
        for reference in self._references:
            adjacency.setdefault(reference.target, []).append(reference)
        return adjacency

    def _at(
        self, symbol_id: str, adjacency: dict[str, list[Reference]], kind: ReferenceKind | None
    ) -> tuple[Reference, ...]:
        _check_kind(kind)
        check_text("symbol_id", symbol_id)
        if symbol_id not in adjacency and not is_external(symbol_id):
            self.symbol(symbol_id)
        return _of_kind(adjacency.get(symbol_id, ()), kind)

    def _reached_by_calls(
        self,
        symbol_id: str,
        adjacency: dict[str, list[Reference]],
        *,
        depth: int | None,
        forward: bool,
    ) -> tuple[str, ...]:
        depth = check_number("depth", depth, least=0)
        followed: dict[_EdgeKey, Reference] = {}
        _follow(
            [self.symbol(symbol_id).id],
            adjacency,
            depth=depth,
            forward=forward,
            followed=followed,
            kind=ReferenceKind.CALL,
        )
        return tuple(sorted({r.target if forward else r.source for r in followed.values()}))


def _merged(references: Iterable[Reference]) -> list[Reference]:
    """Sorted by source, target and kind, each once."""
    merged: list[Reference] = []
    for reference in sorted(references, key=_edge_key):
        if merged and _edge_key(merged[-1]) == _edge_key(reference):
            merged[-1] = _united(merged[-1], reference)
        else:
            merged.append(reference)
    return merged


def _united(first: Reference, second: Reference) -> Reference:
    return Reference(
        source=first.source,
        target=first.target,
        kind=first.kind,
        sites=tuple(sorted({*first.sites, *second.sites})),
        certainty=min(first.certainty, second.certainty, key=lambda c: c.rank),
        evidence=tuple(sorted({*first.evidence, *second.evidence})),
        via_external=first.via_external and second.via_external,
    )


def _check_kind(kind: ReferenceKind | None) -> None:
    if kind is not None:
        check_member("kind", kind, ReferenceKind)


def _of_kind(references: Iterable[Reference], kind: ReferenceKind | None) -> tuple[Reference, ...]:
    return tuple(r for r in references if kind is None or r.kind is kind)


def _follow(
    starts: Iterable[str],
    adjacency: dict[str, list[Reference]],
    *,
    depth: int | None,
    forward: bool,
    followed: dict[_EdgeKey, Reference],
    kind: ReferenceKind | None = None,
) -> None:
    """Add to ``followed`` every reference within ``depth`` steps of ``starts``."""
    seen = set(starts)
    frontier = sorted(seen)
    steps = 0
    while frontier and (depth is None or steps < depth):
        steps += 1
        reached: list[str] = []
        for symbol_id in frontier:
            for reference in adjacency.get(symbol_id, ()):
                if kind is not None and reference.kind is not kind:
                    continue
                followed[reference.source, reference.target, reference.kind] = reference
                other = reference.target if forward else reference.source
                if other not in seen:
                    seen.add(other)
                    reached.append(other)
        frontier = reached

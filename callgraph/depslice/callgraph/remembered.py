"""The graph of a repository, remembered between runs.

It is kept under the names of the project's files, with the digest of each: as long as all
are as they were, so is the graph. Where some have changed in form alone
(:mod:`~depslice.callgraph.moving`), it is the same graph with other positions. Anything else
may change what any other file refers to, and the graph is made anew.

Kept as :mod:`~depslice.callgraph.columns` of numbers. Who asks for the part around a symbol
gets that part made, and no more.
"""

from __future__ import annotations

import marshal
import zlib
from collections.abc import Iterator
from typing import Any, Final

from depslice.callgraph.columns import (
    Numbers,
    ReferenceColumns,
    Sites,
    reference_columns,
    unresolved_columns,
    unresolved_of,
)
from depslice.callgraph.graph import Direction, ReferenceGraph, Selection, is_inside
from depslice.callgraph.memory import key_of
from depslice.callgraph.model import Diagnostic, Severity, Span, Symbol, SymbolKind
from depslice.callgraph.moving import Moved, moved
from depslice.callgraph.program import ANALYSER_CRASHED, Program
from depslice.callgraph.summary import FORMAT

_KIND: Final = f"graph-6-{FORMAT}"


def remember_graph(program: Program, graph: ReferenceGraph) -> None:
    """Store the ``graph`` of all that ``program`` has loaded, if it has a cache."""
    diagnostics = program.file_diagnostics
    # A crash may not happen again.
    if not program.has_cache or any(each.slug == ANALYSER_CRASHED for each in diagnostics):
        return
    names = Numbers()
    styles = Numbers()
    plain = {
        "digests": dict(program.digests),
        "diagnostics": [_diagnostic_row(each) for each in diagnostics],
        "symbols": [(s.id, s.kind.value, s.path, s.span.start, s.span.end) for s in graph.symbols],
        "references": reference_columns(graph.references(), names, styles),
        "unresolved": unresolved_columns(graph.unresolved, names),
        "names": names.values,
        "styles": styles.values,
    }
    blob = zlib.compress(marshal.dumps(plain), 1)
    program.cache_result(_KIND, key_of(program, ("graph",)), blob)


def recall_graph(program: Program) -> ReferenceGraph | None:
    """The graph that was remembered of just these files; ``None`` if they have changed."""
    stored = _stored(program)
    try:
        return None if stored is None else stored.whole()
    except KeyError:  # a position that is no operation's cannot be followed
        return None


def recall_around(
    program: Program,
    symbol_id: str,
    selection: Selection,
    *,
    direction: Direction,
    depth: int | None,
) -> ReferenceGraph | None:
    """What is around a symbol and those inside of it; the rest of the graph is not made.

    The same as of :func:`the whole graph <recall_graph>` the references in ``selection``, and
    of these the :meth:`~depslice.callgraph.graph.ReferenceGraph.neighbourhood`.
    """
    stored = _stored(program)
    try:
        return None if stored is None else stored.around(symbol_id, selection, direction, depth)
    except KeyError:  # as above
        return None


def _stored(program: Program) -> _Stored | None:
    if not program.has_cache:
        return None
    blob = program.cached(_KIND, key_of(program, ("graph",)))
    if blob is None:
        return None
    plain = marshal.loads(zlib.decompress(blob))
    changes = _changes(program, plain["digests"])
    if changes is None:
        return None
    program.adopt_diagnostics(_diagnostic(row) for row in plain["diagnostics"])
    return _Stored(program, plain, changes)


class _Stored:
    """A graph as it is kept. Where a file has moved, ``KeyError`` says that nobody knows how."""

    def __init__(self, program: Program, plain: dict[str, Any], changes: dict[str, Moved]) -> None:
        self._program = program
        self._plain = plain
        self._changes = changes
        names = plain["names"]
        self._names = [_renamed(name, changes) for name in names] if changes else names
        self._columns = ReferenceColumns(plain["references"], plain["styles"], self._names)
        self._sites = Sites(changes)

    def whole(self) -> ReferenceGraph:
        references = [*self._columns.made(self._sites)]
        make = ReferenceGraph if self._changes else ReferenceGraph.of_merged
        return make(
            symbols=_symbols(self._program, self._plain["symbols"], self._changes),
            references=references,
            unresolved=unresolved_of(self._plain["unresolved"], self._names, self._sites),
            diagnostics=self._program.diagnostics,
        )

    def around(
        self, symbol_id: str, selection: Selection, direction: Direction, depth: int | None
    ) -> ReferenceGraph:
        def is_start(name: str) -> bool:
            return name == symbol_id or is_inside(name, symbol_id)

        starts = [number for number, name in enumerate(self._names) if is_start(name)]
        rows = self._columns.around(starts, selection, direction, depth)
        references = [*self._columns.made(self._sites, sorted(rows))]
        kept = {end for each in references for end in (each.source, each.target)}
        table = _symbols(self._program, self._plain["symbols"], self._changes)
        symbols = [each for each in table if each.id in kept or is_start(each.id)]
        kept.update(each.id for each in symbols)
        paths = {each.path for each in symbols}
        unresolved = unresolved_of(self._plain["unresolved"], self._names, self._sites, kept=kept)
        return ReferenceGraph(
            symbols=symbols,
            references=references,
            unresolved=unresolved,
            diagnostics=(each for each in self._program.diagnostics if each.path in paths),
        )


# --- what has changed


def _changes(program: Program, digests: dict[str, str]) -> dict[str, Moved] | None:
    """How the files that changed since have moved, by module; ``None`` if they did more."""
    changed = [
        name for name in program.files if (program.digest(name) or "") != digests.get(name, "")
    ]
    changes: dict[str, Moved] = {}
    for name in changed:
        old = program.earlier_summary(digests.get(name, ""))
        module = None if old is None else program.module(name)
        how = None if old is None or module is None else moved(old, module.summary)
        if how is None:
            return None
        changes[name] = how
    return changes


def _renamed(symbol_id: str, changes: dict[str, Moved]) -> str:
    module, _, qualname = symbol_id.partition(":")
    how = changes.get(module)
    return f"{module}:{how.qualnames.get(qualname, qualname)}" if how and qualname else symbol_id


# --- symbols and diagnostics


def _symbols(
    program: Program, rows: list[tuple[str, str, str, int, int]], changes: dict[str, Moved]
) -> Iterator[Symbol]:
    kinds = {kind.value: kind for kind in SymbolKind}
    for id_, kind, path, start, end in rows:
        if id_.partition(":")[0] not in changes:
            yield Symbol(id=id_, kind=kinds[kind], path=path, span=Span(start=start, end=end))
    for name in changes:
        module = program.module(name)
        assert module is not None  # its summary was compared
        yield from program.symbol_table(module).values()


def _diagnostic_row(found: Diagnostic) -> tuple[Any, ...]:
    span = found.span
    place = None if span is None else (span.start, span.end)
    return found.slug, found.severity.value, found.message, found.path, place


def _diagnostic(row: tuple[Any, ...]) -> Diagnostic:
    slug, severity, message, path, place = row
    span = None if place is None else Span(start=place[0], end=place[1])
    return Diagnostic(slug=slug, severity=Severity(severity), message=message, path=path, span=span)

"""The graph of a repository, remembered between runs.

It is kept under the names of the project's files, with the digest of each: as long as all
are as they were, so is the graph. Where some have changed in form alone
(:mod:`~depslice.callgraph.moving`), it is the same graph with other positions. Anything else
may change what any other file refers to, and the graph is made anew.

Kept as columns of numbers, which need little room and are read in one go.
"""

from __future__ import annotations

import marshal
import zlib
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, Final

from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.memory import key_of
from depslice.callgraph.model import (
    Certainty,
    Diagnostic,
    Reference,
    ReferenceKind,
    Severity,
    Site,
    Span,
    Symbol,
    SymbolKind,
    Unresolved,
)
from depslice.callgraph.moving import Moved, moved
from depslice.callgraph.program import ANALYSER_CRASHED, Program
from depslice.callgraph.summary import FORMAT, pack, unpack

_KIND: Final = f"graph-1-{FORMAT}"
_COLUMN: Final = "q"


def remember_graph(program: Program, graph: ReferenceGraph) -> None:
    """Store the ``graph`` of all that ``program`` has loaded, if it has a cache."""
    diagnostics = program.file_diagnostics
    # A crash may not happen again.
    if not program.has_cache or any(each.slug == ANALYSER_CRASHED for each in diagnostics):
        return
    names = _Numbers()
    styles = _Numbers()
    plain = {
        "digests": dict(program.digests),
        "diagnostics": [_diagnostic_row(each) for each in diagnostics],
        "symbols": [(s.id, s.kind.value, s.path, s.span.start, s.span.end) for s in graph.symbols],
        "references": _reference_columns(graph.references(), names, styles),
        "unresolved": _unresolved_columns(graph.unresolved, names),
        "names": names.values,
        "styles": styles.values,
    }
    blob = zlib.compress(marshal.dumps(plain), 1)
    program.cache_result(_KIND, key_of(program, ("graph",)), blob)


def recall_graph(program: Program) -> ReferenceGraph | None:
    """The graph that was remembered of just these files; ``None`` if they have changed."""
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
    names = plain["names"]
    if changes:
        names = [_renamed(name, changes) for name in names]
    try:
        return ReferenceGraph(
            symbols=_symbols(program, plain["symbols"], changes),
            references=_references(plain["references"], plain["styles"], names, changes),
            unresolved=_unresolved(plain["unresolved"], names, changes),
            diagnostics=program.diagnostics,
        )
    except KeyError:  # a position that is no operation's cannot be followed
        return None


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


# --- columns


class _Numbers:
    """Numbers for values, in the order in which they come."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found


def _packed(site: Site) -> int:
    return pack(site.line, site.column)


def _reference_columns(
    references: Iterable[Reference], names: _Numbers, styles: _Numbers
) -> tuple[bytes, ...]:
    """Source, target, style (all else that many share), number of sites; and all sites."""
    columns = tuple(array(_COLUMN) for _ in range(5))
    sources, targets, looks, counts, sites = columns
    for each in references:
        sources.append(names.of(each.source))
        targets.append(names.of(each.target))
        style = (each.kind.value, each.certainty.value, each.evidence, each.via_external)
        looks.append(styles.of(style))
        counts.append(len(each.sites))
        sites.extend(map(_packed, each.sites))
    return tuple(column.tobytes() for column in columns)


def _references(
    columns: tuple[bytes, ...],
    styles: list[tuple[str, str, tuple[str, ...], bool]],
    names: list[str],
    changes: dict[str, Moved],
) -> Iterator[Reference]:
    sources, targets, looks, counts, packed = map(_column, columns)
    sites = _Sites(changes)
    looked = [
        (ReferenceKind(kind), Certainty(certainty), evidence, via)
        for kind, certainty, evidence, via in styles
    ]
    start = 0
    for source, target, look, count in zip(sources, targets, looks, counts, strict=True):
        kind, certainty, evidence, via = looked[look]
        end = start + count
        yield Reference(
            source=names[source],
            target=names[target],
            kind=kind,
            sites=sites.of(names[source], packed[start:end]),
            certainty=certainty,
            evidence=evidence,
            via_external=via,
        )
        start = end


def _unresolved_columns(unresolved: Iterable[Unresolved], names: _Numbers) -> tuple[bytes, ...]:
    columns = tuple(array(_COLUMN) for _ in range(4))
    sources, texts, reasons, sites = columns
    for each in unresolved:
        sources.append(names.of(each.source))
        texts.append(names.of(each.name))
        reasons.append(names.of(each.reason))
        sites.append(_packed(each.site))
    return tuple(column.tobytes() for column in columns)


def _unresolved(
    columns: tuple[bytes, ...], names: list[str], changes: dict[str, Moved]
) -> Iterator[Unresolved]:
    sites = _Sites(changes)
    for source, text, reason, pos in zip(*map(_column, columns), strict=True):
        site = sites.of(names[source], (pos,))[0]
        yield Unresolved(source=names[source], name=names[text], reason=names[reason], site=site)


def _column(data: bytes) -> array[int]:
    column = array(_COLUMN)
    column.frombytes(data)
    return column


class _Sites:
    """Sites from packed positions, as they stand now."""

    def __init__(self, changes: dict[str, Moved]) -> None:
        self._changes = changes
        self._made: dict[int, Site] = {}

    def of(self, source: str, packed: Iterable[int]) -> tuple[Site, ...]:
        """The sites in the file of ``source``, sorted."""
        how = self._changes and self._changes.get(source.partition(":")[0])
        if how:
            packed = sorted({how.positions[pos] for pos in packed})
        return tuple([self._made.get(pos) or self._make(pos) for pos in packed])

    def _make(self, pos: int) -> Site:
        line, column = unpack(pos)
        made = self._made[pos] = Site(line=line, column=column)
        return made

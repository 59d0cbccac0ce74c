"""References and unresolved names as columns of numbers.

They need little room and are read in one go, and a part of them is followed and made into
objects while the rest stays as it is.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from depslice.callgraph.graph import Direction, Selection, is_external
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, Site, Unresolved
from depslice.callgraph.moving import Moved
from depslice.callgraph.summary import pack, unpack

_COLUMN: Final = "q"
Style = tuple[str, str, tuple[str, ...], bool]
"""What many references share: kind, certainty, evidence, whether via code outside."""


class Numbers:
    """Numbers for values, in the order in which they come."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def of(self, value: Any) -> int:
        """The number of ``value``, a new one if it has none."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found


class Sites:
    """Sites from packed positions, as they stand now. ``changes``: of modules that moved."""

    def __init__(self, changes: dict[str, Moved]) -> None:
        self._changes = changes
        self._made: dict[int, Site] = {}

    def of(self, source: str, packed: Iterable[int]) -> tuple[Site, ...]:
        """The sites in the file of ``source``, sorted.

        :raises KeyError: nothing of the moved file has such a position.
        """
        how = self._changes and self._changes.get(source.partition(":")[0])
        if how:
            packed = sorted({how.positions[pos] for pos in packed})
        return tuple([self._made.get(pos) or self._make(pos) for pos in packed])

    def _make(self, pos: int) -> Site:
        line, column = unpack(pos)
        made = self._made[pos] = Site(line=line, column=column)
        return made


# --- references


def reference_columns(
    references: Iterable[Reference], names: Numbers, styles: Numbers
) -> tuple[bytes, ...]:
    """Source, target, style and number of sites of each; and all sites."""
    columns = tuple(array(_COLUMN) for _ in range(5))
    sources, targets, looks, counts, sites = columns
    for each in references:
        sources.append(names.of(each.source))
        targets.append(names.of(each.target))
        style = (each.kind.value, each.certainty.value, each.evidence, each.via_external)
        looks.append(styles.of(style))
        counts.append(len(each.sites))
        sites.extend([pack(site.line, site.column) for site in each.sites])
    return tuple(map(_packed, columns))


class ReferenceColumns:
    """References by row, in the order in which they were given to :func:`reference_columns`.

    ``names``: what the numbers of sources and targets mean.
    """

    def __init__(
        self, columns: Sequence[bytes], styles: Iterable[Style], names: Sequence[str]
    ) -> None:
        self._sources, self._targets, self._looks, self._counts, self._sites = map(_read, columns)
        self._styles = [
            (ReferenceKind(kind), Certainty(certainty), evidence, via)
            for kind, certainty, evidence, via in styles
        ]
        self._names = names

    def made(self, sites: Sites, rows: Iterable[int] | None = None) -> Iterator[Reference]:
        """The references of ``rows``, or all."""
        ends = [*accumulate(self._counts)]
        for row in range(len(ends)) if rows is None else rows:
            kind, certainty, evidence, via = self._styles[self._looks[row]]
            source = self._names[self._sources[row]]
            yield Reference(
                source=source,
                target=self._names[self._targets[row]],
                kind=kind,
                sites=sites.of(source, self._sites[ends[row] - self._counts[row] : ends[row]]),
                certainty=certainty,
                evidence=evidence,
                via_external=via,
            )

    def around(
        self, starts: Iterable[int], selection: Selection, direction: Direction, depth: int | None
    ) -> set[int]:
        """Rows within ``depth`` references of the names ``starts``, of the ``selection`` alone.

        As :meth:`~depslice.callgraph.graph.ReferenceGraph.neighbourhood` follows them.
        """
        rows: set[int] = set()
        if direction in ("targets", "both"):
            rows |= self._followed(starts, selection, depth, self._sources, self._targets)
        if direction in ("sources", "both"):
            rows |= self._followed(starts, selection, depth, self._targets, self._sources)
        return rows

    def _followed(
        self,
        starts: Iterable[int],
        selection: Selection,
        depth: int | None,
        nearer: array[int],
        farther: array[int],
    ) -> set[int]:
        admitted = [selection.admits(kind, sure) for kind, sure, _, _ in self._styles]
        leaving: dict[int, list[int]] = {}
        for row, (name, look) in enumerate(zip(nearer, self._looks, strict=True)):
            if admitted[look]:
                leaving.setdefault(name, []).append(row)
        rows: set[int] = set()
        seen = frontier = set(starts)
        steps = 0
        while frontier and (depth is None or steps < depth):
            steps += 1
            found = {row for name in frontier for row in leaving.get(name, ())}
            if not selection.externals:
                found = {row for row in found if not is_external(self._names[farther[row]])}
            rows |= found
            frontier = {farther[row] for row in found} - seen
            seen = seen | frontier
        return rows


# --- unresolved names


def unresolved_columns(unresolved: Iterable[Unresolved], names: Numbers) -> tuple[bytes, ...]:
    """Source, name, reason and position of each."""
    columns = tuple(array(_COLUMN) for _ in range(4))
    sources, texts, reasons, sites = columns
    for each in unresolved:
        sources.append(names.of(each.source))
        texts.append(names.of(each.name))
        reasons.append(names.of(each.reason))
        sites.append(pack(each.site.line, each.site.column))
    return tuple(map(_packed, columns))


def unresolved_of(
    columns: Sequence[bytes], names: Sequence[str], sites: Sites, *, kept: set[str] | None = None
) -> Iterator[Unresolved]:
    """What the columns say; of sources that are ``kept``, if that is given."""
    for source, text, reason, pos in zip(*map(_read, columns), strict=True):
        name = names[source]
        if kept is None or name in kept:
            [site] = sites.of(name, (pos,))
            yield Unresolved(source=name, name=names[text], reason=names[reason], site=site)


def _packed(column: array[int]) -> bytes:
    """A column to be kept: packed by itself, since a million references are large as a whole."""
    return zlib.compress(column, 1)


def _read(data: bytes) -> array[int]:
    column = array(_COLUMN)
    column.frombytes(zlib.decompress(data))
    return column

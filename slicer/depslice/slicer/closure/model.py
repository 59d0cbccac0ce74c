"""What a closure holds: the kept pieces, and for everything in it the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final, NamedTuple, TypeAlias

from depslice.callgraph.model import Certainty, ReferenceKind, Site, Unresolved
from depslice.callgraph.program import Module
from depslice.callgraph.summary import unpack
from depslice.slicer.model import ExternalImport, Step

PieceKey: TypeAlias = tuple[str, int]
"""A piece of the program: its module and its index there."""

_DOUBT: Final = 3


@dataclass(slots=True)
class Demand:
    """Why something is wanted: ``source``, a symbol of the slice, refers to it.

    ``evidence`` names the rule, ``path`` and ``pos`` (packed) the place. ``reads``: of a class
    attributes are read there, no more (:mod:`depslice.slicer.closure.attribute_reads`); ``tests``:
    it is asked whether something is an instance, no more. ``supposed``:
    the guesses in a row by which the class is live that is asked; all, and those before the last.
    """

    source: str
    kind: ReferenceKind
    certainty: Certainty
    evidence: str
    path: str
    pos: int
    reads: bool = False
    tests: bool = False
    supposed: tuple[int, int] = (0, 0)

    @classmethod
    def of(
        cls,
        source: str,
        module: Module,
        kind: ReferenceKind,
        evidence: str,
        pos: int = 0,
        *,
        certain: bool = True,
    ) -> Demand:
        """A demand that stands in ``module``; facts of writes have their position negated."""
        certainty = Certainty.DEFINITE if certain else Certainty.LIKELY
        return cls(source, kind, certainty, evidence, module.file.path, abs(pos))

    def guessed(self, evidence: str = "") -> Demand:
        """The same where nothing but a name, or nothing at all, speaks for what is asked."""
        if self.certainty is Certainty.POSSIBLE and evidence in ("", self.evidence):
            return self
        return self._but(Certainty.POSSIBLE, evidence or self.evidence, self.supposed)

    def supposing(self, guesses: tuple[int, int]) -> Demand:
        """The same, asked of what is there only if so many guesses in a row are right."""
        if guesses <= self.supposed:
            return self
        return self._but(self.certainty, self.evidence, guesses)

    def _but(self, certainty: Certainty, evidence: str, supposed: tuple[int, int]) -> Demand:
        """The same with these; a large slice makes 100,000, of which `replace` would take thrice the time."""
        return Demand(
            self.source,
            self.kind,
            certainty,
            evidence,
            self.path,
            self.pos,
            self.reads,
            self.tests,
            supposed,
        )

    def step(self, target: str) -> Step:
        """The demand as a link of a chain of reasons."""
        line, column = unpack(self.pos)
        return Step(
            source=self.source,
            target=target,
            kind=self.kind,
            certainty=self.certainty,
            evidence=self.evidence,
            path=self.path,
            site=Site(line=line, column=column),
        )


class ModuleImport(NamedTuple):
    """An import of a module for what it does, in place of one of a name in it.

    ``bound``, ``level``, ``target`` and ``item`` as in :attr:`Piece.imports`.
    """

    module: str
    bound: str
    level: int
    target: str
    item: str | None

    @property
    def text(self) -> str:
        """The statement; ``b as b`` tells linters that it is meant."""
        if self.item is None:
            return f"import {self.target}"
        return f"from {'.' * self.level}{self.target} import {self.item} as {self.item}"


@dataclass(slots=True)
class Closure:
    """What the targets need: pieces to keep, and what was learned on the way.

    * ``kept``: the pieces, in the order in which they were found; ``modules``: the modules
      that must be there, with or without pieces.
    * ``aliases``: of a kept import statement, the names it binds that are wanted
      (``"*"``: the star as it is); ``stars``: the names wanted of a star import;
      ``runs``: of one that none of these are wanted of, the module that it has to run all
      the same, and the import that does.
    * ``undocumented``: kept class statements that are shown without their docstring.
    * ``submodules``: of a kept import statement, the modules outside the repo that it has to
      import too, by the name it binds of the package they are in.
    * ``read_names``: names of a module scope that kept code of the module itself reads.
    * ``reasons``: item -> the demand nearest to the target; ``demands``: every pair of
      items of which one asked for the other, definite rather than possible.
    * ``distances``: item -> the number of references from a target.
    * ``pieces_of``: item -> the pieces that define it.
    * ``externals``: modules outside the repo, and the name imported (or ``""``).
    * ``omitted``: items that an option left out -> which (``depth``, ``certainty``,
      ``guesses``, ``budget``), their distance.
    * ``without_late``: where modules count that functions import, as they do something with what
      is here: the closure without what they do. ``late`` are these modules.
    """

    kept: dict[PieceKey, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    aliases: dict[PieceKey, dict[str, None]] = field(default_factory=dict)
    stars: dict[PieceKey, dict[str, None]] = field(default_factory=dict)
    runs: dict[PieceKey, ModuleImport] = field(default_factory=dict)
    undocumented: set[PieceKey] = field(default_factory=set)
    submodules: dict[PieceKey, dict[str, dict[str, None]]] = field(default_factory=dict)
    read_names: set[tuple[str, str]] = field(default_factory=set)
    reasons: dict[str, Demand] = field(default_factory=dict)
    demands: dict[tuple[str, str], Demand] = field(default_factory=dict)
    distances: dict[str, int] = field(default_factory=dict)
    pieces_of: dict[str, dict[PieceKey, None]] = field(default_factory=dict)
    externals: dict[tuple[str, str], None] = field(default_factory=dict)
    unresolved: dict[Unresolved, None] = field(default_factory=dict)
    omitted: dict[str, tuple[str, int]] = field(default_factory=dict)
    without_late: Closure | None = None
    late: tuple[str, ...] = ()

    def chains(self) -> dict[str, tuple[Step, ...]]:
        """For each item the references from a target to it, each the first that was found.

        The chain of an item goes on that of the item which asked for it.
        """
        found: dict[str, tuple[Step, ...]] = {}
        in_circles: dict[str, tuple[Step, ...]] = {}  # these are not parts of each other
        for item in self.distances:
            back: dict[str, Step] = {}  # from the item, up to one whose chain is known, or a target
            current = item
            while current in self.reasons and current not in found and current not in back:
                back[current] = self.reasons[current].step(current)
                current = back[current].source
            if current in back:
                in_circles[item] = tuple(reversed(back.values()))
                continue
            chain = found.setdefault(current, ())
            for each, step in reversed(back.items()):
                chain = found[each] = (*chain, step)
        return {**found, **in_circles}

    def remoteness(self, *, doubt: int = _DOUBT) -> dict[str, int]:
        """How far each item is from a target where a possible reference counts as ``1 + doubt``.

        That tells how likely it runs when a target does: most possible references are not taken
        (``benchmarks/ranking.py``). The shortest ways, by Dijkstra (1959).
        """
        onward: dict[str, list[tuple[str, int]]] = {}
        for (source, item), demand in self.demands.items():
            more = doubt if demand.certainty is Certainty.POSSIBLE else 0
            onward.setdefault(source, []).append((item, 1 + more))
        waiting = [(0, item) for item, distance in self.distances.items() if distance == 0]
        found: dict[str, int] = {}
        while waiting:
            far, item = heappop(waiting)
            if item not in found and item in self.distances:
                found[item] = far
                for wanted, step in onward.get(item, ()):
                    heappush(waiting, (far + step, wanted))
        return found

    def imports_from_outside(self) -> tuple[ExternalImport, ...]:
        """Imports from outside the repo, merged per module."""
        grouped: dict[str, set[str]] = {}
        for module, name in self.externals:
            names = grouped.setdefault(module, set())
            if name:
                names.add(name)
        return tuple(
            ExternalImport(module=m, names=tuple(sorted(n))) for m, n in sorted(grouped.items())
        )

"""Facts become references between symbols, each call weighed against others of its site.

Facts are shared: what many operations find alike is one tuple (:mod:`.engine.facts`). So what
a tuple of them says is read once, and held against each operation that has noted it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.certainty import call_certainty
from depslice.callgraph.columns import Sites
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Function, Lookup
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, Unresolved
from depslice.callgraph.program import Program

_WITH_ANOTHER: Final = frozenset({"instance", "new", "post-init"})
"""Rules for calls that go with another of the same site, and are no alternative to it."""
_TOGETHER: Final = {
    "__exit__": "__enter__",
    "__aexit__": "__aenter__",
    "__next__": "__iter__",
    "__anext__": "__aiter__",
    "__radd__": "__add__",
}
"""Methods of one protocol that one operation calls one after the other."""
_BUILTIN: Final = frozenset({"K", "KM"})
_OURS: Final = frozenset({"I", "B"})
_VAGUE: Final = frozenset({"U", "P", "A", "E", "R", "X", "XI", "XM"})


class Edge:
    """What a fact says, wherever it holds.

    ``number`` stands for ``target`` and ``kind``. ``is_call``: something of the repo is
    called. Calls of one ``group`` are alternatives, each known as ``alternative``; those of
    two groups may both happen.
    """

    __slots__ = (
        *("alternative", "certain", "direct", "evidence", "group", "is_call"),
        *("kind", "number", "rule", "target"),
    )

    def __init__(
        self, number: int, target: str, kind: ReferenceKind, rule: str, certain: bool, direct: bool
    ) -> None:
        self.number = number
        self.target = target
        self.kind = kind
        self.rule = rule
        self.certain = certain
        self.direct = direct
        self.evidence: tuple[str, ...] = (rule,)
        self.is_call = kind is ReferenceKind.CALL and not target.startswith("external:")
        self.group = rule if rule in _WITH_ANOTHER else ""
        owner, _, name = target.rpartition(".")
        self.alternative = f"{owner}.{_TOGETHER.get(name, name)}"


class Gap(NamedTuple):
    """What a fact leaves open, wherever it holds."""

    name: str
    reason: str


class Said:
    """What the facts of an operation say of the symbol that it belongs to.

    Each with its position, or ``HERE``: where the operation stands. ``bases`` are said of the class
    that the operation makes.
    """

    __slots__ = ("_weighed", "bases", "calls", "edges", "gaps")

    def __init__(self) -> None:
        self.edges: list[tuple[int, Edge]] = []
        self.calls: dict[str, set[str]] = {}  # alternatives by group
        self.gaps: list[tuple[int, Gap]] = []
        self.bases: list[tuple[int, Edge]] = []
        self._weighed: dict[tuple[bool, bool], list[tuple[int, Edge, Certainty]]] = {}

    def add(self, pos: int, one: Edge | Gap) -> None:
        """The facts say this too."""
        if isinstance(one, Gap):
            self.gaps.append((pos, one))
            return
        self.edges.append((pos, one))
        if one.is_call:
            self.calls.setdefault(one.group, set()).add(one.alternative)

    def weighed(self, exact: bool, doubted: bool) -> list[tuple[int, Edge, Certainty]]:
        """The edges, each with its certainty where the operation is ``exact`` and ``doubted``."""
        known = self._weighed.get((exact, doubted))
        if known is None:
            known = [(pos, one, self._certainty(one, exact, doubted)) for pos, one in self.edges]
            self._weighed[exact, doubted] = known
        return known

    def _certainty(self, one: Edge, exact: bool, doubted: bool) -> Certainty:
        if not one.is_call:
            return Certainty.DEFINITE if one.certain else Certainty.POSSIBLE
        callees = len(self.calls[one.group])
        certainty = call_certainty(one.rule, shown=one.certain, callees=callees, exact=exact)
        if certainty is Certainty.DEFINITE and doubted:
            return Certainty.LIKELY
        return certainty


class _Found:
    """A reference under construction."""

    __slots__ = ("certainty", "edges", "positions")

    def __init__(self) -> None:
        self.positions: set[int] = set()
        self.edges: set[Edge] = set()
        self.certainty = Certainty.POSSIBLE  # the surest so far


class Collected:
    """References under construction, by source and target."""

    def __init__(self, program: Program, engine: Engine) -> None:
        self._program = program
        self._engine = engine
        self._numbers: dict[tuple[str, ReferenceKind], int] = {}
        self._said: dict[int, Said] = {}  # by the identity of the tuple of facts
        self._read: dict[int, list[Edge | Gap]] = {}  # by that of the fact
        self._answers: dict[int, list[Edge | Gap]] = {}  # by serial number of the lookup
        self._found: dict[str, dict[int, _Found]] = {}
        self._unresolved: dict[tuple[str, str, str, int], None] = {}
        self._evidence: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._sites = Sites({})

    def add(self, function: Function) -> None:
        """The facts of one unit, as references of the symbol it belongs to."""
        source = source_symbol(function)
        found = self._found.setdefault(source, {})
        noted = function.noted
        for index in sorted(noted):
            said = self.said(noted[index])
            if said.bases:
                owner = self._found.setdefault(class_source(function), {})
                for pos, edge in said.bases:
                    _note(owner, edge, pos, Certainty.DEFINITE)
            if not said.edges and not said.gaps:
                continue
            here = abs(function.position(index))
            for pos, edge, certainty in self.weighed(function, index, said):
                _note(found, edge, here if pos == f.HERE else pos, certainty)
            for pos, gap in said.gaps:
                place = here if pos == f.HERE else pos
                self._unresolved[source, gap.name, gap.reason, place] = None

    def weighed(
        self, function: Function, index: int, said: Said
    ) -> list[tuple[int, Edge, Certainty]]:
        """What one operation says: its calls are weighed against each other."""
        if not said.calls:
            return said.weighed(False, False)
        # Of the operation, whatever it may call.
        return said.weighed(self._is_exact(function, index), self._is_doubted(function, index))

    def _is_exact(self, function: Function, index: int) -> bool:
        """Whether the objects whose kind decides what the operation calls are all known."""
        if index < 0:
            return False
        op = function.unit.ops[index]
        values = self._engine.values
        deciding = 2 if op[0] in (s.BINARY, s.COMPARE) else 1
        for register in reads(op)[:deciding]:
            for value in function.registers[register]:
                kind = values[value]
                if kind[0] == "B":
                    kind = values[kind[2]]
                if kind[0] in _VAGUE or (kind[0] in ("I", "C") and not kind[2]):
                    return False
        return True

    def _is_doubted(self, function: Function, index: int) -> bool:
        """Whether what is worked on was guessed, or what is called partly answers by itself."""
        if index < 0:
            return False
        registers = [function.registers[register] for register in reads(function.unit.ops[index])]
        if any(self._engine.guess_id in values for values in registers[:2]):
            return True
        kinds = {self._engine.values[value][0] for values in registers[:1] for value in values}
        return not kinds.isdisjoint(_BUILTIN) and not kinds.isdisjoint(_OURS)

    # --- what facts say

    def said(self, facts: tuple[Fact, ...]) -> Said:
        """What the facts of one operation say."""
        known = self._said.get(id(facts))
        if known is not None:
            return known
        said = self._said[id(facts)] = Said()
        for fact in facts:
            place = f.POSITION.get(fact[0])
            if place is None:
                continue
            pos = abs(fact[place])
            if fact[0] == f.ASKED:
                for one in self._answer(fact[1]):
                    said.add(pos, one)
            elif fact[0] in (f.INHERIT, f.INHERIT_EXTERNAL):
                said.bases.extend(
                    [(pos, one) for one in self._reading(fact) if isinstance(one, Edge)]
                )
            else:
                for one in self._reading(fact):
                    said.add(pos, one)
        return said

    def _answer(self, lookup: Lookup) -> list[Edge | Gap]:
        known = self._answers.get(lookup.serial)
        if known is None:
            known = self._answers[lookup.serial] = []
            for fact in lookup.facts:
                if fact[0] == f.ASKED:
                    known.extend(self._answer(fact[1]))
                else:
                    known.extend(self._reading(fact))
        return known

    def _reading(self, fact: Fact) -> list[Edge | Gap]:
        known = self._read.get(id(fact))
        if known is None:
            known = self._read[id(fact)] = list(self._meant(fact))
        return known

    def _meant(self, fact: Fact) -> Iterator[Edge | Gap]:
        kind = fact[0]
        if kind == f.CALL:
            yield self._edge(fact[1].id, ReferenceKind.CALL, fact[4], fact[3], not fact[5])
        elif kind == f.NAME:
            how = ReferenceKind.WRITE if fact[4] < 0 else ReferenceKind.READ
            for target in self._program.definitions(fact[1], fact[2]):
                yield self._edge(target, how, "name")
        elif kind == f.MEMBER and fact[6]:
            how = ReferenceKind.WRITE if fact[5] == "write" else ReferenceKind.READ
            yield self._edge(f"{fact[1].id}.{fact[2]}", how, "member")
        elif kind == f.INSTANCE:
            yield self._edge(fact[1].id, ReferenceKind.CALL, "instance")
        elif kind == f.INHERIT:
            yield self._edge(fact[1].id, ReferenceKind.INHERIT, "base")
        elif kind == f.INHERIT_EXTERNAL:
            yield self._edge(f"external:{fact[1]}", ReferenceKind.INHERIT, "base")
        elif kind == f.ANNOTATE:
            for target in self._program.definitions(fact[1], fact[2]):
                yield self._edge(target, ReferenceKind.ANNOTATE, "annotation")
        elif kind == f.EXTERNAL and fact[3]:
            yield self._edge(f"external:{fact[1]}", ReferenceKind.CALL, "external")
        elif kind == f.MODULE:
            yield self._edge(fact[1], ReferenceKind.IMPORT, "module")
        elif kind == f.UNRESOLVED:
            yield Gap(fact[1], fact[2])
        elif kind == f.UNKNOWN and fact[3]:
            yield Gap(fact[1], "unknown-receiver")

    def _edge(
        self,
        target: str,
        kind: ReferenceKind,
        rule: str,
        certain: bool = True,
        direct: bool = True,
    ) -> Edge:
        number = self._numbers.setdefault((target, kind), len(self._numbers))
        return Edge(number, target, kind, rule, certain, direct)

    # --- references

    def take(self) -> tuple[list[Reference], list[Unresolved]]:
        """What has been added since the last time, each once; of whole modules."""
        references = [
            self._reference(source, each)
            for source, found in self._found.items()
            for each in found.values()
        ]
        unresolved = [
            Unresolved(source=source, name=name, reason=reason, site=site)
            for source, name, reason, pos in self._unresolved
            for site in self._sites.of(source, (pos,))
        ]
        self._found = {}
        self._unresolved = {}
        return references, unresolved

    def _reference(self, source: str, found: _Found) -> Reference:
        [first, *others] = found.edges
        evidence = first.evidence
        direct = first.direct
        if others:
            rules = tuple(sorted({edge.rule for edge in found.edges}))
            evidence = self._evidence.setdefault(rules, rules)
            direct = any(edge.direct for edge in found.edges)
        return Reference(
            source=source,
            target=first.target,
            kind=first.kind,
            sites=self._sites.of(source, [p for p in sorted(found.positions) if p >> 12]),
            certainty=found.certainty,
            evidence=evidence,
            via_external=not direct,
        )


def _note(found: dict[int, _Found], edge: Edge, pos: int, certainty: Certainty) -> None:
    one = found.get(edge.number)
    if one is None:
        one = found[edge.number] = _Found()
    one.positions.add(pos)
    one.edges.add(edge)
    if certainty is not one.certainty and (
        certainty is Certainty.DEFINITE or one.certainty is Certainty.POSSIBLE
    ):
        one.certainty = certainty


class SiteCall(NamedTuple):
    """A call that one operation may make."""

    target: str
    rule: str
    certainty: Certainty
    position: int


def calls_of(
    program: Program, engine: Engine, function: Function
) -> Iterator[tuple[int, list[SiteCall]]]:
    """For every operation of an evaluated unit that calls: its index, and what it may call."""
    collected = Collected(program, engine)
    for index in sorted(function.noted):
        here = abs(function.position(index))
        said = collected.said(function.noted[index])
        calls = [
            SiteCall(edge.target, edge.rule, certainty, here if pos == f.HERE else pos)
            for pos, edge, certainty in collected.weighed(function, index, said)
            if edge.kind is ReferenceKind.CALL
        ]
        if calls:
            yield index, calls


def source_symbol(function: Function) -> str:
    """The symbol a unit's references start from: its function, else the class or module body."""
    unit = function.unit
    module = function.module
    if unit.kind != "piece":
        return function.id
    if unit.owner >= 0:
        return f"{module.name}:{module.summary.classes[unit.owner].qualname}"
    return module.name


def class_source(function: Function) -> str:
    """The class that a unit makes, whose bases it tells; else as :func:`source_symbol`."""
    for op in function.unit.ops:
        if op[0] == s.CLASS:
            return f"{function.module.name}:{function.module.summary.classes[op[2]].qualname}"
    return source_symbol(function)

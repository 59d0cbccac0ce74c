"""Facts become references between symbols, each call weighed against others of its site.

Facts are shared: what many operations find alike is one tuple (:mod:`.engine.facts`). So what
a fact says is read once, and held against each operation that has noted it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.certainty import (
    Held,
    Standing,
    call_certainty,
    held_by,
    is_asked,
    is_likely,
)
from depslice.callgraph.columns import Numbers, Sites
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import (
    DERIVED,
    Class,
    Function,
    Lookup,
    Value,
    has_no_statement,
)
from depslice.callgraph.importing import RULE, asked_by_imports, never_runs
from depslice.callgraph.model import Certainty, Reference, ReferenceKind, Unresolved
from depslice.callgraph.program import Module, Program

_WITH_ANOTHER: Final = frozenset(
    {
        "by-name-beside",
        "derived",
        "field",
        "instance",
        "length",
        "new",
        "override",
        "post-init",
        "reflected",
    }
)
"""Rules for calls that go with another of the same site, and are no alternative to it."""
_TOGETHER: Final = {"__radd__": "__add__"}
"""Methods of one protocol that one operation calls one after the other, of one object."""
_THEN: Final = frozenset({"__aexit__", "__anext__", "__exit__", "__next__", "__setstate__"})
"""Those that are called when others have been: `__next__`, of what `__iter__` has given."""
_HANDED: Final = "callback"
_BASES: Final = frozenset({"asked-by-base", "called-by-base"})
"""Rules by which a base calls several methods of one object: those are no alternatives."""
_WRITTEN: Final = frozenset({"call", "method"})
"""Rules for calls that are written with their arguments: what does not take them is not meant."""
_HAPPENING: Final = frozenset({ReferenceKind.CALL, ReferenceKind.DECORATE})
"""What code that never runs does not do, though it names the same."""
_READ_OF: Final = frozenset({"method", "property"})
"""Rules for calls of what an object has, or else what a class below has."""
_NOTHING: Final[frozenset[str]] = frozenset()
_FEW: Final = 2  # of several, and few enough to be likely
_NONE_HANDED: Final[Mapping[Edge, str]] = {}
_BUILTIN: Final = frozenset({"K", "KM", "SM"})
_OURS: Final = frozenset({"I", "B"})
_CALLED: Final = _OURS | {"F", "C"}
_ELSEWHERE: Final = frozenset({"G", "GS", "K", "KM", "OG", "P", "S", "SM", "X", "XA", "XI"})
"""Values that are nothing of the repo; what callers pass may be something else as well.

An attribute of what code outside gave is not among them (``XM``): of methods of the repo that have
met with one, 19 of 20 were called.
"""
_HAVING_METHODS: Final = frozenset({"I", "C", "SU"})
"""Values that are asked what a class of the repo defines."""
_ANSWERING: Final = frozenset({"G", "GE", "K", "N", "S", "X", "XI"})
"""Values that answer what any object is asked by themselves."""
_HOLDING: Final = frozenset({"G", "K"})
"""Containers of which the elements are known or declared: they are asked in their place."""
_SEVERAL: Final = 4  # objects, of which one may be of a subclass that has a property
_SOME: Final = 4  # edges: for no more, who is asked and by which name is no matter
_MOST_CONTAINERS: Final = 32  # that are looked into for one operation
_LOOKING_UP: Final = frozenset({"__eq__", "__hash__"})
"""What keys of a dictionary are asked for."""
_GIVING: Final = frozenset({"__getitem__", "__iter__"})
"""What an object that is iterated or subscripted answers, by one or the other."""
_AT_NAME: Final = {s.ATTR: 3, s.SETATTR: 2}
"""Where the attribute stands that an operation reads or stores."""
_CODE: Final = "__code__"
"""The attribute of a function that says what runs."""
_UNHASHABLE: Final = frozenset(
    {"bytearray", "defaultdict", "deque", "dict", "list", "set", "Counter", "OrderedDict"}
)
"""The last names of builtin types whose instances are unhashable."""
_VAGUE: Final = DERIVED | {"U", "P", "X", "XI", "XM", "L"}


class Edge:
    """What a fact says, wherever it holds.

    ``number`` stands for ``target`` and ``kind``. ``is_call``: something of the repo is
    called, ``left_open``: by a method that stands there for those of subclasses, ``refusing``: by
    one that only raises an error, ``replaced``: of which the code may have been replaced, ``fits``:
    with arguments that it takes. ``above``: the classes above that of a method, ``overridden``: some
    class below has another in its place. Calls of one ``group`` are alternatives, each known as
    ``alternative``; those of two groups may both happen.
    """

    __slots__ = (
        *("above", "alternative", "asked", "certain", "direct", "fits", "group", "is_call"),
        *("kind", "left_open", "method", "number", "overridden", "refusing", "replaced", "rule"),
        "target",
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
        self.left_open = False
        self.refusing = False
        self.replaced = False
        self.above = _NOTHING
        self.overridden = False
        self.fits = certain or rule not in _WRITTEN
        self.is_call = kind is ReferenceKind.CALL and not target.startswith("external:")
        owner, _, name = target.rpartition(".")
        self.asked = self.is_call and is_asked(rule, name)
        # `print(x, file=y)` asks `y` to write what it asks `x` for.
        beside = rule == "protocol" and name[:2] != "__"
        then = rule in ("context", "protocol") and name in _THEN
        self.group = rule if rule in _WITH_ANOTHER else name if beside or then else ""
        self.alternative = f"{owner}.{_TOGETHER.get(name, name)}"
        self.method = owner, name


class Gap(NamedTuple):
    """What a fact leaves open, wherever it holds."""

    name: str
    reason: str


class Weight(NamedTuple):
    """How sure a call is by itself; what it depends on besides, and how many its site may call."""

    certainty: Certainty
    held: Held = Held.NOTHING
    width: int = 0


class Manner(NamedTuple):
    """What is known of the values that an operation works on.

    ``exact``: all that decide what is called are known objects; ``lost``: one may be anything.
    ``named``: a name that is computed chooses one of what is called. ``own``: it is a method of
    ``self``.
    ``doubted``: they were guessed, or partly answer by themselves. ``mixed``: the methods that
    each which is asked for them answers by itself, perhaps. ``apart``: what is called though no
    object there is known to have it: it came another way, or is of a subclass of one of several.
    ``met``: what a protocol asks for, where an object there has it itself. ``computed``: what is
    called is an attribute of which the name comes from elsewhere. ``mingled``: something else may
    be there that is nothing of the repo, for all that is known. ``read``: the attribute that is
    called, where one of the functions only raises.
    """

    exact: bool
    lost: bool
    named: bool
    own: bool
    doubted: bool
    mixed: frozenset[str]
    apart: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    computed: bool = False
    mingled: bool = False
    read: str = ""


class Said:
    """What a fact says.

    ``calls``: that something of the repo is called. ``asks``: that it is asked of an object.
    """

    __slots__ = ("_weighed", "asks", "calls", "edges", "gaps", "of_class", "rules")

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self.gaps: list[Gap] | tuple[()] = ()
        self.calls = False
        self.asks = False
        self.rules: frozenset[str] = _NOTHING  # by which something is called
        self.of_class = False  # of the class that the operation makes
        self._weighed: dict[Manner, list[Weight]] | None = None

    def add(self, one: Edge | Gap) -> None:
        """This too."""
        if isinstance(one, Edge):
            self.edges.append(one)
            self.calls = self.calls or one.is_call
            self.asks = self.asks or one.asked
            if one.is_call and one.rule not in self.rules:
                self.rules |= {one.rule}
        else:
            self.gaps = [*self.gaps, one]

    def extend(self, other: Said) -> None:
        """What ``other`` has too."""
        self.edges.extend(other.edges)
        self.calls = self.calls or other.calls
        self.asks = self.asks or other.asks
        if not other.rules <= self.rules:
            self.rules |= other.rules
        if other.gaps:
            self.gaps = [*self.gaps, *other.gaps]

    def weighed(self, manner: Manner) -> list[Weight]:
        """How sure each edge is, where the operation is of that ``manner``."""
        if len(self.edges) == 1:
            one = self.edges[0]
            standing = _BY_ITSELF
            if manner.apart:
                standing = Standing(1, apart=one.target in manner.apart)
            return _ALONE[_weigh_one(one, standing, manner)]
        if self._weighed is None:
            self._weighed = {}
        known = self._weighed.get(manner)
        if known is None:
            known = self._weighed[manner] = _weigh(self.edges, manner)
        return known


class Together(NamedTuple):
    """What several facts say: each where it holds, those that call, and all that these say."""

    parts: list[tuple[int, Said]]
    calling: list[Said]
    calls: Said


def _weigh(
    edges: list[Edge], manner: Manner, handed: Mapping[Edge, str] = _NONE_HANDED
) -> list[Weight]:
    """How sure each edge is beside the others; ``handed``: the groups of some."""
    alternatives: dict[str, set[str]] = {}
    for one in edges:
        if one.is_call and not one.left_open and one.fits:
            alternatives.setdefault(one.group, set()).add(one.alternative)
            if one in handed:
                alternatives.setdefault(handed[one], set()).add(one.alternative)
    fitting = alternatives.keys() | ()
    for one in edges:
        if not one.fits and one.is_call and one.group not in fitting:
            alternatives.setdefault(one.group, set()).add(one.alternative)
    callees = {group: len(others) for group, others in alternatives.items()}
    counts = [callees.get(handed.get(one, one.group), 0) + one.left_open for one in edges]
    by_base = [place for place, one in enumerate(edges) if one.rule in _BASES]
    if len(by_base) > _FEW:
        namesakes = Counter(name for _, name in {edges[place].method for place in by_base})
        for place in by_base:
            if namesakes[edges[place].method[1]] == 1:
                counts[place] = min(counts[place], _FEW)
    standings = _standings(edges, counts, manner)
    return [
        _weigh_one(one, standing, manner, meant=one.fits or one.group not in fitting)
        for one, standing in zip(edges, standings, strict=True)
    ]


def _standings(edges: list[Edge], counts: list[int], manner: Manner) -> Iterator[Standing]:
    """How each edge stands beside the others, which are so many."""
    owners: dict[tuple[str, str], set[str]] = {}
    above: dict[tuple[str, str], set[str]] = {}
    for one in edges:
        if one.rule in _READ_OF and one.is_call:
            owner, name = one.method
            owners.setdefault((one.group, name), set()).add(owner)
            if one.above:
                above.setdefault((one.group, name), set()).update(one.above)
    doing = {one.method[1] for one in edges if one.is_call and not one.refusing}
    for one, count in zip(edges, counts, strict=True):
        key = one.group, one.method[1]
        # Else that is what is meant; a function may be stored in the place of a method of that
        # name. Methods of other names are passed by callers, as the function is.
        instead = one.rule == "call" and manner.read in doing
        refusing = one.refusing and (instead or one.method[1] in doing)
        overriding = bool(one.above) and not one.above.isdisjoint(owners[key])
        overridden = not overriding and key in above and one.method[0] in above[key]
        apart = one.target in manner.apart
        met = one.target in manner.met
        yield Standing(
            count, manner.named, manner.own, overriding, overridden, refusing, apart, met
        )


def _weigh_one(one: Edge, standing: Standing, manner: Manner, *, meant: bool = True) -> Weight:
    """``meant``: the callee accepts the arguments, or no callee of the site does."""
    if not one.is_call:
        return Weight(Certainty.DEFINITE if one.certain else Certainty.POSSIBLE)
    certainty = _certainty(one, standing, manner, meant=meant)
    shown = one.certain and one.fits and not (one.left_open or manner.computed)
    held = held_by(one.rule, standing, certainty, shown=shown)
    return Weight(certainty, held, standing.callees)


def _certainty(one: Edge, standing: Standing, manner: Manner, *, meant: bool) -> Certainty:
    certainty = call_certainty(
        one.rule,
        standing,
        shown=one.certain or (meant and not one.fits),
        exact=manner.exact,
        lost=manner.lost or one.left_open,
        mixed=one.asked and one.method[1] in manner.mixed,
        mingled=manner.mingled,
    )
    if manner.doubted and manner.lost and one.rule == "call":
        # Beside what is called outside, a default as a rule: which functions, nobody knows.
        return Certainty.POSSIBLE
    doubted = manner.doubted or one.replaced or (manner.lost and one.overridden)
    if certainty is Certainty.DEFINITE and doubted:
        return Certainty.LIKELY
    if one.left_open and certainty is Certainty.LIKELY:
        return Certainty.POSSIBLE
    return certainty


_BY_ITSELF: Final = Standing(1)
_ALONE: Final = {
    weight: [weight]
    for certainty in Certainty
    for weight in (Weight(certainty), Weight(certainty, width=1))
}
_SILENCE: Final = Said()
_CALLS_NOTHING: Final = Manner(False, False, False, False, False, frozenset())


class _Found:
    """A reference under construction."""

    __slots__ = ("certainty", "edges", "held", "positions", "width")

    def __init__(self) -> None:
        self.positions: set[int] = set()
        self.edges: set[Edge] = set()
        self.certainty = Certainty.POSSIBLE  # the surest so far, of those that depend on nothing
        self.held = Held.NOTHING
        self.width = 0

    def add(self, edge: Edge, pos: int, weight: Weight) -> None:
        """Merge one more edge, at a place, into this reference."""
        self.positions.add(pos)
        self.edges.add(edge)
        certainty, held, width = weight
        self.width = max(self.width, width)
        if held:
            self.held |= held
        elif certainty is not self.certainty and (
            certainty is Certainty.DEFINITE or self.certainty is Certainty.POSSIBLE
        ):
            self.certainty = certainty


class Collected:
    """References under construction, by source and target.

    Those of a large program are a million: until they are asked for they are kept as numbers,
    and made when what they were found in is gone.
    """

    def __init__(self, program: Program, engine: Engine) -> None:
        self._program = program
        self._engine = engine
        self._ends = Numbers()  # target and kind
        self._styles = Numbers()  # how sure, evidence, via code outside
        self._texts = Numbers()  # what is unresolved, and why
        self._asking = frozenset(
            value
            for value, kind in enumerate(engine.values)
            if kind in (("X", "builtins.getattr"), ("X", "builtins.hasattr"))
        )
        self._facts: dict[int, tuple[int, Said]] = {}  # by identity: those noted alike are one
        self._together: dict[int, Together] = {}  # the same for all facts of an operation
        self._answers: dict[int, Said] = {}  # by serial number of the lookup
        self._classes_above: dict[Class, frozenset[str]] = {}
        self._names_below: dict[Class, frozenset[str]] = {}
        self._replaced: set[Function | Module] | None = None  # whose code is
        self._computed: dict[s.Unit, set[s.Register]] = {}  # what holds `getattr(…, name)`
        # By target: how many call it, and from how many they choose it who do from most.
        self._callers: dict[int, tuple[int, int, int]] = {}
        self._found: dict[str, dict[int, _Found]] = {}
        self._open: dict[str, dict[tuple[int, int, int], None]] = {}
        self._references: dict[str, array[int]] = {}
        self._unresolved: dict[str, array[int]] = {}

    def add(self, function: Function) -> None:
        """The facts of one unit, as references of the symbol it belongs to."""
        source = source_symbol(function)
        found = self._found.setdefault(source, {})
        dead = never_runs(function.module, function.unit.piece)
        gaps = self._open.setdefault(source, {})
        texts = self._texts
        for index in sorted(function.noted):
            for pos, said, weights in self.weighed(function, index):
                into = found
                if said.of_class:
                    into = self._found.setdefault(class_source(function), {})
                for edge, weight in zip(said.edges, weights, strict=True):
                    if dead and edge.kind in _HAPPENING:
                        continue
                    one = into.get(edge.number)
                    if one is None:
                        one = into[edge.number] = _Found()
                    one.add(edge, pos, weight)
                for gap in said.gaps:
                    gaps[texts.of(gap.name), texts.of(gap.reason), pos] = None

    def add_imports(self, module: Module) -> None:
        """What import statements of a module call, which has no part in what values there are."""
        for asked in asked_by_imports(self._program, module):
            source = symbol_of(module, asked.unit)
            edge = self._edge(asked.target, ReferenceKind.CALL, RULE)
            found = self._found.setdefault(source, {}).setdefault(edge.number, _Found())
            found.add(edge, asked.position, Weight(asked.certainty))

    def weighed(self, function: Function, index: int) -> Sequence[tuple[int, Said, list[Weight]]]:
        """What each fact of one operation says, where, and how sure each edge of it is.

        Calls are weighed against each other, those of all facts together.
        """
        facts = function.noted[index]
        known = self._facts
        if len(facts) == 1:
            pos, said = known.get(id(facts[0])) or self._read(facts[0])
            if not said.edges and not said.gaps:
                return ()
            if pos == f.HERE:
                pos = abs(function.position(index))
            manner = self._manner(function, index, (said,)) if said.calls else _CALLS_NOTHING
            return ((pos, said, said.weighed(manner)),)
        return self._weighed_together(function, index, facts)

    def _weighed_together(
        self, function: Function, index: int, facts: tuple[Fact, ...]
    ) -> list[tuple[int, Said, list[Weight]]]:
        alike = self._together.get(id(facts)) or self._read_together(facts)
        here = abs(function.position(index))
        calling = alike.calling
        manner = self._manner(function, index, calling) if calling else _CALLS_NOTHING
        together: list[Weight] = []
        if len(calling) > 1:
            edges = alike.calls.edges
            handed = self._handed(function, index, edges)
            together = _weigh(edges, manner, handed) if handed else alike.calls.weighed(manner)
        weighed: list[tuple[int, Said, list[Weight]]] = []
        start = 0
        for pos, said in alike.parts:
            if together and said.calls:
                weights = together[start : start + len(said.edges)]
                start += len(said.edges)
            else:
                weights = said.weighed(manner)
            weighed.append((here if pos == f.HERE else pos, said, weights))
        return weighed

    def _read_together(self, facts: tuple[Fact, ...]) -> Together:
        """What several facts of one operation say, which others have noted alike."""
        known = self._facts
        parts = [known.get(id(fact)) or self._read(fact) for fact in facts]
        calling = [said for _, said in parts if said.calls]
        calls = Said()
        for said in calling:
            calls.extend(said)
        found = self._together[id(facts)] = Together(parts, calling, calls)
        return found

    def _handed(self, function: Function, index: int, edges: list[Edge]) -> dict[Edge, str]:
        """By which argument each function that code outside may call got there.

        Two arguments are no alternatives, nor are two methods of the object that is passed.
        """
        handed = [edge for edge in edges if edge.is_call and edge.certain and edge.rule == _HANDED]
        if not handed or index < 0 or function.unit.ops[index][0] != s.CALL:
            return {}
        op = function.unit.ops[index]
        places: dict[str, set[int]] = {}
        for place, register in enumerate((*op[3], *(register for _, register in op[4]))):
            for value in function.registers[register]:
                for target in self._called_of(value):
                    places.setdefault(target, set()).add(place)
        by_argument: dict[Edge, str] = {}
        for edge in handed:
            owner, _, name = edge.target.rpartition(".")
            for target, method in ((edge.target, ""), (owner, name)):
                if len(places.get(target, ())) == 1:
                    [place] = places[target]
                    by_argument[edge] = f"{place}.{method}"
                    break
        return by_argument

    def _called_of(self, value: int) -> Iterator[str]:
        """The function that a value is, or the classes that an object has its methods from."""
        kind = self._engine.values[value]
        if kind[0] in ("F", "B"):
            yield kind[1].id
        elif kind[0] == "I":
            for class_ in self._engine.mro(kind[1]):
                yield class_.id

    def _manner(self, function: Function, index: int, calling: Sequence[Said]) -> Manner:
        asked = {
            edge.method[1] for said in calling if said.asks for edge in said.edges if edge.asked
        }
        exact, lost = self._how_known(function, index)
        count = sum(len(said.edges) for said in calling)
        many = count > _SOME
        rules = calling[0].rules.union(*(said.rules for said in calling[1:]))
        doubtful = not exact and ("property" in rules or (lost and count > 1 and "method" in rules))
        several = count > 1 and not (exact or lost) and "protocol" in rules
        return Manner(
            exact=exact,
            lost=lost,
            named=many and not exact and self._is_named(function, index),
            own=many and not (exact or lost) and self._is_own(function, index),
            doubted=self._is_doubted(function, index),
            mixed=frozenset(name for name in asked if self._is_mixed(function, index, name)),
            apart=self._apart(function, index, calling, lost) if doubtful else _NOTHING,
            met=self._met(function, index, calling) if several else _NOTHING,
            computed=many and not exact and self._is_computed(function, index),
            mingled=self._is_mingled(function, index),
            read=self._name_read(function, index, calling),
        )

    def _name_read(self, function: Function, index: int, calling: Sequence[Said]) -> str:
        """The attribute that is called, if some function there only raises: else it decides nothing."""
        refusing = any(edge.refusing for said in calling for edge in said.edges)
        if index < 0 or not refusing or function.unit.ops[index][0] != s.CALL:
            return ""
        read = self._engine.read_from(function, function.unit.ops[index][2])
        return "" if read is None else read[0]

    def _met(self, function: Function, index: int, calling: Sequence[Said]) -> frozenset[str]:
        """Of several methods that a protocol asks for, those that objects at the place have."""
        asked = [
            edge
            for said in calling
            for edge in said.edges
            if edge.is_call and edge.rule == "protocol"
        ]
        if index < 0 or len(asked) < _FEW:
            return _NOTHING
        op = function.unit.ops[index]
        register = reads(op)[0]
        if op[0] == s.CALL:
            if not op[3] or not self._is_outside(function.registers[register]):
                return _NOTHING
            register = op[3][0]
        met: set[tuple[str, str]] = set()
        for value in function.registers[register]:
            kind = self._engine.values[value]
            if kind[0] != "I":
                continue
            line = self._engine.mro(kind[1])
            for name in {edge.method[1] for edge in asked}:
                holder = next((class_ for class_ in line if name in class_.info.members), None)
                if holder is not None:
                    met.add((holder.id, name))
        return frozenset(edge.target for edge in asked if edge.method in met)

    def _is_outside(self, callees: frozenset[int]) -> bool:
        """Whether functions outside are called: what they ask is asked of what they are given."""
        return any(self._engine.values[value][0] == "X" for value in callees)

    def _apart(
        self, function: Function, index: int, calling: Sequence[Said], lost: bool
    ) -> frozenset[str]:
        """What is called though no object at the place is known to have it.

        A property of a subclass that one of several may be of; or, beside what may be anything, a
        method that none of the objects has: a partial gives it, or it is kept on one of them.
        """
        properties: list[Edge] = []
        methods: list[Edge] = []
        for said in calling:
            for edge in said.edges:
                if edge.is_call and edge.rule in _READ_OF:
                    (properties if edge.rule == "property" else methods).append(edge)
        alone = len({edge.alternative for edge in properties}) == 1
        several = lost and len({edge.alternative for edge in methods}) > 1
        if index < 0 or not (alone or several):
            return _NOTHING
        receivers = self._receivers(function, index)
        found: set[str] = set()
        if alone and len(receivers) >= _SEVERAL:
            above = {each for kind in receivers for each in self._line_of(kind)}
            if above:
                found.update(edge.target for edge in properties if edge.method[0] not in above)
        if several and receivers:
            having = {each for kind in receivers for each in self._may_be_of(kind)}
            if having:
                found.update(edge.target for edge in methods if edge.method[0] not in having)
        if several and not receivers:
            found |= self._of_others(function, index)
        return frozenset(found)

    def _of_others(self, function: Function, index: int) -> set[str]:
        """Methods of what ``self`` is not, where one of its own gives them: ``self.find(name)(x)``.

        That gives methods of every object that asks for one, among them those of ``self``. What
        it gives of objects that cannot ask it is no matter.
        """
        unit = function.unit
        if unit.ops[index][0] != s.CALL or unit.owner < 0:
            return set()
        called = unit.ops[index][2]
        made = next((op for op in unit.ops if op[0] == s.CALL and op[1] == called), None)
        read = None if made is None else self._engine.read_from(function, made[2])
        if made is None or read is None or read[1] != 0:
            return set()
        values = self._engine.values
        known = {id_ for value in function.registers[0] for id_ in self._may_be_of(values[value])}
        bound = [kind for v in function.registers[called] if (kind := values[v])[0] == "B"]
        givers = [kind for v in function.registers[made[2]] if (kind := values[v])[0] == "B"]
        asked = {each[1].id.rpartition(".")[0] for each in givers}
        own: set[str] = set()
        others: set[str] = set()
        for method, of in [(kind[1], values[kind[2]]) for kind in bound]:
            if not asked.isdisjoint(self._line_of(of)):
                (own if of[1].id in known else others).add(method.id)
        return others - own if own else set()

    def _receivers(self, function: Function, index: int) -> list[Value]:
        """What the attribute is read of that an operation calls, or reads."""
        op = function.unit.ops[index]
        values = self._engine.values
        if op[0] == s.ATTR:
            register = op[2]
        elif op[0] == s.CALL:
            read = self._engine.read_from(function, op[2])
            if read is not None:
                register = read[1]
            elif op[3] and function.registers[op[2]] <= self._asking:
                register = op[3][0]
            else:
                return []
        else:
            return []
        kinds = [values[value] for value in function.registers[register]]
        return [] if any(kind[0] == "SU" for kind in kinds) else kinds

    def _line_of(self, kind: Value) -> Iterator[str]:
        """The classes that an object, or a class, has its attributes from."""
        if kind[0] in ("I", "C"):
            for class_ in self._engine.mro(kind[1]):
                yield class_.id

    def _may_be_of(self, kind: Value) -> Iterator[str]:
        """Those, and the classes below that it may be of."""
        yield from self._line_of(kind)
        if kind[0] in ("I", "C") and not kind[2]:
            for class_ in kind[1].below():
                yield class_.id

    def _is_mixed(self, function: Function, index: int, method: str) -> bool:
        """Whether what is asked may be an object that answers by itself, or a part of one."""
        if index < 0:
            return False
        op = function.unit.ops[index]
        is_call = op[0] == s.CALL
        values = self._engine.values
        for register in reads(op)[1:] if is_call else reads(op):
            held: Iterable[int] = function.registers[register]
            kinds = {values[value][0] for value in held}
            if kinds.isdisjoint(_HAVING_METHODS) and kinds & _ANSWERING <= _HOLDING:
                held = self._held_in(held, method)
                kinds = {values[value][0] for value in held}
            if not kinds.isdisjoint(_HAVING_METHODS):
                if not any(self._may_answer(values[value], method) for value in held):
                    return False
                if not is_call:  # the object, not its key; the left operand, if it is one
                    return True
        return True

    def _held_in(self, containers: Iterable[int], method: str) -> list[int]:
        """What is in these containers, however deep: elements that are none themselves.

        What is in a dictionary is no matter where a key is looked up: that is asked.
        """
        values = self._engine.values
        waiting = [value for value in containers if values[value][0] in _HOLDING]
        met = set(waiting)
        within: list[int] = []
        for each in waiting:
            if method in _LOOKING_UP and self._engine.goes_by_keys(values[each]):
                continue
            if len(met) > _MOST_CONTAINERS:
                return [*within, each]  # who knows
            for value in self._elements(each):
                if values[value][0] not in _HOLDING:
                    within.append(value)
                elif value not in met:
                    met.add(value)
                    waiting.append(value)
        return within

    def _elements(self, container: int) -> Iterable[int]:
        kind = self._engine.values[container]
        if kind[0] == "K":
            return self._engine.elements_cell(container).values
        return [value for argument in kind[2] for value in argument]

    def _may_answer(self, kind: Value, method: str) -> bool:
        """Whether a value is one outside that has ``method``, for all that is known of it."""
        if kind[0] not in _ANSWERING:
            return False
        if kind[0] not in ("G", "K", "XI"):
            return True
        if method == "__hash__":
            return str(kind[1]).rpartition(".")[2] not in _UNHASHABLE
        if method not in _GIVING or kind[0] != "XI":
            return True
        outside = self._engine.outside
        known = outside.stubs.class_named(kind[1])
        return known is None or any(outside.member(known, name) is not None for name in _GIVING)

    def _how_known(self, function: Function, index: int) -> tuple[bool, bool]:
        """Whether the objects whose kind decides what the operation calls are all known.

        And whether one of them may be anything.
        """
        if index < 0:
            return False, False
        op = function.unit.ops[index]
        values = self._engine.values
        unknown = self._engine.unknown_id
        deciding = 2 if op[0] in (s.BINARY, s.COMPARE, s.COMPARED) else 1
        read = reads(op)
        if op[0] == s.CALL and function.registers[read[0]] <= self._asking:
            read = read[1:]  # what is asked for an attribute decides
        registers = [function.registers[register] for register in read[:deciding]]
        if any(unknown in register for register in registers):
            return False, True
        for register in registers:
            for value in register:
                kind = values[value]
                if kind[0] == "B":
                    kind = values[kind[2]]
                if kind[0] in _VAGUE or (kind[0] in ("I", "C") and not kind[2]):
                    return False, False
        return True, False

    def _is_named(self, function: Function, index: int) -> bool:
        """Whether most of what is called is chosen by a name that has a known start or end."""
        if index < 0 or function.unit.ops[index][0] != s.CALL:
            return False
        callees = function.registers[function.unit.ops[index][2]]
        functions = callees & self._engine.functions
        chosen = len(functions & self._engine.chosen_by_name)
        return chosen > len(functions) - chosen  # beside a default, or what a table has besides

    def _is_computed(self, function: Function, index: int) -> bool:
        """Whether what is called is, perhaps, ``getattr(…, name)``."""
        ops = function.unit.ops
        if index < 0 or ops[index][0] != s.CALL:
            return False
        named = self._computed.get(function.unit)
        if named is None:
            named = self._computed[function.unit] = {op[1] for op in ops if op[0] == s.BY_NAME}
            joined = [op for op in ops if op[0] == s.PHI] if named else []
            for op in (*joined, *joined):
                if not named.isdisjoint(op[2]):
                    named.add(op[1])
        return ops[index][2] in named

    def _is_own(self, function: Function, index: int) -> bool:
        """Whether a method of ``self``, or of the class that it is called on, is called."""
        unit = function.unit
        if index < 0 or unit.owner < 0 or unit.flags & s.STATIC or unit.ops[index][0] != s.CALL:
            return False
        read = self._engine.read_from(function, unit.ops[index][2])
        return read is not None and read[1] == 0

    def _is_doubted(self, function: Function, index: int) -> bool:
        """Whether what is worked on was guessed, or what is called partly answers by itself.

        Or is partly outside, as where ``override`` is that of ``typing``, or else one of the repo.
        """
        if index < 0:
            return False
        op = function.unit.ops[index]
        registers = [function.registers[register] for register in reads(op)]
        kinds = {self._engine.values[value][0] for values in registers[:1] for value in values}
        # What is passed to a function of the repo does not decide that it is called.
        decide = 1 if op[0] == s.CALL and not kinds.isdisjoint(_CALLED) else 2
        if any(self._engine.guess_id in values for values in registers[:decide]):
            return True
        if "X" in kinds and not kinds.isdisjoint(_CALLED):
            return True
        return not kinds.isdisjoint(_BUILTIN) and not kinds.isdisjoint(_OURS)

    def _is_mingled(self, function: Function, index: int) -> bool:
        """Whether what an operation works on may be something else, that is nothing of the repo.

        Code outside that is called works on what it is given: ``assertRaises(Full, queue.put)``.
        """
        if index < 0:
            return False
        op = function.unit.ops[index]
        values = self._engine.values
        registers = [function.registers[register] for register in reads(op)]
        if op[0] == s.CALL:
            callees = {values[value][0] for value in registers[0]}
            if not callees <= _ELSEWHERE:
                return not callees.isdisjoint(_ELSEWHERE)
            given = ({values[value][0] for value in each} for each in registers[1:])
            return not any(kinds and kinds <= _CALLED for kinds in given)
        if op[0] in _AT_NAME:
            name = op[_AT_NAME[op[0]]]
            if any(self._has_plain(values[value], name) for value in registers[0]):
                return True
        return any(values[value][0] in _ELSEWHERE for value in registers[0]) if registers else False

    def _has_plain(self, kind: Value, name: str) -> bool:
        """Whether an attribute of a value calls nothing: it is no property there."""
        owner = self._engine.find_member(kind[1], name) if kind[0] == "I" else None
        if owner is None:
            return False
        pieces = owner.module.summary.pieces
        return all(pieces[index].kind == "assign" for index in owner.info.members.get(name, ()))

    # --- what facts say

    def _read(self, fact: Fact) -> tuple[int, Said]:
        """Where a fact holds, and what it says."""
        kind = fact[0]
        if kind == f.ASKED:
            return abs(fact[f.POSITION[kind]]), self._answer(fact[1])
        place = f.POSITION.get(kind)
        if place is None:
            known = f.HERE, _SILENCE
        else:
            said = Said()
            said.of_class = kind in (f.INHERIT, f.INHERIT_EXTERNAL)
            for one in self._meant(fact):
                said.add(one)
            known = abs(fact[place]), said if said.edges or said.gaps else _SILENCE
        self._facts[id(fact)] = known
        return known

    def _answer(self, lookup: Lookup) -> Said:
        known = self._answers.get(lookup.serial)
        if known is None:
            facts = lookup.facts
            self._answers[lookup.serial] = _SILENCE  # for one that asks itself
            if len(facts) == 1:
                _, known = self._facts.get(id(facts[0])) or self._read(facts[0])
            else:
                known = Said()
                for fact in facts:
                    _, said = self._facts.get(id(fact)) or self._read(fact)
                    known.extend(said)
            self._answers[lookup.serial] = known
        return known

    def _meant(self, fact: Fact) -> Iterator[Edge | Gap]:
        kind = fact[0]
        if kind == f.CALL:
            edge = self._edge(fact[1].id, ReferenceKind.CALL, fact[4], fact[3], not fact[5])
            edge.left_open = self._engine.is_left_open(fact[1])
            edge.refusing = bool(fact[1].unit.flags & s.REFUSES)
            edge.replaced = self._is_replaced(fact[1])
            if fact[4] in _READ_OF and fact[1].unit.owner >= 0:
                edge.above = self._above(fact[1])
                edge.overridden = self._is_overridden(fact[1], edge.method[1])
            yield edge
        elif kind == f.NAME:
            how = ReferenceKind.WRITE if fact[4] < 0 else ReferenceKind.READ
            for target in self._program.definitions(fact[1], fact[2]):
                yield self._edge(target, how, "name")
        elif kind == f.MEMBER and fact[6] and not has_no_statement(fact[1]):
            how = ReferenceKind.WRITE if fact[5] == "write" else ReferenceKind.READ
            yield self._edge(f"{fact[1].id}.{fact[2]}", how, "member")
        elif kind == f.INSTANCE:
            yield self._edge(fact[1].id, ReferenceKind.CALL, "instance")
        elif kind == f.INHERIT and not has_no_statement(fact[1]):
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

    def _is_replaced(self, function: Function) -> bool:
        """Whether other code may run in place of a function's: ``function.__code__ = …``.

        What nobody knows there is one of those that functions of the same module make.
        """
        if self._replaced is None:
            self._replaced = set()
            for each in self._engine.known_functions:
                if _CODE in each.unit.stores or _CODE in each.unit.self_stores:
                    self._replaced.update(self._replaced_by(each))
        if function in self._replaced:
            return True
        return function.module in self._replaced and "<locals>" in function.unit.qualname

    def _replaced_by(self, function: Function) -> Iterator[Function | Module]:
        """The functions of which one replaces the code; its module, where they are not known."""
        for op in function.unit.ops:
            if op[0] == s.SETATTR and op[2] == _CODE:
                kinds = [self._engine.values[value] for value in function.registers[op[1]]]
                known = [kind[1] for kind in kinds if kind[0] in ("F", "B")]
                yield from known or [function.module]

    def _above(self, method: Function) -> frozenset[str]:
        """The classes above that which defines ``method``."""
        engine = self._engine
        class_ = engine.class_(method.module, method.unit.owner)
        known = self._classes_above.get(class_)
        if known is None:
            line = engine.mro(class_)
            known = self._classes_above[class_] = frozenset(k.id for k in line if k is not class_)
        return known

    def _is_overridden(self, method: Function, name: str) -> bool:
        """Whether a class below has something else of that ``name``."""
        class_ = self._engine.class_(method.module, method.unit.owner)
        known = self._names_below.get(class_)
        if known is None:
            members = [below.info.members.keys() for below in class_.below()]
            known = self._names_below[class_] = frozenset().union(*members)
        return name in known

    def _edge(
        self,
        target: str,
        kind: ReferenceKind,
        rule: str,
        certain: bool = True,
        direct: bool = True,
    ) -> Edge:
        return Edge(self._ends.of((target, kind)), target, kind, rule, certain, direct)

    # --- references

    def pack(self) -> None:
        """Nothing more will be added to the sources so far."""
        ends: list[tuple[str, ReferenceKind]] = self._ends.values
        for source, found in self._found.items():
            row = self._references[source] = array("q")
            for number in sorted(found, key=ends.__getitem__):
                each = found[number]
                if each.width:
                    self._count_caller(number, each.width)
                positions = [pos for pos in sorted(each.positions) if pos >> 12]
                row.extend((number, self._styles.of(_style(each)), len(positions), *positions))
        for source, gaps in self._open.items():
            if gaps:
                self._unresolved[source] = array("q", [part for gap in gaps for part in gap])
        self._found = {}
        self._open = {}

    def _count_caller(self, number: int, width: int) -> None:
        count, widest, second = self._callers.get(number, (0, 0, 0))
        if width > widest:
            widest, second = width, widest
        elif width > second:
            second = width
        self._callers[number] = count + 1, widest, second

    def settled(self, number: int, weight: Weight) -> Certainty:
        """How sure a call is, when all who call the same are known; ``number`` tells what."""
        certainty, held, width = weight
        if not held:
            return certainty
        count, widest, second = self._callers[number]
        others = second if width == widest else widest
        likely = is_likely(held, callers=count, width=width, others=others)
        return Certainty.LIKELY if likely else Certainty.POSSIBLE

    def finish(self) -> None:
        """All has been added: what facts say is not asked again."""
        self.pack()
        self._facts.clear()
        self._together.clear()
        self._answers.clear()

    def references(self) -> Iterator[Reference]:
        """Sorted by source, target and kind, each once."""
        sites = Sites({})
        for source in sorted(self._references):
            row = self._references[source].tolist()
            start = 0
            while start < len(row):
                number, style, count = row[start : start + 3]
                start += 3 + count
                target, kind = self._ends.values[number]
                weight, evidence, via_external = self._styles.values[style]
                yield Reference(
                    source=source,
                    target=target,
                    kind=kind,
                    sites=sites.of(source, row[start - count : start]),
                    certainty=self.settled(number, weight),
                    evidence=evidence,
                    via_external=via_external,
                )

    def unresolved(self) -> Iterator[Unresolved]:
        """What could not be resolved."""
        sites = Sites({})
        texts: list[str] = self._texts.values
        for source, row in self._unresolved.items():
            for start in range(0, len(row), 3):
                name, reason, pos = row[start : start + 3]
                [site] = sites.of(source, (pos,))
                yield Unresolved(source=source, name=texts[name], reason=texts[reason], site=site)


def _style(found: _Found) -> tuple[Weight, tuple[str, ...], bool]:
    held = found.held if found.certainty is Certainty.POSSIBLE else Held.NOTHING
    weight = Weight(found.certainty, held, found.width if held else 0)
    evidence = tuple(sorted({edge.rule for edge in found.edges}))
    return weight, evidence, not any(edge.direct for edge in found.edges)


class SiteCall(NamedTuple):
    """A call that one operation may make."""

    target: str
    rule: str
    certainty: Certainty
    position: int


def calls_of(collected: Collected, function: Function) -> Iterator[tuple[int, list[SiteCall]]]:
    """For every operation of an evaluated unit that calls: its index, and what it may call.

    All units of the program are in what was ``collected``.
    """
    for index in sorted(function.noted):
        calls = [
            SiteCall(edge.target, edge.rule, collected.settled(edge.number, weight), pos)
            for pos, said, weights in collected.weighed(function, index)
            for edge, weight in zip(said.edges, weights, strict=True)
            if edge.kind is ReferenceKind.CALL
        ]
        if calls:
            yield index, calls


def source_symbol(function: Function) -> str:
    """The symbol a unit's references start from: its function, else the class or module body."""
    return symbol_of(function.module, function.unit)


def symbol_of(module: Module, unit: s.Unit | None) -> str:
    """The same of a ``unit`` of a module; without one that of the module."""
    if unit is None or (unit.kind == "piece" and unit.owner < 0):
        return module.name
    if unit.kind != "piece":
        return f"{module.name}:{unit.qualname}"
    return f"{module.name}:{module.summary.classes[unit.owner].qualname}"


def class_source(function: Function) -> str:
    """The class that a unit makes, whose bases it tells; else as :func:`source_symbol`."""
    for op in function.unit.ops:
        if op[0] == s.CLASS:
            return f"{function.module.name}:{function.module.summary.classes[op[2]].qualname}"
    return source_symbol(function)

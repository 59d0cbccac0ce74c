"""Where open values come from, within one slice.

The engine leaves a parameter open (``P``), what is made of one (an attribute: ``A``, an
element: ``E``, the result of a call: ``R``), what a class leaves to its subclasses or to
a generated constructor, and what is put into a container of another module (``O``). Here the arguments that kept code passes are bound to
parameters, and open values are traced to known ones. So a slice knows the classes of its
receivers from its own calls alone, and two slices of one program do not disturb each other.

Tracing is a fixpoint that goes on where it stopped (inclusion constraints: Andersen 1994):
each open value remembers who has read its answer, and is traced again only when a binding,
another answer, or something that the engine has evaluated has grown since.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from depslice.callgraph.engine.base import MOST_NAMES, WIDEST_OPEN
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import (
    EMPTY,
    MADE,
    OPEN,
    Class,
    Function,
    Lookup,
    Values,
)
from depslice.slicer.closure.turns import News

Parameter: TypeAlias = tuple[Function, int]
Field: TypeAlias = tuple[Class | int, str]
"""What instances of a class have under a name, or a container (the value that it is) holds."""
_Source: TypeAlias = int | Parameter | Field | Lookup
"""What an open value reads: another one, what is bound or filled, what the engine answers."""
_OF_SOURCES: Final = frozenset({"A", "AM", "E", "R"})
"""Kinds of open values that are traced to a part, or result, of each of their sources."""
MANY_TRACED: Final = 40_000
WIDEST_OF_MANY: Final = 4
"""Of more open values than that, so many behind one are told apart from then on.

A slice with as many is most of a large program, in which nearly each of them may be of a crowd:
each use is settled for all that are told apart, and nothing is gained by it.
"""
_PLAIN: Final = frozenset({"N", "S", "XI"})
"""Kinds of values that are texts, numbers and other objects from outside."""


class _Beside(NamedTuple):
    """What tells whether instances have attributes otherwise than by a class above theirs.

    The MRO they have by now, and what of that is their ``own``: what methods of that store, and
    what its modules store on others. ``falls_back``: they have another ``__getattr__``.
    """

    order: Sequence[Class]
    own: tuple[Class, ...]
    stores: Sequence[Container[str]]
    falls_back: bool


class Origins:
    """Bindings of parameters, and the known values behind open ones."""

    def __init__(
        self,
        engine: Engine,
        below: Callable[[Class], Sequence[Class]],
        made_by: Callable[[Class], Sequence[Class]],
        extended: News[Class],
    ) -> None:
        self._engine = engine
        self.crowd = engine.crowd
        self._below = below  # the live subclasses of a class
        self._made_by = made_by  # the live classes that a metaclass has made
        self._extended = extended  # classes that have more of them
        # How many there were, by value of what they have, in order; and which these are.
        self._seen_below: dict[int, int] = {}
        self._had_by: dict[Class, dict[int, int]] = {}  # with its place in that order
        self._heard_of: dict[int, int] = {}  # and of how many of them it is told what fills them
        self._beside: dict[tuple[Class, Class], _Beside] = {}  # by a class and one above it
        # Which of those below have an attribute otherwise; how much was known of bases, how many
        # there were.
        self._differ: dict[Field, tuple[int, int, set[Class]]] = {}
        self._bound: dict[Parameter, set[int]] = {}
        self._filled: dict[Field, set[int]] = {}
        self._passed_from: dict[int, dict[int, None]] = {}  # open value -> those passed for it
        self._passed_to: dict[int, dict[int, None]] = {}  # and the other way round
        self.linked: list[int] = []
        """Open values that are passed on, or for which others are: again for each of these."""
        self.followed: list[int] = []
        """The open values that are followed: what is used, and what that is passed on from."""
        self._known: dict[int, frozenset[int]] = {}  # open value -> those behind it
        self._sets: dict[frozenset[int], frozenset[int]] = {}  # of those: many are alike
        self._widest = WIDEST_OPEN  # so many behind one are told apart
        self._heard: dict[Lookup, frozenset[int]] = {}  # the answers of the engine used so far
        self._heard_order: dict[Lookup, int] = {}
        self._changed = News(engine.changed)
        self._readers: dict[_Source, dict[int, None]] = {}
        self._told: dict[int, set[int]] = {}  # open value -> what it is by more than flow
        # Open values to trace (again), in order: what of that which they have read has grown;
        # `None`: all of it is to be read. (To find the first that is left in a plain dict takes
        # as long as all that were before it.)
        self._stale: OrderedDict[int, list[_Source] | None] = OrderedDict()
        self._spread: dict[int, frozenset[int]] = {}  # the known sources they have been traced to
        self._read_in_full: set[int] = set()  # those of which that does not tell what has grown

    @property
    def stale(self) -> bool:
        """Whether bindings have grown since values were traced."""
        return bool(self._stale)

    def bind(self, function: Function, index: int, values: Values) -> None:
        """Kept code passes ``values`` for the parameter."""
        parameter = (function, index)
        bound = self._bound.setdefault(parameter, set())
        values = self._fitting(values, bound)
        if not values <= bound:
            passed_for = self._engine.intern(("P", function, index))
            for value in sorted(values - bound):
                if self._is_open(value) and self._engine.values[value][0] != "U":
                    self._passed_from.setdefault(passed_for, {})[value] = None
                    self._passed_to.setdefault(value, {})[passed_for] = None
                    self.linked += (value, passed_for)
            bound |= values
            self._wake(parameter)

    def fill(self, holder: Class | int, name: str, values: Values) -> None:
        """Kept code makes an instance of a class with ``values`` in the field ``name``.

        Or it puts them into a container.
        """
        filled = self._filled.setdefault((holder, name), set())
        values = self._fitting(values, filled)
        if not values <= filled:
            filled |= values
            self._wake((holder, name))

    def _fitting(self, values: Values, known: set[int]) -> Values:
        """``values``, or where more are ``known`` than are told apart, that it may be anything."""
        full = not values <= known and self.is_full(known)
        return self.crowd if full else values

    def is_bound(self, function: Function, index: int) -> bool:
        """Whether kept code passes something for the parameter."""
        return bool(self._bound.get((function, index)))

    def follow(self, value: int) -> None:
        """From now on know what is behind ``value``."""
        if self._is_open(value) and value not in self._known:
            self._known[value] = EMPTY
            self.followed.append(value)
            self._stale[value] = None
            if len(self._known) > MANY_TRACED:
                self._widest = WIDEST_OF_MANY

    def tell(self, value: int, values: Values) -> bool:
        """Have ``values`` behind an open one too, of which flow does not tell; whether it is new."""
        told = self._told.setdefault(value, set())
        if values <= told:
            return False
        told |= values
        self._stale[value] = None
        return True

    def known(self, value: int) -> frozenset[int]:
        """The known values behind ``value``; empty when only callers outside the slice know."""
        found = self._known.get(value)
        if found is None:
            return self._known[value] if self._is_open(value) else self._engine.only(value)
        return found

    def is_declared(self, value: int) -> bool:
        """Whether an annotation says something of the parameter that ``value`` is."""
        kind = self._engine.values[value]
        return kind[0] == "P" and self._engine.is_declared(kind[1], kind[2])

    def names_of_one(self, value: int) -> Iterator[int]:
        """``value``; the open values it is passed on from, and those it is passed on to.

        They may all be one object. At most so many of each as are told apart.
        """
        yield value
        for passed in (self._passed_from, self._passed_to):
            met, waiting = {value}, deque([value])
            while waiting and len(met) < self._widest:
                for each in passed.get(waiting.popleft(), ()):
                    if each not in met:
                        met.add(each)
                        waiting.append(each)
                        yield each

    def is_full(self, values: Values) -> bool:
        """Whether there are as many ``values`` behind one as are told apart; modules all are."""
        if len(values) < self._widest:
            return False
        modules = len(self._engine.modules.intersection(values))
        names = len(self._engine.spelled.intersection(values))
        return len(values) - modules - names >= self._widest or len(values) - modules >= MOST_NAMES

    def settle(self) -> dict[int, None]:
        """Trace until nothing grows; the open values more is known of than before."""
        grown: dict[int, None] = {}
        while self._hear():
            while self._stale:
                value, sources = self._stale.popitem(last=False)
                if self._grows(value, sources):
                    grown[value] = None
                    self._wake(value)
        return grown

    def _hear(self) -> bool:
        """Whether there is something to trace, after what the engine has found since."""
        self._engine.settle()
        grown: dict[int, int] = {}
        for class_ in dict.fromkeys(self._extended.take()):
            grown.update(self._had_by.get(class_, ()))
        for value in sorted(grown, key=grown.__getitem__):
            live = len(self._below_or_made(*self._engine.values[value][1:]))
            if live != self._seen_below[value]:
                self._seen_below[value] = live
                self._stale[value] = None
        changed = self._heard_order.keys() & self._changed.take()
        for lookup in sorted(changed, key=self._heard_order.__getitem__):
            if lookup.answer is not self._heard[lookup]:
                self._heard[lookup] = lookup.answer
                self._wake(lookup)
        return bool(self._stale)

    def _wake(self, source: _Source) -> None:
        stale = self._stale
        for reader in self._readers.get(source, ()):
            if reader not in stale:
                stale[reader] = [source]
                continue
            grown = stale[reader]
            if grown is not None:
                grown.append(source)

    def _grows(self, value: int, sources: list[_Source] | None) -> bool:
        """Trace ``value`` once; whether more is behind it than was known.

        As long as it is not about to be too much, no more than what has grown has to be read.
        """
        before = self._known[value]
        if not self.crowd.isdisjoint(before) and self.is_full(before):
            return False  # as much as is told apart
        more = None
        if sources is not None and len(before) < self._widest:
            more = self._trace_grown(value, sources)
        if more is None or len(before | more) > self._widest:
            more = self._trace(value)
        found = more | before | self._told.get(value, EMPTY)
        if len(found) > self._widest and self.is_full(found):
            found = before.union(sorted(found - before)[: max(1, self._widest - len(before))])
            found |= self.crowd
        known = frozenset(found)
        self._known[value] = self._sets.setdefault(known, known)
        return len(found) > len(before)

    def _trace_grown(self, value: int, grown: list[_Source]) -> Values | None:
        """What is behind ``value`` by what has grown of that which it has read.

        ``None``: that is not told, and all has to be read.
        """
        engine = self._engine
        tag, source, *rest = engine.values[value]
        if tag not in _OF_SOURCES or value in self._read_in_full or value not in self._spread:
            return None
        result: set[int] = set()
        again: set[int] = set()
        for each in grown:
            if isinstance(each, Lookup):
                again.add(each.question[1])
            elif not isinstance(each, int):
                return None
            elif each == source:
                again |= self._known[source] - self._spread[value]
            else:
                result |= self._known[each]
        if again:
            self._spread[value] = self._known[source]
            result |= self._of_each(again, tag, rest[0] if rest else "", value)
            if value in self._read_in_full:
                return None
        return result

    def _trace(self, value: int) -> Values:
        engine = self._engine
        tag, source, *rest = engine.values[value]
        if tag == "U":
            return {value}
        if tag == "P":
            return self._passed((source, rest[0]), value)
        if tag == "O" and not isinstance(source, Class):  # a container, filled by kept code
            self._read((source, rest[0]), value)
            return self._all(self._filled.get((source, rest[0]), EMPTY), value)
        if tag == "O":
            return self._had_below(source, rest[0], value)
        if tag == "AN":
            return self._named(source, rest[0], value)
        parameter = engine.values[source]
        if tag == "E" and parameter[0] == "P":
            _, function, index = parameter
            if function.unit.params[index][1] in ("va", "kw"):
                self._read_in_full.add(value)
                return self._passed((function, index), value)
        sources = self._behind(source, value)
        result: set[int] = set()
        extra = rest[0] if rest else ""
        if tag == "A" and not sources:
            # Of what functions carry under this name (field-based: Feldthaus et al. 2013).
            self._read_in_full.add(value)
            result |= self._all(self._answer(engine.carried(extra), value), value)
        self._spread[value] = sources
        return result | self._of_each(sources, tag, extra, value)

    def _of_each(self, sources: Values, tag: str, extra: Any, reader: int) -> Values:
        """That part, or result, of each of the known ``sources`` of the open value ``reader``."""
        engine = self._engine
        where = engine.opened_in(reader)
        of = engine.values[reader][1]
        result: set[int] = set()
        for each in sorted(sources):
            if each == engine.unknown_id or each in self.crowd:
                result.add(each)
            elif not self._is_open(each):
                probe = engine.probe(each, tag, extra, where)
                answer = self._answer(probe, reader)
                if of in answer:  # when that grows, it does in both ways
                    self._read_in_full.add(reader)
                result |= self._all(answer, reader)
        return result

    def _named(self, name: int, owners: Values, reader: int) -> Values:
        """The attributes of ``owners`` by the names that callers pass as ``name``."""
        result: set[int] = set()
        receivers = EMPTY.union(*(self._behind(owner, reader) for owner in owners))
        for each in sorted(self._behind(name, reader)):
            kind = self._engine.values[each]
            if kind[0] == "S":
                result |= self._of_each(receivers, "A", kind[1], reader)
            else:
                result.add(self._engine.unknown_id)
        return result

    def _had_below(self, class_: Class, name: str, reader: int) -> Values:
        """The attribute of the live subclasses, where a base class leaves it to them.

        Or where a generated constructor stores it, as kept code makes instances.
        """
        engine = self._engine
        below = self._below_or_made(class_, name)
        if reader not in self._seen_below:
            self._had_by.setdefault(class_, {})[reader] = len(self._seen_below)
        self._seen_below[reader] = len(below)
        if name == MADE:
            return {engine.intern(("C", each, True)) for each in below}
        classes = dict.fromkeys((class_, *below))
        heard_of = self._heard_of.get(reader, 0)  # they only become more
        for each in islice(classes, heard_of, None) if heard_of < len(classes) else ():
            self._read((each, name), reader)
        self._heard_of[reader] = len(classes)
        result: set[int] = set()
        differing = self._differing(class_, name, classes)
        for each in classes:
            filled = self._filled.get((each, name))
            if filled:
                result |= self._all(filled, reader)
            if each in differing:
                instance = engine.intern(("I", each, True))
                probe = engine.probe(instance, "A", name, engine.opened_in(reader))
                result |= self._all(self._answer(probe, reader), reader)
        return self._plain_as_one(result)

    def _below_or_made(self, class_: Class, name: str) -> Sequence[Class]:
        return self._made_by(class_) if name == MADE else self._below(class_)

    def _differing(self, class_: Class, name: str, classes: Collection[Class]) -> Container[Class]:
        """Those of ``classes`` of which instances may have the attribute otherwise.

        All but what is stored from elsewhere is the same until more is known of some bases.
        """
        engine = self._engine
        known = self._differ.get((class_, name))
        if known is None or known[:2] != (engine.based, len(classes)):
            found = {each for each in classes if self._differs(each, class_, name)}
            known = engine.based, len(classes), found
            self._differ[class_, name] = known
        storing = {k for k, names in engine.had_stored.items() if name in names}
        if not storing:
            return known[2]
        return known[2].union(
            each for each in classes if not storing.isdisjoint(self._beside[each, class_].own)
        )

    def _differs(self, below: Class, class_: Class, name: str) -> bool:
        """Whether instances of ``below`` may have the attribute otherwise than by ``class_``.

        But for what is stored of them elsewhere.
        """
        engine = self._engine
        order = engine.mro(below)
        beside = self._beside.get((below, class_))
        if beside is None or beside.order is not order:
            beside = self._beside[below, class_] = self._compared(below, order, class_)
        return (
            beside.falls_back
            or engine.find_member(below, name) is not engine.find_member(class_, name)
            or any(name in stores for stores in beside.stores)
        )

    def _compared(self, below: Class, order: Sequence[Class], class_: Class) -> _Beside:
        """What the MRO ``order`` of ``below`` has beside that of ``class_``."""
        engine = self._engine
        line = engine.mro(class_)
        own = tuple(k for k in order if k not in line)
        falls_back = engine.find_member(below, "__getattr__") is not engine.find_member(
            class_, "__getattr__"
        )
        stores: list[Container[str]] = [k.info.self_stores for k in own if k.info.self_stores]
        stores += map(engine.stored_on_others, dict.fromkeys(k.module for k in own))
        return _Beside(order, own, stores, falls_back)

    def _plain_as_one(self, values: Values) -> set[int]:
        """``values``, of containers that hold plain data alone one of each kind: room for others."""
        engine = self._engine
        met: set[str] = set()
        kept: set[int] = set()
        for value in sorted(values):
            kind = engine.values[value]
            if kind[0] == "K" and all(
                engine.values[held][0] in _PLAIN for held in engine.elements_cell(value).values
            ):
                if kind[1] in met:
                    continue
                met.add(kind[1])
            kept.add(value)
        return kept

    def _passed(self, parameter: Parameter, reader: int) -> Values:
        """The known values behind what kept code passes for ``parameter``."""
        self._read(parameter, reader)
        return self._all(self._bound.get(parameter, EMPTY), reader)

    def _answer(self, lookup: Lookup, reader: int) -> Values:
        """What the engine says, until it says more."""
        self._read(lookup, reader)
        self._heard_order.setdefault(lookup, len(self._heard_order))
        return self._heard.setdefault(lookup, lookup.answer)

    def _all(self, values: Values, reader: int) -> Values:
        """The known values behind ``values``, as far as they are told apart."""
        if len(values) == 1:
            [only] = values
            return self._behind(only, reader)
        result: set[int] = set()
        for value in sorted(values):
            before = len(result)
            result |= self._behind(value, reader)
            if len(result) > before and len(result) > self._widest and self.is_full(result):
                break
        return result

    def _behind(self, value: int, reader: int) -> frozenset[int]:
        """The known values behind ``value`` so far; ``reader`` is told when there are more."""
        found = self._known.get(value)
        if found is None:
            if not self._is_open(value):
                return self._engine.only(value)
            self.follow(value)
            found = self._known[value]
        self._read(value, reader)
        return found

    def _read(self, source: _Source, reader: int) -> None:
        self._readers.setdefault(source, {})[reader] = None

    def _is_open(self, value: int) -> bool:
        return self._engine.values[value][0] in OPEN

"""Special methods that syntax calls: iteration, context managers, ``await``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.calls import CallEvaluation
from depslice.callgraph.engine.fields import RECORDS, spelled
from depslice.callgraph.engine.library import DICTS, SHOWING, is_inert
from depslice.callgraph.engine.structural import COLLECTIONS
from depslice.callgraph.engine.values import (
    AWAITED,
    EMPTY,
    ENTERED,
    ENTERED_ASYNC,
    HANDED,
    ITERABLE,
    NAMED_TUPLE,
    NO_KEYWORDS,
    OPEN,
    Class,
    Function,
    Values,
)
from depslice.callgraph.summary import Position

OF_PARTS: Final = {
    "__str__": ("__repr__",),
    "__repr__": ("__repr__",),
    "__format__": ("__repr__",),
    "__hash__": ("__hash__",),
    "__eq__": ("__eq__",),
    "__ne__": ("__eq__",),
    **{name: ("__eq__", name) for name in ("__lt__", "__le__", "__gt__", "__ge__")},
}
"""What a builtin container calls of what it holds, where one of these is called of it."""
_BY_KEYS: Final = ("dict", "Dict")
"""How the names of containers end that give their keys when they are iterated."""
_PLAIN_RESULTS: Final = frozenset(
    {
        *("__bool__", "__bytes__", "__complex__", "__contains__", "__delitem__", "__eq__"),
        *("__exit__", "__float__", "__format__", "__ge__", "__gt__", "__hash__", "__index__"),
        *("__int__", "__le__", "__len__", "__lt__", "__ne__", "__repr__", "__setitem__", "__str__"),
    }
)
"""Special methods of which nobody follows what they give."""
_GENERATED: Final = OPEN | {"GE"}
_NAMED_OUTSIDE: Final = frozenset({"G", "GS", "X", "XA", "XI", "XM"})
"""Values that have the dotted name of something outside the repo."""
_ASKED_BY_CLASS: Final = frozenset({"C", "XI"})
"""Values other than objects that may have special methods of the repo, as their class tells."""
_MOST_PARTS: Final = 32  # containers that are looked into


class Protocols(CallEvaluation):
    """What ``for``, ``with`` and ``await`` call (language reference, 3.3 and 3.4)."""

    def call_dunder(
        self,
        receiver: int,
        class_: Class,
        dunder: str,
        args: Sequence[Values],
        pos: Position,
        rule: str = "protocol",
    ) -> Values:
        """Call a special method, looked up on the type (3.3.12).

        In a slice also on those that instances become: ``self.__class__ = Open``.
        """
        result = self._call_own(receiver, class_, dunder, args, pos, rule)
        for made in () if self.whole else self.made_into(class_, pos):
            kind = self.values[made]
            if kind[0] == "I":
                result = result | self._call_own(made, kind[1], dunder, args, pos, rule)
            else:
                result = result | self.operate(made, dunder, args, pos)
        return result

    def _call_own(
        self,
        receiver: int,
        class_: Class,
        dunder: str,
        args: Sequence[Values],
        pos: Position,
        rule: str,
    ) -> Values:
        """Call a special method of instances that are of this class, or of one below."""
        owner = self.find_member(class_, dunder)
        value = self.values[receiver]
        exact = value[0] != "I" or value[2]
        if not exact:
            self.facts.append((f.MEMBER, class_, dunder, pos, True, "call", False))
        below: Values = EMPTY
        if not exact and self.whole:
            below = self.call_overrides(class_, owner, dunder, args, pos)
        elif not exact and dunder not in _PLAIN_RESULTS and self.has_below(class_, dunder):
            below = self.call(self.single(("O", class_, dunder)), args, NO_KEYWORDS, pos)
        if self.whole and dunder in self.stored:
            below = below | self._call_stored(receiver, class_, dunder, args, pos, rule)
        if owner is None:
            for above in self.open_bases(class_, instances=True):
                below = below | self.operate(above, dunder, args, pos)
            if self.outside.types.outer_bases(class_):
                made = self.outside.inherited_result(receiver, class_, dunder, args, pos)
                return below | made if below else made
            return below
        made = self.call_member(class_, dunder, [self.only(receiver), *args], pos, rule)
        return below | made if below else made

    def _call_stored(
        self,
        receiver: int,
        class_: Class,
        dunder: str,
        args: Sequence[Values],
        pos: Position,
        rule: str,
    ) -> Values:
        """Call what is put on the class under the name of a special method, over a whole program."""
        value = self.values[receiver]
        made: Values = EMPTY
        for each in self.set_on_class(class_, dunder, value[0] != "I" or value[2]):
            kind = self.values[each]
            if kind[0] == "F":
                given = [self.only(receiver), *args]
                made = made | self.call_function(kind[1], given, pos, rule=rule)
        return made

    def together(self, values: Iterable[int], dunder: str) -> list[list[int]]:
        """``values``; over a whole program, together those for which the same function runs."""
        if not self.whole:
            return [[value] for value in values]
        groups: dict[object, list[int]] = {}
        for value in values:
            kind = self.values[value]
            owner = self.find_member(kind[1], dunder) if kind[0] == "I" else None
            alike: object = value
            if owner is not None and not self.instead_of(kind[1], owner, dunder):
                members = frozenset(self.member_values(owner, dunder))
                if all(self.values[member][0] == "F" for member in members):
                    alike = members  # what is of a base outside asks the class of its object
            groups.setdefault(alike, []).append(value)
        return list(groups.values())

    def call_together(
        self,
        group: Sequence[int],
        dunder: str,
        args: Sequence[Values],
        pos: Position,
        rule: str = "protocol",
    ) -> Values:
        """Call a special method once for all its receivers, and so each that overrides it."""
        if len(group) == 1:
            return self.call_dunder(group[0], self.values[group[0]][1], dunder, args, pos, rule)
        owners: dict[Class, None] = {}
        below: dict[Class, set[int]] = {}
        made: Values = EMPTY
        for receiver in group:
            _, class_, exact = self.values[receiver]
            owner = self.find_member(class_, dunder)
            assert owner is not None
            owners[owner] = None
            if not exact:
                self.facts.append((f.MEMBER, class_, dunder, pos, True, "call", False))
                for found, subclass in self.overrides_apart(class_, owner, dunder, pos):
                    below.setdefault(found, set()).add(self.intern(("I", subclass, False)))
            if dunder in self.stored:
                made = made | self._call_stored(receiver, class_, dunder, args, pos, rule)
        for found, receivers in below.items():
            given = [self.shared(receivers), *args]
            made = made | self.call_member(found, dunder, given, pos, "override")
        given = [self.shared(set(group)), *args]
        return made | self.call_members([*owners], dunder, given, pos, rule)

    def call_all(
        self,
        values: Iterable[int],
        dunder: str,
        args: Sequence[Values],
        pos: Position,
        rule: str = "protocol",
    ) -> Values:
        """Call a special method of all ``values``, which are instances."""
        made: Values = EMPTY
        for group in self.together(values, dunder):
            made = made | self.call_together(group, dunder, args, pos, rule)
        return made

    def ask_below(
        self, receiver: int, class_: Class, method: str, args: Sequence[Values], pos: Position
    ) -> Values:
        """Call a special method that only classes below have, if the object may be of one."""
        if self.values[receiver][2]:
            return EMPTY
        self.facts.append((f.MEMBER, class_, method, pos, True, "call", False))
        return self.call_overrides(class_, None, method, args, pos) if self.whole else EMPTY

    def protocol(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        """The first of ``dunders`` each value's type has; of what it holds, those it asks there."""
        result = self._first_of(values, dunders, pos)
        passed_on = dict.fromkeys(name for dunder in dunders for name in OF_PARTS.get(dunder, ()))
        held = self.held_in(values, dunders) if passed_on else EMPTY
        for dunder in passed_on if held else ():
            self._first_of(held, (dunder,), pos)
        return result

    def protocol_of(
        self, values: frozenset[int], dunders: tuple[str, ...], pos: Position
    ) -> Values:
        """The same; over a whole program once for all that ask it of these values."""
        if self.whole:
            return self.asked(("protocol", values, dunders), pos)
        return self.protocol(values, dunders, pos)

    def derived_comparison(
        self, receiver: int, class_: Class, dunder: str, other: Values, pos: Position
    ) -> bool:
        """Implemented by the operator part."""
        raise NotImplementedError

    def _ask_unhashable(self, value: int, class_: Class, pos: Position) -> None:
        """A class that has ``__eq__`` and not ``__hash__`` says that nothing of it hashes (3.3.1)."""
        if self.hashes_no_more(class_):
            self.load_attribute(self.only(value), "__eq__", pos)

    def _first_of(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        result: set[int] = set()
        asked: list[int] = []
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "I" and self.whole and len(dunders) == 1 and not self.ordered:
                asked.append(value)
            elif kind[0] == "I":
                for dunder in dunders:
                    result |= self.call_dunder(value, kind[1], dunder, [], pos)
                    if dunder == "__getitem__" and not self.whole:
                        self.ask_missing(value, pos)
                    elif dunder == "__hash__" and not self.whole:
                        self._ask_unhashable(value, kind[1], pos)
                    if (
                        self.surely_has(kind[1], dunder)
                        or (
                            self.ordered
                            and self.derived_comparison(value, kind[1], dunder, EMPTY, pos)
                        )
                        or any(dunder in SHOWING.get(b, ()) for b in self.external_bases(kind[1]))
                    ):
                        break
            elif kind[0] == "C":
                made = self.made_by_open(kind[1])
                if made:
                    result |= self._first_of(made, dunders, pos)
                for metaclass in self.metaclasses_of(kind[1]):
                    for dunder in dunders:
                        if self.find_member(metaclass, dunder) is not None:
                            result |= self.call_member(
                                metaclass, dunder, [self.only(value)], pos, "metaclass"
                            )
                            break
            elif kind[0] in OPEN:
                for dunder in dunders:
                    self.note_protocol(dunder, pos, value)
                result |= self.unknown
            elif kind[0] == "XI":
                self.ask_caught(value, dunders, pos)
        if asked:
            result |= self.call_all(asked, dunders[0], [], pos)
        return result

    def ask_caught(self, value: int, dunders: Sequence[str], pos: Position) -> None:
        """An exception from outside is asked for special methods: a subclass may have them.

        None asks another instead of ``__str__``, which all have.
        """
        if not self.may_be_caught(value):
            return
        for dunder in dunders:
            self.note_protocol(dunder, pos, value)
            if dunder == "__str__":
                break

    def held_in(self, values: Values, dunders: Sequence[str]) -> frozenset[int]:
        """The objects in builtin containers and in records, however deep.

        Dataclasses, classes of attrs and named tuples are records, as long as they define none
        of ``dunders`` (then of what these ask for) themselves.
        """
        found: frozenset[int] = EMPTY
        waiting: Values = values
        while waiting:
            held = self.parts(waiting) | self._fields_of(waiting, dunders)
            held |= self._kept_in(waiting, dunders)
            waiting = held - found
            found |= waiting
            dunders = [name for dunder in dunders for name in OF_PARTS.get(dunder, ())]
        return self.objects_and_classes(found)

    def objects_and_classes(self, values: Values) -> frozenset[int]:
        """Those whose special methods may be of the repo, classes by their metaclass."""
        known = self.values
        others = {v for v in values if known[v][0] in _ASKED_BY_CLASS and self._may_be_asked(v)}
        return self.objects_in(values) | others

    def _may_be_asked(self, value: int) -> bool:
        """Whether it is a class that has a metaclass, or an exception that may be one of the repo."""
        return self._is_of_metaclass(value) or self.may_be_caught(value)

    def _is_of_metaclass(self, value: int) -> bool:
        """Whether it is a class whose class is one of the repo."""
        kind = self.values[value]
        return kind[0] == "C" and bool(self.metaclasses_of(kind[1]) or self.made_by_open(kind[1]))

    def _kept_in(self, values: Values, dunders: Sequence[str]) -> Values:
        """What instances hold that extend a container, and have none of ``dunders`` themselves."""
        kept: Values = EMPTY
        for value in () if self.whole else values:
            kind = self.values[value]
            if kind[0] == "I" and not any(self.find_member(kind[1], each) for each in dunders):
                kept = kept | self.kept_by(kind[1])
        return kept

    def ask_length(self, values: Values, pos: Position) -> None:
        """A list is made of what ``values`` give: they are asked how many that are (PEP 424).

        It does without an answer, and so does a slice.
        """
        if self.whole:
            for value in self.objects_in(values):
                _, class_, exact = self.values[value]
                owner = self.find_member(class_, "__len__")
                self.call_member(class_, "__len__", [self.only(value)], pos, "length")
                if not exact:
                    self.call_overrides(class_, owner, "__len__", [], pos)

    def note_handed(self, groups: Iterable[Values], pos: Position, *, to: str = "") -> None:
        """Code outside the repo gets what is in ``groups``, and all that its containers hold.

        And what its functions give. What may be done with an object is for its class to say: a
        slice asks for that. ``to``: the dotted name of who gets it, if it is known. The library
        looks for what it knows, unless others are passed to it as well: ``submit(escape, page)``.
        Who else gets what nobody knows may get what the library was given before.
        """
        if self.whole:
            return
        given = EMPTY.union(*groups)
        whose: f.Whose = "somebody"
        if any(map(self._is_of_others, given)) or (to and not is_inert(to)):
            whose = "others"
        elif to:
            whose = "library"
        handed = self.handed_with(given)
        handed |= EMPTY if whose == "library" else given & self.unknown
        if handed:
            self.facts.append((f.HANDED, self.shared(handed), pos, whose))

    def _is_of_others(self, value: int) -> bool:
        """Whether it may be something outside the repo that is not the library's."""
        kind = self.values[value]
        return kind[0] in _NAMED_OUTSIDE and not is_inert(kind[1])

    def handed_with(self, values: Values) -> frozenset[int]:
        """The objects, classes and open values that whoever has ``values`` gets at."""
        found: Values = EMPTY
        waiting = values
        while waiting:
            found = found | waiting
            waiting = self._given_with(waiting) - found
        return self.shared({value for value in found if self.values[value][0] in HANDED})

    def _given_with(self, values: Values) -> Values:
        """What containers hold, generators give, and functions."""
        given: Values = self.held_in(values, ())
        for value in values:
            kind = self.values[value]
            if kind[0] in ("F", "B"):
                given = given | self.returned(kind[1])
            elif kind[0] in ("K", "GE"):
                given = given | self.iterate(self.only(value), 0, is_async=False)
                if kind[0] == "K" and kind[1] in DICTS:
                    given = given | self.read(self.elements_cell(value))
        return given

    def _fields_of(self, values: Values, dunders: Sequence[str]) -> Values:
        found: Values = EMPTY
        for value in values:
            kind = self.values[value]
            if kind[0] == "I" and self._is_record(kind[1], dunders):
                found = found | self.held_under(value, self.fields(kind[1]))
        return found

    def _is_record(self, class_: Class, dunders: Sequence[str]) -> bool:
        """Whether a decorator or ``NamedTuple`` may have written these special methods."""
        return (
            self.constructor_is_generated(class_)
            and any(
                NAMED_TUPLE in k.external_bases or self.is_decorated_record(k)
                for k in self.mro(class_)
            )
            and all(self.find_member(class_, dunder) is None for dunder in dunders)
        )

    def is_decorated_record(self, class_: Class) -> bool:
        """Whether a decorator makes a record of it: a dataclass, a class of attrs."""
        known = self._decorated_records.get(class_)
        if known is None:
            unit = class_.module.summary.units[class_.info.unit]
            names = (spelled(unit, register) for register in class_.info.decorators)
            known = self._decorated_records[class_] = any(name in RECORDS for name in names)
        return known

    def entries_of(self, values: Values, pos: Position) -> Values:
        """What ``**x`` and ``dict(x)`` read of objects that are no dict: keys, and their items."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "I" and self.find_member(kind[1], "__getitem__") is not None:
                receiver = self.only(value)
                if self.find_member(kind[1], "keys") is not None:
                    method = self.load_attribute(receiver, "keys", pos)
                    keys = self.call(method, [], {}, pos, rule="protocol")
                else:
                    keys = receiver
                found = self.iterate(keys, pos, is_async=False)
                result |= self.call_dunder(value, kind[1], "__getitem__", [found], pos)
            elif kind[0] == "I":
                found = self.iterate(
                    self.ask_below(value, kind[1], "keys", [], pos), pos, is_async=False
                )
                result |= self.ask_below(value, kind[1], "__getitem__", [found], pos)
            elif kind[0] in ("NS", "ND"):
                result.add(value)  # stands for its entries: who gets them knows the names
            elif kind[0] in OPEN:
                for dunder in ("keys", "__iter__", "__getitem__"):
                    self.note_protocol(dunder, pos, value)
                result |= self.derive("E", value)
            elif kind[0] in ("G", "GS", "XI") and self.outside.is_mapping(kind):
                result |= self.subscript(self.only(value), EMPTY, pos)
        return result

    def parts(self, values: Values) -> frozenset[int]:
        """The instances that builtin containers among ``values`` hold, however deep.

        Over a whole program none where there are instances beside the containers: what meets
        there has been mixed up, and the containers would make less of what is sure.
        """
        waiting = []
        for value in values:
            tag = self.values[value][0]
            if tag in ("K", "G"):
                waiting.append(value)
            elif tag == "I" and self.whole:
                return EMPTY
        if not waiting:
            return EMPTY
        if self.whole:
            return self.asked(("parts", self.shared(frozenset(waiting))), 0)
        return self.find_parts(waiting)

    def find_parts(self, containers: Iterable[int]) -> frozenset[int]:
        """The instances, and open values, that these builtin containers hold, however deep.

        Classes too that have a metaclass: they are its instances. In a slice exceptions that may
        be some of its own.
        """
        asked = self.objects
        waiting = sorted(containers)
        met = set(waiting)
        found = set()
        while waiting and len(met) <= _MOST_PARTS:
            for each in sorted(self._held(waiting.pop())):
                tag = self.values[each][0]
                if tag in asked or (tag in _ASKED_BY_CLASS and self._may_be_asked(each)):
                    found.add(each)
                elif tag in ("K", "G") and each not in met:
                    met.add(each)
                    waiting.append(each)
        return frozenset(found)

    def _held(self, container: int) -> Values:
        kind = self.values[container]
        if kind[0] == "G":
            holds = str(kind[1]).startswith("builtins.") or (
                not self.whole and kind[1] in COLLECTIONS
            )
            return {value for values in kind[2] for value in values} if holds else EMPTY
        held = self.read(self.elements_cell(container))
        return held | self.read(self.keys_cell(container)) if kind[1] in DICTS else held

    def call_of_metaclass(
        self, receiver: int, class_: Class, dunder: str, args: Sequence[Values], pos: Position
    ) -> Values | None:
        """What a special method of a class's metaclass gives; ``None`` where there is none."""
        for k in self.mro(class_):
            asked = [m for m in k.metaclasses if self.find_member(m, dunder) is not None]
            given = [self.only(receiver), *args]
            made = [self.call_member(m, dunder, given, pos, "metaclass") for m in asked]
            if made:
                return EMPTY.union(*made)
        return None

    def iterate(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """What ``for x in values`` gives (3.3.7, 8.3)."""
        result: set[int] = set()
        objects: list[int] = []
        for value in tuple(values):
            kind = self.values[value]
            tag = kind[0]
            if tag == "K":
                if kind[1] in DICTS:
                    result |= self.read(self.keys_cell(value))
                else:
                    result |= self.read(self.elements_cell(value))
            elif tag in ("G", "GS", "XI", "X", "S", "N"):
                self.ask_caught(value, ("__aiter__" if is_async else "__iter__",), pos)
                found = self.outside.elements(value, pos, is_async=is_async)
                if found is not None:
                    result |= found
                elif tag == "G":
                    result |= self._generic_elements(kind)
            elif tag == "GE":
                self.ensure(kind[1])
                result |= self.read(kind[1].yields)
            elif tag == "I":
                objects.append(value)
            elif tag == "C":
                result |= self._iterate_class(value, kind[1], pos)
                result |= self.iterate(self.made_by_open(kind[1]), pos, is_async=is_async)
            elif tag == "ND":
                result |= self.names_in(self.only(kind[1]), pos, inherited=False)
            elif tag in OPEN:
                result |= self._iterate_open(value, pos, is_async=is_async)
        if objects and self.whole:
            return result | self.asked(("iterate", frozenset(objects), is_async), pos)
        return result | self.iterate_instances(objects, pos, is_async=is_async)

    def iterate_instances(
        self, objects: Iterable[int], pos: Position, *, is_async: bool
    ) -> set[int]:
        """The same of instances of classes of the repo."""
        result: set[int] = set()
        for value in objects:
            class_ = self.values[value][1]
            result |= self._iterate_instance(value, class_, pos, is_async=is_async)
        return result

    def _iterate_open(self, value: int, pos: Position, *, is_async: bool) -> Values:
        """What an open value gives, and what its iterator is asked for, which may be another."""
        first, second = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        result = set(self.derive("E", value))
        for iterator in self.operate(value, first, [], pos):
            if is_async:
                made = self.operate(iterator, second, [], pos)
                result |= self.await_value(made, pos) - self.unknown
            else:
                self.note_protocol(second, pos, iterator)
        return result

    def fields_of_tuple(
        self, receiver: int, class_: Class, place: int | None, pos: Position
    ) -> Values:
        """What an instance of a ``NamedTuple`` has at a place, or at any."""
        tuples = [k for k in self.mro(class_) if NAMED_TUPLE in k.external_bases]
        fields = [
            name
            for name in self.fields(class_)
            if any(name in k.info.members or name in k.named for k in tuples)
        ]
        result: set[int] = set()
        for name in fields if place is None else fields[place:][:1]:
            result |= self.load_attribute(self.only(receiver), name, pos)
        return result

    def _generic_elements(self, kind: tuple[object, ...]) -> Values:
        arguments = kind[2]
        assert isinstance(arguments, tuple)
        if not arguments:
            return self.unknown
        if str(kind[1]).rpartition(".")[2] in ("tuple", "Tuple"):
            merged: set[int] = set()
            for argument in arguments:
                merged |= argument
            return merged
        return frozenset(arguments[0])

    def _iterate_instance(
        self, receiver: int, class_: Class, pos: Position, *, is_async: bool
    ) -> Values:
        first, second = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        if self.find_member(class_, first) is None:
            if above := self.open_bases(class_, instances=True):
                return self.iterate(above, pos, is_async=is_async)
            if not is_async and self._goes_by_places(class_):
                return self.call_dunder(receiver, class_, "__getitem__", [self.constants[-3]], pos)
            held = self.held_by(class_)
            if held is not None:
                return self.iterate(self.only(held), pos, is_async=is_async)
            bases = self.external_bases(class_)
            if NAMED_TUPLE in bases:
                return self.fields_of_tuple(receiver, class_, None, pos) or self.unknown
            known = self.outside.elements(receiver, pos, is_async=is_async)
            if known is not None:
                self.call_dunder(receiver, class_, first, [], pos)
                made = self.call_dunder(receiver, class_, second, [], pos)
                if made:  # by the method of the class that its base calls: `class It(Iterator)`
                    known = known - self.unknown
                    known |= self.await_value(made, pos) if is_async else made
                return known | self._kept_elements(class_)
            if any(base.startswith("enum.") for base in bases):
                return self.unknown
            if self.whole and self.outside.types.has_unread_base(class_):
                return self.unknown
        iterators = self.call_dunder(receiver, class_, first, [], pos)
        result: set[int] = set()
        for iterator in tuple(iterators):
            kind = self.values[iterator]
            if kind[0] == "I":
                found = self.call_dunder(iterator, kind[1], second, [], pos)
                result |= self.await_value(found, pos) if is_async else found
            elif kind[0] in ITERABLE:
                result |= self.iterate(self.only(iterator), pos, is_async=is_async)
        return result

    def _goes_by_places(self, class_: Class) -> bool:
        """Whether ``__getitem__`` is asked for what an instance gives: no base has an iterator.

        That of a builtin type does not ask it. In a slice it is enough that it is there.
        """
        if self.find_member(class_, "__getitem__") is None:
            return False
        return not self.whole or not self.outside.declares_builtin(class_, "__iter__")

    def _kept_elements(self, class_: Class) -> Values:
        """What an instance gives that is a container, not of keys, by its class."""
        bases = self.external_bases(class_)
        return EMPTY if any(base.endswith(_BY_KEYS) for base in bases) else self.kept_by(class_)

    def _iterate_class(self, receiver: int, class_: Class, pos: Position) -> Values:
        made = self.call_of_metaclass(receiver, class_, "__iter__", [], pos)
        if made is not None:
            return self.iterate(made, pos, is_async=False)
        if any(base.startswith("enum.") for base in self.external_bases(class_)):
            self.facts.append((f.CLASSREF, class_, pos))
            return self.single(("I", class_, True))
        return EMPTY

    def generator_return(self, values: Values) -> Values:
        """The value of ``yield from``."""
        result: set[int] = set()
        for value in values:
            kind = self.values[value]
            if kind[0] == "GE":
                self.ensure(kind[1])
                result |= self.read(kind[1].ret)
        return result

    def enter_context(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """``with values as …`` (8.5)."""
        enter, leave = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "I":
                entered = self.call_dunder(value, kind[1], enter, [], pos, "context")
                raised = self.unknown
                if not self.whole:  # whatever the block raises, perhaps an exception of the slice
                    raised = raised | self.single(("XI", "builtins.BaseException"))
                given = [self.unknown, raised, self.unknown]
                self.call_dunder(value, kind[1], leave, given, pos, "context")
                result |= self.await_value(entered, pos) if is_async else entered
                if not entered:
                    result.add(value)
            elif kind[0] == "CI":
                self.ensure(kind[1])
                result |= self.read(kind[1].yields)
                if not kind[1].unit.flags & s.GENERATOR:  # it stands around the one that is
                    made = self.returned(kind[1])
                    inner = {v for v in made if self.values[v][0] in _GENERATED}
                    result |= self.enter_context(inner, pos, is_async=is_async)
            elif kind[0] == "GE":
                self.ensure(kind[1])
                result |= self.read(kind[1].yields)
            elif kind[0] in OPEN:
                self.note_protocol(enter, pos, value)
                self.note_protocol(leave, pos, value)
                result |= self.derive("R", value, ENTERED_ASYNC if is_async else ENTERED)
            elif kind[0] == "K":
                result.add(value)  # no context manager itself: `nullcontext` was given it
            elif kind[0] in ("XI", "G", "GS", "X"):
                self.ask_caught(value, (enter, leave), pos)
                known = self.outside.entered(value, pos, is_async=is_async)
                if known is not None:
                    result |= known
                elif kind[0] != "X":
                    result.add(value)
        return result

    def await_value(self, values: Values, pos: Position) -> Values:
        """``await values`` (6.4)."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "CO":
                result |= self.returned(kind[1]) | self._given_back(kind[1])
            elif kind[0] == "I":
                made = self.call_dunder(value, kind[1], "__await__", [], pos)
                result |= self.generator_return(made)
            elif kind[0] in ("G", "GS", "XI"):
                known = self.outside.awaited(value)
                if known is not None:
                    result |= known
                else:
                    result |= kind[2][-1] if kind[0] == "G" and kind[2] else self.unknown
            elif kind[0] in OPEN:
                self.note_protocol("__await__", pos, value)
                result |= self.derive("R", value, AWAITED)
            elif kind[0] == "X":
                result |= self.unknown
        return result

    def _given_back(self, function: Function) -> Values:
        """What a coroutine gives of what it was given, whoever awaits it."""
        inferred = self.read(function.ret)
        return EMPTY if inferred is function.plain else inferred

    def _call_generator(self, function: Function, method: str, args: Sequence[Values]) -> Values:
        if method == "send" and args:
            self.write(self.cell("sent", function), args[0])
        for kind in map(self.values.__getitem__, args[0] if method == "throw" and args else ()):
            if kind[0] == "C":
                self.note_raisable(kind[1], bool(kind[2]))
        self.ensure(function)
        return self.read(function.yields) if method in ("send", "__next__", "throw") else EMPTY

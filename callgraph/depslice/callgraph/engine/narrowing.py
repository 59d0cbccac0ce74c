"""What tests show of a value: ``isinstance``, comparisons with text, class patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.fitting import PLAIN
from depslice.callgraph.engine.library import EXCEPTIONS, SCALARS
from depslice.callgraph.engine.operators import Operators
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Value, Values
from depslice.callgraph.summary import Position

_OF_THEMSELVES: Final = frozenset(
    {
        "builtins.bool",
        "builtins.bytearray",
        "builtins.bytes",
        "builtins.dict",
        "builtins.float",
        "builtins.frozenset",
        "builtins.int",
        "builtins.list",
        "builtins.set",
        "builtins.str",
        "builtins.tuple",
    }
)
"""Types whose only positional pattern is for the object itself (PEP 634)."""


_OF_ONE: Final = (
    *(f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset")),
    *("collections.abc.Iterable", "collections.abc.Sequence", "collections.abc.Set"),
    *("collections.abc.Iterator", "collections.abc.Collection", "collections.abc.MutableSequence"),
)
_OF_TWO: Final = ("builtins.dict", "collections.abc.Mapping", "collections.abc.MutableMapping")
_DEEPEST_TUPLE: Final = 4  # of classes in tuples in tuples
_OUTSIDE: Final = frozenset({"K", "G", "GS", "XI", "S", "N"})
_CALLABLE: Final = frozenset({"collections.abc.Callable", "typing.Callable"})
_GROUP: Final = "builtins.BaseExceptionGroup"
_CLASSES: Final = frozenset({"builtins.type", "abc.ABCMeta"})
_FUNCTION_TYPES: Final = frozenset(
    f"types.{name}"
    for name in (
        *("BuiltinFunctionType", "BuiltinMethodType", "CoroutineType", "FunctionType"),
        *("GeneratorType", "LambdaType", "MethodType", "ModuleType"),
    )
)
_PLACES: Final = {**dict.fromkeys(_OF_ONE, 1), **dict.fromkeys(_OF_TWO, 2)}
"""How many types of what they hold containers are generic over."""


class Narrowing(Operators):
    """Values that are left where a test holds, or does not."""

    def shown(self, values: Values, classes: Values, how: int) -> Values:
        """What is left of ``values`` where a test has shown that (``summary.NARROW``)."""
        if how == s.SUBCLASS:
            return self._narrow_classes(values, classes)
        if how == s.EXACT:
            return self._narrow_exactly(values, classes)
        if how == s.NOT_EXACT:
            asked = self._surely_asked(classes)
            return {v for v in values if not any(self._is_of(self.values[v], t) for t in asked)}
        if how == s.GROUPED:
            held = self.shared(self.narrow(values, classes) or self.unknown)
            group = self.single(("G", _GROUP, (held,)))
            if self.whole:
                return group
            return group | self.single(("XI", _GROUP))  # or one of the repository (`derive`)
        return self.narrow(values, classes) if how else self.exclude(values, classes)

    def caught(self, classes: Values, how: int) -> Values:
        """What a handler catches, over a whole program: ``except classes as error``.

        Of a class of the program what has been made of it, if that is told: a class whose base
        makes exceptions, or of which only others make some, may be any below. Of one outside also
        the exceptions of the program that extend it.
        """
        made = self.read(self.cell("exceptions made"))
        result: set[int] = set()
        for target in self._class_targets(classes):
            if target[0] == "X":
                result.add(self.intern(("XI", target[1])))
                result.update(
                    v for v in made if self.outside.is_subclass(self.values[v][1], target[1])
                )
                continue
            known = {v for v in made if target[1] in self.mro(self.values[v][1])}
            result |= known
            others = not known and bool(self.read(self.cell("settled")))
            others = others or not EXCEPTIONS.issuperset(self.external_bases(target[1]))
            line = self.mro(target[1])
            if others or any(k[1] in line and not k[2] for k in map(self.values.__getitem__, made)):
                result.add(self.intern(("I", target[1], False)))
        if how == s.GROUPED:
            return self.single(("G", _GROUP, (self.shared(result or self.unknown),)))
        return frozenset(result)

    def _narrow_classes(self, values: Values, classes: Values) -> Values:
        """``issubclass(values, classes)`` holds.

        A slice traces who passes a class that nobody knows: there all of them stay.
        """
        targets = self._class_targets(classes)
        if not self.whole or any(t[0] == "C" and self.metaclasses_of(t[1]) for t in targets):
            return values  # a metaclass may say who is one (``__subclasscheck__``)
        instances = {
            self.intern(("I", *self.values[v][1:])): v for v in values if self.values[v][0] == "C"
        }
        left = self.narrow(frozenset(instances), classes) if instances else EMPTY
        result = {instances[each] for each in left if each in instances}
        if not instances or self.unknown_id in values:
            result |= {self.intern(("C", each[1], False)) for each in targets if each[0] == "C"}
        return result | {v for v in values if self.values[v][0] in ("X", "XA", "NT")} or values

    def narrow(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` holds.

        Where a slice does not know all of the classes (one is the default of a parameter, and
        callers may pass others), each value may be of one of them.
        """
        targets = self._class_targets(classes)
        virtual = [each[1] for each in targets if each[0] == "C" and self.is_open_class(each[1])]
        result: set[int] = set()
        fits = False
        for value in values:
            kind = self.values[value]
            if kind[0] in OPEN:
                result |= self._narrow_open(value, targets)
            elif kind[0] == "I":
                order = self.mro(kind[1])
                if any(
                    t[1] in order if t[0] == "C" else self._extends(kind[1], t[1]) for t in targets
                ) or any(self._may_count(kind[1], each) for each in virtual):
                    result.add(value)
                    fits = True
            elif any(
                self._may_be_one(kind, t) if kind[0] in _OUTSIDE else self._may_be_code(kind, t)
                for t in targets
            ):
                result.add(value)
                fits = True
        if not fits or self.unknown_id in values:
            known = [self.values[v] for v in result] if self.whole else []
            for target in targets:
                if target[0] == "C" and any(self._is_one(each, target) for each in known):
                    result |= values & self.unknown  # and that may be another: as without the test
                    continue
                if target[0] == "C":
                    result.add(self.intern(("I", target[1], False)))
                elif target[0] == "X" and not (result and target[1] in _PLACES):
                    result.add(self.intern(("XI", target[1])))
        if result and not self.whole and self._may_be_others(classes):
            return result | (values or self.unknown)  # nothing is known of what a handler catches
        return result or values

    def _narrow_exactly(self, values: Values, classes: Values) -> Values:
        """``type(values) is classes`` holds: what is of a subclass is left out."""
        targets = self._class_targets(classes)
        if any(each[0] == "C" and not each[2] for each in targets):  # or of one below, who knows
            return self.narrow(values, classes)
        if not self.whole and self._may_be_others(classes):
            return self.narrow(values, classes)
        asked = dict.fromkeys([each[1] for each in targets if each[0] == "C"])
        left: set[int] = set()
        for value in values:
            kind = self.values[value]
            if kind[0] != "I" or not targets:
                left.add(value)
            elif kind[2]:
                left |= self.only(value) if kind[1] in asked else EMPTY
            else:
                below = [each for each in asked if kind[1] in self.mro(each)]
                left |= {self.intern(("I", each, True)) for each in below}
        inexact = {self.intern(("I", each, False)): each for each in asked}
        return {
            self.intern(("I", inexact[each], True)) if each in inexact else each
            for each in self.narrow(left, classes)
        }

    def _may_be_code(self, value: Value, target: Value) -> bool:
        """Whether a class, a function or a module may be an instance of ``target``."""
        is_class = self._is_class(value)
        if target[0] == "C":
            metaclasses = self.metaclasses_of(value[1]) if value[0] == "C" else ()
            return any(target[1] in self.mro(each) for each in metaclasses)
        if target[0] != "X" or target[1] in PLAIN:
            return False
        if target[1] in _CLASSES:
            return is_class is not False
        return target[1] not in _FUNCTION_TYPES or not is_class

    def _is_class(self, value: Value) -> bool | None:
        """Whether it is a class; ``None``: not told."""
        if value[0] in ("C", "XA", "NT"):
            return True
        if value[0] == "X":
            return None if self.outside.class_name(value[1]) is None else True
        return False

    def _narrow_open(self, value: int, targets: Sequence[Value]) -> Values:
        """An open value stays what callers know of it; a container holds what it holds."""
        result: set[int] = set()
        if self.whole or value == self.unknown_id:
            return result
        for target in targets:
            if target[0] == "X" and target[1] in SCALARS:
                result.add(self.intern(("XI", target[1])))  # another than is seen, perhaps
            elif target[0] == "X":
                result.add(value)
                places = _PLACES.get(target[1])
                if places:
                    held = self.derive("E", value)
                    result.add(self.intern(("G", target[1], (held,) * places)))
            elif target[0] == "C" and self.is_open_class(target[1]):
                result.add(value)  # what counts as one need not extend it
        return result

    def exclude(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` does not hold.

        Of a slice not all values are known: there something stays that may be. Where a class is
        one of several that are not all asked for, it excludes none.
        """
        targets = self._surely_asked(classes)
        return {v for v in values if not any(self._is_one(self.values[v], t) for t in targets)}

    def _surely_asked(self, classes: Values, depth: int = _DEEPEST_TUPLE) -> list[Value]:
        """The classes that ``isinstance`` asks for each time: one, or those of one tuple."""
        if len(classes) != 1:
            return []
        [value] = classes
        kind = self.values[value]
        if kind[0] in ("C", "X"):
            return [kind]
        places = self.places_of(classes) if kind[0] == "K" and depth else None
        return [each for place in places or () for each in self._surely_asked(place, depth - 1)]

    def _may_count(self, class_: Class, virtual: Class) -> bool:
        """Whether an instance may count as one of a class it does not extend (PEP 544)."""
        if not self.is_protocol(virtual):
            return True
        return all(self.answers(class_, name) for name in virtual.info.members)

    def _is_one(self, value: Value, target: Value) -> bool:
        """Whether ``value`` is known to be an instance of a class."""
        if target[0] == "C":
            told = value[0] == "I" and target[1] in self.mro(value[1])
            return told and not self.has_check(target[1])
        if value[0] == "C":
            return bool(target[1] == "builtins.type")
        if not self.whole or target[1] not in PLAIN:
            return False
        stubs = self.outside.stubs
        meant = stubs.class_named(target[1])
        if value[0] == "I":
            bases = map(stubs.class_named, self.external_bases(value[1]))
            return any(base is not None and meant in stubs.mro(base) for base in bases)
        class_ = self.outside.types.class_of(value) if value[0] in _OUTSIDE else None
        return class_ is not None and meant in stubs.mro(class_)

    def _is_of(self, value: Value, target: Value) -> bool:
        """Whether the type of ``value`` is known to be a class itself."""
        if target[0] == "C":
            return bool(target[2]) and value[0] == "I" and value[1] is target[1] and value[2]
        if not self.whole or target[1] not in PLAIN or value[0] not in _OUTSIDE:
            return False
        class_ = self.outside.types.class_of(value)
        return class_ is not None and class_ is self.outside.stubs.class_named(target[1])

    def _extends(self, class_: Class, outside: str) -> bool:
        """Whether instances of ``class_`` can be instances of a class outside of that name.

        By inheritance, or by the methods that an ABC looks for (``collections.abc``).
        """
        stubs = self.outside.stubs
        if not all(map(self.outside.is_told_of, self.external_bases(class_))):
            return True
        target = stubs.class_named(outside)
        if target is None:
            return outside in _CALLABLE and self.find_member(class_, "__call__") is not None
        bases = filter(None, map(stubs.class_named, self.external_bases(class_)))
        if any(target in stubs.mro(base) for base in bases):
            return True
        methods = list(self.outside.protocols.methods_of(target))
        return bool(methods) and all(self.find_member(class_, name) for name in methods)

    def _may_be_one(self, value: Value, other: Value) -> bool:
        """Whether an object of a class outside can be an instance of another such class."""
        if other[0] != "X":
            return False
        outside, stubs = other[1], self.outside.stubs
        target = stubs.class_named(outside)
        class_ = self.outside.types.class_of(value)
        if outside not in PLAIN or target is None or class_ is None:
            return True
        return target in stubs.mro(class_) or (value[0] != "K" and class_ in stubs.mro(target))

    def narrow_text(self, values: Values, prefix: str, suffix: str) -> Values:
        """``values.startswith(prefix)`` and ``values.endswith(suffix)`` hold."""
        result: set[int] = set()
        for value in values or self.unknown:
            kind = self.values[value]
            if kind[0] == "I":
                result.add(value)  # an object with such a method of its own
                continue
            if kind[0] == "S":
                if kind[1].startswith(prefix) and kind[1].endswith(suffix):
                    result.add(value)
                continue
            start, end = kind[1:] if kind[0] == "N" else ("", "")
            if start.startswith(prefix) or prefix.startswith(start):
                longest = max(start, prefix, key=len), max(end, suffix, key=len)
                if end.endswith(suffix) or suffix.endswith(end):
                    result.add(self.intern(("N", *longest)))
        return result

    def _class_targets(self, classes: Values, depth: int = _DEEPEST_TUPLE) -> list[Value]:
        found: list[Value] = []
        for value in tuple(classes):
            kind = self.values[value]
            if kind[0] in ("C", "X"):
                found.append(kind)
            elif kind[0] == "K" and depth:
                found += self._class_targets(self.read(self.elements_cell(value)), depth - 1)
        return found

    def _may_be_others(self, classes: Values, depth: int = _DEEPEST_TUPLE) -> bool:
        """Whether a class that is asked for may be one that only callers know."""
        kinds = [(value, self.values[value][0]) for value in tuple(classes)]
        return any(
            kind in OPEN
            or (
                kind == "K"
                and depth > 0
                and self._may_be_others(self.read(self.elements_cell(value)), depth - 1)
            )
            for value, kind in kinds
        )

    def match_class(self, subject: Values, classes: Values) -> Values:
        """The subject when a class pattern matched: ``isinstance`` says so (PEP 634)."""
        if not self.whole:
            self.check_kind(subject, classes, f.HERE)
        return self.narrow(subject, classes)

    def match_argument(self, matched: Values, classes: Values, index: int, pos: Position) -> Values:
        """What the pattern at a position of a class pattern is compared with (PEP 634)."""
        result: set[int] = set()
        for kind in self._class_targets(classes):
            if kind[0] == "X":
                result |= matched if kind[1] in _OF_THEMSELVES and not index else self.unknown
                continue
            class_ = kind[1]
            assert isinstance(class_, Class)
            names = self._match_args(class_, pos)
            if names is None:
                result |= matched if not index and class_.external_bases else self.unknown
            elif index < len(names):
                result |= self.load_attribute(matched, names[index], pos)
        return result or self.unknown

    def _match_args(self, class_: Class, pos: Position) -> Sequence[str] | None:
        """``__match_args__``, written or generated; ``None`` where they are not known."""
        if self.find_member(class_, "__match_args__") is None:
            return self.fields(class_, by_place=True) or None
        places = self.places_of(
            self.load_attribute(self.single(("C", class_, True)), "__match_args__", pos)
        )
        texts = [[self.values[v] for v in place] for place in places or ()]
        if not texts or not all(len(place) == 1 and place[0][0] == "S" for place in texts):
            return None
        return [str(place[0][1]) for place in texts]

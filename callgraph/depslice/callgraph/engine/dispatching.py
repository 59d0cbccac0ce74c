"""``functools.singledispatch``: which of the registered functions a call runs (PEP 443)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.narrowing import Narrowing
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Function, Value, Values

_METHOD: Final = "functools.singledispatchmethod"
_KNOWN: Final = frozenset({"I", "K", "G", "GS", "XI", "S", "N"})
"""Kinds of values of which it is known what they are instances of."""


class Dispatching(Narrowing):
    """What the type of the first argument chooses."""

    def place_dispatched_on(self, function: Function) -> int:
        """The parameter whose type chooses: of a method the one behind ``self``."""
        return int(self.dispatchers[function] == _METHOD)

    def chosen(
        self, function: Function, args: Sequence[Values]
    ) -> tuple[list[Function], list[Function]]:
        """The functions that run for what is passed, as far as it is known, and the others.

        One runs whose class is the nearest in the MRO of the argument's; ``function`` itself, if
        there is none.
        """
        registered = {
            kind[1]: list(self.dispatched_on(function, kind[1]))
            for kind in [self.values[v] for v in self.read(self.cell("dispatch", function))]
            if kind[0] == "F" and kind[1] is not function
        }
        every = [function, *registered]
        place = self.place_dispatched_on(function)
        if len(args) <= place or not args[place]:  # nobody knows, or it is ``None``
            return every, []
        running: dict[Function, None] = {}
        if not function.unit.flags & s.DECORATED:  # `f = singledispatch(g)`: so is `g`
            running[function] = None
        found = [
            (v, *self._for_one(v, registered)) for v in map(self.values.__getitem__, args[place])
        ]
        told = [value for value, surely, _ in found if surely]
        declared = any(value[0] == "I" and not value[2] for value, _, _ in found)
        for value, surely, maybe in found:
            if surely or not self._is_told_by(value, told):
                running |= dict.fromkeys([*surely, *maybe])
                if not surely:
                    running[function] = None
            elif value[0] == "P" or (value[0] in OPEN and not declared):
                # What has no value when it is passed: a number, a list, `None`.
                running |= dict.fromkeys([function, *self._of_outside(maybe, registered)])
        chosen = [each for each in every if each in running]
        return chosen, [each for each in every if each not in running]

    def _is_told_by(self, value: Value, others: Sequence[Value]) -> bool:
        """Whether other values tell what runs for one that says little itself.

        What nobody knows, and what a declaration says of an object that is known beside it.
        """
        if value[0] in OPEN:
            return bool(others)
        return (
            value[0] == "I"
            and not value[2]
            and any(each[0] == "I" and value[1] in self.mro(each[1]) for each in others)
        )

    def _of_outside(
        self, functions: Sequence[Function], registered: dict[Function, list[Value]]
    ) -> list[Function]:
        """Those of ``functions`` that are registered for types outside alone."""
        return [each for each in functions if all(kind[0] != "C" for kind in registered[each])]

    def _for_one(
        self, value: Value, registered: dict[Function, list[Value]]
    ) -> tuple[list[Function], list[Function]]:
        """Those that surely can run for a value, by its nearest class, and those that may."""
        nearest: dict[Function, int] = {}
        maybe: list[Function] = []
        for each, targets in registered.items():
            if value[0] not in _KNOWN or not targets:
                maybe.append(each)
                continue
            places = [self._place(value, target) for target in targets]
            sure = [place for place in places if place is not None and place >= 0]
            if sure:
                nearest[each] = min(sure)
            elif None in places:
                maybe.append(each)
        first = min(nearest.values(), default=0)
        return [each for each, place in nearest.items() if place == first], maybe

    def _place(self, value: Value, target: Value) -> int | None:
        """Where a class is in the MRO of a value's; -1: nowhere; ``None``: it may be one."""
        if value[0] == "I":
            class_: Class = value[1]
            order = [*self.mro(class_)]
            if target[0] == "C":
                if target[1] in order:
                    return order.index(target[1])
                below = () if value[2] else class_.below()
                may = self.is_open_class(target[1]) or any(
                    target[1] in self.mro(each) for each in below
                )
                return None if may else -1
            if self._is_one(value, target):
                return len(order)
            if target[1] == "builtins.object":
                return len(order) + 1
            return None if self._extends(class_, target[1]) else -1
        if target[0] == "C":
            return None if self.is_open_class(target[1]) else -1
        if self._is_one(value, target):
            return 0 if self._is_just(value, target) else 1
        return None if self._may_be_one(value, target) else -1

    def _is_just(self, value: Value, target: Value) -> bool:
        class_ = self.outside.types.class_of(value)
        return class_ is not None and class_ is self.outside.stubs.class_named(target[1])

    def dispatched_on(self, function: Function, registered: Function) -> Iterator[Value]:
        """The classes that a function is registered for: named there, or by its annotation."""
        told = self.read(self.cell("dispatched on", function, registered))
        if told:
            if any(self.values[v][0] not in ("C", "X") for v in told):
                return
            yield from (self.values[v] for v in told)
            return
        place = self.place_dispatched_on(function)
        params = registered.unit.params
        annotation = params[place][2] if place < len(params) else None
        declared = (
            EMPTY
            if annotation is None
            else self.declared(registered.module, registered, annotation)
        )
        kinds = [self.values[v] for v in declared]
        if all(kind[0] in ("I", "XI", "G") for kind in kinds):
            yield from (("C" if kind[0] == "I" else "X", kind[1]) for kind in kinds)

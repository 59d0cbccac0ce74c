"""Functions that put a metaclass in, as code for two Pythons has them.

    def with_metaclass(meta, *bases):        # class C(with_metaclass(Meta, Base)):
        class metaclass(type):
            def __new__(cls, name, this_bases, d):
                return meta(name, bases, d)
        return type.__new__(metaclass, "temporary", (), {})

    def add_metaclass(metaclass):            # @add_metaclass(Meta)
        def wrapper(cls):
            return metaclass(cls.__name__, cls.__bases__, cls.__dict__.copy())
        return wrapper

The class that the first gives is in nobody's line: who extends it extends ``bases``, and is made
by ``meta``. They are told by what they do, those of packages by their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import EMPTY, Function, Value, Values
from depslice.callgraph.summary import Op, Unit

WITH_METACLASS: Final = "with_metaclass"
ADD_METACLASS: Final = "add_metaclass"
_PACKAGES: Final = frozenset({"future", "six"})


def put_by_package(dotted: str, args: Sequence[Values]) -> Value | None:
    """What such a function of a package gives: ``six.with_metaclass(Meta, Base)``."""
    name = dotted.rpartition(".")[2]
    if not args or name not in (WITH_METACLASS, ADD_METACLASS):
        return None
    if _PACKAGES.isdisjoint(dotted.split(".")):
        return None
    return Put(int(name == WITH_METACLASS), many=True).given(args)


class Put(NamedTuple):
    """What a function does with its first parameter, a metaclass.

    ``bases``: the parameter for those of the class, the first of them where they are ``many``;
    0: it makes a class once more that it decorates.
    """

    bases: int
    many: bool

    def given(self, args: Sequence[Values]) -> Value:
        """What a call with ``args`` gives."""
        if not self.bases:
            return ("WM", frozenset(args[0]), None)
        bases = args[self.bases :] if self.many else args[self.bases : self.bases + 1]
        return ("WM", frozenset(args[0]), tuple(map(frozenset, bases)))


def put_by(function: Function) -> Put | None:
    """How ``function`` puts a metaclass in, if it does."""
    unit = function.unit
    for inner in _inside(function) if unit.kind == "function" and unit.params else ():
        called = _taken(inner, unit, 0)
        making = {op[1] for op in inner.ops if op[0] == s.CALL and op[2] in called}
        if making.isdisjoint(op[1] for op in inner.ops if op[0] == s.RETURN):
            continue
        if inner.owner >= 0 and inner.qualname.endswith(".__new__"):
            for index in range(1, len(unit.params)):
                if _taken(inner, unit, index):
                    return Put(index, unit.params[index][1] == "va")
        elif inner.owner < 0 and any(map(_names_itself, inner.ops)):
            return Put(0, False)
    return None


def _inside(function: Function) -> Iterator[Unit]:
    """The functions that are defined in ``function``, and the ``__new__`` of its classes."""
    summary = function.module.summary
    for op in function.unit.ops:
        if op[0] == s.FUNCTION:
            yield summary.units[op[2]]
        elif op[0] == s.CLASS:
            for index in summary.classes[op[2]].members.get("__new__", ()):
                unit = summary.pieces[index].unit
                for inner in summary.units[unit].ops if unit >= 0 else ():
                    if inner[0] == s.FUNCTION:
                        yield summary.units[inner[2]]


def _taken(inner: Unit, outer: Unit, index: int) -> set[int]:
    """Where ``inner`` has a parameter of ``outer``."""
    name = outer.params[index][0]
    return {op[1] for op in inner.ops if op[0] == s.FREE and op[2] == outer.index and op[3] == name}


def _names_itself(op: Op) -> bool:
    return bool(op[0] == s.ATTR and op[2] == 0 and op[3] == "__name__")


def metaclasses_put(values: Values, known: Sequence[Value]) -> Values:
    """The metaclasses that are put in by what is among ``values``."""
    return EMPTY.union(*(known[each][1] for each in values if known[each][0] == "WM"))

"""What a metaclass reads of the namespace it makes a class of (language reference, 3.3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.summary import FileSummary, Op, Register, Unit

BASES: Final = 2
NAMESPACE: Final = 3
"""The parameters of a metaclass for the bases, and for what a class body has bound."""
_MAKING: Final = frozenset({"__new__", "__init__"})
_BY_KEY: Final = frozenset({"get", "pop", "setdefault", "__getitem__", "__contains__"})
_CALLED: Final = _MAKING | _BY_KEY
_ALONE: Final = _BY_KEY | {"update", "__setitem__", "__delitem__", "clear"}
"""Methods that do not go through all of it."""
_COPYING: Final = frozenset({"OrderedDict", "dict"})
_TESTS: Final = frozenset({"isinstance", "issubclass", "hasattr"})
_TELLING_FUNCTIONS: Final = frozenset(
    {"Callable", "FunctionType", "MethodType", "callable", "isfunction", "ismethod", "isroutine"}
    | {"endswith", "fullmatch", "match", "startswith"}
)
"""Names of tests that a plain function may pass, for what it is or by its name."""


class Listing(NamedTuple):
    """``names`` are those that are read, ``None`` all of them.

    ``tested``: which of all is told by what they are, which a plain function is not.
    """

    names: frozenset[str] | None
    tested: bool


def listing(summary: FileSummary, unit: Unit, index: int) -> Listing:
    """What ``unit`` reads of its parameter ``index``, a namespace."""
    names: set[str] = set()
    units = [unit]
    for name in _read(unit, index):
        if name is None:
            units += _called(summary, unit, index)
            return Listing(None, tested=any(map(_tests, units)))
        names.add(name)
    return Listing(frozenset(names), tested=False)


def stored(unit: Unit, index: int) -> frozenset[str]:
    """The names that ``unit`` adds to its parameter ``index``, a namespace.

    Or to another that it makes a class with: ``super().__new__(mcs, name, bases, other)``.
    """
    texts = {op[1]: op[2] for op in unit.ops if op[0] == s.STRING}
    makers = {op[1] for op in unit.ops if op[0] == s.ATTR and op[3] == "__new__"}
    calls = [op for op in unit.ops if op[0] == s.CALL]
    spaces = {index, *(op[3][index] for op in calls if op[2] in makers and len(op[3]) > index)}
    names = [name for op in calls if op[1] in spaces for name, _ in op[4]]  # `dict(x, name=y)`
    filling = {
        op[1]: op[3]
        for op in unit.ops
        if op[0] == s.ATTR and op[2] in spaces and op[3] in ("setdefault", "update")
    }
    for op in calls:
        if filling.get(op[2]) == "update":
            names += [name for name, _ in op[4]]
            spaces.update(op[3])
        elif op[2] in filling and op[3] and op[3][0] in texts:
            names.append(texts[op[3][0]])
    for op in unit.ops:
        if op[0] == s.MAPPING and op[1] in spaces:
            names += [key for key, *_ in op[2] if key is not None]
        elif op[0] == s.SETSUB and op[1] in spaces and op[2] in texts:
            names.append(texts[op[2]])
    return frozenset(names)


def _read(unit: Unit, index: int) -> Iterator[str | None]:
    """The names that are read, ``None`` where any may be."""
    same: set[Register] = {index}
    texts: dict[Register, str] = {}
    methods: dict[Register, str] = {}
    named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
    for op in unit.ops:
        code = op[0]
        if code == s.STRING:
            texts[op[1]] = op[2]
        elif code == s.ATTR:
            if op[3] in _MAKING or op[2] in same:
                methods[op[1]] = op[3]
            if op[2] in same and op[3] not in _ALONE:
                yield None
        elif code == s.CALL and op[2] in methods and methods[op[2]] in _CALLED:
            if methods[op[2]] in _BY_KEY:
                yield texts.get(op[3][0]) if op[3] else None
        elif same.isdisjoint(reads(op)):
            continue
        elif code in (s.PHI, s.MAPPING, s.BINARY) or (
            code == s.CALL and named.get(op[2]) in _COPYING
        ):  # a copy, with more in it
            same.add(op[1])
        elif code == s.CALL and named.get(op[2]) == "type":
            continue
        elif code in (s.SUB, s.CONTAINS):
            yield texts.get(op[3] if code == s.SUB else op[2])
        elif code not in (s.SETSUB, s.DELETE_SUB, s.TRUTH):
            yield None


def _called(summary: FileSummary, unit: Unit, index: int) -> Iterator[Unit]:
    """The functions of the module that ``unit`` passes the parameter to."""
    named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
    passed = {named.get(op[2]) for op in unit.ops if op[0] == s.CALL and _passes(op, index)}
    for each in summary.units:
        if each.kind == "function" and each.qualname in passed:
            yield each


def _passes(op: Op, register: Register) -> bool:
    return register in op[3] or any(each == register for _, each in op[4])


def _tests(unit: Unit) -> bool:
    names = {op[2] for op in unit.ops if op[0] == s.GLOBAL}
    names |= {op[3] for op in unit.ops if op[0] == s.ATTR}
    tested = not names.isdisjoint(_TESTS) or any(op[0] == s.NARROW for op in unit.ops)
    return tested and names.isdisjoint(_TELLING_FUNCTIONS)

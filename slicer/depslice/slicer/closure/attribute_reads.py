"""Where code does no more with a class than to read attributes of it, or to test for it.

``Limits.DEFAULT`` makes no instance, and lets nobody make one. Nor does ``isinstance(x, C)``; but
who asks that is given instances.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import users
from depslice.callgraph.summary import Op, Position, Register, Unit

_TESTS: Final = frozenset({"isinstance", "issubclass"})
_Plain = Callable[[Op, Register], bool]


def attribute_reads(unit: Unit) -> frozenset[Position]:
    """The positions of names of which ``unit`` only reads attributes, by plain names."""
    return _only(unit, lambda op, _: op[0] == s.ATTR and not op[3].startswith("__"))


def tests(unit: Unit) -> frozenset[Position]:
    """The positions of names of which ``unit`` only asks whether something is an instance, a class below."""
    asking = {op[1] for op in unit.ops if op[0] == s.GLOBAL and op[2] in _TESTS}
    if not asking:
        return frozenset()
    readers = users(unit)

    def only_tests(op: Op, register: Register) -> bool:
        if op[0] == s.SEQUENCE:  # `isinstance(x, (A, B))`
            return all(only_tests(unit.ops[index], op[1]) for index in readers[op[1]])
        return _asks_for(op, register, asking)

    return _only(unit, only_tests)


def _only(unit: Unit, is_plain: _Plain) -> frozenset[Position]:
    """The positions of names of which ``unit`` does nothing but what is plain."""
    ops = unit.ops
    readers = users(unit)
    named: dict[Position, list[Register]] = {}
    for op in ops:
        if op[0] in (s.ATTR, s.GLOBAL, s.IMPORT) and op[1] >= 0:
            named.setdefault(op[s.POSITION_AT[op[0]]], []).append(op[1])
    return frozenset(
        pos
        for pos, registers in named.items()
        if all(
            readers[register] and all(is_plain(ops[index], register) for index in readers[register])
            for register in registers
        )
    )


def _asks_for(op: Op, register: Register, asking: Container[Register]) -> bool:
    """Whether an operation asks whether something is of the class in ``register``, no more."""
    if op[0] == s.NARROW:
        return bool(op[3] == register != op[2])
    given = op[3] if op[0] == s.CALL and op[2] in asking else ()
    return bool(given[1:] == (register,) != given[:1])

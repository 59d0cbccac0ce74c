"""Where code does no more with a class than to read attributes of it: ``Limits.DEFAULT``.

That makes no instance, and lets nobody make one. Tests for a class are something else:
who asks ``isinstance(x, C)`` is given instances.
"""

from __future__ import annotations

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import users
from depslice.callgraph.summary import Op, Position, Register, Unit


def attribute_reads(unit: Unit) -> frozenset[Position]:
    """The positions of names of which ``unit`` only reads attributes, by plain names."""
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
            readers[register] and all(_is_plain(ops[index]) for index in readers[register])
            for register in registers
        )
    )


def _is_plain(op: Op) -> bool:
    return op[0] == s.ATTR and not op[3].startswith("__")

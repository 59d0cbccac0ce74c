"""Which operations of a unit matter for what it returns, and for what it stores.

Asking what a function returns should not evaluate all the function does: the operations
that its results do not depend on are left out (a backward slice within the unit, over
registers). Only a function whose references are wanted is evaluated in full.
"""

from __future__ import annotations

from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.summary import Op, Unit

RETURNS: Final = 1
STORES: Final = 2
FULL: Final = 7

_RESULTS: Final = frozenset({s.RETURN, s.YIELD, s.YIELD_FROM})
_STORES: Final = frozenset({s.SETATTR, s.SETGLOBAL, s.SETFREE, s.BIND})
_FILLING: Final = frozenset(
    {"append", "add", "appendleft", "insert", "extend", "update", "setdefault", "put", "register"}
)
NO_RESULT: Final = frozenset(
    {
        s.SETATTR,
        s.SETSUB,
        s.COMPARE,
        s.TRUTH,
        s.FORMAT_VALUE,
        s.YIELD,
        s.RETURN,
        s.BIND,
        s.SETGLOBAL,
        s.SETFREE,
        s.ANNOTATION,
        s.DELETE_SUB,
        s.CONTAINS,
        s.RAISE,
    }
)


def operations(unit: Unit, wanted: int) -> list[int]:
    """Indices of the operations of ``unit`` that matter for ``wanted`` (the bits above)."""
    if wanted & FULL == FULL or unit.kind == "piece":
        return list(range(len(unit.ops)))
    needed: set[int] = set()
    for registers in unit.captured.values():
        needed.update(registers)
    kept: set[int] = set()
    ops = unit.ops
    fillers = {op[1]: op[2] for op in ops if op[0] == s.ATTR and op[3] in _FILLING}
    changed = True
    while changed:  # φs of loops read registers that are defined further down
        changed = False
        for index in range(len(ops) - 1, -1, -1):
            if index in kept:
                continue
            op = ops[index]
            if _matters(op, wanted, needed, fillers):
                kept.add(index)
                before = len(needed)
                needed.update(reads(op))
                changed = changed or len(needed) != before
    return sorted(kept)


def users(unit: Unit) -> dict[int, list[int]]:
    """For every register the indices of the operations that read it."""
    found: dict[int, list[int]] = {}
    for index, op in enumerate(unit.ops):
        for register in dict.fromkeys(reads(op)):
            found.setdefault(register, []).append(index)
    return found


def _matters(op: Op, wanted: int, needed: set[int], fillers: dict[int, int]) -> bool:
    code = op[0]
    if code in _RESULTS:
        return bool(wanted & RETURNS)
    if code in _STORES:
        return bool(wanted & STORES)
    if code == s.SETSUB:
        return op[1] in needed
    if code in NO_RESULT:
        return False
    if op[1] in needed:
        return True
    # `x.append(…)` gives nothing, but fills what may be returned.
    return code == s.CALL and op[2] in fillers and fillers[op[2]] in needed


def reads(op: Op) -> list[int]:
    """The registers ``op`` reads."""
    code = op[0]
    if code == s.CALL:
        found = [op[2], *op[3], *(r for _, r in op[4])]
        if op[5] is not None:
            found.extend(op[5][0])
            found.extend(op[5][1])
        return found
    if code == s.PHI:
        return list(op[2])
    if code == s.SEQUENCE:
        return [*op[3], *op[4]]
    if code == s.MAPPING:
        return [*(r for _, k, v in op[2] for r in (k, v)), *op[3]]
    if code in (s.FUNCTION, s.LAMBDA):
        return [r for _, r in op[3]]
    if code == s.CLASS:
        return [*op[3], *(r for _, r in op[4])]
    if code == s.SETATTR:
        return [op[1], op[3]]
    if code == s.SETSUB:
        return [op[1], op[2], op[3]]
    if code in (s.BINARY, s.SUB, s.DECORATE, s.NARROW, s.CLASS_MATCH):
        return [op[2], op[3]]
    if code == s.SETFREE:
        return [op[3]]
    if code in (s.SETGLOBAL, s.BIND):
        return [op[2]]
    if code in (s.RETURN, s.YIELD, s.TRUTH, s.FORMAT_VALUE, s.RAISE):
        return [op[1]]
    if code in (s.COMPARE, s.CONTAINS, s.DELETE_SUB):
        return [op[1], op[2]]
    if code == s.DECLARE:
        return [] if op[3] is None else [op[3]]
    if code == s.SUPER:
        return [op[3]]
    if code in (s.ATTR, s.ITER, s.ITEM, s.ENTER, s.AWAIT, s.YIELD_FROM, s.UNARY):
        return [op[2]]
    return []

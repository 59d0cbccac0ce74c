"""Texts that stand in the code of a unit, and no others in their place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.summary import FileSummary, Op, Register, Unit

_PASSING_ON: Final = {s.PHI, s.ITER, s.ITEM, s.NARROW_TEXT, s.SEQUENCE, s.BINARY}
"""What such an operation gives is all in what it reads."""
_FIRST_ONLY: Final = {s.NARROW, s.SUB}
_DISPLAYS: Final = {s.SEQUENCE, s.MAPPING}
_GIVING_PARTS: Final = frozenset(
    {"dict", "enumerate", "frozenset", "iter", "list", "reversed", "set", "sorted", "tuple", "zip"}
)
_READING: Final = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})
"""Methods of containers that change nothing."""


class Literals:
    """Which registers of a unit hold just what literals in it say.

    What comes from elsewhere (an attribute, a table, a result) may be another than is seen. So
    may an element of a list that somebody has and may add to. A module's own variable counts as
    standing there if nothing in the module binds it twice.
    """

    def __init__(self, summary: FileSummary, unit: Unit, *, variables: bool = True) -> None:
        self._summary = summary
        self._unit = unit
        self._variables = variables  # whether those of the module may stand for literals
        self._made: dict[Register, Op] = {
            op[1]: op for op in unit.ops if op[0] in _MAKING and op[1] >= 0
        }
        self._readers: dict[Register, list[Op]] | None = None

    def stands_there(self, register: Register) -> bool:
        """Whether all texts that ``register`` holds, or that what it holds contains, do."""
        met: set[Register] = set()
        waiting = [register]
        while waiting:
            current = waiting.pop()
            if current not in met:
                met.add(current)
                sources = self._sources(current)
                if sources is None:
                    return False
                waiting += sources
        return True

    def _sources(self, register: Register) -> Iterable[Register] | None:
        """The registers that one is made of; ``None`` where something comes from elsewhere."""
        if register < 0:
            return None if register == s.STR else ()
        op = self._made.get(register)
        if op is None:
            return None
        code = op[0]
        if code in _DISPLAYS and not self._is_only_read(op):
            return None
        if code == s.MAPPING:
            keys = [key for text, key, _ in op[2] if text is None]
            return [*keys, *(value for _, _, value in op[2]), *op[3]]
        if code in _PASSING_ON:
            return reads(op)
        if code in _FIRST_ONLY:
            return (op[2],)
        if code == s.CALL:
            return self._parts_given(op)
        if code == s.GLOBAL:
            return () if self._variables and self._is_constant(op[2]) else None
        return () if code in (s.STRING, s.TEXT, s.TOLD) else None

    def _parts_given(self, call: Op) -> Iterable[Register] | None:
        """What ``sorted(x)`` or ``x.items()`` gives is part of."""
        made = self._made.get(call[2])
        if made is None or call[5] is not None:
            return None
        if made[0] == s.GLOBAL:
            known = made[2] in _GIVING_PARTS and made[2] not in self._summary.scope
            return call[3] if known and not call[4] else None
        return (made[2],) if made[0] == s.ATTR and made[3] in _READING else None

    def _is_only_read(self, display: Op) -> bool:
        """Whether nobody can change what ``display`` makes."""
        if display[0] == s.SEQUENCE and display[2] == "tuple":
            return True
        captured = {each for held in self._unit.captured.values() for each in held}
        met: set[Register] = set()
        waiting: list[Register] = [display[1]]
        while waiting:
            register = waiting.pop()
            if register in met:
                continue
            met.add(register)
            if register in captured:
                return False
            for op in self._readers_of(register):
                if op[0] in (s.PHI, s.NARROW):
                    waiting.append(op[1])
                elif not self._leaves_alone(op, register):
                    return False
        return True

    def _leaves_alone(self, op: Op, register: Register) -> bool:
        if op[0] in _ONLY_LOOKING:
            return True
        if op[0] == s.ATTR:
            return op[3] in _READING
        return op[0] == s.CALL and self._parts_given(op) is not None and op[2] != register

    def _readers_of(self, register: Register) -> list[Op]:
        if self._readers is None:
            self._readers = {}
            for op in self._unit.ops:
                for each in reads(op):
                    self._readers.setdefault(each, []).append(op)
        return self._readers.get(register, [])

    def _is_constant(self, name: str) -> bool:
        """Whether ``name`` is a variable of the module that is bound once, to a literal."""
        summary = self._summary
        pieces = summary.scope.get(name, ())
        if len(pieces) != 1 or name in summary.global_writers or name in summary.mutations:
            return False
        if any(unit.flags & s.USES_LOCALS for unit in summary.units):
            return False  # `globals()[name] = …`, perhaps
        piece = summary.pieces[pieces[0]]
        if piece.kind != "assign" or piece.unit < 0:
            return False
        unit = summary.units[piece.unit]
        bound = [op[2] for op in unit.ops if op[0] == s.BIND and op[1] == name]
        return len(bound) == 1 and Literals(summary, unit, variables=False).stands_there(bound[0])


_ONLY_LOOKING: Final = {
    *(s.ITER, s.ITEM, s.SUB, s.CONTAINS, s.TRUTH, s.BINARY, s.COMPARE, s.COMPARED),
}
_MAKING: Final = (
    _PASSING_ON | _FIRST_ONLY | _DISPLAYS | {s.STRING, s.TEXT, s.TOLD, s.CALL, s.GLOBAL, s.ATTR}
)

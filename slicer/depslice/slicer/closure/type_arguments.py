"""Where code only names a type: ``Handler = Callable[[Request], Response]``, ``cast(Request, x)``.

That makes no instance. Whoever gets at the type arguments of an alias has the alias as a value,
so where it is bound to a name of its module somebody has to ask for that; or a class that extends
it, or an instance that was made by it, and asks that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import INERT_BASES
from depslice.callgraph.engine.parts import reads, users
from depslice.callgraph.engine.values import Class, Function, Value
from depslice.callgraph.summary import Op, Position, Register

OF_BASES: Final = frozenset({"__orig_bases__", "__parameters__", "get_original_bases"})
"""What tells with which arguments a class names its bases."""
OF_INSTANCES: Final = frozenset({"__orig_class__"})
"""What tells by which alias an instance was made: ``C[X]()``."""
_TYPING: Final = ("typing.", "typing_extensions.")
_STANDARD: Final = (*_TYPING, "abc.", "builtins.", "collections.", "contextlib.")
"""Whose classes make an alias of ``C[X]``, and do nothing with ``X``."""
_WITH_VALUES: Final = frozenset(
    f"{each}{name}" for each in _TYPING for name in ("Annotated", "Literal")
)
_CAST: Final = frozenset(f"{each}cast" for each in _TYPING)
_NAMING: Final = frozenset(f"{each}{name}" for each in _TYPING for name in ("NewType", "TypeVar"))
_NOTHING: Final = frozenset({s.NONE})


class Fate(NamedTuple):
    """What becomes of an alias that has a type as an argument.

    It ``is_bound`` to a name of the module, a class ``is_based`` on it, or it ``is_called``.
    """

    is_bound: bool = False
    is_based: bool = False
    is_called: bool = False

    def __or__(self, other: Fate) -> Fate:
        return Fate(*(mine or its for mine, its in zip(self, other, strict=True)))


def named_types(engine: Engine, function: Function) -> dict[Position, Fate]:
    """The positions of names that ``function``, which is evaluated, has for types alone."""
    ops = function.unit.ops
    if not any(op[0] in (s.SUB, s.CALL) or (op[0] == s.BINARY and op[4] == "or") for op in ops):
        return {}
    looking = _Looking(engine, function)
    named: dict[Position, Fate | None] = {}
    for op in ops:
        if op[0] in (s.ATTR, s.GLOBAL, s.IMPORT) and op[1] >= 0:
            pos = op[s.POSITION_AT[op[0]]]
            fate = looking.fate_of_type(op[1])
            known = named.get(pos, Fate())
            named[pos] = None if fate is None or known is None else known | fate
    return {pos: fate for pos, fate in named.items() if fate is not None}


class _Looking:
    """One unit: what it does with registers that hold types."""

    def __init__(self, engine: Engine, function: Function) -> None:
        self._engine = engine
        self._function = function
        self._ops = function.unit.ops
        self._readers = users(function.unit)

    def fate_of_type(self, register: Register) -> Fate | None:
        """What becomes of the aliases that a type in ``register`` goes into; ``None``: more is done."""
        if not self._readers[register]:
            return None
        return self._joined(register, self._named_in)

    def _joined(
        self, register: Register, rule: Callable[[Op, Register], Fate | None]
    ) -> Fate | None:
        found = Fate()
        for index in self._readers[register]:
            fate = rule(self._ops[index], register)
            if fate is None:
                return None
            found |= fate
        return found

    def _named_in(self, op: Op, register: Register) -> Fate | None:
        """What becomes of a type that one operation reads."""
        code = op[0]
        if code == s.SUB:
            if not self._makes_alias(op[2]):
                return None
            fate = self._fate_of_alias(op[1])
            if op[2] == register:  # `C` of `C[X]`; who calls that has `C`
                return None if fate is None or fate.is_called or fate.is_based else fate
            known = self._is_standard(op[2]) or fate == Fate(is_bound=True)
            return fate if known else None
        if code == s.SEQUENCE:
            return self._joined(op[1], self._listed_in)
        if code == s.BINARY:
            either = op[4] == "or" and all(map(self._is_type, op[2:4]))
            return self._fate_of_alias(op[1]) if either else None
        if code == s.CALL and op[2] != register:
            if self._calls(op, _CAST) and reads(op).count(register) == 1:
                return Fate() if op[3][:1] == (register,) else None
            if self._calls(op, _NAMING):
                return self._fate_of_alias(op[1])
        return None

    def _listed_in(self, op: Op, register: Register) -> Fate | None:
        """What becomes of the types in a display: of ``(X, Y)`` in ``C[X, Y]``."""
        as_key = op[0] == s.SUB and op[3] == register and op[2] != register
        return self._named_in(op, register) if as_key or op[0] == s.SEQUENCE else None

    def _fate_of_alias(self, register: Register) -> Fate | None:
        return self._joined(register, self._alias_in)

    def _alias_in(self, op: Op, register: Register) -> Fate | None:
        """What becomes of an alias that one operation reads."""
        code = op[0]
        unit = self._function.unit
        if code == s.BIND:
            piece = self._function.module.summary.pieces[unit.piece]
            is_global = unit.kind == "piece" and piece.kind == "assign" and piece.owner < 0
            return Fate(is_bound=True) if is_global else None
        if code == s.CLASS:
            based = register in op[3] and register not in [given for _, given in op[4]]
            return Fate(is_based=True) if based else None
        if code == s.CALL and op[2] == register:
            return Fate(is_called=True) if reads(op).count(register) == 1 else None
        return self._named_in(op, register)

    def _kinds(self, register: Register) -> list[Value]:
        if register < 0:
            return []
        return [self._engine.values[value] for value in self._function.registers[register]]

    def _calls(self, call: Op, names: frozenset[str]) -> bool:
        kinds = self._kinds(call[2])
        return bool(kinds) and all(kind[0] == "X" and kind[1] in names for kind in kinds)

    def _is_type(self, register: Register) -> bool:
        kinds = self._kinds(register)
        return register in _NOTHING or (bool(kinds) and all(map(self._is_alias_or_class, kinds)))

    def _is_alias_or_class(self, kind: Value) -> bool:
        if kind[0] == "C":
            return self._is_plain(kind[1], ("__or__", "__ror__"))
        return kind[0] == "XA" or (kind[0] == "X" and str(kind[1]).startswith(_STANDARD))

    def _makes_alias(self, register: Register) -> bool:
        """Whether what is in a register does no more with ``X`` of ``C[X]`` than to keep it."""
        kinds = self._kinds(register)
        return bool(kinds) and all(
            (kind[0] in ("X", "XA") and kind[1] not in _WITH_VALUES)
            or (kind[0] == "C" and self._is_generic(kind[1]))
            for kind in kinds
        )

    def _is_standard(self, register: Register) -> bool:
        """Whether it is known to do so; of others an alias is no more than bound to a name."""
        return all(
            kind[0] == "C" or kind[1].startswith(_STANDARD) for kind in self._kinds(register)
        )

    def _is_generic(self, class_: Class) -> bool:
        engine = self._engine
        return (
            engine.find_member(class_, "__class_getitem__") is None
            and self._is_plain(class_, ("__getitem__",))
            and all(
                base in INERT_BASES or base.startswith(_STANDARD)
                for base in engine.external_bases(class_)
            )
        )

    def _is_plain(self, class_: Class, names: Iterable[str]) -> bool:
        """Whether no metaclass says what an operator does with the class."""
        engine = self._engine
        return not any(
            engine.find_member(metaclass, name) is not None
            for metaclass in engine.metaclasses_of(class_)
            for name in names
        )

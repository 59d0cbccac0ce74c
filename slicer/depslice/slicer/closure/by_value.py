"""Statements that change a container that nothing names there.

    Sub.table["k"] = f               # the table of its base
    Config(key).known[key] = value   # a class attribute, by way of an instance
    make().known["k"] = value        # a variable of the module, as a class attribute
    with opened() as table:          # what a context manager gives
        table["k"] = f
    table = opened()                 # what a call gives, in a variable
    table |= {"k": f}

Syntax does not say whose container it is: what the engine finds it to be does.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import FILLING
from depslice.callgraph.engine.values import Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import FileSummary, Op, Register, Unit
from depslice.slicer.closure.registering import changes_in_place

_GIVEN = frozenset({s.CALL, s.ENTER, s.ITEM, s.ITER, s.SUB})
"""What gives an object that has no name there."""


class _Change(NamedTuple):
    """A unit changes what is in a register: the attribute of something, or ``""``."""

    unit: int
    register: Register
    attribute: str


class ByValue:
    """Answers for one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._changes: dict[str, list[_Change]] = {}  # by module

    def changing(
        self, modules: Iterable[Module], values: Values, name: str = ""
    ) -> Iterator[tuple[Module, Unit]]:
        """The units that put something into a container among ``values``.

        ``name``: of the class attribute that it is; what changes such ones is looked at, be it
        in functions. Otherwise statements at the module scope are.
        """
        containers = {value for value in values if self._engine.values[value][0] == "K"}
        if not containers:
            return
        for module in modules:
            units = module.summary.units
            for unit, register, attribute in self._changes_in(module):
                at_module_scope = units[unit].kind != "function"
                if attribute == name or (at_module_scope and not (name and attribute)):
                    function = self._engine.function(module, unit)
                    self._engine.facts_of(function)
                    if not containers.isdisjoint(function.registers[register]):
                        yield module, function.unit

    def _changes_in(self, module: Module) -> list[_Change]:
        found = self._changes.get(module.name)
        if found is None:
            found = self._changes[module.name] = []
            summary = module.summary
            given = set(_given(summary))
            for unit in summary.units:
                if unit.kind == "piece" and summary.pieces[unit.piece].owner < 0:
                    found += _changes(unit, given)
                elif unit.kind == "function":
                    found += [change for change in _changes(unit, ()) if change.attribute]
        return found


def _given(summary: FileSummary) -> Iterator[str]:
    """The names of a module that stand for what a loop, ``with`` or a call gives."""
    for piece in summary.pieces:
        if piece.owner < 0 and piece.kind in ("loop", "with"):
            yield from piece.binds
        elif piece.owner < 0 and piece.kind == "assign" and piece.unit >= 0:
            made_by: set[Register] = set()
            for op in summary.units[piece.unit].ops:
                if op[0] in _GIVEN:
                    made_by.add(op[1])
                elif op[0] == s.BIND and op[2] in made_by:
                    yield op[1]


def _changes(unit: Unit, given: Container[str]) -> Iterator[_Change]:
    """What ``unit`` changes; ``given``: names of the module for what loops, `with` and calls give."""
    made_by: dict[Register, Op] = {}
    for op in unit.ops:
        changed = -1
        if op[0] in (s.SETSUB, s.DELETE_SUB):
            changed = op[1]
        elif changes_in_place(op):
            changed = op[2]
        elif op[0] == s.CALL:
            method = made_by.get(op[2])
            if method is not None and method[0] == s.ATTR and method[3] in FILLING:
                changed = method[2]
        root = made_by.get(changed)
        if root is not None:
            if root[0] == s.ATTR:
                yield _Change(unit.index, changed, root[3])
            elif root[0] in _GIVEN or (root[0] == s.GLOBAL and root[2] in given):
                yield _Change(unit.index, changed, "")
        if op[0] in _GIVEN or op[0] in (s.ATTR, s.GLOBAL):
            made_by[op[1]] = op

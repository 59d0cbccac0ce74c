"""Modules that statements of other modules import by name when these run.

    for name in ("words", "numbers"):
        import_module(f"pkg.plugins.{name}")    # each enters itself in a table

Directly, or by a function that is called with the name, or knows it. As import statements do,
they run what they import; analysis sees which where the names are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import IMPORTING
from depslice.callgraph.engine.values import Function
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op
from depslice.slicer.closure.growth import Growth
from depslice.slicer.pieces import runs_on_import
from depslice.slicer.wiring import ImportEdge

_RUNNING: Final = frozenset({"assign", "expr", "if", "loop", "other", "try", "with"})
_CALLS: Final = 3  # functions from a statement to the one that imports
_NAMED: Final = {s.GLOBAL: 2, s.ATTR: 3}  # where an operation has the name
_IMPORTING: Final = frozenset(name.rpartition(".")[2] for name in IMPORTING)


def modules_run_by_name(growth: Growth, running: Iterable[Module]) -> Iterator[ImportEdge]:
    """The imports by name that the statements of ``running`` make, without a name that is bound."""
    modules = list(running)
    importers = _importers(modules)
    if not importers:
        return
    names = _IMPORTING | {name for _, name in importers}
    for module in modules:
        units = module.summary.units
        for piece in module.summary.pieces:
            if (
                piece.owner < 0
                and piece.unit >= 0
                and piece.kind in _RUNNING
                and runs_on_import(piece)
                and _mentions(units[piece.unit].ops, names)
            ):
                function = growth.engine.function(module, piece.unit)
                for name in sorted({*_imported(growth, function, names, _CALLS)}):
                    yield module.name, piece.index, "", name


def _importers(modules: Iterable[Module]) -> set[tuple[str, str]]:
    """The modules, and the last names of the functions in them, that import by name."""
    found: set[tuple[str, str]] = set()
    for module in modules:
        for unit in module.summary.units:
            if _mentions(unit.ops, _IMPORTING):
                found.add((module.name, unit.qualname.rpartition(".")[2]))
    return found


def _mentions(ops: Iterable[Op], names: frozenset[str] | set[str]) -> bool:
    return any(op[0] in _NAMED and op[_NAMED[op[0]]] in names for op in ops)


def _imported(
    growth: Growth, function: Function, names: frozenset[str] | set[str], depth: int
) -> Iterator[str]:
    """The modules that ``function`` imports by name, or what it calls does with what it passes."""
    facts = growth.engine.facts_of(function)
    yield from imported_by_name(facts)
    called = {fact[1] for fact in facts if fact[0] == f.CALL} if depth else ()
    for each in called:
        if _mentions(each.unit.ops, names):
            yield from _imported(growth, each, names, depth - 1)
            yield from _passed(growth, each, facts)


def imported_by_name(facts: Iterable[f.Fact]) -> Iterator[str]:
    """The modules that ``facts`` say are imported by a name that is told there."""
    places = {fact[2] for fact in facts if fact[0] == f.EXTERNAL and fact[1] in IMPORTING}
    for fact in facts if places else ():
        if fact[0] == f.MODULE and fact[2] in places:
            yield fact[1]


def _passed(growth: Growth, function: Function, facts: Iterable[f.Fact]) -> Iterator[str]:
    """The modules that ``function`` imports by a name which it is passed, by ``facts`` of a caller."""
    engine = growth.engine
    opened = {
        kind[1:3]
        for fact in engine.facts_of(function)
        if fact[0] == f.IMPORTED
        for kind in [engine.values[_root(growth, fact[1])]]
        if kind[0] == "P"
    }
    for fact in facts if opened else ():
        if fact[0] == f.PASS and fact[1:3] in opened:
            for kind in [engine.values[each] for each in fact[3]]:
                if kind[0] == "S" and growth.program.is_module(kind[1]):
                    yield kind[1]


def _root(growth: Growth, value: int) -> int:
    """The value that one is derived from: the name of a module, as callers have it."""
    kind = growth.engine.values[value]
    while kind[0] == "R":
        value = kind[1]
        kind = growth.engine.values[value]
    return value

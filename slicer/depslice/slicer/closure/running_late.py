"""Modules that run only when functions of the slice do, which import them.

    def load():
        import pkg.plugins.words    # enters itself in a table of the slice

What they do to objects of the slice counts then, as what the modules do that importing the targets
runs. Which modules that are shows when the slice is complete: where one of them touches something
of it when it runs, the slice is grown anew, with them. Most touch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Piece, Register
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.importing_code import imported_by_name
from depslice.slicer.closure.registering import changes_in_place
from depslice.slicer.pieces import ops_of, runs_on_import
from depslice.slicer.wiring import import_closure, imported_modules

_MOST: Final = 64
"""So many modules that functions import count: more are a table of all there is."""
_LARGEST: Final = 1000
"""So many definitions a slice has at most that is grown anew: it costs as much again."""
_DOING: Final = frozenset({s.CALL, s.DECORATE, s.SETATTR, s.SETSUB, s.DELETE_ATTR, s.DELETE_SUB})


def modules_run_late(growth: Growth) -> dict[str, int]:
    """Those that functions of the slice import, where they or what they import touch it.

    By how many guesses in a row such a function is there.
    """
    if len(growth.closure.distances) > _LARGEST:
        return {}
    running = growth.run_by_roots()
    late: dict[str, int] = {}
    for name, guesses in _imported(growth):
        if name not in running:
            late[name] = min(guesses, late.get(name, guesses))
    if not late or len(late) > _MOST:
        return {}
    names = {item.partition(":")[2].partition(".")[0] for item in growth.closure.distances}
    names |= _changing(growth)
    modules = {name.rpartition(".")[2] for name in growth.closure.modules}
    for name in import_closure(growth.program, late):
        module = growth.program.module(name) if name not in running else None
        if module is not None and _touches(growth, module, names, modules):
            return late
    return {}


def _changing(growth: Growth) -> set[str]:
    """The functions that change variables of the slice, in it or not: ``register`` of a table."""
    found: set[str] = set()
    for item in growth.closure.distances:
        name, _, variable = item.partition(":")
        module = growth.program.module(name) if variable else None
        if module is not None:
            units = module.summary.units
            writers = module.summary.global_writers.get(variable, ())
            found |= {units[each].qualname.partition(".")[0] for each in writers}
    return found


def _imported(growth: Growth) -> Iterator[tuple[str, int]]:
    """What functions of the slice import by a statement, and what code of it does by name."""
    yield from growth.late.items()
    for function, followed in growth.followed.items():
        guesses = growth.guesses_to(followed.item)
        found: list[str] = []
        for op in function.unit.ops:
            if op[0] == s.IMPORT:
                found += imported_modules(growth.program, function.module, op[2], op[3], op[4])
        yield from ((name, guesses) for name in (*found, *imported_by_name(function.facts)))


def _touches(growth: Growth, module: Module, names: set[str], modules: set[str]) -> bool:
    """Whether ``module``, when it runs, does something with what may be of the slice.

    ``names`` and ``modules`` are what there is of it, by their last names.
    """
    imported = {
        bound
        for piece in module.summary.pieces
        for bound, _, target, item in piece.imports
        if item in names
        or item in modules
        or bound == "*"
        or (item is None and target.rpartition(".")[2] in modules)
    }
    pieces = [each for each in module.summary.pieces if runs_on_import(each) and each.owner < 0]
    if any(_does(growth, module, piece, imported) for piece in pieces if imported):
        return True
    own = {name for piece in pieces if piece.kind == "def" for name in piece.binds}
    return not imported.isdisjoint(module.summary.global_writers) and any(
        piece.kind in ("expr", "assign") and _calls(ops_of(module, piece), own) for piece in pieces
    )


def _calls(ops: list[Op], names: set[str]) -> bool:
    """Whether a statement calls something by one of ``names``."""
    named = {op[1] for op in ops if op[0] == s.GLOBAL and op[2] in names}
    return any(op[0] == s.CALL and op[2] in named for op in ops)


def _does(growth: Growth, module: Module, piece: Piece, imported: set[str]) -> bool:
    """Whether a statement does more with what is ``imported`` than to read it."""
    ops = ops_of(module, piece)
    held: dict[Register, str] = {}  # what comes of it, and of which name
    for op in ops:
        if op[0] == s.GLOBAL and (op[2] in imported or "*" in imported):
            held[op[1]] = op[2]
        elif op[0] in (s.ATTR, s.SUB) and op[2] in held:
            held[op[1]] = ""
        elif piece.kind == "class":
            continue
        elif (op[0] in _DOING or changes_in_place(op)) and not held.keys().isdisjoint(reads(op)):
            made = op[0] == s.CALL and not held.keys() & set(reads(op)[1:])
            if not (made and _makes_alone(growth, module, held[op[2]])):
                return True
    if piece.kind != "class" or not held:
        return False
    if any(op[0] == s.DECORATE for op in ops):
        return True
    class_ = growth.class_of(module, piece)
    order = growth.engine.mro(class_)[1:]
    return any("__init_subclass__" in k.info.members or k.metaclasses for k in order)


def _makes_alone(growth: Growth, module: Module, name: str) -> bool:
    """Whether ``name`` is a class of which an instance is made without code of the repository."""
    engine = growth.engine
    kinds = [engine.values[each] for each in engine.name_values(module, name, None) if name]
    return bool(kinds) and all(
        kind[0] == "C"
        and not engine.metaclasses_of(kind[1])
        and all(engine.find_member(kind[1], each) is None for each in ("__new__", "__init__"))
        for kind in kinds
    )

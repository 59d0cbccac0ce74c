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
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import IMPORTING
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.registering import changes_in_place
from depslice.slicer.pieces import ops_of, runs_on_import
from depslice.slicer.wiring import import_closure, imported_modules

_MOST: Final = 64
"""So many modules that functions import count: more are a table of all there is."""
_DOING: Final = frozenset({s.CALL, s.DECORATE, s.SETATTR, s.SETSUB, s.DELETE_ATTR, s.DELETE_SUB})


def modules_run_late(growth: Growth) -> dict[str, None]:
    """Those that functions of the slice import, where they or what they import touch it."""
    running = growth.run_by_roots()
    late = {name: None for name in _imported(growth) if name not in running}
    if not late or len(late) > _MOST:
        return {}
    names = {item.partition(":")[2].partition(".")[0] for item in growth.closure.distances}
    modules = {name.rpartition(".")[2] for name in growth.closure.modules}
    for name in import_closure(growth.program, late):
        module = growth.program.module(name) if name not in running else None
        if module is not None and _touches(growth, module, names, modules):
            return late
    return {}


def _imported(growth: Growth) -> Iterator[str]:
    """What functions of the slice import by a statement, and what code of it does by name."""
    yield from growth.late
    for function in growth.followed:
        for op in function.unit.ops:
            if op[0] == s.IMPORT:
                yield from imported_modules(growth.program, function.module, op[2], op[3], op[4])
        facts = function.facts
        places = {fact[2] for fact in facts if fact[0] == f.EXTERNAL and fact[1] in IMPORTING}
        for fact in facts if places else ():
            if fact[0] == f.MODULE and fact[2] in places:
                yield fact[1]


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
    return any(
        runs_on_import(piece) and piece.owner < 0 and _does(growth, module, piece, imported)
        for piece in (module.summary.pieces if imported else ())
    ) or not imported.isdisjoint(module.summary.global_writers)


def _does(growth: Growth, module: Module, piece: Piece, imported: set[str]) -> bool:
    ops = ops_of(module, piece)
    read = {op[1] for op in ops if op[0] == s.GLOBAL and (op[2] in imported or "*" in imported)}
    if not read:
        return False
    if piece.kind != "class":
        return any(op[0] in _DOING or changes_in_place(op) for op in ops)
    if any(op[0] == s.DECORATE for op in ops):
        return True
    class_ = growth.class_of(module, piece)
    order = growth.engine.mro(class_)[1:]
    return any("__init_subclass__" in k.info.members or k.metaclasses for k in order)

"""What import statements call: the ``__getattr__`` of a module (PEP 562).

``from m import x`` looks for submodules, if ``m`` is a package: whether it is, Python asks ``m`` for
``__path__``. By ``from m import *`` it asks for ``__all__`` as well. What a module does not bind, its
``__getattr__`` is asked for. ``import m`` asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from depslice.callgraph.model import Certainty
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import DECORATED, FUNCTION, IMPORT, Piece, Position, Unit, pack

RULE: Final = "import"


class Asked(NamedTuple):
    """An import statement that calls: of a ``unit``, or where it is ``None``, of the module."""

    unit: Unit | None
    target: str
    certainty: Certainty
    position: Position


def asked_by_imports(program: Program, module: Module) -> Iterator[Asked]:
    """The calls of import statements of ``module``, each once for every name."""
    for piece in module.summary.pieces:
        if piece.unit >= 0 or never_runs(module, piece.index):
            continue  # that of a class body has a unit
        for _, level, target, item in piece.imports:
            for getter, certainty in _asked(program, module, level, target, item):
                yield Asked(None, getter, certainty, pack(piece.start, 0))
    for unit in module.summary.units:
        for op in unit.ops:
            if op[0] == IMPORT and not never_runs(module, unit.piece):
                for getter, certainty in _asked(program, module, *op[2:5]):
                    yield Asked(unit, getter, certainty, abs(op[5]))


def _asked(
    program: Program, importer: Module, level: int, target: str, item: str | None
) -> Iterator[tuple[str, Certainty]]:
    source = (
        None if item is None else program.module(program.import_target(importer, level, target))
    )
    if source is None or source is importer:
        return
    scope = source.summary.scope
    lacks_path = not source.is_package and "__path__" not in scope
    if not lacks_path and (item != "*" or "__all__" in scope):
        return
    pieces = source.summary.pieces
    defined = [pieces[index] for index in source.current_pieces("__getattr__", None)]
    if len(defined) == 1 and defined[0].kind == "def" and not never_runs(source, defined[0].index):
        sure = not defined[0].conditional and not _is_decorated(source, defined[0])
        yield f"{source.name}:__getattr__", Certainty.DEFINITE if sure else Certainty.LIKELY


def _is_decorated(module: Module, piece: Piece) -> bool:
    """Whether a decorator may have made of it what does not always call it."""
    units = module.summary.units
    made = [units[op[2]] for op in units[piece.unit].ops if op[0] == FUNCTION]
    return any(unit.flags & DECORATED for unit in made)


def never_runs(module: Module, index: int) -> bool:
    """Whether a statement stands under ``if TYPE_CHECKING:``, ``if False:`` …."""
    pieces = module.summary.pieces
    while index >= 0 and not pieces[index].type_checking:
        index = pieces[index].parent  # a class, perhaps, that is not made
    return index >= 0

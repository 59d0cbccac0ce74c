"""What a class body does to the class when that is made, whoever names it.

Descriptors are told of the class (3.3.3.6):

    class Field:
        def __set_name__(self, owner, name): owner.table[name] = self

    class Form:
        table = {}
        name = Field()

This fills ``table``: the class is not what it was without it. So do statements that bind names
which nothing spells, in the namespace that they ask for (``locals()[name] = method``), or that a
metaclass has prepared (``RED``, by itself).
"""

from __future__ import annotations

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import Class
from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.summary import Piece, Unit
from depslice.slicer.closure.arguments import Arguments
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.registering import makes_names
from depslice.slicer.pieces import start_of

_TOLD = "__set_name__"
_OWNER = 1  # the parameter that is the class


class Descriptors:
    """What live classes bind to such objects."""

    def __init__(self, growth: Growth, classes: Classes) -> None:
        self._growth = growth
        self._classes = classes
        self._arguments = Arguments(growth.engine)
        self._seen: set[Class] = set()
        self._changing: dict[Class, bool] = {}
        self._are_any: bool | None = None

    def keep_told(self, class_: Class) -> None:
        """Keep what the body of ``class_`` binds to objects that change the class."""
        if class_ in self._seen:
            return
        self._seen.add(class_)
        if self._are_any is None:
            self._are_any = any(
                _TOLD in info.members
                for module in self._growth.running()
                for info in module.summary.classes
            )
        module = class_.module
        made = bool(self._growth.engine.metaclasses_of(class_))
        for index in class_.info.pieces:
            piece = module.summary.pieces[index]
            if piece.unit >= 0 and (
                (self._are_any and self._binds_one(class_, piece))
                or _makes_names(module.summary.units[piece.unit], piece)
                or (made and _only_names(module.summary.units[piece.unit], piece))
            ):
                demand = Demand.of(
                    self._growth.item_of_class(class_),
                    module,
                    ReferenceKind.WRITE,
                    "builds",
                    start_of(piece),
                )
                self._classes.keep_as_value(module, piece, demand)

    def _binds_one(self, class_: Class, piece: Piece) -> bool:
        engine = self._growth.engine
        if piece.kind not in ("assign", "def"):
            return False
        kinds = [
            engine.values[value]
            for name in piece.binds
            for value in engine.class_piece_values(class_, name, piece.index)
        ]
        return any(kind[0] == "I" and self._changes_owner(kind[1]) for kind in kinds)

    def _changes_owner(self, class_: Class) -> bool:
        known = self._changing.get(class_)
        if known is None:
            engine = self._growth.engine
            owner = engine.find_member(class_, _TOLD)
            kinds = [
                engine.values[value]
                for value in (engine.member_values(owner, _TOLD) if owner is not None else ())
            ]
            known = self._changing[class_] = any(
                kind[0] == "F"
                and len(kind[1].unit.params) > _OWNER
                and self._arguments.changes_parameter(kind[1], _OWNER)
                for kind in kinds
            )
        return known


def _only_names(unit: Unit, piece: Piece) -> bool:
    """Whether a statement does nothing but name things: the namespace may make them (``RED``)."""
    named = {s.GLOBAL, s.CLASSVAR}
    codes = {op[0] for op in unit.ops}
    return piece.kind == "expr" and not named.isdisjoint(codes) and codes <= {*named, s.SEQUENCE}


def _makes_names(unit: Unit, piece: Piece) -> bool:
    """Whether a statement of a class body may bind names there that it does not spell.

    What asks for the namespace to give something of it (``names = sorted(locals())``) does not.
    """
    return (
        bool(unit.flags & s.USES_LOCALS)
        and not (piece.kind in ("assign", "def") and piece.binds)
        and makes_names(unit, {})
    )

"""Which classes are read as lists of fields, and what their fields are.

``@dataclass``, ``attrs``, enums, models and whatever else a decorator, a metaclass or a base
outside the repo makes of a class body: nothing names the fields, and all of them count.
"""

from __future__ import annotations

from collections.abc import Iterator

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import RECORD_BASES
from depslice.callgraph.engine.values import Class
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.overrides import Overrides
from depslice.slicer.pieces import ops_of


def is_record(engine: Engine, class_: Class, overrides: Overrides) -> bool:
    """Whether something reads the class body as a list of fields."""
    order = engine.mro(class_)
    return any(k.info.decorators for k in order) or _is_read_when_made(engine, class_, overrides)


def _is_read_when_made(engine: Engine, class_: Class, overrides: Overrides) -> bool:
    """Whether a metaclass, or a base outside the repo, reads the body; also of a subclass."""
    return any(
        k.metaclasses
        or any(name == "metaclass" for name, _ in k.info.keywords)
        or not RECORD_BASES.isdisjoint(k.external_bases)
        or overrides.takes_all(k.external_bases)
        for k in engine.mro(class_)
    )


def fields_of(
    engine: Engine, class_: Class, overrides: Overrides
) -> Iterator[tuple[Module, Piece]]:
    """The statements of the class and its bases that are read as fields.

    ``class Meta:`` is read like a field, but not where fields are generated from annotations.
    """
    for k in engine.mro(class_):
        if not (
            k is class_
            or k.info.decorators
            or k.external_bases
            or _is_read_when_made(engine, k, overrides)
        ):
            continue
        annotated = _is_dataclass(engine, k)
        for index in k.info.pieces:
            piece = k.module.summary.pieces[index]
            if (piece.kind == "class" and not annotated) or (
                piece.kind == "assign" and (not annotated or _declares_field(k.module, piece))
            ):
                yield k.module, piece


def annotated_of(class_: Class) -> Iterator[Piece]:
    """The statements of the class body that annotate a name."""
    for index in class_.info.pieces:
        piece = class_.module.summary.pieces[index]
        if any(op[0] == s.DECLARE for op in ops_of(class_.module, piece)):
            yield piece


def _is_dataclass(engine: Engine, class_: Class) -> bool:
    """Whether only annotated names are fields (PEP 557)."""
    return any(
        dotted in ("dataclasses.dataclass", "dataclasses.dataclass.dataclass")
        for dotted in external_names(engine, class_)
    )


def external_names(engine: Engine, class_: Class) -> Iterator[str]:
    """What the class statement refers to outside the repo: dotted names."""
    definer = engine.function(class_.module, class_.info.unit)
    return (fact[1] for fact in engine.facts_of(definer) if fact[0] == f.EXTERNAL)


def _declares_field(module: Module, piece: Piece) -> bool:
    """Whether a class-level statement declares a dataclass field."""
    for op in ops_of(module, piece):
        if op[0] == s.DECLARE:
            base = op[2][1] if op[2][0] == s.T_SUBSCRIPT else op[2]
            return not (base[0] in (s.T_NAME, s.T_ATTR) and base[-1] == "ClassVar")
    return False

"""Questions about pieces, the statements of module and class scopes.

They are answered by the summary of one module alone: which piece stands in which, what a
piece defines, and which pieces define a symbol.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import FILLING
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Piece, Unit

NAMED: Final = {s.GLOBAL: 2, s.ATTR: 3}
"""Where an operation has the name that code reads, by itself or of something."""


def units_by_name(units: Iterable[Unit], named: Mapping[int, int]) -> dict[str, list[int]]:
    """The indices of ``units``, in order, by each name that operations have where ``named`` says."""
    found: dict[str, list[int]] = {}
    for unit in units:
        for name in {op[named[op[0]]] for op in unit.ops if op[0] in named}:
            found.setdefault(name, []).append(unit.index)
    return found


def start_of(piece: Piece) -> int:
    """The packed position at which the first line of ``piece`` begins."""
    return s.pack(piece.start, 0)


def enclosing_pieces(module: Module, piece: Piece) -> Iterator[Piece]:
    """The compound statements and classes around ``piece``, from the inside outwards."""
    parent = piece.parent
    while parent >= 0:
        holder = module.summary.pieces[parent]
        yield holder
        parent = holder.parent


def outer_piece(module: Module, piece: Piece) -> Piece:
    """``piece``, or the one whose function holds the class it stands in."""
    summary = module.summary
    while piece.owner >= 0:
        outermost = summary.classes[piece.owner]
        while outermost.owner >= 0:
            outermost = summary.classes[outermost.owner]
        if outermost.parent_function < 0:
            break
        piece = summary.pieces[summary.units[outermost.parent_function].piece]
    return piece


def holding_piece(module: Module, unit: int) -> Piece:
    """The piece of the module scope or of a module-level class that holds a unit."""
    summary = module.summary
    return outer_piece(module, summary.pieces[summary.units[unit].piece])


def units_of_piece(module: Module, index: int) -> list[int]:
    """The units that stand in one piece, the piece's own first (class members excluded)."""
    table = module.units_by_piece
    if table is None:
        table = {}
        for unit in module.summary.units:
            table.setdefault(holding_piece(module, unit.index).index, []).append(unit.index)
        module.units_by_piece = table
    return table.get(index, [])


def runs_on_import(piece: Piece) -> bool:
    """Whether importing its module executes it, unless a branch skips it."""
    return not piece.type_checking and not piece.script


def ops_of(module: Module, piece: Piece) -> list[Op]:
    """What ``piece`` does when it runs; nothing for one that has no unit."""
    return module.ops_of(piece)


def pieces_of_symbol(module: Module, qualname: str) -> list[Piece]:
    """The pieces that define ``qualname``; for a nested symbol, the piece that holds it."""
    summary = module.summary
    found = [
        piece
        for piece in summary.pieces
        if piece.kind not in ("import", "future")
        and any(_qualified(module, piece, name) == qualname for name in piece.binds)
        and outer_piece(module, piece) is piece
    ]
    return found or list(_holders_of_nested(module, qualname).values())


def _qualified(module: Module, piece: Piece, name: str) -> str:
    return name if piece.owner < 0 else f"{module.summary.classes[piece.owner].qualname}.{name}"


def _holders_of_nested(module: Module, qualname: str) -> dict[int, Piece]:
    """By index: what holds the functions, local classes and their members of that name."""
    units = [
        unit.index
        for unit in module.summary.units
        if unit.qualname == qualname and unit.kind != "piece"
    ]
    units += [
        info.parent_function
        for info in module.summary.classes
        if info.parent_function >= 0
        and (
            info.qualname == qualname
            or (info.qualname and qualname.startswith(info.qualname + "."))
        )
    ]
    holders = (holding_piece(module, unit) for unit in units)
    return {piece.index: piece for piece in holders}


def class_index(module: Module, piece: Piece) -> int:
    """The class that a ``class`` statement makes.

    :raises LookupError: the piece is no class statement.
    """
    for op in ops_of(module, piece):
        if op[0] == s.CLASS and module.summary.classes[op[2]].piece == piece.index:
            return int(op[2])
    raise LookupError(piece.path)


def needs_instance(module: Module, piece: Piece) -> bool:
    """Whether the member is a method or property, called on an instance."""
    return piece.kind == "def" and not _flags(module, piece) & (s.STATIC | s.CLASSMETHOD)


def is_abstract(module: Module, piece: Piece) -> bool:
    """Whether the piece is an abstract method."""
    return piece.kind == "def" and bool(_flags(module, piece) & s.ABSTRACT)


def is_decorated(module: Module, piece: Piece) -> bool:
    """Whether the piece is a function with a decorator that is none of Python's own."""
    return piece.kind == "def" and bool(_flags(module, piece) & s.DECORATED)


def is_property(module: Module, piece: Piece) -> bool:
    """Whether the piece is a property, which stands for data."""
    flags = s.PROPERTY | s.CACHED_PROPERTY
    return piece.kind == "def" and bool(_flags(module, piece) & flags)


def _flags(module: Module, piece: Piece) -> int:
    """The flags of the function that a ``def`` statement makes."""
    for op in ops_of(module, piece):
        if op[0] == s.FUNCTION:
            return module.summary.units[op[2]].flags
    raise LookupError(piece.path)


def strings_of(ops: Sequence[Op]) -> Iterator[str]:
    """The string constants that the operations hold, keys of dictionaries included."""
    for op in ops:
        if op[0] == s.STRING:
            yield op[2]
        elif op[0] == s.MAPPING:
            yield from (key for key, _, _ in op[2] if key is not None)


def changes_attribute(ops: Sequence[Op], name: str, *, but_on: Container[int] = ()) -> bool:
    """Whether ``receiver.name`` is stored or deleted, or what it holds is changed.

    Stores on the registers ``but_on`` do not count.
    """
    holders = {op[1] for op in ops if op[0] == s.ATTR and op[3] == name}
    methods = {op[1] for op in ops if op[0] == s.ATTR and op[2] in holders}
    return any(
        (op[0] in (s.SETATTR, s.DELETE_ATTR) and op[2] == name and op[1] not in but_on)
        or (op[0] in (s.SETSUB, s.DELETE_SUB) and op[1] in holders)
        or (op[0] == s.CALL and op[2] in methods)
        for op in ops
    )


def stores_on_type(ops: Sequence[Op], name: str) -> bool:
    """Whether a method stores ``name`` on its instance's class: ``type(self).name = value``."""
    asking = {op[1] for op in ops if op[0] == s.GLOBAL and op[2] == "type"}
    classes = {
        op[1]
        for op in ops
        if (op[0] == s.ATTR and op[2] == 0 and op[3] == "__class__")
        or (op[0] == s.CALL and op[2] in asking and tuple(op[3]) == (0,))
    }
    return any(op[0] == s.SETATTR and op[2] == name and op[1] in classes for op in ops)


def fills_attribute(ops: Sequence[Op], name: str) -> bool:
    """Whether something is put into what ``receiver.name`` holds."""
    holders = {op[1] for op in ops if op[0] == s.ATTR and op[3] == name}
    putting = {op[1] for op in ops if op[0] == s.ATTR and op[2] in holders and op[3] in FILLING}
    return any(
        (op[0] == s.SETSUB and op[1] in holders) or (op[0] == s.CALL and op[2] in putting)
        for op in ops
    )


def binds_constant(module: Module, piece: Piece, name: str) -> bool:
    """Whether all that ``piece`` binds ``name`` to is constants, which nothing changes.

    ``None``, numbers, texts; what nobody has given yet is not told from them by its values.
    """
    constants = {*range(s.BOOL, s.UNBOUND)}
    bound = False
    for op in ops_of(module, piece):
        if op[0] in (s.TOLD, s.STRING) or (op[0] == s.DECLARE and op[3] in constants):
            constants.add(op[1])
        elif op[0] == s.BIND and op[1] == name:
            bound = op[2] in constants
            if not bound:
                return False
    return bound

"""What one file says, as plain data: the value that lowering gives and the cache stores.

A :class:`FileSummary` depends on the bytes of its file alone. It holds the
*pieces* of the file (every statement of the module scope and of class scopes),
and for each piece and each function a :class:`Unit`: a straight list of small
operations over numbered registers, in static-single-assignment style, from
which :mod:`depslice.callgraph.engine` computes values and references without
looking at the syntax tree again.

An operation is a tuple that starts with its opcode and, where it has a result,
the register it defines. ``pos`` is ``line << 12 | column`` (see :func:`pack`).
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter, is_
from typing import Any, Final, TypeAlias

Register: TypeAlias = int
"""A register number of one unit; negative ones are the shared constants below."""
Position: TypeAlias = int
Op: TypeAlias = tuple[Any, ...]
TypeExpr: TypeAlias = tuple[Any, ...]
"""An annotation: ``(T_NAME, name)``, ``(T_ATTR, base, attr)``, ``(T_SUBSCRIPT, base,
args)``, ``(T_UNION, alternatives)``, ``(T_LIST, items)``, ``(T_NONE,)`` or
``(T_UNKNOWN,)``; names are resolved in the scope of the unit that holds it."""

FORMAT: Final = 94
"""Raised whenever lowering or this layout changes; older cache entries are ignored."""

# Shared constant registers: results no operation needs to compute.
UNBOUND: Final = -1
NONE: Final = -2
INT: Final = -3
STR: Final = -4
BYTES: Final = -5
FLOAT: Final = -6
BOOL: Final = -7
OPAQUE: Final = -8  # a value of no interest (Ellipsis, complex)
SLICE: Final = -9
CONSTANT_TYPES: Final = {
    NONE: "None",
    INT: "int",
    STR: "str",
    BYTES: "bytes",
    FLOAT: "float",
    BOOL: "bool",
    SLICE: "slice",
}

Stored: TypeAlias = "tuple[Register | tuple[int, int], tuple[str, ...]]"
"""What is known of an attribute that is read: see :class:`Unit`."""

T_NAME: Final = 0
T_ATTR: Final = 1
T_SUBSCRIPT: Final = 2
T_UNION: Final = 3
T_LIST: Final = 4
T_NONE: Final = 5
T_UNKNOWN: Final = 6

# Opcodes, with their operands. Grouped by what they read.
GLOBAL: Final = 0  # dst name versions|None pos   module-scope (or builtin) name
ATTR: Final = 1  # dst obj name pos
CALL: Final = (
    2  # dst fn args kwargs stars pos   kwargs: ((name, reg)...), stars: (regs of *a, regs of **k,
    # how many arguments stand before each star)
)
FREE: Final = 3  # dst owner_unit name pos        variable of an enclosing function
CLASSVAR: Final = 4  # dst class_index name versions pos   class-scope name, read in the class body
STRING: Final = 5  # dst text
PHI: Final = 6  # dst [srcs] [names]          names: of attributes; unless some are stored later, only the first
SETATTR: Final = 7  # obj name src pos
SUB: Final = 8  # dst obj key pos
SETSUB: Final = 9  # obj key src pos
BINARY: Final = 10  # dst left right dunder pos
COMPARE: Final = 11  # left right dunder pos
TRUTH: Final = 12  # src pos
UNARY: Final = 13  # dst src dunder pos
FORMAT_VALUE: Final = (
    14  # src dunder pos          dunder: or a method that a pattern asks, or BY_ERROR
)
ITER: Final = 15  # dst src pos is_async
ITEM: Final = 16  # dst src index pos             unpacking; behind a star, from the end
ENTER: Final = 17  # dst src pos is_async
AWAIT: Final = 18  # dst src pos
YIELD: Final = 19  # dst src                      dst: what is sent
YIELD_FROM: Final = 20  # dst src pos
RETURN: Final = 21  # src [guards]                 guards: what a test has shown of parameters
FUNCTION: Final = 22  # dst unit defaults          defaults: ((param index, reg)...)
DECORATE: Final = 23  # dst decorator src below pos     below: what makes a property of it
CLASS: Final = 24  # dst class_index bases keywords pos
SEQUENCE: Final = (
    25  # dst kind elements starred many   many: each element stands for any number, or how many
    # targets are before and behind the star that collects the rest
)
MAPPING: Final = (
    26  # dst items unpacked before   items: ((key text|None, key reg, value reg)...); before: how
    # many of them stand before each that is unpacked
)
IMPORT: Final = 27  # dst level module name|None pos   (see import_entries)
NARROW: Final = (
    28  # dst src cls positive         isinstance, or not, or SUBCLASS, EXACT, NOT_EXACT, GROUPED
)
BIND: Final = 29  # name src                       module or class scope, by the piece's owner
SETGLOBAL: Final = 30  # name src                  `global x` in a function
SETFREE: Final = 31  # owner_unit name src          `nonlocal x`
ANNOTATION: Final = 32  # typeexpr pos eager|None    None: linters do not see it
DECLARE: Final = 33  # dst typeexpr src|None        `x: T = src`
DELETE_SUB: Final = 34  # obj key pos
SUPER: Final = 35  # dst class_index first_param pos
LAMBDA: Final = 36  # same as FUNCTION
CONTAINS: Final = 37  # container item pos
RAISE: Final = 38  # src pos
TEXT: Final = 39  # dst pieces added pos         pieces: (text|reg, ...); added: by `+`, or -1
CLASS_MATCH: Final = 40  # dst subject cls pos
DELETE_ATTR: Final = 41  # obj name pos
NARROW_TEXT: Final = 42  # dst src prefix suffix      src.startswith(prefix), src.endswith(suffix)
MATCH_ARG: Final = 43  # dst matched cls index pos
BY_NAME: Final = (
    44  # dst made obj name access pos   getattr, setattr … by a text from elsewhere, perhaps
)
COMPARED: Final = 45  # dst left right dunder pos   a comparison that is no test: a value
TOLD: Final = 46  # dst type text               a number or a slice that stands there: which one
AMONG: Final = (
    47  # dst src names listed by ends pos   what goes with names, of all that was listed (by these
    # functions); or with those that have none of these ends: ((prefix, suffix)...)
)
THIS_CLASS: Final = 48  # dst class_index pos     `__class__` in a method

SUBCLASS: Final = 2
"""What ``issubclass`` has shown, where ``isinstance`` has shown ``True`` or ``False``."""
EXACT: Final = 3
"""What ``type(x) is A`` has shown: none of its subclasses."""
NOT_EXACT: Final = 4
"""What it has shown where it does not hold: a subclass, perhaps."""
GROUPED: Final = 5
"""What ``except* A as group`` has: a group of such exceptions."""
BY_ERROR: Final = "by the error"
"""What stands for a dunder where an ``assert`` has a message: it is shown if the error is."""
LONGEST_NAME: Final = 80
"""Longer texts name no attribute, and no key worth following."""
LONGEST_TABLE: Final = 64
"""Of a longer display of constants no key is known."""

POSITION_AT: Final = {
    GLOBAL: 4,
    ATTR: 4,
    CALL: 6,
    FREE: 4,
    CLASSVAR: 5,
    SETATTR: 4,
    SUB: 4,
    SETSUB: 4,
    BINARY: 5,
    COMPARE: 4,
    COMPARED: 5,
    TRUTH: 2,
    UNARY: 4,
    FORMAT_VALUE: 3,
    ITER: 3,
    ITEM: 4,
    ENTER: 3,
    AWAIT: 3,
    YIELD_FROM: 3,
    DECORATE: 5,
    CLASS: 5,
    IMPORT: 5,
    ANNOTATION: 2,
    DELETE_SUB: 3,
    BY_NAME: 6,
    SUPER: 4,
    THIS_CLASS: 3,
    CONTAINS: 3,
    RAISE: 2,
    CLASS_MATCH: 4,
    DELETE_ATTR: 3,
    MATCH_ARG: 5,
    TEXT: 4,
    AMONG: 7,
}
"""Which operand is the position, by opcode; the other operations have none."""


def number_key(number: int) -> str:
    """What stands for a number among the keys of a dict."""
    return f"number {number}"


def pack(line: int, column: int) -> Position:
    """One int for a position; columns beyond 4095 are clipped (generated code)."""
    return line << 12 | (min(4095, column))


def unpack(pos: Position) -> tuple[int, int]:
    """``(line, column)`` of a packed position."""
    return pos >> 12, pos & 4095


@dataclass(slots=True, eq=False)
class Unit:
    """Code that is evaluated as a whole: a function body, or what one piece does when it runs.

    ``kind`` is ``"function"``, ``"lambda"`` or ``"piece"``. ``params`` are
    ``(name, kind, annotation, has_default)`` with kind one of ``"po"``, ``"pk"``,
    ``"va"``, ``"ko"``, ``"kw"``; parameter *i* is register *i*.
    ``captured`` are the locals that nested units read: name -> all registers that hold it.
    ``globals_written`` are the module-scope names that the unit rebinds or mutates;
    ``self_stores`` the attributes it assigns on its first parameter; ``stores`` those it
    assigns on anything else. ``standing``: what surely stands in an attribute, or at a place of a
    list, where an operation reads it, over a whole program; by the operation: (the register that was
    stored, or the unit and operation of the module that stored it; other attributes of the object
    touched since). ``stored_for``: the operations by which others know.
    """

    index: int
    kind: str
    qualname: str
    parent: int  # enclosing function unit, or -1
    owner: int  # class index whose scope defines it, or -1
    piece: int  # the piece it belongs to
    line: int
    end_line: int
    params: tuple[tuple[str, str, TypeExpr | None, bool], ...]
    returns: TypeExpr | None
    flags: int
    registers: int
    ops: list[Op]
    captured: dict[str, tuple[int, ...]]
    globals_written: tuple[str, ...]
    self_stores: tuple[str, ...]
    stores: tuple[str, ...]
    name_line: int  # the line of `def`, decorators excluded
    docstring: bool
    standing: dict[int, Stored] | None
    stored_for: tuple[int, ...]


# Flags of a unit.
GENERATOR: Final = 1
ASYNC: Final = 2
STATIC: Final = 4
CLASSMETHOD: Final = 8
PROPERTY: Final = 16
ABSTRACT: Final = 32
OVERLOAD: Final = 64
CACHED_PROPERTY: Final = 128
HAS_LOOP: Final = 256
DECORATED: Final = 512  # by something other than the decorators the flags above stand for
USES_LOCALS: Final = 1024  # calls exec, eval, globals or locals
STORES_ANY: Final = 4096  # may store an attribute under a name that it computes
UNIMPLEMENTED: Final = 2048  # does nothing but raise NotImplementedError
REFUSES: Final = 8192  # never returns: whoever calls it gets an error


@dataclass(slots=True, eq=False)
class Piece:
    """A statement of the module scope or of a class scope.

    ``kind``: ``"def"``, ``"class"``, ``"assign"``, ``"import"``, ``"expr"``, ``"doc"``,
    ``"future"``, ``"jump"`` (raise, break, continue), ``"other"``, and the compound ones
    ``"if"``, ``"loop"``, ``"with"``, ``"try"``, ``"match"``. ``path`` as in
    :data:`depslice.slicer.cut.StatementPath`. ``binds`` are the names it binds in its
    scope, ``mutates`` the names of its scope whose objects it changes
    (``X.append(…)``, ``X[k] = …``, ``@X.register``).
    """

    index: int
    path: tuple[str | int, ...]
    kind: str
    parent: int  # enclosing compound or class piece, or -1
    unit: int  # the unit that runs when it runs, or -1
    owner: int  # class index, or -1 for the module scope
    start: int
    end: int
    binds: tuple[str, ...]
    mutates: tuple[str, ...]
    conditional: bool
    imports: tuple[tuple[str, int, str, str | None], ...]  # (bound, level, module, name|None)
    type_checking: bool
    script: bool  # under `if __name__ == "__main__"`: importing the module does not run it
    name_line: int


@dataclass(slots=True, eq=False)
class ClassInfo:
    """A class statement. ``members``: name -> pieces that bind it, in order.

    ``final``: of names that several pieces bind, those that count once the body has run, where
    these are fewer; none, where the module stores something else before anybody can look.
    """

    index: int
    qualname: str
    piece: int  # -1 when it stands in a function
    unit: int  # the unit that executes the class statement
    parent_function: int
    owner: int  # enclosing class, or -1
    bases: tuple[int, ...]  # registers of `unit`
    keywords: tuple[tuple[str, int], ...]
    decorators: tuple[int, ...]
    members: dict[str, tuple[int, ...]]
    line: int
    end_line: int
    pieces: tuple[int, ...]
    name_line: int
    self_stores: dict[str, tuple[int, ...]]  # attribute -> method units that assign it
    final: dict[str, tuple[int, ...]]


@dataclass(slots=True, eq=False)
class FileSummary:
    """One file. ``scope``: module-scope name -> pieces that bind it, in order;
    ``final``: name -> the bindings that can be current once the module has run;
    ``mutations``: name -> pieces that change the object it names.
    ``deleted``: names that the module no longer has once it has run (``del name``).
    ``dunder_all`` is ``None`` where ``__all__`` is missing or not literal.
    """

    pieces: list[Piece]
    units: list[Unit]
    classes: list[ClassInfo]
    scope: dict[str, tuple[int, ...]]
    final: dict[str, tuple[int, ...]]
    mutations: dict[str, tuple[int, ...]]
    deleted: tuple[str, ...]
    dunder_all: tuple[str, ...] | None
    all_is_open: bool  # something that is no literal was added to `__all__`
    stars: tuple[int, ...]  # pieces that are star imports
    future_annotations: bool
    global_writers: dict[str, tuple[int, ...]]  # name -> function units that rebind or mutate it
    attribute_writers: dict[str, tuple[int, ...]]  # attr -> units that store it on something
    lines: int
    dynamic: tuple[tuple[int, str], ...]  # (pos, "exec"/"eval"/"star-import")


def share_operations(units: Iterable[Unit], known: dict[Any, Any]) -> None:
    """Have what the operations of ``units`` hold be one object wherever it is equal.

    Positions, names and lists of registers are: what is ``known`` may come of other files. The
    operations of a large program take a third less room so.
    """
    for unit in units:
        unit.ops = [tuple(_shared_parts(op, known)) for op in unit.ops]


def _shared_parts(parts: Iterable[Any], known: dict[Any, Any]) -> list[Any]:
    found: list[Any] = []
    for part in parts:
        kind = type(part)
        if kind is int or kind is str:
            found.append(known.setdefault(part, part))
        elif kind is tuple or kind is list:
            made = tuple(_shared_parts(part, known))
            one = known.setdefault(made, made)
            # `True` is equal to 1: what was found may be of other types.
            found.append(one if all(map(is_, one, made)) else made)
        else:
            found.append(part)
    return found


_unit_row = attrgetter(*(f.name for f in fields(Unit)))
_piece_row = attrgetter(*(f.name for f in fields(Piece)))
_class_row = attrgetter(*(f.name for f in fields(ClassInfo)))
_FILE = tuple(f.name for f in fields(FileSummary))


def dump_summary(summary: FileSummary) -> bytes:
    """Serialise for the cache (trusted storage: see :mod:`depslice.callgraph.cache`)."""
    plain = {name: getattr(summary, name) for name in _FILE}
    plain["pieces"] = [*map(_piece_row, summary.pieces)]
    plain["units"] = [*map(_unit_row, summary.units)]
    plain["classes"] = [*map(_class_row, summary.classes)]
    return marshal.dumps(plain)


def load_summary(data: bytes) -> FileSummary:
    """The inverse of :func:`dump_summary`."""
    plain = marshal.loads(data)
    plain["pieces"] = [Piece(*row) for row in plain["pieces"]]
    plain["units"] = [Unit(*row) for row in plain["units"]]
    plain["classes"] = [ClassInfo(*row) for row in plain["classes"]]
    return FileSummary(**plain)

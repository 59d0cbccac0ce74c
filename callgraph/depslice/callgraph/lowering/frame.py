"""The place code is lowered into: registers, operations, and the scope they run in."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from depslice.callgraph.lowering.standing import Line
from depslice.callgraph.summary import PHI, Op, Register, Stored

Listed: TypeAlias = tuple[Register, tuple[Register, ...]]
"""What has been listed by name, and the functions that did."""
Paired: TypeAlias = tuple[str, Listed, frozenset[Register]]
"""The variable that has what goes with a name, what was listed, and where the variable has it."""

Environment = dict[str, Register]
_ANY = "*"
_GETTING = "getattr"
_IMPORTING = frozenset({"__import__", "import_module"})
_BY_NAME = _IMPORTING | {_GETTING}
_WITH_NAMES = frozenset({"__dict__", "__setattr__", "__delattr__"})


class ClassScope:
    """The names of one class body while it is lowered: name -> pieces current so far."""

    __slots__ = ("index", "self_stores", "versions")

    def __init__(self, index: int) -> None:
        self.index = index
        self.versions: dict[str, tuple[int, ...]] = {}
        self.self_stores: dict[str, list[int]] = {}


class Frame:
    """One unit under construction.

    ``env`` maps local names to the register that holds them now; ``history``
    to every register that ever did. ``texts`` are the registers that hold just the texts that
    stand in the code. In a piece, only comprehension variables
    are local: the others live in the module or class scope.

    ``env`` also has what tests have shown of other places (``places`` says that there are any):
    of ``a.b`` under "7.b" where register 7 holds ``a``, and of a name that is not local under
    ".name". Where two paths meet, that is known only if it is known on both. ``shown`` tells when:
    how many of the operations that may run other code (``turns``) came before.
    """

    __slots__ = (
        "asks_by_name",
        "body",
        "class_scope",
        "env",
        "first_param",
        "flags",
        "globals",
        "globals_written",
        "guards",
        "history",
        "inner",
        "is_function",
        "line",
        "locals",
        "loops",
        "nonlocals",
        "ops",
        "paired",
        "parameters",
        "parent",
        "piece",
        "places",
        "rebound",
        "registers",
        "seen",
        "self_stores",
        "shown",
        "standing",
        "stored",
        "stored_for",
        "stores",
        "texts",
        "turns",
        "unit",
        "walrus",
    )

    def __init__(
        self,
        *,
        unit: int,
        parent: Frame | None,
        piece: int,
        class_scope: ClassScope | None,
        is_function: bool,
    ) -> None:
        self.unit = unit
        self.parent = parent
        self.texts: set[Register] = set()
        # Names that a loop lists beside what they name: the variable of that, what is listed, and
        # the registers that have held what goes with them.
        self.paired: dict[Register, Paired] = {}
        self.piece = piece
        self.class_scope = class_scope  # of a piece: the class it runs in; of a method: its class
        self.is_function = is_function
        self.body: list[ast.stmt] = []  # of a function
        self.ops: list[Op] = []
        self.registers = 0
        self.parameters = 0  # the first registers hold them
        self.env: Environment = {}
        self.history: dict[str, list[Register]] = {}
        # By the name that a nested function reads: how many values it had had when the first of
        # them was made, and the registers that held it when any was.
        self.seen: dict[str, tuple[int, set[Register]]] = {}
        self.loops = 0  # around the statement at work
        self.locals: set[str] = set()
        self.inner: set[str] = set()  # comprehension variables: visible to nested units only
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.places = False
        self.shown: dict[Register, int] = {}
        self.turns = 0
        self.walrus: list[tuple[str, Register]] = []  # what `:=` has bound, in order
        self.stored: frozenset[str] | None = None
        self.asks_by_name: frozenset[str] | None = None
        self.rebound: set[str] = set()  # locals that a nested function rebinds
        self.flags = 0
        self.first_param = ""
        # What tests have shown of parameters here: (index, "given" or "callable", whether).
        self.guards: tuple[tuple[int, str, bool], ...] = ()
        self.globals_written: set[str] = set()
        self.self_stores: set[str] = set()
        self.stores: set[str] = set()
        self.standing: dict[int, Stored] = {}
        self.line = Line(self.standing)
        self.stored_for: list[int] = []

    def new(self) -> Register:
        """A fresh register."""
        register = self.registers
        self.registers = register + 1
        return register

    def set_local(self, name: str, register: Register) -> None:
        """The name is now held by ``register``."""
        self.env[name] = register
        versions = self.history.get(name)
        if versions is None:
            self.history[name] = [register]
        else:
            versions.append(register)

    def show(self, name: str) -> None:
        """A nested function made here reads ``name``: what it has from now on; in a loop, all it had."""
        count, held = self.seen.get(name, (len(self.history.get(name, ())), set()))
        if self.loops or name in self.inner:
            count = 0
        if name in self.env:
            held.add(self.env[name])
        self.seen[name] = count, held

    def shown_to_nested(self, name: str) -> tuple[Register, ...]:
        """The registers of a name that nested functions may see: not what had been replaced before."""
        count, held = self.seen[name]
        return tuple(dict.fromkeys([*sorted(held), *self.history.get(name, ())[count:]]))

    def phi(self, sources: list[Register], names: tuple[str, ...] = ()) -> Register:
        """A register that holds what any of ``sources`` holds.

        ``names``: of attributes; unless some are stored later, the first of the sources alone.
        """
        register = self.new()
        self.ops.append((PHI, register, sources, names) if names else (PHI, register, sources))
        return register

    def merge(self, left: Environment, right: Environment) -> None:
        """Continue after two paths that meet here."""
        merged = dict(left)
        for name, register in right.items():
            other = merged.get(name)
            if other is None:
                if "." not in name:
                    merged[name] = register
            elif other != register:
                merged[name] = self.phi([other, register])
        if self.places:
            merged = {n: register for n, register in merged.items() if "." not in n or n in right}
        self.env = merged

    def may_store(self, names: AbstractSet[str]) -> bool:
        """Whether the function, or one in it, stores or deletes an attribute of such a name.

        ``setattr(x, name, value)`` and whoever has the namespace of an object may store any.
        """
        if self.stored is None:
            nodes = [node for statement in self.body for node in ast.walk(statement)]
            self.stored = frozenset(filter(None, map(_stored_by, nodes)))
        return _ANY in self.stored or not names.isdisjoint(self.stored)

    def may_name(self, register: Register) -> bool:
        """Whether it may be a part of a name: a parameter for ``getattr``; of a module, any value."""
        if register < 0:
            return False
        if self.asks_by_name is None:
            nodes = (node for statement in self.body for node in ast.walk(statement))
            named = (
                node.id if type(node) is ast.Name else getattr(node, "attr", "") for node in nodes
            )
            self.asks_by_name = _BY_NAME.intersection(named)
        if not self.asks_by_name.isdisjoint(_IMPORTING):
            return True
        return register < self.parameters and _GETTING in self.asks_by_name

    def owner_of(self, name: str) -> Frame | None:
        """The enclosing function whose local ``name`` is, if any (class scopes are skipped)."""
        frame = self.parent
        while frame is not None:
            if name in frame.inner:
                return frame
            if frame.is_function:
                if name in frame.locals:
                    return frame
                if name in frame.globals:
                    return None
            frame = frame.parent
        return None


def _stored_by(node: ast.AST) -> str:
    """The name of the attribute that ``node`` stores, ``_ANY``, or nothing."""
    if type(node) is ast.Attribute:
        if node.attr in _WITH_NAMES:
            return _ANY
        return "" if type(node.ctx) is ast.Load else node.attr
    if type(node) is ast.Call and type(node.func) is ast.Name:
        if node.func.id == "vars":
            return _ANY
        if node.func.id in ("setattr", "delattr"):
            name = node.args[1] if len(node.args) > 1 else None
            return str(name.value) if type(name) is ast.Constant else _ANY
    return ""

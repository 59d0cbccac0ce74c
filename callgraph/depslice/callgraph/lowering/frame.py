"""The place code is lowered into: registers, operations, and the scope they run in."""

from __future__ import annotations

import ast

from depslice.callgraph.summary import PHI, Op, Register

Environment = dict[str, Register]


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
    ".name". Where two paths meet, that is known only if it is known on both.
    """

    __slots__ = (
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
        "locals",
        "nonlocals",
        "ops",
        "parameters",
        "parent",
        "piece",
        "places",
        "rebound",
        "registers",
        "self_stores",
        "stored",
        "stores",
        "texts",
        "unit",
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
        self.piece = piece
        self.class_scope = class_scope  # of a piece: the class it runs in; of a method: its class
        self.is_function = is_function
        self.body: list[ast.stmt] = []  # of a function
        self.ops: list[Op] = []
        self.registers = 0
        self.parameters = 0  # the first registers hold them
        self.env: Environment = {}
        self.history: dict[str, list[Register]] = {}
        self.locals: set[str] = set()
        self.inner: set[str] = set()  # comprehension variables: visible to nested units only
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.places = False
        self.stored: frozenset[str] | None = None
        self.rebound: set[str] = set()  # locals that a nested function rebinds
        self.flags = 0
        self.first_param = ""
        # What tests have shown of parameters here: (index, "given" or "callable", whether).
        self.guards: tuple[tuple[int, str, bool], ...] = ()
        self.globals_written: set[str] = set()
        self.self_stores: set[str] = set()
        self.stores: set[str] = set()

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

    def phi(self, sources: list[Register]) -> Register:
        """A register that holds what any of ``sources`` holds."""
        register = self.new()
        self.ops.append((PHI, register, sources))
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

    def stored_attributes(self) -> frozenset[str]:
        """The names of the attributes that the function, or one in it, stores or deletes."""
        if self.stored is None:
            self.stored = frozenset(
                node.attr
                for statement in self.body
                for node in ast.walk(statement)
                if type(node) is ast.Attribute and type(node.ctx) is not ast.Load
            )
        return self.stored

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

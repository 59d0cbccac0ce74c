"""State that all parts of the engine share, and their common small operations."""

from __future__ import annotations

from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.parts import RETURNS
from depslice.callgraph.engine.values import EMPTY, Cell, Class, Function, Value, Values
from depslice.callgraph.program import Module, Program

_WIDEST: Final = 10
_WIDEST_OPEN: Final = 12
_LONGEST_PATH: Final = 3


class EngineState:
    """Cells, interned values, and the worklist."""

    def __init__(self, program: Program, *, whole: bool) -> None:
        self.program = program
        self.whole = whole
        self.widest = _WIDEST if whole else _WIDEST_OPEN
        self.values: list[Value] = []
        self._ids: dict[Value, int] = {}
        self.queue: dict[Function, None] = {}
        self.current: Function | None = None
        self.facts: list[Fact] = []
        self.called: set[Function] = set()
        self._returning_self: dict[Function, bool] = {}
        self._getters: dict[tuple[str, int, str], Function] = {}
        self.keys_of: dict[int, dict[str, None]] = {}  # known keys of containers
        self.lengths: dict[int, int | None] = {}  # of sequences with known places; None: unknown
        self.registers: list[Values] = []
        self._functions: dict[tuple[str, int], Function] = {}
        self._classes: dict[tuple[str, int], Class] = {}
        self._cells: dict[tuple[object, ...], Cell] = {}
        self._serial = 0
        self._stable: dict[tuple[str, str], Values | None] = {}
        self._resolving: set[tuple[str, str]] = set()
        self.unknown = self.single(("U", "unknown"))
        self.unknown_id = self.intern(("U", "unknown"))
        self.constants: dict[int, Values] = {
            register: self.single(("XI", f"builtins.{name}"))
            for register, name in s.CONSTANT_TYPES.items()
        }
        self.constants[s.NONE] = EMPTY  # None has no attribute worth following
        self.constants[s.OPAQUE] = self.single(("XI", "builtins.object"))
        self.constants[s.UNBOUND] = EMPTY

    # --- values

    def intern(self, value: Value) -> int:
        """The id of ``value``."""
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self.values)
            self.values.append(value)
        return found

    def single(self, value: Value) -> frozenset[int]:
        """The set of just ``value``."""
        return frozenset((self.intern(value),))

    def derive(self, tag: str, source: int, *rest: object) -> frozenset[int]:
        """The attribute, element or result of an open value: open too, but traceable.

        Only a slice asks where open values come from (:mod:`depslice.slicer.origins`); in
        a whole program what callers pass is there already.
        """
        kind = self.values[source]
        if self.whole or kind[0] == "U":
            return self.unknown
        depth = 1
        while kind[0] in ("A", "E", "R"):
            depth += 1
            kind = self.values[kind[1]]
        if depth > _LONGEST_PATH:
            return self.unknown
        return self.single((tag, source, *rest))

    def note_unknown(self, name: str, pos: int, source: int, *, is_call: bool = False) -> None:
        """An attribute of an open value is used."""
        self.facts.append((f.UNKNOWN, name, pos, is_call, source))

    def note_protocol(self, dunder: str, pos: int, source: int) -> None:
        """A special method of an open value may run."""
        self.facts.append((f.PROTOCOL, dunder, pos, source))

    # --- objects

    def function(self, module: Module, index: int) -> Function:
        """The unit ``index`` of ``module`` at work."""
        key = (module.name, index)
        found = self._functions.get(key)
        if found is None:
            self._serial += 1
            found = Function(module, module.summary.units[index], self._serial)
            self._functions[key] = found
        return found

    def class_(self, module: Module, index: int) -> Class:
        """The class ``index`` of ``module`` at work."""
        key = (module.name, index)
        found = self._classes.get(key)
        if found is None:
            self._serial += 1
            found = Class(module, module.summary.classes[index], self._serial)
            self._classes[key] = found
        return found

    # --- cells

    def cell(self, *key: object) -> Cell:
        """The cell of ``key``."""
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = Cell()
        return found

    def variable_cell(self, module: Module, name: str, piece: int) -> Cell:
        """What ``piece`` binds ``name`` to in the module scope (-1: what functions do)."""
        return self.cell("v", module.name, name, piece)

    def free_cell(self, function: Function, name: str) -> Cell:
        """A local of ``function`` that nested units read."""
        return self.cell("f", function, name)

    def read(self, cell: Cell) -> Values:
        """The values of ``cell``; the current unit depends on it from now on."""
        if self.current is not None:
            cell.readers[self.current] = None
        return cell.values

    def write(self, cell: Cell, values: Values) -> None:
        """Add ``values``; whoever has read the cell is evaluated again if it grew."""
        known = cell.values
        if values <= known:
            return
        if len(known) >= self.widest:
            return
        room = self.widest - len(known)
        if len(values) > room:
            values = frozenset(sorted(set(values) - known)[:room]) | self.unknown
        known |= values
        for reader in cell.readers:
            self.enqueue(reader)

    def enqueue(self, function: Function) -> None:
        """Evaluate ``function`` (again) later."""
        self.queue[function] = None

    # --- implemented by Engine

    def ensure(self, function: Function, wanted: int = RETURNS) -> None:
        """Have ``function`` evaluated at least once, as far as ``wanted`` says."""
        raise NotImplementedError

"""What an attribute surely has where it is read, over a whole program.

Lowering tells where the attribute of the same object is read on a straight line behind the store
(:mod:`depslice.callgraph.lowering.standing`). Whether it then has what was stored depends on what the
object is, and on who else stores such an attribute.
"""

from __future__ import annotations

from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.library import INERT_BASES
from depslice.callgraph.engine.probing import Probing
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Function, Value, Values
from depslice.callgraph.program import Module

_RUNNING: Final = s.STORES_ANY | s.USES_LOCALS
_GETTERS: Final = s.PROPERTY | s.CACHED_PROPERTY | s.DECORATED
_ASKED: Final = ("__getattribute__", "__setattr__")
_THREADS: Final = frozenset({"_thread", "concurrent", "multiprocessing", "threading"})


class Standing(Probing):
    """Strong updates of attributes."""

    def standing(self, function: Function, index: int, receiver: Values, read: Values) -> Values:
        """What operation ``index`` reads of ``receiver``, where without more it may be ``read``."""
        unit = function.unit
        assert unit.standing is not None
        source, name, touched = unit.standing[index]
        op = unit.ops[index]
        attribute = op[3] if op[0] == s.ATTR else ""
        if isinstance(source, tuple):
            stored = self.read(self.cell("stands", function.module.name, *source))
        else:
            stored = function.registers[source]
        if attribute and not receiver:
            return read
        if not stored and not self.read(self.cell("settled")):
            return EMPTY  # it is not known yet
        if not stored or any(self.values[value][0] in OPEN for value in stored):
            return read
        if not attribute:
            return stored if touched is not None or self._is_ours(function, name) else read
        if touched is None and not self._is_stored_here_alone(function, attribute, name):
            return read
        if (
            touched is not None
            and self._has_threads()
            and self._is_stored_elsewhere(function, attribute)
        ):
            return read
        for value in receiver:
            kind = self.values[value]
            if not all(self._is_plain(kind, each) for each in (attribute, *(touched or ()))):
                return read
            if kind[0] == "C" and not all(map(self._is_no_getter, stored)):
                return read
        return stored

    def _is_stored_here_alone(self, function: Function, attribute: str, holder: str) -> bool:
        """Whether nothing that runs in between stores there, or binds the name of the object."""
        if self.stores_any is None:
            self.stores_any = any(each.unit.flags & _RUNNING for each in self.known_functions)
        if self.stores_any:
            return False
        module = function.module
        return not any(
            each.module is not module or each.unit.kind != "piece" or each.unit.owner >= 0
            for name in (attribute, holder)
            for each in self._storing_units(name)
        )

    def _is_ours(self, function: Function, name: str) -> bool:
        """Whether a list that a variable of the module has is known to its statements alone."""
        if self.imported_modules is None:
            self.imported_modules = set()
            for each in self.known_functions:
                for op in each.unit.ops:
                    if op[0] == s.IMPORT:
                        self._note_import(each.module, *op[2:5])
            for module in {each.module for each in self.known_functions}:
                for piece in module.summary.pieces:
                    for _, level, target, item in piece.imports:
                        self._note_import(module, level, target, item)
        own = function.module.name not in self.imported_modules
        return own and self._is_stored_here_alone(function, name, name)

    def _note_import(self, module: Module, level: int, target: str, item: str | None) -> None:
        assert self.imported_modules is not None
        found = self.program.import_target(module, level, target)
        self.imported_modules.update((str(found), f"{found}.{item}"))

    def _is_stored_elsewhere(self, function: Function, attribute: str) -> bool:
        """Whether another thread may store such an attribute in between."""
        return any(each is not function for each in self._storing_units(attribute))

    def _has_threads(self) -> bool:
        """Whether the program imports what starts threads."""
        if self.threads is None:
            heads = [
                entry[2]
                for module in {each.module for each in self.known_functions}
                for piece in module.summary.pieces
                for entry in piece.imports
            ]
            inner = [
                op[3] for each in self.known_functions for op in each.unit.ops if op[0] == s.IMPORT
            ]
            self.threads = any(name.partition(".")[0] in _THREADS for name in heads + inner)
        return self.threads

    def _storing_units(self, name: str) -> list[Function]:
        if self.storing_units is None:
            self.storing_units = {}
            for each in self.known_functions:
                for stored in {*each.unit.stores, *each.unit.self_stores}:
                    self.storing_units.setdefault(stored, []).append(each)
        return self.storing_units.get(name, [])

    def _is_plain(self, kind: Value, attribute: str) -> bool:
        """Whether an attribute of an object has what is stored there, and nobody is asked."""
        if kind[0] in ("F", "M"):
            return attribute[:2] != "__"
        if attribute[:2] == "__" or kind[0] not in ("C", "I"):
            return False
        class_, exact = kind[1], kind[2]
        if kind[0] == "C":
            return exact is True and not self.metaclasses_of(class_) and not class_.info.keywords
        below: list[Class] = [] if exact else self.live_subclasses(class_)
        return all(self._keeps_plainly(each, attribute) for each in (class_, *below))

    def _keeps_plainly(self, class_: Class, attribute: str) -> bool:
        if any(base not in INERT_BASES for base in self.external_bases(class_)):
            return False
        if any(self.find_member(class_, name) is not None for name in _ASKED):
            return False
        owner = self.find_member(class_, attribute)
        return owner is None or all(map(self._is_no_getter, self.member_values(owner, attribute)))

    def _is_no_getter(self, member: int) -> bool:
        """Whether what a class body binds is surely no descriptor that comes before what is stored."""
        kind = self.values[member]
        if kind[0] == "F":
            return not kind[1].unit.flags & _GETTERS
        return kind[0] in ("C", "K", "S", "N") or self.only(member) <= self.scalars

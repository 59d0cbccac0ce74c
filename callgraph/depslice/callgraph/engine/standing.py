"""What an attribute surely has where it is read, over a whole program.

Lowering tells where the attribute of the same object is read on a straight line behind the store
(:mod:`depslice.callgraph.lowering.standing`). Whether it then has what was stored depends on what the
object is, and on whether anything of the program can be told of the store, or run in between, unseen.
In doubt it has what it ever has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.probing import Probing
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Function, Value, Values
from depslice.callgraph.program import Module

_RUNNING: Final = s.STORES_ANY | s.USES_LOCALS
_GETTERS: Final = s.PROPERTY | s.CACHED_PROPERTY | s.DECORATED
_PLAIN_BASES: Final = frozenset(
    {
        *("abc.ABC", "builtins.object", "typing.Generic", "typing.Protocol"),
        "typing_extensions.Protocol",
    }
)
_ASKED: Final = (
    *("__class__", "__delattr__", "__getattr__", "__getattribute__", "__init_subclass__"),
    *("__new__", "__setattr__"),
)
_UNSEEN: Final = frozenset(
    {
        *(
            "_thread",
            "asyncio",
            "builtins",
            "concurrent",
            "ctypes",
            "gc",
            "http",
            "multiprocessing",
        ),
        *("signal", "socketserver", "threading", "weakref", "wsgiref", "xmlrpc"),
    }
)
"""Modules by which code may run at any time, or store anything."""


class Updating(Probing):
    """Strong updates of attributes."""

    def standing(self, function: Function, index: int, receiver: Values, read: Values) -> Values:
        """What operation ``index`` reads of ``receiver``, where without more it may be ``read``."""
        unit = function.unit
        assert unit.standing is not None
        source, touched = unit.standing[index]
        op = unit.ops[index]
        attribute = op[3] if op[0] == s.ATTR else ""
        if isinstance(source, tuple):
            stored = self.read(self.cell("stands", function.module.name, *source))
        else:
            stored = function.registers[source]
        if attribute:
            if not receiver or not self._is_calm():
                return read
            kinds = [self.values[value] for value in receiver]
            for name in (attribute, *touched):
                if not self._is_seen(name) or not all(self._is_plain(kind, name) for kind in kinds):
                    return read
            if any(kind[0] == "C" for kind in kinds) and not all(map(self._is_no_getter, stored)):
                return read
        if not stored:
            return read if self.read(self.cell("settled")) else EMPTY  # not known yet
        return read if any(self.values[value][0] in OPEN for value in stored) else stored

    def _is_calm(self) -> bool:
        """Whether no code of the program runs at any time, or stores what it computes the name of."""
        if self.calm is None:
            modules = {each.module for each in self.known_functions}
            self.calm = not (
                any(
                    each.unit.flags & _RUNNING
                    or "__class__" in each.unit.stores
                    or "__class__" in each.unit.self_stores
                    for each in self.known_functions
                )
                or any(
                    "__del__" in info.members or "__set_name__" in info.members
                    for module in modules
                    for info in module.summary.classes
                )
                or any(name.partition(".")[0] in _UNSEEN for name in self._imports(modules))
            )
        return self.calm

    def _imports(self, modules: set[Module]) -> Iterator[str]:
        for module in modules:
            for piece in module.summary.pieces:
                for entry in piece.imports:
                    yield entry[2]
        for each in self.known_functions:
            for op in each.unit.ops:
                if op[0] == s.IMPORT:
                    yield op[3]

    def _is_seen(self, attribute: str) -> bool:
        """Whether nobody may store it by its name in a text, nor on a class, nor on what is open."""
        if self.spoken is None:
            asked = set[str]()
            for each in self.known_functions:
                for index, (_, touched) in (each.unit.standing or {}).items():
                    op = each.unit.ops[index]
                    if op[0] == s.ATTR:
                        asked.update((op[3], *touched))
            self.spoken = {
                name
                for each in self.known_functions
                for op in each.unit.ops
                if op[0] == s.STRING and (name := op[2].rpartition(".")[2]) in asked
            }
        return attribute not in self.spoken and not self.read(
            self.cell("set on anything", attribute)
        )

    def _is_plain(self, kind: Value, attribute: str) -> bool:
        """Whether an attribute of an object has what is stored there, and nobody is asked."""
        if attribute[:2] == "__":
            return False
        if kind[0] == "F":
            return not kind[1].unit.flags & s.DECORATED
        if kind[0] not in ("C", "I") or kind[2] is not True or not self._is_plainly_made(kind[1]):
            return False
        return kind[0] == "C" or self._keeps_plainly(kind[1], attribute)

    def _is_plainly_made(self, class_: Class) -> bool:
        """Whether a class is what its statement says, and its instances answer for no attribute."""
        if any(base not in _PLAIN_BASES for base in self.external_bases(class_)):
            return False
        if self.metaclasses_of(class_):
            return False
        if any(each.info.keywords or each.info.decorators for each in self.mro(class_)):
            return False
        return not any(self.find_member(class_, name) is not None for name in _ASKED)

    def _keeps_plainly(self, class_: Class, attribute: str) -> bool:
        if self.read(self.cell("set on any class", attribute)):
            return False  # it may be a descriptor
        owner = self.find_member(class_, attribute)
        return owner is None or all(map(self._is_no_getter, self.member_values(owner, attribute)))

    def _is_no_getter(self, member: int) -> bool:
        """Whether what a class body binds is surely no descriptor that comes before what is stored."""
        kind = self.values[member]
        if kind[0] == "F":
            return not kind[1].unit.flags & _GETTERS
        return kind[0] in ("C", "K", "S", "N") or self.only(member) <= self.scalars

"""What the body of a class only declares (``x: T``), and what gives it.

A base further up, ``__getattr__``, the constructor that a decorator generates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.either import EitherBase
from depslice.callgraph.engine.fields import is_class_variable
from depslice.callgraph.engine.values import EMPTY, NAMED_TUPLE, Class, Function, Values
from depslice.callgraph.summary import Position, TypeExpr, Unit

_MAKING: Final = ("__new__", "__init__", "__post_init__", "__attrs_post_init__", "__setstate__")


class Declared(EitherBase):
    """Annotated names of class bodies (language reference, 7.2.2)."""

    def declarations_of(self, owner: Class, name: str) -> tuple[tuple[Function, TypeExpr], ...]:
        """The type that ``owner``'s body declares for ``name``, if it does."""
        declaration = self._declarations.get((owner, name))
        if declaration is None:
            declaration = self._declarations[owner, name] = self._declaration(owner, name)
        return declaration

    def _declaration(self, owner: Class, name: str) -> tuple[tuple[Function, TypeExpr], ...]:
        """The only thing that ``owner``'s body says of ``name``, where it declares a type."""
        pieces = owner.info.members.get(name, ())
        unit = owner.module.summary.pieces[pieces[0]].unit if len(pieces) == 1 else -1
        if unit < 0:
            return ()
        function = self.function(owner.module, unit)
        return tuple((function, op[2]) for op in function.unit.ops if op[0] == s.DECLARE)

    def declared_below(self, class_: Class, owner: Class | None, name: str) -> Values:
        """What a class before ``owner`` says the member is that ``owner`` binds."""
        declarer = class_.declarers.get(name) if owner is not None else None
        return EMPTY if declarer is None else self.member_values(declarer, name)

    def falls_back(self, class_: Class, owner: Class, name: str) -> bool:
        """Whether ``__getattr__`` gives what ``owner`` only declares, or is no base then (3.3.2)."""
        if self.find_member(class_, "__getattr__") is None:
            return False
        if self.may_lack(class_, name):
            return True
        return (
            not self.binds(owner, name)
            and (not self.has_stored(class_, name) or self.is_stored_late(class_, name))
            and not (
                self.find_member(class_, "__init__") is None and self._is_field(class_, owner, name)
            )
        )

    def fall_back_below(
        self, class_: Class, owner: Class | None, name: str, pos: Position
    ) -> Values:
        """``name`` of an instance that has it not, if the class below is one with ``__getattr__``."""
        if owner is not None and self.binds(owner, name):
            return EMPTY
        if self.has_stored(class_, name) or (name.startswith("__") and name.endswith("__")):
            return EMPTY
        values: Values = EMPTY
        asked = self.single(("S", name))
        above = self.find_member(class_, "__getattr__")
        for found, subclass in self.overriding(class_, above, "__getattr__"):
            if self.lacks(subclass, name):
                receiver = self.single(("I", subclass, False))
                given = [receiver, asked]
                values = values | self.call_member(found, "__getattr__", given, pos, "getattr")
        return values

    def lacks(self, class_: Class, name: str) -> bool:
        """Whether ``__getattr__`` is asked for ``name`` of an instance, if there is one."""
        owner = self.find_member(class_, name)
        if owner is None:
            return not self.has_stored(class_, name) or self.is_stored_late(class_, name)
        return self.falls_back(class_, owner, name)

    def is_stored_late(self, class_: Class, name: str) -> bool:
        """Whether only methods store the attribute that nothing calls as instances are made.

        Until then ``__getattr__`` is asked for it: what loads something when it is needed. So it
        is where only one of the bases that a class may have stores it.
        """
        if self.find_member(class_, "__getattr__") is None:
            return False
        if self.has_stored(class_, name) and self.may_lack(class_, name):
            return True
        if self.active_bases(class_):
            return False
        storing = [
            k.module.summary.units[unit].qualname.rpartition(".")[2]
            for k in self.mro(class_)
            for unit in k.info.self_stores.get(name, ())
        ]
        return bool(storing) and self._run_at_first(class_).isdisjoint(storing)

    def _run_at_first(self, class_: Class) -> set[str]:
        """The methods that run as an instance is made, by what they call of it."""
        known = self._running_at_first.get(class_)
        if known is not None:
            return known
        found = set(_MAKING)
        waiting = [*_MAKING]
        while waiting:
            name = waiting.pop()
            for k in self.mro(class_):
                units = [k.module.summary.pieces[p].unit for p in k.info.members.get(name, ())]
                loaded = {
                    op[3]
                    for unit in units
                    if unit >= 0
                    for function in self._defined_by(k, unit)
                    for op in function.ops
                    if op[0] == s.ATTR
                }
                waiting += loaded - found
                found |= loaded
        if class_.mro_cache is not None:
            self._running_at_first[class_] = found
        return found

    def _defined_by(self, class_: Class, unit: int) -> Iterator[Unit]:
        """The functions that a statement of the body of a class defines."""
        units = class_.module.summary.units
        for op in units[unit].ops:
            if op[0] == s.FUNCTION:
                yield units[op[2]]

    def _is_field(self, class_: Class, owner: Class, name: str) -> bool:
        """Whether a generated constructor stores what ``owner`` declares."""
        if any(is_class_variable(each) for _, each in self.declarations_of(owner, name)):
            return False
        if not self.is_only_declared(owner, name):
            return False
        outer = self.external_bases(class_)
        return (
            self.is_decorated_record(owner)
            or bool(self.active_bases(class_))
            or NAMED_TUPLE in outer
        )

    def is_decorated_record(self, class_: Class) -> bool:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def has_stored(self, class_: Class, name: str) -> bool:
        """Implemented by the part for attributes."""
        raise NotImplementedError

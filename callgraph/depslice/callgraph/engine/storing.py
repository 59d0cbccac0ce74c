"""Stores and deletions of attributes: instance state, classes, modules, setters."""

from __future__ import annotations

from collections.abc import Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.attributes import AttributeEvaluation
from depslice.callgraph.engine.values import EMPTY, OPEN, SPACES, Class, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Position

_TOLD = ("__set__", "__delete__")
_FUNCTIONS = frozenset({"F", "B", "PT", "PS"})
_OBJECTS = OPEN | {"I", "C"}


class StoreEvaluation(AttributeEvaluation):
    """What ``obj.name = value`` and ``del obj.name`` do (language reference, 3.3.2)."""

    def hand_over(self, groups: Sequence[Values], pos: Position) -> None:
        """Implemented by the part for calls of code outside."""
        raise NotImplementedError

    def store_attribute(
        self,
        receivers: Values,
        name: str,
        values: Values,
        pos: Position,
        *,
        by_object: bool = False,
    ) -> None:
        """``receiver.name = values``; ``by_object``: by ``object.__setattr__`` itself."""
        for receiver in tuple(receivers):
            value = self.values[receiver]
            kind = value[0]
            if kind in ("I", "C"):
                may_be_mangled = name[:1] == "_" and "__" in name[2:]
                private = self.private_of(receiver, name) if may_be_mangled else None
                plain = name if private is None else private[1]
                self._store_on_class(receiver, value, plain, values, pos, by_object=by_object)
            elif kind == "M":
                module = self.program.module(value[1])
                self.facts.append((f.WRITE, value[1], name, pos))
                if module is not None and (self.whole or module is self._own_module()):
                    self.write(self.variable_cell(module, name, -1), values)
                elif module is not None and self.current in self.patched.get(
                    (module.name, name), ()
                ):
                    for piece in module.current_pieces(name, None):
                        self.write(self.variable_cell(module, name, piece), values)
                    if not self.whole:
                        self.write(self.variable_cell(module, name, -1), values)
            elif kind == "F":
                self.write(self.cell("fa", value[1], name), values)
                self.write(self.cell("carried", name), values)
            elif kind in ("G", "GS", "XI"):
                self.write(self.cell("carried", name), values)
                self._store_outside("", name, values, pos, of=value[1])
                if self.may_be_caught(receiver):
                    self.note_unknown(name, pos, receiver, "write")
            elif kind == "X":
                self._store_outside(value[1], name, values, pos)
            elif kind == "K" and value[1] in SPACES:
                self.write(self.item_cell(receiver, name), values)
            elif kind in OPEN:
                if kind == "U":
                    self.note_handed((values,), pos)
                self.note_unknown(name, pos, receiver, "write")
                if self.whole:
                    self.write(self.cell("set on anything", name), values)
                self.apply_special(receiver, f"{name}=", [values], pos)

    def have_stored(self, receiver: int, name: str, values: Values) -> None:
        """A function that the object was passed to has stored ``values`` there, in a slice."""
        class_ = self.values[receiver][1]
        if not self.setters_of(self.only(receiver), name):
            names = self.had_stored.setdefault(class_, set())
            if name not in names:
                names.add(name)
                self.see_beside(class_)
            self.write(self.attribute_cell(class_, name), values - self.unknown)

    def have_stored_in_space(self, container: int, name: str, values: Values) -> None:
        """So has one that got a ``types.SimpleNamespace`` or the like."""
        if self.values[container][1] in SPACES:
            self.write(self.item_cell(container, name), values - self.unknown)

    def setters_of(self, values: Values, name: str) -> Values:
        """What is called with what is stored on instances under ``name``: setters of properties."""
        found: set[int] = set()
        for value in values:
            kind = self.values[value]
            owner = self.find_member(kind[1], name) if kind[0] == "I" else None
            for member in self.member_values(owner, name) if owner is not None else ():
                functions = [self.values[each] for each in self._setters(member)]
                found |= {self.intern(("B", fn[1], value)) for fn in functions if fn[0] == "F"}
        return found

    def _setters(self, member: int) -> Values:
        """What a property calls with what is stored."""
        kind = self.values[member]
        if kind[0] == "F" and kind[1].unit.flags & s.PROPERTY and len(kind[1].unit.params) == 2:
            return self.only(member)
        setters: Values = kind[2] if kind[0] == "PY" else EMPTY
        return setters

    def _store_outside(
        self, owner: str, name: str, values: Values, pos: Position, *, of: str = ""
    ) -> None:
        """Code outside the repo uses what it finds there: ``sys.excepthook = f``.

        ``of``: the class whose instance has it, where no module does.
        """
        self.note_handed((values,), pos, to=of or owner)
        if self.whole:
            self.hand_over([{v for v in values if self.values[v][0] in _FUNCTIONS}], pos)
        if not owner or self.outside.replace(f"{owner}.{name}", values, pos) or self.whole:
            return
        # Not what becomes a builtin name, which is there for the repo.
        for value in sorted(values - self.unknown) if owner != "builtins" else ():
            if self.values[value][0] in _OBJECTS:
                self.facts.append((f.LISTED, value, f.ALL, "outside", pos))

    def _own_module(self) -> Module | None:
        return None if self.current is None else self.current.module

    def _store_on_class(
        self,
        receiver: int,
        value: tuple[object, ...],
        name: str,
        values: Values,
        pos: Position,
        *,
        by_object: bool,
    ) -> None:
        class_ = value[1]
        assert isinstance(class_, Class)
        owner = self.find_member(class_, name)
        if value[0] == "I" and not self.whole:
            self.facts.append((f.MEMBER, class_, name, pos, not value[2], "write", False))
        if owner is not None:
            if self.whole:
                self.facts.append((f.MEMBER, owner, name, pos, False, "write", True))
            if value[0] == "I":
                for member in tuple(self.member_values(owner, name)):
                    self._call_setter(member, receiver, values, pos)
        if value[0] == "I" and not value[2] and self.whole:
            for found, subclass in self.overriding(class_, owner, name):
                below = self.intern(("I", subclass, False))
                for member in tuple(self.member_values(found, name)):
                    self._call_setter(member, below, values, pos)
            if "__setattr__" in self.hooking and not by_object:
                above = self.find_member(class_, "__setattr__")
                given = [self.single(("S", name)), values]
                self.call_overrides(class_, above, "__setattr__", given, pos)
        if not self.whole and self.outside.declares(class_, name):
            self.note_handed((values,), pos)  # the base finds it there
        setter = self.find_member(class_, "__setattr__")
        if setter is not None and value[0] == "I" and not by_object:
            self.call_member(
                class_,
                "__setattr__",
                [self.only(receiver), self.single(("S", name)), values],
                pos,
                "setattr",
            )
        if value[0] == "C" and not by_object:
            self._tell_metaclasses(receiver, class_, name, values, pos)
        if self.whole and value[0] == "C":
            self.write(self.cell("set on any class", name), values)
            self.write(self.cell("set on class", class_, name), values)
            for ancestor in self.mro(class_)[1:]:
                self.write(self.cell("set on class below", ancestor, name), values)
            return
        if not self.whole and (value[0] == "C" or self.is_metaclass(class_)):
            self.note_descriptors(values, pos)
        if value[0] == "C" and class_.module is self._own_module():
            self.write(self.cell("set on class", class_, name), values)
            return
        if self.whole and owner is not None and self._is_set_by_property(owner, name):
            return
        if self.whole or class_.module is self._own_module():
            self._have_under(class_, name, values)

    def _tell_metaclasses(
        self, receiver: int, class_: Class, name: str, values: Values, pos: Position
    ) -> None:
        """A class is an instance of its metaclass, which has something to say of ``C.name = …``."""
        for metaclass in self.metaclasses_of(class_):
            given = [self.only(receiver), self.single(("S", name)), values]
            self.call_member(metaclass, "__setattr__", given, pos, "setattr")
            owner = self.find_member(metaclass, name)
            for member in tuple(self.member_values(owner, name)) if owner is not None else ():
                self._call_setter(member, receiver, values, pos)

    def _is_set_by_property(self, owner: Class, name: str) -> bool:
        """Whether a property gets what is stored on instances, which do not have it themselves."""
        return any(self._setters(member) for member in self.member_values(owner, name))

    def _have_under(self, class_: Class, name: str, values: Values) -> None:
        """An instance of ``class_`` has ``values`` in its namespace."""
        self.write(self.attribute_cell(class_, name), values)
        for ancestor in self.mro(class_)[1:] if self.whole else ():
            self.write(self.cell("below", ancestor, name), values)

    def store_in_namespace(self, owner: int, name: str, values: Values, pos: Position) -> None:
        """``vars(owner)[name] = values``: no descriptor of the class is told (3.3.2)."""
        kind = self.values[owner]
        if self.whole and self.is_object(kind):
            self._have_under(kind[1], name, values)
        else:
            self.store_attribute(self.only(owner), name, values, pos)

    def _call_setter(self, member: int, receiver: int, values: Values, pos: Position) -> None:
        kind = self.values[member]
        setters = self._setters(member)
        if setters:
            self.call(setters, [self.only(receiver), values], {}, pos, rule="property")
        elif kind[0] == "I":
            self._descriptor(member, kind[1], "__set__", [self.only(receiver), values], pos)

    def notified(self, owner: Class, name: str, dunder: str) -> list[Class] | None:
        """Who is told when instances store or delete what ``owner`` calls ``name`` (3.3.2).

        ``None``: nobody. A property is; so is an instance of a class with ``__set__`` or
        ``__delete__``, each of which hides the other: the classes that have ``dunder`` for it.
        """
        found: list[Class] | None = None
        for member in self.member_values(owner, name):
            kind = self.values[member]
            if kind[0] == "PY" or (kind[0] == "F" and kind[1].unit.flags & s.PROPERTY):
                found = found or []
            holders = [self.find_member(kind[1], each) for each in _TOLD] if kind[0] == "I" else []
            if any(holder is not None for holder in holders):
                holder = self.find_member(kind[1], dunder)
                found = [*(found or ()), *([holder] if holder is not None else [])]
        return found

    def delete_attribute(self, receivers: Values, name: str, pos: Position) -> None:
        """``del receiver.name``."""
        for receiver in tuple(receivers):
            value = self.values[receiver]
            if value[0] == "I" and self.find_member(value[1], "__delattr__") is not None:
                given = [self.only(receiver), self.single(("S", name))]
                self.call_member(value[1], "__delattr__", given, pos, "protocol")
            else:
                self.protocol(self.only(receiver), ("__delattr__",), pos)
            for metaclass in self.metaclasses_of(value[1]) if value[0] == "C" else ():
                given = [self.only(receiver), self.single(("S", name))]
                self.call_member(metaclass, "__delattr__", given, pos, "protocol")
            if not self.whole and (value[0] in OPEN or self.may_be_caught(receiver)):
                self.note_unknown(name, pos, receiver, "delete")
            elif not self.whole and value[0] == "I":
                self.facts.append((f.MEMBER, value[1], name, pos, not value[2], "delete", False))
            elif not self.whole and value[0] == "C":
                needed = self.needed_to_delete(value[1], name)
                self.facts += [(f.MEMBER, k, name, pos, False, "read", True) for k in needed]
            if self.whole and value[0] == "C":
                self.write(self.cell("deleted", value[1], name), self.only(receiver))
            owner = self.find_member(value[1], name) if value[0] == "I" else None
            for member in tuple(self.member_values(owner, name)) if owner is not None else ():
                self._call_deleter(member, receiver, pos)
            if value[0] == "I" and not value[2] and self.whole:
                for found, subclass in self.overriding(value[1], owner, name):
                    below = self.intern(("I", subclass, False))
                    for member in tuple(self.member_values(found, name)):
                        self._call_deleter(member, below, pos)
                if "__delattr__" in self.hooking:
                    above = self.find_member(value[1], "__delattr__")
                    self.call_overrides(
                        value[1], above, "__delattr__", [self.single(("S", name))], pos
                    )

    def _call_deleter(self, member: int, receiver: int, pos: Position) -> None:
        kind = self.values[member]
        if kind[0] == "PY" and kind[3]:
            self.call(kind[3], [self.only(receiver)], {}, pos, rule="property")
        elif kind[0] == "F" and kind[1].unit.flags & s.PROPERTY:
            if len(kind[1].unit.params) == 1:  # one of them is the deleter
                self.call_function(kind[1], [self.only(receiver)], pos, rule="property")
        elif kind[0] == "I":
            self._descriptor(member, kind[1], "__delete__", [self.only(receiver)], pos)

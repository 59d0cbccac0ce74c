"""Attributes: class members, instance attributes, modules, the descriptor protocol."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.base import MOST_NAMESAKES
from depslice.callgraph.engine.declared import Declared
from depslice.callgraph.engine.library import BY_DEFAULT, HOLDING, SPECIAL_NAMES, is_inert
from depslice.callgraph.engine.namespaces import NAMESPACE, stored
from depslice.callgraph.engine.parts import RETURNS, STORES
from depslice.callgraph.engine.values import (
    EMPTY,
    KEPT,
    MADE,
    OPEN,
    PARSED,
    SPACES,
    Cell,
    Class,
    Function,
    Lookup,
    Value,
    Values,
    binds_other,
    has_no_statement,
    is_name,
)
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Position, Register

_LONGEST_DOTTED = 8
_MOST_WRAPPERS = 4  # around each other, of which the innermost is asked for its name
_PROPERTY = s.PROPERTY | s.CACHED_PROPERTY
_GETTING = frozenset({"I", "PY", "R", "U", "X", "XI"})
"""Values in a class body that may be descriptors, which are asked when they are read."""
_DOING_NOTHING = frozenset({s.ANNOTATION, s.RETURN})
_HELD_BY_FUNCTIONS = frozenset({"__closure__", "__defaults__", "__kwdefaults__"})
_ACCESSORS = frozenset({"fget", "fset", "fdel"})
_FUNCTIONS = frozenset(f"builtins.{name}" for name in dir(builtins) if name.islower())
_OF_TYPES = frozenset(dir(type))
_BELOW = "had below"  # what tells those whom subclasses had nothing for
_OF_PROPERTIES = _ACCESSORS | {"__set__", "__delete__", "func"}
_CONTAINER_BASES = {
    "builtins.list": "list",
    "builtins.dict": "dict",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
    "builtins.tuple": "tuple",
    "collections.OrderedDict": "dict",
    "collections.defaultdict": "defaultdict",
    "collections.UserDict": "dict",
    "collections.UserList": "list",
    "collections.deque": "deque",
    "typing.List": "list",
    "typing.Dict": "dict",
    "typing.Set": "set",
    "typing.FrozenSet": "set",
    "typing.Tuple": "tuple",
    "typing.DefaultDict": "defaultdict",
    "typing.OrderedDict": "dict",
    "typing.Deque": "deque",
}
_TOLD = frozenset({"C", "G", "I", "XI"})
_HAVING_DATA = frozenset({"collections.UserDict", "collections.UserList"})


class AttributeEvaluation(Declared):
    """What ``obj.name`` gives by the data model (language reference, 3.3.2)."""

    def call(
        self,
        callees: Values,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        *,
        register: int = -1,
        spread: Values = EMPTY,
        rule: str = "call",
        external: bool = False,
    ) -> Values:
        """Implemented by the call part."""
        raise NotImplementedError

    def note_descriptors(self, stored: Values, pos: Position) -> None:
        """Implemented by the part for computed names."""
        raise NotImplementedError

    def protocol(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def call_kept(self, class_: Class, method: str, call: Call) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def container_attribute(self, container: int, name: str, pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def lineage_attribute(self, class_: Class, name: str, *, exact: bool) -> Values:
        """Implemented by the part for ``__mro__`` and its like."""
        raise NotImplementedError

    def constructor_is_generated(self, class_: Class) -> bool:
        """Implemented by the construction part."""
        raise NotImplementedError

    def _fitting_member(self, owner: Class, name: str, stored: Values) -> Values:
        """What of ``stored`` can be meant where ``owner``'s body declares ``name: T``.

        Not where a subclass declares it in turn; code that stores by a computed name
        (``setattr``) mixes what it stores under all of them.
        """
        for function, annotation in self.declarations_of(owner, name):
            stored = self.fitting(function, annotation, stored)
        return stored

    def load_attribute(self, receivers: Values, name: str, pos: Position) -> Values:
        """``receiver.name`` for every value the receiver can have."""
        if name[:2] == "__" and self.whole:
            name = self._mangled(name)
        elif name[:1] == "_" and "__" in name[2:]:
            return self._load_mangled(receivers, name, pos)
        return self._load(receivers, name, pos)

    def _load_mangled(self, receivers: Values, name: str, pos: Position) -> Values:
        """``receiver._C__x``: what ``C`` calls ``__x``, for those that have it from ``C`` (6.2.1)."""
        others: set[int] = set()
        values: Values = EMPTY
        for receiver in receivers:
            found = self.private_of(receiver, name)
            if found is None:
                others.add(receiver)
                continue
            owner, private = found
            if self.values[receiver][0] == "I" and private in owner.info.members:
                private = self._privately(private, owner)
            values = values | self._load(self.only(receiver), private, pos)
        if others or not receivers:
            values = values | self._load(others, name, pos)
        return values

    def private_of(self, receiver: int, name: str) -> tuple[Class, str] | None:
        """``C`` and ``__x``, where ``name`` is ``_C__x`` and ``C`` is a class of the receiver's."""
        kind = self.values[receiver]
        if kind[0] not in ("I", "C") or kind[1] is None or self.find_member(kind[1], name):
            return None
        for class_ in self.mro(kind[1]):
            prefix = f"_{class_.info.qualname.rpartition('.')[2].lstrip('_')}__"
            if name.startswith(prefix) and not name.endswith("__"):
                return class_, name[len(prefix) - 2 :]
        return None

    def decorated_by(self, decorator: int, decorated: Values) -> Values:
        """What enters a context, whatever of ``decorated`` is called: once, however often.

        A loop that decorates what it has decorated would make another one with each step, which
        calls all those before.
        """
        return self.single(("CD", decorator, self.shared(self._bare_of(decorator, decorated))))

    def _bare_of(self, decorator: int, decorated: Values) -> Values:
        """``decorated`` as it was before the context ``decorator`` was put around it."""
        bare: set[int] = set()
        for value in decorated:
            kind = self.values[value]
            if kind[0] != "CD":
                bare.add(value)
                continue
            inner = self._bare_of(decorator, kind[2])
            if kind[1] == decorator:
                bare |= inner
            else:
                bare |= self.single(("CD", kind[1], self.shared(inner)))
        return bare

    def attribute_of(self, receiver: int, name: str) -> Lookup:
        """What answers ``receiver.name`` for one value, in a slice: the same for all who ask."""
        if name[:1] == "_" and name[:2] != "__" and "__" in name[2:]:
            return self.question(("private", receiver, name))
        return self._lookup(self._attributes.setdefault(name, {}), receiver, name)

    def _lookup(self, known: dict[int, Lookup], receiver: int, name: str) -> Lookup:
        lookup = known.get(receiver)
        if lookup is None:
            lookup = known[receiver] = self.new_lookup(("attribute", receiver, name))
            self.answer(lookup)
        return lookup

    def _load(self, receivers: Values, name: str, pos: Position) -> Values:
        known = self._attributes.get(name)
        if known is None:
            known = self._attributes[name] = {}
        values: Values = EMPTY
        joined: set[int] | None = None  # of many, each union would be another set
        beside = EMPTY if self.whole or len(receivers) < 2 else self._lacking(receivers, name)
        for receiver in receivers:
            if receiver in beside:
                self.note_unknown(name, pos, receiver)
                found = self.unknown  # what somebody has stored there
            else:
                lookup = known.get(receiver)
                if lookup is None:
                    lookup = self._lookup(known, receiver, name)
                found = self.ask(lookup, pos)
            if not values:
                values = found
            elif found:
                if joined is None:
                    values = joined = set(values)
                joined |= found
        if not receivers and not self.whole:
            # What is `None`, or in a container that nothing here fills, someone else sets.
            self.note_unknown(name, pos, self.unknown_id)
        if name in self.methods and all(self.values[v][0] in OPEN for v in receivers):
            self._note_properties(name, pos)
        return values

    def _lacking(self, receivers: Values, name: str) -> Values:
        """Those of ``receivers`` that lack an attribute which another of them has.

        Of ``x: str | Path`` code has found out which it is before it asks for ``x.iterdir``. It
        may be of a subclass, for all that: no more than that is asked of them.
        """
        outside = self.outside
        lacking = {
            v for v in receivers if self.values[v][0] == "XI" and outside.is_without(v, name)
        }
        if not lacking:
            return EMPTY
        for other in receivers - lacking:
            kind = self.values[other]
            if kind[0] == "XI" and outside.declares_of(other, name):
                return lacking
            if kind[0] == "I" and self.answers(kind[1], name):
                return lacking
        return EMPTY

    def attribute_by_object(self, receivers: Values, name: str, pos: Position) -> Values:
        """``object.__getattribute__(receiver, name)``: what the class has overridden does not run."""
        values: set[int] = set()
        for receiver in tuple(receivers):
            kind = self.values[receiver]
            if kind[0] != "I" or self.find_member(kind[1], "__getattribute__") is None:
                values |= self.load_attribute(self.only(receiver), name, pos)
                continue
            owner = self.find_member(kind[1], name)
            if owner is not None:
                self.facts.append((f.MEMBER, owner, name, pos, False, "read", True))
                for value in tuple(self.member_values(owner, name)):
                    values |= self._bind_to_instance(value, receiver, pos)
            values |= self._instance_state(kind[1], name)
        return values

    def ask_missing(self, receiver: int, pos: Position) -> None:
        """``dict.__getitem__`` of an instance, or of a class by name, asks for ``__missing__`` (3.3.7).

        Whoever gets the method may call it.
        """
        kind = self.values[receiver]
        if self.find_member(kind[1], "__getitem__") is None:
            instance = self.only(self.intern(("I", kind[1], bool(kind[2]))))
            self.protocol(instance, ("__missing__",), pos)

    def _note_properties(self, name: str, pos: Position) -> None:
        """Reading ``name`` of who knows what may run the properties of that name."""
        methods = self.methods[name]
        if len(methods) <= MOST_NAMESAKES and name[:2] != "__":
            getters = [
                m
                for m in methods
                if m.unit.flags & (s.PROPERTY | s.CACHED_PROPERTY) and len(m.unit.params) == 1
            ]
            self.note_namesakes(getters, pos)

    def find_attribute(self, receiver: int, name: str, pos: Position) -> Values:
        """Evaluate the attribute of one value, which was not asked for before."""
        value = self.values[receiver]
        kind = value[0]
        if name == "__getitem__" and kind in ("C", "I") and not self.whole:
            self.ask_missing(receiver, pos)
        if kind == "I":
            return self._instance_attribute(receiver, value[1], value[2], name, pos)
        if kind == "M":
            return self._module_attribute(value[1], name, pos)
        if kind == "C":
            return self._class_attribute(value[1], name, pos, exact=value[2])
        if kind in ("X", "XA"):
            if self.whole and self.outside.lacks(value[1], name):
                return EMPTY
            dotted = f"{value[1]}.{name}"
            self.facts.append((f.EXTERNAL, dotted, pos, False))
            if name == "__call__" and value[1] in _FUNCTIONS and value[1] != "builtins.type":
                return self.only(receiver)
            if dotted.count(".") > _LONGEST_DOTTED:
                return self.single(value)
            return self.single(("X", dotted))
        if kind in ("XI", "G", "GS", "S", "N"):
            return self._external_instance(receiver, value, name, pos)
        if kind == "K" and value[1] in SPACES:
            found = self.read(self.item_cell(receiver, name))
            if self.whole and value[1] == PARSED:  # a parser may have filled it
                return found | self.read(self.cell("carried", name))
            return found
        if kind == "K" and value[1] == "collections.namedtuple" and name[0] != "_":
            return self.read(self.cell("field", receiver, name))
        if kind == "NT" and name == "_make":
            return self.single(("NR", value[1]))
        if kind == "ND":
            return self.single(("NM", value[1], name))
        if kind in ("K", "GE"):
            return self.container_attribute(receiver, name, pos)
        if kind == "SU":
            return self._super_attribute(value[1], value[2], name, pos)
        if kind == "F":
            return self._function_attribute(value[1], name, pos)
        if kind == "B":
            if name == "__self__":
                return self.only(value[2])
            return (
                self.single(("F", value[1]))
                if name == "__func__"
                else self._function_attribute(value[1], name, pos)
            )
        if kind in OPEN:
            self.note_unknown(name, pos, receiver)
            if name == "__dict__" and not self.whole:
                return self.single(("ND", receiver))
            return self.derive("A", receiver, name)
        if kind == "XM":
            return self.only(receiver)
        if kind == "NS":
            if name == "get":
                return self.single(("NG", value[1]))
            if name in ("copy", "items", "keys", "values"):
                return self.single(("NM", self.intern(("M", value[1])), name))
            return self.single(("XM", "builtins.dict", name))
        if binds_other(value):
            return self._method_attribute(value, name, pos)
        if kind == "PY" and name in ("setter", "deleter", "getter"):
            return self.single(("X", f"builtins.property.{name}"))
        if kind == "PT" and name == "func":
            wrapped: Values = value[1]
            return wrapped
        if kind == "PS" and name == "func":
            return self.read(self.cell("pf", receiver))
        return EMPTY

    def _method_attribute(self, method: Value, name: str, pos: Position) -> Values:
        """What a method of something that is no function has, all else than its own of that."""
        called: Values = method[1]
        if name == "__self__":
            receivers: Values = method[2][0]
            return receivers
        return called if name == "__func__" else self.load_attribute(called, name, pos)

    def _external_instance(
        self, receiver: int, value: tuple[object, ...], name: str, pos: Position
    ) -> Values:
        kind = value[0]
        found = self.outside.attribute(receiver, name, pos)
        if found is not None:
            return found
        if kind == "G":
            return self.single(("KM", receiver, name))
        dotted = "builtins.str" if kind in ("S", "N") else str(value[1])
        if is_inert(dotted):
            self.facts.append((f.EXTERNAL, f"{dotted}.{name}", pos, False))
            return self.single(("XM", dotted, name))
        self.note_unknown(name, pos, self.unknown_id)
        return self.single(("XM", dotted, name)) | self.unknown

    def _module_attribute(self, module_name: str, name: str, pos: Position) -> Values:
        module = self.program.module(module_name)
        if module is not None and self.program.may_have(module, name):
            self.facts.append((f.NAME, module_name, name, None, pos))
            return self.module_member(module, name)
        itself = self.intern(("M", module_name))
        if name == "__dict__":
            return self.single(("NS", module_name) if self.whole else ("ND", itself))
        if name in ("__setattr__", "__delattr__"):
            function = self.single(("X", f"builtins.{name.strip('_')}"))
            return self.single(("PT", function, (self.only(itself),), ()))
        if module is not None and name in ("__doc__", "__name__", "__package__"):
            if name == "__doc__":
                self.facts.append((f.NAME, module_name, name, None, pos))
            return self.module_name(module, name)
        inner = f"{module_name}.{name}"
        if self.program.is_module(inner):
            self.facts.append((f.MODULE, inner, pos, "attribute"))
            return self.single(("M", inner))
        if module is not None and "__getattr__" in module.summary.scope:
            self.facts.append((f.NAME, module_name, name, None, pos))
            return self._module_getattr(module, name, pos)
        if not name.startswith("__"):
            self.facts.append((f.UNRESOLVED, inner, "missing-name", pos))
        return self.unknown

    def _class_attribute(
        self, class_: Class, name: str, pos: Position, *, exact: bool | None
    ) -> Values:
        owner = self.find_member(class_, name)
        how = "line" if exact is None else "class"
        receiver = self.single(("C", class_, exact))
        values: set[int] = set()
        if owner is not None:
            if not self.binds(owner, name):
                values |= self._of_metaclass(class_, name, receiver, pos)
                values |= self._by_metaclass(class_, name, receiver, pos)
            if exact is False and not self.whole and self._is_left_to_below(class_, owner, name):
                values |= self.single(("O", class_, name))
            self.facts.append((f.MEMBER, owner, name, pos, False, "read", True))
            if not exact:
                self.facts.append((f.MEMBER, class_, name, pos, True, how, False))
            if self.is_enum_member(class_, owner, name):
                return self.single(("I", class_, True))
            owners = (owner, *self.instead_of(class_, owner, name))
            for value in [v for each in owners for v in self.member_values(each, name)]:
                values |= self._bind_to_class(value, receiver, pos)
            values |= self.declared_below(class_, owner, name)
            if not self.whole:
                if self.is_assigned(owner, name):
                    values |= self._instance_state(class_, name)
                    values |= self.set_on_class(class_, name, bool(exact))
            else:
                values |= self.set_on_class(class_, name, bool(exact))
                if not exact:
                    values |= self._overrides("C", class_, owner, name, pos)
            return values
        if not self.whole:
            values |= self._instance_state(class_, name)
            for value in self._set_by_metaclass(class_, name):
                values |= self._bind_to_class(value, receiver, pos)
            values |= self._of_open_bases(class_, name, pos, instances=False)
            self.facts.append((f.MEMBER, class_, name, pos, False, "class", False))
        values |= self.set_on_class(class_, name, bool(exact))
        if name == "__new__":  # of `object`, if not before: a metaclass is not asked (3.3.2)
            if not exact:
                self.facts.append((f.MEMBER, class_, name, pos, True, how, False))
            instance = self.intern(("I", class_, bool(exact)))
            inherited = self.outside.inherited(instance, class_, name, pos)
            return values | (inherited or self.single(("X", "builtins.object.__new__")))
        values |= self._of_metaclass(class_, name, receiver, pos)
        if values:  # what code has stored, but a subclass may have had its own
            return values if exact or self.whole else values | self._below(class_, name, pos, how)
        if name in ("__name__", "__qualname__") and exact and not self.whole:
            return self.name_text(class_.info.qualname, name)
        if name in ("__name__", "__qualname__", "__module__", "__doc__"):
            return self.constants[s.STR]
        if classes := self.lineage_attribute(class_, name, exact=bool(exact)):
            return classes
        if name == "__dict__":
            return self.single(("ND", next(iter(receiver))))
        if name == "__annotations__":
            self.note_annotations(receiver, pos, "hints" if exact is None else "annotated")
        if name == "register":  # `abc.ABC.register`: others may stand for its instances
            self.write(self.cell("register", class_), self.unknown)
        if name == "__class__" or (name.startswith("__") and name.endswith("__")):
            asked = self._asking(self.intern(("I", class_, False)), class_, name, pos)
            if exact or self.whole:
                return asked
            return asked | self._below(class_, name, pos, how)
        if any(self.find_member(k, "__getattr__") for k in self.metaclasses_of(class_)):
            return self._by_metaclass(class_, name, receiver, pos)
        if not exact:  # a subclass may define it
            self.facts.append((f.MEMBER, class_, name, pos, True, how, False))
            if exact is False and not self.whole:
                return self._missing(class_, name, pos) | self.single(("O", class_, name))
        return self._missing(class_, name, pos)

    def _below(self, class_: Class, name: str, pos: Position, how: str) -> Values:
        """What subclasses have, for the slice to say, by a name that the class has not itself."""
        if name in _OF_TYPES:
            return EMPTY
        self.facts.append((f.MEMBER, class_, name, pos, True, how, False))
        return self.single(("O", class_, name)) if how == "class" else EMPTY

    def _of_open_bases(self, class_: Class, name: str, pos: Position, *, instances: bool) -> Values:
        """What bases give for it that only callers know."""
        above = self.open_bases(class_, instances=instances)
        return self._load(above, name, pos) if above else EMPTY

    def _of_metaclass(self, class_: Class, name: str, receiver: Values, pos: Position) -> Values:
        """What metaclasses bind to a name that the class has not."""
        made = self.made_by_open(class_)
        values: set[int] = set(self._load(made, name, pos)) if made else set()
        for metaclass in self.metaclasses_of(class_):
            found = self.find_member(metaclass, name)
            if found is not None:
                self.facts.append((f.MEMBER, found, name, pos, False, "read", True))
                for value in tuple(self.member_values(found, name)):
                    values |= self._bind_to_instance(value, next(iter(receiver)), pos)
        return values

    def _by_metaclass(self, class_: Class, name: str, receiver: Values, pos: Position) -> Values:
        """What the first ``__getattr__`` of a metaclass gives for it."""
        for metaclass in self.metaclasses_of(class_):
            if self.find_member(metaclass, "__getattr__") is not None:
                given = [receiver, self.single(("S", name))]
                return self.call_member(metaclass, "__getattr__", given, pos, "getattr")
        return EMPTY

    def is_assigned(self, owner: Class, name: str) -> bool:
        """Whether the body of ``owner`` assigns the member: it is no method."""
        pieces = owner.module.summary.pieces
        return any(pieces[index].kind == "assign" for index in owner.info.members[name])

    def has_below(self, class_: Class, name: str) -> bool:
        """Whether subclasses known so far have something else for ``name``.

        Of their own, of mixins beside this class, or because code of their modules stores it.
        Whoever is told that none has is told when one has, and of no other name: hierarchies are
        met class by class.
        """
        if class_.kept_below is None:
            class_.kept_below = set()
            for each in tuple(class_.below()):
                self.note_below(class_, each)
        if name in class_.kept_below:
            return True
        self.depend(self.cell(_BELOW, class_, name))
        return False

    def note_below(self, class_: Class, below: Class) -> None:
        """What ``below`` has, or what stands beside ``class_`` above it, may stand for what that has."""
        kept = class_.kept_below
        if kept is None:  # nobody has asked
            return
        line = self.mro(class_)
        others = [k for k in self.mro(below) if k not in line]
        found = {
            name
            for k in others
            for name in (*k.info.self_stores, *k.info.members, *self.had_stored.get(k, ()))
        }.union(*(self.stored_on_others(k.module) for k in others))
        new = found - kept
        kept |= new
        for name in sorted(new):
            asked = self._cells.get((_BELOW, class_, name))
            if asked is not None:
                self.wake(asked)

    def stored_on_others(self, module: Module) -> frozenset[str]:
        """The attributes that code of ``module`` stores on something else than its own ``self``."""
        found = self._stored_on_others.get(module)
        if found is None:
            found = frozenset().union(*(unit.stores for unit in module.summary.units))
            self._stored_on_others[module] = found
        return found

    def _is_left_to_below(self, class_: Class, owner: Class, name: str) -> bool:
        """Whether it is what subclasses have, be it instead of what ``owner`` binds."""
        return not self.binds(owner, name) or self._is_had_below(class_, name)

    def _is_had_below(self, class_: Class, name: str) -> bool:
        """Whether a slice has to look at what subclasses have by ``name``."""
        private = name[:2] == "__" and name[-2:] != "__"
        return not private and self.has_below(class_, name)

    def held_by(self, class_: Class) -> int | None:
        """The container that instances are, for a class that extends a builtin one."""
        if self.whole and not self._tells_elements(class_):
            for base in self.external_bases(class_):
                kind = _CONTAINER_BASES.get(base)
                if kind is not None:
                    definer = self.function(class_.module, class_.info.unit)
                    held = self.intern(("K", kind, definer, -10_000 - class_.info.index))
                    self.held_as[held] = base
                    return held
        return None

    def _tells_elements(self, class_: Class) -> bool:
        """Whether a base says what instances hold: ``dict[str, Handler]``, not ``dict[str, Any]``."""
        return any(
            self.values[value][0] in _TOLD
            for _, given in self.outside.types.outer_bases(class_)
            for value in (list(given.values())[-1] if given else ())
        )

    def keeper_of(self, class_: Class) -> Class | None:
        """The class of the repo by which instances are containers, in a slice."""
        if self.whole:
            return None
        for candidate in reversed(self.mro(class_)):
            if not _CONTAINER_BASES.keys().isdisjoint(candidate.external_bases):
                return candidate
        return None

    def kept_by(self, class_: Class) -> Values:
        """What code of the slice puts into instances of a class that extends a container.

        Whatever their subclasses: which instance has what is not told apart.
        """
        keeper = self.keeper_of(class_)
        return EMPTY if keeper is None else self.single(("O", keeper, KEPT)) | self.unknown

    def note_kept(self, class_: Class, values: Values) -> None:
        """``values`` are put into an instance of a class that extends a container."""
        keeper = self.keeper_of(class_)
        kept = self.traced(values) - self.unknown
        if keeper is not None and kept:
            self.facts.append((f.FILL, keeper, KEPT, kept))
            # A namespace of `__prepare__` gives the class what it is filled with.
            self.note_descriptors({v for v in kept if self.values[v][0] == "I"}, f.HERE)

    def _bound_to(self, receiver: int, members: Values) -> Values:
        """Functions that ``type(name, bases, members)`` has put into a class are methods of it."""
        kinds = {value: self.values[value] for value in members}
        return {
            self.intern(("B", kind[1], receiver)) if kind[0] == "F" else value
            for value, kind in kinds.items()
        }

    def _missing(self, class_: Class, name: str, pos: Position) -> Values:
        made = self.read(self.cell("made", self.intern(("C", class_, True)), name))
        if made:
            return made
        held = self.held_by(class_)
        if held is not None:
            if name == "data" and self.held_as[held] in _HAVING_DATA:
                return self.only(held)
            if self.whole:  # those that are written in Python call what is overridden
                self.call_back(self.intern(("I", class_, True)), name, pos, written=True)
            return self.container_attribute(held, name, pos)
        outside = self.active_bases(class_)
        if name in _ACCESSORS and self.whole and "builtins.property" in outside:
            return self._accessor(class_, name) or self.unknown
        instance = self.intern(("I", class_, False))
        inherited = self.outside.inherited(instance, class_, name, pos)
        if inherited is not None:
            return inherited
        if outside:
            dotted = outside[0]
            if dotted != "?":
                self.facts.append((f.EXTERNAL, f"{dotted}.{name}", pos, False))
                return self.single(("X", f"{dotted}.{name}"))
            return self.unknown
        self.facts.append((f.UNRESOLVED, f"{class_.id}.{name}", "no-such-attribute", pos))
        return self.unknown if self.whole else self.unknown | self.stored_somehow(class_)

    def _accessor(self, class_: Class, name: str) -> Values:
        """``fget`` of a class that extends ``property``: what its constructor is given."""
        owner = self.find_member(class_, "__init__")
        given: set[int] = set()
        for value in tuple(self.member_values(owner, "__init__")) if owner is not None else ():
            kind = self.values[value]
            if kind[0] == "F":
                index = kind[1].signature.by_name.get(name)
                if index is not None:
                    given |= self.read(self.parameter_cell(kind[1], index))
        return given

    def _bind_to_class(self, value: int, receiver: Values, pos: Position) -> Values:
        kind = self.values[value]
        if kind[0] == "F":
            if kind[1].unit.flags & s.CLASSMETHOD:
                return self.single(("B", kind[1], next(iter(receiver))))
        elif kind[0] == "CF":
            return self.single(("PT", kind[1], (self.shared(receiver),), ()))
        elif kind[0] == "I":
            return self._descriptor(value, kind[1], "__get__", [EMPTY, receiver], pos)
        return self.only(value)

    def _descriptor(
        self, value: int, class_: Class, dunder: str, args: list[Values], pos: Position
    ) -> Values:
        if self.find_member(class_, dunder) is None:
            return self.only(value)
        return self.call_member(class_, dunder, [self.only(value), *args], pos, "descriptor")

    def _instance_attribute(
        self, receiver: int, class_: Class, exact: bool, name: str, pos: Position
    ) -> Values:
        values: set[int] = set()
        private = self._private.get(name)
        if private is not None:
            (class_, name), exact = private, True
        owner = self.find_member(class_, name)
        getter = self.find_member(class_, "__getattribute__")
        if getter is not None:
            values |= self.call_member(
                class_,
                "__getattribute__",
                [self.only(receiver), self.single(("S", name))],
                pos,
                "getattribute",
            )
        overrides: Values = EMPTY
        if not exact and self.whole:
            overrides = self._overrides("I", class_, owner, name, pos)
            values |= overrides
            if "__getattribute__" in self.hooking:
                asked = [self.single(("S", name))]
                values |= self.call_overrides(class_, getter, "__getattribute__", asked, pos)
        if owner is not None:
            self.facts.append((f.MEMBER, owner, name, pos, False, "read", True))
            if not exact:
                self.facts.append((f.MEMBER, class_, name, pos, True, "read", False))
            is_stored = self.whole and self.is_only_declared(owner, name)
            for value in tuple(self.member_values(owner, name)):
                if is_stored:  # by instances: what it is of is no descriptor there (3.3.2)
                    values.add(value)
                elif not (self._is_left_open(value) and (overrides or self.is_protocol(owner))):
                    values |= self._bind_to_instance(value, receiver, pos)
                if not exact and not self.whole and self._is_to_be_defined(value):
                    values |= self.single(("O", class_, name))
            if self._only_sets(owner, name):  # `@Base.name.setter`: it is read as before
                values |= self._super_member(owner, class_, receiver, name, pos) or EMPTY
            values |= self.declared_below(class_, owner, name)
            for other in self.instead_of(class_, owner, name):
                values |= self._inherited(other, receiver, name, pos)
        else:
            if not exact or not self.whole:  # a slice tells by it which names are asked for
                self.facts.append((f.MEMBER, class_, name, pos, not exact, "read", False))
            values |= self._of_open_bases(class_, name, pos, instances=True)
        values |= self._of_another_class(class_, name, pos)
        stored = self._instance_state(class_, name)
        if not self.whole and owner is not None and self._is_filled(class_, owner, name, values):
            values |= self.single(("O", class_, name))
        if not exact and self.whole:
            stored = stored | self.read(self.cell("below", class_, name))
        if not exact and not self.whole and self._is_had_below(class_, name):
            values |= self.single(("O", class_, name))
        if stored and owner is not None and self.whole:
            stored = self._fitting_member(class_.declarers.get(name, owner), name, stored)
        values |= stored
        on_class = self.set_on_class(class_, name, exact)
        for value in on_class if self.whole else on_class | self._set_by_metaclass(class_, name):
            values |= self._bind_to_instance(value, receiver, pos)
        if not exact and self.whole and "__getattr__" in self.hooking:
            values |= self.fall_back_below(class_, owner, name, pos)
        if owner is None and not on_class and not self.has_stored(class_, name):
            asked = [self.only(receiver), self.single(("S", name))]
            rule, hook = "getattr", "__getattr__"
            put = self.call_put(class_, hook, asked, {}, EMPTY, pos, exact=exact, rule=rule)
            if put:
                return values | put
        if (
            self.is_stored_late(class_, name)
            if owner is None
            else self.falls_back(class_, owner, name)
        ):
            values |= self.call_member(
                class_,
                "__getattr__",
                [self.only(receiver), self.single(("S", name))],
                pos,
                "getattr",
            )
        elif owner is None and not self.has_stored(class_, name):
            if name == "__class__":
                return self.single(("C", class_, exact))
            if name == "__dict__":
                return self.single(("ND", receiver))
            if name == "__annotations__":
                self.note_annotations(self.only(receiver), pos, "hints")
            fallback = self.find_member(class_, "__getattr__")
            inherited: Values | None = None
            if fallback is not None or getter is not None:
                inherited = self.outside.inherited(receiver, class_, name, pos)
            if inherited is not None:
                values |= inherited
            elif fallback is not None:
                values |= self.call_member(
                    class_,
                    "__getattr__",
                    [self.only(receiver), self.single(("S", name))],
                    pos,
                    "getattr",
                )
                if not exact and not self.whole and self.has_below(class_, "__getattr__"):
                    values |= self.single(("O", class_, name))
            elif name in self.named_fields(class_):
                if not self.whole:
                    values |= self.single(("O", class_, name))
            elif not values and name in SPECIAL_NAMES:
                return self._asking(receiver, class_, name, pos)
            elif not values:
                missing = self._bound_to(receiver, self._missing(class_, name, pos))
                if not self.whole and self.is_metaclass(class_):  # of a class that it has made
                    made = self.single(("O", class_, MADE))
                    missing = missing | self.load_attribute(made, name, pos)
                if not exact and not self.whole:
                    return missing | self.single(("O", class_, name))
                return missing
        return values

    def _asking(self, receiver: int, class_: Class, name: str, pos: Position) -> Values:
        """A special method of a base outside, where it asks its object for others by name.

        ``names.__and__`` of a ``collections.abc.Set`` calls ``_from_iterable``. Others matter
        where operators call them.
        """
        if not self.outside.asked_by(class_, name).known:
            return EMPTY
        inherited = self.outside.inherited(receiver, class_, name, pos)
        if inherited is None:  # no stub has `__rand__`
            self.call_back(receiver, name, pos, written=True)
        return inherited or EMPTY

    def _is_filled(self, class_: Class, owner: Class, name: str, known: Values) -> bool:
        """Whether only a generated constructor knows what is in a field, default or not."""
        objects = [self.values[value] for value in self.objects_in(known)]
        return (
            self.is_assigned(owner, name)
            and (
                bool(owner.info.decorators)
                or all(kind[0] == "I" and self.is_typed_dict(kind[1]) for kind in objects)
            )
            and self.constructor_is_generated(class_)
        )

    def named_fields(self, class_: Class) -> tuple[str, ...]:
        """The fields of an instance whose class extends what ``namedtuple`` has made."""
        for each in self.mro(class_):
            if each.named:
                return each.named
        return ()

    def _mangled(self, name: str) -> str:
        """``__x`` in the body of a class that has it means that very class's (6.2.1)."""
        function = None if self.current is None else self.method_around(self.current)
        if name.endswith("__") or function is None or function.unit.owner < 0:
            return name
        owner = self.class_(function.module, function.unit.owner)
        if name not in owner.info.members:
            return name
        return self._privately(name, owner)

    def _privately(self, name: str, owner: Class) -> str:
        mangled = f"{name} of {owner.id}"
        self._private[mangled] = (owner, name)
        return mangled

    def _overrides(
        self, tag: str, class_: Class, owner: Class | None, name: str, pos: Position
    ) -> Values:
        """Members of subclasses that an instance (``I``) or class (``C``) may really be of."""
        values: set[int] = set()
        getting = "property"
        if tag == "I" and self.whole and self._has_plain(class_, owner, name):
            getting = "property-below"
        for found, subclass in self.overriding(class_, owner, name):
            self.facts.append((f.MEMBER, found, name, pos, True, "read", False))
            below = self.intern((tag, subclass, False))
            for value in tuple(self.member_values(found, name)):
                kind = self.values[value]
                if kind[0] == "F" and self._is_abstract(kind[1]):
                    continue
                if tag == "I":
                    values |= self._bind_to_instance(value, below, pos, getting)
                else:
                    values |= self._bind_to_class(value, self.only(below), pos)
        return values

    def _has_plain(self, class_: Class, owner: Class | None, name: str) -> bool:
        """Whether instances have an attribute that calls nothing when it is read."""
        if owner is None:
            return self.has_stored(class_, name)
        kinds = [self.values[value] for value in self.member_values(owner, name)]
        return not any(
            kind[0] in _GETTING or (kind[0] == "F" and kind[1].unit.flags & _PROPERTY)
            for kind in kinds
        )

    def _is_left_open(self, value: int) -> bool:
        """Whether a member of a base class is there for subclasses to override."""
        kind = self.values[value]
        return kind[0] == "F" and self.is_left_open(kind[1])

    def is_left_open(self, function: Function) -> bool:
        """Whether a function is a method that stands there for those of subclasses."""
        if self.whole and function.unit.flags & s.UNIMPLEMENTED:
            return True
        return self._is_abstract(function)

    def _is_to_be_defined(self, value: int) -> bool:
        """Whether a member of a base class gives nothing: subclasses have it."""
        kind = self.values[value]
        if kind[0] == "PY":
            return any(map(self._is_to_be_defined, kind[1]))
        return kind[0] == "F" and bool(kind[1].unit.flags & (s.ABSTRACT | s.UNIMPLEMENTED))

    def _is_abstract(self, function: Function) -> bool:
        """Whether a method only runs where ``super()`` asks for it."""
        unit = function.unit
        if not self.whole:
            return False
        if unit.flags & s.ABSTRACT:
            return True
        does_nothing = all(op[0] in _DOING_NOTHING for op in unit.ops)
        return (
            does_nothing
            and unit.owner >= 0
            and self.is_protocol(self.class_(function.module, unit.owner))
        )

    def answers(self, class_: Class, name: str) -> bool:
        """Whether an instance has something of the repo to call as ``name`` (3.3.12)."""
        if self.find_member(class_, name) is not None:
            return True
        if name.startswith("__"):
            return False  # special methods are looked up on the type
        return self._stores(class_, name) or self.find_member(class_, "__getattr__") is not None

    def has_stored(self, class_: Class, name: str) -> bool:
        """Whether instances have the attribute: a ``__setattr__`` may store it elsewhere."""
        return self._stores(class_, name) and (
            self.find_member(class_, "__setattr__") is None
            or any(name in k.info.self_stores for k in self.mro(class_))
        )

    def written_of(self, class_: Class) -> frozenset[str]:
        """The attributes that methods store, of the class or above, or code of their modules.

        Most attributes of most classes are none of these: only elsewhere somebody stores them.
        """
        line = self.mro(class_)
        known = class_.written
        if known is None or known[0] is not line:
            modules = dict.fromkeys(k.module for k in line)
            found = frozenset().union(
                *(k.info.self_stores for k in line if k.info.self_stores),
                *(module.summary.attribute_writers for module in modules),
            )
            known = class_.written = line, self._written.setdefault(found, found)
        return known[1]

    def _stores(self, class_: Class, name: str) -> bool:
        if not self.whole and name not in self.written_of(class_):
            for k in self.mro(class_):
                cell = k.attributes.get(name)
                if cell is not None and cell.values:
                    return True
            return False
        for k in self.mro(class_):
            if name in k.info.self_stores:
                return True
            cell = k.attributes.get(name)
            if cell is not None and cell.values:
                return True
        return bool(self.set_on_class(class_, name, True))

    def set_on_class(self, class_: Class, name: str, exact: bool) -> Values:
        """What code assigns to the attribute of the class itself: instances bind it.

        For a slice those who may do so were evaluated with :meth:`_instance_state`.
        """
        values: set[int] = set()
        if not self.whole:
            if name not in self.written_of(class_):
                return EMPTY
            for k in self.mro(class_):
                if name in k.module.summary.attribute_writers:
                    values |= self.read(self.cell("set on class", k, name))
            return values
        if not self.read(self.cell("set on any class", name)):
            return EMPTY  # hardly any attribute is: nothing more is asked of the others
        values |= self.put_on(self.mro(class_), name)
        if not exact:
            values |= self.read(self.cell("set on class below", class_, name))
        return values

    def put_on(self, line: Sequence[Class], name: str) -> Values:
        """What code stores on the classes of ``line``, up to the first that surely has its own."""
        values: Values = EMPTY
        for k in line:
            values = values | self.read(self.cell("set on class", k, name))
            if self._surely_binds(k, name):
                break
        return values

    def _surely_binds(self, class_: Class, name: str) -> bool:
        """Whether the body of the class binds the name whenever it runs, and nobody deletes it.

        A metaclass may put another in its place: that stands where all that is put there does.
        """
        if has_no_statement(class_) or name in self.deleted or not self.binds(class_, name):
            return False
        if self.metaclasses_of(class_):
            return False
        every = class_.module.summary.pieces
        pieces = [every[index] for index in class_.info.members[name]]
        if not all(name in each.binds for each in pieces):
            return False  # `del name`
        return not all(each.conditional for each in pieces)

    def call_put(
        self,
        class_: Class,
        name: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        exact: bool,
        rule: str,
    ) -> Values:
        """Call what code has stored as a special method of the class: ``C.__init__ = start``."""
        made: Values = EMPTY
        if self.whole and name in self.stored:
            for value in sorted(self.set_on_class(class_, name, exact)):
                kind = self.values[value]
                if kind[0] == "F":
                    made = made | self.call_function(
                        kind[1], args, pos, rule=rule, keywords=keywords, spread=spread
                    )
        return made

    def _set_by_metaclass(self, class_: Class, name: str) -> Values:
        """What a metaclass stores on the classes that it makes, in a slice."""
        values: Values = EMPTY
        for metaclass in self.metaclasses_of(class_):
            if self.find_member(metaclass, "__prepare__") is not None:
                for k in self.mro(class_):
                    values = values | self.read(self.cell("prepared", k, name))
            # By `cls.x = y` of its methods, or by `made.x = y` where one has just made the class.
            if any(
                name in k.info.self_stores or name in k.module.summary.attribute_writers
                for k in self.mro(metaclass)
            ):
                values = values | self._instance_state(metaclass, name)
            for function in self._adding(metaclass, name):
                self.ensure(function, STORES | RETURNS)  # what it makes the class with, too
                values = values | self.read(self.cell("added", function, name))
        return values

    def _adding(self, metaclass: Class, name: str) -> Iterator[Function]:
        """``__new__`` of a metaclass, if it puts ``name`` into the namespace that it is given."""
        owner = self.find_member(metaclass, "__new__")
        for value in self.member_values(owner, "__new__") if owner is not None else ():
            kind = self.values[value]
            if kind[0] == "F" and name in stored(kind[1].unit, NAMESPACE):
                yield kind[1]

    def _instance_state(self, class_: Class, name: str) -> Values:
        """What methods (and code of the class's module) assign to the attribute."""
        values: set[int] = set()
        if not self.whole and name not in self.written_of(class_):
            for k in self.mro(class_):
                values |= self.read(self.attribute_cell(k, name))
            return values
        for k in self.mro(class_):
            for unit in k.info.self_stores.get(name, ()):
                writer = self.function(k.module, unit)
                if writer is not self.current:
                    self.ensure(writer, STORES)
                elif STORES & ~writer.wanted:
                    writer.wanted |= STORES
                    self.enqueue(writer)
            for unit in k.module.summary.attribute_writers.get(name, ()):
                writer = self.function(k.module, unit)
                if writer is not self.current and writer.unit.owner != k.info.index:
                    self.ensure(writer, STORES)
            values |= self.read(self.attribute_cell(k, name))
        return values

    def in_namespace(self, class_: Class, name: str, *, below: bool) -> Values:
        """What instances have in their namespace; ``below``: those of subclasses, too."""
        held = self._instance_state(class_, name)
        return held | self.read(self.cell("below", class_, name)) if below else held

    def attribute_cell(self, class_: Class, name: str) -> Cell:
        """What is assigned to ``name`` on instances of ``class_``."""
        cell = class_.attributes.get(name)
        if cell is None:
            cell = class_.attributes[name] = Cell()
        return cell

    def have_stored_somehow(self, receiver: int, values: Values) -> None:
        """``values`` are stored on an instance under a name that is computed, in a slice."""
        known = EMPTY if self.whole else self.traced(values) - self.unknown
        if known and self.values[receiver][0] == "I":
            self.write(self.cell("stored somehow", self.values[receiver][1]), known)

    def stored_somehow(self, class_: Class) -> Values:
        """What instances have so."""
        return EMPTY.union(
            *(self.read(self.cell("stored somehow", each)) for each in self.mro(class_))
        )

    def _bind_to_instance(
        self, value: int, receiver: int, pos: Position, getting: str = "property"
    ) -> Values:
        """What reading ``value`` of the class gives; ``getting``: the rule by which it is called."""
        kind = self.values[value]
        if kind[0] == "F":
            function: Function = kind[1]
            flags = function.unit.flags
            if flags & s.STATIC:
                return self.only(value)
            if flags & (s.PROPERTY | s.CACHED_PROPERTY):
                if len(function.unit.params) > 1:
                    return EMPTY  # the setter, which shares the name
                return self.call_function(function, [self.only(receiver)], pos, rule=getting)
            if flags & s.CLASSMETHOD:
                of = self.values[receiver]
                bound_to = self.intern(("C", of[1], of[2])) if of[0] == "I" else receiver
                return self.single(("B", function, bound_to))
            return self.single(("B", function, receiver))
        if kind[0] == "DF":
            saved, self.facts = self.facts, []
            try:
                return self.call(kind[1], [], {}, pos)
            finally:
                self.facts = saved
        if kind[0] == "CD":
            bound: Values = EMPTY
            for each in kind[2]:
                bound = bound | self._bind_to_instance(each, receiver, pos)
            return self.decorated_by(kind[1], bound)
        if kind[0] == "CM":
            return self.single(("PT", self.only(value), (self.only(receiver),), ()))
        if kind[0] == "PB":
            return self.single(("PT", kind[1], (self.only(receiver), *kind[2]), kind[3]))
        if kind[0] == "CF":
            of = self.values[receiver]
            owner = self.single(("C", of[1], of[2])) if of[0] == "I" else self.only(receiver)
            return self.single(("PT", kind[1], (owner,), ()))
        if kind[0] == "PY":
            return self.call(kind[1], [frozenset((receiver,))], {}, pos, rule=getting)
        if kind[0] == "I":
            of = self.values[receiver]
            owner = self.single(("C", of[1], of[2])) if of[0] == "I" else EMPTY
            return self._descriptor(value, kind[1], "__get__", [self.only(receiver), owner], pos)
        if kind[0] == "R" and not self.whole:  # what a decorator gives that callers know, perhaps
            return self.only(value) | self.operate(value, "__get__", [self.only(receiver)], pos)
        if kind[0] == "X" and self.values[receiver][0] == "I":
            class_: Class = self.values[receiver][1]
            name = self.method_of_base(class_, kind[1])
            if name is not None:
                return self.outside.inherited(receiver, class_, name, pos) or self.only(value)
        return self.only(value)

    def zero_argument_super(
        self,
        module: Module,
        class_index: int,
        first: Register,
        registers: Sequence[Values],
        pos: Position,
    ) -> Values:
        """PEP 3135."""
        if self.whole:
            self.facts.append((f.EXTERNAL, "builtins.super", pos, True))
        if class_index < 0:
            return self.unknown
        class_ = self.class_(module, class_index)
        receivers = registers[first] if first >= 0 else self.single(("I", class_, False))
        made: set[int] = set()
        for receiver in receivers:
            if self.values[receiver][0] in ("I", "C"):
                made.add(self.intern(("SU", class_, receiver)))
        return made or self.single(("SU", class_, self.intern(("I", class_, False))))

    def this_class(self, module: Module, index: int, pos: Position) -> Values:
        """``__class__`` in a method: the class in whose body it stands (3.3.3.6)."""
        class_ = self.class_(module, index)
        self.facts.append((f.CLASSREF, class_, pos))
        return self.single(("C", class_, True))

    def _super_attribute(self, class_: Class, receiver: int, name: str, pos: Position) -> Values:
        of = self.values[receiver]
        start = of[1] if of[0] in ("I", "C") else class_
        values: set[int] = set()
        if of[0] in ("I", "C") and not of[2]:  # a mixin between them may come first
            self.facts.append((f.MEMBER, class_, name, pos, True, "super", False))
            for subclass in self.live_subclasses(start) if self.whole else ():
                below = self.intern((of[0], subclass, True))
                values |= self._super_member(class_, subclass, below, name, pos) or EMPTY
        found = self._super_member(class_, start, receiver, name, pos)
        if found is not None:
            return values | found
        values |= self._of_open_bases(class_, name, pos, instances=of[0] == "I")
        if values:
            return values
        outside = [b for b in self.external_bases(class_) if b != "?"]
        dotted = outside[0] if outside else "builtins.object"
        if self.whole and of[0] == "C" and name == "__call__":
            return self.single(("TC", of[1], of[2]))
        held = self.held_by(of[1]) if of[0] == "I" and name in HOLDING else None
        if held is not None:
            self.call_back(receiver, name, pos, written=True)
            kept = self.container_attribute(held, name, pos)
            if name == "__getitem__" and self.find_member(of[1], "__missing__") is not None:
                kept = kept | (self.outside.inherited(receiver, class_, name, pos) or EMPTY)
            return kept
        if outside:
            inherited = self.outside.inherited(receiver, class_, name, pos)
            if inherited is not None:
                return inherited
        if of[0] == "I":
            self.call_back(receiver, name, pos, written=True)
        if name == "__new__" and all(map(self.outside.is_told_of, outside)):
            dotted = "builtins.object"  # no base has one
        self.facts.append((f.EXTERNAL, f"{dotted}.{name}", pos, False))
        method = self.single(("X", f"{dotted}.{name}"))
        if of[0] == "I" and not outside and name in BY_DEFAULT:
            return self.single(("PT", method, (self.only(receiver),), ()))
        return method

    def _super_member(
        self, class_: Class, start: Class, receiver: int, name: str, pos: Position
    ) -> Values | None:
        """The member behind ``class_`` in the order of ``start``."""
        alternatives = self._alternatives(class_) if start is class_ else ()
        if not alternatives:
            order = self.mro(start)
            after = order[order.index(class_) + 1 :] if class_ in order else self.mro(class_)[1:]
            having = (k for k in after if self.binds(k, name))
            others = (k for k in having if not self._is_instead(k, class_, order))
            owner = next(others, None)
            on_class = self._put_behind(after, receiver, name, pos)
            if owner is None:
                return on_class or None
            found = on_class | self._inherited(owner, receiver, name, pos)
            others_too = name in self.deleted or not self.whole
            for other in self.instead_of(start, owner, name, class_) if others_too else ():
                found = found | self._inherited(other, receiver, name, pos)
            return found
        values: Values | None = None
        for base in alternatives:
            owner = self.find_member(base, name)
            if owner is not None and self.binds(owner, name):
                values = self._inherited(owner, receiver, name, pos) | (values or EMPTY)
        return values

    def _put_behind(
        self, after: Sequence[Class], receiver: int, name: str, pos: Position
    ) -> Values:
        """What code stores on the classes ``after`` one, over a whole program: ``super()`` gives it."""
        values: Values = EMPTY
        if not self.whole or not self.read(self.cell("set on any class", name)):
            return values
        for value in self.put_on(after, name):
            values = values | self._bind_to_instance(value, receiver, pos)
        return values

    def _alternatives(self, class_: Class) -> list[Class]:
        """The classes of which any may be its only base: ``class Wrapped(cls)``, of each call."""
        bases = self.repo_bases(class_) if self.whole and len(class_.base_values or ()) == 1 else ()
        return [*bases] if len(bases) > 1 else []

    def _of_another_class(self, class_: Class, name: str, pos: Position) -> Values:
        """What instances have as those of the class that a method makes them: 3.2.10, ``__class__``.

        ``self.__class__ = Open``.
        """
        values: Values = EMPTY
        if name[:2] == "__":
            return values
        for made in self.made_into(class_, pos):
            kind = self.values[made]
            if kind[0] != "I":
                values = values | self._load(self.only(made), name, pos)
                continue
            owner = self.find_member(kind[1], name)
            if owner is not None:
                values = values | self._inherited(owner, made, name, pos)
            values = values | self._instance_state(kind[1], name)
        return values

    def made_into(self, class_: Class, pos: Position) -> list[int]:
        """Instances of the other classes that those of ``class_`` become, one after the other.

        What is not known is what a call of the class gives that callers pass.
        """
        met = {class_}
        waiting = [class_]
        made: dict[int, None] = {}
        while waiting:
            one = waiting.pop()
            if not self.whole and "__class__" not in self.written_of(one):
                continue
            if not any(
                "__class__" in k.info.self_stores
                or "__class__" in k.module.summary.attribute_writers
                for k in self.mro(one)
            ):
                continue
            for value in tuple(self._instance_state(one, "__class__")):
                kind = self.values[value]
                if kind[0] == "C" and kind[1] not in met:
                    met.add(kind[1])
                    waiting.append(kind[1])
                    made[self.intern(("I", kind[1], True))] = None
                elif kind[0] in OPEN and not self.whole:
                    made |= dict.fromkeys(self.derive("R", value, ()))
        return [*made]

    def _only_sets(self, owner: Class, name: str) -> bool:
        """Whether ``owner`` binds a property of which it has no getter."""
        kinds = [self.values[value] for value in self.member_values(owner, name)]
        return bool(kinds) and all(
            not kind[1]
            if kind[0] == "PY"
            else kind[0] == "F" and kind[1].unit.flags & s.PROPERTY and len(kind[1].unit.params) > 1
            for kind in kinds
        )

    def _inherited(self, owner: Class, receiver: int, name: str, pos: Position) -> Values:
        """What ``owner``, a class the receiver inherits from, gives for ``name`` to it."""
        self.facts.append((f.MEMBER, owner, name, pos, False, "read", True))
        values: set[int] = set()
        for value in tuple(self.member_values(owner, name)):
            kind = self.values[value]
            if kind[0] == "F" and not kind[1].unit.flags & (
                s.STATIC | s.PROPERTY | s.CACHED_PROPERTY
            ):
                values |= self.single(("B", kind[1], receiver))
            else:
                values |= self._bind_to_instance(value, receiver, pos)
        return values

    def _is_instead(self, candidate: Class, class_: Class, order: Sequence[Class]) -> bool:
        """Whether one base of another class in ``order`` is either the one or the other."""
        either = {self.intern(("C", each, True)) for each in (candidate, class_)}
        others = (each for each in order if each is not class_)
        return any(either <= base for each in others for base in each.base_values or ())

    def own_name(self, value: int, deep: int = 0) -> str | None:
        """The ``__name__`` of a function, that of what it wraps if it does, or of a class."""
        kind = self.values[value]
        if kind[0] == "C" and kind[2]:
            return str(kind[1].info.qualname.rpartition(".")[2])
        if kind[0] != "F" or self.read(self.cell("fa", kind[1], "__name__")):
            return None
        wrapped = self.read(self.cell("fa", kind[1], "__wrapped__"))
        if not wrapped:
            return str(kind[1].unit.qualname.rpartition(".")[2])
        names = {self.own_name(each, deep + 1) for each in wrapped if deep < _MOST_WRAPPERS}
        return names.pop() if len(names) == 1 else None

    def _name_of_function(self, function: Function, name: str, pos: Position) -> Values:
        """``function.__name__``; in a slice, which: code looks up attributes by parts of it."""
        if self.whole:
            return self.constants[s.STR]
        given = self.read(self.cell("fa", function, name))
        wrapped = self.read(self.cell("fa", function, "__wrapped__"))
        own = self.name_text(function.unit.qualname, name)
        if given or wrapped:
            own = own | self.constants[s.STR]
        return own | given | self.load_attribute(wrapped, name, pos) if wrapped else own | given

    def name_text(self, qualname: str, name: str) -> frozenset[int]:
        """The name of a definition as a text, or a text that is made of it."""
        own = qualname if name == "__qualname__" else qualname.rpartition(".")[2]
        return self.single(("XI", "builtins.str", own))

    def made_of_name(self, value: int) -> Values:
        """What a part of a text, or a changed one, is made of, if that is the name of a definition."""
        return self.only(value) if is_name(self.values[value]) else EMPTY

    def _function_attribute(self, function: Function, name: str, pos: Position) -> Values:
        if name == "__wrapped__":
            return self.read(self.cell("fa", function, name)) or self.single(("F", function))
        if name == "register" and function in self.dispatchers:
            return self.single(("SR", function, EMPTY))
        if name in ("setter", "deleter", "getter") and function.unit.flags & s.PROPERTY:
            return self.single(("X", f"builtins.property.{name}"))
        if name in _OF_PROPERTIES and function.unit.flags & (s.PROPERTY | s.CACHED_PROPERTY):
            return self.single(("F", function))  # `C.p.fget`: of all that share the name
        if name == "__call__":
            return self.single(("F", function))
        if name == "__get__":
            return self.single(("FG", function))
        if name in ("__name__", "__qualname__"):
            return self._name_of_function(function, name, pos)
        if name in ("__module__", "__doc__"):
            return self.constants[s.STR]
        if name == "__func__":  # of a class or static method, out of the namespace of its class
            return self.single(("F", function))
        if name in _HELD_BY_FUNCTIONS:
            return self.unknown
        found = self.read(self.cell("fa", function, name))
        if found or not name.startswith("__"):  # who set it cannot always be seen
            return found or self.unknown
        return self.single(("X", f"builtins.function.{name}"))

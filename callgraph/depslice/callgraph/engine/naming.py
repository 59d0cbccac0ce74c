"""Attributes and variables whose names are computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.dispatching import Dispatching
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Value, Values, is_name
from depslice.callgraph.summary import Position

_HAVING_MEMBERS: Final = OPEN | {"I", "C", "M"}
_NAMED: Final = frozenset({"B", "C", "F"})
_NAMESPACES: Final = frozenset({"ND", "NS"})
"""Kinds of values that have their names as keys."""
_OBJECTS: Final = frozenset({"C", "I", "M"})
"""Kinds of values whose members can be listed."""
_GETTING_MEMBERS: Final = frozenset({("X", "inspect.getmembers")})
_LISTING: Final = _GETTING_MEMBERS | {("X", f"builtins.{n}") for n in ("list", "sorted", "tuple")}
"""Functions that list, as values."""
DESCRIBING: Final = ("__get__", "__set__", "__delete__")
"""The methods of descriptors (3.3.2)."""
_STORING: Final = frozenset({"setattr", "vars"})
"""Functions by which attributes are stored whose names are computed."""
_MOST_METHODS: Final = 60
_FEW_OBJECTS: Final = 3


class ComputedNames(Dispatching):
    """``getattr(x, name)``, ``globals()[name]`` and their like."""

    def dynamic_attribute(
        self, receivers: Values, prefix: str, suffix: str, pos: Position
    ) -> Values:
        """``getattr(receiver, prefix + … + suffix)``: every member that fits."""
        result: set[int] = set()
        if not prefix and not suffix:
            receivers = self._told_apart(receivers)
        for receiver in tuple(receivers):
            value = self.values[receiver]
            if value[0] in ("I", "C"):
                self.facts.append((f.DYNAMIC, value[1], prefix, suffix, pos, receiver))
                result |= self._matching_members(receiver, value[1], prefix, suffix, pos)
            elif value[0] == "M":
                self.facts.append((f.DYNAMIC, value[1], prefix, suffix, pos, receiver))
                result |= self._matching_names(value[1], prefix, suffix, pos)
            elif value[0] in OPEN or self.may_be_caught(receiver):
                self.facts.append((f.DYNAMIC, None, prefix, suffix, pos, receiver))
                result |= self.unknown
                if value[0] in OPEN and (prefix or suffix):
                    result |= self.derive("AM", receiver, (prefix, suffix))
        if not receivers:
            self.facts.append((f.DYNAMIC, None, prefix, suffix, pos, self.unknown_id))
        if self.whole and (prefix or suffix):
            self.chosen_by_name |= result & self.functions
        return result or self.unknown

    def _told_apart(self, receivers: Values) -> Values:
        """In a slice: ``receivers``; where they are more than a few modules, any may be meant.

        Some name of some module (``getattr(import_module(given), name)``) is everything there is.
        """
        modules = {each for each in receivers if self.values[each][0] == "M"}
        if self.whole or len(modules) <= _FEW_OBJECTS:
            return receivers
        return (receivers - modules) | self.unknown

    def among(
        self,
        values: Values,
        names: Values,
        listed: Values,
        by: Sequence[Values],
        others: tuple[tuple[str, str], ...] | None,
        pos: Position,
    ) -> Values:
        """What of ``values`` goes with ``names``, where ``listed`` has been listed by name.

        ``for name, value in vars(x).items() if name.startswith("test_")``: members of ``x`` by
        that prefix. What is no namespace, and no object whose members are listed ``by``
        ``inspect.getmembers``, is no matter. ``others``: the names have none of these starts and
        ends.
        """
        functions = [{self.values[v][:2] for v in each} for each in by]
        if not all(each and each <= _LISTING for each in functions):
            return values
        kinds = _OBJECTS if _GETTING_MEMBERS in functions else _NAMESPACES
        known = {v for v in listed if self.values[v][0] in kinds}
        if not known or any(self.values[v][0] not in OPEN for v in listed - known):
            return values
        if others is not None:
            left = {each[1] for each in self._listed_but(known, others) if each[0] in _NAMED}
            return {
                value
                for value in values
                if not self._is_called(value, others) or self.values[value][1] in left
            }
        found: set[int] = set()
        for each in known:
            kind = self.values[each]
            if kind[0] == "NS":
                found |= self.global_names(kind[1], names, pos)
                continue
            if kind[0] == "ND" and self.values[kind[1]][0] == "I":
                found |= self._stored_by_name(kind[1], names, pos)
                continue
            owner = self.only(kind[1] if kind[0] == "ND" else each)
            for name in map(self.values.__getitem__, names):
                if name[0] == "S":
                    found |= self.load_attribute(owner, name[1], pos)
                elif name[0] == "N":
                    found |= self.dynamic_attribute(owner, name[1], name[2], pos)
        if not self.whole:  # a slice traces who passes what nobody knows
            found |= {value for value in values if self.values[value][0] in OPEN}
        return found or values

    def _stored_by_name(self, instance: int, names: Values, pos: Position) -> Values:
        """What methods store on ``self`` by these names; what its class has is no part of it."""
        found: set[int] = set()
        asked = [self.values[name] for name in names]
        order = self.mro(self.values[instance][1])
        for stored in sorted({each for k in order for each in k.info.self_stores}):
            if any(
                name[1] == stored
                if name[0] == "S"
                else name[0] == "N" and stored.startswith(name[1]) and stored.endswith(name[2])
                for name in asked
            ):
                found |= self.load_attribute(self.only(instance), stored, pos)
        return found

    def _listed_but(self, listed: Values, ends: tuple[tuple[str, str], ...]) -> Iterator[Value]:
        """What namespaces have by names that have none of these starts and ends."""
        for kind in map(self.values.__getitem__, listed):
            owner = self.values[kind[1]] if kind[0] == "ND" else kind
            found: list[tuple[str, Values]] = []
            if owner[0] in ("C", "I"):
                for k in self.mro(owner[1]):
                    found += [(name, self.member_values(k, name)) for name in k.info.members]
            module = self.program.module(owner[1]) if owner[0] in ("M", "NS") else None
            if module is not None:
                names = self.program.names_in(module)
                found += [(name, self.module_member(module, name)) for name in names]
            for name, values in found:
                if not any(name.startswith(start) and name.endswith(end) for start, end in ends):
                    yield from map(self.values.__getitem__, values)

    def _is_called(self, value: int, ends: tuple[tuple[str, str], ...]) -> bool:
        """Whether it is a function or a class whose own name has one of these starts and ends."""
        kind = self.values[value]
        if kind[0] not in _NAMED:
            return False
        _, _, name = kind[1].id.replace(":", ".").rpartition(".")
        return any(name.startswith(start) and name.endswith(end) for start, end in ends)

    def open_name(
        self, receivers: Values, name: int, pos: Position, how: f.Access = "read"
    ) -> bool:
        """``getattr(receiver, name)`` where callers know the name, and perhaps the receiver.

        Whether what they pass settles it; else it may be any attribute. Of one of many modules
        it is what callers name, never any.
        """
        if not self.whole and is_name(self.values[name]):
            opened = [each for each in receivers if self.values[each][0] in OPEN]
            self.facts += [(f.NAMED, each, name, how, pos, False) for each in sorted(opened)]
        if self.whole or self.values[name][0] not in OPEN or name == self.unknown_id:
            return False
        kinds = {each: self.values[each][0] for each in receivers}
        few = self._told_apart(receivers)
        for receiver, kind in kinds.items():
            if kind in _HAVING_MEMBERS or self.may_be_caught(receiver):
                self.facts.append((f.NAMED, receiver, name, how, pos, receiver not in few))
        return bool(kinds) and not any(
            kind == "M" and receiver in few and self._is_current(receiver)
            for receiver, kind in kinds.items()
        )

    def _is_current(self, module: int) -> bool:
        """Whether a module asks itself, as by ``globals()``: for what texts spell."""
        own = None if self.current is None else self.current.module.name
        return bool(self.values[module][1] == own)

    def attribute_by_open(self, receivers: Values, name: int) -> Values:
        """What ``getattr(receiver, name)`` gives where callers know the name.

        Traceable for a few objects; many modules, of which any may be meant, are asked as one.
        """
        told = receivers - self.unknown
        modules = frozenset(told & self.modules)
        if len(modules) <= _FEW_OBJECTS:
            modules = EMPTY
        others = told - modules
        if len(others) > _FEW_OBJECTS or not told:
            return self.unknown
        made = EMPTY.union(*(self.derive("AN", name, self.only(each)) for each in others))
        if modules:
            made = made | self.derive("AN", name, modules)
        return made if len(told) == len(receivers) else made | self.unknown

    def attribute_of_itself(self, receivers: Values, name: int) -> Values:
        """What a module has by a name that callers know, which asks itself: a submodule too.

        ``getattr(__import__(__name__, fromlist=[name]), name)``; what texts spell is beside it.
        """
        if self.whole or self.values[name][0] not in OPEN or name == self.unknown_id:
            return EMPTY
        asked = [each for each in receivers if self.values[each][0] == "M"]
        itself = frozenset(each for each in asked if self._is_current(each))
        return self.attribute_by_open(itself, name) if itself else EMPTY

    def attribute_by_computed(self, receivers: Values, name: int, pos: Position) -> Values:
        """What ``vars(module)[name]`` gives of a name that is no text here: as ``getattr`` does.

        That takes one name, and lists none.
        """
        if self.open_name(receivers, name, pos):
            return self.attribute_by_open(receivers, name)
        found = self.dynamic_attribute(receivers, "", "", pos)
        return found | self.attribute_of_itself(receivers, name)

    def name_of_open(self, receivers: Values, name: int, pos: Position, how: f.Access) -> None:
        """What callers know, receiver and name, is stored or deleted: then it has that name."""
        known_to_callers = frozenset(
            v for v in receivers if self.values[v][0] in OPEN or self.may_be_caught(v)
        )
        self.open_name(known_to_callers, name, pos, how)

    def note_spelled(self, receivers: Values, how: f.Access, pos: Position) -> None:
        """An attribute of ``receivers`` is accessed, by a name that some text spells."""
        self.facts += [(f.BY_NAME, receiver, how, pos) for receiver in sorted(receivers)]

    def note_unknown_name(self, receivers: Values, pos: Position) -> None:
        """A name that is not known is asked for."""
        self.note_spelled(receivers, "read", pos)
        self.facts.append((f.DYNAMIC, None, "", "", pos, self.unknown_id))

    def note_any(self, receivers: Values, name: int, pos: Position, how: f.Access) -> None:
        """Some attribute is stored or deleted of what callers know, by a name that they do not.

        One that starts and ends so is told as ``start*end``.
        """
        if self.whole or (self.values[name][0] in OPEN and name != self.unknown_id):
            return
        ends = self.values[name][1:] if self.values[name][0] == "N" else ("", "")
        for receiver in receivers:
            kind = self.values[receiver]
            if kind[0] in OPEN - {"U"} or self.may_be_caught(receiver):
                self.note_unknown(f.ALL.join(ends), pos, receiver, how)

    def store_somewhere(self, receivers: Values, stored: Values, pos: Position) -> None:
        """``setattr(receiver, name, stored)``: descriptors work where nobody sees them (3.3.2).

        Those that ``receiver`` has, and those that are stored.
        """
        open_ones = frozenset(v for v in stored if self.values[v][0] in OPEN) - self.unknown
        for receiver in receivers if not self.whole else ():
            kind = self.values[receiver]
            if kind[0] == "I":
                self.facts.append((f.MEMBER, kind[1], f.ALL, pos, not kind[2], "write", False))
                self.have_stored_somehow(receiver, stored)
            if kind[0] == "C" or (kind[0] == "I" and self.is_metaclass(kind[1])):
                self.note_descriptors(open_ones, pos)
            elif kind[0] in OPEN:
                self.apply_special(receiver, "=", [stored], pos)
        self.note_descriptors(stored - open_ones, pos)

    def note_descriptors(self, stored: Values, pos: Position) -> None:
        """A class gets ``stored``: whoever reads or stores that of an instance runs its methods.

        What is open is one if what callers pass for it is.
        """
        for value in stored if not self.whole else ():
            kind = self.values[value]
            for name in DESCRIBING if kind[0] == "I" else ():
                owner = self.find_member(kind[1], name)
                if owner is not None:
                    self.facts.append((f.MEMBER, owner, name, pos, not kind[2], "read", True))
            if kind[0] in OPEN and value != self.unknown_id:
                self.facts += [(f.PROTOCOL, name, pos, value) for name in DESCRIBING]

    def global_names(self, module_name: str, keys: Values, pos: Position) -> Values:
        """``globals()[key]``: names of a module, which nothing spells where they are read."""
        module = self.module_value(module_name)
        result: set[int] = set()
        computed = not keys
        noted = len(self.facts)
        for key in tuple(keys):
            kind = self.values[key]
            if kind[0] == "S":
                result |= self.load_attribute(module, kind[1], pos)
            elif kind[0] == "N":
                result |= self.dynamic_attribute(module, kind[1], kind[2], pos)
            else:
                computed = True
        if computed:
            result |= self.dynamic_attribute(module, "", "", pos)
        told: list[f.Fact] = []
        for fact in self.facts[noted:]:
            told.extend(f.answered(fact[1], pos) if fact[0] == f.ASKED else [fact])
        self.facts[noted:] = [
            (*fact, "dynamic") if fact[0] == f.NAME and len(fact) == 5 else fact for fact in told
        ]
        return result

    def _matching_members(
        self, receiver: int, class_: Class, prefix: str, suffix: str, pos: Position
    ) -> Values:
        somehow = EMPTY if self.whole else self.stored_somehow(class_)
        if not prefix and not suffix:
            return self.unknown | somehow
        result: set[int] = set(somehow)
        candidates = [*self.mro(class_), *(self.live_subclasses(class_) if self.whole else ())]
        for k in candidates:
            for name in k.info.members:
                if not (name.startswith(prefix) and name.endswith(suffix)):
                    continue
                special = name[:2] == "__" and name[-2:] == "__"  # `__secret` is `_C__secret`
                if self.whole or not special or prefix[:2] == "__":
                    self.facts.append((f.MEMBER, k, name, pos, False, "read", False))
                    for value in tuple(self.member_values(k, name)):
                        result |= self._bind_to_instance(value, receiver, pos)
        if not self.whole and self.values[receiver][0] == "I":
            stored = dict.fromkeys(name for k in candidates for name in sorted(k.info.self_stores))
            for name in stored:
                if name.startswith(prefix) and name.endswith(suffix):
                    result |= self.load_attribute(self.only(receiver), name, pos)
            if result and any(map(self._stores_somehow, candidates)):
                result |= self.unknown
        return result

    def _stores_somehow(self, class_: Class) -> bool:
        """Whether methods of ``class_`` store attributes by names that are computed."""
        known = self._storing.get(class_)
        if known is None:
            within = f"{class_.info.qualname}."
            known = self._storing[class_] = any(
                op[0] == s.GLOBAL and op[2] in _STORING
                for unit in class_.module.summary.units
                if unit.qualname.startswith(within)
                for op in unit.ops
            )
        return known

    def any_method(self, receivers: Values) -> Values:
        """``getattr(receiver, name)`` for a name that nobody knows: its public methods.

        A guess, once all receivers are known: of many kinds of objects it would tell nothing.
        """
        if not self.read(self.cell("settled")):
            return EMPTY
        objects = [(v, self.values[v][1]) for v in receivers if self.values[v][0] == "I"]
        methods: set[int] = set()
        for receiver, class_ in objects if len(receivers) <= _FEW_OBJECTS else ():
            for k in (*self.mro(class_), *self.live_subclasses(class_)):
                for name in k.info.members:
                    if name[0] != "_":
                        methods |= self._plain_methods(k, name, receiver)
        return methods if len(methods) <= _MOST_METHODS else EMPTY

    def _plain_methods(self, class_: Class, name: str, receiver: int) -> Values:
        """What ``class_`` calls ``name``, bound, if it is a method and no descriptor else."""
        kinds = [self.values[value] for value in self.member_values(class_, name)]
        special = s.PROPERTY | s.CACHED_PROPERTY | s.STATIC | s.CLASSMETHOD
        return {
            self.intern(("B", kind[1], receiver))
            for kind in kinds
            if kind[0] == "F" and not kind[1].unit.flags & special
        }

    def import_names(self, modules: Values, names: Values, pos: Position) -> None:
        """``names`` of ``modules`` are imported: those that there are, and submodules."""
        told = [self.values[name] for name in sorted(names)]
        for each in sorted(self.modules.intersection(modules)):
            module_name = self.values[each][1]
            module = self.program.module(module_name)
            for kind in told:
                if kind[0] == "N":
                    self._matching_names(module_name, kind[1], kind[2], pos)
                elif kind[0] == "S" and (
                    (module is not None and self.program.may_have(module, kind[1]))
                    or self.program.is_module(f"{module_name}.{kind[1]}")
                ):
                    self.load_attribute(self.only(each), kind[1], pos)

    def _matching_names(self, module_name: str, prefix: str, suffix: str, pos: Position) -> Values:
        module = self.program.module(module_name)
        if module is None or not (prefix or suffix):
            return self.unknown
        result: set[int] = set()
        for name in self.program.names_in(module):
            if name.startswith(prefix) and name.endswith(suffix):
                self.facts.append((f.NAME, module_name, name, None, pos))
                result |= self.module_member(module, name)
        return result

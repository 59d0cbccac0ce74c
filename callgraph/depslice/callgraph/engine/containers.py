"""Containers: displays, items, keys, and methods of lists, sets and dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.demands import HASHED
from depslice.callgraph.engine.library import DICTS
from depslice.callgraph.engine.models import DISPLAYS, MODELS, Model
from depslice.callgraph.engine.namespaces import NAMESPACE
from depslice.callgraph.engine.naming import ComputedNames
from depslice.callgraph.engine.parts import names_attributes, users
from depslice.callgraph.engine.values import (
    EMPTY,
    IMPORTED,
    ITERABLE,
    KEPT,
    KEYS,
    NAMED_TUPLE,
    OPEN,
    OPEN_OR_OUTSIDE,
    Cell,
    Class,
    Function,
    Value,
    Values,
)
from depslice.callgraph.lowering.annotations import parse_type
from depslice.callgraph.summary import STR as _STR
from depslice.callgraph.summary import Op, Position, Register

_LISTED: Final = OPEN | {"C", "M"}
"""What has a namespace of which a copy is asked by names that nobody knows."""
DICTIONARIES: Final = frozenset(
    {
        *("builtins.dict", "collections.OrderedDict", "collections.UserDict"),
        "collections.defaultdict",
    }
)
_ROW: Final = "row"
_MERGED: Final = "merged"
_PART: Final = "part"
_LONGEST_DISPLAY: Final = 16
MAPPINGS: Final = frozenset(
    {
        "dict",
        "Dict",
        "Mapping",
        "MutableMapping",
        "defaultdict",
        "OrderedDict",
        "DefaultDict",
        "ChainMap",
        "WeakValueDictionary",
        "MappingProxyType",
    }
)

_FORMS: Final = ("typing.", "typing_extensions.")
"""Where what is subscripted is a type (PEP 484)."""
MOST_KEYS_COPIED: Final = 16
_DISPLAYS: Final = frozenset({s.MAPPING, s.SEQUENCE})
_ROWS: Final = frozenset({"tuple", "list", "dict"})


class ContainerEvaluation(ComputedNames):
    """Values in containers (language reference, 3.3.7 and 6.2.5 to 6.2.7)."""

    _models: ClassVar[Mapping[str, Model]] = MODELS

    def write_item(self, container: int, text: str, values: Values) -> None:
        """``values`` are stored under a known key or at a known place."""
        self._place_item(container, text, values)
        self.write(self.elements_cell(container), values)

    def _place_item(self, container: int, text: str, values: Values) -> None:
        """The same, where what it holds at all is written when all of it is known."""
        self._note_key(container, text)
        self.write(self.item_cell(container, text), values)

    def _note_key(self, container: int, text: str) -> None:
        keys = self.keys_of.get(container)
        if keys is None:
            self.keys_of[container] = {text: None}
        elif text not in keys:
            if keys is self.places.get(len(keys)):
                keys = self.keys_of[container] = keys.copy()
            keys[text] = None

    def _number_places(self, container: int, count: int) -> None:
        """A sequence has ``count`` places. As long as nothing else is known they are shared."""
        if container not in self.keys_of:
            places = self.places.get(count)
            if places is None:
                places = self.places[count] = {str(index): None for index in range(count)}
            self.keys_of[container] = places
        self.lengths[container] = count

    def _site(self, kind: str, register: int) -> int:
        return self.intern(("K", kind, self.current, register))

    def container_of(self, kind: str, op_register: int, elements: Values) -> Values:
        """A container made at this place, holding ``elements``."""
        container = self._site(kind, op_register)
        self.write(self.elements_cell(container), elements)
        return self.only(container)

    def check_kind(self, values: Values, classes: Values, pos: Position) -> None:
        """Python asks whether ``values`` are instances of ``classes``."""
        self._models["builtins.isinstance"](self, Call((values, classes), pos=pos))

    def pass_namespace(self, maker: Function, made: Class, names: Collection[str]) -> None:
        """``maker`` of a metaclass gets what the body of ``made`` binds to ``names``, in a slice."""
        body = self.function(made.module, made.info.unit)
        namespace = self.intern(("K", "dict", body, f"namespace of {made.id}"))
        for name in sorted(names & made.info.members.keys()):
            self.write_item(namespace, name, self.member_values(made, name))
        self.facts.append((f.PASS, maker, NAMESPACE, self.only(namespace)))

    def bind_prepared(self, container: int, made: Class, pos: Position) -> None:
        """A class has what ``__prepare__`` has put into the namespace that its body runs in."""
        self.note_descriptors(self.parts(self.only(container)), pos)
        for name in sorted(self.keys_of.get(container, ())):
            values = self.read(self.item_cell(container, name))
            self.write(self.cell("prepared", made, name), values)

    def tuples_of(self, register: int, items: Sequence[Values]) -> Values:
        """An iterable of tuples: what ``zip`` and ``enumerate`` give."""
        inner = self._site("tuple", -2 - max(register, 0))
        if self.lengths.setdefault(inner, len(items)) != len(items):
            self.lengths[inner] = None
        for index, values in enumerate(items):
            self.write_item(inner, str(index), values)
        return self.container_of("list", register, self.only(inner))

    def listed(self, where: tuple[Any, ...], places: Sequence[Values]) -> Values:
        """A list that is made here, of which it is known what stands where."""
        made = self.intern(("K", "list", self.current, where))
        self._number_places(made, len(places))
        for index, values in enumerate(places):
            self.write_item(made, str(index), values)
        return self.only(made)

    def rows_of(self, register: int, rows: Sequence[Sequence[Values]]) -> Values:
        """An iterable of tuples of which each is known: what ``zip`` gives of sequences that are."""
        made: list[Values] = []
        for number, row in enumerate(rows):
            inner = self.intern(("K", "tuple", self.current, (_ROW, register, number)))
            self._number_places(inner, len(row))
            for index, values in enumerate(row):
                self.write_item(inner, str(index), values)
            made.append(self.only(inner))
        return self.listed((_ROW, register), made)

    def _surely_has(self, values: Values) -> frozenset[str]:
        """The keys that a dict display has, if it is one and nobody deletes any of it."""
        if len(values) != 1 or not self.whole or self.runs_texts:
            return frozenset()
        [value] = values
        keys = self.displayed.get(value, frozenset())
        return frozenset() if keys and self.read(self.cell("shrunk", value)) else keys

    def note_shrunk(self, container: int) -> None:
        """Whoever has it may delete keys of it."""
        if container in self.displayed:
            self.write(self.cell("shrunk", container), self.unknown)

    def merge_dicts(self, left: Values, right: Values) -> Values | None:
        """``left | right``: another dict, if each is one and none has been made so."""
        if len(left) != 1 or len(right) != 1:
            return None
        kinds = [self.values[next(iter(values))] for values in (left, right)]
        if any(
            kind[0] != "K"
            or kind[1] != "dict"
            or (type(kind[3]) is tuple and kind[3][0] == _MERGED)
            for kind in kinds
        ):
            return None
        [one], [other] = left, right
        made = self.intern(("K", kinds[0][1], kinds[0][2], (_MERGED, one, other)))
        self.copy_items(one, made, self._surely_has(right))
        self.copy_items(other, made)
        return self.only(made)

    def _gathered(self, register: int, elements: Values) -> Values:
        """``elements``, rows as one if they are too many: at each place, what any has there."""
        if len(elements) <= self.room:
            return elements
        rows = [v for v in elements if self.values[v][0] == "K" and self.values[v][1] in _ROWS]
        if len(rows) <= self.room:
            return elements
        gathered: set[int] = set()
        for each in rows:
            kind = self.values[each][1]
            row = self._site(kind, -2 - register)
            gathered.add(row)
            self.copy_items(each, row)
            if kind != "dict":
                length = self.lengths.get(each)
                self.lengths[row] = length if self.lengths.get(row, length) == length else None
        return elements.difference(rows) | gathered

    def make_sequence(self, op: Op, registers: Sequence[Values]) -> Values:
        """A list, tuple or set display, a comprehension, or what a star collects."""
        sized = not op[4] and not op[5]
        container = self._site(op[2], self._first_alike(op) if sized else op[1])
        elements: set[int] = set()
        keyed = sized and op[2] in ("tuple", "list") and 0 < len(op[3]) <= _LONGEST_DISPLAY
        if keyed:
            self._number_places(container, len(op[3]))
        for index, register in enumerate(op[3]):
            elements |= registers[register]
            if keyed:
                self._place_item(container, str(index), registers[register])
        for register in op[4]:
            if op[2] != "set":
                self.ask_length(registers[register], f.HERE)
            if type(op[5]) is tuple:
                elements |= self._between(container, registers[register], *op[5])
            else:
                elements |= self.iterate(registers[register], f.HERE, is_async=False)
        if op[2] == "set":
            self.hash_values(elements, alone=sized and len(op[3]) == 1)
        self.write(self.elements_cell(container), self._gathered(op[1], elements))
        return self.only(container)

    def _first_alike(self, op: Op) -> int:
        """The register of a display, or of the first that is like it.

        Tuples of the same constants that do nothing but stand in other displays are one: tables of
        numbers are full of them.
        """
        function = self.current
        if op[2] != "tuple" or not op[3] or max(op[3]) >= 0 or function is None:
            return int(op[1])
        if function.users is None:
            function.users = users(function.unit)
        ops = function.unit.ops
        if any(ops[index][0] not in _DISPLAYS for index in function.users[op[1]]):
            return int(op[1])
        return self.alike.setdefault((function, op[3]), op[1])

    def _between(self, container: int, values: Values, before: int, behind: int) -> Values:
        """What a star among targets collects, which is put at its places if these are known."""
        result: set[int] = set()
        for value in tuple(values):
            added = self.read(self.anywhere_cell(value))
            if value not in self.lengths or added:
                elements = self.iterate(self.only(value), f.HERE, is_async=False)
                self.lengths[container] = None
                self.write(self.anywhere_cell(container), elements)
                result |= elements
                continue
            self.read(self.elements_cell(value))
            length = self.lengths[value]
            known = max(map(int, self.keys_of.get(value, ())), default=-1) + 1
            places = range(before, known if length is None else length - behind)
            count = None if length is None else len(places)
            if self.lengths.setdefault(container, count) != count:
                self.lengths[container] = None
            for index, place in enumerate(places):
                held = self.read(self.item_cell(value, str(place)))
                self._place_item(container, str(index), held)
                result |= held
        return result

    def hash_values(self, values: Values, *, alone: bool = False) -> None:
        """``values`` become keys of a dict or elements of a set, or are looked for among them."""
        hashed = self.parts(values) | self.objects_and_classes(values)
        if hashed:
            for dunder in HASHED[:1] if alone and self.whole else HASHED:
                self.protocol_of(hashed, (dunder,), f.HERE)

    def make_mapping(self, op: Op, registers: Sequence[Values]) -> Values:
        """A dict display or comprehension."""
        container = self._site("dict", op[1])
        values: set[int] = set()
        keys: set[int] = set()
        known: list[str | None] = []
        names = len(op[2]) <= (_LONGEST_DISPLAY // 2 if self.whole else s.LONGEST_TABLE)
        for spelt, key, value in op[2]:
            text = self._known_key(registers[key]) if spelt is None else spelt
            if text is None and self.whole:
                text = self._member_key(key, registers[key])
            known.append(text)
            if text is not None:
                self._place_item(container, text, registers[value])
            else:
                self.write(self.anywhere_cell(container), registers[value])
            if text is not None and key == _STR and names:
                keys |= self.single(("S", text))
            else:
                keys |= registers[key]
            values |= registers[value]
        if not op[3]:
            self.displayed[container] = frozenset(spelt for spelt, *_ in op[2] if spelt is not None)
        for place, (register, before) in enumerate(zip(op[3], op[4], strict=True)):
            replaced = frozenset(text for text in known[before:] if text is not None)
            replaced = replaced.union(*(self._surely_has(registers[r]) for r in op[3][place + 1 :]))
            entries = self.entries_of(registers[register], f.HERE)
            self.write(self.anywhere_cell(container), entries)
            values |= entries
            for value in tuple(registers[register]):
                if self.values[value][0] == "K":
                    self.copy_items(value, container, replaced)
                self._copy_namespace(value, container, f.HERE)
        self.write(self.elements_cell(container), self._gathered(op[1], values))
        self.write(self.keys_cell(container), keys)
        self.hash_values(keys, alone=len(op[2]) == 1 and op[2][0][0] is None and not op[3])
        return self.only(container)

    def copy_items(self, source: int, target: int, replaced: Collection[str] = frozenset()) -> None:
        """``target.update(source)``, but for the keys for which something else comes next."""
        elements: Values = self.read(self.elements_cell(source))
        keys = self.keys_of.get(source)
        if keys and not keys.keys().isdisjoint(replaced):
            keys = {text: None for text in keys if text not in replaced}
            gone = [self.read(self.item_cell(source, text)) for text in sorted(replaced)]
            kept = [self.read(self.item_cell(source, text)) for text in keys]
            anywhere = self.read(self.anywhere_cell(source))
            elements = elements - EMPTY.union(*gone).difference(*kept, anywhere)
        self.write(self.elements_cell(target), elements)
        if keys and len(keys) > MOST_KEYS_COPIED:
            self.write(self.anywhere_cell(target), elements)
        elif keys:
            for text in tuple(keys):
                self._note_key(target, text)
                self.write(self.item_cell(target, text), self.read(self.item_cell(source, text)))
        self.write(self.anywhere_cell(target), self.read(self.anywhere_cell(source)))
        self.write(self.keys_cell(target), self.read(self.keys_cell(source)))

    def take_entries(
        self,
        container: int,
        values: Values,
        pos: Position,
        replaced: Collection[str] = frozenset(),
    ) -> None:
        """``dict(values)``, ``container.update(values)``: the entries of mappings, else pairs."""
        made = self.only(container)
        for value in tuple(values):
            kind = self.values[value]
            given = self.only(value)
            self._copy_namespace(value, container, pos)
            if kind[0] == "K" and kind[1] in DICTS:
                self.copy_items(value, container, replaced)
            elif kind[0] == "K":
                for pair in tuple(self.iterate(given, pos, is_async=False)):
                    keys = self.unpack_item(self.only(pair), 0, pos)
                    self.store_item(made, keys, self.unpack_item(self.only(pair), 1, pos), pos)
            else:
                entries = self.entries_of(given, pos)
                if not entries or kind[0] in OPEN:
                    pairs = self.iterate(given, pos, is_async=False)
                    entries = entries | (self.unpack_item(pairs, 1, pos) if pairs else EMPTY)
                    self.hash_values(self.unpack_item(pairs, 0, pos))
                self.write(self.elements_cell(container), entries)
                self.write(self.anywhere_cell(container), entries)

    def _copy_namespace(self, namespace: int, container: int, pos: Position) -> None:
        """A copy of ``vars(x)`` has all its names: who reads it need not name ``x`` any more.

        What of a module, or of what callers pass, will be in it, a slice does not know.
        """
        kind = self.values[namespace]
        owner = self.values[kind[1]] if kind[0] == "ND" and not self.whole else kind
        if owner is not kind and owner[0] in _LISTED:
            self.names_in(self.only(kind[1]), pos, inherited=False)
            if owner[0] != "C":
                self.add_element(container, self.unknown)

    def subscript_operation(self, op: Op, registers: Sequence[Values]) -> Values:
        """A ``SUB`` operation."""
        receivers, keys = registers[op[2]], registers[op[3]]
        member = self._member_key(op[3], keys) if self.whole else None
        if member is None:
            return self.subscript(receivers, keys, f.HERE)
        # Where a table has it by another name of the same member, anything may be meant.
        tables = frozenset(
            v for v in receivers if self._is_dict(v) and member in self.keys_of.get(v, ())
        )
        if tables:
            self.hash_values(keys)
        found = self.subscript(tables, self.single(("S", member)), f.HERE)
        return found | self.subscript(receivers - tables, keys, f.HERE)

    def subscript(self, receivers: Values, keys: Values, pos: Position) -> Values:
        """``receiver[key]``."""
        result: set[int] = set()
        slices = self.slices.intersection(keys)
        is_slice = bool(slices) and len(slices) == len(keys)
        if slices and not is_slice:  # or something else: what callers pass
            result |= self.subscript(receivers, slices, pos)
            keys = keys - slices
        for receiver in tuple(receivers):
            value = self.values[receiver]
            kind = value[0]
            if is_slice and kind in ITERABLE:  # `x[1:]` has the elements of `x`
                part = self._part(receiver, keys) if kind == "K" else None
                result.add(receiver if part is None else part)
                if kind == "K" and part is None:
                    self.lose_places(receiver)  # at other places
                elif kind in OPEN:
                    self.note_protocol("__getitem__", pos, receiver)
            elif kind == "K":
                result |= self._item(receiver, keys)
                if value[1] == "defaultdict":
                    result |= self._made_on_demand(receiver, pos)
                self._look_up(value, keys, pos)
            elif kind in ("G", "GS", "S"):
                self._look_up(value, keys, pos)
                found = self._place_in_tuple(value, keys) if kind == "G" else None
                if found is None:
                    found = self.outside.item(receiver, keys, pos)
                if found is not None:
                    result |= found
                elif kind == "G":
                    result |= self._generic_item(value)
            elif kind == "C":
                result |= self._class_getitem(receiver, value[1], keys, pos)
            elif kind == "I":
                result |= self.call_dunder(receiver, value[1], "__getitem__", [keys], pos)
                if self.find_member(value[1], "__getitem__") is None:
                    result |= self._inherited_item(receiver, value[1], keys, pos)
                    result |= self.kept_by(value[1])
                    self._hash_keys(value[1], keys)
            elif kind in ("NS", "ND"):
                result |= self._namespace_item(value, keys, pos)
            elif kind == "X" and value[1] == "sys.modules":
                result |= self.modules_of(keys, pos) or self.unknown
            elif kind == "X":
                found = None
                if not value[1].startswith(_FORMS):
                    found = self.outside.item(receiver, keys, pos)
                result |= found or self._alias(value[1], keys)
            elif kind == "XI":
                self._look_up(value, keys, pos)
                self.ask_caught(receiver, ("__getitem__",), pos)
                result |= self.outside.item(receiver, keys, pos) or EMPTY
                result |= self.made_of_name(receiver)
            elif kind in OPEN:
                self.operate(receiver, "__getitem__", [keys], pos)
                result |= self.derive("E", receiver)
        return result

    def _place_in_tuple(self, value: Value, keys: Values) -> Values | None:
        """What ``tuple[A, B]`` declares for the places that ``keys`` are; ``None``: not told."""
        if not _is_tuple(value):
            return None
        found: set[int] = set()
        for key in keys:
            place = self.number_of(key)
            if place is None:
                return None
            arguments = value[2]  # one may stand for all
            found |= arguments[place if -len(arguments) <= place < len(arguments) else -1]
        return found or None

    def goes_by_keys(self, container: Value) -> bool:
        """Whether it is a mapping, made here or outside."""
        return container[1] in DICTS if container[0] == "K" else self.outside.is_mapping(container)

    def _look_up(self, container: tuple[Any, ...], keys: Values, pos: Position) -> None:
        """What a container asks of a key: a mapping hashes it, a sequence counts."""
        if self.goes_by_keys(container):
            self.hash_values(keys)
        else:
            self.protocol(self.objects_in(keys), ("__index__",), pos)

    def _hash_keys(self, class_: Class, keys: Values) -> None:
        """Instances of a class that extends a dictionary hash what they are asked for."""
        if not DICTIONARIES.isdisjoint(self.external_bases(class_)):
            self.hash_values(keys)

    def delete_item(self, receivers: Values, keys: Values, pos: Position) -> None:
        """``del receiver[key]``: an item is looked for, and what stands behind it moves."""
        for receiver in receivers:
            value = self.values[receiver]
            if value[0] in ("K", "G", "GS", "XI"):
                self._look_up(value, keys, pos)
            if value[0] == "K" and self._may_mutate(value):
                self.lose_places(receiver)
                self.note_shrunk(receiver)

    def _inherited_item(self, instance: int, class_: Class, keys: Values, pos: Position) -> Values:
        """``instance[key]`` of a class that extends a container or is a record."""
        held = self.held_by(class_)
        found = EMPTY if held is None else self._item(held, keys)
        own = self.find_member(class_, "__missing__") is not None
        if not (self.whole or self.values[instance][2]):
            own = own or self.has_below(class_, "__missing__")
        if held is not None and self.values[held][1] == "defaultdict" and not own:
            found = found | self._made_on_demand(held, pos)
        if own:  # 3.3.7
            return found | self.call_dunder(instance, class_, "__missing__", [keys], pos)
        if held is not None:
            return found
        if NAMED_TUPLE not in self.external_bases(class_):
            return EMPTY
        result: set[int] = set()
        receiver = self.intern(("I", class_, True))
        for key in keys:
            place = self.number_of(key)
            if place is not None:
                result |= self.fields_of_tuple(receiver, class_, place, pos)
        return result

    def _namespace_item(self, namespace: tuple[Any, ...], keys: Values, pos: Position) -> Values:
        """``globals()[key]``, ``vars(x)[key]``: the attribute of that name."""
        if namespace[0] == "NS":
            return self.global_names(namespace[1], keys, pos)
        receivers = self.only(namespace[1])
        owner = self.values[namespace[1]]
        result: set[int] = set()
        for key in keys:
            name = self.values[key]
            if name[0] == "S" and owner[0] == "C" and not owner[2]:
                how = "line" if owner[2] is None else "class"
                self.facts.append((f.MEMBER, owner[1], name[1], pos, True, how, False))
            if self.whole and name[0] == "S" and owner[0] == "C" and owner[2] is False:
                having = [k for k in self.live_subclasses(owner[1]) if name[1] in k.info.members]
                result.update(*(self.member_values(k, name[1]) for k in having))
            if name[0] == "S" and owner[0] == "C" and name[1] in owner[1].info.members:
                self.facts.append((f.MEMBER, owner[1], name[1], pos, False, "read", True))
                result |= self.member_values(owner[1], name[1])  # a descriptor is not asked
            elif name[0] == "S" and owner[0] in OPEN:
                self.facts.append((f.LISTED, namespace[1], name[1], "vars", pos))
                result |= self.derive("A", namespace[1], name[1])
            elif name[0] == "S" and self.whole and self.is_object(owner):
                result |= self.in_namespace(owner[1], name[1], below=not owner[2])
            elif name[0] == "S":
                result |= self.load_attribute(receivers, name[1], pos)
            elif name[0] == "N" and (name[1] or name[2]):
                result |= self.dynamic_attribute(receivers, name[1], name[2], pos)
            elif owner[0] == "M" and not self.whole:
                result |= self.attribute_by_computed(receivers, key, pos)
            else:
                self.names_in(receivers, pos, inherited=False)
                result |= self.unknown
            if name[0] != "S" and owner[0] == "I" and self.whole:
                for k in self.mro(owner[1]):
                    result |= self.read(self._named_somehow(k))
        return result

    def _named_somehow(self, class_: Class) -> Cell:
        """What ``vars(instance)`` of a class has under names that are computed."""
        return self.cell("named somehow", class_)

    def hand_namespaces(self, args: Iterable[Values], pos: Position) -> None:
        """``template % vars(C)``, of a template nobody knows: any name of the class may be read."""
        for values in args:
            for value in values & self.namespaces:
                kind = self.values[value]
                if self.values[kind[1]][0] == "C":
                    self._namespace_item(kind, self.unknown, pos)

    def modules_of(self, keys: Values, pos: Position) -> Values:
        """``sys.modules[key]``: the modules of the repository that have such names.

        As for ``import_module``, each that fits a name of which start or end is known; of what
        callers know, what has been imported by that name (``__import__(name)``).
        """
        own = None if self.current is None else self.current.module
        package = "" if own is None else own.package
        made: set[int] = set()
        for key in keys:
            name = self.values[key]
            if name[0] in OPEN and not self.whole:
                opened = self.derive("R", key, IMPORTED + package) - self.unknown
                self.facts += [(f.IMPORTED, each, pos, True) for each in sorted(opened)]
                made |= opened
            for each in self.modules_named(name):
                if self.program.is_module(each):
                    made |= self.module_value(each)
                    if own is None or each != own.name:
                        self.facts.append((f.MODULE, each, pos, "attribute"))
        return made

    def imported(self, names: Values, package: str, pos: Position) -> Values:
        """``import_module(name, package)``; of what callers know, what it is of what they pass.

        A name that nothing tells (``json.loads(text)["plugins"]``) gives one open value, for texts to tell.
        """
        made: set[int] = set()
        for value in names:
            kind = self.values[value]
            if kind[0] in ("S", "N"):
                name = absolute(kind[1], package)
                for each in () if name is None else self.modules_named((kind[0], name, *kind[2:])):
                    made |= self.module_value(each)
                    if self.program.is_module(each):
                        self.facts.append((f.MODULE, each, pos))
            elif kind[0] in OPEN and not self.whole:
                opened = self.derive("R", value, IMPORTED + package) - self.unknown
                self.facts += [(f.IMPORTED, each, pos, False) for each in sorted(opened)]
                made |= opened or self.unknown
        is_told = any(self.values[value][0] in ("S", "N") for value in names)
        if self.whole or is_told or not made <= self.unknown:
            return made or self.unknown
        told_nowhere = self.intern(("R", self.unknown_id, IMPORTED + package))
        self.facts.append((f.IMPORTED, told_nowhere, pos, False))
        return self.only(told_nowhere) | self.unknown

    def modules_named(self, name: Value) -> list[str]:
        """What modules are called that have ``name``, a text, or a name that starts and ends so."""
        if name[0] == "S":
            if self.current is None:
                return [name[1]]
            return [self.program.nearest(self.current.module, name[1])]
        if name[0] == "N" and (name[1] or name[2]):  # a name alone would be any module there is
            return self.program.modules_between(name[1], name[2])
        return []

    def _alias(self, dotted: str, keys: Values) -> Values:
        """``Queue[Task]``: a class outside the repo with type arguments."""
        given: list[Values] = []
        for key in keys:
            if self.values[key][0] == "K" and len(keys) == 1:
                length = self.lengths.get(key) or 0
                places = [self.item_cell(key, str(place)) for place in range(length)]
                given = [self.read(cell) for cell in places]
                if not length:  # too many to tell them apart
                    given = [self.read(self.elements_cell(key)) | self.unknown]
        arguments = [self._type_argument(values) for values in given or [keys]]
        if not any(arguments):
            return self.single(("X", dotted))
        return self.single(("XA", dotted, tuple(arguments)))

    def _type_argument(self, types: Values) -> frozenset[int]:
        made: set[int] = set()
        for number in types:
            value = self.values[number]
            if value[0] == "C":
                made.add(self.intern(("I", value[1], False)))
            elif value[0] == "XA":
                made |= self.aliased(value[1], value[2])
            elif value[0] == "X":
                made |= self.outside.declared(value[1]) or EMPTY
            elif value[0] == "S" and self.current is not None:
                # One that names the alias that it stands in says nothing yet.
                expression = parse_type(value[1])
                declared = self.declared(self.current.module, self.current, expression)
                made |= declared or self.unknown
            elif value[0] == "U":
                made.add(number)
        return frozenset(made)

    def _class_getitem(self, receiver: int, class_: Class, keys: Values, pos: Position) -> Values:
        by_metaclass = self.call_of_metaclass(receiver, class_, "__getitem__", [keys], pos)
        if by_metaclass is not None:
            return by_metaclass
        if self.find_member(class_, "__class_getitem__") is not None:
            given = [self.only(receiver), keys]
            made = self.call_member(class_, "__class_getitem__", given, pos, "class-getitem")
            ours = {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
            if any(self._is_or_is_above(class_, self.values[v]) for v in ours):
                return self.only(receiver) | (ours - self._asked_for_items(class_))
            if ours:  # else `super().__class_getitem__(…)`, `GenericAlias(cls, …)`
                return ours
        for base in self.external_bases(class_):
            if base.startswith("enum."):
                return self.single(("I", class_, True))
        return self.only(receiver)

    def _asked_for_items(self, class_: Class) -> frozenset[int]:
        """What ``cls`` is in its ``__class_getitem__``, which over a whole program is asked of many."""
        owner = self.find_member(class_, "__class_getitem__")
        asked: frozenset[int] = EMPTY
        for value in self.member_values(owner, "__class_getitem__") if owner and self.whole else ():
            kind = self.values[value]
            if kind[0] == "F" and kind[1].unit.params:
                asked = asked | self.read(self.parameter_cell(kind[1], 0))
        return asked

    def _is_or_is_above(self, class_: Class, value: Value) -> bool:
        """Whether a class may be ``class_``: it is, or is one above that stands for those below."""
        if value[0] != "C":
            return False
        return value[1] is class_ or (not value[2] and value[1] in self.mro(class_))

    def _generic_item(self, value: tuple[object, ...]) -> Values:
        arguments = value[2]
        assert isinstance(arguments, tuple)
        if not arguments:
            return self.unknown
        name = str(value[1]).rpartition(".")[2]
        if name in MAPPINGS and len(arguments) > 1:
            return frozenset(arguments[1])
        merged: set[int] = set()
        for argument in arguments if name in ("tuple", "Tuple") else arguments[:1]:
            merged |= argument
        return merged

    def _known_key(self, keys: Values) -> str | None:
        """The text that stands for a key which is surely this one."""
        if len(keys) != 1:
            return None
        [key] = keys
        return self._key_text(key)

    def _key_text(self, key: int) -> str | None:
        value = self.values[key]
        if value[0] == "S":
            return str(value[1])
        if value[0] == "C" and value[2]:
            return f"class {value[1].id}"
        if value[0] == "K" and value[1] == "tuple" and self.whole:
            return self._tuple_text(key)
        number = self.number_of(key)
        return None if number is None else s.number_key(number)

    def _tuple_text(self, key: int) -> str | None:
        """What stands for a tuple of constants."""
        places = self.places_of(self.only(key))
        if not places or any(len(values) != 1 for values in places):
            return None
        texts = [self._key_text(next(iter(values))) for values in places]
        return None if None in texts else repr(tuple(texts))

    def _member_key(self, register: Register, keys: Values) -> str | None:
        """The text that stands for the member of an enumeration which is named as a key."""
        kind = self.values[next(iter(keys))] if len(keys) == 1 else ("U",)
        if kind[0] != "I" or self.current is None:
            return None
        if not any(base.startswith("enum.") for base in self.external_bases(kind[1])):
            return None
        read = self.read_from(self.current, register)
        owners = EMPTY if read is None else self.current.registers[read[1]]
        if read is None or not owners or any(self.values[v][0] != "C" for v in owners):
            return None
        return f"member {kind[1].id}.{read[0]}"

    def _is_dict(self, value: int) -> bool:
        kind = self.values[value]
        return bool(kind[0] == "K" and kind[1] in DICTS)

    def _part(self, sequence: int, slices: Values) -> int | None:
        """``sequence[1:3]``: another one, with the elements that stand there, if it is known which.

        What was put somewhere stands anywhere in it too.
        """
        tag, kind, maker, register = self.values[sequence]
        length = self.lengths.get(sequence)
        slice_ = self.values[next(iter(slices))] if len(slices) == 1 else ()
        told = slice_[2:] if slice_[:1] == ("XI",) else ()
        if length is None or not told or kind not in _ROWS:
            return None
        lower, _, upper = told[0].partition(":")
        places = range(length)[int(lower) : int(upper) if upper else None]
        offset = 0
        if type(register) is tuple and register[0] == _PART:  # of a part: one of the whole
            _, register, offset, _ = register
        cut = (_PART, register, offset + places.start, offset + places.stop)
        part = self.intern((tag, kind, maker, cut))
        self.lengths[part] = len(places)
        for index, place in enumerate(places):
            self.write_item(part, str(index), self.read(self.item_cell(sequence, str(place))))
        added = self.read(self.anywhere_cell(sequence))
        self.write(self.anywhere_cell(part), added)
        self.write(self.elements_cell(part), added)
        return part

    def _known_keys(self, keys: Values) -> list[str] | None:
        known: list[str] = []
        for key in self.told_by_callers(keys):
            text = self._key_text(key)
            if text is None:
                return None
            known.append(text)
        return known or None

    def told_by_callers(self, keys: Values) -> Iterator[int]:
        """``keys``, but for parameters for which all callers pass a text or a number.

        And but for the types of those, which are passed too.
        """
        known = self.values
        parameters = [key for key in keys if known[key][0] == "P"]
        told = {key for key in parameters if self._is_told_by_all(known[key][1], known[key][2])}
        if told:
            told |= self.constants[s.STR] | self.constants[s.INT]
        for key in keys:
            if key not in told:
                yield key

    def _is_told_by_all(self, function: Function, index: int) -> bool:
        if not self.whole or function is not self.current or function in self.opened:
            return False
        if index not in names_attributes(function):
            return False
        if self.unknown_id in self.read(self.parameter_cell(function, index)):
            return False  # there was no room for all texts
        return index not in self.read(self.cell("untold", function))

    def _known_items(self, container: int, keys: Values) -> list[str] | None:
        """The keys or places in a container that ``keys`` surely are."""
        if self.values[container][1] in DICTS:
            return self._known_keys(keys)
        return self._places(container, keys)

    def _item(self, container: int, keys: Values) -> Values:
        known = self._known_items(container, keys)
        if known is None:
            return self.read(self.elements_cell(container))
        found: set[int] = set()
        for text in known:
            found |= self.read(self.item_cell(container, text))
        return found | self.read(self.anywhere_cell(container))

    def _made_on_demand(self, container: int, pos: Position) -> Values:
        """What a ``defaultdict`` puts under a key that is missing."""
        factory = self.read(self.cell("factory", container))
        if not factory:
            return EMPTY
        made = self.call(factory, [], {}, pos, rule="default-factory", external=True)
        self.write(self.elements_cell(container), made)
        self.write(self.anywhere_cell(container), made)
        return made

    def have_factory(self, container: int, factories: Values, register: Register) -> None:
        """A ``defaultdict`` asks these for what is missing.

        ``register``: of an empty container that a builtin type makes.
        """
        for factory in factories:
            kind = self.values[factory]
            display = DISPLAYS.get(kind[1]) if kind[0] == "X" else None
            if display is not None:
                inner = self.container_of(display, register, EMPTY)
                self.write(self.elements_cell(container), inner)
                self.write(self.anywhere_cell(container), inner)
            else:
                self.write(self.cell("factory", container), frozenset((factory,)))

    def _places(self, container: int, keys: Values) -> list[str] | None:
        """The places in a sequence that these indices mean, if its places are known."""
        if container not in self.lengths:
            return None
        length = self.lengths[container]
        places: list[str] = []
        for key in self.told_by_callers(keys):
            number = self.number_of(key)
            if number is not None and number < 0:
                number = None if length is None or number + length < 0 else number + length
            if number is None:
                return None
            places.append(str(number))
        return places or None

    def lose_places(self, container: int) -> None:
        """Elements move: each may be anywhere from now on."""
        if container in self.lengths:
            self.write(self.anywhere_cell(container), self.read(self.elements_cell(container)))

    def unpack_item(self, values: Values, index: int, pos: Position) -> Values:
        """The element at ``index`` of an unpacking assignment; from the end, if it is negative."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "K" and kind[1] in ("tuple", "list", "collections.namedtuple"):
                added = self.read(self.anywhere_cell(value))
                place = index
                if index < 0 and not added:
                    place += self.lengths.get(value) or 0
                exact = self.read(self.item_cell(value, str(place)))
                result |= exact | added if exact else self.read(self.elements_cell(value))
            elif _is_tuple(kind):
                arguments = kind[2]  # one may stand for all
                result |= arguments[index if -len(arguments) <= index < len(arguments) else -1]
            elif kind[0] == "I" and NAMED_TUPLE in self.external_bases(kind[1]):
                result |= self.fields_of_tuple(value, kind[1], index, pos)
            elif kind[0] == "I" and self.find_member(kind[1], "__iter__") is not None:
                made = self.call_dunder(value, kind[1], "__iter__", [], pos)
                own = {v for v in made if self.values[v][0] == "I"}
                for iterator in sorted(own):
                    class_ = self.values[iterator][1]
                    result |= self.call_dunder(iterator, class_, "__next__", [], pos)
                result |= self.unpack_item(made - own, index, pos)
            elif kind[0] in OPEN and not self.whole:
                given = self.iterate(self.only(value), pos, is_async=False)
                result |= (given - self.derive("E", value)) | self.derive("E", value, index)
            else:
                result |= self.iterate(self.only(value), pos, is_async=False)
        return result

    def store_operation(self, op: Op, registers: Sequence[Values]) -> None:
        """A ``SETSUB`` operation."""
        receivers, keys, values = (registers[register] for register in op[1:4])
        apart = self.stored_by_own_name(op[2], op[3])
        if apart is None:
            member = self._member_key(op[2], keys) if self.whole else None
            if member is not None:
                tables = frozenset(v for v in receivers if self._is_dict(v))
                for table in tables:
                    self._store_under(table, member, keys, values)
                receivers = receivers - tables
            self.store_item(receivers, keys, values, f.HERE)
            return
        named, others = apart
        for name, each in named.items():
            self.store_item(receivers, self.single(("S", name)), each, f.HERE)
        if others:
            self.store_item(receivers, self.constants[s.STR], others, f.HERE)

    def _store_under(self, table: int, text: str, keys: Values, values: Values) -> None:
        """``table[key] = values``, where ``text`` stands for the key."""
        if self._may_mutate(self.values[table]):
            self.write_item(table, text, values)
            self.write(self.keys_cell(table), keys)
            self.hash_values(keys)
        else:
            self._put_elsewhere(table, values, keys)

    def store_item(self, receivers: Values, keys: Values, values: Values, pos: Position) -> None:
        """``receiver[key] = values``."""
        for receiver in tuple(receivers):
            value = self.values[receiver]
            if value[0] == "K":
                if not self._may_mutate(value):
                    self._put_elsewhere(receiver, values, keys)
                    continue
                if keys and keys <= self.slices:
                    self.update_container(receiver, values, pos)
                    self.lose_places(receiver)
                    continue
                known = self._known_items(receiver, keys)
                for text in known or ():
                    self.write_item(receiver, text, values)
                if known is None:
                    self.write(self.anywhere_cell(receiver), values)
                self.write(self.elements_cell(receiver), values)
                self.write(self.keys_cell(receiver), keys)
                self._look_up(value, keys, pos)
            elif value[0] == "I":
                self.call_dunder(receiver, value[1], "__setitem__", [keys, values], pos)
                if self.find_member(value[1], "__setitem__") is None:
                    held = self.held_by(value[1])
                    if held is not None:
                        self.store_item(self.only(held), keys, values, pos)
                    self.note_kept(value[1], values)
                    self._hash_keys(value[1], keys)
            elif value[0] == "C":
                self.call_of_metaclass(receiver, value[1], "__setitem__", [keys, values], pos)
            elif value[0] == "NS":
                module = self.program.module(value[1])
                names = self._known_keys(keys) if module is not None else None
                for name in names or ():
                    assert module is not None
                    self.write(self.variable_cell(module, name, -1), values)
            elif value[0] == "ND":
                names = self._known_keys(keys)
                for name in names or ():
                    self.store_in_namespace(value[1], name, values, pos)
                if names is None and self.values[value[1]][0] == "I":
                    self.write(self._named_somehow(self.values[value[1]][1]), values)
                    self.have_stored_somehow(value[1], values)
            elif value[0] in ("G", "GS", "XI"):
                self.note_handed((values,), pos, to=value[1])
                self._look_up(value, keys, pos)
            elif value[0] in ("X", "XM"):
                self.note_handed((values,), pos, to=value[1])
                if value[1] == "sys.modules":
                    self.stand_for_modules(keys, values, pos)
            elif value[0] in OPEN:
                if value[0] == "U":
                    self.note_handed((values,), pos)
                elif value[0] == "P" and value[2] == NAMESPACE and not self.whole:
                    for name in self._known_keys(keys) or ():  # of a class, perhaps
                        self.write(self.cell("added", value[1], name), values)
                    if value[1].unit.qualname.endswith(".__new__"):
                        self.note_descriptors(values, pos)
                self.operate(receiver, "__setitem__", [keys, values], pos)

    def stand_for_modules(self, keys: Values, values: Values, pos: Position) -> None:
        """``sys.modules[key] = value``: who imports that may ask it for anything, in a slice.

        What a module of the repository puts in its own place is asked for by its names.
        """
        named = [self.values[key] for key in keys]
        own = bool(named) and all(
            kind[0] == "S" and self.program.is_module(kind[1]) for kind in named
        )
        for value in () if own or self.whole else sorted(values - self.unknown):
            if self.values[value][0] in OPEN or self.values[value][0] in ("I", "C"):
                self.facts.append((f.LISTED, value, f.ALL, "outside", pos))

    def update_container(self, container: int, values: Values, pos: Position) -> None:
        """``container.update(values)``, ``container.extend(values)``, ``container |= values``."""
        self.update_containers((container,), values, pos)

    def update_containers(self, containers: Collection[int], values: Values, pos: Position) -> None:
        """Each of ``containers`` takes over what ``values`` give, which are gone through once."""
        given: Values | None = None
        for container in containers:
            value = self.values[container]
            if value[1] in DICTS:
                if self._may_mutate(value):
                    self.take_entries(container, values, pos)
                else:
                    self._update_elsewhere(container, values, pos)
                continue
            if value[1] == "list":
                self.ask_length(values, pos)
            if given is None:
                given = self.iterate(values, pos, is_async=False)
            self.add_element(container, given)

    def add_element(self, container: int, values: Values) -> None:
        """``container.append(values)``: somewhere."""
        if self._may_mutate(self.values[container]):
            self.write(self.elements_cell(container), values)
            self.write(self.anywhere_cell(container), values)
        else:
            self._put_elsewhere(container, values)

    def _put_elsewhere(self, container: int, values: Values, keys: Values = EMPTY) -> None:
        """A slice has something put into a container that another module has made.

        What it holds by that depends on which code is in the slice: it is open.
        """
        cells = (self.elements_cell(container), self.anywhere_cell(container))
        for name, put, places in (
            (KEPT, values, cells),
            (KEYS, keys, (self.keys_cell(container),)),
        ):
            known = self.traced(put) - self.unknown
            if known:
                self.facts.append((f.FILL, container, name, known))
                for place in places:
                    self.write(place, self.single(("O", container, name)))

    def _update_elsewhere(self, container: int, values: Values, pos: Position) -> None:
        """``container.update(values)`` of a dictionary that another module has made."""
        for value in tuple(values):
            kind = self.values[value]
            given = self.only(value)
            if kind[0] == "K" and kind[1] in DICTS:
                held = self.read(self.elements_cell(value))
                self._put_elsewhere(container, held, self.read(self.keys_cell(value)))
                continue
            entries: Values = EMPTY if kind[0] == "K" else self.entries_of(given, pos)
            keys: Values = EMPTY
            if not entries or kind[0] in OPEN:
                pairs = self.iterate(given, pos, is_async=False)
                if pairs:
                    entries = entries | self.unpack_item(pairs, 1, pos)
                    keys = self.unpack_item(pairs, 0, pos)
                    self.hash_values(keys)
            self._put_elsewhere(container, entries, keys)


def _is_tuple(value: Value) -> bool:
    """Whether it is declared to be a tuple, of what."""
    return value[0] == "G" and value[1].rpartition(".")[2] in ("tuple", "Tuple") and bool(value[2])


def absolute(name: str, package: str) -> str | None:
    """A name for ``import_module``, or how it starts, without leading dots (PEP 328)."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    if not package:
        return None
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], name[level:]])

"""Containers, iteration, context managers, operators: what syntax calls implicitly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.calls import CallEvaluation
from depslice.callgraph.engine.library import CALLED_BACK
from depslice.callgraph.engine.models import MODELS, Model
from depslice.callgraph.engine.values import EMPTY, ITERABLE, OPEN, Class, Function, Values
from depslice.callgraph.summary import STR as _STR
from depslice.callgraph.summary import Op, Position

_ADDING: Final = frozenset({"append", "add", "appendleft", "insert", "push", "put", "put_nowait"})
_TAKING: Final = frozenset(
    {"pop", "popleft", "get", "popitem", "setdefault", "get_nowait", "__getitem__", "result"}
)
_COPYING: Final = frozenset({"copy", "values", "__iter__", "union", "intersection", "difference"})
_SHIFTING: Final = frozenset({"pop", "popleft", "remove", "insert", "sort", "reverse", "rotate"})
_LONGEST_DISPLAY: Final = 16
DICTS: Final = frozenset({"dict", "defaultdict"})
# What total_ordering derives everything from, and what of it asks for equality too.
_ROOTS: Final = ("__lt__", "__le__", "__gt__", "__ge__")
_WITH_EQUALITY: Final = {
    "__lt__": ("__gt__", "__le__"),
    "__le__": ("__ge__", "__lt__"),
    "__gt__": ("__lt__", "__ge__"),
    "__ge__": ("__le__", "__gt__"),
}
_NOT_IMPLEMENTED: Final = ("X", "builtins.NotImplemented")
_CONTAINER_NAMES: Final = {
    "deque": "collections.deque",
    "defaultdict": "collections.defaultdict",
    "generator": "builtins.generator",
}
_MAPPINGS: Final = frozenset(
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

_MOST_KEYS_COPIED: Final = 16
_SEQUENCES: Final = frozenset({"list", "tuple", "deque"})
_MOST_METHODS: Final = 60
_FEW_OBJECTS: Final = 3


class ContainerEvaluation(CallEvaluation):
    """Values in containers, and the protocols of the data model (3.3.5 to 3.3.8)."""

    _models: ClassVar[Mapping[str, Model]] = MODELS
    mappings = DICTS

    def write_item(self, container: int, text: str, values: Values) -> None:
        """``values`` are stored under a known key or at a known place."""
        self.keys_of.setdefault(container, {})[text] = None
        self.write(self.cell("k", container, text), values)
        self.write(self.cell("e", container), values)

    # --- displays

    def _site(self, kind: str, register: int) -> int:
        return self.intern(("K", kind, self.current, register))

    def container_of(self, kind: str, op_register: int, elements: Values) -> Values:
        """A container made at this place, holding ``elements``."""
        container = self._site(kind, op_register)
        self.write(self.cell("e", container), elements)
        return self.only(container)

    def tuples_of(self, register: int, items: Sequence[Values]) -> Values:
        """An iterable of tuples: what ``zip`` and ``enumerate`` give."""
        inner = self._site("tuple", -2 - max(register, 0))
        for index, values in enumerate(items):
            self.write(self.cell("k", inner, str(index)), values)
            self.write(self.cell("e", inner), values)
        return self.container_of("list", register, self.only(inner))

    def make_sequence(self, op: Op, registers: Sequence[Values]) -> Values:
        """A list, tuple or set display, a comprehension, or what a star collects."""
        container = self._site(op[2], op[1])
        elements: set[int] = set()
        sized = not op[4] and not op[5]
        keyed = sized and op[2] in ("tuple", "list") and 0 < len(op[3]) <= _LONGEST_DISPLAY
        if keyed:
            self.lengths[container] = len(op[3])
        for index, register in enumerate(op[3]):
            elements |= registers[register]
            if keyed:
                self.write_item(container, str(index), registers[register])
        for register in op[4]:
            elements |= self.iterate(registers[register], 0, is_async=False)
        if op[2] == "set":
            self.hash_values(elements, alone=sized and len(op[3]) == 1)
        self.write(self.cell("e", container), elements)
        return self.only(container)

    def hash_values(self, values: Values, *, alone: bool = False) -> None:
        """``values`` become keys of a dict or elements of a set, compared with those there."""
        if any(self.values[v][0] == "I" for v in values):
            for dunder in ("__hash__",) if alone and self.whole else ("__hash__", "__eq__"):
                self.protocol(
                    frozenset(v for v in values if self.values[v][0] == "I"), (dunder,), 0
                )

    def make_mapping(self, op: Op, registers: Sequence[Values]) -> Values:
        """A dict display or comprehension."""
        container = self._site("dict", op[1])
        values: set[int] = set()
        keys: set[int] = set()
        for spelt, key, value in op[2]:
            text = self._known_key(registers[key]) if spelt is None else spelt
            if text is not None:
                self.write_item(container, text, registers[value])
            else:
                self.write(self.cell("n", container), registers[value])
            if text is not None and key == _STR and len(op[2]) <= _LONGEST_DISPLAY // 2:
                keys |= self.single(("S", text))
            else:
                keys |= registers[key]
            values |= registers[value]
        for register in op[3]:
            for value in tuple(registers[register]):
                if self.values[value][0] == "K":
                    self.copy_items(value, container)
        self.write(self.cell("e", container), values)
        self.write(self.cell("key", container), keys)
        self.hash_values(keys, alone=len(op[2]) == 1 and op[2][0][0] is None and not op[3])
        return self.only(container)

    def copy_items(self, source: int, target: int) -> None:
        """``target.update(source)``."""
        elements = self.read(self.cell("e", source))
        self.write(self.cell("e", target), elements)
        keys = self.keys_of.get(source)
        if keys and len(keys) > _MOST_KEYS_COPIED:
            self.write(self.cell("n", target), elements)
        elif keys:
            copied = self.keys_of.setdefault(target, {})
            for text in tuple(keys):
                copied[text] = None
                self.write(self.cell("k", target, text), self.read(self.cell("k", source, text)))
        self.write(self.cell("n", target), self.read(self.cell("n", source)))
        self.write(self.cell("key", target), self.read(self.cell("key", source)))

    # --- items

    def subscript(self, receivers: Values, keys: Values, pos: Position) -> Values:
        """``receiver[key]``."""
        result: set[int] = set()
        is_slice = keys == self.constants[s.SLICE]
        for receiver in tuple(receivers):
            value = self.values[receiver]
            kind = value[0]
            if is_slice and kind in ITERABLE:  # `x[1:]` has the elements of `x`
                result.add(receiver)
                if kind == "K":
                    self._lose_places(receiver)  # at other places
                elif kind in OPEN:
                    self.note_protocol("__getitem__", pos, receiver)
            elif kind == "K":
                result |= self._item(receiver, keys)
                if value[1] == "defaultdict":
                    result |= self._made_on_demand(receiver, pos)
                if value[1] not in DICTS and self.whole:
                    self.protocol(keys, ("__index__",), pos)
            elif kind in ("G", "GS", "S"):
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
                    result |= self._inherited_item(value[1], keys, pos)
            elif kind in ("NS", "ND"):
                result |= self._namespace_item(value, keys, pos)
            elif kind == "X":
                result |= self.outside.item(receiver, keys, pos) or self._alias(value[1], keys)
            elif kind == "XI":
                result |= self.outside.item(receiver, keys, pos) or EMPTY
            elif kind in OPEN:
                self.note_protocol("__getitem__", pos, receiver)
                result |= self.derive("E", receiver)
        return result

    def _inherited_item(self, class_: Class, keys: Values, pos: Position) -> Values:
        """``instance[key]`` of a class that extends a container or is a record."""
        held = self.held_by(class_)
        if held is not None:
            return self._item(held, keys)
        if not self.whole or "typing.NamedTuple" not in self.external_bases(class_):
            return EMPTY
        fields = [
            name
            for name, pieces in class_.info.members.items()
            if class_.module.summary.pieces[pieces[0]].kind == "assign"
        ]
        result: set[int] = set()
        receiver = self.single(("I", class_, True))
        for key in keys:
            text = self.values[key]
            if text[0] == "S" and text[1].isdecimal() and int(text[1]) < len(fields):
                result |= self.load_attribute(receiver, fields[int(text[1])], pos)
        return result

    def _namespace_item(self, namespace: tuple[Any, ...], keys: Values, pos: Position) -> Values:
        """``globals()[key]``, ``vars(x)[key]``: the attribute of that name."""
        if namespace[0] == "NS":
            return self.global_names(namespace[1], keys, pos)
        receivers = self.only(namespace[1])
        result: set[int] = set()
        for key in keys:
            name = self.values[key]
            if name[0] == "S":
                result |= self.load_attribute(receivers, name[1], pos)
            elif name[0] == "N":
                result |= self.dynamic_attribute(receivers, name[1], name[2], pos)
        return result

    def _alias(self, dotted: str, keys: Values) -> Values:
        """``Queue[Task]``: a class outside the repo with type arguments."""
        given: list[Values] = []
        for key in keys:
            if self.values[key][0] == "K" and len(keys) == 1:
                places = [self.cell("k", key, str(place)) for place in range(8)]
                given = [self.read(cell) for cell in places if cell.values]
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
                made.add(self.intern(("G", value[1], value[2])))
            elif value[0] == "X":
                made |= self.outside.declared(value[1]) or EMPTY
        return frozenset(made)

    def _class_getitem(self, receiver: int, class_: Class, keys: Values, pos: Position) -> Values:
        if self.find_member(class_, "__class_getitem__") is not None:
            self._call_member(
                class_, "__class_getitem__", [self.only(receiver), keys], pos, "class-getitem"
            )
        for metaclass in [m for k in self.mro(class_) for m in k.metaclasses]:
            if self.find_member(metaclass, "__getitem__") is not None:
                self._call_member(
                    metaclass, "__getitem__", [self.only(receiver), keys], pos, "metaclass"
                )
        for base in self.external_bases(class_):
            if base.startswith("enum."):
                return self.single(("I", class_, True))
        return self.only(receiver)

    def _generic_item(self, value: tuple[object, ...]) -> Values:
        arguments = value[2]
        assert isinstance(arguments, tuple)
        if not arguments:
            return self.unknown
        name = str(value[1]).rpartition(".")[2]
        if name in _MAPPINGS and len(arguments) > 1:
            return frozenset(arguments[1])
        merged: set[int] = set()
        for argument in arguments if name in ("tuple", "Tuple") else arguments[:1]:
            merged |= argument
        return merged

    def _known_key(self, keys: Values) -> str | None:
        """The text that stands for a key which is surely this one."""
        if len(keys) == 1:
            [key] = keys
            value = self.values[key]
            if value[0] == "S":
                return str(value[1])
            if value[0] == "C" and value[2]:
                return f"class {value[1].id}"
        return None

    def _known_keys(self, keys: Values) -> list[str] | None:
        texts = [self._known_key(frozenset((key,))) for key in keys]
        known = [text for text in texts if text is not None]
        return known if known and len(known) == len(texts) else None

    def _item(self, container: int, keys: Values) -> Values:
        known = self._known_keys(keys)
        if self.values[container][1] not in DICTS and known is not None:
            known = self._places(container, known)
        if known is None:
            return self.read(self.cell("e", container))
        found: set[int] = set()
        for text in known:
            found |= self.read(self.cell("k", container, text))
        return found | self.read(self.cell("n", container))

    def _made_on_demand(self, container: int, pos: Position) -> Values:
        """What a ``defaultdict`` puts under a key that is missing."""
        factory = self.read(self.cell("factory", container))
        if not factory:
            return EMPTY
        made = self.call(factory, [], {}, pos, rule="default-factory", external=True)
        self.write(self.cell("e", container), made)
        self.write(self.cell("n", container), made)
        return made

    def _places(self, container: int, texts: list[str]) -> list[str] | None:
        """The places in a sequence that these indices mean, if its places are known."""
        if container not in self.lengths:
            return None
        length = self.lengths[container]
        places: list[str] = []
        for text in texts:
            if text.removeprefix("-").isdecimal():
                if text[0] != "-":
                    places.append(text)
                    continue
                if length is not None and int(text) + length >= 0:
                    places.append(str(int(text) + length))
                    continue
            return None
        return places

    def _lose_places(self, container: int) -> None:
        """Elements move: each may be anywhere from now on."""
        if container in self.lengths:
            self.write(self.cell("n", container), self.read(self.cell("e", container)))

    def unpack_item(self, values: Values, index: int, pos: Position) -> Values:
        """The element at ``index`` of an unpacking assignment."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "K" and kind[1] in ("tuple", "list", "collections.namedtuple"):
                exact = self.read(self.cell("k", value, str(index)))
                if exact:
                    result |= exact | self.read(self.cell("n", value))
                else:
                    result |= self.read(self.cell("e", value))
            elif kind[0] == "G" and kind[1].rpartition(".")[2] in ("tuple", "Tuple") and kind[2]:
                arguments = kind[2]
                result |= arguments[index] if index < len(arguments) else arguments[-1]
            else:
                result |= self.iterate(self.only(value), pos, is_async=False)
        return result

    def store_item(self, receivers: Values, keys: Values, values: Values, pos: Position) -> None:
        """``receiver[key] = values``."""
        for receiver in tuple(receivers):
            value = self.values[receiver]
            if value[0] == "K":
                if not self._may_mutate(value):
                    continue
                known = self._known_keys(keys)
                if value[1] not in DICTS and known is not None:
                    known = self._places(receiver, known)
                for text in known or ():
                    self.write_item(receiver, text, values)
                if known is None:
                    self.write(self.cell("n", receiver), values)
                self.write(self.cell("e", receiver), values)
                self.write(self.cell("key", receiver), keys)
                self.hash_values(keys)
            elif value[0] == "I":
                self.call_dunder(receiver, value[1], "__setitem__", [keys, values], pos)
            elif value[0] == "NS":
                module = self.program.module(value[1])
                names = self._known_keys(keys) if module is not None else None
                for name in names or ():
                    assert module is not None
                    self.write(self.variable_cell(module, name, -1), values)
            elif value[0] == "ND":
                for name in self._known_keys(keys) or ():
                    self.store_attribute(self.only(value[1]), name, values, pos)
            elif value[0] in OPEN:
                self.note_protocol("__setitem__", pos, receiver)

    def _may_mutate(self, container: tuple[object, ...]) -> bool:
        """Without a whole program, only code of its own module changes a container."""
        owner = container[2]
        assert owner is None or isinstance(owner, Function)
        if owner is None:
            return True
        return self.whole or self.current is None or owner.module is self.current.module

    def container_attribute(self, container: int, name: str, pos: Position) -> Values:
        """A method of a container made in the repo."""
        return self.single(("KM", container, name))

    def call_container(
        self,
        container: int,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
    ) -> Values:
        """``container.method(args)``."""
        value = self.values[container]
        if self.whole:
            self._note_method(value, method, pos)
        if value[0] == "GE":
            return self._call_generator(value[1], method, args)
        if value[0] == "G":
            return self._call_generic(value, method, args, pos)
        elements = self.cell("e", container)
        if method in _ADDING and args:
            if self._may_mutate(value):
                self.write(elements, args[-1])
                self.write(self.cell("n", container), args[-1])
                if method in _SHIFTING:
                    self._lose_places(container)
            return EMPTY
        if method in ("extend", "update", "extendleft"):
            for values in args:
                if value[1] in DICTS:
                    for source in tuple(values):
                        if self.values[source][0] == "K" and self._may_mutate(value):
                            self.copy_items(source, container)
                elif self._may_mutate(value):
                    added = self.iterate(values, pos, is_async=False)
                    self.write(elements, added)
                    self.write(self.cell("n", container), added)
            for name, values in keywords.items():
                if self._may_mutate(value):
                    self.write_item(container, name, values)
            return EMPTY
        if method in _SHIFTING and value[1] not in DICTS:
            self._lose_places(container)
        if method in _TAKING:
            if value[1] in DICTS and args:
                found = set(self._item(container, args[0]))
                if len(args) > 1:
                    found |= args[1]
                    if method == "setdefault":
                        self.store_item(self.only(container), args[0], args[1], pos)
                return found
            return self.read(elements)
        if method == "items":
            return self.tuples_of(
                -1 - container, [self.read(self.cell("key", container)), self.read(elements)]
            )
        if method == "keys":
            return self.container_of("list", -3 - container, self.read(self.cell("key", container)))
        if method in _COPYING:
            return (
                self.container_of("list", -5 - container, self.read(elements))
                if value[1] in DICTS and method == "values"
                else self.only(container)
            )
        if method == "sort" and keywords.get("key"):
            taken = [self.read(elements)]
            self.call(keywords["key"], taken, {}, pos, rule="callback", external=True)
        elif method == "sort":
            self.protocol(self.read(elements), ("__lt__",), pos)
        return EMPTY

    def _note_method(self, value: tuple[object, ...], method: str, pos: Position) -> None:
        """The call of a method of a builtin or standard container, by its dotted name."""
        name = "generator" if value[0] == "GE" else str(value[1])
        dotted = name if "." in name else _CONTAINER_NAMES.get(name, f"builtins.{name}")
        if not dotted.startswith(("typing", "collections.abc.")):
            self.facts.append((f.EXTERNAL, f"{dotted}.{method}", pos, True))

    def _call_generator(self, function: Function, method: str, args: Sequence[Values]) -> Values:
        if method == "send" and args:
            self.write(self.cell("sent", function), args[0])
        self.ensure(function)
        return self.read(function.yields) if method in ("send", "__next__", "throw") else EMPTY

    def _call_generic(
        self, value: tuple[object, ...], method: str, args: Sequence[Values], pos: Position
    ) -> Values:
        arguments = value[2]
        assert isinstance(arguments, tuple)
        name = str(value[1]).rpartition(".")[2]
        if not arguments:
            return self.unknown
        if name in _MAPPINGS and len(arguments) > 1:
            if method in _TAKING:
                return frozenset(arguments[1]) | (args[1] if len(args) > 1 else EMPTY)
            if method == "values":
                return self.single(("G", "builtins.list", (frozenset(arguments[1]),)))
            if method == "keys":
                return self.single(("G", "builtins.list", (frozenset(arguments[0]),)))
            if method == "items":
                pair = self.single(
                    ("G", "builtins.tuple", (frozenset(arguments[0]), frozenset(arguments[1])))
                )
                return self.single(("G", "builtins.list", (pair,)))
        if method in _TAKING:
            return frozenset(arguments[0])
        if method in _COPYING:
            return self.single(value)
        return EMPTY

    # --- iteration

    def iterate(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """What ``for x in values`` gives (3.3.7, 8.3)."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            tag = kind[0]
            if tag == "K":
                cell = "key" if kind[1] in DICTS else "e"
                result |= self.read(self.cell(cell, value))
            elif tag in ("G", "GS", "XI", "X", "S", "N"):
                found = self.outside.elements(value, pos, is_async=is_async)
                if found is not None:
                    result |= found
                elif tag == "G":
                    result |= self._generic_elements(kind)
            elif tag == "GE":
                self.ensure(kind[1])
                result |= self.read(kind[1].yields)
            elif tag == "I":
                result |= self._iterate_instance(value, kind[1], kind[2], pos, is_async=is_async)
            elif tag == "C":
                result |= self._iterate_class(value, kind[1], pos)
            elif tag in OPEN:
                self.note_protocol("__aiter__" if is_async else "__iter__", pos, value)
                result |= self.derive("E", value)
        return result

    def _generic_elements(self, kind: tuple[object, ...]) -> Values:
        arguments = kind[2]
        assert isinstance(arguments, tuple)
        if not arguments:
            return self.unknown
        if str(kind[1]).rpartition(".")[2] in ("tuple", "Tuple"):
            merged: set[int] = set()
            for argument in arguments:
                merged |= argument
            return merged
        return frozenset(arguments[0])

    def _iterate_instance(
        self, receiver: int, class_: Class, exact: bool, pos: Position, *, is_async: bool
    ) -> Values:
        first, second = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        if self.find_member(class_, first) is None:
            if self.find_member(class_, "__getitem__") is not None and not is_async:
                return self.call_dunder(receiver, class_, "__getitem__", [self.constants[-3]], pos)
            held = self.held_by(class_)
            if held is not None:
                return self.iterate(self.only(held), pos, is_async=is_async)
            known = self.outside.elements(receiver, pos, is_async=is_async)
            if known is not None:
                return known
            if any(
                base.startswith(("enum.", "typing.NamedTuple"))
                for base in self.external_bases(class_)
            ):
                return self.unknown
            return self.call_dunder(receiver, class_, first, [], pos)
        iterators = self.call_dunder(receiver, class_, first, [], pos)
        result: set[int] = set()
        for iterator in tuple(iterators):
            kind = self.values[iterator]
            if kind[0] == "I":
                found = self.call_dunder(iterator, kind[1], second, [], pos)
                result |= self.await_value(found, pos) if is_async else found
            elif kind[0] in ITERABLE:
                result |= self.iterate(self.only(iterator), pos, is_async=is_async)
        return result

    def _iterate_class(self, receiver: int, class_: Class, pos: Position) -> Values:
        for metaclass in [m for k in self.mro(class_) for m in k.metaclasses]:
            if self.find_member(metaclass, "__iter__") is not None:
                made = self._call_member(
                    metaclass, "__iter__", [self.only(receiver)], pos, "metaclass"
                )
                return self.iterate(made, pos, is_async=False)
        if any(base.startswith("enum.") for base in self.external_bases(class_)):
            self.facts.append((f.CLASSREF, class_, pos))
            return self.single(("I", class_, True))
        return EMPTY

    def generator_return(self, values: Values) -> Values:
        """The value of ``yield from``."""
        result: set[int] = set()
        for value in values:
            kind = self.values[value]
            if kind[0] == "GE":
                self.ensure(kind[1])
                result |= self.read(kind[1].ret)
        return result

    # --- with, await

    def enter_context(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """``with values as …`` (8.5)."""
        enter, leave = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "I":
                entered = self.call_dunder(value, kind[1], enter, [], pos)
                self.call_dunder(value, kind[1], leave, [self.unknown] * 3, pos)
                result |= self.await_value(entered, pos) if is_async else entered
                if not entered:
                    result.add(value)
            elif kind[0] == "CI":
                self.ensure(kind[1])
                result |= self.read(kind[1].yields)
            elif kind[0] in OPEN:
                self.note_protocol(enter, pos, value)
                self.note_protocol(leave, pos, value)
                result |= self.derive("R", value, ())
            elif kind[0] in ("XI", "G", "GS", "K", "X"):
                known = self.outside.entered(value, pos, is_async=is_async)
                if known is not None:
                    result |= known
                elif kind[0] != "X":
                    result.add(value)
        return result

    def await_value(self, values: Values, pos: Position) -> Values:
        """``await values`` (6.4)."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "CO":
                result |= self.returned(kind[1])
            elif kind[0] == "I":
                made = self.call_dunder(value, kind[1], "__await__", [], pos)
                result |= self.generator_return(made)
            elif kind[0] in ("G", "GS", "XI"):
                known = self.outside.awaited(value)
                if known is not None:
                    result |= known
                else:
                    result |= kind[2][-1] if kind[0] == "G" and kind[2] else self.unknown
            elif kind[0] in OPEN:
                self.note_protocol("__await__", pos, value)
                result |= self.derive("R", value, ())
            elif kind[0] == "X":
                result |= self.unknown
        return result

    # --- operators and protocols

    def call_dunder(
        self, receiver: int, class_: Class, dunder: str, args: Sequence[Values], pos: Position
    ) -> Values:
        """Call a special method, looked up on the type (3.3.12)."""
        owner = self.find_member(class_, dunder)
        value = self.values[receiver]
        exact = value[0] != "I" or value[2]
        if not exact:
            self.facts.append((f.MEMBER, class_, dunder, pos, True, "call", False))
        if owner is None:
            if self.outside.types.outer_bases(class_):
                return self.outside.inherited_result(receiver, class_, dunder, args, pos)
            return EMPTY
        return self._call_member(class_, dunder, [self.only(receiver), *args], pos, "protocol")

    def protocol(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        """The first of ``dunders`` each value's type has."""
        result: set[int] = set()
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "I":
                for dunder in dunders:
                    result |= self.call_dunder(value, kind[1], dunder, [], pos)
                    if self.find_member(kind[1], dunder) is not None:
                        break
            elif kind[0] == "C" and self.whole:
                for metaclass in [m for k in self.mro(kind[1]) for m in k.metaclasses]:
                    for dunder in dunders:
                        if self.find_member(metaclass, dunder) is not None:
                            result |= self._call_member(
                                metaclass, dunder, [self.only(value)], pos, "metaclass"
                            )
                            break
            elif kind[0] in OPEN:
                for dunder in dunders:
                    self.note_protocol(dunder, pos, value)
                result |= self.unknown
        return result

    def compare(self, left: Values, right: Values, dunder: str, pos: Position) -> None:
        """A rich comparison; the reflected method when the left has none."""
        reflected = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__"}
        for values, other, name in (
            (left, right, dunder),
            (right, left, reflected.get(dunder, dunder)),
        ):
            answered = self.whole and bool(values)
            for value in tuple(values):
                kind = self.values[value]
                if kind[0] == "I":
                    called = name
                    if name == "__ne__" and self.find_member(kind[1], name) is None:
                        called = "__eq__"
                    made = self.call_dunder(value, kind[1], called, [other], pos)
                    if called == "__eq__" and kind[1] in self.records:
                        self._compare_fields(value, kind[1], pos)
                    if self.ordered and self.find_member(kind[1], called) is None:
                        answered = self._derived_comparison(value, kind[1], called, other, pos)
                        continue
                    answered = (
                        answered
                        and self.find_member(kind[1], called) is not None
                        and all(self.values[v] != _NOT_IMPLEMENTED for v in made)
                    )
                elif kind[0] in OPEN:
                    self.note_protocol(name, pos, value)
                    if name == "__ne__":
                        self.note_protocol("__eq__", pos, value)
                    answered = False
                else:
                    answered = False
            if answered:
                return

    def _compare_fields(self, receiver: int, class_: Class, pos: Position) -> None:
        """The ``__eq__`` that a dataclass generates."""
        if self.find_member(class_, "__eq__") is not None:
            return
        for name, pieces in class_.info.members.items():
            if class_.module.summary.pieces[pieces[0]].kind == "assign":
                saved, self.facts = self.facts, []
                try:
                    held = self.load_attribute(self.only(receiver), name, pos)
                finally:
                    self.facts = saved
                self.protocol({v for v in held if self.values[v][0] == "I"}, ("__eq__",), pos)

    def _derived_comparison(
        self, receiver: int, class_: Class, dunder: str, other: Values, pos: Position
    ) -> bool:
        """A comparison that ``functools.total_ordering`` has added; whether it has."""
        if dunder not in _ROOTS or not any(k in self.ordered for k in self.mro(class_)):
            return False
        root = next((each for each in _ROOTS if self.find_member(class_, each)), None)
        if root is None:
            return False
        self.call_dunder(receiver, class_, root, [other], pos)
        if dunder in _WITH_EQUALITY[root]:
            self.call_dunder(receiver, class_, "__eq__", [other], pos)
        return True

    def contains(self, containers: Values, items: Values, pos: Position) -> None:
        """``item in container`` (6.10.2)."""
        for value in tuple(containers):
            kind = self.values[value]
            if kind[0] == "I":
                if self.find_member(kind[1], "__contains__") is not None:
                    self.call_dunder(value, kind[1], "__contains__", [items], pos)
                else:
                    bases = [f"{b}.__contains__" for b in self.external_bases(kind[1])]
                    derived = [b for b in bases if self.whole and b in CALLED_BACK]
                    for base in derived:
                        self.call_back(base, kind[1], pos)
                    if not derived:
                        self.iterate(self.only(value), pos, is_async=False)
            elif kind[0] in OPEN:
                self.note_protocol("__contains__", pos, value)
            elif kind[0] == "C":
                self._iterate_class(value, kind[1], pos)
        dunders = ("__eq__",) if self._are_sequences(containers) else ("__eq__", "__hash__")
        for value in tuple(items):
            kind = self.values[value]
            if kind[0] == "I":
                for dunder in dunders:
                    self.call_dunder(value, kind[1], dunder, [containers], pos)

    def _are_sequences(self, containers: Values) -> bool:
        """Whether what is looked for is compared with each element, and never hashed."""
        return bool(containers) and all(
            (kind[0] == "K" and kind[1] in _SEQUENCES)
            or (kind[0] == "G" and kind[1] in ("builtins.list", "builtins.tuple"))
            for kind in map(self.values.__getitem__, containers)
        )

    def binary(self, left: Values, right: Values, name: str, pos: Position) -> Values:
        """``left <op> right``: in-place, forward, then reflected (3.3.8)."""
        result: set[int] = set()
        answered = self.whole and bool(left)  # by methods that never give NotImplemented
        in_place = name[0] == "i" and name != "invert" and len(name) > 2 and name != "index"
        forward = name[1:] if in_place else name
        for value in tuple(left):
            kind = self.values[value]
            if kind[0] == "I":
                names = [f"__{name}__", f"__{forward}__"] if in_place else [f"__{forward}__"]
                answers = False
                if self._reflected_first(kind, right, forward):
                    continue
                for dunder in names:
                    made = self.call_dunder(value, kind[1], dunder, [right], pos)
                    declined = {v for v in made if self.values[v] == _NOT_IMPLEMENTED}
                    result |= made - declined
                    if self.find_member(kind[1], dunder) is not None and not declined:
                        answers = True
                        break
                answered = answered and answers
            elif kind[0] in OPEN:
                if in_place:
                    self.note_protocol(f"__{name}__", pos, value)
                self.note_protocol(f"__{forward}__", pos, value)
                result |= self.unknown
            elif kind[0] in ("K", "G", "GS", "XI", "S", "N"):
                result |= self.outside.operated(value, f"__{forward}__", right, pos)
                if kind[0] == "K" and forward == "add":
                    self._extend(value, right)
            elif kind[0] == "C" and forward == "or":
                result.add(value)
        answered = answered and all(self.values[v][0] == "I" for v in left)
        for value in tuple(right):
            kind = self.values[value]
            if kind[0] == "I":
                if answered and not any(
                    self._reflected_first(self.values[v], {value}, forward) for v in left
                ):
                    continue
                result |= self.call_dunder(value, kind[1], f"__r{forward}__", [left], pos)
            elif kind[0] in OPEN:
                self.note_protocol(f"__r{forward}__", pos, value)
                result |= self.unknown
            elif kind[0] in ("K", "XI", "G", "GS") and (kind[0] == "K" or not result):
                result.add(value)
        if forward == "mod" and any(self.values[v][0] in ("S", "N", "XI") for v in left):
            self.protocol(right, ("__str__", "__repr__"), pos)
        return result

    def _reflected_first(self, left: tuple[Any, ...], right: Values, forward: str) -> bool:
        """Whether all of ``right`` is of subclasses that override the reflected method."""
        if not self.whole or left[0] != "I" or not right:
            return False
        for value in right:
            kind = self.values[value]
            if kind[0] != "I" or kind[1] is left[1] or left[1] not in self.mro(kind[1]):
                return False
            name = f"__r{forward}__"
            if self.find_member(kind[1], name) in (None, self.find_member(left[1], name)):
                return False
        return True

    def _extend(self, container: int, right: Values) -> None:
        if self._may_mutate(self.values[container]):
            added = self.iterate(right, 0, is_async=False)
            self.write(self.cell("e", container), added)
            self.write(self.cell("n", container), added)

    def raise_value(self, values: Values, pos: Position) -> None:
        """``raise C`` instantiates the class."""
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "C":
                self.instantiate(kind[1], kind[2], [], {}, EMPTY, pos)

    # --- narrowing

    def narrow(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` holds."""
        targets = self._class_targets(classes)
        result: set[int] = set()
        fits = False
        for value in values:
            kind = self.values[value]
            if kind[0] == "I":
                order = self.mro(kind[1])
                if any(t[0] == "C" and t[1] in order for t in targets):
                    result.add(value)
                    fits = True
            elif kind[0] in ("K", "G", "GS", "XI", "S", "N") and any(t[0] == "X" for t in targets):
                result.add(value)
                fits = True
        if not fits or not values:
            for target in targets:
                if target[0] == "C":
                    result.add(self.intern(("I", target[1], False)))
                elif target[0] == "X":
                    result.add(self.intern(("XI", target[1])))
        return result or values

    def exclude(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` does not hold."""
        targets = [t[1] for t in self._class_targets(classes) if t[0] == "C"]
        return {
            v
            for v in values
            if self.values[v][0] != "I"
            or not any(target in self.mro(self.values[v][1]) for target in targets)
        }

    def narrow_text(self, values: Values, prefix: str) -> Values:
        """``values.startswith(prefix)`` holds."""
        result = {
            v for v in values if self.values[v][0] == "S" and self.values[v][1].startswith(prefix)
        }
        if not prefix or any(self.values[v][0] != "S" for v in values) or not values:
            result.add(self.intern(("N", prefix, "")))
        return result

    def _class_targets(self, classes: Values) -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for value in tuple(classes):
            kind = self.values[value]
            if kind[0] in ("C", "X"):
                found.append(kind)
            elif kind[0] == "K":
                found.extend(
                    self.values[v]
                    for v in self.read(self.cell("e", value))
                    if self.values[v][0] in ("C", "X")
                )
        return found

    def match_class(self, subject: Values, classes: Values) -> Values:
        """The subject when a class pattern matched."""
        return self.narrow(subject, classes)

    # --- questions from outside an evaluation

    def probe(self, receiver: int, tag: str, extra: object, where: Function) -> Values:
        """The attribute ``extra``, an element, or the result of a call of a known value.

        Nothing is noted: whoever asks has its own reasons.
        """
        saved = self.facts, self.current, self.reader
        self.facts, self.current, self.reader = [], where, 0
        try:
            values = self.only(receiver)
            if tag == "A":
                return self.load_attribute(values, str(extra), 0)
            if tag == "E":
                return self.iterate(values, 0, is_async=False) | self.subscript(values, EMPTY, 0)
            assert isinstance(extra, tuple)
            return self.call(values, extra, {}, 0)
        finally:
            self.facts, self.current, self.reader = saved

    # --- computed attribute names

    def dynamic_attribute(
        self, receivers: Values, prefix: str, suffix: str, pos: Position
    ) -> Values:
        """``getattr(receiver, prefix + … + suffix)``: every member that fits."""
        result: set[int] = set()
        for receiver in tuple(receivers):
            value = self.values[receiver]
            if value[0] in ("I", "C"):
                self.facts.append((f.DYNAMIC, value[1], prefix, suffix, pos, receiver))
                result |= self._matching_members(receiver, value[1], prefix, suffix, pos)
            elif value[0] == "M":
                self.facts.append((f.DYNAMIC, value[1], prefix, suffix, pos, receiver))
                result |= self._matching_names(value[1], prefix, suffix, pos)
            elif value[0] in OPEN:
                self.facts.append((f.DYNAMIC, None, prefix, suffix, pos, receiver))
                result |= self.unknown
        if not receivers:
            self.facts.append((f.DYNAMIC, None, prefix, suffix, pos, self.unknown_id))
        return result or self.unknown

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
        if not prefix and not suffix:
            return self.unknown
        result: set[int] = set()
        candidates = [*self.mro(class_), *(self.live_subclasses(class_) if self.whole else ())]
        for k in candidates:
            for name in k.info.members:
                if name.startswith(prefix) and name.endswith(suffix):
                    self.facts.append((f.MEMBER, k, name, pos, False, "read", False))
                    for value in tuple(self.member_values(k, name)):
                        result |= self._bind_to_instance(value, receiver, pos)
        return result

    def any_method(self, receivers: Values) -> Values:
        """``getattr(receiver, name)`` for a name that nobody knows: its public methods."""
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

    def _matching_names(self, module_name: str, prefix: str, suffix: str, pos: Position) -> Values:
        module = self.program.module(module_name)
        if module is None or not (prefix or suffix):
            return self.unknown
        result: set[int] = set()
        for name in module.summary.scope:
            if name.startswith(prefix) and name.endswith(suffix):
                self.facts.append((f.NAME, module_name, name, None, pos))
                result |= self.module_member(module, name)
        return result

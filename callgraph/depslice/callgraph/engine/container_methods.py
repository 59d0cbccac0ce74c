"""Methods of lists, sets, dicts and of what the program derives from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.containers import (
    DICTIONARIES,
    MAPPINGS,
    MOST_KEYS_COPIED,
    ContainerEvaluation,
)
from depslice.callgraph.engine.demands import ORDERED
from depslice.callgraph.engine.library import DICTS, KEEPING
from depslice.callgraph.engine.models import INNER
from depslice.callgraph.engine.namespaces import NAMESPACE
from depslice.callgraph.engine.values import (
    EMPTY,
    Class,
    Values,
)
from depslice.callgraph.summary import Position

_ADDING: Final = frozenset({"append", "add", "appendleft", "insert", "push", "put", "put_nowait"})
_TAKING: Final = frozenset(
    {"pop", "popleft", "get", "popitem", "setdefault", "get_nowait", "__getitem__", "result"}
)
_COPYING: Final = frozenset(
    {
        *("copy", "values", "__iter__", "__reversed__"),
        *("union", "intersection", "difference", "symmetric_difference"),
    }
)
_MERGING: Final = frozenset({"union", "symmetric_difference"})
_OF_OTHERS: Final = -11
"""Registers from here down are those of sets with what a merging takes from its arguments."""
_SHIFTING: Final = frozenset({"pop", "popleft", "remove", "insert", "sort", "reverse", "rotate"})
_HASHING: Final = frozenset(
    {"add", "discard", "get", "move_to_end", "pop", "remove", "setdefault", "__contains__"}
)
_OPERATORS: Final = {
    f"__{name}__": name for name in ("add", "mul", "or", "and", "sub", "xor", "ior", "iadd")
}
_REFLECTED: Final = {f"__r{name}__": name for name in ("add", "mul", "or", "and", "sub", "xor")}
_ITEMS: Final = frozenset({"__contains__", "__delitem__", "__getitem__", "__setitem__"})
_JOINING: Final = frozenset({"__iadd__", "__init__", "__ior__", "extend", "extendleft", "update"})
_REPLACED: Final = "replaced"
_SHRINKING: Final = frozenset({"clear", "pop", "popitem"})
_SEEKING: Final = frozenset({"remove", "index", "count"})
_CONTAINER_NAMES: Final = {
    "OrderedDict": "collections.OrderedDict",
    "deque": "collections.deque",
    "defaultdict": "collections.defaultdict",
    "generator": "builtins.generator",
    "WeakKeyDictionary": "weakref.WeakKeyDictionary",
    "WeakValueDictionary": "weakref.WeakValueDictionary",
}
_SETS: Final = frozenset({"frozenset", "set"})


class ContainerMethods(ContainerEvaluation):
    """Calls of the methods of containers."""

    def fill_namespace(
        self,
        space: int,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
    ) -> None:
        """``space.update(…)``, ``space.setdefault(…)``, where a metaclass is given that."""
        root = self.values[space]
        if root[0] != "P" or root[2] != NAMESPACE:
            return
        receivers = self.only(space)
        if method == "setdefault":
            if len(args) > 1:
                self.store_item(receivers, args[0], args[1], pos)
            return
        for name, values in keywords.items():
            self.store_item(receivers, self.single(("S", name)), values, pos)
        for container in sorted(EMPTY.union(*args)):
            for name in sorted(self.keys_of.get(container, ())):
                values = self.read(self.item_cell(container, name))
                self.store_item(receivers, self.single(("S", name)), values, pos)

    def container_attribute(self, container: int, name: str, pos: Position) -> Values:
        """A method of a container made in the repo."""
        kind = self.values[container]
        if self.whole and kind[0] == "K" and self.outside.lacks(f"builtins.{kind[1]}", name):
            return EMPTY
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
            self._note_method(value, method, pos, self.held_as.get(container, ""))
        if value[0] == "GE":
            return self._call_generator(value[1], method, args)
        if value[0] == "G":
            if method in KEEPING:
                self.note_handed(args, pos, to=value[1])
            return self._call_generic(value, method, args)
        if args and method in _OPERATORS:
            return self.binary(self.only(container), args[0], _OPERATORS[method], pos)
        if args and method in _REFLECTED:
            return self.binary(args[0], self.only(container), _REFLECTED[method], pos)
        if args and method in _ITEMS:
            return self._call_for_item(container, method, args, pos)
        elements = self.elements_cell(container)
        if method in _SHRINKING:
            self.note_shrunk(container)
        if args and (value[1] in DICTS or value[1] in _SETS):
            if method in _HASHING:
                self.hash_values(args[0])
            elif value[1] in _SETS:
                self.meet_demands(f"builtins.{value[1]}.{method}", Call(args, pos=pos))
        elif args and value[1] == "queue.PriorityQueue":
            self.meet_demands(f"{value[1]}.{method}", Call(args, pos=pos))
        elif args and method in _SEEKING:
            self.compare_of(self.read(elements), args[0], "__eq__", pos)
        if method in _ADDING and args:
            self.add_element(container, args[-1])
            if method in _SHIFTING and self._may_mutate(value):
                self.lose_places(container)
            return EMPTY
        if method == "__init__":
            self.fill_held(container, Call(args, keywords, pos=pos))
            return EMPTY
        if method in ("extend", "update", "extendleft"):
            for values in args:
                self.update_container(container, values, pos)
            for name, values in keywords.items():
                if self._may_mutate(value):
                    self.write_item(container, name, values)
                else:
                    self._put_elsewhere(container, values)
            return EMPTY
        if method in _SHIFTING and value[1] not in DICTS:
            self.lose_places(container)
            for values in args[:1] if method in ("insert", "pop") else ():
                self.protocol(self.objects_in(values), ("__index__",), pos)
        if value[1] == "collections.namedtuple":
            return self._call_named_tuple(container, method, keywords)
        if method in _TAKING:
            if method == "popitem":
                pair = self._site("tuple", -9 - container)
                self.lengths[pair] = 2
                self.write_item(pair, "0", self.read(self.keys_cell(container)))
                self.write_item(pair, "1", self.read(elements))
                return self.only(pair)
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
                -1 - container, [self.read(self.keys_cell(container)), self.read(elements)]
            )
        if method == "keys":
            return self.container_of("list", -3 - container, self.read(self.keys_cell(container)))
        if method == "fromkeys":
            given = Call(args, keywords, pos=pos, register=_OF_OTHERS - container)
            return self._models["builtins.dict.fromkeys"](self, given)
        if method in _MERGING and value[1] in _SETS:
            return self._merged(container, args, pos)
        if method in _COPYING:
            return (
                self.container_of("list", -5 - container, self.read(elements))
                if value[1] in DICTS and method == "values"
                else self.only(container)
            )
        if method == "sort" and keywords.get("key"):
            taken = [self.read(elements)]
            made = self.call(keywords["key"], taken, {}, pos, rule="callback", external=True)
            self.protocol(made, ORDERED, pos)
        elif method == "sort":
            self.protocol(self.read(elements), ORDERED, pos)
        return EMPTY

    def _merged(self, container: int, args: Sequence[Values], pos: Position) -> Values:
        """``container.union(*args)``: the sets as they are, as of ``|``; of all else one more set.

        That one is merged with others in its own place: in a loop there would be ever more.
        """
        _, kind, _, register = self.values[container]
        given = EMPTY.union(*args)
        sets = frozenset(
            v for v in given if self.values[v][0] == "K" and self.values[v][1] in _SETS
        )
        others = self.iterate(given - sets, pos, is_async=False)
        result = self.only(container) | sets
        if not others:
            return result
        if type(register) is int and register <= _OF_OTHERS:
            self.write(self.elements_cell(container), others)
            return result
        return result | self.container_of(kind, _OF_OTHERS - container, others)

    def fill_held(self, held: int, call: Call) -> None:
        """What a container is made with, by the constructor of its type.

        Of displays not the texts: all instances of a class are one container, and texts of the one
        would leave no room for the objects of the other.
        """
        args, keywords, spread, pos, *_ = call
        if self.values[held][1] == "defaultdict" and args:
            self.have_factory(held, args[0], INNER + held)
            args = args[1:]
        maps = self.values[held][1] in DICTS
        for value in [value for values in args for value in values]:
            kind = self.values[value]
            if kind[0] == "K" and maps and kind[1] in DICTS:
                self._copy_objects(value, held)
            elif kind[0] == "K" and not maps:
                elements = self.iterate(self.only(value), pos, is_async=False)
                self.add_element(held, frozenset(elements) - self.texts)
            else:
                self.update_container(held, self.only(value), pos)
        for name, values in keywords.items() if maps else ():
            self.write_item(held, name, frozenset(values) - self.texts)
        if spread:
            self.add_element(held, spread)

    def _copy_objects(self, source: int, target: int) -> None:
        """The entries of a dictionary that are no texts, and its keys."""
        elements = self.read(self.elements_cell(source)) - self.texts
        keys = tuple(self.keys_of.get(source, ()))
        if len(keys) > MOST_KEYS_COPIED:
            self.add_element(target, elements)
            keys = ()
        for text in keys:
            self.write_item(target, text, self.read(self.item_cell(source, text)) - self.texts)
        self.write(self.keys_cell(target), self.read(self.keys_cell(source)))
        self.add_element(target, self.read(self.anywhere_cell(source)) - self.texts)

    def _call_for_item(
        self, container: int, method: str, args: Sequence[Values], pos: Position
    ) -> Values:
        """``container.__getitem__(key)`` and its kind: what the syntax does."""
        receivers = self.only(container)
        if method == "__getitem__":
            return self.subscript(receivers, args[0], pos)
        if method == "__contains__":
            self.contains_of(receivers, args[0], pos)
        elif method == "__setitem__" and len(args) > 1:
            self.store_item(receivers, args[0], args[1], pos)
        elif method == "__delitem__":
            self.delete_item(receivers, args[0], pos)
        return EMPTY

    def _call_named_tuple(
        self, container: int, method: str, keywords: Mapping[str, Values]
    ) -> Values:
        """A method of a named tuple: one with other fields, or a dictionary of them."""
        if method == "_replace":
            return self.only(self._with_others(container, keywords))
        if method != "_asdict":
            return EMPTY
        held = self.read(self.elements_cell(container))
        made = self.container_of("dict", -7 - container, held)
        for each in made:
            self.write(self.anywhere_cell(each), held)
        return made

    def _with_others(self, container: int, given: Mapping[str, Values]) -> int:
        """A named tuple like this one, but for the fields that are ``given``."""
        tag, kind, maker, register = self.values[container]
        fields = self.names_of_tuples.get(container, ())
        replaced = {name for name in fields if name in given}
        if type(register) is tuple and register[0] == _REPLACED:
            _, register, *before = register
            replaced.update(before)
        made = self.intern((tag, kind, maker, (_REPLACED, register, *sorted(replaced))))
        self.lengths[made] = len(fields)
        self.names_of_tuples[made] = fields
        for place, name in enumerate(fields):
            values = given.get(name)
            if values is None:
                values = self.read(self.cell("field", container, name))
            self.write_item(made, str(place), values)
            self.write(self.cell("field", made, name), values)
        return made

    def call_kept(self, class_: Class, method: str, call: Call) -> Values:
        """A method that a class has from a container: what it puts there, and what it takes."""
        args = call.args
        if method in _ADDING or method in ("setdefault", "__setitem__"):
            self.note_kept(class_, args[-1] if args else EMPTY)
        elif method in _JOINING:
            for values in (*args, call.spread):
                self.note_kept(class_, self._joined(class_, values, call.pos))
            for values in call.keywords.values():
                self.note_kept(class_, values)
        elif method in _SEEKING and args:
            self.compare_of(self.kept_by(class_), args[0], "__eq__", call.pos)
        if method in _TAKING:
            return self.kept_by(class_)
        if method == "values":
            return self.container_of("list", call.register, self.kept_by(class_))
        if method == "items":
            return self.tuples_of(call.register, [self.unknown, self.kept_by(class_)])
        return EMPTY

    def _joined(self, class_: Class, values: Values, pos: Position) -> Values:
        """What of ``values`` a container takes over that it is made of, or extended with."""
        if DICTIONARIES.isdisjoint(self.external_bases(class_)):
            return self.iterate(values, pos, is_async=False)
        held: Values = EMPTY
        for value in values:
            if self.values[value][0] == "K" and self.values[value][1] in DICTS:
                held = held | self.read(self.elements_cell(value))
            else:
                pairs = self.iterate(self.only(value), pos, is_async=False)
                held = held | self.entries_of(self.only(value), pos)
                held = held | self.unpack_item(pairs, 1, pos)
        return held

    def _note_method(
        self, value: tuple[object, ...], method: str, pos: Position, base: str
    ) -> None:
        """The call of a method of a builtin or standard container, or ``base``, by its dotted name."""
        name = "generator" if value[0] == "GE" else base or str(value[1])
        dotted = name if "." in name else _CONTAINER_NAMES.get(name, f"builtins.{name}")
        if not dotted.startswith(("typing", "collections.abc.")):
            self.facts.append((f.EXTERNAL, f"{dotted}.{method}", pos, True))

    def _call_generic(
        self, value: tuple[object, ...], method: str, args: Sequence[Values]
    ) -> Values:
        arguments = value[2]
        assert isinstance(arguments, tuple)
        name = str(value[1]).rpartition(".")[2]
        if not arguments:
            return self.unknown
        if name in MAPPINGS and len(arguments) > 1:
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

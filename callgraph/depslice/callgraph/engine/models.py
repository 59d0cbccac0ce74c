"""Models of library calls whose effect on values is worth knowing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.library import STRUCTURAL
from depslice.callgraph.engine.protocols import DICTS
from depslice.callgraph.engine.values import EMPTY, OBJECTS_OR_OPEN, OPEN, Class, Values
from depslice.callgraph.lowering.annotations import parse_type
from depslice.callgraph.summary import Op, Position, Register

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

_FOLLOWED: Final = frozenset({s.ATTR, s.CALL, s.ITEM, s.ITER, s.PHI, s.SUB})
INNER: Final = -10_000  # registers of containers that a call makes within another
DISPLAYS: Final = {
    "builtins.list": "list",
    "builtins.dict": "dict",
    "builtins.set": "set",
    "collections.deque": "deque",
}
"""What makes an empty container."""

Model: TypeAlias = "Callable[[ContainerEvaluation, Call], Values]"


def _have_callable(engine: ContainerEvaluation, values: Values, pos: Position) -> None:
    """What is taken only if it can be called, whether it is or not."""
    if not engine.whole:
        engine.protocol(values, ("__call__",), pos)


def _partial(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    _have_callable(engine, call.args[0], call.pos)
    if engine.whole and call.register >= 0 and engine.current is not None:
        return engine.partial_of(call)
    frozen = tuple([frozenset(values) for values in call.args])
    names = tuple([(name, frozenset(values)) for name, values in sorted(call.keywords.items())])
    return engine.single(("PT", frozen[0], frozen[1:], names))


def _partial_method(engine: ContainerEvaluation, call: Call) -> Values:
    """A partial that gets its receiver first: ``functools.partialmethod`` in a class body."""
    made = _partial(engine, call)
    if engine.whole:
        return made
    return frozenset(engine.intern(("PB", *engine.values[value][1:])) for value in made)


def _wraps(engine: ContainerEvaluation, call: Call) -> Values:
    wrapped = frozenset(call.argument(0, "wrapped"))
    _read_names(engine, wrapped, call.pos)
    return engine.single(("W", wrapped))


def _update_wrapper(engine: ContainerEvaluation, call: Call) -> Values:
    wrapper = call.argument(0, "wrapper")
    wrapped = call.argument(1, "wrapped")
    _read_names(engine, wrapped, call.pos)
    engine.mark_wrapper(wrapper, wrapped)
    return wrapper


def _read_names(engine: ContainerEvaluation, wrapped: Values, pos: Position) -> None:
    """``functools.WRAPPER_ASSIGNMENTS`` are read; of instances, by what their class has for it."""
    instances = frozenset(value for value in wrapped if engine.values[value][0] == "I")
    for name in ("__name__", "__doc__") if instances else ():
        engine.load_attribute(instances, name, pos)


def _property(engine: ContainerEvaluation, call: Call) -> Values:
    accessors = [
        frozenset(call.argument(index, name)) for index, name in enumerate(("fget", "fset", "fdel"))
    ]
    return engine.single(("PY", *accessors))


def _map(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    items = [engine.iterate(values, call.pos, is_async=False) for values in call.args[1:]]
    made = engine.call(call.args[0], items, {}, call.pos, rule="callback", external=True)
    return engine.container_of("list", call.register, made)


def _reduce(engine: ContainerEvaluation, call: Call) -> Values:
    """``functools.reduce``: what the function gives is passed to it, with the next element."""
    items = engine.iterate(call.argument(1, ""), call.pos, is_async=False)
    first = call.args[2] if len(call.args) > 2 else items
    reduced = engine.cell("reduced", engine.current, call.register)
    engine.write(reduced, first)
    so_far = engine.read(reduced)
    given = [so_far, items]
    made = engine.call(call.argument(0, ""), given, {}, call.pos, rule="callback", external=True)
    engine.write(reduced, made)
    return so_far | made


def _globals(engine: ContainerEvaluation, call: Call) -> Values:
    """The namespace of this module, or (``vars(x)``) of what is given."""
    if call.args:
        outside = {v for v in call.args[0] if engine.whole and engine.values[v][0] == "XI"}
        of_own = engine.load_attribute(call.args[0] - outside, "__dict__", call.pos)
        return of_own.union(*(engine.single(("ND", each)) for each in sorted(outside)))
    return EMPTY if engine.current is None else engine.single(("NS", engine.current.module.name))


def _locals(engine: ContainerEvaluation, call: Call) -> Values:
    """``locals()`` of a module is its namespace; those of a function are no matter of others."""
    current = engine.current
    if current is not None and current.unit.kind == "piece" and current.unit.owner < 0:
        return _globals(engine, call)
    return engine.unknown


def _vars(engine: ContainerEvaluation, call: Call) -> Values:
    return _globals(engine, call) if call.args else _locals(engine, call)


def _namespace(engine: ContainerEvaluation, call: Call) -> Values:
    made = engine.container_of("types.SimpleNamespace", call.register, EMPTY)
    for container in made:
        for name, values in call.keywords.items():
            engine.write_item(container, name, values)
    return made


def _method_type(engine: ContainerEvaluation, call: Call) -> Values:
    """``types.MethodType(f, x)``: calling it calls ``f``, whatever that is, with ``x`` in front."""
    bound, receivers = call.argument(0, ""), call.argument(1, "")
    _have_callable(engine, bound, call.pos)
    functions, others = set[int](), set[int]()
    for value in bound:
        (functions if engine.values[value][0] == "F" else others).add(value)
    made = {
        engine.intern(("B", engine.values[function][1], receiver))
        for function in functions
        for receiver in receivers
    }
    again = {value for value in others if engine.values[value][0] in ("PT", "PS")}
    if again and engine.whole and call.register >= 0 and engine.current is not None:
        # `self.run = MethodType(self.run, self)`: one for each place, for it would hold ever more.
        made |= engine.partial_of(call._replace(args=[frozenset(again), receivers]))
        others -= again
    for value in others - engine.unknown:
        for receiver in receivers:
            made |= engine.bound_to(value, receiver)
    return (made | (others & engine.unknown)) or engine.unknown


def _dir(engine: ContainerEvaluation, call: Call) -> Values:
    engine.protocol(call.argument(0, ""), ("__dir__",), call.pos)
    names = engine.names_in(call.argument(0, ""), call.pos, inherited=True)
    return engine.container_of("list", call.register, names)


_PREDICATES: Final = {
    "inspect.isclass": frozenset({"C", "X", "XA", "NT"}),
    "inspect.isfunction": frozenset({"F"}),
    "inspect.ismethod": frozenset({"B"}),
    "inspect.ismodule": frozenset({"M"}),
    "inspect.isroutine": frozenset({"F", "B", "X"}),
}
"""Kinds of values for which functions of :mod:`inspect` hold."""


def _getmembers(engine: ContainerEvaluation, call: Call) -> Values:
    owners = call.argument(0, "object")
    names = engine.names_in(owners, call.pos, inherited=True)
    predicates = call.argument(1, "predicate")
    members = EMPTY.union(*(engine.members_of(owner, call.pos) for owner in owners))
    engine.call(predicates, [members], {}, call.pos, rule="callback", external=True)
    tests = [_PREDICATES.get(engine.values[each][1]) for each in predicates]
    if tests and None not in tests:
        kinds = {"U"}.union(*filter(None, tests))
        members = frozenset(v for v in members if engine.values[v][0] in kinds)
    return engine.tuples_of(call.register, [names, members or engine.unknown])


def _getmro(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.load_attribute(call.argument(0, "cls"), "__mro__", call.pos)


def _new_type(engine: ContainerEvaluation, call: Call) -> Values:
    """What ``NewType`` gives hands back its argument."""
    _type_variable(engine, call)
    return engine.single(("X", "typing.NewType()"))


def _same(engine: ContainerEvaluation, call: Call) -> Values:
    return call.argument(0, "")


def _operator(
    dunders: tuple[str, ...], *, compares: bool = False
) -> Callable[[ContainerEvaluation, Call], Values]:
    """What a function of :mod:`operator` does with its operands."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        left, right = call.argument(0, "a"), call.argument(1, "b")
        if compares:
            engine.compare(left, right, dunders[0], call.pos)
            return EMPTY
        if len(call.args) == 1:
            return engine.protocol(left, dunders, call.pos)
        return engine.binary(left, right, dunders[0].strip("_"), call.pos)

    return model


def _contains(engine: ContainerEvaluation, call: Call) -> Values:
    engine.contains(call.argument(0, "a"), call.argument(1, "b"), call.pos)
    return engine.constants[-7]


def _accumulate(engine: ContainerEvaluation, call: Call) -> Values:
    """``itertools.accumulate``: each element, joined with what those before it have given."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    joined = elements | call.keywords.get("initial", EMPTY)
    function = call.argument(1, "func")
    if function:
        made = engine.call(
            function, [joined, elements], {}, call.pos, rule="callback", external=True
        )
    else:
        made = engine.binary(joined, elements, "add", call.pos)
    return engine.container_of("list", call.register, joined | made)


def _prod(engine: ContainerEvaluation, call: Call) -> Values:
    """``math.prod``: starts with 1, which asks the reflected methods first."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    start = call.keywords.get("start") or engine.constants[-3]
    made = engine.binary(start, elements, "mul", call.pos)
    return made | engine.binary(made | elements, elements, "mul", call.pos)


def _sum(engine: ContainerEvaluation, call: Call) -> Values:
    """``sum``: starts with 0, which asks the reflected methods first."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    start = call.argument(1, "start")
    made = engine.binary(start or engine.constants[-3], elements, "add", call.pos) | start
    joined = (made - engine.constants[-3]) | elements
    adding = {  # others just answer for the number that stands first
        v
        for v in joined
        if engine.values[v][0] != "I" or engine.find_member(engine.values[v][1], "__add__")
    }
    return joined | engine.binary(adding, elements, "add", call.pos)


def _given_by(dunder: str) -> Callable[[ContainerEvaluation, Call], Values]:
    """A builtin function that gives what a special method does."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        values = call.argument(0, "")
        return engine.unary(values, dunder, call.pos) or engine.constants[-3]

    return model


def _aiter(engine: ContainerEvaluation, call: Call) -> Values:
    values = call.argument(0, "")
    own = {v for v in values if engine.values[v][0] in OBJECTS_OR_OPEN}
    return engine.unary(own, "__aiter__", call.pos) | (values - own)


def _group_by(engine: ContainerEvaluation, call: Call) -> Values:
    """``itertools.groupby`` compares keys that follow each other."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    keys, key = elements, call.argument(1, "key")
    if key:
        keys = engine.call(key, [elements], {}, call.pos, rule="callback", external=True)
    engine.compare(keys, keys, "__eq__", call.pos)
    group = engine.container_of("list", INNER - call.register, elements)
    return engine.tuples_of(call.register, [keys, group])


def _json(dotted: str) -> Callable[[ContainerEvaluation, Call], Values]:
    """``json.dumps`` and ``dump`` ask ``default`` for what they do not know themselves."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        default = call.keywords.get("default", EMPTY)
        if default:
            given = call.argument(0, "obj")
            objects = engine.objects_in(given) | engine.parts(given)
            if not engine.whole or not objects:
                objects |= engine.unknown
            made = engine.call(default, [objects], {}, call.pos, rule="callback", external=True)
            again = engine.objects_in(made) | engine.parts(made)
            if again:  # what it gives is written in its turn
                engine.call(default, [again], {}, call.pos, rule="callback", external=True)
        rest = {name: values for name, values in call.keywords.items() if name != "default"}
        written = engine.outside.call(dotted, call._replace(keywords=rest))
        return engine.constants[-4] if written is None else written

    return model


def _print(engine: ContainerEvaluation, call: Call) -> Values:
    """``print(…, file=file, flush=True)``: the file is written, and flushed."""
    file = call.keywords.get("file", EMPTY)
    for name in ("write", "flush") if "flush" in call.keywords else ("write",):
        engine.protocol(file, (name,), call.pos)
    return EMPTY


def _attribute_getter(engine: ContainerEvaluation, call: Call) -> Values:
    return _getter(engine, call, "attribute")


def _item_getter(engine: ContainerEvaluation, call: Call) -> Values:
    return _getter(engine, call, "item")


def _method_caller(engine: ContainerEvaluation, call: Call) -> Values:
    return _getter(engine, call, "method")


def _getter(engine: ContainerEvaluation, call: Call, kind: str) -> Values:
    given = tuple([frozenset(values) for values in call.args])
    names = tuple([(name, frozenset(values)) for name, values in sorted(call.keywords.items())])
    return engine.single(("OG", kind, given, names))


def _starmap(engine: ContainerEvaluation, call: Call) -> Values:
    made: set[int] = set()
    for group in tuple(engine.iterate(call.argument(1, ""), call.pos, is_async=False)):
        places = engine.places_of(frozenset((group,)))
        spread = engine.iterate({group}, call.pos, is_async=False) if places is None else EMPTY
        made |= engine.call(
            call.argument(0, ""), places or [], {}, call.pos,
            spread=spread, rule="callback", external=True,
        )  # fmt: skip
    return engine.container_of("list", call.register, made)


def _product(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.tuples_of(
        call.register, [engine.iterate(values, call.pos, is_async=False) for values in call.args]
    )


def _replace(engine: ContainerEvaluation, call: Call) -> Values:
    """``dataclasses.replace`` makes a new instance."""
    for value in call.argument(0, "obj"):
        kind = engine.values[value]
        if kind[0] == "I":
            engine.instantiate(kind[1], kind[2], [], call.keywords, EMPTY, call.pos)
    return call.argument(0, "obj")


def _type_made(engine: ContainerEvaluation, call: Call) -> Values:
    """``type(name, bases, members)``: the bases, with the members."""
    made: set[int] = set()
    bases = engine.iterate(call.args[1], call.pos, is_async=False)
    engine.make_below(bases, call.pos)
    if not engine.whole:
        engine.note_descriptors(engine.parts(call.args[2]), call.pos)
    for value in bases:
        if engine.values[value][0] == "C":
            made.add(value)
            for container in call.args[2]:
                for name in tuple(engine.keys_of.get(container, ())):
                    held = engine.read(engine.cell("k", container, name))
                    engine.write(engine.cell("made", value, name), held)
    return made or engine.unknown


def _new_class(engine: ContainerEvaluation, call: Call) -> Values:
    """``types.new_class(name, bases, …, exec_body)``."""
    bases = engine.iterate(call.argument(1, "bases"), call.pos, is_async=False)
    engine.make_below(bases, call.pos)
    engine.hand_over([call.argument(3, "exec_body")], call.pos)
    return {value for value in bases if engine.values[value][0] == "C"} or engine.unknown


def _iterators(
    engine: ContainerEvaluation, values: Values, pos: Position
) -> tuple[frozenset[int], Values]:
    """The objects that ``__iter__`` gives, which are asked for an element later, and the rest."""
    own = {v for v in values if engine.whole and _has(engine, v, "__iter__")}
    given = engine.protocol(own, ("__iter__",), pos)
    iterators = frozenset(v for v in given if _has(engine, v, "__next__"))
    return iterators, (values - own) | (given - iterators)


def _has(engine: ContainerEvaluation, value: int, dunder: str) -> bool:
    kind = engine.values[value]
    return kind[0] == "I" and engine.find_member(kind[1], dunder) is not None


def _iter(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 2:  # a callable and the value that ends it
        made = engine.call(call.args[0], [], {}, call.pos, rule="callback", external=True)
        engine.compare(made, call.args[1], "__eq__", call.pos)
    else:
        values = call.argument(0, "")
        rows = {v for v in values if engine.values[v][:2] == ("K", "tuple")}
        iterators, others = _iterators(engine, values - rows, call.pos)
        made = engine.iterate(others, call.pos, is_async=False)
        if not engine.whole:  # who gets an iterator iterates it: it gives itself
            given = engine.protocol(engine.objects_in(others), ("__iter__",), call.pos)
            engine.protocol(engine.objects_in(given), ("__iter__",), call.pos)
        if rows or iterators:  # what is in a row stays in its place
            listed = engine.container_of("list", call.register, made) if made else EMPTY
            return listed.union(rows, iterators)
    return engine.container_of("list", call.register, made)


def _reversed(engine: ContainerEvaluation, call: Call) -> Values:
    values = call.argument(0, "")
    made: set[int] = set()
    elements: set[int] = set()
    for value in values:
        kind, given = engine.values[value], engine.only(value)
        if kind[0] != "I":
            made.add(value)
            if kind[0] in OBJECTS_OR_OPEN:
                made |= engine.unary(given, "__reversed__", call.pos)
                engine.protocol(given, ("__len__", "__getitem__"), call.pos)
        elif engine.find_member(kind[1], "__reversed__") is not None:
            made |= engine.unary(given, "__reversed__", call.pos)
        else:
            made |= engine.ask_below(value, kind[1], "__reversed__", [], call.pos)
            engine.protocol(given, ("__len__",), call.pos)
            elements |= engine.subscript(given, engine.constants[-3], call.pos)
    elements |= engine.iterate(made, call.pos, is_async=False)
    return engine.container_of("list", call.register, elements)


def _zip(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.tuples_of(
        call.register, [engine.iterate(values, call.pos, is_async=False) for values in call.args]
    )


def _enumerate(engine: ContainerEvaluation, call: Call) -> Values:
    items = engine.iterate(call.args[0], call.pos, is_async=False) if call.args else EMPTY
    return engine.tuples_of(call.register, [engine.constants[-3], items])


def _getattr(engine: ContainerEvaluation, call: Call, *, by_object: bool = False) -> Values:
    load = engine.attribute_by_object if by_object else engine.load_attribute
    if len(call.args) < 2:
        return EMPTY
    result: set[int] = set(call.args[2]) if len(call.args) > 2 else set()
    computed = False
    for value in tuple(call.args[1]):
        kind = engine.values[value]
        if kind[0] == "S":
            result |= load(call.args[0], kind[1], call.pos)
        elif kind[0] == "N":
            result |= engine.dynamic_attribute(call.args[0], kind[1], kind[2], call.pos)
        elif engine.open_name(call.args[0], value, call.pos):
            result |= engine.attribute_by_open(call.args[0], value)
        else:
            computed = True
    if computed or not call.args[1]:
        result |= engine.dynamic_attribute(call.args[0], "", "", call.pos)
        if engine.whole and not any(engine.values[v][0] in ("S", "N") for v in call.args[1]):
            result |= engine.any_method(call.args[0])
    return result


def _object_getattribute(engine: ContainerEvaluation, call: Call) -> Values:
    """``object.__getattribute__(receiver, name)``: what the class has overridden does not run."""
    return _getattr(engine, call, by_object=True)


def _entries_stored(
    engine: ContainerEvaluation, result: Register
) -> tuple[list[tuple[str, Values]], bool]:
    """The entries of dictionaries that a loop stores: ``for k, v in d.items(): setattr(x, k, v)``.

    And what is stored by its own name. Each value under its name, which is empty where it is not
    known; and whether that is all that the call with that ``result`` stores.
    """
    if engine.current is None or not engine.whole:
        return [], False
    made = {op[1]: op for op in engine.current.unit.ops if op[0] in _FOLLOWED}
    call = made.get(result)
    stored = call is not None and call[0] == s.CALL and len(call[3]) == 3
    apart = engine.stored_by_own_name(call[3][1], call[3][2]) if call and stored else None
    if apart is not None:
        named, others = apart
        return [*named.items(), ("", others)], True
    register = _mapping_stored(call, made) if call is not None and stored else None
    if register is None:
        return [], False
    entries: list[tuple[str, Values]] = []
    held = engine.current.registers[register]
    known = bool(held)
    for container in held:
        kind = engine.values[container]
        if kind[0] != "K" or kind[1] not in DICTS or engine.read(engine.cell("n", container)):
            known = False
        if kind[0] != "K":
            continue
        engine.read(engine.elements_cell(container))
        for name in tuple(engine.keys_of.get(container, ())):
            entries.append((name, engine.read(engine.cell("k", container, name))))
    return entries, known


def _mapping_stored(call: Op, made: Mapping[Register, Op]) -> Register | None:
    """Where the dictionary is whose entry a call has for its name and its value."""
    name, value = _defined(call[3][1], made), _defined(call[3][2], made)
    if name is None or value is None:
        return None
    if name[0] == value[0] == s.ITEM and name[2:4] == (value[2], 0) and value[3] == 1:
        entry = _defined(name[2], made)
        items = _defined(entry[2], made) if entry is not None and entry[0] == s.ITER else None
        method = _defined(items[2], made) if items is not None and items[0] == s.CALL else None
        if method is not None and method[0] == s.ATTR and method[3] == "items":
            return int(method[2])
    if name[0] == s.ITER and value[0] == s.SUB and _defined(value[3], made) is name:
        return int(name[2]) if name[2] == value[2] else None
    return None


def _defined(register: Register, made: Mapping[Register, Op]) -> Op | None:
    """The operation that gives what is in a register, behind those that join one path."""
    op = made.get(register)
    while op is not None and op[0] == s.PHI and len(op[2]) == 1:
        op = made.get(op[2][0])
    return op


def _setattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 3:
        entries, all_of_them = _entries_stored(engine, call.register)
        for name, values in entries:
            if name:
                engine.store_attribute(call.args[0], name, values, call.pos)
            else:
                engine.store_somewhere(call.args[0], values, call.pos)
        if all_of_them:
            return EMPTY
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(call.args[0], kind[1], call.args[2], call.pos)
            else:
                engine.store_somewhere(call.args[0], call.args[2], call.pos)
                engine.name_of_open(call.args[0], value, call.pos, "write")
    return EMPTY


def _delattr(engine: ContainerEvaluation, call: Call) -> Values:
    for value in tuple(call.args[1]) if len(call.args) == 2 else ():
        kind = engine.values[value]
        if kind[0] == "S":
            engine.delete_attribute(call.args[0], kind[1], call.pos)
        else:
            engine.name_of_open(call.args[0], value, call.pos, "delete")
    return EMPTY


def _object_setattr(engine: ContainerEvaluation, call: Call) -> Values:
    """``object.__setattr__(receiver, name, value)``: what the class has overridden does not run.

    ``super().__setattr__(name, value)`` passes no receiver; what it stores is not known.
    """
    if len(call.args) == 3:
        for value in call.args[1]:
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(
                    call.args[0], kind[1], call.args[2], call.pos, by_object=True
                )
    return EMPTY


def _object_new(engine: ContainerEvaluation, call: Call) -> Values:
    """``object.__new__(cls)``, ``super().__new__(cls)``: an instance of the class."""
    classes = call.args[0] if call.args else EMPTY
    made = {
        engine.intern(("I", kind[1], kind[2]))
        for kind in (engine.values[value] for value in classes)
        if kind[0] == "C"
    }
    if engine.unknown_id in classes:  # `__new__` is asked for more classes than it can hold
        made.add(engine.unknown_id)
    return made or engine.single(("XI", "builtins.object"))


def _contextmanager(engine: ContainerEvaluation, call: Call) -> Values:
    """``contextmanager(f)``, called as a function rather than as a decorator."""
    made: set[int] = set()
    others: set[int] = set()
    for value in call.args[0] if call.args else EMPTY:
        kind = engine.values[value]
        if kind[0] == "F":
            made.add(engine.intern(("CM", kind[1])))
        else:
            others.add(value)
    if others:  # a method or an object: it is called when the context is entered
        engine.hand_over([others], call.pos)
    return made | engine.unknown if others else made


def _tuple_new(engine: ContainerEvaluation, call: Call) -> Values:
    """``super().__new__(cls, x, y)`` of a class that extends a named tuple: with these fields."""
    made = _object_new(engine, call)
    for value in made:
        kind = engine.values[value]
        if kind[0] == "I" and engine.named_fields(kind[1]):
            engine.pass_fields(kind[1], call.args[1:], call.keywords)
        held = engine.held_by(kind[1]) if kind[0] == "I" else None
        if held is not None:
            engine.fill_held(held, Call(call.args[1:], call.keywords, pos=call.pos))
    return made


def _set_defaults(engine: ContainerEvaluation, call: Call) -> Values:
    """``parser.set_defaults(run=f)``: what is parsed has it, and who has that may call it."""
    if not engine.whole:
        engine.hand_over([*call.keywords.values()], call.pos)
        return EMPTY
    for name, values in call.keywords.items():
        engine.write(engine.cell("carried", name), values)
    return EMPTY


def _static_method(engine: ContainerEvaluation, call: Call) -> Values:
    """``attribute = staticmethod(f)``: what instances have by it, gets no receiver.

    As a partial of ``f`` that passes nothing: it binds to no instance either.
    """
    given = call.argument(0, "")
    functions = {v for v in given if engine.values[v][0] == "F"}
    return given - functions | {
        made for v in functions for made in engine.single(("PT", engine.only(v), (), ()))
    }


def _hasattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 2:
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.load_attribute(call.args[0], kind[1], call.pos)
            elif kind[0] == "N" and not engine.whole:
                engine.dynamic_attribute(call.args[0], kind[1], kind[2], call.pos)
            elif not engine.whole:  # told; not followed: it would ask for all that is there
                engine.note_unknown_name(call.args[0], call.pos)
    return engine.constants[-7]


def _callable(engine: ContainerEvaluation, call: Call) -> Values:
    if call.args:
        engine.load_attribute(call.args[0], "__call__", call.pos)
    return engine.constants[-7]


def _super(engine: ContainerEvaluation, call: Call) -> Values:
    made: set[int] = set()
    if len(call.args) == 2:
        for class_ in engine.classes_in(call.args[0]):
            for receiver in call.args[1]:
                if engine.values[receiver][0] in ("I", "C"):
                    made.add(engine.intern(("SU", class_, receiver)))
    return made or engine.unknown


def _type(engine: ContainerEvaluation, call: Call) -> Values:
    made: set[int] = set()
    if len(call.args) == 3:
        return _type_made(engine, call)
    if len(call.args) == 1:
        for value in call.args[0]:
            kind = engine.values[value]
            if kind[0] == "I":
                made.add(engine.intern(("C", kind[1], kind[2])))
            elif kind[0] == "XI":
                made.add(engine.intern(("X", kind[1])))
            elif kind[0] in OPEN:
                made |= engine.derive("A", value, "__class__")
    return made or engine.unknown


def _dict(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "dict")


def _ordered_dict(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "OrderedDict")


def _mapping(engine: ContainerEvaluation, call: Call, kind: str) -> Values:
    made = engine.container_of(kind, call.register, EMPTY)
    for container in made:
        for name, values in call.keywords.items():
            engine.write_item(container, name, values)
        for values in call.args:
            engine.take_entries(container, values, call.pos)
    return made


def _field(engine: ContainerEvaluation, call: Call) -> Values:
    """``attrs.field(…)``: what checks and converts its values is asked by the constructor."""
    function = engine.current
    for name in ("converter", "validator") if engine.whole and function is not None else ():
        given = call.keywords.get(name, EMPTY)
        several = {value for value in given if engine.values[value][0] == "K"}
        held = engine.iterate(several, call.pos, is_async=False)
        engine.write(engine.cell(name, function), given | held)
    return _default_factory(engine, call)


def _default_factory(engine: ContainerEvaluation, call: Call) -> Values:
    factory = call.keywords.get("default_factory") or call.keywords.get("factory")
    if factory:
        return _made_by(engine, factory, call)
    default = call.keywords.get("default")
    return default if default is not None else (call.args[0] if call.args else EMPTY)


def _attrs_factory(engine: ContainerEvaluation, call: Call) -> Values:
    """``attrs.Factory(list)``: what stands for a field is made anew for each instance."""
    return _made_by(engine, call.argument(0, "factory"), call)


def _made_by(engine: ContainerEvaluation, factory: Values, call: Call) -> Values:
    if not engine.whole:
        return engine.call(factory, [], {}, call.pos, rule="default-factory", external=True)
    made: set[int] = set()
    for value in factory:
        kind = engine.values[value]
        display = DISPLAYS.get(kind[1]) if kind[0] == "X" else None
        if display is None:
            made.add(engine.intern(("DF", frozenset((value,)))))
        else:
            made |= engine.container_of(display, call.register, EMPTY)
    return made


def _defaultdict(engine: ContainerEvaluation, call: Call) -> Values:
    made = engine.container_of("defaultdict", call.register, EMPTY)
    for container in made:
        engine.have_factory(container, call.argument(0, ""), INNER - call.register)
    for container in made:
        for values in call.args[1:]:
            engine.take_entries(container, values, call.pos)
        for name, values in call.keywords.items():
            engine.write_item(container, name, values)
    return made


def _namedtuple(engine: ContainerEvaluation, call: Call) -> Values:
    names: list[str] = []
    for value in call.argument(1, "field_names"):
        kind = engine.values[value]
        if kind[0] == "S":
            names = kind[1].replace(",", " ").split()
        elif kind[0] == "K":
            held = (engine.read(engine.cell("k", value, k)) for k in engine.keys_of.get(value, ()))
            names = [
                engine.values[v][1] for each in held for v in each if engine.values[v][0] == "S"
            ]
    return engine.single(("NT", tuple(names)))


def _thread(engine: ContainerEvaluation, call: Call) -> Values:
    _start(engine, call, call.argument(1, "target"), call.argument(3, "args"), 4)
    return engine.single(("XI", "threading.Thread"))


def _process(engine: ContainerEvaluation, call: Call) -> Values:
    _start(engine, call, call.argument(1, "target"), call.argument(3, "args"), 4)
    return engine.single(("XI", "multiprocessing.Process"))


def _timer(engine: ContainerEvaluation, call: Call) -> Values:
    _start(engine, call, call.argument(1, "function"), call.argument(2, "args"), 3)
    return engine.single(("XI", "threading.Timer"))


def _start(
    engine: ContainerEvaluation, call: Call, target: Values, args: Values, options: int
) -> None:
    """``target`` runs in a thread, with the arguments of a tuple and of a dictionary."""
    if not target:
        return
    passed = engine.places_of(args) if args else []
    spread = engine.iterate(args, call.pos, is_async=False) if passed is None else EMPTY
    keywords, _ = engine.names_of(call.argument(options, "kwargs"))
    engine.call(
        target, passed or [], keywords, call.pos, spread=spread, rule="callback", external=True
    )


def _later(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    return engine.call(
        call.args[0], list(call.args[1:]), call.keywords, call.pos, rule="callback", external=True
    )


def _submit(engine: ContainerEvaluation, call: Call) -> Values:
    made = frozenset(_later(engine, call))
    return engine.single(("G", "concurrent.futures.Future", (made,)))


def _to_thread(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.single(("G", "asyncio.Future", (frozenset(_later(engine, call)),)))


def _run(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.await_value(call.argument(0, "main"), call.pos)


def _as_completed(engine: ContainerEvaluation, call: Call) -> Values:
    futures = engine.iterate(call.argument(0, "fs"), call.pos, is_async=False)
    return engine.container_of("list", call.register, futures)


def _from_keys(engine: ContainerEvaluation, call: Call) -> Values:
    """``dict.fromkeys(keys, value)``."""
    keys = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    value = call.argument(1, "value")
    made = engine.container_of("dict", call.register, value)
    for container in made:
        engine.write(engine.cell("key", container), keys)
        engine.write(engine.cell("n", container), value)
    return made


def _heap_push(engine: ContainerEvaluation, call: Call) -> Values:
    """``heapq.heappush`` and those that push and pop."""
    for heap in call.argument(0, "heap"):
        if engine.values[heap][0] == "K":
            engine.add_element(heap, call.argument(1, "item"))
    return _heap_pop(engine, call)


def _insort(engine: ContainerEvaluation, call: Call) -> Values:
    """``bisect.insort``: the list holds it; ``key`` is called for what it holds."""
    given, rows = call.argument(1, "x"), call.argument(0, "a")
    for row in rows:
        if engine.values[row][0] == "K":
            engine.add_element(row, given)
    objects = engine.objects_in(rows)
    held = engine.iterate(rows - objects, call.pos, is_async=False)
    for dunder in ("__len__", "__getitem__"):
        held = held | engine.protocol(objects, (dunder,), call.pos)
    insert = engine.load_attribute(objects, "insert", call.pos)
    engine.call(insert, [EMPTY, given], {}, call.pos, rule="callback", external=True)
    key = call.keywords.get("key")
    if key:
        engine.call(key, [held | given], {}, call.pos, rule="callback", external=True)
    return EMPTY


def _heap_pop(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.iterate(call.argument(0, "heap"), call.pos, is_async=False)


def _gather(engine: ContainerEvaluation, call: Call) -> Values:
    results = [engine.await_value(values, call.pos) for values in call.args]
    return engine.single(("G", "asyncio.Future", (_list_of(engine, call, results),)))


def _list_of(engine: ContainerEvaluation, call: Call, items: Sequence[Values]) -> frozenset[int]:
    made = frozenset(engine.container_of("list", call.register, EMPTY))
    for container in made:
        engine.lengths[container] = len(items)
        for index, values in enumerate(items):
            engine.write_item(container, str(index), values)
    return made


def _register_exit(engine: ContainerEvaluation, call: Call) -> Values:
    _later(engine, call)
    return call.args[0] if call.args else EMPTY


def _import_module(engine: ContainerEvaluation, call: Call) -> Values:
    made: set[int] = set()
    for value in call.args[0] if call.args else EMPTY:
        kind = engine.values[value]
        name = _absolute(engine, kind[1], call) if kind[0] in ("S", "N") else None
        if name is None:
            continue
        if kind[0] == "S":
            here = None if engine.current is None else engine.current.module
            names = [name if here is None else engine.program.nearest(here, name)]
        else:  # a name alone would be any module there is
            names = engine.program.modules_between(name, kind[2]) if name or kind[2] else []
        for each in names:
            made |= engine.module_value(each)
            if engine.program.is_module(each):
                engine.facts.append((f.MODULE, each, call.pos))
    return made or engine.unknown


def _absolute(engine: ContainerEvaluation, name: str, call: Call) -> str | None:
    """A name for ``import_module``, or how it starts, without leading dots (PEP 328)."""
    level = len(name) - len(name.lstrip("."))
    if not level:
        return name
    package = _anchor(engine, call.argument(1, "package"))
    if package is None:
        return None
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], name[level:]])


def _anchor(engine: ContainerEvaluation, package: Values) -> str | None:
    """The package a relative name starts from: a constant, else ``__package__`` of here."""
    texts = [engine.values[v][1] for v in package if engine.values[v][0] == "S"]
    if texts:
        return str(texts[0])
    if engine.current is None:
        return None
    return engine.current.module.package


def _mock(dotted: str) -> Callable[[ContainerEvaluation, Call], Values]:
    """What ``unittest.mock`` makes: it does what it wraps does, and what it has as side effect."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        made = engine.single(("XI", dotted))
        for name in ("wraps", "side_effect"):
            made |= frozenset(call.keywords.get(name, EMPTY))
        return made

    return model


def _isinstance(engine: ContainerEvaluation, call: Call) -> Values:
    return _checked(engine, call, "__instancecheck__")


def _issubclass(engine: ContainerEvaluation, call: Call) -> Values:
    return _checked(engine, call, "__subclasscheck__")


def _checked(engine: ContainerEvaluation, call: Call, dunder: str) -> Values:
    """Whether something is of a class: that its metaclass may say (3.3.4)."""
    if len(call.args) == 2:
        for name in _structural(engine, call.args[1]):
            engine.load_attribute(call.args[0], name, call.pos)
    classes = call.args[1] if len(call.args) > 1 else EMPTY
    given = EMPTY.union(classes, *(engine.places_of(classes) or ()))
    for value in classes if not engine.whole else ():
        if engine.values[value][0] == "K":  # `isinstance(x, kinds)`, of any length
            given |= engine.read(engine.elements_cell(value))
    for value in given if not engine.whole else ():
        if engine.values[value][0] in OPEN:
            engine.note_protocol(dunder, call.pos, value)
    objects = frozenset(value for value in given if engine.values[value][0] == "I")
    engine.protocol(objects, (dunder,), call.pos)  # of no class, and asked all the same
    for class_ in _classes(engine, given):
        _recognise(engine, class_, call)
        for metaclass in engine.metaclasses_of(class_):
            engine.protocol(engine.single(("I", metaclass, True)), (dunder,), call.pos)
        if engine.find_member(class_, "__subclasshook__") is not None:
            kinds = call.args[0]
            if dunder == "__instancecheck__":
                kinds = engine.load_attribute(kinds, "__class__", call.pos)
            hook = engine.load_attribute(
                engine.single(("C", class_, True)), "__subclasshook__", call.pos
            )
            engine.call(hook, [kinds], {}, call.pos, rule="protocol", external=True)
    return engine.constants[-7]


def _recognise(engine: ContainerEvaluation, class_: Class, call: Call) -> None:
    """What a protocol declares is what its instances are recognised by (PEP 544): modules too."""
    if engine.whole or not engine.is_protocol(class_):
        return
    modules = frozenset(value for value in call.args[0] if engine.values[value][0] == "M")
    check = "__instancecheck__"
    engine.facts.append((f.MEMBER, class_, check, call.pos, False, "checked", True))
    for k in engine.mro(class_):
        if engine.is_protocol(k):
            for name in k.info.members:
                engine.facts.append((f.MEMBER, k, name, call.pos, False, "read", True))
                engine.load_attribute(modules, name, call.pos)


_WITH_STRUCTURAL: Final = ("collections.abc", "contextlib", "os", "typing", "typing_extensions")


def _structural(engine: ContainerEvaluation, classes: Values) -> Iterator[str]:
    """The methods that these classes recognise their instances by."""
    alternatives = engine.places_of(classes) or [classes]
    for value in (value for values in alternatives for value in values):
        kind = engine.values[value]
        if kind[0] == "X":
            module, _, name = kind[1].rpartition(".")
            if module in _WITH_STRUCTURAL:
                yield from STRUCTURAL.get(name, ())


def _classes(engine: ContainerEvaluation, values: Values) -> list[Class]:
    return list(engine.classes_in(values))


def _enter_context(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.enter_context(call.args[0], call.pos, is_async=False) if call.args else EMPTY


def _push_exit(engine: ContainerEvaluation, call: Call) -> Values:
    """``ExitStack.push``: a context manager, of which the end is called, or a function."""
    engine.hand_over(call.args[:1], call.pos)
    return _enter_context(engine, call)


def _closing(engine: ContainerEvaluation, call: Call) -> Values:
    thing = call.argument(0, "thing")
    closers = engine.load_attribute(thing, "close", call.pos)
    if closers:
        engine.call(closers, [], {}, call.pos, rule="callback", external=True)
    return thing


def _enter_async_context(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    made = frozenset(engine.enter_context(call.args[0], call.pos, is_async=True))
    return engine.single(("G", "asyncio.Future", (made,)))


def _type_variable(engine: ContainerEvaluation, call: Call) -> Values:
    """Strings among the arguments are forward references (PEP 484)."""
    function = engine.current
    for values in (*call.args, *call.keywords.values()):
        for value in values:
            kind = engine.values[value]
            if kind[0] == "S" and function is not None:
                engine.note_annotation(function, parse_type(kind[1]), call.pos, eager=False)
    return engine.single(("XI", "typing.TypeVar"))


def _cast(engine: ContainerEvaluation, call: Call) -> Values:
    function = engine.current
    declared: set[int] = set()
    for value in call.args[0] if call.args else EMPTY:
        kind = engine.values[value]
        if kind[0] == "S" and function is not None:
            expression = parse_type(kind[1])
            engine.note_annotation(function, expression, call.pos, eager=False)
            declared |= engine.declared(function.module, function, expression)
        elif kind[0] == "C":
            declared.add(engine.intern(("I", kind[1], False)))
    if any(engine.values[value][0] in ("C", "I") for value in declared):
        return declared
    # A type from elsewhere (`Callable[…]`, `Any`) says less than what is known of the value.
    return declared.union(call.args[1] if len(call.args) > 1 else EMPTY)


def _auto(engine: ContainerEvaluation, call: Call) -> Values:
    """``enum.auto()``: the enumeration may say itself which value comes next."""
    function = engine.current
    if engine.whole and function is not None and function.unit.owner >= 0:
        class_ = engine.class_(function.module, function.unit.owner)
        number = engine.constants[s.INT]
        given = [engine.constants[s.STR], number, number, engine.unknown]
        engine.call_member(class_, "_generate_next_value_", given, call.pos, "enum")
    return engine.outside.call("enum.auto", call) or engine.single(("XI", "enum.auto"))


def _run_tests(engine: ContainerEvaluation, call: Call) -> Values:
    """``unittest.main()`` runs the test cases of the module, where it names no other."""
    function = engine.current
    if function is not None and engine.whole and not (call.args or "module" in call.keywords):
        module = function.module
        classes = [engine.class_(module, each.index) for each in module.summary.classes]
        engine.run_tests(classes, call.pos)
    return EMPTY


def _keep(engine: ContainerEvaluation, call: Call) -> Values:
    """What is passed is kept, and none of it called."""
    return EMPTY


MODELS: Final[dict[str, Model]] = {
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.partialmethod": _partial_method,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "builtins.property": _property,
    "functools.cached_property": _property,
    "builtins.property.__init__": _keep,
    "builtins.map": _map,
    "builtins.print": _print,
    "itertools.accumulate": _accumulate,
    "itertools.groupby": _group_by,
    "json.dump": _json("json.dump"),
    "json.dumps": _json("json.dumps"),
    "math.prod": _prod,
    "operator.contains": _contains,
    "builtins.iter": _iter,
    "builtins.globals": _globals,
    "builtins.locals": _locals,
    "builtins.vars": _vars,
    "builtins.dir": _dir,
    "inspect.getmembers": _getmembers,
    "inspect.getmembers_static": _getmembers,
    "inspect.getmro": _getmro,
    "types.SimpleNamespace": _namespace,
    "types.MethodType": _method_type,
    "types.new_class": _new_class,
    "itertools.starmap": _starmap,
    "itertools.product": _product,
    "dataclasses.replace": _replace,
    "typing.NewType()": _same,
    "operator.itemgetter": _item_getter,
    "builtins.reversed": _reversed,
    "builtins.sum": _sum,
    "builtins.abs": _given_by("__abs__"),
    "builtins.round": _given_by("__round__"),
    "builtins.aiter": _aiter,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.getattr": _getattr,
    "builtins.object.__getattribute__": _object_getattribute,
    "builtins.object.__new__": _object_new,
    "builtins.tuple.__new__": _tuple_new,
    "builtins.frozenset.__new__": _tuple_new,
    "builtins.staticmethod": _static_method,
    "argparse.ArgumentParser.set_defaults": _set_defaults,
    "contextlib.asynccontextmanager": _contextmanager,
    "contextlib.contextmanager": _contextmanager,
    "builtins.object.__setattr__": _object_setattr,
    "builtins.setattr": _setattr,
    "builtins.type.__setattr__": _setattr,
    "builtins.delattr": _delattr,
    "builtins.callable": _callable,
    "builtins.hasattr": _hasattr,
    "builtins.super": _super,
    "builtins.type": _type,
    "builtins.dict": _dict,
    "collections.OrderedDict": _ordered_dict,
    "dataclasses.field": _default_factory,
    "attr.ib": _field,
    "attr.field": _field,
    "attrs.field": _field,
    "attr.Factory": _attrs_factory,
    "attrs.Factory": _attrs_factory,
    "collections.defaultdict": _defaultdict,
    "collections.namedtuple": _namedtuple,
    "threading.Thread": _thread,
    "multiprocessing.Process": _process,
    "threading.Timer": _timer,
    "concurrent.futures.ThreadPoolExecutor.submit": _submit,
    "concurrent.futures.ProcessPoolExecutor.submit": _submit,
    "concurrent.futures.ThreadPoolExecutor.map": _map,
    "concurrent.futures.ProcessPoolExecutor.map": _map,
    "multiprocessing.Pool.map": _map,
    "atexit.register": _register_exit,
    "asyncio.to_thread": _to_thread,
    "asyncio.gather": _gather,
    "asyncio.run": _run,
    "builtins.dict.fromkeys": _from_keys,
    "collections.OrderedDict.fromkeys": _from_keys,
    "concurrent.futures.as_completed": _as_completed,
    "heapq.heappop": _heap_pop,
    "heapq.heappush": _heap_push,
    "heapq.heappushpop": _heap_push,
    "heapq.heapreplace": _heap_push,
    "bisect.insort": _insort,
    "bisect.insort_left": _insort,
    "bisect.insort_right": _insort,
    "threading.local": _namespace,
    "weakref.WeakKeyDictionary": _dict,
    "weakref.WeakValueDictionary": _dict,
    "importlib.import_module": _import_module,
    "builtins.__import__": _import_module,
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _issubclass,
    "contextlib.ExitStack.enter_context": _enter_context,
    "contextlib.closing": _closing,
    "contextlib.ExitStack.push": _push_exit,
    "contextlib.AsyncExitStack.enter_context": _enter_context,
    "contextlib.AsyncExitStack.enter_async_context": _enter_async_context,
    "typing.TypeVar": _type_variable,
    "typing.NewType": _new_type,
    "typing_extensions.TypeVar": _type_variable,
    "enum.auto": _auto,
    "typing.cast": _cast,
    "unittest.main": _run_tests,
    "operator.attrgetter": _attribute_getter,
    "operator.methodcaller": _method_caller,
}
MODELS.update(
    {
        f"unittest.mock.{name}": _mock(f"unittest.mock.{name}")
        for name in ("Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock")
    }
)
MODELS.update(
    {
        f"operator.{name}": _operator((f"__{name.strip('_')}__",))
        for name in (
            "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift",
            "rshift", "and_", "or_", "xor", "neg", "pos", "invert", "abs", "index",
        )
    }
)  # fmt: skip
MODELS.update(
    {
        f"operator.{name}": _operator((f"__{name.replace('concat', 'add')}__",))
        for name in (
            "concat", "iadd", "isub", "imul", "imatmul", "itruediv", "ifloordiv", "imod", "ipow",
            "ilshift", "irshift", "iand", "ior", "ixor", "iconcat",
        )
    }
)  # fmt: skip
MODELS.update(
    {
        f"operator.{name}": _operator((f"__{name}__",), compares=True)
        for name in ("lt", "le", "gt", "ge", "eq", "ne")
    }
)
MODELS.update(
    {
        f"operator.__{name.strip('_')}__": MODELS[f"operator.{name}"]
        for name in (
            "add",
            "sub",
            "mul",
            "and_",
            "or_",
            "contains",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
        )
    }
)

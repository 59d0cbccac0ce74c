"""Models of what makes and asks classes: ``type``, ``isinstance``, ``super``, fields of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.library import STRUCTURAL
from depslice.callgraph.engine.models.common import DISPLAYS, Model
from depslice.callgraph.engine.namespaces import NAMESPACE
from depslice.callgraph.engine.values import EMPTY, OPEN, SPACE, Class, Values
from depslice.callgraph.lowering.annotations import parse_type

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

_DESCRIBING: Final = frozenset(
    ("__annotations__", "__doc__", "__module__", "__qualname__", "__slots__")
)
"""Members that only tell of a class: it does what its base does."""


def _getmro(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.load_attribute(call.argument(0, "cls"), "__mro__", call.pos)


def _new_type(engine: ContainerEvaluation, call: Call) -> Values:
    """What ``NewType`` gives hands back its argument."""
    _type_variable(engine, call)
    return engine.single(("X", "typing.NewType()"))


def _same(engine: ContainerEvaluation, call: Call) -> Values:
    return call.argument(0, "")


def _replace(engine: ContainerEvaluation, call: Call) -> Values:
    """``dataclasses.replace`` makes a new instance."""
    for value in call.argument(0, "obj"):
        kind = engine.values[value]
        if kind[0] == "I":
            engine.instantiate(kind[1], kind[2], [], call.keywords, EMPTY, call.pos)
    return call.argument(0, "obj")


def _type_made(engine: ContainerEvaluation, call: Call) -> Values:
    """``type(name, bases, members)``: the bases, with the members."""
    if engine.whole and (own := _made_of_its_own(engine, call)):
        return own
    made: set[int] = set()
    bases = engine.iterate(call.args[1], call.pos, is_async=False)
    engine.make_below(bases, call.pos)
    if not engine.whole:
        engine.note_descriptors(engine.parts(call.args[2]), call.pos)
    members = [
        (name, engine.read(engine.item_cell(container, name)))
        for container in call.args[2]
        for name in tuple(engine.keys_of.get(container, ()))
    ]
    for value in bases:
        kind = engine.values[value]
        if kind[0] == "C":
            made.add(value)
            base = engine.intern(("C", kind[1], True))
            for name, held in members:
                engine.write(engine.cell("made", base, name), held)
                if not engine.whole and engine.find_member(kind[1], name) is not None:
                    itself = engine.intern(("I", kind[1], False))
                    engine.have_stored(itself, name, _methods_of(engine, held, itself))
        elif kind[0] in OPEN and not engine.whole:
            for itself in engine.derive("R", value, ()):
                for name, held in members:
                    given = _methods_of(engine, held, itself)
                    engine.store_attribute(engine.only(value), name, given, call.pos)
    if not engine.whole:  # it has what callers pass as its base, and more
        opened = {v for v in bases if engine.values[v][0] in OPEN}
        return made | opened if made else engine.unknown | opened
    return made or engine.unknown


def _methods_of(engine: ContainerEvaluation, held: Values, itself: int) -> Values:
    """What a class has as members, as ``itself``, an instance, has it."""
    kinds = {value: engine.values[value] for value in held}
    return frozenset(
        engine.intern(("B", kind[1], itself)) if kind[0] == "F" else value
        for value, kind in kinds.items()
    )


def _made_of_its_own(engine: ContainerEvaluation, call: Call) -> Values:
    """The class that such a call makes, where its bases and the names of its members are known."""
    function = engine.current
    if function is None or call.register < 0 or len(call.args[1]) != 1 or len(call.args[2]) != 1:
        return EMPTY
    [row], [table] = call.args[1:]
    if engine.values[row][:2] != ("K", "tuple"):
        return EMPTY
    length = engine.lengths.get(row) or 0
    if not length and engine.read(engine.elements_cell(row)):
        return EMPTY
    bases = [engine.read(engine.item_cell(row, str(place))) for place in range(length)]
    if not all(len(base) == 1 and engine.values[min(base)][0] in ("C", "X") for base in bases):
        return EMPTY
    if engine.values[table][:2] != ("K", "dict") or engine.read(engine.anywhere_cell(table)):
        return EMPTY
    names = tuple(engine.keys_of.get(table, ()))
    members = {name: engine.read(engine.item_cell(table, name)) for name in names}
    if [engine.values[min(base)][0] for base in bases] == ["C"] and _adds_nothing(members):
        return EMPTY
    return engine.made_class((function, call.register), bases, members, call.pos)


def _adds_nothing(members: Mapping[str, Values]) -> bool:
    """Whether ``members`` only describe the class, which does what its base does.

    As one of its own it would tell nothing, and crowd out others where many come together.
    """
    return members.keys() <= _DESCRIBING


def _new_class(engine: ContainerEvaluation, call: Call) -> Values:
    """``types.new_class(name, bases, …, exec_body)``."""
    bases = engine.iterate(call.argument(1, "bases"), call.pos, is_async=False)
    engine.make_below(bases, call.pos)
    engine.hand_over([call.argument(3, "exec_body")], call.pos)
    return {value for value in bases if engine.values[value][0] == "C"} or engine.unknown


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
    for value in () if engine.whole else sorted(classes):
        if engine.values[value][0] in OPEN:  # what calling it gives, which makes no other
            made |= engine.derive("R", value, ())
    return made or engine.single(("XI", "builtins.object"))


def _type_new(engine: ContainerEvaluation, call: Call) -> Values:
    """``super().__new__(mcs, …)``: the class whose statement asks a metaclass for it.

    Over a whole program that is what ``mcs`` stands for, whoever asks.
    """
    made = _object_new(engine, call)
    if not engine.whole:
        _note_namespace(engine, call)
        return made
    classes: set[int] = set()
    for value in made:
        kind = engine.values[value]
        is_asking = kind[0] == "I" and not engine.is_metaclass(kind[1])
        classes.add(engine.intern(("C", *kind[1:])) if is_asking else value)
    return classes


def _note_namespace(engine: ContainerEvaluation, call: Call) -> None:
    """A metaclass makes a class with a dictionary of its own: what that holds is the class's."""
    for container in sorted(call.argument(NAMESPACE, "")):
        if engine.values[container][0] != "K":
            continue
        held = engine.parts(engine.only(container))
        of_body = {v for v in held if _is_of_body(engine, v)}  # who reads it asks for it
        engine.note_descriptors(held - of_body, call.pos)
        for name in sorted(engine.keys_of.get(container, ())):
            values = engine.read(engine.item_cell(container, name))
            engine.write(engine.cell("added", engine.current, name), values)


def _is_of_body(engine: ContainerEvaluation, value: int) -> bool:
    """Whether an open value is, or is had from, what a class body has bound."""
    root = engine.root_of(value)
    return bool(root[0] == "P" and root[2] == NAMESPACE)


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


def _namedtuple(engine: ContainerEvaluation, call: Call) -> Values:
    names: list[str] = []
    for value in call.argument(1, "field_names"):
        kind = engine.values[value]
        if kind[0] == "S":
            names = kind[1].replace(",", " ").split()
        elif kind[0] == "K":
            held = (engine.read(engine.item_cell(value, k)) for k in engine.keys_of.get(value, ()))
            names = [
                engine.values[v][1] for each in held for v in each if engine.values[v][0] == "S"
            ]
    return engine.single(("NT", tuple(names)))


def _mock(dotted: str) -> Callable[[ContainerEvaluation, Call], Values]:
    """What ``unittest.mock`` makes: it does what it wraps does, and what it has as side effect."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        made = engine.single(("XI", dotted))
        for name in ("wraps", "side_effect"):
            made |= frozenset(call.keywords.get(name, EMPTY))
        return made

    return model


def _raises(engine: ContainerEvaluation, call: Call) -> Values:
    """``with pytest.raises(E) as caught``: ``caught.value`` is one of ``E``, where no stub says so."""
    declared = engine.outside.call("pytest.raises", call)
    if declared is not None:
        return declared
    expected = call.argument(0, "expected_exception")
    raised: set[int] = set()
    for value in EMPTY.union(expected, *(engine.places_of(expected) or ())):
        kind = engine.values[value]
        if kind[0] == "C":
            raised.add(engine.intern(("I", kind[1], False)))
        elif kind[0] == "X":
            raised.add(engine.intern(("XI", kind[1])))
    made = engine.container_of(SPACE, call.register, EMPTY)
    for container in made:
        engine.write_item(container, "value", raised or engine.unknown)
    if len(call.args) > 1:  # `pytest.raises(E, function, …)`
        engine.call(call.args[1], call.args[2:], {}, call.pos, rule="callback", external=True)
    return made


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


def _unpickled(engine: ContainerEvaluation, call: Call) -> Values:
    """``pickle.loads(…)`` makes what the program has written: which of it nobody knows."""
    engine.protocol(engine.read(engine.cell("pickled")), ("__setstate__",), call.pos)
    return engine.unknown


def _auto(engine: ContainerEvaluation, call: Call) -> Values:
    """``enum.auto()``: the enumeration may say itself which value comes next."""
    function = engine.current
    if engine.whole and function is not None and function.unit.owner >= 0:
        class_ = engine.class_(function.module, function.unit.owner)
        number = engine.constants[s.INT]
        given = [engine.constants[s.STR], number, number, engine.unknown]
        engine.call_member(class_, "_generate_next_value_", given, call.pos, "enum")
    return engine.outside.call("enum.auto", call) or engine.single(("XI", "enum.auto"))


MODELS: Final[dict[str, Model]] = {
    "inspect.getmro": _getmro,
    "types.new_class": _new_class,
    "dataclasses.replace": _replace,
    "typing.NewType()": _same,
    "builtins.object.__new__": _object_new,
    "builtins.tuple.__new__": _tuple_new,
    "builtins.type.__new__": _type_new,
    "builtins.frozenset.__new__": _tuple_new,
    "builtins.super": _super,
    "builtins.type": _type,
    "dataclasses.field": _default_factory,
    "attr.ib": _field,
    "attr.field": _field,
    "attrs.field": _field,
    "attr.Factory": _attrs_factory,
    "attrs.Factory": _attrs_factory,
    "collections.namedtuple": _namedtuple,
    "builtins.isinstance": _isinstance,
    "pytest.raises": _raises,
    "builtins.issubclass": _issubclass,
    "typing.TypeVar": _type_variable,
    "typing.NewType": _new_type,
    "typing_extensions.TypeVar": _type_variable,
    "enum.auto": _auto,
    "pickle.loads": _unpickled,
    "typing.cast": _cast,
}
MODELS.update(
    {
        f"unittest.mock.{name}": _mock(f"unittest.mock.{name}")
        for name in ("Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock")
    }
)

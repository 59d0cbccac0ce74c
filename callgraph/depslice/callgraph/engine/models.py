"""Models of library calls whose effect on values is worth knowing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Values
from depslice.callgraph.lowering.annotations import parse_type
from depslice.callgraph.summary import Position

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

Model: TypeAlias = (
    "Callable[[ContainerEvaluation, Sequence[Values], Mapping[str, Values], Position, int], Values]"
)


def _partial(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if not args:
        return EMPTY
    frozen = tuple([frozenset(values) for values in args])
    names = tuple([(name, frozenset(values)) for name, values in sorted(keywords.items())])
    return engine.single(("PT", frozen[0], frozen[1:], names))


def _wraps(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    return engine.single(("X", "functools.wraps()"))


def _map(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if not args:
        return EMPTY
    items = [engine.iterate(values, pos, is_async=False) for values in args[1:]]
    made = engine.call(args[0], items, {}, pos, rule="callback", external=True)
    return engine.container_of("list", register, made)


def _zip(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    return engine.tuples_of(
        register, [engine.iterate(values, pos, is_async=False) for values in args]
    )


def _enumerate(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    items = engine.iterate(args[0], pos, is_async=False) if args else EMPTY
    return engine.tuples_of(register, [engine.constants[-3], items])


def _getattr(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if len(args) < 2:
        return EMPTY
    result: set[int] = set(args[2]) if len(args) > 2 else set()
    computed = False
    for value in tuple(args[1]):
        kind = engine.values[value]
        if kind[0] == "S":
            result |= engine.load_attribute(args[0], kind[1], pos)
        elif kind[0] == "N":
            result |= engine.dynamic_attribute(args[0], kind[1], kind[2], pos)
        else:
            computed = True
    if computed or not args[1]:
        result |= engine.dynamic_attribute(args[0], "", "", pos)
    return result


def _globals_get(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    found = engine.global_names(args[0], pos) if args else EMPTY
    return found | args[1] if len(args) > 1 else found


def _setattr(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if len(args) == 3:
        for value in tuple(args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(args[0], kind[1], args[2], pos)
    return EMPTY


def _hasattr(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if len(args) == 2:
        for value in tuple(args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.load_attribute(args[0], kind[1], pos)
    return engine.constants[-7]


def _super(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    made: set[int] = set()
    if len(args) == 2:
        for class_ in engine.classes_in(args[0]):
            for receiver in args[1]:
                if engine.values[receiver][0] in ("I", "C"):
                    made.add(engine.intern(("SU", class_, receiver)))
    return made or engine.unknown


def _type(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    made: set[int] = set()
    if len(args) == 1:
        for value in args[0]:
            kind = engine.values[value]
            if kind[0] == "I":
                made.add(engine.intern(("C", kind[1], kind[2])))
            elif kind[0] == "XI":
                made.add(engine.intern(("X", kind[1])))
            elif kind[0] in OPEN:
                made |= engine.unknown
    return made or engine.unknown


def _dict(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    elements: set[int] = set()
    made = engine.container_of("dict", register, EMPTY)
    for container in made:
        for name, values in keywords.items():
            engine.write(engine.cell("k", container, name), values)
            elements |= values
        for values in args:
            for value in tuple(values):
                if engine.values[value][0] == "K":
                    engine.copy_items(value, container)
        engine.write(engine.cell("e", container), elements)
    return made


def _default_factory(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    factory = keywords.get("default_factory") or keywords.get("factory")
    if factory:
        return engine.call(factory, [], {}, pos, rule="default-factory", external=True)
    default = keywords.get("default")
    return default if default is not None else (args[0] if args else EMPTY)


def _defaultdict(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    made = (
        engine.call(args[0], [], {}, pos, rule="default-factory", external=True)
        if args and args[0]
        else EMPTY
    )
    return engine.container_of("dict", register, made)


def _namedtuple(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    return engine.single(("X", "collections.namedtuple()"))


def _thread(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    target = keywords.get("target") or (args[1] if len(args) > 1 else EMPTY)
    passed = keywords.get("args", EMPTY)
    if target:
        inner = engine.iterate(passed, pos, is_async=False) if passed else EMPTY
        engine.call(target, [], {}, pos, spread=inner, rule="callback", external=True)
    return engine.single(("XI", "threading.Thread"))


def _submit(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    if args:
        engine.call(args[0], list(args[1:]), keywords, pos, rule="callback", external=True)
    return EMPTY


def _import_module(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    made: set[int] = set()
    for value in args[0] if args else EMPTY:
        kind = engine.values[value]
        if kind[0] == "S" and not kind[1].startswith("."):
            made |= engine.module_value(kind[1])
            if engine.program.is_module(kind[1]):
                engine.facts.append((f.MODULE, kind[1], pos))
    return made or engine.unknown


def _isinstance(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    for class_ in _classes(engine, args[1] if len(args) > 1 else EMPTY):
        for metaclass in class_.metaclasses:
            engine.protocol(
                engine.single(("I", metaclass, True)),
                ("__instancecheck__", "__subclasscheck__"),
                pos,
            )
    return engine.constants[-7]


def _classes(engine: ContainerEvaluation, values: Values) -> list[Class]:
    return list(engine.classes_in(values))


def _enter_context(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    return engine.enter_context(args[0], pos, is_async=False) if args else EMPTY


def _enter_async_context(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    return engine.enter_context(args[0], pos, is_async=True) if args else EMPTY


def _type_variable(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    """Strings among the arguments are forward references (PEP 484)."""
    function = engine.current
    for values in (*args, *keywords.values()):
        for value in values:
            kind = engine.values[value]
            if kind[0] == "S" and function is not None:
                engine.note_annotation(function, parse_type(kind[1]), pos, eager=False)
    return engine.single(("XI", "typing.TypeVar"))


def _cast(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    function = engine.current
    declared: set[int] = set()
    for value in args[0] if args else EMPTY:
        kind = engine.values[value]
        if kind[0] == "S" and function is not None:
            expression = parse_type(kind[1])
            engine.note_annotation(function, expression, pos, eager=False)
            declared |= engine.declared(function.module, function, expression)
        elif kind[0] == "C":
            declared.add(engine.intern(("I", kind[1], False)))
    return declared or (args[1] if len(args) > 1 else EMPTY)


def _attrgetter(
    engine: ContainerEvaluation,
    args: Sequence[Values],
    keywords: Mapping[str, Values],
    pos: Position,
    register: int,
) -> Values:
    for values in args:
        for value in values:
            kind = engine.values[value]
            if kind[0] == "S":
                for part in kind[1].split("."):
                    engine.note_unknown(part, pos, engine.unknown_id, is_call=True)
    return engine.unknown


MODELS: Final[dict[str, Model]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.wraps": _wraps,
    "builtins.map": _map,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.getattr": _getattr,
    "builtins.globals.get": _globals_get,
    "builtins.setattr": _setattr,
    "builtins.hasattr": _hasattr,
    "builtins.super": _super,
    "builtins.type": _type,
    "builtins.dict": _dict,
    "collections.OrderedDict": _dict,
    "dataclasses.field": _default_factory,
    "attr.ib": _default_factory,
    "attr.field": _default_factory,
    "attrs.field": _default_factory,
    "collections.defaultdict": _defaultdict,
    "collections.namedtuple": _namedtuple,
    "threading.Thread": _thread,
    "multiprocessing.Process": _thread,
    "threading.Timer": _thread,
    "concurrent.futures.ThreadPoolExecutor.submit": _submit,
    "concurrent.futures.ProcessPoolExecutor.submit": _submit,
    "atexit.register": _submit,
    "asyncio.to_thread": _submit,
    "importlib.import_module": _import_module,
    "builtins.__import__": _import_module,
    "builtins.isinstance": _isinstance,
    "builtins.issubclass": _isinstance,
    "contextlib.ExitStack.enter_context": _enter_context,
    "contextlib.ExitStack.push": _enter_context,
    "contextlib.AsyncExitStack.enter_context": _enter_context,
    "contextlib.AsyncExitStack.enter_async_context": _enter_async_context,
    "typing.TypeVar": _type_variable,
    "typing.NewType": _type_variable,
    "typing_extensions.TypeVar": _type_variable,
    "typing.cast": _cast,
    "operator.attrgetter": _attrgetter,
    "operator.methodcaller": _attrgetter,
}

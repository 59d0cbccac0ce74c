"""Models of library calls whose effect on values is worth knowing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Values
from depslice.callgraph.lowering.annotations import parse_type

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

Model: TypeAlias = "Callable[[ContainerEvaluation, Call], Values]"


def _partial(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    frozen = tuple([frozenset(values) for values in call.args])
    names = tuple([(name, frozenset(values)) for name, values in sorted(call.keywords.items())])
    return engine.single(("PT", frozen[0], frozen[1:], names))


def _wraps(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.single(("X", "functools.wraps()"))


def _map(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    items = [engine.iterate(values, call.pos, is_async=False) for values in call.args[1:]]
    made = engine.call(call.args[0], items, {}, call.pos, rule="callback", external=True)
    return engine.container_of("list", call.register, made)


def _zip(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.tuples_of(
        call.register, [engine.iterate(values, call.pos, is_async=False) for values in call.args]
    )


def _enumerate(engine: ContainerEvaluation, call: Call) -> Values:
    items = engine.iterate(call.args[0], call.pos, is_async=False) if call.args else EMPTY
    return engine.tuples_of(call.register, [engine.constants[-3], items])


def _getattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) < 2:
        return EMPTY
    result: set[int] = set(call.args[2]) if len(call.args) > 2 else set()
    computed = False
    for value in tuple(call.args[1]):
        kind = engine.values[value]
        if kind[0] == "S":
            result |= engine.load_attribute(call.args[0], kind[1], call.pos)
        elif kind[0] == "N":
            result |= engine.dynamic_attribute(call.args[0], kind[1], kind[2], call.pos)
        else:
            computed = True
    if computed or not call.args[1]:
        result |= engine.dynamic_attribute(call.args[0], "", "", call.pos)
    return result


def _setattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 3:
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(call.args[0], kind[1], call.args[2], call.pos)
    return EMPTY


def _hasattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 2:
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.load_attribute(call.args[0], kind[1], call.pos)
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
    if len(call.args) == 1:
        for value in call.args[0]:
            kind = engine.values[value]
            if kind[0] == "I":
                made.add(engine.intern(("C", kind[1], kind[2])))
            elif kind[0] == "XI":
                made.add(engine.intern(("X", kind[1])))
            elif kind[0] in OPEN:
                made |= engine.unknown
    return made or engine.unknown


def _dict(engine: ContainerEvaluation, call: Call) -> Values:
    elements: set[int] = set()
    made = engine.container_of("dict", call.register, EMPTY)
    for container in made:
        for name, values in call.keywords.items():
            engine.write(engine.cell("k", container, name), values)
            elements |= values
        for values in call.args:
            for value in tuple(values):
                if engine.values[value][0] == "K":
                    engine.copy_items(value, container)
        engine.write(engine.cell("e", container), elements)
    return made


def _default_factory(engine: ContainerEvaluation, call: Call) -> Values:
    factory = call.keywords.get("default_factory") or call.keywords.get("factory")
    if factory:
        return engine.call(factory, [], {}, call.pos, rule="default-factory", external=True)
    default = call.keywords.get("default")
    return default if default is not None else (call.args[0] if call.args else EMPTY)


def _defaultdict(engine: ContainerEvaluation, call: Call) -> Values:
    made = (
        engine.call(call.args[0], [], {}, call.pos, rule="default-factory", external=True)
        if call.args and call.args[0]
        else EMPTY
    )
    return engine.container_of("dict", call.register, made)


def _namedtuple(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.single(("X", "collections.namedtuple()"))


def _thread(engine: ContainerEvaluation, call: Call) -> Values:
    target = call.keywords.get("target") or (call.args[1] if len(call.args) > 1 else EMPTY)
    passed = call.keywords.get("call.args", EMPTY)
    if target:
        inner = engine.iterate(passed, call.pos, is_async=False) if passed else EMPTY
        engine.call(target, [], {}, call.pos, spread=inner, rule="callback", external=True)
    return engine.single(("XI", "threading.Thread"))


def _submit(engine: ContainerEvaluation, call: Call) -> Values:
    if call.args:
        engine.call(call.args[0], list(call.args[1:]), call.keywords, call.pos, rule="callback", external=True)
    return EMPTY


def _import_module(engine: ContainerEvaluation, call: Call) -> Values:
    made: set[int] = set()
    for value in call.args[0] if call.args else EMPTY:
        kind = engine.values[value]
        if kind[0] == "S" and not kind[1].startswith("."):
            made |= engine.module_value(kind[1])
            if engine.program.is_module(kind[1]):
                engine.facts.append((f.MODULE, kind[1], call.pos))
    return made or engine.unknown


def _isinstance(engine: ContainerEvaluation, call: Call) -> Values:
    for class_ in _classes(engine, call.args[1] if len(call.args) > 1 else EMPTY):
        for metaclass in class_.metaclasses:
            engine.protocol(
                engine.single(("I", metaclass, True)),
                ("__instancecheck__", "__subclasscheck__"),
                call.pos,
            )
    return engine.constants[-7]


def _classes(engine: ContainerEvaluation, values: Values) -> list[Class]:
    return list(engine.classes_in(values))


def _enter_context(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.enter_context(call.args[0], call.pos, is_async=False) if call.args else EMPTY


def _enter_async_context(engine: ContainerEvaluation, call: Call) -> Values:
    return engine.enter_context(call.args[0], call.pos, is_async=True) if call.args else EMPTY


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
    return declared or (call.args[1] if len(call.args) > 1 else EMPTY)


def _attrgetter(engine: ContainerEvaluation, call: Call) -> Values:
    for values in call.args:
        for value in values:
            kind = engine.values[value]
            if kind[0] == "S":
                for part in kind[1].split("."):
                    engine.note_unknown(part, call.pos, engine.unknown_id, is_call=True)
    return engine.unknown


MODELS: Final[dict[str, Model]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial,
    "functools.wraps": _wraps,
    "builtins.map": _map,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.getattr": _getattr,
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

"""Models of what makes functions of functions: ``functools``, ``operator``, builtin decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.models.common import Model
from depslice.callgraph.engine.values import EMPTY, Values
from depslice.callgraph.summary import Position

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation


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
    return engine.single(("PT", *_frozen(call)))


def _frozen(call: Call) -> tuple[Values, tuple[Values, ...], tuple[tuple[str, Values], ...]]:
    """What a partial calls, and what it passes."""
    frozen = tuple([frozenset(values) for values in call.args])
    names = tuple([(name, frozenset(values)) for name, values in sorted(call.keywords.items())])
    return frozen[0], frozen[1:], names


def _partial_method(engine: ContainerEvaluation, call: Call) -> Values:
    """A partial that gets its receiver first: ``functools.partialmethod`` in a class body."""
    if not call.args:
        return EMPTY
    _have_callable(engine, call.args[0], call.pos)
    return engine.single(("PB", *_frozen(call)))


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


def _operator(
    dunders: tuple[str, ...], *, compares: bool = False
) -> Callable[[ContainerEvaluation, Call], Values]:
    """What a function of :mod:`operator` does with its operands."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        left, right = call.argument(0, "a"), call.argument(1, "b")
        if compares:
            engine.compare_of(left, right, dunders[0], call.pos)
            return EMPTY
        if len(call.args) == 1:
            return engine.protocol_of(engine.shared(left), dunders, call.pos)
        return engine.binary_of(left, right, dunders[0].strip("_"), call.pos)

    return model


def _contains(engine: ContainerEvaluation, call: Call) -> Values:
    engine.contains_of(call.argument(0, "a"), call.argument(1, "b"), call.pos)
    return engine.constants[-7]


def _set_item(engine: ContainerEvaluation, call: Call) -> Values:
    receivers, keys, values = (call.argument(place, name) for place, name in enumerate("abc"))
    engine.store_item(receivers, keys, values, call.pos)
    return EMPTY


def _delete_item(engine: ContainerEvaluation, call: Call) -> Values:
    receivers = call.argument(0, "a")
    engine.protocol(receivers, ("__delitem__",), call.pos)
    engine.delete_item(receivers, call.argument(1, "b"), call.pos)
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


def _static_method(engine: ContainerEvaluation, call: Call) -> Values:
    """``attribute = staticmethod(f)``: what instances have by it, gets no receiver.

    As a partial of ``f`` that passes nothing: it binds to no instance either.
    """
    given = call.argument(0, "")
    functions = {v for v in given if engine.values[v][0] == "F"}
    return given - functions | {
        made for v in functions for made in engine.single(("PT", engine.only(v), (), ()))
    }


def _callable(engine: ContainerEvaluation, call: Call) -> Values:
    if call.args:
        engine.load_attribute(call.args[0], "__call__", call.pos)
    return engine.constants[-7]


def _keep(engine: ContainerEvaluation, call: Call) -> Values:
    """What is passed is kept, and none of it called."""
    return EMPTY


MODELS: Final[dict[str, Model]] = {
    "functools.partial": _partial,
    "functools.partialmethod": _partial_method,
    "functools.wraps": _wraps,
    "functools.update_wrapper": _update_wrapper,
    "builtins.property": _property,
    "functools.cached_property": _property,
    "builtins.property.__init__": _keep,
    "operator.contains": _contains,
    "operator.delitem": _delete_item,
    "operator.setitem": _set_item,
    "types.MethodType": _method_type,
    "operator.itemgetter": _item_getter,
    "builtins.staticmethod": _static_method,
    "builtins.callable": _callable,
    "operator.attrgetter": _attribute_getter,
    "operator.methodcaller": _method_caller,
}
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
            "delitem",
            "setitem",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
        )
    }
)

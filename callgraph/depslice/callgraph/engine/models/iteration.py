"""Models of what goes through its arguments: ``map``, ``iter``, ``sum``, ``itertools``, JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.models.common import INNER, Model
from depslice.callgraph.engine.values import EMPTY, OBJECTS_OR_OPEN, OPEN, Values
from depslice.callgraph.summary import Position

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation


def _map(engine: ContainerEvaluation, call: Call) -> Values:
    if not call.args:
        return EMPTY
    items = [engine.iterate(values, call.pos, is_async=False) for values in call.args[1:]]
    made = engine.call(call.args[0], items, {}, call.pos, rule="callback", external=True)
    return engine.container_of("list", call.register, made)


def _reduce(engine: ContainerEvaluation, call: Call) -> Values:
    """``functools.reduce``: what the function gives is passed to it, with the next element."""
    items = engine.iterate(call.argument(1, ""), call.pos, is_async=False)
    places = _places(engine, call.argument(1, ""))
    calls = len(places)  # at least so many, where all are known
    if len(call.args) > 2:
        first = call.args[2]
    elif places:
        first, items = places[0], EMPTY.union(*places[1:])
        calls -= 1
    else:
        first = items
    if places and not calls:
        return first
    reduced = engine.cell("reduced", engine.current, call.register)
    engine.write(reduced, first)
    so_far = engine.read(reduced)
    given = [so_far, items]
    made = engine.call(call.argument(0, ""), given, {}, call.pos, rule="callback", external=True)
    engine.write(reduced, made)
    return made if calls > 0 else so_far | made


def _places(engine: ContainerEvaluation, values: Values) -> Sequence[Values]:
    """What stands at each place of the one sequence that it is, where all is known; else nothing.

    For a slice, nobody tells whether other modules add to it.
    """
    if (
        not engine.whole
        or len(values) != 1
        or not all(engine.lengths.get(value) for value in values)
    ):
        return ()
    return engine.places_of(values) or ()


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
        made = engine.binary_of(joined, elements, "add", call.pos)
    return engine.container_of("list", call.register, joined | made)


def _prod(engine: ContainerEvaluation, call: Call) -> Values:
    """``math.prod``: starts with 1, which asks the reflected methods first."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    start = call.keywords.get("start") or engine.constants[-3]
    made = engine.binary_of(start, elements, "mul", call.pos)
    return made | engine.binary_of(made | elements, elements, "mul", call.pos)


def _sum(engine: ContainerEvaluation, call: Call) -> Values:
    """``sum``: starts with 0, which asks the reflected methods first."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    start = call.argument(1, "start")
    made = engine.binary_of(start or engine.constants[-3], elements, "add", call.pos) | start
    joined = (made - engine.constants[-3]) | elements
    adding = {  # others just answer for the number that stands first
        v
        for v in joined
        if engine.values[v][0] != "I" or engine.find_member(engine.values[v][1], "__add__")
    }
    return joined | engine.binary_of(adding, elements, "add", call.pos)


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


def _anext(engine: ContainerEvaluation, call: Call) -> Values:
    """``anext(iterator, default)``: awaited, it gives what ``__anext__`` does, or the default."""
    values = call.argument(0, "")
    asked = {v for v in values if engine.values[v][0] in OPEN or _has(engine, v, "__anext__")}
    made = engine.await_value(engine.unary(asked, "__anext__", call.pos), call.pos)
    made = made | engine.iterate(values - asked, call.pos, is_async=True)
    given = engine.shared(made | call.argument(1, ""))
    return engine.single(("G", "typing.Awaitable", (given,)))


def _group_by(engine: ContainerEvaluation, call: Call) -> Values:
    """``itertools.groupby`` compares keys that follow each other."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    keys, key = elements, call.argument(1, "key")
    if key:
        keys = engine.call(key, [elements], {}, call.pos, rule="callback", external=True)
    engine.compare_of(keys, keys, "__eq__", call.pos)
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


def _tee(engine: ContainerEvaluation, call: Call) -> Values:
    """``itertools.tee``: iterators, each of which gives all elements."""
    elements = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    each = engine.container_of("list", INNER - call.register, elements)
    return engine.container_of("tuple", call.register, each)


def _print(engine: ContainerEvaluation, call: Call) -> Values:
    """``print(…, file=file, flush=True)``: the file is written, and flushed."""
    file = call.keywords.get("file", EMPTY)
    for name in ("write", "flush") if "flush" in call.keywords else ("write",):
        engine.protocol(file, (name,), call.pos)
    return EMPTY


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
        engine.compare_of(made, call.args[1], "__eq__", call.pos)
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
            engine.ask_length(given, call.pos)
            if not engine.whole:
                engine.protocol(given, ("__len__",), call.pos)
            elements |= engine.subscript(given, engine.constants[-3], call.pos)
    places = engine.places_of(made) if _is_display(engine, values) else None
    if places:
        return engine.listed(("reversed", call.register), places[::-1])
    elements |= engine.iterate(made, call.pos, is_async=False)
    return engine.container_of("list", call.register, elements)


def _is_display(engine: ContainerEvaluation, values: Values) -> bool:
    """Whether it is one sequence that a display makes, over a whole program."""
    if not engine.whole or len(values) != 1:
        return False
    tag, *kind = engine.values[next(iter(values))]
    if tag != "K" or type(kind[2]) is not int or kind[1] is None:
        return False
    return bool(kind[2] >= len(kind[1].unit.params))  # else what a star among them collects


def _zip(engine: ContainerEvaluation, call: Call) -> Values:
    rows = [
        engine.places_of(values) if _is_display(engine, values) else None for values in call.args
    ]
    if rows and all(rows) and not call.spread:
        return engine.rows_of(call.register, [*zip(*filter(None, rows), strict=False)])
    return engine.tuples_of(
        call.register, [engine.iterate(values, call.pos, is_async=False) for values in call.args]
    )


def _enumerate(engine: ContainerEvaluation, call: Call) -> Values:
    items = engine.iterate(call.args[0], call.pos, is_async=False) if call.args else EMPTY
    return engine.tuples_of(call.register, [engine.constants[-3], items])


MODELS: Final[dict[str, Model]] = {
    "functools.reduce": _reduce,
    "builtins.map": _map,
    "builtins.print": _print,
    "itertools.accumulate": _accumulate,
    "itertools.groupby": _group_by,
    "json.dump": _json("json.dump"),
    "json.dumps": _json("json.dumps"),
    "math.prod": _prod,
    "builtins.iter": _iter,
    "itertools.starmap": _starmap,
    "itertools.tee": _tee,
    "itertools.product": _product,
    "builtins.reversed": _reversed,
    "builtins.sum": _sum,
    "builtins.abs": _given_by("__abs__"),
    "builtins.round": _given_by("__round__"),
    "builtins.aiter": _aiter,
    "builtins.anext": _anext,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "concurrent.futures.ThreadPoolExecutor.map": _map,
    "concurrent.futures.ProcessPoolExecutor.map": _map,
    "multiprocessing.Pool.map": _map,
}

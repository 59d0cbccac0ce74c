"""Models of what makes and fills containers: ``dict``, ``defaultdict``, ``heapq``, ``bisect``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.models.common import INNER, Model
from depslice.callgraph.engine.values import EMPTY, Values

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation


def _dict(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "dict")


def _ordered_dict(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "OrderedDict")


def _weak_key_dictionary(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "WeakKeyDictionary")


def _weak_value_dictionary(engine: ContainerEvaluation, call: Call) -> Values:
    return _mapping(engine, call, "WeakValueDictionary")


def _mapping(engine: ContainerEvaluation, call: Call, kind: str) -> Values:
    made = engine.container_of(kind, call.register, EMPTY)
    for container in made:
        for name, values in call.keywords.items():
            engine.write_item(container, name, values)
        for values in call.args:
            engine.take_entries(container, values, call.pos, call.keywords.keys())
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


def _from_keys(engine: ContainerEvaluation, call: Call) -> Values:
    """``dict.fromkeys(keys, value)``."""
    keys = engine.iterate(call.argument(0, "iterable"), call.pos, is_async=False)
    value = call.argument(1, "value")
    made = engine.container_of("dict", call.register, value)
    for container in made:
        engine.write(engine.keys_cell(container), keys)
        engine.write(engine.anywhere_cell(container), value)
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


MODELS: Final[dict[str, Model]] = {
    "builtins.dict": _dict,
    "collections.OrderedDict": _ordered_dict,
    "collections.defaultdict": _defaultdict,
    "builtins.dict.fromkeys": _from_keys,
    "collections.OrderedDict.fromkeys": _from_keys,
    "heapq.heappop": _heap_pop,
    "heapq.heappush": _heap_push,
    "heapq.heappushpop": _heap_push,
    "heapq.heapreplace": _heap_push,
    "bisect.insort": _insort,
    "bisect.insort_left": _insort,
    "bisect.insort_right": _insort,
    "weakref.WeakKeyDictionary": _weak_key_dictionary,
    "weakref.WeakValueDictionary": _weak_value_dictionary,
}

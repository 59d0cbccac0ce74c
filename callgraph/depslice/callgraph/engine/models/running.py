"""Models of what runs code, now or later: threads, futures, contexts, imports by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.models.common import Model
from depslice.callgraph.engine.values import EMPTY, MODULES_IN, Values

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation


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


def _gather(engine: ContainerEvaluation, call: Call) -> Values:
    results = [engine.await_value(values, call.pos) for values in call.args]
    if not engine.whole and call.argument(len(call.args), "return_exceptions"):
        raised = engine.single(("XI", "builtins.BaseException"))
        results = [given | raised for given in results]
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
    name = call.argument(0, "name")
    return engine.imported(name, _anchor(engine, call.argument(1, "package")), call.pos)


_READING_RESOURCES: Final = (
    *(
        "importlib.resources.contents",
        "importlib.resources.files",
        "importlib.resources.is_resource",
    ),
    *("importlib.resources.open_binary", "importlib.resources.open_text"),
    *("importlib.resources.path", "importlib.resources.read_binary"),
    *("importlib.resources.read_text", "pkgutil.get_data"),
)
_MODULE_INFO: Final = ("module_finder", "name", "ispkg")


def _modules_below(engine: ContainerEvaluation, call: Call) -> Values:
    """``pkgutil.walk_packages(path, prefix)``: the same, of the packages in it, too."""
    return _modules_in(engine, call, nested=True)


def _modules_in(engine: ContainerEvaluation, call: Call, *, nested: bool = False) -> Values:
    """``pkgutil.iter_modules(path, prefix)``: tuples, of which the second is a name with the prefix."""
    declared = engine.outside.call("pkgutil.iter_modules", call) or engine.unknown
    kinds = [engine.values[each] for each in call.argument(1, "prefix")]
    prefixes = {kind[1] for kind in kinds if kind[0] in ("N", "S") and kind[1]}
    if nested:
        starts = [each[:-1] for each in sorted(prefixes) if each[-1] == "."]
        within = (engine.program.packages_in(package) for package in starts)
        prefixes.update(f"{package}." for packages in within for package in packages)
    names = frozenset(engine.intern(("N", prefix, "")) for prefix in prefixes)
    for value in call.argument(0, "path"):
        kind = engine.values[value]
        if kind[0] == "A" and kind[2] == "__path__":  # of a package that callers know
            names |= engine.derive("R", kind[1], MODULES_IN) - engine.unknown
    if not names:
        return declared
    items = (engine.unknown, names, engine.constants[-7])
    made = engine.container_of("collections.namedtuple", -2 - max(call.register, 0), EMPTY)
    for row in made:
        engine.lengths[row] = len(items)
        for place, (field, values) in enumerate(zip(_MODULE_INFO, items, strict=True)):
            engine.write_item(row, str(place), values)
            engine.write(engine.cell("field", row, field), values)  # `info.name`
    return declared | engine.container_of("list", call.register, made)


def _resources_of(dotted: str) -> Model:
    """What reads the files of a package that it is told by its name, imports that."""

    def model(engine: ContainerEvaluation, call: Call) -> Values:
        if not engine.whole:
            engine.imported(call.args[0] if call.args else EMPTY, "", call.pos)
        return engine.outside.call(dotted, call) or engine.unknown

    return model


def _reloaded(engine: ContainerEvaluation, call: Call) -> Values:
    """``importlib.reload(module)`` gives the module that it gets."""
    return call.argument(0, "module")


def _dunder_import(engine: ContainerEvaluation, call: Call) -> Values:
    """``__import__(name, …, ["NAME"], 1)``: ``from .name import NAME``, which has its effects, too."""
    modules = engine.imported(_from_level(engine, call), _anchor(engine, EMPTY), call.pos)
    names = call.argument(3, "fromlist")
    if names:
        listed = engine.iterate(names, call.pos, is_async=False)
        engine.import_names(modules, listed, call.pos)
    return modules


def _from_level(engine: ContainerEvaluation, call: Call) -> Values:
    """What names ``__import__`` looks for, with a dot for each ``level``, as ``from .. import``."""
    names, levels = call.argument(0, "name"), call.argument(4, "level")
    told = {engine.number_of(value) for value in levels}
    level = told.pop() if len(told) == 1 else None
    if level is None:
        return EMPTY if levels else names
    made: set[int] = set()
    for kind in map(engine.values.__getitem__, names if level > 0 else EMPTY):
        if kind[0] in ("S", "N"):
            made |= engine.single((kind[0], "." * level + kind[1], *kind[2:]))
    return made if level > 0 else names  # below it: here or else at the top, in Python 2


def _loaded(engine: ContainerEvaluation, call: Call) -> Values:
    """``sys.modules.get(name)``."""
    name = call.args[0] if call.args else EMPTY
    return engine.modules_of(name, call.pos) | (call.args[1] if len(call.args) > 1 else EMPTY)


def _put_in_modules(engine: ContainerEvaluation, call: Call) -> Values:
    """``sys.modules.setdefault(name, value)``, ``sys.modules.update({name: value})``."""
    if len(call.args) > 1:
        engine.stand_for_modules(call.args[0], call.args[1], call.pos)
        return call.args[1] | engine.modules_of(call.args[0], call.pos)
    for value in call.args[0] if call.args else EMPTY:
        if engine.values[value][0] == "K":
            held = engine.read(engine.elements_cell(value))
            engine.stand_for_modules(engine.read(engine.keys_cell(value)), held, call.pos)
    for values in call.keywords.values():
        engine.stand_for_modules(EMPTY, values, call.pos)
    return EMPTY


def _anchor(engine: ContainerEvaluation, package: Values) -> str:
    """The package a relative name starts from: a constant, else ``__package__`` of here."""
    texts = [engine.values[v][1] for v in package if engine.values[v][0] == "S"]
    if texts:
        return str(texts[0])
    if engine.current is None:
        return ""
    return engine.current.module.package


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


def _run_tests(engine: ContainerEvaluation, call: Call) -> Values:
    """``unittest.main()`` runs the test cases of the module, where it names no other."""
    function = engine.current
    if function is not None and engine.whole and not (call.args or "module" in call.keywords):
        module = function.module
        classes = [engine.class_(module, each.index) for each in module.summary.classes]
        engine.run_tests(classes, call.pos)
    return EMPTY


MODELS: Final[dict[str, Model]] = {
    "contextlib.asynccontextmanager": _contextmanager,
    "contextlib.contextmanager": _contextmanager,
    "threading.Thread": _thread,
    "multiprocessing.Process": _process,
    "threading.Timer": _timer,
    "concurrent.futures.ThreadPoolExecutor.submit": _submit,
    "concurrent.futures.ProcessPoolExecutor.submit": _submit,
    "atexit.register": _register_exit,
    "asyncio.to_thread": _to_thread,
    "asyncio.gather": _gather,
    "asyncio.run": _run,
    "concurrent.futures.as_completed": _as_completed,
    "importlib.import_module": _import_module,
    "sys.modules.setdefault": _put_in_modules,
    "sys.modules.update": _put_in_modules,
    "importlib.reload": _reloaded,
    **{each: _resources_of(each) for each in _READING_RESOURCES},
    "pkgutil.iter_modules": _modules_in,
    "pkgutil.walk_packages": _modules_below,
    "sys.modules.get": _loaded,
    "builtins.__import__": _dunder_import,
    "contextlib.ExitStack.enter_context": _enter_context,
    "contextlib.closing": _closing,
    "contextlib.ExitStack.push": _push_exit,
    "contextlib.AsyncExitStack.enter_context": _enter_context,
    "contextlib.AsyncExitStack.enter_async_context": _enter_async_context,
    "unittest.main": _run_tests,
}

"""Imports rendered slices, one fork each: the far end of ``acceptance.py imports``.

    PYTHON -I import_child.py < order.json > results.jsonl

This RUNS third-party code: the module bodies of packages that a developer named. It is
no sandbox; each fork has limits of time and memory, an empty environment and an empty
working folder, and that is all. Standard library only: it runs on the Python of an
environment that holds the packages' dependencies and not depslice.

The order: ``own`` (every module of the package under test), ``warm`` (modules to import
once, before forking), ``seconds``, ``mebibytes`` and ``slices``, each with ``target``,
``tree`` (a folder), ``module``, ``qualname`` and ``own_target`` (whether what is found
on the way must be defined by the module itself, and not have taken the target's name).
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import traceback
import warnings
from importlib.machinery import ModuleSpec, PathFinder
from types import FunctionType
from typing import Any


class Guard:
    """A finder that gives the modules of the package under test from the tree, or not at all."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.tree = ""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of an own module in the tree; ``None`` leaves others to other finders."""
        if name not in self.own:
            return None
        places = [self.tree] if path is None else list(path)
        inside = [place for place in places if self.tree and self._is_inside(place)]
        spec = PathFinder.find_spec(name, inside, target)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r} in the slice", name=name)
        return spec

    def _is_inside(self, place: str) -> bool:
        return is_inside(place, self.tree)


def is_inside(place: str, tree: str) -> bool:
    """Whether ``place`` is ``tree`` or lies in it."""
    return (os.path.realpath(place) + os.sep).startswith(tree + os.sep)


def check(order: dict[str, Any], guard: Guard) -> dict[str, Any]:
    """Import one slice's module, and look its target up. Runs in the fork."""
    tree = os.path.realpath(order["tree"])
    guard.tree = tree
    sys.path.insert(0, tree)
    os.chdir(order["empty"])
    importlib.invalidate_caches()
    try:
        module = importlib.import_module(order["module"])
        place = os.path.realpath(module.__file__ or "")
        if not is_inside(place, tree):
            raise AssertionError(f"imported from {place}, not from the slice")
        value: Any = module
        for part in order["qualname"].split("."):
            if part == "<locals>":
                break
            # A private name of a class is mangled, and a property may raise: not looked at.
            if part.startswith("__") and not part.endswith("__") and value is not module:
                break
            value = _member(value, part)
            defined = isinstance(value, (type, FunctionType))
            if order["own_target"] and defined and value.__module__ != order["module"]:
                raise AssertionError(f"{part} is that of {value.__module__}")
    except BaseException as error:  # noqa: BLE001 - analysed code may raise anything
        return {
            "target": order["target"],
            "ok": False,
            "error": type(error).__name__,
            "message": str(error)[:300],
            "trace": "".join(traceback.format_exception(error)[-4:])[-1500:],
        }
    return {"target": order["target"], "ok": True}


def _member(value: Any, name: str) -> Any:
    if isinstance(value, type):
        for base in value.__mro__:
            if name in vars(base):
                return vars(base)[name]
    return getattr(value, name)


def forked(order: dict[str, Any], guard: Guard, limits: tuple[int, int]) -> dict[str, Any]:
    """:func:`check` in a process of its own, under limits."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            seconds, mebibytes = limits
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
            signal.alarm(2 * seconds)
            # What the module prints is of no interest, and must not reach the results.
            silence = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(silence, descriptor)
            with os.fdopen(writing, "w", encoding="utf-8") as pipe:
                json.dump(check(order, guard), pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    try:
        result: dict[str, Any] = json.loads(answer)
    except ValueError:
        message = f"ended with status {status}"
        return {"target": order["target"], "ok": False, "error": "died", "message": message}
    return result


def main() -> None:
    """Read the order, write one JSON line a slice."""
    order = json.load(sys.stdin)
    warnings.simplefilter("ignore")
    # Modules that print while they are imported must not print among the results.
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    guard = Guard(frozenset(order["own"]))
    sys.meta_path.insert(0, guard)
    sys.dont_write_bytecode = True
    for name in order["warm"]:
        try:
            importlib.import_module(name)
        except BaseException:  # noqa: BLE001, S112 - it then fails, or not, where it is used
            continue
    for each in order["slices"]:
        result = forked(each, guard, (order["seconds"], order["mebibytes"]))
        print(json.dumps(result), file=results, flush=True)


if __name__ == "__main__":
    main()

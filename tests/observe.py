"""Run the expressions of a specimen and report which of its functions called which.

A script of its own, because it imports the specimen: tests start it in another
process as ``python -I -B observe.py``. Standard input is
``{"root": ..., "runs": {target id: [expression, ...]}}``; standard output is
``{"calls": [[caller, callee, suspended], ...], "executed": {target id: [id, ...]}}``:

* a call is attributed to the nearest caller inside the specimen, so that calls
  which pass through the standard library count, and calls by the expressions
  themselves do not;
* ``suspended`` is true for generators and coroutines, which are seen when they
  are resumed, possibly by another function than the one that called them;
* ``executed`` holds what ran while the target was on the stack, imports aside.

An expression sees ``m``, the module of its target, ``asyncio`` and ``attempt``,
which calls a function and returns the exception it raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import inspect
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType

INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class _Observer:
    """The profile function, and what it has seen."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.target = ""
        self.calls: set[tuple[str, str, bool]] = set()
        self.executed: dict[str, set[str]] = {}
        self.symbol = functools.lru_cache(maxsize=None)(self._symbol)

    def on_event(self, frame: FrameType, event: str, arg: object) -> None:
        if event != "call":
            return
        callee = self.symbol(frame.f_code)
        # Module and class bodies run too, but nobody calls them.
        if callee is None or not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        if frame.f_code.co_name in INLINE:
            return
        callers = list(self._callers(frame.f_back))
        if callers:
            suspended = bool(frame.f_code.co_flags & SUSPENDED)
            self.calls.add((callers[0], callee, suspended))
        if self._under_target([callee, *callers]):
            self.executed.setdefault(self.target, set()).add(callee)

    def _callers(self, frame: FrameType | None) -> Iterator[str]:
        while frame is not None:
            symbol = self.symbol(frame.f_code)
            if symbol is not None:
                yield symbol
            frame = frame.f_back

    def _under_target(self, stack: list[str]) -> bool:
        for symbol in stack:
            if symbol == self.target:
                return True
            if ":" not in symbol:  # a module body: an import on the way
                return False
        return False

    def _symbol(self, code: CodeType) -> str | None:
        if code.co_filename.startswith("<"):  # "<frozen importlib._bootstrap>", "<string>"
            return None
        path = os.path.realpath(code.co_filename)
        if not path.startswith(self.root + os.sep):
            return None
        module = os.path.relpath(path, self.root).removesuffix(".py").replace(os.sep, ".")
        module = module.removesuffix(".__init__")
        # The parts of "C.f.<locals>.<listcomp>" that name a definition: C.f.
        scopes = [
            ".".join(name for name in scope.split(".") if name not in INLINE)
            for scope in code.co_qualname.split(".<locals>.")
        ]
        qualname = ".<locals>.".join(scope for scope in scopes if scope)
        if qualname in ("", "<module>"):
            return module
        if qualname.endswith("<lambda>"):
            qualname += f"@{code.co_firstlineno}"
        return f"{module}:{qualname}"


def attempt(function: Callable[[], object]) -> object:
    """The exception ``function()`` raises, else its value."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
        return error


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    sys.path.insert(0, request["root"])
    observer = _Observer(request["root"])
    with contextlib.redirect_stdout(io.StringIO()):
        sys.setprofile(observer.on_event)
        for target, expressions in request["runs"].items():
            module = importlib.import_module(target.partition(":")[0])
            for expression in expressions:
                observer.target = target
                eval(expression, {"m": module, "asyncio": asyncio, "attempt": attempt})  # noqa: S307
                observer.target = ""
        sys.setprofile(None)
    executed = {target: sorted(ids) for target, ids in sorted(observer.executed.items())}
    json.dump({"calls": sorted(observer.calls), "executed": executed}, sys.stdout)


main()

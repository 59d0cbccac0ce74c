"""Run small programs and report which of their bodies called which, in the ``pycg`` names.

A script of its own, because it imports the programs: tests start it in another
process as ``python -I -B trace_program.py FOLDER...``, and the ``main.py`` of each
folder is imported as ``main``. Standard output is a list with, for each folder,
``[[caller, callee, suspended], ...]``, or the text of what it raised:

* a call is attributed to the nearest body of the program, so that calls which pass
  through the standard library count; what a thread or an exit handler runs is
  called by the body that started the thread or registered the handler;
* ``suspended`` is true for generators and coroutines, which are seen when they are
  resumed, possibly by another body than the one that called them.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import importlib
import inspect
import io
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
Place = tuple[int, int]


class _Lambdas(ast.NodeVisitor):
    """The dotted names of a module's lambdas, by the place where their body starts."""

    def __init__(self, module: str) -> None:
        self.scope = module
        self.counts: dict[str, int] = {}
        self.names: dict[Place, str] = {}

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.counts[self.scope] = self.counts.get(self.scope, 0) + 1
        name = f"{self.scope}.<lambda{self.counts[self.scope]}>"
        self.names[node.body.lineno, node.body.col_offset] = name
        self.visit(node.args)
        self._inside(name, [node.body])

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for outer in (*node.decorator_list, node.args):
            self.visit(outer)
        self._inside(f"{self.scope}.{node.name}", node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name ast asks for

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outer in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outer)
        self._inside(f"{self.scope}.{node.name}", node.body)

    def _inside(self, scope: str, body: list[Any]) -> None:
        saved, self.scope = self.scope, scope
        for node in body:
            self.visit(node)
        self.scope = saved


class _Tracer:
    """The profile function, and what it has seen."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self.calls: set[tuple[str, str, bool]] = set()
        self.started_by = threading.local()
        self.known = lru_cache(maxsize=None)(self._name)
        self.lambdas = lru_cache(maxsize=None)(self._lambdas)

    def on_event(self, frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        # Module and class bodies run too, but nobody calls them.
        if event != "call" or not code.co_flags & inspect.CO_OPTIMIZED or code.co_name in INLINE:
            return
        callee = self.name(code)
        if callee is None:
            return
        caller = self.caller(frame.f_back)
        if caller is not None:
            self.calls.add((caller, callee, bool(code.co_flags & SUSPENDED)))

    def caller(self, frame: FrameType | None) -> str | None:
        while frame is not None:
            name = self.name(frame.f_code)
            if name is not None:
                return name
            frame = frame.f_back
        return getattr(self.started_by, "name", None)

    def later(self, function: Callable[..., Any], frame: FrameType | None) -> Callable[..., Any]:
        """``function``, which something else will call for the body that stands in ``frame``."""
        caller = self.caller(frame)

        def called_later(*args: Any, **kwargs: Any) -> Any:
            self.started_by.name = caller
            sys.setprofile(self.on_event)
            return function(*args, **kwargs)

        return called_later

    def name(self, code: CodeType) -> str | None:
        return self.known(code, code.co_filename)

    def _name(self, code: CodeType, filename: str) -> str | None:
        """``filename``: that of ``code``, which equals the same text in another file."""
        if filename.startswith("<"):  # "<frozen importlib._bootstrap>", "<string>"
            return None
        path = os.path.realpath(filename)
        if not path.startswith(self.root + os.sep):
            return None
        module = os.path.relpath(path, self.root).removesuffix(".py").replace(os.sep, ".")
        module = module.removesuffix(".__init__")
        if code.co_name == "<lambda>":
            known = self.lambdas(path, module)
            places = ((line or 0, column or 0) for line, _, column, _ in code.co_positions())
            return next(known[place] for place in places if place in known)
        parts = [p for p in code.co_qualname.split(".") if p not in INLINE and p != "<locals>"]
        if parts == ["<module>"] or not parts:
            return module
        if "<lambda>" in parts:  # a comprehension in a lambda
            return self._around(code, path, module)
        return ".".join((module, *parts))

    def _around(self, code: CodeType, path: str, module: str) -> str:
        place = (code.co_firstlineno, 1 << 20)
        return max((at, name) for at, name in self.lambdas(path, module).items() if at <= place)[1]

    def _lambdas(self, path: str, module: str) -> dict[Place, str]:
        visitor = _Lambdas(module)
        visitor.visit(ast.parse(Path(path).read_text(encoding="utf-8")))
        return visitor.names


@contextlib.contextmanager
def _attributed(tracer: _Tracer) -> Iterator[None]:
    """Threads and exit handlers know who started or registered them."""
    start, register = threading.Thread.start, atexit.register

    def start_known(thread: Any) -> None:
        thread.run = tracer.later(thread.run, sys._getframe(1))
        start(thread)

    def register_known(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        register(tracer.later(function, sys._getframe(1)), *args, **kwargs)
        return function

    threading.Thread.start = start_known  # type: ignore[method-assign]
    atexit.register = register_known
    try:
        yield
    finally:
        threading.Thread.start, atexit.register = start, register  # type: ignore[method-assign]


def trace(root: str) -> list[tuple[str, str, bool]]:
    """The calls of the program in the folder ``root``."""
    sys.path.insert(0, root)
    known = set(sys.modules)
    tracer = _Tracer(root)
    try:
        with contextlib.redirect_stdout(io.StringIO()), _attributed(tracer):
            sys.setprofile(tracer.on_event)
            importlib.import_module("main")
            atexit._run_exitfuncs()
            sys.setprofile(None)
    finally:
        sys.setprofile(None)
        sys.path.remove(root)
        for name in set(sys.modules) - known:
            if os.path.realpath(getattr(sys.modules[name], "__file__", None) or "").startswith(
                tracer.root
            ):
                del sys.modules[name]
    return sorted(tracer.calls)


def main(roots: list[str]) -> None:
    """Trace the programs in these folders, one after the other."""
    results: list[object] = []
    for root in roots:
        try:
            results.append(trace(root))
        except Exception:  # noqa: BLE001 - whatever the program raises is the answer
            results.append(traceback.format_exc())
    json.dump(results, sys.stdout)


main(sys.argv[1:])

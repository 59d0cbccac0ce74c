"""Tries answers on tests, in a sandbox: one fork for each test, each within its limits.

Gets messages on the sandbox's channel and answers each. Imports nothing of depslice but
what lies in the sandbox. This process never executes what it is sent: forks do, which have
neither the channel nor its nonce, and leave their result where no descriptor leads.
"""

from __future__ import annotations

import ast
import hashlib
import json
import mmap
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from types import ModuleType
from typing import Any

from depslice_inside.channel import Channel  # type: ignore[import-not-found,unused-ignore]
from depslice_inside.forks import (  # type: ignore[import-not-found,unused-ignore]
    end_the_rest,
    wait_for,
)
from depslice_inside.protection import (  # type: ignore[import-not-found,unused-ignore]
    adopt_orphans,
)

_BYTES = 1 << 16  # of what a fork says
_HEAD = 8 + 32
_SHOWN = 500  # characters of a value
_PATIENCE = 5  # times the limit by the clock, for a busy machine
_GRACE = 2.0
_ANSWER, _TEST = "<answer>", "<test>"
_ACTUAL, _EXPECTED = "_depslice_actual", "_depslice_expected"

Failure = dict[str, Any]


def try_all(order: dict[str, Any], channel: Channel) -> dict[str, Any]:
    """The outcome of an order: for each test a failure, or ``None`` where it passed.

    An answer that cannot even be loaded fails all tests alike, and is not loaded again.
    Without tests it is loaded once.
    """
    before = _cpu_seconds()
    failures: list[Failure | None] = []
    loading: Failure | None = None
    for test in order["tests"] or [{"setup": "", "text": ""}]:
        failure = loading or _try(order, test, channel)
        if failure is not None and failure.get("loading"):
            loading = failure
        failures.append(failure)
    return {
        "loading": loading,
        "failures": failures if order["tests"] else [],
        "cpu_seconds": _cpu_seconds() - before,
    }


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _try(order: dict[str, Any], test: dict[str, str], channel: Channel) -> Failure | None:
    nonce = os.urandom(16)
    seconds = float(order["seconds"])
    folder = tempfile.mkdtemp(prefix="run-")
    with mmap.mmap(-1, _BYTES) as memory:
        pid = channel.fork()
        if not pid:
            _become(order, test, folder, memory, nonce)
        ended = wait_for(pid, _PATIENCE * seconds + _GRACE, seconds)
        end_the_rest()
        found = _read(memory, nonce) if ended == "exit" else None
        loading = memory[_BYTES - 1] == 0
    shutil.rmtree(folder, ignore_errors=True)
    if found is not None:
        return found["failure"]  # type: ignore[no-any-return]
    if ended == "time":
        said = {"kind": "time", "message": f"ran longer than {seconds:g} s"}
    elif ended == "exit":
        said = {"kind": "ended", "message": "ended the process"}
    else:
        said = {"kind": "ended", "message": f"ended by {ended}"}
    return {**said, "loading": loading}


def _become(
    order: dict[str, Any], test: dict[str, str], folder: str, memory: mmap.mmap, nonce: bytes
) -> None:
    """The forked process: load, test, leave the result, end."""
    try:
        os.setsid()
        os.chdir(folder)
        limit = int(order["memory_bytes"])
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        failure = _failure_of(order, test, memory)
        data = json.dumps({"failure": failure}).encode("utf-8", "replace")
        memory[8:_HEAD] = hashlib.sha256(nonce + data).digest()
        memory[_HEAD : _HEAD + len(data)] = data
        memory[:8] = len(data).to_bytes(8, "big")
    finally:
        os._exit(0)


def _read(memory: mmap.mmap, nonce: bytes) -> dict[str, Any] | None:
    size = int.from_bytes(memory[:8], "big")
    data = memory[_HEAD : _HEAD + min(size, _BYTES - _HEAD)]
    if not size or hashlib.sha256(nonce + data).digest() != memory[8:_HEAD]:
        return None
    found: dict[str, Any] = json.loads(data)
    return found


def _failure_of(order: dict[str, Any], test: dict[str, str], memory: mmap.mmap) -> Failure | None:
    code = order["code"]
    module = ModuleType("answer")
    sys.modules["answer"] = module
    try:
        exec(compile(order["given"], "<given>", "exec"), module.__dict__)
        exec(compile(code, _ANSWER, "exec", dont_inherit=True), module.__dict__)
    except BaseException as error:  # noqa: BLE001 - it may raise anything
        return {**_described(error, code), "loading": True}
    if not callable(getattr(module, order["entry_point"], None)):
        message = f"the answer does not define {order['entry_point']}"
        return {"kind": "missing", "message": message, "loading": True}
    memory[_BYTES - 1] = 1
    names = dict(module.__dict__)
    try:
        exec(compile(test["setup"], _TEST, "exec", dont_inherit=True), names)
        exec(compile(_watched(test["text"]), _TEST, "exec", dont_inherit=True), names)
    except BaseException as error:  # noqa: BLE001
        found = _described(error, code)
        for key, name in (("actual", _ACTUAL), ("expected", _EXPECTED)):
            if found["kind"] == "wrong" and name in names:
                found[key] = _shown(names[name])
        return found
    return None


def _watched(text: str) -> ast.Module:
    """The test, its two sides kept where it is one comparison, so that they can be shown."""
    tree = ast.parse(text, _TEST)
    match tree.body:
        case [ast.Assert(test=ast.Compare(left=left, comparators=[right]) as compared)]:
            tree.body[:0] = [_kept(_ACTUAL, left), _kept(_EXPECTED, right)]
            compared.left, compared.comparators = _name(_ACTUAL), [_name(_EXPECTED)]
        case [ast.Assert(test=ast.expr() as value) as asserted]:
            tree.body[:0] = [_kept(_ACTUAL, value)]
            asserted.test = _name(_ACTUAL)
    return ast.fix_missing_locations(tree)


def _kept(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value)


def _name(name: str) -> ast.expr:
    return ast.Name(id=name, ctx=ast.Load())


def _described(error: BaseException, code: str) -> Failure:
    kind = "raises"
    if isinstance(error, SyntaxError) and error.filename == _ANSWER:
        kind = "syntax"
    elif isinstance(error, SystemExit):
        kind = "ended"
    elif isinstance(error, MemoryError):
        kind = "memory"
    line = error.lineno if isinstance(error, SyntaxError) and kind == "syntax" else _line(error)
    if isinstance(error, AssertionError) and line is None:
        kind = "wrong"
    lines = code.splitlines()
    return {
        "kind": kind,
        "type": type(error).__name__,
        "message": _shown(error, str),
        "line": line,
        "source": lines[line - 1].strip() if line and line <= len(lines) else None,
    }


def _line(error: BaseException) -> int | None:
    """The line of the answer where an error was raised, or was passed on last."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == _ANSWER), None)


def _shown(value: object, text_of: Any = repr) -> str:
    try:
        text = str(text_of(value))
    except Exception as error:  # noqa: BLE001 - it is the answer's code
        text = f"<{type(error).__name__} while it was shown>"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def main() -> None:
    """Answer orders until there are none."""
    channel = Channel()  # before all else
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    adopt_orphans()
    for order in iter(channel.receive, None):
        started = time.perf_counter()
        answer = try_all(order, channel)
        answer["wall_seconds"] = time.perf_counter() - started
        channel.send(answer)

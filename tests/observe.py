"""Run the expressions of a specimen under the recorder of ``depslice trace``.

A script of its own, because it imports the specimen: tests start it in another process as
``python -I -B observe.py``. Standard input is
``{"root": ..., "session": ..., "runs": {target id: [expression, ...]}}``, where the session is
the folder that :func:`~depslice.callgraph.tracing.session.recording_session` has prepared. What
the expressions of the targets do is recorded into its folders ``0``, ``1`` and so on, in order.

An expression sees ``m``, the module of its target, ``asyncio`` and ``attempt``, which calls a
function and returns the exception it raises.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import io
import json
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType


def attempt(function: Callable[[], object]) -> object:
    """The exception ``function()`` raises, else its value."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - whatever it raises is the answer
        return error


def load_recorder(session: Path) -> ModuleType:
    """The recorder that stands in the folder; under this name it does not start by itself."""
    loader = SourceFileLoader("recorder", str(session / "sitecustomize.py"))
    spec = spec_from_loader("recorder", loader)
    assert spec is not None
    recorder = module_from_spec(spec)
    loader.exec_module(recorder)
    return recorder


def main() -> None:
    """Do what is asked for on standard input."""
    request = json.load(sys.stdin)
    session = Path(request["session"])
    sys.path.insert(0, request["root"])
    recorder = load_recorder(session).start(str(session))
    with contextlib.redirect_stdout(io.StringIO()):
        for number, (target, expressions) in enumerate(request["runs"].items()):
            folder = session / str(number)
            folder.mkdir()
            recorder.turn_to(str(folder))
            module = importlib.import_module(target.partition(":")[0])
            for expression in expressions:
                eval(expression, {"m": module, "asyncio": asyncio, "attempt": attempt})  # noqa: S307


main()

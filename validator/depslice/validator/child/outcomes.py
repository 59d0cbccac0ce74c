"""What comes of calls: the value as Python source, or what is raised.

    python -m depslice_child.outcomes ORDER.json

ORDER has ``folder``, ``roots``, ``own``, ``module``, ``qualname``, ``calls`` (``arguments`` and
``imports``, as :mod:`.spelling` has them), and ``results``: a line of JSON for each call that
says the same twice, each time in a process of its own. A value is told where its text makes
an equal one.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from . import portable
from .portable import Home
from .spelling import Unspelled, spelled

_SECONDS = 2
_MOST_ITEMS = 50  # of what a generator gives


def _outcome(home: Home, order: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    names = {**vars(importlib.import_module(order["module"])), **_imported(call["imports"])}
    text = f"{order['qualname']}({call['arguments']})"
    try:
        value = eval(text, names)  # noqa: S307 - recorded, in its sandbox
        listed = isinstance(value, Iterator)
        if listed:
            text, value = f"list({text})", list(itertools.islice(value, _MOST_ITEMS + 1))
    except Exception as error:  # noqa: BLE001 - that is what comes of it
        return {"text": text, "raised": [type(error).__qualname__, str(error)]}
    if listed and len(value) > _MOST_ITEMS:
        raise Unspelled("too many items")
    found = spelled(home, (value,), {})
    names |= _imported(found["imports"])
    if not eval(found["arguments"], names) == value:  # noqa: S307 - as above
        raise Unspelled("no equal value can be written")
    imports = sorted({*call["imports"], *found["imports"]})
    return {"text": text, "value": found["arguments"], "imports": imports}


def _imported(statements: list[str]) -> dict[str, Any]:
    """The names that ``import a.b`` statements bind."""
    names: dict[str, Any] = {}
    for statement in statements:
        module = statement.removeprefix("import ")
        importlib.import_module(module)
        names[module.partition(".")[0]] = sys.modules[module.partition(".")[0]]
    return names


def _is_called_by_name(module: str, qualname: str) -> bool:
    """Whether ``qualname(…)`` in the module is a call of the function: not so a property's."""
    owner: Any = importlib.import_module(module)
    for part in qualname.split("."):
        try:
            found = inspect.getattr_static(owner, part)
        except AttributeError:
            return False
        owner = getattr(owner, part, None)
    return callable(owner) and not isinstance(found, property)


def _apart(home: Home, order: dict[str, Any], call: dict[str, Any]) -> bytes:
    """The outcome, found in a fork; empty where there is none to tell."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        signal.alarm(_SECONDS)
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            with os.fdopen(writing, "w") as file:
                json.dump(_outcome(home, order, call), file)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        found = file.read()
    os.waitpid(pid, 0)
    return found


def main() -> None:
    """Read the order and do it."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    warnings.simplefilter("ignore")
    sys.path[:0] = [*order["roots"], order["folder"]]
    home = portable.HOME = Home(frozenset(order["own"]), order["folder"])
    with open(order["results"], "w", encoding="utf-8") as results:
        if not _is_called_by_name(order["module"], order["qualname"]):
            return
        for number, call in enumerate(order["calls"]):
            found = _apart(home, order, call)
            if found and found == _apart(home, order, call):
                results.write(json.dumps({"call": number, **json.loads(found)}) + "\n")
                results.flush()


if __name__ == "__main__":
    main()

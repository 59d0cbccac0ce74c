"""Imports a tree, and calls its targets as was recorded.

    python -m depslice_child.replaying ORDER.json

ORDER has ``folder`` (the tree), ``roots`` (what is put on ``sys.path``), ``guarded`` (all
modules of the repository: they come from the tree or not at all), ``own``, ``tests`` (those of
the repository's that are of tests), ``original`` (the folder of the copied repository),
``modules`` (to import), ``targets`` (``id``, ``module``, ``path``, ``qualname``), ``calls``,
``backwards`` (make the last call first, and each twice: an answer that differs then tells of
what ran before, not of its arguments), ``lent`` (a file; written when ``lend``), ``seconds``
(for a call), and ``results``: a line of JSON for each thing that was done. Names of what is
written are relative to the folder it is started in.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import hashlib
import importlib
import io
import json
import os
import pickle
import random
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from . import portable
from .describing import Description, text_of
from .parts import attributes_of, module_of, mro_of, qualname_of
from .portable import Hole, Home, lend, load
from .watching import Executed, watch

_TEXT = 600
_ALL = 8_000  # characters of a result: it is told from where it differs
_MOST_LENT = 2000
_CHAIN = 8


class Guard:
    """A finder that gives the repository's modules from the tree, or not at all.

    A package without a file of its own is a namespace, which what is installed may share
    (``zope``): it has all its folders, of which only the tree's are looked through for what
    is the repository's.
    """

    def __init__(self, guarded: frozenset[str], roots: list[str]) -> None:
        self.guarded = guarded
        self.roots = roots

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module in the tree; ``None`` leaves others to other finders."""
        if name not in self.guarded:
            return None
        ours = self.roots if path is None else list(filter(self._is_ours, path))
        spec = PathFinder.find_spec(name, ours or path, target)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if _is_namespace(spec):
            whole = PathFinder.find_spec(name, path, target)
            if whole is not None and _is_namespace(whole):
                return whole
        return spec

    def _is_ours(self, folder: str) -> bool:
        return any(Path(folder).is_relative_to(root) for root in self.roots)


def _is_namespace(spec: ModuleSpec) -> bool:
    return spec.origin is None and spec.submodule_search_locations is not None


class Replay:
    """The work, step by step; each writes its lines."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.order = order
        self.results = open(order["results"], "w", encoding="utf-8")  # noqa: SIM115
        self.lent = os.path.abspath(order["lent"])  # the code may change the folder
        self.home = portable.HOME = Home(
            frozenset(order["own"]), order["original"], os.path.dirname(order["calls"])
        )
        self.executed = Executed((order["folder"], order["original"]))
        self.again = watch(self.executed)
        self.put(started=True)

    def put(self, **line: Any) -> None:
        """Write one result."""
        self.results.write(json.dumps(line) + "\n")
        self.results.flush()

    def import_modules(self) -> None:
        """Import each module, and tell of each whether it works."""
        for name in self.order["modules"]:
            try:
                importlib.import_module(name)
            except BaseException as error:  # noqa: BLE001 - checked code may raise anything
                self.put(module=name, error=_said(error), missing=missing(error))
            else:
                self.put(module=name)
        self.put(executed=self.executed.take(), during="import")

    def run(self) -> None:
        """Import, build the arguments, call, and lend if that is asked for."""
        self.import_modules()
        if not self.order["lend"] and os.path.exists(self.lent):
            with open(self.lent, "rb") as file:
                self.home.lent = pickle.load(file)
        self.again()
        functions = {t["id"]: candidates(t) for t in self.order["targets"]}
        asked: dict[str, None] = {}
        for number, call in self.calls():
            if "data" in call and call["target"] in functions:
                self.replay(number, call, functions[call["target"]])
                asked.update(self.home.asked)
        self.put(executed=self.executed.take(), during="calls")
        self.put(borrowed=sorted(set(self.home.borrowed)))
        if self.order["lend"]:
            self.home.asked = asked
            found = lend(self.home, most=_MOST_LENT)
            with open(self.lent, "wb") as written:
                pickle.dump(found, written)
            self.put(not_lent=self.home.not_lent)

    def calls(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The recorded calls with their numbers, in the order asked for."""
        with open(self.order["calls"], encoding="utf-8") as file:
            if not self.order["backwards"]:
                yield from enumerate(map(json.loads, file))
                return
            lines = list(enumerate(file))
        for number, line in reversed(lines):
            for _ in range(2):  # of two answers the last one counts
                yield number, json.loads(line)

    def replay(self, number: int, call: dict[str, Any], known: list[FunctionType]) -> None:
        """Make one call and describe what came of it."""
        line: dict[str, Any] = {"call": number, "target": call["target"]}
        function = chosen(known, call["code"])
        if function is None:
            self.put(**line, stage="target", digest="", text="not there after the import")
            return
        try:
            positional, keywords = load(self.home, base64.b64decode(call["data"]))
        except BaseException as error:  # noqa: BLE001 - as above
            text = f"arguments: {_said(error)}"
            self.put(**line, stage="arguments", digest="", text=text, missing=missing(error))
            return
        self.executed.take()
        self.again()
        Hole.used.clear()
        description = Description((self.order["folder"], self.order["original"]))
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        random.seed(0)
        signal.setitimer(signal.ITIMER_REAL, self.order["seconds"])
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
                _call(function, positional, keywords, description)
                description.add([positional, keywords])
        except TimeoutError:
            description.words.append("took too long")
        except Exception as error:  # noqa: BLE001 - a result that defies description
            self.put(**line, stage="description", digest="", text=_said(error))
            return
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        why = self._why_no_answer(description.failure)
        if why:
            self.put(**line, stage="arguments", digest="", text=f"arguments: {why}")
            return
        with contextlib.suppress(ValueError):  # closed by the code
            description.words.append(repr(out.buffer.getvalue()))
        self.put(
            **line,
            stage="call",
            digest=description.digest(),
            text=description.text(_ALL),
            missing=missing(description.failure),
            executed=self.executed.take(),
        )

    def _why_no_answer(self, failure: BaseException | None) -> str:
        """Why what has come of a call says nothing of the slice: code of its arguments has failed.

        That uses what cannot travel, or asks an object which the slice has made for what the slice
        has no business with. Or the arguments name a module of tests.
        """
        if Hole.used:
            return f"a value of the type {Hole.used[0]} cannot travel"
        if self.order["folder"] == self.order["original"] or failure is None:
            return ""
        if isinstance(failure, ModuleNotFoundError) and failure.name in self.order["tests"]:
            return f"the module {failure.name} of their class is one of tests"
        frames = [each for each, _ in traceback.walk_tb(failure.__traceback__)]
        if (
            not isinstance(failure, AttributeError)
            or not frames
            or not frames[-1].f_code.co_filename.startswith(self.home.lenders)
        ):
            return ""
        kind = failure.obj if issubclass(type(failure.obj), type) else type(failure.obj)
        is_own = any(module_of(each) in self.home.own for each in mro_of(kind))
        return f"their code asks for {failure.name!r} of a {qualname_of(kind)}" if is_own else ""


def _call(function: Any, positional: Any, keywords: Any, description: Description) -> None:
    try:
        value = function(*positional, **keywords)
    except TimeoutError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is a result
        description.error(error)
    else:
        description.add(value)


def candidates(target: dict[str, Any]) -> list[FunctionType]:
    """The functions that the definition made, wherever decorators have put them."""
    path = os.path.realpath(target["path"])
    return [
        each
        for each in gc.get_objects()
        if type(each) is FunctionType
        and each.__code__.co_qualname == target["qualname"]
        and os.path.realpath(each.__code__.co_filename) == path
    ]


def chosen(known: list[FunctionType], code: str) -> FunctionType | None:
    """Of several definitions of one name, the one that was called."""
    same = [f for f in known if hashlib.sha256(f.__code__.co_code).hexdigest() == code]
    return next(iter([*same, *known]), None)


def missing(error: BaseException | None) -> list[dict[str, Any]]:
    """What the exceptions of a chain say is not there."""
    found: list[dict[str, Any]] = []
    for _ in range(_CHAIN):
        if error is None:
            break
        if isinstance(error, AttributeError) and error.name:
            owners = _owners(error.obj)
            found.append({"what": "attribute", "of": owners, "name": error.name})
        elif isinstance(error, NameError) and error.name:
            frames = list(traceback.walk_tb(error.__traceback__))
            module = frames[-1][0].f_globals.get("__name__", "") if frames else ""
            found.append({"what": "name", "of": [module], "name": error.name})
        elif isinstance(error, ImportError) and error.name:
            name = getattr(error, "name_from", None) or ""
            found.append({"what": "import", "of": [error.name], "name": name})
        error = error.__cause__ or error.__context__
    return found


def _owners(value: Any) -> list[str]:
    """Where an attribute of ``value`` may be defined: its module, or the line of its class.

    Asks neither it nor its class, which may have just failed to answer (``__getattr__``).
    """
    if issubclass(type(value), ModuleType):
        return [str(attributes_of(value).get("__name__", ""))]
    kind = value if issubclass(type(value), type) else type(value)
    return [f"{module_of(each)}:{qualname_of(each)}" for each in mro_of(kind)]


def _said(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    place = f" ({os.path.basename(last.filename)}:{last.lineno})" if last else ""
    return text_of(error, _TEXT) + place


def main() -> None:
    """Read the order and do it."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    warnings.simplefilter("ignore")

    def too_long(*_: object) -> None:
        raise TimeoutError("took too long")

    signal.signal(signal.SIGALRM, too_long)
    sys.path[:0] = order["roots"]
    sys.meta_path.insert(0, Guard(frozenset(order["guarded"]), order["roots"]))
    replay = Replay(order)
    replay.run()
    replay.results.flush()
    os._exit(0)


if __name__ == "__main__":
    main()

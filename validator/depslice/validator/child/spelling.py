"""Recorded arguments as Python source: literals and constructor calls.

    python -m depslice_child.spelling ORDER.json

ORDER has ``folder``, ``roots``, ``own``, ``calls`` (lines of :mod:`.recording`), ``targets``
(``id``, ``module``, ``qualname``) and ``results``: a line of JSON for each call, with its
number in ``calls``, and ``arguments`` and ``imports`` where there is a text that makes
equal arguments. A text counts when it was tried and what it makes is described alike.
"""

from __future__ import annotations

import base64
import contextlib
import enum
import functools
import importlib
import inspect
import io
import json
import keyword
import math
import os
import signal
import sys
import warnings
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from . import portable
from .describing import Description, room, text_of
from .parts import attributes_of
from .portable import Home, load, look_up

_MOST = 6000  # characters of a call: what is longer nobody reads
_DEEPEST = 12
_SECONDS = 2
_PLAIN = (int, bool, str, bytes, type(None))
_AS_WRITTEN = {"datetime", "decimal", "fractions", "uuid", "pathlib", "zoneinfo"}


class Unspelled(Exception):
    """There is no text for a value."""


class Speller:
    """Writes values; ``modules`` are those that the text has to import."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.modules: dict[str, None] = {}

    def of(self, value: Any, depth: int = 0) -> str:
        """The source of an expression for ``value``.

        :raises Unspelled: there is none.
        """
        if depth > _DEEPEST:
            raise Unspelled("too deep")
        kind = type(value)
        if kind in _PLAIN:
            return repr(value)
        if kind is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if kind in (list, tuple, set, frozenset):
            return self._collection(value, kind, depth + 1)
        if kind is dict:
            pairs = (f"{self.of(k, depth + 1)}: {self.of(v, depth + 1)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        if value is ... or value is NotImplemented or kind in (complex, range, slice, bytearray):
            return "..." if value is ... else repr(value)
        if issubclass(kind, type) or kind in (FunctionType, BuiltinFunctionType):
            return self._definition(value)
        if kind is ModuleType:
            return self._module(value.__name__)
        named = self.home.global_name(value)
        if named:
            module, _, name = named.split()[0].partition(":")
            return f"{self._module(module)}.{name}"
        if isinstance(value, enum.Enum):
            return f"{self._definition(kind)}[{value._name_!r}]"
        return self._instance(value, kind, depth + 1)

    def _module(self, name: str) -> str:
        module = sys.modules.get(name)
        place = getattr(module, "__file__", None) or ""
        if name == "__main__" or (place.startswith(self.home.folder) and name not in self.home.own):
            raise Unspelled(f"{name} is a module of the tests")
        if name != "builtins":
            self.modules[name] = None
        return name

    def _definition(self, value: Any) -> str:
        module, qualname = value.__module__ or "builtins", value.__qualname__
        try:
            found = look_up(sys.modules[module], qualname)
        except (AttributeError, KeyError, TypeError):
            raise Unspelled(f"{qualname} has no name of its own") from None
        if found is not value or "<" in qualname:
            raise Unspelled(f"{qualname} has no name of its own")
        name = self._module(module)
        return qualname if name == "builtins" else f"{name}.{qualname}"

    def _collection(self, value: Any, kind: type, depth: int) -> str:
        inside = ", ".join(self.of(each, depth) for each in value)
        if kind is tuple:
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        if kind is list:
            return f"[{inside}]"
        if not value:
            return f"{kind.__name__}()"
        return f"{{{inside}}}" if kind is set else f"frozenset({{{inside}}})"

    def _instance(self, value: Any, kind: type, depth: int) -> str:
        maker = self._definition(kind)
        if kind.__module__ in _AS_WRITTEN:
            text = repr(value)
            self.modules[kind.__module__] = None
            return text if text.startswith(kind.__module__) else f"{kind.__module__}.{text}"
        if issubclass(kind, io.StringIO | io.BytesIO) and value.tell() == 0:
            return f"{maker}({value.getvalue()!r})"
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            inside = (f"{n}={self.of(v, depth)}" for n, v in zip(kind._fields, value, strict=True))
            return f"{maker}({', '.join(inside)})"
        if kind.__module__ in self.home.own or hasattr(kind, "__dataclass_fields__"):
            return f"{maker}({self._given(value, kind, depth)})"
        return self._reduced(value, depth)

    def _given(self, value: Any, kind: Any, depth: int) -> str:
        """Arguments for the constructor, taken from attributes that have their names."""
        try:
            parameters = list(inspect.signature(kind).parameters.values())
        except (TypeError, ValueError):
            raise Unspelled(f"{kind.__name__} does not say what it is made of") from None
        held = attributes_of(value)
        given = []
        for each in parameters:
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                continue
            found = [n for n in (each.name, f"_{each.name}") if n in held]
            if not found:
                if each.default is each.empty and not issubclass(kind, (str, int, list, dict)):
                    raise Unspelled(f"{kind.__name__} needs {each.name}, which it does not keep")
                continue
            if each.default is not each.empty and held[found[0]] is each.default:
                continue
            text = self.of(held[found[0]], depth)
            given.append(text if each.kind is each.POSITIONAL_ONLY else f"{each.name}={text}")
        for base, plain in ((str, str.__str__), (list, list), (dict, dict)):
            if issubclass(kind, base):
                given.insert(0, self.of(plain(value), depth))
        return ", ".join(given)

    def _reduced(self, value: Any, depth: int) -> str:
        """What pickles do, where that is a call and nothing else."""
        try:
            reduced = value.__reduce_ex__(2)
        except Exception as error:  # noqa: BLE001 - which has many ways to refuse
            raise Unspelled(text_of(error)) from None
        if type(reduced) is not tuple or any(each is not None for each in reduced[2:]):
            raise Unspelled(f"{type(value).__name__} has a state of its own")
        maker, args = reduced[:2]
        if getattr(maker, "__module__", "") in ("copyreg", "_io"):
            raise Unspelled(f"{type(value).__name__} has no constructor that is known")
        return f"{self.of(maker, depth)}({', '.join(self.of(each, depth) for each in args)})"


def call_text(speller: Speller, positional: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """What stands between the parentheses of a call.

    :raises Unspelled: there is no text for it.
    """
    texts = [speller.of(each) for each in positional]
    odd = {}
    for name, value in keywords.items():
        if name.isidentifier() and not keyword.iskeyword(name):
            texts.append(f"{name}={speller.of(value)}")
        else:
            odd[name] = value
    if odd:
        texts.append(f"**{speller.of(odd)}")
    text = ", ".join(texts)
    if len(text) > _MOST:
        raise Unspelled("too long")
    return text


def spelled(home: Home, positional: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any]:
    """The text of a call, when what it makes is described as the arguments are.

    :raises Unspelled: there is none, or it makes something else.
    """
    speller = Speller(home)
    text = call_text(speller, positional, keywords)
    names: dict[str, Any] = {"given": lambda *args, **kwargs: (args, kwargs)}
    for module in speller.modules:
        importlib.import_module(module)
        top = module.partition(".")[0]
        names[top] = sys.modules[top]
    try:
        made = eval(f"given({text})", names)  # noqa: S307 - its own values, in its sandbox
    except Exception as error:  # noqa: BLE001 - code of the repository
        raise Unspelled(text_of(error)) from None
    if _words((positional, keywords)) != _words(made):
        raise Unspelled("the constructors make something else")
    return {"arguments": text, "imports": [f"import {module}" for module in speller.modules]}


def _words(value: Any) -> list[str]:
    description = Description((), use_up=False)
    with room():
        description.add(value)
    if description.cut:
        raise Unspelled("too large")
    return description.words


def _receives_class(module: str, qualname: str) -> bool:
    """Whether the first argument is a class that callers do not pass."""
    owner, _, name = qualname.rpartition(".")
    try:
        kind = look_up(importlib.import_module(module), owner) if owner else None
        return isinstance(kind, type) and isinstance(
            inspect.getattr_static(kind, name), classmethod
        )
    except (AttributeError, KeyError):
        return False


def main() -> None:
    """Read the order and do it."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    warnings.simplefilter("ignore")

    def too_long(*_: object) -> None:
        raise TimeoutError("took too long")

    signal.signal(signal.SIGALRM, too_long)
    sys.path[:0] = [*order["roots"], order["folder"]]
    home = portable.HOME = Home(frozenset(order["own"]), order["folder"])
    bound = functools.cache(_receives_class)
    places = {t["id"]: (t["module"], t["qualname"]) for t in order["targets"]}
    with open(order["calls"], encoding="utf-8") as file, open(order["results"], "w") as results:
        os.chdir(os.path.dirname(os.path.abspath(order["results"])))
        for number, line in enumerate(map(json.loads, file)):
            if "data" not in line:
                continue
            signal.setitimer(signal.ITIMER_REAL, _SECONDS)
            try:
                found = _result(home, line, bound(*places[line["target"]]))
            except Exception as error:  # noqa: BLE001 - code of the repository runs
                found = {"why": text_of(error, 200)}
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            results.write(json.dumps({"call": number, **found}) + "\n")
            results.flush()
    os._exit(0)


def _result(home: Home, line: dict[str, Any], bound: bool) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        positional, keywords = load(home, base64.b64decode(line["data"]))
        positional = positional[1:] if bound else positional
        data = portable.dump(home, (positional, keywords)) if bound else b""
        found: dict[str, Any] = {"data": base64.b64encode(data).decode()} if bound else {}
        try:
            return found | spelled(home, positional, keywords)
        except Unspelled as error:
            return found | {"why": str(error)[:200]}


if __name__ == "__main__":
    main()

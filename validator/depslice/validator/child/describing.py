"""Results in words: two runs gave the same when their descriptions are the same.

A description is structural, and runs none of the described classes' code: the slice
need not have their ``__eq__`` or ``__repr__``. Iterators are used up, coroutines run:
what they do is part of the result.
"""

from __future__ import annotations

import asyncio
import enum
import hashlib
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from .portable import parts

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_MOST_ITEMS = 300  # of an iterator: some have no end
_MOST_WORDS = 200_000
_DEEPEST = 60
_HEAP_TYPE = 1 << 9


class Description:
    """Writes words for values; one instance for a call, so that what is shared shows."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self.words: list[str] = []
        self.seen: dict[int, int] = {}
        self.kept: list[object] = []  # ids stay theirs as long as they live

    def add(self, value: Any, depth: int = 0) -> None:
        """Describe ``value``."""
        if len(self.words) > _MOST_WORDS or depth > _DEEPEST:
            self.words.append("…")
            return
        kind = type(value)
        if kind in (int, float, complex, bool, type(None), type(...), type(NotImplemented), range):
            self.words.append(f"{value!r}")
        elif kind in (str, bytes, bytearray):
            text = repr(value)
            self.words.append(self._plain(text))
        elif isinstance(value, enum.Enum):
            self.words.append(f"{_name(kind)}.{value._name_}")
        elif isinstance(value, (type, FunctionType, BuiltinFunctionType, ModuleType, CodeType)):
            self._definition(value, depth)
        elif id(value) in self.seen:
            self.words.append(f"#{self.seen[id(value)]}")
        else:
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)
            self._compound(value, kind, depth + 1)

    def _definition(self, value: Any, depth: int) -> None:
        self.words.append(_name(value))
        if isinstance(value, FunctionType) and "<locals>" in value.__qualname__:
            if id(value) in self.seen:
                return
            self.seen[id(value)] = len(self.seen)
            self.kept.append(value)
            for cell in value.__closure__ or ():
                try:
                    self.add(cell.cell_contents, depth + 1)
                except ValueError:
                    self.words.append("empty")

    def _compound(self, value: Any, kind: type, depth: int) -> None:
        self.words.append(_name(kind) + "(")
        if kind in (list, tuple):
            self._many(value, depth)
        elif kind is dict or _name(kind) in ("collections.OrderedDict", "builtins.mappingproxy"):
            for key, each in value.items():
                self.add(key, depth)
                self.add(each, depth)
        elif kind in (set, frozenset):
            self._unordered(value, depth)
        elif kind is MethodType:
            self.add(value.__func__, depth)
            self.add(value.__self__, depth)
        elif isinstance(value, GeneratorType) or _is_iterator_in_c(value, kind):
            self._used_up(iter(value), depth)
        elif inspect.iscoroutine(value):
            self._outcome(lambda: asyncio.run(value), depth)
        elif inspect.isasyncgen(value):
            self._outcome(lambda: asyncio.run(_all_of(value)), depth)
        else:
            self._instance(value, kind, depth)
        self.words.append(")")

    def _instance(self, value: Any, kind: type, depth: int) -> None:
        if kind.__flags__ & _HEAP_TYPE and (held := parts(value)) is not None:
            _, content, attributes, slots, items = held
            self._many(content, depth)
            # The order in which attributes were set is nobody's business.
            for name, each in sorted({**attributes, **slots}.items(), key=lambda pair: pair[0]):
                self.words.append(f"{name}=")
                self.add(each, depth)
            if isinstance(items, set):
                self._unordered(items, depth)
            elif items is not None:
                self.add(items, depth)
            return
        if isinstance(value, BaseException):
            self._many(value.args, depth)
            return
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - its type is all that can be said
            return
        if isinstance(reduced, tuple):
            for each in reduced[1:3]:
                self.add(each, depth)
            for rest in reduced[3:5]:
                if rest is not None:
                    self._many(rest, depth)

    def _many(self, values: Any, depth: int) -> None:
        for each in values:
            self.add(each, depth)

    def _unordered(self, values: Any, depth: int) -> None:
        texts = []
        for each in values:
            inner = Description(self.folders)
            inner.add(each, depth)
            texts.append(" ".join(inner.words))
        self.words += sorted(texts)

    def _used_up(self, iterator: Iterator[Any], depth: int) -> None:
        found: list[Any] = []
        for _ in range(_MOST_ITEMS):
            before = len(found)
            failure = _attempt(lambda: found.extend(islice(iterator, 1)))
            if failure is not None:
                self.error(failure, depth)
                return
            if len(found) == before:
                return
            self.add(found[-1], depth)

    def _outcome(self, run: Callable[[], Any], depth: int) -> None:
        result: list[Any] = []
        failure = _attempt(lambda: result.append(run()))
        if failure is not None:
            self.error(failure, depth)
        else:
            self.add(result[0], depth)

    def error(self, error: BaseException, depth: int = 0) -> None:
        """Describe an exception that was raised."""
        self.words.append("raised")
        self.failure = error
        self.add(error, depth)

    failure: BaseException | None = None

    def _plain(self, text: str) -> str:
        for folder in self.folders:
            text = text.replace(folder, "…")
        return _ADDRESS.sub("0x…", text)

    def digest(self) -> str:
        """SHA-256 of the words."""
        return hashlib.sha256("\0".join(self.words).encode("utf-8", "surrogatepass")).hexdigest()

    def text(self, most: int) -> str:
        """The first words, for people."""
        text = ""
        for word in self.words:
            text += word + " "
            if len(text) > most:
                break
        return text.encode("utf-8", "replace").decode()[:most].strip()


def _attempt(run: Callable[[], Any]) -> BaseException | None:
    try:
        run()
    except (KeyboardInterrupt, TimeoutError):
        raise
    except BaseException as error:  # noqa: BLE001 - checked code may raise anything
        return error
    return None


def _is_iterator_in_c(value: Any, kind: type) -> bool:
    # Files are iterators too; to read on in one would change what is described.
    step = getattr(kind, "__next__", None)
    return isinstance(step, WrapperDescriptorType) and kind.__module__ != "_io"


async def _all_of(values: Any) -> list[Any]:
    found: list[Any] = []
    async for each in values:
        found.append(each)
        if len(found) >= _MOST_ITEMS:
            break
    return found


def _name(value: Any) -> str:
    qualname = getattr(value, "__qualname__", None) or getattr(value, "__name__", "?")
    return f"{getattr(value, '__module__', '') or ''}.{qualname}"

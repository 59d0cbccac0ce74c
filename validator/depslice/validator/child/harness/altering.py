"""What the original returns, altered: each number, flag and text another one of its size.

>>> altered([1.5, "abc", {"k": 90}])
[2.5, 'bcd', {'l': 80}]

A harness that compares values cannot miss that; one that looks at types, lengths or signs
does. What is not made of such parts is left alone, and so is the verdict then: what a
harness has to compare may be just there. The same holds for a call that does more than
return something.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections import OrderedDict, defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any

from ..comparing import difference
from ..describing import Description, room
from ..parts import parts

_DEEPEST = 100
_OF_ECHO = ("_hear", "_stream", "close", "closed", "write", "writelines")
_DICTIONARIES = (dict, OrderedDict, defaultdict)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_EFFECTS = frozenset(
    {
        *("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink"),
        *("os.truncate", "os.utime", "os.putenv", "os.unsetenv", "os.system", "os.exec"),
        *("os.posix_spawn", "subprocess.Popen", "socket.connect", "socket.sendto"),
    }
)
_LETTERS = ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
_NEXT = {ord(each): row[(at + 1) % len(row)] for row in _LETTERS for at, each in enumerate(row)}


class Opaque(TypeError):
    """A value of which it is not known how it could be another one."""


def altered(value: Any, depth: int = 0) -> Any:
    """Another value of the same type and size; itself where there is none (``None``, ``""``).

    :raises Opaque: some part of it cannot be altered.
    """
    if depth > _DEEPEST:
        raise Opaque(type(value))
    kind = type(value)
    match value:
        case None:
            return value
        case bool():
            return not value
        case int() | float() if kind in (int, float):
            return _number(value, kind)
        case str() if kind is str:
            return _text(value)
        case bytes() if kind is bytes:
            return _text(value.decode("latin-1")).encode("latin-1")
        case list() | tuple() | set() | frozenset() if kind in (list, tuple, set, frozenset):
            return kind(altered(each, depth + 1) for each in value)
        case tuple() if hasattr(kind, "_fields"):
            return tuple.__new__(kind, [altered(each, depth + 1) for each in value])
        case dict() if kind in _DICTIONARIES:
            return _mapping(value, kind, depth)
        case _:
            return _instance(value, kind, depth)


def _number(value: Any, kind: type) -> Any:
    """Its first digit is another one."""
    try:
        text = repr(value)
    except ValueError:  # more digits than Python writes
        raise Opaque(kind) from None
    if text in ("nan", "inf", "-inf"):
        return -value if text != "nan" else 0.0
    place = next((at for at, each in enumerate(text) if each in "123456789"), None)
    mantissa = text.partition("e")[0]
    if place is None or place >= len(mantissa):
        return kind(1)
    digit = "8" if text[place] == "9" else str(int(text[place]) + 1)
    return kind(text[:place] + digit + text[place + 1 :])


def _text(value: str) -> str:
    """Each letter and digit is the next one; without any, the first character is another."""
    found = value.translate(_NEXT)
    if found != value or not value:
        return found
    other = (
        ("_" if value[0] != "_" else "-") if value[0].isprintable() else "\t\n"[value[0] == "\t"]
    )
    return other + value[1:]


def _mapping(value: Any, kind: type, depth: int) -> Any:
    made: Any = defaultdict(value.default_factory) if kind is defaultdict else kind()
    for key, each in dict.items(value):
        made[altered(key, depth + 1)] = altered(each, depth + 1)
    return made


def _instance(value: Any, kind: type, depth: int) -> Any:
    held = parts(value)
    if held is None or held[0] is not object:
        raise Opaque(kind)
    made: Any = object.__new__(kind)
    for name, each in (held[2] | held[3]).items():
        object.__setattr__(made, name, altered(each, depth + 1))
    return made


class Altering:
    """Alters what calls return. ``altered`` counts; ``clear``: nothing else came of any call."""

    def __init__(self) -> None:
        self.altered = 0
        self.clear = True
        self._listening = False
        sys.addaudithook(self._hear)

    def call(self, function: Callable[[], Any], args: Any, kwargs: Any) -> Any:
        """What ``function`` returns, altered; it gets ``args`` and ``kwargs``."""
        before = _words((args, kwargs))
        with self._noticed():
            value = function()
        if _words((args, kwargs)) != before:
            self.clear = False
        match value:
            case GeneratorType():
                return self._generator(value)
            case CoroutineType():
                return self._coroutine(value)
            case AsyncGeneratorType():
                return self._async_generator(value)
            case _:
                return self._of(value)

    def _of(self, value: Any) -> Any:
        try:
            with room():
                other = altered(value)
                if difference(value, other) is None:
                    return value
        except Exception:  # noqa: BLE001 - of a class that does not like to be made like that
            self.clear = False
            return value
        self.altered += 1
        return other

    def _generator(self, inner: Any) -> Generator[Any, Any, Any]:
        for each in inner:
            yield self._of(each)

    async def _coroutine(self, inner: Coroutine[Any, Any, Any]) -> Any:
        return self._of(await inner)

    async def _async_generator(self, inner: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        async for each in inner:
            yield self._of(each)

    @contextlib.contextmanager
    def _noticed(self) -> Iterator[None]:
        """Take note of what is printed or written, for a while."""

        def hear(_: str) -> None:
            self.clear = False

        out, err = Echo(sys.stdout, hear), Echo(sys.stderr, hear)
        self._listening = True
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield
        finally:
            self._listening = False

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._listening:
            return
        if event == "open":
            mode, flags = args[1], args[2]
            writes = set("wax+") & set(mode) if isinstance(mode, str) else flags & _WRITES
            self.clear = self.clear and not writes
        elif event in _EFFECTS:
            self.clear = False


class Echo(io.TextIOBase):
    """A stream, and somebody who hears what is written to it."""

    def __init__(self, stream: Any, hear: Callable[[str], None]) -> None:
        self._stream = stream
        self._hear = hear

    def write(self, text: str) -> int:
        """Write it, if that can be."""
        written = int(self._stream.write(text))
        self._hear(text)
        return written

    def __getattribute__(self, name: str) -> Any:
        # The base has attributes of its own, `encoding` and `isatty`, which are not the stream's.
        # But whoever closes this one, if only by letting go of it, does not close the stream.
        mine = name in _OF_ECHO or name.startswith("__")
        return super().__getattribute__(name) if mine else getattr(self._stream, name)


def _words(value: Any) -> list[str]:
    description = Description((), use_up=False)
    with room():
        description.add(value)
    return description.words

"""Values on their way between the process of an answer and that of its tests, as JSON.

What is made of plain data travels as it is, what a call changes in its arguments comes back,
and two names of one list stay two names of one list. Of anything else (a function, an instance,
an iterator) the other side gets a *handle*: it stays where it is, and is asked there.

Nothing that is decoded runs code of the sender: the types below are all there is.

====================  ==========================================================================
``[kind, …]``         meaning
====================  ==========================================================================
``list``, ``set``,    ``[kind, number, items]``: a container, numbered in its message
``dict``, …
``same``              ``[kind, number]``: the container of this number again
``made``              ``[kind, type, arguments]``: a value of one of ``MADE``
``handle``            ``[kind, number, name of its type]``: something of the sender's
``yours``             ``[kind, number]``: something of the receiver's
``module``            ``[kind, name]``: a module of the standard library
====================  ==========================================================================
"""

from __future__ import annotations

import base64
import collections
import datetime as dt
import decimal
import fractions
import importlib
import sys
import uuid
from collections.abc import Callable
from types import ModuleType
from typing import Any

_LARGE = 1 << 64  # whole numbers from here on as hexadecimal text: decimal takes too long
_SEQUENCES: dict[str, Callable[[Any], Any]] = {
    "tuple": tuple,
    "frozenset": frozenset,
    "bytes": lambda items: base64.b64decode(items[0]),
    "complex": lambda items: complex(*items),
    "int": lambda items: int(items[0], 16),
    "range": lambda items: range(*items),
    "slice": lambda items: slice(*items),
    "Ellipsis": lambda items: ...,
    "NotImplemented": lambda items: NotImplemented,
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
    "type": lambda items: _TYPES[items[0]],
    "Decimal": lambda items: decimal.Decimal(items[0]),
    "Fraction": lambda items: fractions.Fraction(*items),
    "UUID": lambda items: uuid.UUID(items[0]),
    "date": lambda items: dt.date(*items),
    "time": lambda items: dt.time(*items),
    "datetime": lambda items: dt.datetime(*items),  # noqa: DTZ001 - as it was
    "timedelta": lambda items: dt.timedelta(*items),
}
"""How values without identity are made of what they are made of."""
_TYPES: dict[str, type] = {
    each.__name__: each
    for each in (
        *(int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset),
        *(object, type, range, slice, type(None), type(...)),
    )
}
_FILLED: dict[str, Callable[[], Any]] = {
    "list": list,
    "set": set,
    "dict": dict,
    "bytearray": bytearray,
    "deque": collections.deque,
    "Counter": collections.Counter,
    "OrderedDict": collections.OrderedDict,
    "defaultdict": collections.defaultdict,
}
"""Containers, which are made empty, and filled then."""


class Encoding:
    """One message: ``handle`` gives the number of what does not travel, or that it is theirs.

    ``containers`` are those that were numbered here.
    """

    def __init__(self, handle: Callable[[Any], list[Any]], known: dict[int, int]) -> None:
        self._handle = handle
        self._numbers = dict(known)  # id -> number of containers that the message may name
        self.containers: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """The JSON of a value."""
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if isinstance(value, int):
            plain = int(value)
            return plain if -_LARGE < plain < _LARGE else ["int", [hex(plain)]]
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, float):
            return float.__float__(value)
        if kind.__module__ == "numpy" and hasattr(value, "tolist"):
            return self.of(value.tolist())
        base = container_of(value)
        if base is not None:
            return self._container(value, base)
        made = _made(value)
        if made is not None:
            name, items = made
            return [name, [self.of(each) for each in items]]
        if kind is ModuleType and value.__name__.partition(".")[0] in sys.stdlib_module_names:
            return ["module", value.__name__]
        return self._handle(value)

    def _container(self, value: Any, base: str) -> Any:
        number = self._numbers.get(id(value))
        if number is not None:
            return ["same", number]
        number = self._numbers[id(value)] = len(self._numbers)
        self.containers[number] = value  # kept, so that no other value gets its id
        return [base, number, self.content(value, base)]

    def content(self, value: Any, base: str) -> Any:
        """What a container holds."""
        if base == "bytearray":
            return base64.b64encode(bytes(value)).decode()
        if base in ("list", "set", "deque"):
            return [self.of(each) for each in _ITERATE[base](value)]
        ordered = isinstance(value, collections.OrderedDict)
        items = collections.OrderedDict.items(value) if ordered else dict.items(value)
        return [[self.of(key), self.of(each)] for key, each in items]


_ITERATE: dict[str, Callable[[Any], Any]] = {
    "list": list.__iter__,
    "set": set.__iter__,
    "deque": collections.deque.__iter__,
}


def container_of(value: Any) -> str | None:
    """The container that a value is by its type, or by that of its type's bases."""
    kind = type(value)
    for each in kind.__mro__:
        if each.__name__ in _FILLED and each.__module__ in ("builtins", "collections"):
            return str(each.__name__)
    return None


def _made(value: Any) -> tuple[str, tuple[Any, ...]] | None:
    """The type of a value without identity, and what it is made of."""
    kind = type(value)
    if isinstance(value, tuple):
        return "tuple", tuple(tuple.__iter__(value))
    if isinstance(value, frozenset):
        return "frozenset", tuple(frozenset.__iter__(value))
    if isinstance(value, bytes):
        return "bytes", (base64.b64encode(value).decode(),)
    if kind is complex:
        return "complex", (value.real, value.imag)
    if kind is range or kind is slice:
        return kind.__name__, (value.start, value.stop, value.step)
    if value is ... or value is NotImplemented:
        return str(value), ()
    if (
        kind.__name__ in ("dict_keys", "dict_values", "dict_items")
        and kind.__module__ == "builtins"
    ):
        return kind.__name__, tuple(value)
    if isinstance(value, type):
        return ("type", (value.__name__,)) if _TYPES.get(value.__name__) is value else None
    if kind is decimal.Decimal or kind is uuid.UUID:
        return kind.__name__, (str(value),)
    if kind is fractions.Fraction:
        return "Fraction", (value.numerator, value.denominator)
    if kind is dt.date:
        return "date", (value.year, value.month, value.day)
    clock = ("hour", "minute", "second", "microsecond")
    if kind is dt.time and value.tzinfo is None:
        return "time", tuple(getattr(value, name) for name in clock)
    if kind is dt.datetime and value.tzinfo is None:
        names = ("year", "month", "day", *clock)
        return "datetime", tuple(getattr(value, name) for name in names)
    if kind is dt.timedelta:
        return "timedelta", (value.days, value.seconds, value.microseconds)
    return None


class Decoding:
    """One message: ``theirs`` gives what stands for a handle, ``ours`` what a number is here."""

    def __init__(
        self,
        theirs: Callable[[int, str], Any],
        ours: Callable[[int], Any],
        known: dict[int, Any],
    ) -> None:
        self._theirs = theirs
        self._ours = ours
        self.containers = dict(known)

    def of(self, node: Any) -> Any:
        """The value; raises ValueError and its like for what is none."""
        if not isinstance(node, list):
            if isinstance(node, dict):
                raise ValueError("an object is no value")  # noqa: TRY004 - of a message
            return node
        kind = node[0]
        if kind in _FILLED:
            made = self.containers[int(node[1])] = _FILLED[kind]()
            self.fill(made, kind, node[2])
            return made
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.of(each) for each in node[1]])
        if kind == "same":
            return self.containers[node[1]]
        if kind == "handle":
            return self._theirs(int(node[1]), str(node[2]))
        if kind == "yours":
            return self._ours(node[1])
        if kind == "module" and node[1].partition(".")[0] in sys.stdlib_module_names:
            return importlib.import_module(node[1])  # noqa: TID251 - of the standard library
        raise ValueError(f"{kind!r} is no kind of value")

    def fill(self, container: Any, kind: str, content: Any) -> None:
        """Put what it holds into a container."""
        if kind == "bytearray":
            container[:] = base64.b64decode(content)
        elif kind in ("list", "deque"):
            container.extend([self.of(each) for each in content])
        elif kind == "set":
            container.update([self.of(each) for each in content])
        else:
            for key, each in content:
                container[self.of(key)] = self.of(each)

"""Values on their way between the process of an answer and that of its tests, as JSON.

What is made of plain data travels as it is, what a call changes in its arguments comes back,
and two names of one list stay two names of one list. Of anything else (a function, an instance,
an iterator) the other side gets a *handle*: it stays where it is, and is asked there.

Nothing that is decoded runs code of the sender: the types below are all there is.

==================  ============================================================================
``[kind, …]``       meaning
==================  ============================================================================
``list``, ``set``,  ``[kind, number, items, more]``: a container, numbered in its message;
``dict``, …         ``more`` is the factory of a default dictionary, the length of a deque
``tuple``, …        ``[kind, arguments]``: a value of one of :data:`_SEQUENCES`
``same``            ``[kind, number]``: the container of this number again
``handle``          ``[kind, number, type, name]``: something of the sender's; of what tests
                    pass, the special methods that it has come after that
``like``            ``[kind, number, type, value]``: the same, of a type that extends that of
                    a value which travels
``exception``       ``[kind, number, name, bases]``: a class of exceptions of the sender's
``yours``           ``[kind, number]``: something of the receiver's
``standard``        ``[kind, module, name]``: something of the standard library
``module``          ``[kind, name]``: a module of it
==================  ============================================================================

What an answer gives to tests is *guarded*: a function that tests may be made to call (by a
callback that calls what it is given) must not run code, read attributes or make classes there.
Of the standard library only :data:`_HARMLESS` is itself on their side, and the rest a handle.
"""

from __future__ import annotations

import array
import base64
import collections
import contextlib
import datetime as dt
import decimal
import fractions
import importlib
import ipaddress
import operator
import pathlib
import re
import sys
import uuid
import zoneinfo
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MappingProxyType, ModuleType
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
    "Fraction": lambda items: fractions.Fraction(*items),
    "date": lambda items: dt.date(*items),
    "time": lambda items: dt.time(*items[:5], fold=items[5]),
    "datetime": lambda items: dt.datetime(*items[:8], fold=items[8]),  # noqa: DTZ001 - as it was
    "timedelta": lambda items: dt.timedelta(*items),
    "timezone": lambda items: dt.timezone(*items),
    "ZoneInfo": lambda items: zoneinfo.ZoneInfo(*items),
    "Pattern": lambda items: re.compile(*items),
    "memoryview": lambda items: memoryview(items[0]),
    "mappingproxy": lambda items: MappingProxyType(items[0]),
    "ChainMap": lambda items: collections.ChainMap(*items),
    "error": lambda items: error_of(*items),
}
"""How values without identity are made of what they are made of."""
_WRITTEN: dict[str, type] = {
    each.__name__: each
    for each in (
        *(decimal.Decimal, uuid.UUID),
        *(pathlib.PurePosixPath, pathlib.PureWindowsPath, type(pathlib.Path())),
        *(ipaddress.IPv4Address, ipaddress.IPv4Network, ipaddress.IPv4Interface),
        *(ipaddress.IPv6Address, ipaddress.IPv6Network, ipaddress.IPv6Interface),
    )
}
"""Types whose values are made of their text."""
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
    "array": lambda: array.array("b"),
}
"""Containers, which are made empty, and filled then."""
_CONTAINERS = frozenset(type(make()) for make in _FILLED.values())
_MORE = {"defaultdict": "default_factory", "deque": "maxlen", "array": "typecode"}
"""What containers are made with."""
_FOUND = (type, FunctionType, BuiltinFunctionType)
"""What is found by name in the standard library. An object of it may be equal to anything
(``unittest.mock.ANY``), or hold what others have put there."""
_HARMLESS: dict[str, frozenset[str] | None] = {
    "builtins": frozenset(
        {
            *("abs", "all", "any", "ascii", "bin", "bool", "callable", "chr", "divmod"),
            *("enumerate", "filter", "format", "hash", "hex", "isinstance", "issubclass", "iter"),
            *("len", "map", "max", "min", "next", "oct", "ord", "pow", "print", "repr"),
            *("reversed", "round", "sorted", "sum", "zip"),
        }
    ),
    "collections": None,
    "collections.abc": None,
    "datetime": None,
    "decimal": frozenset({"Decimal"}),
    "fractions": None,
    "functools": frozenset({"cmp_to_key", "partial"}),
    "heapq": None,
    "itertools": None,
    "json": frozenset({"dumps", "loads"}),
    "json.decoder": frozenset({"JSONDecodeError"}),
    "math": None,
    "cmath": None,
    "numbers": None,
    "re": None,
    "statistics": None,
    "textwrap": None,
    "unicodedata": None,
}
"""What an answer may have tests call, by module: these names, or all. Exceptions come on top."""
_EXTENDED: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__index__,
    float: float.__float__,
    bytes: lambda value: bytes(memoryview(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}
"""Types whose values travel in the place of those of types that extend them."""


class Encoding:
    """One message: ``handle`` gives what stands for a value that does not travel.

    It is given the value of the type that its own type extends, where there is one.
    ``containers`` are those that were numbered here.
    """

    def __init__(
        self,
        proxy: type,
        handle: Callable[[Any, Any], list[Any]],
        known: dict[int, int] | None = None,
        *,
        guarded: bool = False,
    ) -> None:
        self._guarded = guarded
        self._proxy = proxy  # what stands for things of the other side
        self._handle = handle
        self._numbers = dict(known or {})  # id -> number of containers that the message may name
        self.containers: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """The JSON of a value."""
        kind = type(value)
        if value is None or kind is bool or kind is float or kind is str:
            return value
        if kind is int:
            return value if -_LARGE < value < _LARGE else ["int", [hex(value)]]
        if kind.__module__ == "numpy" and hasattr(value, "tolist"):
            return self.of(value.tolist())
        if kind in _CONTAINERS:
            return self._container(value, kind.__name__)
        if issubclass(kind, self._proxy):
            return self._handle(value, None)
        for base, plain in _EXTENDED.items():
            if kind is not base and isinstance(value, base):
                return self._handle(value, self.of(plain(value)))
        if isinstance(value, BaseException):
            class_ = self.of(kind)
            if class_[0] in ("standard", "exception", "yours"):
                return ["error", [class_, self.of(value.args), self.of(own_attributes(value))]]
        if self._guarded and value is type:
            return self._handle(value, None)
        made = _made(value)
        if made is not None:
            name, items = made
            return [name, [self.of(each) for each in items]]
        if kind is ModuleType and is_given(value.__name__, guarded=self._guarded):
            return ["module", value.__name__]
        return _standard(value, guarded=self._guarded) or self._handle(value, None)

    def _container(self, value: Any, base: str) -> Any:
        number = self._numbers.get(id(value))
        if number is not None:
            return ["same", number]
        number = self._numbers[id(value)] = len(self._numbers)
        self.containers[number] = value  # kept, so that no other value gets its id
        more = _MORE.get(base)
        held = self.of(getattr(value, more)) if more else None
        return [base, number, self.content(value, base), held]

    def content(self, value: Any, base: str) -> Any:
        """What a container holds."""
        if base == "bytearray":
            return base64.b64encode(bytes(value)).decode()
        if base in ("list", "set", "deque", "array"):
            return [self.of(each) for each in value]
        return [[self.of(key), self.of(each)] for key, each in value.items()]


def _standard(value: Any, *, guarded: bool) -> list[Any] | None:
    """What stands for a function or class of the standard library."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not is_public(module):
        return None
    try:
        found = found_in_standard(module, name, guarded=guarded)
    except (AttributeError, ImportError):
        return None
    return ["standard", module, name] if found is value else None


def found_in_standard(module: str, name: str, *, guarded: bool = False) -> Any:
    """A public function or class of the standard library; raises ImportError for others."""
    if not is_public(module) or any(part.startswith("_") for part in name.split(".")):
        raise ImportError(module)
    found: Any = importlib.import_module(module)  # noqa: TID251 - of the standard library
    for part in name.split("."):
        found = getattr(found, part)
    if not isinstance(found, _FOUND):
        raise ImportError(name)  # noqa: TRY004 - as for others that are not found
    if guarded and not (isinstance(found, type) and issubclass(found, BaseException)):
        names = _HARMLESS.get(module, frozenset())
        if names is not None and name not in names:
            raise ImportError(name)
    return found


def is_public(module: str) -> bool:
    """Whether this is a module of the standard library for everybody."""
    top, *rest = module.split(".")
    return top in sys.stdlib_module_names and not any(p.startswith("_") for p in (top, *rest))


def is_given(module: str, *, guarded: bool) -> bool:
    """Whether the module itself travels."""
    return is_public(module) and (not guarded or (module in _HARMLESS and module != "builtins"))


def elements(container: Any) -> list[Any]:
    """What is in a container, to be compared by identity."""
    if isinstance(container, dict):
        return [each for pair in dict.items(container) for each in pair]
    return list(container)


def changed(
    containers: dict[int, Any], before: dict[int, list[Any]], encoding: Encoding
) -> dict[int, Any]:
    """What containers hold that held something else ``before``, by their numbers."""
    return {
        number: encoding.content(each, type(each).__name__)
        for number, each in containers.items()
        if not _same(before[number], elements(each))
    }


def _same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(map(operator.is_, one, other))


def refill(containers: dict[int, Any], contents: dict[str, Any], decoding: Decoding) -> None:
    """Let containers hold what is told by :func:`changed`."""
    for number, content in contents.items():
        container = containers[int(number)]
        if isinstance(container, array.array):
            del container[:]
        else:
            container.clear()
        decoding.fill(container, type(container).__name__, content)


def own_attributes(error: BaseException) -> dict[str, Any]:
    """What an exception has beside its arguments."""
    return {name: each for name, each in vars(error).items() if not name.startswith("_")}


def error_of(kind: Any, args: Any, held: Any = None) -> BaseException:
    """An exception, as it was raised; a constructor may want other arguments than it keeps."""
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        raise ValueError("no class of exceptions")  # noqa: TRY004 - of a message
    try:
        error: BaseException = kind(*args)
    except Exception:  # noqa: BLE001 - it takes something else
        error = kind.__new__(kind)
    error.args = tuple(args)
    for name, each in dict(held or {}).items():
        with contextlib.suppress(Exception):  # one of its own that is only read
            setattr(error, name, each)
    return error


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
    if _WRITTEN.get(kind.__name__) is kind:
        return kind.__name__, (str(value),)
    return _made_of_library(value, kind)


def _made_of_library(value: Any, kind: type) -> tuple[str, tuple[Any, ...]] | None:
    """The same for types of the standard library."""
    if kind is fractions.Fraction:
        return "Fraction", (value.numerator, value.denominator)
    if kind is dt.date:
        return "date", (value.year, value.month, value.day)
    clock = ("hour", "minute", "second", "microsecond", "tzinfo", "fold")
    zone = type(value.tzinfo) if kind is dt.time or kind is dt.datetime else None
    if zone is not None and zone not in (type(None), dt.timezone, zoneinfo.ZoneInfo):
        return None
    if kind is dt.time:
        return "time", tuple(getattr(value, name) for name in clock)
    if kind is dt.datetime:
        names = ("year", "month", "day", *clock)
        return "datetime", tuple(getattr(value, name) for name in names)
    if kind is dt.timedelta:
        return "timedelta", (value.days, value.seconds, value.microseconds)
    if kind is dt.timezone:
        return "timezone", value.__getinitargs__()
    if kind is zoneinfo.ZoneInfo and value.key is not None:
        return "ZoneInfo", (value.key,)
    if kind is re.Pattern:
        return "Pattern", (value.pattern, value.flags)
    if kind is memoryview:
        return "memoryview", (bytes(value),)
    if kind is MappingProxyType:
        return "mappingproxy", (dict(value),)
    if kind is collections.ChainMap:
        return "ChainMap", tuple(value.maps)
    return None


class Decoding:
    """One message: ``theirs`` gives what stands for a handle, ``ours`` what a number is here."""

    def __init__(
        self,
        theirs: Callable[[list[Any], Decoding], Any],
        ours: Callable[[int], Any],
        known: dict[int, Any],
        *,
        guarded: bool = False,
    ) -> None:
        self._guarded = guarded
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
            made = self.containers[int(node[1])] = self._empty(kind, node[3])
            self.fill(made, kind, node[2])
            return made
        if kind in _WRITTEN:
            return _WRITTEN[kind](str(node[1][0]))
        if kind in _SEQUENCES:
            if self._guarded and kind == "type" and node[1] == ["type"]:
                raise ValueError("no type of types")
            return _SEQUENCES[kind]([self.of(each) for each in node[1]])
        if kind == "same":
            return self.containers[node[1]]
        if kind in ("handle", "like", "exception"):
            return self._theirs(node, self)
        if kind == "yours":
            return self._ours(int(node[1]))
        if kind == "standard":
            return found_in_standard(str(node[1]), str(node[2]), guarded=self._guarded)
        if kind == "module" and is_given(str(node[1]), guarded=self._guarded):
            return importlib.import_module(node[1])  # noqa: TID251 - of the standard library
        raise ValueError(f"{kind!r} is no kind of value")

    def _empty(self, kind: str, more: Any) -> Any:
        if kind == "array":
            return array.array(self.of(more))
        if kind == "defaultdict":
            return collections.defaultdict(self.of(more))
        if kind == "deque":
            return collections.deque(maxlen=self.of(more))
        return _FILLED[kind]()

    def fill(self, container: Any, kind: str, content: Any) -> None:
        """Put what it holds into a container."""
        if kind == "bytearray":
            container[:] = base64.b64decode(content)
        elif kind in ("list", "deque", "array"):
            container.extend([self.of(each) for each in content])
        elif kind == "set":
            container.update([self.of(each) for each in content])
        else:
            for key, each in content:
                container[self.of(key)] = self.of(each)

"""Results in words: two runs gave the same when their descriptions are the same.

A description is structural, and runs none of the described classes' code: the slice
need not have their ``__eq__`` or ``__repr__``. Iterators are used up, coroutines run:
what they do is part of the result.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import re
import sys
import weakref
from _io import _IOBase
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterator
from itertools import count, islice
from pathlib import PurePath
from types import (
    AsyncGeneratorType,
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from .arrays import array_words
from .parts import (
    HEAP_TYPE,
    attributes_of,
    flags_of,
    ids_of,
    module_of,
    mro_of,
    namespace_of,
    parts,
    qualname_of,
    slots_of,
)

# As `object.__repr__` and its like write it; other numbers are what somebody meant.
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{6,}")
# Below a folder that is left out: as :mod:`tempfile` draws names.
_DRAWN = re.compile(r"(?<=…/)tmp[a-z0-9_]{8}")
_MOST_ITEMS = 300  # of an iterator: some have no end
_OF_A_COUNT = 2  # items that tell the others
_MOST_WORDS = 200_000
_DEEPEST = 500
_FRAMES = 5 * _DEEPEST  # that describing so deep takes
_NAMED = (type, FunctionType, BuiltinFunctionType, ModuleType, CodeType)
_OWNERS = (ModuleType, type, type(None))
_HASHES = frozenset(
    {"_blake2", "_hashlib", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512"}
)
_FIXED = (tuple, str, bytes, int, float, frozenset)
_SETTERS = frozenset({"setattr", "__setattr__", "__dict__", "vars"})
_RUNNING = ids_of(GeneratorType, CoroutineType, AsyncGeneratorType)
# They look like what they refer to, and like iterators; as other weak references they hold nothing.
_PROXIES = ids_of(weakref.ProxyType, weakref.CallableProxyType)
_ORDERED: OrderedDict[str, str] = OrderedDict()
_VIEWS = ids_of(type({}.keys()), type({}.items()))
_ORDERED_VIEWS = ids_of(
    type({}.values()), type(_ORDERED.keys()), type(_ORDERED.items()), type(_ORDERED.values())
)
_PLAIN = ids_of(float, complex, bool, type(None), type(...), type(NotImplemented), range)
_LONG = 1 << 12000  # more digits than `repr` gives


@contextlib.contextmanager
def room() -> Iterator[None]:
    """A recursion limit that leaves room to describe what is deep."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + _FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class Description:
    """Writes words for values; one instance for a call, so that what is shared shows.

    ``arrays``: arrays by the number of their word. ``cut``: there is more than is described.
    Without ``use_up``, what runs when it is asked for the next item is named only; so are
    instances of classes from the packages ``opaque``. ``spelled``: arrays have a word for each
    element, so that those of another process can be compared with a tolerance. Without
    ``closures``, functions made in functions are all one word.
    """

    def __init__(
        self,
        folders: tuple[str, ...],
        *,
        use_up: bool = True,
        opaque: frozenset[str] = frozenset(),
        spelled: bool = False,
        closures: bool = True,
    ) -> None:
        self.folders = folders
        self.closures = closures
        self.spelled = spelled
        self.opaque = opaque
        self.use_up = use_up
        self.words: list[str] = []
        self.seen: dict[int, int] = {}
        self.kept: list[object] = []  # ids stay theirs as long as they live
        self.arrays: dict[int, object] = {}
        self.cut = False

    def add(self, value: Any, depth: int = 0) -> None:
        """Describe ``value``."""
        if len(self.words) > _MOST_WORDS or depth > _DEEPEST:
            self.words.append("…")
            self.cut = True
            return
        # By the real type throughout: `isinstance` asks `__class__`, which may lie.
        kind = type(value)
        if kind is int:
            self.words.append(hex(value) if abs(value) >= _LONG else repr(value))
        elif id(kind) in _PLAIN:
            self.words.append(repr(value))
        elif kind is str or kind is bytes:
            self.words.append(self._plain(repr(value)))
        elif id(kind) in _PROXIES:
            self.words.append(_name(kind))
        elif issubclass(kind, enum.Enum):
            self.words.append(f"{_name(kind)}.{object.__getattribute__(value, '_name_')}")
        elif issubclass(kind, _NAMED):
            self._definition(value, depth)
        elif self.opaque and module_of(kind).partition(".")[0] in self.opaque:
            self.words.append(_name(kind))
        elif id(value) in self.seen:
            self.words.append(f"#{self.seen[id(value)]}")
        elif kind is tuple or kind is MethodType:
            # Who shares a tuple cannot be told, and a bound method is made each time that
            # somebody asks for it; that it holds itself can.
            self._number(value)
            self._compound(value, kind, depth + 1)
            del self.seen[id(value)]
        else:
            self._number(value)
            words = array_words(value, self._words_of, spelled=self.spelled)
            if words is None:
                self._compound(value, kind, depth + 1)
            else:
                if len(words) == 1:
                    self.arrays[len(self.words)] = value
                self.words += words

    def _number(self, value: Any) -> None:
        self.seen[id(value)] = len(self.kept)
        self.kept.append(value)

    def _words_of(self, value: Any, depth: int = 0) -> list[str]:
        inner = Description(
            self.folders,
            use_up=self.use_up,
            opaque=self.opaque,
            spelled=self.spelled,
            closures=self.closures,
        )
        inner.seen, inner.kept = dict(self.seen), list(self.kept)
        inner.add(value, depth)
        self.cut = self.cut or inner.cut
        return inner.words

    def _definition(self, value: Any, depth: int) -> None:
        if type(value) is FunctionType and "<locals>" in value.__qualname__ and not self.closures:
            self.words.append("<locals>")
            return
        self.words.append(_name(value))
        if type(value) is BuiltinFunctionType and not isinstance(value.__self__, _OWNERS):
            self.add(value.__self__, depth + 1)  # `table.get`
        if type(value) is FunctionType and "<locals>" in value.__qualname__:
            if id(value) in self.seen:
                return
            self._number(value)
            for each in (value.__defaults__, value.__kwdefaults__):
                if each:
                    self.add(each, depth + 1)
            for cell in value.__closure__ or ():
                try:
                    self.add(cell.cell_contents, depth + 1)
                except ValueError:
                    self.words.append("empty")

    def _compound(self, value: Any, kind: type, depth: int) -> None:
        self.words.append(_name(kind) + "(")
        if kind is list or kind is tuple:
            self._many(value, depth)
        elif kind is bytearray:
            self.words.append(repr(bytes(value)))
        elif kind is dict or kind is MappingProxyType:
            self._mapping(value, depth)
        elif kind is OrderedDict:
            self._many((part for pair in OrderedDict.items(value) for part in pair), depth)
        elif kind is set or kind is frozenset or id(kind) in _VIEWS:
            self._unordered(value, depth)
        elif id(kind) in _ORDERED_VIEWS:
            self._many(value, depth)
        elif kind is memoryview:
            self._memory(value)
        elif kind is MethodType:
            self.add(value.__func__, depth)
            self.add(value.__self__, depth)
        elif not self.use_up and (id(kind) in _RUNNING or _is_iterator_in_c(value, kind)):
            pass
        elif kind is GeneratorType or _is_iterator_in_c(value, kind):
            self._used_up(iter(value), depth)
        elif kind is CoroutineType:
            self._outcome(lambda: _finished(value), depth)
        elif kind is AsyncGeneratorType:
            self._outcome(lambda: _finished(_all_of(value)), depth)
        elif issubclass(kind, PurePath) and module_of(kind).startswith("pathlib"):
            self.words.append(self._plain(repr(PurePath.__str__(value))))
        else:
            self._instance(value, kind, depth)
        self.words.append(")")

    def _memory(self, value: memoryview) -> None:
        try:
            self.words += [repr(value.format), repr(value.shape), repr(value.tobytes())]
        except ValueError:
            self.words.append("released")

    def _hash(self, value: Any) -> None:
        try:
            self.words.append(value.hexdigest())
        except TypeError:  # it may have any length
            self.words.append(value.hexdigest(32))

    def _instance(self, value: Any, kind: type, depth: int) -> None:
        if kind is re.Match:
            self.words.append(repr(value.regs))
        elif module_of(kind) in _HASHES:
            self._hash(value)
        if flags_of(kind) & HEAP_TYPE and (held := parts(value)) is not None:
            base, content, attributes, slots, items = held
            self._many(content, depth)
            if issubclass(kind, _FIXED) and (named := _named_by_maker(kind)):
                # Tokens of pygments and sqlparse: who has asked for which first, is no state.
                attributes = {
                    name: each
                    for name, each in attributes.items()
                    if name in named or type(each) is not kind
                }
            # The order in which attributes were set is nobody's business.
            for name, each in sorted({**attributes, **slots}.items(), key=lambda pair: pair[0]):
                self.words.append(f"{name}=")
                self.add(each, depth)
            if isinstance(items, set):
                self._unordered(items, depth)
            elif isinstance(items, dict):
                self._mapping(items, depth)
            elif items is not None:
                self.add(items, depth)
            elif base is object and _is_container_in_c(kind):  # a row of a database
                self._many(value, depth)
            return
        if issubclass(kind, BaseException):
            self._many(value.args, depth)
            return
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - the base keeps what it holds to itself
            self._mapping({**attributes_of(value), **slots_of(value)}, depth)
            if _is_container_in_c(kind):
                self._many(value, depth)
            return
        if type(reduced) is tuple:
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
            texts.append(" ".join(self._words_of(each, depth)))
        self.words += sorted(texts)

    def _mapping(self, value: Any, depth: int) -> None:
        """Keys in an order of their own: two dictionaries with the same items are equal."""
        pairs = dict.items(value) if type(value) is dict else value.items()
        if all(type(key) is str for key in value):
            pairs = sorted(pairs, key=lambda pair: pair[0])
        else:
            pairs = sorted(pairs, key=lambda pair: self._words_of(pair[0], depth))
        for key, each in pairs:
            self.add(key, depth)
            self.add(each, depth)

    def _used_up(self, iterator: Iterator[Any], depth: int) -> None:
        found: list[Any] = []
        for _ in range(_OF_A_COUNT if type(iterator) is count else _MOST_ITEMS):
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
        return _ADDRESS.sub("0x…", _DRAWN.sub("tmp…", text))

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


def text_of(error: BaseException, most: int = 500) -> str:
    """An exception in a line, for people; its own ``__str__`` may not work."""
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - it has many ways not to
        text = "(cannot be shown)"
    return f"{type(error).__name__}: {text}"[:most]


def _attempt(run: Callable[[], Any]) -> BaseException | None:
    try:
        run()
    except (KeyboardInterrupt, TimeoutError):
        raise
    except BaseException as error:  # noqa: BLE001 - checked code may raise anything
        return error
    return None


def _named_by_maker(kind: type) -> frozenset[str]:
    """The names in a ``__getattr__`` that keeps what it makes; nothing where there is none."""
    for each in mro_of(kind):
        maker = namespace_of(each).get("__getattr__")
        if type(maker) is FunctionType and not _SETTERS.isdisjoint(maker.__code__.co_names):
            return frozenset(maker.__code__.co_names)
    return frozenset()


def _is_iterator_in_c(value: Any, kind: type) -> bool:
    # Files are iterators too; to read on in one would change what is described.
    if type(kind) is type:
        step = getattr(kind, "__next__", None)
    else:  # not by the metaclass
        owners = (namespace_of(each) for each in mro_of(kind))
        step = next((each["__next__"] for each in owners if "__next__" in each), None)
    return type(step) is WrapperDescriptorType and not issubclass(kind, _IOBase)


def _is_container_in_c(kind: type) -> bool:
    """Whether going through it runs no Python, and changes nothing."""
    names = ("__iter__", "__len__")
    return all(type(getattr(kind, name, None)) is WrapperDescriptorType for name in names)


def _finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    import asyncio  # takes longer than all the rest

    return asyncio.run(coroutine)


async def _all_of(values: Any) -> list[Any]:
    found: list[Any] = []
    async for each in values:
        found.append(each)
        if len(found) >= _MOST_ITEMS:
            break
    return found


def _name(value: Any) -> str:
    kind = type(value)
    if issubclass(kind, type):
        return f"{module_of(value)}.{qualname_of(value)}"
    if issubclass(kind, ModuleType):  # which may have a `__getattr__`
        return f".{attributes_of(value).get('__name__', '?')}"
    if kind is CodeType:
        return f".{value.co_qualname}"
    return f"{value.__module__ or ''}.{value.__qualname__}"

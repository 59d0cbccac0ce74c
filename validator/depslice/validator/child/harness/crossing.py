"""Values on their way from one world to the other, as the same objects.

The harness sees one world. What it passes to the candidate has classes of that world, so
at the door each instance gets the class of the same name on the other side, and gets its
own back when it returns. It stays the same object: changes of arguments can be seen, and
what is shared stays shared. References to definitions, members of enumerations and
sentinels are replaced by their counterparts.
"""

from __future__ import annotations

import contextlib
import enum
import gc
from functools import partial
from types import (
    AsyncGeneratorType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from ..comparing import difference
from ..parts import HEAP_TYPE, IMMUTABLE, attributes_of, parts, slots_of
from .worlds import World, Worlds, member

_ATOMS = frozenset({int, float, complex, bool, str, bytes, bytearray, range, type(None), type(...)})
_CLOSED = (
    CodeType, FrameType, TracebackType, ModuleType,
    GeneratorType, CoroutineType, AsyncGeneratorType,
)  # fmt: skip
_SIMPLE = (*_ATOMS, tuple, list, dict, set, frozenset, ModuleType, type, FunctionType)


class Crossing:
    """One passage; an object that is met twice passes once."""

    def __init__(self, worlds: Worlds, source: World, goal: World) -> None:
        self.worlds = worlds
        self.source = source
        self.goal = goal
        self.done: dict[int, Any] = {}
        self.kept: list[Any] = []

    def of(self, value: Any) -> Any:
        """The value as the goal has it: the object itself, unless it cannot change."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        if not gc.is_tracked(value) and kind is not object and not kind.__flags__ & HEAP_TYPE:
            return value  # it holds nothing that could be of a world
        if id(value) in self.done:
            return self.done[id(value)]
        self.kept.append(value)
        self.done[id(value)] = value
        self.done[id(value)] = found = self._crossed(value, kind)
        return found

    def _crossed(self, value: Any, kind: type) -> Any:
        if issubclass(kind, type) or kind is FunctionType:
            return self._definition(value)
        if issubclass(kind, _CLOSED):
            return value
        if kind is tuple:
            items = [self.of(each) for each in value]
            same = all(one is other for one, other in zip(items, value, strict=True))
            return value if same else tuple(items)
        if kind in (list, dict, set):
            self._fill(value, kind)
            return value
        if kind is frozenset:
            return frozenset(self.of(each) for each in value)
        if kind is MethodType:
            function, receiver = self.of(value.__func__), self.of(value.__self__)
            return MethodType(function, receiver)
        if issubclass(kind, enum.Enum):
            other = self._definition(kind)
            return other._member_map_.get(value._name_, value) if other is not kind else value
        if issubclass(kind, partial) and self._definition(kind) is kind:
            held = [self.of(each) for each in (value.func, value.args, value.keywords)]
            partial.__setstate__(value, (*held, attributes_of(value) or None))  # type: ignore[attr-defined] # in C
            return value
        named = self._global(value, kind)
        return self._instance(value, kind) if named is None else named

    def _definition(self, value: Any) -> Any:
        module = self.worlds.module(self.source, getattr(value, "__module__", None) or "")
        other = self.worlds.module(self.goal, getattr(value, "__module__", None) or "")
        if module is None or other is None or module is other:
            return value
        try:
            if _plain(member(module, value.__qualname__)) is not value:
                return value
            return _plain(member(other, value.__qualname__))
        except (KeyError, TypeError):
            return value

    def _global(self, value: Any, kind: type) -> Any:
        """The counterpart of an instance that a module has as a global, if it is like it."""
        if kind in _SIMPLE or not (kind is object or self._ours(kind)):
            return None
        place = self.worlds.globals(self.source).get(id(value))
        other = self.worlds.module(self.goal, place[0]) if place else None
        found = vars(other).get(place[1]) if other is not None and place else None
        # What one side has made of its own is a difference to be seen.
        return found if found is not None and _alike(value, found) else None

    def _ours(self, kind: type) -> bool:
        return any(self._definition(each) is not each for each in kind.__mro__)

    def _fill(self, value: Any, base: type) -> None:
        """Cross what a list, dictionary or set holds, in its place."""
        if base is list:
            for number, each in enumerate(list.copy(value)):
                crossed = self.of(each)
                if crossed is not each:
                    list.__setitem__(value, number, crossed)
        elif base is dict:
            pairs = list(dict.items(value))
            crossed_pairs = [(self.of(key), self.of(each)) for key, each in pairs]
            if any(a is not c for (a, _), (c, _) in zip(pairs, crossed_pairs, strict=True)):
                dict.clear(value)
                dict.update(value, crossed_pairs)
            else:
                for (key, each), (_, other) in zip(pairs, crossed_pairs, strict=True):
                    if each is not other:
                        dict.__setitem__(value, key, other)
        elif base is set:
            members = list(set.copy(value))
            crossed_members = [self.of(each) for each in members]
            if any(a is not b for a, b in zip(members, crossed_members, strict=True)):
                set.clear(value)
                set.update(value, crossed_members)

    def _instance(self, value: Any, kind: type) -> Any:
        other = self._definition(kind) if kind.__flags__ & HEAP_TYPE else kind
        base: type = next(each for each in kind.__mro__ if not each.__flags__ & HEAP_TYPE)
        if other is not kind:
            value = self._reclassed(value, kind, other, base)
        if base in (list, dict, set):
            self._fill(value, base)
        for name, each in attributes_of(value).items():
            crossed = self.of(each)
            if crossed is not each:
                object.__getattribute__(value, "__dict__")[name] = crossed
        for name, each in slots_of(value).items():
            crossed = self.of(each)
            if crossed is not each:
                with contextlib.suppress(AttributeError):  # C code may let it be read only
                    object.__setattr__(value, name, crossed)
        if base not in (list, dict, set, object):
            # Held by C code: what is in there can change its class, but not be replaced.
            for each in gc.get_referents(value):
                if not isinstance(each, (type, dict)):
                    self.of(each)
        return value

    def _reclassed(self, value: Any, kind: type, other: type, base: type) -> Any:
        try:
            object.__setattr__(value, "__class__", other)
        except (TypeError, AttributeError):
            pass
        else:
            return value
        held = parts(value)
        if held is None or base not in IMMUTABLE:
            return value
        content = tuple(self.of(each) for each in held[1])
        maker: Any = base
        made = maker.__new__(other, *content)
        object.__getattribute__(made, "__dict__").update(held[2]) if held[2] else None
        self.done[id(value)] = made
        return made


def _plain(value: Any) -> Any:
    return value.__func__ if isinstance(value, (staticmethod, classmethod)) else value


def _alike(one: Any, other: Any) -> bool:
    return difference(one, other) is None

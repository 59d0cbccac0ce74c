"""What a call changes of its module's variables, as far as they are made of plain values.

Caches, registries and counters: nobody sees them in a result, and the next call may. A number
that may be a time or an address (a float, an integer of ten digits) is told by its type alone,
since the original itself has another one each time.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ..describing import Description
from ..parts import ids_of

_MOST = 2000  # values that one variable holds: tables of that size are no state
_DEEPEST = 50
_LIKE_A_TIME = 10**9
_ATOMS = ids_of(str, bytes, bool, type(None), complex, type(...), range)
_LISTS = ids_of(list, tuple, set, frozenset, deque)
_MAPPINGS = ids_of(dict, OrderedDict, defaultdict, Counter)

Values = Mapping[str, list[str]]
"""Variables, and what they hold in words."""


def values_of(names: Mapping[str, Any], variables: Iterable[str]) -> Values:
    """What these ``variables`` of a module hold; those that are not plain are left out."""
    found = {}
    for name in variables:
        if name in names:
            words = _words(names[name])
            if words is not None:
                found[name] = words
    return found


def changes(before: Values, after: Values) -> dict[str, list[str]]:
    """What was changed, made or, with no words, taken away."""
    return {
        name: after.get(name, [])
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }


def add_changes(sides: Sequence[Description], states: Sequence[tuple[Values, Values]]) -> None:
    """Describe on each side what its call has changed of what was the same on both before it."""
    (before, _), (other, _) = states
    alike = {n for n in {*before, *other} if before.get(n) == other.get(n)}
    for description, (old, new) in zip(sides, states, strict=True):
        add_to(description, {n: w for n, w in changes(old, new).items() if n in alike})


def add_to(description: Description, changed: Mapping[str, list[str]]) -> None:
    """Describe changes; nothing where there are none."""
    for name, words in changed.items():
        description.words += ["changed", name, *words]


def _words(value: Any) -> list[str] | None:
    words: list[str] = []
    return words if _put(value, words, 0) else None


def _put(value: Any, words: list[str], depth: int) -> bool:
    """Whether it is plain; its words, if it is."""
    kind = type(value)
    if len(words) > _MOST or depth > _DEEPEST:
        return False
    if kind is float or (kind is int and abs(value) >= _LIKE_A_TIME):
        words.append(kind.__name__)
    elif kind is int or id(kind) in _ATOMS:
        words.append(repr(value))
    elif kind is FunctionType or kind is type:
        words.append(f"{value.__module__}.{value.__qualname__}")
    elif kind is bytearray:
        words.append(repr(bytes(value)))
    elif id(kind) in _MAPPINGS:
        return _put_all(kind, [(key, value[key]) for key in value], words, depth)
    elif id(kind) in _LISTS:
        return _put_all(kind, list(value), words, depth)
    else:
        return False
    return True


def _put_all(kind: type, values: list[Any], words: list[str], depth: int) -> bool:
    if len(values) > _MOST:
        return False
    texts: list[list[str]] = []
    for each in values:
        texts.append([])
        if not _put(each, texts[-1], depth + 1):
            return False
    if kind is set or kind is frozenset:
        texts.sort()
    words += [f"{kind.__name__}(", *(word for text in texts for word in text), ")"]
    return len(words) <= _MOST

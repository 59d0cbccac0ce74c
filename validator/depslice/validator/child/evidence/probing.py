"""Whether a fault changes anything: the inputs of a harness, and many like them, on both.

Neighbours of real arguments (one item more or less, the next number, a constant of the
function's own source) reach what the fault changes more often than random values do.
"""

from __future__ import annotations

import copy
import marshal
import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..comparing import described_difference
from ..describing import Description
from ..harness.observing import observe
from ..harness.subjects import Subject

_MOST_CALLS = 40
_MOST_INPUTS = 300

Call = tuple[tuple[Any, ...], dict[str, Any]]


class Probed(NamedTuple):
    """On how many inputs both were called, and whether any told them apart."""

    inputs: int
    differ: bool


class Inputs:
    """The arguments of calls, as they were before each."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def hear(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Remember a call; for :attr:`Subject.heard`."""
        if len(self.calls) < _MOST_CALLS:
            try:
                self.calls.append(copy.deepcopy((args, kwargs)))
            except Exception:  # noqa: BLE001 - what cannot be copied is not an input to vary
                return


def probe(
    calls: Sequence[Call],
    constants: Sequence[Any],
    candidate: Subject,
    reference: Subject,
    folders: tuple[str, ...],
) -> Probed:
    """Call both with ``calls`` and their neighbours, until one tells them apart."""
    count = 0
    for call in _inputs(calls, constants):
        one, other = (
            observe(subject, *copy.deepcopy(call), folders) for subject in (reference, candidate)
        )
        count += 1
        if described_difference(one, other) is not None:
            return Probed(count, differ=True)
    return Probed(count, differ=False)


def _inputs(calls: Sequence[Call], constants: Sequence[Any]) -> Iterator[Call]:
    yield from calls
    chance = random.Random(0)  # noqa: S311 - the same each time
    varied = [each for each in calls if each[0] or each[1]]
    seen: set[bytes] = set()
    for number in range(_MOST_INPUTS * 3):
        if not varied or len(seen) >= _MOST_INPUTS:
            return
        args, kwargs = varied[number % len(varied)]
        new = _varied(args, kwargs, constants, chance)
        if new is not None:
            key = _key(new)
            if key not in seen:
                seen.add(key)
                yield new


def _key(call: Call) -> bytes:
    """The same for calls with the same arguments."""
    try:
        return marshal.dumps(call, 2)  # without references: equal values, equal bytes
    except ValueError:  # not of plain values alone
        description = Description(())
        description.add(call)
        return description.digest().encode()


def _varied(
    args: tuple[Any, ...], kwargs: dict[str, Any], constants: Sequence[Any], chance: random.Random
) -> Call | None:
    """The call with one or two arguments changed."""
    places: list[Any] = [*range(len(args)), *kwargs]
    changed: dict[Any, Any] = {}
    for place in chance.sample(places, min(len(places), chance.choice((1, 1, 2)))):
        value = args[place] if isinstance(place, int) else kwargs[place]
        near = neighbours(value, constants, chance)
        if near:
            changed[place] = chance.choice(near)
    if not changed:
        return None
    return (
        tuple(changed.get(place, value) for place, value in enumerate(args)),
        {key: changed.get(key, value) for key, value in kwargs.items()},
    )


def neighbours(value: Any, constants: Sequence[Any], chance: random.Random) -> list[Any]:
    """Values of the same type, not far from ``value`` or from a constant; maybe none."""
    kind = type(value)
    own = [each for each in constants if type(each) is kind]
    if kind is bool:
        return [not value]
    if kind in (int, float):
        near = [value + 1, value - 1, -value, kind(0), kind(1), value * 2, value + chance.random()]
        near += [each + step for each in own for step in (-1, 0, 1)]
        return [kind(each) for each in near]
    if kind in (str, bytes):
        one = value[:1] or kind(*([b"a"] if kind is bytes else ["a"]))
        near = [value[:0], value[:-1], value[1:], value + one, value[::-1], value + value]
        near += own + [each + value for each in own] + [value + each for each in own]
        if kind is str:
            near += [value.upper(), value.lower(), f" {value}", f"{value} ", value.title()]
        return near
    if kind in (list, tuple):
        return _sequences(value, kind, constants, chance)
    if kind is dict:
        return _mappings(value, constants, chance)
    if kind in (set, frozenset):
        items = list(value)
        return [kind(items[1:]), kind(), kind(items[: len(items) // 2])]
    return []


def _sequences(
    value: Any, kind: type, constants: Sequence[Any], chance: random.Random
) -> list[Any]:
    items = list(value)
    near = [items[:-1], items[1:], items + items[:1], items[::-1], items + items, []]
    if items:
        place = chance.randrange(len(items))
        for other in neighbours(items[place], constants, chance)[:6]:
            near.append([*items[:place], other, *items[place + 1 :]])
    return [kind(each) for each in near]


def _mappings(value: Any, constants: Sequence[Any], chance: random.Random) -> list[Any]:
    items = list(value.items())
    near = [dict(items[1:]), dict(items[:-1]), {}]
    if items:
        key, held = items[chance.randrange(len(items))]
        near += [{**value, key: other} for other in neighbours(held, constants, chance)[:6]]
    return near

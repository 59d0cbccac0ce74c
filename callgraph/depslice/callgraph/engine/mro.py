"""C3 linearisation (https://www.python.org/download/releases/2.3/mro/), tolerant of conflicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Generic, TypeVar

T = TypeVar("T")
_DEEPEST: Final = 60  # classes below each other that are looked into


def linearise(class_: T, bases_of: Callable[[T], Sequence[T]]) -> tuple[T, ...]:
    """The MRO of ``class_``; depth first without repeats where C3 finds no order.

    Inheritance cycles, which only broken code has, are cut.
    """
    return _Lines(bases_of).of(class_)


def common_base(classes: AbstractSet[T], line_of: Callable[[T], Iterable[T]]) -> T | None:
    """The one of ``classes`` that all others inherit from; ``line_of`` linearises a class."""
    tops = [c for c in classes if not any(k in classes for k in line_of(c) if k is not c)]
    return tops[0] if len(tops) == 1 else None


class _Lines(Generic[T]):
    """Linearisations that are found for one class: a base that many of its bases share is asked once."""

    def __init__(self, bases_of: Callable[[T], Sequence[T]]) -> None:
        self._bases_of = bases_of
        self._known: dict[T, tuple[T, ...]] = {}
        self._path: dict[T, None] = {}
        self._cuts = 0  # what is found below one is so for that path alone

    def of(self, class_: T) -> tuple[T, ...]:
        if class_ in self._path or len(self._path) > _DEEPEST:
            self._cuts += 1
            return ()
        known: tuple[T, ...] | None = getattr(class_, "mro_cache", None)
        if known is None:
            known = self._known.get(class_)
        if known is not None:
            return known
        cuts = self._cuts
        bases = list(self._bases_of(class_))
        self._path[class_] = None
        lines = [line for base in bases if (line := self.of(base))]
        del self._path[class_]
        found = (class_, *[c for c in _merge([*lines, bases]) if c is not class_])
        if self._cuts == cuts:
            self._known[class_] = found
        return found


def _merge(sequences: list[Sequence[T]]) -> Iterable[T]:
    """The order of all that the ``sequences`` have; the last one is of the bases."""
    if len(sequences[-1]) < 2:
        return sequences[0]
    behind = Counter(each for sequence in sequences for each in sequence[1:])
    places = [0] * len(sequences)
    result: list[T] = []
    waiting = [*range(len(sequences))]
    while waiting:
        for number in waiting:
            head = sequences[number][places[number]]
            if not behind[head]:
                break
        else:
            return dict.fromkeys(each for sequence in sequences for each in sequence)
        result.append(head)
        for number in waiting:
            sequence, place = sequences[number], places[number]
            if sequence[place] is head:
                place = places[number] = place + 1
                if place < len(sequence):
                    behind[sequence[place]] -= 1
        waiting = [number for number in waiting if places[number] < len(sequences[number])]
    return result

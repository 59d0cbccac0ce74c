"""C3 linearisation (https://www.python.org/download/releases/2.3/mro/), tolerant of conflicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

T = TypeVar("T")


def linearise(class_: T, bases_of: Callable[[T], Sequence[T]]) -> tuple[T, ...]:
    """The MRO of ``class_``; depth first without repeats where C3 finds no order.

    Inheritance cycles, which only broken code has, are cut.
    """
    return _linearise(class_, bases_of, ())


def common_base(classes: AbstractSet[T], line_of: Callable[[T], Iterable[T]]) -> T | None:
    """The one of ``classes`` that all others inherit from; ``line_of`` linearises a class."""
    tops = [c for c in classes if not any(k in classes for k in line_of(c) if k is not c)]
    return tops[0] if len(tops) == 1 else None


def _linearise(
    class_: T, bases_of: Callable[[T], Sequence[T]], path: tuple[T, ...]
) -> tuple[T, ...]:
    if class_ in path or len(path) > 60:
        return ()
    cached: tuple[T, ...] | None = getattr(class_, "mro_cache", None)
    if cached is not None:
        return cached
    bases = list(bases_of(class_))
    if not bases:
        return (class_,)
    inner = (*path, class_)
    sequences = [list(_linearise(base, bases_of, inner)) for base in bases]
    sequences.append(bases)
    merged = _merge([sequence for sequence in sequences if sequence])
    if merged is None:
        merged = list(dict.fromkeys(c for sequence in sequences for c in sequence))
    return (class_, *[c for c in merged if c is not class_])


def _merge(sequences: list[list[T]]) -> list[T] | None:
    result: list[T] = []
    while sequences:
        for sequence in sequences:
            head = sequence[0]
            if not any(head in other[1:] for other in sequences):
                break
        else:
            return None
        result.append(head)
        sequences = [rest for s in sequences if (rest := s[1:] if s[0] is head else s)]
    return result

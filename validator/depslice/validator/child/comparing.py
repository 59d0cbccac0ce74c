"""Whether two values are the same: structurally, strictly, and by nobody's ``__eq__``.

>>> difference([1, 2.0], [1, 2]) is None
False
>>> difference(float("nan"), float("nan")) is None
True
>>> difference(0.1 + 0.2, 0.3, tolerance=Tolerance(relative=1e-9)) is None
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from .arrays import close
from .describing import Description, room

_FLOAT = re.compile(r"-?(\d+\.\d*(e[+-]?\d+)?|\d+e[+-]?\d+|inf|nan)")
_SHOWN = 8  # words around a difference


class Tolerance(NamedTuple):
    """How far floats may lie apart; zero both, unless a harness declares otherwise."""

    relative: float = 0.0
    absolute: float = 0.0


EXACT = Tolerance()


def difference(
    left: Any, right: Any, *, tolerance: Tolerance = EXACT, folders: tuple[str, ...] = ()
) -> str | None:
    """Where two values differ, in words; ``None`` when they are the same."""
    first, second = Description(folders), Description(folders)
    with room():
        first.add(left)
        second.add(right)
    return described_difference(first, second, tolerance)


def described_difference(
    first: Description, second: Description, tolerance: Tolerance = EXACT
) -> str | None:
    """As :func:`difference`, of what is described already."""
    if first.cut or second.cut:
        return "too large to compare"
    if first.words == second.words:
        return None
    at = first_difference(first.words, second.words, tolerance)
    while at is not None and _close_arrays(first, second, at, tolerance):
        rest = first_difference(first.words[at + 1 :], second.words[at + 1 :], tolerance)
        at = None if rest is None else at + 1 + rest
    return None if at is None else _shown(first.words, second.words, at)


def first_difference(
    left: Sequence[str], right: Sequence[str], tolerance: Tolerance = EXACT
) -> int | None:
    """The number of the first words that differ by more than the tolerance."""
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other and not _close(one, other, tolerance):
            return number
    return None if len(left) == len(right) else min(len(left), len(right))


def _close(one: str, other: str, tolerance: Tolerance) -> bool:
    if tolerance == EXACT or not (_FLOAT.fullmatch(one) and _FLOAT.fullmatch(other)):
        return False
    return math.isclose(
        float(one), float(other), rel_tol=tolerance.relative, abs_tol=tolerance.absolute
    )


def _close_arrays(first: Description, second: Description, at: int, tolerance: Tolerance) -> bool:
    if tolerance == EXACT or at not in first.arrays or at not in second.arrays:
        return False
    return close(
        first.arrays[at],
        second.arrays[at],
        relative=tolerance.relative,
        absolute=tolerance.absolute,
    )


def _shown(left: Sequence[str], right: Sequence[str], at: int) -> str:
    start = max(0, at - _SHOWN // 2)
    texts = [" ".join(words[start : at + _SHOWN])[:200] for words in (left, right)]
    return f"{texts[0] or 'nothing'} != {texts[1] or 'nothing'}"

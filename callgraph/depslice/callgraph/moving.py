"""What an edit has moved without changing what the code does.

Comments, blank lines, formatting, the docstring of a function that has one, a number that is
neither named nor passed nor a key: the summary of such a file says what it said before, at other positions. Nothing
that is found out about a program depends on where its operations stand; so results are
the same up to positions, and to the line in the name of a lambda.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from typing import Final, NamedTuple

from depslice.callgraph.summary import (
    POSITION_AT,
    ClassInfo,
    FileSummary,
    Op,
    Piece,
    Position,
    Unit,
)

# Where a definition stands, and what only a reader of its text sees.
_PLACES: Final = frozenset({"line", "end_line", "name_line", "start", "end", "path", "docstring"})
_APART: Final = frozenset({"qualname", "ops"})  # compared by themselves


def _compared(of: type[Unit | Piece | ClassInfo]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(of) if f.name not in _PLACES | _APART)


_UNIT: Final = _compared(Unit)
_PIECE: Final = _compared(Piece)
_CLASS: Final = _compared(ClassInfo)
_FILE: Final = tuple(
    f.name
    for f in fields(FileSummary)
    if f.name not in ("pieces", "units", "classes", "lines", "dynamic")
)
_LAMBDA_LINE: Final = re.compile(r"(?<=<lambda>@)\d+")


class Moved(NamedTuple):
    """Where what stood somewhere stands now, and what is called otherwise (lambdas)."""

    positions: dict[Position, Position]
    qualnames: dict[str, str]


def moved(old: FileSummary, new: FileSummary) -> Moved | None:
    """How ``new`` differs from ``old``, if only in positions; else ``None``.

    ``None``, too, where two things that stood (or were named) alike no longer do: what
    was found about them cannot be told apart.
    """
    if not (
        all(getattr(old, name) == getattr(new, name) for name in _FILE)
        and _alike(old.pieces, new.pieces, _PIECE)
        and _alike(old.classes, new.classes, _CLASS)
        and _alike(old.units, new.units, _UNIT)
    ):
        return None
    positions: dict[Position, Position] = {0: 0}  # what stands nowhere
    qualnames: dict[str, str] = {}
    for before, after in zip(old.units, new.units, strict=True):
        if not (
            _follow(before.ops, after.ops, positions)
            and _renamed(before.qualname, after.qualname, qualnames)
        ):
            return None
    for owner, other in zip(old.classes, new.classes, strict=True):
        if not _renamed(owner.qualname, other.qualname, qualnames):
            return None
    if len(set(qualnames.values())) < len(qualnames):
        return None
    return Moved(positions, qualnames)


def _renamed(old: str, new: str, qualnames: dict[str, str]) -> bool:
    """Note a name; false if it is another one, and not just of a lambda on another line."""
    if qualnames.setdefault(old, new) != new:
        return False
    return old == new or _LAMBDA_LINE.sub("", old) == _LAMBDA_LINE.sub("", new)


def _alike(old: Sequence[object], new: Sequence[object], names: tuple[str, ...]) -> bool:
    return len(old) == len(new) and all(
        getattr(before, name) == getattr(after, name)
        for before, after in zip(old, new, strict=True)
        for name in names
    )


def _follow(old: list[Op], new: list[Op], positions: dict[Position, Position]) -> bool:
    """Note where the operations stand now; false if they are others."""
    if len(old) != len(new):
        return False
    for before, after in zip(old, new, strict=True):
        place = POSITION_AT.get(before[0])
        if place is not None:
            if before[:place] != after[:place] or before[place + 1 :] != after[place + 1 :]:
                return False
            then, now = before[place], after[place]
            # Below zero where a name is written rather than read.
            if (then < 0) != (now < 0) or positions.setdefault(abs(then), abs(now)) != abs(now):
                return False
        elif before != after:
            return False
    return True

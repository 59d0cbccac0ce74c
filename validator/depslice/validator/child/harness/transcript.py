"""What a candidate did, call by call, in words: to be compared with what the original did.

Neither process knows the other's. Where both say the same from the first call to the last,
the harness has not told them apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

from ..comparing import EXACT, Tolerance, first_difference
from ..describing import Description, room
from ..reading import Value, values_of

_MOST_WORDS = 300_000
_SHOWN = 12
_NOTED = 40  # words of what is compared: it has mostly been told already
_LONGEST = 300  # characters of two calls
_OUTCOMES = {"returned": "gave", "raised": "raised"}

Entries = list[list[str]]
_Value = TypeVar("_Value")


class Transcript:
    """``entries``: the words of each thing that happened, the test's name where one starts."""

    def __init__(self, folders: tuple[str, ...], tolerance: Tolerance = EXACT) -> None:
        self.folders = folders
        self.tolerance = tolerance
        self.entries: Entries = []
        self._words = 0

    def start(self, test: str) -> None:
        """A test starts."""
        self.entries.append(["test", test])

    def tell(self, word: str, *values: Any) -> None:
        """Something happened; for :attr:`Subject.told`."""
        self.add(word, self._description(values))

    def note(self, value: _Value) -> _Value:
        """The harness compares ``value``: see :mod:`.comparisons`."""
        description = self._description([value])
        if len(description.words) > _NOTED and self.tolerance == EXACT:
            text = "\0".join(description.words[_NOTED:]).encode("utf-8", "surrogatepass")
            description.words[_NOTED:] = [hashlib.sha256(text).hexdigest()]
        self.add("compared", description)
        return value

    def _description(self, values: Sequence[object]) -> Description:
        spelled = self.tolerance != EXACT
        description = Description(self.folders, use_up=False, spelled=spelled)
        try:
            with room():
                for each in values:
                    description.add(each)
        except Exception as error:  # noqa: BLE001 - a value that defies description
            description.words.append(type(error).__name__)
        return description

    def add(self, word: str, description: Description) -> None:
        """Something happened that is described already."""
        self._words += len(description.words) + 1
        if self._words > _MOST_WORDS:
            self.entries.append(["…"])
        else:
            self.entries.append([word, *description.words])


def transcripts_differ(
    ours: Entries,
    theirs: Entries,
    tolerance: Tolerance,
    *,
    name: str = "it",
    between: str = " instead of ",
) -> str | None:
    """Where a candidate's transcript differs from the original's; ``None``: nowhere.

    ``name`` is the target's, ``between`` stands between what one and the other did.
    """
    test = ""
    for one, other in zip(ours, theirs, strict=False):
        if one[:1] == ["test"] == other[:1]:
            test = str(one[-1])
        at = first_difference(one, other, tolerance)
        if at is not None:
            told = _calls_differ(one, other, name, between)
            return f"{test}: {told or f'{_shown(one, at)}{between}{_shown(other, at)}'}"
        if one == ["…"]:
            return "too much to compare"
    if len(ours) != len(theirs):
        return f"{test}: {len(ours)} things happened instead of {len(theirs)}"
    return None


def _calls_differ(one: Sequence[str], other: Sequence[str], name: str, between: str) -> str | None:
    """What two calls came to, as Python spells it: ``roll(6) gave 5 instead of 2``.

    ``None`` where that is too long, or nothing that a call came to.
    """
    first, second = _came_to(one, name), _came_to(other, name)
    if first is None or second is None:
        return None
    (call, outcome, value), (call_too, outcome_too, value_too) = first, second
    if call != call_too:
        then = f"{call_too} {outcome_too} {value_too}"
    else:
        then = value_too if outcome == outcome_too else f"{outcome_too} {value_too}"
    told = f"{call} {outcome} {value}{between}{then}"
    return told if len(told) <= _LONGEST else None


def _came_to(words: Sequence[str], name: str) -> tuple[str, str, str] | None:
    """The call, what it did, and the value of that."""
    match values_of(words[1:]):
        case [value, Value(parts=tuple(args)), Value(parts=tuple(kwargs))] if words[0] in _OUTCOMES:
            keys = (str(key).strip("'") for key in kwargs[::2])
            named = [f"{key}={each}" for key, each in zip(keys, kwargs[1::2], strict=False)]
            inside = ", ".join([*map(str, args), *named])
            return f"{name}({inside})", _OUTCOMES[words[0]], str(value)
        case _:
            return None


def _shown(words: Sequence[str], at: int) -> str:
    text = " ".join([words[0], *words[max(1, at - 3) : at + _SHOWN]])
    return text[:200]

"""What a candidate did, call by call, in words: to be compared with what the original did.

Neither process knows the other's. Where both say the same from the first call to the last,
the harness has not told them apart.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Sequence
from typing import Any, TypeVar

from ..comparing import EXACT, Tolerance, first_difference
from ..describing import Description, room
from ..reading import Value, values_of

_MOST_WORDS = 300_000  # of calls; of what is compared as many again
_SHOWN = 12
_NOTED = 40  # words of what is compared: it has mostly been told already
_LONGEST = 300  # characters of two calls
_OUTCOMES = {"returned": "gave", "raised": "raised"}

Entries = list[list[str]]
_Value = TypeVar("_Value")

COMPARED = "compared"
"""The first word of what the harness compares."""
_MORE = [COMPARED, "…"]
_FIXTURES = frozenset({"_pytest", "pytest"})  # they know all of the run, and when it was


class Transcript:
    """``entries``: the words of each thing that happened, the test's name where one starts.

    What happens in other threads comes at the end of its test, in an order of its own: which of
    them is first, nobody knows. ``file`` has the target: at which of its lines something happens
    is not compared.
    """

    def __init__(
        self, folders: tuple[str, ...], tolerance: Tolerance = EXACT, file: str = ""
    ) -> None:
        self.folders = folders
        lines = rf'(?<![^\s/\\:"\'(])({re.escape(file)}(?::|", line ))\d+'
        self._lines = re.compile(lines) if file else None
        self._thread = threading.get_ident()
        self._noted = 0
        self.tolerance = tolerance
        self._entries: Entries = []
        self._in_threads: Entries = []
        self._words = 0

    @property
    def entries(self) -> Entries:
        """All of it so far."""
        return [*self._entries, *sorted(self._in_threads)]

    def start(self, test: str) -> None:
        """A test starts."""
        self._entries += [*sorted(self._in_threads), ["test", test]]
        self._in_threads = []

    def tell(self, word: str, *values: Any) -> None:
        """Something happened; for :attr:`Subject.told`."""
        self.add(word, self._description(values))

    def note(self, value: _Value) -> _Value:
        """The harness compares ``value``: see :mod:`.comparisons`."""
        if self._noted > _MOST_WORDS or threading.get_ident() != self._thread:
            return value  # of threads nobody knows which comes first
        # What a test is given of pytest it compares by parts.
        opaque = frozenset[str]() if isinstance(value, tuple) else _FIXTURES
        words = self._description([value], opaque).words
        self._noted += len(words) + 1
        if self._noted > _MOST_WORDS:
            self._entries.append(_MORE)
            return value
        if self._lines is not None:
            words = [self._lines.sub(r"\1…", each) for each in words]
        if len(words) > _NOTED and self.tolerance == EXACT:
            text = "\0".join(words[_NOTED:]).encode("utf-8", "surrogatepass")
            words[_NOTED:] = [hashlib.sha256(text).hexdigest()]
        self._entries.append([COMPARED, *words])
        return value

    def _description(
        self, values: Sequence[object], opaque: frozenset[str] = frozenset()
    ) -> Description:
        spelled = self.tolerance != EXACT
        # How a function that is given is called inside, and what it holds, is not what it does.
        description = Description(
            self.folders, use_up=False, opaque=opaque, spelled=spelled, closures=False
        )
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
        here = threading.get_ident() == self._thread
        entries = self._entries if here else self._in_threads
        if self._words > _MOST_WORDS:
            entries.append(["…"])
        else:
            entries.append([word, *description.words])


def transcripts_differ(
    ours: Entries,
    theirs: Entries,
    tolerance: Tolerance,
    *,
    name: str = "it",
    between: str = " instead of ",
) -> str | None:
    """Where a candidate's calls differ from the original's; ``None``: nowhere.

    What the harness compares is left to :func:`notes_differ`. ``name`` is the target's,
    ``between`` stands between what one and the other did.
    """
    test = ""
    ours = [each for each in ours if each[0] != COMPARED]
    theirs = [each for each in theirs if each[0] != COMPARED]
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


def notes_differ(
    ours: Entries, theirs: Entries, tolerance: Tolerance, varying: Sequence[int] | None
) -> str | None:
    """Where what the harness compares of a candidate differs from what it does of the original.

    ``varying`` ones, by their numbers, are left out; ``None``: all.
    """
    if varying is None:
        return None
    one, other = _notes(ours), _notes(theirs)
    for number, (mine, their) in enumerate(zip(one, other, strict=False)):
        if _MORE in (mine, their) and (varying or mine == their):
            return None  # what varies may be long
        at = first_difference(mine, their, tolerance)
        if at is not None and number not in varying:
            return f"{_shown(mine, at)} instead of {_shown(their, at)}"
    if len(one) != len(other):
        return f"{len(one)} values are compared instead of {len(other)}"
    return None


def varying_notes(ours: Entries, theirs: Entries) -> list[int] | None:
    """What the harness compares that is not the same in two runs of the original, by number.

    Times, the numbers of processes, addresses: they say nothing of a candidate. ``None``: it does
    not even compare as often, and what belongs to what cannot be told.
    """
    one, other = _notes(ours), _notes(theirs)
    if len(one) != len(other):
        return None
    pairs = enumerate(zip(one, other, strict=True))
    return [number for number, (mine, their) in pairs if mine != their]


def _notes(entries: Entries) -> Entries:
    return [each for each in entries if each[0] == COMPARED]


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

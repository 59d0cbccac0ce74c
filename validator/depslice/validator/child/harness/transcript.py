"""What a candidate did, call by call, in words: to be compared with what the original did.

Neither process knows the other's. Where both say the same from the first call to the last,
the harness has not told them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..comparing import Tolerance, first_difference
from ..describing import Description, room

_MOST_WORDS = 300_000
_SHOWN = 12

Entries = list[list[str]]


class Transcript:
    """``entries``: the words of each thing that happened, the test's name where one starts."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self.entries: Entries = []
        self._words = 0

    def start(self, test: str) -> None:
        """A test starts."""
        self.entries.append(["test", test])

    def tell(self, word: str, *values: Any) -> None:
        """Something happened; for :attr:`Subject.told`."""
        description = Description(self.folders, use_up=False)
        try:
            with room():
                for each in values:
                    description.add(each)
        except Exception as error:  # noqa: BLE001 - a value that defies description
            description.words.append(type(error).__name__)
        self.add(word, description)

    def add(self, word: str, description: Description) -> None:
        """Something happened that is described already."""
        self._words += len(description.words) + 1
        if self._words > _MOST_WORDS:
            self.entries.append(["…"])
        else:
            self.entries.append([word, *description.words])


def transcripts_differ(ours: Entries, theirs: Entries, tolerance: Tolerance) -> str | None:
    """Where a candidate's transcript differs from the original's; ``None``: nowhere."""
    test = ""
    for one, other in zip(ours, theirs, strict=False):
        if one[:1] == ["test"] == other[:1]:
            test = str(one[-1])
        at = first_difference(one, other, tolerance)
        if at is not None:
            return f"{test}: {_shown(one, at)} instead of {_shown(other, at)}"
        if one == ["…"]:
            return "too much to compare"
    if len(ours) != len(theirs):
        return f"{test}: {len(ours)} things happened instead of {len(theirs)}"
    return None


def _shown(words: Sequence[str], at: int) -> str:
    text = " ".join([words[0], *words[max(1, at - 3) : at + _SHOWN]])
    return text[:200]

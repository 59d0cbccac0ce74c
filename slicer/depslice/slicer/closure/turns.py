"""Turns: what is looked at again, in its order, when something has changed that it depends on.

What has changed is told by lists that only grow, each to all who listen (:class:`News`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Entry = TypeVar("_Entry")


class News(Generic[_Entry]):
    """What a list, which only grows, has got since somebody last looked."""

    def __init__(self, log: list[_Entry]) -> None:
        self._log = log
        self._seen = len(log)

    def take(self) -> list[_Entry]:
        """What is new, once."""
        new = self._log[self._seen :]
        self._seen += len(new)
        return new


class Turns(Generic[_Key]):
    """An order of keys, and those of them that are awake.

    A large slice looks at ten thousand things in each of a thousand rounds; here at those alone
    that may have changed, in the order in which a walk through all would come to them.
    """

    def __init__(self) -> None:
        self._places: dict[_Key, int] = {}
        self._keys: list[_Key] = []
        self._awake: set[_Key] = set()

    def __len__(self) -> int:
        return len(self._keys)

    def place(self, key: _Key) -> int:
        """The place of ``key``: the last, if it has none."""
        place = self._places.setdefault(key, len(self._keys))
        if place == len(self._keys):
            self._keys.append(key)
        return place

    def wake(self, keys: Iterable[_Key]) -> None:
        """Look at ``keys``, which have their places, again."""
        self._awake.update(keys)

    def due(self, hear: Callable[[], None]) -> Iterator[_Key]:
        """Those that are awake, each once; ``hear`` wakes what has changed before each turn.

        What wakes when its turn is over, or during it, waits for the next time.
        """
        later: set[_Key] = set()
        waiting: list[int] = []
        now = -1
        while True:
            hear()
            for key in self._awake:
                if self._places[key] > now:
                    heappush(waiting, self._places[key])
                else:
                    later.add(key)
            self._awake.clear()
            if not waiting:
                break
            turn = heappop(waiting)
            if turn > now:
                now = turn
                yield self._keys[turn]
        self._awake = later

"""Answers that depend on each other in circles: modules that import each other's names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sized
from typing import Final, Generic, TypeVar

_PASSES_EACH: Final = 3
"""Each pass brings what is known one answer on; where one makes another shrink, no more than these."""

_Key = TypeVar("_Key", bound=Hashable)
_Answer = TypeVar("_Answer", bound=Sized)


class Circular(Generic[_Key, _Answer]):
    """Answers to keys by ``find``, which asks for others, and in a circle for its own.

    What stands in a circle is asked until nothing grows, from ``nothing`` on (the least fixed
    point, as of strongly connected components: Tarjan 1972). So an answer is the same whatever
    was asked before; one that was made while another was under way would lack what that has.
    """

    def __init__(self, find: Callable[[_Key], _Answer], nothing: _Answer) -> None:
        self._find = find
        self._nothing = nothing
        self._known: dict[_Key, _Answer] = {}
        self._guesses: dict[_Key, _Answer] = {}  # of those under way, the first asked first
        self._places: dict[_Key, int] = {}  # of these, by their order
        self._lowest = 0  # the first of those under way that the last answer depends on

    def answer(self, key: _Key) -> _Answer:
        """What is found for ``key``, which is known from then on."""
        known = self._known.get(key)
        if known is not None:
            return known
        if key in self._guesses:
            self._lowest = min(self._lowest, self._places[key])
            return self._guesses[key]
        place = len(self._guesses)
        outer = self._lowest if place else 0
        self._lowest = self._places[key] = place
        self._guesses[key] = self._nothing
        try:
            found = self._guesses[key] = self._find(key)
            if self._lowest >= place:
                self._conclude(place)
                found = self._known[key]
                self._lowest = place
        except BaseException:
            self._forget(place)
            raise
        if place:
            self._lowest = min(outer, self._lowest)
        return found

    def _conclude(self, place: int) -> None:
        """Ask those from ``place`` on until nothing grows: only they depend on each other."""
        circle = [*self._guesses][place:]
        if len(circle) > 1:
            for each in circle:
                self._guesses[each] = self._nothing
        passes = 0
        while len(circle) > 1 and passes < _PASSES_EACH * len(circle):
            passes += 1
            found = {each: self._find(each) for each in circle}
            met = [*self._guesses][place:]
            grown = len(met) > len(circle) or any(
                len(found[each]) != len(self._guesses[each]) for each in circle
            )
            self._guesses.update(found)
            circle = met
            if not grown:
                break
        for each in circle:
            self._known[each] = self._guesses[each]
        self._forget(place)

    def _forget(self, place: int) -> None:
        for each in [*self._guesses][place:]:
            del self._guesses[each], self._places[each]

"""Token budgets: step forms down, farthest item first, before leaving anything out.

The farthest is the one least likely to run: each reference on the way to it counts, a possible one
as several (:meth:`~depslice.slicer.closure.Closure.remoteness`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import replace

from depslice.callgraph.program import Program
from depslice.slicer.assemble import make_cuts
from depslice.slicer.closure import Closure
from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.model import Item, Omitted, Slice
from depslice.slicer.render import cut_file
from depslice.slicer.tokens import Tokenizer

Without = Callable[[frozenset[str], Mapping[str, Form]], Slice]
"""Slices again without some items, and shows some in smaller forms."""


def slice_size(found: Slice, tokenizer: Tokenizer) -> int:
    """The tokens of the slice's files."""
    return sum(tokenizer.count(cut_file(cut)) for cut in found.cuts)


class BudgetFitter:
    """Fits one slice to any number of budgets; what is measured for one serves the next."""

    def __init__(
        self,
        program: Program,
        closure: Closure,
        found: Slice,
        *,
        without: Without,
        tokenizer: Tokenizer,
    ) -> None:
        self._program = program
        self._pieces_of = closure.pieces_of
        self._closure = closure
        self._found = found
        self._slice_without = without
        self._tokenizer = tokenizer
        remote = closure.remoteness()
        self._outermost = sorted(
            (item for item in reversed(found.items) if not item.is_target),
            key=lambda item: -remote.get(item.symbol.id, item.distance),
        )
        self._files = [_FileSizes(cut, tokenizer) for cut in found.cuts]
        self._place_items()
        self._smaller: dict[int, Slice] = {}
        self._sizes: dict[int, int] = {}

    def fit(self, budget: int) -> tuple[Slice, int]:
        """The slice, with its farthest items in smaller forms until it fits; and its tokens.

        Forms step down ``full`` -> ``signature`` -> ``name`` from the farthest item inwards,
        each step on all of them before the next; then whole items are left out and listed.
        Targets stay whole whatever the budget, which may therefore be missed.
        """
        if (size := self.size()) <= budget:
            return self._found, size
        every = len(self._outermost)
        count = least_that_fits(every, lambda k: self.size(signatures=k), budget)
        if (size := self.size(signatures=count)) <= budget:
            return self.in_forms(signatures=count), size
        count = least_that_fits(every, lambda k: self.size(signatures=every, names=k), budget)
        if (size := self.size(signatures=every, names=count)) <= budget or not every:
            return self.in_forms(signatures=every, names=count), size
        kept = most_that_fit(every - 1, lambda kept: self._size_without(every - kept), budget)
        return self._listed(self._without(every - kept)), self._size_without(every - kept)

    def size(self, *, signatures: int = 0, names: int = 0) -> int:
        """The tokens when so many of the farthest items are no more than their form."""
        return sum(file.size(signatures, names) for file in self._files)

    def least(self) -> int:
        """The tokens of the targets alone, which no budget makes smaller."""
        return self._size_without(len(self._outermost)) if self._outermost else self.size()

    def in_forms(self, *, signatures: int = 0, names: int = 0) -> Slice:
        """The slice with so many of its farthest items shown smaller; ``names`` wins."""
        # Each has its form, `full` too: otherwise members would step down with their class.
        forms = {item.symbol.id: Form.FULL for item in self._found.items}
        forms |= {item.symbol.id: Form.SIGNATURE for item in self._outermost[:signatures]}
        forms |= {item.symbol.id: Form.NAME for item in self._outermost[:names]}
        items = tuple(replace(item, form=forms[item.symbol.id]) for item in self._found.items)
        return replace(
            self._found, items=items, cuts=make_cuts(self._program, self._closure, forms)
        )

    @property
    def outermost(self) -> tuple[Item, ...]:
        """The items in the order in which they step down."""
        return tuple(self._outermost)

    def _place_items(self) -> None:
        by_module = {file.cut.module: file for file in self._files}
        targets = [item for item in self._found.items if item.is_target]
        for place, item in enumerate((*self._outermost, *targets)):
            for name, index in self._pieces_of.get(item.symbol.id, ()):
                module = self._program.module(name)
                file = by_module.get(name)
                if module is not None and file is not None:
                    file.add(place, module.summary.pieces[index].path)

    def _without(self, count: int) -> Slice:
        """The slice without its ``count`` farthest items, all that is left in form ``name``."""
        found = self._smaller.get(count)
        if found is None:
            ids = [item.symbol.id for item in self._outermost]
            forms = {item.symbol.id: Form.FULL for item in self._found.items}
            forms.update(dict.fromkeys(ids, Form.NAME))
            found = self._slice_without(frozenset(ids[:count]), forms)
            self._smaller[count] = found
            self._sizes[count] = slice_size(found, self._tokenizer)
        return found

    def _size_without(self, count: int) -> int:
        self._without(count)
        return self._sizes[count]

    def _listed(self, smaller: Slice) -> Slice:
        """``smaller`` with what the budget has cost."""
        kept = {item.symbol.id for item in smaller.items}
        before = self._found.omitted
        return replace(
            smaller,
            omitted=(
                *before,
                *(each for each in smaller.omitted if each not in before),
                *(
                    Omitted(symbol=item.symbol.id, why="budget", distance=item.distance)
                    for item in self._found.items
                    if item.symbol.id not in kept
                ),
            ),
        )


class _FileSizes:
    """The sizes of one file, by how many of its items step down."""

    def __init__(self, cut: FileCut, tokenizer: Tokenizer) -> None:
        self.cut = cut
        self._tokenizer = tokenizer
        self._places: list[int] = []  # in the order in which items step down
        self._paths: list[StatementPath] = []
        self._known: dict[tuple[int, int], int] = {}

    def add(self, place: int, path: StatementPath) -> None:
        """The item at ``place`` has a statement at ``path``; places come in order."""
        self._places.append(place)
        self._paths.append(path)

    def size(self, signatures: int, names: int) -> int:
        """The tokens when items of places below these are shown in these forms."""
        state = (bisect_left(self._places, signatures), bisect_left(self._places, names))
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = self._measured(*state)
        return known

    def _measured(self, signatures: int, names: int) -> int:
        smaller = max(signatures, names)
        forms = {
            path: Form.NAME if i < names else Form.SIGNATURE if i < smaller else Form.FULL
            for i, path in enumerate(self._paths)
            if path in self.cut.keep
        }
        cut = replace(self.cut, forms=forms) if smaller else self.cut
        return self._tokenizer.count(cut_file(cut))


def least_that_fits(count: int, size: Callable[[int], int], budget: int) -> int:
    """The least number below ``count`` of which the size fits, else ``count``.

    Sizes fall as items step down.
    """
    if size(count) > budget:
        return count
    return 0 if size(0) <= budget else _crossing(0, count, size, budget)


def most_that_fit(count: int, size: Callable[[int], int], budget: int) -> int:
    """The greatest number up to ``count`` of which the size fits, else 0: more is ever larger.

    Little is tried first, then twice as much: each trial grows a slice anew, and budgets that
    make it drop items are small beside the slices that they are asked of.
    """
    low, beyond = 0, 1
    while size(min(beyond, count)) <= budget:
        if beyond >= count:
            return count
        low, beyond = beyond, beyond * 2
    return _crossing(min(beyond, count), low, size, budget)


def _crossing(too_large: int, fits: int, size: Callable[[int], int], budget: int) -> int:
    """The last number that fits on the way from one that does to one that is too large.

    Sizes are dear and grow evenly: every other guess interpolates (regula falsi), so that
    few are measured; those between halve what is left.
    """
    halve = False
    while abs(too_large - fits) > 1:
        guess = (too_large + fits) // 2
        if not halve:
            above, below = size(too_large), size(fits)
            share = (above - budget) / (above - below) if above > below else 0.5
            guess = round(too_large + share * (fits - too_large))
            nearest, farthest = sorted((too_large, fits))
            guess = min(max(guess, nearest + 1), farthest - 1)
        halve = not halve
        if size(guess) <= budget:
            fits = guess
        else:
            too_large = guess
    return fits

"""Token budgets: from the farthest item inwards, forms step down, then items are left out.

The farthest is the one least likely to run: each reference on the way to it counts, a possible one
as several (:meth:`~depslice.slicer.closure.Closure.remoteness`). Each form follows the one
before at a distance: where *x* of all items are shown in less than ``full``, it is *x* to the power
of 2 in less than ``signature``, and to the power of 8 that are left out. So the nearest are read in
full whatever the budget, where one form for all would leave no body but the target's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from depslice.callgraph.program import Program
from depslice.slicer.assemble import assemble, make_cuts
from depslice.slicer.closure import Closure
from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.model import Item, Omitted, RenderedFile, Slice
from depslice.slicer.reduced import reduce_closure
from depslice.slicer.render import cut_file
from depslice.slicer.render.bundle import render_bundle
from depslice.slicer.tokens import Tokenizer

_NAMES: Final = 2
_OUT: Final = 8
"""Powers: names are cheap, so that far more can be told of than is left out for their sake.

Of what ran when a target did, a smaller one of the second shows a little more in full, and far less
at all (``benchmarks/ranking.py``).
"""
_FINER: Final = 8
"""Steps for each item: each form is left at another step, even where there are few items."""
_ENOUGH: Final = 0.95
"""The share of a budget that is good enough."""


def files_size(files: Sequence[RenderedFile], tokenizer: Tokenizer) -> int:
    """The tokens of the files under their paths, as a bundle shows them; never fewer."""
    return sum(
        tokenizer.count(f"{render_bundle((file,))}\n") for file in files if file.text.strip()
    )


def slice_size(found: Slice, tokenizer: Tokenizer) -> int:
    """The tokens of the slice's files; see :func:`files_size`."""
    return sum(_cut_size(cut, tokenizer) for cut in found.cuts)


def _cut_size(cut: FileCut, tokenizer: Tokenizer) -> int:
    return files_size((RenderedFile(path=cut.path, text=cut_file(cut)),), tokenizer)


class _State(NamedTuple):
    """How many of the farthest items are no more than a signature, than a name; left out."""

    signatures: int = 0
    names: int = 0
    out: int = 0


class BudgetFitter:
    """Fits one slice to any number of budgets; what is measured for one serves the next."""

    def __init__(
        self,
        program: Program,
        closure: Closure,
        found: Slice,
        *,
        tokenizer: Tokenizer,
    ) -> None:
        self._program = program
        self._pieces_of = closure.pieces_of
        self._closure = closure
        self._found = found
        self._tokenizer = tokenizer
        remote = closure.remoteness()
        self._outermost = sorted(
            (item for item in reversed(found.items) if not item.is_target),
            key=lambda item: -remote.get(item.symbol.id, item.distance),
        )
        self._steps = _FINER * len(self._outermost)
        self._files = [_FileSizes(cut, tokenizer) for cut in found.cuts]
        self._place_items()
        self._smaller: dict[_State, tuple[Slice, int]] = {}

    def fit(self, budget: int) -> tuple[Slice, int]:
        """The slice, with its farthest items in smaller forms or left out; and its tokens.

        Targets stay whole whatever the budget, which may therefore be missed.
        """
        step = least_that_fits(self._steps, self._size_after, budget)
        if not (state := self._after(step)).out:
            return self.in_forms(state.signatures, state.names), self.size(*state)
        found, size = self._without(self._after(self._near(step, budget)))
        return self._listed(found), size

    def _near(self, step: int, budget: int) -> int:
        """The first step near ``step`` that fits when items are really left out, or fits well.

        Their imports are gone then, too, and what is around others may be there still.
        """

        def size(at: int) -> int:
            return self._without(self._after(at))[1]

        enough = _ENOUGH * budget
        too_large, stride = step - 1, 1
        if size(step) > budget:
            while size(step) > budget and step < self._steps:
                too_large, step, stride = step, min(step + stride, self._steps), 2 * stride
        else:
            while size(step) < enough and too_large >= 0 and size(too_large) <= budget:
                stride *= 2
                too_large, step = too_large - stride, too_large
            too_large = max(too_large, -1)
        while size(step) < enough and step - too_large > 1:
            between = (too_large + step) // 2
            if size(between) > budget:
                too_large = between
            else:
                step = between
        return step

    def size(self, signatures: int = 0, names: int = 0, out: int = 0) -> int:
        """The tokens when so many of the farthest items are no more than their form, or less.

        Where some are left out, at most so many: what only they need is still there.
        """
        return sum(file.size(_State(signatures, names, out)) for file in self._files)

    def least(self) -> int:
        """The tokens of the targets alone, which no budget makes smaller."""
        every = len(self._outermost)
        return self._without(_State(every, every, every))[1] if every else self.size()

    def in_forms(self, signatures: int = 0, names: int = 0) -> Slice:
        """The slice with so many of its farthest items shown smaller; ``names`` wins."""
        if not signatures and not names:
            return self._found
        forms = self._forms(_State(signatures, names))
        items = tuple(replace(item, form=forms[item.symbol.id]) for item in self._found.items)
        return replace(
            self._found, items=items, cuts=make_cuts(self._program, self._closure, forms)
        )

    @property
    def outermost(self) -> tuple[Item, ...]:
        """The items in the order in which they step down."""
        return tuple(self._outermost)

    def _forms(self, state: _State) -> dict[str, Form]:
        # Each has its form, `full` too: otherwise members would step down with their class.
        forms = {item.symbol.id: Form.FULL for item in self._found.items}
        forms |= {item.symbol.id: Form.SIGNATURE for item in self._outermost[: state.signatures]}
        return forms | {item.symbol.id: Form.NAME for item in self._outermost[: state.names]}

    def _after(self, step: int) -> _State:
        """How far items have stepped down after so many steps, of all that there are."""
        every, share = len(self._outermost), step / max(self._steps, 1)
        names, out = (round(share**power * every) for power in (_NAMES, _OUT))
        return _State(round(share * every), names, out)

    def _size_after(self, step: int) -> int:
        return self.size(*self._after(step))

    def _place_items(self) -> None:
        by_module = {file.cut.module: file for file in self._files}
        targets = [item for item in self._found.items if item.is_target]
        for place, item in enumerate((*self._outermost, *targets)):
            for name, index in self._pieces_of.get(item.symbol.id, ()):
                module = self._program.module(name)
                file = by_module.get(name)
                if module is not None and file is not None:
                    file.add(place, module.summary.pieces[index].path)

    def _without(self, state: _State) -> tuple[Slice, int]:
        """The slice without its farthest items, the others in their forms; and its tokens."""
        found = self._smaller.get(state)
        if found is None:
            out = {item.symbol.id for item in self._outermost[: state.out]}
            forms = self._forms(state)
            left = reduce_closure(
                self._program, self._closure, self._closure.distances.keys() - out, forms
            )
            smaller = assemble(self._program, left, self._found.targets, forms)
            found = self._smaller[state] = smaller, slice_size(smaller, self._tokenizer)
        return found

    def _listed(self, smaller: Slice) -> Slice:
        """``smaller`` with what the budget has cost."""
        kept = {item.symbol.id for item in smaller.items}
        cut = [
            Omitted(symbol=item.symbol.id, why="budget", distance=item.distance)
            for item in self._found.items
            if item.symbol.id not in kept
        ]
        listed = {each.symbol: each for each in (*smaller.omitted, *self._found.omitted, *cut)}
        return replace(smaller, omitted=tuple(listed.values()))


class _FileSizes:
    """The sizes of one file, by how many of its items step down."""

    def __init__(self, cut: FileCut, tokenizer: Tokenizer) -> None:
        self.cut = cut
        self._tokenizer = tokenizer
        self._places: list[int] = []  # in the order in which items step down
        self._paths: list[StatementPath] = []
        self._known: dict[_State, int] = {}

    def add(self, place: int, path: StatementPath) -> None:
        """The item at ``place`` has a statement at ``path``; places come in order."""
        self._places.append(place)
        self._paths.append(path)

    def size(self, state: _State) -> int:
        """The tokens when items of places below these are shown in these forms, or left out."""
        here = _State(*(bisect_left(self._places, places) for places in state))
        known = self._known.get(here)
        if known is None:
            known = self._known[here] = self._measured(here)
        return known

    def _measured(self, state: _State) -> int:
        smaller = max(state)
        keep = self._kept(state.out) if state.out else self.cut.keep
        forms = {
            path: Form.NAME if i < state.names else Form.SIGNATURE if i < smaller else Form.FULL
            for i, path in enumerate(self._paths)
            if path in keep
        }
        cut = replace(self.cut, keep=keep, forms=forms) if smaller else self.cut
        return _cut_size(cut, self._tokenizer)

    def _kept(self, out: int) -> frozenset[StatementPath]:
        """The statements that are left, and those that they stand in."""
        left_out = frozenset(self._paths[:out]).difference(self._paths[out:])
        kept = self.cut.keep - left_out
        around = {path[:end] for path in kept for end in range(2, len(path), 2)}
        return kept | (around & left_out)


def least_that_fits(count: int, size: Callable[[int], int], budget: int) -> int:
    """The least number below ``count`` of which the size fits, else ``count``.

    Sizes fall as items step down, but for what is shorter than its name (``A = 0``).
    """
    if size(count) > budget:
        return count
    return 0 if size(0) <= budget else _crossing(0, count, size, budget)


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

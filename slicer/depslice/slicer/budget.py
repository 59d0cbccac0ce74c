"""Token budgets: from the target outwards, items come in, then grow: name, signature, full.

The nearest comes first: the one most likely to run. Each reference on the way to it counts, a
possible one as several (:meth:`~depslice.slicer.closure.Closure.remoteness`). Each form follows the
one before at a distance: where *x* of all items are shown in less than ``full``, it is *x* to the
power of 2 in less than ``signature``, and to the power of 8 that are left out. So the nearest are
read in full whatever the budget, where one form for all would leave no body but the target's.

What is large waits until it is no more than a share of all that is shown: else it would take the
room of all that comes next, or leave room that nobody takes. The order is the same for every
budget, and a budget is how far one goes in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from depslice.callgraph.program import Module, Program
from depslice.slicer.assemble import assemble, make_cuts
from depslice.slicer.closure import Closure
from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.model import Item, Omitted, RenderedFile, Slice
from depslice.slicer.reduced import reduce_closure
from depslice.slicer.render import cut_file
from depslice.slicer.render.bundle import render_bundle
from depslice.slicer.tokens import Tokenizer, count_tokens

_NAMES: Final = 2
_OUT: Final = 8
"""Powers: names are cheap, so that far more can be told of than is left out for their sake.

Of what ran when a target did, a smaller one of the second shows a little more in full, and far less
at all (``benchmarks/ranking.py``).
"""
_FINER: Final = 8
"""Steps for each item: each form is left at another step, even where there are few items."""
_SHARE: Final = 4
"""A larger form has no more than a fourth of what is shown before it."""
_SMALL: Final = 64
"""Tokens that are not worth waiting for."""


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


_Growth = tuple[int, Form]
"""The item at a place, and the form that it is shown in from then on."""


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
        self._remote = remote = closure.remoteness()
        self._outermost = sorted(
            (item for item in reversed(found.items) if not item.is_target),
            key=lambda item: -remote.get(item.symbol.id, item.distance),
        )
        self._files = {cut.module: _FileSizes(cut, tokenizer) for cut in found.cuts}
        self._place_items()
        self._order: list[_Growth] = []
        self._all_in = 0
        self._smaller: dict[int, tuple[Slice, int]] = {}

    def fit(self, budget: int) -> tuple[Slice, int]:
        """The slice, with its farthest items in smaller forms or left out; and its tokens.

        Targets stay whole whatever the budget, which may therefore be missed.
        """
        if self.size() <= budget:
            return self._found, self.size()
        self._put_in_order()
        every = len(self._order)
        steps = least_that_fits(every, lambda step: self._size_after(every - step), budget)
        grown = every - steps
        if grown >= self._all_in:
            forms = self._forms(grown)
            items = tuple(replace(item, form=forms[item.symbol.id]) for item in self._found.items)
            cuts = make_cuts(self._program, self._closure, forms)
            return replace(self._found, items=items, cuts=cuts), self._size_after(grown)
        found, size = self._without(every - self._near(steps, budget))
        return self._listed(found), size

    def _near(self, step: int, budget: int) -> int:
        """The first step near ``step`` that fits when items are really left out.

        Steps lead back from all. The imports of what is left out are gone then, too, and what is
        around others may be there still.
        """
        every = len(self._order)

        def size(at: int) -> int:
            return self._without(every - at)[1]

        too_large, stride = step - 1, 1
        if size(step) > budget:
            while size(step) > budget and step < every:
                too_large, step, stride = step, min(step + stride, every), 2 * stride
        else:
            while too_large >= 0 and size(too_large) <= budget:
                stride *= 2
                too_large, step = too_large - stride, too_large
            too_large = max(too_large, -1)
        while step - too_large > 1:
            between = (too_large + step) // 2
            if size(between) > budget:
                too_large = between
            else:
                step = between
        return step

    def size(self, form: Form = Form.FULL) -> int:
        """The tokens when all items but the targets are shown in this form."""
        return sum(file.size_in(form) for file in self._files.values())

    def least(self) -> int:
        """The tokens of the targets alone, which no budget makes smaller."""
        return self._without(0)[1] if self._outermost else self.size()

    @property
    def outermost(self) -> tuple[Item, ...]:
        """The items, the farthest first."""
        return tuple(self._outermost)

    # --- the order in which items come in and grow

    def _put_in_order(self) -> None:
        """Find it, once."""
        if self._order:
            return
        costs = _Costs(self._program, self._closure)
        shown: dict[int, Form] = {}
        total = sum(costs.of(item, Form.FULL) for item in self._found.items if item.is_target)
        waiting: list[_Growth] = []
        least = 0  # tokens that the smallest of those that wait asks for

        def cost(growth: _Growth) -> int:
            place, form = growth
            item = self._outermost[place]
            before = costs.of(item, shown[place]) if place in shown else 0
            return costs.of(item, form) - before

        for growth in self._by_distance():
            waiting.append(growth)
            least = min(least, cost(growth)) if len(waiting) > 1 else cost(growth)
            if least > max(_SMALL, total // _SHARE):
                continue
            left: list[_Growth] = []
            held: set[int] = set()
            for each in waiting:
                room = max(_SMALL, total // _SHARE)
                if each[0] in held or (each[0] in shown and cost(each) > room):
                    held.add(each[0])
                    left.append(each)
                    continue
                total += cost(each)
                shown[each[0]] = each[1]
                self._order.append(each)
            waiting = left
            least = min(map(cost, waiting), default=0)
        self._order += waiting
        come = [number for number, (_, form) in enumerate(self._order, 1) if form is Form.NAME]
        self._all_in = max(come, default=0)
        self._deal_out()

    def _deal_out(self) -> None:
        """Tell each file of the growth of its items, all files in one go."""
        files: dict[int, list[_FileSizes]] = {}
        for file in self._files.values():
            for place in file.places():
                files.setdefault(place, []).append(file)
        for number, growth in enumerate(self._order):
            for file in files.get(growth[0], ()):
                file.grow(number, growth)

    def _by_distance(self) -> Iterator[_Growth]:
        """Items in the forms that they grow to, as the distance alone would have it."""
        every, steps = len(self._outermost), _FINER * len(self._outermost)
        limits = [every] * 3
        for step in range(steps - 1, -1, -1):
            share = step / steps
            now = [round(share**power * every) for power in (_OUT, _NAMES, 1)]
            grown = sorted(
                (-place, number)
                for number, (less, more) in enumerate(zip(now, limits, strict=True))
                for place in range(less, more)
            )
            for place, number in grown:
                yield -place, (Form.NAME, Form.SIGNATURE, Form.FULL)[number]
            limits = now

    def _forms(self, grown: int) -> dict[str, Form]:
        """The forms of items after so much growth; those that are left out have none."""
        # Each has its form, `full` too: otherwise members would step down with their class.
        forms = {item.symbol.id: Form.FULL for item in self._found.items if item.is_target}
        for place, form in self._order[:grown]:
            forms[self._outermost[place].symbol.id] = form
        return forms

    def _size_after(self, grown: int) -> int:
        """Where some are left out, at most so many tokens: what only they need is still there."""
        return sum(file.size(grown) for file in self._files.values())

    def _place_items(self) -> None:
        targets = [item for item in self._found.items if item.is_target]
        for place, item in enumerate((*self._outermost, *targets)):
            for name, index in self._pieces_of.get(item.symbol.id, ()):
                module = self._program.module(name)
                if module is not None and name in self._files:
                    path = module.summary.pieces[index].path
                    self._files[name].add(-1 if item.is_target else place, path)

    def _without(self, grown: int) -> tuple[Slice, int]:
        """The slice of the items that have come in, in their forms; and its tokens."""
        found = self._smaller.get(grown)
        if found is None:
            self._put_in_order()
            forms = self._forms(grown)
            out = {item.symbol.id for item in self._outermost}.difference(forms)
            left = reduce_closure(
                self._program,
                self._closure,
                self._closure.distances.keys() - out,
                forms,
                self._remote,
            )
            smaller = assemble(self._program, left, self._found.targets, forms)
            found = self._smaller[grown] = smaller, slice_size(smaller, self._tokenizer)
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


class _Costs:
    """About how many tokens items take in a form, in characters / 4 of their own lines."""

    def __init__(self, program: Program, closure: Closure) -> None:
        self._program = program
        self._pieces_of = closure.pieces_of
        self._lines: dict[str, list[str]] = {}
        self._known: dict[tuple[str, Form], int] = {}

    def of(self, item: Item, form: Form) -> int:
        """The tokens of one item. Of a class, of what stands before its members."""
        key = item.symbol.id, form
        if key not in self._known:
            self._known[key] = self._measured(item, form)
        return self._known[key]

    def _measured(self, item: Item, form: Form) -> int:
        found = 0
        for name, index in self._pieces_of.get(item.symbol.id, ()):
            module = self._program.module(name)
            if module is None:
                continue
            piece = module.summary.pieces[index]
            end = piece.end
            if piece.kind == "class":
                inside = (p.start for p in module.summary.pieces if p.parent == piece.index)
                end = min(inside, default=end + 1) - 1
            lines = self._lines_of(module)[piece.start - 1 : end]
            if form is Form.SIGNATURE and piece.kind == "def":
                lines = _header(lines)
            found += count_tokens("\n".join(lines[:1] if form is Form.NAME else lines))
        return found

    def _lines_of(self, module: Module) -> list[str]:
        if module.name not in self._lines:
            self._lines[module.name] = self._program.text(module).split("\n")
        return self._lines[module.name]


def _header(lines: list[str]) -> list[str]:
    """The lines of a function down to the end of its docstring, as far as lines tell."""
    header = next((n for n, line in enumerate(lines, 1) if line.rstrip().endswith(":")), 1)
    opened = lines[header].strip() if header < len(lines) else ""
    quotes = next((each for each in ('"""', "'''") if each in opened[:4]), "")
    if not quotes or opened.count(quotes) > 1:
        return lines[: header + bool(quotes)]
    closing = (n for n in range(header + 1, len(lines)) if quotes in lines[n])
    return lines[: next(closing, header) + 1]


class _FileSizes:
    """The sizes of one file, by how many of its items have come in and grown."""

    def __init__(self, cut: FileCut, tokenizer: Tokenizer) -> None:
        self.cut = cut
        self._tokenizer = tokenizer
        self._placed: list[tuple[int, StatementPath]] = []
        self._order: list[_Growth] = []  # of the items of this file
        self._numbers: list[int] = []  # of those among all
        self._known: dict[int | Form, int] = {}

    def add(self, place: int, path: StatementPath) -> None:
        """The item at ``place`` has a statement at ``path``; targets are at -1."""
        self._placed.append((place, path))

    def places(self) -> set[int]:
        """Of the items that have a statement here."""
        return {place for place, _ in self._placed}

    def grow(self, number: int, growth: _Growth) -> None:
        """An item of this file grows next, as the ``number``-th of all."""
        self._numbers.append(number)
        self._order.append(growth)

    def size(self, grown: int) -> int:
        """The tokens after so much growth in all files."""
        count = bisect_left(self._numbers, grown)
        known = self._known.get(count)
        if known is None:
            known = self._known[count] = self._measured(dict(self._order[:count]))
        return known

    def size_in(self, form: Form) -> int:
        """The tokens when all items but the targets are shown in this form."""
        known = self._known.get(form)
        if known is None:
            if form is Form.FULL:
                known = _cut_size(self.cut, self._tokenizer)
            else:
                known = self._measured({place: form for place, _ in self._placed if place >= 0})
            self._known[form] = known
        return known

    def _measured(self, shown: Mapping[int, Form]) -> int:
        forms = {
            path: Form.FULL if place < 0 else shown[place]
            for place, path in self._placed
            if place < 0 or place in shown
        }
        out = {path for _, path in self._placed} - forms.keys()
        keep = self.cut.keep - out
        around = {path[:end] for path in keep for end in range(2, len(path), 2)}
        keep |= around & out
        inside = {path: form for path, form in forms.items() if path in keep}
        return _cut_size(replace(self.cut, keep=keep, forms=inside), self._tokenizer)


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

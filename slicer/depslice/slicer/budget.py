"""Token budgets: step forms down, farthest item first, before leaving anything out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from depslice.callgraph.program import Program
from depslice.slicer.assemble import make_cuts
from depslice.slicer.closure import Slicer
from depslice.slicer.cut import Form
from depslice.slicer.model import Item, Omitted, Slice
from depslice.slicer.render import cut_file
from depslice.slicer.tokens import count_tokens

_STEPS = (Form.SIGNATURE, Form.NAME)


def fit_budget(
    program: Program,
    slicer: Slicer,
    found: Slice,
    budget: int,
    without: Callable[[frozenset[str], Mapping[str, Form]], Slice],
) -> Slice:
    """``found`` with the farthest items in smaller forms, until it fits ``budget`` tokens.

    Forms step down ``full`` -> ``signature`` -> ``name`` from the farthest item inwards,
    each step on all of them before the next; then whole items are left out and listed:
    ``without`` slices again without them. Targets stay whole whatever the budget.
    """
    if _size(found) <= budget:
        return found
    outermost = [item for item in reversed(found.items) if not item.is_target]
    forms: dict[str, Form] = {}
    best = found
    for form in _STEPS:
        low, high = 0, len(outermost)
        while low < high:  # sizes fall with the number of items that step down
            middle = (low + high) // 2
            candidate = _with_forms(
                program, slicer, found, {**forms, **_first(outermost, middle, form)}
            )
            if _size(candidate) <= budget:
                high = middle
            else:
                low = middle + 1
        forms.update(_first(outermost, low, form))
        best = _with_forms(program, slicer, found, forms)
        if _size(best) <= budget:
            return best
    return _leave_out(found, outermost, budget, without, forms)


def _first(items: list[Item], count: int, form: Form) -> dict[str, Form]:
    return {item.symbol.id: form for item in items[:count]}


def _with_forms(program: Program, slicer: Slicer, found: Slice, forms: dict[str, Form]) -> Slice:
    items = tuple(replace(item, form=forms.get(item.symbol.id, item.form)) for item in found.items)
    return replace(found, items=items, cuts=make_cuts(program, slicer, forms))


def _size(found: Slice) -> int:
    return sum(count_tokens(cut_file(cut)) for cut in found.cuts)


def _leave_out(
    found: Slice,
    outermost: list[Item],
    budget: int,
    without: Callable[[frozenset[str], Mapping[str, Form]], Slice],
    forms: Mapping[str, Form],
) -> Slice:
    """The slice without its farthest items: as few of them as the budget asks for."""
    low, high = 1, len(outermost)
    best = without(frozenset(item.symbol.id for item in outermost), forms)
    while low < high:
        middle = (low + high) // 2
        candidate = without(frozenset(item.symbol.id for item in outermost[:middle]), forms)
        if _size(candidate) <= budget:
            high, best = middle, candidate
        else:
            low = middle + 1
    kept = {item.symbol.id for item in best.items}
    return replace(
        best,
        omitted=(
            *found.omitted,
            *(each for each in best.omitted if each not in found.omitted),
            *(
                Omitted(symbol=item.symbol.id, why="budget", distance=item.distance)
                for item in found.items
                if item.symbol.id not in kept
            ),
        ),
    )

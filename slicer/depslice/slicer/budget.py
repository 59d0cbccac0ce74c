"""Token budgets: step forms down, farthest item first, before leaving anything out."""

from __future__ import annotations

from dataclasses import replace

from depslice.callgraph.program import Program
from depslice.slicer.assemble import make_cuts
from depslice.slicer.closure import Slicer
from depslice.slicer.cut import Form
from depslice.slicer.model import Item, Omitted, Slice
from depslice.slicer.render import cut_file
from depslice.slicer.tokens import count_tokens

_STEPS = (Form.SIGNATURE, Form.NAME)


def fit_budget(program: Program, slicer: Slicer, found: Slice, budget: int) -> Slice:
    """``found`` with the farthest items in smaller forms, until it fits ``budget`` tokens.

    Forms step down ``full`` -> ``signature`` -> ``name`` from the farthest item inwards,
    each step on all of them before the next; then items in form ``name`` that nothing kept
    defines itself by are left out and listed. Targets stay whole whatever the budget.
    """
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
    return _leave_out(program, slicer, best, forms, outermost, budget)


def _first(items: list[Item], count: int, form: Form) -> dict[str, Form]:
    return {item.symbol.id: form for item in items[:count]}


def _with_forms(program: Program, slicer: Slicer, found: Slice, forms: dict[str, Form]) -> Slice:
    items = tuple(replace(item, form=forms.get(item.symbol.id, item.form)) for item in found.items)
    return replace(found, items=items, cuts=make_cuts(program, slicer, forms))


def _size(found: Slice) -> int:
    return sum(count_tokens(cut_file(cut)) for cut in found.cuts)


def _leave_out(
    program: Program,
    slicer: Slicer,
    found: Slice,
    forms: dict[str, Form],
    outermost: list[Item],
    budget: int,
) -> Slice:
    """Drop whole items, farthest first; what remains may name them, and they are listed."""
    dropped: list[str] = []
    for item in outermost:
        if _size(found) <= budget:
            break
        dropped.append(item.symbol.id)
        for key in slicer.result.pieces_of.pop(item.symbol.id, {}):
            slicer.result.kept.pop(key, None)
        found = replace(found, cuts=make_cuts(program, slicer, forms))
    gone = set(dropped)
    return replace(
        found,
        items=tuple(item for item in found.items if item.symbol.id not in gone),
        omitted=(
            *found.omitted,
            *(
                Omitted(symbol=item.symbol.id, why="budget", distance=item.distance)
                for item in found.items
                if item.symbol.id in gone
            ),
        ),
    )

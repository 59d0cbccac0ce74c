"""What a report shows, as plain values: definitions, references, forms at each budget, sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from depslice.callgraph.model import Certainty
from depslice.callgraph.program import Program
from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.explaining import SourceLines
from depslice.slicer.memory import key_of, recall, remember
from depslice.slicer.model import Item, Step
from depslice.slicer.pieces import enclosing_pieces
from depslice.slicer.render import cut_file
from depslice.slicer.tokens import ESTIMATE
from depslice.slicer.tradeoff import Measured, default_budgets, measure
from depslice.slicer.tradeoff_forms import point_counts

# Stops of the budget slider: each so many times the one before. Where it takes long to fit
# a slice, those that the tradeoff has measured anyway.
_FINE: Final = 2**0.5
_COARSE: Final = 2.0
_LARGE: Final = 600
_LETTERS: Final = {Form.FULL: "f", Form.SIGNATURE: "s", Form.NAME: "n"}


def report_of(
    program: Program,
    target: str,
    *,
    tokenizer: str = ESTIMATE,
    whole_classes: bool = False,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """What :func:`~depslice.slicer.report.page.render_report` shows of the slice of ``target``.

    ``items`` refer to each other by their place: ``parent`` is the item that ``reason``
    starts from, ``edges`` are ``[source, target, kind, possible]``. ``stops`` are budgets,
    least first, with a letter for each item: ``f``, ``s``, ``n`` for its form, ``-`` for
    left out. Recalled if an earlier run has found it in files that have not changed.

    Raises what :func:`~depslice.slicer.tradeoff.tradeoff_of` raises.
    """
    key = key_of(program, ("report", target, tokenizer, whole_classes))
    known: dict[str, Any] | None = recall(program, key)
    if known is not None:
        return known
    measured = measure(
        program,
        target,
        tokenizer=tokenizer,
        whole_classes=whole_classes,
        sparse=True,
        progress=progress,
    )
    if progress is not None:
        progress("definitions")
    data = _gathered(program, measured)
    remember(program, key, data)
    return data


def _gathered(program: Program, measured: Measured) -> dict[str, Any]:
    found, tradeoff = measured.found, measured.tradeoff
    places = {item.symbol.id: place for place, item in enumerate(found.items)}
    texts, lines = _Texts(program, measured), SourceLines(program)
    return {
        "target": tradeoff.target,
        "tokenizer": tradeoff.tokenizer,
        "tokens": tradeoff.tokens,
        "items": [_item(item, places, texts, lines) for item in found.items],
        "edges": _edges(measured, places),
        "stops": _stops(measured),
        "tradeoff": [point_counts(point) for point in tradeoff.points],
        "unresolved": [
            [each.source, each.name, each.reason, each.site.line] for each in found.unresolved
        ],
        "externals": sorted({each.module for each in found.externals}),
    }


def _item(item: Item, places: dict[str, int], texts: _Texts, lines: SourceLines) -> dict[str, Any]:
    symbol = item.symbol
    step = item.reason[-1] if item.reason else None
    return {
        "id": symbol.id,
        "kind": symbol.kind.value,
        "path": symbol.path,
        "line": symbol.span.start,
        "distance": item.distance,
        "parent": None if step is None else places.get(step.source),
        "reason": None if step is None else _reason(step, lines),
        "code": {_LETTERS[form]: texts.of(item, form) for form in Form},
    }


def _reason(step: Step, lines: SourceLines) -> list[Any]:
    """``[kind, certainty, evidence, path, line, text]``, the text of that line of source."""
    return [
        *(step.kind.value, step.certainty.value, step.evidence),
        *(step.path, step.site.line, lines.of(step)),
    ]


def _edges(measured: Measured, places: dict[str, int]) -> list[list[Any]]:
    edges = [
        [
            places[source],
            places[target],
            demand.kind.value,
            int(demand.certainty is Certainty.POSSIBLE),
        ]
        for (source, target), demand in measured.closure.demands.items()
        if source in places and target in places and source != target
    ]
    return sorted(edges)


def _stops(measured: Measured) -> list[dict[str, Any]]:
    found, fitter = measured.found, measured.fitter
    step = _FINE if len(found.items) <= _LARGE else _COARSE
    stops = []
    for budget in default_budgets(fitter, step=step):
        smaller, tokens = fitter.fit(budget)
        forms = {item.symbol.id: _LETTERS[item.form] for item in smaller.items}
        letters = "".join(forms.get(item.symbol.id, "-") for item in found.items)
        stops.append({"budget": budget, "tokens": tokens, "forms": letters})
    whole = {"budget": None, "tokens": fitter.size(), "forms": "f" * len(found.items)}
    return [*stops, whole]


class _Texts:
    """The text of single definitions, under the bare headers of the classes they stand in."""

    def __init__(self, program: Program, measured: Measured) -> None:
        self._program = program
        self._pieces_of = measured.closure.pieces_of
        self._cuts = {cut.module: cut for cut in measured.found.cuts}

    def of(self, item: Item, form: Form) -> str:
        """The definition in that form; empty for a module, which has no statement."""
        wanted: dict[str, dict[StatementPath, Form]] = {}
        for name, index in self._pieces_of.get(item.symbol.id, ()):
            module = self._program.module(name)
            if module is None or name not in self._cuts:
                continue
            pieces = module.summary.pieces
            forms = wanted.setdefault(name, {})
            forms[pieces[index].path] = form
            for holder in enclosing_pieces(module, pieces[index]):
                forms.setdefault(holder.path, Form.NAME)
        return "\n".join(self._text(self._cuts[name], forms) for name, forms in wanted.items())

    def _text(self, cut: FileCut, forms: dict[StatementPath, Form]) -> str:
        return cut_file(
            FileCut(
                path=cut.path,
                module=cut.module,
                is_package=cut.is_package,
                text=cut.text,
                keep=frozenset(forms),
                forms=forms,
            )
        )

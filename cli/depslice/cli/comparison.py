"""A comparison of the graph with a run, as a table for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from depslice.callgraph.counting import counted

if TYPE_CHECKING:
    from depslice.callgraph.tracing.comparing import Comparison

_EXAMPLES = 5


def comparison_text(comparison: Comparison, *, every: bool) -> str:
    """Scores, recall by kind of call, and missed edges by kind: a few of each, or all."""
    return "\n".join(_lines(comparison, every=every)) + "\n"


def _lines(comparison: Comparison, *, every: bool) -> Iterator[str]:
    with_lines = any(score.at_lines for score in comparison.scores)  # Python 3.11 records none
    head = f"{'certainty':<12}{'recall':>18}{'precision':>20}{'F1':>7}"
    yield head + (f"{'on lines that ran':>22}" if with_lines else "")
    for score in comparison.scores:
        line = (
            f"{score.certainty:<12}"
            f"{_share(score.recall)} {f'({score.found}/{score.real})':>13}"
            f" {_share(score.precision)} {f'({score.seen}/{score.covered})':>14}"
            f"{_share(score.f1):>7}"
        )
        at_lines = f"({score.seen_at_lines}/{score.at_lines})"
        yield line + (f"{_share(score.precision_at_lines):>8} {at_lines:>13}" if with_lines else "")
    names = [score.certainty for score in comparison.scores]
    yield ""
    yield f"{'kind of call':<40}{'edges':>7}" + "".join(f"{name:>10}" for name in names)
    for each in comparison.kinds:
        shares = "".join(f"{_share(each.found[name] / each.real):>10}" for name in names)
        yield f"{each.kind.value:<40}{each.real:>7}{shares}"
    if comparison.through_foreign:
        passing = counted(comparison.through_foreign, "more edge")
        goes = "passes" if comparison.through_foreign == 1 else "pass"
        yield f"\n{passing} {goes} through code outside, such as tests"
    if comparison.unknown:
        unknown = counted(comparison.unknown, "edge")
        yield f"\nunknown here: {unknown} of the trace; has the source changed?"
    yield from _missed(comparison, every=every)


def _missed(comparison: Comparison, *, every: bool) -> Iterator[str]:
    for each in comparison.kinds:
        edges = [edge for edge in comparison.missed if edge.kind is each.kind]
        if not edges:
            continue
        yield f"\nmissed: {each.kind.value} ({len(edges)})"
        for edge in edges if every else edges[:_EXAMPLES]:
            yield f"  {edge.caller} -> {edge.callee}   {edge.path}:{edge.line}"
            yield f"      {edge.text}"
        if not every and len(edges) > _EXAMPLES:
            yield f"  … {len(edges) - _EXAMPLES} more (--verbose shows them)"


def _share(value: float | None) -> str:
    return "    -" if value is None else f"{value:5.3f}"

"""The comparison of a graph with a run, as a table."""

from __future__ import annotations

from depslice.callgraph.tracing.comparing import Comparison, Score
from depslice.cli.comparison import comparison_text


def table(*, at_lines: int, seen_at_lines: int) -> str:
    score = Score(
        certainty="likely",
        real=4,
        found=3,
        covered=5,
        seen=3,
        at_lines=at_lines,
        seen_at_lines=seen_at_lines,
    )
    comparison = Comparison(
        scores=(score,), kinds=(), missed=(), unseen=(), through_foreign=0, unknown=0
    )
    return comparison_text(comparison, every=False)


def test_lines_have_a_column_where_they_were_recorded() -> None:
    """A trace of Python 3.11 has none: the column was there, and empty."""
    [head, row, *_] = table(at_lines=4, seen_at_lines=3).splitlines()
    assert head.endswith("on lines that ran")
    assert row.endswith("0.750         (3/4)")
    [head, row, *_] = table(at_lines=0, seen_at_lines=0).splitlines()
    assert head.split() == ["certainty", "recall", "precision", "F1"]
    assert row.split() == ["likely", "0.750", "(3/4)", "0.600", "(3/5)", "0.667"]

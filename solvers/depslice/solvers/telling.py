"""Scores as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from depslice.solvers.scoring import Estimate, Score

SCHEMA: Final = "depslice.evaluation/1"


def score_table(scores: Sequence[Score]) -> str:
    """A table for people: a row for each solver, costs for each problem and in total.

    ``overfitted``: answers that pass the visible tests and fail the hidden ones.
    """
    return _aligned([COLUMNS, *(score_row(score) for score in scores)])


COLUMNS: Final = (
    *("solver", "context", "problems", "passed", "pass@1 [95 %]", "pass@k", "overfitted"),
    *("no answer", "calls", "programs", "tokens in", "tokens out", "tokens/problem"),
    *("CPU s", "model s", "wall s", "$/problem", "$"),
)


def score_row(score: Score) -> tuple[str, ...]:
    """The cells of :data:`COLUMNS`."""
    usage = score.usage
    others = " ".join(f"@{k} {_shown(e)}" for k, e in score.pass_at.items() if k != 1)
    first = score.pass_at.get(1)
    return (
        score.solver + (" (oracle)" if score.oracle else ""),
        score.strategy or "-",
        f"{score.problems:,}",
        f"{score.passed:,}/{score.attempts:,}",
        _shown(first) if first else "-",
        others or "-",
        f"{score.overfitted:,}",
        f"{score.unanswered:,}",
        f"{usage.calls:,}",
        f"{score.programs:,}",
        f"{usage.input_tokens:,}",
        f"{usage.output_tokens:,}",
        f"{score.tokens / score.problems:,.0f}",
        f"{score.cpu_seconds:,.0f}",
        f"{usage.seconds:,.0f}",
        f"{score.wall_seconds:,.0f}",
        _dollars(usage.dollars, score.problems),
        _dollars(usage.dollars, 1),
    )


def evaluation_document(scores: Iterable[Score]) -> dict[str, Any]:
    """The schema ``depslice.evaluation/1``: see ``docs/formats/json.md``."""
    return {"schema": SCHEMA, "scores": [_document(score) for score in scores]}


def _document(score: Score) -> dict[str, Any]:
    usage = score.usage
    return {
        "solver": score.solver,
        "strategy": score.strategy,
        "model": score.model,
        "problems": score.problems,
        "attempts": score.attempts,
        "passed": score.passed,
        "pass_at": {
            str(k): {"value": e.value, "low": e.low, "high": e.high}
            for k, e in score.pass_at.items()
        },
        "overfitted": score.overfitted,
        "unanswered": score.unanswered,
        "oracle": score.oracle,
        "calls": usage.calls,
        "programs": score.programs,
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "cpu_seconds": round(score.cpu_seconds, 3),
        "model_seconds": round(usage.seconds, 3),
        "wall_seconds": round(score.wall_seconds, 3),
        "dollars": usage.dollars,
    }


def _shown(estimate: Estimate) -> str:
    return f"{estimate.value:.1%} [{estimate.low:.1%}, {estimate.high:.1%}]"


def _dollars(total: float | None, number: int) -> str:
    return "unknown" if total is None else f"{total / number:.4f}"


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if number < 2 else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"

"""What ``depslice harness`` tells: a line for each harness, and the table of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depslice.dataset.model import Made
    from depslice.dataset.summary import Row

_HEAD = (
    "generator", "functions", "valid", "accepted", "branches", "mutants", "rounds",
    "tokens", "dollars", "seconds",
)  # fmt: skip
_REASONS = 2


def made_lines(made: Made, into: Path) -> str:
    """What became of a function and a generator."""
    parts = [f"{made.verdict:<12}", f"{made.generator:<10}", made.target]
    if made.branch_coverage is not None:
        parts.append(f"branches {made.branch_coverage:.0%}")
    if made.mutation_score is not None:
        parts.append(f"mutants {made.mutation_score:.0%}")
    if made.harness:
        parts.append(str(into / made.harness))
    lines = ["  ".join(parts)]
    if made.verdict != "accepted":
        lines += [f"    {slug}: {message}" for slug, message in made.reasons[:_REASONS]]
    return "\n".join(lines) + "\n"


def summary_table(rows: Sequence[Row]) -> str:
    """A row for each generator and context, and below it what stopped the rest."""
    lines = _aligned([_HEAD, *(_cells(row) for row in rows)])
    stopped = [row for row in rows if row.causes]
    if stopped:
        lines += ["", "not accepted, by the first reason:"]
        width = max(len(row.name) for row in stopped)
        lines += [f"  {row.name:<{width}}  {_causes(row.causes)}" for row in stopped]
    return "\n".join(lines) + "\n"


def _causes(causes: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{slug} {number:,}" for slug, number in causes)


def _aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines: the first column to the left, the others to the right."""
    widths = [max(len(line[n]) for line in cells) for n in range(len(cells[0]))]
    return [
        "  ".join(
            [
                f"{first:<{widths[0]}}",
                *(f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)),
            ]
        )
        for first, *rest in cells
    ]


def _cells(row: Row) -> tuple[str, ...]:
    def share(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}"

    return (
        row.name,
        f"{row.functions:,}",
        f"{row.self_equivalent:,}",
        f"{row.accepted:,}",
        share(row.branch_coverage),
        share(row.mutation_score),
        f"{row.rounds:.1f}",
        f"{row.tokens:,}",
        "unknown" if row.dollars is None else f"{row.dollars:.2f}",
        f"{row.seconds:.0f}",
    )

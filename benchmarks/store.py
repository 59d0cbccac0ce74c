"""Results of the benchmarks: one JSON line a package, so that a run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """The file ``<folder>/<check>.jsonl``; the last line of a package counts."""

    folder: Path
    check: str

    @property
    def path(self) -> Path:
        """The file, which need not exist yet."""
        return self.folder / f"{self.check}.jsonl"

    def records(self) -> dict[str, dict[str, Any]]:
        """What is stored, by package. A line cut short by a kill is passed over."""
        found = {}
        for line in self.path.read_text("utf-8").splitlines() if self.path.exists() else ():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            found[record["package"]] = record
        return found

    def append(self, record: dict[str, Any]) -> None:
        """Add a record; it is on the disk when this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, sort_keys=True) + "\n")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, aligned so that it also reads as plain text.

    Numbers are set to the right; floats have two decimals.
    """
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    body = cells[1:]
    right = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(header))]
    rule = ["-" * (width - 1) + (":" if r else "-") for width, r in zip(widths, right, strict=True)]
    lines = []
    for row in (cells[0], rule, *body):
        padded = (
            cell.rjust(width) if r else cell.ljust(width)
            for cell, width, r in zip(row, widths, right, strict=True)
        )
        lines.append("| " + " | ".join(padded) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    text = f"{value:.2f}" if isinstance(value, float) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _is_number(text: str) -> bool:
    return text.strip("-+.,%0123456789 ") in {"", "s", "ms", "MiB"}

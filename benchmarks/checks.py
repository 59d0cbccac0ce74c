"""What every check of `acceptance.py` is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One package to look at, and how."""

    check: str
    package: str
    folder: Path
    sample: int | None
    seed: int
    limit: float
    ruff: str
    python: str

"""What functional tests share: the outcome of a run, and the type of the fixture that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that says what went wrong, and nothing but hints around it."""
        assert "Traceback" not in self.err
        [line] = [line for line in self.err.splitlines() if line.startswith("depslice: ")]
        return line.removeprefix("depslice: ")


Depslice = Callable[..., Done]

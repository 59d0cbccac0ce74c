"""Chain of thought: reasons first, then code (Wei et al. 2022; zero-shot: Kojima et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parent / "templates" / "cot")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOfThought:
    """``shots``: 0, or 2 for two worked examples before the problem."""

    shots: int = 0

    def __post_init__(self) -> None:
        if self.shots not in {0, 2}:
            raise ValueError("shots is 0 or 2")

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        name = "two-shot" if self.shots else "zero-shot"
        return code_of(bench.ask(_PROMPTS.messages(name, problem=bench.problem)), bench.problem)

"""Independent samples, until one passes the visible tests."""

from __future__ import annotations

from dataclasses import dataclass

from depslice.solvers.bench import Bench
from depslice.solvers.methods.direct import WARMEST, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Resample:
    """``budget`` programs at most. Where none passes, the answer is the first of the best."""

    budget: int = 20
    temperature: float = 0.8

    def __post_init__(self) -> None:
        """See that there is something to do.

        :raises ValueError: there is not.
        """
        if self.budget < 1:
            raise ValueError("budget has to be 1 or more")
        if not 0 <= self.temperature <= WARMEST:
            raise ValueError(f"temperature is from 0 to {WARMEST}")

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        best, most = "", -1.0
        for _ in range(self.budget):
            code = write(bench, temperature=self.temperature)
            execution = bench.run(code)
            if execution.passed:
                return code
            if execution.fraction > most:
                best, most = code, execution.fraction
        return best

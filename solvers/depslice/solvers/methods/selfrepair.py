"""Self-repair with an oracle (R2E, section 5.3): the harness that decides says what is wrong.

The only solver that asks for the hidden tests' outcome. It shows what a model can do with
such feedback; its figures are not those of a method that works without.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.methods.direct import write
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parent / "templates" / "selfrepair")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfRepair:
    """``rounds`` of repair at most, after the first program."""

    rounds: int = 5

    @property
    def needs_oracle(self) -> bool:
        """Whether it asks for a verdict."""
        return self.rounds > 0

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        code = write(bench)
        for _ in range(self.rounds):
            verdict = bench.judge(code)
            if verdict.passed:
                break
            prompt = _PROMPTS.messages(
                "repair", problem=bench.problem, code=code, feedback=verdict.feedback
            )
            code = code_of(bench.ask(prompt), bench.problem)
        return code

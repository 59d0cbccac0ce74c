"""Reflexion (Shinn et al. 2023): after a failure, words about it, then another attempt.

As in the comparison of CodeTree (section 4.2), feedback comes from the visible tests, and
each program costs one of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.methods.direct import write
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parent / "templates" / "reflexion")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflexion:
    """``budget`` programs at most; ``memory`` of the last reflections are kept in sight."""

    budget: int = 20
    memory: int = 3

    def __post_init__(self) -> None:
        """See that there is something to do.

        :raises ValueError: there is not.
        """
        if self.budget < 1:
            raise ValueError("budget has to be 1 or more")

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        problem = bench.problem
        code = write(bench)
        reflections: list[str] = []
        for _ in range(self.budget - 1):
            execution = bench.run(code)
            if execution.passed:
                break
            seen = {"problem": problem, "code": code, "feedback": execution.feedback}
            reflections.append(bench.ask(_PROMPTS.messages("reflect", **seen)).strip())
            bench.note("reflection", text=reflections[-1])
            prompt = _PROMPTS.messages("retry", **seen, reflections=_last(reflections, self.memory))
            code = code_of(bench.ask(prompt), problem)
        return code


def _last(reflections: list[str], number: int) -> list[str]:
    return reflections[max(0, len(reflections) - number) :]

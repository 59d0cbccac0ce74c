"""AdaCoder's algorithm 1: an adaptive loop of four agents, two of which are no models.

The Code Evaluator has the sample tests and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.execution.outcome import Execution
from depslice.solvers.methods.adacoder.debugging import imported, repaired
from depslice.solvers.methods.direct import WARMEST, write
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parents[1] / "templates" / "adacoder")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaCoder:
    """``iterations`` is the paper's *t*: so many plans at most, after the first program.

    The ablations: without ``planner`` each program is written without a plan, without
    ``debugger`` nothing is repaired by rule. ``temperature`` is that of the run unless given.
    """

    iterations: int = 5
    planner: bool = True
    debugger: bool = True
    temperature: float | None = None

    def __post_init__(self) -> None:
        """See that a model can be asked so.

        :raises ValueError: none can.
        """
        if self.temperature is not None and not 0 <= self.temperature <= WARMEST:
            raise ValueError(f"temperature is from 0 to {WARMEST}")

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        plan = None
        for iteration in range(self.iterations + 1):
            code = self._programming_assistant(bench, plan)
            execution = bench.run(code)  # the Code Evaluator
            if execution.passed:
                break
            if self.debugger:
                code, execution = debug_specialist(bench, code, execution)
                if execution.passed:
                    break
            if self.planner and iteration < self.iterations:
                plan = self._prompt_engineer(bench, execution)
        return code

    def _programming_assistant(self, bench: Bench, plan: str | None) -> str:
        if plan is None:
            return write(bench, temperature=self.temperature)
        prompt = _PROMPTS.messages("follow", problem=bench.problem, plan=plan)
        return code_of(bench.ask(prompt, temperature=self.temperature), bench.problem)

    def _prompt_engineer(self, bench: Bench, execution: Execution) -> str:
        """A step-by-step plan out of the task and the last error."""
        prompt = _PROMPTS.messages("plan", problem=bench.problem, error=_error(execution))
        plan = bench.ask(prompt, temperature=self.temperature).strip()
        bench.note("plan", text=plan)
        return plan


def debug_specialist(bench: Bench, code: str, execution: Execution) -> tuple[str, Execution]:
    """Algorithm 3: repair by rules, evaluating again; what was repaired, and its outcome."""
    better = repaired(code)
    if better != code:
        bench.note("repaired")
        code, execution = better, bench.run(better)
    while (complete := imported(code, execution.failure)) is not None:
        bench.note("imported", line=complete.partition("\n")[0])
        code, execution = complete, bench.run(complete)
    return code, execution


def _error(execution: Execution) -> str:
    """The first error, as the Prompt Engineer gets it."""
    if execution.failure is None:
        return ""
    failed = next((each.test for each in execution.tried if each.failure), "")
    return "\n".join(filter(None, (failed, execution.failure.text)))

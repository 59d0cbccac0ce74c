"""What attempts say of a solver: pass@k, how sure that is, and what it has cost."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from statistics import mean
from typing import Final

from depslice.llm.port import Usage
from depslice.solvers.running.record import Attempt

_DRAWS: Final = 2_000
_SEED: Final = 20240101
_LEVEL: Final = 0.95


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """The unbiased estimate of Chen et al. 2021 (section 2.1): 1 - C(n-c, k) / C(n, k).

    >>> pass_at_k(10, 3, 1), pass_at_k(2, 1, 2)
    (0.3, 1.0)

    :raises ValueError: there are fewer samples than ``k``.
    """
    if k > samples:
        raise ValueError(f"pass@{k} needs {k} samples, and there are {samples}")
    if samples - correct < k:
        return 1.0
    return round(1.0 - prod(1.0 - k / n for n in range(samples - correct + 1, samples + 1)), 12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean over problems, and the interval that 95 % of bootstrap samples fall into."""

    value: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """The mean with its percentile bootstrap interval: problems are drawn, with replacement.

    The same values give the same interval.
    """
    draw = random.Random(_SEED)  # noqa: S311 - it samples, it hides nothing
    means = sorted(mean(draw.choices(values, k=len(values))) for _ in range(_DRAWS))
    beyond = round((1 - _LEVEL) / 2 * _DRAWS)
    return Estimate(value=mean(values), low=means[beyond], high=means[-1 - beyond])


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A solver on the problems that it was tried on; all figures are of all its attempts.

    ``overfitted`` counts answers that pass the visible tests and fail the hidden ones;
    ``unanswered`` attempts without an answer; ``oracle`` attempts that asked for the
    hidden tests' outcome. ``dollars`` is None where a price is not known.
    """

    solver: str
    strategy: str
    model: str
    problems: int
    attempts: int
    passed: int
    pass_at: Mapping[int, Estimate]
    overfitted: int
    unanswered: int
    oracle: int
    usage: Usage
    programs: int
    cpu_seconds: float
    wall_seconds: float

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.usage.input_tokens + self.usage.output_tokens


def scores(attempts: Iterable[Attempt], *, ks: Sequence[int] = (1,)) -> list[Score]:
    """One score for each solver, context strategy and model, in the order of their attempts.

    pass@k is given for those ``ks`` that every problem has samples enough for.
    """
    groups: defaultdict[tuple[str, str, str], list[Attempt]] = defaultdict(list)
    for each in attempts:
        groups[each.solver, each.strategy, each.model].append(each)
    return [_score(*names, found, ks) for names, found in groups.items()]


def _score(
    solver: str, strategy: str, model: str, attempts: Sequence[Attempt], ks: Sequence[int]
) -> Score:
    by_problem: defaultdict[str, list[bool]] = defaultdict(list)
    for each in attempts:
        by_problem[each.problem].append(each.passed)
    fewest = min(map(len, by_problem.values()))
    return Score(
        solver=solver,
        strategy=strategy,
        model=model,
        problems=len(by_problem),
        attempts=len(attempts),
        passed=sum(each.passed for each in attempts),
        pass_at={
            k: estimate([pass_at_k(len(p), sum(p), k) for p in by_problem.values()])
            for k in sorted(set(ks))
            if k <= fewest
        },
        overfitted=sum(each.visible_passed and not each.passed for each in attempts),
        unanswered=sum(each.answer is None for each in attempts),
        oracle=sum(each.oracle > 0 for each in attempts),
        usage=sum((each.usage for each in attempts), Usage()),
        programs=sum(each.programs for each in attempts),
        cpu_seconds=sum(each.cpu_seconds for each in attempts),
        wall_seconds=sum(each.wall_seconds for each in attempts),
    )

"""One answer, as it comes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parent / "templates")

WARMEST: Final = 2
"""What models take at most: more is refused by all of them, and no attempt."""


def write(bench: Bench, *, temperature: float | None = None) -> str:
    """The code that a model writes when it is shown the problem and nothing else.

    It is the first step of several solvers, which so start from the same program.
    """
    prompt = _PROMPTS.messages("write", problem=bench.problem)
    return code_of(bench.ask(prompt, temperature=temperature), bench.problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """See the module."""

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        return write(bench)

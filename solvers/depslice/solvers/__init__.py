"""Code generation on one bench: problems, solvers, hidden tests, pass@k.

What a solver of another distribution needs is here; see ``docs/solvers.md``.
"""

from __future__ import annotations

from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench, Solver
from depslice.solvers.execution.outcome import Execution, Failure, Tried
from depslice.solvers.problem import Problem, VisibleTest
from depslice.solvers.prompting import Templates

__all__ = [
    "Bench",
    "Execution",
    "Failure",
    "Problem",
    "Solver",
    "Templates",
    "Tried",
    "VisibleTest",
    "code_of",
]

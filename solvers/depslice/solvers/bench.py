"""The one object through which a solver sees its problem, the model, and the visible tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from depslice.prompts.model import Message
from depslice.solvers.execution.outcome import Execution
from depslice.solvers.problem import Problem


class Bench(Protocol):
    """What a solver works with."""

    @property
    def problem(self) -> Problem:
        """The problem, as far as it may be seen."""
        ...

    def ask(self, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """What the model answers; ``temperature`` is that of the run unless it is given."""
        ...

    def run(self, code: str) -> Execution:
        """Try ``code`` on the visible tests."""
        ...

    def judge(self, code: str) -> Execution:
        """Try ``code`` on the hidden tests: for self-repair with an oracle, where it is allowed.

        An answer that used it is counted apart.
        """
        ...

    def note(self, event: str, **what: Any) -> None:
        """Keep a step of the search for the record of the attempt."""
        ...


class Solver(Protocol):
    """A method of code generation: proposes an answer to a problem.

    Found by name: built in, or an entry point of the group ``depslice.solvers``. What is
    found there is called with the options of the solver as keyword arguments. One that always
    asks for a verdict (:meth:`Bench.judge`) has ``needs_oracle``, and is true: it is refused before
    anything is paid where there is none.
    """

    def solve(self, bench: Bench) -> str:
        """The code of the answer."""
        ...

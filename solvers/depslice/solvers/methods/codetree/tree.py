"""The tree: programs, how each came about, and what was decided on it."""

from __future__ import annotations

from dataclasses import dataclass

from depslice.solvers.execution.outcome import Execution


@dataclass(slots=True, kw_only=True)
class Node:
    """A program in the tree.

    ``strategy`` is that of the root it descends from. ``critique`` is the Critic's part of
    the score, from 0 to 1.
    """

    code: str
    execution: Execution
    strategy: str
    parent: Node | None = None
    critique: float = 0.0

    @property
    def depth(self) -> int:
        """1 for a program that implements a strategy, and one more for each rewriting."""
        return 1 if self.parent is None else self.parent.depth + 1

    @property
    def score(self) -> float:
        """The share of visible tests that pass, and the Critic's part (section 3.5)."""
        return self.execution.fraction + self.critique


@dataclass(frozen=True, slots=True, kw_only=True)
class Implement:
    """To do: the Solver implements a strategy."""

    strategy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Debug:
    """To do: the Debugger rewrites a program, with one piece of advice."""

    parent: Node
    advice: str


Step = Implement | Debug


@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The search ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abort:
    """Nothing grows from this node."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refine:
    """Each piece of advice becomes a child."""

    advice: tuple[str, ...]


Decision = Accept | Abort | Refine

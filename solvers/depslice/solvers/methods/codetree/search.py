"""The search of CodeTree (sections 3.4 and 3.5), its variants and its ablations."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from depslice.solvers.bench import Bench
from depslice.solvers.methods.codetree.agents import Critic, Thinker, Writer
from depslice.solvers.methods.codetree.tree import (
    Abort,
    Accept,
    Debug,
    Decision,
    Implement,
    Node,
    Refine,
    Step,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTree:
    """Strategies are implemented, programs that fail are rewritten, until one is accepted.

    Every program costs one of ``budget``. ``width`` limits what the Thinker lists at a
    time, ``depth`` how often one strategy's program is rewritten (1: never). ``search``
    says what comes first: the children of a node (``dfs``) or the nodes that wait (``bfs``).

    Without ``critic`` a program that passes the visible tests is accepted. The ablations:
    ``verification`` (of programs that pass), ``abort`` (where a node is no better than its
    parent) and ``scoring`` (of programs that fail) are done by the Critic, or not.
    """

    budget: int = 20
    depth: int = 3
    width: int = 10
    search: Literal["dfs", "bfs"] = "dfs"
    critic: bool = True
    verification: bool = True
    abort: bool = True
    scoring: bool = True

    def __post_init__(self) -> None:
        """See that there is something to do.

        :raises ValueError: there is not.
        """
        if min(self.budget, self.depth, self.width) < 1:
            raise ValueError("budget, depth and width have to be 1 or more")

    def solve(self, bench: Bench) -> str:
        """See :class:`~depslice.solvers.bench.Solver`."""
        strategies = Thinker(bench).strategies(self.width)
        frontier = deque[Step](Implement(strategy=each) for each in strategies)
        nodes: list[Node] = []
        while frontier and len(nodes) < self.budget:
            node = Writer(bench).write(frontier.popleft())
            nodes.append(node)
            decision = self._decide(bench, node, left=self.budget - len(nodes))
            bench.note(
                "node",
                depth=node.depth,
                passed=node.execution.fraction,
                score=node.score,
                decision=str(decision),
            )
            match decision:
                case Accept():
                    return node.code
                case Abort():
                    continue
                case Refine(advice=advice):
                    children = [Debug(parent=node, advice=each) for each in advice]
            if self.search == "dfs":
                frontier.extendleft(reversed(children))
            else:
                frontier.extend(children)
        return max(nodes, key=lambda node: node.score).code

    def _decide(self, bench: Bench, node: Node, *, left: int) -> Decision:
        if node.execution.passed:
            return self._verified(bench, node)
        if self.critic and self.scoring:
            node.critique = Critic(bench).score(node)
        if node.depth >= self.depth:
            return Abort(why="depth")
        if not left:
            return Abort(why="budget")
        if self.critic and self.abort and node.parent and node.score <= node.parent.score:
            return Abort(why="no better than its parent")
        return Refine(advice=Thinker(bench).reflections(node, self.width))

    def _verified(self, bench: Bench, node: Node) -> Decision:
        """On a program that passes: the review of one that is not accepted is its advice."""
        if not (self.critic and self.verification):
            return Accept()
        review = Critic(bench).verify(node)
        node.critique = review.score
        if review.accepted:
            return Accept()
        if node.depth >= self.depth:
            return Abort(why="depth")
        return Refine(advice=(review.text,))

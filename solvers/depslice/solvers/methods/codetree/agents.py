"""The four agents of CodeTree: one prompt for each thing that they do (section 3)."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.prompts.model import Message
from depslice.solvers.answers import code_of
from depslice.solvers.bench import Bench
from depslice.solvers.methods.codetree.tree import Debug, Implement, Node, Step
from depslice.solvers.prompting import Templates

_PROMPTS: Final = Templates(Path(__file__).parents[1] / "templates" / "codetree")
# An item starts a line; what is indented below it belongs to it.
_ITEM: Final = re.compile(
    r"^ ?(?:#+ )?(?:\*\*)?(?:strategy |approach )?\(?\d{1,2}\\?(?:[.):](?!\d)| -)[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_BULLET: Final = re.compile(r"^ ?[-*•][ \t]+", re.MULTILINE)
# What is decided is the first such word after "decision", on its line or below.
_DECISION: Final = re.compile(
    r"\bdecision\b.*?"
    r"(?:(refin|reject|revis|improv|unaccept|(?:not|cannot)\s+(?:be\s+)?accept)|accept)",
    re.IGNORECASE | re.DOTALL,
)
_MOST: Final = 5  # the Critic's best mark


@dataclass(frozen=True, slots=True)
class Thinker:
    """Thinks of ways: strategies first, later reflections on a program that failed."""

    bench: Bench

    def strategies(self, width: int) -> tuple[str, ...]:
        """As many as it sees fit, ``width`` at most."""
        prompt = _PROMPTS.messages("strategies", problem=self.bench.problem, width=width)
        return _items(self.bench.ask(prompt))[:width]

    def reflections(self, node: Node, width: int) -> tuple[str, ...]:
        """As many as it sees fit, ``width`` at most."""
        return _items(self.bench.ask(_about("reflections", self.bench, node, width=width)))[:width]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes programs: as the Solver from a strategy, as the Debugger from a program."""

    bench: Bench

    def write(self, step: Step) -> Node:
        """The node of a step, tried on the visible tests."""
        match step:
            case Implement(strategy=strategy):
                parent = None
                prompt = _PROMPTS.messages(
                    "implement", problem=self.bench.problem, strategy=strategy
                )
            case Debug(parent=parent, advice=advice):
                strategy = parent.strategy
                prompt = _about("debug", self.bench, parent, advice=advice)
        code = code_of(self.bench.ask(prompt), self.bench.problem)
        return Node(code=code, execution=self.bench.run(code), strategy=strategy, parent=parent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What the Critic says of a program that passes; ``accepted`` if it says nothing else."""

    text: str
    score: float
    accepted: bool


@dataclass(frozen=True, slots=True)
class Critic:
    """Scores programs that fail, and verifies those that pass."""

    bench: Bench

    def score(self, node: Node) -> float:
        """From 0 to 1: how well results match, and how faithfully the strategy is implemented."""
        said = self.bench.ask(_about("score", self.bench, node, strategy=node.strategy))
        return (_mark("results", said) + _mark("strategy", said)) / 2

    def verify(self, node: Node) -> Review:
        """Whether a program that passes is general, careful and efficient."""
        said = self.bench.ask(_about("verify", self.bench, node))
        decisions = _DECISION.findall(said)
        return Review(
            text=said.strip(),
            score=_mark("score", said),
            accepted=not decisions or not decisions[-1],
        )


def _about(name: str, bench: Bench, node: Node, **more: object) -> tuple[Message, ...]:
    return _PROMPTS.messages(
        name,
        problem=bench.problem,
        code=node.code,
        feedback=node.execution.feedback,
        **more,
    )


def _items(text: str) -> tuple[str, ...]:
    """The items of a list, a numbered one if there is one; of a text that has none, the text."""
    text = textwrap.dedent(text)
    parts = _ITEM.split(text)[1:] or _BULLET.split(text)[1:]
    return tuple(filter(None, map(str.strip, parts))) or (text.strip(),)


def _mark(name: str, text: str) -> float:
    """A mark from 0 to 5, scaled to 1; 0 where it is missing."""
    # "Results: 4", "**Results (0-5):** 4/5"
    given = rf"\b{name}\b[*_\s]*(?:\([^)\n]*\))?(?:[*_\s:=`\[]|-\s)*(-?\d+(?:\.\d+)?)"
    found = re.findall(given, text, re.IGNORECASE)
    return min(max(float(found[-1]), 0.0), _MOST) / _MOST if found else 0.0

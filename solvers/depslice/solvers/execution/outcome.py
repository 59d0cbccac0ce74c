"""What executing an answer on tests gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self, get_args

Kind = Literal["syntax", "missing", "wrong", "raises", "time", "memory", "ended", "lost"]
"""Why a test failed: the answer is not Python, does not define the entry point, returned
something else, raised, was too slow, took too much memory, ended the process, or took the
sandbox with it."""

FEEDBACK_MOST: Final = 2_500
"""Characters of feedback that a model gets (CodeTree, section 4.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a test failed.

    ``type`` is the class of an exception. ``line`` and ``source`` are the place in the
    answer; ``actual`` and ``expected`` the two sides of a comparison, as ``repr`` has them.
    """

    kind: Kind
    message: str = ""
    type: str = ""
    line: int | None = None
    source: str | None = None
    actual: str | None = None
    expected: str | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """A failure as the sandbox tells it: a stranger's data."""
        kinds: tuple[Kind, ...] = get_args(Kind)
        line = found.get("line")
        return cls(
            kind=next((kind for kind in kinds if kind == found.get("kind")), "lost"),
            message=str(found.get("message") or ""),
            type=str(found.get("type") or ""),
            line=line if isinstance(line, int) else None,
            **{
                name: str(found[name])
                for name in ("source", "actual", "expected")
                if found.get(name) is not None
            },
        )

    @property
    def text(self) -> str:
        """What went wrong, in a line."""
        place = f" (line {self.line}: {self.source})" if self.line and self.source else ""
        match self.kind:
            case "wrong" if self.actual is not None:
                return f"the result is {self.actual}"
            case "wrong":
                return "AssertionError" + (f": {self.message}" if self.message else "")
            case "raises" | "syntax" | "memory":
                return f"{self.type}: {self.message}{place}"
            case _:
                return self.message or self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One test, and how it failed; ``failure`` is ``None`` where it passed."""

    test: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An answer on all tests.

    ``loading`` says why the answer could not even be loaded; then all tests failed.
    """

    tried: tuple[Tried, ...] = ()
    loading: Failure | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether it can be loaded and all tests passed, if there are any."""
        return self.loading is None and all(each.failure is None for each in self.tried)

    @property
    def fraction(self) -> float:
        """The share of tests that passed; without tests, 1 if it can be loaded."""
        if self.loading is not None or not self.tried:
            return float(self.passed)
        return sum(each.failure is None for each in self.tried) / len(self.tried)

    @property
    def failure(self) -> Failure | None:
        """The first failure."""
        return self.loading or next((t.failure for t in self.tried if t.failure), None)

    @property
    def feedback(self) -> str:
        """What the tests say, for a model: at most :data:`FEEDBACK_MOST` characters."""
        if self.loading is not None:
            text = f"The code cannot be loaded: {self.loading.text}"
        elif not self.tried:
            text = "The code can be loaded; there are no tests."
        else:
            told = (
                f"passed: {t.test}"
                if t.failure is None
                else f"failed: {t.test}\n  {t.failure.text}"
                for t in self.tried
            )
            text = "\n".join(told)
        return text[:FEEDBACK_MOST]

"""What is to be solved: the part that a solver may see, and the part that it may not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from depslice.callgraph.errors import DepsliceError

if TYPE_CHECKING:
    from depslice.callgraph.program import Program
    from depslice.validator.validation import Harness


class ProblemError(DepsliceError):
    """A file of problems cannot be read, or one of its problems cannot be used."""

    slug = "problem"
    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleTest:
    """One test that is shown: ``text`` is what people read, ``setup`` runs before it."""

    text: str
    setup: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a solver sees of a problem.

    ``specification`` is code up to the docstring of the function that is asked for, as it
    is shown to models. ``given`` is the part of it that is there already (imports, other
    functions) and is executed before an answer. ``entry_point`` names the function.
    ``context`` is code around it, which the context ``strategy`` has chosen; both are
    empty where a problem stands alone. Each visible test may run for ``seconds``.
    """

    id: str
    specification: str
    entry_point: str
    given: str = ""
    context: str = ""
    strategy: str = ""
    visible: tuple[VisibleTest, ...] = ()
    seconds: float = 1.0

    def document(self) -> dict[str, Any]:
        """The problem as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The problem of :meth:`document`."""
        visible = tuple(VisibleTest(**test) for test in document["visible"])
        return cls(**{**document, "visible": visible})

    @property
    def digest(self) -> str:
        """The SHA-256 of all that a solver sees."""
        text = json.dumps(self.document(), sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenTests:
    """The tests that decide: a program that runs after an answer, and raises if it is wrong.

    They are kept apart from the problem, so that nothing that is handed a
    :class:`Problem` holds them.
    """

    program: str
    seconds: float = 10.0

    def document(self) -> dict[str, Any]:
        """All that a verdict depends on, beside the answer."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenHarness:
    """A harness that decides: an answer has to do what the original does (R2E, section 3).

    ``place`` is its file, if it is in one.
    """

    program: Program
    harness: Harness
    place: Path | None = None

    def document(self) -> dict[str, Any]:
        """All that a verdict depends on, beside the answer."""
        return {
            "harness": self.harness.digest,
            "target": self.harness.target,
            "files": {name: self.program.digest(name) for name in sorted(self.program.files)},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A problem with its hidden tests; only the runner has both.

    ``solution`` is an answer that comes with the problem, empty where there is none.
    """

    problem: Problem
    hidden: HiddenTests | HiddenHarness
    solution: str = ""

"""What a generator of test harnesses is asked, and what it answers.

A generator runs nothing and knows no sandbox. What others found out by execution (real
calls, verdicts) comes to it as values; whoever runs the loop makes them
(:mod:`depslice.dataset`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from depslice.callgraph.errors import DepsliceError
from depslice.llm import Caps, ModelSettings, Options
from depslice.llm.port import DEFAULTS

if TYPE_CHECKING:
    from depslice.callgraph.model import Symbol
    from depslice.callgraph.program import Program


class GeneratorUnavailable(DepsliceError):
    """There is no such generator, or it cannot work with these settings."""

    slug = "generator"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A real call of a target, recorded while the repository's tests ran.

    ``test`` is the pytest id of the test that made it (empty: none did), and ``number`` which
    of that test's calls of the target it was, from 0. ``arguments`` is what stands between
    the parentheses of a call with equal arguments, and ``imports`` the statements that it
    needs; ``None`` where there is no such text. ``data`` are the same
    arguments as bytes for ``context.load``, empty where they cannot be kept: never
    unpickled here. ``arcs`` counts the branch arcs that this call reached first.
    """

    test: str
    number: int
    arguments: str | None = None
    imports: tuple[str, ...] = ()
    data: bytes = b""
    arcs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A function that wants a harness.

    ``calls`` are real calls, those first that reach most; ``not_recorded`` says why there
    are none, or why arguments could not be kept. ``waiting()`` is entered to wait for something
    slow, an answer of a model: other tasks go on meanwhile, so the program is not asked in it.
    """

    program: Program
    target: Symbol
    calls: tuple[RecordedCall, ...] = ()
    not_recorded: str = ""
    waiting: Callable[[], AbstractContextManager[None]] = field(
        default=nullcontext, compare=False, repr=False
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A harness, not yet validated.

    ``text`` is its source in the validator's format, ``files`` are data files beside it, by
    name. ``provenance`` says how it came about (for an ``llm``: model, prompt digest,
    builder, version, strategy), as JSON values. ``tokens`` and ``dollars`` were spent on it;
    dollars are None where the price is not known.
    """

    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    dollars: float | None = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """Nothing can be generated: a slug that stays, and a sentence. Costs as in :class:`Draft`.

    ``passing``: for a reason that has nothing to do with the task (no connection, a cap is
    reached), so that a run that goes on later asks again.
    """

    slug: str
    message: str
    tokens: int = 0
    dollars: float | None = 0.0
    passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What the validator said of a draft.

    ``verdict`` is ``accepted``, ``rejected`` or ``inconclusive``, ``reasons`` are slugs and
    messages; shares are ``None`` where nothing was measured. ``uncovered`` are branches
    ``(from line, to line)``, ``survivors`` diffs of mutants that no test kills, ``failures``
    what failed on the original, each as ``test: why``.
    """

    verdict: str
    reasons: tuple[tuple[str, str], ...] = ()
    branch_coverage: float | None = None
    mutation_score: float | None = None
    uncovered: tuple[tuple[int, int], ...] = ()
    survivors: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether it did not pass, or came to no end, on the original."""
        return bool(self.failures) or any(slug == "fails-on-original" for slug, _ in self.reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A draft of an earlier round, and what came of it."""

    draft: Draft
    assessment: Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What generators are made with; each takes what it knows.

    ``model`` is a specification for :func:`depslice.llm.open_model`; ``builder`` and ``strategy`` choose prompt and context; ``samples`` drafts a round.
    ``limit`` are the tokens of context in a prompt, ``templates`` a folder of the user's own.
    ``sampling`` is how a model answers, ``task_caps`` what a function may cost. ``seed`` is for
    what is drawn by chance. ``options`` are for generators of others. ``models`` says how the
    model is reached, and what the run may cost: nothing that an outcome depends on.
    """

    model: str = ""
    builder: str = ""
    strategy: str = "sliced"
    samples: int = 1
    limit: int = 6000
    templates: Path | None = None
    sampling: Options = DEFAULTS
    task_caps: Caps = field(default_factory=Caps)
    seed: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    models: ModelSettings = field(default_factory=ModelSettings, compare=False)


class HarnessGenerator(Protocol):
    """Makes harnesses. Found through entry points of the group ``depslice.harness_generators``.

    It is asked by one thread at a time, for several tasks in turn, and in between for others
    while it waits (:attr:`Task.waiting`).

    ``name`` is what ``--generator`` takes. ``needs_calls``: it can do nothing with a task that
    has no ``calls``. ``rounds``: at most so many are of use, the first one counted.
    """

    name: str
    needs_calls: bool
    rounds: int

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        """Drafts for ``task``: the first ones, or with ``attempts`` those of a further round.

        Failures of a model are told as ``Declined``; a run goes on with the next task.

        :raises GeneratorUnavailable: no task will ever work.
        """
        ...


GeneratorFactory = Callable[[Settings], HarnessGenerator]
"""What an entry point names."""

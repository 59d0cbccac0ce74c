"""Executing answers in a sandbox that stays open from one to the next."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from depslice.solvers.execution.outcome import Execution, Failure, Tried
from depslice.solvers.problem import VisibleTest
from depslice.validator.sandbox import (
    INSIDE,
    PYTHON_ENVIRONMENT,
    Job,
    Lasting,
    Limits,
    Outcome,
    Running,
    Sandbox,
    interpreter_folders,
)
from depslice.validator.validation.session import loss_reason

_HERE: Final = Path(__file__).resolve().parent / "inside"
_BOOT: Final = """\
import sys
sys.path[:0] = sys.argv[1:]
import trying
trying.main()
"""
_LIMITS: Final = Limits(
    cpu_seconds=24 * 3600, wall_seconds=24 * 3600, memory_bytes=2 << 30, processes=32
)
_MEMORY: Final = 1 << 30  # bytes of address space for an answer
_PATIENCE: Final = 60.0  # seconds beyond the limits of all tests, for the sandbox to start


@dataclass(slots=True, kw_only=True)
class Executor:
    """Executes answers on tests; used by one thread, as a context.

    An answer can harm its own sandbox at most: what ends it costs that answer's tests, and
    the next answer gets a new one. ``roots`` are folders to import modules from; they lie in
    those that are ``readable``.
    """

    sandbox: Sandbox
    python: Path = field(default_factory=lambda: Path(sys.executable))
    readable: tuple[Path, ...] = ()
    roots: tuple[Path, ...] = ()
    _lasting: Lasting = field(init=False)

    def __post_init__(self) -> None:
        self._lasting = Lasting(self._start)

    def run(
        self,
        code: str,
        tests: Sequence[VisibleTest],
        *,
        entry_point: str,
        given: str = "",
        seconds: float = 1.0,
    ) -> Execution:
        """Try ``code``, after ``given``, on each test within ``seconds`` of CPU time.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        answer = self._lasting.ask(
            {
                "given": given,
                "code": code,
                "entry_point": entry_point,
                "tests": [{"setup": test.setup, "text": test.text} for test in tests],
                "seconds": seconds,
                "memory_bytes": _MEMORY,
            },
            timeout=_PATIENCE + 10 * seconds * (len(tests) + 1),
        )
        if isinstance(answer, Outcome):
            return _of_loss(answer, tests)
        return _execution(answer, tests)

    def _start(self) -> Running:
        folders = map(str, (INSIDE.parent, _HERE, *self.roots))
        return self.sandbox.start(
            Job(
                argv=(str(self.python), "-P", "-c", _BOOT, *folders),
                readable=(INSIDE.parent, _HERE, *self.readable, *interpreter_folders(self.python)),
                environment=PYTHON_ENVIRONMENT | {"PYTHONHASHSEED": "0"},
                limits=_LIMITS,
                channel=True,
            )
        )

    def close(self) -> None:
        """End the sandbox."""
        self._lasting.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _execution(answer: Any, tests: Sequence[VisibleTest]) -> Execution:
    failures = [Failure.of(each) if each else None for each in answer["failures"]]
    return Execution(
        tried=tuple(
            Tried(test=test.text, failure=failure)
            for test, failure in zip(tests, failures, strict=True)
        ),
        loading=Failure.of(answer["loading"]) if answer["loading"] else None,
        cpu_seconds=float(answer["cpu_seconds"]),
        wall_seconds=float(answer["wall_seconds"]),
    )


def _of_loss(outcome: Outcome, tests: Sequence[VisibleTest]) -> Execution:
    """The sandbox is gone: the answer did it, or used more than there is."""
    failure = Failure(kind="lost", message=loss_reason(outcome).message)
    return Execution(
        tried=tuple(Tried(test=test.text, failure=failure) for test in tests),
        loading=failure,
        cpu_seconds=outcome.cpu_seconds,
        wall_seconds=outcome.wall_seconds,
    )

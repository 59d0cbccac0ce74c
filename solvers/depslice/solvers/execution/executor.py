"""Executing answers on tests: an answer in one sandbox, its tests in another.

The sandbox of an answer never gets a test: what a test asks of the answer (a call, with its
arguments) is passed on to it, and what it says comes back as plain data
(``inside/values.py``). So an answer can neither read the tests that grade it nor sign its own
verdict; all it can do is to return something else.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

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
sys.path[:0] = sys.argv[2:]
import hosting
hosting.main()
"""
_LIMITS: Final = Limits(
    cpu_seconds=24 * 3600,
    wall_seconds=24 * 3600,
    memory_bytes=2 << 30,
    processes=32,
    message_bytes=1 << 30,
)
_MEMORY: Final = 1 << 30  # bytes of address space for an answer
_PATIENCE: Final = 20.0  # seconds beyond the limits of a test, for sandboxes on a busy machine
_LOADED: Final = '{"names": '  # begins the first message of an answer that was loaded
_DONE: Final = '{"done": '  # begins the last message of a test
_TALKING: Final = 10  # times the limit, for messages between an answer and its test
_NONSENSE: Final = Failure(kind="lost", message="its process said what nobody can read")


@dataclass(slots=True, kw_only=True)
class Executor:
    """Executes answers on tests; used by one thread, as a context.

    Each answer gets a sandbox of its own, and each test a new process in it: nothing that one
    leaves behind is there for the next. ``roots`` are folders that answers import modules
    from; they lie in those that are ``readable``. With them, tests get at modules that only
    answers have.
    """

    sandbox: Sandbox
    python: Path = field(default_factory=lambda: Path(sys.executable))
    readable: tuple[Path, ...] = ()
    roots: tuple[Path, ...] = ()
    _tests: Lasting = field(init=False)

    def __post_init__(self) -> None:
        self._tests = Lasting(lambda: self._start("tests", (), ()))

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

        An answer that cannot even be loaded fails all tests alike, and is not loaded again.
        Without tests it is loaded once.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        order = {
            "do": "start",
            "code": code,
            "given": given,
            "entry_point": entry_point,
            "seconds": seconds,
            "memory_bytes": _MEMORY,
        }
        started = time.perf_counter()
        answers = Lasting(lambda: self._start("answers", self.readable, self.roots))
        try:
            trial = _Trial(
                answers=answers, tests=self._tests, order=order, with_modules=bool(self.roots)
            )
            failures: list[Failure | None] = []
            for test in tests or (None,):
                failures.append(trial.loading or trial.run(test))
        finally:
            answers.close()
        return Execution(
            tried=tuple(
                Tried(test=test.text, failure=failure)
                for test, failure in zip(tests, failures, strict=False)
            ),
            loading=trial.loading,
            cpu_seconds=trial.cpu_seconds,
            wall_seconds=time.perf_counter() - started,
        )

    def _start(
        self, role: Literal["answers", "tests"], readable: Sequence[Path], roots: Sequence[Path]
    ) -> Running:
        folders = map(str, (INSIDE.parent, _HERE, *roots))
        return self.sandbox.start(
            Job(
                argv=(str(self.python), "-P", "-c", _BOOT, role, *folders),
                readable=(INSIDE.parent, _HERE, *readable, *interpreter_folders(self.python)),
                environment=PYTHON_ENVIRONMENT | {"PYTHONHASHSEED": "0"},
                limits=_LIMITS,
                channel=True,
            )
        )

    def close(self) -> None:
        """End the sandbox."""
        self._tests.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Lost(Exception):
    """A sandbox is gone: an answer ended it, or used more than there is."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


@dataclass(slots=True, kw_only=True)
class _Trial:
    """One answer, test by test."""

    answers: Lasting
    tests: Lasting
    order: dict[str, Any]
    with_modules: bool
    loading: Failure | None = None
    cpu_seconds: float = 0.0

    def run(self, test: VisibleTest | None) -> Failure | None:
        """Load the answer, and run a test on it: how it failed."""
        names, failure = None, None
        try:
            names = self._loaded()
            if test is not None and names is not None:
                failure = self._tried(test, names)
            self._end(self.answers)
        except _Lost as lost:
            if names is None:
                self.loading = lost.failure
            return lost.failure
        return self.loading or failure

    def _loaded(self) -> str | None:
        """What the answer's process says that it defines, if it can be loaded."""
        said = self._ask(self.answers, self.order)
        if isinstance(said, Failure):
            self.loading = said
        elif not said.startswith(_LOADED):
            failure = _read(said).get("failure")
            self.loading = Failure.of(failure) if isinstance(failure, dict) else _NONSENSE
        return said if isinstance(said, str) and self.loading is None else None

    def _tried(self, test: VisibleTest, loaded: str) -> Failure | None:
        """Pass messages between the test and the answer, until the test is done.

        None is read here but the last one, which the test has written.
        """
        seconds = float(self.order["seconds"])
        until = time.monotonic() + _PATIENCE + _TALKING * seconds
        order = self.order | {"setup": test.setup, "text": test.text, "loaded": loaded}
        del order["code"]
        said = self._ask(self.tests, order | {"modules": self.with_modules})
        while isinstance(said, str) and not said.startswith(_DONE):
            if time.monotonic() > until:
                said = Failure(kind="time", message="asked for more and more, without end")
                break
            said = self._ask(self.answers, {"do": "pass", "message": said})
            if isinstance(said, str):
                said = self._ask(self.tests, {"do": "pass", "message": said})
        self._end(self.tests)
        if isinstance(said, Failure):
            return said
        done = _read(said).get("done", {})
        return None if done is None else Failure.of(done)

    def _ask(self, place: Lasting, order: dict[str, Any]) -> str | Failure:
        """The next message of a process, or how it ended.

        :raises _Lost: the sandbox is gone.
        """
        answer = self._answer(place, order)
        if "said" in answer:
            return str(answer["said"])
        return Failure.of(answer["ended"])

    def _end(self, place: Lasting) -> None:
        self.cpu_seconds += float(self._answer(place, {"do": "end"})["cpu_seconds"])

    def _answer(self, place: Lasting, order: dict[str, Any]) -> Any:
        answer = place.ask(order, timeout=3 * _PATIENCE + 10 * float(self.order["seconds"]))
        if isinstance(answer, Outcome):
            if place is self.answers:  # all that it has used since it was started
                self.cpu_seconds = max(self.cpu_seconds, answer.cpu_seconds)
            raise _Lost(Failure(kind="lost", message=loss_reason(answer).message))
        return answer


def _read(text: str) -> dict[str, Any]:
    """A message of a process that runs what is not ours."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

"""Where the programs of a task are tried: on their own, or in place of a repository's function."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, assert_never

from depslice.callgraph.program import Program
from depslice.solvers.execution.executor import Executor
from depslice.solvers.execution.outcome import Execution, Failure, Tried
from depslice.solvers.problem import HiddenHarness, HiddenTests, Problem, Task, VisibleTest
from depslice.validator.sandbox import Sandbox
from depslice.validator.validation import Harness
from depslice.validator.validation.candidates import (
    Comparison,
    Different,
    Same,
    Unknown,
    open_referee,
    replaced_text,
    source_of,
    with_file,
)
from depslice.validator.validation.ground import Ground, open_ground
from depslice.validator.validation.harness import HarnessError


class Trials(Protocol):
    """Tries programs on the tests of one task.

    Hidden tests never share a sandbox with anything else.
    """

    def visible(self, code: str) -> Execution:
        """``code`` on the visible tests.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        ...

    def hidden(self, code: str) -> Execution:
        """``code`` on the hidden tests.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        ...


@dataclass(slots=True, kw_only=True)
class Grounds:
    """Copies of repositories, made when they are first needed; removed with the context."""

    sandbox: Sandbox
    python: Path
    _stack: ExitStack = field(default_factory=ExitStack)
    _known: dict[int, Ground] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, program: Program) -> Ground:
        """The ground of a repository.

        :raises CheckUnavailable: it cannot be copied.
        """
        with self._lock:
            if id(program) not in self._known:
                opened = open_ground(program, sandbox=self.sandbox, python=self.python)
                self._known[id(program)] = self._stack.enter_context(opened)
            return self._known[id(program)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()


@contextmanager
def open_trials(task: Task, grounds: Grounds) -> Iterator[Trials]:
    """Trials of a task, for one thread."""
    with Executor(sandbox=grounds.sandbox, python=grounds.python) as executor:
        match task.hidden:
            case HiddenTests():
                yield _Programs(task.problem, task.hidden, executor)
            case HiddenHarness(program=program, harness=harness):
                yield _Replacements(task.problem, harness, grounds.of(program))
            case _:
                assert_never(task.hidden)


def with_true_examples(task: Task, grounds: Grounds) -> Task:
    """The task without visible tests that the repository's own function fails.

    What a docstring shows need not be so any more, or not as a value: no answer could pass.

    :raises CheckUnavailable: the repository cannot be copied.
    :raises SandboxUnavailable: no sandbox can be started.
    """
    if not isinstance(task.hidden, HiddenHarness) or not task.problem.visible:
        return task
    ground = grounds.of(task.hidden.program)
    done = _Replacements(task.problem, task.hidden.harness, ground).original()
    true = [
        test
        for test, tried in zip(task.problem.visible, done.tried, strict=True)
        if tried.failure is None
    ]
    return replace(task, problem=replace(task.problem, visible=tuple(true)))


@dataclass(frozen=True, slots=True)
class _Programs:
    """Programs that stand on their own."""

    problem: Problem
    tests: HiddenTests
    executor: Executor

    def visible(self, code: str) -> Execution:
        problem = self.problem
        return self.executor.run(
            code,
            problem.visible,
            entry_point=problem.entry_point,
            given=problem.given,
            seconds=problem.seconds,
        )

    def hidden(self, code: str) -> Execution:
        with Executor(sandbox=self.executor.sandbox, python=self.executor.python) as executor:
            execution = executor.run(
                code,
                [VisibleTest(text=self.tests.program)],
                entry_point=self.problem.entry_point,
                given=self.problem.given,
                seconds=self.tests.seconds,
            )
        return replace(execution, tried=tuple(map(_without_test, execution.tried)))


@dataclass(frozen=True, slots=True)
class _Replacements:
    """Programs in the place of a repository's function, whose text is nowhere to be read."""

    problem: Problem
    harness: Harness
    ground: Ground

    def visible(self, code: str) -> Execution:
        try:
            text = replaced_text(self._source(), self.harness, code)
        except HarnessError as error:
            return Execution(loading=Failure(kind="missing", message=error.message))
        return self._with_text(text)

    def original(self) -> Execution:
        """The function itself on the visible tests."""
        return self._with_text(self._source())

    def _source(self) -> str:
        return source_of(self.ground.tree.folder / self.harness.path)

    def _with_text(self, text: str) -> Execution:
        module, _, qualname = self.harness.target.partition(":")
        with (
            with_file(self.ground, self.harness, text, with_tests=False) as ground,
            Executor(
                sandbox=ground.sandbox,
                python=ground.python,
                readable=(ground.folder,),
                roots=ground.tree.roots,
            ) as executor,
        ):
            return executor.run(
                # Not `import a.b`: a package may have another thing of this name.
                f"globals().update(vars(__import__('importlib').import_module({module!r})))",
                self.problem.visible,
                entry_point=qualname.partition(".")[0],
                seconds=self.problem.seconds,
            )

    def hidden(self, code: str) -> Execution:
        started = time.perf_counter()
        comparison, cpu_seconds = self._compared(code)
        if isinstance(comparison, Unknown):  # a machine that is busy: the answer is not to blame
            comparison, more = self._compared(code)
            cpu_seconds += more
        return replace(
            _execution_of(comparison),
            cpu_seconds=cpu_seconds,
            wall_seconds=time.perf_counter() - started,
        )

    def _compared(self, code: str) -> tuple[Comparison, float]:
        with open_referee(self.ground) as referee:
            return referee.compare(self.harness, code), referee.finish()


def _execution_of(comparison: Comparison) -> Execution:
    """What an oracle tells of a comparison: which kind of failure, and not what was asked."""
    match comparison:
        case Same():
            return Execution()
        case Different(why=reason) if reason.slug == "no-candidate":
            return _failed(Failure(kind="missing", message=reason.message))
        case Different():
            return _failed(Failure(kind="wrong", message=""))
        case Unknown(cause=reason):
            return _failed(Failure(kind="lost", message=reason.message))
        case _:
            assert_never(comparison)


def _without_test(tried: Tried) -> Tried:
    """The outcome, as an oracle tells it, and not what was asked and expected."""
    failure = tried.failure
    if failure is not None and failure.kind == "wrong":
        failure = replace(failure, message="", actual=None, expected=None)
    return Tried(test="the hidden tests", failure=failure)


def _failed(failure: Failure) -> Execution:
    return Execution(tried=(Tried(test="does what the original does", failure=failure),))

"""One attempt: a solver in its sandbox, served with a model and with tests.

The process that holds the hidden tests and the keys of the model imports no solver. The
solver's process gets the problem; programs are executed in a second sandbox, and graded in
a third.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeGuard

import depslice
from depslice.llm.caps import Caps
from depslice.llm.port import CapReached, Model, Options, PromptTooLong
from depslice.llm.sampling import OpenModel
from depslice.prompts.model import Message
from depslice.solvers.choosing import SolverError, SolverSpec, plugin_of
from depslice.solvers.execution.outcome import Execution
from depslice.solvers.execution.trials import Grounds, open_trials
from depslice.solvers.problem import HiddenHarness, Problem, ProblemError, Task
from depslice.solvers.running.local import LocalBench, OracleRefused
from depslice.validator.sandbox import (
    INSIDE,
    PYTHON_ENVIRONMENT,
    SYSTEM_FOLDERS,
    Job,
    Limits,
    Running,
    Sandbox,
    end_soon,
    interpreter_folders,
)

_BOOT: Final = """\
import sys
sys.path[:0] = sys.argv[2:]
sys.path.append(sys.argv[1])
from depslice_inside.channel import Channel
channel = Channel()
from depslice.solvers.running.worker import work
work(channel)
"""
_LIMITS: Final = Limits(
    cpu_seconds=600, wall_seconds=24 * 3600, memory_bytes=1 << 30, message_bytes=64 << 20
)
_NO_REQUEST: Final = "the solver sent what is no request"
_PROGRAMS_MOST: Final = 1_000  # tried in one attempt: a search may have no end
_ANSWER_MOST: Final = 1 << 18  # characters of an answer
_WARMEST: Final = 100  # beyond what any model takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where attempts are made. ``grounds`` say where answers run; solvers run in a sandbox of
    the same kind, with depslice's own Python. ``caps`` are those of one attempt.
    """

    model: Model
    grounds: Grounds
    options: Options
    oracle: bool = False
    caps: Caps | None = None

    def model_of_attempt(self) -> tuple[Model, Callable[[], bool]]:
        """The model for one attempt, and whether a cap of that attempt is reached."""
        if self.caps is None or not isinstance(self.model, OpenModel):
            return self.model, lambda: False
        model = self.model.for_task(self.caps)
        return model, lambda: model.ledger.is_full


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What a solver has proposed: ``code``, or ``None`` and the reason in ``why``."""

    code: str | None
    why: str
    bench: LocalBench
    wall_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A proposal on the visible tests and on the hidden ones."""

    visible: Execution
    hidden: Execution


def check_solver(spec: SolverSpec, sandbox: Sandbox, *, oracle: bool = False) -> None:
    """See that a solver can be made with its options, in its own process, before anything is paid.

    :raises SolverError: it cannot.
    :raises OracleRefused: it says that it needs an oracle, and there is none.
    """
    with sandbox.start(_job(spec, None)) as running:
        for message in _messages(running):
            match message:
                case {"kind": "made", "needs_oracle": needed}:
                    if needed and not oracle:
                        raise OracleRefused(str(spec))
                    return
                case {"kind": "refused", "message": str(why), "hint": str(hint)}:
                    raise SolverError(why, hint=hint)
        outcome = running.wait()
    said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
    raise SolverError(f"the solver {spec} cannot be loaded: {said[-1] if said else outcome.ending}")


def check_hidden(
    path: Path, tasks: Sequence[Task], specs: Sequence[SolverSpec], *, python: Path
) -> None:
    """See that no file of problems nor repository of theirs can be read by solvers or answers.

    ``python`` is what answers run with.

    :raises ProblemError: it lies in a folder that they are shown, or has one in it; or a
        repository is installed into ``python``.
    """
    programs = {
        id(task.hidden.program): task.hidden.program
        for task in tasks
        if isinstance(task.hidden, HiddenHarness)
    }
    harnesses = [t.hidden.place for t in tasks if isinstance(t.hidden, HiddenHarness)]
    roots = [Path(program.project.root) for program in programs.values()]
    places = [path, *roots, *filter(None, harnesses)]
    shown = {folder.resolve() for spec in specs for folder in _readable(spec)}
    shown |= {Path(folder).resolve() for folder in SYSTEM_FOLDERS if Path(folder).exists()}
    given = {folder.resolve() for folder in interpreter_folders(python)}
    for place in places:
        for folder in (*shown, *given):
            found = place.resolve()
            if found.is_relative_to(folder) or folder.is_relative_to(found):
                who = "solvers" if folder in shown else "answers"
                raise ProblemError(
                    f"{who} can read {folder}: hidden tests would not be hidden in {place}",
                    hint="move it elsewhere",
                )
    for task in tasks:
        if isinstance(task.hidden, HiddenHarness):
            _check_not_installed(task.hidden, given)


def _check_not_installed(hidden: HiddenHarness, folders: Iterable[Path]) -> None:
    """See that an installed copy does not give the original away.

    :raises ProblemError: there is one.
    """
    module = hidden.harness.target.partition(":")[0].replace(".", "/")
    for folder in folders:
        for packages in folder.glob("lib*/python*/site-packages"):
            if any((packages / f"{module}{end}").exists() for end in (".py", "/__init__.py")):
                raise ProblemError(
                    f"answers could read the original of {hidden.harness.target} in {packages}",
                    hint="--run-python: a Python with what the repository depends on alone",
                )


def propose(task: Task, spec: SolverSpec, place: Place, *, sample: int = 0) -> Proposed:
    """What a solver proposes. The hidden tests stay here, unless ``place`` has an oracle.

    :raises ModelError: the model has not answered: that says nothing about the solver.
    :raises OracleRefused: it asks for an oracle, and there is none.
    :raises SandboxUnavailable: no sandbox can be started.
    """
    started = time.perf_counter()
    problem = task.problem
    model, is_spent = place.model_of_attempt()
    with open_trials(task, place.grounds) as trials:
        bench = LocalBench(
            problem=problem,
            model=model,
            visible=trials.visible,
            hidden=trials.hidden if place.oracle else None,
            options=place.options,
            sample=sample,
        )
        with place.grounds.sandbox.start(_job(spec, problem)) as running:
            try:
                code, why = _serve(running, bench)
            except PromptTooLong as error:  # another solver's may fit
                code, why = None, f"the model took no prompt so long: {error.message}"
            except CapReached as error:
                if not is_spent():
                    raise
                code, why = None, error.message
            bench.cpu_seconds += end_soon(running).cpu_seconds
    why = " ".join(why.split())
    return Proposed(code=code, why=why, bench=bench, wall_seconds=time.perf_counter() - started)


def grade(task: Task, code: str, place: Place) -> Graded:
    """An answer on the visible and the hidden tests, in sandboxes that no solver has used.

    :raises SandboxUnavailable: no sandbox can be started.
    """
    with open_trials(task, place.grounds) as trials:
        return Graded(visible=trials.visible(code), hidden=trials.hidden(code))


def _serve(running: Running, bench: LocalBench) -> tuple[str | None, str]:
    """Answer the solver's requests, until it has an answer or none: the code, or why not."""
    for message in _messages(running):
        match message:
            case {"kind": "ask", "messages": list(told), "temperature": temperature}:
                messages = _told(told)
                if messages is None or not _is_temperature(temperature):
                    return None, _NO_REQUEST
                running.send({"text": bench.ask(messages, temperature=temperature)})
            case {"kind": "run" | "judge"} if bench.programs + bench.judged >= _PROGRAMS_MOST:
                return None, f"the solver tries more than {_PROGRAMS_MOST:,} programs"
            case {"kind": "run", "code": str(code)}:
                running.send(asdict(bench.run(code[:_ANSWER_MOST])))
            case {"kind": "judge", "code": str(code)}:
                running.send(asdict(bench.judge(code[:_ANSWER_MOST])))
            case {"kind": "note", "event": str(event), "what": dict(what)}:
                bench.keep({**what, "event": event})
            case {"kind": "answer", "code": str(code)} if len(code) <= _ANSWER_MOST:
                return (code, "") if code.strip() else (None, bench.no_code)
            case {"kind": "raised" | "refused", "message": str(why)}:
                return None, f"the solver failed: {why}"
            case _:
                return None, _NO_REQUEST
    running.kill()
    outcome = running.wait()
    return None, f"the solver ended without an answer ({outcome.ending.value})"


def _messages(running: Running) -> Iterator[Any]:
    while (message := running.receive()) is not None:
        yield message


def _told(told: list[Any]) -> list[Message] | None:
    """The messages; ``None`` where something else was sent."""
    found = []
    for each in told:
        match each:
            case {"role": "system" | "user" | "assistant" as role, "content": str(content)}:
                found.append(Message(role=role, content=content))
            case _:
                return None
    return found or None


def _is_temperature(value: object) -> TypeGuard[float | None]:
    if value is None:
        return True
    return isinstance(value, int | float) and 0 <= value <= _WARMEST


def _job(spec: SolverSpec, problem: Problem | None) -> Job:
    """The solver's process; it can read depslice's modules, and those of its plug-in."""
    folders = [str(Path(each).resolve().parent) for each in depslice.__path__]
    plugin = _plugin_folder(spec)
    if plugin is not None:
        folders.append(str(plugin))
    python = Path(sys.executable)
    return Job(
        argv=(str(python), "-P", "-c", _BOOT, str(INSIDE.parent), *dict.fromkeys(folders)),
        readable=_readable(spec),
        environment=PYTHON_ENVIRONMENT | {"PYTHONHASHSEED": "0"},
        limits=_LIMITS,
        channel=True,
        messages=(
            {
                "solver": spec.name,
                "options": [list(each) for each in spec.options],
                "problem": problem.document() if problem else None,
            },
        ),
    )


def _readable(spec: SolverSpec) -> tuple[Path, ...]:
    """The folders that a solver's process is shown, beside the system's."""
    plugin = _plugin_folder(spec)
    return (
        *(Path(each).resolve() for each in depslice.__path__),
        *([plugin] if plugin else []),
        INSIDE.parent,
        *interpreter_folders(Path(sys.executable)),
    )


def _plugin_folder(spec: SolverSpec) -> Path | None:
    point = plugin_of(spec.name)
    if point is None or point.dist is None:
        return None
    return Path(os.path.abspath(str(point.dist.locate_file(""))))

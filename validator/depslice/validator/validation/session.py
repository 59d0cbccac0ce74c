"""Validating harnesses of one repository, in sandboxes that stay warm.

A :class:`Session` is one sandbox with a supervisor in it. What a harness does to it costs
at most that harness: the next one gets a new sandbox.
"""

from __future__ import annotations

import base64
import itertools
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.awaiting import next_of
from depslice.callgraph.program import Program
from depslice.validator.sandbox import (
    PYTHON_ENVIRONMENT,
    Ending,
    Job,
    Lasting,
    Limits,
    Message,
    Outcome,
    Running,
    Sandbox,
    interpreter_folders,
)
from depslice.validator.validation.evidence import BadEvidence, parse_evidence
from depslice.validator.validation.gates import Gates, judge
from depslice.validator.validation.ground import BOOT, Ground, open_ground
from depslice.validator.validation.harness import Harness
from depslice.validator.validation.verdict import Inconclusive, Reason, Rejected, Verdict

IMPORT_SECONDS: Final = 60.0
"""Most for importing a module of the repository."""

_SHARED: Final = ["/tmp", "/dev/shm"]  # noqa: S108 - in the sandbox
_HARNESSES: Final = 200  # for one sandbox: what they leave in memory or on disk ends with it
_LIMITS: Final = Limits(
    cpu_seconds=24 * 3600,
    wall_seconds=24 * 3600,
    memory_bytes=4 << 30,
    processes=256,
    open_files=1024,
    message_bytes=512 << 20,
)


@dataclass(slots=True, kw_only=True)
class Session:
    """See the module; made by :func:`open_session`, used by one thread.

    One that never ``measures`` branches is ready sooner. In a ``fresh`` one nothing of the
    repository is kept in memory: its files may change between jobs.
    """

    ground: Ground
    gates: Gates
    measures: bool = True
    fresh: bool = False
    _lasting: Lasting = field(init=False)
    _done: int = 0  # by the sandbox that runs
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self._lasting = Lasting(self._start)

    def validate(self, harness: Harness) -> Verdict:
        """The verdict on a harness.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        answer = self.ask(harness, kind="gather", runs=self.gates.runs)
        if isinstance(answer, Outcome):
            return _verdict_of_loss(answer)
        return _verdict(answer, self.gates, self.ground.python)

    def ask(self, harness: Harness, **more: Any) -> Message | Outcome:
        """The supervisor's answer to a job, or how the sandbox ended instead.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        number = next(self._numbers)
        # Runs, import, and mutants, each within its own limit: this one is for hang-ups.
        allowed = IMPORT_SECONDS * self.gates.runs + self.gates.seconds * (self.gates.runs + 30)
        allowed += self.gates.mutants * (self.gates.seconds + 1)
        job = _job(number, harness, self.ground, self.gates) | more
        answer = self._lasting.ask(job, timeout=allowed)
        if isinstance(answer, Outcome):
            return answer if self._done else self._never_answered(answer)
        if answer.get("id") != number:
            return self._lasting.end()
        self._done += 1
        if self._done >= _HARNESSES:
            self.close()
        return answer

    def _never_answered(self, outcome: Outcome) -> Outcome:
        """Where the interpreter ends by itself before the first answer, the interpreter is told."""
        if outcome.ending is not Ending.EXITED:
            return outcome
        said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else f"exit code {outcome.code}"
        text = f"{self.ground.python} ends before it answers ({why}); it has to be a Python 3.11 or later"
        return replace(outcome, detail=text)

    def _start(self) -> Running:
        self._done = 0
        python, folders = self.ground.python, self.ground.folders
        return self.ground.sandbox.start(
            Job(
                argv=(str(python), "-P", "-c", BOOT, *map(str, folders), "supervising"),
                readable=(self.ground.folder, *folders, *interpreter_folders(python)),
                environment=PYTHON_ENVIRONMENT,
                limits=_LIMITS,
                channel=True,
                messages=(_config(self.ground) | {"measures": self.measures, "fresh": self.fresh},),
            )
        )

    def finish(self) -> float:
        """End the sandbox as it ends by itself; the CPU seconds it has used since it was started."""
        return self._lasting.finish()

    def close(self) -> None:
        """End the sandbox, with all that is in it."""
        self._lasting.close()


@contextmanager
def open_session(
    program: Program,
    *,
    sandbox: Sandbox,
    python: str | Path,
    gates: Gates | None = None,
    whole_folder: bool = True,
) -> Iterator[Session]:
    """A session for harnesses of ``program``, with the interpreter of its environment."""
    with (
        open_ground(program, sandbox=sandbox, python=python, whole_folder=whole_folder) as ground,
        closing(Session(ground=ground, gates=gates or Gates())) as session,
    ):
        yield session


def validate_all(
    program: Program,
    harnesses: Sequence[Harness],
    *,
    sandbox: Sandbox,
    python: str | Path,
    gates: Gates | None = None,
    workers: int | None = None,
    whole_folder: bool = True,
) -> Iterator[tuple[Harness, Verdict]]:
    """Verdicts as they come, by several sandboxes side by side.

    :raises SandboxUnavailable: no sandbox can be started.
    """
    with open_ground(program, sandbox=sandbox, python=python, whole_folder=whole_folder) as ground:
        number = max(1, min(workers or os.cpu_count() or 1, len(harnesses)))
        yield from _side_by_side(ground, harnesses, gates or Gates(), number)


def _side_by_side(
    ground: Ground, harnesses: Sequence[Harness], gates: Gates, number: int
) -> Iterator[tuple[Harness, Verdict]]:
    waiting: queue.SimpleQueue[Harness] = queue.SimpleQueue()
    for each in _by_target(harnesses):
        waiting.put(each)
    done: queue.SimpleQueue[tuple[Harness, Verdict] | BaseException | None] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        try:
            with closing(Session(ground=ground, gates=gates)) as session:
                while not stopped.is_set():
                    harness = waiting.get_nowait()
                    done.put((harness, session.validate(harness)))
        except queue.Empty:
            done.put(None)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits for verdicts
            done.put(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        while number:
            match next_of(done):
                case None:
                    number -= 1
                case BaseException() as error:
                    raise error
                case found:
                    yield found
    except KeyboardInterrupt:  # a verdict may take minutes: those under way are lost
        threads.clear()
        raise
    finally:
        stopped.set()
        for thread in threads:
            thread.join()


def _by_target(harnesses: Iterable[Harness]) -> list[Harness]:
    """Those of one module together: a warm process has it imported already."""
    return sorted(harnesses, key=lambda each: each.target.partition(":")[0])


# --- messages


def _config(ground: Ground) -> dict[str, Any]:
    own: set[str] = set()
    for name in ground.program.files:
        parts = name.split(".")
        own.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return {
        "boot": BOOT,
        "folders": [str(each) for each in ground.folders],
        "roots": [str(each) for each in ground.tree.roots],
        "own": sorted(own),
        "import_seconds": IMPORT_SECONDS,
        # What else than its own folder a run can write; without a sandbox, all of the machine.
        "places": _SHARED if ground.sandbox.isolates else [],
    }


def _job(number: int, harness: Harness, ground: Ground, gates: Gates) -> dict[str, Any]:
    module, _, qualname = harness.target.partition(":")
    return {
        "id": number,
        "name": Path(harness.name).name or "harness.py",
        "text": harness.text,
        "files": {n: base64.b64encode(data).decode() for n, data in harness.files.items()},
        "tolerance": list(harness.tolerance),
        "target": {
            "module": module,
            "qualname": qualname,
            "path": harness.path,
            "line": harness.line,
            "variables": list(harness.variables),
        },
        "folder": str(ground.tree.folder),
        "runs": 1,
        "seconds": gates.seconds,
        "import_seconds": IMPORT_SECONDS,
        "mutants": gates.mutants,
    }


def _verdict(answer: Mapping[str, Any], gates: Gates, python: Path) -> Verdict:
    match answer:
        case {"unusable": ["harness", str(why)]}:
            return Rejected(reasons=(Reason(slug="not-python", message=why),))
        case {"unusable": ["import", str(why)]}:
            return Inconclusive(cause=Reason(slug="import", message=f"{why} (with {python})"))
        case {"unusable": [str(what), str(why)]}:
            return Inconclusive(cause=Reason(slug=what, message=why))
        case {"evidence": found}:
            try:
                return judge(parse_evidence(found), gates)
            except BadEvidence as error:
                return Inconclusive(cause=Reason(slug="evidence", message=str(error)))
        case _:
            return Inconclusive(cause=Reason(slug="evidence", message="no evidence came back"))


def _verdict_of_loss(outcome: Outcome) -> Verdict:
    reason = loss_reason(outcome)
    return Inconclusive(cause=reason) if reason.slug == "sandbox" else Rejected(reasons=(reason,))


def loss_reason(outcome: Outcome) -> Reason:
    """Why a sandbox ended before it answered; ``sandbox``: that was nobody's doing inside."""
    match outcome.ending:
        case Ending.MEMORY | Ending.DISK | Ending.CPU | Ending.OUTPUT | Ending.MESSAGES:
            text = f"it used more than the sandbox allows ({outcome.ending.value})"
            return Reason(slug="limit", message=text)
        case Ending.SIGNALLED:
            return Reason(slug="ends-supervisor", message="it ended the process that watched it")
        case _:
            said = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
            text = outcome.detail or (said[-1] if said else outcome.ending.value)
            return Reason(slug="sandbox", message=text[:500])

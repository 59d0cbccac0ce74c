"""Many attempts: side by side, each kept at once, none made twice."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from depslice.callgraph.awaiting import finish, next_of
from depslice.solvers.choosing import SolverSpec
from depslice.solvers.problem import Task
from depslice.solvers.running.attempt import Place, check_solver, grade, propose
from depslice.solvers.running.record import SCHEMA, Attempt, attempt_of, key_of
from depslice.validator.validation.ledger import Ledger, LedgerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One attempt to make."""

    task: Task
    spec: SolverSpec
    sample: int


class Known:
    """The attempts of a file: those that were made stay made. Without a file none are known."""

    def __init__(self, path: Path | None, place: Place, *, only_read: bool = False) -> None:
        """Read what is there. ``only_read``: it has to be, and someone else may be writing there.

        :raises LedgerError: it cannot be read, or is something else.
        """
        self._ledger = Ledger(path, SCHEMA, only_read=only_read) if path else None
        self._place = place
        self._lock = threading.Lock()

    def get(self, wanted: Wanted) -> Attempt | None:
        """The attempt, if it was made.

        :raises LedgerError: what is there is something else.
        """
        if self._ledger is None:
            return None
        with self._lock:
            document = self._ledger.get(self._key(wanted))
        return None if document is None else _attempt_in(self._ledger, document)

    def add(self, wanted: Wanted, attempt: Attempt) -> None:
        """Keep an attempt, at once.

        :raises LedgerError: it cannot be written.
        """
        if self._ledger is not None:
            with self._lock:
                self._ledger.add(self._key(wanted), attempt.document())

    def _key(self, wanted: Wanted) -> str:
        return key_of(wanted.task, wanted.spec, wanted.sample, self._place)


def attempts_in(
    path: Path,
    tasks: Sequence[Task],
    *,
    specs: Sequence[SolverSpec] = (),
    model: str | None = None,
    every_strategy: bool = True,
) -> Iterator[Attempt]:
    """The attempts at these tasks that a file has, of any solver and model unless some are named.

    They may be of other states of the problems and of other options than now: what those were
    is not kept. ``every_strategy``: a task stands for its problem, whatever the context.

    :raises LedgerError: the file cannot be read, or is something else.
    """
    problems = {task.problem.id for task in tasks}
    contexts = {(task.problem.id, task.problem.strategy) for task in tasks}
    solvers = set(map(str, specs))
    ledger = Ledger(path, SCHEMA, only_read=True)
    for document in ledger.documents():
        found = _attempt_in(ledger, document)
        if (
            (found.problem in problems if every_strategy else _context(found) in contexts)
            and (not solvers or found.solver in solvers)
            and (model is None or model in (found.model, found.model.partition("@")[0]))
        ):
            yield found


def _context(attempt: Attempt) -> tuple[str, str]:
    return attempt.problem, attempt.strategy


def _attempt_in(ledger: Ledger, document: Mapping[str, Any]) -> Attempt:
    try:
        return Attempt.of(document)
    except (ValueError, KeyError) as error:
        raise LedgerError(f"{ledger.path} is not a file of attempts: {error}") from None


def attempts_of(
    tasks: Sequence[Task], specs: Sequence[SolverSpec], *, samples: int = 1
) -> list[Wanted]:
    """All attempts of an evaluation, solver by solver."""
    return [
        Wanted(task=task, spec=spec, sample=sample)
        for spec in specs
        for task in tasks
        for sample in range(samples)
    ]


def evaluate(
    wanted: Sequence[Wanted], place: Place, *, known: Known, workers: int = 1
) -> Iterator[Attempt]:
    """The attempts as they come, first those that are known.

    An answer that is wrong, hangs, or ends its process is an attempt that failed, and so is
    a solver that fails, or asks what no model of this kind takes. What says nothing about either
    (the model is gone, a cap is reached) ends the evaluation: made again, it goes on from there.

    :raises SolverError: a solver cannot be made; before any attempt.
    :raises ModelError: the model has not answered.
    :raises OracleRefused: a solver asks for an oracle, and ``place`` has none.
    :raises SandboxUnavailable: no sandbox can be started.
    """
    missing = []
    for each in wanted:
        attempt = known.get(each)
        if attempt is None:
            missing.append(each)
        else:
            yield attempt
    for spec in dict.fromkeys(each.spec for each in missing):
        check_solver(spec, place.grounds.sandbox, oracle=place.oracle)
    yield from _side_by_side(missing, place, known, workers)


def attempt(wanted: Wanted, place: Place) -> Attempt:
    """Make one attempt, and grade what comes of it.

    :raises: as :func:`evaluate`.
    """
    proposed = propose(wanted.task, wanted.spec, place, sample=wanted.sample)
    graded = None if proposed.code is None else grade(wanted.task, proposed.code, place)
    return attempt_of(wanted.task, wanted.spec, wanted.sample, place, proposed, graded)


def impassable(tasks: Sequence[Task], made: Sequence[Attempt], place: Place) -> Iterator[str]:
    """Of problems that no attempt has passed, those whose own solution fails, and how.

    Nobody can pass these: that says nothing about a model.

    :raises SandboxUnavailable: no sandbox can be started.
    """
    passed = {each.problem for each in made if each.passed}
    tried = {each.problem for each in made} - passed
    for task in tasks:
        if task.problem.id in tried and task.solution:
            failure = grade(task, task.solution, place).hidden.failure
            if failure is not None:
                yield f"{task.problem.id}: its own solution fails the hidden tests ({failure.kind})"


def _side_by_side(
    wanted: Sequence[Wanted], place: Place, known: Known, workers: int
) -> Iterator[Attempt]:
    waiting: queue.SimpleQueue[Wanted] = queue.SimpleQueue()
    for each in wanted:
        waiting.put(each)
    done: queue.SimpleQueue[Attempt | BaseException | None] = queue.SimpleQueue()
    stopped, interrupted = threading.Event(), threading.Event()

    def work() -> None:
        try:
            while not stopped.is_set():
                each = waiting.get_nowait()
                made = known.get(each) or attempt(each, place)  # by another process, meanwhile
                if interrupted.is_set():  # its sandbox may have been taken away
                    return
                known.add(each, made)
                done.put(made)
        except queue.Empty:
            done.put(None)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits for attempts
            done.put(error)

    number = max(1, min(workers, len(wanted)))
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
                case Attempt() as made:
                    yield made
    except Exception:  # what is under way is finished, and counts
        stopped.set()
        finish(threads)
        raise
    finally:  # else an attempt may take hours: when nobody waits for them, they are lost
        stopped.set()
        interrupted.set()

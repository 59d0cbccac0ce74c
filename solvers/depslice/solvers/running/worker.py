"""The process of a solver, inside a sandbox: it has the problem, and asks for the rest.

It gets one message, the order: a solver, and a problem or nothing. Then it sends requests,
each answered before the next (``ask``, ``run``, ``judge``), notes, and at its end ``answer``,
``made`` (there was no problem) or ``refused``. What a solver raises is ``raised``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

from depslice.prompts.model import Message
from depslice.solvers.choosing import SolverError, SolverSpec, load_solver
from depslice.solvers.execution.outcome import Execution, Failure, Tried
from depslice.solvers.problem import Problem

_MOST: Final = 2_000  # characters of what a solver raised


class Channel(Protocol):
    """The message channel; see ``depslice_inside.channel``."""

    def receive(self) -> dict[str, Any] | None:
        """The next message."""
        ...

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        ...


class Away(Exception):
    """The runner has gone."""


class RemoteBench:
    """A :class:`~depslice.solvers.bench.Bench` whose model and sandboxes are elsewhere."""

    def __init__(self, problem: Problem, channel: Channel) -> None:
        self._problem = problem
        self._channel = channel

    @property
    def problem(self) -> Problem:
        """See :attr:`Bench.problem`."""
        return self._problem

    def ask(self, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """See :meth:`Bench.ask`."""
        told = [{"role": each.role, "content": each.content} for each in messages]
        return str(self._asked("ask", messages=told, temperature=temperature)["text"])

    def run(self, code: str) -> Execution:
        """See :meth:`Bench.run`."""
        return execution_of(self._asked("run", code=code))

    def judge(self, code: str) -> Execution:
        """See :meth:`Bench.judge`."""
        return execution_of(self._asked("judge", code=code))

    def note(self, event: str, **what: Any) -> None:
        """See :meth:`Bench.note`."""
        self._channel.send({"kind": "note", "event": event, "what": what})

    def _asked(self, kind: str, **what: Any) -> dict[str, Any]:
        self._channel.send({"kind": kind, **what})
        answer = self._channel.receive()
        if answer is None:
            raise Away
        return answer


def execution_of(document: dict[str, Any]) -> Execution:
    """An execution out of its JSON."""
    loading = document["loading"]
    return Execution(
        tried=tuple(
            Tried(
                test=each["test"], failure=Failure(**each["failure"]) if each["failure"] else None
            )
            for each in document["tried"]
        ),
        loading=Failure(**loading) if loading else None,
        cpu_seconds=document["cpu_seconds"],
        wall_seconds=document["wall_seconds"],
    )


def work(channel: Channel) -> None:
    """Carry out the order."""
    order = channel.receive()
    if order is None:
        return
    options = tuple((str(key), str(value)) for key, value in order["options"])
    try:
        solver = load_solver(SolverSpec(name=order["solver"], options=options))
    except SolverError as error:
        channel.send({"kind": "refused", "message": error.message, "hint": error.hint})
        return
    if order["problem"] is None:
        needs_oracle = bool(getattr(solver, "needs_oracle", False))
        channel.send({"kind": "made", "needs_oracle": needs_oracle})
        return
    bench = RemoteBench(Problem.of(order["problem"]), channel)
    try:
        answer = solver.solve(bench)
        if not isinstance(answer, str):
            raise TypeError(f"it gives {type(answer).__name__}, not a text")
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        channel.send({"kind": "raised", "message": f"{type(error).__name__}: {error}"[:_MOST]})
    else:
        channel.send({"kind": "answer", "code": answer})

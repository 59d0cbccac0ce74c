"""The bench itself: a model, a sandbox for the visible tests, and the record of an attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from depslice.callgraph.errors import DepsliceError
from depslice.llm.port import FinishReason, Model, Options, Usage
from depslice.prompts.model import Message
from depslice.solvers.execution.outcome import Execution
from depslice.solvers.problem import Problem

_EVENTS: Final = 1000  # of an attempt; a solver may not fill the disk
_EVENT_BYTES: Final = 1 << 20  # of all of them
_EVENT_DEPTH: Final = 20
_SEEDS: Final = 10_000  # for one sample


class OracleRefused(DepsliceError):
    """A solver asks for the outcome of the hidden tests, which the user has not allowed."""

    slug = "oracle"
    exit_code = 2

    def __init__(self, who: str) -> None:
        super().__init__(
            f"{who} asks for the outcome of the hidden tests",
            hint="allow it with --oracle; its results are counted apart",
        )


@dataclass(slots=True, kw_only=True)
class LocalBench:
    """A :class:`~depslice.solvers.bench.Bench` that counts what it does.

    ``visible`` and ``hidden`` execute a program on tests; without ``hidden`` there is no
    oracle. Requests whose temperature is not 0 get seeds of their own, which depend on
    ``sample`` and on their order: a run can be repeated, and no two samples are the same
    draw.
    """

    problem: Problem
    model: Model
    visible: Callable[[str], Execution]
    hidden: Callable[[str], Execution] | None = None
    options: Options = field(default_factory=Options)
    sample: int = 0
    usage: Usage = field(default_factory=Usage)
    spent: Usage = field(default_factory=Usage)
    programs: int = 0
    judged: int = 0
    cpu_seconds: float = 0.0
    ending: FinishReason | None = None  # of the last answer
    events: list[dict[str, Any]] = field(default_factory=list)
    _event_bytes: int = 0

    def ask(self, messages: Sequence[Message], *, temperature: float | None = None) -> str:
        """See :meth:`Bench.ask`.

        :raises ModelError: the model has not answered.
        """
        wanted = self.options
        if temperature is not None:
            wanted = replace(wanted, temperature=temperature)
        if wanted.temperature != 0:
            base = (wanted.seed or 0) + self.sample * _SEEDS
            wanted = replace(wanted, seed=base + self.usage.calls)
        [completion] = self.model.complete(messages, options=wanted)
        self.usage += completion.usage
        self.spent += completion.spent
        self.ending = completion.finish_reason
        # What a provider lets through of an answer that it refuses is none.
        return "" if self.ending == "refused" else completion.text

    @property
    def no_code(self) -> str:
        """Why an answer has no code, as far as the model's last one tells."""
        match self.ending:
            case "refused":
                return "there is no code: the model refuses to answer"
            case "length":
                return "there is no code: the model's answer was cut off"
            case _:
                return "there is no code in the answer"

    def run(self, code: str) -> Execution:
        """See :meth:`Bench.run`."""
        self.programs += 1
        return self._counted(self.visible(code))

    def judge(self, code: str) -> Execution:
        """See :meth:`Bench.judge`.

        :raises OracleRefused: there is no oracle.
        """
        if self.hidden is None:
            raise OracleRefused("the solver")
        self.judged += 1
        return self._counted(self.hidden(code))

    def note(self, event: str, **what: Any) -> None:
        """See :meth:`Bench.note`."""
        self.keep({"event": event, **what})

    def keep(self, event: dict[str, Any]) -> None:
        """Keep a step, unless there are too many, or too much is in them."""
        if len(self.events) >= _EVENTS or _is_deeper(event, _EVENT_DEPTH):
            return
        self._event_bytes += len(json.dumps(event))
        if self._event_bytes <= _EVENT_BYTES:
            self.events.append(event)

    def _counted(self, execution: Execution) -> Execution:
        self.cpu_seconds += execution.cpu_seconds
        return execution


def _is_deeper(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list | tuple):
        return False
    return not depth or any(_is_deeper(each, depth - 1) for each in value)

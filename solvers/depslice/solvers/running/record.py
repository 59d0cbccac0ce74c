"""Attempts as lines of JSON: ``depslice.attempt/1``, see ``docs/formats/json.md``."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self, get_args, get_type_hints

from depslice.llm.port import Usage
from depslice.solvers.choosing import SolverSpec, plugin_of
from depslice.solvers.execution.outcome import Execution, Failure
from depslice.solvers.problem import HiddenHarness, Task
from depslice.solvers.running.attempt import Graded, Place, Proposed
from depslice.validator.validation.verdict import JUDGED

SCHEMA: Final = "depslice.attempt/1"
_PLAIN: Final = {str, int, float, bool, type(None)}
_MOST: Final = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt as it is kept.

    ``answer`` is ``None`` where the solver gave none, ``why`` says what went wrong.
    ``visible`` is the share of visible tests that passed; ``passed`` is the verdict of the
    hidden ones, ``oracle`` how often the solver asked for it before. ``usage`` is what the
    answers of the model took when they were given. ``cpu_seconds`` are those of sandboxes:
    solver, programs tried, grading; ``wall_seconds`` those of this run.
    """

    solver: str
    problem: str
    sample: int
    strategy: str
    model: str
    answer: str | None
    why: str
    visible: float
    tests: int
    passed: bool
    oracle: int
    usage: Usage
    programs: int
    cpu_seconds: float
    wall_seconds: float
    events: tuple[Mapping[str, Any], ...]

    @property
    def visible_passed(self) -> bool:
        """Whether there is an answer that passed all visible tests, of which there were some."""
        return self.answer is not None and self.tests > 0 and self.visible >= 1

    def document(self) -> dict[str, Any]:
        """The attempt as JSON."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The attempt of :meth:`document`.

        :raises ValueError: it is none.
        """
        if document.get("schema") != SCHEMA:
            raise ValueError("not an attempt")
        fields = {name: document[name] for name in cls.__slots__}
        try:
            usage = Usage(**fields.pop("usage"))
            events = tuple(fields.pop("events"))
            found = cls(**fields, usage=usage, events=events)
        except TypeError as error:
            raise ValueError(str(error)) from None
        _check_types(found)
        _check_types(usage)
        if not all(isinstance(each, dict) for each in events):
            raise ValueError("'events' are no objects")
        return found


def _check_types(found: Attempt | Usage) -> None:
    """Raise ``ValueError`` where a number or a text is something else."""
    for name, hint in get_type_hints(type(found)).items():
        kinds = get_args(hint) or (hint,)
        value = getattr(found, name)
        whole = float in kinds and type(value) is int and abs(value) < _MOST
        if type(value) not in kinds and not whole and set(kinds) <= _PLAIN:
            raise ValueError(f"{name!r} is of another type")


def attempt_of(
    task: Task,
    spec: SolverSpec,
    sample: int,
    place: Place,
    proposed: Proposed,
    graded: Graded | None,
) -> Attempt:
    """What is kept of an attempt; without an answer there is nothing to grade."""
    bench = proposed.bench
    executions = (graded.visible, graded.hidden) if graded else ()
    return Attempt(
        solver=str(spec),
        problem=task.problem.id,
        sample=sample,
        strategy=task.problem.strategy,
        model=place.model.name,
        answer=proposed.code,
        why=_why(proposed, graded.hidden if graded else None),
        visible=graded.visible.fraction if graded else 0.0,
        tests=len(task.problem.visible),
        passed=graded is not None and graded.hidden.passed,
        oracle=bench.judged,
        usage=bench.usage,
        programs=bench.programs,
        cpu_seconds=round(bench.cpu_seconds + sum(e.cpu_seconds for e in executions), 3),
        wall_seconds=round(proposed.wall_seconds + sum(e.wall_seconds for e in executions), 3),
        events=tuple(bench.events),
    )


def _why(proposed: Proposed, hidden: Execution | None) -> str:
    """What went wrong; of the hidden tests no more than the kind of failure."""
    if hidden is None:
        return proposed.why
    failure: Failure | None = hidden.failure
    if failure is None:
        return ""
    cut = "; the model's answer was cut off" if proposed.bench.ending == "length" else ""
    return f"hidden tests: {failure.kind}{cut}"


def key_of(task: Task, spec: SolverSpec, sample: int, place: Place) -> str:
    """What an attempt depends on: problem, hidden tests, solver, model, sample, where it runs."""
    parts = [
        task.problem.digest,
        task.hidden.document(),
        str(spec),
        sample,
        place.model.name,
        asdict(place.options),
    ]
    # Only where they are not the usual ones, so that keys of the usual ones stay.
    python, plugin = place.grounds.python, plugin_of(spec.name)
    if python != Path(sys.executable):
        parts.append({"python": str(python)})
    if plugin is not None and plugin.dist is not None:
        parts.append({"plugin": f"{plugin.dist.name} {plugin.dist.version}"})
    if isinstance(task.hidden, HiddenHarness):
        parts.append({"judged": JUDGED})
    if place.caps is not None:
        parts.append({"caps": asdict(place.caps)})
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

"""Many attempts: kept as they are made, ended by what is nobody's fault, gone on with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from depslice.llm.port import CapReached, Model, Options
from depslice.solvers.choosing import SolverSpec
from depslice.solvers.execution.trials import Grounds
from depslice.solvers.problem import Task
from depslice.solvers.running.attempt import Place
from depslice.solvers.running.evaluating import Known, attempts_of, evaluate
from depslice.solvers.running.record import Attempt
from depslice.validator.sandbox import Sandbox
from scripted import ScriptedModel
from solving import MIDDLE, OVERFITTED, RIGHT, TASK, block

At = Callable[[Model], Place]
DIRECT = [SolverSpec.of("direct")]


@pytest.fixture
def at(sandbox: Sandbox) -> Iterator[At]:
    with Grounds(sandbox=sandbox, python=Path(sys.executable)) as grounds:
        yield lambda model: Place(model=model, grounds=grounds, options=Options())


def tasks(number: int) -> list[Task]:
    return [
        replace(TASK, problem=replace(MIDDLE, id=f"middle/{n}", context=f"# {n}"))
        for n in range(number)
    ]


def made(place: Place, path: Path | None, number: int, **options: int) -> list[Attempt]:
    wanted = attempts_of(tasks(number), DIRECT)
    return list(evaluate(wanted, place, known=Known(path, place), **options))


def test_a_cap_ends_the_run_and_what_was_made_is_kept(at: At, tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    with pytest.raises(CapReached):
        made(at(ScriptedModel([block(RIGHT), CapReached("enough")])), path, 3)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    model = ScriptedModel([block(OVERFITTED), block(RIGHT)])
    found = made(at(model), path, 3)
    assert [each.passed for each in found] == [True, False, True]
    assert [each.why for each in found] == ["", "hidden tests: raises", ""]
    assert len(model.asked) == 2
    assert made(at(ScriptedModel([])), path, 3) == found


def test_attempts_side_by_side_are_the_same(at: At, tmp_path: Path) -> None:
    found = made(at(ScriptedModel(lambda _: block(RIGHT))), tmp_path / "a.jsonl", 4, workers=3)
    assert sorted(each.problem for each in found) == [f"middle/{n}" for n in range(4)]
    assert all(each.passed for each in found)


def test_what_an_attempt_depends_on_is_its_key(at: At, tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    place = at(ScriptedModel([block(RIGHT)]))
    made(place, path, 1)
    [wanted] = attempts_of(tasks(1), DIRECT)
    assert Known(path, place).get(wanted) is not None
    harder = replace(TASK.hidden, program="assert False")
    for other in (
        replace(wanted, sample=1),
        replace(wanted, spec=SolverSpec.of("direct:x=1")),
        replace(wanted, task=replace(wanted.task, hidden=harder)),
        replace(wanted, task=replace(wanted.task, problem=MIDDLE)),
    ):
        assert Known(path, place).get(other) is None
    warmer = replace(place, options=Options(temperature=0.5))
    assert Known(path, warmer).get(wanted) is None
    assert Known(path, at(ScriptedModel([], name="other"))).get(wanted) is None

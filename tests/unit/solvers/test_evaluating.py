"""Many attempts: kept as they are made, ended by what is nobody's fault, gone on with."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from depslice.llm.port import CapReached, Completion, Model, Options, PromptTooLong
from depslice.solvers.choosing import SolverSpec
from depslice.solvers.execution.trials import Grounds
from depslice.solvers.problem import Task
from depslice.solvers.running.attempt import Place
from depslice.solvers.running.evaluating import Known, attempts_of, evaluate, impassable
from depslice.solvers.running.record import Attempt
from depslice.validator.sandbox import Sandbox
from scripted import ScriptedModel, said
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


def test_two_runs_with_one_file_share_what_they_make(at: At, tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    place = at(ScriptedModel([block(OVERFITTED)]))
    opened_before = Known(path, place)
    theirs = made(at(ScriptedModel([block(RIGHT)] * 2)), path, 2)
    with path.open("ab") as file:  # one more run was killed, and has left half a line
        file.write(b'{"key": "')
    found = list(evaluate(attempts_of(tasks(3), DIRECT), place, known=opened_before))
    assert found[:2] == theirs
    assert [each.passed for each in found] == [True, True, False]
    assert made(at(ScriptedModel([])), path, 3) == found


def test_nobody_waits_for_attempts_that_nobody_wants(at: At, tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    asked, answered = threading.Event(), threading.Event()

    def answer(prompt: str) -> str:
        if "# 1" in prompt:
            asked.set()
            answered.wait(60)
        else:
            asked.wait(60)
        return block(RIGHT)

    place = at(ScriptedModel(lambda messages: answer(str(messages))))
    found = evaluate(attempts_of(tasks(2), DIRECT), place, known=Known(path, place), workers=2)
    first = next(found)
    assert isinstance(found, Generator)
    started = time.monotonic()
    found.close()  # as an interrupt does that comes while the first is looked at
    assert time.monotonic() - started < 30
    answered.set()
    time.sleep(0.5)
    assert first.problem == "middle/0"
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1


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
    elsewhere = replace(place.grounds, python=Path("/usr/bin/python3"))
    assert Known(path, replace(place, grounds=elsewhere)).get(wanted) is None


def test_a_report_on_a_file_leaves_it_as_it_is(at: At, tmp_path: Path) -> None:
    path = tmp_path / "attempts.jsonl"
    place = at(ScriptedModel([block(RIGHT)]))
    made(place, path, 1)
    text = path.read_bytes() + b'{"key": "half'  # someone writes there now
    path.write_bytes(text)
    Known(path, place, only_read=True)
    assert path.read_bytes() == text
    Known(path, place)
    assert path.read_bytes() != text


def test_a_prompt_that_is_too_long_is_an_attempt_that_failed(at: At, tmp_path: Path) -> None:
    model = ScriptedModel([PromptTooLong("8,000 tokens"), block(RIGHT)])
    first, second = made(at(model), tmp_path / "attempts.jsonl", 2)
    assert (first.passed, first.answer, second.passed) == (False, None, True)
    assert "8,000 tokens" in first.why


@pytest.mark.parametrize(
    "code",
    [
        "def middle(n): return " + "-" * 7000 + "1",
        "def middle(n): return " + "n+" * 9000 + "n",
        "def middle(n): return 0x" + "f" * 5000,
        "def middle(n): return '\0'",
        "def middle(n): return '\udc80'",
        "",
    ],
)
def test_no_answer_ends_the_run(at: At, tmp_path: Path, code: str) -> None:
    model = ScriptedModel([block(code), block(RIGHT)])
    first, second = made(at(model), tmp_path / "attempts.jsonl", 2)
    assert (first.passed, second.passed) == (False, True)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (said(""), "there is no code in the answer"),
        (said("```python\n```"), "there is no code in the answer"),
        (said(block(RIGHT), finish_reason="refused"), "there is no code: the model refuses"),
        (said("", finish_reason="length"), "there is no code: the model's answer was cut off"),
    ],
)
def test_an_answer_without_code_is_none(at: At, reply: Completion, why: str) -> None:
    """And not the specification, which would be graded."""
    [found] = made(at(ScriptedModel([reply])), None, 1)
    assert (found.answer, found.passed) == (None, False)
    assert found.why.startswith(why)


def test_an_answer_that_was_cut_off_is_graded_as_it_is(at: At) -> None:
    whole, part = block(RIGHT), block(RIGHT)[:-30]
    replies = [said(text, finish_reason="length") for text in (whole, part)]
    first, second = made(at(ScriptedModel(replies)), None, 2)
    assert (first.passed, first.why) == (True, "")
    assert not second.passed
    assert second.why.endswith("; the model's answer was cut off")


def test_a_problem_that_nobody_can_pass_is_told(at: At) -> None:
    right, wrong, hard = tasks(3)
    given = [
        replace(right, solution=RIGHT),
        replace(wrong, solution=OVERFITTED),
        replace(hard, solution=RIGHT),
    ]
    place = at(ScriptedModel([block(RIGHT), block(OVERFITTED), block(OVERFITTED)]))
    found = list(evaluate(attempts_of(given, DIRECT), place, known=Known(None, place)))
    told = list(impassable(given, found, place))
    assert told == ["middle/1: its own solution fails the hidden tests (raises)"]


def test_what_is_visible_counts_as_passed_where_there_is_something(at: At, tmp_path: Path) -> None:
    blind = replace(TASK, problem=replace(MIDDLE, visible=()))
    place = at(ScriptedModel([block(OVERFITTED)]))
    [found] = evaluate(attempts_of([blind], DIRECT), place, known=Known(None, place))
    assert (found.visible, found.visible_passed) == (1.0, False)

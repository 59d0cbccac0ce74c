"""Functions of repositories as problems: the harness decides, and the original is out of reach."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from depslice.solvers.execution.trials import Grounds, Trials, open_trials, with_true_examples
from depslice.solvers.loading import load_tasks
from depslice.solvers.problem import ProblemError, Task
from depslice.validator.sandbox import Sandbox
from depslice.validator.validation import Harness, Reason
from depslice.validator.validation.candidates import Comparison, Referee, Unknown

CORE = '''\
LIMIT = 10


def clamp(x, low=0):
    """x, not below low and not above the limit.

    >>> clamp(20)
    10
    """
    return max(low, min(x, LIMIT))
'''
HARNESS = """\
TARGET = "shapes.core:clamp"


def test_clamp(candidate, reference):
    for x in range(-3, 20):
        assert candidate(x) == reference(x)
"""
TESTS = """\
from shapes.core import clamp


def test_clamp():
    assert clamp(-77) == 0
"""
RIGHT = "def clamp(x, low=0):\n    return low if x < low else LIMIT if x > LIMIT else x"
OVERFITTED = "def clamp(x, low=0):\n    return min(x, LIMIT)"
SPY = "def clamp(x, low=0):\n    raise ValueError(open(__file__).read())"
PEEK = """\
def clamp(x, low=0):
    import os
    found = []
    for where, _, names in os.walk(os.path.dirname(os.path.dirname(__file__))):
        found += [name for name in names if name.endswith(".py")]
    raise ValueError(" ".join(sorted(found)))
"""
SEARCH = """\
def clamp(x, low=0):
    import os, sys
    found = []
    for folder in {os.path.dirname(os.path.dirname(__file__)), *filter(os.path.isdir, sys.path)}:
        for where, _, names in os.walk(folder):
            if "site-packages" in where or "/lib/" in where:
                continue
            for name in names:
                with open(os.path.join(where, name), "rb") as file:
                    found += [name] if b"max(low" + b", min(x" in file.read() else []
    raise ValueError(f"found {found}")
"""


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("problems")
    package = folder / "repo" / "shapes"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "core.py").write_text(CORE, encoding="utf-8")
    (folder / "clamp.py").write_text(HARNESS, encoding="utf-8")
    tests = folder / "repo" / "tests"
    tests.mkdir()
    (tests / "test_core.py").write_text(TESTS, encoding="utf-8")
    path = folder / "problems.jsonl"
    path.write_text(json.dumps({"repo": "repo", "harness": "clamp.py"}) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def task(problems: Path) -> Task:
    [found] = load_tasks(problems)
    return found


@pytest.fixture(scope="module")
def trials(task: Task, sandbox: Sandbox) -> Iterator[Trials]:
    grounds = Grounds(sandbox=sandbox, python=Path(sys.executable))
    with grounds, open_trials(task, grounds) as opened:
        yield opened


def test_a_problem_shows_what_is_around_the_function_but_not_what_it_does(task: Task) -> None:
    problem = task.problem
    assert (problem.id, problem.entry_point) == ("shapes.core:clamp", "clamp")
    assert problem.specification.startswith("def clamp(x, low=0):\n")
    assert "LIMIT = 10" in problem.context
    assert [test.text for test in problem.visible] == ["assert clamp(20) == 10"]
    assert "min(x" not in json.dumps(problem.document())
    assert "test_clamp" not in json.dumps(problem.document())


def test_one_problem_for_each_strategy(problems: Path) -> None:
    found = load_tasks(problems, strategies=("naive", "sliced", "full"))
    assert [task.problem.strategy for task in found] == ["naive", "sliced", "full"]
    assert [bool(task.problem.context) for task in found] == [False, True, True]
    assert all("min(x" not in task.problem.context for task in found)


def test_nothing_of_the_tests_is_shown(problems: Path) -> None:
    """The hidden harness may be made of them."""
    [task] = load_tasks(problems, strategies=("usages",))
    assert "LIMIT = 10" in task.problem.context
    assert "-77" not in json.dumps(task.problem.document())


def test_a_program_that_is_tried_finds_no_tests(trials: Trials) -> None:
    feedback = trials.visible(PEEK).feedback
    assert "ValueError: __init__.py core.py" in feedback
    assert "test_core.py" not in feedback


@pytest.mark.parametrize(
    "code",
    [
        "def clamp(x, low=0): return " + "-" * 7000 + "1",
        "def clamp(x, low=0): return " + "x+" * 9000 + "x",
        "def clamp(x, low=0): return 0x" + "f" * 5000,
        "def clamp(x, low=0): return '\0'",
    ],
)
def test_an_answer_that_nobody_can_read_has_failed(trials: Trials, code: str) -> None:
    assert not trials.visible(code).passed
    assert not trials.hidden(code).passed


def test_visible_tests_get_at_the_repository_where_the_answer_is(
    problems: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    shutil.copytree(problems.parent, tmp_path, dirs_exist_ok=True)
    core = tmp_path / "repo" / "shapes" / "core.py"
    core.write_text(CORE + "\nclass Box:\n    size = 4\n", encoding="utf-8")
    setup = "import shapes.core\nfrom shapes.core import Box as B"
    tests = [
        {"setup": setup, "text": "assert clamp(B().size) == B.size and shapes.core.LIMIT == 10"},
        {"setup": "import shapes.nothing", "text": "assert True"},
    ]
    path = tmp_path / "problems.jsonl"
    line = {"repo": "repo", "harness": "clamp.py", "visible": tests}
    path.write_text(json.dumps(line), encoding="utf-8")
    [task] = load_tasks(path)
    grounds = Grounds(sandbox=sandbox, python=Path(sys.executable))
    with grounds, open_trials(task, grounds) as trials:
        _, first, second = trials.visible(RIGHT).tried
    assert first.failure is None
    assert second.failure is not None
    assert second.failure.type == "ModuleNotFoundError"


def test_calls_that_are_shown(problems: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    shown = {"text": "assert clamp(-3.0) == zero", "setup": "zero = 0"}
    twice = {"text": "assert clamp(20) == 10"}  # it is in the docstring too
    line = {"repo": "repo", "harness": "clamp.py", "visible": [twice, shown]}
    shutil.copytree(problems.parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "problems.jsonl"
    path.write_text(json.dumps(line), encoding="utf-8")
    [task] = load_tasks(path)
    assert [test.text for test in task.problem.visible] == [twice["text"], shown["text"]]
    with (
        Grounds(sandbox=sandbox, python=Path(sys.executable)) as grounds,
        open_trials(task, grounds) as trials,
    ):
        assert trials.visible(RIGHT).passed
        assert trials.visible(OVERFITTED).fraction == 0.5


def test_a_package_may_have_the_name_of_its_module_for_something_else(
    problems: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    shutil.copytree(problems.parent, tmp_path, dirs_exist_ok=True)
    package = tmp_path / "repo" / "shapes"
    (package / "clamp.py").write_text(CORE, encoding="utf-8")
    (package / "__init__.py").write_text("from .clamp import clamp\n", encoding="utf-8")
    harness = HARNESS.replace("shapes.core:clamp", "shapes.clamp:clamp")
    (tmp_path / "clamp.py").write_text(harness, encoding="utf-8")
    [task] = load_tasks(tmp_path / "problems.jsonl")
    grounds = Grounds(sandbox=sandbox, python=Path(sys.executable))
    with grounds, open_trials(task, grounds) as trials:
        assert trials.visible(RIGHT).passed
        assert trials.hidden(RIGHT).passed


def test_examples_that_the_original_fails_are_not_shown(
    problems: Path, tmp_path: Path, sandbox: Sandbox
) -> None:
    shutil.copytree(problems.parent, tmp_path, dirs_exist_ok=True)
    outdated = CORE.replace('10\n    """', '10\n    >>> clamp(5)\n    6\n    """')
    assert outdated != CORE
    (tmp_path / "repo" / "shapes" / "core.py").write_text(outdated, encoding="utf-8")
    [task] = load_tasks(tmp_path / "problems.jsonl")
    assert len(task.problem.visible) == 2
    with Grounds(sandbox=sandbox, python=Path(sys.executable)) as grounds:
        true = with_true_examples(task, grounds)
    assert [test.text for test in true.problem.visible] == ["assert clamp(20) == 10"]


def test_an_oracle_does_not_tell_what_was_expected_and_its_time_counts(trials: Trials) -> None:
    hidden = trials.hidden(OVERFITTED)
    assert hidden.failure is not None
    assert hidden.failure.message == ""
    assert hidden.cpu_seconds > 0
    assert hidden.wall_seconds > 0


def test_the_harness_decides(trials: Trials) -> None:
    assert trials.visible(RIGHT).passed
    assert trials.hidden(RIGHT).passed
    assert trials.visible(OVERFITTED).passed
    hidden = trials.hidden(OVERFITTED)
    assert hidden.failure is not None
    assert hidden.failure.kind == "wrong"


@pytest.mark.parametrize("code", ["def clamp(", "def other(): pass"])
def test_what_is_no_answer(trials: Trials, code: str) -> None:
    for execution in (trials.visible(code), trials.hidden(code)):
        assert execution.failure is not None
        assert execution.failure.kind == "missing"


@pytest.mark.parametrize("code", [SPY, SEARCH])
def test_a_program_that_is_tried_cannot_read_the_original(trials: Trials, code: str) -> None:
    feedback = trials.visible(code).feedback
    assert "max(low, min(x" not in feedback
    assert "found []" in feedback or "LIMIT = 10" in feedback


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"repo": "none", "harness": "clamp.py"}, "problems.jsonl:1: "),
        ({"repo": "repo", "harness": "none.py"}, "problems.jsonl:1: cannot read"),
        ({"repo": "repo", "harness": "clamp.py", "target": "shapes.core:LIMIT"}, "not a function"),
        ({"repo": "repo", "harness": "clamp.py", "strategy": "best"}, "unknown strategy 'best'"),
        ({"repo": ".", "harness": "clamp.py"}, "where answers could read it"),
        ({"repo": 3, "harness": "clamp.py"}, "'repo' is not a string"),
        ({"repo": "repo", "harness": "clamp.py", "visible": ["x"]}, "is not a list of objects"),
        ({"repo": "repo", "harness": "clamp.py", "visible": [{"test": "x"}]}, "without 'text'"),
    ],
)
def test_a_broken_line(
    problems: Path, tmp_path: Path, line: dict[str, object], message: str
) -> None:
    path = tmp_path / "problems.jsonl"
    shutil.copytree(problems.parent, tmp_path, dirs_exist_ok=True)
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(ProblemError) as caught:
        load_tasks(path)
    assert message in caught.value.message


def test_an_original_that_could_not_be_run_is_run_again(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine may be too busy for it, and the answer is not to blame for that."""
    answers = [Unknown(cause=Reason(slug="ended", message="time"))] * 2
    compare = Referee.compare

    def busy(self: Referee, harness: Harness, candidate: str) -> Comparison:
        return answers.pop() if answers else compare(self, harness, candidate)

    monkeypatch.setattr(Referee, "compare", busy)
    [failed] = trials.hidden(RIGHT).tried
    assert failed.failure is not None
    assert failed.failure.kind == "lost"
    answers = [Unknown(cause=Reason(slug="ended", message="time"))]
    assert trials.hidden(RIGHT).passed

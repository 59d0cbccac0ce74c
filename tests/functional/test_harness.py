"""``depslice harness`` from the command line: from tests of a repository to harnesses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from depslice.solvers.loading import load_tasks
from depslice.solvers.problem import HiddenHarness
from functional.running import Depslice

SOURCE = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x


def alone(x):
    return x
"""
TESTS = """
import pytest
import shapes


@pytest.mark.parametrize("x", [-1, 0, 5, 10, 11])
def test_clamp(x):
    assert 0 <= shapes.clamp(x, 0, 10) <= 10
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "tests").mkdir(parents=True)
    (folder / "shapes.py").write_text(SOURCE, encoding="utf-8")
    (folder / "tests" / "test_shapes.py").write_text(TESTS, encoding="utf-8")
    return folder


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_from_tests_to_a_harness_and_again(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    into = tmp_path / "made"
    command = ["harness", repo, "--all", "--called", "--into", into, "--mutants", "5", *unsafe]
    done = depslice(*command, "--format", "jsonl")
    assert done.code == 0, done.err
    [made] = lines_of(done.out)
    assert made["schema"] == "depslice.made/1"
    assert (made["target"], made["generator"]) == ("shapes:clamp", "replay")
    assert made["verdict"] == "accepted"
    assert "    context.check(-1, 0, 10)\n" in (into / made["harness"]).read_text()
    assert "1 of 2 functions are called by tests" in done.err
    again = depslice(*command)
    assert again.code == 0
    assert "accepted" in again.out
    assert "replay" in again.out.splitlines()[-1]
    assert len((into / "manifest.jsonl").read_text().splitlines()) == 1


def test_harnesses_as_problems(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    """Some calls are shown; the others are nowhere in what a solver sees."""
    problems = tmp_path / "problems" / "shapes.jsonl"
    command = ["harness", repo, "shapes:clamp", "--into", tmp_path / "made", "--mutants", "5"]
    done = depslice(*command, "--problems", problems, "--show-calls", "1", *unsafe)
    assert done.code == 0, done.err
    assert "1 problem, 1 of them show calls" in done.err
    for strategy in ("naive", "sliced", "usages", "full"):
        [task] = load_tasks(problems, strategies=(strategy,))
        [shown] = task.problem.visible
        calls = [f"clamp({x}, 0, 10)" for x in (-1, 0, 5, 10, 11)]
        assert [call in shown.text for call in calls].count(True) == 1
        seen = json.dumps(task.problem.document())
        assert [call in seen for call in calls].count(True) == 1
        assert "parametrize" not in seen
        assert isinstance(task.hidden, HiddenHarness)
        asked = [f"check({x}, 0, 10)" in task.hidden.harness.text for x in (-1, 0, 5, 10, 11)]
        assert asked.count(True) > 1


def test_functions_without_tests_are_told(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    options = ["--into", tmp_path / "made", "--generator", "insitu", "--format", "jsonl", *unsafe]
    done = depslice("harness", repo, "shapes:alone", *options)
    assert done.code == 1
    [made] = lines_of(done.out)
    assert made["verdict"] == "declined"
    assert made["reasons"] == [{"slug": "no-calls", "message": "no test calls it"}]


def test_a_repository_without_tests_is_told(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    """It was told as "no test calls it, but there are no tests"."""
    (repo / "tests" / "test_shapes.py").unlink()
    options = ["--into", tmp_path / "made", "--every"]
    done = depslice("harness", repo, "shapes:alone", *options, "--format", "jsonl", *unsafe)
    assert "no call is recorded: there are no tests" in done.err
    made = {each["generator"]: each for each in lines_of(done.out)}
    assert made["replay"]["reasons"] == [{"slug": "no-calls", "message": "there are no tests"}]


def test_tests_that_are_not_named_as_tests_are_told(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    """As aiosqlite has them, in `tests/smoke.py`: there was nothing but "there are no tests"."""
    (repo / "tests" / "test_shapes.py").rename(repo / "tests" / "smoke.py")
    options = ["--into", tmp_path / "made", "--generator", "replay"]
    done = depslice("harness", repo, "shapes:clamp", *options, *unsafe)
    named = "there are no tests: tests/smoke.py is not named test_*.py or *_test.py\n"
    assert f"no call is recorded: {named}" in done.err
    assert "hint: --tests names what to run" in done.err
    assert "--tests" in depslice("harness", "--help").out
    made = depslice("harness", repo, "shapes:clamp", *options, "--tests", "tests/smoke.py", *unsafe)
    assert "1 of 1 functions are called by tests" in made.err


def test_test_files_that_lack_something_are_told_what_brings_it(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str]
) -> None:
    """A package with a compiled part that is not built was told to name other tests."""
    tests = repo / "tests"
    broken = tests / "test_compiled.py"
    broken.write_text("import shapes_compiled\nimport shapes\ndef test_it(): shapes.alone()\n")
    done = depslice("harness", repo, "shapes:alone", "--into", tmp_path / "made", *unsafe)
    assert "No module named 'shapes_compiled'" in done.err
    assert "hint: --run-python names an interpreter" in done.err
    assert "--make-environment makes one" in done.err
    checked = depslice("slice", repo, "shapes:alone", "--check", *unsafe)
    assert checked.code == 3
    assert "hint: --make-environment makes an environment" in checked.err


def test_tests_that_cannot_be_run_are_an_error_where_all_depends_on_them(
    depslice: Depslice, repo: Path, tmp_path: Path, unsafe: list[str], bare_python: Path
) -> None:
    """With --called nothing was selected then, with exit code 0."""
    into = ["--into", tmp_path / "made", *unsafe]
    nosuch = "tests/test_shapes.py::nosuch"
    done = depslice("harness", repo, "--all", "--called", "--tests", nosuch, *into)
    assert done.code == 3, done.err
    assert "no call is recorded: the tests could not be run" in done.error
    assert "ERROR: not found: " in done.error
    assert nosuch in done.error
    assert "hint: --tests is what pytest takes, relative to REPO; --run-python names" in done.err
    for chosen in (["--all", "--called"], ["shapes:clamp", "--generator", "insitu"]):
        done = depslice("harness", repo, *chosen, "--run-python", bare_python, *into)
        assert done.code == 3, done.err
        assert "No module named 'pytest'" in done.error
        assert "--make-environment makes one" in done.err
    assert not (tmp_path / "made" / "calls.json").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "give TARGETs, or --all"),
        (["shapes:clamp", "--all"], "give TARGETs, or --all"),
        (["shapes:clamp", "--called"], "--match, --sample and --called go with --all"),
        (["shapes:nothing"], "shapes:nothing"),
        (["shapes"], "not a function"),
        # Nothing was made then, with exit code 0.
        (["--all", "--match", "clamp"], "no function matches 'clamp': patterns are of whole ids"),
        (["shapes:clamp", "--generator", "nobody"], "no generator is called 'nobody'"),
        (["shapes:clamp", "--tests", "tests/no.py::t"], "--tests tests/no.py::t: there is no"),
    ],
)
def test_nonsense_is_refused_before_anything_runs(
    depslice: Depslice, repo: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    done = depslice("harness", repo, *arguments, "--into", tmp_path / "made")
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "made" / "manifest.jsonl").exists()

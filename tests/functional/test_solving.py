"""``depslice solve`` and ``depslice evaluate``, with recorded answers of a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from depslice.llm.cache import Store
from depslice.llm.port import Completion, Options, Usage
from depslice.llm.request import Request
from depslice.solvers.loading import load_tasks
from depslice.solvers.methods.direct import _PROMPTS
from functional.running import Depslice, Done

MODEL = "local:recorded.gguf#0123456789ab"
USAGE = Usage(calls=1, input_tokens=30, output_tokens=12, seconds=1.5, dollars=0.0)
ANSWERS = {
    "twice": "def twice(x):\n    return 2 * x",
    "overfits": "def overfits(x):\n    return 2",
    "hangs": "def hangs(x):\n    while True: pass",
    "prints": "def prints(x):\n    while True: print('x' * (1 << 20))",
    "exits": "import os\nos._exit(0)",
    "missing": "def something_else(x):\n    return 2 * x",
}
Evaluate = Callable[..., Done]


def problem(name: str) -> dict[str, str]:
    return {
        "task_id": f"Test/{name}",
        "prompt": f'def {name}(x):\n    """Twice x.\n    >>> {name}(1)\n    2\n    """\n',
        "entry_point": name,
        "test": "def check(candidate):\n    assert candidate(21) == 42\n",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of problems, and answers to them as a model has once given them."""
    place = tmp_path_factory.mktemp("solving")
    path = place / "problems.jsonl"
    path.write_text("".join(json.dumps(problem(n)) + "\n" for n in ANSWERS), encoding="utf-8")
    store = Store(place / "completions")
    for task in load_tasks(path):
        question = Request(
            messages=_PROMPTS.messages("write", problem=task.problem),
            options=Options(temperature=0.0, max_tokens=2048),
        )
        text = f"```python\n{ANSWERS[task.problem.entry_point]}\n```"
        store.write(MODEL, question, Completion(text=text, finish_reason="stop", usage=USAGE))
    return place


@pytest.fixture
def run(depslice: Depslice, folder: Path) -> Evaluate:
    """Run a command on the problems, with the recorded answers."""

    def ran(command: str, *arguments: str | Path, **options: Any) -> Done:
        return depslice(
            command,
            options.pop("problems", folder / "problems.jsonl"),
            *("--model", MODEL, "--replay", "--completions", folder / "completions"),
            *arguments,
            **options,
        )

    return ran


def test_answers_that_hang_print_and_exit_are_failures_and_the_run_goes_on(run: Evaluate) -> None:
    done = run("evaluate", "--solver", "direct", "--format", "json", "--seconds", "0.5")
    assert done.code == 0, done.err
    [score] = json.loads(done.out)["scores"]
    assert (score["problems"], score["passed"], score["overfitted"]) == (6, 1, 1)
    assert (score["calls"], score["input_tokens"], score["output_tokens"]) == (6, 180, 72)
    assert (score["model_seconds"], score["dollars"]) == (9.0, 0.0)


def test_what_was_made_is_not_made_again(
    run: Evaluate, depslice: Depslice, folder: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results.jsonl"
    asked = ("--solver", "direct", "--solver", "adacoder:iterations=0", "--results", results)
    first = run("evaluate", *asked, "--limit", "2")
    assert first.code == 0, first.err
    lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 4
    assert [json.loads(line)["passed"] for line in lines] == [True, False, True, False]
    # As a killed run leaves it: the last line is half there. And no answers are recorded.
    results.write_text("".join(lines[:3]) + lines[3][:40], encoding="utf-8")
    lost = run("evaluate", *asked, "--limit", "2", "--completions", tmp_path / "none")
    assert (lost.code, lost.error.split(":")[0]) == (3, "error")
    again = run("evaluate", *asked, "--limit", "2")
    assert _without_times(again.out) == _without_times(first.out)
    assert len(results.read_text(encoding="utf-8").splitlines()) == 4
    results.write_text("".join(lines[:3]), encoding="utf-8")
    known = run("evaluate", *asked, "--known", "--format", "json")
    assert [each["attempts"] for each in json.loads(known.out)["scores"]] == [2, 1]
    for named, found in (
        ((), [2, 1]),
        (("--solver", "adacoder:iterations=0"), [1]),
        (("--model", MODEL, "-k", "2"), [2, 1]),
        (("--model", "another"), []),
        (("--problem", "Test/twice"), [1, 1]),
    ):
        known = depslice(
            *("evaluate", folder / "problems.jsonl", "--results", results, "--known", *named),
            *("--format", "json"),
        )
        assert known.code == 0, known.err
        assert [each["attempts"] for each in json.loads(known.out)["scores"]] == found
    done = depslice("evaluate", folder / "problems.jsonl", "--results", results)
    assert (done.code, done.error) == (2, "error: missing option '--solver'")
    results.write_text("".join(lines), encoding="utf-8")
    third = run("evaluate", *asked, "--limit", "2", "--completions", tmp_path / "none")
    assert third.code == 0


def test_attempts_are_not_lost_with_the_model(run: Evaluate, folder: Path, tmp_path: Path) -> None:
    """Nobody asked for them to be kept; then the second answer is not there."""
    [first, *_] = load_tasks(folder / "problems.jsonl")
    question = Request(
        messages=_PROMPTS.messages("write", problem=first.problem),
        options=Options(temperature=0.0, max_tokens=2048),
    )
    Store(tmp_path / "one").write(
        MODEL, question, Completion(text="pass", finish_reason="stop", usage=USAGE)
    )
    asked = ("--solver", "direct", "--limit", "2", "--format", "json")
    place = {"env": {"TMPDIR": str(tmp_path)}}
    lost = run("evaluate", *asked, "--completions", tmp_path / "one", **place)
    [kept] = tmp_path.glob("depslice-attempts-*.jsonl")
    assert (lost.code, lost.out) == (3, "")
    assert f"1 attempt kept: go on with --results {kept}" in lost.err
    done = run("evaluate", *asked, "--results", kept, **place)
    assert json.loads(done.out)["scores"][0]["attempts"] == 2
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 2
    kept.unlink()
    assert run("evaluate", *asked, **place).code == 0
    assert not list(tmp_path.glob("depslice-attempts-*"))


def _without_times(table: str) -> list[list[str]]:
    """The cells, but for CPU and wall time."""
    rows = [line.replace(" s ", "_s ").split() for line in table.splitlines()]
    return [[*row[:-5], row[-4], *row[-2:]] for row in rows]


def test_the_table_and_the_page(run: Evaluate, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    asked = ("--solver", "direct", "--problem", "Test/twice", "--results", results)
    table = run("evaluate", *asked)
    assert table.out.splitlines()[1].split()[:5] == ["direct", "-", "1", "1/1", "100.0%"]
    page = run("evaluate", *asked, "--format", "html", "-o", tmp_path / "page.html")
    assert (page.code, page.out) == (0, "")
    assert "<title>Solvers compared</title>" in (tmp_path / "page.html").read_text("utf-8")


def test_solve_gives_code(run: Evaluate) -> None:
    done = run("solve", "--solver", "direct", "--problem", "Test/twice")
    assert (done.code, done.out) == (0, f"# Test/twice\n{ANSWERS['twice']}\n\n")


def test_without_the_cache_no_recorded_answer_is_used(run: Evaluate) -> None:
    for command in ("solve", "evaluate"):
        done = run(command, "--solver", "direct", "--no-cache")
        assert done.code == 2
        assert "--no-cache and --replay exclude each other" in done.error


def test_solve_gives_lines_that_others_can_grade(run: Evaluate) -> None:
    done = run("solve", "--solver", "direct", "--limit", "2", "--format", "jsonl")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [each["task_id"] for each in found] == ["Test/twice", "Test/overfits"]
    assert found[1]["solution"] == ANSWERS["overfits"]


def test_solve_gives_as_many_samples_as_are_asked_for(run: Evaluate) -> None:
    asked = ("--solver", "direct", "--problem", "Test/twice", "--format", "jsonl")
    done = run("solve", *asked, "--samples", "2")
    assert done.code == 0, done.err
    assert [json.loads(line)["sample"] for line in done.out.splitlines()] == [0, 1]
    assert "all samples are the same" in done.err


def test_a_cap_for_each_attempt_ends_that_attempt(run: Evaluate) -> None:
    """Each answer takes 42 tokens, and AdaCoder wants a plan where the first program fails."""
    asked = ("--solver", "adacoder", "--problem", "Test/missing", "--problem", "Test/twice")
    done = run("evaluate", *asked, "--task-tokens", "40", "--format", "json")
    assert done.code == 0, done.err
    [score] = json.loads(done.out)["scores"]
    assert (score["attempts"], score["passed"], score["unanswered"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--solver", "codetre"), 2, "error: no solver is called 'codetre'"),
        (("--solver", "codetree:depht=1"), 2, "error: codetree has no option 'depht'"),
        (("--solver", "direct", "--problem", "Test/9"), 2, "has no problem 'Test/9'"),
        (("--solver", "direct", "-k", "3"), 2, "error: pass@3 needs --samples 3 or more"),
        (("--solver", "selfrepair"), 2, "error: selfrepair asks for the outcome of the hidden"),
        (("--solver", "cot"), 3, "error: no recorded answer"),
        (("--solver", "direct", "--known"), 2, "error: --known needs --results"),
        (("--solver", "direct", "--dry-run"), 2, "error: --dry-run cannot say"),
        (("--solver", "direct", "--sandbox", "none"), 3, "error: no sandbox is called 'none'"),
        ((), 2, "error: missing option '--solver'"),
    ],
)
def test_misuse_is_one_line(
    run: Evaluate, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = run("evaluate", *arguments)
    assert done.code == code
    assert message in done.error


def test_a_broken_file_is_named_with_its_line(run: Evaluate, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(problem("twice")) + "\n{...\n", encoding="utf-8")
    done = run("evaluate", "--solver", "direct", problems=path)
    assert (done.code, done.error.startswith(f"error: {path}:2: not JSON")) == (2, True)
    done = run("solve", "--solver", "direct", problems=tmp_path / "none.jsonl")
    assert (done.code, "no such file" in done.error) == (2, True)


def test_results_that_are_something_else(run: Evaluate, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("this is a letter\n", encoding="utf-8")
    done = run("evaluate", "--solver", "direct", "--results", path)
    assert done.code == 2
    assert path.read_text(encoding="utf-8") == "this is a letter\n"


def test_results_of_another_command(run: Evaluate, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    verdict = json.dumps({"key": "0", "schema": "depslice.verdict/1", "verdict": "accepted"}) + "\n"
    path.write_text(verdict, encoding="utf-8")
    done = run("evaluate", "--solver", "direct", "--results", path)
    assert (done.code, "another command's: depslice.verdict/1" in done.error) == (2, True)
    assert path.read_text(encoding="utf-8") == verdict


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("none.jsonl", ("--known",), "none.jsonl: no such file"),
        ("/dev/full", (), "/dev/full is not a file"),
        ("/dev/zero", ("--known",), "/dev/zero is not a file"),
    ],
)
def test_results_that_are_not_there(
    run: Evaluate, path: str, options: tuple[str, ...], message: str
) -> None:
    done = run("evaluate", "--solver", "direct", "--results", path, *options)
    assert (done.code, message in done.error) == (2, True), done.error


def test_a_problem_whose_own_solution_fails_is_told(
    run: Evaluate, folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "problems.jsonl"
    lines = [
        {**problem(name), "canonical_solution": f"    return {text}\n"}
        for name, text in (("twice", "x + x"), ("overfits", "x + x"), ("missing", "1 / 0"))
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    done = run("evaluate", "--solver", "direct", problems=path)
    assert done.code == 0, done.err
    said = [line for line in done.err.splitlines() if "own solution" in line]
    assert said == [
        "Test/missing: its own solution fails the hidden tests (raises): no answer can pass"
    ]


def test_functions_of_a_repository_with_two_contexts(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "money.py").write_text(
        'TARGET = "shop.text:money"\n\n\ndef test_money(candidate, reference):\n'
        "    assert candidate(2.5) == reference(2.5)\n    assert candidate(0) == reference(0)\n",
        encoding="utf-8",
    )
    path = tmp_path / "problems.jsonl"
    untrue = [{"text": "assert money(1) == 'what it never gives'"}]
    line = {"repo": str(shop), "harness": "money.py", "visible": untrue}
    path.write_text(json.dumps(line), encoding="utf-8")
    store = Store(tmp_path / "completions")
    source = (shop / "shop" / "text.py").read_text(encoding="utf-8")
    answers = {"naive": "def money(amount):\n    return str(amount)", "sliced": source}
    for task in load_tasks(path, strategies=tuple(answers)):
        question = Request(
            messages=_PROMPTS.messages("write", problem=task.problem),
            options=Options(temperature=0.0, max_tokens=2048),
        )
        text = f"```python\n{answers[task.problem.strategy]}\n```"
        store.write(MODEL, question, Completion(text=text, finish_reason="stop", usage=USAGE))
    asked = (
        *(path, "--model", MODEL, "--replay", "--completions", tmp_path / "completions"),
        *("--strategy", "naive", "--strategy", "sliced", "--solver", "direct"),
    )
    results = ("--results", tmp_path / "results.jsonl", "--format", "json")
    done = depslice("evaluate", *asked, *results)
    assert done.code == 0, done.err
    known = depslice("evaluate", *asked, *results, "--known")
    assert json.loads(known.out) == json.loads(done.out)
    lines = (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(each)["tests"] for each in lines] == [0, 0]
    found = json.loads(done.out)["scores"]
    assert [(each["strategy"], each["passed"]) for each in found] == [("naive", 0), ("sliced", 1)]

"""A solver that looks for the hidden tests finds nothing, and one that fails harms nobody."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import tomllib
import venv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from depslice.llm.port import Options
from depslice.solvers.choosing import BUILT_IN, SolverError, SolverSpec
from depslice.solvers.execution.trials import Grounds
from depslice.solvers.loading import load_tasks
from depslice.solvers.problem import HiddenTests, ProblemError, Task
from depslice.solvers.running import attempt
from depslice.solvers.running.attempt import Place, check_hidden, check_solver, grade, propose
from depslice.solvers.running.local import OracleRefused
from depslice.validator.sandbox import Sandbox
from plugin_solvers import install
from scripted import ScriptedModel
from solving import MIDDLE, RIGHT, TASK, block

PYTHON = Path(sys.executable)


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A word that stands in the hidden tests, and near the runner in every other way."""
    word = "HIDDEN-" + secrets.token_hex(16)
    monkeypatch.setenv("DEPSLICE_TESTS", word)
    (tmp_path / "problems.jsonl").write_text(word, encoding="utf-8")
    return word


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server of the runner's, and an abstract socket of that number."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as other:
        port = server.getsockname()[1]
        other.bind(f"\0depslice-{port}")
        other.listen()
        yield port


@pytest.fixture
def plugins(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = install(tmp_path_factory.mktemp("plugins"))
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def place(sandbox: Sandbox) -> Place:
    return Place(
        model=ScriptedModel([block(RIGHT)] * 3),
        grounds=Grounds(sandbox=sandbox, python=Path(sys.executable)),
        options=Options(),
    )


def test_a_solver_that_looks_for_the_hidden_tests_finds_nothing(
    secret: str, listening: int, plugins: Path, place: Place
) -> None:
    problem = replace(MIDDLE, context=f"port {listening}")
    task = Task(problem=problem, hidden=HiddenTests(program=f"assert middle([]) != {secret!r}"))
    proposed = propose(task, SolverSpec.of("thief"), place)
    assert proposed.code is not None, proposed.why
    assert proposed.code.startswith("# []")
    for name in ("files", "environment", "processes", "stack", "garbage", "sockets"):
        assert f"'{name}'" in proposed.code  # it did look there


def test_what_it_may_see_it_does_find(secret: str, plugins: Path, place: Place) -> None:
    """The control: the same thief, with the word in its own problem."""
    task = replace(TASK, problem=replace(MIDDLE, context=secret))
    proposed = propose(task, SolverSpec.of("thief"), place)
    assert "garbage" in (proposed.code or proposed.why)
    assert "processes" in (proposed.code or "")


def test_plug_ins_are_not_imported_by_the_process_that_has_the_hidden_tests(
    plugins: Path, place: Place
) -> None:
    check_solver(SolverSpec.of("raising"), place.grounds.sandbox)
    assert propose(TASK, SolverSpec.of("raising"), place).code is None
    assert "others_solvers" not in sys.modules


def test_there_is_no_oracle_unless_it_is_allowed(plugins: Path, place: Place) -> None:
    for name in ("judge", "selfrepair"):
        with pytest.raises(OracleRefused):
            propose(TASK, SolverSpec.of(name), place)


def test_who_needs_an_oracle_is_refused_before_the_model_is_asked(
    plugins: Path, sandbox: Sandbox
) -> None:
    with pytest.raises(OracleRefused, match="selfrepair:rounds=2 asks for the outcome"):
        check_solver(SolverSpec.of("selfrepair:rounds=2"), sandbox)
    check_solver(SolverSpec.of("selfrepair:rounds=0"), sandbox)
    check_solver(SolverSpec.of("selfrepair"), sandbox, oracle=True)


def test_self_repair_with_an_oracle_is_counted(place: Place) -> None:
    allowed = replace(place, oracle=True)
    proposed = propose(TASK, SolverSpec.of("selfrepair"), allowed)
    assert (proposed.code, proposed.bench.judged) == (RIGHT, 1)
    assert grade(TASK, RIGHT, allowed).hidden.passed


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("silent", "ended without an answer"),
        ("raising", "KeyError: 'no idea'"),
        ("nobody", "gives NoneType, not a text"),
        ("liar", "what is no request"),
        ("babbler", "what is no request"),
        ("endless", "what is no request"),
        ("hot", "what is no request"),
        ("cold", "what is no request"),
        ("lines", "ValueError: one two"),
    ],
)
def test_a_solver_that_fails_is_an_attempt_that_failed(
    plugins: Path, place: Place, name: str, why: str
) -> None:
    proposed = propose(TASK, SolverSpec.of(name), place)
    assert proposed.code is None
    assert why in proposed.why


def test_a_search_without_end_is_ended(
    plugins: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt, "_PROGRAMS_MOST", 3)
    proposed = propose(TASK, SolverSpec.of("restless"), place)
    assert (proposed.code, proposed.bench.programs) == (None, 3)
    assert proposed.why == "the solver tries more than 3 programs"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("missing", "cannot be made"),
        ("nothing", "cannot be made"),
        ("codetree:depht=2", "has no option 'depht'"),
        ("codetree:depth=deep", "depth=deep is no whole number"),
        ("codetree:search=best", "is no one of dfs, bfs"),
        ("codetree:critic=perhaps", "is no yes or no"),
        ("cot:shots=7", "shots is 0 or 2"),
        ("codetree:width=0", "have to be 1 or more"),
        ("reflexion:budget=0", "has to be 1 or more"),
        ("resample:temperature=900", "temperature is from 0 to 2"),
        ("adacoder:temperature=2.5", "temperature is from 0 to 2"),
        ("adacoder:temperature=nan", "temperature=nan is no number"),
    ],
)
def test_a_solver_that_cannot_be_made_is_named_before_any_attempt(
    plugins: Path, sandbox: Sandbox, spec: str, message: str
) -> None:
    with pytest.raises(SolverError, match=message):
        check_solver(SolverSpec.of(spec), sandbox)


def test_an_unknown_solver() -> None:
    with pytest.raises(SolverError, match="no solver is called 'codetre'") as caught:
        SolverSpec.of("codetre")
    assert "codetree" in caught.value.hint
    with pytest.raises(SolverError, match="'budget' more than once"):
        SolverSpec.of("codetree:budget=6,budget=10")
    with pytest.raises(SolverError, match="KEY=VALUE"):
        SolverSpec.of("codetree:bfs")


def test_problems_must_not_lie_where_solvers_can_read(plugins: Path, tmp_path: Path) -> None:
    direct, thief = SolverSpec.of("direct"), SolverSpec.of("thief")
    check_hidden(tmp_path / "problems.jsonl", [TASK], [direct, thief], python=PYTHON)
    for path, spec in (
        (plugins / "problems.jsonl", thief),
        (Path(os.path.dirname(sys.executable)) / "problems.jsonl", direct),
        (Path("/usr/share/problems.jsonl"), direct),
    ):
        with pytest.raises(ProblemError, match="solvers can read"):
            check_hidden(path, [TASK], [spec], python=PYTHON)


def test_a_repository_that_solvers_run_from_cannot_be_their_problem(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    (tmp_path / "harness.py").write_text("def test_it(candidate, reference): ...", "utf-8")
    path = tmp_path / "problems.jsonl"
    line = {"repo": str(root / "solvers"), "harness": "harness.py"}
    target = "depslice.solvers.scoring:pass_at_k"
    path.write_text(json.dumps({**line, "target": target}), encoding="utf-8")
    tasks = load_tasks(path, strategies=("naive",))
    with pytest.raises(ProblemError, match="solvers can read"):
        check_hidden(path, tasks, [SolverSpec.of("direct")], python=PYTHON)


def test_a_harness_must_not_lie_where_solvers_can_read(plugins: Path, tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "m.py").write_text("def f(x):\n    return x\n", encoding="utf-8")
    harness = plugins / "harness.py"
    harness.write_text("def test_it(candidate, reference): ...", encoding="utf-8")
    path = tmp_path / "problems.jsonl"
    line = {"repo": "repo", "harness": str(harness), "target": "m:f"}
    path.write_text(json.dumps(line), encoding="utf-8")
    tasks = load_tasks(path, strategies=("naive",))
    check_hidden(path, tasks, [SolverSpec.of("direct")], python=PYTHON)
    with pytest.raises(ProblemError, match="solvers can read"):
        check_hidden(path, tasks, [SolverSpec.of("thief")], python=PYTHON)


def test_problems_and_originals_must_not_lie_where_answers_can_read(tmp_path: Path) -> None:
    direct = [SolverSpec.of("direct")]
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    check_hidden(tmp_path / "problems.jsonl", [TASK], direct, python=python)
    with pytest.raises(ProblemError, match="answers can read"):
        check_hidden(tmp_path / "venv" / "problems.jsonl", [TASK], direct, python=python)
    (tmp_path / "repo").mkdir()
    original = "def f(x):\n    return x\n"
    (tmp_path / "repo" / "shop.py").write_text(original, encoding="utf-8")
    (tmp_path / "harness.py").write_text("def test_it(candidate, reference): ...", "utf-8")
    path = tmp_path / "problems.jsonl"
    line = {"repo": "repo", "harness": "harness.py", "target": "shop:f"}
    path.write_text(json.dumps(line), encoding="utf-8")
    tasks = load_tasks(path, strategies=("naive",))
    check_hidden(path, tasks, direct, python=python)
    [packages] = (tmp_path / "venv").glob("lib/python*/site-packages")
    (packages / "shop.py").write_text(original, encoding="utf-8")
    with pytest.raises(ProblemError, match="the original of shop:f"):
        check_hidden(path, tasks, direct, python=python)


def test_notes_that_nobody_can_keep_are_dropped(plugins: Path, place: Place) -> None:
    proposed = propose(TASK, SolverSpec.of("talker"), place)
    assert proposed.code == "x"
    assert [event["event"] for event in proposed.bench.events] == ["long"] * 10


def test_built_in_solvers_use_the_same_door() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["entry-points"]["depslice.solvers"] == dict(BUILT_IN)

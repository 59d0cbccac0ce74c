"""``depslice validate`` from the command line."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from functional.running import ROOT, Depslice

SOURCE = """\
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
"""
GOOD = """\
HARNESS_FORMAT = 1
TARGET = "shapes:clamp"


def test_clamp(candidate, reference):
    for x in (-1, 0, 5, 10, 11):
        assert candidate(x, 0, 10) == reference(x, 0, 10)


def test_whole_calls(context):
    context.check(1.5, 0, 1)
"""
WEAK = """\
TARGET = "shapes:clamp"


def test_clamp(candidate, reference):
    assert candidate(5, 0, 10) == reference(5, 0, 10)
"""
VERDICT = ["schema", "harness", "target", "digest", "verdict", "reasons", "evidence"]
EVIDENCE = [
    *("tests", "runs", "deterministic", "candidate_calls", "reference_calls"),
    *("assertions_written", "assertions_reached", "branches_hit", "branches_missed"),
    *("lines_hit", "lines_missed", "controls", "mutants", "tampering"),
    *("original_differs", "seconds"),
    *("branch_coverage", "line_coverage", "mutation_score"),
]
FAST = ("--runs", "1")

Write = Callable[..., Path]


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "shapes.py").write_text(SOURCE)
    return repo


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        path = tmp_path / "harnesses" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return written


def test_an_accepted_one(depslice: Depslice, shapes: Path, write: Write) -> None:
    done = depslice("validate", shapes, write("good.py", GOOD))
    assert done.code == 0, done.err
    first = done.out.splitlines()[0]
    assert first.startswith("accepted")
    assert "shapes:clamp  branches 4/4  mutants 7/9  runs 3/3" in first
    assert "survives: comparison, line 2" in done.out


def test_a_folder_of_both_is_rejected(depslice: Depslice, shapes: Path, write: Write) -> None:
    write("good.py", GOOD)
    folder = write("weak.py", WEAK).parent
    done = depslice("validate", shapes, folder, *FAST)
    assert done.code == 1
    heads = {line.split()[0] for line in done.out.splitlines() if not line.startswith(" ")}
    assert heads == {"accepted", "rejected"}
    assert "coverage: 50% of the target's branches run, 80% wanted; not: 2->3, 4->5" in done.out
    assert "1 accepted, 1 rejected" in done.err


def test_json(depslice: Depslice, shapes: Path, write: Write) -> None:
    """As docs/formats/json.md has it; the numbers were worked out by hand."""
    document = json.loads(
        depslice("validate", shapes, write("weak.py", WEAK), *FAST, "--format", "json").out
    )
    assert list(document) == VERDICT
    assert document["schema"] == "depslice.verdict/1"
    assert "## `depslice.verdict/1`" in (ROOT / "docs/formats/json.md").read_text(encoding="utf-8")
    assert document["verdict"] == "rejected"
    slugs = [reason["slug"] for reason in document["reasons"]]
    assert slugs == ["coverage", "control-identity", "mutation"]
    page = (ROOT / "docs" / "verdict.md").read_text(encoding="utf-8")
    assert all(f"`{slug}`" in page for slug in ("coverage", "mutation", "control-NAME"))
    evidence = document["evidence"]
    assert list(evidence) == EVIDENCE
    assert evidence["branches_missed"] == [[2, 3], [4, 5]]
    assert evidence["branch_coverage"] == 0.5
    assert evidence["mutation_score"] == 5 / 9
    assert set(evidence["mutants"]) == {
        *("made", "tested", "killed", "same_bytecode", "survived", "equivalent"),
    }


def test_gates_of_the_project(
    depslice: Depslice, shapes: Path, write: Write, tmp_path: Path
) -> None:
    arguments = ("validate", shapes, write("good.py", GOOD))
    settings = tmp_path / "pyproject.toml"
    settings.write_text("[tool.depslice.validate]\nmutation = 0.95\nruns = 1\n")
    done = depslice(*arguments, cwd=tmp_path)
    assert done.code == 1
    assert "mutation: 78% of the mutants are killed, 95% wanted" in done.out
    assert depslice(*arguments, "--mutation", "0.7", cwd=tmp_path).code == 0
    for wrong in ("mutation = 7", "sandbox = 'unsafe'", "run-python = '/bin/sh'", "gates = 1"):
        settings.write_text(f"[tool.depslice.validate]\n{wrong}\n")
        done = depslice(*arguments, cwd=tmp_path)
        assert (done.code, wrong.partition(" ")[0] in done.error) == (2, True), done


def test_what_cannot_be_imported_is_inconclusive(
    depslice: Depslice, shapes: Path, write: Write
) -> None:
    (shapes / "shapes.py").write_text("import nothing_of_this_name\n" + SOURCE)
    done = depslice("validate", shapes, write("good.py", GOOD), *FAST)
    assert done.code == 3
    assert done.out.startswith("inconclusive")
    assert "import: ModuleNotFoundError: No module named 'nothing_of_this_name'" in done.out


def test_an_environment_is_made(depslice: Depslice, shapes: Path, write: Write) -> None:
    (shapes / "pyproject.toml").write_text(
        '[project]\nname = "shapes"\nversion = "1"\nrequires-python = ">=3.11"\n'
    )
    harness = write("good.py", GOOD)
    done = depslice("validate", shapes, harness, *FAST, "--make-environment")
    assert done.code == 0, done.err
    both = ("--make-environment", "--run-python", sys.executable)
    assert depslice("validate", shapes, harness, *both).code == 2


def test_results_of_other_settings_are_not_known(
    depslice: Depslice, shapes: Path, write: Write, tmp_path: Path
) -> None:
    arguments = ("validate", shapes, write("weak.py", WEAK), *FAST)
    arguments += ("--results", tmp_path / "results.jsonl")
    first = depslice(*arguments)
    assert depslice(*arguments).out.count("(known)") == 1, first.err
    other = depslice(*arguments, "--run-python", sys.executable)
    assert "(known)" not in other.out, other.out


def test_results_are_kept(depslice: Depslice, shapes: Path, write: Write, tmp_path: Path) -> None:
    """A rerun asks for nothing that is known, and a cut line is found again."""
    good, weak = write("good.py", GOOD), write("weak.py", WEAK)
    results = tmp_path / "results.jsonl"
    arguments = ("validate", shapes, good, weak, *FAST, "--results", results)
    assert depslice(*arguments).code == 1
    kept = results.read_bytes()
    assert len(kept.splitlines()) == 2
    done = depslice(*arguments)
    assert done.code == 1
    assert done.out.count("(known)") == 2
    assert results.read_bytes() == kept
    results.write_bytes(kept[:-40])
    assert depslice(*arguments).out.count("(known)") == 1
    assert len(results.read_bytes().splitlines()) == 2
    left = Path(tempfile.mkdtemp(prefix="depslice-scratch-"))
    assert depslice(*arguments).out.count("(known)") == 2
    assert not left.exists()  # what a killed run left, though nothing ran
    results.write_bytes(kept.replace(b'"verdict": "accepted"', b'"verdict": null'))
    assert depslice(*arguments).out.count("(known)") == 1  # what says nothing is found again
    (shapes / "shapes.py").write_text("# changed\n" + SOURCE)
    assert "(known)" not in depslice(*arguments).out


def test_without_a_sandbox(depslice: Depslice, shapes: Path, write: Write) -> None:
    done = depslice("validate", shapes, write("good.py", GOOD), *FAST, "--unsafe-no-sandbox")
    assert done.code == 0, done.err
    assert "no sandbox: the code can read and change whatever you can" in done.err


def test_what_is_no_harness(depslice: Depslice, shapes: Path, write: Write, tmp_path: Path) -> None:
    assert "no such file" in depslice("validate", shapes, tmp_path / "nothing.py").err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert depslice("validate", shapes, empty).code == 2
    for text, reason in (
        ("def test(candidate: pass", "not-a-harness: "),
        ("def test(candidate): pass", "does not name its target: give --target, or write"),
        ("TARGET = 'shapes:clamps'", "unknown-target: "),
        ("HARNESS_FORMAT = 2\nTARGET = 'shapes:clamp'", "has format 2; 1 is known here"),
        ("TARGET = 'shapes:clamp'\nTOLERANCE = 'much'", "TOLERANCE must be like"),
        ("TARGET = 'shapes:clamp'\nTOLERANCE = {[]: 1}", "TOLERANCE is no literal"),
    ):
        done = depslice("validate", shapes, write("broken.py", text))
        assert done.code == 1, text
        assert reason in done.out
    harness = write("good.py", GOOD)
    assert depslice("validate", shapes, harness, "--target", "shapes:clamps").code == 2
    bad = write("verdicts.txt", "no verdicts\n")
    done = depslice("validate", shapes, harness, "--results", bad)
    assert (done.code, "is not a line of results" in done.error) == (2, True)


@pytest.mark.slow
def test_killed_at_any_moment(
    environment: dict[str, str], shapes: Path, write: Write, tmp_path: Path
) -> None:
    """No process is left, and the last of several runs finishes what others have begun."""
    for number in range(6):
        folder = write(f"h{number}.py", f"{GOOD}# {number}\n").parent
    results = tmp_path / "results.jsonl"
    temporary = Path(tempfile.mkdtemp())  # not in `tmp_path`: started as root, users are changed
    temporary.chmod(0o755)
    arguments = ["validate", shapes, folder, *FAST, "--workers", "2", "--results", results]
    command = [sys.executable, "-m", "depslice.cli", *map(str, arguments)]
    env = environment | {"TMPDIR": str(temporary)}
    for seconds in (0.3, 1, 1.5, 2, 3, 5, 600):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
        try:
            assert process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        until = time.monotonic() + 10
        while (left := mentioning(temporary)) and time.monotonic() < until:
            time.sleep(0.05)
        assert left == []
    kept = results.read_text(encoding="utf-8").splitlines()
    assert len({json.loads(line)["key"] for line in kept}) == 6
    assert len(kept) == 6
    assert [name for name in os.listdir(temporary) if name.startswith("depslice-scratch")] == []
    shutil.rmtree(temporary)


def mentioning(path: Path) -> list[bytes]:
    """The command lines of other processes that have a path in them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(path).encode() in command and process.name != str(os.getpid()):
            found.append(command)
    return found


def test_no_room_for_temporary_files_is_no_fault_of_depslice(
    depslice: Depslice, shapes: Path, write: Write
) -> None:
    no_files = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (0, 0))
    done = depslice("validate", shapes, write("good.py", GOOD), preexec_fn=no_files)
    assert (done.code, done.error.split(":")[:2]) == (3, ["error", " the machine lacks something"])
    assert "TMPDIR" in done.err

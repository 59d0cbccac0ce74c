"""Real packages from the registry: no function crashes, and slices lack no name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Small, and unlike each other: plain functions, one lazy module, decorators and currying,
# a namespace package, Python 2 files that do not parse.
PACKAGES = ("humanize", "six", "toolz", "click", "jaraco.functools", "google-cloud-core", "fissix")
SAMPLE = 60


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages, unpacked from their wheels; skips where the registry cannot be reached."""
    folder = tmp_path_factory.mktemp("corpus")
    done = run("corpus.py", "--into", str(folder), *PACKAGES)
    if done.returncode:
        pytest.skip(f"no corpus: {done.stderr.strip()}")
    return folder


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def records(check: str, packages: Path, results: Path) -> list[dict[str, Any]]:
    """What ``acceptance.py`` finds, a record a package."""
    done = run(
        "acceptance.py",
        *(check, "--packages", ",".join(PACKAGES), "--sample", str(SAMPLE)),
        *("--corpus", str(packages), "--results", str(results), "--workers", "2"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (results / f"{check}.jsonl").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert {record["package"] for record in found} == set(PACKAGES)
    return found


@pytest.fixture(scope="session")
def sliced(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What slicing a sample of every package gives."""
    return records("any-repo", packages, tmp_path_factory.mktemp("results"))


def test_no_function_crashes_or_hangs(sliced: list[dict[str, Any]]) -> None:
    assert [failure for record in sliced for failure in record["failures"]] == []
    assert sum(record["sliced"] for record in sliced) > 4 * SAMPLE


def test_files_that_do_not_parse_are_named(sliced: list[dict[str, Any]]) -> None:
    (fissix,) = (record for record in sliced if record["package"] == "fissix")
    named = {each["path"] for each in fissix["diagnostics"]}
    assert "fissix/tests/data/py2_test_grammar.py" in named
    assert fissix["functions"] > 500


def test_slices_compile_and_lack_no_name(packages: Path, tmp_path: Path) -> None:
    found = records("nothing-missing", packages, tmp_path)
    assert [failure for record in found for failure in record["failures"]] == []
    sliced = sum(record["sliced"] for record in found)
    leftovers = {record["package"]: record["examples"] for record in found if record["examples"]}
    for rendering in ("tree", "module"):
        clean = sum(record["clean"].get(rendering, 0) for record in found)
        assert clean >= 0.99 * sliced, (rendering, leftovers)

"""``benchmarks/strategies.py`` with a scripted endpoint: a run that is ended, and goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from endpoint import Asked, Reply, chat, failure, serving
from functional.running import ROOT

FILES = {
    "low.py": '''
def clamp(x, low, high):
    """``x``, or the limit that it is beyond."""
    if x < low:
        return low
    if x > high:
        return high
    return x
''',
    "high.py": '''
from low import clamp


def percent(x):
    """``x`` as a percentage."""
    return str(clamp(x, 0, 100)) + "%"


def nothing():
    """Neither takes nor returns anything."""
''',
}
EQUIVALENCE = """```python
def test_all(candidate, reference):
    for x in (-3, 0, 1, 2, 99, 100, 101, 1000):
        ARGUMENTS
        assert candidate(*arguments) == reference(*arguments)
```"""
WRONG = """```python
def test_one(candidate):
    assert candidate("no such thing") == 0
```"""


def answer(asked: Asked) -> Reply:
    """Right tests that compare, and wrong predictions."""
    said = asked.body["messages"][-1]["content"]
    if "what the reference does" not in said:
        return chat(WRONG)
    arguments = "(x, 0, 100)" if "`clamp`" in said else "(x,)"
    return chat(EQUIVALENCE.replace("ARGUMENTS", f"arguments = {arguments}"))


@pytest.mark.slow
def test_a_run_that_is_ended_goes_on_and_gives_the_table(
    environment: dict[str, str], tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text, encoding="utf-8")

    def run(url: str) -> subprocess.CompletedProcess[str]:
        command = [
            *(sys.executable, str(ROOT / "benchmarks" / "strategies.py"), "--model", "m"),
            *("--base-url", url, "--folder", str(repo), "--functions", "2", "--mutants", "8"),
            *("--into", str(tmp_path / "into"), "--results", str(tmp_path / "results.jsonl")),
            *("--page", str(tmp_path / "page.md"), "--price", "1/2"),
        ]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment, timeout=300
        )

    def changing(asked: Asked) -> Reply:
        fails = first_run and len(provider.asked) > 5
        return failure(401) if fails else answer(asked)

    first_run = True
    with serving(changing) as provider:
        ended = run(provider.url)
        assert ended.returncode == 1
        assert "HTTP 401" in ended.stderr.splitlines()[-1]
        assert "Traceback" not in ended.stderr
        results = tmp_path / "results.jsonl"
        assert 5 <= len(results.read_text("utf-8").splitlines()) < 16
        with results.open("a") as file:
            file.write('{"model": "cut o')  # as a kill may leave it
        first_run = False
        done = run(provider.url)
        assert done.returncode == 0, done.stderr
        assert run(provider.url).returncode == 0
        asked = [json.dumps(each.body["messages"]) for each in provider.asked]
        assert len(asked) == len(set(asked)) + 1  # none twice but that which failed
    lines = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    assert len(lines) == 16
    assert {(line["target"], line["place"]) for line in lines} == {
        ("low:clamp", "in-file"),
        ("high:percent", "out-file"),
    }
    for line in lines:
        compares = line["builder"] == "equivalence"
        assert line["self_equivalent"] == compares, line
        assert (line["harness"] is not None, line["usage"]["input_tokens"]) == (True, 10)
        assert line["usage"]["dollars"] == pytest.approx((10 + 2 * 5) / 1e6)
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "Not finished" not in page
    assert "| equivalence | sliced | in-file | 1 | 1 | 100% | 1 | 100% |" in page
    assert "| output-prediction | naive | out-file | 1 | 0 | 0% | 0 | - | - |" in page
    assert "fails-on-original" in page


def line(strategy: str, *slugs: str, verdict: str = "rejected") -> dict[str, object]:
    """A line of the results, with these reasons."""
    usage = {"calls": 1, "input_tokens": 9, "output_tokens": 4, "seconds": 2.0, "dollars": None}
    return {
        "model": "m", "package": "p", "version": "1", "target": "p:f", "place": "in-file",
        "builder": "equivalence", "strategy": strategy, "settings": {"rounds": 1},
        "verdict": verdict, "reasons": [{"slug": slug, "message": ""} for slug in slugs],
        "branch_coverage": 0.5, "mutation_score": None, "rounds": 1, "cpu": 3, "seconds": 4,
        "usage": usage,
    }  # fmt: skip


def test_the_page_tells_weak_from_invalid_and_what_is_missing(
    environment: dict[str, str], tmp_path: Path
) -> None:
    lines = [
        line("naive", "coverage", "control-empty", "mutation"),
        line("full", "coverage", "flaky"),
        line("sliced", "truncated", verdict="declined"),
    ]
    results, page = tmp_path / "r.jsonl", tmp_path / "p.md"
    results.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    command = [
        *(sys.executable, str(ROOT / "benchmarks" / "strategies.py"), "--report"),
        *("--results", str(results), "--page", str(page), "--functions", "3"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "0 of 3 functions have all 8 harnesses" in text
    assert "| equivalence | naive | in-file | 1 | 1 | 100% | 0 | 50% | - | 9 | 4 |" in text
    for strategy in ("full", "sliced"):
        assert f"| equivalence | {strategy} | in-file | 1 | 0 | 0% | 0 | - | - |" in text
    for cause in ("coverage", "flaky", "truncated"):
        assert f"\n| {cause} |" in text
    assert "unknown" in text

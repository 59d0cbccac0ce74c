"""``benchmarks/strategies.py`` with a scripted endpoint: a run that is ended, and goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from endpoint import Asked, Reply, chat, failure, serving
from functional.running import ROOT

pytestmark = pytest.mark.slow

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

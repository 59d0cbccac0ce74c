"""The runner without a sandbox: limits hold, and nothing of the user's environment leaks."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from depslice.validator import CheckUnavailable, Ended, Job, Limits, ProcessRunner
from depslice.validator.workspace import read_results


def run(tmp_path: Path, code: str, limits: Limits | None = None) -> Ended:
    job = Job(command=(sys.executable, "-c", code), readable=(), writable=tmp_path)
    return ProcessRunner().run(job, limits or Limits(seconds=20))


def test_an_ended_process(tmp_path: Path) -> None:
    ended = run(tmp_path, "print('hello'); raise SystemExit(3)")
    assert (ended.code, ended.timed_out, ended.said.strip()) == (3, False, "hello")


def test_time_is_limited_and_children_end_too(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "time.sleep(60)\n"
    )
    started = time.monotonic()
    ended = run(tmp_path, code, Limits(seconds=2))
    assert ended.timed_out
    assert time.monotonic() - started < 20
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):  # until init has taken it
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            break
        if state == "Z":
            break
        time.sleep(0.05)
    else:
        pytest.fail("a child of the job lives on")


def test_memory_is_limited(tmp_path: Path) -> None:
    ended = run(tmp_path, "x = bytearray(3 << 30)", Limits(seconds=20, mebibytes=1024))
    assert ended.code == 1
    assert "MemoryError" in ended.said


def test_file_size_is_limited(tmp_path: Path) -> None:
    code = "f = open('big', 'wb'); [f.write(bytes(1 << 20)) for _ in range(64)]"
    assert run(tmp_path, code, Limits(seconds=20, file_mebibytes=8)).code != 0
    assert (tmp_path / "big").stat().st_size <= 8 << 20


def test_the_environment_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "x")
    said = run(tmp_path, "import os; print(sorted(os.environ)); print(os.environ['HOME'])").said
    assert "A_SECRET" not in said
    assert str(tmp_path) in said


def test_no_such_interpreter(tmp_path: Path) -> None:
    job = Job(command=("/no/such/python",), readable=(), writable=tmp_path)
    with pytest.raises(CheckUnavailable, match="cannot start"):
        ProcessRunner().run(job, Limits())


def test_results_of_a_stranger(tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_bytes(b'{"a": 1}\n[1]\nnot json\n' + b"[" * 100_000 + b'\n\xff\n{"b": 2}\n{"cut sho')
    assert read_results(path) == [{"a": 1}, {"b": 2}]
    assert read_results(tmp_path / "missing") == []
    os.mkfifo(tmp_path / "pipe")
    assert read_results(tmp_path / "pipe") == []

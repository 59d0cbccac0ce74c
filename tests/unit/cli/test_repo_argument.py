"""What may be given as REPO: folders and scripts by any name, and standard input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from check import write_files
from depslice.cli.main import main

FILES = """
# --- bin/tool
#!/usr/bin/env python3
from core import work

def main():
    work()
# --- bin/notes
main: what to do
# --- core.py
def work():
    return 1

def idle():
    return 2
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(FILES, tmp_path / "repo")
    monkeypatch.chdir(tmp_path)


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main([*arguments, "--no-cache"])
    return code, *capfd.readouterr()


@pytest.mark.parametrize("target", ["bin/tool:main", "./bin/tool:main", "bin/tool"])
def test_a_script_without_the_ending(capfd: pytest.CaptureFixture[str], target: str) -> None:
    code, _, said = told(capfd, "slice", "repo", target)
    assert code == 2
    assert "bin/tool is not analysed: its name does not end in .py" in said
    assert "--include '/bin/tool'" in said
    code, out, _ = told(capfd, "slice", "repo", target, "--include", "/bin/tool")
    assert code == 0
    assert "def work()" in out
    assert "def main()" in out
    assert "idle" not in out
    assert "def main()" in told(capfd, "slice", "repo/bin/tool", "main")[1]
    assert "no file bin/notes is analysed" in told(capfd, "slice", "repo", "bin/notes:main")[2]


def test_standard_input(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"def f():\n    return g()\ndef g(): pass\ndef h(): pass\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(code)))
    code_, out, _ = told(capfd, "slice", "-", ":f")
    assert code_ == 0
    assert out == "# stdin.py\ndef f():\n    return g()\n\n\ndef g(): pass\n"
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in told(capfd, "slice", "-", "f")[2]

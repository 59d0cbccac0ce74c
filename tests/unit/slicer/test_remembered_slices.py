"""A slice that is remembered says what the first run said, and only as long as that is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import open_program, program
from depslice.callgraph.cache import open_cache
from depslice.callgraph.project import Project, SourceFile, read_file
from depslice.callgraph.summary import FileSummary
from depslice.slicer import slice_context

FILES = """
# --- app.py
from broken import other
from lib import helper
def main(): return helper() + other()
# --- lib.py
def helper(): return 1
# --- broken.py
def (
"""


def asked(folder: Path) -> tuple[list[str], list[str]]:
    """The definitions of the slice, and the files that something was wrong with."""
    with open_cache(folder / "cache", version="test") as cache:
        opened = open_program(folder / "repo", cache=cache)
        found, _ = slice_context(opened, ["app:main"])
        return [item.symbol.id for item in found.items], [d.path for d in opened.diagnostics]


def test_what_is_wrong_is_said_each_time(tmp_path: Path) -> None:
    write_files(FILES, tmp_path / "repo")
    assert asked(tmp_path) == (["app:main", "lib:helper"], ["broken.py"])
    assert asked(tmp_path) == (["app:main", "lib:helper"], ["broken.py"])


def test_a_file_that_can_be_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(FILES, tmp_path / "repo")

    def read(project: Project, file: SourceFile) -> bytes:
        if file.path == "lib.py":
            raise PermissionError(13, "Permission denied")
        return read_file(project, file)

    with monkeypatch.context() as patched:
        patched.setattr(program, "read_file", read)
        for _ in range(2):
            assert asked(tmp_path) == (["app:main"], ["broken.py", "lib.py"])
    assert asked(tmp_path) == (["app:main", "lib:helper"], ["broken.py"])


def test_a_crash_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(FILES, tmp_path / "repo")

    unharmed = program.summarize_bytes

    def crashing(data: bytes) -> FileSummary | program.Problem:
        if b"def helper" in data:
            return program.Problem(program.ANALYSER_CRASHED, "MemoryError", None)
        return unharmed(data)

    with monkeypatch.context() as patched:
        patched.setattr(program, "summarize_bytes", crashing)
        assert asked(tmp_path) == (["app:main"], ["broken.py", "lib.py"])
    assert asked(tmp_path) == (["app:main", "lib:helper"], ["broken.py"])

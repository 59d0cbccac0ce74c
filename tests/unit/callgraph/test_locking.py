from __future__ import annotations

import ast
import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from depslice.callgraph.locking import held, take_if_free, wait_for

ROOT = Path(__file__).parents[3]
_HOLDING = """
import sys
from pathlib import Path
from depslice.callgraph.locking import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_what_another_process_holds_is_not_free_until_that_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with path.open() as file:
        assert not take_if_free(file.fileno())
        holder.kill()
        holder.communicate()
        wait_for(file.fileno())
        assert take_if_free(file.fileno())  # one's own


def test_a_name_that_is_held_leaves_no_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "one.lock"
    with held(path):
        assert path.exists()
    assert not path.exists()
    with pytest.raises(FileNotFoundError), held(tmp_path / "nowhere" / "one.lock"):
        pass


def test_without_locks_who_waits_goes_on_and_nobody_is_told_that_one_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        wait_for(folder)
        with pytest.raises(OSError, match="No locks"):
            take_if_free(folder)
    finally:
        os.close(folder)
    with held(tmp_path / "one.lock"):
        pass


def test_files_are_locked_in_one_place() -> None:
    """Each module had its own rule of waiting, and of what to do where there are no locks."""
    locking = [
        path.name
        for path in ROOT.glob("*/depslice/**/*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("flock", "lockf", "LOCK_EX")
    ]
    assert set(locking) == {"locking.py"}

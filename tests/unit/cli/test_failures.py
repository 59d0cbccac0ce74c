"""What becomes of errors that no command expects."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from depslice.cli.failures import guarded


def test_a_folder_that_cannot_be_copied_for_lack_of_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`shutil.copytree` gathers what fails in an error without a number."""
    for name in ("a.py", "b.py"):
        (tmp_path / "from" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "from" / name).write_text("")

    def full(source: str, target: str, **_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)

    code = guarded(lambda: shutil.copytree(tmp_path / "from", tmp_path / "to", copy_function=full))
    assert code == 3
    said = capsys.readouterr().err
    assert said.startswith("depslice: error: the machine lacks something: no space left on device")
    assert "TMPDIR" in said


def test_a_copy_that_fails_for_another_reason_is_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def copy() -> None:
        raise shutil.Error([("a", "b", "[Errno 13] Permission denied: 'a'")])

    assert guarded(copy) == 3
    assert "internal error" in capsys.readouterr().err

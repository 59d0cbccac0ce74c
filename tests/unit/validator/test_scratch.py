"""Temporary folders go when their user ends, however it ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from depslice.validator.scratch import remove_left_behind, scratch_folder

HOLD = """
import sys
from depslice.validator.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_goes() -> None:
    with scratch_folder() as folder:
        (folder / "file").touch()
    assert not folder.exists()


def test_what_a_killed_process_leaves_goes_with_the_next(temporary: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        remove_left_behind()
        assert (folder / "file").exists()  # it is in use
        process.kill()
    assert folder.exists()
    with scratch_folder() as other:
        assert not folder.exists()
        assert other.exists()


def test_what_is_not_ours_stays(temporary: Path) -> None:
    real = temporary / "real"
    real.mkdir()
    (real / "file").touch()
    (temporary / "depslice-scratch-link").symlink_to(real)
    open_to_all = temporary / "depslice-scratch-open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    remove_left_behind()
    assert (real / "file").exists()
    assert open_to_all.exists()

"""A harness under plain pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = """\
TARGET = "shapes:Square.area"
TOLERANCE = {"relative": 1e-6}
from shapes import Square

def test_area(candidate, reference):
    assert candidate(Square(3)) == reference(Square(3))

def test_whole(context):
    context.check(Square(0.1))
"""
SOURCE = """\
class Square:
    def __init__(self, side): self.side = side
    def area(self): return self.side * self.side
"""


@pytest.mark.parametrize("name", ["harness.py", "area.replay.py"])
@pytest.mark.parametrize(
    ("candidate", "summary"),
    [
        (None, "2 passed"),
        ("def area(square): return square.side ** 2.0000000001", "1 failed, 1 passed"),
        ("def area(square): return 9", "1 failed, 1 passed"),
        ("def volume(square): return 9", "2 errors"),
    ],
)
def test_summary(tmp_path: Path, candidate: str | None, summary: str, name: str) -> None:
    (tmp_path / "shapes.py").write_text(SOURCE)
    (tmp_path / name).write_text(HARNESS)
    arguments = ["-p", "depslice.validator.fixtures", "-p", "no:cacheprovider", name]
    if candidate is not None:
        (tmp_path / "new.py").write_text(candidate)
        arguments += ["--candidate", "new.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert summary in done.stdout.splitlines()[-1], done.stdout + done.stderr


def test_a_candidate_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "harness.py").write_text(HARNESS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "depslice.validator.fixtures"),
            *("harness.py", "--candidate", "nowhere.py"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.strip() == "ERROR: --candidate: there is no file nowhere.py"

"""What the branches of a statement import, in one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

BASE = """
# --- base.py
def a(): return 1
X = [1]
# --- dev.py
from base import *
X = X + [2]
# --- prod.py
from base import *
X = X + [3]
# --- other.py
import winreg
def w(): return 1
# --- first.py
from other import w
# --- second.py
from other import w
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            """
import os
if os.environ.get("NEVER"):
    from prod import *
else:
    from dev import *
def target(): return a(), X
""",
            "(1, [1, 2])",
        ),
        (
            """
try:
    from nowhere import *
    from prod import *
except ImportError:
    from dev import *
def target(): return a(), X
""",
            "(1, [1, 2])",
        ),
        (  # in one branch both: none of it runs
            """
import os
if os.environ.get("NEVER"):
    import first
    import second
def target():
    if os.environ.get("NEVER"): return first.w() + second.w()
""",
            "None",
        ),
    ],
)
def test_what_both_branches_need(code: str, expected: str, tmp_path: Path) -> None:
    write_files(f"{BASE}# --- app.py\n{code}", tmp_path)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["app:target"])
    [flat] = render(program, found, format="module").files
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{flat.text}\nprint(target())"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == expected, done.stderr

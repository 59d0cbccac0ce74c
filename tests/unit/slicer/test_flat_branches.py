"""What the branches of a statement import, in one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answers, run_expression, write_files
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
    assert _flat_answer(tmp_path) == expected


def test_a_branch_that_is_not_taken_does_not_run(tmp_path: Path) -> None:
    """Both branches bind a name that another import of the module binds, too."""
    files = """
# --- base.py
DEBUG = True
NAME = "base"
ITEMS = []
# --- dev.py
import base as common
common.ITEMS.append("dev")
# --- prod.py
import base as common
common.NAME = "prod"
common.ITEMS.append("prod")
# --- app.py
import base as common
if common.DEBUG:
    from dev import *
else:
    from prod import *
def target(): return common.NAME, common.ITEMS
"""
    write_files(files, tmp_path)
    assert _flat_answer(tmp_path) == "('base', ['dev'])"


def _flat_answer(folder: Path) -> str:
    program = open_program(folder, cache=None)
    [flat] = render(program, slice_symbols(program, ["app:target"]), format="module").files
    alone = folder / "alone"
    alone.mkdir()
    (alone / "flat.py").write_text(flat.text, encoding="utf-8")
    done = run_expression(alone, "flat", "m.target()")
    assert not done.returncode, done.stderr
    return done.stdout.strip()


SHADOWED = """
# --- pkg/__init__.py
# --- pkg/old.py
import sys
PY2 = sys.version_info[0] == 2
if PY2:
    range = xrange
if PY2:
    str = unicode
else:
    str = str
try:
    int = long
except NameError:
    int = int
try:
    from itertools import izip as zip
except ImportError:
    pass
for max in ():
    pass
match PY2:
    case True:
        min = cmp
def renew():
    global sorted
    sorted = reversed
def own(): return list(range(2)), str(1), int(2), [*zip("a", "b")], max(1, 2), min(1, 2), sorted([1])
# --- pkg/other.py
if not 1:
    range = None
else:
    def range(n): return [n]
def own(): return range(2)
# --- pkg/app.py
from pkg import old, other
from pkg.old import str as text, renew
def run():
    builtin = list(range(2)), str(1), int(2), [*zip("a", "b")], max(1, 2), min(1, 2), sorted([1])
    first = old.own()
    renew()
    return builtin, first, [*old.own()[-1]], other.own(), isinstance("", text)
"""


def test_a_builtin_that_some_ways_alone_have_otherwise(tmp_path: Path) -> None:
    """Code for two Pythons (yapsy): where nothing binds the name, it is the builtin's."""
    original, *slices = answers(SHADOWED, tmp_path)
    assert slices == [original, original]
    text = (tmp_path / "one" / "flat.py").read_text(encoding="utf-8")
    assert text.count("\nstr_old = str\n") == 1

"""Slices beside the program: run alone, in both formats, they answer as the whole does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

STARS = {
    "global in a function": """
# --- one.py
COUNT = 4
# --- m.py
from one import *
def fill():
    global COUNT
    COUNT += 1
fill()
def go(): return COUNT
""",
    "global, lazily": """
# --- one.py
CONNECTION = None
# --- m.py
from one import *
class Connection:
    def name(self): return "c"
def get():
    global CONNECTION
    if CONNECTION is None: CONNECTION = Connection()
    return CONNECTION
def go(): return get().name()
""",
    "global of an imported name": """
# --- one.py
COUNT = 4
# --- m.py
from one import COUNT
def fill():
    global COUNT
    COUNT = 7
fill()
def go(): return COUNT
""",
    "name of a handler": """
# --- one.py
e = 5
# --- m.py
from one import *
try:
    raise ValueError(e)
except ValueError as e:
    KEPT = str(e)
def go(): return KEPT
""",
    "target of an empty loop": """
# --- one.py
X, ITEMS = 3, []
# --- m.py
from one import *
for X in ITEMS: pass
def go(): return X, ITEMS
""",
    "bound by one branch alone": """
# --- one.py
FLAG = 0
def f(): return "one"
# --- m.py
from one import *
if FLAG:
    def f(): return "own"
SEEN = f()
def go(): return SEEN, f()
""",
    "listed by vars": """
# --- one.py
def load_a(): return "a"
# --- lib.py
from one import *
def load_z(): return "z"
# --- m.py
import lib
def go(): return sorted(f() for n, f in vars(lib).items() if n.startswith("load_"))
""",
    "named by a computed name": """
# --- one.py
def load_a(): return "a"
# --- lib.py
from one import *
def load_z(): return "z"
# --- m.py
import lib
def go(): return [getattr(lib, "load_" + k)() for k in "az"]
""",
}
TRIED = {
    "what is imported": """
# --- fast.py
import nothing_of_that_name
def f(): return "fast"
# --- m.py
try:
    from fast import f
except ImportError:
    def f(): return "own"
def go(): return f()
""",
    "the module": """
# --- fast.py
import nothing_of_that_name
def f(): return "fast"
# --- slow.py
def f(): return "slow"
# --- m.py
try:
    import fast as used
except ImportError:
    import slow as used
def go(): return used.f()
""",
    "a star": """
# --- fast.py
from nothing_of_that_name import g
def f(): return "fast"
# --- slow.py
def f(): return "slow"
# --- m.py
try:
    from fast import *
except ImportError:
    from slow import *
def go(): return f()
""",
    "what a module raises": """
# --- fast.py
import sys
if sys.platform != "nowhere":
    raise ImportError("not here")
def f(): return "fast"
# --- m.py
try:
    from fast import f
except ImportError:
    def f(): return "own"
def go(): return f()
""",
}
PROGRAMS = {
    f"{kind}: {name}": files
    for kind, programs in {"star": STARS, "tried": TRIED}.items()
    for name, files in programs.items()
}


def _run(folder: Path, module: str) -> str:
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module} as m; "
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", f"{code}print(m.go())"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() if not done.returncode else done.stderr.strip()


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_answers_as_the_whole_does(name: str, tmp_path: Path) -> None:
    write_files(PROGRAMS[name], tmp_path / "whole")
    program = open_program(tmp_path / "whole", cache=None)
    found = slice_symbols(program, ["m:go"])
    write_tree(render(program, found).files, tmp_path / "tree")
    [flat] = render(program, found, format="module").files
    (tmp_path / "flat.py").write_text(flat.text, encoding="utf-8")
    whole = _run(tmp_path / "whole", "m")
    assert "Error" not in whole
    assert _run(tmp_path / "tree", "m") == whole
    assert _run(tmp_path, "flat") == whole


def test_a_star_is_left_out_where_every_branch_binds_the_name(tmp_path: Path) -> None:
    files = """
# --- one.py
FLAG = 0
def f(): return "one"
# --- m.py
from one import *
if FLAG:
    def f(): return "A"
else:
    def f(): return "B"
def go(): return f()
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["m:go"])
    assert {item.symbol.id for item in found.items} == {"m:go", "m:f", "one:FLAG"}

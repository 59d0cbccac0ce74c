"""Loops over names and what goes with them: what is listed, and by which function."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids

FILES = """
# --- app.py
import inspect
class Command:
    def __init__(self, n): self.n = n
    def __call__(self): return record(self.n)
def record(n): return n * 100
class Shell:
    do_x = staticmethod(lambda: 0)
    def __init__(self):
        self.do_one = Command(1)
        self.other = Command(2)
    def do_help(self): return 1
    def items(self): return [("do_help", Command(3)), ("x", Command(4))]
    def list(self, rows): return [("do_" + str(n), Command(n)) for n in rows]
    def own_items(self): return [c() for n, c in self.items() if n.startswith("do_")]
    def own_list(self): return [c() for n, c in self.list([1, 2]) if n.startswith("do_")]
    def stored(self): return [c() for n, c in vars(self).items() if n.startswith("do_")]
    def as_list(self): return [c() for n, c in list(self.__dict__.items()) if n.startswith("do_")]
def getmembers(x): return [("do_a", Command(5))]
def own_members(): return [c() for n, c in getmembers(Shell()) if n.startswith("do_")]
def members():
    return [n for n, c in sorted(inspect.getmembers(Shell())) if n.startswith("do_") and c() == 1]
"""


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Shell().own_items()", "[300]"),
        ("Shell().own_list()", "[100, 200]"),
        ("Shell().stored()", "[100]"),
        ("Shell().as_list()", "[100]"),
        ("own_members()", "[500]"),
        ("members()", "['do_help']"),
    ],
)
def test_what_goes_with_names(asked: str, expected: str, tmp_path: Path) -> None:
    files = f"{FILES}def target(): return {asked}\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == expected


COPIED = """
# --- pkg/__init__.py
# --- pkg/a.py
def f(): return "f"
def idle(): return "idle"
# --- pkg/b.py
def g(): return "g"
class C:
    def h(self): return "h"
# --- pkg/app.py
from . import a, b
"""


@pytest.mark.parametrize(
    "code",
    [
        "ALL = {**vars(a), **vars(b), **vars(b.C)}",
        "ALL = dict(vars(a)); ALL.update(vars(b)); ALL.update(vars(b.C))",
    ],
)
def test_a_copy_of_a_namespace_has_its_names(code: str, tmp_path: Path) -> None:
    run = 'def run(name="f"): return ALL[name](), ALL["g"](), ALL["h"](None)\n'
    files = f"{COPIED}{code}\n{run}"
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "('f', 'g', 'h')"
    assert "pkg.a:idle" not in slice_ids(tmp_path / "repo", "pkg.app:run")


COPIED_MODULE = """
# --- n.py
class Value:
    def fetch_it(self): return 4
X = Value()
# --- m.py
import n
def copied(module): return dict(vars(module))
def look(): return {}
"""


@pytest.mark.parametrize(
    "look",
    [
        "dict(vars(n))['X'].fetch_it()",
        "dict(n.__dict__, more=1)['X'].fetch_it()",
        "vars(n).copy()['X'].fetch_it()",
        "{**vars(n)}['X'].fetch_it()",
        "copied(n)['X'].fetch_it()",
    ],
)
def test_a_copy_of_the_namespace_of_a_module_has_its_names(look: str, tmp_path: Path) -> None:
    assert answer(COPIED_MODULE.format(look), "m:look", "m.look()", tmp_path) == "4"


LOOKED_FOR = """
# --- app.py
class Task:
    def run(self): return 1
    def walk(self): return idle()
    def __init__(self): self.later = 1
def idle(): return 2
def has(task, name): return "run" in dir(task), "later" in dir(task), "no" not in dir(task)
def run(): return has(Task(), "run")
def listed():
    names = dir(Task)
    return "run" in names, [name for name in names if name[0] != "_"]
"""


def test_who_looks_for_a_name_asks_for_no_other(tmp_path: Path) -> None:
    """``"run" in dir(task)`` is as ``hasattr`` there; who does more with the list gets all."""
    assert answer(LOOKED_FOR, "app:run", "m.run()", tmp_path / "run") == "(True, True, True)"
    assert "app:Task.walk" not in slice_ids(tmp_path / "run" / "repo", "app:run")
    listed = answer(LOOKED_FOR, "app:listed", "m.listed()", tmp_path / "listed")
    assert listed == "(True, ['run', 'walk'])"

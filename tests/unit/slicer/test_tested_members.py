"""What code finds that goes through all that a module has, and tests each: no name tells what."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, run_expression, slice_ids, write_files

BASE = """
# --- pkg/__init__.py
# --- pkg/base.py
class Plugin:
    def __init__(self, name="none"): self.name = name
def command(function):
    function.is_command = True
    return function
# --- pkg/plugins.py
from pkg.base import Plugin, command
def make(name): return Plugin(name)
class One(Plugin): pass
class Two(One): pass
class Idle: pass
three, four, five = Plugin("three"), make("four"), 5
@command
def begin(): return "begin"
def helper(): return "helper"
# --- pkg/app.py
"""
GOING_THROUGH = {
    "subclasses": (
        "def run(): return sorted(\n"
        "    n for n, v in vars(plugins).items() if isinstance(v, type) and issubclass(v, Plugin))"
    ),
    "instances": (
        "def run(): return {v.name for v in plugins.__dict__.values() if isinstance(v, Plugin)} == {'three', 'four'}"
    ),
    "one of several classes": (
        "def run(): return sorted(v.name for v in vars(plugins).values() if isinstance(v, (str, Plugin))"
        " and v is not plugins.__name__ and hasattr(v, 'name'))"
    ),
    "a module that a caller has": (
        "def found(module): return sorted(n for n, v in inspect.getmembers(module)\n"
        "    if inspect.isclass(v) and issubclass(v, Plugin))\n"
        "def run(): return found(plugins)"
    ),
    "by names": (
        "def found(module):\n    for name in dir(module):\n        item = getattr(module, name)\n"
        "        if isinstance(item, type) and issubclass(item, Plugin): yield name\n"
        "def run(): return list(found(plugins))"
    ),
    "functions": (
        "def run(): return sorted(n for n, _ in inspect.getmembers(plugins, inspect.isfunction))"
    ),
    "marked ones": (
        "def run(): return [f() for f in vars(plugins).values() if getattr(f, 'is_command', 0)]"
    ),
    "a table": (
        "TABLE = {n: f for n, f in vars(plugins).items() if callable(f) and n[0] != '_'}\n"
        "def run(): return sorted(TABLE)"
    ),
}


@pytest.mark.parametrize("how", GOING_THROUGH)
def test_what_passes_is_found(how: str, tmp_path: Path) -> None:
    code = "import inspect\nfrom pkg import plugins\nfrom pkg.base import Plugin\n"
    original, tree, one = answers(f"{BASE}{code}{GOING_THROUGH[how]}\n", tmp_path)
    assert original == tree == one
    assert len(original) > len("[]")


OWN = """
# --- pkg/__init__.py
# --- pkg/kinds.py
class Error(Exception):
    code = None
class Lost(Error):
    code = 1
class Idle:
    code = 2
# --- pkg/app.py
from pkg.kinds import *
BY_CODE = {}
class Late(Lost):
    code = 3
def _find():
    for each in globals().values():
        try:
            is_error = issubclass(each, Error)
        except TypeError:
            is_error = False
        if not is_error or each.code is None:
            continue
        BY_CODE[each.code] = each
"""
END = """
def run(): return sorted(BY_CODE)
"""
LOOP = """
for _name, _each in list(globals().items()):
    if isinstance(_each, type) and issubclass(_each, Error) and _each.code:
        BY_CODE[_each.code] = _each
"""


NAMES = """
# --- app.py
CODE_A, CODE_B, OTHER, _CODE_C = 1, 2, 3, 4
BY_NUMBER = {}
for _name, _value in list(globals().items()):
    if _name.startswith("CODE_"):
        BY_NUMBER[_value] = _name
def run(): return sorted(BY_NUMBER)
"""


def test_names_tell_in_a_loop_of_the_module(tmp_path: Path) -> None:
    assert answer(NAMES, "app:run", "m.run()", tmp_path) == "[1, 2]"


@pytest.mark.parametrize("filling", ["_find()\ndel _find", LOOP])
def test_a_table_is_made_of_what_its_module_has(filling: str, tmp_path: Path) -> None:
    assert answers(f"{OWN}{filling}{END}", tmp_path) == ["[1, 3]"] * 3
    assert "pkg.kinds:Idle" not in slice_ids(tmp_path / "repo", "pkg.app:run")


def test_a_computed_list_of_names_needs_none_of_them(tmp_path: Path) -> None:
    code = "class Plugin: pass\nclass One(Plugin): pass\n"
    listed = "__all__ = [n for n, v in globals().items() if isinstance(v, type)]\n"
    write_files(f"# --- app.py\n{code}{listed}def run(): return Plugin()\n", tmp_path)
    assert run_expression(tmp_path, "app", "m.__all__").stdout.strip() == "['Plugin', 'One']"
    assert "app:One" not in slice_ids(tmp_path, "app:run")


def test_one_file_lists_each_name_of_a_module_once(tmp_path: Path) -> None:
    code = "from pkg import plugins\n"
    go = "def run(): return [getattr(plugins, n)() for n in dir(plugins) if n.startswith('hel')]\n"
    assert answers(f"{BASE}{code}{go}", tmp_path) == ["['helper']"] * 3

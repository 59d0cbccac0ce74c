"""What comes with the arguments of a call, and refers to values that no pickle takes along as they are."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols
from depslice.validator import Check, CheckReport, check_limits, open_workspace, record
from depslice.validator.sandbox import choose_sandbox


def checked(files: str, target: str, folder: Path) -> CheckReport:
    """What a check of the slice of ``target`` says, with the calls of ``calls.py``."""
    write_files(files, folder)
    script = folder / "calls.py"
    program = open_program(folder / "repo", cache=None)
    with open_workspace(
        program.project, python=sys.executable, sandbox=choose_sandbox(), limits=check_limits(60)
    ) as space:
        check = Check(space, program, record(space, program, [target], script=script))
        return check.of(slice_symbols(program, [target]))


CALLBACKS = """
# --- repo/app/__init__.py
# --- repo/app/running.py
def run(work, given):
    try:
        return work(given)
    except RuntimeError:
        return None

# --- repo/app/work.py
import contextvars
import re

CURRENT = contextvars.ContextVar("current")
FOUND = re.match("ab", "abc")

def known(given):
    return CURRENT.get(given)

def part(given):
    return FOUND[given]

def named(given):
    return [given, bool(CURRENT), callable(CURRENT)]

# --- calls.py
from app import running, work
"""


def test_a_call_whose_callback_uses_what_cannot_travel_is_not_compared(tmp_path: Path) -> None:
    calls = "".join(f"running.run(work.{name}, 0)\n" for name in ("known", "part", "named"))
    report = checked(CALLBACKS + calls, "app.running:run", tmp_path)
    assert (report.recorded, report.steady, report.same) == (3, 1, 1)
    assert report.passes
    assert report.unbuilt == 2


MARKS = """
# --- repo/app.py
import dataclasses

class Option:
    def __init__(self):
        self.default = dataclasses.MISSING

LEFT = Option()
RIGHT = Option()

def beside(option):
    return [LEFT, option]

# --- calls.py
import app
app.beside(app.RIGHT)
"""


def test_a_mark_of_a_library_is_one_object_for_all_that_comes_with_arguments(
    tmp_path: Path,
) -> None:
    report = checked(MARKS, "app:beside", tmp_path)
    assert report.steady == report.same == 1


MADE = """
# --- repo/app.py
class Part:
    def __init__(self, text):
        self.text = text

    def shown(self):
        return self.text.upper()

class Reader:
    def read(self, text):
        return self.take(Part(text))

    def take(self, part):
        return part.text

# --- calls.py
import app

class Mine(app.Reader):
    def take(self, part):
        return [part.text, part.shown()]

class Other(app.Reader):
    pass

Mine().read("a")
Other().read("a")
"""


def test_what_code_of_arguments_asks_of_what_the_slice_makes_is_not_compared(
    tmp_path: Path,
) -> None:
    report = checked(MADE, "app:Reader.read", tmp_path)
    assert (report.recorded, report.steady, report.same, report.unbuilt) == (2, 1, 1, 1)


COMPILED = """
# --- repo/app/__init__.py
# --- repo/app/made.py
try:
    from app._bisect import insort_right as insort
except ImportError:
    def insort(items, item):
        items.append(item)

def added(items, item):
    insort(items, item)
    return type(insort).__name__

# --- calls.py
from app import made
made.added([1, 3], 2)
"""


def test_compiled_modules_of_the_repository_are_there(tmp_path: Path) -> None:
    compiled = importlib.util.find_spec("_bisect")
    if compiled is None or not compiled.has_location or compiled.origin is None:
        pytest.skip("this Python has the module built in")
    (tmp_path / "repo" / "app").mkdir(parents=True)
    shutil.copy(compiled.origin, tmp_path / "repo" / "app")
    report = checked(COMPILED, "app.made:added", tmp_path)
    assert report.steady == report.same == 1


def test_a_repository_says_its_version_to_a_slice(tmp_path: Path) -> None:
    files = """
# --- repo/Thing.egg-info/PKG-INFO
Metadata-Version: 2.1
Name: Thing
Version: 1.5

# --- repo/app/__init__.py
# --- repo/app/told.py
from importlib.metadata import PackageNotFoundError, version

def told(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"

# --- calls.py
from app.told import told
assert told("Thing") == "1.5"
assert told("no-such-thing") == "none"
"""
    report = checked(files, "app.told:told", tmp_path)
    assert report.steady == report.same == 2


def test_modules_of_tests_that_arguments_name_are_none_of_the_slice(tmp_path: Path) -> None:
    files = """
# --- repo/app.py
import importlib

def found(kind, name):
    return getattr(importlib.import_module(kind.__module__), name)

# --- repo/tests/__init__.py
# --- repo/tests/test_found.py
import app

class Mine: pass

def test_mine():
    assert app.found(Mine, "Mine") is Mine
    assert app.found(dict, "int") is int
"""
    write_files(files, tmp_path)
    program = open_program(tmp_path / "repo", cache=None)
    with open_workspace(
        program.project, python=sys.executable, sandbox=choose_sandbox(), limits=check_limits(60)
    ) as space:
        check = Check(space, program, record(space, program, ["app:found"]))
        report = check.of(slice_symbols(program, ["app:found"]))
    assert (report.recorded, report.steady, report.same, report.unbuilt) == (2, 1, 1, 1)


def test_marks_that_are_texts_or_tuples_are_one_object(tmp_path: Path) -> None:
    files = """
# --- repo/app.py
class Kind(tuple):
    above = None

TOKEN = Kind()
KEYWORD = Kind(("keyword",))
KEYWORD.above, TOKEN.below = TOKEN, KEYWORD
LEFT = {"a": KEYWORD}
RIGHT = {"b": KEYWORD}

def both(left, right):
    return [*left.values(), *right.values()]

# --- calls.py
import app
app.both(app.LEFT, app.RIGHT)
"""
    report = checked(files, "app:both", tmp_path)
    assert report.steady == report.same == 1


def test_a_variable_that_hides_a_module_of_its_name_is_not_taken_for_that_module(
    tmp_path: Path,
) -> None:
    """As icalendar has `tzp = TZP()` in the package beside the module `tzp`."""
    files = """
# --- repo/app/__init__.py
from .zone import Zone

zone = Zone()
# --- repo/app/zone.py
class Zone:
    def use(self, name):
        self.name = name
        return type(self).__name__
# --- calls.py
import app
app.zone.use("utc")
"""
    report = checked(files, "app.zone:Zone.use", tmp_path)
    assert report.steady == report.same == 1

"""What comes with the arguments of a call, and refers to values that no pickle takes along as they are."""

from __future__ import annotations

import sys
from pathlib import Path

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

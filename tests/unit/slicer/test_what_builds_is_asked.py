"""What changes a variable is looked for where it may be, and little is evaluated for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import check_slice, slice_ids, write_files
from depslice.callgraph import find_symbol, open_program
from depslice.slicer import slice_symbols
from depslice.slicer.slicing import engine_of

_FOUND = """
# --- lib.py
class Base:
    pass

# --- find.py
import importlib
import inspect
import lib

def modules():
    return ["lib"]

def all_of_them():
    found = []
    for name in modules():
        module = importlib.import_module(name)
        for _, each in inspect.getmembers(module, inspect.isclass):
            if issubclass(each, lib.Base) and each.__name__ != "Base":
                found.append(each)
    return found

# --- app.py
import find
import lib

def target():
    return lib.Base()
"""


def _evaluations(folder: Path, target: str, module: str, name: str) -> int:
    """How often a function is evaluated for the slice of ``target``."""
    program = open_program(folder, cache=None)
    slice_symbols(program, [find_symbol(program, target).id])
    holder = program.module(module)
    assert holder is not None
    units = [unit for unit in holder.summary.units if unit.kind == "function"]
    [unit] = [unit for unit in units if unit.qualname == name]
    return engine_of(program).function(holder, unit.index).evaluations


def test_what_only_looks_at_modules_is_not_evaluated_for_a_class(tmp_path: Path) -> None:
    write_files(_FOUND, tmp_path)
    assert slice_ids(tmp_path, "app:target") == {"app:target", "lib:Base"}
    assert _evaluations(tmp_path, "app:target", "find", "all_of_them") == 0


@pytest.mark.parametrize(
    "rebinds",
    [
        'setattr(importlib.import_module("lib"), "Base", Other)',
        'for name in ["Base"]:\n    setattr(lib, name, Other)',
        "lib.Base = Other",
        'vars(lib)["Base"] = Other',
        "lib.__dict__.update(Base=Other)",
        "for name in lib.NAMES:\n    lib.__dict__[name] = Other",
        "def go():\n    for name in lib.NAMES:\n        lib.__dict__[name] = Other\ngo()",
        "def go():\n    for n in lib.NAMES:\n        operator.setitem(lib.__dict__, n, Other)\ngo()",
        'put(lib, "Base")',
        "stored(lib)",
        "def go():\n    stored(lib)\ngo()",
        'for each in [lib]:\n    setattr(each, "Base", Other)',
    ],
)
def test_who_rebinds_a_class_from_elsewhere_is_found(rebinds: str, tmp_path: Path) -> None:
    files = f"""
# --- lib.py
NAMES = ["Base"]
class Base:
    pass

# --- patch.py
import importlib
import operator
import lib

class Other:
    pass

def put(module, name):
    setattr(module, name, Other)

def stored(module):
    module.Base = Other

{rebinds}

# --- app.py
import patch
import lib

def target():
    return lib.Base()
"""
    write_files(files, tmp_path)
    assert "patch:Other" in slice_ids(tmp_path, "app:target")


def test_a_function_is_no_module_of_its_package(tmp_path: Path) -> None:
    """``from .solve import solve``: to call it with keywords hands no module on."""
    files = """
# --- pkg/__init__.py
from .solve import solve
# --- pkg/solve.py
LIMIT = [1]
def solve(n, *, how=1):
    return n + how
# --- other.py
from pkg import solve
def heavy():
    return solve(3, how=2)
# --- app.py
import other
from pkg.solve import LIMIT
def target():
    return LIMIT
"""
    write_files(files, tmp_path)
    assert _evaluations(tmp_path, "app:target", "other", "heavy") == 0


def test_what_a_call_of_a_property_makes_is_not_what_that_gives() -> None:
    """``box.kind("x").add(1)`` changes an instance, not the class that the property gives."""
    check_slice(
        """
# --- lib.py
class Kind:
    def __init__(self, name):
        self.name = name
        self.held = []
    def add(self, value):
        self.held.append(value)

class Box:
    @property
    def kind(self):
        return Kind

box = Box()

def grow():
    box.kind("x").add(1)

grow()

def target():
    return Kind("y").name
""",
        "lib:target",
        {"lib:target", "lib:Kind", "lib:Kind.__init__"},
    )


_NAMED = """
# --- lib.py
class Kind:
    table = {{}}

def fill():
    Kind.table["a"] = 1

fill()

# --- app.py
from lib import Kind

def target(kind: Kind):
    return {result}
"""


def test_what_fills_a_class_comes_with_what_reads_it_not_with_a_type() -> None:
    named = _NAMED.format(result="1")
    check_slice(named, "app:target", {"app:target", "lib:Kind"})
    read = _NAMED.format(result="kind.table")
    check_slice(read, "app:target", {"app:target", "lib:Kind", "lib:Kind.table", "lib:fill"})

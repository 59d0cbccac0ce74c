"""Modules that statements import by name run: what they enter in a table of the slice is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids

PACKAGE = """
# --- pkg/__init__.py
# --- pkg/reg.py
REG = {}
class Base: pass
def register(function):
    REG[function.__name__] = function
    return function
# --- pkg/plugins/__init__.py
# --- pkg/plugins/a.py
from pkg.reg import Base, register
@register
def a(): pass
class A(Base): pass
# --- pkg/plugins/b.py
from pkg.reg import Base, register
@register
def b(): pass
class B(Base): pass
# --- pkg/names.py
NAMES = ["a", "b"]
def load(name): return importlib.import_module("pkg.plugins." + name)
import importlib
# --- pkg/app.py
import importlib, os, pkgutil
import pkg.plugins
from pkg.names import NAMES, load
from pkg.reg import REG, Base
"""
RUN = "\ndef run(): return sorted(REG)\n"
SUBCLASSES = "\ndef run(): return sorted(k.__name__ for k in Base.__subclasses__())\n"
IMPORTS = {
    "one": "importlib.import_module('pkg.plugins.a')\n__import__('pkg.plugins.b')",
    "names that are there": "for n in ('a', 'b'): importlib.import_module('pkg.plugins.' + n)",
    "names of another module": "for n in NAMES: importlib.import_module(f'pkg.plugins.{n}')",
    "what there is": (
        "for m in pkgutil.iter_modules(pkg.plugins.__path__):\n"
        "    importlib.import_module(f'pkg.plugins.{m.name}')"
    ),
    "what there is, with a prefix": (
        "for _, name, _ in pkgutil.walk_packages(pkg.plugins.__path__, 'pkg.plugins.'):\n"
        "    importlib.import_module(name)"
    ),
    "files": (
        "for f in os.listdir(os.path.dirname(pkg.plugins.__file__)):\n"
        "    if f.endswith('.py') and f[0] != '_':\n"
        "        importlib.import_module('pkg.plugins.' + f[:-3])"
    ),
    "a function": (
        "def go():\n    for n in ('a', 'b'): importlib.import_module('pkg.plugins.' + n)\ngo()"
    ),
    "a function that gets the whole name": (
        "def go(name): importlib.import_module(name)\ngo('pkg.plugins.a')\ngo('pkg.plugins.b')"
    ),
    "a table": "MODULES = {n: load(n) for n in ('a', 'b')}",
}


@pytest.mark.parametrize("how", IMPORTS)
def test_they_enter_themselves(how: str, tmp_path: Path) -> None:
    files = f"{PACKAGE}{IMPORTS[how]}{RUN}"
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "['a', 'b']"


def test_they_have_subclasses(tmp_path: Path) -> None:
    files = f"{PACKAGE}{IMPORTS['names of another module']}{SUBCLASSES}"
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "['A', 'B']"


def test_a_package_imports_what_is_in_it(tmp_path: Path) -> None:
    load = """
import pkgutil, importlib
for info in pkgutil.iter_modules(__path__):
    importlib.import_module("." + info.name, __name__)
"""
    mark = "# --- pkg/plugins/__init__.py"
    files = f"{PACKAGE}{RUN}".replace(mark, mark + load)
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "['a', 'b']"


def test_what_they_do_not_touch_stays_away(tmp_path: Path) -> None:
    files = f"{PACKAGE}{IMPORTS['one']}\ndef run(): return Base\n"
    assert "pkg.reg.Base" in answer(files, "pkg.app:run", "m.run()", tmp_path)
    assert slice_ids(tmp_path / "repo", "pkg.app:run") == {"pkg.app:run", "pkg.reg:Base"}

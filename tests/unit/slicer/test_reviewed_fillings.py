"""Small programs in which a statement that fills something was lost, or one kept that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids

BUS = """
# --- app.py
class Bus:
    def __init__(self): self.handlers = []
    def on(self, function):
        self.handlers.append(function)
        return len(self.handlers)
BUS = Bus()
def bus(): return BUS
def handler(): return "h"
TOKENS = []
"""
ON = {
    "a number is given": "def on(f): return bus().on(f)\nTOKENS.append(on(handler))",
    "nothing is given": "def on(f): bus().on(f)\non(handler)",
}


@pytest.mark.parametrize("how", ON)
def test_who_changes_a_result_fills(how: str, tmp_path: Path) -> None:
    files = f"{BUS}{ON[how]}\ndef run(): return [each() for each in bus().handlers]\n"
    assert answer(files, "app:run", "m.run()", tmp_path) == "['h']"


PACKAGE = """
# --- app.py
import pkg, plug
def run(): return sorted(pkg.TABLE)
# --- pkg/__init__.py
from pkg.core import TABLE, register
# --- pkg/core.py
TABLE = {}
def register(function):
    TABLE[function.__name__] = function
    return function
# --- plug.py
import pkg
"""


@pytest.mark.parametrize("how", ["@pkg.register\ndef h(): pass", "def h(): pass\npkg.register(h)"])
def test_a_package_gives_on_what_it_imports(how: str, tmp_path: Path) -> None:
    assert answer(f"{PACKAGE}{how}\n", "app:run", "m.run()", tmp_path) == "['h']"


READ_ALIASES = """
# --- app.py
import dataclasses
from typing import Optional, get_args
class Engine:
    def __init__(self, state="off"): self.state = self.begin(state)
    def begin(self, state): return "on"
Alias = Optional[Engine]
@dataclasses.dataclass
class Car:
    engine: Alias = None
def fields(): return [get_args(f.type)[0]("x").state for f in dataclasses.fields(Car)]
def own(): return [get_args(each)[0]("x").state for each in Car.__annotations__.values()]
"""


@pytest.mark.parametrize("how", ["fields", "own"])
def test_who_reads_annotations_has_the_aliases_there(how: str, tmp_path: Path) -> None:
    assert answer(READ_ALIASES, f"app:{how}", f"m.{how}()", tmp_path) == "['on']"


IDLE = {
    "a decorator that gives itself": (
        """
# --- app.py
LOG = []
class prop:
    def __call__(self, function):
        self.function = function
        return self
    def __get__(self, instance, owner): return self.function(instance)
class Idle: pass
class A:
    @prop()
    def post(self): LOG.append(1)
    @prop()
    def heavy(self): return Idle()
def run(): return len(LOG)
""",
        "app:Idle",
    ),
    "what is read by vars": (
        """
# --- app.py
class Table:
    name = "x"
    def get(self): return 1
class Idle:
    text = "%(name)s" % vars(Table)
def run(): return Table().get()
""",
        "app:Idle",
    ),
    "a metaclass that gives each class its own": (
        """
# --- app.py
class Meta(type):
    def __init__(cls, name, bases, namespace):
        cls.fields = {}
        cls.fields[name] = 1
class Base(metaclass=Meta): pass
class Idle(Base): pass
def run(): return Base.fields
""",
        "app:Idle",
    ),
}


@pytest.mark.parametrize("program", IDLE)
def test_what_fills_nothing_stays_away(program: str, tmp_path: Path) -> None:
    files, idle = IDLE[program]
    shown = answer(files, "app:run", "m.run()", tmp_path)
    assert shown == run_expression(tmp_path / "repo", "app", "m.run()").stdout.strip()
    assert idle not in slice_ids(tmp_path / "repo", "app:run")

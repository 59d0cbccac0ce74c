"""`getattr(x, f.__name__)`: the names of functions and classes, and parts of them, name attributes."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols

CLASSES = """
# --- app.py
import functools
from dataclasses import dataclass
class Semantics:
    def number(self, node): return int(node)
    def idle(self, node): return None
class Other:
    def number(self, node): return "other"
"""
PARSER = """
@dataclass
class Info:
    name: str
    impl: object
class Context:
    def __init__(self, semantics): self.semantics = semantics
    def call(self, info):
        action = getattr(self.semantics, info.name, None)
        return action(info.impl(self)) if callable(action) else info.impl(self)
def cut(name): return name[5:]
def rule(impl):
    @functools.wraps(impl)
    def wrapper(self): return self.call(Info({name}, impl))
    return wrapper
class Parser(Context):
    @rule
    def {defined}(self): return "7"
def go(): return repr(Parser(Semantics()).{defined}())
"""


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        ("impl.__name__", "number"),
        ("impl.__name__[1:-1]", "_number_"),
        ("impl.__name__[5:]", "rule_number"),
        ("cut(impl.__name__)", "rule_number"),
        ("getattr(impl, '__name__')[5:]", "rule_number"),
        ("impl.__name__.strip('_')", "_number_"),
        ("impl.__name__.lower()", "Number"),
        ("impl.__name__.replace('rule_', '')", "rule_number"),
        ("impl.__name__.removeprefix('rule_')", "rule_number"),
        ("impl.__name__.partition('_')[2]", "rule_number"),
        ("impl.__name__.split('_')[1]", "rule_number"),
        ("impl.__qualname__.split('.')[1]", "number"),
    ],
)
def test_what_is_made_of_the_name_of_a_decorated_method(
    name: str, defined: str, tmp_path: Path
) -> None:
    files = CLASSES + PARSER.format(name=name, defined=defined)
    assert answer(files, "app:go", "m.go()", tmp_path) == "7"
    found = slice_ids(tmp_path / "repo", "app:go")
    assert not found & {"app:Semantics.idle", "app:Other"}


@pytest.mark.parametrize(
    "code",
    [
        (
            "def number(): return '7'\n"
            "def act(s): return getattr(s, number.__name__)(number())\n"
            "def go(): return act(Semantics())"
        ),
        (
            "def decorated(f):\n"
            "    @functools.wraps(f)\n"
            "    def inner(): return f()\n"
            "    return inner\n"
            "@decorated\n"
            "def number(): return '7'\n"
            "def act(s, f): return getattr(s, f.__name__)(f())\n"
            "def go(): return act(Semantics(), number)"
        ),
        (
            "class A:\n    def do_number(self): return '7'\n"
            "def act(s, m): return getattr(s, m.__name__[3:])(m())\n"
            "def go(): return act(Semantics(), A().do_number)"
        ),
        (
            "class Number: pass\n"
            "def act(s, o): return getattr(s, type(o).__name__.lower())('7')\n"
            "def go(): return act(Semantics(), Number())"
        ),
        (
            "class number: pass\n"
            "def act(s, k): return getattr(s, k.__name__)('7')\n"
            "def go(): return act(Semantics(), number)"
        ),
        (
            "class Deco:\n"
            "    def __init__(self, f): self.f, self.name = f, f.__name__[3:]\n"
            "    def __call__(self, s): return getattr(s, self.name)(self.f())\n"
            "@Deco\n"
            "def do_number(): return '7'\n"
            "def go(): return do_number(Semantics())"
        ),
        (
            "def forwarded(f):\n"
            "    def inner(self, *given): return getattr(self.s, f.__name__)(*given)\n"
            "    return inner\n"
            "class Proxy:\n"
            "    def __init__(self, s): self.s = s\n"
            "    @forwarded\n"
            "    def number(self, x): pass\n"
            "def go(): return Proxy(Semantics()).number('7')"
        ),
    ],
)
def test_the_name_of_a_definition_names_an_attribute(code: str, tmp_path: Path) -> None:
    files = f"{CLASSES}{code}\n"
    assert answer(files, "app:go", "m.go()", tmp_path) == "7"
    assert not slice_ids(tmp_path / "repo", "app:go") & {"app:Semantics.idle", "app:Other"}


def test_a_name_that_is_changed_unseen_is_told(tmp_path: Path) -> None:
    code = (
        "import re\n"
        "def act(s, f): return getattr(s, re.sub('^do_', '', f.__name__), None)\n"
        "def do_number(): return 7\n"
        "def go(): return act(Semantics(), do_number)\n"
    )
    write_files(CLASSES + code, tmp_path)
    program = open_program(tmp_path, cache=None)
    unresolved = slice_symbols(program, ["app:go"]).unresolved
    assert "dynamic-attribute" in {each.reason for each in unresolved}

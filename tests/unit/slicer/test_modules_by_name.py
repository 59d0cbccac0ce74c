"""`getattr(module, name)` of a module of the repository: what nobody tells may be any public name."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

FILES = """
# --- pk/__init__.py
from .funcs import double, square
# --- pk/funcs.py
def double(x): return 2 * x
def square(x): return x * x
def _hidden(x): return x
class Big:
    def run(self, x): return x
    def idle(self): return 1
# --- pk/other.py
def third(x): return x / 3
def idle(x): return x
# --- star.py
from pk.funcs import *
# --- lazy.py
import pk
def __getattr__(name): return getattr(pk, name)
# --- app.py
import importlib, operator, sys
import pk, star
import pk.other
from pk import funcs
"""


@pytest.mark.parametrize(
    ("code", "target", "expression", "expected"),
    [
        ("def go(n, x): return getattr(pk, n)(x)", "go", "m.go('double', 3)", "6"),
        ("def go(n, x): return getattr(pk, n, None)(x)", "go", "m.go('square', 3)", "9"),
        ("def go(n, x): return getattr(pk, n.lower())(x)", "go", "m.go('Double', 3)", "6"),
        ("def go(n, x): return getattr(funcs, n)().run(x)", "go", "m.go('Big', 3)", "3"),
        ("def go(n, x): return getattr(star, n)(x)", "go", "m.go('double', 3)", "6"),
        (
            "def go(x): return getattr(pk, ''.join(sorted('double', key='double'.index)))(x)",
            *("go", "m.go(3)", "6"),
        ),
        (
            "def go(n, x): return getattr(importlib.import_module('pk'), n)(x)",
            *("go", "m.go('double', 3)", "6"),
        ),
        (
            "class K:\n    module = pk\n    def __getattr__(self, n): return getattr(self.module, n)",
            *("K", "m.K().double(3)", "6"),
        ),
        (
            (
                "class K:\n"
                "    def __init__(self, n): self.module, self.n = pk, n\n"
                "    def go(self, x): return getattr(self.module, self.n)(x)"
            ),
            *("K", "m.K('double').go(3)", "6"),
        ),
    ],
)
def test_a_name_that_nobody_tells_may_be_any_public_one(
    code: str, target: str, expression: str, expected: str, tmp_path: Path
) -> None:
    assert answer(f"{FILES}{code}\n", f"app:{target}", expression, tmp_path) == expected


@pytest.mark.parametrize(
    ("module", "name", "call", "expected"),
    [
        ("pk", "double", "(3)", {"pk.funcs:double"}),
        ("star", "double", "(3)", {"pk.funcs:double"}),
        ("pk", "other", ".third(3)", {"pk.other:third"}),
        ("funcs", "Big", "().run(3)", {"pk.funcs:Big", "pk.funcs:Big.run"}),
    ],
)
def test_a_name_that_callers_in_the_slice_pass_is_the_only_one(
    module: str, name: str, call: str, expected: set[str], tmp_path: Path
) -> None:
    code = f"def inner(n): return getattr({module}, n)\ndef go(): return inner({name!r}){call}\n"
    write_files(FILES + code, tmp_path / "repo")
    found = slice_ids(tmp_path / "repo", "app:go")
    assert found - {"app:go", "app:inner"} == expected
    assert answer(FILES + code, "app:go", "m.go() is not None", tmp_path) == "True"


@pytest.mark.parametrize(
    "code",
    [
        "from lazy import double\ndef go(): return double(3)",
        "import lazy\ndef go(): return lazy.double(3)",
        "def go():\n    from lazy import double\n    return double(3)",
    ],
)
def test_who_asks_a_module_tells_its_getattr_the_name(code: str, tmp_path: Path) -> None:
    files = f"{FILES}# --- other.py\n{code}\n"
    write_files(files, tmp_path / "repo")
    found = slice_ids(tmp_path / "repo", "other:go")
    assert found == {"other:go", "lazy:__getattr__", "pk.funcs:double"}
    assert answer(files, "other:go", "m.go()", tmp_path) == "6"


def test_of_its_own_module_what_texts_spell(tmp_path: Path) -> None:
    code = (
        "def one(): return 1\ndef idle(): pass\nT = ['one']\n"
        "def go(): return getattr(sys.modules[__name__], T[0])()\n"
    )
    write_files(FILES + code, tmp_path)
    assert slice_ids(tmp_path, "app:go") == {"app:go", "app:one", "app:T"}


def test_what_a_module_lists_itself_is_no_name_that_nobody_tells(tmp_path: Path) -> None:
    code = (
        "class Settings:\n"
        "    def __init__(self):\n"
        "        for n in dir(funcs): setattr(self, n, getattr(funcs, n))\n"
        "def go(): return Settings().double(3)\n"
    )
    write_files(FILES + code, tmp_path)
    found = slice_ids(tmp_path, "app:go")
    assert "pk.funcs:double" in found
    assert "pk.funcs:square" not in found


def test_of_more_names_than_are_told_apart_those_that_code_asks_for(tmp_path: Path) -> None:
    asked = "".join(f"    inner('n{i}')\n" for i in range(220))
    code = f"def inner(n): return getattr(funcs, n, None)\ndef go():\n{asked}    return inner('double')(3)\n"
    write_files(FILES + code, tmp_path)
    found = slice_ids(tmp_path, "app:go")
    assert "pk.funcs:double" in found
    assert "pk.funcs:square" not in found


def test_some_name_of_some_module_is_told_and_brings_none(tmp_path: Path) -> None:
    parts = "".join(
        f"# --- pk/part{each}.py\ndef one{each}(): return {each}\n" for each in range(9)
    )
    code = """
# --- app.py
from importlib import import_module
def go(given, name):
    if given.startswith("pk."):
        given = "pk." + given[3:]
    return getattr(import_module(given), name)
"""
    write_files(f"# --- pk/__init__.py\n{parts}{code}", tmp_path)
    assert slice_ids(tmp_path, "app:go") == {"app:go"}


def test_what_a_module_exports_is_public(tmp_path: Path) -> None:
    files = """
# --- pk/__init__.py
# --- pk/mod.py
__all__ = ["_odd", "b"]
def _odd(): return 1
def _hidden(): return 2
def b(): return 3
# --- app.py
from pk import mod
def go(name): return getattr(mod, name)()
"""
    assert answer(files, "app:go", "m.go('_odd')", tmp_path) == "1"
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:go") >= {"pk.mod:_odd", "pk.mod:b"}
    assert "pk.mod:_hidden" not in slice_ids(tmp_path, "app:go")


LISTED = """
# --- pkg/__init__.py
# --- pkg/tok.py
from .sub import *
from .sub import __all__ as inner
__all__ = ["Math", *inner]
__all__ += ["more"]
class Math: pass
def more(): return 1
# --- pkg/sub.py
__all__ = ("Sub",)
class Sub: pass
# --- pkg/app.py
from . import tok, sub
def names(module):
    return [getattr(module, name).__name__ for name in module.__all__]
def listed(module):
    return getattr(module, "__all__", None)
class Reader:
    def __init__(self, *modules): self.modules = modules
    async def read(self):
        return [vars(each)["__all__"] for each in self.modules]
def run():
    import asyncio
    return names(tok), names(sub), listed(tok), asyncio.run(Reader(tok, sub).read()), listed(Reader)
"""


def test_one_file_keeps_the_list_of_names_that_a_given_module_is_asked_for(tmp_path: Path) -> None:
    original, *slices = answers(LISTED, tmp_path)
    assert slices == [original, original]


@pytest.mark.parametrize("count", [3, 4, 31])
def test_the_name_that_callers_tell_of_one_of_many_modules(count: int, tmp_path: Path) -> None:
    """The very name of each of them, be it a submodule; its result is asked as that of a few is."""
    parts = "".join(
        f"""# --- cc/c{each}/__init__.py
class Vat:
    def size(self): return {each}
    def other(self): return 0
def vat(): return Vat()
def hidden(): return 0
from cc.c{each} import plate as tax
# --- cc/c{each}/plate.py
def vat(): return {each} * 3
def check(): return {each} * 2
def hidden(): return 0
"""
        for each in range(count)
    )
    files = f"""
# --- cc/__init__.py
# --- cc/finding.py
from __future__ import annotations
from typing import Protocol
class Vats(Protocol):
    def vat(self): ...
def find(code: str, name: str):
    try:
        mod = __import__("cc.%s" % code, globals(), locals(), [name])
        return getattr(mod, name, None)
    except ImportError:
        return None
class Finder:
    async def find(self, code, *, name):
        return getattr(__import__("cc.%s" % code, globals(), locals(), [name]), name)
known = dict()
def of_country(code) -> Vats | None:
    if code not in known:
        known[code] = find(code, "tax")
    return known[code]
{parts}# --- m.py
import asyncio
from cc.finding import Finder, find, of_country
def go(code="c{count - 1}"): return find(code, "vat")().size()
def plate(code="c{count - 1}"): return find(code, "plate").check()
def later(code="c{count - 1}"): return asyncio.run(Finder().find(code, name="vat"))().size()
def declared(code="c{count - 1}"): return of_country(code).vat()
def plain(code="c{count - 1}"):
    mod = __import__("cc.%s" % code, globals(), locals(), ["vat"])
    return mod.vat().size()
"""
    last = count - 1
    write_files(files, tmp_path)
    results = {"go": 1, "plate": 2, "later": 1, "plain": 1, "declared": 3}
    for target, times in results.items():
        made = answer(files, f"m:{target}", f"m.{target}()", tmp_path / target)
        assert made == str(last * times)
        ids = slice_ids(tmp_path, f"m:{target}")
        assert not any(each.endswith(("hidden", "other")) for each in ids)


LATE = """
# --- pkg/__init__.py
# --- pkg/table.py
KNOWN = {}
MODE = "none"
SEEN = []
class Base:
    made = []
    def __init_subclass__(cls):
        cls.made.append(cls.__name__)
def register(name):
    def decorate(function):
        KNOWN[name] = function
        return function
    return decorate
# --- pkg/words.py
from pkg import table
from pkg.deeper import idle
from pkg.table import register
@register("words")
def words(): return helper(1)
def helper(value): return value
def other(): return 1
table.MODE = "words"
# --- pkg/deeper.py
from pkg.table import KNOWN, Base
def idle(): return 1
def deep(): return 2
KNOWN["deep"] = deep
class Below(Base):
    def idle(self): return 1
# --- pkg/never.py
from pkg.table import register
@register("never")
def never(): return 1
# --- pkg/app.py
import importlib
from pkg import table
def load(name):
    importlib.import_module(name)
def by_statement():
    import pkg.words
    return run()
def by_item():
    from pkg.words import helper
    return helper(run())
def by_name():
    load("pkg.words")
    return run()
def by_parts(name="words"):
    load("pkg." + name)
    return run()
async def _later():
    from pkg import words
    return words and run()
def later():
    import asyncio
    return asyncio.run(_later())
def run():
    return [table.KNOWN[name]() for name in ("words", "deep")], table.MODE, table.Base.made
def unread():
    import pkg.words
    return 3
"""


@pytest.mark.parametrize("name", ["by_statement", "by_item", "by_name", "by_parts", "later"])
def test_what_a_module_does_that_a_function_imports(name: str, tmp_path: Path) -> None:
    made = answer(LATE, f"pkg.app:{name}", f"m.{name}()", tmp_path)
    assert made == "([1, 2], 'words', ['Below'])"
    ids = slice_ids(tmp_path / "repo", f"pkg.app:{name}")
    assert not ids & {"pkg.words:other", "pkg.deeper:idle", "pkg.deeper:Below.idle"}
    assert name == "by_parts" or "pkg.never:never" not in ids


def test_what_nobody_reads_of_a_module_that_a_function_imports(tmp_path: Path) -> None:
    write_files(LATE, tmp_path)
    assert slice_ids(tmp_path, "pkg.app:unread") == {"pkg.app:unread"}


def test_a_module_that_is_looked_up_by_a_name_that_callers_pass(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/tool.py
def update(): return helper()
def helper(): return 3
def idle(): return 1
# --- m.py
import sys
from pkg import tool
from sys import modules
def named(module, name): return getattr(sys.modules[module], name)
def found(module): return sys.modules[module]
def go(): return named("pkg.tool", "update")() + found(module="pkg.tool").update()
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "6"
    assert "pkg.tool:idle" not in slice_ids(tmp_path / "repo", "m:go")


def test_in_one_file_what_a_function_may_never_import_is_not_done(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
from pkg import settings
def run(debug=False):
    if debug:
        from pkg import tracing
    return settings.MODE, settings.HOOKS
# --- pkg/settings.py
MODE = "plain"
HOOKS = []
# --- pkg/tracing.py
import not_installed
from pkg import settings
settings.MODE = not_installed.MODE
settings.HOOKS.append("trace")
"""
    assert answers(files, tmp_path) == ["('plain', [])"] * 3
    found = slice_symbols(open_program(tmp_path / "repo", cache=None), ["pkg.app:run"])
    assert found.late == ("pkg.tracing",)
    program = open_program(tmp_path / "repo", cache=None)
    tree = {file.path: file.text for file in render(program, found).files}
    assert "settings.HOOKS.append" in tree["pkg/tracing.py"]
    [told] = render(program, found, format="module").diagnostics
    assert told.slug == "run-late"
    assert "functions import pkg.tracing" in told.message


def test_who_enters_itself_late_by_a_function_that_the_slice_has_not(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
from pkg.table import lookup
def run():
    import pkg.plug
    return lookup("a")(), lookup("b")()
# --- pkg/table.py
_known = {}
def register(name):
    def decorate(function):
        _known[name] = function
        return function
    return decorate
def add(name, function): _known[name] = function
def lookup(name): return _known[name]
def idle(): return 1
# --- pkg/plug.py
from pkg.table import add, idle, register
@register("a")
def first(): return "first"
def second(): return "second"
add("b", second)
"""
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "('first', 'second')"
    assert "pkg.table:idle" not in slice_ids(tmp_path / "repo", "pkg.app:run")


@pytest.mark.parametrize(
    "read",
    [
        "lib.__dict__[name]",
        "vars(lib)[name]",
        "lib.__dict__.get(name)",
        "vars(lib).__getitem__(name)",
        "list(map(vars(lib).get, [name]))[0]",
    ],
)
def test_a_namespace_has_what_getattr_gives(read: str, tmp_path: Path) -> None:
    """Of mingus, those names were missing that no text spells whole."""
    files = f"""
# --- lib.py
def I(): return 1
def V7(): return 7
# --- app.py
import lib
def use(text):
    name = ""
    for each in text: name += each
    return {read}()
"""
    assert answer(files, "app:use", "m.use('V7')", tmp_path) == "7"

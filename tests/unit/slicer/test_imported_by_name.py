"""Modules that are imported by a name which is put together of a constant of the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree


@pytest.mark.parametrize(
    "name",
    ['PREFIX + "." + kind', 'f"{PREFIX}.{kind}"', '".".join([PREFIX, kind])', "PREFIX_ + kind"],
)
def test_a_prefix_that_is_a_constant(name: str, tmp_path: Path) -> None:
    files = f"""
# --- pkg/__init__.py
# --- pkg/types/__init__.py
# --- pkg/types/A.py
class A: size = 3
# --- pkg/app.py
from importlib import import_module
PREFIX = "pkg.types"
PREFIX_: str = "pkg.types."
def target(kind="A"):
    try:
        return getattr(import_module({name}), kind).size
    except ImportError:
        return 0
"""
    assert answer(files, "pkg.app:target", "m.target()", tmp_path) == "3"


@pytest.mark.parametrize(
    "loaded",
    [
        "sys.modules['pkg.' + each].__all__",
        "sys.modules[f'{__name__}.{each}'].__all__",
        "sys.modules.get('pkg.%s' % each).__all__",
        "getattr(sys.modules['.'.join(['pkg', each])], '__all__')",
        "vars(sys.modules['pkg.' + each])['__all__']",
    ],
)
@pytest.mark.parametrize("is_variable", [True, False])
def test_a_module_that_is_loaded_is_had_by_such_a_name(
    loaded: str, is_variable: bool, tmp_path: Path
) -> None:
    """`funcy` puts together what it exports: nothing else has its modules imported."""
    files = f"""
# --- pkg/__init__.py
import sys
from . import a, b
parts = ["a", "b"]
{"" if is_variable else "def target(): return "}[{loaded} for each in parts]
# --- pkg/a.py
__all__ = ["one"]
# --- pkg/b.py
__all__ = ["two"]
# --- pkg/deep/__init__.py
# --- pkg/deep/c.py
__all__ = ["three"]
"""
    if is_variable:
        files = files.replace("\n[", "\nshown = [")
    target, shown = ("shown", "m.shown") if is_variable else ("target", "m.target()")
    assert answer(files, f"pkg:{target}", shown, tmp_path) == "[['one'], ['two']]"
    assert "pkg.deep.c:__all__" not in slice_ids(tmp_path / "repo", f"pkg:{target}")


def test_a_name_that_is_bound_again_is_no_constant(tmp_path: Path) -> None:
    """What an object of its own adds is asked for."""
    files = """
# --- app.py
class Own:
    def __add__(self, other): return other * 2
START = "x"
for START in [Own()]: pass
def target(name): return START + name
"""
    assert answer(files, "app:target", "m.target('a')", tmp_path) == "aa"


NAMED_BY_CALLERS = """
# --- pk/__init__.py
# --- pk/foot.py
def make(): return "foot"
def idle(): pass
# --- pk/other.py
def make(): return "other"
# --- app.py
import asyncio, functools, importlib, sys
from importlib import import_module
NAMES = ["pk.foot"]
"""


@pytest.mark.parametrize(
    ("load", "call"),
    [
        ("def load(name): return importlib.import_module(name)", "load('pk.foot').make()"),
        ("def load(*, name): return import_module(name=name)", "load(name='pk.foot').make()"),
        ("def load(name): return __import__(name, fromlist=['x'])", "load('pk.foot').make()"),
        ("def load(name): return import_module(name, 'pk')", "load('.foot').make()"),
        (
            "def load(name):\n    __import__(name)\n    return sys.modules[name]",
            "load('pk.foot').make()",
        ),
        (
            "def load(name):\n    import_module(name)\n    return sys.modules.get(name)",
            "load('pk.foot').make()",
        ),
        ("def load(name): return importlib.reload(import_module(name))", "load('pk.foot').make()"),
        ("def load(name): return import_module(f'pk.f{name}')", "load('oot').make()"),
        ("def load(name='pk.foot'): return import_module(name)", "load().make()"),
        (
            "def inner(name): return import_module(name)\ndef load(name): return inner(name)",
            "load(NAMES[0]).make()",
        ),
        (
            "def load(where, name): return getattr(importlib.import_module(where), name)",
            "load('pk.foot', 'make')()",
        ),
        (
            "class Loader:\n    def load(self, names): return [import_module(n) for n in names]",
            "Loader().load(NAMES)[0].make()",
        ),
        (
            "async def load(name): return importlib.import_module(name).make()",
            "asyncio.run(load('pk.foot'))",
        ),
        (
            "def load(name): return lambda: importlib.import_module(name).make()",
            "functools.partial(load, 'pk.foot')()()",
        ),
    ],
)
def test_a_name_that_callers_in_the_slice_pass(load: str, call: str, tmp_path: Path) -> None:
    """Markdown imports its extensions so."""
    files = f"{NAMED_BY_CALLERS}{load}\ndef target(): return {call}\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == "foot"
    found = slice_ids(tmp_path / "repo", "app:target")
    assert {each for each in found if each[:3] == "pk."} == {"pk.foot:make"}


@pytest.mark.parametrize(
    ("load", "call"),
    [
        (
            (
                "class Loader:\n"
                "    def __init__(self, name): self.name = name\n"
                "    def load(self): return import_module(self.name).make()"
            ),
            "Loader('pk.foot').load()",
        ),
        (
            (
                "def build(name): return importlib.import_module(name).make()\n"
                "def load(many):\n"
                "    for each in many:\n"
                "        if isinstance(each, str): each = build(each)\n"
                "    return each"
            ),
            "load(NAMES)",
        ),
    ],
)
def test_a_name_from_elsewhere_is_one_that_a_text_spells(
    load: str, call: str, tmp_path: Path
) -> None:
    files = f"{NAMED_BY_CALLERS}{load}\nOTHER = 'pk.other'\ndef target(): return {call}\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == "foot"
    found = slice_ids(tmp_path / "repo", "app:target")
    assert {each for each in found if each[:3] == "pk."} == {"pk.foot:make"}


def test_a_module_that_is_only_imported_by_a_name_is_there(tmp_path: Path) -> None:
    load = "def load(name): importlib.import_module(name)"
    files = f"{NAMED_BY_CALLERS}{load}\ndef target(): load('pk.foot')\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == "None"


def test_a_name_that_only_callers_outside_know_brings_no_module(tmp_path: Path) -> None:
    files = f"{NAMED_BY_CALLERS}def target(name): return import_module(name).make()\n"
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:target") == {"app:target"}


def test_a_module_and_a_name_of_it_as_two_texts(tmp_path: Path) -> None:
    """Registries of plug-ins: neither text tells alone what it is."""
    files = """
# --- pkg/__init__.py
# --- pkg/stores.py
class Memory:
    def weigh(self): return 7
class Disk: pass
# --- pkg/app.py
_plugins = {}
class Plugin:
    def __init__(self, path, name): self.path, self.name = path, name
    def load(self): return getattr(__import__(self.path, globals(), locals(), [""]), self.name)
def register(key, path, name): _plugins[key] = Plugin(path, name)
register("memory", "pkg.stores", "Memory")
def target(): return _plugins["memory"].load()().weigh()
"""
    assert answer(files, "pkg.app:target", "m.target()", tmp_path) == "7"
    assert "pkg.stores:Disk" not in slice_ids(tmp_path / "repo", "pkg.app:target")


@pytest.mark.parametrize(
    "call",
    [
        '"region_GB", globals(), locals(), ["DATA"], 1',
        '"region_%s" % code, globals(), locals(), ["DATA"], 1',
        'f"region_{code}", globals(), fromlist=["DATA"], level=1',
        'name="region_" + code, globals=globals(), fromlist=["DATA"], level=1',
        '"pk.region_%s" % code, globals(), locals(), ["DATA"], 0',
        '"data.region_" + code, globals(), locals(), ["DATA"], level=2',
    ],
)
def test_a_level_says_where_to_look(call: str, tmp_path: Path) -> None:
    """PEP 328: ``__import__`` from the package of the module it stands in."""
    source, level = ("pk.data", "pk/sub") if "level=2" in call else ("pk", "pk")
    inits = "".join(f"# --- {folder}/__init__.py\n" for folder in ("pk", "pk/sub", "pk/data"))
    files = f"""
{inits}# --- {source.replace(".", "/")}/region_GB.py
DATA = "GB"
OTHER = 1
# --- {level}/load.py
def target(code="GB"):
    return __import__({call}).DATA
class Loader:
    async def load(self, code):
        def inner(): return __import__({call})
        return inner().DATA
def later():
    import asyncio
    return asyncio.run(Loader().load("GB"))
"""
    module = f"{level.replace('/', '.')}.load"
    for target in ("target", "later"):
        found = answer(files, f"{module}:{target}", f"m.{target}()", tmp_path / target)
        assert found == "GB"
    ids = slice_ids(tmp_path / "target" / "repo", f"{module}:target")
    assert f"{source}.region_GB:OTHER" not in ids


def test_what_a_module_does_that_is_imported_from_a_level(tmp_path: Path) -> None:
    files = """
# --- pk/__init__.py
# --- pk/meta.py
class Meta:
    known = {}
    def __init__(self, id):
        self.id = id
        Meta.known[id] = self
# --- pk/data/__init__.py
def load(code):
    __import__("region_%s" % code, globals(), locals(), fromlist=["META_%s" % code], level=1)
# --- pk/data/region_GB.py
from ..meta import Meta
META_GB = Meta(id="GB")
# --- app.py
from pk.data import load
from pk.meta import Meta
def target():
    load("GB")
    return Meta.known["GB"].id
"""
    assert answer(files, "app:target", "m.target()", tmp_path) == "GB"


@pytest.mark.parametrize(
    "load",
    [
        "def load(name): return getattr(__import__(__name__, fromlist=[name], level=0), name)",
        (
            "def load(name):\n    import_module('.' + name, __name__)\n"
            "    return getattr(import_module(__name__), name, None)"
        ),
        (
            "def load(name):\n    import_module(f'{__name__}.{name}')\n"
            "    return getattr(sys.modules[__name__], name)"
        ),
        (
            "class Loader:\n    async def load(self, name):\n"
            "        return getattr(__import__(__name__, fromlist=[name]), name)\n"
            "def load(name): return asyncio.run(Loader().load(name))"
        ),
    ],
)
def test_a_package_that_asks_itself_for_a_module_of_it(load: str, tmp_path: Path) -> None:
    """Parsedatetime has its locales so; the one file has no such module, and says so."""
    files = f"""
# --- pkg/__init__.py
from .loc import load
TABLE = {{x: load(x) for x in ("de", "en")}}
def hello(): return TABLE["de"].HELLO
# --- pkg/loc/__init__.py
import asyncio, sys
from importlib import import_module
{load}
# --- pkg/loc/de.py
HELLO = "Hallo"
IDLE = 1
# --- pkg/loc/en.py
HELLO = "Hello"
# --- pkg/loc/fr.py
HELLO = "Salut"
"""
    assert answer(files, "pkg:hello", "m.hello()", tmp_path) == "Hallo"
    ids = slice_ids(tmp_path / "repo", "pkg:hello")
    assert {"pkg.loc.de:HELLO", "pkg.loc.en:HELLO"} <= ids
    assert ids.isdisjoint({"pkg.loc.de:IDLE", "pkg.loc.fr:HELLO"})
    program = open_program(tmp_path / "repo", cache=None)
    made = render(program, slice_symbols(program, ["pkg:hello"]), format="module")
    assert [(told.slug, told.path) for told in made.diagnostics] == [
        ("module-named-by-text", "pkg/loc/__init__.py")
    ]


@pytest.mark.parametrize("default", ["", "=None"])
@pytest.mark.parametrize("root", ["", "src/"])
def test_names_that_an_instance_keeps(root: str, default: str, tmp_path: Path) -> None:
    """What callers in the slice make it with: names of modules, without a dot too, and of members."""
    files = f"""
# --- {root}app.py
from lib import Kept
class Below(Kept):
    def more(self): return self.load().get()
KEPT = {{"a": Kept("first", "idle"), "b": Kept("second", "Thing")}}
def target(): return KEPT["a"].load().get(), KEPT["b"].made().get(), Below("third", "").more()
# --- {root}lib.py
import importlib
class Kept:
    def __init__(self, name, attribute{default}):
        self.name = name
        self.attribute = attribute
    def load(self): return importlib.import_module(self.name)
    def made(self): return getattr(self.load(), self.attribute)()
# --- {root}first.py
def get(): return helper()
def helper(): return 1
# --- {root}second.py
class Thing:
    def get(self): return helper()
def helper(): return 2
def unasked(): return 3
# --- {root}third.py
def get(): return 3
# --- {root}fourth.py
def get(): return 4
"""
    write_files(files, tmp_path)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["app:target"])
    write_tree(render(program, found).files, tmp_path / "tree")
    done = run_expression(tmp_path / "tree" / root, "app", "m.target()")
    assert done.stdout.strip() == "(1, 2, 3)", done.stderr
    kept = {item.symbol.id for item in found.items}
    assert kept.isdisjoint({"second:unasked", "fourth:get"})
    told = render(program, found, format="module").diagnostics
    assert [each.slug for each in told] == ["module-named-by-text"]

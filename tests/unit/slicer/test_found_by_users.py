"""Slices of real packages that gave something else than the original, each made small.

Every one is run beside its original, by another process, as a tree or as one module.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from check import run_expression, slice_ids, write_files
from depslice.callgraph import find_symbol, open_program
from depslice.callgraph.errors import UnknownTarget
from depslice.slicer import explain_symbol, render, slice_symbols
from depslice.slicer.render import write_tree


def both(files: str, target: str, expression: str, folder: Path) -> tuple[str, str]:
    """What ``expression`` gives in the original, and in the tree of the slice of ``target``."""
    repo, tree = folder / "repo", folder / "tree"
    write_files(files, repo)
    program = open_program(repo, cache=None)
    write_tree(render(program, slice_symbols(program, [target])).files, tree)
    module = target.partition(":")[0]
    return evaluate(repo, module, expression), evaluate(tree, module, expression)


def flat(folder: Path, target: str, expression: str) -> str:
    """What ``expression`` gives in the slice of ``target``, made one module."""
    program = open_program(folder / "repo", cache=None)
    [file] = render(program, slice_symbols(program, [target]), format="module").files
    (folder / "flat.py").write_text(file.text)
    return evaluate(folder, "flat", expression)


def evaluate(folder: Path, module: str, expression: str) -> str:
    """What an expression gives with ``module`` of ``folder`` as ``m``; an exception, if any."""
    done = run_expression(folder, module, expression)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("add", "call"),
    [
        ("def add(k): T[k] = 2", "add(1)"),
        ("def add(k): T[1] = k()", "add(int)"),
        ("def add(k): T[1] = k + 1", "add(3)"),
        ("def add(k): T.setdefault(1, []).append(str(k))", "add(3)"),
        ("def add(k):\n    T[1] = k()\n    return k", "add(int)"),
        ("def add(k): T[1] = k + 1\ndef twice(k): add(k); add(k)", "twice(3)"),
    ],
)
def test_a_table_filled_by_functions_of_no_result(add: str, call: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
T = {{}}
{add}
def fill():
    for _ in range(2): {call}
fill()
def look(): return T[1]
"""
    original, sliced = both(files, "app:look", "m.look()", tmp_path)
    assert sliced == original


def test_a_cache_filled_on_the_way_to_a_result_is_not_built(tmp_path: Path) -> None:
    files = """
# --- app.py
T = {}
def add(k): T[k] = k * 2
def doubled(k):
    if k not in T: add(k)
    return T[k]
class Kept:
    def __init__(self): add(3)
SIX = doubled(3)
KEPT = Kept()
def warm(): doubled(4)
warm()
def look(k): return T.get(k)
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:look") == {"app:T", "app:look"}


@pytest.mark.parametrize(
    "register",
    [
        "def put(k, v):\n    found = T.get('x')\n    found[k] = v",
        "def put(k, v): T.get('x').update({k: v})",
        "def put(k, v):\n    for each in T.values(): each[k] = v",
        "def fill(t, k, v):\n    found = t.get('x')\n    found[k] = v\ndef put(k, v): fill(T, k, v)",
    ],
)
def test_what_is_put_into_a_part_that_a_method_gives(register: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
T = {{"x": {{}}}}
{register}
put(1, 2)
def look(): return T["x"][1]
"""
    assert both(files, "app:look", "m.look()", tmp_path) == ("2", "2")


def test_a_part_of_an_object_from_outside_is_changed_in_a_function(tmp_path: Path) -> None:
    files = """
# --- app.py
import argparse
import xml.etree.ElementTree as ET
P = argparse.ArgumentParser()
ROOT = ET.Element("a")
ET.SubElement(ROOT, "b")
def options():
    group = P.add_argument_group("x")
    group.add_argument("--y")
    found = ROOT.find("b")
    found.set("k", "v")
options()
def look(): return P.parse_args(["--y", "3"]).y, ROOT.find("b").get("k")
"""
    assert both(files, "app:look", "m.look()", tmp_path) == ("('3', 'v')",) * 2


def test_what_a_method_makes_is_no_part(tmp_path: Path) -> None:
    files = """
# --- app.py
class Table:
    def __init__(self): self.rows = {}
    def made(self): return {}
T, D = Table(), {"x": {}}
def put():
    found = T.made()
    found[1] = 2
    copied = D.copy()
    copied["y"] = 3
put()
def look(): return T.rows, D
"""
    write_files(files, tmp_path)
    assert "app:put" not in slice_ids(tmp_path, "app:look")


@pytest.mark.parametrize("test", ["False", "TYPE_CHECKING", "MYPY", "TYPE_CHECKING and True"])
@pytest.mark.parametrize("own", [True, False])
def test_a_star_gives_nothing_that_only_type_checkers_see(
    test: str, own: bool, tmp_path: Path
) -> None:
    unseen = f"if {test}:\n    from typing import Any\n"
    files = f"""
# --- pk/__init__.py
# --- pk/events.py
from typing import TYPE_CHECKING
MYPY = False
{unseen}
class Event: pass
# --- pk/parser.py
from __future__ import annotations
from pk.events import *
{unseen if own else ""}
def look(x: Any = 3) -> Any: return Event.__name__, x
"""
    if own:
        files = files.replace("import *", "import *\nfrom pk.events import MYPY, TYPE_CHECKING")
    assert both(files, "pk.parser:look", "m.look()", tmp_path) == ("('Event', 3)",) * 2


@pytest.mark.parametrize("added", ["_add = W._add", "def _add(self): return 4"])
@pytest.mark.parametrize("kept", ["self._add()", "dict(f=self._add)['f']()"])
def test_methods_borrowed_from_a_class_find_what_the_borrower_has(
    added: str, kept: str, tmp_path: Path
) -> None:
    files = f"""
# --- lib.py
class W:
    def __init__(self): self._setup()
    def _add(self): return 3
    def _setup(self): self.d = {kept}
# --- app.py
from lib import W
class O:
    _setup = W._setup
    {added}
    def __init__(self): self._setup()
def look(both=True): return O().d, W().d if both else 0
"""
    original, sliced = both(files, "app:look", "m.look()", tmp_path)
    assert sliced == original


@pytest.mark.parametrize(
    ("first", "second", "made"),
    [
        ("return self.other()", "def other(self): return 3", 'type("C", (A, B), {})'),
        ("return self.other", "other = 3", 'type("C", (A, B), {})'),
        ("return super().go()", "def go(self): return 3", 'type("C", (A, B), {})'),
        ("return self.other()", "def other(self): return 3", 'types.new_class("C", (A, B))'),
    ],
)
def test_bases_of_a_class_made_by_a_call_have_what_the_others_have(
    first: str, second: str, made: str, tmp_path: Path
) -> None:
    files = f"""
# --- app.py
import types
class A:
    def go(self): {first}
class B:
    {second}
    def never(self): return self.go()
C = {made}
def look(): return C().go()
"""
    assert both(files, "app:look", "m.look()", tmp_path) == ("3", "3")
    assert "app:B.never" not in slice_ids(tmp_path / "repo", "app:look")


def test_what_a_function_imports_that_a_statement_calls_runs_in_the_same_order(
    tmp_path: Path,
) -> None:
    files = """
# --- pk/__init__.py
from pk import man
# --- pk/man.py
class Manager:
    def __init__(self): self.got = []
def register_all(m):
    from pk import brain
    brain.register(m)
MANAGER = Manager()
register_all(MANAGER)
# --- pk/brain.py
from pk.build import Builder
def register(m): m.got.append(Builder)
# --- pk/build.py
from pk.man import MANAGER
class Builder:
    def make(self): return len(MANAGER.got)
def look(): return Builder().make()
"""
    assert both(files, "pk.build:look", "m.look()", tmp_path) == ("1", "1")
    assert flat(tmp_path, "pk.build:look", "m.look()") == "1"


def test_in_one_module_what_was_too_early_to_run_is_tried_again(tmp_path: Path) -> None:
    files = """
# --- pk/__init__.py
from pk.man import MANAGER
# --- pk/start.py
def start(load=False):
    if load: import pk.brain
    return 1
STARTED = start()
# --- pk/man.py
from pk.start import STARTED
from pk.nodes import Node
class Manager(Node):
    def __init__(self): self.got = [STARTED]
def register_all(m):
    from pk import brain
    brain.register(m)
MANAGER = Manager()
register_all(MANAGER)
AFTER = 5
# --- pk/nodes.py
def made(full=False):
    if full:
        from pk.late import Late
        return Late
class Node:
    kind = made()
# --- pk/late.py
from pk.man import AFTER
Late = AFTER
# --- pk/brain.py
from pk.nodes import Node
def register(m): m.got.append(Node.kind)
# --- app.py
from pk import MANAGER
from pk.late import Late
def look(): return MANAGER.got, Late
"""
    assert both(files, "app:look", "m.look()", tmp_path) == ("([1, None], 5)",) * 2
    assert flat(tmp_path, "app:look", "m.look()") == "([1, None], 5)"


def test_a_slice_says_what_it_imports_of_what_is_left_out(tmp_path: Path) -> None:
    files = """
# --- pk/__init__.py
# --- pk/vendor/__init__.py
# --- pk/vendor/lex.py
class Lexicon(dict): pass
# --- pk/_vendor/__init__.py
# --- pk/util.py
try:
    from .vendor.lex import Lexicon
except ImportError:
    from lex import Lexicon
def look(): return Lexicon(a=1)
def alone(): return 1
"""
    write_files(files, tmp_path)
    program = open_program(tmp_path, cache=None)
    [found] = slice_symbols(program, ["pk.util:look"]).diagnostics
    assert (found.slug, found.path) == ("needed-but-left-out", "pk/vendor")
    assert "imports pk.vendor.lex" in found.message
    assert "--include '/pk/vendor'" in found.message
    assert not slice_symbols(program, ["pk.util:alone"]).diagnostics
    program = open_program(tmp_path, cache=None, include=["/pk/vendor"])
    assert not slice_symbols(program, ["pk.util:look"]).diagnostics


def test_what_is_needed_and_left_out_beside_packages_is_told_as_well(tmp_path: Path) -> None:
    files = """
# --- src/app.py
import big, logging, build
from other.table import LOOK
def look(): return big.f(), LOOK, logging.getLogger(), build.main()
# --- src/big.py
def f(): return 1
# --- src/other/table.py
LOOK = 2
# --- src/logging/left.py
x = 1
# --- build/left.py
def main(): return 1
"""
    write_files(files, tmp_path)
    left = ["/src/big.py", "/src/other/", "/src/logging/"]
    program = open_program(tmp_path, cache=None, exclude=left)
    found = slice_symbols(program, ["app:look"]).diagnostics
    assert [(each.slug, each.path) for each in found] == [
        ("needed-but-left-out", "src/big.py"),
        ("needed-but-left-out", "src/other"),
    ]
    for target in ("big:f", "other.table:LOOK"):
        with pytest.raises(UnknownTarget, match=r"is left out of the analysis \(excluded\)"):
            find_symbol(program, target)
    with pytest.raises(UnknownTarget, match="no symbol is called"):
        find_symbol(program, "bigger:f")


def test_what_is_called_and_unknown_has_a_name(tmp_path: Path) -> None:
    files = """
# --- app.py
import json
T = json.loads("{}")
def look(made, key):
    def inner(): return made[key]()
    T[key]()
    made(1)(2)
    return inner()
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:look"])
    names = {each.name for each in found.unresolved}
    assert "T[…]" in names
    assert "" not in names


def test_what_is_unknown_at_a_place_is_said_once_in_the_words_of_the_code(tmp_path: Path) -> None:
    kinds = [f"class K{n}:\n    size = {n}\n    def score(self): return {n}" for n in range(30)]
    files = f"""
# --- app.py
{chr(10).join(kinds)}
ALL = [{", ".join(f"K{n}" for n in range(30))}]
def look(text, key):
    for kind in ALL:
        made = kind()
        kind.score(made)
        text.größe.left.right(made.size - 1)
        made.table[key](made)(1)
    return [(made.score(each), len(made + each)) for each in text]
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:look"])
    told = [each for each in found.unresolved if each.reason != "no-such-attribute"]
    places = [(each.source, each.site) for each in told]
    assert len(places) == len(set(places))
    assert [each.name for each in told] == [
        *("kind()", "score", "größe", "left", "right", "size"),
        *("made.table[key](made)(1)", "table", "score"),
    ]


def test_why_not_names_what_is_alike_and_nothing_else(tmp_path: Path) -> None:
    files = """
# --- app.py
class Shop:
    def opened(self): return self.stock()
    def stock(self): return 1
    def close(self): return 2
    def open_all(self): return 3
class Other:
    def close(self): return 4
def far(): return Other().close()
def look(): return Shop().opened(), far()
def lock(): return 5
def unlike(): return 6
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:look"])

    def nearest(symbol: str) -> tuple[str, ...]:
        return explain_symbol(found, symbol).nearest

    assert nearest("app:Shop.close") == ("app:Other.close", "app:Shop.opened", "app:Shop.stock")
    assert nearest("app:lock") == ("app:look",)
    assert nearest("app:unlike") == ()


@pytest.mark.parametrize("bound", ["from pk.spans import *", "from pk.other import w"])
@pytest.mark.parametrize(
    ("first", "imported"),
    [
        (True, "from pk import w\ndef f(): return w.X"),
        (False, "from pk import w\ndef f(): return w.X"),
        (True, "def f():\n    from pk import w\n    return w.X"),
    ],
)
def test_a_name_of_a_package_that_is_a_submodule_as_long_as_nothing_else_binds_it(
    bound: str, first: bool, imported: str, tmp_path: Path
) -> None:
    ordered = ["from pk.a import *", bound] if first else [bound, "from pk.a import *"]
    files = f"""
# --- pk/__init__.py
{ordered[0]}
{ordered[1]}
# --- pk/a.py
{imported}
class A: pass
# --- pk/w.py
X = 5
# --- pk/spans.py
from pk.other import w
# --- pk/other/__init__.py
# --- pk/other/w.py
X = 6
# --- pk/use.py
from pk import A
from pk.a import f
def look(): return f(), A.__name__
"""
    original, sliced = both(files, "pk.use:look", "m.look()", tmp_path)
    assert sliced == original
    assert flat(tmp_path, "pk.use:look", "m.look()") == original


def test_which_property_a_computed_name_stores_is_a_guess(tmp_path: Path) -> None:
    files = """
# --- app.py
class A:
    def copy(self, key): setattr(self, key, 1)
    @property
    def x(self): return 1
    @x.setter
    def x(self, value): pass
    @property
    def y(self): return 1
    @y.setter
    def y(self, value): pass
def look(key):
    made = A()
    made.y = 3
    made.copy(key)
"""
    write_files(files, tmp_path)
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:look"])
    told = {item.symbol.id: item.reason[-1].certainty.value for item in found.items if item.reason}
    assert told["app:A.x"] == "possible"
    assert told["app:A.y"] == "definite"


def test_what_is_put_in_the_place_of_something_outside_is_used_as_that(tmp_path: Path) -> None:
    """feedparser puts an object of its own in the place of a pattern that `sgmllib` matches by."""
    files = """
# --- app.py
import re, sys, textwrap
class Pattern:
    def __init__(self): self.calls = 0
    def sub(self, replacement, text): return self.counted(text)
    def counted(self, text):
        self.calls += 1
        return text.strip()
class Sink:
    def __init__(self): self.kept = []
    def write(self, text): self.kept.append(text)
    def flush(self): pass
    def never(self): pass
textwrap._whitespace_only_re = PATTERN = Pattern()
def look(text):
    sys.stdout, before = Sink(), sys.stdout
    try:
        print(text)
        return textwrap.dedent(text), PATTERN.calls, sys.stdout.kept
    finally:
        sys.stdout = before
"""
    original, sliced = both(files, "app:look", "m.look('  a')", tmp_path)
    assert sliced == original
    assert flat(tmp_path, "app:look", "m.look('  a')") == original
    found = slice_symbols(open_program(tmp_path / "repo", cache=None), ["app:look"])
    assert "app:Sink.never" not in {item.symbol.id for item in found.items}  # the stub says what is


@pytest.mark.parametrize(
    ("add", "call"),
    [
        ("def add(self, other): self.all[other.name] = other", "add(m.State('b'))"),
        (
            "def add(self, others):\n        for each in listed(others): self.take(each)",
            "add([m.State('b')])",
        ),
        (
            "def add(self, others):\n        for each in others.values(): self.take(each)",
            "add({1: m.State('b')})",
        ),
        (
            "def add(self, *others):\n        self.all = {each.name: each for each in others}",
            "add(m.State('b'))",
        ),
    ],
)
def test_a_parameter_of_a_target_may_be_of_its_class(add: str, call: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
class State:
    def __init__(self, name):
        self._name = name
        self.all = {{}}

    @property
    def name(self): return self._name.upper()

    {add}

    def take(self, other): self.all[other.name] = other

def listed(given): return given if isinstance(given, list) else [given]
"""
    expression = f"[list(s.all) for s in [m.State('a')] if s.{call} is None]"
    assert both(files, "app:State.add", expression, tmp_path) == ("[['B']]", "[['B']]")


def test_what_annotations_say_of_a_parameter_it_is(tmp_path: Path) -> None:
    files = """
# --- app.py
class State:
    @property
    def name(self): return "state"

    def add(self, given: "dict[str, int]"): return given.name
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:State.add") == {"app:State.add", "app:State"}


def test_what_a_class_is_made_of_may_be_another_of_it(tmp_path: Path) -> None:
    files = """
# --- app.py
class Row:
    def __init__(self, row): self.held = list(row)
    def __iter__(self): return iter(self.held)
    def __len__(self): return len(self.held)
class Told:
    def __init__(self, row: "list[int]"): self.held = list(row)
    def __iter__(self): return iter(self.held)
def copied(row): return Row(row).held, Told([1]).held
"""
    both_given = both(files, "app:copied", "m.copied(m.Row([1]))", tmp_path)
    assert both_given == ("([1], [1])", "([1], [1])")
    found = slice_ids(tmp_path / "repo", "app:copied")
    assert "app:Row.__iter__" in found
    assert found.isdisjoint({"app:Row.__len__", "app:Told.__iter__"})

"""Where many objects meet in one place: a table of more classes than are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.callgraph.engine.base import WIDEST_OPEN
from depslice.callgraph.engine.core import Engine
from depslice.slicer import slice_symbols
from depslice.slicer.closure import origins
from depslice.slicer.closure.open_values import OpenValues
from depslice.slicer.closure.origins import WIDEST_OF_MANY

KIND = """
class K{0}:
    def __str__(self):
        return "k{0}"

    def __eq__(self, other):
        return other == {0}

    def __call__(self):
        return {0}

    def __len__(self):
        return {0}

"""
USE = """
def use(names):
    return [{0} for k in [KINDS[name]() for name in names]]
"""


def table(count: int, done: str) -> str:
    """A module with a table of so many classes, of whose instances ``done`` is done."""
    entries = ", ".join(f"'{n}': K{n}" for n in range(count))
    kinds = "".join(KIND.format(n) for n in range(count))
    return f"# --- m.py\n{kinds}\nKINDS = {{{entries}}}\n{USE.format(done)}"


@pytest.mark.parametrize("done", ["str(k)", "k == 13", "k()"])
@pytest.mark.parametrize("count", [14, WIDEST_OPEN])
def test_all_that_are_told_apart(tmp_path: Path, count: int, done: str) -> None:
    given = answer(table(count, done), "m:use", "m.use(['1', '13'])", tmp_path)
    assert given == {"str(k)": "['k1', 'k13']", "k == 13": "[False, True]", "k()": "[1, 13]"}[done]


@pytest.mark.parametrize("done", ["str(k)", "k == 31", "len(k)"])
def test_more_than_are_told_apart(tmp_path: Path, done: str) -> None:
    given = answer(table(2 * WIDEST_OPEN, done), "m:use", "m.use(['1', '31'])", tmp_path)
    expected = {"str(k)": "['k1', 'k31']", "k == 31": "[False, True]", "len(k)": "[1, 31]"}
    assert given == expected[done]


PASSED = """
# --- m.py
{0}
class Other:
    def show(self):
        return "other"

class Idle:
    def show(self):
        return "idle"

def shown(k):
    return k.show()

def use():
    Other()
    return [{1}]
"""


def test_of_many_open_values_fewer_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is passed may then be of any live class that has the method; nothing gets lost."""
    kinds = range(WIDEST_OF_MANY + 1)
    classes = "".join(f"class K{n}:\n    def show(self):\n        return {n}\n\n" for n in kinds)
    files = PASSED.format(classes, ", ".join(f"shown(K{n}())" for n in kinds))
    monkeypatch.setattr(origins, "MANY_TRACED", 10)
    write_files(files, tmp_path / "few")
    few = slice_ids(tmp_path / "few", "m:use")
    assert few >= {f"m:K{n}.show" for n in kinds}
    assert not few & {"m:Other.show", "m:Idle"}
    monkeypatch.setattr(origins, "MANY_TRACED", 0)
    assert answer(files, "m:use", "m.use()", tmp_path / "many") == str([*kinds])
    many = slice_ids(tmp_path / "many" / "repo", "m:use")
    assert many == few | {"m:Other.show"}


def test_what_is_no_object_makes_no_crowd(tmp_path: Path) -> None:
    """Of displays that are not told apart nobody asks the classes of the repository."""
    names = ", ".join(f'"k{n}": {{"name": "n{n}"}}' for n in range(2 * WIDEST_OPEN))
    text = f"""
# --- m.py
class Locale:
    def get(self, code):
        return code

NAMES = {{{names}}}

def use(code):
    Locale()
    return NAMES.get(code, {{}}).get("name")
"""
    write_files(text, tmp_path)
    assert slice_ids(tmp_path, "m:use") == {"m:use", "m:NAMES", "m:Locale"}


CONVERTERS = """
class Base:
    def to_ordinal(self, n):
        return str(n)

    def idle(self):
        return 1

{0}

TABLE = {{{1}}}

def ask(converter, to):
    return getattr(converter, "to_" + to)(1)

def use(lang, to):
    return {2}
"""
CONVERTER = """
class C{0}(Base):
    def to_ordinal(self, n):
        return "{0}: %d" % n

    def idle(self):
        return 2
"""


@pytest.mark.parametrize(
    "asked",
    [
        "getattr(TABLE[lang](), f'to_{to}')(1)",
        "getattr(TABLE[lang], 'to_{}'.format(to))(None, 1)",
        "getattr(TABLE[lang](), to[:2] + '_ordinal')(1)",
        "ask(TABLE[lang](), to)",
    ],
)
def test_names_by_their_ends_of_more_than_are_told_apart(tmp_path: Path, asked: str) -> None:
    count = WIDEST_OPEN + 2
    classes = "".join(CONVERTER.format(n) for n in range(count))
    entries = ", ".join(f"'{n}': C{n}" for n in range(count))
    files = f"# --- m.py\n{CONVERTERS.format(classes, entries, asked)}"
    to = "to" if "[:2]" in asked else "ordinal"
    last = count - 1
    assert answer(files, "m:use", f"m.use('{last}', '{to}')", tmp_path) == f"{last}: 1"
    assert not {each for each in slice_ids(tmp_path / "repo", "m:use") if each.endswith(".idle")}


def test_the_same_done_in_many_places_is_settled_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty loops over one parameter ask the classes behind it once, not sixty times."""
    loops = "".join(f"    for each in shapes:\n        each.grow({i})\n" for i in range(60))
    classes = "".join(
        f"class S{i}:\n    def __iter__(self):\n        return iter([self])\n"
        f"    def grow(self, by):\n        return by + {i}\n\n"
        for i in range(10)
    )
    makers = "".join(f"    shapes_of(S{i}())\n" for i in range(10))
    (tmp_path / "m.py").write_text(
        f"{classes}def shapes_of(shapes):\n{loops}\n\ndef target():\n{makers}"
    )
    settled: list[str] = []
    settle = OpenValues._settle

    def count(self: OpenValues, use: Any, value: int) -> None:
        settled.append(use.use)
        settle(self, use, value)

    monkeypatch.setattr(OpenValues, "_settle", count)
    items = slice_symbols(open_program(tmp_path, cache=None), ["m:target"]).items
    assert {f"m:S{i}.__iter__" for i in range(10)} < {item.symbol.id for item in items}
    assert settled.count("protocol") < 60


CONTEXTS = """
# --- m.py
import atexit
from contextlib import ContextDecorator

class Entered(ContextDecorator):
    def __enter__(self): LOG.append("in"); return self
    def __exit__(self, *raised): LOG.append("out")

class Other(ContextDecorator):
    def __enter__(self): LOG.append("other in"); return self
    def __exit__(self, *raised): LOG.append("other out")

LOG = []

def view(): LOG.append("view")

def make(given, names):
    for name in names:
        given = Entered()(given)
        if name > 1:
            given = Other()(given)
    atexit.register(given)
    return given

def main():
    LOG.clear()
    make(view, [1, 2])()
    return LOG[:]
"""


def test_a_loop_that_decorates_what_it_has_decorated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step wraps what all before have given: calling that doubled with every one of them."""
    entered: list[None] = []
    enter = Engine.enter_context

    def counted(*given: Any, **named: Any) -> Any:
        entered.append(None)
        assert len(entered) < 1000
        return enter(*given, **named)

    monkeypatch.setattr(Engine, "enter_context", counted)
    given = answer(CONTEXTS, "m:main", "m.main()", tmp_path)
    inner = "'in', 'view', 'out'"
    assert given == f"['other in', 'in', {inner}, 'out', 'other out']"

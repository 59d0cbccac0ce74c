"""A target that is asked for by a re-export: it can be imported by that name too."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import run_expression, write_files
from depslice.callgraph import Program, open_program
from depslice.callgraph.errors import UnknownTarget
from depslice.callgraph.targets import find_spelled
from depslice.server.questions import SliceOptions, slice_function
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

FILES = """
# --- pkg/__init__.py
from .api import Table as Base, make
from .far import *
from .idle import waste
HOOKS = [make]
# --- pkg/api.py
from ._table import Table, opened as make
# --- pkg/_table.py
import os
class Table:
    def rows(self): return [1]
    def other(self): return 2
def opened(): return Table().rows()
# --- pkg/far.py
__all__ = ["starred"]
def starred(): return "star"
# --- pkg/idle.py
def waste(): return 0
# --- pkg/lazy.py
def __getattr__(name):
    if name == "Late":
        from ._table import Table
        return Table
    raise AttributeError(name)
# --- pkg/again.py
from . import api as door
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    write_files(FILES, tmp_path / "repo")
    return open_program(tmp_path / "repo", cache=None)


@pytest.mark.parametrize(
    ("text", "symbol", "names"),
    [
        ("pkg._table:Table", "pkg._table:Table", ()),
        ("pkg/_table.py:2", "pkg._table:Table", ()),
        ("waste", "pkg.idle:waste", ()),
        ("pkg.api:make", "pkg._table:opened", ("pkg.api:make",)),
        ("pkg:Base", "pkg._table:Table", ("pkg:Base",)),
        ("pkg.Base.rows", "pkg._table:Table.rows", ("pkg:Base",)),
        ("pkg:starred", "pkg.far:starred", ("pkg:starred",)),
        ("pkg.again.door.make", "pkg._table:opened", ("pkg.again:door", "pkg.api:make")),
    ],
)
def test_the_names_that_stand_for_the_target_are_told(
    program: Program, text: str, symbol: str, names: tuple[str, ...]
) -> None:
    spelled = find_spelled(program, text)
    assert (spelled.symbol.id, spelled.names) == (symbol, names)


@pytest.mark.parametrize(
    ("text", "module", "expression", "shown"),
    [
        ("pkg:Base", "pkg", "m.Base().rows()", "[1]"),
        ("pkg.Base.rows", "pkg", "m.Base().rows()", "[1]"),
        ("pkg:make", "pkg", "m.make()", "[1]"),
        ("pkg:starred", "pkg", "m.starred()", "star"),
        ("pkg.again.door.make", "pkg.again", "m.door.make()", "[1]"),
    ],
)
def test_a_tree_has_the_re_export_by_which_its_target_was_asked_for(
    program: Program, tmp_path: Path, text: str, module: str, expression: str, shown: str
) -> None:
    spelled = find_spelled(program, text)
    found = slice_symbols(program, [spelled.symbol.id], spelled=spelled.names)
    assert found.spelled == spelled.names
    files = render(program, found).files
    write_tree(files, tmp_path / "tree")
    done = run_expression(tmp_path / "tree", module, expression)
    assert done.stdout.strip() == shown, done.stderr
    # Nothing but the way to it is added.
    assert not any("waste" in file.text or "HOOKS" in file.text for file in files)
    plain = slice_symbols(program, [spelled.symbol.id])
    assert [item.symbol.id for item in plain.items] == [item.symbol.id for item in found.items]


def test_an_answer_of_the_server_has_the_re_export(program: Program) -> None:
    text = slice_function(program, "pkg:Base", SliceOptions()).text
    assert "from .api import Table as Base" in text


def test_a_spelling_of_no_module_is_refused(program: Program) -> None:
    with pytest.raises(UnknownTarget, match="no name nowhere:Base of a module"):
        slice_symbols(program, ["pkg._table:Table"], spelled=["nowhere:Base"])

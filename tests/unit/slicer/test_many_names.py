"""Attributes by the names that a long display lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.callgraph.engine.base import MOST_NAMES
from depslice.callgraph.engine.values import EMPTY
from depslice.callgraph.summary import LONGEST_TABLE
from depslice.slicer.slicing import engine_of

LISTED = """
# --- m.py
class Field:
{attributes}
    unasked = "no"

    def other(self):
        return helper()


def helper():
    return 1


def use():
    field = Field()
    names = {names}
    return [{read} for name{more} in {each}]
"""
WAYS = {
    "a list": ("[{}]", "'a{0}'", "getattr(field, name)", "", "names"),
    "keys": ("{{{}}}", "'a{0}': None", "getattr(field, name)", "", "names"),
    "items": ("{{{}}}", "'a{0}': None", "getattr(field, name)", ", _", "names.items()"),
    "values": ("{{{}}}", "'x{0}': 'a{0}'", "getattr(field, names[name])", "", "names"),
    "or another": (
        "{{{}}}",
        "'a{0}': None",
        "getattr(field, {'a1': 'a2'}.get(name, name))",
        ", _",
        "names.items()",
    ),
}


def listing(way: str, count: int) -> str:
    """A module that reads so many attributes by names of one display."""
    display, entry, read, more, each = WAYS[way]
    return LISTED.format(
        attributes="\n".join(f"    a{n} = {n}" for n in range(count)),
        names=display.format(", ".join(entry.format(n) for n in range(count))),
        read=read,
        more=more,
        each=each,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [9, 30, LONGEST_TABLE + 1, 300])
def test_each_is_there(tmp_path: Path, way: str, count: int) -> None:
    files = listing(way, count)
    expected = [2 if way == "or another" and n == 1 else n for n in range(count)]
    assert answer(files, "m:use", "m.use()", tmp_path) == repr(expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [9, 30, LONGEST_TABLE])
def test_no_other_is(tmp_path: Path, way: str, count: int) -> None:
    write_files(listing(way, count), tmp_path)
    ids = slice_ids(tmp_path, "m:use")
    assert not ids & {"m:Field.unasked", "m:Field.other", "m:helper"}
    assert {f"m:Field.a{n}" for n in range(count)} - ids <= {"m:Field.a1"}


def test_names_outside_that_a_loop_puts_together_are_not_all_told_apart(tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(30)]
    files = f"""
# --- m.py
import numeric
def helper(): return 1
def found(names):
    value = numeric
    for name in names:
        value = getattr(value, name, None)
    return value
def use():
    helper()
    return [found(name.split(".")) for name in {names!r}]
"""
    write_files(files, tmp_path)
    engine = engine_of(open_program(tmp_path, cache=None))
    made = {engine.intern(("X", f"numeric.part{number}")) for number in range(9 * MOST_NAMES)}
    assert engine.unknown <= engine.thinned(made, EMPTY)
    assert len(engine.thinned(made, EMPTY)) == MOST_NAMES + 1  # else what follows takes hours
    assert slice_ids(tmp_path, "m:use") == {"m:use", "m:helper", "m:found"}

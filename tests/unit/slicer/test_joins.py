"""What joins much with much, and need not: here few definitions have to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.callgraph.model import Certainty
from depslice.slicer import slice_symbols

PROTOCOLS = """
# --- app.py
from typing import Protocol
class Lock(Protocol):
    def __enter__(self): ...
    def __exit__(self, *a): ...
class Port(Protocol):
    def send_all(self): ...
class Connection:
    def __enter__(self): return heavy()
    def __exit__(self, *a): pass
class Wire:
    def send_all(self): return heavy()
def heavy(): return 1
def locked(lock: Lock):
    with lock: return Connection
def sent(port: Port): return port.send_all(), Wire
"""


@pytest.mark.parametrize(
    ("target", "least", "kept"),
    [
        ("locked", Certainty.LIKELY, False),
        ("locked", Certainty.POSSIBLE, True),
        ("sent", Certainty.LIKELY, True),
    ],
)
def test_a_special_method_of_a_protocol_is_no_more_than_a_name(
    target: str, least: Certainty, kept: bool, tmp_path: Path
) -> None:
    write_files(PROTOCOLS, tmp_path)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, [f"app:{target}"], least=least)
    assert ("app:heavy" in {item.symbol.id for item in found.items}) is kept


GIVEN = """
# --- app.py
def heavy(): return 1
class Engine:
    def __init__(self): self.pool = heavy()
def declared(x: Engine): return x.pool
def tested(x): return isinstance(x, Engine)
def tested_among(x): return isinstance(x, (int, Engine))
def of_its_class(x: Engine): return type(x)()
def handed(): return [Engine]
"""


@pytest.mark.parametrize(
    ("target", "made"),
    [
        ("declared", False),
        ("tested", False),
        ("tested_among", False),
        ("of_its_class", True),
        ("handed", True),
    ],
)
def test_who_is_given_instances_makes_none(target: str, made: bool, tmp_path: Path) -> None:
    """How callers make what they pass is no more than a guess."""
    write_files(GIVEN, tmp_path)
    program = open_program(tmp_path, cache=None)
    for least, there in ((Certainty.LIKELY, made), (Certainty.POSSIBLE, True)):
        found = slice_symbols(program, [f"app:{target}"], least=least)
        assert ("app:heavy" in {item.symbol.id for item in found.items}) is there


def assert_builds(files: str, expected: str, tmp_path: Path, *, builds: bool) -> None:
    """The slice of the target gives what is expected; whether it has the helper."""
    assert answer(files, "app:target", "m.target()", tmp_path) == expected
    write_files(files, tmp_path / "files")
    assert ("app:helper" in slice_ids(tmp_path / "files", "app:target")) is builds


DECORATED = """
# --- base.py
def wrapping(fn):
    def wrapper(*a): return fn(*a)
    return wrapper
class Tools:
    table = []
    @classmethod
    def once(cls, fn):
        def wrapper(self): return fn(self), cls.table
        return wrapper
    @staticmethod
    def plain(fn): return wrapping(fn)
    @classmethod
    def register(cls, fn):
        cls.table.append(fn)
        return fn
    @classmethod
    def later(cls, fn):
        def wrapper(self):
            cls.table.append(fn)
        return wrapper
    @staticmethod
    def kept(fn, seen=[]):
        seen.append(fn)
        return seen
    @classmethod
    def wrapped(cls):
        def wrapper(fn):
            cls.table.append(fn)
            return fn
        return wrapper
# --- app.py
from base import Tools
class A(Tools):
    @Tools.{name}
    def heavy(self): return helper()
def helper(): return 1
class B(Tools):
    def light(self): return self.table, len(Tools.kept(1))
def target(): return len(B().light()[0]), B().light()[1]
"""


@pytest.mark.parametrize(
    ("name", "builds", "expected"),
    [
        ("once", False, "(0, 2)"),
        ("plain", False, "(0, 2)"),
        ("register", True, "(1, 2)"),
        ("later", True, "(0, 2)"),
        ("kept", True, "(0, 3)"),
        ("wrapped()", True, "(1, 2)"),
    ],
)
def test_decorators_that_are_methods_leave_their_class(
    name: str, builds: bool, expected: str, tmp_path: Path
) -> None:
    files = DECORATED.replace("{name}", name)
    assert_builds(files, expected, tmp_path, builds=builds)


FUNCTIONS = """
# --- app.py
def same(fn): return fn
def checked(on): return same
def helper(): return 1
def keep(each, seen=[]): seen.append(each); return seen
def kept(): return keep
{use}
def target(): return getattr(checked(True), "tags", None), len(kept()(0))
"""


@pytest.mark.parametrize(
    ("use", "builds", "expected"),
    [
        ("@checked(False)\ndef heavy(): return helper()", False, "(None, 1)"),
        ("@checked(False)\n@checked(True)\ndef heavy(): return helper()", False, "(None, 1)"),
        ("def heavy(): return helper()\nchecked(False).tags = heavy()", True, "(1, 1)"),
        ("def heavy(): return helper()\nsetattr(checked(False), 'tags', heavy())", True, "(1, 1)"),
        ("def heavy(): return helper()\nkept()(heavy())", True, "(None, 2)"),
    ],
)
def test_a_function_is_not_changed_by_calls(
    use: str, builds: bool, expected: str, tmp_path: Path
) -> None:
    files = FUNCTIONS.replace("{use}", use)
    assert_builds(files, expected, tmp_path, builds=builds)

"""Classes of which code reads attributes alone: no instance of them is made for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

FILES = """
# --- app.py
import enum
from dataclasses import dataclass
import parts
from parts import Group, Node, Text
def heavy(): return 1
class Limits:
    LOW = 1
    def __init__(self): self.x = heavy()
    @staticmethod
    def norm(x): return x
    @classmethod
    def make(cls): return cls()
    @classmethod
    def low(cls): return cls.LOW
class Strict(Limits):
    LOW = 2
    def __init__(self): self.x = 3
class Kind(enum.Enum):
    A = 1
    def __init__(self, number): self.x = heavy()
def attribute(): return Limits.LOW
def elsewhere(): return parts.Node.KIND
def static(): return Limits.norm(3)
def by_class(): return Limits.low()
def below(): return Strict.low()
def made(): return Limits.make()
def made_below(): return Strict.make()
def handed(): return [Limits, Limits.LOW]
def tested(x): return isinstance(x, Limits) and Limits.LOW
def member(): return Kind.A
def unbound(x): return Node.render(x)
def unknown(xs): return [x.render() for x in xs], Group.KIND
def declared(x: Node): return x.render(), Text.KIND
# --- parts.py
def heavy(): return 1
class Node:
    KIND = "node"
    def __init__(self): self.x = heavy()
    def render(self): return self.x
class Text(Node):
    def render(self): return self.more()
    def more(self): return 2
class Group:
    KIND = "group"
    def __init__(self): self.x = heavy()
    def render(self): return self.x
"""


@pytest.mark.parametrize(
    ("target", "made"),
    [
        ("attribute", set()),
        ("elsewhere", set()),
        ("static", set()),
        ("by_class", set()),
        ("made", {"app:Limits.__init__"}),
        ("made_below", {"app:Limits.__init__", "app:Strict.__init__"}),
        ("handed", {"app:Limits.__init__"}),
        ("tested", {"app:Limits.__init__"}),
        ("member", {"app:Kind.__init__"}),
        ("unbound", {"parts:Node.__init__"}),
        ("unknown", {"parts:Group.__init__"}),
        ("declared", {"parts:Node.__init__"}),
    ],
)
def test_constructors_come_with_instances(target: str, made: set[str], tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    found = slice_ids(tmp_path, f"app:{target}")
    assert {each for each in found if each.endswith(".__init__")} == made


def test_what_a_class_has_instead_is_read_of_it(tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    assert slice_ids(tmp_path, "app:below") >= {"app:Strict.LOW", "app:Limits.low"}


def test_instances_from_outside_have_what_their_class_has_instead(tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    assert slice_ids(tmp_path, "app:declared") >= {"parts:Text.render", "parts:Text.more"}


def test_a_constant_of_a_class_is_changed_by_nobody_who_has_it_from_a_function(
    tmp_path: Path,
) -> None:
    """`given()` gives an attribute of that name, of an instance: no statement changes the class."""
    files = """
# --- app.py
class Owner: pass
class Event:
    owner: "Owner | None" = None
    table = {}
    def __new__(cls, owner=None):
        event = super().__new__(cls)
        event.owner = owner
        return event
    def given(self): return self.owner
    @classmethod
    def tables(cls): return cls.table
def use(): Event().given().append(1)
class Uses:
    Event().given().x = 1
Event.tables()["k"] = 2
def target(): return Event.owner
def filled(): return Event.table
"""
    write_files(files, tmp_path)
    assert "app:Uses" not in slice_ids(tmp_path, "app:target")
    [statement] = [p for p in _kept(tmp_path, "app:filled") if "tables()" in p]
    assert statement


def _kept(folder: Path, target: str) -> list[str]:
    from depslice.callgraph import open_program
    from depslice.slicer import render, slice_symbols

    program = open_program(folder, cache=None)
    return render(program, slice_symbols(program, [target])).files[0].text.splitlines()


def test_what_is_declared_and_passed_on_has_what_its_class_has_instead(tmp_path: Path) -> None:
    """A resource of simpy: the base calls what the class below, which is passed, overrides."""
    files = """
# --- app.py
class Base:
    def __init__(self): self.items = []
    def trigger(self, event): return self.do(event)
    def do(self, event): raise NotImplementedError
class Container(Base):
    def do(self, event): return helper(event)
class Other(Base):
    def do(self, event): return 3
def helper(event): return event
class Event:
    def __init__(self, of: Base): self.given = of.trigger(self)
class Put(Event):
    def __init__(self, of: Container, amount: int):
        self.amount = amount
        super().__init__(of)
"""
    write_files(files, tmp_path)
    found = slice_ids(tmp_path, "app:Put.__init__")
    assert found >= {"app:Container.do", "app:helper"}
    assert "app:Other" not in found


@pytest.mark.parametrize("of", ["type(self)", "self.__class__"])
def test_what_a_method_stores_on_its_class(of: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
class C:
    x = None
    def set(self, v): {of}.x = v
c = C()
c.set(3)
def target(): return C.x
"""
    assert answer(files, "app:target", "m.target()", tmp_path) == "3"


def test_an_iterator_that_iter_gives_is_iterated(tmp_path: Path) -> None:
    files = """
# --- app.py
class Rows:
    def __init__(self, n): self.n = n
    def __iter__(self): return Cursor(self.n)
class Cursor:
    def __init__(self, n): self.n = n
    def __next__(self):
        if not self.n: raise StopIteration
        self.n -= 1
        return self.n
    def __iter__(self): return self
def target(): return sum(map(abs, iter(Rows(3)))), [x for x in iter(Rows(2))]
"""
    assert answer(files, "app:target", "m.target()", tmp_path) == "(3, [1, 0])"

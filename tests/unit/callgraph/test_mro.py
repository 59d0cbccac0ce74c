"""The order of bases (C3)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.engine import classes
from depslice.callgraph.engine.mro import linearise


def test_bases_that_many_share_are_asked_once() -> None:
    """Two classes a level, each below both of the next: there are 2**40 ways down."""
    asked: Counter[tuple[str, int]] = Counter()

    def bases_of(class_: tuple[str, int]) -> list[tuple[str, int]]:
        asked[class_] += 1
        level = class_[1] + 1
        return [known[name, level] for name in "AB" if (name, level) in known]

    known = {(name, level): (name, level) for level in range(40) for name in "AB"}
    found = linearise(known["A", 0], bases_of)
    assert found == (("A", 0), *((name, level) for level in range(1, 40) for name in "AB"))
    assert set(asked.values()) == {1}


def test_orders_are_those_of_python() -> None:
    class A: ...

    class B(A): ...

    class C(A): ...

    class D(C, B): ...

    class E(B): ...

    class F(D, E): ...

    def bases_of(class_: type) -> list[type]:
        return [base for base in class_.__bases__ if base is not object]

    for each in (A, B, D, E, F):
        assert (*linearise(each, bases_of), object) == each.__mro__


def test_where_there_is_no_order_it_is_depth_first() -> None:
    bases = {"C": ["A", "B"], "A": ["X", "Y"], "B": ["Y", "X"]}
    assert linearise("C", lambda name: bases.get(name, [])) == ("C", "A", "X", "Y", "B")


def test_circles_are_cut() -> None:
    bases = {"A": ["B"], "B": ["C", "A"], "C": ["B"]}
    assert linearise("A", lambda name: bases[name]) == ("A", "B", "C")


@pytest.fixture
def orders_made(monkeypatch: pytest.MonkeyPatch) -> Counter[Any]:
    """How often the order of a class was found, by class; counted while a test runs."""
    made: Counter[Any] = Counter()

    def counting(class_: Any, *arguments: Any) -> Any:
        made[class_] += 1
        return linearise(class_, *arguments)

    monkeypatch.setattr(classes, "linearise", counting)
    return made


def test_an_order_that_may_change_is_remembered_until_a_class_gets_bases(
    orders_made: Counter[Any], tmp_path: Path
) -> None:
    """Also while only what module bodies reach runs, where most is asked."""
    uses = "".join(f"Sub().m().a{number}\n" for number in range(50))
    (tmp_path / "m.py").write_text(
        f"base = None\nclass Sub(base):\n    def m(self): return self\n{uses}", encoding="utf-8"
    )
    build_graph(open_program(tmp_path, cache=None), workers=1)
    assert orders_made.total() < 10


def test_a_class_is_used_while_the_statement_of_its_base_runs(
    orders_made: Counter[Any], tmp_path: Path
) -> None:
    """All that is asked of it then is asked of the order that was found first."""
    uses = "".join(f"    Sub().m().a{number}\n" for number in range(200))
    (tmp_path / "m.py").write_text(
        f"""
class Root:
    def m(self): return self
def make():
{uses}
    return Root
class Base(make()):
    pass
class Sub(Base):
    pass
""",
        encoding="utf-8",
    )
    graph = build_graph(open_program(tmp_path, cache=None), workers=1)
    assert "m:Root.m" in {each.target for each in graph.references()}
    assert orders_made.total() < 20

"""How far items are from the target: the fewest references, in whatever order they are found."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import pytest

from depslice.callgraph import open_program
from depslice.slicer import function_symbols, slice_symbols
from depslice.slicer.closure import Closure, grow_closure
from depslice.slicer.slicing import engine_of, forget_engine

FIXTURES = Path(__file__).parents[3] / "fixtures"
SPECIMENS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))[::12]


def fewest(closure: Closure, target: str) -> dict[str, int]:
    """The length of the shortest chain of demands to each item, breadth first."""
    found = {target: 0}
    waiting = deque([target])
    while waiting:
        source = waiting.popleft()
        for asker, item in closure.demands:
            if asker == source and item in closure.distances and item not in found:
                found[item] = found[source] + 1
                waiting.append(item)
    return found


@pytest.mark.parametrize("specimen", SPECIMENS)
def test_distances_are_the_fewest_references(specimen: str) -> None:
    program = open_program(FIXTURES / specimen, cache=None)
    symbols = function_symbols(program)[:20]
    assert symbols
    for symbol in symbols:
        forget_engine(program)
        closure = grow_closure(
            program, engine_of(program), [symbol.id], depth=None, whole_classes=False
        )
        assert closure.distances == fewest(closure, symbol.id)


def test_a_shorter_way_found_late_counts_for_what_follows(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "def far():\n    return 1\n\n"
        "def late():\n    return far()\n\n"
        "def third():\n    return late()\n\n"
        "def second():\n    return third()\n\n"
        "def first():\n    return second()\n\n"
        "TABLE = {}\n"
        "TABLE['k'] = late\n\n"
        "def target(key):\n    first()\n    return TABLE[key]()\n"
    )
    program = open_program(tmp_path, cache=None)
    closure = grow_closure(
        program, engine_of(program), ["app:target"], depth=None, whole_classes=False
    )
    assert closure.distances["app:late"] < closure.distances["app:third"] + 1
    assert closure.distances["app:far"] == closure.distances["app:late"] + 1


def test_what_a_local_class_asks_for_its_function_asks_for(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from outside import Base\n\n"
        "def helper():\n    return 1\n\n"
        "def make():\n"
        "    class Local(Base):\n"
        "        def asked(self):\n            return helper()\n"
        "    return Local()\n\n"
        "def between():\n    return make()\n\n"
        "def target():\n    return between()\n"
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:target"])
    distances = {item.symbol.id: item.distance for item in found.items}
    assert distances == {"app:target": 0, "app:between": 1, "app:make": 2, "app:helper": 3}
    for item in found.items[1:]:
        assert item.reason[0].source == "app:target"

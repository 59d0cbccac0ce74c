"""What pickling and deep copies ask of all that an object holds, however deep.

Each target is called in its slice, by another process.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

PROGRAM = """
# --- app.py
import copy, io, pickle, threading
from dataclasses import dataclass

class Stamp:
    def __init__(self, key):
        self.key = key
        self.lock = threading.Lock()
    def __getstate__(self): return {"key": self.key}
    def __setstate__(self, state): self.__init__(**state)
    def told(self): return self.key

class One:
    def __init__(self): self.held = Stamp("a")
class Listed:
    def __init__(self): self.held = [Stamp("a")]
class Two:
    def __init__(self): self.one = One()
class Given:
    def __init__(self, held): self.held = held
class Filled:
    def __init__(self): self.held = {}
    def add(self, name, each): self.held[name] = each
class Late: pass
class Bag(list): pass
@dataclass
class Data:
    held: object
class Reduced:
    def __init__(self, held): self.held = held
    def __reduce__(self): return Given, ([self.held],)
class Stated:
    def __init__(self, held): self.held = held
    def __getstate__(self): return {"state": [self.held]}

def go(x): return pickle.loads(pickle.dumps(x, 4))
def attribute(): return go(One()).held.told()
def given(): return go(Given(Stamp("a"))).held.told()
def in_list(): return go(Given([Stamp("a")])).held[0].told()
def nested(): return go(Given({1: [(1, Stamp("a"))]})).held[1][0][1].told()
def listed(): return go(Listed()).held[0].told()
def two(): return go(Two()).one.held.told()
def outer(): return go(Given(Given([Stamp("a")]))).held.held[0].told()
def objects(): return go([Given(Stamp("a"))])[0].held.told()
def record(): return go(Data([Stamp("a")])).held[0].told()
def filled():
    x = Filled()
    x.add("a", Stamp("a"))
    return go(x).held["a"].told()
def late():
    x = Late()
    x.held = []
    x.held.append(Stamp("a"))
    return go(x).held[0].told()
def bag(): return go(Bag([Stamp("a")]))[0].told()
def reduced(): return go(Reduced(Stamp("a"))).held[0].told()
def stated(): return go(Stated(Stamp("a"))).state[0].told()
def pickler():
    out = io.BytesIO()
    pickle.Pickler(out, 4).dump(Given([Stamp("a")]))
    return pickle.loads(out.getvalue()).held[0].told()
def direct():
    x = Given([Stamp("a")])
    return pickle.loads(pickle.dumps(x)).held[0].told()
def deep(): return copy.deepcopy(Given(Given([Stamp("a")]))).held.held[0].told()
def deep_two(): return copy.deepcopy(Two()).one.held.told()
def shallow(): return copy.copy(Given([Stamp("a")])).held[0].told()
"""


@pytest.mark.parametrize(
    "target",
    [
        *("attribute", "given", "in_list", "nested", "listed", "two", "outer", "objects"),
        *("record", "filled", "late", "bag", "reduced", "stated", "pickler", "direct"),
        *("deep", "deep_two"),
    ],
)
def test_what_is_held_says_how_it_is_written(target: str, tmp_path: Path) -> None:
    assert answer(PROGRAM, f"app:{target}", f"m.{target}()", tmp_path) == "a"


def test_a_shallow_copy_asks_nothing_of_what_is_held(tmp_path: Path) -> None:
    write_files(PROGRAM, tmp_path)
    assert "app:Stamp.__getstate__" not in slice_ids(tmp_path, "app:shallow")

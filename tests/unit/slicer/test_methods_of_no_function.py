"""``types.MethodType(x, instance)`` where ``x`` is no function: a class, an object, a partial.

Each target is called in its slice, by another process.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer
from depslice.callgraph import build_graph, open_program

PROGRAM = """
# --- app.py
from functools import partial
from types import MethodType

class Bound:
    def __init__(self, cls): self.cls = cls
    def __get__(self, instance, owner=None):
        return self.cls if instance is None else MethodType(self.cls, instance)

class Counted:
    def __init__(self, function): self.function = function
    def __call__(self, *args): return self.function(*args)
    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

class Put:
    def __init__(self, store, item, last=None):
        self.item = item.shown()
        store.keep(self)
    def done(self): return self.item
    @classmethod
    def named(cls): return cls.label()
    @classmethod
    def label(cls): return "put"

class Last(Put):
    def __init__(self, store, item, last):
        super().__init__(store, item)
        self.last = last.final()

class Item:
    def shown(self): return 1
    def final(self): return 2
    def __lt__(self, other): return True

class Other(Item):
    def shown(self): return 3

class Sized:
    def __len__(self): return 5

class Store:
    def __init__(self): self.items = []
    put = Bound(Put)
    last = Bound(Last)
    def keep(self, put): self.items.append(put)
    @Counted
    def count(self, item): return item.shown() + self.extra()
    def extra(self): return 7

def made(): return Store().put(Item()).done()
def below(): return Store().last(Other(), last=Item()).last
def mapped(): return [each.done() for each in map(Store().put, [Other()])]
def counted(): return Store().count(Other())
def attribute(): return Store().put.named()
def function(): return Store().put.__func__.named(), len(Store().put.__self__.items)
def given(cls, item):
    store = Store()
    store.own = MethodType(cls, store)
    return store.own(item).done()
def passed(): return given(Put, Other())
def starred(): return MethodType(*(Put, Store()))(Item()).done()
def twice(): return MethodType(MethodType(Put, Store()), Item())().done()
def of_partial(): return MethodType(partial(Put), Store())(Item()).done()
def run(call, item): return call(item).done()
def handed(): return run(Store().put, Other())
def builtin(): return MethodType(len, Sized())()
"""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("made", "1"),
        ("below", "2"),
        ("mapped", "[3]"),
        ("counted", "10"),
        ("attribute", "put"),
        ("function", "('put', 0)"),
        ("passed", "3"),
        ("starred", "1"),
        ("twice", "1"),
        ("of_partial", "1"),
        ("handed", "3"),
        ("builtin", "5"),
    ],
)
def test_what_is_bound_is_called_with_the_instance(
    target: str, expected: str, tmp_path: Path
) -> None:
    assert answer(PROGRAM, f"app:{target}", f"m.{target}()", tmp_path) == expected


def test_what_a_constructor_keeps_of_them_is_compared(tmp_path: Path) -> None:
    files = """
# --- app.py
from heapq import heappush
from types import MethodType
class Bound:
    def __init__(self, cls): self.cls = cls
    def __get__(self, instance, owner): return MethodType(self.cls, instance)
class Put:
    def __init__(self, store, item):
        self.item = item
        store.keep(self)
class Item:
    def __lt__(self, other): return True
class Store:
    put = Bound(Put)
    def __init__(self): self.items = []
    def keep(self, put): heappush(self.items, put.item)
def run():
    store = Store()
    for _ in range(2):
        store.put(Item())
    return len(store.items)
"""
    assert answer(files, "app:run", "m.run()", tmp_path) == "2"


def test_what_is_sent_into_a_generator_that_it_is_given(tmp_path: Path) -> None:
    files = """
# --- app.py
from types import MethodType
class Bound:
    def __init__(self, cls): self.cls = cls
    def __get__(self, instance, owner): return MethodType(self.cls, instance)
class Values:
    def __contains__(self, event): return event == 1
class Process:
    def __init__(self, env, generator):
        next(generator)
        try:
            generator.send(Values())
        except StopIteration as stop:
            self.result = stop.value
class Env:
    process = Bound(Process)
def work():
    found = yield
    return 1 in found
def run(): return Env().process(work()).result
"""
    assert answer(files, "app:run", "m.run()", tmp_path) == "True"


def test_one_that_binds_itself_again_and_again_ends(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "from types import MethodType\n"
        "class C:\n"
        "    def __call__(self, *args): return args\n"
        "class Held:\n"
        "    def __init__(self): self.run = MethodType(C(), self)\n"
        "    def again(self):\n"
        "        self.run = MethodType(self.run, self)\n"
        "        return self.run()\n"
    )
    graph = build_graph(open_program(tmp_path, cache=None))
    assert "app:C.__call__" in graph.callees("app:Held.again")


def test_a_loop_that_binds_what_it_has_bound_ends(tmp_path: Path) -> None:
    files = """
# --- app.py
from types import MethodType

class Counted:
    def __call__(self, *given): return len(given)

class First: pass
class Second: pass

def run():
    bound = Counted()
    for each in [First(), Second(), First()]:
        bound = MethodType(bound, each)
    return bound()
"""
    assert answer(files, "app:run", "m.run()", tmp_path) == "3"

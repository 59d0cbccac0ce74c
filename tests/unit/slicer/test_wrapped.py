"""What a function fills that is called by what a decorator made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids

WRAPPERS = """
# --- app.py
import functools, threading
R, T = {}, {}
def locked(fn):
    @functools.wraps(fn)
    def wrapper(*a, **k):
        with threading.Lock():
            return fn(*a, **k)
    return wrapper
def keyed(fn):
    def wrapper(*a): return fn("key", *a)
    return wrapper
def locked_by(lock):
    def decorate(fn):
        def wrapper(*a, **k):
            with lock: return fn(*a, **k)
        return wrapper
    return decorate
class Once:
    def __init__(self, fn): self.fn = fn
    def __call__(self, *a): return self.fn(*a)
class Optional:
    def __init__(self, fn): self.fn = fn
    def __call__(self, *a, **k):
        return self.fn(*a) if a else functools.partial(self.fn, **k)
class Entering:
    def __init__(self, fn): self.fn = fn
    def __call__(self, name):
        def decorate(function):
            self.fn(name, function)
            return function
        return decorate
def one(): return 1
"""
GET = """
def get(): return sorted(R), T
"""
PROGRAMS = {
    "a function": "@locked\ndef add(n, f): R[n] = f\nadd('a', one)",
    "twice": "@locked_by(threading.Lock())\n@locked\ndef add(n, f): R[n] = f\nadd('a', one)",
    "an instance": "@Once\ndef add(n, f): R[n] = f\nadd('a', one)",
    "no argument": "@locked\ndef set_up(): R['a'] = 1\nset_up()",
    "in a function": "@locked\ndef add(n, f): R[n] = f\ndef go():\n    add('a', one)\ngo()",
    "assigned": "def _add(n, f): R[n] = f\nadd = locked(_add)\nadd('a', one)",
    "another name": "@locked\ndef _add(n, f): R[n] = f\nadd = _add\nadd('a', one)",
    "in a table": "@locked\ndef add(n, f): R[n] = f\nBY = {'add': add}\nBY['add']('a', one)",
    "decorating": "@locked\ndef add(f):\n    R[f.__name__] = f\n    return f\n@add\ndef two(): pass",
    "a decorator's maker": (
        "@locked\ndef add(n):\n    def enter(f):\n        R[n] = f\n        return f\n    return enter\n"
        "@add('a')\ndef two(): pass"
    ),
    "with or without arguments": (
        "@Optional\ndef add(f, name=None):\n    R[name or f.__name__] = f\n    return f\n"
        "@add\ndef two(): pass\n@add(name='b')\ndef three(): pass"
    ),
    "a decorator by an instance": "@Entering\ndef add(n, f): R[n] = f\n@add('a')\ndef two(): pass",
    "a method": "class A:\n    @locked\n    def add(self, n): R[n] = n\nA().add('a')",
    "a class method": (
        "class A:\n    @classmethod\n    @locked\n    def add(cls, n): R[n] = n\n"
        "    def __init_subclass__(cls): cls.add(cls.__name__)\nclass B(A): pass"
    ),
    "a property": "class A:\n    @property\n    @locked\n    def p(self): R['p'] = 1\nA().p",
    "an argument": "@locked\ndef put(t, n): t[n] = n\nput(T, 'a')",
    "an argument behind one of the wrapper": "@keyed\ndef put(n, t): t[n] = n\nput(T)",
    "an argument of a method": (
        "class A:\n    @locked\n    def put(self, t): t['a'] = 1\nA().put(T)"
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_who_calls_the_wrapper_by_the_name_fills(program: str, tmp_path: Path) -> None:
    files = f"{WRAPPERS}{PROGRAMS[program]}{GET}"
    shown = answer(files, "app:get", "m.get()", tmp_path)
    assert shown == run_expression(tmp_path / "repo", "app", "m.get()").stdout.strip()
    assert shown != "([], {})"


def test_other_modules_call_it_by_names_of_their_own(tmp_path: Path) -> None:
    files = """
# --- app.py
from reg import R, T
import plug
def get(): return sorted(R), T
# --- reg.py
from deco import locked
R, T = {}, {}
@locked
def register(n, f): R[n] = f
@locked
def put(t, n): t[n] = n
# --- deco.py
def locked(fn):
    def wrapper(*a, **k): return fn(*a, **k)
    return wrapper
# --- plug.py
from reg import T, register as enter
import reg
enter("a", 1)
reg.register("b", 2)
def go():
    from reg import put as more
    more(T, "c")
go()
"""
    assert answer(files, "app:get", "m.get()", tmp_path) == "(['a', 'b'], {'c': 'c'})"


def test_what_one_wrapper_does_for_others_fills_nothing(tmp_path: Path) -> None:
    more = """
@locked
def add(n, f): R[n] = f
@locked
def note(n, t): T[n] = len(t)
def two(): pass
def three(): pass
add("a", two)
note("b", R)
note(three, R)
"""
    end = "\ndef get(): return sorted(R)\n"
    assert answer(f"{WRAPPERS}{more}{end}", "app:get", "m.get()", tmp_path) == "['a']"
    found = slice_ids(tmp_path / "repo", "app:get")
    assert "app:two" in found
    assert found.isdisjoint({"app:three", "app:note", "app:T"})

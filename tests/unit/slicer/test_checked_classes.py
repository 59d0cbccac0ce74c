"""`isinstance(x, kind)` where callers know the class: what it says of its instances itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

CLASSES = """
# --- reg.py
from abc import ABCMeta
from typing import Protocol, runtime_checkable
class Iterable(metaclass=ABCMeta):
    @classmethod
    def __subclasshook__(cls, other): return callable(getattr(other, "__iter__", None))
    def idle(self): pass
class Meta(type):
    def __instancecheck__(cls, thing): return hasattr(thing, "__iter__")
class Checked(metaclass=Meta): pass
"""
REGISTRY = """
class Registry:
    def __init__(self): self.kinds = {empty}
    def register(self, kind): {put}
    def find(self, thing):
        for kind in self.kinds:
            if isinstance(thing, kind): return True
        return False
def go(thing):
    registry = Registry()
    registry.register(KIND)
    return registry.find(thing)
"""


@pytest.mark.parametrize("kind", ["Iterable", "Checked"])
@pytest.mark.parametrize(
    "code",
    [
        "def check(x, kind): return isinstance(x, kind)\ndef go(x): return check(x, KIND)",
        (
            "def check(x, kind): return issubclass(type(x), kind) or isinstance(x, kind)\n"
            "def go(x): return check(x, KIND)"
        ),
        "def check(x, *kinds): return isinstance(x, kinds)\ndef go(x): return check(x, KIND)",
        "def check(x, kinds): return isinstance(x, kinds)\ndef go(x): return check(x, (KIND, int))",
        (
            "def check(x, kinds): return isinstance(x, kinds)\n"
            "def go(x): return check(x, (int, (KIND, str)))"
        ),
        REGISTRY.format(empty="{}", put="self.kinds[kind] = list"),
        REGISTRY.format(empty="[]", put="self.kinds.append(kind)"),
        (
            "T = {}\ndef register(kind): T[kind] = list\nregister(KIND)\n"
            "def go(x): return any(isinstance(x, kind) for kind in T)"
        ),
    ],
)
def test_a_class_that_callers_pass_is_asked_whose_it_is(
    code: str, kind: str, tmp_path: Path
) -> None:
    files = f"{CLASSES}{code.replace('KIND', kind)}\n"
    assert answer(files, "reg:go", "m.go({3})", tmp_path) == "True"
    assert "reg:Iterable.idle" not in slice_ids(tmp_path / "repo", "reg:go")


def test_a_protocol_that_callers_pass_is_recognised_by_its_members(tmp_path: Path) -> None:
    code = (
        "@runtime_checkable\nclass Runs(Protocol):\n    def run(self): ...\n"
        "class Job:\n    def run(self): return 1\n    def idle(self): return 2\n"
        "def check(x, kind): return isinstance(x, kind)\ndef go(): return check(Job(), Runs)\n"
    )
    assert answer(CLASSES + code, "reg:go", "m.go()", tmp_path) == "True"
    assert "reg:Job.idle" not in slice_ids(tmp_path / "repo", "reg:go")


def test_a_class_that_nobody_tests_for_is_not_asked(tmp_path: Path) -> None:
    code = (
        "def check(x, kind): return isinstance(x, kind)\ndef go(): return check(3, int), Iterable\n"
    )
    write_files(CLASSES + code, tmp_path)
    assert "reg:Iterable.__subclasshook__" not in slice_ids(tmp_path, "reg:go")


KINDS = """
# --- m.py
import abc
import collections.abc
import functools
import os
from typing import Protocol, runtime_checkable

class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return has_ping(other)

def has_ping(other):
    return any("ping" in k.__dict__ for k in other.__mro__) or NotImplemented

@runtime_checkable
class Closing(Protocol):
    def shut(self): ...

class Meta(type):
    def __instancecheck__(cls, value):
        return value == 3

class Three(metaclass=Meta):
    pass

class Sized:
    def __len__(self):
        return 3

class Looped:
    def __iter__(self):
        return iter((1,))

class Named:
    def __fspath__(self):
        return "name"

class Pinging:
    def ping(self):
        return 1

class Door:
    def shut(self):
        return 1

    def idle(self):
        return 1

def matched(value):
    match value:
        case Three():
            return "three"
        case collections.abc.Sized():
            return "sized"
        case Hooked() | Closing():
            return "hooked"
        case collections.abc.Iterable():
            return "looped"
    return "none"

def matching():
    return [matched(value) for value in (3, Sized(), Pinging(), Door(), Looped(), 4)]

@functools.singledispatch
def shown(value):
    return "none"

@shown.register
def _(value: collections.abc.Sized | Hooked):
    return "sized"

@shown.register(os.PathLike)
@shown.register(Closing)
def _(value):
    return "path"

def looped(value):
    return [shown(each) for each in value]

shown.register(collections.abc.Iterable, looped)

class Shower:
    @functools.singledispatchmethod
    def show(self, value):
        return "none"

    @show.register
    def _(self, value: collections.abc.Iterable):
        return "looped"

def dispatching():
    return [shown(each) for each in (Sized(), Named(), Door(), Looped())], Shower().show(Looped())
"""
KINDS_GIVE = {
    "matching": "['three', 'sized', 'hooked', 'hooked', 'looped', 'none']",
    "dispatching": "(['sized', 'path', 'path', ['none']], 'looped')",
}


@pytest.mark.parametrize("name", KINDS_GIVE)
def test_patterns_and_dispatch_ask_what_isinstance_does(name: str, tmp_path: Path) -> None:
    assert answer(KINDS, f"m:{name}", f"m.{name}()", tmp_path) == KINDS_GIVE[name]
    assert "m:Door.idle" not in slice_ids(tmp_path / "repo", f"m:{name}")


DEFAULTS = """
# --- m.py
class A:
    def act(self): return "a"
class B:
    def act(self): return "b"
class EA(Exception): act = A.act
class EB(Exception): act = B.act
class Idle:
    def act(self): return "idle"
KINDS = {"a": A}

def given(nodes, kind=B): return [n.act() for n in nodes if isinstance(n, kind)]
def among(nodes, *kinds): return [n.act() for n in nodes if isinstance(n, (B, *kinds))]
def exact(nodes, *, kind=B): return [n.act() for n in nodes if type(n) is kind]
def chosen(nodes, kind=None):
    kind = kind or B
    return [n.act() for n in nodes if isinstance(n, kind)]
def looked_up(nodes, name="b"):
    kind = KINDS.get(name, B)
    return [n.act() for n in nodes if isinstance(n, kind)]
def leaving(n, kind=B):
    if not isinstance(n, kind):
        return None
    return n.act()
def caught(n, kind=EB):
    try:
        raise n
    except kind as e:
        return e.act()
class Walk:
    kind = B
    def __init__(self, other=B): self.other = other
    def go(self, nodes): return [n.act() for n in nodes if isinstance(n, self.kind)]
    def stored(self, nodes): return [n.act() for n in nodes if isinstance(n, self.other)]
class Below(Walk):
    kind = A

def run_given(): return given([A(), B()], A) + given([A(), B()])
def run_among(): return among([A(), B()], A)
def run_exact(): return exact([A(), B()], kind=A) + exact([A(), B()])
def run_chosen(): return chosen([A(), B()], A) + chosen([A(), B()])
def run_looked_up(): return looked_up([A(), B()], "a") + looked_up([A(), B()])
def run_leaving(): return [leaving(A(), A), leaving(B())]
def run_caught(): return [caught(EA(), EA), caught(EB())]
def run_below(): return Below().go([A(), B()]) + Walk().go([A(), B()])
def run_stored(): return Walk(A).stored([A(), B()]) + Walk().stored([A(), B()])
"""


@pytest.mark.parametrize(
    "name",
    ["given", "among", "exact", "chosen", "looked_up", "leaving", "caught", "below", "stored"],
)
def test_a_class_beside_those_that_callers_pass_is_not_the_only_one(
    name: str, tmp_path: Path
) -> None:
    assert answer(DEFAULTS, f"m:run_{name}", f"m.run_{name}()", tmp_path) == "['a', 'b']"
    assert "m:Idle.act" not in slice_ids(tmp_path / "repo", f"m:run_{name}")

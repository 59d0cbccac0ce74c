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

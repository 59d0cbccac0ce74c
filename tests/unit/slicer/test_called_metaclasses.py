"""Classes that a call of a metaclass makes: ``Node = Meta("Node", (Base,), {})``."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer

GIVES_ANOTHER = """
# --- m.py
class Wrapper:
    def __init__(self, made):
        self.made = made

    def __call__(self):
        return self.made()


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        return Wrapper(type.__new__(mcs, name, bases, namespace))


class Base:
    pass


Node = Meta("Node", (Base,), {})


def use():
    return type(Node()).__name__
"""
BELOW = """
# --- m.py
{0}

class Meta({1}):
    def __getitem__(cls, key):
        return item(key)


def item(key):
    return key * 3


class Base:
    def go(self):
        return self.hook()


Node = Meta("Node", (Base,), {{}})


class Leaf(Node):
    def hook(self):
        return 55


def use():
    return Leaf().go(), Leaf[2]
"""


def test_what_its_new_gives_instead(tmp_path: Path) -> None:
    assert answer(GIVES_ANOTHER, "m:use", "m.use()", tmp_path) == "Node"


@pytest.mark.parametrize(
    ("imported", "base"), [("", "type"), ("from abc import ABCMeta", "ABCMeta")]
)
def test_a_class_below(tmp_path: Path, imported: str, base: str) -> None:
    assert answer(BELOW.format(imported, base), "m:use", "m.use()", tmp_path) == "(55, 6)"

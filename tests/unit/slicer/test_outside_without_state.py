"""Functions of the library that change what they are passed set nothing for later."""

from __future__ import annotations

from check import check_slice

WRAPPERS = """
# --- m.py
import functools


class Lazy:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __get__(self, instance, owner):
        return self.function(owner)


class Conf:
    @Lazy
    def value(cls):
        return 3


class Prop:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __get__(self, instance, owner):
        return self.function(instance)


class Shown:
    @Prop
    def text(self):
        return 4


def use():
    return Shown().text
"""


def test_update_wrapper_of_another_object() -> None:
    needed = {"use", "Shown", "Shown.text", "Prop", "Prop.__init__", "Prop.__get__"}
    check_slice(WRAPPERS, "m:use", {f"m:{name}" for name in needed})

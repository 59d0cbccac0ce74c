"""What fills an object of the slice without naming it, when the module runs.

Each program is run itself, and its slice: both must give the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer

GENERATOR = """
# --- m.py
SEEN = []


def filling(count):
    for number in range(count):
        SEEN.append(number)
        yield number


{0}


def use():
    return SEEN
"""


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("for each in filling(2):\n    other = each", "[0, 1]"),
        ("for each in filling(9):\n    if each == 1:\n        break", "[0, 1]"),
        ("class Used:\n    for each in filling(1):\n        pass", "[0]"),
        ("if list(filling(1)):\n    pass", "[0]"),
        ("assert list(filling(1))", "[0]"),
        ("try:\n    raise next(filling(1))\nexcept TypeError:\n    pass", "[0]"),
    ],
)
def test_statements_that_run_a_generator(tmp_path: Path, statement: str, given: str) -> None:
    assert answer(GENERATOR.format(statement), "m:use", "m.use()", tmp_path) == given


ENTERED = """
# --- lib.py
from contextlib import contextmanager
SEEN = []


@contextmanager
def pushed(name):
    SEEN.append(name)
    try:
        yield name
    except KeyError:
        SEEN.append("failed")


class Pushed:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        SEEN.append(self.name)

    def __exit__(self, *of):
        SEEN.append("left")


# --- m.py
from lib import SEEN, Pushed, pushed
{0}


def use():
    return SEEN
"""


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("with pushed(1):\n    pass", "[1]"),
        ("with pushed(1) as one, pushed(2) as two:\n    both = one + two", "[1, 2]"),
        ("with pushed(1):\n    raise KeyError", "[1, 'failed']"),
        ("with Pushed(1):\n    pass", "[1, 'left']"),
    ],
)
def test_context_managers_that_fill(tmp_path: Path, statement: str, given: str) -> None:
    assert answer(ENTERED.format(statement), "m:use", "m.use()", tmp_path) == given


NARROWED = """
# --- m.py
class Signal:
    def __init__(self):
        self.receivers = []

    def connect(self, function):
        self.receivers.append(function)


def receiver(signal):
    def decorate(function):
        if isinstance(signal, (list, tuple)):
            for each in signal:
                each.connect(function)
        else:
            signal.connect(function)
        return function

    return decorate


SAVED, OTHER = Signal(), Signal()


@receiver([OTHER, SAVED])
def one():
    return 1


@receiver(SAVED)
def two():
    return 2


def use():
    return [each() for each in SAVED.receivers]
"""


def test_a_type_that_is_asked_for_does_not_hide_what_is_changed(tmp_path: Path) -> None:
    assert answer(NARROWED, "m:use", "m.use()", tmp_path) == "[1, 2]"

"""What fills an object of the slice without naming it, when the module runs.

Each program is run itself, and its slice: both must give the same.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

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


DEFINED = """
# --- flags.py
class Flags:
    def __init__(self):
        self.options = {{}}
        self.known = {{}}
        self.last = 0

    def _store(self, name, option):
        self.options[name] = option

    def define(self, name):
        option = [name]
        self._store(name, option)
        return option

    def numbered(self):
        self.last += 1
        return self.last

    def cached(self, name):
        if name not in self.known:
            self.known[name] = [name]
        return self.known[name]


FLAGS = Flags()

# --- m.py
from flags import FLAGS
import flags
{0}


def use():
    return sorted(FLAGS.options), FLAGS.last
"""


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("one = FLAGS.define('one')", "(['one'], 0)"),
        ("one = flags.FLAGS.define('one')", "(['one'], 0)"),
        ("class Used:\n    one = FLAGS.define('one')", "(['one'], 0)"),
        ("first = FLAGS.numbered()", "([], 1)"),
    ],
)
def test_methods_that_enter_what_they_give(tmp_path: Path, statement: str, given: str) -> None:
    assert answer(DEFINED.format(statement), "m:use", "m.use()", tmp_path) == given


def test_a_cache_is_not_filled_for_the_slice(tmp_path: Path) -> None:
    write_files(DEFINED.format("one = FLAGS.cached('one')"), tmp_path)
    assert "m:one" not in slice_ids(tmp_path, "m:use")


BOUND = """
# --- m.py
class Group:
    def __init__(self):
        self.commands = {}

    def add(self, name, command):
        self.commands[name] = command

    def group(self, name):
        def decorate(function):
            made = Group()
            self.commands[name] = made
            return made

        return decorate


MAIN = Group()


@MAIN.group("database")
def database():
    pass


database.add("init", 1)
OTHER = Group()
MAIN.add("other", OTHER)
OTHER.add("more", 2)


def use():
    return {name: group.commands for name, group in MAIN.commands.items()}
"""


def test_what_is_put_into_something_is_built_too(tmp_path: Path) -> None:
    given = "{'database': {'init': 1}, 'other': {'more': 2}}"
    assert answer(BOUND, "m:use", "m.use()", tmp_path) == given


PLUGINS = """
# --- base.py
class Meta(type):
    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if not hasattr(cls, "plugins"):
            cls.plugins = []
        else:
            cls.plugins.append(name)


class Base(metaclass=Meta):
    pass


class Alone(metaclass=Meta):
    pass


# --- impl.py
from base import Alone, Base


class One(Base):
    pass


class Two(One):
    pass


class Other(Alone):
    pass


# --- m.py
from base import Base
import impl


def use():
    return Base.plugins
"""


def test_classes_that_a_metaclass_enters_in_what_it_made(tmp_path: Path) -> None:
    assert answer(PLUGINS, "m:use", "m.use()", tmp_path) == "['One', 'Two']"
    assert "impl:Other" not in slice_ids(tmp_path / "repo", "m:use")

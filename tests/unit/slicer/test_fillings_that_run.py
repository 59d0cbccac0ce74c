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


SPECIAL = """
# --- lib.py
class Seen:
    def __init__(self):
        self.calls = []

    def __contains__(self, item):
        self.calls.append("in")
        return True

    def __len__(self):
        self.calls.append("len")
        return 1

    def __enter__(self):
        self.calls.append("enter")

    def __exit__(self, *of):
        self.calls.append("exit")

    def __iter__(self):
        self.calls.append("iter")
        return iter(())

    def __neg__(self):
        self.calls.append("neg")
        return self

    def __format__(self, how):
        self.calls.append("format")
        return ""

    @property
    def told(self):
        self.calls.append("told")

    @property
    def cached(self):
        self.calls = list(self.calls)
        return self.calls


SEEN = Seen()

# --- m.py
import lib
from lib import SEEN
{0}


def use():
    return SEEN.calls
"""


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("4 in SEEN", "['in']"),
        ("len(lib.SEEN)", "['len']"),
        ("bool(SEEN)", "['len']"),
        ("with SEEN:\n    pass", "['enter', 'exit']"),
        ("for each in SEEN:\n    pass", "['iter']"),
        ("-SEEN", "['neg']"),
        ("f'{SEEN}'", "['format']"),
        ("SEEN.told", "['told']"),
    ],
)
def test_special_methods_that_change_the_instance(
    tmp_path: Path, statement: str, given: str
) -> None:
    assert answer(SPECIAL.format(statement), "m:use", "m.use()", tmp_path) == given


def test_a_property_whose_result_is_taken_is_read_again(tmp_path: Path) -> None:
    write_files(SPECIAL.format("other = SEEN.cached"), tmp_path)
    assert "m:other" not in slice_ids(tmp_path, "m:use")


USED_UP = """
# --- m.py
import itertools
W = iter([1, 2, 3])


def taking(given):
    for each in given:
        yield each


{0}


def use():
    return list(W)
"""


@pytest.mark.parametrize(
    ("statements", "given"),
    [
        ("L = [0]\nL[:] = W", "[]"),
        ("L = [0]\nL[0:1] = W", "[]"),
        ("take = W.__next__\ntake()", "[2, 3]"),
        ("G = taking(W)\nnext(G)", "[2, 3]"),
        ("ONE, TWO = itertools.tee(W)\nnext(ONE)", "[2, 3]"),
        ("L = []\nL += W", "[]"),
    ],
)
def test_iterators_that_are_used_up_by_others(tmp_path: Path, statements: str, given: str) -> None:
    assert answer(USED_UP.format(statements), "m:use", "m.use()", tmp_path) == given


@pytest.mark.parametrize(
    "statement", ["T = f'{W}'", "T = '%s' % W", "T = dir(W)", "T = taking(W)", "D = {}\nD[0] = W"]
)
def test_iterators_that_are_not_used_up(tmp_path: Path, statement: str) -> None:
    write_files(USED_UP.format(statement), tmp_path)
    assert slice_ids(tmp_path, "m:use") == {"m:W", "m:use"}


COUNTED = """
# --- fields.py
import itertools


class Field:
    _count = itertools.count()
    _take = itertools.count().__next__

    def __init__(self):
        self.place = {0}


# --- m.py
from fields import Field


class Form:
    one = Field()
    two = Field()


def use():
    return Form.two.place
"""


@pytest.mark.parametrize(
    "counted",
    ["next(Field._count)", "next(self._count)", "next(type(self)._count)", "self._take()"],
)
def test_instances_that_a_counter_of_their_class_numbers(tmp_path: Path, counted: str) -> None:
    assert answer(COUNTED.format(counted), "m:use", "m.use()", tmp_path) == "1"


@pytest.mark.parametrize(
    ("statements", "expression", "given"),
    [
        ("[setattr(C, name, 1) for name in ('one', 'two')]", "(C.one, C.two)", "(1, 1)"),
        ("any(setattr(C, name, 1) for name in ('one', 'two'))", "(C.one, C.two)", "(1, 1)"),
        (
            "def go():\n    [setattr(C, name, 1) for name in ('one', 'two')]\n\n\ngo()",
            "(C.one, C.two)",
            "(1, 1)",
        ),
        ("print(4, file=lib.F)", "lib.F.getvalue()", "4"),
        ("def go():\n    del lib.there\n\n\ngo()", "hasattr(lib, 'there')", "False"),
    ],
)
def test_other_ways_to_change(tmp_path: Path, statements: str, expression: str, given: str) -> None:
    lib = "# --- lib.py\nimport io\nF = io.StringIO()\nthere = 1\n\n\nclass C:\n    pass\n\n\n"
    code = f"import lib\nfrom lib import C\n{statements}\n\n\ndef use():\n    return {expression}\n"
    assert answer(f"{lib}# --- m.py\n{code}", "m:use", "m.use()", tmp_path) == given


OTHER_NAMES = """
# --- lib.py
FIRST = SECOND = {{"list": [1]}}
STACK = [1, 2, 3]
{0}

# --- m.py
from lib import FIRST, STACK


def use():
    return FIRST, STACK


def take(stack):
    return stack.pop()


def given(**options):
    return options.pop("list")


{1}
"""


@pytest.mark.parametrize(
    ("in_lib", "in_module", "given"),
    [
        ("third = SECOND\nthird['a'] = 1", "", "({'list': [1], 'a': 1}, [1, 2, 3])"),
        ("def fill():\n    SECOND['a'] = 1\n\n\nfill()", "", "({'list': [1], 'a': 1}, [1, 2, 3])"),
        ("", "from lib import SECOND\nSECOND['a'] = 1", "({'list': [1], 'a': 1}, [1, 2, 3])"),
        ("part = SECOND['list']\npart += [2]", "", "({'list': [1, 2]}, [1, 2, 3])"),
        ("", "part = FIRST.get('list')\npart += [2]", "({'list': [1, 2]}, [1, 2, 3])"),
        ("last = STACK.pop()", "", "({'list': [1]}, [1, 2])"),
        ("", "last = take(STACK)", "({'list': [1]}, [1, 2])"),
    ],
)
def test_an_object_of_two_names_and_what_is_taken_away(
    tmp_path: Path, in_lib: str, in_module: str, given: str
) -> None:
    files = OTHER_NAMES.format(in_lib, in_module)
    assert answer(files, "m:use", "m.use()", tmp_path) == given


@pytest.mark.parametrize("statement", ["last = given(**FIRST)", "n = len(STACK)\nn += 1"])
def test_copies_and_numbers_are_other_objects(tmp_path: Path, statement: str) -> None:
    write_files(OTHER_NAMES.format("", statement), tmp_path)
    assert slice_ids(tmp_path, "m:use") == {"lib:FIRST", "lib:STACK", "m:use"}


GIVEN = """
# --- m.py
TABLE = {{}}


class Related:
    pass


class Other:
    pass


def register(cls):
    TABLE[cls.__name__] = cls
    return cls


register(Related)
THERE = Related()


def mark(cls):
    cls.mark = 1


{0}


def use():
    return Related.mark, THERE.mark
"""


@pytest.mark.parametrize(
    "statement",
    [
        "for each in TABLE.values():\n    each.mark = 1",
        "def go():\n    TABLE['Related'].mark = 1\n\n\ngo()",
        "for each in list(TABLE.values()):\n    mark(each)",
    ],
)
def test_attributes_that_come_by_what_holds_a_class(tmp_path: Path, statement: str) -> None:
    assert answer(GIVEN.format(statement), "m:use", "m.use()", tmp_path) == "(1, 1)"


PARENT = """
# --- lib.py
class Group:
    def __init__(self):
        self.items = []

    def __or__(self, other):
        self.items.append(1)
        return other


class Item:
    def __init__(self, parent):
        parent.items.append(1)


GROUP = Group()


def counting():
    count = 0
    seen = []
    cache = {{}}

    def step(key=None):
        nonlocal count
        count += 1
        return count

    def note(key):
        seen.append(key)
        return seen

    def cached(key):
        if key not in cache:
            cache[key] = [key]
        return cache[key]

    return step, note, cached


STEP, NOTE, CACHED = counting()

# --- m.py
from lib import CACHED, GROUP, STEP, Item
{0}


def use():
    return len(GROUP.items), STEP()


def use_cache():
    return CACHED(1)
"""


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("MANY = [Item(GROUP) for _ in 'ab']", "(2, 1)"),
        ("MANY = {'one': Item(GROUP), 'two': [Item(GROUP)]}", "(2, 1)"),
        ("class Form:\n    one = Item(GROUP)", "(1, 1)"),
        ("FLOW = GROUP | 3", "(1, 1)"),
        ("FIRST = STEP()", "(0, 2)"),
    ],
)
def test_what_statements_of_all_kinds_pass_on(tmp_path: Path, statement: str, given: str) -> None:
    assert answer(PARENT.format(statement), "m:use", "m.use()", tmp_path) == given


def test_a_cache_around_a_function_is_filled_again(tmp_path: Path) -> None:
    write_files(PARENT.format("FIRST = CACHED(2)"), tmp_path)
    assert "m:FIRST" not in slice_ids(tmp_path, "m:use_cache")


NAMESPACE = """
# --- lib.py
table = None
{0}
table["b"] = 2

# --- m.py
from lib import table


def use():
    return table
"""


@pytest.mark.parametrize(
    "statement",
    [
        "globals()['table'] = {'a': 1}",
        "if True:\n    vars()['table'] = {'a': 1}",
        "globals().update(table={'a': 1})",
    ],
)
def test_names_that_are_bound_anew_by_texts(tmp_path: Path, statement: str) -> None:
    given = "{'a': 1, 'b': 2}"
    assert answer(NAMESPACE.format(statement), "m:use", "m.use()", tmp_path) == given

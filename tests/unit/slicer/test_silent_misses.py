"""Programs whose slices once ran differently from the original, and said nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

IDS = """
# --- pkg/__init__.py
# --- pkg/ids.py
import itertools

{0}


class Field:
    def __init__(self):
        self.order = next_id()


class Below(Field):
    def __init__(self, of):
        super().__init__()
        self.of = of
# --- pkg/models.py
from pkg import ids
from pkg.ids import Below

FIRST = ids.Field()


class Model:
    one = Below(1)
    two = Below(2)
# --- pkg/app.py
from pkg import models


def run():
    return models.Model.two.order
"""


@pytest.mark.parametrize(
    "counting",
    [
        "_made = 0\n\ndef next_id():\n    global _made\n    _made += 1\n    return _made",
        "_made = itertools.count(1)\n\ndef next_id():\n    return next(_made)",
        (
            "class next_id(int):\n    made = 0\n\n    def __new__(cls):\n        cls.made += 1\n"
            "        return int(cls.made)"
        ),
    ],
)
def test_who_else_counts(tmp_path: Path, counting: str) -> None:
    """What a number is depends on all that were given out before, by constructors too."""
    assert answers(IDS.format(counting), tmp_path) == ["3"] * 3


DRAWN = """
# --- pkg/__init__.py
# --- pkg/app.py
import itertools
import random
from dataclasses import dataclass, field

{0}


@dataclass
class Item:
    number: int = field(default_factory=draw)


A = Item()
B = Item()
C = draw()


def run():
    return B.number, C
"""


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        ("_made = itertools.count()\n\ndef draw():\n    return next(_made)", "(1, 2)"),
        (
            "_random = random.Random(3)\n\ndef draw():\n    return _random.randrange(100)",
            "(75, 69)",
        ),
    ],
)
def test_who_else_draws(tmp_path: Path, drawing: str, expected: str) -> None:
    """Factories of fields are called by generated constructors."""
    assert answers(DRAWN.format(drawing), tmp_path) == [expected] * 3


def test_a_partial_that_takes_the_next(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
import itertools
from functools import partial

draw = partial(next, itertools.count())
A = draw()
B = draw()


def run():
    return B
"""
    assert answers(files, tmp_path) == ["1"] * 3


INTERNED = """
# --- pkg/__init__.py
# --- pkg/app.py
_numbers = {{}}


def number(name):
    {0}


class Token:
    def __init__(self, name):
        self.number = number(name)


A = Token("a")
B = Token("b")


def run():
    return B.number
"""


@pytest.mark.parametrize(
    "numbering",
    [
        "if name not in _numbers:\n        _numbers[name] = len(_numbers)\n    return _numbers[name]",
        "return _numbers.setdefault(name, len(_numbers))",
    ],
)
def test_who_else_is_numbered(tmp_path: Path, numbering: str) -> None:
    assert answers(INTERNED.format(numbering), tmp_path) == ["1"] * 3


METACLASS = """
# --- pkg/__init__.py
# --- pkg/base.py
class Meta(type):
    def __init__(cls, name, bases, body):
        super().__init__(name, bases, body)
        if bases:
            {0}


class Step(metaclass=Meta):
    steps = []

    @classmethod
    def register(cls):
        cls.steps.append(cls)
# --- pkg/steps.py
from pkg.base import Step


class One(Step):
    def go(self):
        return self.more()

    def more(self):
        return 1
# --- pkg/app.py
from pkg import steps
from pkg.base import Step


def run():
    return [step().go() for step in Step.steps]
"""


@pytest.mark.parametrize("entering", ["cls.steps.append(cls)", "cls.register()"])
def test_a_metaclass_enters_classes_in_what_the_body_of_the_first_has(
    tmp_path: Path, entering: str
) -> None:
    assert answers(METACLASS.format(entering), tmp_path) == ["[1]"] * 3


PATCHED = """
# --- pkg/__init__.py
# --- pkg/lib.py
def dumps(x):
    return "plain"


def go(x):
    return dumps(x)
# --- pkg/patching.py
def patch(module, function):
    module.dumps = function


def monkey(module, function):
    patch(module, function)


def by_name(module):
    def decorate(function):
        setattr(module, function.__name__, function)
        return function

    return decorate


def all_of(module, source, names):
    for name in names:
        setattr(module, name, getattr(source, name))
# --- pkg/fast.py
def dumps(x):
    return "better"
# --- pkg/app.py
import sys

from pkg import fast, lib, patching


def better(x):
    return "better"


{0}


def run():
    return lib.go(3)
"""


@pytest.mark.parametrize(
    "patching",
    [
        "patching.patch(lib, better)",
        "patching.monkey(lib, better)",
        "@patching.by_name(lib)\ndef dumps(x):\n    return 'better'",
        "patching.all_of(lib, fast, ['dumps'])",
        "for module in (lib,):\n    module.dumps = better",
    ],
)
def test_a_function_patches_the_module_it_is_given(tmp_path: Path, patching: str) -> None:
    assert answers(PATCHED.format(patching), tmp_path) == ["better"] * 3


@pytest.mark.parametrize("text", ['"pkg.lib"', 'f"{__package__}.lib"', '__package__ + ".lib"'])
def test_a_module_is_patched_by_its_name(tmp_path: Path, text: str) -> None:
    files = PATCHED.format(f"sys.modules[{text}].dumps = better")
    assert answers_of_tree(files, tmp_path) == ["better"] * 2


MOCKED = """
# --- pkg/__init__.py
# --- pkg/svc.py
class Api:
    def get(self):
        return "real"


def call():
    return Api().get()
# --- pkg/app.py
from unittest import mock

from pkg import svc


class Fake:
    def get(self):
        return self.more()

    def more(self):
        return "fake"


def run():
    with {0}:
        return svc.call()
"""


@pytest.mark.parametrize(
    "patching",
    [
        'mock.patch("pkg.svc.Api", Fake)',
        'mock.patch("pkg.svc.Api", new=Fake)',
        'mock.patch.object(svc, "Api", Fake)',
        'mock.patch("pkg.svc.Api.get", lambda self: Fake().get())',
    ],
)
def test_what_stands_in_for_something_is_asked_for_the_same(tmp_path: Path, patching: str) -> None:
    assert answers_of_tree(MOCKED.format(patching), tmp_path) == ["fake"] * 2


def test_a_module_by_a_text_that_a_test_shows(tmp_path: Path) -> None:
    """``config.from_object("pkg.local")``, where an object may be given as well."""
    files = """
# --- pkg/__init__.py
# --- pkg/local.py
HOST = "far"
# --- pkg/config.py
import importlib


class Config(dict):
    def from_object(self, given):
        if isinstance(given, str):
            given = importlib.import_module(given)
        for name in dir(given):
            if name.isupper():
                self[name] = getattr(given, name)
# --- pkg/app.py
from pkg.config import Config

config = Config()
config.from_object("pkg.local")


def run():
    return config["HOST"]
"""
    assert answers_of_tree(files, tmp_path) == ["far"] * 2


DIRECTIVES = """
# --- pkg/__init__.py
# --- pkg/things.py
def add(x):
    return x + more()


def more():
    return 1
# --- pkg/sub/__init__.py
# --- pkg/sub/resolving.py
import importlib
import sys


class Directives:
    def __init__(self, package):
        self.package = package
        self.known = {{}}

    def resolved(self, dotted):
        if not isinstance(dotted, str):
            return dotted
{0}

    def add(self, name, directive):
        self.known[name] = self.resolved(directive)
# --- pkg/app.py
import pkg
from pkg.sub.resolving import Directives


def run():
    directives = Directives(pkg)
    directives.add("add", ".things.add")
    return directives.known["add"](2)
"""


@pytest.mark.parametrize(
    "resolving",
    [
        (
            "        module, name = dotted.rsplit('.', 1)\n"
            "        return getattr(importlib.import_module(module, self.package.__name__), name)"
        ),
        (
            "        found, *parts = (self.package.__name__ + dotted).split('.')\n"
            "        __import__('.'.join([found, *parts[:-1]]))\n"
            "        return getattr(sys.modules['.'.join([found, *parts[:-1]])], parts[-1])"
        ),
    ],
)
def test_a_path_that_starts_from_the_package_it_is_written_in(
    tmp_path: Path, resolving: str
) -> None:
    """pyramid: ``config.add_directive("add_view", ".views.add_view")``."""
    assert answers_of_tree(DIRECTIVES.format(resolving), tmp_path) == ["3"] * 2


def test_what_stands_in_the_place_of_a_module_answers(tmp_path: Path) -> None:
    """passlib: a guess kept the statement, and left out ``__getattr__`` for another guess."""
    files = """
# --- pkg/__init__.py
# --- pkg/compat.py
import sys
from types import ModuleType


class Overlay(ModuleType):
    @classmethod
    def replace(cls, name):
        sys.modules[name] = cls(name, sys.modules[name])

    def __init__(self, name, module):
        super().__init__(name)
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)


def helper(x):
    return x + 1


Overlay.replace(__name__)
# --- pkg/wrapper.py
import sys

from pkg.compat import helper


class Wrapper:
    def identified(self, x):
        return helper(x), "pkg.compat" in sys.modules
# --- pkg/app.py
import pickle

from pkg.wrapper import Wrapper


def run():
    return pickle.loads(pickle.dumps(Wrapper())).identified(2)
"""
    assert answers_of_tree(files, tmp_path) == ["(3, True)"] * 2


OVERLAID = """
# --- pkg/__init__.py
# --- pkg/things.py
def lazy(x):
    return x + 1


def other(x):
    pass
# --- pkg/compat.py
import importlib
import sys
from types import ModuleType


class Overlay(ModuleType):
    @classmethod
    def replace(cls, name, sources):
        made = cls(name, sources, sys.modules[name])
        sys.modules[name] = made
        return made

    def __init__(self, name, sources, module):
        super().__init__(name)
        self._sources = sources
        self._module = module

    def __getattr__(self, name):
        if name in self._sources:
            return getattr(importlib.import_module(self._sources[name]), name)
        return getattr(self._module, name)


def replace(name, sources):
    sys.modules[name] = Overlay(name, sources, sys.modules[name])


{0}(__name__, {{"lazy": "pkg.things"}})


def helper(x):
    return x
# --- pkg/app.py
from pkg.compat import helper


def run():
    from pkg.compat import lazy

    return lazy(helper(2))
"""


@pytest.mark.parametrize("replacing", ["Overlay.replace", "replace"])
def test_a_function_puts_something_in_the_place_of_a_module(tmp_path: Path, replacing: str) -> None:
    """passlib: ``_LazyOverlayModule.replace_module(__name__, _lazy_attrs)`` gives further names."""
    assert answers_of_tree(OVERLAID.format(replacing), tmp_path) == ["3"] * 2


@pytest.mark.parametrize(
    "drawing",
    [
        "A = random.random()",
        "def more():\n    return random.random()\n\nA = more()",
        "for _ in range(3):\n    random.random()",
    ],
)
def test_who_draws_between_a_seed_and_what_is_drawn(tmp_path: Path, drawing: str) -> None:
    files = f"""
# --- pkg/__init__.py
# --- pkg/drawn.py
import random

random.seed(7)
{drawing}
# --- pkg/app.py
from random import randint

from pkg import drawn

B = [randint(0, 100) for _ in range(3)]


def run():
    return B
"""
    first, second = answers_of_tree(files, tmp_path)
    assert first == second


BUILT = """
# --- pkg/__init__.py
# --- pkg/app.py
class Money:
    def serialized(self):
        return "M" + self.shown()

    def shown(self):
        return "1"

    def unread(self):
        pass


def packed(name):
    return {0}


def built(names):
    lines = ["def to_list(self):", "    found = []"]
    lines += [packed(name) for name in names]
    space = {{}}
    exec("\\n".join([*lines, "    return found"]), space)
    return space["to_list"]


class Row:
    def __init__(self):
        self.price = Money()

    to_list = built(["price"])


def run():
    return Row().to_list()
"""


@pytest.mark.parametrize(
    "code",
    [
        'f"    found.append(self.{name}.serialized())"',
        'f"    found += [self.{name}.serialized()]"',
        '"    found.append(self.%s.serialized())" % name',
        '"    found.append(self." + name + ".serialized())"',
        '"    found.append(self.{}.serialized())".format(name)',
        '" " * 4 + f"found.append(self.{name}.serialized())"',
    ],
)
def test_what_code_in_a_text_reads(tmp_path: Path, code: str) -> None:
    """mashumaro builds methods of texts; what these ask of objects was left out."""
    files = BUILT.format(code)
    assert answers_of_tree(files, tmp_path) == ["['M1']"] * 2
    ids = slice_ids(tmp_path / "repo", "pkg.app:run")
    assert "pkg.app:Money.unread" not in ids


def test_what_runs_before_the_tests_of_a_module(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
import unittest

STATE = {}


def setUpModule():
    STATE["one"] = made()


def made():
    return 1


class Tests(unittest.TestCase):
    def test_state(self):
        self.assertEqual(STATE["one"], 1)


def run():
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    return result.testsRun, len(result.errors)
"""
    assert answers_of_tree(files, tmp_path) == ["(1, 0)"] * 2


SET_UP = """
# --- pkg/__init__.py
# --- pkg/core.py
class Held:
    pass


def attempt(function):
    return function()


def fill(value=1):
    Held.data = value
# --- pkg/app.py
import functools

from pkg import core
from pkg.core import attempt, fill


def set_up():
    fill(2)


{0}


def run():
    return core.Held.data
"""


@pytest.mark.parametrize("running", ["attempt(functools.partial(fill, 2))", "attempt(set_up)"])
def test_who_runs_what_is_called_for_its_effect(tmp_path: Path, running: str) -> None:
    assert answers(SET_UP.format(running), tmp_path) == ["2"] * 3


def test_a_circle_of_stars(tmp_path: Path) -> None:
    """``from .one import *`` in a circle gives what is there so far; a list of names would fail."""
    files = """
# --- pkg/__init__.py
from .one import *
from .two import *
# --- pkg/one.py
from .two import *

x = 1


def first():
    return second() + x
# --- pkg/two.py
from .one import *
from . import one


def second():
    return one.x + 1
# --- pkg/app.py
from pkg import first


def run():
    return first()
"""
    assert answers(files, tmp_path) == ["3"] * 3


@pytest.mark.parametrize("asked", ["hash(key)", "key.__class__(1) and hash(key)"])
def test_what_is_compared_does_not_hash(tmp_path: Path, asked: str) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
class Key:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n


def hashes(key):
    try:
        return bool({0})
    except TypeError:
        return "no"


def direct():
    try:
        return bool(hash(Key(2)))
    except TypeError:
        return "no"


def run():
    return hashes(Key(1)), direct()
"""
    assert answers(files.replace("{0}", asked), tmp_path) == ["('no', 'no')"] * 3


def test_a_star_of_what_is_deleted_on_a_condition(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/one.py
def here():
    return "one"
# --- pkg/two.py
import os


def here():
    return "two"


if not os.environ.get("UNSET"):
    del here
# --- pkg/app.py
from pkg.one import *
from pkg.two import *


def run():
    return here()
"""
    assert answers(files, tmp_path) == ["one"] * 3


STOOD = """
# --- pkg/__init__.py
# --- pkg/stub.py
import sys


class Stub:
    value = 3

    def more(self):
        return self.far()

    def far(self):
        return 4


def install(name, module):
    sys.modules[name] = module
# --- pkg/user.py
import absent


def use():
    return absent.value, absent.more()
# --- pkg/app.py
import sys

from pkg import stub

{0}
from pkg import user


def run():
    return user.use()
"""


@pytest.mark.parametrize(
    "entering",
    [
        'sys.modules["absent"] = stub.Stub()',
        'stub.install("absent", stub.Stub())',
        'sys.modules.setdefault("absent", stub.Stub())',
        'sys.modules.update({"absent": stub.Stub()})',
    ],
)
def test_what_stands_for_a_module_is_asked_for_all(tmp_path: Path, entering: str) -> None:
    assert answers_of_tree(STOOD.replace("{0}", entering), tmp_path) == ["(3, 4)"] * 2
    program = open_program(tmp_path / "repo", cache=None)
    told = render(program, slice_symbols(program, ["pkg.app:run"]), format="module").diagnostics
    assert "module-named-by-text" in [each.slug for each in told]


def test_a_plain_attribute_hides_a_property(tmp_path: Path) -> None:
    """Nobody reads it; but without it the constructor would store on a property."""
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
class Base:
    def __init__(self):
        self.state = 4


class Told(Base):
    @property
    def state(self):
        return 5


class Plain(Told):
    state = 0


def run():
    return type(Plain()).__name__
"""
    assert answers(files, tmp_path) == ["Plain"] * 3


def answers_of_tree(files: str, folder: Path) -> list[str]:
    """What ``run()`` of ``pkg.app`` gives in the original and in its tree."""
    tree = answer(files, "pkg.app:run", "m.run()", folder)
    return [run_expression(folder / "repo", "pkg.app", "m.run()").stdout.strip(), tree]


COUNTED = """
# --- app.py
class Meta(type):
    def __init__(cls, name, bases, body):
        super().__init__(name, bases, body)


class Base(metaclass=Meta):
    made = 0

    def __init__(self):
        type(self).made += 1


class Below(Base):
    x = 1


class Numbered:
    def __init__(self):
        self.number = next_number()


LAST = 0


def next_number():
    global LAST
    LAST += 1
    return LAST


first = Numbered()


def run():
    return Base().made, Numbered().number


if __name__ == "__main__":
    alone = Numbered()
"""


def test_who_counts_in_a_script_or_below_counts_for_nobody_else(tmp_path: Path) -> None:
    write_files(COUNTED, tmp_path)
    found = slice_ids(tmp_path, "app:run")
    assert {"app:Base.made", "app:first"} <= found
    assert {"app:Below", "app:alone"}.isdisjoint(found)


COMPARED = """
# --- app.py
class Match:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __eq__(self, other):
        return self.text == str(other)

    def __lt__(self, other):
        return self.text < str(other)

    def joined(self, other):
        return self.text + str(other)
"""


@pytest.mark.parametrize(
    ("method", "is_there"), [("__eq__", True), ("__lt__", True), ("joined", False)]
)
def test_what_is_compared_is_mostly_of_the_same_class(
    tmp_path: Path, method: str, *, is_there: bool
) -> None:
    write_files(COMPARED, tmp_path)
    assert ("app:Match.__str__" in slice_ids(tmp_path, f"app:Match.{method}")) == is_there


BY_TEXT = """
# --- pkg/__init__.py
# --- pkg/settings.py
from pkg.units import inch
WIDTH = 8 * inch
# --- pkg/units.py
inch = 72
point = 1
# --- pkg/plain.py
def helper():
    return 1
def other():
    return 2
# --- app.py
def named(text):
    names = {}
    exec(text, {}, names)
    return names

def width():
    return named("from pkg.settings import *")["WIDTH"]

def helped():
    return named("if True:\\n    from pkg.plain import helper as it")["it"]()

def point():
    return named("import pkg.units\\np = pkg.units.point")["p"]

def told():
    return "from pkg.plain import other"
"""


@pytest.mark.parametrize(
    ("target", "there", "expected"),
    [
        ("width", "pkg.settings:WIDTH", 576),
        ("helped", "pkg.plain:helper", 1),
        ("point", "pkg.units:point", 1),
        ("told", None, "from pkg.plain import other"),
    ],
)
def test_what_code_in_a_text_imports_is_in_the_slice(
    tmp_path: Path, target: str, there: str | None, expected: object
) -> None:
    """reportlab reads its settings so: a slice could not be imported."""
    write_files(BY_TEXT, tmp_path)
    assert answer(BY_TEXT, f"app:{target}", f"m.{target}()", tmp_path) == str(expected)
    found = slice_ids(tmp_path, f"app:{target}")
    assert there is None or there in found
    assert "pkg.plain:other" not in found


SCOPES = """
# --- app.py
import pickle

class Scope(dict):
    def copy(self):
        return Scope(self, copied=1)
    def get(self, key, default=None):
        return super().get(key, "own")

def compiled(text):
    names = {}
    exec("def f(e):\\n    return " + text, names)
    return names["f"]

def copied():
    return compiled("e.copy()['copied']")(Scope(a=1))

def got():
    return pickle.loads(pickle.dumps(Scope(a=1))).get("b")

def told():
    return dict(Scope(a=1))
"""


@pytest.mark.parametrize(
    ("target", "there", "expected"),
    [("copied", {"copy"}, 1), ("got", {"get"}, "own"), ("told", set(), {"a": 1})],
)
def test_what_a_container_overrides_may_run_where_nobody_knows_the_receiver(
    tmp_path: Path, target: str, there: set[str], expected: object
) -> None:
    """Chameleon's templates are compiled from texts that copy their scope, which became a dict."""
    assert answer(SCOPES, f"app:{target}", f"m.{target}()", tmp_path) == str(expected)
    found = slice_ids(tmp_path / "repo", f"app:{target}")
    assert {name for name in ("copy", "get") if f"app:Scope.{name}" in found} == there


BY_OTHER_NAMES = """
# --- pkg/__init__.py
from .impl import Given, Looped, Second, Told

for each in (Looped, Second):
    each.made = "pkg"
for each in (Second, Told):
    print(end=each.__name__[:0])
alias = Given
alias.made = "pkg"
# --- pkg/impl.py
class Given:
    made = "impl"
class Looped:
    made = "impl"
class Second:
    made = "impl"
class Told:
    made = "impl"
# --- pkg/app.py
from .impl import Given, Looped, Told

def given():
    return Given.made

def looped():
    return Looped.made

def told():
    return Told.made
"""


@pytest.mark.parametrize(
    ("target", "expected"), [("given", "pkg"), ("looped", "pkg"), ("told", "impl")]
)
def test_other_modules_may_change_a_class_by_a_name_of_theirs(
    tmp_path: Path, target: str, expected: str
) -> None:
    """Packages name themselves so as the module of what they give (`cls.__module__ = __name__`)."""
    assert answer(BY_OTHER_NAMES, f"pkg.app:{target}", f"m.{target}()", tmp_path) == expected

"""Code as new users have it: what their slices lacked, each executed beside its original."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.model import Context


def in_one_module(files: str, target: str, expression: str, folder: Path) -> tuple[str, Context]:
    """What ``expression`` gives in the slice as one file, ``m``; and how it was rendered."""
    write_files(files, folder / "repo")
    program = open_program(folder / "repo", cache=None)
    context = render(program, slice_symbols(program, [target]), format="module")
    (folder / "flat.py").write_text(context.files[0].text, encoding="utf-8")
    done = run_expression(folder, "flat", expression)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1], context


OWN_DECORATORS = """
# --- lib.py
from other import cached_property as remembered, overload, property

class cached_property:
    def __init__(self, func):
        self.func = func

    def __get__(self, obj, cls):
        return self.func(obj)

def final(f):
    return Counted(f)

class Counted:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args) + 1

class T:
    @cached_property
    def here(self):
        return 1

    @property
    def there(self):
        return 1

@final
def whole():
    return 1

@overload
def sized(x):
    return 1

# --- other.py
class property:
    def __init__(self, f):
        self.f = f

    def __get__(self, obj, cls):
        return self.f(obj)

class cached_property(property):
    pass

class overload:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args)

# --- app.py
from lib import T, sized, whole

def use():
    return T().here, T().there, whole(), sized(1)
"""


def test_decorators_of_the_repository_with_names_of_the_library(tmp_path: Path) -> None:
    """What is named ``cached_property`` or ``overload`` here is called as what it is."""
    assert answer(OWN_DECORATORS, "app:use", "m.use()", tmp_path) == "(1, 1, 2, 1)"


BELOW_THE_LIBRARY_S = """
# --- app.py
import functools

class remembered({0}):
    def __get__(self, instance, owner=None):
        return super().__get__(instance, owner), 1

class Part:
    def go(self):
        return 7

class Whole:
    @remembered
    def part(self):
        return Part()

def use():
    return Whole().part[0].go()
"""


@pytest.mark.parametrize("base", ["functools.cached_property", "property"])
def test_what_a_descriptor_of_the_library_gives_to_one_below_it(tmp_path: Path, base: str) -> None:
    files = BELOW_THE_LIBRARY_S.replace("{0}", base)
    assert answer(files, "app:use", "m.use()", tmp_path) == "7"


TEXT_OR_CLASS = """
# --- app.py
class Plain:
    def __call__(self):
        return "plain"

class Loud:
    def __call__(self):
        return "loud"

def get(method="plain"):
    if isinstance(method, str):
        method = {"plain": Plain, "loud": Loud}[method]
    return method()

def make(how=None):
    return get(how)()
"""


def test_a_text_that_a_test_shows_may_be_another_than_the_default(tmp_path: Path) -> None:
    """Behind ``isinstance(method, str)`` a parameter holds what callers pass, too."""
    assert answer(TEXT_OR_CLASS, "app:make", "m.make('loud')", tmp_path) == "loud"


SINGLETONS = """
# --- app.py
{0}

class Base:
    def __rshift__(self, other):
        return [type(self).__name__, type(other).__name__]

    def __getitem__(self, index):
        return index

class Field(Base):
    def __len__(self):
        return 3

@{1}
class VarInt(Base):
    pass

@{1}
def Int8():
    return Field()

def use():
    return VarInt >> Int8, VarInt[1], len(Int8)
"""


@pytest.mark.parametrize(
    ("defined", "decorator"),
    [
        ("def singleton(arg): return arg()", "singleton"),
        ("class Single:\n    def __call__(self, arg): return arg()", "Single()"),
        ("class Made:\n    @staticmethod\n    def one(arg): return arg()", "Made.one"),
        ("class Made:\n    @classmethod\n    def one(cls, arg): return arg()", "Made.one"),
    ],
)
def test_a_decorator_that_makes_an_instance_of_what_it_decorates(
    tmp_path: Path, defined: str, decorator: str
) -> None:
    """``return arg()``: the name stands for an instance, whose special methods are asked."""
    files = SINGLETONS.replace("{0}", defined).replace("{1}", decorator)
    assert answer(files, "app:use", "m.use()", tmp_path) == "(['VarInt', 'Field'], 1, 3)"


METACLASSES = """
# --- app.py
class ByDir(type):
    def __init__(cls, *args):
        def names(prefix):
            return [each for each in dir(cls) if each.startswith(prefix)]

        super().__init__(*args)
        cls.rules = names("rule_")

class ByVars(type):
    def __init__(cls, *args):
        super().__init__(*args)
        cls.rules = [each for each in vars(cls) if each.startswith("rule_")]

class InNew(type):
    def __new__(mcs, *args):
        cls = super().__new__(mcs, *args)
        cls.rules = [each for each in cls.__dict__ if each.startswith("rule_")]
        return cls

class Dir(metaclass=ByDir):
    def rule_min(self):
        return 1

class Below(Dir):
    def rule_max(self):
        return 1

class Vars(metaclass=ByVars):
    def rule_min(self):
        return 1

class New(metaclass=InNew):
    def rule_min(self):
        return 1

class Bare:
    def __init__(self):
        self.kind = self.find()

    def find(self):
        raise NotImplementedError

    def rule_min(self):
        return 1

Called = ByDir("Called", (Bare,), {})

class Schema(Called):
    def find(self):
        return "found"

def listed():
    return Below.rules, Vars.rules, New.rules, Called.rules

def below():
    return Schema().kind
"""


def test_a_metaclass_reads_the_names_of_what_it_makes(tmp_path: Path) -> None:
    """``dir(cls)`` and ``vars(cls)`` in a metaclass are of the classes, not of itself."""
    expected = "(['rule_max', 'rule_min'], ['rule_min'], ['rule_min'], ['rule_min'])"
    assert answer(METACLASSES, "app:listed", "m.listed()", tmp_path) == expected


def test_a_class_that_a_call_of_a_metaclass_makes_is_a_base(tmp_path: Path) -> None:
    """``Node = Meta("Node", (Base,), {})``: what extends ``Node`` overrides ``Base``."""
    assert answer(METACLASSES, "app:below", "m.below()", tmp_path) == "found"


LAZY_TABLES = """
# --- app.py
def get(name):
    import tables
    return getattr(tables, name)

# --- tables.py
BY_CALL = []

def _fill(names):
    for each in names:
        BY_CALL.append(each)

_fill(("a", "b"))

BY_DECORATOR = {}

def register(f):
    BY_DECORATOR[f.__name__] = f
    return f

@register
def first():
    return 1

BY_LOOP, OTHER = [], []
for table in (BY_LOOP, OTHER):
    table.append("looped")

BY_RESULT = []

def given():
    return BY_RESULT

given().append("given")

BY_ALIAS = []
alias = BY_ALIAS
alias.append("aliased")

class Registry:
    names = []

    @classmethod
    def add(cls, name):
        cls.names.append(name)

Registry.add("added")
Registry.names.append("more")

BOUND = None

def bind():
    global BOUND
    BOUND = "bound"

bind()
HELD = {}
BY_PART = []
HELD["x"] = BY_PART
HELD["x"].append("part")
"""


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("BY_CALL", "['a', 'b']"),
        ("BY_DECORATOR.keys()", "dict_keys(['first'])"),
        ("BY_LOOP", "['looped']"),
        ("BY_RESULT", "['given']"),
        ("BY_ALIAS", "['aliased']"),
        ("Registry.names", "['added', 'more']"),
        ("BOUND", "bound"),
        ("BY_PART", "['part']"),
    ],
)
def test_what_fills_tables_of_a_module_that_a_function_imports(
    expression: str, expected: str, tmp_path: Path
) -> None:
    """Such a module runs whole when it is imported, be it late."""
    files = LAZY_TABLES.replace("getattr(tables, name)", f"tables.{expression}")
    assert answer(files, "app:get", "m.get('')", tmp_path) == expected


GLOBALS_BY_TEXT = """
# --- app.py
from caching import get
from things import Thing

def make():
    return get().name, Thing.name

# --- caching.py
def get():
    global Thing
    if "Thing" not in globals():
        from things import Thing
    return globals()["Thing"] if globals().get("Thing") else None

# --- things.py
class Thing:
    name = "thing"
"""


def test_in_one_module_texts_name_globals_as_they_are_called_there(tmp_path: Path) -> None:
    """``"Thing" in globals()`` asks for the name that the variable of that module has now."""
    made, _ = in_one_module(GLOBALS_BY_TEXT, "app:make", "m.make()", tmp_path)
    assert made == "('thing', 'thing')"


OTHER_GLOBALS = """
# --- a.py
import b

X = 4


def use():
    return b.f(lambda: {"X": 1}), X
# --- b.py
X = 3


def f(globals):
    return "X" in globals(), globals()["X"], X
"""


def test_in_one_module_what_is_only_called_globals_is_left_alone(tmp_path: Path) -> None:
    made, _ = in_one_module(OTHER_GLOBALS, "a:use", "m.use()", tmp_path)
    assert made == "((True, 1, 3), 4)"


MODULES_BY_TEXT = """
# --- app.py
import importlib, sys

def load(name):
    module, _, name = name.rpartition(".")
    return getattr(importlib.import_module(module), name)

def use():
    return load("pk.loader.Loader")().load()

def loaded(name):
    import pk.loader
    return sys.modules["pk." + name].Loader().load()

def log():
    return "pk.loader", sys.modules[__name__]

# --- pk/__init__.py
# --- pk/loader.py
class Loader:
    def load(self):
        return "loaded"
"""


def test_in_one_module_a_text_that_names_a_module_is_told(tmp_path: Path) -> None:
    """There is no module beside the one file; only who imports by names asks for one."""
    made, context = in_one_module(MODULES_BY_TEXT, "app:use", "m.use()", tmp_path)
    assert made == "ModuleNotFoundError: No module named 'pk'"
    (told,) = context.diagnostics
    assert (told.slug, told.path) == ("module-named-by-text", "app.py")
    assert "'pk.loader.Loader'" in told.message
    made, context = in_one_module(MODULES_BY_TEXT, "app:loaded", "m.loaded('loader')", tmp_path)
    assert made == "KeyError: 'pk.loader'"
    assert "'pk.'" in context.diagnostics[0].message
    assert not in_one_module(MODULES_BY_TEXT, "app:log", "m.log()", tmp_path)[1].diagnostics
    for call in (
        '__import__("loader", globals(), locals(), ["Loader"], 1)',
        '__import__("loader", globals(), fromlist=["Loader"], level=1)',
        'import_module(".loader", __name__)',
    ):
        load = f"from importlib import import_module\ndef load(): return {call}.Loader().load()\n"
        files = MODULES_BY_TEXT.replace("# --- pk/__init__.py\n", f"# --- pk/__init__.py\n{load}")
        write_files(files, tmp_path / "level")
        program = open_program(tmp_path / "level", cache=None)
        context = render(program, slice_symbols(program, ["pk:load"]), format="module")
        assert [each.slug for each in context.diagnostics] == ["module-named-by-text"]


OTHER_PLATFORM = """
# --- app.py
import sys

def use():
    if sys.platform == "no such one":
        from other import Other

        return Other()
    return "here"

# --- other.py
from ctypes import on_no_platform

class Other:
    handle = on_no_platform.handle
"""


def test_in_one_module_names_that_a_platform_lacks_are_tried(tmp_path: Path) -> None:
    """What only a module needs that a function imports may not be there on this platform."""
    assert in_one_module(OTHER_PLATFORM, "app:use", "m.use()", tmp_path)[0] == "here"


WRAPPED_FACTORIES = """
# --- app.py
def keywords_only(f):
    def g(self, **kw):
        return f(self, **kw)

    return g

class State:
    def __init__(self, method):
        self.method = method
        self.to = []

    def upon(self, other):
        self.to.append(other)

class Input:
    def __init__(self, method):
        self.method = method

    def __get__(self, instance, owner=None):
        return lambda *args: self.method(instance, *args)

class Machine:
    @keywords_only
    def state(self, initial=False):
        def decorator(method):
            return State(method)

        return decorator

    @keywords_only
    def input(self):
        def decorator(method):
            return Input(method)

        return decorator

class Coffee:
    machine = Machine()

    @machine.state(initial=True)
    def ready(self):
        pass

    @machine.input()
    def put(self, beans):
        return beans

    ready.upon("x")

def use():
    return Coffee.ready.to, Coffee().put(3)
"""


def test_a_decorator_that_a_wrapper_gives(tmp_path: Path) -> None:
    """What it makes of a method is asked for methods, and as a descriptor."""
    assert answer(WRAPPED_FACTORIES, "app:use", "m.use()", tmp_path) == "(['x'], 3)"


MADE_BY_CLASSMETHOD = """
# --- app.py
class Directive:
    @classmethod
    def attach(cls):
        return cls()

    def __call__(self):
        raise NotImplementedError

class If(Directive):
    def __call__(self):
        return "if"

class Factory:
    def get(self, name):
        return self.by_name.get(name)

    def run(self, name):
        return self.get(name).attach()()

class Template(Factory):
    by_name = {"if": If}

def use():
    return Template().run("if")
"""


def test_an_instance_that_a_classmethod_of_the_base_makes_is_called(tmp_path: Path) -> None:
    """``cls()`` of a class from a table: ``__call__`` of the subclass, as other methods of it."""
    assert answer(MADE_BY_CLASSMETHOD, "app:use", "m.use()", tmp_path) == "if"


MADE_BY_TYPE = """
# --- app.py
class Validator:
    def run(self, rule):
        return getattr(self, f"check_{rule}")()

class Mixin:
    def check_type(self):
        return "type"

def factory(name, mixin):
    return type(name, (mixin, Validator), {})

Made = factory("Made", Mixin)

def use():
    return Made().run("type")
"""


def test_a_class_that_a_function_makes_of_a_mixin_it_gets(tmp_path: Path) -> None:
    """``type(name, (mixin, Base), {})``: methods of ``Base`` get what ``mixin`` has."""
    assert answer(MADE_BY_TYPE, "app:use", "m.use()", tmp_path) == "type"


MADE_BY_A_LOADER = """
# --- app.py
import hol

def use(year):
    return hol.US(year).year

# --- hol/__init__.py
from typing import TYPE_CHECKING
from hol.registry import Loader
if TYPE_CHECKING:
    from hol.countries import *
Loader.load(globals())

# --- hol/countries.py
class US:
    def __init__(self, year):
        self.year = year

# --- hol/registry.py
import importlib

class Loader:
    def __init__(self, name):
        self.name = name

    def __call__(self, *args):
        return getattr(importlib.import_module("hol.countries"), self.name)(*args)

    @staticmethod
    def load(scope):
        scope.update({"US": Loader("US")})
"""


def test_names_that_a_loader_puts_into_the_namespace(tmp_path: Path) -> None:
    """Only type checkers see a star bind the name: what gets ``globals()`` makes it."""
    assert answer(MADE_BY_A_LOADER, "app:use", "m.use(3)", tmp_path) == "3"


ADDED_BY_METACLASS = """
# --- app.py
class Options:
    def __init__(self, name):
        self.name = name

    def __getitem__(self, key):
        return self.name + key

class Storing(type):
    def __init__(cls, name, bases, members):
        super().__init__(name, bases, members)
        cls.options = Options(name)

class Model(metaclass=Storing):
    def label(self):
        return self.options["!"]

class User(Model):
    pass

class Directive:
    def __call__(self):
        raise NotImplementedError

class If(Directive):
    def __call__(self):
        return "if"

class Adding(type):
    def __new__(mcs, name, bases, members):
        if "directives" in members:
            members["by_name"] = dict(members["directives"])
        return type.__new__(mcs, name, bases, members)

class Factory(metaclass=Adding):
    directives = []

    def find(self, name):
        return self.by_name.get(name)

    def run(self, name):
        made = self.find(name)()
        return made()

class Template(Factory):
    directives = [("if", If)]

def stored():
    return User().label()

def added():
    return Template().run("if")
"""


def test_what_a_metaclass_adds_to_classes(tmp_path: Path) -> None:
    """``cls.x = …`` and ``members["x"] = …`` are what instances read as ``self.x``."""
    assert answer(ADDED_BY_METACLASS, "app:stored", "m.stored()", tmp_path / "1") == "User!"
    assert answer(ADDED_BY_METACLASS, "app:added", "m.added()", tmp_path / "2") == "if"


@pytest.mark.parametrize(
    "told",
    [
        "    x = table[name]\n    if TYPE_CHECKING:\n        assert isinstance(x, Kind)\n",
        "    x = table[name]\n    if TYPE_CHECKING: x: Kind\n",
        "    if typing.TYPE_CHECKING: x = Kind()\n    else: x = table[name]\n",
        "    x = typing.cast(Kind, table[name]) if TYPE_CHECKING else table[name]\n",
    ],
)
def test_what_type_checkers_alone_are_told_types_names(told: str, tmp_path: Path) -> None:
    files = f"""
# --- m.py
import typing
from typing import TYPE_CHECKING
class Kind:
    def get(self): return helper()
def helper(): return 7
table = {{}}
def run(name):
{told}    return x.get()
"""
    write_files(files, tmp_path)
    assert {"m:Kind.get", "m:helper"} <= slice_ids(tmp_path, "m:run")


@pytest.mark.parametrize(
    "manager", ["self.guard", "guard", "GUARD as held, open('/dev/null') as file"]
)
def test_what_stands_behind_a_block_that_may_be_cut_short(manager: str, tmp_path: Path) -> None:
    files = f"""
# --- m.py
import contextlib
GUARD = contextlib.suppress(StopIteration)
class Own:
    def __enter__(self): return self
    def __exit__(self, *error): return True
class Worker:
    def __init__(self): self.guard = Own()
    def run(self, rows, guard):
        with {manager}:
            while True: next(rows)
        class Late:
            def get(self): return found()
        return Late().get()
def found(): return 3
def go(): return Worker().run(iter([1]), Own())
"""
    assert answer(files, "m:go", "m.go()", tmp_path) == "3"

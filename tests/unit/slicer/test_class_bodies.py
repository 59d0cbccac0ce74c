"""What class bodies and modules are made in: namespaces, metaclasses, names not bound yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

JOINED = """
# --- m.py
class Names(dict):
    def __setitem__(self, key, value):
        if callable(value) and key in self:
            value = self.join(key, value)
        super().__setitem__(key, value)

    def join(self, key, value):
        return (self[key], value)

    def idle(self):
        return 1


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Names()


def overloads(first, second):
    class Made(metaclass=Meta):
        f = first
        f = second

    return len(Made.f)


class Top(metaclass=Meta):
    def f(self):
        return 1

    def f(self, other):
        return 2


def top():
    return len(Top.f)
"""
ORDERED = """
# --- m.py
class Ordered(dict):
    def __init__(self):
        super().__init__()
        self.order = []

    def __setitem__(self, key, value):
        if not key.startswith("_"):
            self.order.append(key)
        super().__setitem__(key, value)

    def __getitem__(self, key):
        return super().__getitem__(key) if key in self else self.made(key)

    def made(self, key):
        if key.startswith("auto"):
            return key
        raise KeyError(key)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Ordered()

    def __new__(mcs, name, bases, namespace):
        made = super().__new__(mcs, name, bases, namespace)
        made.order = namespace.order
        return made


class Thing(metaclass=Meta):
    b = auto_b
    a = 1

    def c(self):
        return 2


def order():
    return Thing.order, Thing.b
"""
MISSING = """
# --- m.py
class Names(dict):
    def __missing__(self, key):
        if key.startswith("__"):
            raise KeyError(key)
        return marked(key)


def marked(key):
    return key + "!"


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Names()


class Color(metaclass=Meta):
    a = red
    b = green


def colors():
    return Color.a, Color.b
"""
A_CLASS = """
# --- m.py
class Meta(type):
    class __prepare__(dict):
        def __init__(self, name, bases):
            super().__init__(kind=name.lower())


class Thing(metaclass=Meta):
    pass


def kind():
    return Thing.kind
"""
LATER = """
# --- m.py
from datetime import date


class Stamp:
    def __init__(self, day):
        self.day = day

    @classmethod
    def on(cls, day: date):
        return cls(day)

    def date(self) -> date:
        return self.day


def year(value):
    return Stamp.on(value).date().year
"""
CALLED = """
# --- m.py
from abc import ABCMeta


class Meta(type):
    def __instancecheck__(cls, other):
        return hasattr(other, "__dict__")


class Style(Meta("Keys", (object,), {})):
    pass


class Walked(ABCMeta("Base", (object,), {})):
    @classmethod
    def __subclasshook__(cls, other):
        return hasattr(other, "__iter__")


def check(value):
    return isinstance(value, Style), isinstance(value, Walked)
"""
HASHED = """
# --- m.py
import json


class Name:
    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return isinstance(other, Name) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


FIRST = Name("a")


def given(value, change):
    return change(Name("a")) if value == FIRST or FIRST == value else value
"""
DOCUMENTED = """
# --- m.py
\"\"\"The %s of all.\"\"\"
__doc__ = __doc__ % "table"


def about():
    return __doc__
"""


@pytest.mark.parametrize(
    ("files", "target", "expression", "expected"),
    [
        (JOINED, "m:overloads", "m.overloads(len, print)", "2"),
        (JOINED, "m:top", "m.top()", "2"),
        (ORDERED, "m:order", "m.order()", "(['b', 'a', 'c'], 'auto_b')"),
        (MISSING, "m:colors", "m.colors()", "('red!', 'green!')"),
        (A_CLASS, "m:kind", "m.kind()", "thing"),
        (CALLED, "m:check", "m.check({3})", "(False, True)"),
        (CALLED, "m:check", "m.check(m)", "(True, False)"),
        (HASHED, "m:given", "m.given(m.Name('a'), lambda name: {name: 1}[name])", "1"),
        (DOCUMENTED, "m:about", "m.about()", "The table of all."),
        (LATER, "m:year", "m.year(__import__('datetime').date(2020, 1, 2))", "2020"),
    ],
)
def test_it_is_made_as_it_was(
    files: str, target: str, expression: str, expected: str, tmp_path: Path
) -> None:
    assert answer(files, target, expression, tmp_path) == expected


CALLED = """
# --- app.py
from _util import AppError, Outer
def told():
    try: raise AppError("x")
    except AppError as error: return repr(type(error)), str(Outer.Made).partition(" at ")[0]
# --- _util.py
__all__ = ["AppError", "Outer"]
HOME = "app"
class AppError(Exception):
    __module__ = "app"
    unasked = 1
class Outer:
    class Base:
        __module__, unasked = HOME, 2
    class Made(Base):
        __qualname__ = "Other"
"""


def test_what_a_class_says_it_is_called_comes_with_it(tmp_path: Path) -> None:
    told = "(\"<class 'app.AppError'>\", \"<class '_util.Other'>\")"
    assert answer(CALLED, "app:told", "m.told()", tmp_path) == told
    assert "_util:AppError.unasked" not in slice_ids(tmp_path / "repo", "app:told")
    [flat] = render(
        program := open_program(tmp_path / "repo", cache=None),
        slice_symbols(program, ["app:told"]),
        format="module",
    ).files
    (tmp_path / "flat.py").write_text(flat.text, encoding="utf-8")
    assert "app.AppError" in run_expression(tmp_path, "flat", "m.told()").stdout


def test_a_prepared_namespace_has_only_the_methods_that_are_reached(tmp_path: Path) -> None:
    write_files(JOINED, tmp_path)
    assert "m:Names.idle" not in slice_ids(tmp_path, "m:top")


MODULES = """
# --- m.py
\"\"\"The %s of all.\"\"\"
from names import name_of

__doc__ = __doc__ % "table"


def about(value):
    return __doc__, name_of(value)
# --- names.py
if getattr(__builtins__, "__dict__", None) is not None:
    __builtins__ = __builtins__.__dict__

NAMES = {id(value): key for key, value in __builtins__.items()}


def name_of(value):
    return NAMES[id(value)]
"""


def test_in_one_module_what_python_gives_a_module_is_read_before_it_is_bound(
    tmp_path: Path,
) -> None:
    write_files(MODULES, tmp_path)
    program = open_program(tmp_path, cache=None)
    files = render(program, slice_symbols(program, ["m:about"]), format="module").files
    write_tree(files, tmp_path / "flat")
    [file] = files
    done = run_expression(tmp_path / "flat", Path(file.path).stem, "m.about(len)")
    assert done.stdout.strip() == "('The table of all.', 'len')", done.stderr


LOCAL = """
# --- m.py
class Cases:
    def first(self):
        class Local:
            def inner(self):
                return 1

        return Local()

    def second(self):
        return 2


class Encoder:
    table = {int: "i", str: "s"}

    def __call__(self, value):
        return self.table[type(value)] + str(value)

    def idle(self):
        return 1


encode = Encoder()
"""


def test_a_module_as_target_keeps_what_stands_behind_a_local_class(tmp_path: Path) -> None:
    assert answer(LOCAL, "m", "m.Cases().second()", tmp_path) == "2"


def test_a_variable_as_target_that_can_be_called_is_called(tmp_path: Path) -> None:
    assert answer(LOCAL, "m:encode", "m.encode(3)", tmp_path / "called") == "i3"
    write_files(LOCAL, tmp_path)
    assert "m:Encoder.idle" not in slice_ids(tmp_path, "m:encode")


def test_another_name_of_a_class_as_target_is_that_class(tmp_path: Path) -> None:
    files = LOCAL + "\n\nCodec = Encoder\n"
    assert answer(files, "m:Codec", "(m.Codec().idle(), m.Codec()(3))", tmp_path) == "(1, 'i3')"


EITHER = """
# --- m.py
import os
from typing import TYPE_CHECKING


class Table:
    def __init__(self):
        self.size = 1

    def insert(self, x):
        return x

    def __len__(self):
        return 9

    def __bool__(self):
        return False

    def __contains__(self, x):
        return False


class Plain:
    pass


class Fallback:
    def insert(self, x):
        return -x

    def __len__(self):
        return 7

    def __iter__(self):
        return iter([5])

    def size(self):
        return 5

    def idle(self):
        return 1


def with_typehint(base):
    if TYPE_CHECKING:
        return base
    return object


FANCY = "FANCY" in os.environ
Base = Table if FANCY else Plain

if FANCY:
    class Low:
        def insert(self, x):
            return x
else:
    class Low:
        pass


class Asked(Base):
    def __getattr__(self, name):
        return lambda x=0: x + 1


class Hinted(with_typehint(Table)):
    def __getattr__(self, name):
        return lambda x: x + 2


class OfDict(Table if FANCY else dict):
    def __getattr__(self, name):
        return lambda x: x + 3


class Mixed(Base, Fallback):
    pass


class Lower(Low, Fallback):
    def insert(self, x):
        return super().insert(x) + 1


class Last(Asked, Fallback):
    def insert(self, x):
        return super().insert(x) * 2


class Own(Base):
    def insert(self, x):
        return x


def asked():
    return Asked().insert(3), Asked().size(), Hinted().insert(3), OfDict().insert(3)


def mixed():
    return Mixed().insert(3), Mixed().size(), len(Mixed()), bool(Mixed()), 5 in Mixed()


def behind():
    return Lower().insert(3), Last().insert(3), Mixed.insert(None, 3)


def unknown():
    return eval("Mixed()").insert(3), Mixed is None


def given(it):
    return it.insert(3), len(it)


def called(it):
    return it()


def made(of):
    return of(1).kept


class Called:
    def __init__(self, kept):
        self.kept = kept

    def __call__(self):
        return 2


class Calling(Base, Called):
    pass


class Making(Low, Called):
    pass


def passed():
    return given(Mixed()), called(Calling()) if FANCY else called(Making(1)), made(Making)


def own():
    return Own().insert(3)
"""
EITHER_GIVES = {
    "asked": "(4, 1, 5, 6)",
    "mixed": "(-3, 5, 7, True, True)",
    "behind": "(-2, -6, -3)",
    "unknown": "(-3, False)",
    "passed": "((-3, 7), 2, 1)",
    "own": "3",
}


@pytest.mark.parametrize("name", EITHER_GIVES)
def test_what_one_of_two_bases_lacks_comes_from_elsewhere(name: str, tmp_path: Path) -> None:
    assert answer(EITHER, f"m:{name}", f"m.{name}()", tmp_path) == EITHER_GIVES[name]
    ids = slice_ids(tmp_path / "repo", f"m:{name}")
    assert "m:Fallback.idle" not in ids
    assert name != "own" or not ids & {"m:Table.insert", "m:Asked.__getattr__"}


FILLED = """
# --- m.py
def register(table, name, function):
    table[name] = function


def into(table, *, key):
    def decorate(function):
        table[key] = function
        return function

    return decorate


def look(table):
    return len(table)


def made(name):
    return lambda self: name


class Names:
    def __init__(self):
        self.known = {}

    def __call__(self, function):
        self.known[function.__name__] = function
        return function


def one():
    return 1


class By:
    calls = {}
    register(calls, "one", one)
    keywords = {}
    for each in ("one", "two"):
        register(table=keywords, name=each, function=one)
    looked = {}
    size = look(looked)
    marked = {}
    named = Names()

    @into(marked, key="a")
    def first(self):
        return 4

    @named
    def second(self):
        return 5


class Below(By):
    def get(self, key):
        return self.marked[key](self)


class Made:
    for each in ("a", "b"):
        locals()["get_" + each] = made(each)


class Given:
    def register(names):
        names["a"] = made("given")

    register(locals())


class Run:
    exec("def a(self): return 'run'")


def listed(names):
    return sorted(name for name in names if not name.startswith("_"))


class Listed:
    first = 1

    def second(self):
        return 2

    names = listed(locals())


def calls():
    return By.calls["one"](), By.keywords["two"]()


def looked():
    return By.looked


def decorated():
    return Below().get("a"), By.named.known["second"](None)


def names():
    return Made().get_b(), Given().a(), Run().a()


def listing():
    return Listed.names, listed(vars(Listed))
"""
FILLED_GIVES = {
    "calls": "(1, 1)",
    "looked": "{}",
    "decorated": "(4, 5)",
    "names": "('b', 'given', 'run')",
    "listing": "(['first', 'second'], ['first', 'names', 'second'])",
}


@pytest.mark.parametrize("name", FILLED_GIVES)
def test_what_a_class_body_calls_fills_its_variables(name: str, tmp_path: Path) -> None:
    assert answer(FILLED, f"m:{name}", f"m.{name}()", tmp_path) == FILLED_GIVES[name]
    ids = slice_ids(tmp_path / "repo", f"m:{name}")
    assert name != "looked" or ids == {"m:looked", "m:By", "m:By.looked"}
    assert name != "calls" or not ids & {"m:By.first", "m:By.second"}


TOLD = """
# --- base.py
class Base:
    table = {}
    order: list = []


class Field:
    def __init__(self, value):
        self.value = value

    def __set_name__(self, owner, name):
        owner.table[name] = self.value
        owner.order.append(name)


class Kind(Field):
    def idle(self):
        return 1
# --- forms.py
from base import Base, Field, Kind


class Form(Base):
    first = Field(1)
    plain = 3

    def idle(self):
        return 1


class Below(Form):
    second = Kind(2)


class Own(Base):
    table = {}
    order = []
    third = Field(3)
# --- m.py
import forms
from base import Base


def go():
    return Base.table, Base.order
"""


def test_descriptors_of_classes_below_fill_the_table_of_their_base(tmp_path: Path) -> None:
    given = answer(TOLD, "m:go", "m.go()", tmp_path)
    assert given == "({'first': 1, 'second': 2}, ['first', 'second'])"
    ids = slice_ids(tmp_path / "repo", "m:go")
    assert not ids & {"forms:Own", "forms:Form.plain", "forms:Form.idle", "base:Kind.idle"}


BARE = """
# --- m.py
class Names(dict):
    def __init__(self):
        super().__init__()
        self.last = 0

    def __missing__(self, key):
        if key.startswith("__"):
            raise KeyError(key)
        return self.new(key)

    def new(self, key):
        self[key] = self.last = self.last + 1
        return self.last


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Names()

    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, dict(namespace))


class Auto(metaclass=Meta):
    pass


class Color(Auto):
    RED, GREEN
    BLUE


def go():
    return Color.BLUE, Color.RED
"""


def test_names_that_stand_alone_in_a_class_body_are_made_by_its_namespace(tmp_path: Path) -> None:
    assert answer(BARE, "m:go", "m.go()", tmp_path) == "(3, 1)"


NAMED = """
# --- m.py
class Named:
    def __set_name__(self, owner, name):
        self.name = self.shown(name)

    def shown(self, name):
        return name.upper()

    def __get__(self, instance, owner):
        return self.name


def local():
    class Held:
        first = Named()

    return Held().first


def make(kind):
    class Made:
        second = kind()

    return Made


def given():
    return make(Named)().second
"""


@pytest.mark.parametrize(("target", "shown"), [("m:local", "FIRST"), ("m:given", "SECOND")])
def test_descriptors_of_a_class_in_a_function_get_their_name(
    target: str, shown: str, tmp_path: Path
) -> None:
    assert answer(NAMED, target, f"{target.replace(':', '.')}()", tmp_path) == shown


@pytest.mark.parametrize("told", ["cls, **options", "cls"])
def test_bases_tell_each_other_of_a_class_that_enters_itself_in_a_table(
    told: str, tmp_path: Path
) -> None:
    passed = "**options" if "options" in told else ""
    files = f"""
# --- m.py
class Plug:
    made = {{}}
    def __init_subclass__({told}):
        super().__init_subclass__({passed})
        Plug.made[cls.__name__] = cls
class Mixin:
    def __init_subclass__({told}):
        super().__init_subclass__({passed})
class Deep(Mixin): pass
class First(Mixin, Plug):
    def go(self): return "first"
class Second(Deep, Plug):
    def go(self): return "second"
def run(): return [made().go() for made in Plug.made.values()]
"""
    assert answer(files, "m:run", "m.run()", tmp_path) == "['first', 'second']"


def test_descriptors_enter_themselves_by_what_their_class_inherits(tmp_path: Path) -> None:
    """Made in the body, by a function, by a decorator; `__set_name__` asks another function."""
    files = """
# --- reg.py
TABLES = {}
def enter(owner, field): TABLES.setdefault(owner.__name__, []).append(field)
def table(owner): return TABLES[owner.__name__]
class Field:
    @classmethod
    def of(cls, function): return cls()
    def __set_name__(self, owner, name): self.told(owner)
    def told(self, owner): enter(owner, self)
# --- m.py
from reg import Field, table
class Own(Field):
    def go(self): return helper()
class Plain:
    def __init__(self): self.name = "plain"
def make(): return Own()
class Form:
    a = Own()
    if True:
        b = make()
    @Own.of
    def c(self): return 1
    plain = Plain()
def helper(): return 3
def look(): return [field.go() for field in table(Form)]
"""
    assert answer(files, "m:look", "m.look()", tmp_path) == "[3, 3, 3]"
    assert "m:Form.plain" not in slice_ids(tmp_path / "repo", "m:look")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("made.hook = hook", "Thing.hook()"),
        ("made.hook = hook", "type(self).hook()"),
        ("made.hook = made.other = hook", "self.__class__.other()"),
        ("made.hooks = {'a': hook}", "self.hooks['a']()"),
        ("made.hooks = [hook]", "[each() for each in Thing.hooks][0]"),
    ],
)
def test_what_a_metaclass_stores_on_the_class_it_has_made(
    stored: str, asked: str, tmp_path: Path
) -> None:
    files = f"""
# --- meta.py
class Meta(type):
    def __new__(mcs, name, bases, namespace, hook=None):
        made = super().__new__(mcs, name, bases, namespace)
        {stored}
        return made
    def __init__(cls, name, bases, namespace, hook=None):
        super().__init__(name, bases, namespace)
# --- m.py
from meta import Meta
class Plain:
    def copy(self): return helper()
    def idle(self): return 1
def helper(): return 5
def make(): return Plain()
class Thing(metaclass=Meta, hook=make):
    def look(self): return {asked}.copy()
"""
    assert answer(files, "m:Thing.look", "m.Thing().look()", tmp_path) == "5"
    assert "m:Plain.idle" not in slice_ids(tmp_path / "repo", "m:Thing.look")


STORED = """
# --- m.py
class Base:
    @classmethod
    def single(cls):
        if cls._one is None:
            cls._one = cls()
        return cls._one

    @classmethod
    def bump(cls):
        setattr(cls, "n", cls.n + 1)
        return cls.n

    @classmethod
    def look(cls):
        cls.seen = hasattr(cls, "seen")
        return cls.seen

    @classmethod
    def swap(cls):
        old, cls.made = cls.made(2), None
        return old

    @classmethod
    def count(cls):
        cls.__count__ += 1
        return cls.__count__


class Kept(Base):
    _one = None


class Number:
    n = 1


class Mixed(Base, Number):
    pass


class Over(Base):
    n = 5
    seen = idle = 0
    __count__ = 8

    @classmethod
    def bump(cls):
        return super().bump()

    @staticmethod
    def made(x):
        return double(x)


def double(x):
    return x * 2


def single():
    return Kept.single() is Kept.single()


def bump():
    return Mixed.bump(), Over().bump()


def look():
    return Over.look()


def swap():
    return Over.swap()


def count():
    return Over.count()


class New:
    def __new__(cls):
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one


class Newer(New):
    _one = None


def new():
    return Newer() is Newer()
"""


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("single", "True"),
        ("new", "True"),
        ("bump", "(2, 6)"),
        ("look", "True"),
        ("swap", "4"),
        ("count", "9"),
    ],
)
def test_what_a_base_stores_on_the_class_hides_nothing_that_subclasses_have(
    name: str, shown: str, tmp_path: Path
) -> None:
    assert answer(STORED, f"m:{name}", f"m.{name}()", tmp_path) == shown


def test_a_base_that_stores_on_the_class_asks_for_that_name_alone(tmp_path: Path) -> None:
    write_files(STORED, tmp_path)
    assert "m:Over.seen" in slice_ids(tmp_path, "m:look")
    assert not {"m:Over.n", "m:Over.made", "m:double"} & slice_ids(tmp_path, "m:look")


@pytest.mark.parametrize(
    ("files", "target", "expression"),
    [
        (
            """
# --- m.py
class Doc:
    def go(self): return 3
class Parser:
    def parse(self): return self.blocks["d"]().go()
Parser.blocks = dict(d=Doc)
""",
            "m:Parser.parse",
            "m.Parser().parse()",
        ),
        (
            """
# --- m.py
def fill(kind): kind.blocks = {"d": 3}
class Parser:
    @classmethod
    def parse(cls): return cls.blocks["d"]
fill(Parser)
""",
            "m:Parser.parse",
            "m.Parser.parse()",
        ),
        (
            """
# --- m.py
class Outer:
    class Parser:
        def parse(self): return self.helper()
def helper(self): return 3
Outer.Parser.helper = helper
""",
            "m:Outer.Parser.parse",
            "m.Outer.Parser().parse()",
        ),
        (
            """
# --- pkg/__init__.py
from . import m, other
# --- pkg/m.py
class Parser:
    def parse(self): return self.blocks["d"]
# --- pkg/other.py
from .m import Parser
Parser.blocks = {"d": 3}
""",
            "pkg.m:Parser.parse",
            "m.Parser().parse()",
        ),
    ],
)
def test_what_builds_the_class_of_a_target_comes_though_nobody_names_it(
    files: str, target: str, expression: str, tmp_path: Path
) -> None:
    assert answer(files, target, expression, tmp_path) == "3"


_LOOK = """
A.tag = [5]
def put(kind): kind.more = "m"
put(A)
def look(n): return R[n].tag, R[n].more
"""


@pytest.mark.parametrize(
    "made",
    [
        "R = {}\ndef reg(c):\n    R[c.__name__] = c\n    return c\n@reg\nclass A: pass",
        """
R = {}
class M(type):
    def __init__(cls, n, b, d): R[n] = cls
class Base(metaclass=M): pass
class A(Base): pass
""",
        """
R = {}
class Base:
    def __init_subclass__(cls): R[cls.__name__] = cls
class A(Base): pass
""",
        """
class Base: pass
class A(Base): pass
class Found:
    def __getitem__(self, n): return [k for k in Base.__subclasses__() if k.__name__ == n][0]
R = Found()
""",
    ],
)
def test_what_builds_a_class_comes_that_is_used_without_being_named(
    made: str, tmp_path: Path
) -> None:
    files = f"# --- m.py\n{made}{_LOOK}"
    assert answer(files, "m:look", "m.look('A')", tmp_path) == "([5], 'm')"


def test_a_nested_class_does_not_bring_what_builds_the_one_around_it(tmp_path: Path) -> None:
    files = """
# --- m.py
def helped(kind): return kind
class Outer:
    class Inner: pass
    class Other: pass
    name = "n"
Outer = helped(Outer)
Outer.Other.tag = Outer.size = 6
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "m:Outer.Inner") == {"m:Outer", "m:Outer.Inner"}
    assert "m:helped" not in slice_ids(tmp_path, "m:Outer.name")

"""Whether a call builds the variable that it is made on."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from check import answer, answers, check_slice, run_expression, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

PLACES = """
import logging
from typing import Protocol

class Journal:
    def __init__(self): self.lines = []; self.inner = self
    def note(self, text): self.lines.append(text)
    def count(self): return len(self.lines)
    def info(self, text): self.lines.append(text)
    def part(self): return self.lines

class Log(Protocol):
    def info(self, text): ...
    def debug_once(self, text): ...

def made() -> Log: return elsewhere()

def later(*args): return elsewhere()

def fill(target, *, into=None):
    target["x"] = 1
    if into is not None: store(into)

def store(target): target.part().append(1); target.seen = True

def show(target): return len(target)

class Holder:
    def __init__(self, target): self.kept = target; target.update(held=self)

class Caller:
    def __call__(self, *args): return self

journal = Journal()
log = logging.getLogger("app")
own = made()
unknown = made_elsewhere()
caller = Caller()
table = {}
"""


def builds(tmp_path: Path, statement: str, *, variable: str) -> bool:
    """Whether a decorator with ``statement`` makes its users builders of ``variable``."""
    text = f"""
{PLACES}
def mark(function):
    {statement}
    return function

@mark
def marked(): return 1

def use(): return {variable}
"""
    (tmp_path / "app.py").write_text(dedent(text))
    found = slice_symbols(open_program(tmp_path, cache=None), ["app:use"])
    return "app:marked" in {item.symbol.id for item in found.items}


@pytest.mark.parametrize(
    ("statement", "variable", "changed"),
    [
        ("log.info('%s', function)", "log", False),
        ("log.warning_once('x')", "log", False),
        ("if log.isEnabledFor(10): log.debug('x')", "log", False),
        ("log.addHandler(function)", "log", True),
        ("log.level = 3", "log", True),
        ("log.info('x'); log.addFilter(function)", "log", True),
        ("log.info('x'); table['x'] = log", "log", True),
        ("own.info('x')", "own", False),
        ("unknown.debug('x')", "unknown", False),
        ("unknown.logger.error('x')", "unknown", False),
        ("unknown.inner.error('x')", "unknown", True),
        ("unknown.add(function)", "unknown", True),
        ("unknown.error(404)(function)", "unknown", True),
        ("unknown.error(404, function)", "unknown", True),
        ("unknown.error_handler('x', function)", "unknown", True),
        ("unknown.info('x').add(function)", "unknown", True),
        ("unknown.log", "unknown", False),
        ("journal.note('x')", "journal", True),
        ("journal.info('x')", "journal", True),
        ("journal.count()", "journal", True),
        ("journal.part().append('x')", "journal", True),
        ("setattr(journal, 'a', function)", "journal", True),
        ("later(function).result()", "later", False),
        ("later.known = function", "later", True),
        ("later(later).result()", "later", False),
        ("caller(function).result()", "caller", True),
        ("table['x'] = function", "table", True),
        ("table.setdefault('x', function)", "table", True),
        ("del table['x']", "table", True),
    ],
)
def test_a_call_builds_what_it_changes(
    tmp_path: Path, statement: str, variable: str, changed: bool
) -> None:
    assert builds(tmp_path, statement, variable=variable) is changed


def test_a_function_of_another_module_registers(tmp_path: Path) -> None:
    (tmp_path / "places.py").write_text("PLACES = {}\n")
    (tmp_path / "marks.py").write_text(
        "import places\nfrom places import PLACES as known\n\n"
        "def by_name(f):\n    known[f.__name__] = f\n    return f\n\n"
        "def by_module(f):\n    places.PLACES[f.__name__] = f\n    return f\n\n"
        "def read(f):\n    print(known)\n    return f\n"
    )
    (tmp_path / "uses.py").write_text(
        "import places\nfrom marks import by_module, by_name, read\n\n"
        "@by_name\ndef one(): return 1\n\n@by_module\ndef two(): return 2\n\n"
        "@read\ndef three(): return 3\n\n"
        "def use(): return places.PLACES\n"
    )
    found = slice_symbols(open_program(tmp_path, cache=None), ["uses:use"])
    assert {item.symbol.id for item in found.items} == {
        "marks:by_module",
        "marks:by_name",
        "places:PLACES",
        "uses:one",
        "uses:two",
        "uses:use",
    }


@pytest.mark.parametrize(
    ("statement", "variable", "changed"),
    [
        ("fill(table)", "table", True),
        ("fill(target=table)", "table", True),
        ("fill(*[table])", "table", True),
        ("fill({}, into=journal)", "journal", True),
        ("holder = Holder(table)", "table", True),
        ("show(table)", "table", False),
        ("print(fill(table))", "table", True),
        ("print(table)", "table", False),
        ("setattr(journal, 'level', 1)", "journal", True),
        ("made_elsewhere(table)", "table", True),
        ("made_elsewhere(later)", "later", False),
        ("both = [table, len(table)]", "table", False),
        ("unknown >> table", "table", True),
    ],
)
def test_a_statement_builds_what_it_passes_to_be_changed(
    tmp_path: Path, statement: str, variable: str, changed: bool
) -> None:
    (tmp_path / "app.py").write_text(
        f"{dedent(PLACES)}\n{statement}\n\ndef use(): return {variable}\n"
    )
    program = open_program(tmp_path, cache=None)
    files = render(program, slice_symbols(program, ["app:use"]), format="tree").files
    assert any(statement in file.text.splitlines() for file in files) is changed


def test_what_new_of_a_class_gives_is_no_part_of_the_class_if_it_is_new() -> None:
    check_slice(
        """
# --- app.py
class Base:
    def __new__(cls, size):
        made = object.__new__(cls)
        made.sizes = [size]
        return made

class Shape(Base):
    def __new__(cls, size): return Base.__new__(cls, size)

print(Shape.__new__(Shape, 1).sizes)

def target(): return Base
""",
        "app:target",
        {"app:target", "app:Base", "app:Base.__new__"},
    )


@pytest.mark.parametrize(
    "given",
    [
        "Table.all()",
        "Table.of()[0]",
        "Table.__new__(Table).rows",
    ],
)
def test_what_else_a_class_gives_may_be_a_part_of_it(given: str) -> None:
    check_slice(
        f"""
# --- reg.py
class Table:
    rows = [[]]
    one = None
    def __new__(cls):
        if cls.one is None: cls.one = object.__new__(cls)
        return cls.one
    @classmethod
    def all(cls): return cls.rows
    @classmethod
    def of(cls): return [cls]
def rows(): return {given}
# --- plug.py
from reg import rows
def added(): pass
rows().append(added)
# --- app.py
import reg, plug
def target(): return reg.Table.rows
""",
        "app:target",
        {
            *("app:target", "reg:Table", "reg:Table.rows", "reg:rows", "plug:added"),
            *(("reg:Table.__new__", "reg:Table.one") if "__new__" in given else ()),
            *(("reg:Table.all",) if "all" in given else ()),
            *(("reg:Table.of",) if "of" in given else ()),
        },
    )


def test_what_a_method_of_a_container_gives_is_part_of_it() -> None:
    check_slice(
        """
# --- app.py
TABLE = {}

def row(name): return TABLE.setdefault(name, [])

row("first").append(2)

def target(): return TABLE
""",
        "app:target",
        {"app:target", "app:TABLE", "app:row"},
    )


@pytest.mark.parametrize(
    ("made", "filled"),
    [
        ("TABLE = []\nTABLE.append(HELD)", "for each in TABLE: each.append(1)"),
        ("TABLE = {}\nTABLE['x'] = HELD", "for each in TABLE.values(): each.append(1)"),
        ("TABLE = [HELD]", "def fill():\n    for each in TABLE: each.append(1)\nfill()"),
    ],
)
def test_what_a_container_holds_is_changed_by_who_has_the_container(made: str, filled: str) -> None:
    check_slice(
        f"""
# --- app.py
HELD = []
{made}
{filled}
def add(value): TABLE.append(value)
def target(): return len(HELD)
""",
        "app:target",
        {"app:target", "app:HELD", "app:TABLE", "app:fill" if "fill" in filled else "app:each"},
    )


@pytest.mark.parametrize(
    "filled",
    [
        "for each in (HELD, OTHER): fill(each)",
        "ALL = [HELD, OTHER]\nfor each in ALL: fill(each)",
        "for name, each in {'held': HELD}.items(): fill(each)",
        "[fill(each) for each in (HELD, OTHER)]",
        "list(map(fill, (HELD, OTHER)))",
        "ALL = [HELD]\ndone = [*map(lambda each: each.append(1), ALL)]",
        "fill((HELD, OTHER)[0])",
        "def setup():\n    for _, each in enumerate([HELD]): fill(each)\nsetup()",
        "def setup():\n    for _, each in [(1, HELD)]: each.append(1)\nsetup()",
        "def fill_all(many): return [*map(fill, many)]\ndef setup():\n    fill_all([HELD])\nsetup()",
        "class Fill:\n    def __call__(self, one): fill(one)\nlist(map(Fill(), [HELD]))",
        "class Fill:\n    def do(self, one): fill(one)\nlist(map(Fill().do, [HELD]))",
        "class Fill:\n    def do(self, one): fill(one)\nlist(map(Fill.do, [1], [HELD]))",
        "class Fill:\n    @classmethod\n    def do(cls, one): fill(one)\nlist(map(Fill.do, [HELD]))",
        "def put(value, into): into.append(value)\nlist(map(partial(put, 1), [HELD]))",
        "def put(into, value): into.append(value)\nlist(map(partial(put, value=1), [HELD]))",
        "list(filter(fill, [HELD]))",
        "import concurrent.futures as futures\n[*futures.ThreadPoolExecutor().map(fill, [HELD])]",
        "list(itertools.starmap(lambda one, to: to.append(one), [(1, HELD)]))",
        "import functools\nfunctools.reduce(lambda one, to: to.append(one) or one, [1, HELD])",
        "for each in itertools.chain([HELD], []): fill(each)",
        "for each in itertools.chain.from_iterable([[HELD]]): fill(each)",
        "for each in filter(None.__ne__, [HELD]): fill(each)",
        "for each, _ in itertools.product([HELD], [1]): fill(each)",
        "fill(next(iter([HELD])))",
        "fill(HELD if HELD is not None else [])",
        "fill(None or HELD)",
        "from typing import cast\nfill(cast(list, HELD))",
        "from typing import cast\ndef setup():\n    fill(cast(list, HELD))\nsetup()",
        "(HELD if OTHER == [] else []).append(1)",
        "(each := HELD if OTHER == [] else []).append(1)",
        "def setup():\n    fill(HELD if HELD is not None else [])\nsetup()",
        "def fill_all(many):\n    for each, _ in zip(many, many): fill(each)\nfill_all([HELD])",
        "def fill_all(many):\n    for each in itertools.chain(many): fill(each)\nfill_all([HELD])",
        "def fill_all(*many):\n    fill(next(iter(many)))\nfill_all(HELD)",
    ],
)
def test_a_function_changes_what_it_is_given_out_of_a_container(
    filled: str, tmp_path: Path
) -> None:
    """In `gast` a loop hands classes to the function that fills them."""
    app = "import itertools\nfrom functools import partial\nHELD = []\nOTHER = []\n"
    app += f"def fill(into): into.append(1)\n{filled}\n"
    files = f"# --- app.py\n{app}def target(): return HELD\n"
    assert answer(files, "app:target", "m.target()", tmp_path) == "[1]"


@pytest.mark.parametrize(
    ("statement", "given"),
    [
        ("for each in ALL: fill(each)", "ALL = [{}, {}]"),
        ("first, second = ALL\nfill(first); fill(second)", "ALL = [{}, {}]"),
        ("for each in (ALL, Other): fill(each)", "class ALL: pass\nclass Other: pass"),
        ("for name, each in NAMED.items(): fill(each)", "class ALL: pass\nNAMED = {1: ALL}"),
    ],
)
def test_a_function_changes_elements_and_classes(
    statement: str, given: str, tmp_path: Path
) -> None:
    is_class = "class" in given
    fill = "into.tag = 1" if is_class else "into['tag'] = 1"
    shown = "ALL.tag" if is_class else "[each['tag'] for each in ALL]"
    files = f"# --- app.py\n{given}\ndef fill(into): {fill}\n{statement}\n"
    files += f"def target(): return {shown}\n"
    expected = "1" if is_class else "[1, 1]"
    assert answer(files, "app:target", "m.target()", tmp_path) == expected


def test_a_function_that_only_reads_elements_changes_nothing() -> None:
    """So do classes of others, and what is put elsewhere."""
    check_slice(
        """
# --- app.py
import elsewhere
from functools import partial
from itertools import chain
ALL = [{"a": 1}]
SEEN = []
def show(one): return len(one)
def keep(one): SEEN.append(one)
def setup():
    rows = [ALL]
    rows.append(SEEN)
for each in ALL:
    show(each)
    keep(each)
    elsewhere.show(each)
list(map(show, ALL))
class Show:
    def __call__(self, one): return len(one)
list(map(Show(), ALL))
def named(one, by): by.append(one)
list(map(partial(named, by=SEEN), ALL))
list(filter(show, chain(ALL)))
show(ALL if SEEN else [])
class Row: pass
def row(one): return Row()
def rows_of(many):
    for each in map(row, many): each.tag = 1
rows_of(ALL)
setup()
def target(): return len(ALL)
""",
        "app:target",
        {"app:target", "app:ALL"},
    )


def test_parts_that_are_put_in_a_container_change_nothing() -> None:
    """A new user found a table of names built."""
    check_slice(
        """
# --- app.py
class One: name = "one"
ALL = [One]
NAMES = []
for each in ALL:
    NAMES.append((each.name, len(each.name)))
    NAMES.append(each.name)
def target(): return len(ALL)
""",
        "app:target",
        {"app:target", "app:ALL", "app:One"},
    )


RULES = """
# --- pk/__init__.py
from .target import go
from .rules import check
# --- pk/target.py
from .types import kinds
def go(): return kinds
# --- pk/types.py
kinds = {"a": 1}
others = {"b": 2}
many = []
def change():
    many[0]["b"] = 2
# --- pk/rules.py
from .types import change, kinds, many, others
def check(): return names
"""


@pytest.mark.parametrize(
    "given",
    [
        "set(others).union(kinds)",
        "{1}.issubset(kinds)",
        "frozenset(others).difference(kinds)",
        "set(others).update(kinds)",
        "[].count(kinds)",
        "list(others).extend(kinds)",
        "dict(others).update(kinds)",
        "others.keys().isdisjoint(kinds)",
        'others.get("b", kinds)',
    ],
)
def test_methods_of_containers_leave_their_arguments_as_they_are(given: str) -> None:
    """They do not change them; nobody else has what is made there and then.

    A user found more than 1,000 definitions in a slice of graphql-core for one such statement.
    """
    check_slice(f"{RULES}names = {given}\n", "pk.target:go", {"pk.target:go", "pk.types:kinds"})


@pytest.mark.parametrize(
    "statements",
    [
        "many.append(kinds)\nchange()",
        "many.extend([kinds])\nmany[0]['b'] = 2",
        'others.get("c", kinds)["b"] = 2',
        'names = others.setdefault("c", kinds)\nnames["b"] = 2',
        'def fill():\n    names = others.get("c", kinds)\n    names["b"] = 2\nfill()',
        'def fill():\n    for each in many:\n        each["b"] = 2\nmany.append(kinds)\nfill()',
        'def fill():\n    many.append(kinds)\n    for each in many:\n        each["b"] = 2\nfill()',
        'def fill():\n    own = []\n    own.append(kinds)\n    own[0]["b"] = 2\nfill()',
    ],
)
def test_what_a_container_has_is_changed_by_who_takes_it_from_there(
    statements: str, tmp_path: Path
) -> None:
    found = answer(f"{RULES}{statements}\n", "pk.target:go", "m.go()", tmp_path)
    assert found == "{'a': 1, 'b': 2}"


HELD = """
# --- m.py
class Counter:
    n = 0
    def bump(self): self.n += 1
    def __call__(self, by): self.n += by
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 2: raise StopIteration
        return self.n
def fill(rows):
    for each in rows: each.bump()
def bump(each): each.bump()
def grow(rows):
    for each in rows: each.append(1)
def numbers():
    yield 1
    yield 2
HANDLERS = {}
"""


@pytest.mark.parametrize(
    ("bound", "statements", "expression"),
    [
        ("B = Counter()", "for each in set().union([B]): each.bump()", "B.n"),
        ("B = Counter()", "[each.bump() for each in {1}.union({B}) if each != 1]", "B.n"),
        ("B = Counter()", "[each.bump() for each in [B]]", "B.n"),
        ("B = Counter()", "list(map(bump, set().union([B])))", "B.n"),
        ("B = Counter()", "set().union([B]).pop().bump()", "B.n"),
        ("B = Counter()", "fill({1: B}.values())", "B.n"),
        ("B = Counter()", "fill([].__add__([B]))", "B.n"),
        ("B = Counter()", "many = [].__add__([B])\nfill(many)", "B.n"),
        ("B = Counter()", "fill(many := [].__add__([B]))", "B.n"),
        ("B = [3]", "grow([].__add__([B]))", "B"),
        ("B = [3]", "grow(filter(None, [].__add__([B])))", "B"),
        ("B = Counter()", "HANDLERS.get(1, B)(4)", "B.n"),
        ("B = Counter()", "handler = HANDLERS.get(1, B)\nhandler(4)", "B.n"),
        ("B = Counter()", "TABLE = {1: B}\nTABLE[1](4)", "B.n"),
    ],
)
def test_what_a_method_of_a_container_gives_is_changed_by_who_gets_it(
    bound: str, statements: str, expression: str, tmp_path: Path
) -> None:
    """``set(few).union(many)`` has the elements of both, ``table.get(key, X)`` may be ``X``."""
    text = f"{HELD}{bound}\n{statements}\ndef go(): return {expression}\n"
    found = answer(text, "m:go", "m.go()", tmp_path)
    whole = run_expression(tmp_path / "repo", "m", "m.go()")
    assert (found, whole.returncode) == (whole.stdout.strip(), 0)


@pytest.mark.parametrize(
    "iterator",
    [
        "iter([1, 2])",
        "(each for each in [1, 2])",
        "map(abs, [1, 2])",
        "zip([1, 2])",
        "enumerate([1, 2])",
        "reversed([1, 2])",
        "itertools.chain([1], [2])",
        "csv.reader(['a', 'b'])",
        "open(os.devnull)",
        "numbers()",
        "Counter()",
    ],
)
@pytest.mark.parametrize(
    "statement",
    [
        "[].extend(X)",
        "seen = set().union([], map(str, X))",
        "list().extend(each for each in X)",
    ],
)
def test_methods_of_containers_use_iterators_up(
    iterator: str, statement: str, tmp_path: Path
) -> None:
    text = f"{HELD}import csv, itertools, os\nX = {iterator}\n{statement}\n"
    found = answer(f"{text}def go(): return next(X, None)\n", "m:go", "m.go()", tmp_path)
    assert found == "None"


@pytest.mark.parametrize(
    "statement",
    [
        "names = set().union(zip([1, 2], kinds))",
        "names = {1}.union(each for each in kinds)",
        "for one in (each for each in kinds): names = {1}.union(each for each in kinds)",
    ],
)
def test_iterators_made_in_a_statement_use_nothing_else_up(statement: str) -> None:
    check_slice(f"{RULES}{statement}\n", "pk.target:go", {"pk.target:go", "pk.types:kinds"})


MODULES = """
# --- lib/__init__.py
from lib import spelt, computed, aliased, other
options = {}
limits = {}
# --- lib/spelt.py
import lib
lib.options["a"] = 1
# --- lib/computed.py
import lib
setattr(lib, "options", {})
# --- lib/aliased.py
import builtins, operator
import lib
NAME = "opt" + "ions"
builtins.setattr(lib, NAME, {})
# --- lib/other.py
import lib
lib.limits = {1: 2}
# --- app.py
import lib
def target(): return lib.options
"""


def test_other_modules_change_an_attribute_that_they_spell_or_compute(tmp_path: Path) -> None:
    write_files(MODULES, tmp_path)
    program = open_program(tmp_path, cache=None)
    found = render(program, slice_symbols(program, ["app:target"]), format="bundle").files[0].text
    assert 'lib.options["a"] = 1' in found
    assert 'setattr(lib, "options", {})' in found
    assert "builtins.setattr(lib, NAME, {})" in found
    assert "limits" not in found


def test_what_an_operator_puts_in_the_place_of_a_variable(tmp_path: Path) -> None:
    """``x += 1`` binds what `__add__` gives, of whatever class; a list stays the same."""
    files = """
# --- pkg/__init__.py
# --- pkg/lib.py
class A:
    def __add__(self, other): return B()
    def __ior__(self, other): return C()
    def go(self): return "A"
class B:
    def go(self): return helper()
    def __add__(self, other): return C()
    def idle(self): return 1
class C:
    def go(self): return "C"
def helper(): return "B"
x = A()
before = x
x += 1
y = A()
if y:
    y |= 1
class Holder:
    z = A()
    z += x
rows = ()
rows += (A, B)
same = also = []
also += [helper]
# --- pkg/app.py
from . import lib
from .lib import Holder, before, same, y
from .lib import x as mine
mine += 1
def run():
    own = before.go(), lib.x.go(), mine.go(), y.go(), Holder().z.go()
    return own, [row().go() for row in lib.rows], same[0]()
"""
    original, tree, flat = answers(files, tmp_path)
    assert tree == flat == original
    assert "pkg.lib:B.idle" not in slice_ids(tmp_path / "repo", "pkg.app:run")


TABLES = """
# --- pkg/__init__.py
# --- pkg/base.py
class Meta(type):
    def __new__(mcs, name, bases, namespace):
        made = super().__new__(mcs, name, bases, namespace)
        made.made = {}
        return made


class Base(metaclass=Meta):
    def run(self, text):
        return self.table[text]()

    def tell(self, text):
        return self.made[text].nud()

    @classmethod
    def register(cls, symbol, function):
        cls.table[symbol] = function

    @classmethod
    def token(cls, symbol):
        made = type("Token", (), {})
        cls.made[symbol] = made
        return made

    @classmethod
    def method(cls, symbol):
        token = cls.token(symbol)

        def bind(function):
            token.nud = function
            return function

        return bind

    @classmethod
    def cached(cls, key):
        if key not in cls.table:
            cls.table[key] = cls()
        return cls.table[key]


class One(Base):
    table = {}


class Two(Base):
    table = {}


other = Two.register
# --- pkg/others.py
from pkg.base import One, other
enter = One.register
cached = One.cached
# --- pkg/filling.py
import functools
from pkg.base import One, Two
from pkg.others import cached, enter, other
def f(*_): return "f"
def g(*_): return "g"
other("=", g)
value = cached("more")
FILL
# --- pkg/app.py
from pkg.base import One, other
import pkg.filling
def run(): return One().TOLD("=")
"""


@pytest.mark.parametrize(
    ("fill", "told"),
    [
        ('enter("=", f)', "run"),
        ('for put in (One.register,):\n    put("=", f)', "run"),
        ('list(map(One.register, ["="], [f]))', "run"),
        ('getattr(One, "register")("=", f)', "run"),
        ('put = lambda function: One.register("=", function)\nput(f)', "run"),
        ('def put(function): enter("=", function)\nput(f)', "run"),
        ('put = functools.partial(One.register, "=")\nput(f)', "run"),
        ('One().register("=", f)', "run"),
        ('method = One.method\n@method("=")\ndef h(): return f()', "tell"),
        ('put = One.method("=")\nput(f)', "tell"),
    ],
)
def test_class_methods_change_their_class_whatever_they_are_called(
    fill: str, told: str, tmp_path: Path
) -> None:
    files = TABLES.replace("FILL", fill).replace("TOLD", told)
    assert answer(files, "pkg.app:run", "m.run()", tmp_path) == "f"
    found = slice_ids(tmp_path / "repo", "pkg.app:run")
    assert "pkg.filling:f" in found
    assert not {"pkg.filling:g", "pkg.filling:value", "pkg.base:Two"} & found


def test_a_function_of_the_library_changes_the_argument_that_it_is_for(tmp_path: Path) -> None:
    """``setattr(C, name, X)`` changes ``C``: a class that reads the settings builds none of them."""
    files = """
# --- m.py
import json
class Settings:
    def __init__(self): self.known = {}
    def name(self, key): return self.known.get(key)
settings = Settings()
rest = {}
other = Settings()
class Reading(type):
    def __init__(cls, name, bases, space): cls.prepare()
    def prepare(cls):
        setattr(cls, "name", settings.name("m"))
        setattr(cls, "known", settings.known.get("m"))
        json.dump(rest, open("/dev/null", "w"))
        setattr(other, "known", {"a": 5})
class Model(metaclass=Reading): pass
def f(): return settings.name("a"), rest
def g(): return other.name("a")
"""
    write_files(files, tmp_path)
    assert "m:Model" not in slice_ids(tmp_path, "m:f")
    assert "m:Model" in slice_ids(tmp_path, "m:g")
    assert answer(files, "m:g", "m.g()", tmp_path / "g") == "5"


def test_nobody_changes_a_constant(tmp_path: Path) -> None:
    """``@register(Tags.one)`` builds nothing of ``Tags``, whatever it does with its argument."""
    files = """
# --- m.py
class Tags:
    one = "one"
def register(check=None, *tags):
    def inner(function):
        function.tags = tags
        return function
    return inner(check) if callable(check) else inner
@register(Tags.one)
def first(): return 1
def f(): return Tags.one
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "m:f") == {"m:f", "m:Tags", "m:Tags.one"}


WRAPPED = """
# --- lib/__init__.py
# --- lib/debug.py
from contextlib import contextmanager
import functools
indent = 0
ready = False
def prepare():
    global ready
    ready = True
def tell(text):
    prepare()
    return [text]
def indented(function):
    @functools.wraps(function)
    def wrapper(*args):
        tell("in")
        with deeper(): return function(*args)
    wrapper.marked = True
    return wrapper
@contextmanager
def deeper(text=""):
    global indent
    indent += 1
    yield
    indent -= 1
class Tools:
    class memoized:
        def __init__(self, function): self.function = function
        def __get__(self, instance, owner): return 5
def now(function):
    def inner(): prepare()
    inner()
    return function
def later(function):
    def inner(): prepare()
    def outer(): inner()
    outer()
    return function
def counted(function):
    def wrapper(*args): prepare()
    return wrapper
def twice(function):
    function()
    return function
# --- lib/use.py
from . import debug
from .debug import Tools
@debug.indented
def one(x): return debug.tell(x)
@debug.deeper("two")
def two(x): return x
class Three:
    @Tools.memoized
    def four(self): return 1
# --- lib/more.py
from . import debug
@debug.twice
@debug.KIND
def seven(): return 4
# --- m.py
import lib.use, lib.more
from lib.debug import tell, indent, Tools, ready
def f(): return tell("x"), indent, Tools.memoized
def g(): return ready
"""


def test_what_a_decorator_makes_runs_when_it_is_called(tmp_path: Path) -> None:
    """A wrapper that changes something builds nothing where it is only made; a generator neither."""
    write_files(WRAPPED.replace("@debug.twice\n@debug.KIND", "@debug.indented"), tmp_path)
    own = {each.split(":")[0] for each in slice_ids(tmp_path, "m:f")}
    assert own == {"m", "lib.debug"}


@pytest.mark.parametrize("kind", ["now", "later", "counted"])
def test_what_a_decorator_runs_itself_builds(kind: str, tmp_path: Path) -> None:
    files = WRAPPED.replace("KIND", kind)
    assert answer(files, "m:g", "m.g()", tmp_path) == "True"
    assert "lib.more:seven" in slice_ids(tmp_path / "repo", "m:g")


NUMBERS = "import itertools\nW = iter([1, 2, 3])\n"


@pytest.mark.parametrize(
    ("statements", "left"),
    [
        ("list(W)", "[]"),
        ("for x in W:\n    if x: break", "[2, 3]"),
        ("for i, x in enumerate(W):\n    break", "[2, 3]"),
        ("A = [*W]", "[]"),
        ("a, *b = W", "[]"),
        ("A = {'a': [x for x in W]}", "[]"),
        ("A = list(zip(W, 'a'))", "[3]"),
        ("A = list(itertools.islice(W, 2))", "[3]"),
        ("V = map(str, W)\nA = next(V)", "[2, 3]"),
        ("V = W\nA, B = [*V][:2]", "[]"),
        ("A = 2 in W", "[3]"),
        ("A = []\nA += W", "[]"),
        ("A = max(*W)", "[]"),
        ("def use(it):\n    for x in it:\n        return x\nA = use(W)", "[2, 3]"),
        ("def use(it):\n    yield from it\nA = [x for x in use(W)]", "[]"),
        ("def use():\n    for x in W:\n        return x\nA = use()", "[2, 3]"),
        ("class A:\n    one = next(W)\n    two = next(W)", "[3]"),
        ("def use(x=next(W)): return x", "[2, 3]"),
    ],
)
def test_what_uses_an_iterator_up_builds_it(statements: str, left: str, tmp_path: Path) -> None:
    text = f"# --- m.py\n{NUMBERS}{statements}\ndef look(): return list(W)\n"
    assert answer(text, "m:look", "m.look()", tmp_path) == left


@pytest.mark.parametrize(
    ("made", "statements", "left"),
    [
        ("def gen():\n    yield 1\n    yield 2\nW = gen()", "A = [x for x in W]", "[]"),
        ("W = (x for x in (1, 2))", "A = tuple(W)", "[]"),
        ("import csv\nW = csv.reader(['a,b', 'c'])", "NAMES, *_ = W", "[]"),
        ("import io\nW = io.StringIO('a\\nb')", "A = W.readline()", "['b']"),
        ("import io\nW = io.StringIO('a\\nb')", "for line in W: break", "['b']"),
        ("# --- n.py\nW = iter([1, 2])\n# --- m.py\nfrom n import W as V, W", "A = list(V)", "[]"),
        ("# --- n.py\nW = iter([1, 2])\n# --- m.py\nimport n\nfrom n import *", "[*n.W]", "[]"),
        (
            """
class Two:
    left = 2
    def __iter__(self): return self
    def __next__(self):
        if not self.left: raise StopIteration
        self.left -= 1
        return self.left
W = Two()
""",
            "A, B = W",
            "[]",
        ),
    ],
)
def test_iterators_of_all_sorts_are_used_up(
    made: str, statements: str, left: str, tmp_path: Path
) -> None:
    header = "" if "# ---" in made else "# --- m.py\n"
    text = f"{header}{made}\n{statements}\ndef look(): return list(W)\n"
    assert answer(text, "m:look", "m.look()", tmp_path) == left


@pytest.mark.parametrize(
    "text",
    [
        "W = [1, 2]\nA = list(W)\nfor x in W: Y = x\na, b = W",
        "W = iter([1])\nA = isinstance(W, int)\nprint(W)\nB = map(str, W)",
        "W = iter([1])\ndef use(x): return x\nA = use(W)",
        "W = iter([1])\nV = iter([2])\nA = list(V)\ndef use(x): return list(x)\nB = use(V)",
        "import logging\nW = open('x')\nA = logging.StreamHandler(W)\nprint('x', file=W)",
        "W = (x for x in ())\nA = list(x for x in ())\nfor x in (y for y in ()): print(x)",
        "lines = ['a']\nA = list(lines)\nW = iter(lines)",
    ],
)
def test_what_leaves_an_iterator_alone_does_not_build_it(text: str, tmp_path: Path) -> None:
    write_files(f"# --- m.py\n{text}\ndef look(): return W\n", tmp_path)
    assert slice_ids(tmp_path, "m:look") - {"m:lines"} == {"m:look", "m:W"}


KINDS = """
# --- n.py
class Base:
    x = [1]
    def f(self): return 1
class A(Base):
    x = [2]
    def f(self): return 2
    @classmethod
    def clean(cls): del cls.x
class Outer:
    class A(A):
        x = [3]
        def f(self): return 3
# --- m.py
import n
from n import A, Outer
def look(): return A().f(), A.x, Outer.A().f()
def clean(kind=None):
    {}
"""


@pytest.mark.parametrize(
    ("statement", "call", "left"),
    [
        ("del A.f", "clean()", "(1, [2], 3)"),
        ("del n.A.f", "clean()", "(1, [2], 3)"),
        ("delattr(A, 'f')", "clean()", "(1, [2], 3)"),
        ("del kind.f", "clean(A)", "(1, [2], 3)"),
        ("del Outer.A.f", "clean()", "(2, [2], 2)"),
        ("del A.x[0]", "clean()", "(2, [], 3)"),
        ("pass", "A.clean()", "(2, [1], 3)"),
    ],
)
def test_what_functions_delete_is_gone(
    statement: str, call: str, left: str, tmp_path: Path
) -> None:
    files = f"{KINDS.format(statement)}{call}\n"
    assert answer(files, "m:look", "m.look()", tmp_path) == left

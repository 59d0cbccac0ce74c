"""The engine through its public door: the edges of small programs, and what holds for all."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check import write_files
from depslice.callgraph import Program, build_graph, open_program
from depslice.callgraph.engine import base
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import WORK_BITS, Cell
from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.resting import without_collection
from depslice.slicer import Slice, render, slice_symbols
from depslice.slicer.closure.model import Demand
from depslice.slicer.render import write_tree
from specimens import Specimen, load_specimens

REPO = Path(__file__).parents[3]
SPECIMENS = {specimen.name: specimen for specimen in load_specimens()}
TARGETS = [(name, target) for name, found in SPECIMENS.items() for target in found.slices]

Edges = set[tuple[str, str]]


def graph_of(files: str) -> ReferenceGraph:
    """The graph of a multi-file string, or of the text of one module ``m``."""
    if "# --- " not in files:
        files = f"# --- m.py\n{files}"
    with tempfile.TemporaryDirectory() as folder:
        write_files(files, Path(folder))
        return build_graph(open_program(folder, cache=None))


def inner_calls(graph: ReferenceGraph) -> Edges:
    """Caller and callee of every call within the repository."""
    return {
        (reference.source, reference.target)
        for reference in graph.references(kind=ReferenceKind.CALL)
        if not reference.target.startswith("external:")
    }


def callees(files: str, caller: str) -> set[str]:
    """What ``caller`` calls, without the module part for those of module ``m``."""
    edges = inner_calls(graph_of(files))
    return {callee.removeprefix("m:") for source, callee in edges if source == caller}


def test_tuples_of_the_same_constants_are_one(tmp_path: Path) -> None:
    """Tables of numbers take no more room than their shapes; what can be changed is told apart."""
    rows = ", ".join(f"({number}, 1)" for number in range(50))
    write_files(
        f"# --- m.py\ndef f():\n    a = (1, 2); b = (3, 4); return [{rows}], [1], [2], (3, 'x'), a + b\n",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    engine = Engine(program, whole=True)
    engine.run(engine.all_functions(program.load_all(workers=1)))
    kinds = [value[1] for value in engine.values if value[0] == "K"]
    assert kinds.count("tuple") == 5  # the pairs, the one with a text, `a`, `b`, the result
    assert kinds.count("list") == 3


# Edges of small programs.


def test_parts_of_parts_are_parts_of_the_whole() -> None:
    """fissix's tokenizer takes one level off its indents in a loop (14 seconds each slice)."""
    graph = graph_of(
        "def one(): pass\n"
        "def two(): pass\n"
        "def run(lines):\n"
        "    stack = [one, two]\n"
        "    for line in lines: stack = stack[:-1]\n"
        "    stack[0]()\n"
    )
    calls = {reference.target for reference in graph.references(kind=ReferenceKind.CALL)}
    assert "m:one" in calls
    assert graph.unresolved == ()


def test_a_decorator_that_wraps_stands_between() -> None:
    edges = inner_calls(
        graph_of(
            """
import functools
def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper
@logged
def work(): return 1
def main(): work()
"""
        )
    )
    assert edges == {
        ("m", "m:logged"),
        ("m:main", "m:logged.<locals>.wrapper"),
        ("m:logged.<locals>.wrapper", "m:work"),
    }


def test_what_answers_in_place_is_not_added_to() -> None:
    adding = callees(
        """
class Base:
    def __add__(self, other):
        self.help()
        return self
class InPlace(Base):
    def __iadd__(self, other): return self
    def help(self): return 1
class Added(Base):
    def help(self): return 2
def main(flag):
    x = InPlace() if flag else Added()
    x += 1
main(True)
""",
        "m:Base.__add__",
    )
    assert adding == {"Added.help"}


def test_a_slice_hears_of_what_a_list_gets_later() -> None:
    files = """# --- m.py
HELD = []
class First:
    def run(self): HELD.append(Second())
class Second:
    def run(self): return 6
def use(items):
    for each in items: each.run()
def make():
    HELD.append(First())
    use(HELD)
"""
    with tempfile.TemporaryDirectory() as folder:
        write_files(files, Path(folder))
        found = slice_symbols(open_program(folder, cache=None), ["m:make"])
        assert "m:Second.run" in {item.symbol.id for item in found.items}


def test_a_closure_is_called_where_it_is_called() -> None:
    edges = inner_calls(
        graph_of(
            """
def outer():
    def inner(): return leaf()
    return inner
def leaf(): pass
def main():
    made = outer()
    made()
"""
        )
    )
    assert edges == {
        ("m:main", "m:outer"),
        ("m:main", "m:outer.<locals>.inner"),
        ("m:outer.<locals>.inner", "m:leaf"),
    }


DIAMOND = """
class A:
    def run(self): pass
class B(A):
    def run(self): super().run()
class C(A):
    def run(self): super().run()
class D(B, C):
    def run(self): super().run()
def main(): D().run()
"""


def test_super_starts_after_the_class_it_stands_in() -> None:
    edges = inner_calls(graph_of(DIAMOND))
    assert {("m:main", "m:D.run"), ("m:D.run", "m:B.run"), ("m:C.run", "m:A.run")} <= edges
    assert ("m:D.run", "m:A.run") not in edges


def test_super_follows_the_order_of_the_instance() -> None:
    assert ("m:B.run", "m:C.run") in inner_calls(graph_of(DIAMOND))


def test_properties_run_when_they_are_read_written_and_deleted() -> None:
    text = """
class A:
    @property
    def x(self): return 1
    @x.setter
    def x(self, value): pass
    plain = 1
def read(a: A): return a.x
def write(a: A): a.x = 2
def neither(a: A): return a.plain
"""
    edges = inner_calls(graph_of(text))
    assert {("m:read", "m:A.x"), ("m:write", "m:A.x")} <= edges
    assert not {callee for caller, callee in edges if caller == "m:neither"}


def test_descriptors() -> None:
    text = """
class D:
    def __get__(self, instance, owner): return 1
    def __set__(self, instance, value): pass
class A:
    x = D()
def read(a: A): return a.x
def write(a: A): a.x = 1
"""
    assert callees(text, "m:read") == {"D.__get__"}
    assert callees(text, "m:write") == {"D.__set__"}


def test_getattr_with_a_constant_or_a_known_start() -> None:
    text = """
class A:
    def go(self): pass
    def on_key(self): pass
    def on_click(self): pass
    def stay(self): pass
def constant(): getattr(A(), "go")()
def prefix(kind): getattr(A(), f"on_{kind}")()
"""
    assert callees(text, "m:constant") == {"A", "A.go"}
    assert callees(text, "m:prefix") == {"A", "A.on_key", "A.on_click"}


def test_dispatch_tables() -> None:
    text = """
def a(): pass
def b(): pass
def c(): pass
TABLE = {"a": a, "b": b}
def one(): TABLE["a"]()
def either(name): TABLE[name]()
def listed():
    for each in [b, c]: each()
"""
    assert callees(text, "m:one") == {"a"}
    assert callees(text, "m:either") == {"a", "b"}
    assert callees(text, "m:listed") == {"b", "c"}


@pytest.mark.parametrize(
    "table",
    [
        pytest.param("TABLE = {%(entries)s}", id="display"),
        pytest.param("TABLE = {'other': len, **dict([%(pairs)s])}", id="pairs"),
        pytest.param("PART = {%(entries)s}\nTABLE = {**PART, 'one': one}", id="merged"),
        pytest.param("TABLE = {}\nTABLE.update({%(entries)s})", id="updated"),
        pytest.param("TABLE = dict(%(keywords)s)", id="keywords"),
    ],
)
def test_no_entry_of_a_large_table_is_lost(table: str) -> None:
    names = [f"f{number}" for number in range(150)]
    filled = table % {
        "entries": ", ".join(f"'{name}': {name}" for name in names),
        "pairs": ", ".join(f"('{name}', {name})" for name in names),
        "keywords": ", ".join(f"{name}={name}" for name in names),
    }
    functions = "\n".join(f"def {name}(x): return x.go()" for name in ["one", *names])
    users = "def use(name, x): return TABLE.get(name)(x)\ndef main(name): use(name, 1)"
    found = callees(f"{functions}\n{filled}\n{users}", "m:use")
    assert found >= set(names)
    assert "one" in found or "one" not in filled


@pytest.mark.parametrize(
    ("table", "use"),
    [
        ("TABLE = [%s]", "for name, function in TABLE:\n        function(name)"),
        ("TABLE = [%s]", "for row in TABLE:\n        row[1](row[0])"),
        ("TABLE = [list(row) and {'f': row[1]} for row in [%s]]", "TABLE[0]['f'](name)"),
        ("TABLE = dict((%s))", "TABLE[name](name)"),
        ("TABLE = {str(key): (key, value) for key, value in [%s]}", "TABLE[name][1](name)"),
    ],
)
def test_no_row_of_a_long_table_is_lost(table: str, use: str) -> None:
    names = [f"f{number}" for number in range(30)]
    functions = "\n".join(f"def {name}(x): ..." for name in names)
    rows = ", ".join(f"('{name}', {name})" for name in names)
    assert callees(f"{functions}\n{table % rows}\ndef use(name):\n    {use}", "m:use") == set(names)


def test_self_of_a_lambda_in_a_class_body_is_of_that_class() -> None:
    files = """
class A:
    TABLE = {1: lambda self, x: self.go(x)}
    def go(self, x): ...
class B:
    def go(self, x): ...
"""
    assert callees(files, "m:A.<lambda>@2") == {"A.go"}


@pytest.mark.parametrize(
    ("bases", "declared"),
    [
        ("enum.IntEnum", "int"),
        ("enum.StrEnum", "str"),
        ("typing.NamedTuple", "tuple"),
        ("collections.namedtuple('P', 'x')", "tuple[int, ...]"),
        ("collections.OrderedDict", "dict"),
        ("int", "float"),
    ],
)
def test_what_extends_or_stands_for_a_declared_result_may_be_given(
    bases: str, declared: str
) -> None:
    files = f"""
import collections, enum, typing
class Made({bases}):
    def __add__(self, other): ...
def give(x: Made) -> {declared}: return x
def main(x: Made): return give(x) + 1
"""
    assert "Made.__add__" in callees(files, "m:main")


@pytest.mark.parametrize(
    "virtual",
    ["Base.register(Duck)", "", pytest.param("pass", marks=pytest.mark.xfail(strict=True))],
)
def test_a_virtual_subclass_may_be_given(virtual: str) -> None:
    hook = "" if virtual else "    @classmethod\n    def __subclasshook__(cls, other): return True"
    files = f"""
from abc import ABC
class Base(ABC):
    def run(self): ...
{hook}
class Duck:
    def run(self): ...
{virtual}
def give() -> Base: return Duck()
def main(): give().run()
"""
    assert "Duck.run" in callees(files, "m:main")


def test_an_object_may_have_a_method_that_texts_have() -> None:
    files = """
class Name:
    def endswith(self, text): ...
    def run(self): ...
def main(name: Name):
    if name.endswith("_x"):
        name.run()
"""
    assert callees(files, "m:main") == {"Name.endswith", "Name.run"}


@pytest.mark.parametrize(
    "sink",
    [
        "class Sink:\n    def __init__(self): self.write = keep",
        "class Sink:\n    def __getattr__(self, name): return keep",
    ],
)
def test_what_is_handed_over_may_answer_in_other_ways(sink: str) -> None:
    files = f"import json\ndef keep(text): ...\n{sink}\ndef main(): json.dump(1, Sink())"
    assert "keep" in callees(files, "m:main")


def test_where_many_large_tables_meet_some_are_called_and_the_rest_is_unknown() -> None:
    names = [[f"f{table}_{number}" for number in range(80)] for table in range(60)]
    functions = "\n".join(f"def {name}(): ..." for table in names for name in table)
    tables = "\n".join(f"T{i} = [{', '.join(table)}]" for i, table in enumerate(names))
    listed = ", ".join(f"T{i}" for i in range(60))
    use = f"def use(place):\n    for table in [{listed}]:\n        table[place]()"
    graph = graph_of(f"{functions}\n{tables}\n{use}")
    called = {r.target for r in graph.references() if r.source == "m:use" and r.kind == "call"}
    assert 80 < len(called) < 60 * 80
    reasons = {u.reason for u in graph.unresolved if u.source == "m:use"}
    assert reasons == {"unknown-callee"}


def test_where_many_tables_meet_in_many_places_not_each_has_all_once_more() -> None:
    names = [[f"f{table}_{number}" for number in range(80)] for table in range(20)]
    functions = "\n".join(f"def {name}(): ..." for table in names for name in table)
    tables = "\n".join(f"T{i} = [{', '.join(table)}]" for i, table in enumerate(names))
    listed = ", ".join(f"T{i}" for i in range(20))
    uses = "\n".join(
        f"def use{i}(place):\n    for table in [{listed}]:\n        table[place]()"
        for i in range(30)
    )
    graph = graph_of(f"{functions}\n{tables}\n{uses}")
    calls = sum(r.kind == "call" and ":use" in r.source for r in graph.references())
    assert 20_000 < calls < 36_000  # else 30 places would have 1,600 each


def test_functions_that_are_passed_are_not_lost_among_many() -> None:
    names = [f"f{number}" for number in range(150)]
    functions = "\n".join(f"def {name}(): ..." for name in names)
    calls = "\n".join(f"apply({name})" for name in names)
    found = callees(f"{functions}\ndef apply(function): function()\n{calls}", "m:apply")
    assert found == set(names)


def test_a_callback_called_from_outside_is_marked() -> None:
    graph = graph_of(
        """
def key(x): return x
def by_sorted(items): return sorted(items, key=key)
def itself(): key(1)
"""
    )
    marks = {
        r.source: r.via_external
        for r in graph.references(kind=ReferenceKind.CALL)
        if r.target == "m:key"
    }
    assert marks == {"m:by_sorted": True, "m:itself": False}


@pytest.mark.parametrize(
    ("expression", "method"),
    [
        ("v + v", "__add__"),
        ("1 + v", "__radd__"),
        ("v < v", "__lt__"),
        ("v == 1", "__eq__"),
        ("v[0]", "__getitem__"),
        ("1 in v", "__contains__"),
        ("-v", "__neg__"),
        ("len(v)", "__len__"),
        ("f'{v}'", "__str__"),
        ("1 if v else 2", "__bool__"),
        ("not v", "__bool__"),
        ("v()", "__call__"),
        ("[*v]", "__iter__"),
        ("[x for x in v]", "__iter__"),
        ("v.anything", "__getattr__"),
        ("v @ v", "__matmul__"),
        ("abs(v)", "__abs__"),
        ("str(v)", "__str__"),
        ("hash(v)", "__hash__"),
    ],
)
def test_syntax_calls_special_methods(expression: str, method: str) -> None:
    text = f"""
class V:
    def {method}(self, *args): return iter(())
    def __other__(self): pass
def main(v: V): return {expression}
"""
    assert callees(text, "m:main") == {f"V.{method}"}


@pytest.mark.parametrize(
    ("statement", "methods"),
    [
        ("v += 1", {"__iadd__"}),
        ("v[0] = 1", {"__setitem__"}),
        ("del v[0]", {"__delitem__"}),
        ("with v: pass", {"__enter__", "__exit__"}),
        ("for _ in v: pass", {"__iter__", "__next__"}),
        ("a, b = v", {"__iter__", "__next__"}),
    ],
)
def test_statements_call_special_methods(statement: str, methods: set[str]) -> None:
    text = f"""
class V:
    def __iadd__(self, other): return self
    def __setitem__(self, key, value): pass
    def __delitem__(self, key): pass
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def __iter__(self): return self
    def __next__(self): return 1
def main(v: V):
    {statement}
"""
    assert callees(text, "m:main") == {f"V.{name}" for name in methods}


def test_what_context_managers_give() -> None:
    text = """
from contextlib import contextmanager
class Lock:
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def use(self): pass
@contextmanager
def opened():
    yield Lock()
def by_class():
    with Lock() as lock: lock.use()
def by_generator():
    with opened() as lock: lock.use()
"""
    assert callees(text, "m:by_class") == {"Lock", "Lock.__enter__", "Lock.__exit__", "Lock.use"}
    assert callees(text, "m:by_generator") == {"opened", "Lock.use"}


def test_what_generators_give() -> None:
    text = """
class T:
    def use(self): pass
def make():
    yield T()
def relay():
    yield from make()
def main():
    for each in relay(): each.use()
"""
    assert callees(text, "m:main") == {"relay", "T.use"}
    assert callees(text, "m:relay") == {"make"}


def test_what_coroutines_and_asynchronous_iterators_give() -> None:
    text = """
class S:
    def __aiter__(self): return self
    async def __anext__(self): return T()
class T:
    def use(self): pass
async def make(): return T()
async def awaits():
    (await make()).use()
async def loops():
    async for each in S(): each.use()
"""
    assert callees(text, "m:awaits") == {"make", "T.use"}
    assert callees(text, "m:loops") == {"S", "S.__aiter__", "S.__anext__", "T.use"}


def test_named_tuples_are_made_of_rows() -> None:
    text = """
from collections import namedtuple
P = namedtuple("P", "x y")
class A:
    def get(self): pass
class B:
    def get(self): pass
def makes(): P._make([A(), B()]).y.get()
def maps():
    for each in map(P._make, [(A(), B())]): each.x.get()
"""
    assert callees(text, "m:makes") == {"A", "B", "B.get"}
    assert callees(text, "m:maps") == {"A", "B", "A.get"}


def test_what_stars_catch_hooks_make_and_anext_gives() -> None:
    text = """
import json
class E(Exception):
    def get(self): pass
class W:
    def get(self): pass
    async def __anext__(self): return E()
def hook(data): return W()
async def steps(): (await anext(W())).get()
def catches():
    try: pass
    except* E as group: group.exceptions[0].get()
def reads(text): json.loads(text, object_hook=hook).get()
"""
    assert callees(text, "m:steps") == {"W", "W.__anext__", "E.get"}
    assert callees(text, "m:catches") == {"E.get"}
    assert callees(text, "m:reads") == {"hook", "W.get"}


CLASSMETHOD = """
class A:
    def __init__(self): pass
    @classmethod
    def make(cls): return cls()
    def use(self): pass
class B(A):
    def __init__(self): pass
    def use(self): pass
def own(): A.make().use()
def derived(): B.make().use()
"""


def test_cls_is_the_class_and_calling_it_makes_an_instance() -> None:
    assert callees(CLASSMETHOD, "m:own") >= {"A.make", "A.use"}
    assert callees(CLASSMETHOD, "m:derived") >= {"A.make", "B.use"}
    assert callees(CLASSMETHOD, "m:A.make") >= {"A", "A.__init__"}


def test_cls_is_the_class_the_method_was_called_on() -> None:
    assert callees(CLASSMETHOD, "m:A.make") == {"A", "A.__init__", "B", "B.__init__"}


@pytest.mark.parametrize(
    "body",
    [
        "    if isinstance(x, A): x.go()",
        "    if not isinstance(x, A): return\n    x.go()",
        "    assert isinstance(x, A)\n    x.go()",
        "    isinstance(x, A) and x.go()",
        "    match x:\n        case A() as a: a.go()",
    ],
    ids=["if", "guard", "assert", "and", "match"],
)
def test_a_test_of_the_type_narrows(body: str) -> None:
    text = f"""
class A:
    def go(self): pass
class B:
    def go(self): pass
def main(x):
{body}
"""
    assert callees(text, "m:main") == {"A.go"}


def test_arguments_flow_into_parameters() -> None:
    text = """
class A:
    def go(self): pass
class B:
    def go(self): pass
def use(x): x.go()
def by_keyword(*, x): x.go()
def by_star(*xs):
    for x in xs: x.go()
def main():
    use(A())
    by_keyword(x=B())
    by_star(B())
"""
    assert callees(text, "m:use") == {"A.go"}
    assert callees(text, "m:by_keyword") == {"B.go"}
    assert callees(text, "m:by_star") == {"B.go"}


def test_assignments_replace_and_branches_join() -> None:
    text = """
class A:
    def go(self): pass
class B:
    def go(self): pass
def straight():
    x = A()
    x = B()
    x.go()
def branch(c):
    x = A()
    if c: x = B()
    x.go()
"""
    assert callees(text, "m:straight") == {"A", "B", "B.go"}
    assert callees(text, "m:branch") == {"A", "B", "A.go", "B.go"}


def test_instance_attributes() -> None:
    text = """
class Engine:
    def start(self): pass
class Car:
    def __init__(self): self.engine = Engine()
    def go(self): self.engine.start()
def main(): Car().engine.start()
"""
    assert callees(text, "m:Car.go") == {"Engine.start"}
    assert callees(text, "m:main") == {"Car", "Car.__init__", "Engine.start"}


def test_global_variables_that_functions_set() -> None:
    text = """
def a(): pass
handler = None
def install():
    global handler
    handler = a
def main(): handler()
"""
    assert callees(text, "m:main") == {"a"}


def test_variables_that_nested_functions_set() -> None:
    text = """
def a(): pass
def b(): pass
def main():
    chosen = a
    def switch():
        nonlocal chosen
        chosen = b
    switch()
    chosen()
"""
    assert callees(text, "m:main") == {"main.<locals>.switch", "a", "b"}


def test_private_names_belong_to_the_class_they_stand_in() -> None:
    text = """
class A:
    def __step(self): pass
    def run(self): self.__step()
class B(A):
    def __step(self): pass
def main(): B().run()
"""
    assert callees(text, "m:A.run") == {"A.__step"}


def test_partial_lambda_and_method_as_value() -> None:
    text = """
from functools import partial
class A:
    def go(self): pass
def use(a, b): a.go()
def by_partial():
    f = partial(use, A())
    f(1)
def by_lambda():
    f = lambda: A()
    f().go()
def by_method():
    f = A().go
    f()
"""
    assert callees(text, "m:by_partial") == {"A", "use"}
    assert callees(text, "m:use") == {"A.go"}
    assert callees(text, "m:by_lambda") == {"by_lambda.<locals>.<lambda>@9", "A.go"}
    assert callees(text, "m:by_method") == {"A", "A.go"}


def test_names_across_files() -> None:
    files = """
# --- pkg/__init__.py
from pkg.impl import *
# --- pkg/impl.py
__all__ = ["f"]
def f(): pass
def g(): pass
# --- app.py
import pkg
from pkg import impl as other
def by_package(): pkg.f()
def by_module(): other.g()
def hidden(): pkg.g()
"""
    edges = inner_calls(graph_of(files))
    assert edges == {("app:by_package", "pkg.impl:f"), ("app:by_module", "pkg.impl:g")}


def test_other_kinds_of_references() -> None:
    graph = graph_of(
        """
# --- a.py
LIMIT = 1
class Base: pass
def mark(f): return f
# --- b.py
import a
class C(a.Base): pass
@a.mark
def f(x: a.Base): return a.LIMIT
"""
    )
    found = {(r.source, r.target, r.kind) for r in graph.references()}
    assert ("b:C", "a:Base", ReferenceKind.INHERIT) in found
    assert ("b:f", "a:LIMIT", ReferenceKind.READ) in found
    assert ("b", "a:Base", ReferenceKind.ANNOTATE) in found
    assert ("b", "a:mark", ReferenceKind.CALL) in found


def test_sites_are_where_the_call_is() -> None:
    graph = graph_of("def f(): pass\ndef main():\n    f()\n    return [f()]\n")
    [reference] = [r for r in graph.references() if r.target == "m:f" and r.kind == "call"]
    assert [(site.line, site.column) for site in reference.sites] == [(3, 4), (4, 12)]
    assert reference.certainty is Certainty.DEFINITE


# The unknown is a value.


def test_what_is_not_known_is_listed_with_a_reason() -> None:
    graph = graph_of("import missing_thing\ndef main(x):\n    undefined()\n    x()\n")
    reasons = {(u.source, u.name, u.reason, u.site.line) for u in graph.unresolved}
    assert ("m:main", "undefined", "undefined-name", 3) in reasons
    assert {line for source, _, _, line in reasons if source == "m:main"} == {3, 4}


def test_code_made_from_text_is_listed() -> None:
    graph = graph_of("def main(text):\n    exec(text)\n")
    assert {(u.source, u.reason) for u in graph.unresolved} == {("m:main", "exec")}


def test_an_unresolved_method_call_has_the_name_of_the_method() -> None:
    graph = graph_of("def main(x):\n    x.go()\n")
    assert [(u.name, u.reason) for u in graph.unresolved] == [("go", "unknown-receiver")]


def test_one_broken_file_does_not_stop_the_rest() -> None:
    graph = graph_of(
        "# --- good.py\nfrom bad import g\ndef f(): pass\ndef main(): f(); g()\n"
        "# --- bad.py\ndef g(:\n"
    )
    assert inner_calls(graph) == {("good:main", "good:f")}
    assert [(d.slug, d.path) for d in graph.diagnostics] == [("syntax-error", "bad.py")]


# The graph against what really happens (fixtures/*/expected.json).

MISSED = {
    "class_listings": "a descriptor is read by a name that only the namespace of its class knows",
    "lazy_getattr": "what a module-level import asks a module's __getattr__ for",
    "fields_contributed": "descriptors that are set under names which only they know",
    "names_made": "which names a loop or an update writes is not evaluated",
    "attribute_hooks": "when an object is collected is not seen",
    "outside_state": "what code outside calls of that which was registered with it earlier",
    "names_by_keyword": "the names of the keywords that a function is given are no values",
    "names_made_held": "which names a function or a loop writes is not evaluated",
    "lazy_submodules": "the first use of a submodule asks __getattr__, if nobody has imported it",
}
# What no run of the specimen does and the graph has: abstract bodies, branches for other
# platforms, what a subclass or a patch replaces, subclasses that nobody imports, methods that a
# name which nobody follows may mean, exceptions that are made and never get to a handler.
EXTRA = {
    "class_listings",
    "outside_state",
    "registry_handed",
    "abstract_methods",
    "conditional_definitions",
    "decorator_parametrised",
    "exception_messages",
    "fields_contributed",
    "import_fallback",
    "inheritance_across_files",
    "inventory",
    "metaclass_namespace",
    "module_choice",
    "monkeypatch_class",
    "monkeypatch_module",
    "names_by_keyword",
    "names_elsewhere",
    "protocols",
    "tests_beside",
}


@cache
def specimen_edges(name: str) -> tuple[Edges, Edges]:
    specimen = SPECIMENS[name]
    expected = {(caller, each) for caller in specimen.edges for each in specimen.edges[caller]}
    return inner_calls(build_graph(open_program(specimen.repo, cache=None))), expected


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(reason=MISSED[name], strict=True)] if name in MISSED else [],
        )
        for name in SPECIMENS
    ],
)
def test_every_call_that_happens_is_in_the_graph(name: str) -> None:
    found, expected = specimen_edges(name)
    assert not expected - found


@pytest.mark.parametrize("name", sorted(SPECIMENS.keys() - EXTRA))
def test_no_other_call_is_in_the_graph(name: str) -> None:
    found, expected = specimen_edges(name)
    assert not found - expected


# Determinism.

DESCRIBE = """
import sys
from pathlib import Path
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.lowering import summarize
from depslice.slicer import render, slice_symbols
for path in sorted(Path(sys.argv[1]).rglob("*.py")): print(summarize(path.read_text()))
program = open_program(sys.argv[1], cache=None)
graph = build_graph(program)
for reference in graph.references(): print(reference)
for unresolved in graph.unresolved: print(unresolved)
for target in sys.argv[2:]:
    found = slice_symbols(program, [target])
    for format in ("json", "tree", "module"):
        for file in render(program, found, format=format).files: print(file.path, file.text)
"""


@pytest.mark.parametrize("name", ["inventory", "registry_modules"])
def test_the_hash_seed_does_not_matter(name: str) -> None:
    specimen = SPECIMENS[name]
    outputs = set()
    for seed in ("0", "1", "4711"):
        done = subprocess.run(
            [sys.executable, "-c", DESCRIBE, str(specimen.repo), *specimen.slices],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(str(REPO / c) for c in ("callgraph", "slicer")),
            },
            capture_output=True,
            check=True,
            timeout=60,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_slice_does_not_depend_on_slices_made_before(name: str) -> None:
    specimen = SPECIMENS[name]
    fresh = {}
    for target in specimen.slices:
        fresh[target] = slice_symbols(open_program(specimen.repo, cache=None), [target])
    for order in (list(specimen.slices), list(reversed(specimen.slices))):
        program = open_program(specimen.repo, cache=None)
        for target in order:
            slice_symbols(program, [target])
        assert {target: slice_symbols(program, [target]) for target in order} == fresh


@pytest.mark.parametrize("name", ["init_subclass", "inventory", "registry_decorator"])
def test_the_items_of_a_slice_never_depend_on_slices_made_before(name: str) -> None:
    specimen = SPECIMENS[name]
    program = open_program(specimen.repo, cache=None)
    for _ in range(2):
        for target in specimen.slices:
            fresh = slice_symbols(open_program(specimen.repo, cache=None), [target])
            assert ids(slice_symbols(program, [target])) == ids(fresh)


@pytest.mark.parametrize("name", sorted(SPECIMENS))
def test_letting_go_of_sets_on_the_way_changes_no_graph(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = build_graph(open_program(SPECIMENS[name].repo, cache=None))
    monkeypatch.setattr(base, "_MOST_SETS", 1)  # each time that the sets have doubled
    swept = build_graph(open_program(SPECIMENS[name].repo, cache=None))
    assert [*swept.references()] == [*plain.references()]
    assert swept.unresolved == plain.unresolved


def test_sweeping_forgets_what_nobody_holds_and_nothing_else() -> None:
    engine = Engine(program_of("inventory"), whole=True)
    engine._room_for_sets = 0
    held = engine.shared({1, 2, 3})
    engine.shared({4, 5, 6})
    engine.sweep()
    assert frozenset((4, 5, 6)) not in engine._sets
    assert engine.shared({1, 2, 3}) is held


def test_sweeping_leaves_each_reader_once_in_the_order_they_came() -> None:
    engine = Engine(program_of("inventory"), whole=True)
    engine._room_for_sets = 0
    cell = engine.cell("of a test")
    engine.new_lookup(())
    for place in (3, 1, 3, 1, 2, 3):
        engine.reader = (1 << WORK_BITS) + place
        engine.read(cell)
    engine.sweep()
    assert [*cell.readers] == [(1 << WORK_BITS) + place for place in (3, 1, 2)]

    engine.reader = 1 << WORK_BITS
    engine.read(cell)
    assert len(cell.readers) == 4


def test_a_slice_leaves_nothing_to_the_cycle_collector() -> None:
    program = open_program(SPECIMENS["inventory"].repo, cache=None)
    gc.collect()
    before = sum(isinstance(each, Demand) for each in gc.get_objects())
    gc.disable()
    try:
        slice_symbols(program, ["shop.api:quote"])
        after = sum(isinstance(each, Demand) for each in gc.get_objects())
    finally:
        gc.enable()
    assert after == before


def test_the_cycle_collector_rests_and_goes_on() -> None:
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


# What holds for every slice.


@cache
def program_of(name: str) -> Program:
    return open_program(SPECIMENS[name].repo, cache=None)


@cache
def slice_of(name: str, target: str) -> Slice:
    return slice_symbols(program_of(name), [target])


def ids(found: Slice) -> set[str]:
    return {item.symbol.id for item in found.items}


any_target = pytest.mark.parametrize(("name", "target"), TARGETS)


@any_target
def test_slices_are_closed(name: str, target: str) -> None:
    found = slice_of(name, target)
    known = ids(found)
    for item in found.items:
        if item.is_target:
            assert item.symbol.id in found.targets
            continue
        assert item.reason[0].source in found.targets
        assert item.reason[-1].target == item.symbol.id
        for step, following in zip(item.reason, item.reason[1:], strict=False):
            assert step.target == following.source
        assert {step.source for step in item.reason} <= known


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_the_distance_is_the_length_of_the_reason(name: str, target: str) -> None:
    for item in slice_of(name, target).items:
        assert item.distance == len(item.reason)


@given(st.sampled_from(TARGETS), st.integers(0, 8), st.integers(0, 8))
def test_slices_grow_with_depth(each: tuple[str, str], one: int, other: int) -> None:
    name, target = each
    shallow, deep = sorted((one, other))
    small = slice_symbols(program_of(name), [target], depth=shallow)
    large = slice_symbols(program_of(name), [target], depth=deep)
    assert ids(small) <= ids(large) <= ids(slice_of(name, target))
    # A class that something kept stands in keeps its header: one step further.
    for item in small.items:
        assert item.distance <= shallow or item.reason[-1].evidence == "encloses"
        assert len([step for step in item.reason if step.evidence != "encloses"]) <= shallow


@given(st.data(), st.sampled_from(sorted(SPECIMENS)))
def test_the_slice_of_several_targets_has_that_of_each(data: st.DataObject, name: str) -> None:
    known = sorted(SPECIMENS[name].slices)
    targets = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
    together = slice_symbols(program_of(name), targets)
    assert together.targets == tuple(targets)
    for target in targets:
        assert ids(slice_of(name, target)) <= ids(together)


@any_target
def test_slicing_a_slice_gives_itself(name: str, target: str) -> None:
    found = slice_of(name, target)
    first = render(program_of(name), found, format="tree")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(first.files, Path(folder) / "repo")
        program = open_program(Path(folder) / "repo", cache=None)
        again = slice_symbols(program, [target])
        second = render(program, again, format="tree")
    assert ids(again) == ids(found)
    assert second == first


def test_specimens_are_what_these_tests_think_they_are() -> None:
    assert MISSED.keys() <= SPECIMENS.keys()
    assert SPECIMENS.keys() >= EXTRA
    assert all(isinstance(each, Specimen) for each in SPECIMENS.values())
    assert len(TARGETS) >= 200


@pytest.mark.parametrize(
    "body",
    [
        "    with guard:\n        while True: next(rows)\n    found()\n",
        "    with guard as held, open('x') as file:\n        while 1: next(rows)\n    found()\n",
        "    with guard:\n        return next(rows)\n    found()\n",
        "    if MYPY: found()\n",
        "    if guard.TYPE_CHECKING: found()\n",
    ],
)
def test_what_a_block_may_swallow_or_a_flag_of_ones_own_may_mean_runs(body: str) -> None:
    files = f"MYPY = len('x')\ndef found(): pass\ndef run(guard, rows):\n{body}"
    assert "found" in callees(files, "m:run")


@pytest.mark.parametrize(
    "body",
    [
        "    while True: next(rows)\n    found()\n",
        "    with open('x'):\n        while True: next(rows)\n    found()\n",
        "    if MYPY: found()\n",
        "    if typing.TYPE_CHECKING: found()\n",
    ],
)
def test_what_no_run_can_reach_is_not_called(body: str) -> None:
    files = f"import typing\nMYPY = False\ndef found(): pass\ndef run(guard, rows):\n{body}"
    assert "found" not in callees(files, "m:run")


@pytest.mark.parametrize(
    "between",
    [
        "import plug",
        "__import__('plug')",
        "import importlib; importlib.import_module('plug')",
        "def load():\n    import plug\nload()",
        "import pkg.sub",
        "import plug, sys; plug.look(sys.modules[__name__])",
    ],
)
def test_who_looks_at_a_module_that_is_still_running_sees_what_it_has_then(between: str) -> None:
    looking = "from tools import work\nwork()\n"
    files = (
        "# --- tools.py\n"
        "def old(): pass\n"
        "def new(): pass\n"
        f"work = old\n{between}\nwork = new\n"
        f"# --- plug.py\n{looking}# --- pkg/__init__.py\n{looking}# --- pkg/sub.py\n"
    )
    looker = "pkg" if "pkg" in between else "plug"
    assert (looker, "tools:old") in inner_calls(graph_of(files))


def test_who_looks_at_a_module_that_has_run_sees_what_is_left() -> None:
    files = (
        "# --- tools.py\nimport sys\ndef old(): pass\ndef new(): pass\nwork = old\nwork = new\n"
        "# --- m.py\nfrom tools import work\nwork()\n"
    )
    assert inner_calls(graph_of(files)) == {("m", "tools:new")}


_FILLED = """
class A:
    def m(self): pass
class B:
    def m(self): pass
def rows():
    yield B
def fill(classes):
    for each in classes: each().m()
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("set().union([B])", {"B"}),
        ("frozenset().union(rows())", {"B"}),
        ("set().union(*[[B]])", {"B"}),
        ("{A}.union({B})", {"A", "B"}),
        ("set.union({A}, [B])", {"A", "B"}),
        ("{A}.symmetric_difference([B])", {"A", "B"}),
        ("{B}.difference([A])", {"B"}),
        ("{}.fromkeys([B])", {"B"}),
        ("{}.fromkeys('ab', B).values()", {"B"}),
        ("{'a': A}.__ror__({'b': B}).values()", {"A", "B"}),
        ("[B].__rmul__(2)", {"B"}),
        ("[B].__reversed__()", {"B"}),
    ],
)
def test_what_methods_of_containers_make_has_the_elements_of_their_arguments(
    given: str, expected: set[str]
) -> None:
    found = callees(f"{_FILLED}\nfill({given})\n", "m:fill")
    assert {name.removesuffix(".m") for name in found if name.endswith(".m")} == expected


def test_sets_merged_in_a_loop_are_not_ever_more() -> None:
    files = f"{_FILLED}\nfound = set()\nwhile rows:\n    found = found.union([A], rows())\nfill(found)\n"
    assert {"A.m", "B.m"} <= callees(files, "m:fill")


def test_a_metaclass_that_makes_many_classes_has_each_of_them() -> None:
    """They are more than one place has room for: what they extend stands for those."""
    dialects = "".join(
        f"""
class D{n}(Dialect):
    class Maker(Maker):
        def run(self): return {n}
"""
        for n in range(14)
    )
    found = callees(
        f"""
# --- main.py
class Meta(type):
    def __new__(cls, name, bases, namespace):
        made = super().__new__(cls, name, bases, namespace)
        made.maker = made.__dict__.get("Maker", Maker)
        return made
class Maker:
    def run(self): return -1
class Dialect(metaclass=Meta):
    def start(self):
        return self.maker().run()
{dialects}
""",
        "main:Dialect.start",
    )
    assert {f"main:D{n}.Maker.run" for n in range(14)} <= found


def test_what_a_full_place_has_no_room_for_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same is stored there again and again: how much room there is, is asked once."""
    (tmp_path / "m.py").write_text("", encoding="utf-8")
    engine = Engine(open_program(tmp_path, cache=None), whole=True)
    cell = Cell()
    texts = frozenset(engine.intern(("S", str(number))) for number in range(30))
    engine.write(cell, texts)
    full = cell.values
    asked = 0
    room_for_whole = engine._room_for_whole

    def counting(*arguments: Any) -> frozenset[int]:
        nonlocal asked
        asked += 1
        return room_for_whole(*arguments)

    monkeypatch.setattr(engine, "_room_for_whole", counting)
    for _ in range(5):
        engine.write(cell, texts)
    assert cell.values is full
    assert asked == 1


def test_classes_that_a_full_place_has_no_room_for_are_told_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What stands for them is the same each time, once their bases are known."""
    classes = "\n".join(f"class C{number}(Base): pass" for number in range(30))
    rows = "\n".join(f"    KEPT.append(C{number})" for number in range(30))
    text = f"""
class Base:
    def run(self): pass
{classes}
KEPT = []
def fill():
{rows}
def fill_again():
{rows}
def f(): KEPT[0]().run()
fill(), fill_again()
"""
    asked: dict[tuple[Any, Any], int] = {}
    room_for_whole = Engine._room_for_whole

    def counting(self: Engine, known: Any, added: Any, place: Any) -> frozenset[int]:
        asked[known, added] = asked.get((known, added), 0) + 1
        return room_for_whole(self, known, added, place)

    monkeypatch.setattr(Engine, "_room_for_whole", counting)
    assert ("m:f", "m:Base.run") in inner_calls(graph_of(text))
    assert sum(asked.values()) <= len(asked) + 1, asked.values()


def test_names_that_many_pass_on_alike_are_passed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constructors of a schema hand all of its names on to the one above."""
    names = [f"name{number}" for number in range(20)]
    on = ", ".join(f"{name}=THING" for name in names)
    classes = "\n".join(
        f"class C{number}(Base):\n"
        f"    def __init__(self, other):\n"
        f"        super().__init__(other=other, {on})"
        for number in range(12)
    )
    made = "; ".join(f"C{number}({number}.5)" for number in range(12))
    text = f"""
class Thing:
    def run(self): pass
class Base:
    def __init__(self, **kwds): self.kwds = kwds
THING = Thing()
{classes}
def f():
    {made}
    C1(1).kwds["name7"].run()
f()
"""
    gathered: list[str] = []
    gather = Engine._gather

    def counting(self: Engine, container: int, key: Any, values: Any) -> None:
        gathered.append(key)
        gather(self, container, key, values)

    monkeypatch.setattr(Engine, "_gather", counting)
    assert ("m:f", "m:Thing.run") in inner_calls(graph_of(text))
    assert max(map(gathered.count, names)) <= 3, gathered  # it was once a class


def test_a_special_method_is_called_once_for_all_objects_that_find_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where hierarchies are wide, an operator met each of eight classes that share a method."""
    classes = "".join(f"class C{n}(Base):\n    pass\n" for n in range(8))
    made = ", ".join(f"C{n}()" for n in range(8))
    text = f"""
class Base:
    def __add__(self, other): return self.of(other)
    def __eq__(self, other): return True
    def __hash__(self): return 1
    def __iter__(self): return iter(())
    def of(self, other): return self
class Low(Base):
    def __add__(self, other): return other
{classes}
class Other:
    def __radd__(self, other): return other
def add(a, b): return a + b
def same(a, b): return a == b
def known(a, b): return a in {{b}}
def each(a): return [x for x in a]
def run():
    for a in ({made}):
        for b in ({made}):
            add(a, b), same(a, b), known(a, b), each(a), add(Low(), a), add(a, Other())
run()
"""
    called: dict[str, int] = {}
    call_function = Engine.call_function

    def counting(self: Engine, function: Any, *arguments: Any, **named: Any) -> Any:
        name = function.unit.qualname
        called[name] = called.get(name, 0) + 1
        return call_function(self, function, *arguments, **named)

    monkeypatch.setattr(Engine, "call_function", counting)
    edges = inner_calls(graph_of(text))
    assert {
        ("m:add", "m:Base.__add__"),
        ("m:add", "m:Low.__add__"),
        ("m:same", "m:Base.__eq__"),
        ("m:known", "m:Base.__eq__"),
        ("m:known", "m:Base.__hash__"),
        ("m:each", "m:Base.__iter__"),
    } <= edges
    alone = {name: count for name, count in called.items() if name.startswith("Base.__")}
    assert max(alone.values()) <= 8, alone  # it was 48 of the operator


def test_what_objects_have_of_a_base_outside_asks_the_class_of_each() -> None:
    text = """
from collections.abc import Mapping
class Mixin:
    __eq__ = Mapping.__eq__
class A(Mixin, Mapping):
    def __iter__(self): return iter(())
class B(Mixin, Mapping):
    def __iter__(self): return iter(())
def run():
    for a in (A(), B()):
        a == {}
"""
    assert {"A.__iter__", "B.__iter__"} <= callees(text, "m:run")


def test_a_class_more_below_wakes_only_those_who_ask_for_what_it_has(tmp_path: Path) -> None:
    """Whoever asks what subclasses have instead is evaluated again for that name alone, in a slice."""
    plain = "".join(f"class Plain{number}(Base):\n    other = 2\n" for number in range(20))
    (tmp_path / "m.py").write_text(
        f"class Base:\n    size = 1\n    def use(self):\n        return self.size\n{plain}"
        "class Own(Base):\n    size = []\n",
        encoding="utf-8",
    )
    program = open_program(tmp_path, cache=None)
    engine = Engine(program, whole=False)
    module = program.module("m")
    assert module is not None
    units = {unit.qualname: unit.index for unit in module.summary.units}
    use = engine.function(module, units["Base.use"])
    engine.facts_of(use)
    first = use.evaluations
    *plain_classes, own = [piece.unit for piece in module.summary.pieces if piece.kind == "class"]
    for unit in plain_classes:
        engine.facts_of(engine.function(module, unit))
    assert use.evaluations <= first + 1  # that `Base` has no bases is known by now
    before = use.evaluations
    engine.facts_of(engine.function(module, own))
    assert use.evaluations > before

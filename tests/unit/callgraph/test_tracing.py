"""The recorder in real processes, and the comparison with what it recorded."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.tracing import (
    Trace,
    gather,
    read_trace,
    recorder,
    recording_session,
    trace_document,
)
from depslice.callgraph.tracing.comparing import compare, comparison_document
from depslice.callgraph.tracing.kinds import CallKind
from depslice.callgraph.tracing.trace import Through, TraceError

MONITORED = sys.version_info >= (3, 12)

Traced = Callable[..., Trace]


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    """Write files, run one of them, and give the trace of it."""

    def run(files: str, script: str = "main.py", *, exclude: tuple[str, ...] = ()) -> Trace:
        write_files(files, tmp_path)
        program = open_program(tmp_path, cache=None, exclude=exclude)
        with recording_session(program.project) as session:
            done = subprocess.run(
                [sys.executable, str(tmp_path / script)],
                env=session.environment({**os.environ, "PYTHONPATH": str(tmp_path)}),
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.stderr == ""
            return gather(session, program, command=[script], exit_code=done.returncode)

    return run


def pairs(trace: Trace) -> set[tuple[str, str]]:
    return {(call.caller, call.callee) for call in trace.calls}


def through(trace: Trace) -> dict[str, Through]:
    """By callee: what stood before it. Only for callees with one caller."""
    return {call.callee.partition(":")[2]: call.through for call in trace.calls}


def test_the_recorder_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(recorder.__file__).read_bytes())
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    # The last is the file that it stands in for.
    assert imported <= {*sys.stdlib_module_names, "sitecustomize"}


def test_names_are_those_of_the_symbols(traced: Traced) -> None:
    trace = traced("""
# --- main.py
from pkg.mod import C
C().method()
# --- pkg/__init__.py
# --- pkg/mod.py
def deco(f):
    def wrapper(*args):
        return f(*args)
    return wrapper

def leaf(x=1):
    return x

class C:
    level = leaf()
    @property
    def prop(self):
        return leaf()
    @deco
    def method(self):
        class Inner:
            def go(self):
                return [leaf(y) for y in (1, 2)]
        self.prop
        return Inner().go(), (lambda: leaf())()
""")
    inner = "pkg.mod:C.method.<locals>"
    assert pairs(trace) == {
        ("pkg.mod:C", "pkg.mod:leaf"),
        ("pkg.mod:C", "pkg.mod:deco"),
        ("main", "pkg.mod:deco.<locals>.wrapper"),
        ("pkg.mod:deco.<locals>.wrapper", "pkg.mod:C.method"),
        ("pkg.mod:C.method", "pkg.mod:C.prop"),
        ("pkg.mod:C.prop", "pkg.mod:leaf"),
        ("pkg.mod:C.method", f"{inner}.Inner.go"),
        (f"{inner}.Inner.go", "pkg.mod:leaf"),
        ("pkg.mod:C.method", f"{inner}.<lambda>@20"),
        (f"{inner}.<lambda>@20", "pkg.mod:leaf"),
    }
    assert {"main", "pkg.mod", "pkg.mod:C", f"{inner}.Inner"} <= set(trace.executed)
    assert trace.unmapped == ()
    assert (trace.processes, trace.exit_code) == (1, 0)


def test_what_stands_between_is_told(traced: Traced) -> None:
    trace = traced("""
# --- main.py
import contextlib, re
def plain(): pass
def key(x): return x
def repl(m): return ""
def step(x): return x
class Sized:
    def __init__(self): pass
    def __len__(self): return 1
    def __add__(self, other): return 1
@contextlib.contextmanager
def managed():
    yield
def main():
    plain()
    sorted([1], key=key)
    re.sub("a", repl, "a")
    list(map(step, [1]))
    sized = Sized()
    len(sized)
    sized + 1
    with managed():
        pass
main()
""")
    assert through(trace) == {
        "main": Through.NOTHING,
        "plain": Through.NOTHING,
        "key": Through.C,
        "repl": Through.LIBRARY,
        "step": Through.C if MONITORED else Through.NOTHING,  # `list` is a class
        "Sized.__init__": Through.NOTHING,
        "Sized.__len__": Through.C,
        "Sized.__add__": Through.NOTHING,
        "managed": Through.LIBRARY,
    }
    assert {call.via_external for call in trace.calls if call.through is Through.C} == {True}


def test_one_site_may_call_both_ways(traced: Traced) -> None:
    trace = traced("""
# --- main.py
def plain(x): pass
def call(function, *args): function(*args)
call(len, [])
call(plain, 1)
""")
    # Before 3.13 it is known what has been called at a place, not what is being called there.
    known = sys.version_info >= (3, 13)
    assert through(trace)["plain"] is (Through.NOTHING if known else Through.C)


def test_code_that_is_left_out_is_foreign(traced: Traced) -> None:
    trace = traced(
        """
# --- main.py
import lib
def back(): return lib.leaf()
lib.call(back)
# --- lib.py
def call(f): return f()
def leaf(): pass
""",
        exclude=("main.py",),
    )
    assert through(trace) == {"leaf": Through.FOREIGN}
    assert "main" not in trace.executed


def test_threads_and_processes(traced: Traced) -> None:
    trace = traced("""
# --- main.py
import os, subprocess, sys, threading
def leaf(): pass
def in_thread(): leaf()
def in_fork(): leaf()
def in_child(): leaf()
if len(sys.argv) > 1:
    in_child()
    os._exit(0)
child = os.fork()
if not child:
    in_fork()
    os._exit(0)  # nothing at exit runs
os.waitpid(child, 0)
subprocess.run([sys.executable, __file__, "child"])
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
""")
    assert pairs(trace) == {
        ("main", "main:in_child"),
        ("main", "main:in_fork"),
        ("main:in_child", "main:leaf"),
        ("main:in_fork", "main:leaf"),
        ("main:in_thread", "main:leaf"),
    }
    assert trace.processes == 3


def test_generators_and_coroutines(traced: Traced) -> None:
    trace = traced("""
# --- main.py
import asyncio
def leaf(): pass
def numbers():
    yield leaf()
    yield leaf()
def use(given):
    return list(given)
async def inner(): leaf()
async def outer():
    await inner()
def main():
    use(numbers())
    made = outer()
    asyncio.run(made)
main()
""")
    known = {
        ("main", "main:main"),
        ("main:main", "main:use"),
        ("main:main", "main:outer"),
        ("main:numbers", "main:leaf"),
        ("main:outer", "main:inner"),
        ("main:inner", "main:leaf"),
    }
    # Python 3.11 shows a generator only when somebody runs it.
    maker = "main:main" if MONITORED else "main:use"
    assert pairs(trace) == {*known, (maker, "main:numbers")}
    resumed = {call.callee for call in trace.calls if call.resumed}
    assert resumed == (set() if MONITORED else {"main:numbers", "main:outer", "main:inner"})


@pytest.mark.skipif(not MONITORED, reason="sys.setprofile does not show who makes a generator")
def test_who_runs_a_generator_that_a_test_has_made_does_not_call_it(traced: Traced) -> None:
    trace = traced(
        """
# --- main.py
import lib
lib.use(lib.numbers())
# --- lib.py
def numbers(): yield 1
def use(given): return list(given)
class Iterable:
    def __iter__(self): yield 1
def implicit(): return list(Iterable())
implicit()
""",
        exclude=("main.py",),
    )
    assert pairs(trace) == {("lib", "lib:implicit"), ("lib:implicit", "lib:Iterable.__iter__")}


@pytest.mark.skipif(not MONITORED, reason="sys.setprofile knows no lines")
def test_lines_that_ran(traced: Traced) -> None:
    trace = traced("# --- main.py\ndef f(x):\n    if x:\n        return 1\n    return 2\nf(0)\n")
    assert trace.lines == {"main.py": (1, 2, 4, 5)}


def test_the_interpreters_own_start_up_file_still_runs(traced: Traced) -> None:
    trace = traced("""
# --- sitecustomize.py
import builtins
builtins.customized = True
# --- main.py
def f(): pass
if customized:
    f()
""")
    assert ("main", "main:f") in pairs(trace)


def test_a_failing_program_leaves_a_trace(traced: Traced) -> None:
    trace = traced("# --- main.py\ndef f():\n    raise SystemExit(3)\nf()\n")
    assert trace.exit_code == 3
    assert pairs(trace) == {("main", "main:f")}


def test_a_part_that_was_cut_off_is_read_up_to_there(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f(): pass\nf()\n", encoding="utf-8")
    program = open_program(tmp_path, cache=None)
    with recording_session(program.project) as session:
        with pytest.raises(TraceError, match="no Python"):
            gather(session, program, command=["x"], exit_code=0)
        (session.folder / "1-a.part").write_text(
            "v 3.13.0 monitoring\nc 0 0 1 0 <module>\nc 1 0 1 3 f\nc 2 0 9 3 gone\n"
            "e 0 1 2 0 2 3 - 0\ne 0 2 3 0 3 3 - 0\ne 0 1 2 0",
            encoding="utf-8",
        )
        trace = gather(session, program, command=["x"], exit_code=0)
    assert pairs(trace) == {("m", "m:f")}
    assert [(code.path, code.line, code.qualname) for code in trace.unmapped] == [
        ("m.py", 9, "gone")
    ]
    assert read_trace(json.dumps(trace_document(trace))) == trace


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{}",
        '{"schema": "depslice.graph/1"}',
        '{"schema": "depslice.trace/1"}',
        '{"schema": "depslice.trace/1", "command": 3}',
    ],
)
def test_what_is_no_trace_is_refused(text: str) -> None:
    with pytest.raises(TraceError, match="not a trace"):
        read_trace(text)


KINDS = """
# --- main.py
import lib
from lib import Base, Thing, renamed as other, deco
import functools

class Helper:
    @staticmethod
    def assist(): pass

class User(Base):
    def __init__(self):
        super().__init__()
        self.helper = Helper()
        self.deep = self
    def own(self): pass
    @property
    def prop(self): return 1
    @classmethod
    def make(cls): return cls()
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def __call__(self): pass
    def __getattr__(self, name): raise AttributeError(name)
    def all(self):
        self.own()
        self.inherited()
        self.helper.assist()
        self.deep.deep.last()
        self.prop
        getattr(self, "named")()
        for _ in self: pass
        with self: pass
        len(self)
        self()
        getattr(self, "missing", None)
    def last(self): pass
    def named(self): pass

def direct(): pass
def annotated(x: Thing): x.one()
def bare(x): x.two()
def back(): pass
def takes(function): function()
def element(things): things[0].three()
def result(): maker().four()
def maker(): return Thing()
@deco
def wrapped(): pass

def main():
    direct()
    other()
    lib.function()
    User.make().all()
    annotated(Thing())
    bare(Thing())
    takes(back)
    sorted([1], key=keyed)
    element([Thing()])
    result()
    local = Thing()
    local.five()
    {"a": chosen}["a"]()
    wrapped()
def keyed(x): return x
def chosen(): pass
main()
# --- lib.py
class Base:
    def __init__(self): pass
    def __init_subclass__(cls): pass
    def inherited(self): pass
class Thing:
    def one(self): pass
    def two(self): pass
    def three(self): pass
    def four(self): pass
    def five(self): pass
def function(): pass
def renamed(): pass
def deco(f):
    def wrapper():
        return f()
    return wrapper
"""


def test_kinds_of_calls(traced: Traced, tmp_path: Path) -> None:
    trace = traced(KINDS)
    program = open_program(tmp_path, cache=None)
    graph = build_graph(program)
    empty = type(graph)(symbols=graph.symbols)
    found = {
        (edge.caller.partition(":")[2], edge.callee.partition(":")[2]): edge.kind
        for edge in compare(program, empty, trace).missed
    }
    expected = {
        ("", "main"): CallKind.DIRECT,
        ("", "Base.__init_subclass__"): CallKind.CREATION,
        ("", "deco"): CallKind.DECORATOR,
        ("main", "direct"): CallKind.DIRECT,
        ("main", "renamed"): CallKind.DIRECT,
        ("main", "function"): CallKind.MODULE,
        ("main", "User.make"): CallKind.CLASS,
        ("User.make", "User.__init__"): CallKind.INHERITED_CONSTRUCTOR,
        ("User.__init__", "Base.__init__"): CallKind.SUPER,
        ("main", "User.all"): CallKind.RESULT,
        ("User.all", "User.own"): CallKind.OWN,
        ("User.all", "Base.inherited"): CallKind.INHERITED,
        ("User.all", "Helper.assist"): CallKind.SELF_ATTRIBUTE,
        ("User.all", "User.last"): CallKind.DEEPER,
        ("User.all", "User.prop"): CallKind.PROPERTY,
        ("User.all", "User.named"): CallKind.ALIAS,
        ("User.all", "User.__iter__"): CallKind.ITERATION,
        ("User.all", "User.__enter__"): CallKind.CONTEXT,
        ("User.all", "User.__exit__"): CallKind.CONTEXT,
        ("User.all", "User.__len__"): CallKind.OPERATOR,
        ("User.all", "User.__call__"): CallKind.INSTANCE,
        ("User.all", "User.__getattr__"): CallKind.FALLBACK,
        ("main", "annotated"): CallKind.DIRECT,
        ("annotated", "Thing.one"): CallKind.ANNOTATED,
        ("main", "bare"): CallKind.DIRECT,
        ("bare", "Thing.two"): CallKind.PARAMETER,
        ("main", "takes"): CallKind.DIRECT,
        ("takes", "back"): CallKind.CALLBACK_PARAMETER,
        ("main", "keyed"): CallKind.CALLBACK,
        ("main", "element"): CallKind.DIRECT,
        ("element", "Thing.three"): CallKind.ELEMENT,
        ("main", "result"): CallKind.DIRECT,
        ("result", "maker"): CallKind.DIRECT,
        ("result", "Thing.four"): CallKind.RESULT,
        ("main", "Thing.five"): CallKind.LOCAL,
        ("main", "chosen"): CallKind.ALIAS,
        ("main", "deco.<locals>.wrapper"): CallKind.WRAPPER,
        ("deco.<locals>.wrapper", "wrapped"): CallKind.WRAPPER,
    }
    assert found == expected


def test_scores(traced: Traced, tmp_path: Path) -> None:
    trace = traced("""
# --- main.py
class C:
    def __init__(self): pass
class Bare: pass
def deco(f): return f
@deco
def hidden(): pass
def unseen(): pass
def never(): unseen()
def main(argument):
    C(), Bare()
    globals()["neddih"[::-1]]()
    if argument:
        unseen()
main(0)
""")
    program = open_program(tmp_path, cache=None)
    comparison = compare(program, build_graph(program), trace)
    document = comparison_document(comparison)
    everything = document["scores"][-1]
    # main -> main, deco; main -> C.__init__, hidden.
    assert (everything["real"], everything["found"]) == (4, 3)
    assert everything["recall"] == 0.75
    # The edge of `never` is not covered, that to `unseen` is; no edge goes to a class.
    assert (everything["covered"], everything["seen"]) == (4, 3)
    assert everything["precision"] == 0.75
    assert everything["f1"] == 0.75
    if MONITORED:
        assert (everything["at_lines"], everything["seen_at_lines"]) == (3, 3)
    assert [(edge["callee"], edge["kind"]) for edge in document["missed"]] == [
        ("main:hidden", "alias, getattr, dispatch")
    ]
    assert [(edge["callee"], edge["line_ran"]) for edge in document["unseen"]] == [
        ("main:unseen", False if MONITORED else None)
    ]
    assert [edge["text"] for edge in document["unseen"]] == ["unseen()"]


def test_edges_only_through_foreign_code_ask_for_nothing(traced: Traced, tmp_path: Path) -> None:
    trace = traced(
        """
# --- main.py
import lib
def back(): return lib.leaf()
lib.call(back)
# --- lib.py
def call(f): return f()
def leaf(): pass
""",
        exclude=("main.py",),
    )
    program = open_program(tmp_path, cache=None, exclude=("main.py",))
    comparison = compare(program, build_graph(program), trace)
    assert comparison.through_foreign == 1
    assert comparison.scores[-1].real == 0
    assert comparison.scores[-1].recall is None


def test_a_trace_of_other_sources_says_so(traced: Traced, tmp_path: Path) -> None:
    trace = traced("# --- main.py\ndef f(): pass\nf()\n")
    (tmp_path / "main.py").write_text("def g(): pass\ng()\n", encoding="utf-8")
    program = open_program(tmp_path, cache=None)
    assert compare(program, build_graph(program), trace).unknown == 1

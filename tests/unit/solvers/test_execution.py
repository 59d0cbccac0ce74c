"""Answers executed on tests: what is told of them, and what none of them can do."""

from __future__ import annotations

import time

import pytest

from depslice.solvers.execution.executor import Executor
from depslice.solvers.execution.outcome import FEEDBACK_MOST, Execution
from depslice.solvers.problem import VisibleTest

TWO = (VisibleTest(text="assert f(1) == 2"), VisibleTest(text="assert f(2) == 4"))


def run(executor: Executor, code: str, **options: object) -> Execution:
    return executor.run(code, TWO, entry_point="f", **options)  # type: ignore[arg-type]


def test_an_answer_that_passes(executor: Executor) -> None:
    execution = run(executor, "def f(x): return 2 * x")
    assert (execution.passed, execution.fraction, execution.failure) == (True, 1.0, None)
    assert execution.feedback == "passed: assert f(1) == 2\npassed: assert f(2) == 4"


def test_an_answer_that_is_wrong_once(executor: Executor) -> None:
    execution = run(executor, "def f(x): return 2")
    assert (execution.passed, execution.fraction) == (False, 0.5)
    failure = execution.failure
    assert failure is not None
    assert (failure.kind, failure.actual, failure.expected) == ("wrong", "2", "4")
    assert "failed: assert f(2) == 4\n  the result is 2" in execution.feedback


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        ("def f(x)", "syntax", "SyntaxError"),
        ("def g(x): pass", "missing", "does not define f"),
        ("f = 3", "missing", "does not define f"),
        ("import nothing_like_it", "raises", "ModuleNotFoundError"),
        (
            "def f(x):\n    return y",
            "raises",
            "NameError: name 'y' is not defined (line 2: return y)",
        ),
        ("def f(x):\n    assert x > 1", "raises", "AssertionError"),
        ("def f(x): return f(x)", "raises", "RecursionError"),
        ("def f(x):\n    while True: pass", "time", "ran longer than"),
        ("import os\ndef f(x): os._exit(0)", "ended", "ended the process"),
        ("raise SystemExit", "ended", ""),
        ("import sys\ndef f(x): sys.exit('no')", "ended", "no"),
        ("def f(x): return [0] * 10**10", "memory", "MemoryError"),
        ("import os\ndef f(x): os.kill(os.getpid(), 11)", "ended", "SIGSEGV"),
        (
            "class E:\n    def __eq__(s, o): raise KeyboardInterrupt\ndef f(x): return E()",
            "wrong",
            "",
        ),
        ("import os\nos.kill(os.getppid(), 9)", "lost", "ended the process that watched it"),
    ],
)
def test_an_answer_that_fails(executor: Executor, code: str, kind: str, text: str) -> None:
    execution = run(executor, code, seconds=0.5)
    assert not execution.passed
    assert execution.fraction == 0
    assert execution.failure is not None
    assert execution.failure.kind == kind
    assert text in execution.failure.text
    assert run(executor, "def f(x): return 2 * x").passed  # and the next one is as well off


def test_an_answer_that_prints_a_gigabyte(executor: Executor) -> None:
    code = "def f(x):\n    for _ in range(1024): print('x' * (1 << 20))\n    return 2 * x"
    assert run(executor, code, seconds=5).passed  # nobody reads it


def test_what_an_answer_leaves_running_is_ended(executor: Executor) -> None:
    code = "import os, time\ndef f(x):\n    if not os.fork():\n        time.sleep(60)\n    return 2 * x"
    started = time.monotonic()
    assert run(executor, code).passed
    assert time.monotonic() - started < 30


def test_an_answer_cannot_forge_its_verdict(executor: Executor) -> None:
    code = (
        "import gc, mmap, os\n"
        "for each in gc.get_objects():\n"
        "    if isinstance(each, mmap.mmap):\n"
        '        each[:8] = (17).to_bytes(8, "big")\n'
        "        each[40:57] = b'{\"failure\": null}'\n"
        "os._exit(0)"
    )
    assert not run(executor, code).passed


def test_what_is_given_runs_before_the_answer(executor: Executor) -> None:
    code = "from __future__ import annotations\ndef f(x: Number) -> Number: return twice(x)"
    assert run(executor, code, given="def twice(x): return 2 * x").passed


def test_setup_runs_before_its_test(executor: Executor) -> None:
    test = VisibleTest(text="assert f(x) == 6", setup="x = 3")
    assert executor.run("def f(x): return 2 * x", [test], entry_point="f").passed


def test_without_tests_it_has_to_load(executor: Executor) -> None:
    good = executor.run("def f(x): pass", [], entry_point="f")
    bad = executor.run("def f(x", [], entry_point="f")
    assert (good.passed, good.fraction, bad.passed, bad.fraction) == (True, 1.0, False, 0.0)
    assert "there are no tests" in good.feedback
    assert "cannot be loaded" in bad.feedback


def test_feedback_is_cut(executor: Executor) -> None:
    tests = [VisibleTest(text=f"assert f({n}) == 'no'") for n in range(100)]
    execution = executor.run("def f(x): return x", tests, entry_point="f")
    assert len(execution.feedback) == FEEDBACK_MOST


def test_long_values_are_cut_and_bad_ones_do_no_harm(executor: Executor) -> None:
    long = run(executor, "def f(x): return 'x' * 10_000")
    assert len(long.failure.actual if long.failure and long.failure.actual else "") < 600
    bad = run(executor, "class B:\n    def __repr__(s): return 1\ndef f(x): return B()")
    assert bad.failure is not None
    assert bad.failure.actual == "<TypeError while it was shown>"


def tried(executor: Executor, code: str, test: str, **options: object) -> Execution:
    """``code``, which defines ``f``, on one test."""
    return executor.run(code, [VisibleTest(text=test)], entry_point="f", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        *("None", "True", "-3", "2 ** 5000", "0.1", "float('inf')", "1 + 2j", "'ä\\ud800'", "b'a'"),
        *(
            "[1, [2]]",
            "(1, (2,))",
            "{1, 2}",
            "{'a': {1: (2,)}}",
            "frozenset({1})",
            "range(1, 9, 2)",
        ),
        *("bytearray(b'a')", "collections.deque([1])", "collections.Counter('aab')", "int", "..."),
        *(
            "collections.OrderedDict(b=1, a=2)",
            "decimal.Decimal('1.50')",
            "datetime.date(2026, 1, 2)",
        ),
        *(
            "fractions.Fraction(1, 3)",
            "datetime.timedelta(1, 2)",
            "datetime.datetime(2026, 1, 2, 3)",
        ),
        *("{1: 2}.keys()", "uuid.UUID(int=5)", "slice(1, 2)", "NotImplemented"),
        *("pathlib.Path('a/b')", "pathlib.PureWindowsPath('c:/d')", "re.compile('a+', re.I)"),
        *("ipaddress.ip_address('::1')", "array.array('d', [1.5])", "memoryview(b'ab')"),
        *(
            "datetime.timezone.utc",
            "zoneinfo.ZoneInfo('Europe/Vienna')",
            "datetime.time(1, fold=1)",
        ),
        "datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))",
        *("types.MappingProxyType({1: [2]})", "collections.ChainMap({1: 2}, {3: 4})"),
    ],
)
def test_values_travel(executor: Executor, value: str) -> None:
    given = (
        "import array, collections, datetime, decimal, fractions, ipaddress, pathlib, re, types"
        ", uuid, zoneinfo"
    )
    test = f"assert f({value}) == {value} and type(f({value})) is type({value})"
    execution = tried(executor, "def f(x): return x", test, given=given)
    assert execution.passed, execution.feedback


NODES = """
class Node:
    def __init__(self, v): self.v = v; self.next = None
def f(n): return 1 + (f(n.next) if n.next else 0)
"""
POINTS = """
class P:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
def f(n): return P(n)
"""


EXTENDING = """
import enum
from typing import NamedTuple
class Pair(NamedTuple):
    a: int
    b: int
    def total(self): return self.a + self.b
class Level(enum.IntEnum):
    HIGH = 3
class Colour(str, enum.Enum):
    RED = "red"
class Stack(list):
    def push(self, x): self.append(x)
class Base(Exception): pass
class Missing(Base): pass
def fail(): raise Missing(1)
def f(n): return Pair(n, n + 1)
"""


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("def f(x): x.sort()", "x = [3, 1]; f(x); assert x == [1, 3]"),
        ("def f(x): x[0].append(1)", "y = []; x = [y]; f(x); assert y == [1] and x[0] is y"),
        ("def f(x): return x", "x = [1]; assert f(x) is x"),
        ("def f(x): x['a'] = x", "x = {}; f(x); assert x['a'] is x"),
        ("def f(x): return [x, x]", "a, b = f([1]); assert a is b"),
        ("def f(g): return [g(n) for n in (1, 2)]", "assert f(lambda n: n + 1) == [2, 3]"),
        ("def f(g): return g()", "assert f(lambda: f(lambda: 5)) == 5"),
        ("def f(n): yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
        ("def f(n): yield from range(n)", "i = f(3); assert next(i) == 0 and next(i) == 1"),
        ("def f(n): return map(str, range(n))", "assert ''.join(f(3)) == '012'"),
        ("def f(n): return lambda m: n + m", "assert f(1)(2) == 3"),
        ("async def f(n): return n", "import asyncio\nasync def g(): return await f(2)\nassert asyncio.run(g()) == 2"),
        ("def f(n): raise KeyError(n)", "try:\n    f(1)\nexcept LookupError as e:\n    assert e.args == (1,)\nelse:\n    assert False"),
        ("class E(ValueError): pass\ndef f(n): raise E('x')", "try:\n    f(1)\nexcept ValueError as e:\n    assert str(e) == 'x'"),
        (
            NODES,
            "a = Node(1); a.next = Node(2); assert f(a) == 2 and a.next.v == 2 and isinstance(a, Node)",
        ),
        (
            POINTS,
            "assert f(1) == f(1) and f(1) != f(2)",
        ),
        ("import math\ndef f(n): return n", "assert math.floor(f(1.5)) == 1"),
        ("LIMIT = 3\ndef f(n): return n", "assert f(3) == LIMIT"),
        ("def f(x): return sum(x)", "assert f(iter([1, 2])) == f(n for n in (1, 2)) == f(map(int, '12')) == 3"),
        ("def f(x): return x.a + x.b(2)", "class T:\n    a = 1\n    def b(self, n): return n\nassert f(T()) == 3"),
        ("def f(g): return g.__name__", "def named(): pass\nassert f(named) == 'named'"),
        ("s = set()\ndef f(g): s.add(g); return len(s)", "h = lambda: 1\nf(h)\nassert f(h) == 1"),
        ("from collections import defaultdict\ndef f(x): x[1].append(2); return x", "import collections\nd = collections.defaultdict(list)\nr = f(d)\nassert d == {1: [2]} and r[5] == []"),
        ("from collections import deque\ndef f(n): return deque([1, 2], maxlen=2)", "d = f(1); d.append(3); assert list(d) == [2, 3]"),
        (EXTENDING, "assert f(1) == (1, 2) and f(1).a == 1 and f(1).total() == 3 and isinstance(f(1), tuple)"),
        (EXTENDING, "assert Level.HIGH > 2 and Level.HIGH == 3 and Level.HIGH.name == 'HIGH' and Colour.RED == 'red'"),
        (EXTENDING, "s = Stack(); s.push(1); s.push(2); assert s == [1, 2] and len(s) == 2 and s[0] == 1"),
        (EXTENDING, "try:\n    fail()\nexcept Missing as e:\n    assert e.args == (1,)\nelse:\n    assert False"),
        (EXTENDING, "try:\n    fail()\nexcept Base:\n    pass"),
        ("import decimal\ndef f(x): return decimal.Decimal(x)", "import decimal\ntry:\n    f('x')\nexcept decimal.InvalidOperation:\n    pass"),
        ("def f(n): raise OSError(2, 'no')", "try:\n    f(1)\nexcept OSError as e:\n    assert e.errno == 2"),
        ("async def f(n): return n", "import asyncio\nassert asyncio.run(f(2)) == 2"),
        ("def f(n):\n    r = []\n    for _ in range(n): r = [r]\n    return r", "r = f(500)\nfor _ in range(500): [r] = r\nassert r == []"),
        ("from math import isclose\ndef f(n): return n", "assert isclose(f(0.5), 0.5)"),
        ("def f(n): return {(n, 1)}", "assert f(2) == {(2, 1)}"),
        (POINTS, "assert f(1) in [f(2), f(1)] and len([x for x in (f(1), f(2)) if x == f(1)]) == 1"),
        ("def helper(n): return 0\ndef f(n): return n", "assert helper(2) == 4"),
        ("def f(n): yield n; return 5", "import types\ng = f(1)\nassert isinstance(g, types.GeneratorType) and next(g) == 1\ntry:\n    next(g)\nexcept StopIteration as end:\n    assert end.value == 5"),
        ("def f():\n    x = yield 1\n    yield x", "g = f(); next(g); assert g.send([7]) == [7]; g.close(); assert list(g) == []"),
        ("import json\ndef f(t): return json.loads(t)", "import json\ntry:\n    f('[1,')\nexcept json.JSONDecodeError as e:\n    assert (e.pos, e.lineno) == (3, 1)"),
        ("class E(Exception):\n    def __init__(self, a, b): super().__init__(a); self.b = b\ndef f(): raise E(1, 2)", "try:\n    f()\nexcept Exception as e:\n    assert e.args == (1,) and e.b == 2"),
        ("def f(): return ValueError('no', 3)", "e = f(); assert isinstance(e, ValueError) and e.args == ('no', 3)"),
        ("class C:\n    def __enter__(self): return 1\n    def __exit__(self, kind, error, trace): return kind is KeyError\ndef f(): return C()", "with f() as x:\n    {}[x]"),
        ("class V:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return V(self.n + o.n)\n    def __neg__(self): return V(-self.n)\ndef f(n): return V(n)", "assert (f(1) + f(2)).n == 3 and (-f(1)).n == -1"),
        ("def f(x):\n    x.next = [x.v]\n    del x.v", "class N:\n    v = 0\nn = N(); n.v = 3; f(n); assert n.next == [3] and n.v == 0"),
        ("def f(a, b): return [a == b, a < b, a + b, a in {b: 1}, str(a), bool(a), len(a), 1 in a, callable(a)]", "class N:\n    def __init__(s, v): s.v = v\n    def __eq__(s, o): return s.v == o.v\n    def __hash__(s): return hash(s.v)\n    def __lt__(s, o): return s.v < o.v\n    def __add__(s, o): return s.v + o.v\n    def __str__(s): return 'N'\n    def __bool__(s): return False\n    def __len__(s): return 4\n    def __contains__(s, x): return x == 1\nassert f(N(1), N(1)) == [True, False, 2, True, 'N', False, 4, True, False]"),
        ("def f(p): return p.x + p[1] + p._replace(x=10).x, isinstance(p, tuple), p", "from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(1, 2)\nassert f(p)[:2] == (13, True) and f(p)[2] is p"),
        ("def f(visit):\n    out = []\n    visit(out)\n    return out", "assert f(lambda out: out.append(3)) == [3]"),
        ("def f(g):\n    try: g()\n    finally: pass", "class Mine(Exception): pass\ndef g(): raise Mine(4)\ntry:\n    f(g)\nexcept Mine as e:\n    assert e.args == (4,)\nelse:\n    assert False"),
        ("def f(n): return n + 1", "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    assert list(pool.map(f, range(50))) == list(range(1, 51))"),
    ],
)  # fmt: skip
def test_what_tests_do_with_an_answer(executor: Executor, code: str, test: str) -> None:
    execution = tried(executor, code, test, given="def helper(n): return 2 * n")
    assert execution.passed, execution.feedback


HIDDEN = "def check(candidate):\n    assert candidate(3) == 'hidden'\ncheck(f)"
FORGES = """
import os, socket
for n in range(3, 99):
    try: socket.socket(fileno=os.dup(n)).send(b'{"done": null}\\n')
    except OSError: pass
def f(x): pass
"""
WORD = f"WORD = bytes({[*b'hidden']}).decode()"  # never as one literal
LOOKS_AROUND = f"""
import gc, sys
{WORD}
def texts():
    todo, frame = gc.get_objects(), sys._getframe()
    while frame:
        todo += [*frame.f_locals.values(), *frame.f_globals.values(), *frame.f_code.co_consts]
        frame = frame.f_back
    return [t for t in todo if isinstance(t, str) and WORD in t and t != WORD]
def f(x): return WORD if texts() else 0
"""
READS_MEMORY = f"""
import os
{WORD}
def reads(name):
    try: return f'== {{WORD!r}}'.encode() in open(name, 'rb').read()
    except OSError: return False
def f(x):
    pids = [p for p in os.listdir('/proc') if p.isdigit()]
    seen = any(reads(f'/proc/{{p}}/{{n}}') for p in pids for n in ('cmdline', 'environ', 'mem'))
    return WORD if seen else 0
"""


@pytest.mark.parametrize(
    "code",
    [
        "class Any:\n    def __eq__(s, o): return True\ndef f(x): return Any()",
        "class Any(str):\n    def __eq__(s, o): return True\ndef f(x): return Any()",
        "import unittest.mock as m\nm.ANY.__qualname__ = 'ANY'\nm.ANY.__module__ = 'unittest.mock'\ndef f(x): return m.ANY",
        "class C:\n    def __getattr__(s, n): raise StopIteration\n    def __str__(s): raise StopIteration\ndef f(x): return C()",
        "class C:\n    def __enter__(s): pass\n    def __exit__(s, *e): return True\ndef f(x): return C()",
        "import builtins\nbuiltins.exec = lambda *a: None\ndef f(x): pass",
        "import builtins\nbuiltins.compile = lambda *a, **k: None\ndef f(x): pass",
        "import ast\nast.parse = lambda *a, **k: None\ndef f(x): pass",
        "import json\njson.dumps = lambda o, d=json.dumps: d({'failure': None})\ndef f(x): pass",
        "import json\njson.dumps = lambda o: '{\"done\": null}'\ndef f(x): pass",
        "import builtins\nbuiltins.AssertionError = ValueError\ndef f(x): pass",
        "import os\ndef f(x): os._exit(0)",
        "import sys\ndef f(x): sys.exit(0)",
        FORGES,
        LOOKS_AROUND,
        READS_MEMORY,
    ],
)
def test_no_answer_reads_its_tests_or_forges_their_verdict(executor: Executor, code: str) -> None:
    """Each of them passes where an answer and its tests share a process."""
    assert not tried(executor, code, HIDDEN, seconds=5).passed
    assert tried(executor, "def f(x): return 'hidden'", HIDDEN).passed


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("def abs(x): return 0\ndef f(x): return 7", "assert abs(f(1) - 1) < 1"),
        ("def all(x): return True\ndef f(x): return 7", "assert all([f(1) == 1])"),
        ("class math: isclose = lambda *a: True\ndef f(x): return 7", "assert math.isclose(f(1), 1)"),
        ("class Any:\n    def __sub__(s, o): return 0\ndef f(x): return Any()", "assert f(1) - 1 < 1"),
        ("class Any:\n    def __lt__(s, o): return True\ndef f(x): return Any()", "assert f(1) < 1"),
        (
            "def f(x): raise StopIteration",
            "assert all(map(lambda c: f(c) == c, [1, 2]))",
        ),
        ("class Any:\n    def __contains__(s, o): return True\ndef f(x): return Any()", "assert 1 in f(1)"),
    ],
)  # fmt: skip
def test_no_answer_says_what_its_test_means(executor: Executor, code: str, test: str) -> None:
    assert not tried(executor, code, test).passed


def test_nothing_is_left_for_a_later_program_or_test(executor: Executor) -> None:
    code = (
        "import os, tempfile\n"
        "def f(x):\n"
        "    seen = 0\n"
        "    for folder in ('/tmp', '/dev/shm', '.', os.path.expanduser('~')):\n"
        "        path = os.path.join(folder, 'depslice-left')\n"
        "        seen += os.path.exists(path)\n"
        "        try: open(path, 'w').close()\n"
        "        except OSError: pass\n"
        "    return seen"
    )
    assert tried(executor, code, "assert f(1) == 0").passed
    assert tried(executor, code, "assert f(1) == 0").passed


SIGNING = """
import os, sys
SIGNED = '''
import os, sys
frame = sys._getframe()
while frame and 'link' not in frame.f_locals:
    frame = frame.f_back
frame.f_locals['link'].send({'done': None})
os._exit(0)
'''
"""


@pytest.mark.parametrize(
    ("code", "setup", "given"),
    [
        ("m.side_effect = exec; m(SIGNED)", "from unittest.mock import Mock", "Mock()"),
        ("m.append(SIGNED); m.sort(key=exec)", "class Stack(list): pass", "Stack()"),
        ("m([SIGNED], exec)", "", "lambda xs, key: sorted(xs, key=key)"),
        ("m([SIGNED], key=exec)", "from functools import partial", "partial(sorted, key=len)"),
        ("m(os.system, 'true'); m(getattr, m, '__globals__')", "", "lambda f, *a: f(*a)"),
        ("return m(type, 'X', (), {'__eq__': lambda s, o: True})()", "", "lambda f, *a: f(*a)"),
    ],
)
def test_what_tests_are_passed_runs_no_code_of_the_answer_there(
    executor: Executor, code: str, setup: str, given: str
) -> None:
    test = VisibleTest(text=f"assert f({given}) == 'secret'", setup=setup)
    answer = f"{SIGNING}\ndef f(m): {code}"
    assert not executor.run(answer, [test], entry_point="f", seconds=5).passed


def test_harmless_functions_are_themselves(executor: Executor) -> None:
    code = (
        "import math, collections\ndef f(): return [math.sqrt, len, collections.Counter, KeyError]"
    )
    test = "import math, collections\nassert f() == [math.sqrt, len, collections.Counter, KeyError]"
    assert tried(executor, code, test).passed


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    spend(0.9)\n    return 1",
        "def f(x):\n    stop(SIGSTOP)\n    spend(1.5)\n    stop(SIGCONT)\n    return 1",
    ],
)
def test_cpu_time_counts_when_the_answer_comes(executor: Executor, code: str) -> None:
    given = (
        "import os, time\nfrom signal import SIGCONT, SIGSTOP\n"
        "def stop(how): os.kill(os.getppid(), how)\n"
        "def spend(seconds):\n    until = time.process_time() + seconds\n"
        "    while time.process_time() < until: pass\n"
    )
    failure = tried(executor, given + code, "assert f(1) == 1", seconds=0.5).failure
    assert failure is not None
    assert failure.kind == "time"


def test_processes_that_it_starts_count(executor: Executor) -> None:
    code = (
        "import os\n"
        "def f(x):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        while True: pass\n"
        "    os.waitpid(pid, 0)\n"
    )
    failure = tried(executor, code, "f(1)", seconds=0.5).failure
    assert failure is not None
    assert failure.kind == "time"


GIVEN_CLASS = """
class Node:
    def __init__(self, v, next=None): self.v, self.next = v, next
def chain(*values):
    return Node(values[0], chain(*values[1:])) if values else None
"""


def test_classes_of_the_problem_are_where_the_answer_is(executor: Executor) -> None:
    code = "def f(n): return Node(n.v + 1, f(n.next) if n.next else None)"
    test = "r = f(chain(1, 2))\nassert isinstance(r, Node) and (r.v, r.next.v) == (2, 3)"
    execution = tried(executor, code, test, given=GIVEN_CLASS)
    assert execution.passed, execution.feedback
    fooling = f"{code}\ndef chain(*values): return None"
    assert tried(executor, fooling, test, given=GIVEN_CLASS).passed  # the problem's, as it was


SPINS = """
import time
def f(x):
    started = time.process_time()
    while time.process_time() < started + 0.1: pass
"""
DRIPS = """
import sys, time
f = sys._getframe()
while 'link' not in f.f_locals: f = f.f_back
end = f.f_locals['link']._end
while True: end.send(b' '); time.sleep(0.05)
"""


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("def f(x):\n    while True: yield 1", "n = 0\nfor _ in f(1): n += 1"),
        ("def f(g):\n    while True: g()", "f(lambda: None)"),
        (SPINS, "for _ in range(60): f(1)"),
        (DRIPS, "f(1)"),
        ("import time\ndef f(x): time.sleep(100)", "f(1)"),
    ],
)
def test_limits_hold_for_all_that_is_asked(executor: Executor, code: str, test: str) -> None:
    started = time.monotonic()
    failure = tried(executor, code, test, seconds=0.5).failure
    assert failure is not None
    assert failure.kind in ("time", "raises")
    assert time.monotonic() - started < 40


def test_messages_that_nobody_can_read(executor: Executor) -> None:
    """What an answer says in the place of what it is asked to."""
    sends = (
        "import sys\nl = sys._getframe()\n"
        "while 'link' not in l.f_locals: l = l.f_back\n"
        "l.f_locals['link']._end.sendall({text} + b'\\n')\ndef f(x): return 2"
    )
    for text in (
        *("b'{'", "b'[]'", "b'\\xff' * 1000", "b'[' * 100000", "b'{\"names\": 5}'"),
        "b'{\"names\": {\"f\": ' + b'[' * 980 + b']' * 980 + b'}}'",
        'b\'{"names": ["f"]}\\n{"value": 2, "changed": {"7": []}}\'',
        'b\'{"names": ["f"]}\\n{"callback": 99, "what": "call"}\'',
    ):
        assert not tried(executor, sends.format(text=text), "assert f(1) == 3").passed
    assert tried(executor, "def f(x): return 3", "assert f(1) == 3").passed


def test_a_result_that_is_too_large_is_told(executor: Executor) -> None:
    failure = tried(executor, "def f(x): return 'x' * (70 << 20)", "f(1)", seconds=5).failure
    assert failure is not None
    assert "larger than 64 MiB" in failure.text


def test_a_test_itself_has_limits(executor: Executor) -> None:
    failure = tried(executor, "def f(x): pass", "while True: pass", seconds=0.5).failure
    assert failure is not None
    assert failure.kind == "time"
    assert run(executor, "def f(x): return 2 * x").passed

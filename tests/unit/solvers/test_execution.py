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
            "raises",
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

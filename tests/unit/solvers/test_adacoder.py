"""AdaCoder, step by step as in section IV and algorithms 1 to 3."""

from __future__ import annotations

from dataclasses import replace

import pytest

from depslice.solvers.execution.executor import Executor
from depslice.solvers.execution.outcome import Failure
from depslice.solvers.methods.adacoder import AdaCoder
from depslice.solvers.methods.adacoder.debugging import (
    imported,
    repaired,
    with_even_indentation,
    with_indented_blocks,
    without_stray_blocks,
    without_truncated_end,
)
from solving import FIRST, MIDDLE, OVERFITTED, RIGHT, TASK, Conversation, block

PLAN = "1. Sort the numbers.\n2. Take the middle."
UNIMPORTED = (
    "def middle(numbers: List[int]):\n    return nsmallest(len(numbers) // 2 + 1, numbers)[-1]"
)


def test_phase_1_has_no_plan_and_ends_with_code_that_passes(executor: Executor) -> None:
    talk = Conversation(script=[("write", block(RIGHT))], executor=executor)
    assert talk.solve(AdaCoder()) == RIGHT


def test_a_plan_comes_after_a_failure_and_never_before(executor: Executor) -> None:
    talk = Conversation(
        script=[("write", block(FIRST)), ("plan", PLAN), ("follow", block(RIGHT))],
        executor=executor,
    )
    assert talk.solve(AdaCoder()) == RIGHT
    assert "assert middle([3, 1, 2]) == 2\nthe result is 3" in talk.prompt(1)  # task and error
    assert PLAN in talk.prompt(2)


def test_the_evaluator_has_the_sample_tests_only(executor: Executor) -> None:
    talk = Conversation(script=[("write", block(OVERFITTED))], executor=executor)
    assert talk.solve(AdaCoder()) == OVERFITTED
    assert not executor.run(
        OVERFITTED, [replace(MIDDLE.visible[0], text=TASK.hidden.program)], entry_point="middle"
    ).passed
    assert talk.bench.judged == 0


def test_after_t_plans_the_answer_is_the_last_debugged_code(executor: Executor) -> None:
    talk = Conversation(
        script=[
            ("write", block(FIRST)),
            *[("plan", PLAN), ("follow", block(FIRST))],
            *[("plan", PLAN), ("follow", block("def middle(numbers):\nreturn 0"))],
        ],
        executor=executor,
    )
    assert talk.solve(AdaCoder(iterations=2)) == "def middle(numbers):\n    return 0"


def test_code_repaired_by_rule_is_evaluated_again_before_any_plan(executor: Executor) -> None:
    broken = RIGHT.replace("    return", "return")
    talk = Conversation(script=[("write", block(broken))], executor=executor)
    assert talk.solve(AdaCoder()) == RIGHT
    assert talk.executed == [broken, RIGHT]


def test_missing_imports_are_added_one_by_one(executor: Executor) -> None:
    talk = Conversation(script=[("write", block(UNIMPORTED))], executor=executor)
    answer = talk.solve(AdaCoder())
    assert answer.splitlines()[:2] == ["from heapq import nsmallest", "from typing import List"]
    assert len(talk.executed) == 3


def test_the_ablation_without_planner(executor: Executor) -> None:
    talk = Conversation(
        script=[("write", block(FIRST)), ("write", block(RIGHT))], executor=executor
    )
    assert talk.solve(AdaCoder(planner=False)) == RIGHT


def test_the_ablation_without_debugger(executor: Executor) -> None:
    talk = Conversation(
        script=[("write", block(UNIMPORTED)), ("plan", PLAN), ("follow", block(RIGHT))],
        executor=executor,
    )
    assert talk.solve(AdaCoder(debugger=False)) == RIGHT
    assert "NameError: name 'List' is not defined" in talk.prompt(1)


# --- algorithm 3, rule by rule


def test_indentation_becomes_a_multiple_of_four() -> None:
    assert with_even_indentation("def f(x):\n  if x:\n     return 1\n  return 2") == (
        "def f(x):\n    if x:\n        return 1\n    return 2"
    )
    assert with_even_indentation("def f():\n\treturn 1") == "def f():\n    return 1"
    assert repaired("  def f():\n      return 1") == "def f():\n    return 1"


def test_a_line_after_a_colon_is_indented_if_it_is_not() -> None:
    assert with_indented_blocks("def f(x):\nif x:  # so\n\nreturn 1") == (
        "def f(x):\n    if x:  # so\n\n        return 1"
    )
    assert with_indented_blocks("def f(x):\n    return 1") == "def f(x):\n    return 1"


def test_stray_blocks_are_removed() -> None:
    said = (
        "Sure, here is it:\n```python\nimport math\n\ndef f(x):\n    return math.pi\n```\nIt is pi."
    )
    assert without_stray_blocks(said) == "import math\n\ndef f(x):\n    return math.pi"


def test_a_truncated_end_is_dropped_while_more_than_one_function_is_left() -> None:
    whole = "def f():\n    return 1\n\n"
    assert without_truncated_end(whole + "def g():\n    return (2 +") == whole.rstrip("\n") + "\n"
    alone = "def f():\n    return (2 +"
    assert without_truncated_end(alone) == alone


def test_code_that_parses_and_does_not_compile_is_repaired() -> None:
    stray = "def f():\n    return 1\n\ndef g():\n    return 2\nreturn f()"
    assert repaired(stray) == "def f():\n    return 1\n\ndef g():\n    return 2"


@pytest.mark.parametrize("code", [RIGHT, FIRST, "x = '''\n a\n   b'''", ""])
def test_code_that_compiles_stays_as_it_is(code: str) -> None:
    assert repaired(code) == code


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("name 'Dict' is not defined", "from typing import Dict"),
        ("name 'math' is not defined", "import math"),
        ("name 'Counter' is not defined", "from collections import Counter"),
        ("name 'reduce' is not defined", "from functools import reduce"),
        ("name 'nobody' is not defined", None),
    ],
)
def test_the_table_of_modules_and_their_names(message: str, line: str | None) -> None:
    found = imported("x = 1", Failure(kind="raises", type="NameError", message=message))
    assert found == (f"{line}\nx = 1" if line else None)


def test_an_import_goes_behind_those_of_the_future() -> None:
    code = "from __future__ import annotations\nfrom __future__ import division\n\nx = math.pi"
    missing = Failure(kind="raises", type="NameError", message="name 'math' is not defined")
    found = imported(code, missing)
    assert found is not None
    assert found.splitlines()[2:] == ["import math", "", "x = math.pi"]
    compile(found, "found", "exec")


def test_only_a_name_error_asks_for_an_import_and_only_once() -> None:
    wrong = Failure(kind="raises", type="TypeError", message="name 'math' is not defined")
    assert imported("x", wrong) is None
    again = Failure(kind="raises", type="NameError", message="name 'math' is not defined")
    assert imported("import math\nx", again) is None

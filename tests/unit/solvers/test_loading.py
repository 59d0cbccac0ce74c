"""Problems out of files, and what is said of broken ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from depslice.solvers.execution.executor import Executor
from depslice.solvers.loading import load_tasks
from depslice.solvers.loading.examples import asserts_of, doctests_of
from depslice.solvers.problem import Problem, ProblemError, Task, VisibleTest

ADD: dict[str, Any] = {
    "task_id": "Test/0",
    "prompt": 'import math\n\ndef add(a, b):\n    """Adds.\n    >>> add(1, 2)\n    3\n    """\n',
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(2, 2) == 4\n",
    "example_test": "def check(add):\n    assert add(1, 2) == 3\ncheck(add)\n",
}
PLUS = {k: v for k, v in ADD.items() if k != "test"} | {
    "base_input": [[1, 2]],
    "plus_input": [[0.1, 0.2], [[1], [2]]],
    "atol": 0,
}
MBPP: dict[str, Any] = {
    "task_id": 11,
    "text": "Remove the first and last occurrence of a character.",
    "code": "def remove_Occ(s,ch):\n    return s.replace(ch, '')",
    "test_setup_code": "import math",
    "test_list": ["assert remove_Occ('hello','l') == 'heo'", "assert remove_Occ('a','a') == ''"],
    "challenge_test_list": ["assert remove_Occ('','l') == ''"],
}


def written(path: Path, *lines: object) -> Path:
    text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def only(path: Path, fields: object) -> Task:
    [task] = load_tasks(written(path, fields))
    return task


def holds(executor: Executor, task: Task, code: str) -> bool:
    tests = [VisibleTest(text=task.hidden.program)]
    problem = task.problem
    return executor.run(code, tests, entry_point=problem.entry_point, given=problem.given).passed


def test_a_line_of_humaneval(tmp_path: Path, executor: Executor) -> None:
    task = only(tmp_path / "h.jsonl", ADD)
    problem = task.problem
    assert (problem.id, problem.entry_point, problem.given) == ("Test/0", "add", "import math")
    assert problem.visible == (VisibleTest(text="assert add(1, 2) == 3"),)
    assert "check" not in json.dumps(problem.document())  # nothing hidden in what is shown
    assert "return" not in json.dumps(problem.document())
    assert holds(executor, task, "def add(a, b):\n    return a + b")
    assert not holds(executor, task, "def add(a, b):\n    return 3")


def test_without_example_tests_the_docstring_has_them(tmp_path: Path) -> None:
    fields = {key: value for key, value in ADD.items() if key != "example_test"}
    assert only(tmp_path / "h.jsonl", fields).problem.visible == (
        VisibleTest(text="assert add(1, 2) == 3"),
    )


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(ADD).encode() + b"\n\n"))
    assert [task.problem.id for task in load_tasks(path)] == ["Test/0"]


def test_a_line_of_evalplus(tmp_path: Path, executor: Executor) -> None:
    fields = {k: v for k, v in ADD.items() if k != "test"}
    more = {"base_input": [[1, 2]], "plus_input": [[0.1, 0.2], [[1], [2]]], "atol": 1e-6}
    task = only(tmp_path / "e.jsonl", {**fields, **more})
    assert holds(executor, task, "def add(a, b):\n    return a + b")
    assert holds(executor, task, "def add(a, b):\n    return b + a if a != [1] else [1, 2]")
    assert not holds(executor, task, "def add(a, b):\n    return 3")


def test_inputs_that_are_no_numbers_in_json(tmp_path: Path, executor: Executor) -> None:
    fields = {k: v for k, v in ADD.items() if k != "test"}
    task = only(tmp_path / "e.jsonl", {**fields, "base_input": [[float("inf"), float("nan")]]})
    assert holds(executor, task, "def add(a, b):\n    return a + b")


def test_a_comparison_shares_no_names_with_an_answer(tmp_path: Path, executor: Executor) -> None:
    fields = {k: v for k, v in ADD.items() if k != "test"}
    task = only(tmp_path / "e.jsonl", {**fields, "base_input": [[1, 2]]})
    assert holds(executor, task, "def close(a): return a\ndef add(a, b): return close(a) + b")
    assert not holds(executor, task, "def add(a, b): return copy.copy(a) + b")


def test_a_line_of_mbpp_plus_as_evalplus_has_it(tmp_path: Path, executor: Executor) -> None:
    fields = {
        "task_id": "Mbpp/2",
        "prompt": '"""\nFind the shared elements.\nassert set(shared((3, 4), (4, 5))) == {4}\n"""\n',
        "entry_point": "shared",
        "canonical_solution": "\ndef shared(one, two):\n    return set(one) & set(two)\n",
        "base_input": [[[3, 4], [4, 5]], [[], []]],
        "plus_input": [[[1], [1]]],
        "atol": 0,
    }
    task = only(tmp_path / "p.jsonl", fields)
    problem = task.problem
    assert problem.specification == (
        'def shared(one, two):\n    """Find the shared elements.\n\n'
        '    assert set(shared((3, 4), (4, 5))) == {4}\n    """'
    )
    assert [each.text for each in problem.visible] == ["assert set(shared((3, 4), (4, 5))) == {4}"]
    assert holds(executor, task, "def shared(a, b):\n    return {x for x in a if x in b}")
    assert not holds(executor, task, "def shared(a, b):\n    return {4}")


def test_a_line_of_mbpp_plus_as_a_program(tmp_path: Path, executor: Executor) -> None:
    more = {"test": "for each in ['bb', 'b']:\n    assert remove_Occ(each, 'b') == ''"}
    task = only(tmp_path / "m.jsonl", {**MBPP, **more})
    listed = "def remove_Occ(s, ch):\n    return {'hello': 'heo'}.get(s, '')"
    assert holds(executor, task, listed)
    twice = "def remove_Occ(s, ch):\n    return {'hello': 'heo', 'bb': 'b'}.get(s, '')"
    assert not holds(executor, task, twice)


def test_a_line_of_mbpp(tmp_path: Path, executor: Executor) -> None:
    task = only(tmp_path / "m.jsonl", MBPP)
    problem = task.problem
    assert (problem.id, problem.entry_point) == ("MBPP/11", "remove_Occ")
    assert problem.specification.startswith("def remove_Occ(s, ch):\n")
    assert "replace" not in json.dumps(problem.document())
    assert [test.text for test in problem.visible] == ["assert remove_Occ('hello', 'l') == 'heo'"]
    assert problem.visible[0].setup == "import math"
    right = "def remove_Occ(s, ch):\n    a = s.replace(ch, '', 1)[::-1]\n    return a.replace(ch, '', 1)[::-1]"
    assert holds(executor, task, right)
    assert not holds(executor, task, "def remove_Occ(s, ch):\n    return 'heo'")


def test_a_problem_travels_as_json(tmp_path: Path) -> None:
    problem = only(tmp_path / "h.jsonl", ADD).problem
    assert Problem.of(json.loads(json.dumps(problem.document()))) == problem


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "h.jsonl:2: not JSON"),
        ("[]", "h.jsonl:2: not a JSON object"),
        ("{}", "h.jsonl:2: neither HumanEval's fields"),
        ({**ADD, "task_id": 3}, "h.jsonl:2: 'task_id' is not a string"),
        ({**ADD, "prompt": "def add("}, "h.jsonl:2: the prompt is not Python"),
        ({**ADD, "entry_point": "sub"}, "does not define the entry point 'sub'"),
        ({**ADD, "entry_point": "a b"}, "is no name"),
        ({**ADD, "example_test": "def x("}, "h.jsonl:2: the example test is not Python"),
        ({**ADD, "task_id": "Test/1", "test": None}, "h.jsonl:2: 'test' is not a string"),
        (ADD, "h.jsonl:2: Test/0 was there before"),
        ({**MBPP, "code": "def f(:"}, "'code' is not Python"),
        ({**MBPP, "test_list": []}, "h.jsonl:2: 'test_list' is empty"),
        ({**MBPP, "test_list": "x"}, "h.jsonl:2: 'test_list' is not a list of strings"),
        ({**MBPP, "test_list": ["assert True"]}, "the first test calls no function"),
        ({**MBPP, "test_list": [*MBPP["test_list"], "assert f(="]}, "'test_list' is not Python"),
        ({**ADD, "task_id": "Test/1", "test": "def check("}, "'test' is not Python"),
        ({**ADD, "task_id": "Test/1", "test": "x = 1"}, "'test' does not define check()"),
        ({**ADD, "prompt": "x = " + "-" * 100_000 + "1"}, "nests deeper than Python reads"),
        ({**ADD, "prompt": "x = '\0'"}, "the prompt is not Python"),
        ({"repo": "x\0", "harness": "y"}, "h.jsonl:2: 'repo' is no name of a file"),
        ({"repo": "x", "harness": "\ud800"}, "h.jsonl:2: 'harness' is no name of a file"),
        ({**PLUS, "task_id": "Test/1", "atol": "x"}, "'atol' is not a number"),
        ({**PLUS, "task_id": "Test/1", "base_input": [], "plus_input": []}, "there are no inputs"),
        ({**PLUS, "task_id": "Test/1", "canonical_solution": "    return ("}, "is not Python"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(ProblemError) as caught:
        load_tasks(written(tmp_path / "h.jsonl", ADD, line))
    assert message in caught.value.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="no such file"):
        load_tasks(tmp_path / "none.jsonl")
    (tmp_path / "bad.jsonl.gz").write_bytes(b"not compressed")
    with pytest.raises(ProblemError, match="cannot read"):
        load_tasks(tmp_path / "bad.jsonl.gz")
    with pytest.raises(ProblemError, match="has no problems"):
        load_tasks(written(tmp_path / "empty.jsonl", ""))


def test_examples_with_setup_between_them() -> None:
    found = asserts_of(
        "def check(f):\n    x = f(1)\n    assert x == 2\n    assert x\ncheck(g)", "g"
    )
    assert [(each.setup, each.text) for each in found] == [
        ("x = g(1)", "assert x == 2"),
        ("x = g(1)", "assert x"),
    ]


def test_a_damaged_example_is_read_from_its_last_function() -> None:
    text = "    return 1 if x else 2\n  x\ndef check(f):\n    assert f(1)\ncheck(f)"
    assert [each.text for each in asserts_of(text, "f")] == ["assert f(1)"]


def test_doctests_whose_outcome_is_no_value_are_no_tests() -> None:
    text = ">>> x = 3\n>>> f(x)\n4\n>>> f('a')\nTraceback (most recent call last):\nTypeError\n>>> f(0)\nsome words\n"
    assert [(e.setup, e.text) for e in doctests_of(text)] == [("x = 3", "assert f(x) == 4")]


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        (">>> f(1) == 2\nTrue", "assert (f(1) == 2) == True"),
        (">>> 3 in f(1)\nTrue", "assert (3 in f(1)) == True"),
        (">>> f(0)  # nothing\n0", "assert f(0) == 0"),
        (">>> f(0)  # doctest: +ELLIPSIS\n[1]", "assert f(0) == [1]"),
        (">>> f('a')\n'b'", "assert f('a') == 'b'"),
        (">>> f(1) or 4\n4", "assert (f(1) or 4) == 4"),
        (">>> f(1)\nPoint(x=1)", "assert repr(f(1)) == 'Point(x=1)'"),
        (">>> f(1)  # doctest: +SKIP\n7\n>>> f(2)\n8", "assert f(2) == 8"),
        (">>> f(1)  # doctest: +ELLIPSIS\n[...]\n>>> f(2)\n8", "assert f(2) == 8"),
    ],
)
def test_doctests_mean_what_they_say(docstring: str, text: str) -> None:
    assert [each.text for each in doctests_of(docstring)] == [text]


@pytest.mark.parametrize("test", ["isinstance(f(1), int)", "all(f(1))", "sum(f(1)) == 2"])
def test_mbpp_names_the_function_that_its_code_defines(tmp_path: Path, test: str) -> None:
    line = {**MBPP, "code": "def f(x): return x", "test_list": [f"assert {test}"]}
    assert only(tmp_path / "m.jsonl", line).problem.entry_point == "f"


def test_inputs_get_the_types_that_the_example_shows(tmp_path: Path, executor: Executor) -> None:
    """JSON has no tuples, sets or complex numbers: EvalPlus publishes lists and texts."""
    line = {
        "task_id": "Mbpp/0",
        "entry_point": "f",
        "prompt": '"""\nTypes.\nassert f((1, 2), [(1,)], {3}, 1) == 0\n"""\n',
        "canonical_solution": "def f(a, b, c, d):\n    return repr((a, b, sorted(c), type(c), d))",
        "base_input": [[[5, 6, 7], [[1], [2, 3]], [3, 4], "(1+2j)"]],
        "plus_input": [],
    }
    task = only(tmp_path / "m.jsonl", line)
    wanted = "((5, 6, 7), [(1,), (2, 3)], [3, 4], <class 'set'>, (1+2j))"
    assert holds(executor, task, f"def f(*args):\n    return {wanted!r}")


def test_floats_of_evalplus_may_differ_a_little(tmp_path: Path, executor: Executor) -> None:
    task = only(tmp_path / "h.jsonl", {**PLUS, "base_input": [[0.1, -0.1]], "plus_input": []})
    assert holds(executor, task, "def add(a, b):\n    return 5.5e-17")
    assert not holds(executor, task, "def add(a, b):\n    return 1e-5")


def test_what_evalplus_compares_exactly_is_compared_exactly(
    tmp_path: Path, executor: Executor
) -> None:
    pair = {**PLUS, "canonical_solution": "    return (a, b)", "base_input": [[1, 2]]}
    pair["plus_input"] = []
    task = only(tmp_path / "h.jsonl", pair)
    assert holds(executor, task, "def add(a, b):\n    return (1.0, 2)")  # equal
    assert not holds(executor, task, "def add(a, b):\n    return [1, 2]")
    assert not holds(executor, task, "def add(a, b):\n    return (1.0000001, 2)")
    task = only(tmp_path / "n.jsonl", {**pair, "atol": 0.1})
    assert holds(executor, task, "def add(a, b):\n    return (1.05, 2)")
    assert not holds(executor, task, "def add(a, b):\n    return (1.2, 2)")


def test_mbpp_sanitized_is_one_array(tmp_path: Path) -> None:
    published = [
        {
            "source_file": "Benchmark Questions Verification V2.ipynb",
            "task_id": number,
            "prompt": f"Write a function to add {number}.",
            "code": f"def add{number}(n):\n    return n + {number}",
            "test_imports": [],
            "test_list": [f"assert add{number}(1) == {number + 1}"],
        }
        for number in (2, 3)
    ]
    path = tmp_path / "sanitized-mbpp.json"
    path.write_text(json.dumps(published, indent=1))
    assert [task.problem.entry_point for task in load_tasks(path)] == ["add2", "add3"]

    published[1]["test_list"] = []
    path.write_text(json.dumps(published, indent=1))
    line = path.read_text().splitlines().index(" {", 3) + 1
    with pytest.raises(ProblemError, match=rf"sanitized-mbpp.json:{line}: 'test_list' is empty"):
        list(load_tasks(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"a": 1}', "1: not JSON"),
        ('\n[{"a": 1}] {}', "2: not JSON"),
        ("[\n1]", "2: not a JSON object"),
        ('[\n{"a": 1},\n{"a": }]', "3: not JSON"),
    ],
)
def test_an_array_that_is_none(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "problems.json"
    path.write_text(text)
    with pytest.raises(ProblemError, match=f"problems.json:{said}"):
        list(load_tasks(path))

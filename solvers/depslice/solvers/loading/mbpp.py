"""MBPP's lines (Austin et al. 2021), as published or sanitized.

The first test is shown, as it names the function and its arguments; all of them decide, and
where there is one (EvalPlus has published MBPP+ so, too), the program ``test``.
What the function's header looks like is taken from ``code``, and nothing else of it.
"""

from __future__ import annotations

import builtins

from depslice.solvers.loading.examples import asserts_of
from depslice.solvers.loading.lines import Line
from depslice.solvers.loading.specifications import called, described, header_of
from depslice.solvers.problem import HiddenTests, Problem, Task


def is_mbpp(line: Line) -> bool:
    """Whether a line has this form."""
    return "test_list" in line.fields


def mbpp_task(line: Line) -> Task:
    """The task of a line.

    :raises ProblemError: a field is missing or cannot be used.
    """
    tests = line.texts("test_list")
    if not tests:
        raise line.error("'test_list' is empty")
    code = line.python("code", line.optional("code"))
    entry_point, header = _function(tests[0], code)
    if entry_point is None:
        raise line.error(f"the first test calls no function: {tests[0]!r}")
    setup = "\n".join([line.optional("test_setup_code"), *line.texts("test_imports")]).strip()
    try:
        visible = asserts_of(f"{setup}\n{tests[0]}", entry_point)
    except (SyntaxError, ValueError) as error:
        raise line.error(f"the first test is not Python: {error}") from None
    header = header or f"def {entry_point}(*args):"
    problem = Problem(
        id=f"MBPP/{line.fields.get('task_id', line.number)}",
        specification=described(header, line.text("text", "prompt"), [tests[0].strip()]),
        entry_point=entry_point,
        visible=visible,
    )
    tests += line.texts("challenge_test_list")
    for each in tests:
        line.python("test_list", each)
    program = line.python("test", "\n".join([setup, *tests, line.optional("test")]))
    return Task(problem=problem, hidden=HiddenTests(program=program), solution=code)


def _function(test: str, code: str) -> tuple[str | None, str | None]:
    """The function that a test is about, and its header in ``code`` where it has one."""
    names = called(test)
    for name in names:
        if header := header_of(code, name):
            return name, header
    return next((name for name in names if not hasattr(builtins, name)), None), None

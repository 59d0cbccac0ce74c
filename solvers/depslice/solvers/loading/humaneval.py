"""HumanEval's lines (Chen et al. 2021), and those of EvalPlus (Liu et al. 2023) in that form.

``prompt``, ``entry_point`` and ``test`` (a function ``check``); ``example_test``, which
HumanEvalPack adds, has the examples of the prompt. Without it they are read from the
docstring. EvalPlus' own lines have no ``test`` but ``base_input`` and ``plus_input``:
there an answer has to return what ``canonical_solution`` returns.
"""

from __future__ import annotations

import ast

from depslice.solvers.loading.evalplus import comparison, has_inputs
from depslice.solvers.loading.examples import asserts_of, doctests_of
from depslice.solvers.loading.lines import Line
from depslice.solvers.loading.specifications import docstring_of, given_by
from depslice.solvers.problem import HiddenTests, Problem, Task, VisibleTest


def is_humaneval(line: Line) -> bool:
    """Whether a line has this form."""
    return "prompt" in line.fields and "entry_point" in line.fields


def humaneval_task(line: Line) -> Task:
    """The task of a line.

    :raises ProblemError: a field is missing or cannot be used.
    """
    prompt, entry_point = line.text("prompt"), line.entry_point()
    try:
        given = given_by(prompt, entry_point)
    except (SyntaxError, ValueError) as error:
        raise line.error(f"the prompt is not Python: {error}") from None
    except LookupError:
        raise line.error(f"the prompt does not define the entry point {entry_point!r}") from None
    problem = Problem(
        id=line.text("task_id"),
        specification=prompt.strip("\n"),
        entry_point=entry_point,
        given=given,
        visible=_visible(line, prompt, entry_point),
    )
    written = line.optional("canonical_solution")
    return Task(
        problem=problem,
        hidden=HiddenTests(program=_hidden(line, entry_point)),
        solution=f"{prompt}{written}" if written.strip() else "",
    )


def _visible(line: Line, prompt: str, entry_point: str) -> tuple[VisibleTest, ...]:
    examples = line.optional("example_test")
    if "example_test" not in line.fields:
        return doctests_of(docstring_of(prompt, entry_point))
    try:
        return asserts_of(examples, entry_point)
    except (SyntaxError, ValueError) as error:
        raise line.error(f"the example test is not Python: {error}") from None


def _hidden(line: Line, entry_point: str) -> str:
    if has_inputs(line):
        return comparison(line, entry_point)
    test = line.python("test", line.text("test"))
    if not any(isinstance(n, ast.FunctionDef) and n.name == "check" for n in ast.parse(test).body):
        raise line.error("'test' does not define check()")
    return f"{test}\n\ncheck({entry_point})\n"

"""HumanEval's lines (Chen et al. 2021), and those of EvalPlus (Liu et al. 2023) in that form.

``prompt``, ``entry_point`` and ``test`` (a function ``check``); ``example_test``, which
HumanEvalPack adds, has the examples of the prompt. Without it they are read from the
docstring. EvalPlus' own lines have no ``test`` but ``base_input`` and ``plus_input``:
there an answer has to return what ``canonical_solution`` returns.
"""

from __future__ import annotations

from typing import Final

from depslice.solvers.loading.examples import asserts_of, doctests_of
from depslice.solvers.loading.lines import Line
from depslice.solvers.loading.specifications import docstring_of, given_by
from depslice.solvers.problem import HiddenTests, Problem, Task, VisibleTest

_COMPARING: Final = """\
import copy, math

def close(one, other, atol):
    if isinstance(other, float) and isinstance(one, (int, float)):
        return one == other or math.isclose(one, other, rel_tol=1e-7, abs_tol=atol)
    if isinstance(other, (list, tuple)) and isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(close(a, b, atol) for a, b in zip(one, other))
    if isinstance(other, dict) and isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[k], other[k], atol) for k in other)
    return one == other

reference = {{"__name__": "reference"}}
exec({solution!r}, reference)
for arguments in {inputs!r}:
    expected = reference[{entry_point!r}](*copy.deepcopy(arguments))
    assert close({entry_point}(*copy.deepcopy(arguments)), expected, {atol!r}), arguments
"""


def is_humaneval(line: Line) -> bool:
    """Whether a line has this form."""
    return "prompt" in line.fields and "entry_point" in line.fields


def humaneval_task(line: Line) -> Task:
    """The task of a line.

    :raises ProblemError: a field is missing or cannot be used.
    """
    prompt, entry_point = line.text("prompt"), line.text("entry_point")
    if not entry_point.isidentifier():
        raise line.error(f"the entry point {entry_point!r} is no name")
    try:
        given = given_by(prompt, entry_point)
    except SyntaxError as error:
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
    return Task(problem=problem, hidden=HiddenTests(program=_hidden(line, entry_point)))


def _visible(line: Line, prompt: str, entry_point: str) -> tuple[VisibleTest, ...]:
    examples = line.optional("example_test")
    if "example_test" not in line.fields:
        return doctests_of(docstring_of(prompt, entry_point))
    try:
        return asserts_of(examples, entry_point)
    except SyntaxError as error:
        raise line.error(f"the example test is not Python: {error}") from None


def _hidden(line: Line, entry_point: str) -> str:
    if "test" in line.fields or "base_input" not in line.fields:
        return f"{line.text('test')}\n\ncheck({entry_point})\n"
    inputs = [each for name in ("base_input", "plus_input") for each in _inputs(line, name)]
    return _COMPARING.format(
        solution=line.text("prompt") + line.text("canonical_solution"),
        inputs=inputs,
        entry_point=entry_point,
        atol=line.fields.get("atol") or 0.0,
    )


def _inputs(line: Line, name: str) -> list[object]:
    found = line.fields.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, list) for each in found):
        raise line.error(f"{name!r} is not a list of argument lists")
    return found

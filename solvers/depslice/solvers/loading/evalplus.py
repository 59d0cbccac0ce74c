"""EvalPlus' own lines (Liu et al. 2023): inputs instead of tests, and a solution to compare with.

Those of HumanEval+ have HumanEval's prompts. In those of MBPP+ the prompt is a docstring: a
description, and an assertion that shows how the function is called. JSON has no tuples, sets or
complex numbers: inputs get the types that the arguments have there.

An answer has to return what the solution returns: what is equal to it; or, if there is an ``atol``
or the result is a float or a sequence of floats (1e-6 then), something of the same type within that
and 1e-7 of each number, as EvalPlus has it. Its special judges (``find_zero`` may return any root) are
not here.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from depslice.solvers.loading.examples import asserts_of
from depslice.solvers.loading.lines import Line
from depslice.solvers.loading.specifications import described, header_of
from depslice.solvers.problem import HiddenTests, Problem, Task

# All names are local: an answer, which is in the same module, neither loses nor gets one.
_COMPARING: Final = """\
def check(candidate):
    import copy, math
    from math import inf, nan

    def are_floats(value):
        if isinstance(value, (list, tuple)):
            return all(isinstance(each, float) for each in value)
        return isinstance(value, float)

    def near(one, other, tolerance):
        if isinstance(other, (list, tuple)) and isinstance(one, (list, tuple)):
            return len(one) == len(other) and all(near(a, b, tolerance) for a, b in zip(one, other))
        if isinstance(other, (int, float)) and isinstance(one, (int, float)):
            if one == other or (math.isnan(one) and math.isnan(other)):
                return True
            return abs(one - other) <= tolerance + 1e-7 * abs(other)
        return one == other

    def close(one, other):
        tolerance = {atol!r} or (1e-6 if are_floats(other) else 0)
        return one == other or bool(
            tolerance and type(one) is type(other) and near(one, other, tolerance)
        )

    reference = {{"__name__": "reference"}}
    exec({solution!r}, reference)
    for arguments in {inputs!r}:
        expected = reference[{entry_point!r}](*copy.deepcopy(arguments))
        assert close(candidate(*copy.deepcopy(arguments)), expected), arguments

check({entry_point})
"""


def has_inputs(line: Line) -> bool:
    """Whether a line has inputs, and no test."""
    return "base_input" in line.fields and "test" not in line.fields


def is_description(line: Line) -> bool:
    """Whether a line has the form of MBPP+."""
    return has_inputs(line) and _description(line) is not None


def described_task(line: Line) -> Task:
    """The task of a line of MBPP+.

    :raises ProblemError: a field is missing or cannot be used.
    """
    entry_point, solution = line.entry_point(), line.text("canonical_solution")
    told = (_description(line) or "").splitlines()
    examples = [each.strip() for each in told if each.lstrip().startswith("assert ")]
    text = "\n".join(each for each in told if not each.lstrip().startswith("assert "))
    try:
        visible = asserts_of("\n".join(examples), entry_point)
    except (SyntaxError, ValueError) as error:
        raise line.error(f"the example is not Python: {error}") from None
    header = header_of(line.python("canonical_solution", solution), entry_point)
    if header is None:
        raise line.error(f"the canonical solution does not define {entry_point!r}")
    problem = Problem(
        id=line.text("task_id"),
        specification=described(header, text, examples),
        entry_point=entry_point,
        visible=visible,
    )
    shape = _arguments("\n".join(examples), entry_point)
    return Task(
        problem=problem,
        hidden=HiddenTests(program=comparison(line, entry_point, shape)),
        solution=solution,
    )


def comparison(line: Line, entry_point: str, shape: Sequence[object] = ()) -> str:
    """The program that calls a function and the canonical solution with all inputs.

    These are of the types of ``shape``, arguments that are shown.

    :raises ProblemError: a field is missing or cannot be used.
    """
    solution = line.text("prompt") + line.text("canonical_solution")
    inputs = [each for name in ("base_input", "plus_input") for each in _inputs(line, name)]
    if not inputs:
        raise line.error("there are no inputs")
    atol = line.fields.get("atol") or 0.0
    if not isinstance(atol, int | float):
        raise line.error("'atol' is not a number")
    return _COMPARING.format(
        solution=line.python("canonical_solution", solution),
        inputs=[_shaped(each, shape) for each in inputs],
        entry_point=entry_point,
        atol=float(atol),
    )


def _shaped(arguments: list[object], shape: Sequence[object]) -> list[object]:
    shown = [*shape, *arguments[len(shape) :]]
    return [_like(each, like) for each, like in zip(arguments, shown, strict=False)]


def _arguments(examples: str, entry_point: str) -> list[object]:
    """The arguments of the first call that is shown, where they are literals."""
    for node in ast.walk(ast.parse(examples)):
        match node:
            case ast.Call(func=ast.Name(id=name), args=args) if name == entry_point:
                try:
                    return [ast.literal_eval(each) for each in args]
                except ValueError:
                    return []
    return []


def _like(value: object, shown: object) -> object:
    """``value``, which comes from JSON, with the types of ``shown``."""
    if isinstance(value, str) and isinstance(shown, int | float | complex):
        try:
            return complex(value)
        except ValueError:
            return value
    if isinstance(value, dict) and isinstance(shown, dict):
        one = next(iter(shown.values()), None)
        return {key: _like(each, one) for key, each in value.items()}
    if not isinstance(value, list) or not isinstance(shown, list | tuple | set | frozenset):
        return value
    kinds = list(shown)
    if len(kinds) != len(value) or len({*map(type, kinds)}) <= 1:  # all alike: the first says it
        kinds = [next((k for k in kinds if isinstance(k, tuple | set)), [*kinds, None][0])] * len(
            value
        )
    try:
        return type(shown)(map(_like, value, kinds))
    except TypeError:  # what is in it cannot be in a set
        return value


def _description(line: Line) -> str | None:
    """The prompt, where it is nothing but a docstring."""
    try:
        tree = ast.parse(line.text("prompt"))
    except (SyntaxError, ValueError):
        return None
    return ast.get_docstring(tree) if len(tree.body) == 1 else None


def _inputs(line: Line, name: str) -> list[list[object]]:
    found = line.fields.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, list) for each in found):
        raise line.error(f"{name!r} is not a list of argument lists")
    return found

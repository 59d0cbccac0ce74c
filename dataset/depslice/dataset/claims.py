r"""Examples that a text gives of a function, and whether the function keeps them.

>>> [claim.text for claim in claims_of("Of clamp(3, 1) >>> clamp(9)\n\n>>> clamp(9)\n5\n", "clamp")]
['clamp(9) == 5']
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from depslice.callgraph.program import Program
from depslice.validator.outcomes import observe
from depslice.validator.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """That a call with these ``arguments`` gives ``value``, the source of an expression."""

    call: str
    arguments: str
    value: str

    @property
    def text(self) -> str:
        """On one line."""
        return f"{self.call} == {self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A claim, and what the call really does."""

    claim: Claim
    observed: str


def claims_of(text: str, qualname: str) -> list[Claim]:
    """The calls of ``qualname`` whose value is told, as doctests or as lines ``call == value``."""
    pairs = [*_doctests(text), *_comparisons(text)]
    found = (_claim(call, value, qualname) for call, value in pairs)
    return list(dict.fromkeys(claim for claim in found if claim is not None))


def broken_claims(
    space: Workspace, program: Program, target: str, claims: Sequence[Claim]
) -> tuple[list[Broken], int]:
    """The claims that ``target`` does not keep, and how many could be tried.

    :raises CheckUnavailable: the code cannot be run.
    """
    observed = observe(space, program, target, [(claim.arguments, ()) for claim in claims])
    broken = [
        Broken(claim=claims[each.which], observed=each.text)
        for each in observed
        if 0 <= each.which < len(claims) and not _same(claims[each.which].value, each.value)
    ]
    return broken, len(observed)


def _doctests(text: str) -> Iterator[tuple[str, str]]:
    try:
        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return
    for example in examples:
        if example.want.strip() and example.exc_msg is None:
            yield example.source.strip(), example.want.strip()


def _comparisons(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        try:
            parsed = ast.parse(line.strip().strip("-*` "), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        match parsed:
            case ast.Compare(left=ast.Call() as call, ops=[ast.Eq()], comparators=[value]):
                yield ast.unparse(call), ast.unparse(value)


def _claim(call: str, value: str, qualname: str) -> Claim | None:
    try:
        parsed = ast.parse(call, mode="eval").body
        ast.parse(value, mode="eval")
    except (SyntaxError, ValueError):
        return None
    if not isinstance(parsed, ast.Call) or ast.unparse(parsed.func) != qualname:
        return None
    given = [ast.unparse(each) for each in parsed.args]
    given += [
        f"{each.arg}={ast.unparse(each.value)}" if each.arg else f"**{ast.unparse(each.value)}"
        for each in parsed.keywords
    ]
    return Claim(call=ast.unparse(parsed), arguments=", ".join(given), value=value)


def _same(left: str, right: str) -> bool:
    """Whether two expressions are the same but for layout, or literals of the same value and type."""
    try:
        one, other = ast.parse(left, mode="eval"), ast.parse(right, mode="eval")
    except (SyntaxError, ValueError):
        return False
    if ast.dump(one) == ast.dump(other):
        return True
    try:
        return _spelled(ast.literal_eval(one)) == _spelled(ast.literal_eval(other))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False


def _spelled(value: object) -> str:
    """A literal's value as text: ``1``, ``True`` and ``1.0``, which are equal, are not the same."""
    match value:
        case set():
            inside = sorted(map(_spelled, value))
        case dict():
            inside = sorted(f"{_spelled(key)}: {_spelled(each)}" for key, each in value.items())
        case list() | tuple():
            inside = list(map(_spelled, value))
        case _:
            return repr(value)
    return f"{type(value).__name__}({', '.join(inside)})"

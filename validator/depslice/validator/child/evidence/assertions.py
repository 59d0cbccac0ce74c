"""The places of a harness where something can fail, and which of them were reached."""

from __future__ import annotations

import ast
from collections.abc import Iterable

_CONTEXT = {"same", "check", "check_with", "in_situ"}
_RAISES = {"raises", "warns", "fail"}


def assertion_lines(source: str) -> list[tuple[int, int]]:
    """First and last line of each assertion: ``assert``, ``assert…()``, ``raises()``,
    ``context.same()`` and its like.

    :raises SyntaxError: the source is not Python.
    """
    return [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and _asserts(node.func))
    ]


def _asserts(function: ast.expr) -> bool:
    name = ""
    if isinstance(function, ast.Attribute):
        name = function.attr
        if name in _CONTEXT | _RAISES:
            return True
    elif isinstance(function, ast.Name):
        name = function.id
    return name.startswith("assert") or name in _RAISES


def only_in_situ(source: str) -> bool:
    """Whether all that the tests do is ``context.in_situ(…)``: what that raises fails them."""
    tests = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda))
    ]
    return bool(tests) and all(map(_is_in_situ, tests))


def _is_in_situ(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(
            decorator_list=[],
            body=[
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Name(id="context"), attr="in_situ"),
                        args=[ast.Name()],
                        keywords=([] | [ast.keyword(arg="tests", value=ast.Name())]),
                    )
                )
            ],
        ):
            return True
        case _:
            return False


def reached(places: Iterable[tuple[int, int]], lines: set[int]) -> int:
    """How many of the places have a line that was executed."""
    return sum(any(line in lines for line in range(a, b + 1)) for a, b in places)

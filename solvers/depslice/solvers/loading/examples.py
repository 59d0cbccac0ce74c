r"""Tests that a problem shows, one by one, out of the forms that they are published in.

>>> [each.text for each in asserts_of("def check(f):\n    assert f(1) == 2\ncheck(add)", "add")]
['assert add(1) == 2']
>>> [each.text for each in doctests_of(">>> add(1, 2)\n3\n")]
['assert add(1, 2) == 3']
"""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from textwrap import dedent

from depslice.solvers.problem import VisibleTest


def asserts_of(program: str, entry_point: str) -> tuple[VisibleTest, ...]:
    """The ``assert`` statements of a program, each a test; what stands between is their setup.

    A function that the program calls with the entry point (``check(add)``) is opened: its
    parameter becomes the entry point's name.

    :raises SyntaxError: it is not Python.
    """
    setup: list[str] = []
    found = []
    for statement in _opened(_parsed(program).body, entry_point):
        text = ast.unparse(statement)
        if isinstance(statement, ast.Assert):
            found.append(VisibleTest(text=text, setup="\n".join(setup)))
        else:
            setup.append(text)
    return tuple(found)


def _parsed(program: str) -> ast.Module:
    """Its tree; of a damaged program, that of its last function and what follows.

    (HumanEvalPack's example for HumanEval/119 starts with the middle of a solution.)
    """
    text = dedent(program).strip()
    try:
        return ast.parse(text)
    except SyntaxError:
        _, found, rest = text.rpartition("\ndef ")
        if not found:
            raise
        return ast.parse(f"def {rest}")


def _opened(body: list[ast.stmt], entry_point: str) -> Iterator[ast.stmt]:
    called = {_checked(statement, entry_point) for statement in body}
    for statement in body:
        if isinstance(statement, ast.FunctionDef) and statement.name in called:
            [parameter] = statement.args.args
            renaming = _Renaming(parameter.arg, entry_point)
            yield from (renaming.visit(each) for each in statement.body)
        elif not _checked(statement, entry_point):
            yield statement


def _checked(statement: ast.stmt, entry_point: str) -> str:
    """``check`` of ``check(entry_point)``; nothing of another statement."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[ast.Name(id=of)], keywords=[])):
            return name if of == entry_point else ""
        case _:
            return ""


class _Renaming(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id != self.old:
            return node
        return ast.copy_location(ast.Name(id=self.new, ctx=node.ctx), node)


def doctests_of(docstring: str) -> tuple[VisibleTest, ...]:
    """The examples of a docstring whose outcome is written down as a value."""
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        return ()
    setup: list[str] = []
    found = []
    for example in examples:
        source, want = example.source.strip(), example.want.strip()
        if not want:
            setup.append(source)
        elif example.exc_msg is None and _is_expression(source) and _is_expression(want):
            found.append(VisibleTest(text=f"assert {source} == {want}", setup="\n".join(setup)))
    return tuple(found)


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True

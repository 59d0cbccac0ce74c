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
        if (
            isinstance(statement, ast.FunctionDef)
            and statement.name in called
            and len(statement.args.args) == 1
        ):
            renaming = _Renaming(statement.args.args[0].arg, entry_point)
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
        if example.options.get(doctest.SKIP):
            continue
        if not want:
            setup.append(source)
        elif example.exc_msg is None and not (
            example.options.get(doctest.ELLIPSIS) and "..." in want
        ):
            left, right = _expression(source), _expression(want)
            if left is not None and right is not None:
                text = _equal(source, left, want, right)
                found.append(VisibleTest(text=text, setup="\n".join(setup)))
    return tuple(found)


def _equal(source: str, left: ast.expr, want: str, right: ast.expr) -> str:
    """That two values are equal: as they are written, where that means the same.

    What is no literal is compared as doctest does, by how it is shown: `Point(x=3)` need not be
    equal to another one.
    """
    if not _is_literal(right):
        return f"assert repr({source}) == {want!r}"
    compared = ast.Compare(left=left, ops=[ast.Eq()], comparators=[right])
    written = _expression(f"{source} == {want}")
    same = written is not None and ast.dump(written) == ast.dump(compared)
    return f"assert {source} == {want}" if same else f"assert {ast.unparse(compared)}"


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

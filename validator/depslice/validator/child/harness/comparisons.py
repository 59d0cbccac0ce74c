"""What a harness compares, noted in the transcript of a candidate.

Where a candidate is recorded both names stand for it, so that the harness compares it with
itself, and finds no difference. What calls give is compared outside; but a harness may look
at more than that: it calls a function that it was given, goes through an iterator, captures
output, reads a file that was written. So what it compares is noted as well:

>>> import ast
>>> print(ast.unparse(noting("assert candidate(2)(3) == reference(2)(3)", "harness.py")))
assert _depslice_compared(candidate(2)(3)) == _depslice_compared(reference(2)(3))

What is compared with a literal is not: there the harness tells by itself. What is never the same,
times and addresses, is left out outside.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Final

NOTED: Final = "_depslice_compared"
"""The function that notes a value, and gives it back."""

_SIDES = ("candidate", "reference")
_TWO_SIDED = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_LITERAL = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict,
    ast.UnaryOp, ast.unaryop, ast.expr_context,
)  # fmt: skip
_RUNS_LATER = (ast.GeneratorExp, ast.Lambda)


def noting(text: str, path: str) -> ast.Module:
    """A harness that calls :data:`NOTED` with each side of its comparisons.

    These are the sides of ``==``, ``!=`` and ``in``, and the arguments of functions that are called
    ``assert…``. If they come of the target: the arguments of the harness's own functions whose
    result nobody takes; and in ``assert`` statements those of all calls, and of operators.
    """
    tree = ast.parse(text, path)
    _Noting(_of_the_target(tree)).visit(tree)
    return ast.fix_missing_locations(tree)


def _of_the_target(tree: ast.Module) -> set[str]:
    """Both sides, and the names of what is made with them, wherever."""
    found, before = set(_SIDES), 0
    bindings = [pair for node in ast.walk(tree) for pair in _bindings(node)]
    while len(found) > before:
        before = len(found)
        for target, value in bindings:
            if _mentions(value, found):
                found |= {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return found


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets, and what is bound to them."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield target, node.value
        case ast.AnnAssign(value=ast.expr() as value) | ast.AugAssign(value=value):
            yield node.target, value
        case ast.NamedExpr():
            yield node.target, node.value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, node.context_expr


def _mentions(node: ast.AST, names: set[str]) -> bool:
    """``candidate``, ``self.candidate``, or another of ``names``."""
    return any(
        (isinstance(each, ast.Name) and each.id in names)
        or (isinstance(each, ast.Attribute) and each.attr in _SIDES)
        for each in ast.walk(node)
    )


class _Noting(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._asserted = False
        self._statement: ast.expr | None = None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        """``compare(one, other)``; not ``print(one)``, nor ``logging.error(one)``."""
        match node.value:
            case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
                self._statement = node.value
        self.generic_visit(node)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        """Its message is said, not compared."""
        self._asserted = True
        node.test = self.visit(node.test)
        self._asserted = False
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        """Both sides, or all of a chain."""
        sides = [node.left, *node.comparators]
        wanted = any(isinstance(each, _TWO_SIDED) for each in node.ops)
        wanted = wanted and not any(map(_is_literal, sides))
        self.generic_visit(node)
        if wanted:
            node.left = _noted(node.left)
            node.comparators = [_noted(each) for each in node.comparators]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        """In an assertion: ``abs(one - other) < 1e-9``."""
        wanted = self._asserted and not (_is_literal(node.left) or _is_literal(node.right))
        wanted = wanted and _mentions(node, self._names)
        self.generic_visit(node)
        if wanted:
            node.left, node.right = _noted(node.left), _noted(node.right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        """``isclose(one, other)`` in an assertion; ``assert_allclose(one, other)`` anywhere."""
        name = _name(node.func)
        wanted = self._asserted or node is self._statement or name.startswith("assert")
        wanted = wanted and name not in _SIDES
        values = [*node.args, *(each.value for each in node.keywords)]
        whole = name.startswith("assert")
        chosen = {id(each) for each in values if whole or _mentions(each, self._names)}
        self.generic_visit(node)
        if wanted:
            node.args = [_noted(each) if id(each) in chosen else each for each in node.args]
            for keyword in node.keywords:
                if id(keyword.value) in chosen:
                    keyword.value = _noted(keyword.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """A text is said; and to be written in one, a call may need quotes that it has not."""
        return node


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_side(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _SIDES


def _is_literal(node: ast.expr) -> bool:
    return all(isinstance(each, _LITERAL) for each in ast.walk(node))


def _noted(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Starred):
        node.value = _noted(node.value)
        return node
    if isinstance(node, _RUNS_LATER) or _is_literal(node) or _is_side(node):
        return node
    made = ast.Call(func=ast.Name(id=NOTED, ctx=ast.Load()), args=[node], keywords=[])
    return ast.copy_location(made, node)

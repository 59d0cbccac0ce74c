r"""Which variables of a module its own functions may change: read from its text, not run.

>>> changeable("A = []\nB = {}\ndef f(x):\n    A.append(x)\n    return B[x]\n")
('A',)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

_READING: Final = frozenset({"get", "items", "keys", "values", "copy", "index", "count", "join"})
_ASKING: Final = frozenset(
    each.__name__
    for each in (
        *(all, any, bool, dict, enumerate, frozenset, isinstance, iter, len),
        *(list, max, min, repr, set, sorted, str, sum, tuple, zip),
    )
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def changeable(text: str) -> tuple[str, ...]:
    """The names of such variables; none of a text that is no program.

    A variable that functions do nothing but look at is none: it would be compared for nothing.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    bound = {name for each in _outside_functions(tree) for name in _stored(each)}
    inside = [n for n in ast.walk(tree) if isinstance(n, _Function)]
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = {name for each in ast.walk(tree) if isinstance(each, ast.Global) for name in each.names}
    for function in inside:
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in bound and _may_change(node, parents):
                found.add(node.id)
    return tuple(sorted(found))


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    """What is executed in the scope of the module."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_Function.__args__, ast.ClassDef)):
            yield child
            yield from _outside_functions(child)


def _stored(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _may_change(name: ast.Name, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether more is done than to read: also where it is passed on, or given another name."""
    if not isinstance(name.ctx, ast.Load):
        return False  # a name of the function's own; `global` says so where it is not
    node: ast.AST = name
    while isinstance(parent := parents[node], ast.Subscript) and parent.value is node:
        node = parent
        if not isinstance(parent.ctx, ast.Load):
            return True
    match parent:
        case ast.Attribute(attr=attribute, value=value) if value is node:
            return attribute not in _READING
        case ast.Call(func=ast.Name(id=called), args=arguments) if node in arguments:
            return called not in _ASKING
        case ast.Compare() | ast.For() | ast.comprehension() | ast.BoolOp() | ast.UnaryOp():
            return False
        case ast.BinOp() | ast.If() | ast.IfExp() | ast.While() | ast.FormattedValue():
            return False
        case ast.Subscript():
            return False  # it is the index
        case _:
            return node is name

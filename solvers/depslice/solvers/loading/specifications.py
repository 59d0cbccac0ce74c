"""What a specification has beside the function that it asks for."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def given_by(specification: str, entry_point: str) -> str:
    r"""What stands before the entry point: imports and functions that an answer may use.

    >>> given_by('import math\n\ndef area(r):\n    "Of a circle."\n', "area")
    'import math'

    :raises SyntaxError: the specification is not Python.
    :raises LookupError: it does not define the entry point.
    """
    tree = ast.parse(specification)
    for number, statement in enumerate(tree.body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name == entry_point:
                    return "\n\n".join(ast.unparse(each) for each in tree.body[:number])
    raise LookupError(entry_point)


def docstring_of(specification: str, entry_point: str) -> str:
    """The docstring of the entry point; an empty one where it has none.

    :raises SyntaxError: the specification is not Python.
    """
    for node in ast.parse(specification).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name == entry_point:
                    return ast.get_docstring(node) or ""
    return ""


def called(test: str) -> list[str]:
    """The functions that a test calls by their names, the outer ones first."""
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError):
        return []
    return [
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]


def described(header: str, text: str, examples: Sequence[str]) -> str:
    """A specification: the header of a function, and what is told of it as its docstring."""
    told = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    shown = "".join(f"    {each}\n" for each in examples)
    return f'{header}\n    """{told}\n\n{shown}    """'


def header_of(code: str, entry_point: str) -> str | None:
    """The ``def`` line of a function in ``code``, with imports before it."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return None
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == entry_point:
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            header = f"def {node.name}({ast.unparse(node.args)}){returns}:"
            return "\n".join([*map(ast.unparse, imports if node.returns else ()), header])
    return None

"""The definition of a target: its text, its outline, and how a harness calls it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from depslice.callgraph.definitions import Definitions, Function, definitions_of, first_line
from depslice.callgraph.errors import OptionError
from depslice.callgraph.lowering import parsed_deeply


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """``source``, ``outline`` and ``docstring`` are as written, not indented; ``call`` is code."""

    source: str
    outline: str
    docstring: str
    call: str


def definition_of(text: str, qualname: str, line: int) -> Definition:
    """The function ``qualname`` of a file with this text, the one that is defined at ``line``.

    :raises OptionError: there is no function of that name.
    """
    found = _find(text, qualname, line)
    if found is None:
        raise OptionError(f"{qualname} is not a function: prompts are about functions")
    node = found.chosen
    lines = lines_of(text)
    start = first_line(node)
    source = "".join(lines[start - 1 : node.end_lineno])
    return Definition(
        source=_dedented(source),
        outline=_dedented(_head(lines, node, start)),
        docstring=ast.get_docstring(node) or "",
        call=_call(node, in_class=isinstance(found.owner, ast.ClassDef)),
    )


def hollowed(text: str, qualname: str) -> str:
    r"""``text`` with ``...`` for what the function does; all else, its docstring too, stays.

    So it is in all its branches, if it has several. Of a property it is what reads it.

    >>> print(hollowed("def f(x):\n    'Twice.'\n    return 2 * x\n", "f"))
    def f(x):
        'Twice.'
        ...
    <BLANKLINE>
    """
    found = _find(text, qualname, None)
    for node in reversed(found.same if found else ()):  # what is above stays where it is
        lines = lines_of(text)
        text = _head(lines, node, 1) + "".join(lines[node.end_lineno or node.lineno :])
    return text


def lines_of(text: str) -> list[str]:
    """Its lines, each with its end, as Python counts them: a form feed ends none."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _find(text: str, qualname: str, line: int | None) -> Definitions | None:
    try:
        return definitions_of(parsed_deeply(text), qualname, line)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _head(lines: list[str], node: Function, start: int) -> str:
    """From line ``start`` to the docstring, or the header if there is none, and ``...``."""
    first = node.body[0]
    has_docstring = ast.get_docstring(node, clean=False) is not None
    if has_docstring and len(node.body) == 1:
        return "".join(lines[start - 1 : node.end_lineno])
    hidden = node.body[1] if has_docstring else first
    line = hidden.lineno
    if isinstance(hidden, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        line = first_line(hidden)
    # `def f(): return 1`: columns are bytes of UTF-8.
    before = lines[line - 1].encode()[: hidden.col_offset].decode()
    if before.strip():
        return "".join(lines[start - 1 : line - 1]) + before + "...\n"
    last = (first.end_lineno or first.lineno) + 1 if has_docstring else line
    return "".join(lines[start - 1 : last - 1]) + before + "...\n"  # perhaps tabs


def _dedented(text: str) -> str:
    first = text[: len(text) - len(text.lstrip(" \t"))]
    return "".join(line.removeprefix(first) for line in lines_of(text))


def _call(node: Function, *, in_class: bool) -> str:
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    arguments += [f"*{node.args.vararg.arg}"] if node.args.vararg else []
    arguments += [f"{each.arg}={each.arg}" for each in node.args.kwonlyargs]
    arguments += [f"**{node.args.kwarg.arg}"] if node.args.kwarg else []
    if in_class and "staticmethod" not in decorators and arguments:
        bound = "classmethod" in decorators
        arguments = arguments[1:] if bound else ["instance", *arguments[1:]]
    call = f"candidate({', '.join(arguments)})"
    if isinstance(node, ast.AsyncFunctionDef):
        return f"asyncio.run({call})"
    yields = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _own(node))
    return f"list({call})" if yields and "contextmanager" not in decorators else call


def _own(node: ast.AST) -> list[ast.AST]:
    """All nodes of a function but those of functions in it."""
    found: list[ast.AST] = []
    left = [node]
    while left:  # a loop: a sum of some thousand terms is too deep for recursion
        for child in ast.iter_child_nodes(left.pop()):
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                found.append(child)
                left.append(child)
    return found

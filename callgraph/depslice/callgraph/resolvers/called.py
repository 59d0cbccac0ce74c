"""What calls of a file name, in its own words: summaries keep where a call is, not its text."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator

from depslice.callgraph.lowering import parsed_deeply
from depslice.callgraph.model import Site
from depslice.callgraph.summary import pack, unpack


def called_expressions(text: str) -> Callable[[Site], str]:
    """A function from the places of calls, in the order in which they are made, to their texts.

    Of several calls at one place (``f()()``) the inner ones come first. Empty where
    nothing is called by an expression, as by a decorator.
    """
    texts = {site: found for site, found in _texts(text).items() if found}
    asked: dict[Site, int] = defaultdict(int)

    def called(site: Site) -> str:
        found = texts.get(site)
        if found is None:
            return ""
        asked[site] += 1
        return found[(asked[site] - 1) % len(found)]  # what is lowered twice is asked for twice

    return called


def _texts(text: str) -> dict[Site, list[str]]:
    found: dict[Site, list[str]] = defaultdict(list)
    for call in sorted(
        _calls(parsed_deeply(text)), key=lambda node: (node.end_lineno, node.end_col_offset)
    ):
        func = call.func
        line, column = call.lineno, call.col_offset
        if isinstance(func, ast.Attribute):
            line = func.end_lineno or func.lineno
            column = (func.end_col_offset or 0) - len(func.attr.encode())
        try:
            spelled = ast.unparse(func)
        except RecursionError:
            spelled = ""
        line, column = unpack(pack(line, max(column, 0)))  # as summaries keep places
        found[Site(line=line, column=column)].append(spelled)
    return found


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


__all__ = ["called_expressions"]

"""The ``pycg`` form: PyCG's adjacency lists, with PyCG's dotted names.

The rules are written down, with their sources, in ``docs/formats/pycg.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from depslice.callgraph.graph import ReferenceGraph, external_name, is_external
from depslice.callgraph.model import ReferenceKind, Symbol, SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LAMBDA = "<lambda>@"
_ALWAYS_NODES = (SymbolKind.MODULE, SymbolKind.FUNCTION, SymbolKind.METHOD)


def export_pycg(graph: ReferenceGraph, *, externals: bool = True) -> dict[str, list[str]]:
    """Who calls whom, as PyCG's "simple JSON format" has it.

    ::

        {"a.b": ["a.b.f"],                          # the module body calls f()
         "a.b.f": ["<builtin>.print", "a.b.C.__init__", "os.path.join"],
         "a.b.C.__init__": [],
         "<builtin>.print": [], "os.path.join": []}

    Every module body, function, method and lambda is a key, even if it calls
    nothing; so is every callee. A class body is a key only if it makes calls.
    Keys and callees are sorted. With ``externals=False`` the repository's own
    names alone are left.

    Implements: PyCG (ICSE 2021), section III, and its README, "Call Graph Output".
    """
    names = dotted_names(graph.symbols)
    adjacency: dict[str, set[str]] = {
        names[symbol.id]: set() for symbol in graph.symbols if symbol.kind in _ALWAYS_NODES
    }
    for reference in graph.references():
        if reference.kind is ReferenceKind.CALL:
            caller = _calling_scope(reference.source, graph, names, of_definition=False)
        elif reference.kind is ReferenceKind.DECORATE:
            caller = _calling_scope(reference.source, graph, names, of_definition=True)
        else:
            continue
        for callee in _callee_names(reference.target, graph, names, externals=externals):
            adjacency.setdefault(caller, set()).add(callee)
            adjacency.setdefault(callee, set())
    return {caller: sorted(adjacency[caller]) for caller in sorted(adjacency)}


def dotted_names(symbols: Iterable[Symbol]) -> dict[str, str]:
    """PyCG's name of each symbol, by symbol id.

    ``a.b:f.<locals>.g`` -> ``a.b.f.g``; the lambdas of a scope become
    ``<lambda1>``, ``<lambda2>``, ... in source order. Different symbols can
    have the same name (module ``a.b`` and function ``b`` of package ``a``).
    """
    numbers = _LambdaNumbers()
    names: dict[str, str] = {}
    for symbol in sorted(symbols, key=_source_order):
        parts = [symbol.module]
        for part in symbol.qualname.split(".") if symbol.qualname else ():
            if part == "<locals>":
                continue
            parts.append(numbers.name(".".join(parts), part) if _LAMBDA in part else part)
        names[symbol.id] = ".".join(parts)
    return names


class _LambdaNumbers:
    """Numbers the lambdas of each scope in the order in which they are first seen."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._count: dict[str, int] = {}

    def name(self, scope: str, part: str) -> str:
        if (scope, part) not in self._known:
            self._count[scope] = self._count.get(scope, 0) + 1
            self._known[scope, part] = f"<lambda{self._count[scope]}>"
        return self._known[scope, part]


def _source_order(symbol: Symbol) -> tuple[str, int, list[tuple[int, str]]]:
    # `<lambda>@9` stands before `<lambda>@10`: runs of digits count as numbers.
    chunks = re.findall(r"\d+|\D+", symbol.id)
    natural = [(int(c), "") if c.isdecimal() else (-1, c) for c in chunks]
    return symbol.path, symbol.span.start, natural


def _calling_scope(
    source: str, graph: ReferenceGraph, names: Mapping[str, str], *, of_definition: bool
) -> str:
    """The name of the scope that makes a call found in ``source``.

    What a module or class level assignment calls is called by the module or
    class body; what decorates a definition is called by the scope around it.
    """
    name = names.get(source, source.replace(":", "."))
    is_variable = source in graph and graph.symbol(source).kind is SymbolKind.VARIABLE
    if ":" in source and (of_definition or is_variable):
        return name.rpartition(".")[0]
    return name


def _callee_names(
    target: str, graph: ReferenceGraph, names: Mapping[str, str], *, externals: bool
) -> Iterator[str]:
    if is_external(target):
        if externals:
            yield _external(target)
        return
    if target not in graph:
        return
    match graph.symbol(target).kind:
        case SymbolKind.CLASS:
            # No `__init__` in the repository: the constructors of external bases are called.
            if externals:
                yield from _external_initializers(target, graph, seen=set())
        case SymbolKind.VARIABLE:
            return
        case _:
            yield names[target]


def _external_initializers(
    class_id: str, graph: ReferenceGraph, *, seen: set[str]
) -> Iterator[str]:
    seen.add(class_id)
    if f"{class_id}.__init__" in graph:
        return  # which says itself whether it calls theirs
    for reference in graph.outgoing(class_id, kind=ReferenceKind.INHERIT):
        base = reference.target
        if is_external(base):
            if not external_name(base).startswith("builtins."):
                yield f"{_external(base)}.__init__"
        elif base not in seen:
            yield from _external_initializers(base, graph, seen=seen)


def _external(target: str) -> str:
    name = external_name(target)
    head, _, rest = name.partition(".")
    return f"<builtin>.{rest}" if head == "builtins" and rest else name

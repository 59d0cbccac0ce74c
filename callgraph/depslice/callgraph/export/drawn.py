"""What the drawn forms (dot, mermaid, html) show of a graph.

Functions and methods are always drawn, other symbols when a drawn reference
touches them, and code outside the repository only on request.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from depslice.callgraph.graph import ReferenceGraph, external_name, is_external
from depslice.callgraph.model import Reference, SymbolKind

EXTERNAL_GROUP = "(external)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A drawn symbol: its id, the label within its group, and its kind."""

    id: str
    label: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """``groups`` maps a module to its nodes; ``edges`` are the drawn references."""

    groups: dict[str, tuple[Node, ...]]
    edges: tuple[Reference, ...]


def draw(graph: ReferenceGraph, *, externals: bool) -> Drawing:
    """The nodes, grouped by module, and edges to show; all sorted by id."""
    edges = tuple(
        reference
        for reference in graph.references()
        if externals or not (is_external(reference.source) or is_external(reference.target))
    )
    ends = {end for edge in edges for end in (edge.source, edge.target)}
    groups: defaultdict[str, list[Node]] = defaultdict(list)
    for symbol in graph.symbols:
        if symbol.id in ends or symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD):
            label = symbol.qualname.replace("<locals>.", "") or symbol.module
            groups[symbol.module].append(Node(id=symbol.id, label=label, kind=symbol.kind.value))
    for end in sorted(ends):
        if is_external(end):
            node = Node(id=end, label=external_name(end), kind="external")
            groups[EXTERNAL_GROUP].append(node)
        elif end not in graph:
            groups[end.partition(":")[0]].append(Node(id=end, label=end, kind="unknown"))
    return Drawing(groups={name: tuple(groups[name]) for name in sorted(groups)}, edges=edges)

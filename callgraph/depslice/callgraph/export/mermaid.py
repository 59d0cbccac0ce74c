"""The ``mermaid`` form: a flowchart with one subgraph per module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depslice.callgraph.export.drawn import draw
from depslice.callgraph.model import Certainty, Reference, ReferenceKind

if TYPE_CHECKING:
    from depslice.callgraph.graph import ReferenceGraph

MERMAID_MAX_EDGES = 500
"""Mermaid's own default for ``maxEdges``; only the embedding page can raise it."""

_SHAPES = {
    "class": ('[["', '"]]'),
    "module": ('[/"', '"/]'),
    "variable": ('(["', '"])'),
    "external": ('>"', '"]'),
}


def export_mermaid(graph: ReferenceGraph, *, externals: bool = False) -> str:
    """Mermaid source; possible references are dotted, other kinds than calls labelled.

    Ids are ``n0``, ``n1``, ...: symbol ids hold characters that Mermaid reads as syntax.
    """
    drawing = draw(graph, externals=externals)
    ids: dict[str, str] = {}
    lines = ["flowchart LR"]
    if len(drawing.edges) > MERMAID_MAX_EDGES:
        lines.insert(
            0,
            f"%% {len(drawing.edges)} edges: Mermaid draws {MERMAID_MAX_EDGES}"
            " unless its page sets maxEdges",
        )
    for number, (module, nodes) in enumerate(drawing.groups.items()):
        lines.append(f'  subgraph m{number}["{_escaped(module)}"]')
        for node in nodes:
            ids[node.id] = f"n{len(ids)}"
            opening, closing = _SHAPES.get(node.kind, ('["', '"]'))
            lines.append(f"    {ids[node.id]}{opening}{_escaped(node.label)}{closing}")
        lines.append("  end")
    lines.extend(f"  {_edge(edge, ids)}" for edge in drawing.edges)
    return "\n".join(lines) + "\n"


def _edge(edge: Reference, ids: dict[str, str]) -> str:
    arrow = "-.->" if edge.certainty is Certainty.POSSIBLE else "-->"
    label = "" if edge.kind is ReferenceKind.CALL else f"|{edge.kind.value}|"
    return f"{ids[edge.source]} {arrow}{label} {ids[edge.target]}"


def _escaped(text: str) -> str:
    # Mermaid's own entities; `#` comes first because they start with it.
    for character, entity in (
        ("#", "#35;"),
        ('"', "#quot;"),
        ("<", "#lt;"),
        (">", "#gt;"),
        ("`", "#96;"),
    ):
        text = text.replace(character, entity)
    return text

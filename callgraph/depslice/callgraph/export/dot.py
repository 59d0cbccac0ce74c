"""The ``dot`` form: a Graphviz digraph with one cluster per module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depslice.callgraph.export.drawn import draw
from depslice.callgraph.model import Certainty, Reference, ReferenceKind

if TYPE_CHECKING:
    from depslice.callgraph.graph import ReferenceGraph

_SHAPES = {"module": "tab", "class": "component", "variable": "note", "external": "plaintext"}
_COLOURS = {
    ReferenceKind.CALL: "#1f4e79",
    ReferenceKind.READ: "#7f7f7f",
    ReferenceKind.WRITE: "#b35900",
    ReferenceKind.INHERIT: "#2e7d32",
    ReferenceKind.DECORATE: "#7b1fa2",
    ReferenceKind.ANNOTATE: "#9e9d24",
    ReferenceKind.IMPORT: "#bdbdbd",
}


def export_dot(graph: ReferenceGraph, *, externals: bool = False) -> str:
    """Graphviz source; possible references are dashed, other kinds than calls labelled."""
    drawing = draw(graph, externals=externals)
    lines = [
        "digraph depslice {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for number, (module, nodes) in enumerate(drawing.groups.items()):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f'    label={_quoted(module)}; style=filled; color="#f3f6fa";')
        for node in nodes:
            shape = f", shape={_SHAPES[node.kind]}" if node.kind in _SHAPES else ""
            lines.append(f"    {_quoted(node.id)} [label={_quoted(node.label)}{shape}];")
        lines.append("  }")
    lines.extend(f"  {_edge(edge)}" for edge in drawing.edges)
    lines.append("}")
    return "\n".join(lines) + "\n"


def _edge(edge: Reference) -> str:
    attributes = [f'color="{_COLOURS[edge.kind]}"']
    if edge.kind is not ReferenceKind.CALL:
        attributes.append(f'label="{edge.kind.value}"')
    if edge.certainty is Certainty.POSSIBLE:
        attributes.append("style=dashed")
    return f"{_quoted(edge.source)} -> {_quoted(edge.target)} [{', '.join(attributes)}];"


def _quoted(text: str) -> str:
    # Graphviz reads \n, \l, \N ... in labels: a backslash has to be doubled.
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

"""Forms in which a reference graph leaves depslice, one module each.

All take a :class:`~depslice.callgraph.graph.ReferenceGraph` and draw what is in
it: pass ``graph.call_graph()`` for calls alone, ``graph.neighbourhood(...)``
for a part. The same graph gives the same bytes.
"""

from __future__ import annotations

from depslice.callgraph.export.dot import export_dot
from depslice.callgraph.export.graphml import export_graphml
from depslice.callgraph.export.html import export_html
from depslice.callgraph.export.jsonform import export_json, json_parts
from depslice.callgraph.export.mermaid import export_mermaid
from depslice.callgraph.export.pycg_form import export_pycg

__all__ = [
    "export_dot",
    "export_graphml",
    "export_html",
    "export_json",
    "export_mermaid",
    "export_pycg",
    "json_parts",
]

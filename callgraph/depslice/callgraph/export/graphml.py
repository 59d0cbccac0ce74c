"""The ``graphml`` form, for Gephi, yEd, Cytoscape and networkx itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depslice.callgraph.graph import ReferenceGraph

# Characters that XML 1.0 has no way to write; file names can hold them.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export_graphml(graph: ReferenceGraph) -> str:
    r"""GraphML text: nodes and edges with the attributes of ``ReferenceGraph.to_networkx``.

    Characters that XML cannot hold are written as ``\xNN`` or ``\uNNNN``.
    """
    import networkx as nx  # 0.15 s to import

    converted = graph.to_networkx()
    for _, attributes in converted.nodes(data=True):
        if "path" in attributes:
            attributes["path"] = _NOT_XML.sub(_spelt_out, attributes["path"])
    # By default networkx takes the keys, which repeat, for ids, which must not.
    for number, (_, _, attributes) in enumerate(converted.edges(data=True)):
        attributes["id"] = f"e{number}"
    body = "\n".join(nx.generate_graphml(converted, edge_id_from_attribute="id"))
    return f"<?xml version='1.0' encoding='utf-8'?>\n{body}\n"


def _spelt_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

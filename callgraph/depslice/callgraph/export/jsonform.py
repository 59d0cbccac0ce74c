"""The ``json`` form: everything the graph knows, as plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from depslice.callgraph.graph import ReferenceGraph
    from depslice.callgraph.model import Diagnostic, Reference, Symbol, Unresolved

GRAPH_SCHEMA = "depslice.graph/1"


def export_json(graph: ReferenceGraph) -> dict[str, Any]:
    """The graph as a dictionary that :func:`json.dumps` takes.

    ::

        {"schema": "depslice.graph/1",
         "symbols": [{"id": "a.b:f", "kind": "function", "path": "a/b.py", "span": [3, 9]}],
         "references": [{"source": "a.b:f", "target": "a.b:g", "kind": "call",
                         "sites": [[5, 4]], "certainty": "definite",
                         "evidence": ["name"], "via_external": false}],
         "unresolved": [{"source": "a.b:f", "name": "x.y", "reason": "unknown-receiver",
                         "site": [6, 4]}],
         "diagnostics": [{"slug": "syntax-error", "severity": "error",
                          "message": "...", "path": "a/c.py", "span": [1, 1]}]}

    A site is ``[line, column]``, a span ``[start, end]`` or ``null``; lines are
    1-based, columns are 0-based UTF-8 byte offsets. Every list is sorted.
    """
    return {
        key: value if isinstance(value, str) else list(value)
        for key, value in json_parts(graph).items()
    }


def json_parts(graph: ReferenceGraph) -> dict[str, str | Iterator[dict[str, Any]]]:
    """As :func:`export_json`, but the rows of each list are made one by one."""
    return {
        "schema": GRAPH_SCHEMA,
        "symbols": map(_symbol, graph.symbols),
        "references": map(_reference, graph.references()),
        "unresolved": map(_unresolved, graph.unresolved),
        "diagnostics": map(_diagnostic, graph.diagnostics),
    }


def _symbol(symbol: Symbol) -> dict[str, Any]:
    return {
        "id": symbol.id,
        "kind": symbol.kind.value,
        "path": symbol.path,
        "span": [symbol.span.start, symbol.span.end],
    }


def _reference(reference: Reference) -> dict[str, Any]:
    return {
        "source": reference.source,
        "target": reference.target,
        "kind": reference.kind.value,
        "sites": [[site.line, site.column] for site in reference.sites],
        "certainty": reference.certainty.value,
        "evidence": list(reference.evidence),
        "via_external": reference.via_external,
    }


def _unresolved(unresolved: Unresolved) -> dict[str, Any]:
    return {
        "source": unresolved.source,
        "name": unresolved.name,
        "reason": unresolved.reason,
        "site": [unresolved.site.line, unresolved.site.column],
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "slug": diagnostic.slug,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "span": [diagnostic.span.start, diagnostic.span.end] if diagnostic.span else None,
    }

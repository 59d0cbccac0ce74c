"""The ``json`` rendering: a slice as plain values, schema ``depslice.slice/1``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from depslice.callgraph.model import Diagnostic, Span
from depslice.slicer.model import Item, RenderedFile, Slice, Step

SCHEMA = "depslice.slice/1"


def slice_to_json(
    sliced: Slice, *, files: Sequence[RenderedFile] | None, root: str | None = None
) -> dict[str, Any]:
    """Return the slice as dicts, lists, strings, numbers and ``None``.

    The keys stand in this order, whatever the slice; lists have the order they
    have in ``slice``. ``root`` and ``files`` are there when they are given::

        {"schema": "depslice.slice/1",
         "root": "path/to/repo",
         "targets": ["pkg.mod:f"],
         "items": [{"id": "pkg.mod:g", "kind": "function", "path": "pkg/mod.py",
                    "span": {"start": 1, "end": 3}, "distance": 1, "form": "full",
                    "reason": [{"source": "pkg.mod:f", "target": "pkg.mod:g",
                                "kind": "call", "certainty": "definite",
                                "evidence": "...", "path": "pkg/mod.py",
                                "line": 6, "column": 11}]}],
         "externals": [{"module": "json", "names": ["dumps"]}],
         "unresolved": [{"source": "pkg.mod:f", "name": "x.run",
                         "reason": "unknown-receiver", "line": 7, "column": 4}],
         "omitted": [{"symbol": "pkg.mod:h", "why": "depth", "distance": 2}],
         "diagnostics": [{"slug": "...", "severity": "warning", "message": "...",
                          "path": "pkg/mod.py", "span": None}],
         "files": [{"path": "pkg/mod.py", "text": "..."}]}

    Lines are 1-based, columns 0-based UTF-8 bytes, spans inclusive.
    """
    document: dict[str, Any] = {"schema": SCHEMA}
    if root is not None:
        document["root"] = root
    document["targets"] = list(sliced.targets)
    document["items"] = [_item(item) for item in sliced.items]
    document["externals"] = [
        {"module": external.module, "names": list(external.names)} for external in sliced.externals
    ]
    document["unresolved"] = [
        {
            "source": unresolved.source,
            "name": unresolved.name,
            "reason": unresolved.reason,
            "line": unresolved.site.line,
            "column": unresolved.site.column,
        }
        for unresolved in sliced.unresolved
    ]
    document["omitted"] = [
        {"symbol": omitted.symbol, "why": omitted.why, "distance": omitted.distance}
        for omitted in sliced.omitted
    ]
    document["diagnostics"] = [_diagnostic(diagnostic) for diagnostic in sliced.diagnostics]
    if files is not None:
        document["files"] = [{"path": file.path, "text": file.text} for file in files]
    return document


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.symbol.id,
        "kind": item.symbol.kind.value,
        "path": item.symbol.path,
        "span": _span(item.symbol.span),
        "distance": item.distance,
        "form": item.form.value,
        "reason": [_step(step) for step in item.reason],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "source": step.source,
        "target": step.target,
        "kind": step.kind.value,
        "certainty": step.certainty.value,
        "evidence": step.evidence,
        "path": step.path,
        "line": step.site.line,
        "column": step.site.column,
    }


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "slug": diagnostic.slug,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "span": None if diagnostic.span is None else _span(diagnostic.span),
    }


def _span(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end}

"""From what was gathered to HTML: everything inlined, nothing fetched, nothing trusted.

Names, paths and code of an analysed repository reach the page in two ways: escaped, or as
JSON in which ``<``, ``>`` and ``&`` are written as escapes, so that it cannot end its
element. The scripts put them into the page as text, never as HTML. As a second wall the
page's policy lets no script run but the ones whose digests it names.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from depslice.slicer.tradeoff import Tradeoff
from depslice.slicer.tradeoff_forms import point_counts

_FEW = 1000


def render_report(data: dict[str, Any]) -> str:
    """The page of what :func:`~depslice.slicer.report.gathering.report_of` has gathered."""
    listed = "".join(
        f"<li><code>{html.escape(item['id'])}</code> {item['distance']}</li>"
        for item in data["items"][:_FEW]
    )
    more = len(data["items"]) - _FEW
    return _page(
        "report",
        title=f"Slice of {data['target']}",
        data=data,
        plain=f"<ol>{listed}</ol>" + (f"<p>… and {more:,} more</p>" if more > 0 else ""),
        scripts=("cytoscape.min.js", "highlight.js", "chart.js", "report.js"),
    )


def render_chart(found: Sequence[Tradeoff]) -> str:
    """The chart of one or several tradeoffs, with its numbers as a table."""
    data = [
        {
            "target": each.target,
            "tokenizer": each.tokenizer,
            "items": each.items,
            "tokens": each.tokens,
            "points": [point_counts(point) for point in each.points],
        }
        for each in found
    ]
    rows = "".join(
        f"<tr><td>{html.escape(each.target)}</td><td>{point.axis}</td><td>{point.value}</td>"
        f"<td>{point.tokens}</td><td>{point.items}</td></tr>"
        for each in found
        for point in each.points
    )
    return _page(
        "tradeoff",
        title="Trade-off: " + ", ".join(each.target for each in found[:3]),
        data=data,
        plain=f"<table>{rows}</table>",
        scripts=("chart.js", "tradeoff.js"),
    )


def _page(name: str, *, title: str, data: object, plain: str, scripts: Sequence[str]) -> str:
    script = "\n".join(map(_asset, scripts))
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    return Template(_asset("page.html")).substitute(
        title=html.escape(title),
        digest=digest,
        style=_asset("page.css"),
        body=_asset(f"{name}.html"),
        plain=plain,
        data=_embedded(data),
        script=script,
    )


@cache
def _asset(name: str) -> str:
    """A file of this package, as it is."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _embedded(data: object) -> str:
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

"""The ``csv`` and ``json`` forms of tradeoffs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

from depslice.slicer.cut import Form
from depslice.slicer.tradeoff import Point, Tradeoff

SCHEMA = "depslice.tradeoff/1"
_COLUMNS: Final = (
    *("target", "tokenizer", "axis", "value", "tokens", "items"),
    *("signature", "name", "left_out", "lost"),
)


def tradeoff_csv(found: Sequence[Tradeoff]) -> str:
    """One row for each point, under a header; ``lost`` are ids with a space between.

    ``signature``, ``name`` and ``left_out`` count the definitions of the complete slice
    that are shown so, or not at all.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for tradeoff in found:
        for point in tradeoff.points:
            writer.writerow(
                (
                    tradeoff.target,
                    tradeoff.tokenizer,
                    point.axis,
                    point.value,
                    point.tokens,
                    point.items,
                    point.in_form(Form.SIGNATURE),
                    point.in_form(Form.NAME),
                    point.left_out,
                    " ".join(loss.symbol for loss in point.lost),
                )
            )
    return text.getvalue()


def tradeoff_document(found: Sequence[Tradeoff]) -> dict[str, Any]:
    """The schema ``depslice.tradeoff/1``: see ``docs/formats/json.md``."""
    return {
        "schema": SCHEMA,
        "tradeoffs": [
            {
                "target": tradeoff.target,
                "tokenizer": tradeoff.tokenizer,
                "items": tradeoff.items,
                "tokens": tradeoff.tokens,
                "points": [_point(point) for point in tradeoff.points],
            }
            for tradeoff in found
        ],
    }


def point_counts(point: Point) -> dict[str, Any]:
    """A point for a chart: numbers of what is lost instead of names."""
    return {
        "axis": point.axis,
        "value": point.value,
        "tokens": point.tokens,
        "items": point.items,
        "signature": point.in_form(Form.SIGNATURE),
        "name": point.in_form(Form.NAME),
        "out": point.left_out,
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "axis": point.axis,
        "value": point.value,
        "tokens": point.tokens,
        "items": point.items,
        "lost": [
            {
                "symbol": loss.symbol,
                "distance": loss.distance,
                "form": None if loss.form is None else loss.form.value,
            }
            for loss in point.lost
        ],
    }

"""The report: one HTML file about one slice, that needs no network."""

from __future__ import annotations

from depslice.slicer.report.gathering import report_of
from depslice.slicer.report.page import render_chart, render_report

__all__ = ["render_chart", "render_report", "report_of"]

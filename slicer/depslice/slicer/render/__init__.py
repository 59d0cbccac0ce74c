"""Renderings of a slice: pure functions from slices to text, each imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from depslice.callgraph.lazily import names_of

if TYPE_CHECKING:
    from depslice.slicer.render.bundle import render_bundle
    from depslice.slicer.render.cutting import cut_file
    from depslice.slicer.render.jsonform import slice_to_json
    from depslice.slicer.render.markup import render_markdown, render_xml
    from depslice.slicer.render.tree import render_tree, write_tree

__all__ = [
    "cut_file",
    "render_bundle",
    "render_markdown",
    "render_tree",
    "render_xml",
    "slice_to_json",
    "write_tree",
]

__getattr__ = names_of(
    __name__,
    {
        "cut_file": "cutting",
        "render_bundle": "bundle",
        "render_markdown": "markup",
        "render_tree": "tree",
        "render_xml": "markup",
        "slice_to_json": "jsonform",
        "write_tree": "tree",
    },
)

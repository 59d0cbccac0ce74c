"""Renderings of a slice: pure functions from slices to text, each imported when first used."""

from __future__ import annotations

from importlib import import_module  # noqa: TID251 - of this package's own modules
from typing import TYPE_CHECKING

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

_HOMES = {
    "cut_file": "cutting",
    "render_bundle": "bundle",
    "render_markdown": "markup",
    "render_tree": "tree",
    "render_xml": "markup",
    "slice_to_json": "jsonform",
    "write_tree": "tree",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)

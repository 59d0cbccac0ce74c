"""Dependency slices: what a function of a repository needs, and nothing else.

>>> program = open_program("fixtures/inventory/repo")        # doctest: +SKIP
>>> target = find_symbol(program, "shop.api:quote")          # doctest: +SKIP
>>> found = slice_symbols(program, [target.id])              # doctest: +SKIP
>>> print(render(program, found, format="bundle").files[0].text)  # doctest: +SKIP
"""

from __future__ import annotations

from depslice.slicer.cut import FileCut, Form, Link
from depslice.slicer.explaining import Explanation, explain_symbol
from depslice.slicer.model import (
    Context,
    ExternalImport,
    Item,
    Omitted,
    RenderedFile,
    Slice,
    Step,
)
from depslice.slicer.parallel import map_slices, slice_all
from depslice.slicer.rendering import render, slice_context
from depslice.slicer.slicing import function_symbols, slice_symbols
from depslice.slicer.strategies import Strategy

__all__ = [
    "Context",
    "Explanation",
    "ExternalImport",
    "FileCut",
    "Form",
    "Item",
    "Link",
    "Omitted",
    "RenderedFile",
    "Slice",
    "Step",
    "Strategy",
    "explain_symbol",
    "function_symbols",
    "map_slices",
    "render",
    "slice_all",
    "slice_context",
    "slice_symbols",
]

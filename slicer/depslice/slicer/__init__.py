"""Dependency slices: what a function of a repository needs, and nothing else.

>>> program = open_program("fixtures/inventory/repo")        # doctest: +SKIP
>>> target = find_symbol(program, "shop.api:quote")          # doctest: +SKIP
>>> found = slice_symbols(program, [target.id])              # doctest: +SKIP
>>> print(render(program, found, format="bundle").files[0].text)  # doctest: +SKIP

What makes slices is imported when first used, so that who asks for what is known does not wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import depslice.slicer.render  # noqa: F401 - first: the function below takes its name
from depslice.callgraph.lazily import names_of
from depslice.slicer.cut import FileCut, Form, Link
from depslice.slicer.model import (
    Context,
    ExternalImport,
    Item,
    Omitted,
    RenderedFile,
    Slice,
    Step,
    Strategy,
)
from depslice.slicer.rendering import render, slice_context

if TYPE_CHECKING:
    from depslice.slicer.explaining import Explanation, explain_symbol
    from depslice.slicer.parallel import map_slices, slice_all
    from depslice.slicer.slicing import function_symbols, slice_symbols

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

__getattr__ = names_of(
    __name__,
    {
        "Explanation": "explaining",
        "explain_symbol": "explaining",
        "function_symbols": "slicing",
        "map_slices": "parallel",
        "slice_all": "parallel",
        "slice_symbols": "slicing",
    },
)

"""From a source tree to symbols, references and the call graph, without running any of it.

The names below are the public interface; each is imported when first used, so that a
command pays only for what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from depslice.callgraph.lazily import names_of

if TYPE_CHECKING:
    from depslice.callgraph.errors import AmbiguousTarget, DepsliceError, UnknownTarget
    from depslice.callgraph.graph import ReferenceGraph
    from depslice.callgraph.model import Certainty, Reference, Symbol
    from depslice.callgraph.opening import open_program, open_workspace
    from depslice.callgraph.program import Module, Program
    from depslice.callgraph.references import build_graph, list_functions
    from depslice.callgraph.targets import find_symbol
    from depslice.callgraph.workspace import Workspace

__all__ = [
    "AmbiguousTarget",
    "Certainty",
    "DepsliceError",
    "Module",
    "Program",
    "Reference",
    "ReferenceGraph",
    "Symbol",
    "UnknownTarget",
    "Workspace",
    "build_graph",
    "find_symbol",
    "list_functions",
    "open_program",
    "open_workspace",
]

__getattr__ = names_of(
    __name__,
    {
        "AmbiguousTarget": "errors",
        "Certainty": "model",
        "DepsliceError": "errors",
        "Module": "program",
        "Program": "program",
        "Reference": "model",
        "ReferenceGraph": "graph",
        "Symbol": "model",
        "UnknownTarget": "errors",
        "Workspace": "workspace",
        "build_graph": "references",
        "find_symbol": "targets",
        "list_functions": "references",
        "open_program": "opening",
        "open_workspace": "opening",
    },
)

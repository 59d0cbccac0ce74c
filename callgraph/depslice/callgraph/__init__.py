"""From a source tree to symbols, references and the call graph, without running any of it.

The names below are the public interface; each is imported when first used, so that a
command pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module  # noqa: TID251 - of this package's own modules
from typing import TYPE_CHECKING

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

_HOMES = {
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
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)

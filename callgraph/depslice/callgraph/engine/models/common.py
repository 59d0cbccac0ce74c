"""What all models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.values import Values

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

INNER: Final = -10_000
"""Registers of containers that a call makes within another."""
DISPLAYS: Final = {
    "builtins.list": "list",
    "builtins.dict": "dict",
    "builtins.set": "set",
    "collections.deque": "deque",
}
"""What makes an empty container."""

Model: TypeAlias = "Callable[[ContainerEvaluation, Call], Values]"
"""What calling a name of the library gives; it has the engine do what the call does besides."""

"""Models of library calls whose effect on values is worth knowing, by the name that is called.

A model gets the engine and the call; it binds what is passed, has the engine call what is called
back, and gives the values of the result. Calls without one are read from stubs
(:mod:`depslice.callgraph.engine.stubtypes`).
"""

from __future__ import annotations

from typing import Final

from depslice.callgraph.engine.models import (
    attributes,
    callables,
    classes,
    containers,
    iteration,
    running,
)
from depslice.callgraph.engine.models.common import DISPLAYS, INNER, Model

MODELS: Final[dict[str, Model]] = {
    **attributes.MODELS,
    **callables.MODELS,
    **classes.MODELS,
    **containers.MODELS,
    **iteration.MODELS,
    **running.MODELS,
}

__all__ = ["DISPLAYS", "INNER", "MODELS", "Model"]

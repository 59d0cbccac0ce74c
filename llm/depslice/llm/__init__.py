"""The model port: messages in, completions out, with what they cost.

>>> with open_model("local:model.gguf") as model:            # doctest: +SKIP
...     [answer] = model.complete([Message(role="user", content="Hello")])
"""

from __future__ import annotations

from depslice.llm.cache import Mode
from depslice.llm.caps import Caps
from depslice.llm.opening import ModelSettings, open_model
from depslice.llm.pacing import Pace
from depslice.llm.port import Completion, Model, ModelError, Options, Usage
from depslice.llm.sampling import OpenModel

__all__ = [
    "Caps",
    "Completion",
    "Mode",
    "Model",
    "ModelError",
    "ModelSettings",
    "OpenModel",
    "Options",
    "Pace",
    "Usage",
    "open_model",
]

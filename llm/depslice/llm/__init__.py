"""The model port: messages in, completions out, with what they cost."""

from __future__ import annotations

from depslice.llm.port import Completion, Model, ModelError, Options, Usage

__all__ = ["Completion", "Model", "ModelError", "Options", "Usage"]

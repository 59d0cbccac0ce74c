"""``llm``: a language model writes the harness; nothing it says is trusted.

prompt → completion → extraction → static checks → (the validator) → repair with evidence.
"""

from __future__ import annotations

from depslice.harness.llm.generating import LlmGenerator

__all__ = ["LlmGenerator"]

"""From contexts to messages: what a language model is asked, as plug-ins and template files."""

from __future__ import annotations

from depslice.prompts.model import Message, Prompt, Role

__all__ = ["Message", "Prompt", "Role"]

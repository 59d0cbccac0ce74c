"""From contexts to messages: what a language model is asked, as plug-ins and template files.

>>> builder = open_builder("equivalence")                    # doctest: +SKIP
>>> prompt = build_prompt(builder, subject_of(program, target))  # doctest: +SKIP
"""

from __future__ import annotations

from depslice.prompts.building import (
    BuilderSettings,
    PromptBuilder,
    build_prompt,
    builder_names,
    open_builder,
)
from depslice.prompts.model import Feedback, Message, Prompt, Role, Subject
from depslice.prompts.subjects import STRATEGIES, subject_of

__all__ = [
    "STRATEGIES",
    "BuilderSettings",
    "Feedback",
    "Message",
    "Prompt",
    "PromptBuilder",
    "Role",
    "Subject",
    "build_prompt",
    "builder_names",
    "open_builder",
    "subject_of",
]

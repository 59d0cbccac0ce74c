"""Specification refinement (R2E, section 3.4): a docstring that says all that can be seen."""

from __future__ import annotations

from dataclasses import dataclass

from depslice.llm.port import DEFAULTS, BadReply, Completion, Model, Options, Usage
from depslice.prompts.model import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """A specification as a model wrote it; nobody has checked that it is true."""

    text: str
    usage: Usage


def refine(model: Model, prompt: Prompt, *, options: Options = DEFAULTS) -> Refinement:
    """The specification that ``prompt`` asks ``model`` for.

    :raises BadReply: the answer is empty, or was cut off.
    :raises ModelError: there is no answer.
    """
    [completion] = model.complete(prompt.messages, options=options)
    return Refinement(text=_specification(completion, model.name), usage=completion.usage)


def _specification(completion: Completion, name: str) -> str:
    if completion.finish_reason != "stop":
        raise BadReply(
            f"{name}: the answer is not complete ({completion.finish_reason})",
            hint="--max-tokens, if that is the length" if completion.text else "",
        )
    text = completion.text.strip()
    lines = text.splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1]).strip()
    for quotes in ('"""', "'''"):
        if text.startswith(quotes) and text.endswith(quotes) and len(text) >= 2 * len(quotes):
            text = text[len(quotes) : -len(quotes)].strip()
    if not text:
        raise BadReply(f"{name}: the answer is empty")
    return text

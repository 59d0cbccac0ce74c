"""Specification refinement (R2E, section 3.4): a docstring that says all that can be seen."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import warnings
from dataclasses import dataclass
from typing import Final

from depslice.llm.port import DEFAULTS, BadReply, Completion, Model, Options, Usage
from depslice.prompts.model import Prompt

# "Here is the docstring:", by its word: a line with a colon alone may begin the docstring itself.
_ANNOUNCED: Final = re.compile(r"\A[^\n]*\bdocstring\b[^\n]*:[ \t*]*\n\s*", re.IGNORECASE)
_ENCLOSED: Final = re.compile(
    r"""\A(```[^\n`]*\n.*?^```[ \t]*$|\"{3}.*?\"{3}|'{3}.*?'{3})""", re.MULTILINE | re.DOTALL
)
_FENCED: Final = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


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
    try:
        text = _bare(completion.text)
    except BadReply as error:
        raise BadReply(f"{name}: {error.message}") from None
    if not text:
        raise BadReply(f"{name}: the answer is empty")
    return text


def _bare(text: str) -> str:
    """The docstring in an answer: as it is, fenced, quoted, or in a whole function.

    A line that announces it is none of it.

    :raises BadReply: there is a function, and it has none.
    """
    text = _said(text.strip())
    blocks = _FENCED.findall(text)
    for code in (text, *(blocks if len(blocks) == 1 else ())):
        match _parsed(code):
            case [ast.Expr(value=ast.Constant(value=str(said)))]:
                return inspect.cleandoc(said)
            case [*_, ast.FunctionDef() | ast.AsyncFunctionDef() as function]:
                found = ast.get_docstring(function)
                if found is None:
                    raise BadReply("the answer is code, and no docstring")
                return found
    lines = text.splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        text = "\n".join(lines[1:-1]).strip()
    for quotes in ('"""', "'''"):
        if text.startswith(quotes) and text.endswith(quotes) and len(text) >= 2 * len(quotes):
            text = text[len(quotes) : -len(quotes)].strip()
    return text


def _said(text: str) -> str:
    """An answer without a first line that announces it, and what follows when it is enclosed."""
    rest = text[announced.end() :] if (announced := _ANNOUNCED.match(text)) else ""
    if not rest:
        return text
    enclosed = _ENCLOSED.match(rest)
    return enclosed[1] if enclosed is not None else rest


def _parsed(code: str) -> list[ast.stmt]:
    """Its statements; none where it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in texts
            return ast.parse(textwrap.dedent(code)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []

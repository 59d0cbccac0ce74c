"""Prompts as values: what they are about, the messages, and which messages they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from depslice.slicer.model import RenderedFile

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation with a model."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Messages, and where they come from.

    ``builder`` and ``version`` say who wrote them, ``strategy`` which context of the target
    is in them (empty where there is none). ``tokens`` is the size of all contents as
    ``tokenizer`` counts it, without what a provider adds for each message. ``digest`` is
    the SHA-256 of roles and contents: equal digests, equal messages.
    """

    messages: tuple[Message, ...]
    builder: str
    version: str
    strategy: str
    tokens: int
    tokenizer: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What came of an earlier answer: for prompts that ask for a better one.

    ``answer`` is its code, ``reasons`` say why it was rejected. ``uncovered`` are lines of
    the target that it does not reach, ``survivors`` diffs of mutants that it does not tell
    from the target. ``opening`` are the messages that it was the answer to. ``tried`` are
    later answers that were no better.
    """

    answer: str
    reasons: tuple[str, ...]
    uncovered: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    opening: tuple[Message, ...] = ()
    tried: tuple[Feedback, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a prompt is about: all that a builder, or a template, may use.

    ``target`` is the symbol id; ``module`` and ``qualname`` are its parts, ``name`` is the
    last of them. ``call`` shows how a harness calls it. ``source`` is its definition,
    ``outline`` the same without the statements of its body, ``docstring`` what it says of
    itself. ``files`` are its context by ``strategy``; where ``is_hidden``, the target is
    there in outline only. ``examples`` are calls that were observed, as text. ``feedback``
    is for further rounds.
    """

    target: str
    module: str
    qualname: str
    name: str
    call: str
    source: str
    outline: str
    docstring: str
    strategy: str
    files: tuple[RenderedFile, ...]
    is_hidden: bool = False
    examples: tuple[str, ...] = ()
    feedback: Feedback | None = None

"""A prompt as a value: the messages, and all that is needed to tell which ones they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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

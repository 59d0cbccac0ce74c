"""What a request will take at most, before it is sent: for limits, caps and dry runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from depslice.llm.port import DEFAULTS, Options, Usage
from depslice.llm.prices import Price, Tokens
from depslice.prompts.model import Message
from depslice.slicer.tokens import count_tokens

_OVERHEAD: Final = 4
"""Tokens that a provider adds for each message."""


def input_tokens(messages: Sequence[Message]) -> int:
    """The size of messages, estimated from their characters."""
    return sum(count_tokens(message.content) + _OVERHEAD for message in messages)


def expected_usage(
    messages: Sequence[Message], price: Price, *, n: int = 1, options: Options = DEFAULTS
) -> Usage:
    """What ``n`` answers take if each is as long as it may be, and nothing is cached."""
    read, written = n * input_tokens(messages), n * options.max_tokens
    return Usage(
        calls=n,
        input_tokens=read,
        output_tokens=written,
        dollars=price.dollars(Tokens(input=read, output=written)),
    )

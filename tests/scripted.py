"""The one fake of a language model: answers that a test has written."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from depslice.llm.port import DEFAULTS, Completion, FinishReason, Options, Usage
from depslice.prompts.model import Message

Reply = str | Completion | Exception


@dataclass(slots=True)
class ScriptedModel:
    """Gives ``replies`` one after the other, or what a function of the messages says.

    A reply that is an exception is raised. When the replies are used up, a test has asked
    more than it meant to, and fails. ``asked`` has the messages of each sample, in order.
    """

    replies: Sequence[Reply] | Callable[[Sequence[Message]], Reply]
    name: str = "scripted"
    asked: list[Sequence[Message]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(
        self, messages: Sequence[Message], *, n: int = 1, options: Options = DEFAULTS
    ) -> list[Completion]:
        return [self._one(messages) for _ in range(n)]

    def _one(self, messages: Sequence[Message]) -> Completion:
        with self._lock:
            number = len(self.asked)
            self.asked.append(tuple(messages))
        if callable(self.replies):  # which may wait for another that is asked meanwhile
            reply = self.replies(messages)
        else:
            assert number < len(self.replies), "more was asked than the script has"
            reply = self.replies[number]
        match reply:
            case Exception():
                raise reply
            case Completion():
                return reply
            case str():
                return said(reply, messages=messages)


def said(
    text: str, *, finish_reason: FinishReason = "stop", messages: Sequence[Message] = ()
) -> Completion:
    """A completion of this text, with a usage of one token a character and no price."""
    usage = Usage(
        calls=1,
        input_tokens=sum(len(message.content) for message in messages),
        output_tokens=len(text),
        seconds=0.5,
    )
    return Completion(text=text, finish_reason=finish_reason, usage=usage)

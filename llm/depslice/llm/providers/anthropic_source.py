"""Messages as Anthropic defines them.

The protocol has no ``temperature``, ``top_p`` or ``seed`` (any more: the SDK has dropped the
first two in 2.0); those of the options are not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from depslice.llm.expecting import input_tokens
from depslice.llm.port import BadReply, Completion, FinishReason
from depslice.llm.prices import Tokens
from depslice.llm.providers.sdk_source import SdkSource, reported
from depslice.llm.request import Request
from depslice.slicer.tokens import count_tokens

if TYPE_CHECKING:
    import anthropic
    import anthropic.types


class AnthropicSource(SdkSource):
    """Asks one model."""

    official = "https://api.anthropic.com"
    failures = "AnthropicError"
    reasons: ClassVar[Mapping[str, FinishReason]] = {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refused",
    }

    def _sdk(self) -> ModuleType:
        import anthropic

        return anthropic

    def _send(self, client: anthropic.Anthropic, request: Request) -> anthropic.types.Message:
        reply: anthropic.types.Message = client.messages.create(**self._parameters(request))
        return reply

    def _parameters(self, request: Request) -> dict[str, Any]:
        options = request.options
        system = "\n\n".join(m.content for m in request.messages if m.role == "system")
        chosen = {
            "stop_sequences": list(options.stop) or None,
            # Prompts start with what they have in common. Here that has to be marked.
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
            if system
            else None,
        }
        return {
            "model": self._endpoint.model,
            "messages": [
                {"role": m.role, "content": m.content}
                for m in request.messages
                if m.role != "system"
            ],
            "max_tokens": options.max_tokens,
            **{name: value for name, value in chosen.items() if value is not None},
        }

    def _completion(
        self, request: Request, reply: anthropic.types.Message, seconds: float
    ) -> Completion:
        try:
            text = "".join(block.text for block in reply.content if block.type == "text")
            tokens = _tokens(request, reply, text)
            reason = reply.stop_reason
        except (AttributeError, TypeError):
            raise BadReply(
                f"{self.name}: the reply is no completion: {self._told(reply)}"
            ) from None
        return self._completed(text, reason, tokens, seconds)


def _tokens(request: Request, reply: anthropic.types.Message, text: str) -> Tokens:
    """As reported; estimated from characters where a server reports nothing.

    What has to do with the cache is not among ``input_tokens`` there.
    """
    said = reply.usage
    cached = reported(said, "cache_read_input_tokens", otherwise=0)
    written = reported(said, "cache_creation_input_tokens", otherwise=0)
    fresh = reported(
        said, "input_tokens", otherwise=max(0, input_tokens(request.messages) - cached - written)
    )
    return Tokens(
        input=fresh + cached + written,
        output=reported(said, "output_tokens", otherwise=count_tokens(text)),
        cached=cached,
        written=written,
    )

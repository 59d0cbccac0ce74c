"""Messages as Anthropic defines them.

The protocol has no ``temperature``, ``top_p`` or ``seed`` (any more: the SDK has dropped the
first two in 2.0); those of the options are not sent.
"""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from depslice.llm.port import BadReply, Completion, FinishReason, Usage
from depslice.llm.prices import Price
from depslice.llm.providers.endpoint import Endpoint
from depslice.llm.providers.failing import package_missing, redacted, translate
from depslice.llm.request import Request

if TYPE_CHECKING:
    import anthropic
    import anthropic.types

OFFICIAL: Final = "https://api.anthropic.com"
_REASONS: Final[dict[str | None, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class AnthropicSource:
    """Asks one model."""

    def __init__(self, name: str, endpoint: Endpoint, price: Price) -> None:
        self.name = name
        self._endpoint = endpoint
        self._price = price
        self._opening = threading.Lock()

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`."""
        with self._opening:
            client = self._client
        import anthropic

        started = time.monotonic()
        try:
            reply = client.messages.create(**self._parameters(request))
        except (anthropic.AnthropicError, ValueError) as error:
            key = self._endpoint.key
            raise translate(anthropic, error, model=self.name, key=key) from None
        return self._completion(reply, time.monotonic() - started)

    def close(self) -> None:
        """Close its connections."""
        if "_client" in self.__dict__:
            self._client.close()

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

    def _completion(self, reply: anthropic.types.Message, seconds: float) -> Completion:
        """The SDK does not validate what it was sent: anything may be missing."""
        try:
            text = "".join(block.text for block in reply.content if block.type == "text")
            usage = self._usage(reply.usage, seconds)
            reason = reply.stop_reason
        except (AttributeError, TypeError):
            said = redacted(str(reply), self._endpoint.key)[:200]
            raise BadReply(f"{self.name}: the reply is no completion: {said}") from None
        return Completion(
            text=redacted(text, self._endpoint.key),
            finish_reason=_REASONS.get(reason, "other"),
            usage=usage,
        )

    def _usage(self, said: anthropic.types.Usage, seconds: float) -> Usage:
        cached = said.cache_read_input_tokens or 0
        written = said.cache_creation_input_tokens or 0
        read = said.input_tokens + cached + written
        return Usage(
            calls=1,
            input_tokens=read,
            cached_tokens=cached,
            output_tokens=said.output_tokens,
            seconds=seconds,
            dollars=self._price.dollars(
                input_tokens=read,
                output_tokens=said.output_tokens,
                cached_tokens=cached,
                written_tokens=written,
            ),
        )

    @cached_property
    def _client(self) -> anthropic.Anthropic:
        try:
            import anthropic
        except ImportError as error:
            raise package_missing("anthropic", error) from None
        endpoint = self._endpoint
        return anthropic.Anthropic(
            api_key=endpoint.key or "none",
            base_url=endpoint.url,
            max_retries=0,
            timeout=endpoint.timeout,
            http_client=anthropic.DefaultHttpxClient(
                trust_env=not endpoint.is_local, timeout=endpoint.timeout
            ),
        )

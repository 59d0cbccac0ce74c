"""Chat completions as OpenAI defined them, which most servers speak."""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from depslice.llm.expecting import input_tokens
from depslice.llm.port import BadReply, Completion, FinishReason, Usage
from depslice.llm.prices import Price
from depslice.llm.providers.endpoint import Endpoint
from depslice.llm.providers.failing import package_missing, redacted, translate
from depslice.llm.request import Request
from depslice.slicer.tokens import count_tokens

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

OFFICIAL: Final = "https://api.openai.com/v1"
_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refused",
}


class OpenAISource:
    """Asks one model of an endpoint."""

    def __init__(self, name: str, endpoint: Endpoint, price: Price) -> None:
        self.name = name
        self._endpoint = endpoint
        self._price = price
        self._opening = threading.Lock()

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`."""
        with self._opening:
            client = self._client
        import openai

        started = time.monotonic()
        try:
            reply = client.chat.completions.create(**self._parameters(request))
        except (openai.OpenAIError, ValueError) as error:
            key = self._endpoint.key
            raise translate(openai, error, model=self.name, key=key) from None
        return self._completion(request, reply, time.monotonic() - started)

    def close(self) -> None:
        """Close its connections."""
        if "_client" in self.__dict__:
            self._client.close()

    def _parameters(self, request: Request) -> dict[str, Any]:
        options = request.options
        # The official endpoint refuses the old name for its newer models; others know it alone.
        limit = "max_completion_tokens" if self._endpoint.url == OFFICIAL else "max_tokens"
        seed = None if options.seed is None else options.seed + request.sample
        chosen = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "stop": list(options.stop) or None,
            "seed": seed,
        }
        return {
            "model": self._endpoint.model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
            limit: options.max_tokens,
            **{name: value for name, value in chosen.items() if value is not None},
        }

    def _completion(self, request: Request, reply: ChatCompletion, seconds: float) -> Completion:
        """The SDK does not validate what it was sent: anything may be missing."""
        try:
            choice = reply.choices[0]
            text = choice.message.content or ""
            reason = "content_filter" if choice.message.refusal else choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            said = redacted(str(getattr(reply, "error", reply)), self._endpoint.key)[:200]
            raise BadReply(f"{self.name}: the reply is no completion: {said}") from None
        if not isinstance(text, str):
            raise BadReply(f"{self.name}: the reply is no text")
        text = redacted(text, self._endpoint.key)
        return Completion(
            text=text,
            finish_reason=_REASONS.get(reason, "other"),
            usage=self._usage(request, reply, text, seconds),
        )

    def _usage(self, request: Request, reply: ChatCompletion, text: str, seconds: float) -> Usage:
        """As reported; estimated from characters where a server reports nothing."""
        said = reply.usage
        details = said.prompt_tokens_details if said else None
        read = said.prompt_tokens if said else input_tokens(request.messages)
        written = said.completion_tokens if said else count_tokens(text)
        cached = (details.cached_tokens if details else 0) or 0
        return Usage(
            calls=1,
            input_tokens=read,
            cached_tokens=cached,
            output_tokens=written,
            seconds=seconds,
            dollars=self._price.dollars(
                input_tokens=read, output_tokens=written, cached_tokens=cached
            ),
        )

    @cached_property
    def _client(self) -> openai.OpenAI:
        try:
            import openai
        except ImportError as error:
            raise package_missing("openai", error) from None
        endpoint = self._endpoint
        return openai.OpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.url,
            max_retries=0,
            timeout=endpoint.timeout,
            http_client=openai.DefaultHttpxClient(
                trust_env=not endpoint.is_local, timeout=endpoint.timeout
            ),
        )

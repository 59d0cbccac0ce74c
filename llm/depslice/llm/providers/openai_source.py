"""Chat completions as OpenAI defined them, which most servers speak."""

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
    import openai
    from openai.types.chat import ChatCompletion


class OpenAISource(SdkSource):
    """Asks one model of an endpoint."""

    official = "https://api.openai.com/v1"
    failures = "OpenAIError"
    reasons: ClassVar[Mapping[str, FinishReason]] = {
        "stop": "stop",
        "length": "length",
        "content_filter": "refused",
    }

    def _sdk(self) -> ModuleType:
        import openai

        return openai

    def _send(self, client: openai.OpenAI, request: Request) -> ChatCompletion:
        reply: ChatCompletion = client.chat.completions.create(**self._parameters(request))
        return reply

    def _parameters(self, request: Request) -> dict[str, Any]:
        options = request.options
        # The official endpoint refuses the old name for its newer models; others know it alone.
        limit = "max_completion_tokens" if self._endpoint.url == self.official else "max_tokens"
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
        try:
            choice = reply.choices[0]
            text = choice.message.content or ""
            reason = "content_filter" if choice.message.refusal else choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            said = self._told(getattr(reply, "error", reply))
            raise BadReply(f"{self.name}: the reply is no completion: {said}") from None
        if not isinstance(text, str):
            raise BadReply(f"{self.name}: the reply is no text")
        tokens = _tokens(request, reply, text)
        return self._completed(text, reason, tokens, seconds)


def _tokens(request: Request, reply: ChatCompletion, text: str) -> Tokens:
    """As reported; estimated from characters where a server reports nothing."""
    said = reply.usage
    details = getattr(said, "prompt_tokens_details", None)
    return Tokens(
        input=reported(said, "prompt_tokens", otherwise=input_tokens(request.messages)),
        output=reported(said, "completion_tokens", otherwise=count_tokens(text)),
        cached=reported(details, "cached_tokens", otherwise=0),
    )

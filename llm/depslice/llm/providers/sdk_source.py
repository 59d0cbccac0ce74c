"""What the two SDKs have in common: a client that is opened once, and how it fails."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Final

from depslice.llm.port import BadReply, Completion, FinishReason, Usage
from depslice.llm.prices import Price, Tokens
from depslice.llm.providers.endpoint import Endpoint
from depslice.llm.providers.failing import broken, package_missing, redacted, translate
from depslice.llm.request import Request

_SAID: Final = 200  # characters of a reply that is told in a message


class SdkSource(ABC):
    """Asks one model of an endpoint through an SDK; may be used by several threads.

    The SDK is imported, and its client made, by the first request.
    """

    official: ClassVar[str]
    """The provider's own endpoint."""

    failures: ClassVar[str]
    """The name, in the SDK, of the base of its exceptions."""

    reasons: ClassVar[Mapping[str, FinishReason]]
    """Why a model stopped, by the protocol's words for it."""

    def __init__(self, name: str, endpoint: Endpoint, price: Price) -> None:
        self.name = name
        self._endpoint = endpoint
        self._price = price
        self._opening = threading.Lock()

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`."""
        with self._opening:
            client = self._client
        sdk = self._sdk()
        started = time.monotonic()
        try:
            reply = self._send(client, request)
        except (getattr(sdk, self.failures), ValueError, RecursionError) as error:
            waited = time.monotonic() - started
            key = self._endpoint.key
            raise translate(sdk, error, model=self.name, key=key, seconds=waited) from None
        try:
            return self._completion(request, reply, time.monotonic() - started)
        except BadReply as failure:
            raise broken(failure) from None

    def close(self) -> None:
        """Close its connections."""
        if "_client" in self.__dict__:
            self._client.close()

    @abstractmethod
    def _sdk(self) -> ModuleType:
        """The SDK, imported.

        :raises ImportError: it is not installed.
        """

    @abstractmethod
    def _send(self, client: Any, request: Request) -> Any:
        """The reply, as the SDK has it."""

    @abstractmethod
    def _completion(self, request: Request, reply: Any, seconds: float) -> Completion:
        """What is said in ``reply``. The SDKs do not validate it: anything may be missing.

        :raises BadReply: it is no completion.
        """

    @cached_property
    def _client(self) -> Any:
        endpoint = self._endpoint
        try:
            sdk = self._sdk()
        except ImportError as error:
            raise package_missing(error) from None
        return sdk.Client(
            api_key=endpoint.key or "none",
            base_url=endpoint.url,
            max_retries=0,
            timeout=endpoint.timeout,
            http_client=sdk.DefaultHttpxClient(
                trust_env=not endpoint.is_local, timeout=endpoint.timeout
            ),
        )

    def _completed(self, text: str, reason: object, tokens: Tokens, seconds: float) -> Completion:
        return Completion(
            text=redacted(text, self._endpoint.key),
            finish_reason=self.reasons.get(str(reason), "other"),
            usage=Usage(
                calls=1,
                input_tokens=tokens.input,
                cached_tokens=tokens.cached,
                output_tokens=tokens.output,
                seconds=seconds,
                dollars=self._price.dollars(tokens),
            ),
        )

    def _told(self, reply: object) -> str:
        """The start of what came instead of a completion."""
        return redacted(str(reply), self._endpoint.key)[:_SAID]


def reported(said: object, name: str, *, otherwise: int) -> int:
    """The number of tokens that a reply reports as ``name``; ``otherwise`` if it reports none."""
    found = getattr(said, name, None)
    return found if isinstance(found, int) and found >= 0 else otherwise

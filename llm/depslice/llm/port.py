"""The port that everything above speaks through: ``messages -> completions``.

Nothing here knows a provider, a protocol or a package. What stands between the port and a
provider (cache, limits, caps, retries) has the same form, so that each wraps the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from depslice.callgraph.errors import DepsliceError
from depslice.prompts.model import Message

FinishReason = Literal["stop", "length", "refused", "other"]
"""Why a model stopped: it was done (or met a stop string), it reached ``max_tokens`` or the
end of its context, a filter or the model refused, or anything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to sample.

    ``max_tokens`` limits each completion; ``seed`` + *i* is used for sample *i*,
    by those providers that know seeds.
    """

    temperature: float | None = 0.0  # None: the provider's own, for models that refuse others
    top_p: float | None = None
    max_tokens: int = 2048
    stop: tuple[str, ...] = ()
    seed: int | None = None


DEFAULTS: Final = Options()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What requests took. Usages add up.

    ``input_tokens`` counts all tokens of the messages, of which ``cached_tokens`` were read
    from the provider's own prompt cache. ``seconds`` is wall time, waiting for limits not
    counted. ``dollars`` is None where the price of the model is not known; a sum with an
    unknown part is unknown.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.dollars is not None and other.dollars is not None
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            seconds=self.seconds + other.seconds,
            dollars=(self.dollars or 0.0) + (other.dollars or 0.0) if known else None,
        )


NOTHING: Final = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer of a model.

    ``usage`` is what the answer took when the model gave it, also where it now comes from
    the cache: a replayed run reports the same figures as the run that it replays.
    ``spent`` is what it took now.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage
    from_cache: bool = False

    @property
    def spent(self) -> Usage:
        """What was paid for it in this run: nothing if it comes from the cache."""
        return NOTHING if self.from_cache else self.usage


class Model(Protocol):
    """A language model. Implementations may be called from several threads at once."""

    @property
    def name(self) -> str:
        """Which model it is, as cache keys and reports have it."""
        ...

    def complete(
        self, messages: Sequence[Message], *, n: int = 1, options: Options = DEFAULTS
    ) -> list[Completion]:
        """``n`` answers to ``messages``, each sampled on its own.

        :raises ModelError: one of its kinds below; no answer is lost that was paid for,
            where there is a cache.
        """
        ...


class ModelError(DepsliceError):
    """A model has not answered. Base of the kinds below."""

    slug = "model"
    exit_code = 3


class ModelUnavailable(ModelError):
    """It cannot be reached, its package is missing, or its server fails again and again."""

    slug = "model-unavailable"


class Unauthorized(ModelError):
    """There is no key, or the provider does not accept it."""

    slug = "model-unauthorized"


class RateLimited(ModelError):
    """The provider still refuses after all retries."""

    slug = "model-rate-limited"


class BadReply(ModelError):
    """What came back is no completion, or the provider rejects the request as it is."""

    slug = "model-bad-reply"


class PromptTooLong(BadReply):
    """The prompt does not fit into the model's context: only a shorter one will do."""

    slug = "model-prompt-too-long"


class CapReached(ModelError):
    """A cap on dollars, tokens or calls forbids the request. Nothing was sent."""

    slug = "cap-reached"


class CacheMiss(ModelError):
    """A replay needs an answer that was never recorded."""

    slug = "cache-miss"

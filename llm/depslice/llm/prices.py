"""What tokens cost: as the user says, or as the package ``genai-prices`` lists it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from depslice.callgraph.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Numbers of tokens that a request took.

    Of ``input``, ``cached`` were read from the provider's prompt cache and ``written`` were
    written to it.
    """

    input: int
    output: int
    cached: int = 0
    written: int = 0


class Price(Protocol):
    """Turns tokens into dollars."""

    def dollars(self, tokens: Tokens) -> float | None:
        """What they cost, or None: not known."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPrice:
    """Dollars for a million tokens. What is read from a prompt cache may cost less."""

    input: float
    output: float
    cached: float | None = None

    def dollars(self, tokens: Tokens) -> float | None:
        """See :class:`Price`."""
        cached = self.input if self.cached is None else self.cached
        fresh = tokens.input - tokens.cached
        parts = (fresh * self.input, tokens.cached * cached, tokens.output * self.output)
        return sum(parts) / 1e6


FREE: Final = FixedPrice(input=0.0, output=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrice:
    """The provider's list price, as the installed version of ``genai-prices`` has it.

    It is not fetched: a model that is younger than the package has no price.
    """

    provider: str
    model: str

    def dollars(self, tokens: Tokens) -> float | None:
        """See :class:`Price`."""
        try:
            import genai_prices

            found = genai_prices.calc_price(
                genai_prices.Usage(
                    input_tokens=tokens.input,
                    output_tokens=tokens.output,
                    cache_read_tokens=tokens.cached,
                    cache_write_tokens=tokens.written,
                ),
                self.model,
                provider_id=self.provider,
            )
        except (ImportError, LookupError):
            return None
        return float(found.total_price)


@dataclass(frozen=True, slots=True)
class UnknownPrice:
    """For endpoints that no list knows."""

    def dollars(self, tokens: Tokens) -> float | None:
        """None."""
        return None


def parse_price(text: str) -> FixedPrice:
    """``INPUT/OUTPUT`` or ``INPUT/OUTPUT/CACHED``, dollars for a million tokens.

    >>> parse_price("0.5/2")
    FixedPrice(input=0.5, output=2.0, cached=None)

    :raises OptionError: it is something else.
    """
    try:
        numbers = [float(part) for part in text.split("/")]
        input_, output, *cached = numbers
    except ValueError:
        numbers, cached = [-1.0], []
    if min(numbers) < 0 or len(cached) > 1 or not max(numbers) < float("inf"):
        raise OptionError(
            f"{text!r} is no price: INPUT/OUTPUT or INPUT/OUTPUT/CACHED,"
            " dollars for a million tokens"
        )
    return FixedPrice(input=input_, output=output, cached=cached[0] if cached else None)

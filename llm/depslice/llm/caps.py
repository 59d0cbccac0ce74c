"""Caps on what is spent: reached, nothing more is sent, and what was paid for is kept.

A cap is overshot by one request at most, however many are in flight: a request is sent if
it fits beside those in flight, even if each were as long as it may be. If it does not fit
it waits for them, and only what is really spent decides then.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from depslice.callgraph.counting import counted
from depslice.llm.expecting import expected_usage
from depslice.llm.port import NOTHING, BadReply, CapReached, Completion, Usage
from depslice.llm.prices import Price
from depslice.llm.request import Request, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits of what may be spent; None: no limit. ``tokens`` are input and output."""

    dollars: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def reached_by(self, usage: Usage) -> str:
        """Which cap ``usage`` has reached, in words; empty: none."""
        if self.calls is not None and usage.calls >= self.calls:
            return counted(self.calls, "call")
        if self.tokens is not None and _tokens(usage) >= self.tokens:
            return f"{self.tokens} tokens"
        if self.dollars is not None and (usage.dollars or 0.0) >= self.dollars:
            return f"${self.dollars:g}"
        return ""

    def hold(self, usage: Usage) -> bool:
        """Whether ``usage`` stays within all of them."""
        return (
            (self.calls is None or usage.calls <= self.calls)
            and (self.tokens is None or _tokens(usage) <= self.tokens)
            and (self.dollars is None or (usage.dollars or 0.0) <= self.dollars)
        )


class Ledger:
    """What was spent under caps, by any number of threads. ``scope`` is "run" or "task"."""

    def __init__(self, caps: Caps, *, scope: str) -> None:
        self.caps = caps
        self.spent = NOTHING
        self._scope = scope
        self._in_flight: dict[int, Usage] = {}
        self._tickets = 0
        self._changed = threading.Condition()

    @property
    def is_full(self) -> bool:
        """Whether a cap is reached."""
        return bool(self.caps.reached_by(self.spent))

    def admit(self, expected: Usage) -> int:
        """Wait until a request fits; the ticket is for :meth:`settle`.

        :raises CapReached: a cap is reached.
        """
        with self._changed:
            while not self._fits(expected):
                self._changed.wait()
            self._tickets += 1
            self._in_flight[self._tickets] = expected
            return self._tickets

    def settle(self, ticket: int, spent: Usage) -> None:
        """A request has ended, and took ``spent``."""
        with self._changed:
            del self._in_flight[ticket]
            self.spent += spent
            self._changed.notify_all()

    def _fits(self, expected: Usage) -> bool:
        if reached := self.caps.reached_by(self.spent):
            raise CapReached(f"the {self._scope}'s cap of {reached} is reached")
        if not self._in_flight:
            return True
        return self.caps.hold(sum(self._in_flight.values(), self.spent) + expected)


class Capped:
    """Asks while its ledger allows.

    The ledger of a run counts what is paid (``replayed=False``). That of a task counts
    also what comes from the cache, so that a run that is resumed, or replayed, stops at
    the same request.
    """

    def __init__(self, source: Source, ledger: Ledger, price: Price, *, replayed: bool) -> None:
        self.name = source.name
        self._source = source
        self._ledger = ledger
        self._price = price
        self._replayed = replayed

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`.

        :raises CapReached: a cap is reached.
        """
        expected = expected_usage(request.messages, self._price, options=request.options)
        ticket = self._ledger.admit(expected)
        spent = NOTHING
        try:
            completion = self._source.ask(request)
            spent = completion.usage if self._replayed else completion.spent
            return completion
        except BadReply:
            spent = Usage(calls=1)  # perhaps paid for
            raise
        finally:
            self._ledger.settle(ticket, spent)


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens

"""The one place that tries again. The SDKs beneath are told not to."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from depslice.llm.clock import Clock
from depslice.llm.port import Completion
from depslice.llm.request import Request, Source, Transient


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """At most ``tries`` in all, and at most ``seconds`` of waiting: between them, and for
    answers that did not come in time.

    Where a provider does not say how long to wait, the wait doubles from ``first`` seconds,
    each time shortened at random so that many clients do not come back at once.
    """

    tries: int = 6
    seconds: float = 180.0
    first: float = 1.0


class Retrying:
    """Asks again after failures that pass.

    ``say`` is told of the first failure of each kind, at once: who waits may know better (a
    server that was not started, another port). Of those that follow it would learn nothing.
    """

    def __init__(
        self,
        source: Source,
        patience: Patience,
        clock: Clock,
        *,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.name = source.name
        self._source = source
        self._patience = patience
        self._clock = clock
        self._say = say
        self._told: set[type[Exception]] = set()

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`; raises the last failure."""
        left = self._patience.seconds
        tries = 0
        while True:
            try:
                return self._source.ask(request)
            except Transient as transient:
                tries += 1
                wait = self._wait(transient, tries)
                left -= transient.waited
                most = min(self._patience.tries, transient.tries or self._patience.tries)
                if tries >= most or wait > left:
                    raise transient.failure from None
                self._tell(transient.failure, wait)
            left -= wait
            self._clock.sleep(wait)

    def _tell(self, failure: Exception, wait: float) -> None:
        if self._say is not None and type(failure) not in self._told:
            self._told.add(type(failure))
            self._say(f"{failure}; asking again in {wait:.1f} seconds")

    def _wait(self, transient: Transient, tries: int) -> float:
        if transient.retry_after is not None:
            return transient.retry_after
        longest = self._patience.first * 2.0 ** (tries - 1)
        return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret

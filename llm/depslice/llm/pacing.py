"""Limits of how fast a provider is asked: at once, and in a minute."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from depslice.llm.clock import Clock
from depslice.llm.expecting import input_tokens
from depslice.llm.port import Completion, RateLimited
from depslice.llm.request import Request, Source, Transient

_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Requests at once, and requests and tokens in any 60 seconds; None: no limit.

    Without a ``concurrency`` it is 4, and 1 for a model of this machine.
    """

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(slots=True)
class _Sent:
    at: float
    tokens: int


class Paced:
    """Holds requests back until the pace allows them, and all while a provider asks for it.

    If that is for longer than ``patience`` seconds, they fail: as the one that it was told.
    """

    def __init__(
        self, source: Source, pace: Pace, *, concurrency: int, patience: float, clock: Clock
    ) -> None:
        self.name = source.name
        self._source = source
        self._pace = pace
        self._patience = patience
        self._clock = clock
        self._slots = threading.BoundedSemaphore(concurrency)
        self._lock = threading.Lock()
        self._window: deque[_Sent] = deque()
        self._closed_until = 0.0

    def ask(self, request: Request) -> Completion:
        """See :class:`~depslice.llm.request.Source`.

        :raises Transient: the source does, or a provider has asked for a longer wait.
        """
        with self._slots:
            sent = self._admit(input_tokens(request.messages) + request.options.max_tokens)
            try:
                completion = self._source.ask(request)
            except Transient as failure:
                if failure.retry_after is not None:
                    self._close(failure.retry_after)
                raise
            sent.tokens = completion.usage.input_tokens + completion.usage.output_tokens
            return completion

    def _close(self, seconds: float) -> None:
        with self._lock:
            self._closed_until = max(self._closed_until, self._clock.now() + seconds)

    def _admit(self, tokens: int) -> _Sent:
        while True:
            with self._lock:
                now = self._clock.now()
                wait = self._wait(now, tokens)
                if wait <= 0:
                    sent = _Sent(at=now, tokens=tokens)
                    self._window.append(sent)
                    return sent
            self._clock.sleep(wait)

    def _wait(self, now: float, tokens: int) -> float:
        """Seconds until it is worth looking again; 0: a request of that size may be sent."""
        closed = self._closed_until - now
        if closed > self._patience:
            told = f"{self.name}: the provider wants to be asked again in {closed:,.0f} seconds"
            raise Transient(RateLimited(told), retry_after=closed)
        if closed > 0:
            return closed
        while self._window and self._window[0].at <= now - _MINUTE:
            self._window.popleft()
        total = tokens + sum(each.tokens for each in self._window)
        requests, most = self._pace.requests_per_minute, self._pace.tokens_per_minute
        crowded = requests is not None and len(self._window) >= requests
        heavy = most is not None and total > most
        # One that is larger than the limit by itself goes alone.
        if self._window and (crowded or heavy):
            return self._window[0].at + _MINUTE - now
        return 0.0

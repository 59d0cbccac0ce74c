"""From the port to single requests: ``n`` answers, asked for at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self

from depslice.callgraph.awaiting import results_of
from depslice.callgraph.errors import OptionError
from depslice.llm.caps import Capped, Caps, Ledger
from depslice.llm.port import DEFAULTS, Completion, Options
from depslice.llm.prices import Price
from depslice.llm.request import Request, Source
from depslice.prompts.model import Message


class OpenModel:
    """A :class:`~depslice.llm.port.Model` over a source.

    Each sample is a request of its own. Anthropic and most servers know no ``n``; providers
    that cache prompts charge little for the repeated ones; and a sample that is kept by its
    number needs no other to be found again.
    """

    def __init__(
        self,
        source: Source,
        *,
        price: Price,
        ledger: Ledger,
        concurrency: int,
        close: Callable[[], None] | None = None,
    ) -> None:
        self.name = source.name
        self.price = price
        self.ledger = ledger
        self._source = source
        self._concurrency = concurrency
        self._close = close

    def complete(
        self, messages: Sequence[Message], *, n: int = 1, options: Options = DEFAULTS
    ) -> list[Completion]:
        """See :class:`~depslice.llm.port.Model`; the first failure of a sample is raised."""
        if n < 1 or options.max_tokens < 1:
            raise OptionError("at least one sample of at least one token")
        requests = [
            Request(messages=tuple(messages), options=options, sample=sample) for sample in range(n)
        ]
        workers = min(n, self._concurrency)
        if workers == 1:
            return [self._source.ask(request) for request in requests]
        pool = ThreadPoolExecutor(workers, thread_name_prefix="depslice-llm")
        awaited = True
        try:
            return list(results_of([pool.submit(self._source.ask, each) for each in requests]))
        except KeyboardInterrupt:
            awaited = False
            raise
        finally:
            # What is in flight is awaited: it is paid for, and goes into the cache.
            pool.shutdown(wait=awaited, cancel_futures=True)

    def for_task(self, caps: Caps) -> OpenModel:
        """The same model with caps for one task, beside those of the run."""
        ledger = Ledger(caps, scope="task")
        return OpenModel(
            Capped(self._source, ledger, self.price, replayed=True),
            price=self.price,
            ledger=ledger,
            concurrency=self._concurrency,
        )

    def close(self) -> None:
        """End what was started for it: connections, a local server."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

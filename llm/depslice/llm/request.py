"""One sample of one prompt, and what answers it: the form that all layers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from depslice.llm.port import Completion, Options
from depslice.prompts.model import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Sample ``sample`` (from 0) of the answers to ``messages``."""

    messages: tuple[Message, ...]
    options: Options
    sample: int = 0


class Source(Protocol):
    """Answers one request. Cache, caps, retries and limits each wrap another source."""

    @property
    def name(self) -> str:
        """Which model it is."""
        ...

    def ask(self, request: Request) -> Completion:
        """The completion.

        :raises ModelError: there is none.
        """
        ...


class Transient(Exception):
    """A failure that another try may not meet; known to providers and to the retry layer.

    ``failure`` is raised instead when no try is left. ``retry_after`` is in seconds, where
    the provider has said, and ``waited`` the seconds that went by without an answer. ``tries``:
    no more than so many in all, of what may have been paid for, or never pass; None: as many as
    there is patience for.
    """

    def __init__(
        self,
        failure: Exception,
        *,
        retry_after: float | None = None,
        waited: float = 0.0,
        tries: int | None = None,
    ) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.retry_after = retry_after
        self.waited = waited
        self.tries = tries

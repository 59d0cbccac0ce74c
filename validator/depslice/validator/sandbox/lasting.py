"""One sandbox for many questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from depslice.validator.sandbox.model import Message, Outcome, Running


@dataclass(slots=True)
class Lasting:
    """A job that answers message by message; used by one thread.

    ``start`` is called by the first question, and by the next one after the sandbox was
    closed or lost: what a question does to the sandbox costs at most its own answer.
    """

    start: Callable[[], Running]
    _running: Running | None = None

    def ask(self, message: Message, *, timeout: float) -> Message | Outcome:
        """The answer, or how the sandbox ended instead; it is killed after ``timeout`` seconds.

        :raises SandboxUnavailable: no sandbox can be started.
        """
        if self._running is None:
            self._running = self.start()
        self._running.send(message)
        try:
            answer = self._running.receive(timeout=timeout)
        except TimeoutError:
            answer = None
        return self.end() if answer is None else answer

    def end(self) -> Outcome:
        """Kill what runs, and tell how it ended. There has to be something: see :meth:`ask`."""
        assert self._running is not None
        self._running.kill()
        outcome = self._running.wait()
        self.close()
        return outcome

    def close(self) -> None:
        """End the sandbox, with all that is in it."""
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None

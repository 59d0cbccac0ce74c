"""One sandbox for many questions."""

from __future__ import annotations

import time
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

    def finish(self) -> float:
        """Let the program end by itself; the CPU seconds it has used, and all that was in there."""
        if self._running is None:
            return 0.0
        outcome = end_soon(self._running)
        self.close()
        return outcome.cpu_seconds

    def close(self) -> None:
        """End the sandbox, with all that is in it."""
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None


def end_soon(running: Running, seconds: float = 5.0) -> Outcome:
    """Say that there is no more to do, and wait for the end: a job that is killed tells no times.

    After ``seconds`` it is killed all the same.
    """
    running.finish()
    until = time.monotonic() + seconds
    try:
        while running.receive(timeout=max(0.0, until - time.monotonic())) is not None:
            if time.monotonic() >= until:
                raise TimeoutError
    except TimeoutError:
        running.kill()
    return running.wait()

"""The one thread in which questions are answered, so that the others stay free to listen."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from depslice.server.session import Session

_T = TypeVar("_T")
# Analysis recurses with the nesting of the source; a thread's own stack may be small.
_STACK_BYTES: Final = 64 * 2**20
_SECONDS_TO_END: Final = 5.0


class Desk:
    """Answers questions to a :class:`Session`, in the order in which they come.

    ``open_session`` is called in that thread, since a cache belongs to its thread; what it
    raises is raised here. The thread does not keep the process alive.
    """

    def __init__(self, open_session: Callable[[], Session]) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        before = threading.stack_size(_STACK_BYTES)
        try:
            self._thread = threading.Thread(target=self._work, name="depslice-desk", daemon=True)
            self._thread.start()
        finally:
            threading.stack_size(before)
        opened = self._hand_in(open_session)
        try:
            self._session = opened.result()
        except BaseException:
            self._waiting.put(None)
            raise

    def ask(self, question: Callable[[Session], _T]) -> Future[_T]:
        """Hand in a question; cancelling the future takes it back while it waits."""
        return self._hand_in(lambda: question(self._session))

    def close(self) -> None:
        """Finish the question at hand if that is soon, and save what there is to save."""
        self._hand_in(self._session.close)
        self._waiting.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _hand_in(self, work: Callable[[], _T]) -> Future[_T]:
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                future.set_exception(error)
            else:
                future.set_result(result)

        self._waiting.put(run)
        return future

    def _work(self) -> None:
        while (run := self._waiting.get()) is not None:
            run()

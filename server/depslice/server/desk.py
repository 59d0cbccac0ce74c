"""The one thread in which questions are answered, so that the others stay free to listen."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from depslice.server.session import Session

_T = TypeVar("_T")
# Analysis recurses with the nesting of the source; a thread's own stack may be small.
_STACK_BYTES: Final = 64 * 2**20
_SECONDS_TO_END: Final = 5.0
_SECONDS_BETWEEN: Final = 0.5


class _Cancelled(BaseException):
    """The question at hand is taken back. No ``Exception``: those are kept where analysis fails."""


class Desk:
    """Answers questions to a :class:`Session`, in the order in which they come.

    ``open_session`` is called in that thread, since a cache belongs to its thread; what it
    raises is raised here. The thread does not keep the process alive.
    """

    def __init__(self, open_session: Callable[[], Session]) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._at_hand: Future[Any] | None = None  # what may be interrupted
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
        """Hand in a question; :meth:`take_back` is for who does not wait for the answer."""
        return self._hand_in(lambda: question(self._session), may_be_cancelled=True)

    def take_back(self, future: Future[Any]) -> None:
        """See that a question is not answered: not at all if it waits, else no further.

        What is at hand is interrupted between two steps of the interpreter: its program and its
        engine go with it, and what the session remembers is written when an answer is there.
        """
        if future.cancel():
            return
        with self._lock:
            if self._at_hand is not future:
                return
            self._interrupt(_Cancelled)
        # Where it is raised in a callback of the interpreter (`__del__`) it is lost.
        again = threading.Timer(_SECONDS_BETWEEN, self.take_back, (future,))
        again.daemon = True
        again.start()

    def close(self) -> None:
        """Finish the question at hand if that is soon, and save what there is to save."""
        self._hand_in(self._session.close)
        self._waiting.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _hand_in(self, work: Callable[[], _T], *, may_be_cancelled: bool = False) -> Future[_T]:
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                try:
                    if may_be_cancelled:
                        self._at_hand = future
                    result = work()
                finally:
                    self._put_down()
            except _Cancelled:
                self._put_down()  # it may have come as that was done
                future.set_exception(CancelledError())
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                future.set_exception(error)
            else:
                future.set_result(result)

        self._waiting.put(run)
        return future

    def _put_down(self) -> None:
        """From here on nothing is interrupted."""
        while self._at_hand is not None:
            with suppress(_Cancelled), self._lock:
                self._at_hand = None
                self._interrupt(None)

    def _interrupt(self, error: type[BaseException] | None) -> None:
        """Raise ``error`` in the desk's thread at its next step; ``None``: not after all."""
        if self._thread.ident is None:
            return
        raised = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), raised)

    def _work(self) -> None:
        while (run := self._waiting.get()) is not None:
            run()

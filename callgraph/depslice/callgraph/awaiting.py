"""To wait for other threads in such a way that Ctrl-C is heard.

CPython notes a signal where it arrives and raises :exc:`KeyboardInterrupt` when the main thread
next runs Python code. A main thread that sleeps on a lock is woken for that only if the signal
came to it while it slept: one that comes to another thread, or in the moment between the last
look and the sleep, is not heard before the lock is released, which may take minutes
(https://docs.python.org/3/library/signal.html#signals-and-threads). So it looks up now and then.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import Final, TypeVar

_SECONDS: Final = 0.25

_Value = TypeVar("_Value")


def next_of(waiting: queue.SimpleQueue[_Value]) -> _Value:
    """Take what comes next, however long that takes.

    :raises KeyboardInterrupt: within a quarter of a second of the interrupt.
    """
    while True:
        try:
            return waiting.get(timeout=_SECONDS)
        except queue.Empty:
            continue


def results_of(
    futures: Iterable[Future[_Value]], *, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[_Value]:
    """What the futures give, in their order; ``meanwhile`` is called now and then.

    :raises KeyboardInterrupt: within a quarter of a second of the interrupt.
    :raises BaseException: what a future raised.
    """
    waiting = [*futures]
    waiting.reverse()
    while waiting:
        yield _result_of(waiting, meanwhile)


def _result_of(waiting: list[Future[_Value]], meanwhile: Callable[[], None]) -> _Value:
    """What the last one gives; neither is held on to, nor an error that refers to this frame."""
    future = waiting.pop()
    try:
        while not future.done():
            meanwhile()
            wait([future], timeout=_SECONDS)
        return future.result()
    finally:
        del future


def finish(threads: Iterable[threading.Thread]) -> None:
    """Wait until the threads have ended.

    :raises KeyboardInterrupt: within a quarter of a second of the interrupt.
    """
    for thread in threads:
        while thread.is_alive():
            thread.join(timeout=_SECONDS)

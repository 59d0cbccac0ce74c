from __future__ import annotations

import queue
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import Future

import pytest

from depslice.callgraph.awaiting import next_of, results_of

_HEARD_ELSEWHERE = """
import queue, signal, sys, threading, time
from concurrent.futures import Future
from depslice.callgraph.awaiting import finish, next_of, results_of

signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    time.sleep(0.5)
    # The main thread sleeps on its lock: nothing wakes it for a signal of another thread.
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(30)

threading.Thread(target=interrupt, daemon=True).start()
try:
    {wait}
except KeyboardInterrupt:
    print("heard", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of threads are POSIX")
@pytest.mark.parametrize(
    "wait",
    [
        "next_of(queue.SimpleQueue())",
        "list(results_of([Future()]))",
        "finish(threading.enumerate()[1:])",
    ],
)
def test_an_interrupt_that_comes_to_another_thread_is_heard(wait: str) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", _HEARD_ELSEWHERE.format(wait=wait)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "heard\n"
    assert time.monotonic() - started < 20  # the other thread lives on for 30


def test_what_comes_late_is_awaited() -> None:
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Timer(0.6, waiting.put, ["late"]).start()
    assert next_of(waiting) == "late"


def test_results_come_in_the_order_of_the_futures() -> None:
    first: Future[str] = Future()
    second: Future[str] = Future()
    second.set_result("second")
    threading.Timer(0.6, first.set_result, ["first"]).start()
    assert list(results_of([first, second])) == ["first", "second"]


def test_what_a_future_raises_is_raised_a_timeout_of_its_own_too() -> None:
    failed: Future[str] = Future()
    failed.set_exception(TimeoutError("the model's"))
    with pytest.raises(TimeoutError, match="the model's"):
        list(results_of([failed]))


def test_results_are_let_go_of() -> None:
    class Result:
        pass

    futures: list[Future[Result]] = []
    seen = []
    for _ in range(3):
        future: Future[Result] = Future()
        future.set_result(Result())
        seen.append(weakref.ref(future.result()))
        futures.append(future)
        del future
    results = results_of(futures.pop(0) for _ in range(3))
    alive = []
    for result in results:
        del result
        alive.append(sum(each() is not None for each in seen))
    assert alive == [2, 1, 0]

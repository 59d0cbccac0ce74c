"""Another time of day, so that a harness that depends on the date is found out."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def shifted(seconds: float) -> Iterator[bool]:
    """With clocks that are ``seconds`` ahead and go on; whether all of them are.

    By time-machine, which reaches the clocks of C code; without it, the functions of
    :mod:`time` that tell the date.
    """
    if not seconds:
        yield True
        return
    try:
        import time_machine  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        with _patched(seconds):
            yield False
        return
    with time_machine.travel(time.time() + seconds, tick=True):
        yield True


@contextlib.contextmanager
def _patched(seconds: float) -> Iterator[None]:
    names = ("time", "time_ns", "localtime", "gmtime", "ctime")
    old: dict[str, Any] = {name: getattr(time, name) for name in names}

    def now() -> float:
        return float(old["time"]()) + seconds

    new: dict[str, Any] = {
        "time": now,
        "time_ns": lambda: old["time_ns"]() + int(seconds * 1e9),
        "localtime": lambda at=None: old["localtime"](now() if at is None else at),
        "gmtime": lambda at=None: old["gmtime"](now() if at is None else at),
        "ctime": lambda at=None: old["ctime"](now() if at is None else at),
    }
    for name, function in new.items():
        setattr(time, name, function)
    try:
        yield
    finally:
        for name, function in old.items():
            setattr(time, name, function)

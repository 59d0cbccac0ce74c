"""The cycle collector rests while an answer is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Let the cycle collector rest: nearly all that is made here stays, and none of it is
    garbage; walking it again and again costs a third of the time. Also a decorator.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if not gc.get_freeze_count():  # what is new counts as old: nobody walks it at once
                gc.freeze()
                gc.unfreeze()
            gc.enable()

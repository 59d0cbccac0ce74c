"""Locks between processes, which the kernel gives back when their holder ends, however it ends.

There are two ways to ask for one. Who :func:`waits <wait_for>` goes on without a lock where the
file system has none, and on Windows: what is locked there is written whole or not at all by other
means, and work may be done twice. Who only :func:`looks <take_if_free>` whether one is free takes
that for a sign that its holder is gone, so where there are no locks nobody is told so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def wait_for(descriptor: int) -> None:
    """Hold the lock of an open file or folder, as soon as nobody else does."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def take_if_free(descriptor: int) -> bool:
    """Hold the lock of an open file or folder, if nobody else does; whether that is so.

    :raises OSError: there are no locks.
    """
    if fcntl is None:
        raise OSError("there are no locks")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a lock of the name ``path`` for a while: a file that is there as long as it is held.

    :raises OSError: there can be no such file.
    """
    descriptor = _held(path)
    try:
        yield
    finally:
        with suppress(OSError):  # while it is held: who waits looks whether it is still there
            os.unlink(path)
        if fcntl is not None:
            with suppress(OSError):  # a process that was forked meanwhile has it too
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _held(path: Path) -> int:
    while True:
        descriptor = os.open(path, _FLAGS, 0o600)
        try:
            wait_for(descriptor)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                return descriptor
        except FileNotFoundError:  # its holder has removed it
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)

"""Temporary folders that go when their user ends, however it ends.

A folder is locked as long as it is used. Whoever opens one first removes those whose lock
is free: they belong to a process that was killed.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from depslice.callgraph.locking import take_if_free, wait_for

_PREFIX: Final = "depslice-scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new, empty folder, for a while."""
    remove_left_behind()
    folder, lock = _make()
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_left_behind() -> None:
    """Remove this user's folders that nobody holds any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            lock = _open(folder)
            try:
                if take_if_free(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _make() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Until it is locked it looks as if left behind, and may be taken for that.
        with suppress(FileNotFoundError):
            lock = _open(folder)
            wait_for(lock)
            if folder.is_dir():
                return folder, lock
            os.close(lock)


def _open(folder: Path) -> int:
    """A descriptor of a folder of this user's, which is no link to one.

    :raises OSError: it is something else.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    found = os.fstat(lock)
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o022:
        os.close(lock)
        raise PermissionError(f"{folder} is not this user's alone")
    return lock

"""Files that a program has left in its private folder, read when nobody can change them."""

from __future__ import annotations

import os
import stat


def read_inside(folder: int, name: str, most: int) -> tuple[bytes, str]:
    """The content of a file below an open folder, or why not: no link is followed on the way."""
    descriptor = os.dup(folder)
    try:
        *folders, last = name.split("/")
        for part in folders:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        file = os.open(last, flags, dir_fd=descriptor)
    except FileNotFoundError:
        return b"", "missing"
    except OSError as error:
        return b"", str(error.strerror)
    finally:
        os.close(descriptor)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            return b"", "not a regular file"
        if found.st_size > most:
            return b"", "too large"
        return _read_all(file, most), ""
    finally:
        os.close(file)


def _read_all(descriptor: int, most: int) -> bytes:
    """What there is to read, up to ``most`` bytes."""
    data = bytearray()
    while more := os.read(descriptor, min(most - len(data), 1 << 20)):
        data += more
    return bytes(data)

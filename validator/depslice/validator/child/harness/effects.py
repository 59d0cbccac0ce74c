"""What a call does beside what it gives: what it prints, and the files that it writes."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

_MOST_FILES = 500
_MOST_BYTES = 8 << 20

_OF_ECHO = ("_hear", "_stream", "close", "closed", "write", "writelines")
_State = dict[str, tuple[int, int, int]]


class Effects:
    """``printed``: on standard output and error. ``written``: files that are new or other than
    they were, and what they hold; ``removed`` are there no more.
    """

    def __init__(self) -> None:
        self.printed = ["", ""]
        self.written: dict[str, bytes] = {}
        self.removed: list[str] = []

    def told(self, tell: Callable[..., None]) -> None:
        """Tell of them, if there are any."""
        if any(self.printed):
            tell("printed", *self.printed)
        if self.written or self.removed:
            tell("wrote", self.written, self.removed)

    def print(self, number: int, text: str) -> None:
        """Something was printed: on standard output (0) or error (1)."""
        if len(self.printed[number]) < _MOST_BYTES:
            self.printed[number] += text


@contextlib.contextmanager
def effects() -> Iterator[Effects]:
    """The effects of what is done meanwhile; everything goes where it would go anyway."""
    found = Effects()
    place = os.environ.get("TMPDIR", ".")
    before = _state(place)
    out = Echo(sys.stdout, lambda text: found.print(0, text))
    err = Echo(sys.stderr, lambda text: found.print(1, text))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield found
    finally:
        after = _state(place)
        if after != before:
            other = sorted(path for path, state in after.items() if before.get(path) != state)
            found.written = _read(other)
            found.removed = sorted(before.keys() - after.keys())


class Echo(io.TextIOBase):
    """A stream, and somebody who hears what is written to it."""

    def __init__(self, stream: Any, hear: Callable[[str], None]) -> None:
        self._stream = stream
        self._hear = hear

    def write(self, text: str) -> int:
        """Write it, if that can be."""
        written = int(self._stream.write(text))
        self._hear(text)
        return written

    def __getattribute__(self, name: str) -> Any:
        # The base has attributes of its own, `encoding` and `isatty`, which are not the stream's.
        # But whoever closes this one, if only by letting go of it, does not close the stream.
        mine = name in _OF_ECHO or name.startswith("__")
        return super().__getattribute__(name) if mine else getattr(self._stream, name)


def _state(place: str) -> _State:
    """The files below a folder: when each was changed, its size, and which it is."""
    found: _State = {}
    for folder, _, names in os.walk(place):
        for name in names:
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                told = os.lstat(path)
                found[path] = (told.st_mtime_ns, told.st_size, told.st_ino)
        if len(found) > _MOST_FILES:
            break
    return found


def _read(paths: list[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    room = _MOST_BYTES
    for path in paths:
        if os.path.islink(path) or not os.path.isfile(path):
            continue  # to read a pipe would take for ever
        with contextlib.suppress(OSError), open(path, "rb") as file:
            found[path] = file.read(room)
            room -= len(found[path])
    return found

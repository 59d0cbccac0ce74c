"""The message channel, for a program that is ours: descriptors 3 and 4 of ``Job.channel``.

>>> sys.path.insert(0, sys.argv[1])  # str(INSIDE.parent)
>>> from depslice_inside.channel import Channel
>>> channel = Channel()  # at once, before anything that is not ours runs
>>> for message in iter(channel.receive, None):
...     pid = channel.fork()
...     if not pid:  # here the channel is gone, and so is the nonce
...         run_what_is_not_ours(message)
...     channel.send({"pid": pid})

Every line that is sent starts with a nonce, which the supervisor checks. This process is
made *not dumpable*: others of the same user cannot trace it, open its descriptors, or read
its memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from .protection import set_dumpable

_READ, _WRITE = 3, 4
NONCE_DIGITS = 32


class Channel:
    """See the module. Made once in a process."""

    def __init__(self) -> None:
        set_dumpable(dumpable=False)
        os.set_inheritable(_READ, False)
        os.set_inheritable(_WRITE, False)
        self._rest = bytearray()
        self._nonce = bytearray(self._line() or b"")

    def _line(self) -> bytes | None:
        while (end := self._rest.find(b"\n")) < 0:
            data = os.read(_READ, 1 << 16)
            if not data:
                return None
            self._rest += data
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    def fileno(self) -> int:
        """The descriptor to wait on; see :attr:`pending`."""
        return _READ

    @property
    def pending(self) -> bool:
        """Whether a whole message was read already, so that :meth:`receive` will not wait."""
        return b"\n" in self._rest

    def receive(self) -> dict[str, Any] | None:
        """The next message; waits for it. ``None``: there will be none."""
        line = self._line()
        return None if line is None else json.loads(line)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send ``message``; waits until it is on its way."""
        data = memoryview(self._nonce + json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(_WRITE, data) :]

    def fork(self) -> int:
        """:func:`os.fork`; in the child the channel is closed and forgotten."""
        pid = os.fork()
        if not pid:
            self.forget()
        return pid

    def forget(self) -> None:
        """Close the descriptors and wipe the nonce: what is not ours runs here from now on."""
        os.close(_READ)
        os.close(_WRITE)
        self._nonce[:] = bytes(len(self._nonce))
        self._rest[:] = bytes(len(self._rest))
        set_dumpable(dumpable=True)

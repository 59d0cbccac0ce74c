"""Messages between two processes, over a socket: lines of JSON."""

from __future__ import annotations

import json
import socket
from typing import Any

MOST = 64 << 20  # bytes of a message


class Gone(Exception):
    """The other end is closed, or says what is no message."""


class Link:
    """One end."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._rest = bytearray()

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._end.fileno()

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def send_line(self, text: str) -> None:
        """Send a message as it is; one that nobody takes is lost."""
        try:
            self._end.sendall(text.encode() + b"\n")
        except OSError:
            raise Gone from None

    def feed(self) -> str | None:
        """Read what is there: a message, if one is whole now; raises :class:`Gone`."""
        try:
            data = self._end.recv(1 << 18)
        except OSError:
            data = b""
        if not data or len(self._rest) > MOST:
            raise Gone
        self._rest += data
        if not data.endswith(b"\n"):
            return None
        line = self._rest.decode("ascii", "replace")
        self._rest.clear()
        return line

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; raises :class:`Gone`."""
        self.send_line(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        """The next message; waits for it, raises :class:`Gone`."""
        while (line := self.feed()) is None:
            pass
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise Gone from None
        if not isinstance(message, dict):
            raise Gone
        return message

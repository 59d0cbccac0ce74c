"""Messages between two processes, over a socket: lines of JSON."""

from __future__ import annotations

import json
import socket
from typing import Any

MOST = 64 << 20  # bytes of a message


class Gone(Exception):
    """The other end is closed."""


class Unreadable(Exception):
    """The other end sends what is no message, or one that is too long."""


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

    def send_line(self, text: str, timeout: float | None = None) -> None:
        """Send a message as it is; raises :class:`Gone`, or TimeoutError where nobody reads."""
        self._end.settimeout(timeout)
        try:
            self._end.sendall(text.encode("ascii", "replace") + b"\n")
        except TimeoutError:
            raise
        except OSError:
            raise Gone from None
        finally:
            self._end.settimeout(None)

    def feed(self) -> str | None:
        """Read what is there: a message, if one is whole now; raises both of the above."""
        try:
            data = self._end.recv(1 << 18)
        except OSError:
            data = b""
        if not data:
            raise Gone
        if not data.isascii():
            raise Unreadable("its process said what nobody can read")
        self._rest += data
        if len(self._rest) > MOST:
            raise Unreadable(f"what it gives is larger than {MOST >> 20} MiB")
        if not data.endswith(b"\n"):
            return None
        line = self._rest.decode("ascii")
        self._rest.clear()
        return line

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; raises :class:`Gone`."""
        self.send_line(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        """The next message; waits for it, raises both of the above."""
        while (line := self.feed()) is None:
            pass
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise Unreadable from None
        if not isinstance(message, dict):
            raise Unreadable
        return message

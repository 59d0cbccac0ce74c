"""How depslice and the supervisor talk: frames on a pair of pipes.

A frame is a nonce of 16 bytes, a kind of one byte, a length of four, and its content. The
modules of this folder import as little as they can: it is start-up time of every run.
"""

from __future__ import annotations

import os

NONCE_BYTES = 16
_HEAD = NONCE_BYTES + 5

# To the supervisor: what makes a job, in this order; then GO; then messages.
ARGUMENT, VARIABLE, LIMIT, FILE, COLLECT, OPTION, GO = b"a", b"v", b"l", b"f", b"c", b"o", b"g"
FINISH = b"e"  # no more messages
# Both ways: one line of JSON, without its end.
MESSAGE = b"m"
# From the supervisor. ENDED comes last.
OUTPUT, ERRORS, COLLECTED, REFUSED, ENDED = b"O", b"E", b"C", b"R", b"X"


def frame(nonce: bytes, kind: bytes, content: bytes) -> bytes:
    """One frame as bytes."""
    return nonce + kind + len(content).to_bytes(4, "big") + content


class Frames:
    """Whole frames out of what was read so far.

    :raises ValueError: (by ``feed``) a nonce is wrong or a frame is too large.
    """

    def __init__(self, nonce: bytes, most: int) -> None:
        self.nonce = nonce
        self.most = most
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """The frames, as kind and content, that ``data`` has completed."""
        rest = self._rest
        rest += data
        found = []
        start = 0
        while len(rest) - start >= _HEAD:
            if rest[start : start + NONCE_BYTES] != self.nonce:
                raise ValueError("wrong nonce")
            size = int.from_bytes(rest[start + NONCE_BYTES + 1 : start + _HEAD], "big")
            if size > self.most:
                raise ValueError("frame too large")
            end = start + _HEAD + size
            if len(rest) < end:
                break
            kind = bytes(rest[start + NONCE_BYTES : start + NONCE_BYTES + 1])
            found.append((kind, bytes(rest[start + _HEAD : end])))
            start = end
        del rest[:start]
        return found


class Sending:
    """Bytes on their way into a pipe whose other end may not read yet.

    Nothing blocks: what does not fit waits here. A pipe nobody reads any more swallows.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._waiting = bytearray()
        os.set_blocking(descriptor, False)

    def __bool__(self) -> bool:
        """Whether something waits."""
        return bool(self._waiting)

    def put(self, data: bytes) -> None:
        """Send, or remember to."""
        self._waiting += data
        self.push()

    def push(self) -> None:
        """Send what fits."""
        try:
            while self._waiting:
                done = os.write(self.descriptor, memoryview(self._waiting)[: 1 << 20])
                del self._waiting[:done]
        except BlockingIOError:
            pass
        except OSError:
            self._waiting.clear()

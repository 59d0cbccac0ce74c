"""A job as the host tells it: frames on descriptor 0, up to the one that says go."""

from __future__ import annotations

import os
import sys

from . import frames

_READ = 1 << 20


class Order:
    """A job as it comes in frames; ``nonce`` marks all frames of the run."""

    def __init__(self, nonce: bytes) -> None:
        self.nonce = nonce
        self.argv: list[str] = []
        self.environment: dict[str, str] = {}
        self.limits: dict[str, float] = {}
        self.files: list[tuple[str, bytes]] = []
        self.collect: list[str] = []
        self.options: dict[str, str] = {}

    def take(self, kind: bytes, content: bytes) -> None:
        """One frame of it."""
        if kind == frames.FILE:
            path, _, data = content.partition(b"\0")
            self.files.append((os.fsdecode(path), data))
            return
        text = os.fsdecode(content)
        name, _, value = text.partition("=")
        if kind == frames.ARGUMENT:
            self.argv.append(text)
        elif kind == frames.COLLECT:
            self.collect.append(text)
        elif kind == frames.VARIABLE:
            self.environment[name] = value
        elif kind == frames.LIMIT:
            self.limits[name] = float(value)
        elif kind == frames.OPTION:
            self.options[name] = value

    @property
    def folder(self) -> str:
        """The private folder."""
        return self.options["folder"]

    @property
    def isolated(self) -> bool:
        """Whether this is process 1 of a namespace, with a file system of its own."""
        return self.options.get("isolated") == "1"

    @property
    def channel(self) -> bool:
        """Whether the program is ours and gets the message channel."""
        return self.options.get("channel") == "1"


def read_nonce() -> bytes:
    """What comes first; a host that goes away before has no job."""
    nonce = b""
    while len(nonce) < frames.NONCE_BYTES:
        data = os.read(0, frames.NONCE_BYTES - len(nonce))
        if not data:
            sys.exit(0)
        nonce += data
    return nonce


def read_order(reader: frames.Frames) -> tuple[Order, list[tuple[bytes, bytes]]]:
    """The job, and the frames that came after it."""
    order = Order(reader.nonce)
    while True:
        data = os.read(0, _READ)
        if not data:
            sys.exit(0)
        found = reader.feed(data)
        for index, (kind, content) in enumerate(found):
            if kind == frames.GO:
                return order, found[index + 1 :]
            order.take(kind, content)


def write_files(order: Order) -> int:
    """Put the job's files into the private folder; a descriptor of that, wherever it is moved."""
    os.makedirs(order.folder, exist_ok=True)
    for name, data in order.files:
        path = os.path.join(order.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    order.files.clear()
    return os.open(order.folder, os.O_RDONLY | os.O_DIRECTORY)

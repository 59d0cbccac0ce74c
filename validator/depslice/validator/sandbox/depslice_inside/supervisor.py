"""Watches a program that was started: passes on what it says, keeps its limits, tells its end.

Reads frames on descriptor 0 and writes frames on descriptor 1; both stay here. A host that
goes away (end of input) ends the run at once.
"""

from __future__ import annotations

# `signal` would import `enum`: a quarter of the time that a sandbox takes to start.
import _signal as signal  # type: ignore[import-not-found]
import os
import resource
import select
import time

from . import frames
from .collecting import read_inside
from .family import kill_all
from .order import Order
from .program import Program
from .watching import Watch

_TICK = 0.02  # seconds between looks at memory, disk and time
_IDLE_TICK = 0.1  # the same, while nothing is running: programs wait for minutes for an answer
_IDLE_LOOKS = 50
_READ = 1 << 16


class Run:
    """One run of a program, up to the frame that tells its end; ``folder`` is its private one."""

    def __init__(self, order: Order, program: Program, folder: int, reader: frames.Frames) -> None:
        self.order = order
        self.limits = order.limits
        self.folder = folder
        self.reader = reader
        self.host = frames.Sending(1)
        self.watch = Watch(
            folder,
            order.limits,
            isolated=order.isolated,
            writable=order.options.get("writable", ""),
        )
        self.poll = select.poll()
        self.pid = program.pid
        self.detail = program.why_not_started()
        self.ending = "not-started" if self.detail else ""
        self.status: int | None = None
        self.forged = 0
        self.counts = {frames.OUTPUT: 0, frames.ERRORS: 0, frames.MESSAGE: 0}
        self.streams: dict[int, bytes] = {}
        self.channel: frames.Sending | None = None
        self.finishing = False
        self.secret = b""
        self.line = bytearray()
        self.started = time.monotonic()
        self._listen_to(program)

    def tell(self, kind: bytes, content: bytes) -> None:
        """Send a frame to the host."""
        self.host.put(frames.frame(self.order.nonce, kind, content))

    def _listen_to(self, program: Program) -> None:
        self._listen(program.output, frames.OUTPUT)
        self._listen(program.errors, frames.ERRORS)
        if self.order.channel:
            self._listen(program.messages, frames.MESSAGE)
            self.secret = os.urandom(16).hex().encode()
            self.channel = frames.Sending(program.into)
            self.channel.put(self.secret + b"\n")
        self.poll.register(0, select.POLLIN)
        if hasattr(os, "pidfd_open"):
            self.poll.register(os.pidfd_open(self.pid), select.POLLIN)

    def _listen(self, descriptor: int, kind: bytes) -> None:
        os.set_blocking(descriptor, False)
        self.streams[descriptor] = kind
        self.poll.register(descriptor, select.POLLIN)

    def follow(self) -> None:
        """Until the program has ended, or a limit is reached."""
        while not self.ending:
            if self.finishing and self.channel is not None and not self.channel:
                os.close(self.channel.descriptor)
                self.channel = None
            for sending in (self.host, self.channel):
                self._want(sending)
            waiting = self.watch.idle >= _IDLE_LOOKS
            heard = self.poll.poll((_IDLE_TICK if waiting else _TICK) * 1000)
            for descriptor, _ in heard:
                self.watch.idle = 0
                self._serve(descriptor)
            if self._reap():
                return
            if not self.ending:
                self.ending = self.watch.exceeded()

    def _want(self, sending: frames.Sending | None) -> None:
        """Wake when a pipe takes more, as long as something waits for it."""
        if sending is None:
            return
        if sending:
            self.poll.register(sending.descriptor, select.POLLOUT)
        else:
            _unregister(self.poll, sending.descriptor)

    def _serve(self, descriptor: int) -> None:
        if descriptor == 0:
            self._hear()
        elif descriptor in self.streams:
            self._drain(descriptor)
        elif descriptor == 1:
            self.host.push()
        elif self.channel is not None and descriptor == self.channel.descriptor:
            self.channel.push()

    def _hear(self) -> None:
        """From the host: a message for the program, or that nobody waits any more."""
        data = os.read(0, _READ)
        if not data:
            kill_all(isolated=self.order.isolated)
            os._exit(0)
        self.deliver(self.reader.feed(data))

    def deliver(self, found: list[tuple[bytes, bytes]]) -> None:
        """Messages to the program."""
        for kind, content in found:
            if self.channel is None:
                return
            if kind == frames.MESSAGE:
                self.channel.put(content + b"\n")
            elif kind == frames.FINISH:
                self.finishing = True

    def _drain(self, descriptor: int) -> bool:
        """Pass on what is there; whether there may be more."""
        kind = self.streams[descriptor]
        try:
            data = os.read(descriptor, _READ)
        except BlockingIOError:
            return False
        if not data:
            del self.streams[descriptor]
            self.poll.unregister(descriptor)
            os.close(descriptor)
            return False
        name = "message_bytes" if kind == frames.MESSAGE else "output_bytes"
        left = int(self.limits[name]) - self.counts[kind]
        if len(data) > left:
            self.ending = self.ending or ("messages" if kind == frames.MESSAGE else "output")
            data = data[: max(left, 0)]
        self.counts[kind] += len(data)
        if kind == frames.MESSAGE:
            self._relay(data)
        elif data:
            self.tell(kind, data)
        return True

    def _relay(self, data: bytes) -> None:
        """Whole lines that start with the secret are messages of the program."""
        self.line += data
        *lines, rest = bytes(self.line).split(b"\n")
        self.line[:] = rest
        for line in lines:
            if line.startswith(self.secret):
                self.tell(frames.MESSAGE, line[len(self.secret) :])
            else:
                self.forged += 1

    def _reap(self) -> bool:
        """Collect ended processes; whether the program is one of them."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return self.status is not None
            if not pid:
                return self.status is not None
            if pid == self.pid:
                self.status = status

    def finish(self) -> None:
        """End what is left, pass on what it has said, collect files, tell how it ended."""
        seconds = time.monotonic() - self.started
        exceeded = self.watch.exceeded()
        self.ending = self.ending or exceeded
        kill_all(isolated=self.order.isolated)
        self._reap_all()
        for descriptor in list(self.streams):
            while self._drain(descriptor):
                pass
        self._collect()
        cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
        values = {
            "wall_seconds": seconds,
            "cpu_seconds": cpu.ru_utime + cpu.ru_stime,
            "peak_bytes": self.watch.peak,
            "forged": self.forged,
        }
        if not self.ending and self.status is not None and os.WIFSIGNALED(self.status):
            values["signal"] = os.WTERMSIG(self.status)
            self.ending = "signalled"
            if values["signal"] == signal.SIGXCPU or self.watch.spent(values["cpu_seconds"]):
                self.ending = "cpu"
        elif not self.ending:
            self.ending = "exited"
        if self.status is not None and os.WIFEXITED(self.status):
            values["code"] = os.WEXITSTATUS(self.status)
        lines = [f"{name}={value}" for name, value in values.items()]
        lines += [f"ending={self.ending}", f"detail={self.detail}"]
        self.tell(frames.ENDED, "\n".join(lines).encode())
        os.set_blocking(1, True)
        self.host.push()

    def _reap_all(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            if pid == self.pid and self.status is None and not self.ending:
                self.status = status

    def _collect(self) -> None:
        left = int(self.limits["collected_bytes"])
        for name in self.order.collect:
            data, refused = read_inside(self.folder, name, left)
            if refused:
                self.tell(frames.REFUSED, os.fsencode(name) + b"\0" + refused.encode())
                continue
            left -= len(data)
            self.tell(frames.COLLECTED, os.fsencode(name) + b"\0" + data)


def _unregister(poll: select.poll, descriptor: int) -> None:
    try:
        poll.unregister(descriptor)
    except KeyError:
        pass

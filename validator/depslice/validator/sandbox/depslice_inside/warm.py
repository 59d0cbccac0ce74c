"""A warm process: prepared once, forked for every run.

Used by a program that has the message channel. It never prepares anything itself, because
preparing is importing, and what is imported is not ours:

>>> channel = Channel()
>>> warm = Warm(prepare, run, channel=channel)
>>> for request in iter(channel.receive, None):
...     ended = warm.run(request, RunLimits(wall_seconds=5))
...     channel.send({"how": ended.how, "messages": ended.messages})

``prepare()`` is called in the warm process, and ``run(request, send)`` in a fork of it, in
an empty folder of its own, where ``send`` takes JSON objects. Every run has its own limits of
time, output and messages, and what it leaves is ended and removed before the next one. A
warm process that is gone, or was reached by a run, is made anew.

Messages of a run are the word of code that nobody vetted, as its output is.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .channel import Channel
from .protection import set_dumpable
from .watching import processes

Send = Callable[[Mapping[str, Any]], None]
_REQUEST_MOST = 1 << 26
_STREAMS = ("messages", "stdout", "stderr")


class RunLimits(NamedTuple):
    """Limits of one run; bytes of messages in all, and of each output stream."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 10.0
    message_bytes: int = 1 << 20
    output_bytes: int = 1 << 16


class Ended(NamedTuple):
    """How a run ended: ``how`` is ``exited``, ``signalled``, ``wall-clock``, ``cpu``,
    ``output``, ``messages`` or ``lost`` (the warm process is gone, or was never ready).

    ``number`` is the exit code or the signal; ``detail`` says why it was lost.
    ``malformed`` counts messages that are not JSON objects.
    """

    how: str
    number: int = 0
    messages: tuple[dict[str, Any], ...] = ()
    malformed: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    wall_seconds: float = 0.0
    detail: str = ""


class Warm:
    """See the module. ``ready_seconds``: what preparing may take."""

    def __init__(
        self,
        prepare: Callable[[], None],
        run: Callable[[Mapping[str, Any], Send], None],
        *,
        channel: Channel | None = None,
        ready_seconds: float = 60.0,
    ) -> None:
        self._prepare = prepare
        self._run = run
        self._channel = channel
        self._ready_seconds = ready_seconds
        self._socket: socket.socket | None = None
        self._pid = 0
        self._runs = 0

    def start(self) -> str:
        """Make the warm process, unless there is one; what went wrong, or nothing."""
        if self._socket is not None:
            return ""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if not pid:
            _serve_and_exit(self._prepare, self._run, self._channel, ours, theirs)
        theirs.close()
        self._socket, self._pid = ours, pid
        ours.settimeout(self._ready_seconds)
        try:
            answer = ours.recv(1 << 16)
        except TimeoutError:
            answer = b"preparing took too long"
        if answer == b"ready":
            return ""
        self.close()
        return answer.decode("utf-8", "replace") or "the process ended while it was prepared"

    def close(self) -> None:
        """End the warm process and all that it has started."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            end_strays(keep=())
            _collect(self._pid)

    def run(self, request: Mapping[str, Any], limits: RunLimits) -> Ended:
        """One run on ``request``, in a fork of the warm process."""
        if problem := self.start():
            return Ended("lost", detail=problem)
        self._runs += 1
        folder = f"run-{self._runs}"
        os.mkdir(folder)
        order = {"request": request, "cpu_seconds": limits.cpu_seconds, "folder": folder}
        try:
            return self._follow(json.dumps(order).encode(), limits)
        finally:
            end_strays(keep=() if self._socket is None else (self._pid,))
            _remove(folder)

    def _follow(self, order: bytes, limits: RunLimits) -> Ended:
        assert self._socket is not None
        started = time.monotonic()
        pipes = [os.pipe() for _ in _STREAMS]
        try:
            self._socket.sendall(len(order).to_bytes(4, "big"))
            socket.send_fds(self._socket, [b"x"], [end for _, end in pipes])
            for start in range(0, len(order), 1 << 15):
                self._socket.sendall(order[start : start + (1 << 15)])
        except OSError:
            pass  # it is gone: that is seen below
        finally:
            for _, end in pipes:
                os.close(end)
        most = (limits.message_bytes, limits.output_bytes, limits.output_bytes)
        reading = _Reading(self._socket, [start for start, _ in pipes], most)
        how = reading.until(started + limits.wall_seconds)
        if how in {"wall-clock", "output", "messages"}:
            # Ends the run, which the warm process then tells of.
            end_strays(keep=(self._pid,))
            reading.until(time.monotonic() + 1.0)
        reading.close()
        if reading.status is None:
            self.close()
        return _tell(how, reading, time.monotonic() - started)


class _Reading:
    """What a run says on its three pipes, and how the warm process says that it ended."""

    def __init__(self, ended: socket.socket, pipes: list[int], most: tuple[int, ...]) -> None:
        self.ended = ended
        self.data = [bytearray() for _ in pipes]
        self.most = most
        self.status: int | None = None
        self._numbers = {descriptor: number for number, descriptor in enumerate(pipes)}
        self._pipes = pipes
        self._poll = select.poll()
        for descriptor in pipes:
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._poll.register(ended, select.POLLIN)

    def until(self, deadline: float) -> str:
        """Read until it ended, said too much, or the time is over; which of them."""
        while self.status is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "wall-clock"
            for descriptor, _ in self._poll.poll(left * 1000):
                if descriptor == self.ended.fileno():
                    word = self.ended.recv(64)
                    if not word.isdigit():
                        return "lost"
                    self.status = int(word)
                elif how := self._read(descriptor):
                    return how
        for descriptor in tuple(self._numbers):  # what was said last
            while descriptor in self._numbers and not (how := self._read(descriptor)):
                if how is None:
                    break
            if how:
                return how
        return "ended"

    def _read(self, descriptor: int) -> str | None:
        """Read once: too much of what, ``""``; ``None``: nothing was there."""
        number = self._numbers[descriptor]
        try:
            data = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return None
        if not data:
            self._forget(descriptor)
            return None
        self.data[number] += data
        if len(self.data[number]) > self.most[number]:
            del self.data[number][self.most[number] :]
            self._forget(descriptor)
            return "output" if number else "messages"
        return ""

    def _forget(self, descriptor: int) -> None:
        del self._numbers[descriptor]
        self._poll.unregister(descriptor)

    def close(self) -> None:
        for descriptor in self._pipes:
            os.close(descriptor)


def _tell(how: str, reading: _Reading, seconds: float) -> Ended:
    number = 0
    if how == "ended":
        assert reading.status is not None
        code = os.waitstatus_to_exitcode(reading.status)
        how, number = ("exited", code) if code >= 0 else ("signalled", -code)
        if number == signal.SIGXCPU and code < 0:
            how = "cpu"
    messages = []
    malformed = 0
    for line in bytes(reading.data[0]).splitlines():
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            messages.append(message)
        else:
            malformed += 1
    return Ended(
        how=how,
        number=number,
        messages=tuple(messages),
        malformed=malformed,
        stdout=bytes(reading.data[1]),
        stderr=bytes(reading.data[2]),
        wall_seconds=seconds,
        detail="the warm process has ended" if how == "lost" else "",
    )


def end_strays(keep: tuple[int, ...]) -> None:
    """End every process in the sandbox but the supervisor, this one and those to ``keep``."""
    if os.getppid() != 1:
        return  # not in a namespace of its own: which processes are ours is not known
    kept = {1, os.getpid(), *keep}
    while True:
        found = [pid for pid in map(int, processes()) if pid not in kept and _alive(pid)]
        if not found:
            return
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}
    except OSError:
        return False


def _collect(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def _remove(folder: str) -> None:
    """Remove a folder in which a stranger may have taken rights away.

    What cannot be removed (folders nested thousands deep) stays until the sandbox ends; no
    other run has it as its folder.
    """
    for _ in range(2):
        try:
            shutil.rmtree(folder, ignore_errors=True)
        except RecursionError:
            return
        if not os.path.isdir(folder):
            return
        os.chmod(folder, 0o700)
        for path, folders, _ in os.walk(folder):
            for name in folders:
                inner = os.path.join(path, name)
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)


def _serve_and_exit(
    prepare: Callable[[], None],
    run: Callable[[Mapping[str, Any], Send], None],
    channel: Channel | None,
    ours: socket.socket,
    theirs: socket.socket,
) -> None:
    """In the warm process: prepare, then fork for every order. Never returns."""
    code = 1
    try:
        ours.close()
        if channel is not None:
            channel.forget()
        try:
            prepare()
        except BaseException as error:
            theirs.send(f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:4000])
            raise
        set_dumpable(dumpable=False)  # its forks must not reach it
        theirs.send(b"ready")
        while _serve_one(run, theirs):
            pass
        code = 0
    except BaseException:  # noqa: BLE001 - whoever waits sees that the socket is closed
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def _serve_one(run: Callable[[Mapping[str, Any], Send], None], theirs: socket.socket) -> bool:
    size = int.from_bytes(theirs.recv(4), "big")
    if not size or size > _REQUEST_MOST:
        return False
    _, given, _, _ = socket.recv_fds(theirs, 1, len(_STREAMS))
    data = bytearray()
    while len(data) < size:
        data += theirs.recv(1 << 16)
    order = json.loads(data)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        theirs.close()
        _run_and_exit(run, order, given)
    for descriptor in given:
        os.close(descriptor)
    _, status = os.waitpid(pid, 0)
    theirs.send(str(status).encode())
    return True


def _run_and_exit(
    run: Callable[[Mapping[str, Any], Send], None], order: dict[str, Any], given: list[int]
) -> None:
    """In the fork: one run. Never returns."""
    code = 1
    try:
        set_dumpable(dumpable=True)
        os.setsid()
        messages, *outputs = given
        for number, descriptor in enumerate(outputs, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        seconds = max(1, int(order["cpu_seconds"]))
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        limit = seconds if hard == resource.RLIM_INFINITY else min(seconds, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1 if hard < 0 else hard))
        os.chdir(order["folder"])
        os.environ["HOME"] = os.environ["TMPDIR"] = os.getcwd()

        def send(message: Mapping[str, Any]) -> None:
            data = memoryview(json.dumps(message).encode() + b"\n")
            while data:
                data = data[os.write(messages, data) :]

        run(order["request"], send)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - a traceback for people; the exit code says it
        sys.excepthook(*sys.exc_info())
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code & 0xFF)

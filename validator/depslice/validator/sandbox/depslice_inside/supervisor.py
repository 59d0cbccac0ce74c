"""The first process in a sandbox: starts the program, watches its limits, tells its end.

Reads frames on descriptor 0 and writes frames on descriptor 1; both stay here. The program
gets ``/dev/null``, two pipes for its output, and, when it is ours, two for the message
channel. Where it has a process namespace of its own the supervisor is process 1 of it:
signals from inside do not reach it, and when it ends everything in there ends. It is not
dumpable, so its memory and descriptors cannot be reached through ``/proc`` either.

A host that goes away (end of input) ends the run at once.
"""

from __future__ import annotations

# `signal` would import `enum`: a quarter of the time that a sandbox takes to start.
import _signal as signal  # type: ignore[import-not-found]
import os
import resource
import select
import stat
import sys
import time

from . import frames
from .protection import adopt_orphans, set_dumpable
from .watching import Watch, descendants

_TICK = 0.02  # seconds between looks at memory, disk and time
_READ = 1 << 16
_REFUSED_MOST = 1000


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


def read_order(reader: frames.Frames) -> tuple[Order, list[tuple[bytes, bytes]]]:
    """The job, and the frames that came after it."""
    order = Order(reader.nonce)
    while True:
        data = os.read(0, _READ * 16)
        if not data:
            sys.exit(0)
        found = reader.feed(data)
        for index, (kind, content) in enumerate(found):
            if kind == frames.GO:
                return order, found[index + 1 :]
            order.take(kind, content)


def write_files(order: Order) -> None:
    """Put the job's files into the private folder."""
    os.makedirs(order.folder, exist_ok=True)
    for name, data in order.files:
        path = os.path.join(order.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    order.files.clear()


def limit(limits: dict[str, float]) -> None:
    """Set the limits that the kernel keeps, on this process and all that it starts."""
    most = {
        resource.RLIMIT_AS: 2 * limits["memory_bytes"] + (1 << 30),
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_FSIZE: limits["file_bytes"],
        resource.RLIMIT_CORE: 0,
        # Processes of all the user are counted: those of this sandbox, where it has a user
        # namespace; the supervisor is one of them.
        resource.RLIMIT_NPROC: limits["processes"] + 1,
    }
    for name in ("RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK"):
        if hasattr(resource, name):
            most[getattr(resource, name)] = 1 << 16
    for kind, value in most.items():
        hard = resource.getrlimit(kind)[1]
        number = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
        resource.setrlimit(kind, (number, number))
    seconds = int(limits["cpu_seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


class Run:
    """One run of a program, from its start to the frame that tells its end."""

    def __init__(self, order: Order, reader: frames.Frames) -> None:
        self.order = order
        self.limits = order.limits
        self.reader = reader
        self.host = frames.Sending(1)
        self.watch = Watch(
            order.folder,
            order.limits,
            isolated=order.isolated,
            writable=order.options.get("writable", ""),
        )
        self.poll = select.poll()
        self.ending = ""
        self.detail = ""
        self.status: int | None = None
        self.forged = 0
        self.counts = {frames.OUTPUT: 0, frames.ERRORS: 0, frames.MESSAGE: 0}
        self.streams: dict[int, bytes] = {}
        self.program: frames.Sending | None = None
        self.finishing = False
        self.secret = b""
        self.line = bytearray()
        self.started = time.monotonic()

    def tell(self, kind: bytes, content: bytes) -> None:
        """Send a frame to the host."""
        self.host.put(frames.frame(self.order.nonce, kind, content))

    def start(self) -> None:
        """Fork the program."""
        pipes = [os.pipe() for _ in range(5 if self.order.channel else 3)]
        (out, out_end), (errors, errors_end), (failed, failed_end) = pipes[:3]
        given = [os.open(os.devnull, os.O_RDONLY), out_end, errors_end]
        if self.order.channel:
            (given_read, into), (messages, given_write) = pipes[3:]
            given += [given_read, given_write]
        self.pid = os.fork()
        if not self.pid:
            _become(self.order, given, failed_end)
        for descriptor in (*given, failed_end):
            os.close(descriptor)
        with open(failed, "rb") as file:
            self.detail = file.read().decode("utf-8", "replace")
        if self.detail:
            self.ending = "not-started"
        self.listen(out, frames.OUTPUT)
        self.listen(errors, frames.ERRORS)
        if self.order.channel:
            self.listen(messages, frames.MESSAGE)
            self.secret = os.urandom(16).hex().encode()
            self.program = frames.Sending(into)
            self.program.put(self.secret + b"\n")
        self.poll.register(0, select.POLLIN)
        self.ended = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else -1
        if self.ended >= 0:
            self.poll.register(self.ended, select.POLLIN)

    def listen(self, descriptor: int, kind: bytes) -> None:
        """Pass on what comes out of a pipe."""
        os.set_blocking(descriptor, False)
        self.streams[descriptor] = kind
        self.poll.register(descriptor, select.POLLIN)

    def follow(self) -> None:
        """Until the program has ended, or a limit is reached."""
        while not self.ending:
            if self.finishing and self.program is not None and not self.program:
                os.close(self.program.descriptor)
                self.program = None
            for sending in (self.host, self.program):
                self._want(sending)
            for descriptor, _ in self.poll.poll(_TICK * 1000):
                self._serve(descriptor)
            if not self.ending:
                self.ending = self.watch.exceeded()
            if self._reap():
                return

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
        elif self.program is not None and descriptor == self.program.descriptor:
            self.program.push()

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
            if self.program is None:
                return
            if kind == frames.MESSAGE:
                self.program.put(content + b"\n")
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
        self.watch.exceeded()
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
            data, refused = read_inside(self.order.folder, name, left)
            if refused:
                self.tell(frames.REFUSED, os.fsencode(name) + b"\0" + refused.encode())
                continue
            left -= len(data)
            self.tell(frames.COLLECTED, os.fsencode(name) + b"\0" + data)


def read_inside(folder: str, name: str, most: int) -> tuple[bytes, str]:
    """The content of a file below ``folder``, or why not: no link is followed on the way."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
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
        return read_all(file, most), ""
    finally:
        os.close(file)


def read_all(descriptor: int, most: int) -> bytes:
    """What there is to read, up to ``most`` bytes."""
    data = bytearray()
    while more := os.read(descriptor, min(most - len(data), 1 << 20)):
        data += more
    return bytes(data)


def _become(order: Order, given: list[int], failed: int) -> None:
    """In the fork: become the program. Never returns."""
    try:
        os.setsid()
        # First out of the way of the numbers that they will have, then to them.
        high = [_high(descriptor) for descriptor in (*given, failed)]
        for number, descriptor in enumerate(high[:-1]):
            os.dup2(descriptor, number)
        os.dup2(high[-1], len(given), inheritable=False)
        os.closerange(len(given) + 1, 1 << 16)
        failed = len(given)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        limit(order.limits)
        os.chdir(order.folder)
        places = {"HOME": order.folder, "TMPDIR": order.folder}
        os.execve(order.argv[0], order.argv, places | order.environment)
    except OSError as error:
        os.write(failed, f"{order.argv[0]}: {error.strerror}".encode())
    except BaseException as error:  # noqa: BLE001 - told to the host, whatever it is
        os.write(failed, f"{order.argv[0]}: {error!r}".encode())
    finally:
        os._exit(127)


def _high(descriptor: int) -> int:
    import fcntl

    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)


def _unregister(poll: select.poll, descriptor: int) -> None:
    try:
        poll.unregister(descriptor)
    except KeyError:
        pass


def kill_all(*, isolated: bool) -> None:
    """End every process of the run but this one."""
    if isolated:
        try:
            os.kill(-1, signal.SIGKILL)  # all of the namespace, at one moment
        except ProcessLookupError:
            pass
        return
    while found := descendants():
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def main() -> None:
    """Run one job."""
    # Python's own handler would make this signal reach a process 1.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_dumpable(dumpable=False)
    nonce = b""
    while len(nonce) < frames.NONCE_BYTES:
        data = os.read(0, frames.NONCE_BYTES - len(nonce))
        if not data:
            return
        nonce += data
    reader = frames.Frames(nonce, 1 << 31)
    order, more = read_order(reader)
    if not order.isolated:
        adopt_orphans()
    write_files(order)
    run = Run(order, reader)
    run.start()
    run.deliver(more)
    run.follow()
    run.finish()

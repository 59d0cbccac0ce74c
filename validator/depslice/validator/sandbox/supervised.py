"""A run seen from outside: the other end of the supervisor's pipes.

All sandboxes differ only in the command that starts the supervisor; what follows is the
same. Everything that comes back is a stranger's: of limited size, JSON or plain numbers.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final, Self

from depslice.validator.sandbox.depslice_inside import frames
from depslice.validator.sandbox.model import (
    Ending,
    Job,
    Message,
    Outcome,
    SandboxUnavailable,
)

INSIDE: Final = Path(frames.__file__).resolve().parent
"""The package of what runs inside; a sandbox binds it, read-only, at the same place."""

_SUPERVISOR: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from depslice_inside import starting;"
    " starting.main()"
)
_GRACE: Final = 30.0  # seconds beyond the limit for starting, and for telling of the end
_PARTING: Final = 5.0  # seconds for a supervisor to end what it has started
_SAID: Final = 1 << 16  # bytes kept of what the sandbox itself says
_FRAME_MOST: Final = 1 << 28


@cache
def supervisor_python() -> Path:
    """The interpreter that runs the supervisor: the one that runs depslice."""
    return Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()


def supervisor_argv() -> tuple[str, ...]:
    """What starts the supervisor: isolated, without ``site``, so that nothing of others runs."""
    _have_bytecode()
    return (str(supervisor_python()), "-I", "-S", "-c", _SUPERVISOR, str(INSIDE.parent))


@cache
def _have_bytecode() -> None:
    """Compile the supervisor, if nobody has: what starts it cannot keep what it compiles.

    Where its folder cannot be written, each start takes longer.
    """
    compileall.compile_dir(INSIDE, maxlevels=0, quiet=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a sandbox starts the supervisor.

    ``argv``, in ``environment``, with ``descriptors`` passed on; ``enter`` is called between
    fork and exec, to drop rights. ``folder`` is the private folder as the supervisor sees it; ``isolated``:
    it is process 1, and its folder a file system of its own. ``close`` is called when all
    has ended.
    """

    argv: Sequence[str]
    folder: str
    isolated: bool
    environment: Mapping[str, str]
    enter: Callable[[], None] | None = None
    descriptors: Sequence[int] = ()
    close: Callable[[], None] = lambda: None


def check_job(job: Job) -> None:
    """Refuse what cannot be sent or would leave the private folder.

    :raises ValueError: a name or path is not as :class:`Job` says.
    """
    if not job.argv or not job.argv[0].startswith("/"):
        raise ValueError("a job's program is an absolute path")
    for name in (*job.files, *job.collect):
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name:
            raise ValueError(f"not a relative name inside the private folder: {name!r}")


def order_of(job: Job, launch: Launch, nonce: bytes) -> Iterator[bytes]:
    """The frames that tell the supervisor what to run."""

    def frame(kind: bytes, content: str) -> bytes:
        return frames.frame(nonce, kind, os.fsencode(content))

    yield nonce
    yield from (frame(frames.ARGUMENT, argument) for argument in job.argv)
    yield from (frame(frames.VARIABLE, f"{key}={value}") for key, value in job.environment.items())
    yield from (frame(frames.LIMIT, f"{key}={value}") for key, value in asdict(job.limits).items())
    yield from (frame(frames.COLLECT, name) for name in job.collect)
    yield frame(frames.OPTION, f"folder={launch.folder}")
    yield frame(frames.OPTION, f"isolated={int(launch.isolated)}")
    yield frame(frames.OPTION, f"channel={int(job.channel)}")
    if job.writable is not None:
        yield frame(frames.OPTION, f"writable={job.writable}")
    for name, data in job.files.items():
        yield frames.frame(nonce, frames.FILE, os.fsencode(name) + b"\0" + data)
    yield frame(frames.GO, "")
    for message in job.messages:
        yield frames.frame(nonce, frames.MESSAGE, json.dumps(message).encode())


class Supervised:
    """A :class:`~depslice.validator.sandbox.model.Running` job."""

    def __init__(self, job: Job, launch: Launch) -> None:
        """Start it.

        :raises SandboxUnavailable: the sandbox itself cannot be started.
        """
        self._job = job
        self._launch = launch
        self._nonce = secrets.token_bytes(frames.NONCE_BYTES)
        self._frames = frames.Frames(self._nonce, _FRAME_MOST)
        self._messages: deque[Message] = deque()
        self._output = {frames.OUTPUT: bytearray(), frames.ERRORS: bytearray()}
        self._files: dict[str, bytes] = {}
        self._refused: dict[str, str] = {}
        self._said = bytearray()
        self._end: dict[str, str] = {}
        self._malformed = 0
        self._killed = False
        self._outcome: Outcome | None = None
        self._started = time.monotonic()
        self._process = self._popen()
        self._input, self._answers, self._errors = _streams(self._process)
        self._sending = frames.Sending(self._input.fileno())
        self._selector = selectors.DefaultSelector()
        for stream in (self._answers, self._errors):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ)
        for data in order_of(job, launch, self._nonce):
            self._sending.put(data)

    def _popen(self) -> subprocess.Popen[bytes]:
        launch = self._launch
        try:
            return subprocess.Popen(
                launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(launch.environment),
                cwd="/",
                start_new_session=True,
                pass_fds=launch.descriptors,
                umask=0o022,
                preexec_fn=launch.enter,  # noqa: PLW1509 - imports and allocates next to nothing
            )
        except OSError as error:
            launch.close()
            raise SandboxUnavailable(f"cannot start {launch.argv[0]}: {error.strerror}") from None
        except subprocess.SubprocessError:
            launch.close()
            raise SandboxUnavailable(
                "root's rights cannot be given up for those of another user",
                hint="in a container, start it with CAP_SYS_ADMIN, CAP_SETUID and CAP_SETGID, or"
                " start depslice as an ordinary user",
            ) from None

    def send(self, message: Message) -> None:
        """See :meth:`Running.send`."""
        if self._selector.get_map():
            content = json.dumps(message).encode()
            self._sending.put(frames.frame(self._nonce, frames.MESSAGE, content))

    def finish(self) -> None:
        """See :meth:`Running.finish`."""
        if self._selector.get_map():
            self._sending.put(frames.frame(self._nonce, frames.FINISH, b""))

    def receive(self, timeout: float | None = None) -> Message | None:
        """See :meth:`Running.receive`."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self._messages:
            if self._over():
                return None
            self._pump(until)
            if not self._messages and until is not None and time.monotonic() >= until:
                raise TimeoutError
        return self._messages.popleft()

    def kill(self) -> None:
        """See :meth:`Running.kill`."""
        if self._process.poll() is None:
            self._killed = True
            self._kill()

    def _kill(self) -> None:
        """End the sandbox: what is inside ends with it.

        The kernel sees to that where the supervisor is process 1; elsewhere the
        supervisor does, at the end of its input.
        """
        if not self._launch.isolated and self._process.poll() is None:
            self._input.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_PARTING)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def wait(self) -> Outcome:
        """See :meth:`Running.wait`."""
        while not self._over():
            self._pump(None)
        return self._close()

    def _over(self) -> bool:
        return bool(self._end) or self._outcome is not None or not self._selector.get_map()

    def _pump(self, until: float | None) -> None:
        """Wait for something to happen, not beyond ``until``; then deal with it."""
        limit = self._started + self._job.limits.wall_seconds + _GRACE
        now = time.monotonic()
        if now > limit:
            self._end = {"ending": Ending.WALL_CLOCK, "detail": "the supervisor did not answer"}
            self._kill()
            return
        wait = min(limit, limit if until is None else until) - now
        if self._sending:
            self._sending.push()
            wait = min(wait, 0.01)
        for key, _ in self._selector.select(max(wait, 0)):
            self._read(key.fileobj)

    def _read(self, stream: Any) -> None:
        try:
            data = os.read(stream.fileno(), 1 << 18)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(stream)
        elif stream is self._errors:
            self._said += data[: _SAID - len(self._said)]
        else:
            self._take(data)

    def _take(self, data: bytes) -> None:
        try:
            found = self._frames.feed(data)
        except ValueError as error:
            self._end = {"ending": Ending.LOST, "detail": f"the supervisor's answer: {error}"}
            self._kill()
            return
        for kind, content in found:
            match kind:
                case frames.OUTPUT | frames.ERRORS:
                    self._output[kind] += content
                case frames.MESSAGE:
                    self._understand(content)
                case frames.COLLECTED:
                    name, _, file = content.partition(b"\0")
                    self._files[os.fsdecode(name)] = file
                case frames.REFUSED:
                    name, _, reason = content.partition(b"\0")
                    self._refused[os.fsdecode(name)] = reason.decode("utf-8", "replace")
                case frames.ENDED:
                    lines = content.decode("utf-8", "replace").split("\n")
                    self._end = dict(line.split("=", 1) for line in lines if "=" in line)
                case _:
                    pass

    def _understand(self, content: bytes) -> None:
        try:
            message = json.loads(content)
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict):
            self._messages.append(message)
        else:
            self._malformed += 1

    def _close(self) -> Outcome:
        """End everything, and tell how it went; once."""
        if self._outcome is None:
            if not self._end:
                self._drain_said()
            self._kill()
            self._process.wait()
            self._selector.close()
            for stream in (self._input, self._answers, self._errors):
                stream.close()
            self._launch.close()
            self._outcome = self._tell()
        return self._outcome

    def _drain_said(self) -> None:
        """The sandbox ended without a word of the supervisor: what it said itself is the reason."""
        with contextlib.suppress(OSError):
            self._said += os.read(self._errors.fileno(), _SAID)

    def _tell(self) -> Outcome:
        end = self._end
        ending = Ending(end["ending"]) if end.get("ending") in set(Ending) else Ending.LOST
        detail = end.get("detail", "")
        if not end:
            ending = Ending.KILLED if self._killed else Ending.LOST
            detail = self._said.decode("utf-8", "replace").strip()
        return Outcome(
            ending=ending,
            code=int(end["code"]) if "code" in end and ending is Ending.EXITED else None,
            signal=int(end["signal"]) if "signal" in end else None,
            stdout=bytes(self._output[frames.OUTPUT]),
            stderr=bytes(self._output[frames.ERRORS]),
            messages=tuple(self._messages),
            forged=int(end.get("forged", 0)) + self._malformed,
            wall_seconds=float(end.get("wall_seconds", time.monotonic() - self._started)),
            cpu_seconds=float(end.get("cpu_seconds", 0)),
            peak_bytes=int(end.get("peak_bytes", 0)),
            files=self._files,
            refused=self._refused,
            detail=detail,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._outcome is None:
            self.kill()
            self._end = self._end or {"ending": Ending.KILLED}
            self._close()


def _streams(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
    first, second, third = process.stdin, process.stdout, process.stderr
    assert first is not None
    assert second is not None
    assert third is not None
    return first, second, third

"""What is asked of a sandbox, and what it answers: jobs, limits, outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from depslice.callgraph.errors import DepsliceError

Message = Mapping[str, Any]
"""A JSON object."""


class SandboxUnavailable(DepsliceError):
    """No sandbox can be started here; the hint says what to install."""

    slug = "sandbox"
    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a job may use, all of its processes together unless said otherwise.

    ``cpu_seconds``, ``wall_seconds``; ``memory_bytes`` in use at one time (the address
    space of each process is limited to twice that and 1 GiB, so that threads fit);
    ``processes`` and threads at one time; ``open_files`` of each process; ``file_bytes`` of
    one file; ``disk_bytes`` and ``files`` in the private folder; ``output_bytes`` of
    standard output, and of standard error; ``message_bytes`` of all messages together;
    ``collected_bytes`` of all files that are brought back.
    """

    cpu_seconds: float = 60
    wall_seconds: float = 60
    memory_bytes: int = 2 << 30
    processes: int = 64
    open_files: int = 256
    file_bytes: int = 64 << 20
    disk_bytes: int = 256 << 20
    files: int = 20_000
    output_bytes: int = 1 << 20
    message_bytes: int = 16 << 20
    collected_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A program to run in a sandbox.

    ``argv`` starts with an absolute path. The program's working folder is its private
    writable folder, empty but for ``files`` (relative name to content). It can read the
    paths of ``readable``, at the same places as here, and what belongs to the system.
    ``environment`` is exact, but for ``HOME`` and ``TMPDIR``: they are the private folder
    unless given. Standard input is closed. ``network``: share that of this machine.
    ``writable``: an existing folder that it may change too, at the same place; the kernel does
    not limit its size, so the supervisor does, now and then (``disk_bytes``, ``files``).
    ``collect``: files of the private folder to bring back, by relative name.

    ``channel``: the program is ours, and gets the message channel at descriptors 3 and 4
    (see :mod:`depslice.validator.sandbox.depslice_inside.channel`); what it forks must not.
    ``messages`` are sent first.
    """

    argv: tuple[str, ...]
    readable: tuple[Path, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    network: bool = False
    writable: Path | None = None
    collect: tuple[str, ...] = ()
    channel: bool = False
    messages: tuple[Message, ...] = ()


class Ending(StrEnum):
    """How a job ended: by itself, or at which limit."""

    NOT_STARTED = "not-started"  # there is no such program, or it cannot be executed
    EXITED = "exited"
    SIGNALLED = "signalled"
    WALL_CLOCK = "wall-clock"
    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"
    OUTPUT = "output"
    MESSAGES = "messages"
    KILLED = "killed"  # by whoever started it
    LOST = "lost"  # the sandbox ended and could not say why


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a job ended, and what it left.

    ``code`` is the exit code of an ``EXITED`` program, ``signal`` the number that ended a
    ``SIGNALLED`` one. ``stdout`` and ``stderr`` are cut at the limit (``OUTPUT``).
    ``messages``: those not taken by :meth:`Running.receive`. ``forged`` counts lines on the
    message channel without the nonce. Seconds are wall-clock and CPU, of all processes;
    ``peak_bytes`` is sampled. ``files``: what was collected; ``refused`` names what was not
    (a link, a folder, too large), with the reason. ``detail`` is for people.
    """

    ending: Ending
    code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    messages: tuple[Message, ...] = ()
    forged: int = 0
    wall_seconds: float = 0
    cpu_seconds: float = 0
    peak_bytes: int = 0
    files: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether it exited with code 0 (which says nothing about a verdict)."""
        return self.ending is Ending.EXITED and self.code == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """Whether a sandbox works here; if not, why, and what would help."""

    ok: bool
    reason: str = ""
    remedy: str = ""


class Running(Protocol):
    """A job that was started; used by the thread that started it, and closed there.

    Leaving the context ends all processes of the job.
    """

    def send(self, message: Message) -> None:
        """Send to the program; does nothing when it has ended."""
        ...

    def finish(self) -> None:
        """Say that there will be no more messages: the program's ``receive`` gives ``None``."""
        ...

    def receive(self, timeout: float | None = None) -> Message | None:
        """Take the next message of the program; ``None`` when there will be none.

        :raises TimeoutError: none came in ``timeout`` seconds.
        """
        ...

    def kill(self) -> None:
        """End all processes of the job now."""
        ...

    def wait(self) -> Outcome:
        """Wait for the end of the program, and end what it has left behind."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...


@runtime_checkable
class Sandbox(Protocol):
    """Runs jobs. Found through entry points of the group ``depslice.sandboxes``.

    ``isolates``: code that runs in it cannot reach the machine; only such sandboxes are
    chosen without being named.
    """

    name: str
    isolates: bool

    def availability(self) -> Availability:
        """Whether it works here, found by running something in it."""
        ...

    def start(self, job: Job) -> Running:
        """Start ``job``.

        :raises SandboxUnavailable: it cannot be started at all.
        """
        ...

    def run(self, job: Job) -> Outcome:
        """Start ``job``, with no messages but its own, and wait for its end.

        :raises SandboxUnavailable: it cannot be started at all.
        """
        ...

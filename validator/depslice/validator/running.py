"""Running code nobody vetted: what is asked of a runner, and one without a sandbox.

A :class:`Runner` takes a :class:`Job` and gives :class:`Ended`; that is the whole
protocol. What a job reads and where it writes is said in it, so that a sandbox can bind
just that. Results are files in ``writable``, which whoever reads them treats as data of a
stranger: of limited size, never unpickled.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from depslice.callgraph.errors import DepsliceError

_SAID = 4000  # characters of what a process printed that are kept


class CheckUnavailable(DepsliceError):
    """Code cannot be run here, or nothing that could be checked came of it."""

    slug = "check"
    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a job may use: wall-clock and CPU seconds, MiB of memory, MiB of one file."""

    seconds: float = 120
    mebibytes: int = 4096
    file_mebibytes: int = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A process to run.

    ``command`` starts with the interpreter. It may read ``readable`` (beside what an
    interpreter needs) and write ``writable``, which is its working folder, home and
    temporary folder too. ``environment`` is all there is of one.
    """

    command: tuple[str, ...]
    readable: tuple[Path, ...]
    writable: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended. ``code`` is as :mod:`subprocess` has it; ``said`` is for people."""

    code: int
    timed_out: bool
    said: str


class Runner(Protocol):
    """Runs jobs; a sandbox is one."""

    def run(self, job: Job, limits: Limits) -> Ended:
        """Run ``job`` to its end, or to a limit.

        :raises CheckUnavailable: it cannot be started at all.
        """
        ...


class ProcessRunner:
    """Child processes with limits of time, memory and file size, and no other protection.

    A job runs with the rights of the user, in a process group of its own that is ended as
    a whole; its environment is cleared.
    """

    def run(self, job: Job, limits: Limits) -> Ended:
        """Run ``job``; see :meth:`Runner.run`."""
        if sys.platform == "win32":
            raise CheckUnavailable("a check needs process limits, which Windows does not have")
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(job.writable),
            "TMPDIR": str(job.writable),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1",
            **job.environment,
        }
        with tempfile.TemporaryFile() as said:
            try:
                process = subprocess.Popen(
                    job.command,
                    cwd=job.writable,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    preexec_fn=_limit(limits),  # noqa: PLW1509 - no threads here
                )
            except (OSError, subprocess.SubprocessError) as error:
                reason = getattr(error, "strerror", None) or error
                raise CheckUnavailable(f"cannot start {job.command[0]}: {reason}") from None
            timed_out = False
            try:
                code = process.wait(limits.seconds)
            except subprocess.TimeoutExpired:
                timed_out = True
                code = -signal.SIGKILL
            finally:
                _end_group(process)
            return Ended(code=code, timed_out=timed_out, said=_end_of(said.fileno()))


def _limit(limits: Limits) -> Callable[[], None]:
    import resource

    memory = limits.mebibytes << 20
    size = limits.file_mebibytes << 20
    cpu = int(limits.seconds) + 1

    def apply() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return apply


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what the process may have started, and itself."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _end_of(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, _SAID, max(0, size - _SAID))
    return data.decode("utf-8", "replace")

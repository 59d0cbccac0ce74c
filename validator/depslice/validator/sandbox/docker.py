"""Docker and Podman as sandboxes: for machines where bubblewrap has no rights.

The supervisor is process 1 of a container without network, rights or a writable file
system but two of limited size in memory, and talks on the container's standard input and
output like everywhere else. Images come from the machine alone (``--pull never``): an
interpreter of the machine is bound into an image that has nothing but a C library.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
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
from depslice.validator.sandbox.supervised import (
    INSIDE,
    Launch,
    Supervised,
    check_job,
    supervisor_argv,
    supervisor_python,
)

PRIVATE: Final = "/tmp/work"
DEFAULT_IMAGE: Final = "debian:stable-slim"
_ENGINES: Final = ("docker", "podman")
_USER: Final = "65534:65534"  # nobody, in every image


def find_engines() -> Mapping[str, str]:
    """The engines on the path, by name."""
    found = {name: shutil.which(name) for name in _ENGINES}
    return {name: path for name, path in found.items() if path is not None}


class ContainerSandbox:
    """A container for every job; the image is ``DEPSLICE_SANDBOX_IMAGE``."""

    name = "container"
    isolates = True

    def __init__(self, image: str | None = None) -> None:
        self.image = image or os.environ.get("DEPSLICE_SANDBOX_IMAGE", DEFAULT_IMAGE)

    def availability(self) -> Availability:
        """Whether an engine runs, has the image, and runs a small program in it."""
        reasons = []
        for name, path in find_engines().items():
            found = _probe(path, self.image)
            if found.ok:
                return found
            reasons.append(f"{name}: {found.reason}")
        if not reasons:
            return Availability(
                ok=False, reason="no Docker or Podman is installed", remedy="install Podman"
            )
        remedy = f"start the engine, then: docker pull {self.image}"
        return Availability(ok=False, reason="; ".join(reasons), remedy=remedy)

    def start(self, job: Job) -> Supervised:
        """See :meth:`Sandbox.start`."""
        check_job(job)
        for path in find_engines().values():
            if _probe(path, self.image).ok:
                return Supervised(job, container_launch(path, self.image, job))
        raise SandboxUnavailable("no container engine works here")

    def run(self, job: Job) -> Outcome:
        """See :meth:`Sandbox.run`."""
        with self.start(job) as running:
            running.finish()
            return running.wait()


@cache
def _probe(engine: str, image: str) -> Availability:
    job = Job(
        argv=(str(supervisor_python()), "-I", "-S", "-c", "print(6 * 7)"),
        limits=Limits(wall_seconds=30),
    )
    if problem := _ask(engine, "image", "inspect", "--format", "{{.Id}}", image):
        return Availability(ok=False, reason=problem)
    with Supervised(job, container_launch(engine, image, job)) as running:
        outcome = running.wait()
    if outcome.ending is Ending.EXITED and outcome.stdout == b"42\n":
        return Availability(ok=True, reason=f"{engine}, {image}")
    return Availability(ok=False, reason=outcome.detail or str(outcome.ending))


def _ask(engine: str, *arguments: str) -> str:
    """What is wrong, in the engine's words; nothing when it did as it was told."""
    try:
        done = subprocess.run(
            [engine, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "the engine does not answer"
    except OSError as error:
        return error.strerror or str(error)
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return lines[0] if done.returncode else ""


def container_launch(engine: str, image: str, job: Job) -> Launch:
    """How ``engine`` starts the supervisor of ``job``."""
    name = f"depslice-{secrets.token_hex(8)}"
    program, *arguments = supervisor_argv()
    return Launch(
        argv=(
            *(engine, "run", "--name", name),
            *container_options(job),
            *("--entrypoint", program, image, *arguments),
        ),
        folder=PRIVATE,
        isolated=True,
        environment=_engine_environment(),
        # When only the engine's client was ended: the container ends at the end of its input.
        close=lambda: _remove(engine, name),
    )


def container_options(job: Job) -> Iterator[str]:
    """The options of ``run`` that make a container of ``job`` a sandbox."""
    limits = job.limits
    yield from ("--rm", "--interactive", "--pull", "never", "--hostname", "sandbox")
    yield from ("--network", "bridge" if job.network else "none")
    yield from ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    yield from ("--user", _USER, "--workdir", "/", "--ipc", "private")
    yield from ("--pids-limit", str(limits.processes + 1))
    yield from ("--memory", str(limits.memory_bytes + (64 << 20)))
    yield from ("--memory-swap", str(limits.memory_bytes + (64 << 20)))
    yield from ("--shm-size", str(limits.disk_bytes))
    room = f"size={limits.disk_bytes},nr_inodes={limits.files}"
    yield from ("--tmpfs", f"/tmp:rw,nosuid,nodev,exec,mode=1777,{room}")
    folders = [INSIDE, *interpreter_folders(supervisor_python()), *job.readable]
    for path in sorted({Path(os.path.abspath(folder)) for folder in folders}):
        yield from ("--mount", _mount(path))
    if job.writable is not None:
        yield from ("--mount", _mount(job.writable, writable=True))


def _mount(path: Path, *, writable: bool = False) -> str:
    """A bind in the form of ``--mount``, which is one line of CSV."""
    fields = ["type=bind", f"source={path}", f"target={path}"]
    if not writable:
        fields.append("readonly")
    return ",".join(
        '"' + each.replace('"', '""') + '"' if set(each) & set(',"\n') else each for each in fields
    )


def _engine_environment() -> dict[str, str]:
    """What tells the client where its engine is; the container gets none of it."""
    names = ("PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "CONTAINER_HOST")
    return {name: os.environ[name] for name in names if name in os.environ}


def _remove(engine: str, name: str) -> None:
    _ask(engine, "rm", "--force", name)

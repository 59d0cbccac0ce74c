"""uv at work in the sandbox, with the registry as its only network."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from depslice.validator.environment.model import Cause, EnvironmentFailed
from depslice.validator.environment.planning import Plan
from depslice.validator.environment.registry import index_places, index_settings, registry_door
from depslice.validator.sandbox import (
    INSIDE,
    Job,
    Limits,
    Outcome,
    Running,
    Sandbox,
    interpreter_folders,
)
from depslice.validator.sandbox.supervised import supervisor_python

_LIMITS: Final = Limits(
    wall_seconds=1800,
    cpu_seconds=3600,
    memory_bytes=8 << 30,
    processes=512,
    open_files=4096,
    file_bytes=8 << 30,
    disk_bytes=20 << 30,
    files=500_000,
    output_bytes=32 << 20,
)
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from depslice_inside import building;"
    " building.main(sys.argv[2])"
)
_ASK_VERSION_CONTROL: Final = (
    "SETUPTOOLS_SCM_PRETEND_VERSION", "PBR_VERSION", "PDM_BUILD_SCM_VERSION",
    "POETRY_DYNAMIC_VERSIONING_BYPASS", "UV_DYNAMIC_VERSIONING_BYPASS",
    "HATCH_VCS_PRETEND_VERSION",
)  # fmt: skip
_VERSION: Final = "1.0.0"  # what they are told: there is no version control in the sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Uv:
    """uv for one plan; ``folder`` is that of the environment, the only one it can change."""

    program: Path
    plan: Plan
    sandbox: Sandbox
    folder: Path
    network: bool

    @property
    def venv(self) -> Path:
        """The virtual environment."""
        return self.folder / "venv"

    @property
    def constraints(self) -> Path:
        """The file of versions that are fixed; to be written before anything is installed."""
        return self.folder / "constraints.txt"

    @contextlib.contextmanager
    def started(self, place: Path) -> Iterator[Steps]:
        """A sandbox for the steps of a build; ``place`` is an empty folder for its door."""
        hosts, folders = _index(place)
        allowed = hosts if self.network else frozenset()
        with (
            registry_door(place / "door", allowed) as refused,
            self.sandbox.start(self._job(place / "door", folders)) as running,
        ):
            yield Steps(self, running, refused)

    def fetched(self, place: Path, distribution: str, file: str) -> bytes | None:
        """One file of a distribution's wheel, of which nothing is run; ``None``: not to be had."""
        hosts, folders = _index(place)
        job = self._job(place / "door", folders)
        arguments = ("pip", "install", "--no-deps", "--no-build", "--target", "fetched")
        python = str(self.plan.interpreter.path)
        program = [str(self.program), *arguments, distribution, "--python", python]
        collected = f"fetched/{file}"
        fetching = Job(
            argv=job.argv,
            readable=job.readable,
            environment={
                name: value
                for name, value in job.environment.items()
                if name not in {"TMPDIR", "UV_CACHE_DIR"}
            },
            limits=Limits(wall_seconds=120, processes=128, open_files=1024),
            collect=(collected,),
            channel=True,
            messages=({"argv": program, "environment": {}},),
        )
        with registry_door(place / "door", hosts), self.sandbox.start(fetching) as running:
            running.receive()
            running.finish()
            return running.wait().files.get(collected)

    def _job(self, door: Path, folders: Sequence[Path]) -> Job:
        supervisor = supervisor_python()
        return Job(
            argv=(str(supervisor), "-I", "-S", "-c", _PROGRAM, str(INSIDE.parent), str(door)),
            readable=(
                self.program,
                door,
                *folders,
                *interpreter_folders(supervisor),
                *interpreter_folders(self.plan.interpreter.path),
            ),
            writable=self.folder,
            environment=self._environment(),
            limits=_LIMITS,
            channel=True,
        )

    def _environment(self) -> Mapping[str, str]:
        temporary = str(self.folder / "tmp")
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TMPDIR": temporary,
            "UV_CACHE_DIR": f"{temporary}/uv",
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NATIVE_TLS": "1",
            **({} if self.network else {"UV_OFFLINE": "1"}),
            **index_settings(os.environ),
            **(dict.fromkeys(_ASK_VERSION_CONTROL, _VERSION) if self.plan.declared.dynamic else {}),
        }


@dataclass(frozen=True, slots=True)
class Steps:
    """uv in a running sandbox; ``refused`` grows with the connections that its door did not make."""

    uv: Uv
    running: Running
    refused: Sequence[str]

    def venv(self) -> bool:
        """Make the virtual environment; whether that worked."""
        return self._step("venv", "--python", str(self.uv.plan.interpreter.path), str(self.uv.venv))

    def install(self, *arguments: str) -> bool:
        """Install, within the constraints; whether that worked."""
        return self._step(
            *("pip", "install", "--python", str(self.uv.venv / "bin" / "python")),
            *("--compile-bytecode", "--constraint", str(self.uv.constraints), *arguments),
        )

    def _step(self, *arguments: str) -> bool:
        self.running.send({"argv": [str(self.uv.program), *arguments], "environment": {}})
        answer = self.running.receive()
        return answer is not None and answer.get("code") == 0

    def end(self) -> Outcome:
        """No more steps: how the sandbox ended, with all that was said."""
        self.running.finish()
        return self.running.wait()


def _index(place: Path) -> tuple[frozenset[tuple[str, int]], list[Path]]:
    """Hosts and folders of the index; others may pass ``place``, to reach the door in it."""
    place.chmod(0o755)
    return index_places(index_settings(os.environ))


def find_uv() -> Path:
    """The program of the ``uv`` package, else the one on the path.

    :raises EnvironmentFailed: there is none.
    """
    try:
        from uv import find_uv_bin

        return Path(find_uv_bin())
    except (ImportError, FileNotFoundError):
        on_path = shutil.which("uv")
    if on_path is not None and not Path(on_path).read_bytes().startswith(b"#!"):
        return Path(on_path).resolve()
    raise EnvironmentFailed(Cause.UV, "uv is not installed: pip install 'depslice[validate]'")

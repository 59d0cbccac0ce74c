"""The programs of ``fixtures/hostile_programs``, what they may attack, and what they leave."""

from __future__ import annotations

import ast
import os
import re
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from depslice.validator.sandbox import (
    Ending,
    Job,
    Limits,
    Outcome,
    interpreter_folders,
)

FOLDER = Path(__file__).parent.parent / "fixtures" / "hostile_programs"
SHARED = "attempts"
# The interpreter itself, not the virtual environment that runs the tests.
PYTHON = Path(getattr(sys, "_base_executable", sys.executable)).resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostileProgram:
    """One program; ``ends`` as its docstring has them."""

    name: str
    text: str
    ends: frozenset[str]
    limits: Limits
    collect: tuple[str, ...]

    def accepts(self, outcome: Outcome) -> bool:
        """Whether it came to an end that it may come to, without having done anything."""
        if b"ESCAPED" in outcome.stdout + outcome.stderr:
            return False
        if outcome.ending is Ending.EXITED and b"CONTAINED" not in outcome.stdout:
            return False
        return ending_of(outcome) in self.ends


def ending_of(outcome: Outcome) -> str:
    """``exited 0``, ``signalled 9``, ``wall-clock``…"""
    match outcome.ending:
        case Ending.EXITED:
            return f"exited {outcome.code}"
        case Ending.SIGNALLED:
            return f"signalled {outcome.signal}"
        case other:
            return str(other)


def load_hostile_programs() -> tuple[HostileProgram, ...]:
    """All programs, sorted by name."""
    paths = sorted(path for path in FOLDER.glob("*.py") if path.stem != SHARED)
    return tuple(_load(path) for path in paths)


def _load(path: Path) -> HostileProgram:
    text = path.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    said = dict(re.findall(r"^(ends|limits|collect): (.*)$", docstring, re.MULTILINE))
    limits = {}
    for each in said.get("limits", "").split():
        name, _, value = each.partition("=")
        limits[name] = float(value) if name.endswith("_seconds") else int(value)
    usual = {"wall_seconds": 30, "cpu_seconds": 20, "memory_bytes": 512 << 20}
    return HostileProgram(
        name=path.stem,
        text=text,
        ends=frozenset(re.findall(r"[a-z-]+(?: \d+)?", said["ends"])),
        limits=Limits(**(usual | limits)),  # type: ignore[arg-type]
        collect=tuple(said.get("collect", "").split()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a program finds to attack: a folder, a secret, servers, a process."""

    folder: Path
    environment: dict[str, str]
    mark: str
    victim: subprocess.Popen[bytes]

    def job(self, program: HostileProgram) -> Job:
        """Run ``program`` among these."""
        shared = (FOLDER / f"{SHARED}.py").read_bytes()
        return Job(
            argv=(str(PYTHON), f"{program.name}.py"),
            readable=(*interpreter_folders(PYTHON), self.folder / "canary"),
            files={f"{program.name}.py": program.text.encode(), f"{SHARED}.py": shared},
            environment=self.environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            limits=program.limits,
            collect=program.collect,
        )

    def traces(self) -> list[str]:
        """What a program has changed, or left, outside."""
        found = [f"process {pid}" for pid in marked_processes(self.mark)]
        if self.victim.poll() is not None:
            found.append("the victim has ended")
        canary = self.folder / "canary"
        if sorted(os.listdir(canary)) != ["canary"] or (canary / "canary").read_text() != "canary":
            found.append(f"changed: {os.listdir(canary)}")
        return found


def marked_processes(mark: str) -> list[str]:
    """Processes of this machine with ``mark`` in their environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                data = Path(f"/proc/{name}/environ").read_bytes()
            except OSError:
                continue
            if mark.encode() in data:
                found.append(name)
    return found


@contextmanager
def surroundings(folder: Path) -> Iterator[Surroundings]:
    """Servers, a process, and a folder to attack; ``folder`` is empty."""
    (folder / "canary").mkdir()
    (folder / "canary" / "canary").write_text("canary")
    (folder / "secret").write_text("secret")
    folder.chmod(0o755)
    name = f"depslice-{uuid.uuid4()}"
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        # A path of a Unix socket is short: that of a test's folder may be too long.
        short = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="depslice-socket-")))
        short.chmod(0o755)
        for address in (str(short / "s"), f"\0{name}"):
            server = stack.enter_context(socket.socket(socket.AF_UNIX))
            server.bind(address)
            server.listen()
        victim = subprocess.Popen(
            ["sleep", "600"], env={"CANARY_IN_PARENT": "1"}, stdin=subprocess.DEVNULL
        )
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        yield Surroundings(
            folder=folder,
            environment={
                "CANARY_FOLDER": str(folder / "canary"),
                "SECRET_FILE": str(folder / "secret"),
                "TCP_PORT": str(tcp.getsockname()[1]),
                "UNIX_SOCKET": str(short / "s"),
                "ABSTRACT_SOCKET": name,
                "VICTIM": str(victim.pid),
                "DEPSLICE_MARK": name,
            },
            mark=name,
            victim=victim,
        )

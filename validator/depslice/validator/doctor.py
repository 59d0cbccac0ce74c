"""What of this machine code can be run with, found by trying: ``depslice doctor``."""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from depslice.validator.sandbox import (
    Job,
    Limits,
    Sandbox,
    SandboxUnavailable,
    all_sandboxes,
    interpreter_folders,
)
from depslice.validator.sandbox.supervised import supervisor_python
from depslice.validator.sandbox.syscalls import filters

DOCTOR_SCHEMA = "depslice.doctor/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at. ``part`` groups them: ``machine``, ``sandbox``,
    ``isolation``, ``environment``. ``remedy`` says what would help.
    """

    part: str
    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """All checks; ``sandbox`` names the one that is chosen, if one isolates and works."""

    sandbox: str | None
    checks: tuple[Check, ...]


def examine(sandboxes: Sequence[Sandbox] | None = None) -> Examination:
    """Look at the machine, and try each sandbox.

    Of the one that would be chosen a program inside tells what it sees: isolation is
    what it cannot do, not what was asked for.
    """
    checks = [*_machine()]
    chosen: Sandbox | None = None
    try:
        found = all_sandboxes() if sandboxes is None else sandboxes
    except SandboxUnavailable as error:
        found = ()
        checks.append(Check(part="sandbox", name="plug-ins", ok=False, detail=error.message))
    for sandbox in found:
        there = sandbox.availability()
        checks.append(
            Check(
                part="sandbox",
                name=sandbox.name,
                ok=there.ok and sandbox.isolates,
                detail=there.reason if sandbox.isolates else f"no isolation: {there.reason}",
                remedy=there.remedy,
            )
        )
        if chosen is None and there.ok and sandbox.isolates:
            chosen = sandbox
    if chosen is not None:
        checks += _isolation(chosen)
    checks += _environment()
    return Examination(sandbox=chosen.name if chosen else None, checks=tuple(checks))


def _machine() -> Iterator[Check]:
    uid = os.getuid() if hasattr(os, "getuid") else -1
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    user = "root: code runs as users of its own" if uid == 0 else f"user {uid}"
    yield Check(part="machine", name="system", ok=platform.system() == "Linux", detail=system)
    yield Check(part="machine", name="user", ok=True, detail=user)
    yield Check(
        part="machine",
        name="system calls",
        ok=filters(platform.machine()),
        detail="can be filtered" if filters(platform.machine()) else "no filter for this machine",
    )


# What a program inside finds. Each line is a claim, and whether it holds.
_INSIDE: Final = """\
import json, os, resource, socket, sys
def fails(action, *arguments):
    try: action(*arguments)
    except OSError as error: return error.strerror or str(error)
    return ""
with open("/proc/self/status") as file:
    status = dict(line.rstrip("\\n").partition(":")[::2] for line in file)
status = {name: value.strip() for name, value in status.items()}
pids = [name for name in os.listdir("/proc") if name.isdigit()]
nets = [name for _, name in socket.if_nameindex()]
room = os.statvfs(".")
size = room.f_blocks * room.f_frsize
hidden = fails(open, sys.argv[1] + "/hidden")
private = fails(open, sys.argv[1] + "/shown/private")
hard = {n: resource.getrlimit(getattr(resource, "RLIMIT_" + n))[1] for n in ("NPROC", "AS", "FSIZE", "NOFILE")}
print(json.dumps({
    "processes": [len(pids) <= 3, f"{len(pids)} can be seen"],
    "network": [not [n for n in nets if n != "lo"], "interfaces: " + " ".join(nets)],
    "files": [bool(hidden) and bool(fails(open, "/usr/x", "w")) and bool(fails(open, "/x", "w")),
              f"a file of this user: {hidden or 'can be read'}"],
    "rights": [status.get("NoNewPrivs") == "1" and int(status.get("CapEff", "1"), 16) == 0,
               f"no new privileges: {status.get('NoNewPrivs')}, capabilities: {status.get('CapEff')}"],
    "supervisor": [bool(fails(open, "/proc/1/mem", "rb")), fails(open, "/proc/1/mem", "rb") or "can be read"],
    "user": [sys.argv[3] != "0" or bool(private),
             f"a file that only user {sys.argv[3]} may read: {private or 'can be read'}"],
    "filter": [status.get("Seccomp") == "2", f"mode {status.get('Seccomp')}"],
    "room": [size <= int(sys.argv[2]), f"{size >> 20} MiB"],
    "limits": [resource.RLIM_INFINITY not in hard.values(), ", ".join(f"{n} {v}" for n, v in hard.items())],
}))
"""


def _isolation(sandbox: Sandbox) -> Iterator[Check]:
    python = supervisor_python()
    limits = Limits(wall_seconds=20, disk_bytes=64 << 20)
    with tempfile.TemporaryDirectory(prefix="depslice-doctor-") as name:
        shown = Path(name, "shown")
        shown.mkdir(mode=0o755)
        for path in (Path(name, "hidden"), shown / "private"):
            path.touch(mode=0o600)
        arguments = (name, str(limits.disk_bytes), str(os.getuid()))
        job = Job(
            argv=(str(python), "-I", "-S", "-c", _INSIDE, *arguments),
            readable=(*interpreter_folders(python), shown),
            limits=limits,
        )
        outcome = sandbox.run(job)
    try:
        said: Mapping[str, Any] = json.loads(outcome.stdout)
    except ValueError:
        detail = outcome.stderr.decode("utf-8", "replace").strip() or str(outcome.ending)
        yield Check(part="isolation", name="probe", ok=False, detail=detail.splitlines()[-1])
        return
    for name, (ok, detail) in said.items():
        yield Check(part="isolation", name=name, ok=bool(ok), detail=str(detail))


def _environment() -> Iterator[Check]:
    try:
        from depslice.validator.environment import EnvironmentFailed, find_interpreters
        from depslice.validator.environment.uv import find_uv
    except ImportError as error:
        yield Check(
            part="environment",
            name="packages",
            ok=False,
            detail=f"{error.name} is not installed",
            remedy="pip install 'depslice[validate]'",
        )
        return
    try:
        yield Check(part="environment", name="uv", ok=True, detail=str(find_uv()))
    except EnvironmentFailed as error:
        yield Check(
            part="environment",
            name="uv",
            ok=False,
            detail="not installed",
            remedy=error.message.partition(": ")[2],
        )
    versions = [".".join(map(str, each.version)) for each in find_interpreters()]
    yield Check(part="environment", name="Pythons", ok=bool(versions), detail=", ".join(versions))


def doctor_document(found: Examination) -> dict[str, Any]:
    """The examination as JSON; the form is described in ``docs/formats/json.md``."""
    return {
        "schema": DOCTOR_SCHEMA,
        "sandbox": found.sandbox,
        "checks": [asdict(check) for check in found.checks],
    }


def doctor_lines(found: Examination) -> Iterator[str]:
    """The examination as a table, one check a line, what would help below."""
    width = max(len(check.name) for check in found.checks)
    part = ""
    for check in found.checks:
        if check.part != part:
            part = check.part
            yield part
        mark = "ok" if check.ok else "--"
        yield f"  {mark}  {check.name:<{width}}  {check.detail}"
        if check.remedy:
            yield f"      {'':<{width}}  {check.remedy}"
    if found.sandbox is None:
        yield "no sandbox works here: code is run only with --unsafe-no-sandbox"
    else:
        yield f"code is run in: {found.sandbox}"

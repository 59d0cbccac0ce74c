"""Forks that run what is not ours: waiting for one within limits, ending what it has left."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path

_STEP = 0.05  # seconds between looks at a process that computes


def wait_for(pid: int, seconds: float, cpu_seconds: float | None) -> str:
    """How the process ended: ``exit``, ``time``, or the name of a signal.

    ``seconds`` are those of the clock; with ``cpu_seconds`` it may not compute for longer
    than that either, however long a busy machine takes for it.
    """
    until = time.monotonic() + seconds
    step = seconds if cpu_seconds is None else cpu_seconds
    descriptor = os.pidfd_open(pid)
    try:
        while not (ready := select.select([descriptor], [], [], step)[0]):
            if time.monotonic() >= until or (cpu_seconds and _cpu_seconds(pid) >= cpu_seconds):
                break
            step = _STEP
    finally:
        os.close(descriptor)
    if not ready:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not ready:
        return "time"
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return "exit"


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    user, system = fields.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds_of_forks() -> float:
    """What all processes that descend from this one, and run, have used up to now."""
    used: dict[int, int] = {}
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                stat = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
                fields = stat.rpartition(")")[2].split()
                parents[int(name)] = int(fields[1])
                used[int(name)] = sum(map(int, fields[11:15]))  # with its children that have ended
    own = os.getpid()
    ticks = 0
    for pid, own_ticks in used.items():
        above = parents[pid]
        while above not in (own, 0):
            above = parents.get(above, 0)
        ticks += own_ticks if above == own else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def end_the_rest() -> None:
    """End what the run has left: its orphans are children of this process."""
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for pid in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)


def _children() -> list[int]:
    found = []
    own = str(os.getpid())
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                stat = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
                if stat.rpartition(")")[2].split()[1] == own:
                    found.append(int(name))
    return found

"""The processes of a run: which there are, what each uses, and ending all of them."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import os

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


def read_process(pid: str) -> tuple[int, float, int]:
    """Parent, CPU seconds (with ended children) and resident bytes; zeros when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0, 0.0, 0
    return int(fields[1]), sum(map(int, fields[11:15])) / _TICKS, int(fields[21]) * _PAGE


def proportional_bytes(pid: str) -> int | None:
    """Memory with shared pages divided among those who share them; ``None``: not told."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) << 10
    except OSError:
        pass
    return None


def processes() -> dict[str, tuple[int, float, int]]:
    """All processes that /proc shows, but this one."""
    own = str(os.getpid())
    return {
        name: read_process(name) for name in os.listdir("/proc") if name.isdigit() and name != own
    }


def descendants() -> list[int]:
    """Processes that this one has started, or adopted; not those that wait to be collected."""
    found = processes()
    family = {os.getpid()}
    while True:
        more = {int(pid) for pid, (parent, _, _) in found.items() if parent in family} - family
        if not more:
            break
        family |= more
    return [pid for pid in family - {os.getpid()} if not _ended(pid)]


def _ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


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

"""What the processes of a run use: time, memory, and room in the private folder."""

from __future__ import annotations

import os
import time

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


class Watch:
    """Looks at what the run uses, and knows its limits."""

    def __init__(
        self, folder: str, limits: dict[str, float], *, isolated: bool, writable: str
    ) -> None:
        self.folder = folder
        self.writable = writable
        self._measured = time.monotonic()
        self._pause = 1.0
        self.limits = limits
        self.isolated = isolated
        self.peak = 0
        self.deadline = time.monotonic() + limits["wall_seconds"]

    def exceeded(self) -> str:
        """The limit that is exceeded now, or nothing."""
        if time.monotonic() > self.deadline:
            return "wall-clock"
        if self.isolated and self._disk_is_full():
            return "disk"
        if self.writable and self._folder_is_full():
            return "disk"
        found = self._family()
        used = sum(size for _, _, size in found.values())
        if used > self.limits["memory_bytes"]:
            # Forked processes share most of their pages.
            used = sum(
                size if (shared := proportional_bytes(pid)) is None else shared
                for pid, (_, _, size) in found.items()
            )
        self.peak = max(self.peak, used)
        if used > self.limits["memory_bytes"]:
            return "memory"
        ended = os.times()
        spent = ended.children_user + ended.children_system
        spent += sum(seconds for _, seconds, _ in found.values())
        return "cpu" if self.spent(spent) else ""

    def spent(self, seconds: float) -> bool:
        """Whether that much CPU time is all there is."""
        return seconds >= self.limits["cpu_seconds"]

    def _family(self) -> dict[str, tuple[int, float, int]]:
        if self.isolated:
            return processes()
        return {str(pid): read_process(str(pid)) for pid in descendants()}

    def _disk_is_full(self) -> bool:
        room = os.statvfs(self.folder)
        return room.f_bavail == 0 or room.f_files - room.f_ffree > self.limits["files"]

    def _folder_is_full(self) -> bool:
        """Measure the writable folder, at most a tenth of the time."""
        started = time.monotonic()
        if started - self._measured < self._pause:
            return False
        size, files = folder_size(self.writable)
        self._measured = time.monotonic()
        self._pause = max(1.0, 10 * (self._measured - started))
        return size > self.limits["disk_bytes"] or files > self.limits["files"]


def folder_size(folder: str) -> tuple[int, int]:
    """Bytes on the disk and number of files below ``folder``."""
    size = files = 0
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return size, files

"""What the processes of a run use: time, memory, and room in the private folder."""

from __future__ import annotations

import os
import time

from .family import descendants, processes, proportional_bytes, read_process


class Watch:
    """Looks at what the run uses, and knows its limits."""

    def __init__(
        self, folder: int, limits: dict[str, float], *, isolated: bool, writable: str
    ) -> None:
        self.folder = folder
        self.writable = writable
        self._measured = time.monotonic()
        self._pause = 1.0
        self.limits = limits
        self.isolated = isolated
        self.peak = 0
        self.deadline = time.monotonic() + limits["wall_seconds"]
        self.idle = 0  # looks in a row that found nothing running
        self._found: dict[str, tuple[int, float, int]] = {}

    def exceeded(self) -> str:
        """The limit that is exceeded now, or nothing."""
        if time.monotonic() > self.deadline:
            return "wall-clock"
        if self.isolated and self._disk_is_full():
            return "disk"
        if self.writable and self._folder_is_full():
            return "disk"
        found = self._family()
        self.idle = self.idle + 1 if found == self._found else 0
        self._found = found
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

"""Showing a worker's user what lies below folders that only root may pass.

Root's own interpreter often lies below ``/root`` (mode 0700), where another user cannot
reach it, and bubblewrap, run as that user, could not bind it. So between fork and exec, in
a mount namespace of its own, each such path is bound to a place that can be reached; then
root's rights are dropped. The mounts exist in that namespace alone and end with it.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_CLONE_NEWNS: Final = 0x20000
_MS_BIND, _MS_REC, _MS_PRIVATE, _MS_NOSUID, _MS_NODEV = 4096, 16384, 1 << 18, 2, 4

# Looked up before any fork: the child must not import or look up anything.
if sys.platform == "linux":
    _libc = ctypes.CDLL(None, use_errno=True)
    _unshare, _mount = _libc.unshare, _libc.mount
    _mount.argtypes = (
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p,
    )  # fmt: skip


def reachable(path: Path) -> bool:
    """Whether everyone may pass all folders above ``path``."""
    folder = os.path.realpath(path)
    while folder != os.sep:  # no objects for paths: this is asked at each start
        folder = os.path.dirname(folder)
        if not os.stat(folder).st_mode & 0o001:
            return False
    return True


@dataclass(slots=True)
class Stage:
    """Binds to be made in the child, below the empty folder ``folder``; then ``user``'s rights."""

    folder: Path
    user: int
    _binds: list[tuple[bytes, bytes, bool]] = field(default_factory=list)

    def show(self, path: Path) -> Path:
        """Where the user will find ``path``: there, or on the stage."""
        if reachable(path):
            return path
        source = path.resolve()
        place = self.folder / str(len(self._binds))
        self._binds.append((os.fsencode(source), os.fsencode(place), source.is_dir()))
        return place

    def enter(self) -> None:
        """Make the binds and become the user. Runs between fork and exec.

        :raises OSError: a mount failed, or this is not root with all its rights.
        """
        if self._binds:
            _check(_unshare(_CLONE_NEWNS))
            _check(_mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))
            stage = os.fsencode(self.folder)
            _check(_mount(b"stage", stage, b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=1m,mode=755"))
            for source, place, is_folder in self._binds:
                if is_folder:
                    os.mkdir(place, 0o755)
                else:
                    os.close(os.open(place, os.O_CREAT | os.O_WRONLY, 0o644))
                _check(_mount(source, place, None, _MS_BIND | _MS_REC, None))
        os.setgroups([])
        os.setresgid(self.user, self.user, self.user)
        os.setresuid(self.user, self.user, self.user)


def hand_over(folder: Path, user: int) -> None:
    """Make a folder of root's, with all that is in it, the user's."""
    for path in _all_of(folder):
        os.lchown(path, user, user)


def take_back(folder: Path) -> None:
    """Make a folder that the user has written root's again, for everyone to read.

    None of its processes is left, so what is a file now cannot become a link.
    """
    for path in _all_of(folder):
        os.lchown(path, 0, 0)
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and mode & 0o100):
            os.chmod(path, 0o755)  # noqa: S103 - it is what sandboxes may read
        elif stat.S_ISREG(mode):
            os.chmod(path, 0o644)


def _all_of(folder: Path) -> Iterator[str]:
    """``folder`` and all below it, a folder before what it holds; no link is followed."""
    yield str(folder)
    for path, folders, files in os.walk(folder):
        yield from (os.path.join(path, name) for name in (*folders, *files))


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), "cannot show the sandbox what only root can reach")

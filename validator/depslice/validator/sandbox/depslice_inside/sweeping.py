"""Emptying folders that what is not ours could write to, so that no run knows of another."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Iterable


class Places:
    """Folders that are swept: what came into them since :meth:`remember` is removed."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._known: dict[str, frozenset[str]] = dict.fromkeys(folders, frozenset())

    def remember(self) -> None:
        """What is there now stays."""
        for folder in self._known:
            self._known[folder] = frozenset(os.listdir(folder))

    def sweep(self) -> None:
        """Remove what is new. Nothing may run that could write there."""
        for folder, known in self._known.items():
            _restore(folder)
            _sweep(folder, known)


def _restore(folder: str) -> None:
    """A folder at its place, which can be used, whatever a run has done to it."""
    try:
        found = os.lstat(folder)
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(folder)
            raise FileNotFoundError
    except FileNotFoundError:
        os.mkdir(folder)
    else:
        os.chmod(folder, stat.S_IMODE(found.st_mode) | 0o700)


def _sweep(folder: str, known: frozenset[str]) -> None:
    """Remove all but ``known``: however deep it is, and whatever its permissions are."""
    device = os.lstat(folder).st_dev
    numbers = itertools.count()
    stays = set(known)
    while new := [name for name in os.listdir(folder) if name not in stays]:
        for name in new:
            path = os.path.join(folder, name)
            try:
                found = os.lstat(path)
                if found.st_dev != device:
                    stays.add(name)  # a mount: not of a run's making
                elif stat.S_ISDIR(found.st_mode):
                    _flatten(path, folder, numbers)
                else:
                    os.unlink(path)
            except OSError:
                stays.add(name)


def _flatten(path: str, folder: str, numbers: Iterable[int]) -> None:
    """Remove a folder; the folders in it come up to where it was, to be removed there.

    So no path grows long, and nothing recurses.
    """
    os.chmod(path, 0o700)
    for name in os.listdir(path):
        inner = os.path.join(path, name)
        if stat.S_ISDIR(os.lstat(inner).st_mode):
            os.chmod(inner, 0o700)  # who is moved is written to
            os.rename(inner, _free(folder, numbers))
        else:
            os.unlink(inner)
    os.rmdir(path)


def _free(folder: str, numbers: Iterable[int]) -> str:
    for number in numbers:
        path = os.path.join(folder, f".swept-{number}")
        if not os.path.lexists(path):
            return path
    raise AssertionError("numbers have no end")

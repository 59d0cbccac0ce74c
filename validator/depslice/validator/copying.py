"""Copies of a repository's folder: its files, folders and links."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path


def copy_folder(root: Path, folder: Path, *, without: Sequence[str]) -> None:
    """Copy ``root`` to the new ``folder``, but for the names ``without``, which may be patterns.

    Links stay links. Pipes, sockets and devices stay behind, and so does what this user may not
    read: whoever runs the repository's code could not read it either.

    :raises OSError: it cannot be copied; tells the first file of which that is true.
    """
    named = shutil.ignore_patterns(*without)

    def ignored(place: str, names: list[str]) -> set[str]:
        left_out = {e.name for e in os.scandir(place) if not _is_to_copy(e)}
        return left_out | named(place, names)

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copytree(root, folder, symlinks=True, ignore=ignored)
    except shutil.Error as error:
        failures = error.args[0]
        source, _, why = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise OSError(f"{os.path.relpath(source, root)}: {why}{more}") from None


def _is_to_copy(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return True
    known = entry.is_file() or entry.is_dir()
    return known and os.access(entry.path, os.R_OK)

"""Copies of a repository's folder: its files, folders and links."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_BLOCK: Final = 512  # that `st_blocks` counts, whatever the file system has
_PART: Final = 1 << 20


def copy_folder(root: Path, folder: Path, *, without: Sequence[str]) -> None:
    """Copy ``root`` to the new ``folder``, but for the names ``without``, which may be patterns.

    Links stay links, and holes in files stay holes: an image of a disk may have more bytes than the
    disk that it lies on. Pipes, sockets and devices stay behind, and so does what this user may not
    read: whoever runs the repository's code could not read it either.

    :raises OSError: it cannot be copied; tells the first file of which that is true.
    """
    named = shutil.ignore_patterns(*without)

    def ignored(place: str, names: list[str]) -> set[str]:
        left_out = {e.name for e in os.scandir(place) if not _is_to_copy(e)}
        return left_out | named(place, names)

    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copytree(root, folder, symlinks=True, ignore=ignored, copy_function=_copy_file)
    except shutil.Error as error:
        failures = error.args[0]
        source, _, why = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        raise OSError(f"{os.path.relpath(source, root)}: {why}{more}") from None


def _copy_file(source: str, target: str) -> None:
    found = os.stat(source)
    if getattr(found, "st_blocks", 0) * _BLOCK < found.st_size:
        _copy_data(source, target)
        shutil.copystat(source, target)
    else:
        shutil.copy2(source, target)


def _copy_data(source: str, target: str) -> None:
    """Copy what of a file is no hole."""
    with open(source, "rb") as read, open(target, "wb") as written:
        size = os.fstat(read.fileno()).st_size
        written.truncate(size)
        begin = end = 0
        while end < size:
            try:
                begin = os.lseek(read.fileno(), end, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # nothing but a hole from here on
                    return
                raise
            end = os.lseek(read.fileno(), begin, os.SEEK_HOLE)
            read.seek(begin)
            written.seek(begin)
            left = end - begin
            while left and (part := read.read(min(left, _PART))):
                written.write(part)
                left -= len(part)


def _is_to_copy(entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        return True
    known = entry.is_file() or entry.is_dir()
    return known and os.access(entry.path, os.R_OK)

"""The ``tree`` rendering: the repo's own module paths, each file cut to the slice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from depslice.callgraph.errors import OptionError
from depslice.slicer.model import RenderedFile, Slice
from depslice.slicer.render.cutting import cut_file


def render_tree(sliced: Slice) -> tuple[RenderedFile, ...]:
    """Return every cut file under its own path, in the order of ``sliced.cuts``.

    A file nothing of which is kept is empty: that is what an ``__init__.py``
    comes to which only makes its folder a package. None is invented.
    """
    return tuple(
        RenderedFile(path=cut.path, text=cut_file(cut), line_end=cut.line_end)
        for cut in sliced.cuts
    )


def write_tree(
    files: Sequence[RenderedFile], directory: str | os.PathLike[str], *, force: bool = False
) -> None:
    """Write the files, UTF-8 and with the line ends of the originals, under ``directory``, all or none.

    The tree is built beside ``directory`` and moved there when it is complete,
    so that no reader sees, and no interruption leaves, a part of it. With
    ``force``, ``directory`` may hold files: those of the same paths are
    replaced, one by one and each as a whole, and no other is touched.

    Raises :class:`~depslice.callgraph.errors.OptionError`, before anything is
    written, when ``directory`` is not a directory, or not empty without
    ``force``; and when a path is absolute, leaves ``directory`` (through a link
    in it, too) or is there twice. Raises it also when the file system does not
    let the tree be written.
    """
    import shutil  # a tenth of the time to start, and seldom wanted

    # Of a link, what it points to is meant; `.` has no name to build the tree beside.
    target = Path(os.path.realpath(directory))
    _check_paths(files)
    try:
        _check_target(target, force=force)
        for file in files:
            _check_links(target, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that moving there stays within one file system; named before
        # it is made, so that of an interrupt as it is made nothing stays behind either.
        beside = target.parent / f".{target.name}.{os.urandom(4).hex()}"
        try:
            beside.mkdir(mode=0o700)
            staging = beside / "new"
            staging.mkdir()
            for file in files:
                path = staging / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(file.data())
            _move(staging, target, files)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        message = f"cannot write to {target}: {(error.strerror or str(error)).lower()}"
        raise OptionError(message) from error


def _check_paths(files: Sequence[RenderedFile]) -> None:
    seen: set[str] = set()
    for file in files:
        path = PurePosixPath(file.path)
        # A drive or a backslash means a root or a folder on Windows alone.
        is_inside = not path.is_absolute() and ".." not in path.parts and path.parts
        if not is_inside or "\0" in file.path or (os.name == "nt" and set(file.path) & set("\\:")):
            raise OptionError(f"refusing to write {file.path!r}: it is not inside the output")
        if str(path) in seen:
            raise OptionError(f"refusing to write {file.path!r} twice")
        seen.add(str(path))


def _check_target(target: Path, *, force: bool) -> None:
    if not os.path.lexists(target):
        return
    if not target.is_dir():
        raise OptionError(f"{target} is not a directory")
    if not force and any(target.iterdir()):
        raise OptionError(
            f"{target} is not empty",
            hint="choose another directory, or replace what is in it (--force)",
        )


def _check_links(target: Path, file: RenderedFile) -> None:
    """Of what stands in ``target`` already, no link may lead a file out of it."""
    folder = Path(os.path.realpath((target / file.path).parent))
    if not folder.is_relative_to(target):
        raise OptionError(f"refusing to write {file.path!r}: a link leads it out of {target}")


def _move(staging: Path, target: Path, files: Sequence[RenderedFile]) -> None:
    if not target.exists():
        staging.rename(target)
    elif not any(target.iterdir()):
        target.rmdir()  # only POSIX lets a rename replace an empty directory
        staging.rename(target)
    else:
        for file in files:
            (target / file.path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / file.path, target / file.path)

"""Numbered places for runs: a lock, and a user of its own when started as root.

A slot is claimed by an exclusive lock on its file, which the kernel gives back when the
process ends, however it ends. Nothing of a run lies in a slot, so nothing has to be
cleared after a run that was killed.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from depslice.callgraph.locking import take_if_free
from depslice.validator.sandbox.model import SandboxUnavailable
from depslice.validator.sandbox.staging import reachable

FIRST_USER: Final = 1_879_048_192  # 0x7000_0000: above all ranges that /etc/subuid hands out
SLOTS: Final = 4096
_OPEN_TO_ALL: Final = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - a folder of root's alone in it


def state_folder() -> Path:
    """A folder of this user's in the temporary folder, which others cannot write.

    :raises SandboxUnavailable: something else stands in its place, or there is no place.
    """
    folder = _temporary() / f"depslice-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o755)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise SandboxUnavailable(
            f"{folder} is not a folder of this user's alone",
            hint="remove it, or set TMPDIR to a folder of your own",
        )
    return folder


def _temporary() -> Path:
    """The temporary folder; for root one that others may pass: sandboxes run as other users."""
    chosen = Path(tempfile.gettempdir())
    if os.getuid() != 0:
        return chosen
    for place in (chosen, *map(Path, _OPEN_TO_ALL)):
        if place.is_dir() and reachable(place / "any"):
            return place
    raise SandboxUnavailable(
        f"other users may not pass {chosen}, and root's sandboxes run as other users",
        hint=f"chmod o+x the folders of {chosen}, or set TMPDIR to one that everyone may pass",
    )


def claim_slot(folder: Path) -> tuple[int, int]:
    """The lowest free slot and the descriptor that holds it; closing it gives it back.

    :raises SandboxUnavailable: all are taken, or there are no locks.
    """
    locks = folder / "slots"
    locks.mkdir(mode=0o700, exist_ok=True)
    for number in range(SLOTS):
        descriptor = os.open(locks / str(number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if take_if_free(descriptor):
                return number, descriptor
        except OSError as error:
            os.close(descriptor)
            raise SandboxUnavailable(
                f"files in {folder} cannot be locked: {(error.strerror or str(error)).lower()}",
                hint="set TMPDIR to a folder of a file system that has locks",
            ) from None
        os.close(descriptor)
    raise SandboxUnavailable(f"{SLOTS} sandboxes are running already")


def stage_folder(state: Path) -> Path:
    """An empty folder that is covered in mount namespaces of children."""
    folder = state / "stage"
    folder.mkdir(mode=0o755, exist_ok=True)
    return folder

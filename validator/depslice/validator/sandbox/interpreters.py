"""What an interpreter needs to run: variables, and folders, found without running it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

PYTHON_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
}
"""The variables that a Python in a sandbox is given.

No user's site: a run could write that, and the next Python would start with it.
"""


def interpreter_folders(python: Path) -> tuple[Path, ...]:
    """What a sandbox has to bind so that ``python`` runs there: outermost folders, sorted.

    >>> interpreter_folders(Path("/home/me/venv/bin/python"))
    (PosixPath('/home/me/.pyenv/versions/3.11.7'), PosixPath('/home/me/venv'))

    A virtual environment needs its base, and each link on the way to the executable has to
    be there. What lies below ``/usr`` is always bound by a sandbox.
    """
    found = set[Path]()
    for executable in _links(Path(os.path.abspath(python))):
        prefix = executable.parent.parent if executable.parent.name == "bin" else executable.parent
        found.add(prefix)
        home = _home(prefix)
        if home is not None:
            found.update(interpreter_folders(home / "python3"))
    outside = {path for path in found if not path.is_relative_to("/usr") and path != Path("/")}
    return tuple(
        sorted(path for path in outside if not any(other in path.parents for other in outside))
    )


def _links(path: Path) -> Iterator[Path]:
    """``path``, and where each link of it leads to."""
    for _ in range(40):
        yield path
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / path.readlink()))
    if path.resolve() != path:  # a folder on the way is a link
        yield path.resolve()


def _home(prefix: Path) -> Path | None:
    """The folder of the executable that a virtual environment was made with."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition("=")
        if key.strip().lower() == "home":
            return Path(value.strip())
    return None

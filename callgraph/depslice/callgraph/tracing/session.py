"""What a command needs around it so that the Pythons it starts are recorded.

Nothing is run here: that is the business of who has asked for it (``depslice trace``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from depslice.callgraph.project import Project

_RECORDER = Path(__file__).with_name("recorder.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A folder that recorded processes write their parts to.

    ``paths`` are the recorded files, relative to the project's root: the numbers in
    the parts are indices of it.
    """

    folder: Path
    paths: tuple[str, ...]

    def environment(self, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment for the command: ``inherited``, with the recorder in it."""
        path = [str(self.folder), *filter(None, [inherited.get("PYTHONPATH")])]
        return {**inherited, "PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def recording_session(project: Project) -> Iterator[Session]:
    """Prepare to record the calls between definitions of ``project``; tidy up at the end."""
    paths = tuple(file.path for file in project.files)
    with tempfile.TemporaryDirectory(prefix="depslice-trace-") as temporary:
        folder = Path(temporary).resolve()
        real = (os.path.realpath(project.root / path) for path in paths)
        (folder / "files").write_text("\0".join(real), encoding="utf-8", errors="surrogateescape")
        (folder / "sitecustomize.py").write_bytes(_RECORDER.read_bytes())
        yield Session(folder=folder, paths=paths)

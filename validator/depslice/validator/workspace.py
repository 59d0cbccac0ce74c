"""The temporary folder of a check: a copy of the repository, trees of slices, orders, results.

The repository is copied as bytes, once, before anything of it runs: its own files are
never written to. Orders and results are JSON; results are read with limits.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from depslice.callgraph.project import Project
from depslice.slicer.model import RenderedFile
from depslice.slicer.render import write_tree
from depslice.validator.running import CheckUnavailable, Ended, Job, Limits, Runner

_CHILD: Final = Path(__file__).with_name("child")
_NOT_COPIED: Final = (
    "__pycache__", ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules",
    ".mypy_cache", ".pytest_cache", ".ruff_cache",
)  # fmt: skip
_MOST_BYTES: Final = 64 << 20  # of a results file


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A folder with source files: where project paths start, and its ``sys.path``."""

    folder: Path
    roots: tuple[Path, ...]


@dataclass(slots=True, kw_only=True)
class Workspace:
    """See the module; made by :func:`open_workspace`."""

    folder: Path
    project: Project
    python: str
    runner: Runner
    limits: Limits
    whole_folder: bool
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _original: Tree | None = None
    _data: list[Path] | None = None

    def original(self) -> Tree:
        """The copy of the repository.

        :raises CheckUnavailable: it cannot be copied.
        """
        if self._original is None:
            tree = self._place("original")
            try:
                self._copy(tree.folder)
            except (OSError, shutil.Error) as error:
                raise CheckUnavailable(f"cannot copy {self.project.root}: {error}") from None
            self._original = tree
        return self._original

    def _copy(self, folder: Path) -> None:
        root = self.project.root
        if self.whole_folder:
            ignored = shutil.ignore_patterns(*_NOT_COPIED)
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(root, folder, symlinks=True, ignore=ignored)
            return
        for file in self.project.files:  # a script alone, not what stands beside it
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / file.path, path)

    @contextmanager
    def tree(self, files: Sequence[RenderedFile]) -> Iterator[Tree]:
        """A folder with the files of a rendering, for a while."""
        name = f"tree-{next(self._numbers)}"
        tree = self._place(name)
        try:
            write_tree(files, tree.folder)
            self._link_data(tree.folder)
            yield tree
        finally:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def _place(self, name: str) -> Tree:
        """Where a copy of the root stands, so that ``..`` of a package is a folder of ours."""
        sources = sorted({file.source_root for file in self.project.files})
        up = max(source.split("/").count("..") for source in sources)
        # A fixed depth: messages and reprs that hold the path are the same everywhere.
        folder = self.folder.joinpath(name, *self.project.root.parts[-up:] if up else ["repo"])
        roots = dict.fromkeys(Path(os.path.normpath(folder / source)) for source in sources)
        return Tree(folder=folder, roots=tuple(roots))

    def _link_data(self, folder: Path) -> None:
        """Data that packages hold is none of a slice's business: it is there as it always is."""
        if self._data is None:
            original = self.original().folder
            tops = {file.path.rpartition("/")[0] for file in self.project.files}
            self._data = [
                path.relative_to(original)
                for top in sorted(tops)
                for path in sorted((original / top).iterdir())
                if not _is_code(path, tops, original)
            ]
        for path in self._data:
            place = folder / path
            if place.parent.is_dir() and not place.exists():
                place.symlink_to(self.original().folder / path)

    def path(self, name: str) -> Path:
        """A new path in the folder that runs may write to."""
        return self.folder / "run" / f"{next(self._numbers)}-{name}"

    def run(self, module: str, order: Mapping[str, Any], limits: Limits | None = None) -> Ended:
        """Run a module of :mod:`depslice.validator.child` on an order."""
        given = self.path("order.json")
        given.write_text(json.dumps(order), encoding="utf-8")
        job = Job(
            command=(self.python, "-m", f"depslice_child.{module}", str(given)),
            readable=(self.folder,),
            writable=self.folder / "run",
            environment={"PYTHONPATH": str(self.folder / "child")},
        )
        return self.runner.run(job, limits or self.limits)


def _is_code(path: Path, folders: set[str], original: Path) -> bool:
    """Whether it is Python, compiled or not, or a folder in which some is."""
    if path.is_dir():
        inside = path.relative_to(original).as_posix()
        return any(each == inside or each.startswith(inside + "/") for each in folders)
    return path.suffix in (".py", ".pyc", ".pyi", ".so", ".pyd", ".pth")


def read_results(path: Path) -> list[dict[str, Any]]:
    """The lines of a results file: JSON objects, as far as they are whole and not too many."""
    try:
        # Who wrote it may have put a pipe or a link in its place.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            data = file.read(_MOST_BYTES) if S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return []
    found = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


@contextmanager
def open_workspace(
    project: Project,
    *,
    python: str,
    runner: Runner,
    limits: Limits,
    whole_folder: bool = True,
) -> Iterator[Workspace]:
    """A temporary folder to check slices of ``project`` in.

    ``whole_folder``: the project is a folder, with tests and data, and not a lone script.
    """
    import cloudpickle

    with tempfile.TemporaryDirectory(prefix="depslice-check-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        child = folder / "child"
        shutil.copytree(_CHILD, child / "depslice_child")
        shutil.copytree(Path(cloudpickle.__file__).parent, child / "cloudpickle")
        (folder / "run").mkdir()
        yield Workspace(
            folder=folder,
            project=project,
            python=python,
            runner=runner,
            limits=limits,
            whole_folder=whole_folder,
        )

"""The temporary folder of a check: a copy of the repository, trees of slices, what runs left.

The repository is copied as bytes, once, before anything of it runs: its own files are
never written to. Everything runs in a sandbox, which reads this folder and cannot write
it: what a run makes is collected from its private folder, of limited size, and kept here as
a stranger's data.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.project import Project
from depslice.slicer.model import RenderedFile
from depslice.slicer.render import write_tree
from depslice.validator.copying import copy_folder
from depslice.validator.sandbox import (
    PYTHON_ENVIRONMENT,
    Ending,
    Job,
    Limits,
    Outcome,
    Sandbox,
    interpreter_folders,
)
from depslice.validator.scratch import scratch_folder

_CHILD: Final = Path(__file__).with_name("child")
_LONGEST_REASON: Final = 300
_NOT_COPIED: Final = (
    "__pycache__", ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules",
    ".mypy_cache", ".pytest_cache", ".ruff_cache",
)  # fmt: skip


class CheckUnavailable(DepsliceError):
    """Code cannot be run here, or nothing that could be checked came of it."""

    slug = "check"
    exit_code = 3


def check_limits(seconds: float) -> Limits:
    """Limits of one process of a check, which may be a whole test suite."""
    return Limits(
        wall_seconds=seconds,
        cpu_seconds=2 * seconds,
        memory_bytes=4 << 30,
        processes=256,
        open_files=1024,
        file_bytes=256 << 20,
        disk_bytes=1 << 30,
        files=100_000,
        output_bytes=64 << 20,
        collected_bytes=256 << 20,
    )


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
    sandbox: Sandbox
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
            except OSError as error:
                raise CheckUnavailable(f"cannot copy {self.project.root}: {error}") from None
            self._original = tree
        return self._original

    def _copy(self, folder: Path) -> None:
        root = self.project.root
        if self.whole_folder:
            copy_folder(root, folder, without=_NOT_COPIED)
            _let_read(folder)
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
        """Data that packages hold is none of a slice's business: it is there as it always is.

        So are modules that are compiled alone, and what stands beside packages: the metadata of the
        distribution.
        """
        if self._data is None:
            original = self.original().folder
            tops = {file.path.rpartition("/")[0] for file in self.project.files}
            roots = (PurePosixPath(file.source_root) for file in self.project.files)
            tops |= {
                "" if each == PurePosixPath() else each.as_posix()
                for each in roots
                if ".." not in each.parts
            }
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
        """A new path for what a run leaves, or is given."""
        return self.folder / "run" / f"{next(self._numbers)}-{name}"

    def run(
        self, module: str, order: Mapping[str, Any], *, makes: Mapping[str, Path] | None = None
    ) -> Outcome:
        """Run a module of :mod:`depslice.validator.child` on an order.

        The order names what the run ``makes`` relative to its private folder; it is kept
        at the paths given here.

        :raises CheckUnavailable: the interpreter cannot be started.
        """
        job = Job(
            argv=(self.python, "-m", f"depslice_child.{module}", "order.json"),
            readable=(self.folder, *interpreter_folders(Path(self.python))),
            files={"order.json": json.dumps(order).encode()},
            environment=PYTHON_ENVIRONMENT
            | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(self.folder / "child")},
            limits=self.limits,
            collect=tuple(makes or ()),
        )
        outcome = self.sandbox.run(job)
        if outcome.ending in {Ending.NOT_STARTED, Ending.LOST}:
            raise CheckUnavailable(f"cannot start {outcome.detail or self.python}")
        for name, path in (makes or {}).items():
            if name in outcome.files:
                path.write_bytes(outcome.files[name])
                path.chmod(0o644)
        return outcome


def why_ended(outcome: Outcome) -> str:
    """Why a process did not come to a good end, in few words; empty when it did."""
    if outcome.succeeded:
        return ""
    if outcome.ending in {Ending.WALL_CLOCK, Ending.CPU}:
        return "it took too long"
    lines = (outcome.stdout + outcome.stderr).decode("utf-8", "replace").strip().splitlines()
    if outcome.ending in {Ending.EXITED, Ending.SIGNALLED} and lines:
        # pytest counts errors in its last line, and tells what they were before it.
        told = [line[1:].strip() for line in lines if line.startswith("E  ")]
        # Of what it is asked for wrongly, the last line says no more than where it looked.
        misuse = next((line for line in lines if line.startswith("ERROR: ")), "")
        said = _internal_error(lines) or misuse or ": ".join([lines[-1], *told[:1]])
        return textwrap.shorten(said, _LONGEST_REASON, placeholder=" …")
    return f"it ended by {outcome.ending}" if outcome.code is None else f"exit code {outcome.code}"


def _internal_error(lines: Sequence[str]) -> str:
    """What is wrong where pytest itself could not start: its traceback's last exception."""
    marked = [line.partition(">")[2][1:] for line in lines if line.startswith("INTERNALERROR>")]
    last = max((at for at, line in enumerate(marked) if line.startswith("  File ")), default=-1)
    rest = itertools.dropwhile(lambda line: line.startswith(" "), marked[last + 1 :])
    return " ".join(filter(None, rest))


def _let_read(folder: Path) -> None:
    """Let the sandbox's user read the copy, whatever rights the original gives."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))


def _is_code(path: Path, folders: set[str], original: Path) -> bool:
    """Whether it is Python, compiled or not, or a folder in which some is."""
    if path.is_dir():
        inside = path.relative_to(original).as_posix()
        return any(each == inside or each.startswith(inside + "/") for each in folders)
    if path.suffix in (".so", ".pyd"):  # it comes before the source, if there is one
        return path.with_name(f"{path.name.partition('.')[0]}.py").exists()
    return path.suffix in (".py", ".pyc", ".pyi", ".pth")


def read_results(path: Path) -> list[dict[str, Any]]:
    """The lines of a results file: JSON objects, as far as they are whole."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
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
    sandbox: Sandbox,
    limits: Limits,
    whole_folder: bool = True,
) -> Iterator[Workspace]:
    """A temporary folder to check slices of ``project`` in.

    ``whole_folder``: the project is a folder, with tests and data, and not a lone script.

    :raises CheckUnavailable: ``python`` is no program.
    """
    import cloudpickle

    if shutil.which(python) is None:
        raise CheckUnavailable(
            f"there is no program {python}", hint="name the Python that is to run the code"
        )
    with scratch_folder() as scratch:
        folder = scratch / "check"
        child = folder / "child"
        shutil.copytree(_CHILD, child / "depslice_child")
        shutil.copytree(Path(cloudpickle.__file__).parent, child / "cloudpickle")
        (folder / "run").mkdir()
        _let_read(folder)
        yield Workspace(
            folder=folder,
            project=project,
            python=python,
            sandbox=sandbox,
            limits=limits,
            whole_folder=whole_folder,
        )

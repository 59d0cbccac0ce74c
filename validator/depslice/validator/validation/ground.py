"""What sandboxes read while harnesses are validated: one copy of the repository, one of us."""

from __future__ import annotations

import compileall
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from depslice.callgraph.program import Program
from depslice.validator.sandbox import INSIDE, Limits, Sandbox
from depslice.validator.workspace import Tree, open_workspace

_TOOLS: Final = ("coverage", "time-machine", "hypothesis", "sortedcontainers")
BOOT: Final = """\
import importlib, sys
*folders, tools, part = sys.argv[1:]
sys.path[:0] = folders
sys.path.append(tools)
importlib.import_module("depslice_child.evidence." + part).main()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What a harness sees of the original when it is run again.

    ``needs_tests``: something else where the repository's tests are not. ``varying``: numbers of
    the values that it compares and that are never the same, times and addresses; ``None``: all.
    """

    needs_tests: bool
    varying: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """``tree`` is the repository; ``folders`` what :data:`BOOT` gets; all of it in ``folder``.

    The tools come last on the path: those that the environment has itself fit its Python.
    ``habits`` are those of the original, by targets and harnesses, as far as somebody has asked.
    """

    program: Program
    sandbox: Sandbox
    python: Path
    folder: Path
    tree: Tree
    folders: tuple[Path, ...]
    habits: dict[tuple[str, str], Habits] = field(default_factory=dict)


@contextmanager
def open_ground(
    program: Program, *, sandbox: Sandbox, python: str | Path, whole_folder: bool = True
) -> Iterator[Ground]:
    """Copy the repository and what runs beside it.

    ``whole_folder``: the repository is a folder, and not a lone script.

    :raises CheckUnavailable: it cannot be copied.
    """
    python = Path(os.path.abspath(python))
    with open_workspace(
        program.project,
        python=str(python),
        sandbox=sandbox,
        limits=Limits(),
        whole_folder=whole_folder,
    ) as space:
        child, tools = space.folder / "child", space.folder / "tools"
        tools.mkdir()
        for name in _TOOLS:
            _copy_distribution(name, tools)
        # Nothing can be written in the sandbox; another Python finds no bytecode of its own.
        for folder in (child, tools):
            compileall.compile_dir(folder, quiet=2)
        yield Ground(
            program=program,
            sandbox=sandbox,
            python=python,
            folder=space.folder,
            tree=space.original(),
            folders=(child, INSIDE.parent, tools),
        )


def _copy_distribution(name: str, folder: Path) -> None:
    try:
        found = files(name) or []
    except PackageNotFoundError:
        _copy_package(name, folder)
        return
    for each in found:
        # What a tool adds to pytest is no part of the tests, and compiled for another Python it
        # keeps pytest from starting.
        is_to_leave = ".." in each.parts or each.name == "entry_points.txt"
        if is_to_leave or not os.path.exists(str(each.locate())):
            continue
        place = folder / each
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(str(each.locate()), place)  # bytecode knows the time


def _copy_package(name: str, folder: Path) -> None:
    """A package that is on the path without metadata, or nothing."""
    spec = find_spec(name.replace("-", "_"))
    if spec is not None and spec.submodule_search_locations:
        source = Path(next(iter(spec.submodule_search_locations)))
        shutil.copytree(source, folder / source.name)

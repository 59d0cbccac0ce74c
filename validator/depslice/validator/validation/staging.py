"""What a sandbox needs of depslice and its tools, in one folder that it can read."""

from __future__ import annotations

import compileall
import os
import shutil
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from depslice.validator.sandbox import INSIDE

_CHILD: Final = Path(__file__).parent.parent / "child"
_TOOLS: Final = ("coverage", "time-machine")
BOOT: Final = """\
import importlib, sys
*folders, tools, part = sys.argv[1:]
sys.path[:0] = folders
sys.path.append(tools)
importlib.import_module("depslice_child.evidence." + part).main()
"""


def stage(folder: Path) -> tuple[Path, Path, Path]:
    """Copy what runs inside; the folders for :data:`BOOT`: ours, the sandbox's, the tools'.

    The tools come last on the path: those that the environment has itself fit its Python.
    """
    child, tools = folder / "child", folder / "tools"
    shutil.copytree(_CHILD, child / "depslice_child")
    tools.mkdir()
    for name in _TOOLS:
        _copy_distribution(name, tools)
    # Nothing can be written in the sandbox; another Python finds no bytecode of its own.
    compileall.compile_dir(folder, quiet=2)
    return child, INSIDE.parent, tools


def _copy_distribution(name: str, folder: Path) -> None:
    try:
        found = files(name) or []
    except PackageNotFoundError:
        _copy_package(name, folder)
        return
    for each in found:
        if ".." in each.parts or not os.path.exists(str(each.locate())):
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

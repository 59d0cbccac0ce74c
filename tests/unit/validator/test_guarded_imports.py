"""The modules of a repository come from the tree of its slice, or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from check import write_files

FILES = """
# --- tree/spaced/mine/__init__.py
# --- tree/spaced/deep/one.py
# --- tree/whole/__init__.py
# --- installed/spaced/mine/__init__.py
# --- installed/spaced/mine/gone.py
# --- installed/spaced/left_out.py
# --- installed/spaced/theirs.py
# --- installed/spaced/deep/two.py
# --- installed/whole/__init__.py
# --- run.py
import importlib
import sys

from depslice.validator.child.replaying import Guard

tree, installed = sys.argv[1:]
sys.path[:0] = [tree, installed]
names = ["mine", "mine.gone", "left_out", "deep", "deep.one"]
guarded = {"whole", "spaced", *(f"spaced.{name}" for name in names)}
sys.meta_path.insert(0, Guard(frozenset(guarded), [tree]))
for name in ["whole", *(f"spaced.{name}" for name in [*names, "theirs", "deep.two"])]:
    try:
        print(name, *importlib.import_module(name).__spec__.origin.split("/")[-3:])
    except (AttributeError, ModuleNotFoundError) as error:
        print(name, type(error).__name__)
"""


def test_a_namespace_is_shared_with_what_is_installed(tmp_path: Path) -> None:
    """``zope.schema`` did not import: ``zope`` had its own folder alone, and no ``zope.interface``."""
    write_files(FILES, tmp_path)
    run = [sys.executable, str(tmp_path / "run.py"), str(tmp_path / "tree")]
    done = subprocess.run(
        [*run, str(tmp_path / "installed")], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "whole tree whole __init__.py",
        "spaced.mine spaced mine __init__.py",
        "spaced.mine.gone ModuleNotFoundError",
        "spaced.left_out ModuleNotFoundError",
        "spaced.deep AttributeError",
        "spaced.deep.one spaced deep one.py",
        "spaced.theirs installed spaced theirs.py",
        "spaced.deep.two spaced deep two.py",
    ], done.stderr

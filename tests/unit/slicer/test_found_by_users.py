"""Slices of real packages that gave something else than the original, each made small.

Every one is run beside its original, by another process, as a tree or as one module.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from check import slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree


def both(files: str, target: str, expression: str, folder: Path) -> tuple[str, str]:
    """What ``expression`` gives in the original, and in the tree of the slice of ``target``."""
    repo, tree = folder / "repo", folder / "tree"
    write_files(files, repo)
    program = open_program(repo, cache=None)
    write_tree(render(program, slice_symbols(program, [target])).files, tree)
    module = target.partition(":")[0]
    return evaluate(repo, module, expression), evaluate(tree, module, expression)


def evaluate(folder: Path, module: str, expression: str) -> str:
    """What an expression gives with ``module`` of ``folder`` as ``m``; an exception, if any."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module} as m"
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", f"{code}; print({expression})"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("add", "call"),
    [
        ("def add(k): T[k] = 2", "add(1)"),
        ("def add(k): T[1] = k()", "add(int)"),
        ("def add(k): T[1] = k + 1", "add(3)"),
        ("def add(k): T.setdefault(1, []).append(str(k))", "add(3)"),
        ("def add(k):\n    T[1] = made = k + 1\n    return made", "add(3)"),
        ("def add(k): T[1] = k + 1\ndef twice(k): add(k); add(k)", "twice(3)"),
    ],
)
def test_a_table_filled_by_functions_of_no_result(add: str, call: str, tmp_path: Path) -> None:
    files = f"""
# --- app.py
T = {{}}
{add}
def fill():
    for _ in range(2): {call}
fill()
def look(): return T[1]
"""
    original, sliced = both(files, "app:look", "m.look()", tmp_path)
    assert sliced == original


def test_a_cache_filled_on_the_way_to_a_result_is_not_built(tmp_path: Path) -> None:
    files = """
# --- app.py
T = {}
def add(k): T[k] = k * 2
def doubled(k):
    if k not in T: add(k)
    return T[k]
class Kept:
    def __init__(self): add(3)
SIX = doubled(3)
KEPT = Kept()
def look(k): return T.get(k)
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:look") == {"app:T", "app:look"}

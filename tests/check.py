"""What tests of slices and graphs share: programs written, sliced, run and traced."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

Observed: TypeAlias = list[tuple[str, str, bool]]
"""Calls that a run has made: the caller, the callee, and whether code outside is between them."""
_TRACER = Path(__file__).with_name("trace_program.py")
_SEPARATOR = re.compile(r"^# --- (?P<path>\S+)$", re.MULTILINE)


def write_files(files: str, folder: Path) -> None:
    """Write a multi-file string: the text after each ``# --- path/to/file.py`` line.

    Text before the first separator must be blank; an empty text makes an empty file.
    """
    pieces = _SEPARATOR.split(files)
    if pieces[0].strip():
        raise ValueError(f"text before the first '# --- path' line: {pieces[0]!r}")
    for path, text in zip(pieces[1::2], pieces[2::2], strict=True):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.lstrip("\n"), encoding="utf-8")


def slice_ids(repo: Path, target: str) -> set[str]:
    """The ids of the items in the slice of ``target``, through the public API."""
    from depslice.callgraph import find_symbol, open_program
    from depslice.slicer import slice_symbols

    program = open_program(repo, cache=None)
    slice_ = slice_symbols(program, [find_symbol(program, target).id])
    return {item.symbol.id for item in slice_.items}


def check_slice(files: str, target: str, expected: set[str]) -> None:
    """Assert that slicing ``target`` in ``files`` gives exactly the items ``expected``.

    >>> check_slice('''
    ... # --- app.py
    ... def f(): return g()
    ... def g(): return 1
    ... ''', "app:f", {"app:f", "app:g"})
    """
    with tempfile.TemporaryDirectory() as folder:
        write_files(files, Path(folder))
        actual = slice_ids(Path(folder), target)
    assert actual == expected, difference(target, actual=actual, expected=expected)


def difference(target: str, *, actual: Iterable[str], expected: Iterable[str]) -> str:
    """What is missing (``-``) and what is too much (``+``), one id a line.

    >>> print(difference("m:f", actual={"m:f", "m:x"}, expected={"m:f", "m:g"}))
    slice of m:f
      - m:g   (needed, not in the slice)
      + m:x   (in the slice, not needed)
        m:f
    """
    found, wanted = set(actual), set(expected)
    lines = [f"slice of {target}"]
    lines += [f"  - {name}   (needed, not in the slice)" for name in sorted(wanted - found)]
    lines += [f"  + {name}   (in the slice, not needed)" for name in sorted(found - wanted)]
    lines += [f"    {name}" for name in sorted(found & wanted)]
    return "\n".join(lines)


def answer(files: str, target: str, expression: str, folder: Path) -> str:
    """What ``expression`` gives in the slice of ``target``: ``m`` is the target's module."""
    from depslice.callgraph import open_program
    from depslice.slicer import render, slice_symbols
    from depslice.slicer.render import write_tree

    repo, tree = folder / "repo", folder / "tree"
    write_files(files, repo)
    program = open_program(repo, cache=None)
    write_tree(render(program, slice_symbols(program, [target])).files, tree)
    module = target.partition(":")[0]
    done = run_expression(tree, module, expression)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def answers(files: str, folder: Path) -> list[str]:
    """What ``run()`` of ``pkg.app`` gives in the original, in its tree, and in its one file."""
    from depslice.callgraph import open_program
    from depslice.slicer import render, slice_symbols
    from depslice.slicer.render import write_tree

    repo, tree, one = folder / "repo", folder / "tree", folder / "one"
    write_files(files, repo)
    program = open_program(repo, cache=None)
    found = slice_symbols(program, ["pkg.app:run"])
    write_tree(render(program, found).files, tree)
    one.mkdir()
    [flat] = render(program, found, format="module").files
    (one / "flat.py").write_text(flat.text, encoding="utf-8")
    shown = []
    for place, module in ((repo, "pkg.app"), (tree, "pkg.app"), (one, "flat")):
        done = run_expression(place, module, "m.run()")
        assert not done.returncode, done.stderr
        shown.append(done.stdout.strip())
    return shown


def run_expression(folder: Path, module: str, expression: str) -> subprocess.CompletedProcess[str]:
    """Print ``expression``, where ``module`` of ``folder`` is ``m``, in a process of its own."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import {module} as m; "
    return subprocess.run(
        [sys.executable, "-I", "-B", "-c", f"{code}print({expression})"],
        capture_output=True,
        text=True,
        check=False,
    )


def trace_programs(folders: Iterable[Path]) -> list[Observed | str]:
    """What ``trace_program.py`` sees of each program, in a process of its own; or how it failed."""
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-S", str(_TRACER), *map(str, folders)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: list[Observed | str] = json.loads(done.stdout)
    return results


def calls_missed(files: str, folder: Path) -> set[tuple[str, str]]:
    """The calls that a run of ``main.py`` makes, and the graph does not even have as possible."""
    from depslice.callgraph import build_graph, open_program
    from depslice.callgraph.export import export_pycg
    from depslice.callgraph.model import Certainty

    write_files(files, folder)
    [observed] = trace_programs([folder])
    assert not isinstance(observed, str), observed
    graph = export_pycg(build_graph(open_program(folder, cache=None)).at_least(Certainty.POSSIBLE))
    found = {(caller, callee) for caller, callees in graph.items() for callee in callees}
    return {(caller, callee) for caller, callee, _ in observed} - found

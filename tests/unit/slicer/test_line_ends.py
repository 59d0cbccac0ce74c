"""Files of a ``tree`` end their lines as the files of the repository do."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import run_expression
from depslice.callgraph import find_symbol, open_program
from depslice.callgraph.source import line_end_of
from depslice.slicer import render, slice_symbols
from depslice.slicer.model import Context
from depslice.slicer.render import write_tree

CODE = '''import os
from other import g


def idle(): return os.name


def h(x):
    """Two
    lines."""
    return [
        g(x),
        """a
b""",
    ]
'''
TESTS = "from m import h\n\n\ndef test_h():\n    h(1)\n"


def rendered(folder: Path, line_end: str, **options: object) -> Context:
    """``m:h`` of a file with these line ends, which imports one with line feeds."""
    folder.mkdir()
    (folder / "m.py").write_bytes(CODE.replace("\n", line_end).encode())
    (folder / "other.py").write_bytes(b"def g(x):\n    return x\n")
    (folder / "test_m.py").write_bytes(TESTS.replace("\n", line_end).encode())
    program = open_program(folder, cache=None)
    found = slice_symbols(program, [find_symbol(program, "m:h").id])
    return render(program, found, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_tree_keeps_them(tmp_path: Path, line_end: str) -> None:
    context = rendered(tmp_path / "repo", line_end)
    assert all("\r" not in file.text for file in context.files)
    write_tree(context.files, tmp_path / "out")
    data = (tmp_path / "out" / "m.py").read_bytes()
    assert b"idle" not in data
    assert data.decode().replace(line_end, "|").split("|")[:3] == ["from other import g", "", ""]
    assert not {b"\r", b"\n"} & {bytes([c]) for c in data.replace(line_end.encode(), b"")}
    assert b"\r" not in (tmp_path / "out" / "other.py").read_bytes()
    done = run_expression(tmp_path / "out", "m", "m.h(7)")
    assert done.stdout.strip() == repr([7, "a\nb"]), done.stderr


@pytest.mark.parametrize("strategy", ["naive", "sliced", "full"])
def test_so_does_every_strategy_and_so_do_usages(tmp_path: Path, strategy: str) -> None:
    context = rendered(tmp_path / "repo", "\r\n", strategy=strategy, usages=1)
    ends = {file.path: file.line_end for file in context.files}
    assert ends["m.py"] == ends["usages/test_m.py"] == "\r\n"
    assert ends.get("other.py", "\n") == "\n"


@pytest.mark.parametrize("form", ["module", "bundle", "md", "xml", "json"])
def test_one_text_has_line_feeds(tmp_path: Path, form: str) -> None:
    [file] = rendered(tmp_path / "repo", "\r\n", format=form).files
    assert b"\r" not in file.data()


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "\n"),
        (b"x", "\n"),
        (b"a\r\nb\r\nc\n", "\r\n"),
        (b"a\nb\r\n", "\n"),
        (b"a\rb\rc\r\n", "\r"),
    ],
)
def test_of_several_kinds_that_of_most_lines_counts(data: bytes, found: str) -> None:
    assert line_end_of(data) == found

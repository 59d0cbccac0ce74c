"""Where candidates run, no other file holds the text of the original, whatever its form."""

from __future__ import annotations

import ast
import html
import json
import sys
from pathlib import Path

import pytest

from depslice.callgraph import open_program
from depslice.validator.validation import parse_harness
from depslice.validator.validation.candidates import Different, Same, open_referee, with_file
from depslice.validator.validation.copies import copies_of
from depslice.validator.validation.ground import open_ground
from harnesses import some_sandbox

SOURCE = '''\
import math


def area(radius, scale=1):
    """Of a circle."""
    if radius < 0 or scale <= 0:
        raise ValueError("negative radius")
    # a comment that copies may lack
    squared = radius * radius
    return math.pi * squared * scale


def short(x):
    return x + 1
'''
LINES = SOURCE.splitlines()
AREA = "def test_area(context):\n    context.check(2)\n    context.check(-1)\n"
COPIES = {
    "notes.md": f"As it was:\n\n```python\n{SOURCE}```\n",
    "old.patch": "".join(f"+{line}\n" for line in LINES),
    "book.ipynb": json.dumps({"source": [f"{line}\n" for line in LINES]}),
    "htmlcov/circles.html": "".join(
        f'<p><span class="n">{n}</span>{html.escape(line)}</p>\n' for n, line in enumerate(LINES)
    ),
    ".circles.py.swp": "\0".join(reversed(LINES)),
    "circles.c": "".join(f"/* {n}\n * {line}   # <<<<<<\n */\n" for n, line in enumerate(LINES)),
    "circles_old.py": SOURCE.replace("def area", "def old_area"),
    "venv/lib/site-packages/circles.py": SOURCE,
}
OTHERS = {
    "README.md": "The area of a circle grows with its squared radius; scale it as you like.",
    "squares.py": "def area(side):\n    if side < 0:\n        raise ValueError('negative')\n",
    "used.py": SOURCE,
    "user.py": "from used import area\n",
}


def definition(name: str) -> ast.AST:
    nodes = ast.parse(SOURCE).body
    return next(each for each in nodes if isinstance(each, ast.FunctionDef) and each.name == name)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    for name, text in {"circles.py": SOURCE, **COPIES, **OTHERS}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_copies_are_found_in_all_forms_and_nothing_else_is(repo: Path) -> None:
    found = copies_of(SOURCE, definition("area"), repo, user="import circles")
    assert {path.relative_to(repo).as_posix() for path in found} == set(COPIES)


def test_what_is_short_has_no_copies(repo: Path) -> None:
    assert not list(copies_of(SOURCE, definition("short"), repo))


def test_candidates_do_not_meet_copies(repo: Path) -> None:
    program = open_program(str(repo))
    harness = parse_harness(AREA, program, target="circles:area")
    right = ast.unparse(definition("area"))
    reads = "def area(radius, scale=1):\n    return open('{}').read()\n"
    with open_ground(program, sandbox=some_sandbox(), python=sys.executable) as ground:
        with with_file(ground, harness, SOURCE) as hidden:
            left = {p for p in hidden.tree.folder.rglob("*") if p.is_file()}
        names = {p.relative_to(hidden.tree.folder).as_posix() for p in left}
        assert names == {"circles.py", *OTHERS}
        assert (ground.tree.folder / "notes.md").exists()
        with open_referee(ground) as referee:
            other = parse_harness(AREA.replace("2", "3"), program, target="circles:short")
            referee.compare(other, "def short(x):\n    return x + 1")
            # Another target of the file, in the same sandbox.
            assert referee.compare(harness, right) == Same()
            assert isinstance(referee.compare(harness, reads.format("notes.md")), Different)
            bench = referee._bench
            assert bench is not None
            assert not (bench.file.parent / "notes.md").exists()

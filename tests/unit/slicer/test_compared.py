"""Small programs give in their slices what they give in the original: ``fixtures/compared``."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from check import run_expression, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols
from depslice.slicer.render import write_tree

FOLDER = Path(__file__).parents[3] / "fixtures" / "compared"
_PROGRAM = re.compile(r"^== (?P<name>\w+)$", re.MULTILINE)
_FORMS = ("tree", "module")


def _programs() -> dict[str, str]:
    """The files of each program, by ``topic/name``."""
    found = {}
    for path in sorted(FOLDER.glob("*.txt")):
        start, *pieces = _PROGRAM.split(path.read_text(encoding="utf-8"))
        assert not start.strip(), path
        for name, text in zip(pieces[::2], pieces[1::2], strict=True):
            assert f"{path.stem}/{name}" not in found, name
            files = text if "# --- " in text else f"# --- app.py\n{text}"
            found[f"{path.stem}/{name}"] = files
    return found


def _gaps() -> dict[tuple[str, str], str]:
    """Why a form of a program is known to give something else: ``form topic/name -- reason``."""
    found = {}
    for line in (FOLDER / "gaps.list").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            which, reason = line.split(" -- ")
            form, name = which.split()
            found[form, name] = reason
    return found


PROGRAMS, GAPS = _programs(), _gaps()


@pytest.mark.corpus
@pytest.mark.parametrize("name", PROGRAMS)
def test_slices_give_what_the_program_gives(name: str, tmp_path: Path) -> None:
    files = PROGRAMS[name]
    repo, tree, one = tmp_path / "repo", tmp_path / "tree", tmp_path / "one"
    write_files(files, repo)
    module = "pkg.app" if "# --- pkg/app.py\n" in files else "app"
    program = open_program(repo, cache=None)
    found = slice_symbols(program, [f"{module}:run"])
    write_tree(render(program, found).files, tree)
    flat = render(program, found, format="module")
    one.mkdir()
    (one / "flat.py").write_text(flat.files[0].text, encoding="utf-8")
    expected = run_expression(repo, module, "m.run()")
    assert not expected.returncode, expected.stderr
    differing = {}
    for form, place, target in zip(_FORMS, (tree, one), (module, "flat"), strict=True):
        done = run_expression(place, target, "m.run()")
        is_told = form == "module" and flat.diagnostics
        if not is_told and (done.returncode or done.stdout != expected.stdout):
            differing[form] = done.stderr or done.stdout
    known = {form for form in _FORMS if (form, name) in GAPS}
    assert differing.keys() == known, (expected.stdout, differing)


def test_gaps_are_of_programs() -> None:
    """Each names a program and a form, once."""
    lines = (FOLDER / "gaps.list").read_text(encoding="utf-8").splitlines()
    counts = Counter(line.split(" -- ")[0] for line in lines if " -- " in line)
    assert not [which for which, count in counts.items() if count > 1]
    assert {name for _, name in GAPS} <= PROGRAMS.keys()
    assert {form for form, _ in GAPS} <= set(_FORMS)

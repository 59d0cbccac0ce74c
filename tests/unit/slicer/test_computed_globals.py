"""Globals that code looks up by texts which it computes, where one file calls them otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answers, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

APP = """
# --- pkg/__init__.py
# --- pkg/app.py
from .b import made
def load_json(): return "app"
def load_xml(): return "app"
def run(kind="json"): return load_json(), load_xml(), made(kind)
# --- pkg/c.py
def given(): return "c"
# --- pkg/b.py
from .c import given as load_given
def load_json(): return "b"
def load_xml(): return "bx"
"""


@pytest.mark.parametrize(
    "code",
    [
        'globals()["load_" + kind](), globals()["load_given"]()',
        'globals().get("load_" + kind)(), globals()["load_" + "given"]()',
        'globals()[f"load_{kind}"](), ("load_" + kind) in globals()',
        'globals()[{"json": "load_json", "xml": "load_xml"}[kind]]()',
    ],
)
def test_a_computed_text_finds_what_had_to_be_renamed(code: str, tmp_path: Path) -> None:
    original, *slices = answers(f"{APP}def made(kind): return {code}\n", tmp_path)
    assert slices == [original, original]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ('space = globals(); return space["load_" + kind]()', True),
        ('import sys; return getattr(sys.modules[__name__], "load_" + kind)()', True),
        ('return globals()["load_" + kind]()', False),
        ("return load_json()", False),
    ],
)
def test_where_no_name_can_be_told_that_is_said(code: str, told: bool, tmp_path: Path) -> None:
    write_files(f"{APP}def made(kind): {code}\n", tmp_path)
    program = open_program(tmp_path, cache=None)
    context = render(program, slice_symbols(program, ["pkg.app:run"]), format="module")
    slugs = [one.slug for one in context.diagnostics]
    assert slugs == (["renamed-in-one-file"] if told else [])


def test_a_target_whose_name_another_has_is_told(tmp_path: Path) -> None:
    write_files(APP, tmp_path)
    program = open_program(tmp_path, cache=None)
    both = ["pkg.app:load_json", "pkg.b:load_json"]
    told = render(program, slice_symbols(program, both), format="module").diagnostics
    assert [each.path for each in told] == ["pkg/b.py"]
    assert "pkg.b:load_json is called 'load_json_b'" in told[0].message
    for one in both:
        assert not render(program, slice_symbols(program, [one]), format="module").diagnostics

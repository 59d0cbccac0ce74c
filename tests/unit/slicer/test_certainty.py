"""Slices by definite references alone, and the order in which budgets cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from depslice.callgraph import Program, open_program
from depslice.callgraph.model import Certainty
from depslice.slicer import Form, function_symbols, render, slice_symbols

FIXTURES = Path(__file__).parents[3] / "fixtures"
SPECIMENS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))[::4]

GUESSED = """\
import pickle


class Box:
    def unpacked(self):
        return deep()


def deep():
    return "a long text, so that this function is not the smallest of them all"


def sure():
    return surer()


def surer():
    return surest()


def surest():
    return "another long text, so that this function is not the smallest either"


def target(data):
    sure()
    return Box, pickle.loads(data).unpacked()
"""


@pytest.fixture
def guessed(tmp_path: Path) -> Program:
    (tmp_path / "app.py").write_text(GUESSED)
    return open_program(tmp_path, cache=None)


def test_a_guess_at_a_receiver_is_left_out_and_told(guessed: Program) -> None:
    whole = slice_symbols(guessed, ["app:target"])
    sure = slice_symbols(guessed, ["app:target"], least=Certainty.DEFINITE)
    names = [{item.symbol.id for item in found.items} for found in (whole, sure)]
    assert names[0] - names[1] == {"app:Box.unpacked", "app:deep"}
    assert {"app:Box", "app:surest"} <= names[1] < names[0]
    [left_out] = sure.omitted  # what that asks for in turn was never asked
    assert (left_out.symbol, left_out.why, left_out.distance) == (
        "app:Box.unpacked",
        "certainty",
        1,
    )
    assert "unpacked(self)" not in render(guessed, sure, format="bundle").files[0].text


def test_what_was_observed_is_no_guess(guessed: Program) -> None:
    found = slice_symbols(
        guessed, ["app:target"], least=Certainty.DEFINITE, observed=["app:Box.unpacked"]
    )
    assert {"app:Box.unpacked", "app:deep"} <= {item.symbol.id for item in found.items}


@pytest.mark.parametrize("specimen", SPECIMENS)
def test_definite_slices_are_part_of_the_whole_ones(specimen: str) -> None:
    program = open_program(FIXTURES / specimen, cache=None)
    for symbol in function_symbols(program)[:15]:
        whole = slice_symbols(program, [symbol.id])
        sure = slice_symbols(program, [symbol.id], least=Certainty.DEFINITE)
        items = {item.symbol.id for item in sure.items}
        assert symbol.id in items <= {item.symbol.id for item in whole.items}
        assert not items & {omitted.symbol for omitted in sure.omitted}
        assert {omitted.why for omitted in sure.omitted} <= {"certainty"}
        for file in render(program, sure, format="tree").files:
            compile(file.text, file.path, "exec")


def test_budgets_cut_what_is_guessed_before_what_is_sure(guessed: Program) -> None:
    whole = slice_symbols(guessed, ["app:target"])
    distances = {item.symbol.id: item.distance for item in whole.items}
    assert distances["app:deep"] < distances["app:surest"]
    tokens = render(guessed, whole, format="tree").tokens
    found = slice_symbols(guessed, ["app:target"], budget=tokens - 1)
    forms = {item.symbol.id: item.form for item in found.items}
    assert forms["app:deep"] is not Form.FULL
    assert forms["app:surest"] is Form.FULL

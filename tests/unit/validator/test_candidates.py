"""Candidates beside originals: the right ones are the same, the wrong ones are not."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from depslice.callgraph import open_program
from depslice.validator.validation import Gates, parse_harness
from depslice.validator.validation.candidates import (
    Referee,
    open_referee,
)
from depslice.validator.validation.ground import open_ground
from harnesses import some_sandbox
from wrong_candidates import CASES, SOURCE, harness_of

ALL = [(target, number) for target, (_, wrong) in CASES.items() for number in range(len(wrong))]
# These do what the original does, on any input: found in review, kept to show the limits.
RIGHT_AFTER_ALL = {("slug", 3)}


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    folder = tmp_path_factory.mktemp("small")
    (folder / "small.py").write_text(SOURCE, encoding="utf-8")
    program = open_program(str(folder))
    with (
        open_ground(program, sandbox=some_sandbox(), python=sys.executable) as ground,
        open_referee(ground, Gates(seconds=5)) as found,
    ):
        yield found


def compared(referee: Referee, target: str, candidate: str) -> object:
    harness = parse_harness(harness_of(target), referee.ground.program, target=f"small:{target}")
    return referee.compare(harness, candidate)


def test_there_are_a_hundred() -> None:
    assert len(CASES) == 20
    assert len(ALL) == 100

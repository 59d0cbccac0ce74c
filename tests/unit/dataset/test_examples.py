"""Recorded calls as examples, and the part of them that a problem shows."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import dedent

import pytest

from depslice.callgraph import Program, open_program
from depslice.dataset.examples import examples, shown
from depslice.harness import RecordedCall
from depslice.validator import Workspace, check_limits, open_workspace
from depslice.validator.outcomes import observe
from harnesses import some_sandbox

SOURCE = """
import random
import time


class Square:
    def __init__(self, side):
        self.side = side

    def __eq__(self, other):
        return type(other) is Square and other.side == self.side

    def area(self):
        return self.side ** 2

    @property
    def half(self):
        return Square(self.side / 2)

    @classmethod
    def of(cls, side):
        return cls(side)


class Bare:
    pass


def grown(square, by):
    print("growing")
    return Square(square.side + by)


def upto(n):
    yield from range(n)


def chance():
    return random.random()


def slow():
    time.sleep(60)


def bare():
    return Bare()


def strict(x):
    if x < 0:
        raise ValueError("below\\nzero")
    return x


def outer(x):
    def inner():
        return x
    return inner
"""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workspace, Program]]:
    folder = tmp_path_factory.mktemp("squares")
    (folder / "squares.py").write_text(dedent(SOURCE), encoding="utf-8")
    program = open_program(str(folder))
    with open_workspace(
        program.project, python=sys.executable, sandbox=some_sandbox(), limits=check_limits(60)
    ) as space:
        yield space, program


def told(opened: tuple[Workspace, Program], target: str, *arguments: str) -> list[str]:
    calls = [(text, ("import squares",) if "squares." in text else ()) for text in arguments]
    return [each.text for each in observe(*opened, f"squares:{target}", calls)]


@pytest.mark.parametrize(
    ("target", "arguments", "expected"),
    [
        ("grown", "squares.Square(2), by=1", "grown(squares.Square(2), by=1) == squares.Square(side=3)"),
        ("Square.area", "squares.Square(3)", "Square.area(squares.Square(3)) == 9"),
        ("Square.of", "4", "Square.of(4) == squares.Square(side=4)"),
        ("upto", "3", "list(upto(3)) == [0, 1, 2]"),
        ("strict", "-1", "strict(-1) raises ValueError: below zero"),
        ("strict", "", "strict() raises TypeError: strict() missing 1 required positional"),
    ],
)  # fmt: skip
def test_what_comes_of_a_call(
    opened: tuple[Workspace, Program], target: str, arguments: str, expected: str
) -> None:
    [text] = told(opened, target, arguments)
    assert text.startswith(expected)


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("chance", ""),  # not the same twice
        ("slow", ""),
        ("bare", ""),  # nothing is equal to it
        ("upto", "10**9"),
        ("Square.half", "squares.Square(2)"),  # is not called by its name
        ("outer.<locals>.inner", "1"),
        ("nothing", "1"),
    ],
)
def test_what_cannot_be_told_is_left_out(
    opened: tuple[Workspace, Program], target: str, arguments: str
) -> None:
    assert told(opened, target, arguments) == []


def recorded(*arguments: str | None) -> list[RecordedCall]:
    return [
        RecordedCall(test="t", number=n, arguments=text, arcs=n) for n, text in enumerate(arguments)
    ]


def test_examples_are_those_that_reach_most_each_once(
    opened: tuple[Workspace, Program],
) -> None:
    calls = recorded("1", "2", "-1", None, "2", "'" + "x" * 200 + "'")
    found = examples(*opened, "squares:strict", calls, most=2)
    assert [each.text for each in found] == [
        "strict(-1) raises ValueError: below zero",
        "strict(2) == 2",
    ]


@pytest.mark.parametrize(
    ("number", "most", "expected"), [(9, 5, 3), (9, 2, 2), (2, 3, 1), (1, 3, 0)]
)
def test_a_problem_shows_a_third_of_the_calls_at_most(
    opened: tuple[Workspace, Program], number: int, most: int, expected: int
) -> None:
    calls = recorded(*map(str, range(number)))
    found = shown(*opened, "squares:strict", calls, most=most)
    assert len(found) == expected
    assert found == shown(*opened, "squares:strict", calls[::-1], most=most)


def test_a_problem_shows_values_alone(opened: tuple[Workspace, Program]) -> None:
    found = shown(*opened, "squares:strict", recorded("-1", "-2", "-3", "-4", "-5", "6"), most=3)
    assert [each.text for each in found] == ["strict(6) == 6"]

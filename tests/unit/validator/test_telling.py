"""Verdicts in words."""

from __future__ import annotations

from depslice.validator.validation.telling import readable_difference

LONG = "    return kind in (float, int) or (" + "works(float, text) and " * 8 + "text in [1, 2, 3])"


def test_of_a_long_line_the_fault_is_shown() -> None:
    """Two lines of hundreds of characters were to be compared by eye."""
    told = readable_difference([" if x:", f"-{LONG}", "+" + LONG.replace(" in [", " not in [")])
    assert told == [
        " if x:",
        "-…d works(float, text) and text in [1, 2, 3])",
        "+…d works(float, text) and text not in [1, 2, 3])",
    ]


def test_of_a_long_line_with_the_fault_in_front_the_end_is_cut() -> None:
    told = readable_difference([f"-{LONG}", "+    return None"])
    assert told == [f"-{LONG[:99]}…", "+    return None"]
    [told_alone] = readable_difference([f"-{LONG}"])
    assert told_alone == told[0]


def test_short_lines_are_as_they_are() -> None:
    lines = ["     x = 1", "-    return x", "+    return None", "-    y = 2"]
    assert readable_difference(lines) == lines

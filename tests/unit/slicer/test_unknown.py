"""What analysis cannot tell, in the words of the code."""

from __future__ import annotations

import pytest

from depslice.slicer.unknown import completed


@pytest.mark.parametrize(
    ("name", "line", "asked", "told"),
    [
        ("table[…]", "table[key]()", "table", "table[…]"),
        ("….go", "    größe.made.go(1)", "go", "größe.made.go"),
        ("…[…].go", "x[0].go(1, (2, 3)), y", "go", "go(1, (2, 3))"),
        ("….go", "    .go(1)", "go", "go(1)"),
        ("….go", "x.go_on(1)", "x", "x.go_on(1)"),
        ("…", "return [kind(1, 2), 3]", "kind", "kind(1, 2)"),
        ("…", "while at.end < at.size + 1:  # more", "at.end", "at.end < at.size + 1"),
        ("…", "f(a - b)", "a", "a - b"),
        ("…", f"{'x' * 80}()", "x", f"{'x' * 59}…"),
        ("….go", "", "", "….go"),
    ],
)
def test_what_begins_with_a_local_variable_is_read_of_the_line(
    name: str, line: str, asked: str, told: str
) -> None:
    assert completed(name, line, len(line[: line.index(asked)].encode())) == told

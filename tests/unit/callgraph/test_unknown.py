"""What analysis cannot tell, in the words of the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.unknown import completed


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


def test_a_graph_tells_what_is_called_that_nobody_knows(tmp_path: Path) -> None:
    code = """
def made(key): return TABLE[key]
def f(table):
    table["x"]()
    made(1)()
made(2)(3)
"""
    (tmp_path / "m.py").write_text(code)
    found = build_graph(open_program(tmp_path, cache=None)).unresolved
    told = {(each.site.line, each.name) for each in found if each.reason == "unknown-callee"}
    assert told == {(4, "table[…]"), (5, "made(…)"), (6, "made(…)")}

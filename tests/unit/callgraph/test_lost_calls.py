"""Programs that change behind one's back what is called: no call of a run may be missing.

What the graph has besides does not matter here (``fixtures/callgraph`` has programs whose graph is
exact). Each takes away a condition of some rule that leaves calls out.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from check import calls_missed

PROGRAMS = dict(
    part.split("\n", 1)  # type: ignore[misc]
    for part in re.split(
        r"^== ",
        (Path(__file__).parent / "lost_calls.txt").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )[1:]
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_call_that_happens_is_missing(name: str, tmp_path: Path) -> None:
    assert calls_missed(PROGRAMS[name], tmp_path) == set()

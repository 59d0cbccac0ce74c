"""The more a site can call, the less each of it says; and what some rules are worth."""

from __future__ import annotations

import pytest

from depslice.callgraph.certainty import call_certainty
from depslice.callgraph.model import Certainty

D, L, P = Certainty.DEFINITE, Certainty.LIKELY, Certainty.POSSIBLE


@pytest.mark.parametrize(
    ("rule", "shown", "callees", "exact", "expected"),
    [
        ("call", True, 1, True, D),
        ("call", True, 1, False, L),
        ("method", True, 1, False, D),
        ("method", True, 15, False, L),
        ("method", True, 16, False, P),
        ("method", True, 200, True, L),
        ("property", True, 8, False, P),
        ("protocol", True, 1, True, L),
        ("protocol", True, 2, False, P),
        ("protocol", True, 3, True, L),
        ("getattr", True, 1, False, P),
        ("callback", False, 1, False, L),
        ("callback", False, 2, True, P),
        ("by-name", False, 3, False, L),
        ("by-name", False, 4, False, P),
        ("init-of-subclass", False, 1, False, P),
    ],
)
def test_certainties(
    rule: str, shown: bool, callees: int, exact: bool, expected: Certainty
) -> None:
    assert call_certainty(rule, shown=shown, callees=callees, exact=exact) is expected

"""Examples out of what a model has written, whatever it writes."""

from __future__ import annotations

import pytest

from depslice.dataset.claims import _same, claims_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">>> f(1)\n2\n", ["f(1) == 2"]),
        ("    >>> f(1, by=2)\n    [3]\n", ["f(1, by=2) == [3]"]),
        ("- `f(1) == 2`\n* f( 'x' ) == 'y'", ["f(1) == 2", "f('x') == 'y'"]),
        ("f(1) == 2\n>>> f(1)\n2\n", ["f(1) == 2"]),
        (">>> f(1)\nTraceback (most recent call last):\nValueError\n", []),
        (">>> f(1)\n<object at 0x7>\n", []),
        (">>> x = 1\n>>> print(f(1))\n2\n", []),
        (">>> g(1)\n2\n", []),
        ("f(1) raises ValueError", []),
        ("f(1) == 2 == 3, f(1) < 2", []),
        (">>>f(1)\n2\n", []),  # doctest refuses it
        ("", []),
    ],
)
def test_claims(text: str, expected: list[str]) -> None:
    assert [claim.text for claim in claims_of(text, "f")] == expected


def test_claims_about_methods() -> None:
    [claim] = claims_of("Square.area(Square(2), **{'x': 1}) == 4", "Square.area")
    assert claim.arguments == "Square(2), **{'x': 1}"


@pytest.mark.parametrize(
    ("told", "observed", "same"),
    [
        ("1", "1", True),
        ("1", "True", False),
        ("1", "1.0", False),
        ("[1]", "[True]", False),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", True),
        ("{1, 2}", "{2, 1}", True),
        ('"a"', "'a'", True),
        ("f( 1 )", "f(1)", True),
    ],
)
def test_a_claim_is_kept_by_the_same_value_of_the_same_type(
    told: str, observed: str, same: bool
) -> None:
    assert _same(told, observed) is same

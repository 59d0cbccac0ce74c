"""Searching what fits a budget: from little, so that trials stay small."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from depslice.slicer.budget import most_that_fit


@given(st.integers(0, 3000), st.integers(0, 4000))
def test_most_that_fit(count: int, limit: int) -> None:
    tried: list[int] = []

    def fits(kept: int) -> bool:
        tried.append(kept)
        return kept <= limit

    found = most_that_fit(count, fits)

    assert found == min(count, limit)
    # No trial keeps much more than fits: what is tried has to be grown.
    assert max(tried, default=0) <= max(1, 2 * limit)
    assert len(tried) <= 2 + 2 * (found + 1).bit_length()

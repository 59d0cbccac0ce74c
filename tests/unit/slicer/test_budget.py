"""Searching what fits a budget: few sizes are measured, and none much larger than what fits."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from depslice.slicer.budget import least_that_fits, most_that_fit

STEPS = st.lists(st.integers(0, 50), max_size=300)
"""What each item adds; an even growth is the common case, this is any."""


@given(st.integers(0, 3000), st.integers(0, 4000), st.integers(1, 40))
def test_most_that_fit(count: int, limit: int, each: int) -> None:
    tried: list[int] = []

    def size(kept: int) -> int:
        tried.append(kept)
        return kept * each

    found = most_that_fit(count, size, limit * each)

    assert found == min(count, limit)
    # No trial keeps much more than fits: what is tried has to be grown.
    assert max(tried, default=0) <= max(1, 2 * limit)
    assert len(set(tried)) <= 6 + (found + 1).bit_length()


@given(STEPS, st.integers(0, 20_000))
def test_most_that_fit_of_uneven_sizes(steps: list[int], budget: int) -> None:
    sizes = [0, *accumulate(steps)]

    found = most_that_fit(len(steps), sizes.__getitem__, budget)

    assert found == max(kept for kept, size in enumerate(sizes) if size <= budget)


@given(STEPS, st.integers(0, 20_000))
def test_least_that_fits(steps: list[int], budget: int) -> None:
    sizes = [*reversed([0, *accumulate(steps)])]
    tried: set[int] = set()

    def size(smaller: int) -> int:
        tried.add(smaller)
        return sizes[smaller]

    found = least_that_fits(len(steps), size, budget)

    assert found == min((k for k, size in enumerate(sizes) if size <= budget), default=len(steps))
    assert len(tried) <= 4 + 2 * len(steps).bit_length()


@given(st.integers(2, 3000), st.data())
def test_even_sizes_take_few_trials(count: int, data: st.DataObject) -> None:
    budget = data.draw(st.integers(0, count * 7))
    tried: set[int] = set()

    def size(smaller: int) -> int:
        tried.add(smaller)
        return (count - smaller) * 7

    assert least_that_fits(count, size, budget) == count - budget // 7
    assert len(tried) <= 6

"""Searching what fits a budget: few sizes are measured."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from depslice.slicer.budget import least_that_fits

STEPS = st.lists(st.integers(0, 50), max_size=300)
"""What each item adds; an even growth is the common case, this is any."""


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

"""Random programs give in their slices what they give in the original."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import random_programs

pytestmark = pytest.mark.slow

FEWEST = 0.8  # of the programs can be imported; else next to nothing would be tested


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_slices_of_random_programs_give_the_same(first: int) -> None:
    seeds = range(first, first + 20)
    found = [random_programs.difference(random_programs.Programs(seed).make()) for seed in seeds]
    assert sum(each is not None for each in found) >= FEWEST * len(seeds)
    assert not [each for each in found if each]

"""Functions of the library that ask objects how they compare, and put them where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer

FILLED = """
# --- m.py
import bisect
import heapq
import functools


@functools.total_ordering
class Job:
    def __init__(self, rank):
        self.rank = rank

    def __lt__(self, other):
        return self.rank < other.rank


JOBS = []
{0}


def use():
    return [job.rank for job in JOBS]
"""


@pytest.mark.parametrize(
    "filling",
    [
        "for rank in (3, 1): heapq.heappush(JOBS, Job(rank))",
        "for rank in (3, 1): bisect.insort(JOBS, Job(rank))",
        "for rank in (3, 1): bisect.insort_left(JOBS, Job(rank))",
        "job = Job(3)\nheapq.heappush(JOBS, job)\nheapq.heappush(JOBS, Job(1))",
        "JOBS += [Job(3), Job(1)]\nheapq.heapify(JOBS)",
    ],
)
def test_statements_of_the_module_that_put_objects(tmp_path: Path, filling: str) -> None:
    assert answer(FILLED.format(filling), "m:use", "m.use()", tmp_path) == "[1, 3]"

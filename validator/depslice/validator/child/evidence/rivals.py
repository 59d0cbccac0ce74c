"""Candidates in an order that nobody can foresee, with the original among them.

A harness that counts its runs, or sees that nobody measures this one, would know else which
of them it is expected to fail on, and could do so without comparing anything.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Final

_LEAST: Final = 3  # times that the original is among them
_ONE_IN: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """What stands in the original's place, by ``code``; ``None``: the original itself stays.

    ``absent``: nothing does. ``alter``: what it returns is altered. ``tests``: those to run,
    if not all. ``judge``: note what the harness does that tests have no reason to do.
    """

    code: CodeType | None = None
    absent: bool = False
    alter: bool = False
    tests: tuple[str, ...] | None = None
    judge: bool = False


def mixed(rivals: Sequence[Rival], original: CodeType) -> list[tuple[int | None, Rival]]:
    """The rivals with their numbers, by chance; one without a number is the original.

    It runs the tests that some other one runs too.
    """
    if not rivals:
        return []
    chance = random.SystemRandom()
    often = max(_LEAST, len(rivals) // _ONE_IN)
    hidden = [
        Rival(code=original, tests=chance.choice(rivals).tests, judge=True) for _ in range(often)
    ]
    lot: list[tuple[int | None, Rival]] = [*enumerate(rivals), *((None, each) for each in hidden)]
    chance.shuffle(lot)
    return lot

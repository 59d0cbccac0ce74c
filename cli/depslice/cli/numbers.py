"""Numbers that options take: finite ones, and whole ones where a count is meant.

Click's own types let ``nan`` through every range, since it is neither below nor above
anything, and cut ``2.7`` of a settings file down to 2.
"""

from __future__ import annotations

import math
from typing import Final

import click

ANY_NUMBER: Final = "any"


class Number(click.FloatRange):
    """A finite number within a range. Without a limit is what leaving the option out is for."""

    name = "number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number that ``value`` is, or spells."""
        if isinstance(value, bool):
            self.fail(f"{_shown(value)} is not a number", param, ctx)
        try:
            found = float(value)  # type: ignore[arg-type]  # what is none of these is told below
        except (TypeError, ValueError, OverflowError):
            self.fail(f"{_shown(value)} is not a number", param, ctx)
        if not math.isfinite(found):
            self.fail(f"{_shown(value)} is not a finite number", param, ctx)
        return float(super().convert(found, param, ctx))


class Whole(click.IntRange):
    """A whole number within a range."""

    name = "whole number"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """The number that ``value`` is, or spells."""
        if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
            self.fail(f"{_shown(value)} is not a whole number", param, ctx)
        try:
            found = int(value)  # type: ignore[call-overload]  # as above
        except (TypeError, ValueError):
            self.fail(f"{_shown(value)} is not a whole number, written in digits", param, ctx)
        return int(super().convert(found, param, ctx))

    def _describe_range(self) -> str:
        """What the help says of it: nothing of a range without limits (Click: ``x<=None``)."""
        bounded = self.min is not None or self.max is not None
        return super()._describe_range() if bounded else ""


class Guesses(Whole):
    """How many guesses are followed in a row, or ``any`` number (``None``)."""

    name = "whole number"

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(  # type: ignore[override]  # `None` is what those who slice take for "any"
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """The number that ``value`` is, or spells; ``None`` for ``any``."""
        return None if value == ANY_NUMBER else super().convert(value, param, ctx)


def _shown(value: object) -> str:
    """As the user has written it, on the command line or in TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


__all__ = ["Number", "Whole"]

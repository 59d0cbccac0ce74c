"""Options for what a harness has to reach."""

from __future__ import annotations

from collections.abc import Callable

import click

from depslice.cli.numbers import Number, Whole
from depslice.cli.options import with_options


def gate_options(function: Callable[..., None]) -> Callable[..., None]:
    """The gates; the command gets them one by one, under the names of ``Gates``."""
    return with_options(function, _OPTIONS)


_SHARE = Number(0, 1)
_OPTIONS = (
    click.option(
        "--branches",
        type=_SHARE,
        default=0.8,
        show_default=True,
        metavar="SHARE",
        help="Branches of TARGET that have to run (lines, where it has no branches).",
    ),
    click.option(
        "--mutation",
        type=_SHARE,
        default=0.6,
        show_default=True,
        metavar="SHARE",
        help="Mutants of TARGET that have to be killed.",
    ),
    click.option(
        "--runs",
        type=Whole(min=1, max=100),
        default=3,
        show_default=True,
        metavar="N",
        help="Runs on the original: other hash seed, other date, other order of tests.",
    ),
    click.option(
        "--seconds",
        type=Number(min=0.1, max=3600),
        default=20.0,
        show_default=True,
        metavar="N",
        help="The limit for each run.",
    ),
    click.option(
        "--mutants",
        type=Whole(min=0),
        default=200,
        show_default=True,
        metavar="N",
        help="At most so many mutants are tried.",
    ),
    click.option(
        "--equivalence/--no-equivalence",
        default=True,
        show_default=True,
        help="Whether the reference has to be called, beside the candidate.",
    ),
)

"""``depslice tradeoff``: what a smaller or larger context costs, and what it loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import chosen_tokenizer, find_targets, opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
    target_argument,
    tokenizer_option,
    whole_classes_option,
)
from depslice.cli.results import json_text, write_result

if TYPE_CHECKING:
    from depslice.slicer.tradeoff import Tradeoff


@click.command(
    cls=Command,
    short_help="Show what smaller and larger contexts of TARGET cost and lose.",
    examples=(
        "depslice tradeoff . package.module:function",
        "depslice tradeoff . function --format html -o tradeoff.html",
    ),
)
@repository_options
@target_argument("targets", nargs=-1, metavar="TARGET...")
@format_option(
    "text", "csv", "json", "html", help="html: a chart in one file, that needs no network."
)
@click.option(
    "--depth",
    "depths",
    type=Whole(min=0),
    multiple=True,
    metavar="N",
    help="A depth to measure (repeatable).  [default: all there are]",
)
@click.option(
    "--budget",
    "budgets",
    type=Whole(min=1),
    multiple=True,
    metavar="TOKENS",
    help="A budget to measure (repeatable).  [default: 250, 500, 1000... as far as they bind]",
)
@click.option(
    "--usages",
    type=Whole(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="So many callers and tests for sliced+usages; 0 leaves it out.",
)
@whole_classes_option
@tokenizer_option(default=None)
@output_options
def tradeoff(
    *,
    repository: Repository,
    targets: tuple[str, ...],
    format_: str,
    depths: tuple[int, ...],
    budgets: tuple[int, ...],
    usages: int,
    whole_classes: bool,
    tokenizer: str | None,
    output: Output,
) -> None:
    """Show tokens and definitions against strategy, depth, budget and form.

    Every row is what `slice` gives with that option. What is lost is said of the
    complete slice. Several targets are measured one by one, and on average.
    """
    from depslice.slicer.tradeoff import mean_of, tradeoff_of

    notes = Notes(output)
    measure = chosen_tokenizer(tokenizer, notes)
    with opened(repository, notes) as program:
        ids = find_targets(program, targets)
        found = []
        for number, identifier in enumerate(ids, 1):
            with notes.steps(f"{number}/{len(ids)} {identifier}") as step:
                measured = tradeoff_of(
                    program,
                    identifier,
                    tokenizer=measure,
                    depths=depths or None,
                    budgets=budgets or None,
                    usages=usages,
                    whole_classes=whole_classes,
                    progress=step,
                )
            found.append(measured)
        if len(found) > 1 and format_ == "text":
            found.append(mean_of(found))
        write_result(output, _rendered(found, format_))


def _rendered(found: list[Tradeoff], format_: str) -> str:
    match format_:
        case "csv":
            from depslice.slicer.tradeoff_forms import tradeoff_csv

            return tradeoff_csv(found)
        case "json":
            from depslice.slicer.tradeoff_forms import tradeoff_document

            return json_text(tradeoff_document(found))
        case "html":
            from depslice.slicer.report.page import render_chart

            return render_chart(found)
        case _:
            from depslice.cli.measured import tradeoff_text

            return "\n".join(map(tradeoff_text, found))

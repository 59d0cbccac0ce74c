"""``depslice report``: one slice as a page to explore."""

from __future__ import annotations

import click

from depslice.callgraph.counting import counted
from depslice.cli.notes import Notes
from depslice.cli.opening import chosen_tokenizer, opened
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

REPORT_SCHEMA = "depslice.report/1"


@click.command(
    cls=Command,
    examples=("depslice report . package.module:function -o report.html",),
)
@repository_options
@target_argument()
@format_option("html", "json", help="json: what the page shows, as data.")
@whole_classes_option
@tokenizer_option(default=None)
@output_options
def report(
    *,
    repository: Repository,
    target: str,
    format_: str,
    whole_classes: bool,
    tokenizer: str | None,
    output: Output,
) -> None:
    """Make a page about the slice of TARGET: -o report.html.

    Its graph by distance, the code and the reason of each definition, what a budget
    leaves of it, and what other contexts cost. One file, that needs no network.
    """
    from depslice.callgraph import find_symbol
    from depslice.slicer.report import render_report, report_of

    notes = Notes(output)
    measure = chosen_tokenizer(tokenizer, notes)
    with opened(repository, notes) as program:
        identifier = find_symbol(program, target).id
        with notes.steps(identifier) as step:
            data = report_of(
                program,
                identifier,
                tokenizer=measure,
                whole_classes=whole_classes,
                progress=step,
            )
        if format_ == "json":
            write_result(output, json_text({"schema": REPORT_SCHEMA, **data}, indent=None))
        else:
            write_result(output, render_report(data))
    notes.say(
        f"{counted(len(data['items']), 'definition')}, {counted(data['tokens'], 'token')} ({measure})"
    )

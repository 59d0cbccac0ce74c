"""``depslice functions``: all functions and methods of a repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import (
    Command,
    Output,
    Repository,
    format_option,
    output_options,
    repository_options,
)
from depslice.cli.results import json_text, write_result

if TYPE_CHECKING:
    from depslice.callgraph.model import Symbol

FUNCTIONS_SCHEMA = "depslice.functions/1"


@click.command(
    cls=Command,
    examples=(
        "depslice functions .",
        "depslice functions . --exclude tests/ --format json",
    ),
)
@repository_options
@format_option("text", "json")
@output_options
def functions(*, repository: Repository, output: Output, format_: str) -> None:
    """List all functions and methods of REPO, by path and line."""
    from depslice.callgraph import list_functions

    notes = Notes(output)
    with opened(repository, notes) as program:
        with notes.progress("reading") as progress:
            program.load_all(workers=repository.workers, progress=progress)
        # A lambda has no name to be asked for by, and belongs to what holds it.
        found = [s for s in list_functions(program, workers=1) if "<lambda>" not in s.id]
        if format_ == "json":
            write_result(output, json_text(_document(found)))
        elif output.path is None and sys.stdout is not None and sys.stdout.isatty():
            _print_table(found, color=output.color and not os.environ.get("NO_COLOR"))
        else:
            write_result(output, "".join(f"{_place(s)}\t{s.kind.value}\t{s.id}\n" for s in found))
    notes.say(
        "1 function or method" if len(found) == 1 else f"{len(found):,} functions and methods"
    )


def _document(found: Sequence[Symbol]) -> dict[str, object]:
    return {
        "schema": FUNCTIONS_SCHEMA,
        "functions": [
            {
                "id": symbol.id,
                "path": symbol.path,
                "line": symbol.span.start,
                "end_line": symbol.span.end,
                "kind": symbol.kind.value,
            }
            for symbol in found
        ],
    }


def _place(symbol: Symbol) -> str:
    return f"{symbol.path}:{symbol.span.start}"


def _print_table(found: Sequence[Symbol], *, color: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("where", "kind", "id"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "kind")
    for symbol in found:
        table.add_row(Text(_place(symbol), "cyan"), symbol.kind.value, Text(symbol.id))
    Console(no_color=not color, highlight=False).print(table)

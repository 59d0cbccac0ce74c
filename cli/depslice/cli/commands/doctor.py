"""``depslice doctor``: what code can be run with on this machine, and why not with more."""

from __future__ import annotations

import os

import click

from depslice.cli.options import Command, Output
from depslice.cli.results import json_text, write_result


@click.command(cls=Command, short_help="Tell which sandboxes work on this machine, and why not.")
@click.option(
    "--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@click.pass_context
def doctor(context: click.Context, *, format_: str) -> None:
    """Tell which sandboxes work here, what they hold, and what would help.

    Exit code 3 when none works that isolates.
    """
    from depslice.validator.doctor import doctor_document, doctor_lines, examine

    found = examine()
    if format_ == "json":
        text = json_text(doctor_document(found))
    else:
        text = "\n".join(doctor_lines(found)) + "\n"
    plain = Output(path=None, quiet=False, verbose=False, color=not os.environ.get("NO_COLOR"))
    write_result(plain, text)
    if found.sandbox is None:
        context.exit(3)

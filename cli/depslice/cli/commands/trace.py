"""``depslice trace``: the calls that a run of the user's own code really makes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from depslice.callgraph.counting import counted
from depslice.callgraph.errors import DepsliceError
from depslice.cli.failures import Finished
from depslice.cli.notes import Notes
from depslice.cli.opening import opened
from depslice.cli.options import Command, Output, Repository, output_options
from depslice.cli.results import json_text, write_result

if TYPE_CHECKING:
    from depslice.callgraph.tracing import Session, Trace

DEFAULT_OUTPUT = "depslice-trace.json"


class CommandNotFound(DepsliceError):
    """The command to trace cannot be started."""

    slug = "command"


@click.command(
    cls=Command,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--root",
    default=".",
    show_default=True,
    type=click.Path(),
    metavar="REPO",
    help="The repository, package or script whose calls are recorded.",
)
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Record in what is left out by default (a gitignore pattern).",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="PATTERN",
    help="Do not record in these files (a gitignore pattern), such as tests.",
)
@partial(output_options, default=DEFAULT_OUTPUT)
def trace(
    *,
    command: tuple[str, ...],
    root: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    output: Output,
) -> None:
    """Run COMMAND and record which definitions of REPO call which.

    This runs your code with all your rights, outside of any sandbox:

    \b
      depslice trace --root src/pkg -o trace.json -- pytest -q
      depslice trace -- python -m pkg
      depslice trace -- script.py

    The calls are written to depslice-trace.json (or -o; with -o - to standard output,
    and what the command prints there goes to standard error). Processes it starts are
    recorded too. The exit code is that of the command. Compare with
    `depslice graph REPO --compare depslice-trace.json`.
    """  # noqa: D301 - Click wraps no paragraph that begins with a backspace
    from depslice.callgraph.tracing import gather, recording_session, trace_document

    notes = Notes(output)
    repository = Repository(
        path=root,
        include=include,
        exclude=exclude,
        respect_gitignore=True,
        use_cache=True,
        python=None,
        workers=None,
    )
    to_standard_output = output.path is None and _wants_standard_output()
    if output.path is None and not to_standard_output:
        output = Output(
            path=DEFAULT_OUTPUT, quiet=output.quiet, verbose=output.verbose, color=output.color
        )
    arguments = _executable(command)
    with opened(repository, notes) as program, recording_session(program.project) as session:
        code = _run(arguments, session, quietly=to_standard_output)
        found = gather(session, program, command=command, exit_code=code)
        write_result(output, json_text(trace_document(found), indent=None))
    notes.say(_summary(found, output.path))
    if code:
        raise Finished(code)


def _wants_standard_output() -> bool:
    """Whether ``-o -`` was given: `Output` has no path for it, as for no ``-o`` at all."""
    source = click.get_current_context().get_parameter_source("output_path")
    return source is not click.core.ParameterSource.DEFAULT


def _executable(command: Sequence[str]) -> list[str]:
    """The command as the system starts it; a script is run by the Python on ``PATH``.

    :raises CommandNotFound: there is no such program.
    """
    first, *rest = command
    if first.endswith(".py") and os.path.isfile(first):
        return [shutil.which("python") or sys.executable, first, *rest]
    found = shutil.which(first)
    if found is None:
        raise CommandNotFound(
            f"no program {first!r} to trace",
            hint="write it as you would without `depslice trace --`",
        )
    return [found, *rest]


def _run(arguments: Sequence[str], session: Session, *, quietly: bool) -> int:
    """Run it to its end, whatever the user presses; its exit code, as a shell has it."""
    # Ctrl-C reaches the whole group: the command decides what it means, and ends first.
    # A handler, for the command would inherit that the signal is ignored.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        process = subprocess.Popen(
            arguments,
            env=session.environment(os.environ),
            stdout=sys.stderr if quietly else None,
        )
        code = process.wait()
    except OSError as error:
        raise CommandNotFound(f"cannot start {arguments[0]}: {error.strerror}") from None
    finally:
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def _summary(trace: Trace, path: str | None) -> str:
    where = "standard output" if path is None else path
    text = (
        f"{counted(len(trace.calls), 'call')} between {counted(len(trace.executed), 'definition')}"
        f" in {trace.processes:,} process{'es' if trace.processes != 1 else ''}: {where}"
    )
    if trace.unmapped:
        text += f" ({counted(len(trace.unmapped), 'piece')} of code without a definition)"
    return text

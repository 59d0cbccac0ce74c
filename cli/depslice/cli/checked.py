"""``depslice slice --check``: run a slice beside its original, and tell what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from depslice.cli.interpreters import Interpreter, make_environment_option
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.opening import refuse_sources
from depslice.cli.options import Repository, with_options
from depslice.cli.results import json_text
from depslice.cli.sandboxing import sandbox_of, sandbox_options

if TYPE_CHECKING:
    from depslice.callgraph import Program
    from depslice.slicer import Slice


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """What the options of ``--check`` say."""

    check: bool
    repair: bool
    sandbox: str | None
    unsafe: bool
    calls: str | None
    interpreter: Interpreter
    seconds: int
    report: str | None

    def refuse_nonsense(self) -> None:
        """Raise ``UsageError`` for options that do not go together."""
        if self.repair and not self.check:
            raise click.UsageError("--repair goes with --check")
        running = self.sandbox or self.unsafe or self.interpreter.make
        if not self.check and (self.calls or self.report or running):
            raise click.UsageError(
                "--calls, --report, --make-environment, --sandbox and --unsafe-no-sandbox go with"
                " --check"
            )
        if self.interpreter.make and self.interpreter.path:
            raise click.UsageError("--check-python and --make-environment do not go together")


def check_slice(
    program: Program,
    found: Slice,
    repository: Repository,
    options: CheckOptions,
    notes: Notes,
    *,
    limits: Mapping[str, Any],
) -> tuple[Slice, int]:
    """Check ``found``, and with ``repair`` mend it; the slice, and the exit code.

    ``limits`` are those that it was sliced with.

    0: it is proven; 1: something differs; 3: no call could be compared.
    """
    from depslice.validator import Check, check_limits, open_workspace, record, repair
    from depslice.validator.telling import check_document, check_lines

    if options.report:
        refuse_sources(program, options.report)
    sandbox = sandbox_of(options.sandbox, unsafe=options.unsafe, notes=notes)
    python = options.interpreter.chosen(repository, program, sandbox, notes)
    with open_workspace(
        program.project,
        python=python,
        sandbox=sandbox,
        limits=check_limits(options.seconds),
        whole_folder=os.path.isdir(repository.path),
    ) as space:
        script = Path(options.calls) if options.calls else None
        with notes.steps("checking", slow=True) as step:
            step(f"running {options.calls or 'the tests of the repository'}")
            recorded = record(space, program, found.targets, script=script)
            step("replaying calls on the original")
            check = Check(space, program, recorded)
            step("replaying calls on the slice")
            report = check.of(found)
            if options.repair and not report.passes:
                step("adding what is missing")
                found, report = repair(check, found, **limits)
    if options.report:
        document = json_text(check_document(report, python=python))
        _write_report(options.report, document)
    code = 0 if report.proven else 3 if report.passes else 1
    for line in check_lines(
        report,
        everything=notes.tells_all,
        repaired=options.repair,
        scripted=options.calls is not None,
    ):
        (notes.tell if code else notes.say)(line)
    return found, code


def _write_report(path: str, text: str) -> None:
    from depslice.cli.options import Output
    from depslice.cli.results import write_result

    write_result(Output(path=path, quiet=True, verbose=False, color=False), text)


def check_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of ``--check``, for a command; they arrive one by one."""
    return with_options(function, _OPTIONS)


_OPTIONS = (
    click.option(
        "--check",
        is_flag=True,
        help="Import the slice alone, replay real calls on it, compare with the original.",
    ),
    click.option(
        "--repair",
        is_flag=True,
        help="With --check, add what turns out to be needed, marked `observed`.",
    ),
    sandbox_options,
    click.option(
        "--calls",
        type=click.Path(),
        metavar="FILE",
        help="With --check, a script or test file that calls TARGET.  [default: REPO's tests]",
    ),
    click.option(
        "--check-python",
        type=click.Path(),
        metavar="PATH",
        help="With --check, the Python that has what REPO needs.  [default: REPO's .venv]",
    ),
    make_environment_option,
    click.option(
        "--check-seconds",
        type=Whole(min=1),
        default=120,
        show_default=True,
        metavar="N",
        help="With --check, the limit for each process.",
    ),
    click.option(
        "--report",
        type=click.Path(),
        metavar="FILE",
        help="With --check, write the report there as JSON.",
    ),
)

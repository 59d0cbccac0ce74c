"""Options of the commands that run code: which sandbox, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from depslice.cli.notes import Notes
from depslice.cli.options import complete_names

if TYPE_CHECKING:
    from depslice.validator.sandbox import Sandbox


def _sandboxes() -> list[str]:
    from depslice.validator.sandbox import all_sandboxes

    return [sandbox.name for sandbox in all_sandboxes()]


def sandbox_options(function: Any) -> Any:
    """``--sandbox`` and ``--unsafe-no-sandbox``; they arrive as two parameters."""
    named = click.option(
        "--sandbox",
        metavar="NAME",
        shell_complete=complete_names(_sandboxes),
        help="The sandbox to run code in; `depslice doctor` lists them.  [default: one that works]",
    )
    unsafe = click.option(
        "--unsafe-no-sandbox",
        is_flag=True,
        help="Run code with your own rights, without a sandbox.",
    )
    return named(unsafe(function))


def sandbox_of(name: str | None, *, unsafe: bool, notes: Notes) -> Sandbox:
    """The sandbox that the two options name; without one, says what that gives up.

    :raises SandboxUnavailable: none works here, or not the one that is named.
    """
    from depslice.validator.sandbox import GIVEN_UP, choose_sandbox

    if name is not None and unsafe:
        raise click.UsageError("--sandbox and --unsafe-no-sandbox do not go together")
    sandbox = choose_sandbox("unsafe" if unsafe else name)
    if not sandbox.isolates:
        notes.say(f"no sandbox: {GIVEN_UP}")
    return sandbox

"""The command ``depslice`` and its commands, each imported when it is called."""

from __future__ import annotations

import os

import click

from depslice.cli import failures

_COMMANDS = (
    "cache",
    "doctor",
    "evaluate",
    "functions",
    "graph",
    "harness",
    "prompt",
    "refine",
    "report",
    "serve",
    "slice",
    "solve",
    "trace",
    "tradeoff",
    "validate",
    "why",
)


class _Commands(click.Group):
    """Finds commands by name; `--version` and mistakes cost no imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        match cmd_name:
            case "cache":
                from depslice.cli.commands.cache import cache

                return cache
            case "doctor":
                from depslice.cli.commands.doctor import doctor

                return doctor
            case "evaluate":
                from depslice.cli.commands.evaluate import evaluate

                return evaluate
            case "functions":
                from depslice.cli.commands.functions import functions

                return functions
            case "graph":
                from depslice.cli.commands.graph import graph

                return graph
            case "harness":
                from depslice.cli.commands.harness import harness

                return harness
            case "prompt":
                from depslice.cli.commands.prompt import prompt

                return prompt
            case "refine":
                from depslice.cli.commands.refine import refine

                return refine
            case "serve":
                from depslice.cli.commands.serve import serve

                return serve
            case "report":
                from depslice.cli.commands.report import report

                return report
            case "slice":
                from depslice.cli.commands.slice import slice_

                return slice_
            case "solve":
                from depslice.cli.commands.solve import solve

                return solve
            case "trace":
                from depslice.cli.commands.trace import trace

                return trace
            case "tradeoff":
                from depslice.cli.commands.tradeoff import tradeoff

                return tradeoff
            case "validate":
                from depslice.cli.commands.validate import validate

                return validate
            case "why":
                from depslice.cli.commands.why import why

                return why
            case _:
                return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            from depslice.cli.defaults import did_you_mean

            meant = did_you_mean(name, _COMMANDS) or f": {', '.join(_COMMANDS)}"
            ctx.fail(f"no command {name!r}{meant}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib import metadata  # 0.05 s to import

    try:
        version = metadata.version("depslice")
    except metadata.PackageNotFoundError:
        version = "(not installed: run from its source tree)"
    click.echo(f"depslice {version}")
    ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="First steps: depslice functions REPO lists what there is; depslice slice REPO"
    " module:function shows what it needs. `depslice COMMAND --help` has examples.\n\n"
    'Shell completion: eval "$(_DEPSLICE_COMPLETE=bash_source depslice)"'
    " (or zsh_source, fish_source).",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def app(ctx: click.Context) -> None:
    """What does this Python function depend on?

    REPO may be a repository, an unpacked package or a single script (`-`: standard input).
    It is read, never imported or run. A TARGET is a symbol (pkg.mod:Class.method, or
    dotted), a place (path/to/file.py:LINE, path/to/file.py:name), or the end of a name that
    only one symbol has.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def run(arguments: list[str] | None) -> int:
    """Run the command line and return its exit code; :exc:`KeyboardInterrupt` gets through."""
    if "_DEPSLICE_COMPLETE" in os.environ:
        from depslice.cli.completing import register

        register()
    return failures.guarded(
        lambda: app.main(arguments, prog_name="depslice", standalone_mode=False)
    )

"""``depslice serve``: answers to other programs, over the Model Context Protocol."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from depslice.callgraph.errors import DepsliceError
from depslice.cli.notes import Notes
from depslice.cli.numbers import Whole
from depslice.cli.options import Command, Output, Repository, repository_options

if TYPE_CHECKING:
    from depslice.server.session import Session


class ServerUnavailable(DepsliceError):
    """The package that speaks the protocol is not installed."""

    slug = "server-unavailable"
    exit_code = 3


@click.command(
    cls=Command,
    short_help="Serve REPO to an MCP client: slices, call graphs.",
    examples=(
        "depslice serve .",
        "depslice serve . --transport http --port 8765",
    ),
)
@repository_options
@click.option(
    "--transport",
    type=click.Choice(["stdio", "http"]),
    default="stdio",
    show_default=True,
    help="stdio: one client, which starts this command. http: streamable HTTP, for several.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where to listen: a loopback address.",
)
@click.option(
    "--port",
    type=Whole(min=0, max=65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="Where to listen; 0: any port that is free.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing beside the answers.")
def serve(*, repository: Repository, transport: str, host: str, port: int, quiet: bool) -> None:
    """Serve slices, call graphs and explanations of REPO to an MCP client.

    REPO alone is served: nothing outside of it is read, nothing in it is changed or run.
    Files may change meanwhile.
    """
    if transport == "stdio":
        _refuse_listening()
    if find_spec("mcp") is None:
        raise ServerUnavailable(
            "depslice serve needs the MCP SDK, which is not installed",
            hint="pip install 'depslice[serve]'",
        )
    from depslice.server.desk import Desk

    notes = Notes(Output(path=None, quiet=quiet, verbose=False, color=False))
    desk = Desk(lambda: _session(repository))
    try:
        # Last, and after REPO has been found good: it takes a second.
        from depslice.server.protocol import serve_http, serve_stdio

        name, version = os.path.basename(os.path.abspath(repository.path)), _version()
        if transport == "stdio":
            serve_stdio(desk, name=name, version=version)
        else:
            serve_http(
                desk,
                name=name,
                version=version,
                host=host,
                port=port,
                # Of port 0, that is where nobody knows which it is.
                announce=lambda url: (notes.say if port else notes.tell)(
                    f"serving {name} at {url} (Ctrl-C ends it)"
                ),
            )
    finally:
        desk.close()


def _refuse_listening() -> None:
    """Where to listen is said to nobody who speaks over pipes: a client would wait there."""
    context = click.get_current_context()
    typed = [
        f"--{name}"
        for name in ("host", "port")
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if typed:
        verb = "goes" if len(typed) == 1 else "go"
        raise click.UsageError(f"{' and '.join(typed)} {verb} with --transport http")


def _session(repository: Repository) -> Session:
    from depslice.callgraph import open_workspace
    from depslice.server.session import Session

    workspace = open_workspace(
        repository.path,
        cache="auto" if repository.use_cache else None,
        include=repository.include,
        exclude=repository.exclude,
        respect_gitignore=repository.respect_gitignore,
        python=repository.python,
    )
    return Session(workspace, workers=repository.workers)


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("depslice")
    except metadata.PackageNotFoundError:
        return "0"

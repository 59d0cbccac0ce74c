"""``depslice cache``: what is kept between runs, and how to be rid of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from depslice.callgraph.counting import counted
from depslice.callgraph.errors import OptionError
from depslice.cli.options import Command, Output, format_option
from depslice.cli.results import json_text, write_result

CACHE_SCHEMA = "depslice.cache/1"

_format = format_option("text", "json")


class _Cache(click.Group):
    """A group whose commands take defaults."""

    takes_defaults = True

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As Click's, but what there is not is told with what there is."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}: {', '.join(self.commands)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Cache, no_args_is_help=False)
def cache() -> None:
    """Show or clear what is kept between runs."""


@cache.command(cls=Command)
@_format
def info(*, format_: str) -> None:
    """Where the cache is, and how large."""
    directory = _folder()
    sizes = [path.stat().st_size for path in directory.glob("depslice-*") if path.is_file()]
    document = {
        "schema": CACHE_SCHEMA,
        "directory": str(directory),
        "files": len(sizes),
        "bytes": sum(sizes),
    }
    text = f"{directory}: {counted(len(sizes), 'file')}, {counted(sum(sizes), 'byte')}\n"
    _print(json_text(document) if format_ == "json" else text)


@cache.command(cls=Command)
@_format
def clear(*, format_: str) -> None:
    """Remove the cache. The next run takes longer; nothing is lost."""
    from depslice.callgraph.cache import clear_cache

    directory = _folder()
    removed = clear_cache()
    document = {"schema": CACHE_SCHEMA, "directory": str(directory), "removed_bytes": removed}
    text = f"{directory}: {counted(removed, 'byte')} removed\n"
    _print(json_text(document) if format_ == "json" else text)


def _folder() -> Path:
    """The folder of the cache, which need not be there.

    :raises OptionError: something else is in its place, or in that of a folder above it.
    """
    from depslice.callgraph.cache import cache_directory

    directory = cache_directory()
    there = next(path for path in (directory, *directory.parents) if os.path.lexists(path))
    if not there.is_dir():
        variable = "DEPSLICE_CACHE_DIR" if os.environ.get("DEPSLICE_CACHE_DIR") else ""
        raise OptionError(
            f"there can be no cache: {there} is no folder",
            hint=f"{variable} names the folder of the cache" if variable else "",
        )
    return directory


def _print(text: str) -> None:
    plain = Output(path=None, quiet=False, verbose=False, color=not os.environ.get("NO_COLOR"))
    write_result(plain, text)

"""From the options to a program, with the cache open as long as the command runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from depslice.callgraph import open_program
from depslice.cli.notes import Notes
from depslice.cli.options import Repository

if TYPE_CHECKING:
    from depslice.callgraph import Program


@contextmanager
def opened(repository: Repository, notes: Notes) -> Iterator[Program]:
    """Open the repository, say what of it is left out, and at the end what was wrong in it."""
    from depslice.callgraph.cache import NullCache, open_cache
    from depslice.callgraph.summary import FORMAT

    # As `open_program(cache="auto")` does, but here it is known when the work is done.
    cache = open_cache(version=f"summaries-{FORMAT}") if repository.use_cache else NullCache()
    if isinstance(cache, NullCache) and cache.reason:
        notes.say(f"no cache: {cache.reason}")
    with cache:
        program = open_program(
            repository.path,
            cache=cache,
            include=repository.include,
            exclude=repository.exclude,
            respect_gitignore=repository.respect_gitignore,
            python=repository.python,
        )
        notes.left_out(program.project.left_out)
        yield program
        notes.diagnostics(program.diagnostics)

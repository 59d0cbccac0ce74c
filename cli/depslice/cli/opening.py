"""From the options to what a command works with: a program, targets, a tokenizer.

The cache is open as long as the command runs.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from depslice.callgraph import open_program
from depslice.callgraph.errors import RepositoryError
from depslice.callgraph.targets import find_spelled
from depslice.cli.failures import OutputError
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
    with cache, _on_disk(repository.path) as path:
        program = open_program(
            path,
            cache=cache,
            include=repository.include,
            exclude=repository.exclude,
            respect_gitignore=repository.respect_gitignore,
            python=repository.python,
        )
        program.workers = repository.workers
        notes.left_out(program.project.left_out)
        if notes.result_path is not None:
            refuse_sources(program, notes.result_path)
        yield program
        notes.diagnostics(program.diagnostics)


@contextmanager
def _on_disk(path: str) -> Iterator[str]:
    """``path``; of ``-`` a file with what standard input has, as long as the context lasts."""
    if path != "-":
        yield path
        return
    if sys.stdin is None:
        raise RepositoryError("standard input is closed", hint="give a file")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="depslice-") as folder:
        file = os.path.join(folder, "stdin.py")
        with open(file, "wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        yield file


def refuse_sources(program: Program, *paths: str, folder: str = "") -> None:
    """See that no file of the analysed code is among ``paths``, where something is to be written.

    ``folder`` is what holds them all, if they are the files of a tree.

    :raises OutputError: one is; what is analysed is never replaced.
    """
    root = os.path.realpath(program.project.root)

    def inside(path: str) -> str:
        return os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/")

    for path in paths:
        if inside(path) in program.by_path:
            earlier = inside(folder) + "/" if folder else inside(path)
            excluding = f", or, if it is an earlier result, --exclude '/{earlier}'"
            raise OutputError(
                f"{path} is a file of the analysed code, which is never replaced",
                hint="write elsewhere" + ("" if earlier == "./" else excluding),
            )


def find_targets(program: Program, targets: Sequence[str]) -> list[str]:
    """The ids of what the user calls ``targets``, each once.

    :raises UnknownTarget: one names nothing, or several things.
    """
    return find_spelled_targets(program, targets)[0]


def find_spelled_targets(
    program: Program, targets: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """As :func:`find_targets`, and the re-exports by which the user calls them.

    :raises UnknownTarget: one names nothing, or several things.
    """
    found = [find_spelled(program, target) for target in targets]
    names = dict.fromkeys(name for each in found for name in each.names)
    return list(dict.fromkeys(each.symbol.id for each in found)), tuple(names)


def chosen_tokenizer(name: str | None, notes: Notes) -> str:
    """The tokenizer that was asked for, or the best one that is installed."""
    from depslice.slicer.tokens import ESTIMATE, best_tokenizer

    if name is not None:
        return name
    best = best_tokenizer()
    if best == ESTIMATE:
        notes.say(f"tokens are {ESTIMATE}: pip install 'depslice[tokens]' counts them")
    return best

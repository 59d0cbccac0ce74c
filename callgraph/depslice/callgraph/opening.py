"""The way in: a path becomes a :class:`~depslice.callgraph.program.Program`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from depslice.callgraph.arguments import (
    as_texts,
    check_flag,
    check_number,
    check_path,
    check_texts,
)
from depslice.callgraph.errors import OptionError
from depslice.callgraph.program import Program
from depslice.callgraph.project import find_project
from depslice.callgraph.summary import FORMAT

if TYPE_CHECKING:
    from depslice.callgraph.cache import Cache
    from depslice.callgraph.stubs import Stubs
    from depslice.callgraph.workspace import Workspace


def open_program(
    path: Path | str,
    *,
    cache: Cache | Literal["auto"] | None = "auto",
    include: Iterable[str | PurePath] | None = (),
    exclude: Iterable[str | PurePath] | None = (),
    respect_gitignore: bool = True,
    max_file_bytes: int = 10 * 2**20,
    python: Path | str | None = None,
) -> Program:
    """The program at ``path``: a repository, an unpacked package, or a single script.

    Only names files; each is read when something asks for it. ``cache="auto"`` is the
    user's own cache, ``None`` is none. ``python`` is the interpreter (or the folder of the
    environment) whose installed packages tell types, too; it is never run. Without it what
    is known of other packages are the stubs that jedi ships, the same on every machine.

    :raises EnvironmentNotFound: ``python`` has no installed packages.
    :raises RepositoryError: there is nothing to analyse at ``path``.
    :raises OptionError: what is passed is of another type.
    """
    included, excluded = as_texts(include), as_texts(exclude)
    _check(path, cache, included, excluded, respect_gitignore, python)
    max_file_bytes = check_number("max_file_bytes", max_file_bytes, least=1, optional=False)
    project = find_project(
        path,
        include=included,
        exclude=excluded,
        respect_gitignore=respect_gitignore,
        max_file_bytes=max_file_bytes,
    )
    return Program(project, cache=_cache(cache), stubs=_stubs(python))


def open_workspace(
    path: Path | str,
    *,
    cache: Cache | Literal["auto"] | None = "auto",
    include: Iterable[str | PurePath] | None = (),
    exclude: Iterable[str | PurePath] | None = (),
    respect_gitignore: bool = True,
    python: Path | str | None = None,
) -> Workspace:
    """As :func:`open_program`, of a repository that changes between questions.

    :raises EnvironmentNotFound: ``python`` has no installed packages.
    :raises RepositoryError: there is nothing to analyse at ``path``.
    :raises OptionError: what is passed is of another type.
    """
    from depslice.callgraph.workspace import Workspace

    included, excluded = as_texts(include), as_texts(exclude)
    _check(path, cache, included, excluded, respect_gitignore, python)

    return Workspace(
        path,
        cache=_cache(cache),
        include=included,
        exclude=excluded,
        respect_gitignore=respect_gitignore,
        stubs=_stubs(python),
    )


def _check(
    path: object,
    cache: object,
    include: object,
    exclude: object,
    respect_gitignore: object,
    python: object,
) -> None:
    check_path("path", path)
    if cache is not None and cache != "auto" and not hasattr(cache, "put_many"):
        raise OptionError(f"cache must be 'auto', None, or a cache: {cache!r:.60}")
    patterns = "a list of gitignore patterns, such as ['vendor/']"
    check_texts("include", include, patterns)
    check_texts("exclude", exclude, patterns)
    check_flag("respect_gitignore", respect_gitignore)
    if python is not None:
        check_path("python", python)


def _cache(cache: Cache | Literal["auto"] | None) -> Cache | None:
    if cache != "auto":
        return cache
    from depslice.callgraph.cache import open_cache

    return open_cache(version=f"summaries-{FORMAT}")


def _stubs(python: Path | str | None) -> Stubs | None:
    if python is None:
        return None
    from depslice.callgraph.stubs import Stubs, bundled_folders, environment_folders

    return Stubs((*environment_folders(python), *bundled_folders()))

"""A repository that is asked about again and again while its files change.

Each question gets a :class:`~depslice.callgraph.program.Program` of its own, so that no
answer can hold anything of another; what they share are the modules of files that are
as they were. A file is as it was while the file system says so (size, times, inode), or
else while its bytes are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from depslice.callgraph.arguments import check_program
from depslice.callgraph.errors import WorkspaceClosed
from depslice.callgraph.program import Module, Program
from depslice.callgraph.project import FileState, Project, file_state, find_project, read_file
from depslice.callgraph.source import content_digest
from depslice.callgraph.stubs import Stubs

if TYPE_CHECKING:
    from depslice.callgraph.cache import Cache

# Two writes within one tick of the file system's clock leave the same time: how recent a
# file must be for its state to prove nothing. FAT has the coarsest clock, of two seconds.
_TICK_NS: Final = 2 * 10**9


class _Known(NamedTuple):
    module: Module | None  # None: it cannot be analysed
    digest: str
    state: FileState
    seen_ns: int  # when, by the clock of this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a repository: paths relative to its root, sorted."""

    changed: tuple[str, ...] = ()  # same path, other bytes
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)


class Workspace:
    """The repository at ``path``; :func:`~depslice.callgraph.opening.open_workspace` makes one.

    Not for several threads at once.

    :raises RepositoryError: there is nothing to analyse at ``path``.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        cache: Cache | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        respect_gitignore: bool = True,
        stubs: Stubs | None = None,
    ) -> None:
        self._cache = cache
        self._is_closed = False
        # What is installed is not looked at again: it is no part of the repository.
        self._stubs = Stubs() if stubs is None else stubs
        self._find: Callable[[], Project] = lambda: find_project(
            path, include=include, exclude=exclude, respect_gitignore=respect_gitignore
        )
        self._known: dict[str, _Known] = {}  # by module
        self._seen_ns = time.time_ns()
        self._project, self._states = self._found()
        self._by_path = {file.path: file for file in self._project.files}
        self.revision = 1
        """Grows by one with each change that :meth:`refresh` has found."""

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else f"revision {self.revision}"
        return f"<Workspace {self.root}: {len(self._project.files)} files, {state}>"

    @property
    def root(self) -> Path:
        """The absolute path that all paths are relative to."""
        return self._project.root

    def refresh(self) -> Change:
        """Look at the files again; what has changed since the last time.

        Bytes are compared of files that were analysed before; of others, states.

        :raises RepositoryError: nothing is left to analyse.
        :raises WorkspaceClosed: as all that is asked after :meth:`close`.
        """
        self._refuse_closed()
        before, states = self._project, self._states
        seen_ns = time.time_ns()
        now = _observed(before)
        if now == states and not self._may_hide_an_entry():
            self._states, self._seen_ns = now, seen_ns
        else:
            self._project, self._states = self._found()
            self._seen_ns = seen_ns
        old = {file.path: file.module for file in before.files}
        new = {file.path: file.module for file in self._project.files}
        self._by_path = {file.path: file for file in self._project.files}
        # A file with another module name is another module.
        gone = {path for path, name in old.items() if new.get(path) != name}
        come = {path for path, name in new.items() if old.get(path) != name}
        for path in gone:
            self._known.pop(old[path], None)
        changed = [
            path
            for path, name in new.items()
            if path not in come and not self._is_as_it_was(path, name, states.get(path))
        ]
        for path in changed:
            self._known.pop(new[path], None)
        change = Change(
            changed=tuple(sorted(changed)), added=tuple(sorted(come)), removed=tuple(sorted(gone))
        )
        self.revision += bool(change)
        return change

    def program(self) -> Program:
        """A new program of the files as :meth:`refresh` has seen them."""
        self._refuse_closed()
        known = {name: each.module for name, each in self._known.items() if each.module}
        return Program(self._project, cache=self._cache, stubs=self._stubs, known=known)

    def settle(self, program: Program) -> tuple[str, ...]:
        """Whether what ``program`` has read is what the files still hold.

        Returns the paths of those that do not, sorted. When there are none, the
        modules it has loaded are kept for the programs to come.
        """
        self._refuse_closed()
        check_program(program)
        moved: list[str] = []
        read: dict[str, _Known] = {}
        for name, digest in program.digests.items():
            file = program.files[name]
            state = self._states.get(file.path)
            same = state is not None and file_state(self._project, file.path) == state
            if same and state is not None and _is_recent(state, self._seen_ns):
                same = (program.digest_now(name) or "") == digest
            if not same:
                moved.append(file.path)
                continue
            if state is not None and name not in self._known:
                read[name] = _Known(program.module(name), digest, state, self._seen_ns)
        if not moved:
            self._known.update(read)
            self._stubs.save()
        return tuple(sorted(moved))

    def close(self) -> None:
        """Write what the cache still holds back, and answer no more."""
        self._is_closed = True
        if self._cache is not None:
            self._cache.close()

    def _refuse_closed(self) -> None:
        if self._is_closed:
            raise WorkspaceClosed

    def _found(self) -> tuple[Project, dict[str, FileState | None]]:
        """The project, and the states of all that decides what it is.

        What changes between the two is recent, so that it is looked for again.
        """
        project = self._find()
        return project, _observed(project)

    def _may_hide_an_entry(self) -> bool:
        """Whether a directory could have changed since without having another state."""
        found = (self._states.get(path) for path in self._project.decisive)
        return any(state is not None and _is_recent(state, self._seen_ns) for state in found)

    def _is_as_it_was(self, path: str, name: str, before: FileState | None) -> bool:
        state = self._states.get(path)
        known = self._known.get(name)
        if known is None:  # never read: no answer can have been made from it
            return state is not None and state == before
        if state == known.state and not _is_recent(known.state, known.seen_ns):
            return True
        try:
            digest = content_digest(read_file(self._project, self._by_path[path]))
        except OSError:
            digest = ""
        if state is None or digest != known.digest:
            return False
        self._known[name] = known._replace(state=state, seen_ns=self._seen_ns)
        return True


def _observed(project: Project) -> dict[str, FileState | None]:
    paths = [*project.decisive, *(file.path for file in project.files)]
    return {path: file_state(project, path) for path in paths}


def _is_recent(state: FileState, seen_ns: int) -> bool:
    return max(state.mtime_ns, state.ctime_ns) + _TICK_NS > seen_ns


__all__ = ["Change", "Workspace"]

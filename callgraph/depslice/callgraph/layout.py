"""Which directories are on ``sys.path``: the source roots of a repository.

Nothing here touches the file system; :mod:`depslice.callgraph.project` hands
in what it saw. The import system is implemented as far as it can be without
running anything (language reference, section 5 "The import system", and
PEP 420 for namespace packages).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_ROOT = "."
_SOURCE_ROOT_NAMES = frozenset({"src", "lib", "Lib", "python", "py", "source", "sources"})
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[A-Za-z_][\w.]*|\.+)[ \t]+import\b"
    rb"|import[ \t]+([A-Za-z_][\w.]*))",
    re.MULTILINE,
)
# Bounds on the files read for evidence: enough to tell, few enough not to feel.
_FILES_PER_CANDIDATE = 16
_FILES_OVERALL = 48
_CANDIDATES_WITH_EVIDENCE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """A directory that was walked.

    ``path`` is relative with ``/`` (``"."`` for the root); ``modules`` are the
    file names of its ``.py`` files without the suffix, ``children`` the names
    of its walked subdirectories. ``is_distribution`` says that packaging
    metadata (``pyproject.toml``, ``setup.py``, ``setup.cfg``) stands in it.
    """

    path: str
    is_package: bool
    modules: tuple[str, ...]
    children: tuple[str, ...]
    is_distribution: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a directory's modules are imported from: ``prefix`` below ``source_root``.

    ``package`` is the outermost regular package the directory belongs to, if any.
    """

    source_root: str
    prefix: tuple[str, ...]
    package: str | None


def place_directories(
    directories: Mapping[str, Directory],
    *,
    declared: frozenset[str],
    imports_of: Callable[[str], frozenset[str]],
) -> dict[str, Place]:
    """Give every directory its source root and dotted prefix.

    ``src/google/cloud/x`` gives ``source_root="src"`` and ``prefix=("google",
    "cloud", "x")``. ``declared`` are the source roots that packaging metadata
    names: they are taken as they are. A directory inside a regular package is
    never a source root. Any other directory is one when the absolute imports in
    the files at hand say so: ``backend`` when files below it import ``app`` and
    ``backend/app.py`` exists, unless more files import ``backend.app``. Where
    they say nothing, directories named like ``src`` and those with packaging
    metadata are source roots, and others are parts of a namespace.

    ``imports_of`` is called with file paths, few of them, and gives the dotted
    names that file imports (:func:`imported_names`).
    """
    return _Placement(directories, declared, imports_of).run()


def imported_names(data: bytes) -> frozenset[str]:
    """The dotted modules that ``data`` seems to import: ``{"os.path", "app.models", ".near"}``.

    A look at line beginnings, not a parse: good enough to count, no more.
    """
    return frozenset((first or second).decode("ascii") for first, second in _IMPORT.findall(data))


def is_stray_package(
    directories: Mapping[str, Directory],
    name: Sequence[str],
    imports_of: Callable[[str], frozenset[str]],
) -> bool:
    """Whether the root has an ``__init__.py`` but is a source root: its files import so.

    ``main.py`` says ``import helpers``, which stands beside it, and no file imports what is there
    relatively, or by ``name``, what the root is called as a package, part by part.
    """
    placement = _Placement(directories, frozenset(), imports_of)
    own = placement.provided(_ROOT) - sys.stdlib_module_names - {name[-1]}
    as_root = False
    inits = [_join(path, "__init__.py") for path, each in directories.items() if each.is_package]
    files = ["__init__.py", *_spread([*inits, *placement.files()], _FILES_OVERALL)]
    for file in files if own else ():
        to_root = "." * (file.count("/") + 1)
        for imported in imports_of(file):
            if imported.partition(".")[0] == name[0] or imported.startswith(to_root):
                return False
            top = imported.partition(".")[0]
            as_root = as_root or (top in own and not file.endswith(f"{top}.py"))  # `requests.py`
    return as_root


class _Placement:
    def __init__(
        self,
        directories: Mapping[str, Directory],
        declared: frozenset[str],
        imports_of: Callable[[str], frozenset[str]],
    ) -> None:
        # A parent's path sorts before its children's; only "." has to be put first.
        ordered = sorted(directories, key=lambda path: (path != _ROOT, path))
        self._directories = {path: directories[path] for path in ordered}
        self._declared = declared
        self._imports_of = imports_of
        self._with_python = _with_python_below(self._directories)

    def run(self) -> dict[str, Place]:
        loose = self._outside_packages()
        candidates = [
            path
            for path in self._directories  # in their order: a set has another in each process
            if path in loose and path != _ROOT and path not in self._declared
            if self._is_candidate(path)
        ]
        votes = self._votes(candidates[:_CANDIDATES_WITH_EVIDENCE]) if candidates else {}
        roots = {_ROOT} | (self._declared & loose)
        places: dict[str, Place] = {}
        for path, directory in self._directories.items():
            if path == _ROOT:
                places[path] = Place(source_root=_ROOT, prefix=(), package=None)
                continue
            parent, name = _parent_and_name(path)
            above = places[parent]
            if path in candidates and self._is_source_root(path, above, votes.get(path, 0)):
                roots.add(path)
            if path in roots:
                places[path] = Place(source_root=path, prefix=(), package=None)
                continue
            package = above.package or (path if directory.is_package else None)
            places[path] = Place(
                source_root=above.source_root, prefix=(*above.prefix, name), package=package
            )
        return places

    def _outside_packages(self) -> frozenset[str]:
        loose: set[str] = set()
        for path, directory in self._directories.items():
            if directory.is_package and path != _ROOT:
                continue
            if path == _ROOT or _parent_and_name(path)[0] in loose:
                loose.add(path)
        return frozenset(loose)

    def _is_candidate(self, path: str) -> bool:
        if path not in self._with_python:
            return False
        return self._prior(path) or bool(self.provided(path))

    def _prior(self, path: str) -> bool:
        name = _parent_and_name(path)[1]
        return self._directories[path].is_distribution or name in _SOURCE_ROOT_NAMES

    def _is_source_root(self, path: str, above: Place, vote: int) -> bool:
        if vote != 0:
            return vote > 0
        if self._directories[path].is_distribution:
            return True
        # `src/lib` is a package of `src`, not a second source root.
        below_layout_root = (
            above.source_root != _ROOT and not self._directories[above.source_root].is_distribution
        )
        return self._prior(path) and not below_layout_root

    def provided(self, path: str) -> frozenset[str]:
        """The names that ``import`` would find if ``path`` were on ``sys.path``."""
        directory = self._directories[path]
        packages = (
            child
            for child in directory.children
            if (below := self._directories.get(_join(path, child))) is not None and below.is_package
        )
        return frozenset(directory.modules).union(packages)

    def _votes(self, candidates: Sequence[str]) -> dict[str, int]:
        """For each candidate: files that import from it, less those that import it by path."""
        files = self.files()
        overall = _spread(files, _FILES_OVERALL)
        certain = {path for path in candidates if self._prior(path)} | {_ROOT} | self._declared
        provided = {
            path: self.provided(path)
            for path in certain.union(candidates)
            if path in self._directories
        }
        votes: dict[str, int] = {}
        for candidate in candidates:
            taken = frozenset[str]().union(
                *(provided.get(path, frozenset()) for path in certain if path != candidate)
            )
            own = provided[candidate] - taken - sys.stdlib_module_names
            below = _spread(
                [file for file in files if file.startswith(candidate + "/")],
                _FILES_PER_CANDIDATE,
            )
            dotted = self._dotted(candidate)
            as_root = sum(
                any(name.partition(".")[0] in own for name in self._imports_of(file))
                for file in below
            )
            as_namespace = sum(
                any(name == dotted or name.startswith(dotted + ".") for name in imports)
                for imports in map(self._imports_of, dict.fromkeys([*overall, *below]))
            )
            votes[candidate] = as_root - as_namespace
        return votes

    def _dotted(self, path: str) -> str:
        """The name of ``path`` as a namespace package: from the nearest declared root."""
        above = path
        while above != _ROOT:
            above = _parent_and_name(above)[0]
            # A prior source root counts as one here; the other reading is rare.
            if above in self._declared or (above != _ROOT and self._prior(above)):
                return path[len(above) + 1 :].replace("/", ".")
        return path.replace("/", ".")

    def files(self) -> list[str]:
        """All files but those of packages themselves."""
        return [
            _join(path, module + ".py")
            for path, directory in self._directories.items()
            for module in sorted(directory.modules)
        ]


def _with_python_below(directories: dict[str, Directory]) -> frozenset[str]:
    found: set[str] = set()
    for path in reversed(directories):
        if path in found or directories[path].modules or directories[path].is_package:
            found.add(path)
            if path != _ROOT:
                found.add(_parent_and_name(path)[0])
    return frozenset(found)


def _spread(files: Sequence[str], limit: int) -> Sequence[str]:
    """At most ``limit`` of ``files``, evenly spread, always the same ones."""
    if len(files) <= limit:
        return files
    return [files[index * len(files) // limit] for index in range(limit)]


def _join(directory: str, name: str) -> str:
    return name if directory == _ROOT else f"{directory}/{name}"


def _parent_and_name(path: str) -> tuple[str, str]:
    parent, _, name = path.rpartition("/")
    return parent or _ROOT, name

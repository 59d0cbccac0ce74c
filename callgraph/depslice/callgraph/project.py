"""The files of a repository: which there are, what they are called, what is left out.

The only module that reads the source tree; everything above works on its values.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from depslice.callgraph.errors import RepositoryError
from depslice.callgraph.layout import (
    Directory,
    Place,
    imported_names,
    is_stray_package,
    place_directories,
)
from depslice.callgraph.model import Diagnostic, Severity

if TYPE_CHECKING:
    from depslice.callgraph.ignore import IgnoreRules

_VENDORED: Final = frozenset(
    {
        "vendor",
        "_vendor",
        "vendored",
        "_vendored",
        "third_party",
        "thirdparty",
        "node_modules",
        "bower_components",
        "site-packages",
    }
)
_BUILD: Final = frozenset({"build", "dist", "_build"})
_BUILD_SUFFIXES: Final = (".egg-info", ".dist-info", ".egg")
# They hold no source by definition: naming each would only be noise.
_UNMENTIONED: Final = frozenset({"__pycache__", ".git", ".hg", ".svn"})
_DISTRIBUTION_FILES: Final = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_SETTINGS: Final = frozenset({".gitignore", "pyproject.toml", "setup.cfg", "setup.py"})
_REPOSITORY_MARKS: Final = (*sorted(_DISTRIBUTION_FILES), ".git", ".hg")
_EVIDENCE_BYTES: Final = 16384
_FIRST_LINE: Final = 512
_INTERPRETER: Final = re.compile(rb"(?:\xef\xbb\xbf)?#![^\n]*\b(?:python|pypy)[\d.]*(?=\s|$)")
INCLUDABLE: Final = frozenset({"gitignored", "vendored", "virtualenv", "hidden", "build"})
"""Reasons for which something is left out unless ``include`` names it."""
_CONVERTED: Final = "`jupyter nbconvert --to script` makes Python files of notebooks"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A Python file to analyse.

    ``path`` is relative to the project root, with ``/``. ``module`` is its
    dotted name and unique in the project; parts of it need not be identifiers
    (``my-scripts.build``). ``source_root`` is the directory, relative to the
    root, that is on ``sys.path`` for it: ``"."``, ``"src"``, or ``".."`` when the
    root itself is a package. ``is_package`` says it is an ``__init__.py``.

    Where files of several source roots have one name, all but one are called by their path;
    ``own_name`` and ``own_root`` are what they are called by, and below which directory, by those
    that stand below it, too.
    """

    path: str
    module: str
    is_package: bool
    source_root: str
    size: int
    mtime_ns: int
    own_name: str = ""
    own_root: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file or a whole directory that is not analysed, and why.

    ``reason`` is a stable slug: ``gitignored``, ``vendored``, ``virtualenv``,
    ``hidden``, ``build``, ``excluded``, ``notebook``, ``too-large``, ``shadowed``
    (``a.py`` beside the package ``a``), ``not-a-file``, ``unnameable`` (a ``:`` or
    bytes that are no text in its name), ``unreadable``, ``symlink`` (a directory
    link; what it points to is analysed in its own place), ``symlink-loop``,
    ``symlink-outside``, ``symlink-broken``.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What there is to analyse. ``files`` and ``left_out`` are sorted by path.

    ``decisive`` are the other paths that decide what ``files`` are: the directories that
    were walked, and the settings in them (``.gitignore``, ``pyproject.toml``...).
    """

    root: Path
    files: tuple[SourceFile, ...]
    left_out: tuple[LeftOut, ...]
    diagnostics: tuple[Diagnostic, ...]
    decisive: tuple[str, ...] = ()


class FileState(NamedTuple):
    """What the file system tells of a path: while that is the same, so most likely is the rest.

    Times are nanoseconds since the epoch. ``ctime_ns`` and ``inode`` catch what keeps
    size and ``mtime_ns``: ``cp -p``, ``touch -r``, a file moved over another.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def find_project(
    root: Path | str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    respect_gitignore: bool = True,
    max_file_bytes: int = 10 * 2**20,
) -> Project:
    """Find the Python files of ``root`` and their module names.

    ``root`` is a repository, an unpacked package (a directory with
    ``__init__.py`` and no packaging metadata: its modules carry its name, unless
    they import one another as if it were none), or a
    single ``.py`` file or script, which is then the whole project. Notebooks, hidden,
    vendored, built and gitignored paths and virtual environments are left out
    and listed; ``include`` (gitignore patterns, relative to the root) brings
    them back, and scripts in whose names do not end in ``.py`` (``#!`` and Python
    on the first line); ``exclude`` takes others out and wins over ``include``.
    Directory links are not followed, file links only within ``root``.

    Module names are those of the import system; which directories are source
    roots is decided by :func:`~depslice.callgraph.layout.place_directories`.
    Diagnostics: ``file-too-large``, ``shadowed-module``, ``duplicate-module``,
    ``unreadable-directory``, ``unreadable-file`` (what of the last is noticed here).

    :raises RepositoryError: ``root`` is missing, unreadable, neither a directory
        nor a ``.py`` file, or holds nothing to analyse.
    """
    top = Path(os.path.abspath(root))
    try:
        mode = os.stat(top).st_mode
    except FileNotFoundError:
        raise RepositoryError(f"no such file or directory: {root}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise RepositoryError(f"cannot read {root}: {_reason(error)}") from None
    if not S_ISDIR(mode):
        return _single_file(top, str(root), max_file_bytes)
    walk = _Walk(
        str(top),
        include=_patterns(include),
        exclude=_patterns(exclude),
        respect_gitignore=respect_gitignore,
        max_file_bytes=max_file_bytes,
    )
    walk.run()
    files = _name_modules(top, walk)
    if not files:
        _raise_nothing_found(str(root), walk)
    return Project(
        root=top,
        files=files,
        left_out=tuple(sorted(walk.left_out, key=lambda left: (left.path, left.reason))),
        diagnostics=tuple(sorted(walk.diagnostics, key=lambda found: (found.path, found.slug))),
        decisive=(*walk.directories, *walk.settings),
    )


def script_at(project: Project, path: str) -> bool:
    """Whether ``path`` is a Python script by its first line, which its name does not tell.

    ``include`` brings it in. Which there are is not looked for: all files would have to be read.
    """
    absolute = os.path.join(project.root, path)
    return not path.endswith(".py") and os.path.isfile(absolute) and _is_script(absolute)


def left_out_for(project: Project, name: str) -> LeftOut | None:
    """What is left out where the module ``name``, or a package that it is in, would be."""
    wanted: set[str] = set()
    for root in {file.source_root for file in project.files}:
        parts = name.split(".")
        path = "" if root in (".", "..") else f"{root}/"
        if root == ".." and parts.pop(0) != project.root.name:
            continue
        for part in parts:
            wanted.add(path + part)
            path += f"{part}/"
    found = (left for left in project.left_out if left.path.removesuffix(".py") in wanted)
    return next(found, None)


def file_state(project: Project, path: str) -> FileState | None:
    """The state of ``path`` (relative to the root) now; ``None``: there is no such path."""
    try:
        status = os.stat(os.path.join(project.root, path))
    except (OSError, ValueError):
        return None
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def read_file(project: Project, file: SourceFile) -> bytes:
    """The bytes of ``file`` as they are now.

    :raises OSError: the file is gone or unreadable.
    """
    with open(os.path.join(project.root, file.path), "rb") as stream:
        return stream.read()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A Python file of the walk, before it has a module name."""

    name: str
    size: int
    mtime_ns: int


class _Walk:
    """One pass over the tree. Iterative, so that no depth is too deep.

    :meth:`run` fills ``directories`` and ``files`` (by directory, ``"."`` for the
    root), ``settings``, ``left_out`` and ``diagnostics``.
    """

    def __init__(
        self,
        root: str,
        *,
        include: IgnoreRules | None,
        exclude: IgnoreRules | None,
        respect_gitignore: bool,
        max_file_bytes: int,
    ) -> None:
        self._root = root
        self._real_root = os.path.realpath(root)
        self._include = include
        self._exclude = exclude
        self._respect_gitignore = respect_gitignore
        self._max_file_bytes = max_file_bytes
        self.directories: dict[str, Directory] = {}
        self.files: dict[str, list[_Seen]] = {}
        self.settings: list[str] = [".git/info/exclude"]
        self.left_out: list[LeftOut] = []
        self.diagnostics: list[Diagnostic] = []

    def run(self) -> None:
        rules = None
        if self._respect_gitignore:
            lines = self._lines(".git/info/exclude")
            rules = _ignore_rules(lines) if lines else None
        # Each entry: path, gitignore rules, lies in a regular package, reason for
        # which only what `include` names is taken.
        pending: list[tuple[str, IgnoreRules | None, bool, str]] = [(".", rules, False, "")]
        while pending:
            path, rules, in_package, only_included = pending.pop()
            entries = self._entries(path)
            if entries is None:
                continue
            names = {entry.name for entry in entries}
            if path != "." and "pyvenv.cfg" in names and not only_included:
                self._leave_out(path, "virtualenv")
                if self._include is None:
                    continue
                only_included = "virtualenv"
            if self._respect_gitignore and ".gitignore" in names:
                rules = self._extended(rules, path)
            self.settings.extend(_join(path, name) for name in sorted(names & _SETTINGS))
            is_package = "__init__.py" in names
            in_package = in_package or (is_package and path != ".")
            seen: list[_Seen] = []
            children: list[str] = []
            for entry in entries:
                name = entry.name
                is_source = name.endswith((".py", ".ipynb")) or self._is_wanted_script(entry, path)
                if is_source and not _is_directory(entry):
                    found = self._file(entry, path, rules, only_included)
                    if found is not None:
                        seen.append(found)
                elif _is_directory(entry):
                    below = _join(path, name)
                    reason = self._directory_reason(entry, below, rules, in_package)
                    if reason is None:
                        continue
                    reason = only_included or reason
                    if reason:
                        if not only_included:
                            self._leave_out(below, reason)
                        if self._include is None:
                            continue
                    pending.append((below, rules, in_package, reason))
                    children.append(name)
            self.files[path] = seen
            self.directories[path] = Directory(
                path=path,
                is_package=any(file.name == "__init__.py" for file in seen),
                modules=tuple(
                    file.name[:-3]
                    for file in seen
                    if file.name.endswith(".py") and file.name != "__init__.py"
                ),
                children=tuple(children),
                is_distribution=not _DISTRIBUTION_FILES.isdisjoint(names),
            )

    def _is_wanted_script(self, entry: os.DirEntry[str], directory: str) -> bool:
        """Whether ``include`` names it, and its first line asks for Python."""
        path = _join(directory, entry.name)
        wanted = self._include is not None and self._include.matches_below(path)
        return wanted and _is_script(self._absolute(path))

    def _entries(self, path: str) -> list[os.DirEntry[str]] | None:
        try:
            with os.scandir(self._absolute(path)) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            if path == ".":
                raise RepositoryError(f"cannot read {self._root}: {_reason(error)}") from None
            message = f"cannot read the directory: {_reason(error)}"
            self._leave_out(path, "unreadable")
            self._diagnose("unreadable-directory", Severity.ERROR, message, path)
            return None

    def _directory_reason(
        self, entry: os.DirEntry[str], path: str, rules: IgnoreRules | None, in_package: bool
    ) -> str | None:
        """Why a directory is left out; ``""``: it is not; ``None``: not worth a word."""
        name = entry.name
        if name in _UNMENTIONED:
            return None
        if not _is_nameable(name):
            self._leave_out(path, "unnameable")
            return None
        if entry.is_symlink():
            self._leave_out(path, self._link_reason(path) or "symlink")
            return None
        if self._exclude is not None and self._exclude.ignores(path + "/"):
            self._leave_out(path, "excluded")
            return None
        if self._include is not None and self._include.matches_below(path + "/"):
            return ""
        if name.startswith("."):
            return "hidden"
        if name in _VENDORED:
            return "vendored"
        if name.endswith(_BUILD_SUFFIXES):
            return "build"
        if name in _BUILD and not in_package and not self._has_init(path):
            # A package may well be called `build`; PyPA's is.
            return "build"
        if rules is not None and rules.ignores(path + "/"):
            return "gitignored"
        return ""

    def _file(
        self, entry: os.DirEntry[str], directory: str, rules: IgnoreRules | None, only_included: str
    ) -> _Seen | None:
        name = entry.name
        path = _join(directory, name)
        reason = self._file_reason(entry, path, rules, only_included)
        if reason is not None:
            if reason:
                self._leave_out(path, reason)
            return None
        try:
            status = entry.stat()
        except OSError as error:
            self._leave_out(path, "unreadable")
            self._diagnose("unreadable-file", Severity.ERROR, _reason(error), path)
            return None
        if not S_ISREG(status.st_mode):
            self._leave_out(path, "not-a-file")
            return None
        if status.st_size > self._max_file_bytes:
            self._leave_out(path, "too-large")
            message = f"{status.st_size} bytes, more than the limit of {self._max_file_bytes}"
            self._diagnose("file-too-large", Severity.WARNING, message, path)
            return None
        return _Seen(name=name, size=status.st_size, mtime_ns=status.st_mtime_ns)

    def _file_reason(
        self, entry: os.DirEntry[str], path: str, rules: IgnoreRules | None, only_included: str
    ) -> str | None:
        """Why a file is left out; ``""``: its directory already is; ``None``: it is not."""
        name = entry.name
        if name.endswith(".ipynb"):
            return "" if only_included else "notebook"
        if not _is_nameable(name):
            return "unnameable"
        if self._exclude is not None and self._exclude.ignores(path):
            return "excluded"
        if self._include is None or not self._include.matches_below(path):
            if only_included:
                return ""
            if name.startswith("."):
                return "hidden"
            if rules is not None and rules.ignores(path):
                return "gitignored"
        if entry.is_symlink():
            return self._link_reason(path)
        return None

    def _link_reason(self, path: str) -> str | None:
        link = self._absolute(path)
        try:
            target = os.path.realpath(link, strict=True)
        except OSError as error:
            return "symlink-loop" if error.errno == errno.ELOOP else "symlink-broken"
        if _lies_in(target, self._real_root):
            # A directory link to one of its own ancestors.
            if _lies_in(os.path.join(os.path.realpath(os.path.dirname(link)), ""), target):
                return "symlink-loop"
            return None
        return "symlink-outside"

    def _extended(self, rules: IgnoreRules | None, path: str) -> IgnoreRules | None:
        lines = self._lines(_join(path, ".gitignore"))
        if not lines:
            return rules
        base = "" if path == "." else path
        return rules.extended(lines, base=base) if rules else _ignore_rules(lines, base=base)

    def _lines(self, path: str) -> list[str]:
        try:
            with open(self._absolute(path), encoding="utf-8", errors="replace") as stream:
                lines = stream.read().splitlines()
        except OSError:
            return []
        return [line for line in lines if line.strip() and not line.startswith("#")]

    def _has_init(self, path: str) -> bool:
        return os.path.exists(os.path.join(self._absolute(path), "__init__.py"))

    def _absolute(self, path: str) -> str:
        return self._root if path == "." else f"{self._root}/{path}"

    def _leave_out(self, path: str, reason: str) -> None:
        self.left_out.append(LeftOut(path=_printable(path), reason=reason))

    def _diagnose(self, slug: str, severity: Severity, message: str, path: str) -> None:
        self.diagnostics.append(
            Diagnostic(slug=slug, severity=severity, message=message, path=_printable(path))
        )


def _name_modules(top: Path, walk: _Walk) -> tuple[SourceFile, ...]:
    places = _places(top, walk)
    named: list[tuple[SourceFile, str | None]] = []  # with the outermost package
    for directory, seen in walk.files.items():
        place = places[directory]
        packages = set(walk.directories[directory].children)
        for file in seen:
            path = _join(directory, file.name)
            stem = file.name.removesuffix(".py")
            if stem in packages and walk.directories[_join(directory, stem)].is_package:
                walk.left_out.append(LeftOut(path=path, reason="shadowed"))
                message = f"cannot be imported: the package {stem}/ beside it comes first"
                walk.diagnostics.append(
                    Diagnostic(
                        slug="shadowed-module",
                        severity=Severity.WARNING,
                        message=message,
                        path=path,
                    )
                )
                continue
            is_package = stem == "__init__" and bool(place.prefix)
            parts = place.prefix if is_package else (*place.prefix, stem)
            source = SourceFile(
                path=path,
                module=".".join(parts),
                is_package=is_package,
                source_root=place.source_root,
                size=file.size,
                mtime_ns=file.mtime_ns,
            )
            # Nothing imports a script, whatever package it lies in.
            named.append((source, place.package if file.name.endswith(".py") else None))
    named.sort(key=lambda entry: entry[0].path)
    return tuple(_without_clashes(named, walk.diagnostics))


def _places(top: Path, walk: _Walk) -> dict[str, Place]:
    evidence: dict[str, frozenset[str]] = {}

    def imports_of(path: str) -> frozenset[str]:
        if path not in evidence:
            evidence[path] = imported_names(_head(top, path))
        return evidence[path]

    package = _package_name(top, walk)
    if package is not None and is_stray_package(walk.directories, package, imports_of):
        package = None
    if package is None:
        declared = frozenset(_declared_roots(top, walk))
        return place_directories(walk.directories, declared=declared, imports_of=imports_of)
    source_root = "/".join([".."] * len(package))
    return {
        path: Place(
            source_root=source_root,
            prefix=package if path == "." else (*package, *path.split("/")),
            package=".",
        )
        for path in walk.directories
    }


def _package_name(top: Path, walk: _Walk) -> tuple[str, ...] | None:
    """The dotted name of the root if it is a package itself, not a repository."""
    if not walk.directories["."].is_package or not top.name.isidentifier():
        return None
    if any(os.path.lexists(top / mark) for mark in _REPOSITORY_MARKS):
        return None
    parts = [top.name]
    above = top.parent
    while above.name.isidentifier() and os.path.isfile(above / "__init__.py"):
        parts.append(above.name)
        above = above.parent
    return tuple(reversed(parts))


def _without_clashes(
    named: Sequence[tuple[SourceFile, str | None]], diagnostics: list[Diagnostic]
) -> Iterator[SourceFile]:
    """Give modules that share a name with another source root's their repository path instead.

    The source root nearest to the repository root keeps the name; a whole
    package changes its name together, so that its relative imports still work.
    """
    order = sorted(
        range(len(named)),
        key=lambda index: (
            not named[index][0].path.endswith(".py"),
            _depth(named[index][0].source_root),
            named[index][0].source_root,
            named[index][0].path,
        ),
    )
    owners: dict[str, SourceFile] = {}
    losers: set[str] = set()  # outermost packages, or single files
    for index in order:
        file, package = named[index]
        owner = owners.setdefault(file.module, file)
        if owner is file:
            continue
        loser = package or file.path
        if loser not in losers:
            losers.add(loser)
            message = (
                f"the module name {file.module} is taken by {owner.path}; "
                f"here it is called by its path"
            )
            diagnostics.append(
                Diagnostic(
                    slug="duplicate-module",
                    severity=Severity.WARNING,
                    message=message,
                    path=file.path,
                )
            )
    if not losers:
        yield from (file for file, _ in named)
        return
    taken = Counter(file.module for file, package in named if (package or file.path) not in losers)
    for file, package in named:
        if (package or file.path) not in losers:
            yield file
            continue
        stem = file.path.removesuffix(".py")
        module = (stem.removesuffix("/__init__") if file.is_package else stem).replace("/", ".")
        unique, count = module, 1
        while taken[unique]:
            count += 1
            unique = f"{module}~{count}"
        taken[unique] += 1
        yield replace(
            file, module=unique, source_root=".", own_name=file.module, own_root=file.source_root
        )


def _single_file(top: Path, given: str, max_file_bytes: int) -> Project:
    status = os.stat(top)
    is_file = S_ISREG(status.st_mode)
    if not is_file or (top.suffix != ".py" and not _is_script(str(top))):
        raise RepositoryError(
            f"not a directory or a Python file: {given}",
            hint="give a repository, a package folder, a file that ends in .py, or a script"
            " whose first line is #!/usr/bin/env python3 or the like",
        )
    if status.st_size > max_file_bytes:
        raise RepositoryError(
            f"nothing to analyse: {given} has {status.st_size} bytes, "
            f"more than the limit of {max_file_bytes}"
        )
    if not os.access(top, os.R_OK):
        raise RepositoryError(f"cannot read {given}: permission denied")
    if not _is_nameable(top.name):
        raise RepositoryError(f"a file name that cannot name a module: {_printable(given)}")
    file = SourceFile(
        path=top.name,
        module=top.stem,
        is_package=False,
        source_root=".",
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
    )
    return Project(root=top.parent, files=(file,), left_out=(), diagnostics=())


def _raise_nothing_found(given: str, walk: _Walk) -> NoReturn:
    counts = Counter(left.reason for left in walk.left_out)
    if not counts:
        raise RepositoryError(f"nothing to analyse: no Python files in {given}")
    listed = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))
    hint = _CONVERTED if "notebook" in counts else ""
    if not INCLUDABLE.isdisjoint(counts):
        hint = "bring paths back with --include, or see what .gitignore leaves out"
    raise RepositoryError(
        f"nothing to analyse: no Python files in {given} (left out: {listed})",
        hint=hint,
    )


def _declared_roots(top: Path, walk: _Walk) -> Iterator[str]:
    """The source roots that packaging metadata names; ``setup.py`` is not executed."""
    for path, directory in walk.directories.items():
        if not directory.is_distribution or directory.is_package:
            continue
        base = top if path == "." else top / path
        for declared in (*_from_pyproject(base), *_from_setup_cfg(base)):
            root = os.path.normpath(os.path.join(path, declared)).replace(os.sep, "/")
            if root in walk.directories:
                yield root


def _from_pyproject(base: Path) -> Iterator[str]:
    data = _bytes(base / "pyproject.toml")
    if not re.search(rb"package|source|root|where|path", data):
        return
    import tomllib

    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return
    tool = document.get("tool")
    yield from _package_dir(_at(tool, "setuptools", "package-dir"))
    yield from _strings(_at(tool, "setuptools", "packages", "find", "where"))
    yield from _strings(_at(tool, "pytest", "ini_options", "pythonpath"))
    yield from _strings(_at(tool, "maturin", "python-source"))
    yield from _strings(_at(tool, "pdm", "build", "package-dir"))
    yield from _strings(_at(tool, "uv", "build-backend", "module-root"))
    packages = _at(tool, "poetry", "packages")
    for package in packages if isinstance(packages, list) else ():
        yield from _strings(_at(package, "from"))
    for target in (("build",), ("build", "targets", "wheel")):
        sources = _at(tool, "hatch", *target, "sources")
        yield from (source.rstrip("/") for source in _keys_or_strings(sources))
        for package in _strings(_at(tool, "hatch", *target, "packages")):
            yield os.path.dirname(package.rstrip("/")) or "."


def _from_setup_cfg(base: Path) -> Iterator[str]:
    data = _bytes(base / "setup.cfg")
    if not re.search(rb"package_dir|where", data):
        return
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(data.decode("utf-8", "replace"))
    except configparser.Error:
        return
    table = {}
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        name, equals, directory = line.partition("=")
        if equals:
            table[name.strip()] = directory.strip()
    yield from _package_dir(table)
    where = parser.get("options.packages.find", "where", fallback="").strip()
    if where:
        yield where


def _package_dir(table: object) -> Iterator[str]:
    """``{"": "src"}`` and ``{"pkg": "src/pkg"}`` both name ``src``."""
    for name, directory in table.items() if isinstance(table, dict) else ():
        if not isinstance(name, str) or not isinstance(directory, str):
            continue
        if not name:
            yield directory
        elif directory.rstrip("/").rpartition("/")[2] == name:
            yield os.path.dirname(directory.rstrip("/")) or "."


def _at(value: object, *keys: str) -> object:
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def _keys_or_strings(value: object) -> Iterator[str]:
    yield from _strings(list(value) if isinstance(value, dict) else value)


def _is_script(path: str) -> bool:
    """Whether the first line of the regular file at ``path`` has Python run it."""
    try:
        if not S_ISREG(os.stat(path).st_mode):
            return False  # a pipe would be waited for
        with open(path, "rb") as stream:
            return bool(_INTERPRETER.match(stream.read(_FIRST_LINE)))
    except OSError:
        return False


def _head(top: Path, path: str) -> bytes:
    try:
        with open(os.path.join(top, path), "rb") as stream:
            return stream.read(_EVIDENCE_BYTES)
    except OSError:
        return b""


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _patterns(globs: Sequence[str]) -> IgnoreRules | None:
    return _ignore_rules(globs) if globs else None


def _ignore_rules(lines: Sequence[str], *, base: str = "") -> IgnoreRules:
    from depslice.callgraph.ignore import IgnoreRules

    return IgnoreRules(lines, base=base)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_nameable(name: str) -> bool:
    # A symbol id puts ":" after the module; surrogates cannot be printed.
    return ":" not in name and name.isprintable()


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def _lies_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(os.path.join(directory, ""))


def _join(directory: str, name: str) -> str:
    return name if directory == "." else f"{directory}/{name}"


def _depth(path: str) -> int:
    return 0 if path == "." else path.count("/") + 1


def _reason(error: OSError | ValueError) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return (strerror or str(error)).lower()

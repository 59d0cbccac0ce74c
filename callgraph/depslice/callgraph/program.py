"""A project with its files' summaries, loaded when first asked for.

Linking proper: what an import statement names, which module-scope bindings a
name has, and which symbol a target string means.
"""

from __future__ import annotations

import builtins
import os
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from depslice.callgraph.circular import Circular
from depslice.callgraph.errors import SourceChanged
from depslice.callgraph.model import Diagnostic, Severity, Span, Symbol, SymbolKind
from depslice.callgraph.project import Project, SourceFile, read_file
from depslice.callgraph.source import UndecodableSource, content_digest, decode_source, line_end_of
from depslice.callgraph.stubs.store import Stubs
from depslice.callgraph.summary import (
    BINARY,
    CALL,
    CLASS,
    COMPARE,
    COMPARED,
    CONTAINS,
    DECORATE,
    DECORATED,
    ENTER,
    FORMAT,
    FORMAT_VALUE,
    FUNCTION,
    GLOBAL,
    IMPORT,
    ITER,
    MAPPING,
    OVERLOAD,
    SEQUENCE,
    SETSUB,
    STRING,
    SUB,
    UNARY,
    FileSummary,
    Op,
    Piece,
    dump_summary,
    load_summary,
    share_operations,
)

if TYPE_CHECKING:
    from depslice.callgraph.cache import Cache

BUILTIN_NAMES: Final = frozenset(dir(builtins)) | {"WindowsError", "reveal_type"}
MODULE_NAMES: Final = frozenset(
    {
        "__name__",
        "__file__",
        "__doc__",
        "__package__",
        "__spec__",
        "__loader__",
        "__path__",
        "__dict__",
        "__builtins__",
        "__annotations__",
        "__cached__",
    }
)
ANALYSER_CRASHED: Final = "analyser-crashed"
_KIND: Final = f"summary-{FORMAT}-py{sys.version_info[0]}.{sys.version_info[1]}"
_SHARED_BYTES: Final = 400_000  # less than this is read before processes would have started
_BINDING: Final = frozenset({"assign", "class", "def", "import"})
_RUNNING: Final = frozenset(
    {BINARY, CALL, COMPARE, COMPARED, CONTAINS, ENTER, FORMAT_VALUE, ITER, SETSUB, SUB, UNARY}
)
"""Operations that may run functions."""
_DEFINING: Final = frozenset({CLASS, DECORATE})
"""Those of definitions: class statements run what their bases have for it (3.3.3)."""
_VARIABLES: Final = frozenset({"assign", "loop", "with", "match", "try", "if", "expr", "other"})


class Module:
    """A module of the project with its summary."""

    __slots__ = (
        "asked_of_attributes",
        "digest",
        "file",
        "is_package",
        "line_end",
        "name",
        "package",
        "running",
        "summary",
        "text",
        "units_by_piece",
    )

    def __init__(self, file: SourceFile, summary: FileSummary, digest: str) -> None:
        self.file = file
        self.name = file.module
        self.is_package = file.is_package
        self.package = file.module if file.is_package else file.module.rpartition(".")[0]
        self.summary = summary
        self.digest = digest
        self.text: str | None = None
        self.line_end = "\n"  # what the text's stand for in the file; known with it
        self.units_by_piece: dict[int, list[int]] | None = None  # made when first asked for
        self.running: tuple[int, ...] | None = None  # as that
        # By class, and by what asks: the attributes whose values methods of the class use so.
        self.asked_of_attributes: dict[tuple[int, object], frozenset[str]] = {}

    def __repr__(self) -> str:
        return f"<Module {self.name}: {self.file.path}>"

    def current_pieces(self, name: str, versions: tuple[int, ...] | None) -> tuple[int, ...]:
        """The pieces whose binding of ``name`` a read can see.

        ``versions`` are those that reach a read in module-level code; ``None`` stands
        for a read that happens later (in a function, or from another module): then all
        assignments of a variable count, and of redefined functions, classes and
        imports those that survive, or that something may look for before the next one.
        """
        if versions is not None:
            return versions
        bound = self.summary.scope.get(name, ())
        if len(bound) < 2:
            return bound
        final = self.summary.final.get(name, ())
        pieces = self.summary.pieces
        following = (*bound[1:], len(pieces))
        return tuple(
            [
                p
                for p, behind in zip(bound, following, strict=True)
                if p in final or pieces[p].kind in _VARIABLES or self.is_seen_early(p, behind)
            ]
        )

    def pieces_seen_within(self, name: str, index: int) -> tuple[int, ...] | None:
        """The same for a function in the piece ``index`` that binds ``name`` anew, else ``None``.

        ``name = call(lambda: name)``: it may run before that is done.
        """
        bound = self.summary.scope.get(name, ())
        if len(bound) < 2 or index not in bound or index == bound[0]:
            return None
        before = bound[bound.index(index) - 1]
        seen = self.current_pieces(name, None)
        return None if before in seen else (before, *seen)

    def is_seen_early(self, piece: int, behind: int) -> bool:
        """Whether functions may run between a binding and the one ``behind`` it."""
        if self.running is None:
            self.running = tuple(self._running_others())
        start, end = bisect_right(self.running, piece), bisect_left(self.running, behind)
        if all(self._stands_in(each, piece) for each in self.running[start:end]):
            return False
        units = self.summary.units
        made = [op[2] for op in self.ops_of(self.summary.pieces[piece]) if op[0] == FUNCTION]
        return not any(units[index].flags & OVERLOAD for index in made)  # for type checkers alone

    def _running_others(self) -> Iterator[int]:
        """The statements of the module, and of its classes, that may run a function when they run.

        Calls and operators, decorators, classes below others; not what reads an attribute, which
        seldom is a property.
        """
        units = self.summary.units
        for piece in self.summary.pieces:
            ops = self.ops_of(piece) if piece.path[0] != "local" else ()
            wanted = _DEFINING if piece.kind in ("def", "class") else _RUNNING
            made = [op[2] for op in ops if op[0] == FUNCTION] if piece.kind == "def" else ()
            if any(op[0] in wanted and (op[0] != CLASS or op[3] or op[4]) for op in ops) and (
                not made or any(units[index].flags & DECORATED for index in made)
            ):
                yield piece.index

    def _stands_in(self, piece: int, outer: int) -> bool:
        """Whether a statement is one of those within another."""
        while piece > outer:
            piece = self.summary.pieces[piece].parent
        return piece == outer

    def ops_of(self, piece: Piece) -> list[Op]:
        """What ``piece`` does when it runs; nothing for one that has no unit."""
        return self.summary.units[piece.unit].ops if piece.unit >= 0 else []

    def pieces_seen_from(self, name: str, index: int) -> tuple[int, ...] | None:
        """The same for a function in the piece ``index``: nobody calls it before it is defined.

        ``None``: all that are seen by a read that happens later. What surely binds ``name`` before
        the function has overwritten what is above it; that is seen where the piece itself binds it anew.
        """
        bound = self.summary.scope.get(name, ())
        if len(bound) < 2 or self.summary.stars:
            return None
        pieces = self.summary.pieces
        while pieces[index].parent >= 0:
            index = pieces[index].parent
        if pieces[index].kind == "loop":
            return None
        before = [p for p in bound if p < index and pieces[p].parent < 0]
        before = [p for p in before if pieces[p].kind in _BINDING]
        if not before:
            return None
        seen = self.current_pieces(name, None)
        later = tuple([piece for piece in seen if piece >= before[-1]])
        if index in bound and before[-1] not in later:  # `x = call(lambda: x)`: it runs before that
            later = (before[-1], *later)
        return None if later == seen else later or None


def _deletes(module: Module, piece: Piece) -> bool:
    """Whether a statement that changes names of its module is ``del name``: it reads them alone."""
    ops = module.summary.units[piece.unit].ops if piece.unit >= 0 else []
    return piece.kind == "other" and bool(ops) and all(op[0] == GLOBAL for op in ops)


def _ways(
    piece: Piece, suites: Mapping[tuple[str | int, ...], Sequence[Piece]]
) -> Iterator[Sequence[Piece]]:
    """The statements that run on each way through a compound one; ``suites``: what stands in it."""
    body, otherwise = suites.get(("body",), ()), suites.get(("orelse",), ())
    if piece.kind == "if":
        yield from (body, otherwise)
    else:
        final = suites.get(("finalbody",), ())
        handlers = [suite for place, suite in suites.items() if place[0] == "handlers"]
        for way in ([*body, *otherwise], *handlers):
            yield [*final, *way]


class Program:
    """The modules of a project, by name; each is read, parsed and lowered at most once.

    Analysing a file gives a value that depends on its bytes alone, so summaries are
    cached under the digest of the bytes. ``known`` are modules that need not be read
    again, because their files are as they were (see :mod:`~depslice.callgraph.workspace`).
    """

    def __init__(
        self,
        project: Project,
        *,
        cache: Cache | None = None,
        stubs: Stubs | None = None,
        known: Mapping[str, Module] | None = None,
    ) -> None:
        self.project = project
        self.stubs = Stubs() if stubs is None else stubs  # of what is outside the project
        self.stubs.remember_in(cache)
        self._cache = cache
        self._known = known or {}
        self.files = {file.module: file for file in project.files}
        self.by_path = {file.path: file for file in project.files}
        # Modules of which several have one name, by that and by source root.
        self._own: dict[str, dict[str, str]] = {}
        for file in project.files:
            if file.own_name:
                roots = self._own.setdefault(file.own_name, {})
                roots[file.own_root] = file.module
                first = self.files.get(file.own_name)
                if first is not None:
                    roots[first.source_root] = first.module
        self.workers: int | None = None  # to read files that are not in the cache; or one a core
        self._loaded: dict[str, Module | None] = {}
        self.digests: dict[str, str] = {}  # of every file read so far, by module
        self._diagnostics: dict[str, Diagnostic] = {}
        self.packages = _packages(self.files)
        self._first_runs: dict[str, dict[str, int]] = {}  # by package
        self._star_sources: dict[tuple[str, str], tuple[Module | None, int] | None] = {}
        self._all_star_sources: dict[
            tuple[str, str, tuple[int, ...]], tuple[tuple[Module, int], ...]
        ] = {}
        self._surely_given: dict[tuple[str, str], bool] = {}
        self._exports = Circular(self._collect_names, frozenset[str]())
        self._definitions = Circular(self._define, tuple[str, ...]())
        self._tables: dict[str, dict[str, Symbol]] = {}
        self.attachments: dict[str, object] = {}  # analyses that live as long as the program
        self._directories: dict[str, str] = {}
        for file in project.files:
            directory = file.path.rpartition("/")[0]
            self._directories.setdefault(
                directory, file.module.rpartition(".")[0] if not file.is_package else file.module
            )

    def __repr__(self) -> str:
        return f"<Program {self.project.root}: {len(self.files)} files>"

    # --- results of analyses that go on top

    @property
    def has_cache(self) -> bool:
        """Whether :meth:`cache_result` keeps anything."""
        return self._cache is not None and self._cache.is_open

    def cached(self, kind: str, key: str) -> bytes | None:
        """What :meth:`cache_result` has stored, in this run or an earlier one."""
        return None if self._cache is None else self._cache.get(kind, key)

    def cache_result(self, kind: str, key: str, blob: bytes) -> None:
        """Store the result of an analysis in the user's cache, if there is one."""
        if self._cache is not None:
            self._cache.put_many(kind, [(key, blob)])

    def close(self) -> None:
        """Write what the cache still holds back and close it; the program goes on without."""
        self.stubs.save()
        self.stubs.remember_in(None)
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def detach_cache(self) -> None:
        """Go on without the cache: a forked process must not use its parent's connection."""
        self.stubs.remember_in(None)
        self._cache = None

    def digest_now(self, name: str) -> str | None:
        """The digest of a module's file as it is on disk now; ``None`` if it cannot be read."""
        file = self.files.get(name)
        if file is None:
            return None
        try:
            return content_digest(read_file(self.project, file))
        except OSError:
            return None

    def digest(self, name: str) -> str | None:
        """As :meth:`digest_now`, unless the file was read before; counts as reading it."""
        known = self._known.get(name)
        digest = self.digests.get(name) or (known.digest if known else self.digest_now(name))
        if digest is not None:
            self.digests[name] = digest
        return digest

    def earlier_summary(self, digest: str) -> FileSummary | None:
        """What the cache holds of a file with just these bytes."""
        blob = self.cached(_KIND, digest)
        return None if blob is None or blob[:1] != b"S" else load_summary(blob[1:])

    # --- loading

    def module(self, name: str) -> Module | None:
        """The module ``name``; ``None`` when the project has no such file or cannot read it."""
        try:
            return self._loaded[name]
        except KeyError:
            pass
        file = self.files.get(name)
        module = None if file is None else self._load(file)
        self._loaded[name] = module
        return module

    def _load(self, file: SourceFile) -> Module | None:
        known = self._known.get(file.module)
        if known is not None:
            self.digests[file.module] = known.digest
            return known
        data = self._read(file)
        if data is None:
            return None
        digest = content_digest(data)
        self.digests[file.module] = digest
        blob = None if self._cache is None else self._cache.get(_KIND, digest)
        if blob is not None:
            return self._adopt(file, digest, blob)
        outcome = summarize_bytes(data)
        if isinstance(outcome, Problem):
            outcome_blob = outcome.dump()
        else:
            outcome_blob = b"S" + dump_summary(outcome)
        crashed = isinstance(outcome, Problem) and outcome.slug == ANALYSER_CRASHED
        if self._cache is not None and not crashed:  # a crash may not happen again
            self._cache.put_many(_KIND, [(digest, outcome_blob)])
        if isinstance(outcome, Problem):
            self._diagnostics[file.path] = outcome.diagnostic(file.path)
            return None
        return Module(file, outcome, digest)

    def _adopt(self, file: SourceFile, digest: str, blob: bytes) -> Module | None:
        if blob[:1] == b"S":
            return Module(file, load_summary(blob[1:]), digest)
        self._diagnostics[file.path] = Problem.load(blob).diagnostic(file.path)
        return None

    def _read(self, file: SourceFile) -> bytes | None:
        try:
            return read_file(self.project, file)
        except OSError as error:
            self._diagnostics[file.path] = Diagnostic(
                slug="unreadable",
                severity=Severity.ERROR,
                message=f"cannot be read: {(error.strerror or str(error)).lower()}",
                path=file.path,
            )
            return None

    def text(self, module: Module) -> str:
        """The decoded text of ``module``, with universal newlines.

        :raises SourceChanged: the file is no longer the one that was analysed.
        """
        if module.text is None:
            try:
                data = read_file(self.project, module.file)
            except OSError:
                data = b""
            # What was found out about one text says nothing about another.
            if content_digest(data) != module.digest:
                raise SourceChanged(f"{module.file.path} has changed while it was being analysed")
            module.text = decode_source(data)
            if b"\r" in data:
                module.line_end = line_end_of(data)
        return module.text

    def line_end(self, module: Module) -> str:
        """What ends the lines of the file of ``module``, as :func:`.source.line_end_of` says.

        :raises SourceChanged: as :meth:`text`.
        """
        self.text(module)
        return module.line_end

    def load_all(
        self,
        *,
        workers: int | None = None,
        progress: Callable[[int, int], None] | None = None,
        sharing: bool = False,
    ) -> list[Module]:
        """Every module, sorted by path; files not in the cache are summarised in parallel.

        ``workers``: processes; ``None`` takes the cores there are. The result does not
        depend on it. ``sharing``: what is equal in the code of the modules is to be one object,
        which takes a little time, and less room.
        """
        from depslice.callgraph.loading import load_many

        for name in self._known.keys() - self._loaded.keys():
            self.module(name)
        missing = [f for f in self.project.files if f.module not in self._loaded]
        known: dict[Any, Any] = {}
        for file, digest, blob in load_many(
            self.project, missing, self._cache, _KIND, workers=workers, progress=progress
        ):
            module = self._take_in(file, digest, blob)
            if sharing and module is not None:
                share_operations(module.summary.units, known)
        found = [self._loaded[f.module] for f in self.project.files]
        return [module for module in found if module is not None]

    def load_several(self, names: Iterable[str]) -> None:
        """Have these modules read, by several processes where it is soon worth it.

        So it is where they are many, and a process is a fork: a new interpreter takes as long.
        """
        missing = [
            self.files[name]
            for name in names
            if name in self.files and name not in self._loaded and name not in self._known
        ]
        sizes = [file.size for file in missing]
        beside = sum(sizes) - max(sizes, default=0)  # one cannot be shared
        if beside <= _SHARED_BYTES or (self.workers or default_workers()) < 2:
            return
        from depslice.callgraph.loading import load_many, starts_at_once

        if starts_at_once():
            for read in load_many(self.project, missing, self._cache, _KIND, workers=self.workers):
                self._take_in(*read)

    def _take_in(self, file: SourceFile, digest: str, blob: bytes | None) -> Module | None:
        self.digests[file.module] = digest
        found = self._load(file) if blob is None else self._adopt(file, digest, blob)
        self._loaded[file.module] = found
        return found

    def adopt_diagnostics(self, found: Iterable[Diagnostic]) -> None:
        """Take over what an earlier run has found wrong with files that are as they were."""
        self._diagnostics.update({diagnostic.path: diagnostic for diagnostic in found})

    @property
    def file_diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was wrong with the files loaded so far, by path: at most one each."""
        return tuple(self._diagnostics[path] for path in sorted(self._diagnostics))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was wrong with the project and with the files loaded so far, by path."""
        found = [*self.project.diagnostics, *self._diagnostics.values()]
        return tuple(sorted(found, key=lambda d: (d.path, d.slug, d.message)))

    def lazy_target(self, module: Module, name: str) -> tuple[str, str] | None:
        """What a module's ``__getattr__`` (PEP 562) most likely gives for ``name``.

        Looks ``name`` up in the literal tables of the module (name -> submodule, or
        name -> (submodule, attribute)), then among its submodules. ``(module, "")``
        stands for the module itself.
        """
        for unit in module.summary.units:
            if unit.kind != "piece" or unit.owner >= 0:
                continue
            for op in unit.ops:
                if op[0] == MAPPING:
                    for text, _, value in op[2]:
                        if text == name:
                            found = self._lazy_entry(module, name, strings_in(unit.ops, value))
                            if found is not None:
                                return found
        inner = f"{module.package}.{name}"
        return (inner, "") if self.is_module(inner) else None

    def _lazy_entry(self, module: Module, name: str, texts: list[str]) -> tuple[str, str] | None:
        for text in texts:
            where, _, item = text.partition(":")
            plain = where.lstrip(".")
            level = len(where) - len(plain)
            relative = self.import_target(module, max(level, 1), plain)
            for candidate in (relative, plain):
                source = self.module(candidate)
                if source is None:
                    continue
                for wanted in (item, *[t for t in texts if t != text], name):
                    if wanted in source.summary.scope:
                        return candidate, wanted
                return candidate, ""
            head, _, last = plain.rpartition(".")
            source = self.module(head)
            if source is not None and last in source.summary.scope:
                return head, last
        return None

    # --- names of modules

    def is_module(self, name: str) -> bool:
        """Whether the project has a module or (namespace) package of this name."""
        return name in self.files or name in self.packages

    def modules_between(self, prefix: str, suffix: str) -> list[str]:
        """The modules whose dotted names start and end so, with one part of a name between."""
        least, end = len(prefix) + len(suffix), -len(suffix) or None
        return [
            name
            for name in self.files
            if name.startswith(prefix)
            and name.endswith(suffix)
            and len(name) > least
            and "." not in name[len(prefix) : end]
        ]

    def packages_in(self, package: str) -> list[str]:
        """A package, and those in it, however deep."""
        start = f"{package}."
        inner = {name.rpartition(".")[0] for name in self.files if name.startswith(start)}
        return [package, *sorted(inner - {package})]

    def import_target(self, module: Module, level: int, name: str) -> str:
        """The absolute name of the module that ``from <level dots><name>`` names in ``module``."""
        if level <= 0:
            return self._absolute(module, name)
        package = module.package
        for _ in range(level - 1):
            package = package.rpartition(".")[0]
        if not name:
            return package
        return f"{package}.{name}" if package else name

    def nearest(self, importer: Module, name: str) -> str:
        """What the module is called that ``importer`` has as ``name``.

        Of several source roots with one of this name its own comes first, then the one that shares
        most of its path, as tests beside ``src`` do.
        """
        roots = self._own.get(name)
        if not roots:
            return name
        own = importer.file.own_root or importer.file.source_root
        if own in roots:
            return roots[own]
        folders = importer.file.path.split("/")[:-1]

        def shared(root: str) -> int:
            pairs = zip(root.split("/"), folders, strict=False)
            return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

        return roots[max(roots, key=lambda root: (shared(root), roots[root] == name))]

    def called_otherwise(self, module: Module) -> dict[str, str]:
        """The modules that ``module`` imports by a name that is another one here: that -> this."""
        if not self._own and not self._beside(module):
            return {}
        imports = [
            (level, target)
            for piece in module.summary.pieces
            for _, level, target, _ in piece.imports
        ]
        imports += [
            (op[2], op[3]) for unit in module.summary.units for op in unit.ops if op[0] == IMPORT
        ]
        found = {target: self._absolute(module, target) for level, target in imports if level <= 0}
        return {target: absolute for target, absolute in found.items() if target != absolute}

    def _beside(self, module: Module) -> str:
        """The folder of a script, with a point: its ``sys.path[0]``, "" if it is a package's."""
        directory = module.file.path.rpartition("/")[0]
        prefix = self._directories.get(directory, "")
        if not prefix or module.is_package or prefix in self.files:
            return ""
        return f"{prefix}."

    def _absolute(self, module: Module, name: str) -> str:
        if name in self._own:
            return self.nearest(module, name)
        top = name.partition(".")[0]
        beside = self._beside(module)  # a script imports the modules that lie there, first of all
        if f"{beside}{top}" not in self.files and (top in self.files or top in self.packages):
            return name
        return f"{beside}{name}" if beside and self.is_module(f"{beside}{top}") else name

    def binding_pieces(
        self, module: Module, name: str, versions: tuple[int, ...] | None
    ) -> tuple[int, ...]:
        """As :meth:`Module.current_pieces`, with the star import that gives ``name``, if any does.

        It counts for what reads the name before the module binds it, or may be run before that, where
        nothing or only a condition binds it behind the star, and where the star comes after what does.
        """
        summary = module.summary
        stars = summary.stars
        pieces = module.current_pieces(name, versions)
        if not stars or (name not in summary.scope and name not in summary.global_writers):
            return pieces
        own = tuple(piece for piece in pieces if piece not in stars)
        reaching = summary.final.get(name, ()) if versions is None else pieces
        giving = tuple(index for _, index in self.star_sources(module, name, versions))
        if own and not giving:
            giving = tuple(
                index
                for index in reversed(stars)
                if index > min(own) and self.given_outside(module, index, name) is not None
            )
        if own:
            giving = tuple(
                index
                for index in giving
                if index in reaching or (versions is None and module.is_seen_early(index, min(own)))
            )
        if not giving:
            return own if own or versions is None else module.current_pieces(name, None)
        last = giving[-1]
        replaced = last > max(own, default=-1) and not summary.pieces[last].conditional
        if replaced and own:
            source = self.star_of(module, last, name)
            replaced = source is None or self.gives_surely(source, name)
        if replaced:
            own = tuple(i for i in own if i < last and module.is_seen_early(i, last))
        return (*own, *giving)

    def comes_as_submodule(self, importer: Module, package: str, item: str) -> bool:
        """Whether ``from package import item`` in the module scope of ``importer`` gives a submodule.

        What else the package binds to that name comes later, if importing it runs ``importer``
        before: the import system then falls back to the submodule (7.11).
        """
        source = self.module(package)
        if (
            source is None
            or source is importer
            or not importer.name.startswith(f"{package}.")
            or not self.is_module(f"{package}.{item}")
        ):
            return False
        star = self.star_source(source, item)
        binding = [*source.summary.scope.get(item, ()), *((star[1],) if star else ())]
        if not binding or item in source.summary.global_writers:
            return False
        run_by = self._running_first(source).get(importer.name)
        return run_by is not None and run_by <= min(binding)

    def _running_first(self, package: Module) -> dict[str, int]:
        """The statement of a package by which each module is first run when it is imported."""
        found = self._first_runs.get(package.name)
        if found is not None:
            return found
        found = self._first_runs[package.name] = {package.name: -1}
        for piece in package.summary.pieces:
            waiting = [*self._run_by(package, piece)]
            while waiting:
                name = waiting.pop()
                if name not in found:
                    found[name] = piece.index
                    module = self.module(name)
                    if module is not None:
                        for inner in module.summary.pieces:
                            waiting.extend(self._run_by(module, inner))
        return found

    def _run_by(self, module: Module, piece: Piece) -> Iterator[str]:
        """The modules that an import statement of the module scope runs, packages included."""
        if piece.type_checking or piece.script:
            return
        for _, level, target, item in piece.imports:
            absolute = self.import_target(module, level, target)
            inner = f"{absolute}.{item}"
            parts = (inner if item is not None and self.is_module(inner) else absolute).split(".")
            for length in range(1, len(parts) + 1):
                name = ".".join(parts[:length])
                if self.is_module(name):
                    yield name

    def star_sources(
        self, module: Module, name: str, among: tuple[int, ...] | None = None
    ) -> tuple[tuple[Module, int], ...]:
        """The modules of the repo that may give ``name`` by a star, and the pieces, last first.

        The last does, unless a condition decides, or one in that module: then those before it may,
        too, as they do for what runs between the two. ``among``: the stars that there have been
        where the name is read, if not all.
        """
        last = self.star_source(module, name)
        if last is None or last[0] is None:
            return ()
        stars = module.summary.stars
        if among is not None:
            stars = tuple(index for index in stars if index in among)
        if len(stars) == 1 and last[1] in stars:
            return ((last[0], last[1]),)
        key = (module.name, name, stars)
        known = self._all_star_sources.get(key)
        if known is None:
            found = tuple(self._given_by(module, name, stars))
            known = self._all_star_sources[key] = found or ((last[0], last[1]),)
        return known

    def _given_by(
        self, module: Module, name: str, stars: Iterable[int]
    ) -> Iterator[tuple[Module, int]]:
        pieces = module.summary.pieces
        sure = -1  # the star behind which those before it are seen no more
        for index in sorted(stars, reverse=True):
            if sure >= 0 and not module.is_seen_early(index, sure):
                continue
            source = None if pieces[index].type_checking else self.star_of(module, index, name)
            if source is not None:
                yield source, index
                if not pieces[index].conditional and self.gives_surely(source, name):
                    sure = index

    def star_of(self, module: Module, index: int, name: str) -> Module | None:
        """The module of the repo from which the star import ``index`` has ``name``, if it has."""
        last = self.star_source(module, name)
        if last is not None and last[1] == index:
            return last[0]
        for bound, level, target, _ in module.summary.pieces[index].imports:
            source = self.module(self.import_target(module, level, target))
            if bound != "*" or source is None or source is module:
                continue
            if self._gives(source, name, {module.name}, typing=False):
                return source
        return None

    def gives_at_run_time(self, source: Module, name: str, module: Module) -> bool:
        """Whether a star import of ``source`` binds ``name`` in ``module`` when it runs."""
        return self._gives(source, name, {module.name}, typing=False)

    def gives_surely(self, source: Module, name: str) -> bool:
        """Whether ``source``, of which a star may bind ``name``, has it on all ways it can run.

        ``if PY2: range = xrange``: an import of a name that is not bound would fail.
        """
        key = (source.name, name)
        known = self._surely_given.get(key)
        if known is None:
            self._surely_given[key] = True  # a circle of stars
            known = self._surely_given[key] = self._gives_surely(source, name)
        return known

    def _gives_surely(self, source: Module, name: str) -> bool:
        summary = source.summary
        binding = [summary.pieces[index] for index in summary.scope.get(name, ())]
        if not binding and not any(self.star_of(source, i, name) for i in summary.stars):
            return True  # by a function, `__getattr__`, a submodule, or from outside
        if any(each.kind == "other" for each in binding):  # `del`
            return False
        changing = [summary.pieces[index] for index in summary.mutations.get(name, ())]
        if any(each.conditional and _deletes(source, each) for each in changing):
            return False
        if any(each.parent < 0 and each.kind in _BINDING for each in binding):
            return True
        within: dict[int, list[Piece]] = {}
        for piece in summary.pieces:
            if piece.owner < 0:
                within.setdefault(piece.parent, []).append(piece)
        return self._bind_surely(source, within, within.get(-1, ()), name)

    def _bind_surely(
        self,
        module: Module,
        within: Mapping[int, Sequence[Piece]],
        suite: Sequence[Piece],
        name: str,
    ) -> bool:
        """Whether the statements of a suite bind ``name`` on every way that goes on behind them.

        ``within``: what stands in a compound statement.
        """
        for piece in suite:
            if piece.index in module.summary.stars:
                source = self.star_of(module, piece.index, name)
                if source is not None and self.gives_surely(source, name):
                    return True
            elif name in piece.binds and (piece.kind in _BINDING or piece.kind == "with"):
                return True
            elif piece.kind in ("if", "try"):  # what `with` enters may swallow an error
                suites: dict[tuple[str | int, ...], list[Piece]] = {}
                for inner in within.get(piece.index, ()):
                    suites.setdefault(inner.path[len(piece.path) : -1], []).append(inner)
                ways = list(_ways(piece, suites))
                if ways and all(
                    self._bind_surely(module, within, each, name)
                    or (each and each[-1].kind == "jump")
                    for each in ways
                ):
                    return True
        return False

    def may_have(self, module: Module, name: str) -> bool:
        """Whether a statement of ``module``, one of a function or a star may bind ``name``."""
        summary = module.summary
        return (
            name in summary.scope
            or name in summary.global_writers
            or self.star_source(module, name) is not None
        )

    def star_source(self, module: Module, name: str) -> tuple[Module | None, int] | None:
        """The module that gives ``name`` to ``module`` by a star import, and the piece.

        The module is ``None`` where a star import from outside the repo may be the source:
        of any name but those of the package's own submodules. What is there for type checkers
        alone is meant only where no module gives the name at run time.
        """
        if not module.summary.stars:
            return None
        key = (module.name, name)
        try:
            return self._star_sources[key]
        except KeyError:
            found = self._star_sources[key] = self._star_source(module, name)
            return found

    def _star_source(self, module: Module, name: str) -> tuple[Module | None, int] | None:
        found = self._star_source_of(module, name, typing=False)
        if found is None or found[0] is None:
            found = self._star_source_of(module, name, typing=True) or found
        return found

    def _star_source_of(
        self, module: Module, name: str, *, typing: bool
    ) -> tuple[Module | None, int] | None:
        external: tuple[Module | None, int] | None = None
        perhaps: tuple[Module | None, int] | None = None  # what its stub does not list
        for index in reversed(module.summary.stars):
            if not typing and module.summary.pieces[index].type_checking:
                continue
            for bound, level, target, _ in module.summary.pieces[index].imports:
                if bound != "*":
                    continue
                absolute = self.import_target(module, level, target)
                source = self.module(absolute)
                if source is None:
                    if self.is_module(absolute):
                        continue
                    if self._may_give(absolute, name):
                        external = external or (None, index)
                    elif name not in BUILTIN_NAMES and name[0] != "_":
                        perhaps = perhaps or (None, index)
                elif source is not module and self._gives(
                    source, name, {module.name}, typing=typing
                ):
                    return source, index
        return None if self.is_module(f"{module.name}.{name}") else external or perhaps

    def _may_give(self, outside: str, name: str) -> bool:
        """Whether a star import from a module outside the repo may bind ``name``."""
        return self.stubs.module(outside) is None or self.stubs.gives_all(outside, name)

    def given_outside(self, module: Module, index: int, name: str) -> str | None:
        """The dotted name of what the star import ``index`` gives, if a stub declares it."""
        for bound, level, target, _ in module.summary.pieces[index].imports:
            absolute = self.import_target(module, level, target)
            if bound != "*" or self.is_module(absolute):
                continue
            if self.stubs.gives_all(absolute, name):
                return f"{absolute}.{name}"
        return None

    def _gives(self, source: Module, name: str, seen: set[str], *, typing: bool) -> bool:
        """Whether ``source`` exports ``name``, its own or by a chain of stars without a cycle."""
        if name not in self.star_names(source, typing=typing):
            return source.summary.dunder_all is None and any(
                self.given_outside(source, index, name) is not None
                for index in source.summary.stars
            )
        if name in source.summary.scope:
            return not self._comes_back(source, name, seen)
        seen.add(source.name)
        for index in source.summary.stars:
            for bound, level, target, _ in source.summary.pieces[index].imports:
                inner = (
                    self.module(self.import_target(source, level, target)) if bound == "*" else None
                )
                if (
                    inner is not None
                    and inner.name not in seen
                    and self._gives(inner, name, seen, typing=typing)
                ):
                    return True
        # `__all__` may also name a submodule, or what a module `__getattr__` gives.
        return source.summary.dunder_all is not None and (
            self.is_module(f"{source.name}.{name}") or "__getattr__" in source.summary.scope
        )

    def _comes_back(self, source: Module, name: str, seen: set[str]) -> bool:
        """Whether all that ``source`` has under ``name`` is imported from a module in ``seen``.

        Such a module cannot be where that one has it from: it has what was there before.
        """
        origins = [
            self.import_target(source, level, target)
            for index in source.summary.scope[name]
            for bound, level, target, item in source.summary.pieces[index].imports
            if bound == item == name
        ]
        return len(origins) == len(source.summary.scope[name]) and seen.issuperset(origins)

    def star_names(self, module: Module, *, typing: bool = False) -> frozenset[str]:
        """The names ``from module import *`` binds, those of its own star imports included.

        ``typing``: for a type checker, which sees what stands under ``if TYPE_CHECKING`` too.
        """
        return self._exports.answer((module.name, typing))

    def names_in(self, module: Module) -> dict[str, None]:
        """The names a module has: what its statements bind, then what stars of the repo give it."""
        found = dict.fromkeys(module.summary.scope)
        for index in module.summary.stars:
            for bound, level, target, _ in module.summary.pieces[index].imports:
                source = self.module(self.import_target(module, level, target))
                if bound == "*" and source is not None and source is not module:
                    found.update(dict.fromkeys(sorted(self.star_names(source))))
        return found

    def _collect_names(self, asked: tuple[str, bool]) -> frozenset[str]:
        name, typing = asked
        module = self.module(name)
        return frozenset(() if module is None else self._collected(module, typing=typing))

    def _collected(self, module: Module, *, typing: bool) -> Iterator[str]:
        summary = module.summary
        if summary.dunder_all is not None:
            yield from summary.dunder_all
            if not summary.all_is_open:
                return
        for name, indices in summary.scope.items():
            pieces = map(summary.pieces.__getitem__, indices)
            if (
                not name.startswith("_")
                and name not in summary.deleted
                and (typing or not all(piece.type_checking or piece.script for piece in pieces))
            ):
                yield name
        for index in summary.stars:
            piece = summary.pieces[index]
            for bound, level, target, _ in piece.imports:
                if bound == "*" and (typing or not piece.type_checking):
                    source = self.module(self.import_target(module, level, target))
                    if source is not None:
                        given = self.star_names(source, typing=typing)
                        yield from given.difference(summary.deleted)

    # --- symbols

    def symbol_table(self, module: Module) -> dict[str, Symbol]:
        """The symbols of ``module`` by id, in source order."""
        table = self._tables.get(module.name)
        if table is None:
            table = self._tables[module.name] = {s.id: s for s in self.symbols_of(module)}
        return table

    def definitions(self, module_name: str, name: str) -> tuple[str, ...]:
        """The symbols a module-scope name stands for, imports followed to the definition."""
        return self._definitions.answer((module_name, name))

    def _define(self, asked: tuple[str, str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._defined(*asked)))

    def _defined(self, module_name: str, name: str) -> Iterator[str]:
        module = self.module(module_name)
        if module is None:
            return
        pieces = self.binding_pieces(module, name, None)
        if not pieces:
            sources = self.star_sources(module, name)
            for source, _ in sources:
                yield from self.definitions(source.name, name)
            if not sources and "__getattr__" in module.summary.scope:
                yield f"{module_name}:__getattr__"
                lazy = self.lazy_target(module, name)
                if lazy is not None and lazy[1]:
                    yield from self.definitions(*lazy)
            return
        for index in pieces:
            piece = module.summary.pieces[index]
            if piece.kind not in ("import", "future"):
                yield f"{module_name}:{name}"
                continue
            if index in module.summary.stars:
                given_by = self.star_of(module, index, name)
                if given_by is not None:
                    yield from self.definitions(given_by.name, name)
            for bound, level, target, item in piece.imports:
                if bound != name:
                    continue
                absolute = self.import_target(module, level, target)
                if item is None:
                    top = absolute if level < 0 else top_bound(absolute, target)
                    if top in self.files:
                        yield top
                elif self.is_module(f"{absolute}.{item}") and absolute == module_name:
                    yield f"{absolute}.{item}"
                else:
                    found_inner = self.definitions(absolute, item)
                    yield from found_inner
                    if not found_inner and f"{absolute}.{item}" in self.files:
                        yield f"{absolute}.{item}"

    def symbols_of(self, module: Module) -> Iterator[Symbol]:
        """The symbols a module defines, itself first, in source order."""
        summary = module.summary
        path = module.file.path
        name = module.name
        yield Symbol(
            id=name,
            kind=SymbolKind.MODULE,
            path=path,
            span=Span(start=1, end=max(summary.lines, 1)),
        )
        found: dict[str, Symbol] = {}
        for piece in summary.pieces:
            for symbol in self._piece_symbols(module, piece):
                known = found.get(symbol.id)
                if known is None or (
                    known.kind is SymbolKind.VARIABLE and symbol.kind is not SymbolKind.VARIABLE
                ):
                    found[symbol.id] = symbol
        for unit in summary.units:
            if unit.kind == "piece":
                continue
            kind = SymbolKind.METHOD if unit.owner >= 0 else SymbolKind.FUNCTION
            identifier = f"{name}:{unit.qualname}"
            known = found.get(identifier)
            if known is None or known.kind is SymbolKind.VARIABLE:
                found[identifier] = Symbol(
                    id=identifier,
                    kind=kind,
                    path=path,
                    span=Span(start=unit.line, end=unit.end_line),
                )
        for info in summary.classes:
            found.setdefault(
                f"{name}:{info.qualname}",
                Symbol(
                    id=f"{name}:{info.qualname}",
                    kind=SymbolKind.CLASS,
                    path=path,
                    span=Span(start=info.line, end=info.end_line),
                ),
            )
        yield from sorted(found.values(), key=lambda s: (s.span.start, s.id))

    def _piece_symbols(self, module: Module, piece: Piece) -> Iterator[Symbol]:
        if piece.kind in ("import", "future", "doc", "expr"):
            return
        summary = module.summary
        prefix = "" if piece.owner < 0 else summary.classes[piece.owner].qualname + "."
        kinds = {"def": SymbolKind.FUNCTION, "class": SymbolKind.CLASS}
        kind = kinds.get(piece.kind, SymbolKind.VARIABLE)
        if kind is SymbolKind.FUNCTION and piece.owner >= 0:
            kind = SymbolKind.METHOD
        for name in piece.binds:
            yield Symbol(
                id=f"{module.name}:{prefix}{name}",
                kind=kind,
                path=module.file.path,
                span=Span(start=piece.start, end=piece.end),
            )


def strings_in(ops: list[Op], register: int) -> list[str]:
    """The string constants ``register`` holds, directly or in a literal tuple or list."""
    for op in ops:
        if op[0] == STRING and op[1] == register:
            return [op[2]]
        if op[0] == SEQUENCE and op[1] == register:
            return [text for element in op[3] for text in strings_in(ops, element)]
    return []


class Problem:
    """Why a file has no summary; what the cache stores in its stead."""

    __slots__ = ("line", "message", "slug")

    def __init__(self, slug: str, message: str, line: int | None) -> None:
        self.slug = slug
        self.message = message
        self.line = line

    def dump(self) -> bytes:
        """For the cache."""
        return f"E{self.slug}\n{self.line or 0}\n{self.message}".encode(errors="replace")

    @classmethod
    def load(cls, blob: bytes) -> Problem:
        """The inverse of :meth:`dump`."""
        slug, line, message = blob[1:].decode().split("\n", 2)
        return cls(slug, message, int(line) or None)

    def diagnostic(self, path: str) -> Diagnostic:
        """As a fact about the file at ``path``."""
        span = None if self.line is None else Span(start=self.line, end=self.line)
        return Diagnostic(
            slug=self.slug, severity=Severity.ERROR, message=self.message, path=path, span=span
        )


def summarize_bytes(data: bytes) -> FileSummary | Problem:
    """Decode, parse and lower the bytes of one file."""
    from depslice.callgraph.lowering import SourceSyntaxError, summarize

    try:
        return summarize(decode_source(data))
    except UndecodableSource as error:
        return Problem(error.slug, error.message, error.line)
    except SourceSyntaxError as error:
        return Problem(error.slug, error.message, error.line)
    except Exception as error:  # noqa: BLE001 - one file must not end the analysis of the rest
        return Problem(ANALYSER_CRASHED, f"{type(error).__name__}: {error}", None)


def _packages(names: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        parent = name.rpartition(".")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition(".")[0]
    return frozenset(found)


def default_workers() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


__all__: Sequence[str] = ("BUILTIN_NAMES", "Module", "Problem", "Program", "summarize_bytes")


def top_bound(absolute: str, target: str) -> str:
    """The module that ``import a.b`` binds, ``absolute`` being what ``a.b`` is called by."""
    top, dot, _ = target.partition(".")
    return absolute.rpartition(target)[0] + top if dot else absolute

"""In which order imports run modules, and whether one asks for a name too early.

A package whose modules import each other in a circle works because of the side that the
circle is entered from. A slice has fewer imports, so it may enter from another side. Here
the import system is followed (language reference, 5.3 to 5.5) over the steps of modules:
once over all imports, for the order in which the package itself has them, and once over
those a slice keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Piece
from depslice.slicer.pieces import runs_on_import
from depslice.slicer.wiring import ImportEdge, imported_modules, with_packages

ImportEntry = tuple[str, int, str, str | None]  # bound, level, module, name


@dataclass(frozen=True, slots=True)
class ImportStep:
    """What one statement of a module does when it runs: imports, reads, then bindings."""

    index: int
    imports: tuple[ImportEntry, ...]
    reads: tuple[tuple[str, str], ...]  # names of other modules: (module, name)
    binds: tuple[str, ...]


Steps = Callable[[Module], Iterable[ImportStep]]


@dataclass(slots=True)
class ImportRun:
    """``entered``: module -> the import that first ran it, in order (``None`` for roots).

    ``blocked``: the modules that asked another for a name it did not have yet -> the module
    that has to be entered earlier, or otherwise: the asking one itself where the other was
    half-initialised, the submodule where that is what the name means. ``early``: the names that
    were asked for of half-initialised modules which only a star may give: (module, name).
    """

    entered: dict[str, ImportEdge | None] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    early: dict[tuple[str, str], None] = field(default_factory=dict)


def run_imports(program: Program, roots: Iterable[str], steps: Steps) -> ImportRun:
    """Import ``roots``, one after the other, as ``steps`` say."""
    importing = _Importing(program, steps)
    for root in roots:
        importing.enter(root, None)
    return importing.run


def all_steps(module: Module) -> Iterator[ImportStep]:
    """Everything that ``module`` imports and binds when it runs."""
    for piece in module.summary.pieces:
        if runs_always(piece):
            yield ImportStep(piece.index, piece.imports, (), piece.binds)


def runs_always(piece: Piece) -> bool:
    """Whether a statement of the module scope is one that importing the module runs.

    Branches are taken to run, except handlers.
    """
    return piece.owner < 0 and runs_on_import(piece) and "handlers" not in piece.path


def path_to(run: ImportRun, module: str) -> list[ImportEdge]:
    """The imports by which ``module`` was first run, from a root on."""
    path: list[ImportEdge] = []
    edge = run.entered.get(module)
    while edge is not None:
        path.append(edge)
        edge = run.entered.get(edge[0])
    return path[::-1]


class _Importing:
    def __init__(self, program: Program, steps: Steps) -> None:
        self.run = ImportRun()
        self._program = program
        self._steps = steps
        self._running: dict[str, set[str]] = {}  # half-initialised: names bound so far
        self._done: dict[str, set[str]] = {}

    def enter(self, name: str, edge: ImportEdge | None) -> None:
        for package in with_packages(name):
            if package in self.run.entered:
                continue
            self.run.entered[package] = edge
            bound = self._running[package] = set()
            module = self._program.module(package)
            for step in self._steps(module) if module is not None else ():
                assert module is not None
                self._step(module, step, bound)
            self._done[package] = self._running.pop(package)
            parent, _, last = package.rpartition(".")
            if parent in self._running:
                self._running[parent].add(last)

    def _step(self, module: Module, step: ImportStep, bound: set[str]) -> None:
        for name, level, target, item in step.imports:
            for inner in imported_modules(self._program, module, level, target, item):
                self.enter(inner, (module.name, step.index, name, inner))
            absolute = self._program.import_target(module, level, target)
            if name == "*":
                bound |= self._running.get(absolute) or self._done.get(absolute) or set()
                continue
            if item is not None:
                self._ask(module, absolute, item)
            bound.add(name)
        for source, name in step.reads:
            self._ask(module, source, name)
        bound.update(step.binds)

    def _ask(self, module: Module, source: str, name: str) -> None:
        """``module`` needs ``source.name`` now."""
        inner = f"{source}.{name}"
        bound = self._running.get(source)
        if source == module.name or inner in self.run.entered:
            return
        if name in (self._done.get(source, ()) if bound is None else bound):
            return
        if self._program.is_module(inner):
            self.run.blocked.setdefault(module.name, inner)
            return
        asked = self._program.module(source)
        if asked is None:
            return
        if bound is None:  # it has run, and a star of it gave less than it would now
            star = None if name in asked.summary.scope else self._program.star_source(asked, name)
            if star is not None and star[0] is not None:
                self.run.blocked.setdefault(module.name, module.name)
        elif name in asked.summary.scope:
            self.run.blocked.setdefault(module.name, module.name)
        elif asked.summary.stars:
            self.run.early.setdefault((source, name))

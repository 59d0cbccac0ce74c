"""Circles of imports, entered from the side that the package enters them from.

A slice has fewer imports than its package. Where modules import each other in a circle, it
may run them in an order in which one asks another for a name that is not there yet. Then the
imports by which the package itself enters the circle are kept too
(:mod:`~depslice.slicer.closure.import_order` follows both).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.import_order import (
    ImportEntry,
    ImportRun,
    ImportStep,
    all_steps,
    path_to,
    run_imports,
    runs_always,
)
from depslice.slicer.closure.importing import Importing
from depslice.slicer.wiring import import_edges, imported_modules, with_packages

_CALLS: Final = 3  # calls from a statement to a function that imports


class Circles:
    """Compares the order in which the slice runs modules with that of the package."""

    def __init__(self, growth: Growth, importing: Importing) -> None:
        self._growth = growth
        self._program = growth.program
        self._importing = importing
        self._original: ImportRun | None = None
        self._forced: set[tuple[str, int, str]] = set()

    def settle(self) -> bool:
        """Keep one more import if a circle is entered from the wrong side; whether it was."""
        run = run_imports(self._program, self._growth.roots, self._kept_steps)
        for name, item in run.early:
            module = self._program.module(name)
            if module is not None and self._importing.bind_by_all_stars(module, item):
                return True
        if not run.blocked:
            return self._settle_effects(run)
        for asking, entered in run.blocked.items():
            if asking in self._of_package().blocked:
                continue
            for importer, index, bound, wanted in path_to(self._of_package(), entered):
                if self._force(importer, index, bound, wanted):
                    return True
        return any(
            self._importing.keep_stars_whole(asking)
            for asking in run.blocked
            if asking not in self._of_package().blocked
        )

    def _of_package(self) -> ImportRun:
        if self._original is None:
            self._original = run_imports(self._program, self._growth.roots, self._all_steps)
        return self._original

    def _settle_effects(self, run: ImportRun) -> bool:
        """Keep one more import of a module that is kept for what it does, if it would run too late.

        One that fires hooks imports those who hook in, be it that it uses no name of theirs.
        """
        effects = self._growth.effects
        places = {name: place for place, name in enumerate(run.entered)}
        for name in [each for each in effects if each in places]:
            module = self._program.module(name)
            for edge in import_edges(self._program, module) if module is not None else ():
                wanted = edge[-1]
                if (
                    wanted in effects
                    and places.get(wanted, -1) > places[name]
                    and not _is_entered_by(run, wanted, name)
                    and _is_entered_by(self._of_package(), wanted, name)
                    and self._force(*edge)
                ):
                    return True
        return False

    def _force(self, importer: str, index: int, bound: str, wanted: str) -> bool:
        """Have that import run ``wanted``; whether it is new that it does."""
        module = self._program.module(importer)
        assert module is not None
        piece = module.summary.pieces[index]
        edge = (importer, index, wanted)
        if piece.kind != "import":  # a function that it calls imports
            return False
        if edge in self._forced or self._enters(module, piece, wanted):
            return False
        self._forced.add(edge)
        cheapest = self._cheapest(module, piece, bound, wanted)
        self._importing.import_for_effect(importer, index, cheapest)
        return True

    def _enters(self, module: Module, piece: Piece, wanted: str) -> bool:
        """Whether the slice keeps an alias of that import which runs ``wanted``."""
        if not runs_always(piece):
            return False
        key = (module.name, piece.index)
        closure = self._growth.closure
        if key in closure.runs and wanted in with_packages(closure.runs[key].module):
            return True
        kept = {**closure.aliases.get(key, {}), **closure.stars.get(key, {})}
        return any(
            wanted in imported_modules(self._program, module, level, target, item)
            for bound, level, target, item in piece.imports
            if bound in kept or (bound == "*" and kept)
        )

    def _cheapest(self, module: Module, piece: Piece, bound: str, wanted: str) -> str:
        """Of the names of an import that run ``wanted``, one that brings nothing new if there is."""
        for name, level, target, item in piece.imports:
            if wanted not in imported_modules(self._program, module, level, target, item):
                continue
            source = self._program.module(self._program.import_target(module, level, target))
            if item is None or source is None or item in self._growth.kept_names(source):
                return name
        return bound

    # --- what the slice does when it is imported

    def _kept_steps(self, module: Module) -> Iterator[ImportStep]:
        """What the slice's share of ``module`` does when it is imported."""
        for piece in module.summary.pieces:
            key = (module.name, piece.index)
            if key not in self._growth.closure.kept or not runs_always(piece):
                continue
            if piece.kind == "import":
                yield ImportStep(piece.index, tuple(self._kept_entries(module, piece)), (), ())
            else:
                reads = tuple(self._names_read(module, piece))
                imports = tuple(self._called_imports(module, piece))
                yield ImportStep(piece.index, imports, reads, piece.binds)

    def _all_steps(self, module: Module) -> Iterator[ImportStep]:
        """What ``module`` itself does, with the functions that it calls."""
        for step in all_steps(module):
            called = self._called_imports(module, module.summary.pieces[step.index])
            yield replace(step, imports=step.imports or tuple(called))

    def _called_imports(self, module: Module, piece: Piece) -> Iterator[ImportEntry]:
        """What functions import that a statement calls, or that those call."""
        if piece.unit < 0 or piece.kind == "import":
            return
        engine = self._growth.engine
        latest = [engine.function(module, piece.unit)]
        seen = set(latest)
        for _ in range(_CALLS):
            facts = [fact for caller in latest for fact in engine.facts_of(caller)]
            latest = list(dict.fromkeys(fact[1] for fact in facts if fact[0] == f.CALL))
            latest = [called for called in latest if called not in seen]
            seen.update(latest)
            for called in latest:
                for op in called.unit.ops:
                    if op[0] == s.IMPORT:
                        target = self._program.import_target(called.module, op[2], op[3])
                        yield "", 0, target, op[4]

    def _kept_entries(self, module: Module, piece: Piece) -> Iterator[ImportEntry]:
        """The kept aliases of an import; a star that is cut down, name by name."""
        key = (module.name, piece.index)
        wanted = self._growth.closure.aliases.get(key, {})
        alone = self._growth.closure.runs.get(key)
        if alone is not None:
            yield alone.bound, alone.level, alone.target, alone.item
        for entry in piece.imports:
            bound, level, target, _ = entry
            if bound in wanted:
                yield entry
            elif bound == "*":
                for name in self._growth.closure.stars.get(key, ()):
                    yield name, level, target, name

    def _names_read(self, module: Module, piece: Piece) -> Iterator[tuple[str, str]]:
        """The names of other modules that a statement reads when it runs: (module, name)."""
        if piece.unit < 0:
            return
        engine = self._growth.engine
        followed = self._growth.followed.get(engine.function(module, piece.unit))
        for fact in followed.facts if followed is not None else ():
            if fact[0] == f.NAME and fact[1] != module.name and fact[4] >= 0:
                yield fact[1], fact[2]
            elif fact[0] == f.MODULE and len(fact) > 3:
                package, _, last = fact[1].rpartition(".")
                yield package, last


def _is_entered_by(run: ImportRun, name: str, importer: str) -> bool:
    """Whether a module runs because, directly or not, ``importer`` asks for it."""
    seen: set[str] = set()
    edge = run.entered.get(name)
    while edge is not None and edge[0] not in seen:
        if edge[0] == importer:
            return True
        seen.add(edge[0])
        edge = run.entered.get(edge[0])
    return False

"""What an ``except`` would do if an import failed that cannot: it never runs."""

from __future__ import annotations

from collections.abc import Iterable

from depslice.callgraph.engine.base import EngineState
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece


class Fallbacks(EngineState):
    """``try: from threading import RLock``, ``except ImportError: class RLock: …``."""

    def without_fallbacks(self, module: Module, pieces: tuple[int, ...]) -> Iterable[int]:
        """Those of ``pieces`` that can run; all of them if none seems to.

        Only over a whole program: a slice has the handlers of every ``try`` it keeps.
        """
        if not self.whole:
            return pieces
        return [each for each in pieces if not self._never_runs(module, each)] or pieces

    def _never_runs(self, module: Module, index: int) -> bool:
        pieces = module.summary.pieces
        piece = pieces[index]
        while piece.parent >= 0:
            parent = pieces[piece.parent]
            block = piece.path[len(parent.path)]
            if parent.kind == "try" and block == "handlers" and self._succeeds(module, parent):
                return True
            piece = parent
        return False

    def _succeeds(self, module: Module, attempt: Piece) -> bool:
        """Whether the body of a ``try`` only imports what every Python has."""
        depth = len(attempt.path)
        body = [
            each
            for each in module.summary.pieces
            if each.parent == attempt.index and each.path[depth] == "body"
        ]
        return all(each.kind == "import" and self._is_everywhere(each) for each in body)

    def _is_everywhere(self, statement: Piece) -> bool:
        return all(
            level <= 0
            and not self.program.is_module(target)
            and self.program.stubs.is_everywhere(target, name)
            for _, level, target, name in statement.imports
        )

"""What never runs: an ``except`` for an import that cannot fail, what type checkers alone see."""

from __future__ import annotations

from collections.abc import Iterable

from depslice.callgraph.engine.base import EngineState
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece


class IdlePieces(EngineState):
    """``except ImportError:`` of what every Python has, what stands under ``if TYPE_CHECKING:``."""

    def that_run(self, module: Module, pieces: tuple[int, ...]) -> Iterable[int]:
        """Those of ``pieces`` that can run; all of them if none seems to.

        What stands under ``if TYPE_CHECKING:`` does not (PEP 484). Imports there still tell what
        something is. A handler counts as idle only over a whole program: a slice has those of
        every ``try`` it keeps.
        """
        known = module.summary.pieces
        seen = [i for i in pieces if not known[i].type_checking or known[i].kind == "import"]
        pieces = tuple(seen) or pieces
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

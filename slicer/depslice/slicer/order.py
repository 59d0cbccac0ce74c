"""Dependency order of files: a file stands after those its kept imports name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from depslice.callgraph.program import Program
from depslice.slicer.closure import PieceKey
from depslice.slicer.cut import FileCut
from depslice.slicer.wiring import imported_modules


def dependency_order(
    program: Program, cuts: Mapping[str, FileCut], kept: Iterable[PieceKey]
) -> list[FileCut]:
    """Depth-first over the kept imports, by name where nothing decides (cycles are cut)."""
    needs: dict[str, dict[str, None]] = {}
    for name, index in sorted(kept):
        module = program.module(name)
        if module is None:
            continue
        piece = module.summary.pieces[index]
        for _, level, target, item in piece.imports:
            for other in imported_modules(program, module, level, target, item):
                if other in cuts and other != name:
                    needs.setdefault(name, {})[other] = None
    ordered: dict[str, FileCut] = {}
    for root in sorted(cuts):
        stack: list[tuple[str, list[str]]] = [(root, sorted(needs.get(root, ()), reverse=True))]
        visiting = {root}
        while stack:
            name, pending = stack[-1]
            if pending:
                following = pending.pop()
                if following not in ordered and following not in visiting:
                    visiting.add(following)
                    stack.append((following, sorted(needs.get(following, ()), reverse=True)))
                continue
            stack.pop()
            ordered.setdefault(name, cuts[name])
    return list(ordered.values())

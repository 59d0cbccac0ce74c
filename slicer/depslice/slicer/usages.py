"""Usages: callers and tests that show how a target is used."""

from __future__ import annotations

from depslice.callgraph.engine import facts as f
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Piece
from depslice.slicer.cut import FileCut
from depslice.slicer.model import RenderedFile, Slice
from depslice.slicer.pieces import enclosing_pieces, holding_piece
from depslice.slicer.render import cut_file


def usage_files(program: Program, found: Slice, most: int) -> tuple[RenderedFile, ...]:
    """The ``most`` nearest functions that call a target: same module first, tests next."""
    from depslice.slicer.slicing import engine_of

    engine = engine_of(program)
    targets = set(found.targets)
    simple = {t.partition(":")[2].rpartition(".")[2] for t in targets}
    callers: list[tuple[tuple[int, str, int], Module, Piece]] = []
    for file in program.project.files:
        module = program.module(file.module)
        if module is None or not any(name in program.text(module) for name in simple):
            continue
        for unit in module.summary.units:
            if unit.kind != "function":
                continue
            function = engine.function(module, unit.index)
            if function.id in targets:
                continue
            if any(
                fact[0] == f.CALL and fact[1].id in targets for fact in engine.facts_of(function)
            ):
                rank = 0 if any(t.startswith(module.name + ":") for t in targets) else 2
                if "test" in module.name:
                    rank = 1
                piece = holding_piece(module, unit.index)
                callers.append(((rank, module.name, unit.line), module, piece))
    kept: dict[str, tuple[Module, set[tuple[str | int, ...]]]] = {}
    seen: set[tuple[str, int]] = set()
    for _, module, piece in sorted(callers, key=lambda c: c[0]):
        if len(seen) >= most:
            break
        if (module.name, piece.index) in seen:
            continue
        seen.add((module.name, piece.index))
        paths = kept.setdefault(module.name, (module, set()))[1]
        paths.update(each.path for each in (piece, *enclosing_pieces(module, piece)))
    return tuple(
        RenderedFile(
            path=f"usages/{module.file.path}",
            text=cut_file(
                FileCut(
                    path=module.file.path,
                    module=module.name,
                    is_package=module.is_package,
                    text=program.text(module),
                    keep=frozenset(paths),
                )
            ),
            line_end=program.line_end(module),
        )
        for module, paths in kept.values()
    )

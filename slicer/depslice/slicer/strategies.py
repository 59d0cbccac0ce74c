"""Which context of a target is shown: R2E, section 3.2 ("naive", "full" and "sliced")."""

from __future__ import annotations

from depslice.callgraph.program import Module, Program
from depslice.slicer.cut import FileCut
from depslice.slicer.model import RenderedFile, Slice, Strategy
from depslice.slicer.pieces import enclosing_pieces, pieces_of_symbol
from depslice.slicer.render import cut_file
from depslice.slicer.wiring import import_edges


def naive_files(program: Program, found: Slice) -> tuple[RenderedFile, ...]:
    """The definitions of the targets alone."""
    wanted: dict[str, set[tuple[str | int, ...]]] = {}
    for target in found.targets:
        module = _module(program, target)
        for piece in pieces_of_symbol(module, target.partition(":")[2]):
            paths = wanted.setdefault(module.name, set())
            paths.update(each.path for each in (piece, *enclosing_pieces(module, piece)))
            for child in module.summary.pieces:
                if piece.kind == "class" and child.path[: len(piece.path)] == piece.path:
                    paths.add(child.path)
    return tuple(
        RenderedFile(
            path=module.file.path,
            text=cut_file(
                FileCut(
                    path=module.file.path,
                    module=name,
                    is_package=module.is_package,
                    text=program.text(module),
                    keep=frozenset(paths),
                )
            ),
            line_end=program.line_end(module),
        )
        for name, paths in sorted(wanted.items())
        for module in (_module(program, name),)
    )


def full_files(program: Program, found: Slice) -> tuple[RenderedFile, ...]:
    """The targets' files, whole, and the files of the repo that they import."""
    names: dict[str, None] = {}
    for target in found.targets:
        module = _module(program, target)
        for _, _, _, imported in import_edges(program, module):
            names.setdefault(imported)
    for target in found.targets:
        names.pop(target.partition(":")[0], None)
        names[target.partition(":")[0]] = None
    files: list[RenderedFile] = []
    for name in names:
        source = program.module(name)
        if source is not None:
            text, line_end = program.text(source), program.line_end(source)
            files.append(RenderedFile(path=source.file.path, text=text, line_end=line_end))
    return tuple(files)


def _module(program: Program, identifier: str) -> Module:
    module = program.module(identifier.partition(":")[0])
    assert module is not None
    return module


__all__ = ["Strategy", "full_files", "naive_files"]

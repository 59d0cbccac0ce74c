"""Imports as paths: which import statements make a module run."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Sequence

from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Piece
from depslice.slicer.pieces import runs_on_import

ImportEdge = tuple[str, int, str, str]  # importer, piece, bound name, imported module


def import_edges(program: Program, module: Module) -> Sequence[ImportEdge]:
    """The modules of the repo that running ``module`` imports, with the alias that does.

    Every slice of a program asks that of all that its targets run: so the answers are kept.
    """
    known = program.attachments.setdefault("import-edges", {})
    assert isinstance(known, dict)
    found: Sequence[ImportEdge] | None = known.get(module.name)
    if found is None:
        found = known[module.name] = tuple(_edges_of(program, module))
    return found


def _edges_of(program: Program, module: Module) -> Iterator[ImportEdge]:
    for piece in module.summary.pieces:
        if piece.kind == "import" and piece.owner < 0 and runs_on_import(piece):
            for bound, level, target, item in piece.imports:
                for name in imported_modules(program, module, level, target, item):
                    yield module.name, piece.index, bound, name


def imported_modules(
    program: Program, module: Module, level: int, target: str, item: str | None
) -> Iterator[str]:
    """The repo modules one alias makes run, packages first."""
    absolute = program.import_target(module, level, target)
    inner = f"{absolute}.{item}" if item and item != "*" else ""
    for name in (absolute, inner):
        if name and program.is_module(name):
            if name == inner:
                source = program.module(absolute)
                if (
                    source is not None
                    and item in source.summary.scope
                    and inner not in program.files
                ):
                    continue
            yield from with_packages(name)


def with_packages(name: str) -> Iterator[str]:
    """``a.b.c`` -> ``a``, ``a.b``, ``a.b.c``: importing the last runs them all."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def import_closure(
    program: Program, start: Iterable[str], known: Container[str] = ()
) -> dict[str, ImportEdge | None]:
    """Every module that importing ``start`` runs -> the import that first reaches it.

    But for those ``known``, which are known with all that they import in turn.
    """
    found: dict[str, ImportEdge | None] = {}
    queue: deque[str] = deque()
    for name in start:
        for package in with_packages(name):
            if package not in found and package not in known:
                found[package] = None
                queue.append(package)
    ahead = 0  # how many of the queue have been read
    while queue:
        if not ahead:
            program.load_several(queue)
            ahead = len(queue)
        ahead -= 1
        module = program.module(queue.popleft())
        if module is None:
            continue
        for edge in import_edges(program, module):
            if edge[3] not in found and edge[3] not in known:
                found[edge[3]] = edge
                queue.append(edge[3])
    return found


def is_dotted_import(piece: Piece, bound: str) -> list[str]:
    """The dotted modules of ``import bound.more`` in ``piece``."""
    return [
        target
        for name, level, target, item in piece.imports
        if name == bound and level == 0 and item is None
    ]

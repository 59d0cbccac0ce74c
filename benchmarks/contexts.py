"""What other tools would show of a function, cut out of its package so that it can be run.

A context is made as a :class:`Slice` whose cuts keep the definitions it names, the classes
around them, and the imports of what is kept: the same rendering, and the same replay, as
for a slice of ours.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "callgraph"))

from idle import _statements
from peers import PEERS, ask

from depslice.callgraph import Program
from depslice.callgraph.model import ReferenceKind
from depslice.slicer import RenderedFile, Slice, slice_symbols
from depslice.slicer.cut import FileCut, StatementPath


class Contexts:
    """The contexts of the functions of one top-level package."""

    def __init__(self, program: Program, top: str, environments: Path) -> None:
        """Slice the whole of ``top``, and ask pyan3 for its graph (or see it fail)."""
        self.program = program
        self.names = [name for name in program.files if name.partition(".")[0] == top]
        symbols = [
            symbol
            for name in self.names
            if (module := program.module(name)) is not None
            for symbol in program.symbol_table(module)
        ]
        self.whole = slice_symbols(program, symbols)
        [pyan] = [peer for peer in PEERS if peer.name == "pyan3"]
        answer = ask(pyan, program, environments)
        self.failure = answer.failure
        self.callees: dict[str, list[str]] = {}
        for reference in answer.graph.references(kind=ReferenceKind.CALL):
            self.callees.setdefault(reference.source, []).append(reference.target)

    def closure(self, target: str) -> Slice:
        """What pyan3's call graph reaches from ``target``, and the classes around it."""
        reached = self._reached(target)
        names = {each for known in reached for each in _and_what_holds(known)}
        modules = {each.partition(":")[0] for each in reached}
        cuts = tuple(
            _only(cut, names, modules)
            for cut in self.whole.cuts
            if any(m == cut.module or m.startswith(f"{cut.module}.") for m in modules)
        )
        return replace(self.whole, targets=(target,), cuts=cuts)

    def _reached(self, target: str) -> set[str]:
        reached, fresh = {target}, [target]
        while fresh:
            for callee in self.callees.get(fresh.pop(), ()):
                if callee not in reached:
                    reached.add(callee)
                    fresh.append(callee)
        return reached

    def file(self, target: str) -> list[RenderedFile]:
        """The file of ``target`` as it is, in packages that are empty."""
        file = self.program.files[target.partition(":")[0]]
        module = self.program.module(file.module)
        text = self.program.text(module) if module is not None else ""
        parents = [str(each / "__init__.py") for each in Path(file.path).parents][:-1]
        known = [each for each in parents if each in self.program.by_path and each != file.path]
        return [RenderedFile(path=file.path, text=text)] + [
            RenderedFile(path=each, text="") for each in known
        ]


def _and_what_holds(symbol: str) -> Iterable[str]:
    module, _, qualname = symbol.partition(":")
    qualname = qualname.partition(".<locals>")[0]
    while qualname:
        yield f"{module}:{qualname}"
        qualname = qualname.rpartition(".")[0]


def _only(cut: FileCut, names: set[str], modules: set[str]) -> FileCut:
    """Of a file the definitions in ``names``, and the imports of those and of what is outside."""
    kept: set[StatementPath] = set()
    aliases: dict[StatementPath, frozenset[str]] = {}
    for path, node, scope in _statements(cut):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if len(path) > 2:  # under a condition, which may read what is not there
                continue
            bounds = {each.asname or each.name.partition(".")[0] for each in node.names}
            stays = frozenset(bound for bound in bounds if _stays(cut, bound, names, modules))
            if stays and path in cut.keep:
                aliases[path] = stays
        elif f"{cut.module}:{scope}{getattr(node, 'name', '')}" in names:
            kept.add(path)
    keep = {path[:n] for path in kept | set(aliases) for n in range(2, len(path) + 1, 2)}
    return replace(cut, keep=frozenset(keep), aliases=aliases, stars={}, reexports={}, forms={})


def _stays(cut: FileCut, bound: str, names: set[str], modules: set[str]) -> bool:
    link = cut.links.get(bound)
    if link is None or link.module is None:
        return True
    return link.module in modules if link.name is None else f"{link.module}:{link.name}" in names

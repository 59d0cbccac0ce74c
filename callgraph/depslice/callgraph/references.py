"""The reference graph of a whole program: facts become references between symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.graph import ReferenceGraph
from depslice.callgraph.model import (
    Certainty,
    Reference,
    ReferenceKind,
    Site,
    Symbol,
    SymbolKind,
    Unresolved,
)
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import unpack

_Key = tuple[str, str, ReferenceKind]


def build_graph(
    program: Program,
    *,
    resolvers: Sequence[str] = ("own",),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    options: Mapping[str, str] | None = None,
) -> ReferenceGraph:
    """The reference graph of ``program``; its ``call`` part is the call graph.

    ``resolvers`` names the resolvers whose evidence is merged: ``own`` (the default),
    ``jedi``, ``pycg``, or a plug-in's.

    :raises ResolverUnavailable: a named resolver cannot run here.
    :raises OptionError: no resolver of that name.
    """
    modules = program.load_all(workers=workers, progress=progress)
    symbols = [symbol for module in modules for symbol in program.symbol_table(module).values()]
    collected = _Collected()
    if "own" in resolvers:
        engine = Engine(program, whole=True)
        engine.run(engine.all_functions(modules))
        for module in modules:
            for unit in module.summary.units:
                collected.add(program, engine.function(module, unit.index))
    graph = ReferenceGraph(
        symbols=symbols,
        references=collected.references(),
        unresolved=collected.unresolved,
        diagnostics=program.diagnostics,
    )
    others = [name for name in resolvers if name != "own"]
    if others:
        graph = _merge_others(program, graph, modules, symbols, others, options or {})
    return graph


def list_functions(program: Program, *, workers: int | None = None) -> list[Symbol]:
    """All functions and methods of the program, nested ones included, by path and line."""
    return [
        symbol
        for module in program.load_all(workers=workers)
        for symbol in program.symbol_table(module).values()
        if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    ]


class _Collected:
    """References under construction: sites, evidence and the strongest certainty of each."""

    def __init__(self) -> None:
        self._sites: dict[_Key, dict[Site, None]] = {}
        self._evidence: dict[_Key, dict[str, None]] = {}
        self._definite: set[_Key] = set()
        self._direct: set[_Key] = set()
        self.unresolved: dict[Unresolved, None] = {}

    def add(self, program: Program, function: Function) -> None:
        """The facts of one unit, as references of the symbol it belongs to."""
        source = source_symbol(function)
        for fact in function.facts:
            kind = fact[0]
            if kind == f.CALL:
                self._note(
                    source,
                    fact[1].id,
                    ReferenceKind.CALL,
                    fact[2],
                    fact[3],
                    fact[4],
                    direct=not fact[5],
                )
            elif kind == f.NAME:
                self._name(program, source, fact)
            elif kind == f.MEMBER and fact[6]:
                how = ReferenceKind.WRITE if fact[5] == "write" else ReferenceKind.READ
                target = f"{fact[1].id}.{fact[2]}"
                self._note(source, target, how, fact[3], True, "member")
            elif kind == f.INSTANCE:
                self._note(source, fact[1].id, ReferenceKind.CALL, fact[2], True, "instance")
            elif kind == f.INHERIT:
                self._note(
                    self._class_source(function, source),
                    fact[1].id,
                    ReferenceKind.INHERIT,
                    fact[2],
                    True,
                    "base",
                )
            elif kind == f.ANNOTATE:
                for target in program.definitions(fact[1], fact[2]):
                    self._note(source, target, ReferenceKind.ANNOTATE, fact[3], True, "annotation")
            elif kind == f.EXTERNAL and fact[3]:
                self._note(
                    source, f"external:{fact[1]}", ReferenceKind.CALL, fact[2], True, "external"
                )
            elif kind == f.MODULE:
                self._note(source, fact[1], ReferenceKind.IMPORT, fact[2], True, "module")
            elif kind == f.UNRESOLVED:
                self._unresolved(source, fact[1], fact[2], fact[3])
            elif kind == f.UNKNOWN and fact[3]:
                self._unresolved(source, fact[1], "unknown-receiver", fact[2])

    @staticmethod
    def _class_source(function: Function, source: str) -> str:
        for op in function.unit.ops:
            if op[0] == s.CLASS:
                return f"{function.module.name}:{function.module.summary.classes[op[2]].qualname}"
        return source

    def _name(self, program: Program, source: str, fact: f.Fact) -> None:
        written = fact[4] < 0
        kind = ReferenceKind.WRITE if written else ReferenceKind.READ
        for target in program.definitions(fact[1], fact[2]):
            self._note(source, target, kind, abs(fact[4]), True, "name")

    def _note(
        self,
        source: str,
        target: str,
        kind: ReferenceKind,
        pos: int,
        certain: bool,
        rule: str,
        *,
        direct: bool = True,
    ) -> None:
        key = (source, target, kind)
        line, column = unpack(abs(pos))
        if line:
            self._sites.setdefault(key, {})[Site(line=line, column=column)] = None
        self._evidence.setdefault(key, {})[rule] = None
        if certain:
            self._definite.add(key)
        if direct:
            self._direct.add(key)

    def _unresolved(self, source: str, name: str, reason: str, pos: int) -> None:
        line, column = unpack(abs(pos))
        self.unresolved[
            Unresolved(source=source, name=name, reason=reason, site=Site(line=line, column=column))
        ] = None

    def references(self) -> Iterator[Reference]:
        """The references, each once."""
        for key, evidence in self._evidence.items():
            source, target, kind = key
            yield Reference(
                source=source,
                target=target,
                kind=kind,
                sites=tuple(sorted(self._sites.get(key, ()))),
                certainty=Certainty.DEFINITE if key in self._definite else Certainty.POSSIBLE,
                evidence=tuple(sorted(evidence)),
                via_external=key not in self._direct,
            )


def source_symbol(function: Function) -> str:
    """The symbol a unit's references start from: its function, else the class or module body."""
    unit = function.unit
    module = function.module
    if unit.kind != "piece":
        return function.id
    if unit.owner >= 0:
        return f"{module.name}:{module.summary.classes[unit.owner].qualname}"
    return module.name


def _merge_others(
    program: Program,
    graph: ReferenceGraph,
    modules: Sequence[Module],
    symbols: Sequence[Symbol],
    names: Sequence[str],
    options: Mapping[str, str],
) -> ReferenceGraph:
    from depslice.callgraph.resolvers import load_resolvers
    from depslice.callgraph.resolvers.protocol import CallSite, ResolveRequest, ResolverFile

    sites: list[CallSite] = []
    for module in modules:
        for unit in module.summary.units:
            function_id = f"{module.name}:{unit.qualname}" if unit.kind != "piece" else module.name
            for op in unit.ops:
                if op[0] == s.CALL:
                    line, column = unpack(op[6])
                    sites.append(
                        CallSite(
                            source=function_id,
                            path=module.file.path,
                            name_site=Site(line=line, column=column),
                            text="",
                        )
                    )
    request = ResolveRequest(
        root=program.project.root,
        files=tuple(
            ResolverFile(
                path=m.file.path,
                module=m.name,
                is_package=m.is_package,
                source_root=m.file.source_root,
                text=program.text(m),
            )
            for m in modules
        ),
        symbols=tuple(symbols),
        call_sites=tuple(sites),
        options=dict(options),
    )
    for resolver in load_resolvers(names):
        result = resolver.resolve(request)
        graph = graph.merge(
            result.references, unresolved=result.unresolved, diagnostics=result.diagnostics
        )
    return graph


__all__ = ["Class", "build_graph", "list_functions", "source_symbol"]

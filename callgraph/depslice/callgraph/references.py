"""The reference graph of a whole program: facts become references between symbols."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.certainty import call_certainty
from depslice.callgraph.columns import Sites
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Class, Function, Lookup
from depslice.callgraph.graph import Direction, ReferenceGraph, Selection
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
from depslice.callgraph.remembered import recall_around, recall_graph, remember_graph
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
    with _without_collection():
        return _build(program, resolvers, workers, progress, options)


def build_around(
    program: Program,
    symbol_id: str,
    selection: Selection,
    *,
    direction: Direction,
    depth: int | None = None,
    resolvers: Sequence[str] = ("own",),
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    options: Mapping[str, str] | None = None,
) -> ReferenceGraph:
    """The part of :func:`build_graph` around a symbol and those inside of it.

    References of the ``selection`` within ``depth`` steps (``None``: any number), and their
    ends. Of a graph that is remembered, nothing else is read.

    :raises ResolverUnavailable: a named resolver cannot run here.
    :raises OptionError: no resolver of that name.
    :raises UnknownTarget: there is no such symbol.
    """
    if [*resolvers] == ["own"]:
        part = recall_around(program, symbol_id, selection, direction=direction, depth=depth)
        if part is not None:
            return part
    whole = build_graph(
        program, resolvers=resolvers, workers=workers, progress=progress, options=options
    )
    starts = whole.inside(symbol_id)
    return whole.select(selection).neighbourhood(starts, direction=direction, depth=depth)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let the cycle collector rest: nearly all that is made here stays, and none of it is
    garbage; walking it again and again costs a third of the time.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _build(
    program: Program,
    resolvers: Sequence[str],
    workers: int | None,
    progress: Callable[[int, int], None] | None,
    options: Mapping[str, str] | None,
) -> ReferenceGraph:
    graph = None
    if "own" in resolvers:
        graph = recall_graph(program)
        if graph is None:
            graph = _evaluated(program, workers, progress)
            remember_graph(program, graph)
    others = [name for name in resolvers if name != "own"]
    if graph is None or others:
        modules = program.load_all(workers=workers, progress=progress)
        if graph is None:
            symbols = _symbols(program, modules)
            graph = ReferenceGraph(symbols=symbols, diagnostics=program.diagnostics)
        graph = _merge_others(program, graph, modules, others, options or {})
    return graph


def _evaluated(
    program: Program, workers: int | None, progress: Callable[[int, int], None] | None
) -> ReferenceGraph:
    """What our own engine finds."""
    modules = program.load_all(workers=workers, progress=progress)
    engine = Engine(program, whole=True)
    engine.run(engine.all_functions(modules))
    program.stubs.save()
    collected = _Collected(program, engine)
    references: list[Reference] = []
    unresolved: list[Unresolved] = []
    for module in modules:
        for unit in module.summary.units:
            function = engine.function(module, unit.index)
            collected.add(function)
            function.noted, function.registers = {}, []  # the room is needed for what is made
        found, open_ = collected.take()
        references.extend(found)
        unresolved.extend(open_)
    engine.release()
    return ReferenceGraph(
        symbols=_symbols(program, modules),
        references=references,
        unresolved=unresolved,
        diagnostics=program.diagnostics,
    )


def _symbols(program: Program, modules: Iterable[Module]) -> list[Symbol]:
    return [symbol for module in modules for symbol in program.symbol_table(module).values()]


def list_functions(program: Program, *, workers: int | None = None) -> list[Symbol]:
    """All functions and methods of the program, nested ones included, by path and line."""
    return [
        symbol
        for module in program.load_all(workers=workers)
        for symbol in program.symbol_table(module).values()
        if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    ]


_WITH_ANOTHER = frozenset({"instance", "new", "post-init"})
"""Rules for calls that go with another of the same site, and are no alternative to it."""
_TOGETHER = {
    "__exit__": "__enter__",
    "__aexit__": "__aenter__",
    "__next__": "__iter__",
    "__anext__": "__aiter__",
    "__radd__": "__add__",
}
"""Methods of one protocol that one operation calls one after the other."""
_BUILTIN = frozenset({"K", "KM"})
_OURS = frozenset({"I", "B"})
_VAGUE = frozenset({"U", "P", "A", "E", "R", "X", "XI", "XM"})


class _Edge(NamedTuple):
    """What a fact says, wherever it holds."""

    target: str
    kind: ReferenceKind
    rule: str
    certain: bool = True
    direct: bool = True

    @property
    def is_call(self) -> bool:
        """Whether something of the repo is called."""
        return self.kind is ReferenceKind.CALL and not self.target.startswith("external:")

    @property
    def group(self) -> str:
        """Calls of one group are alternatives; those of two may both happen."""
        return self.rule if self.rule in _WITH_ANOTHER else ""


class _Gap(NamedTuple):
    """What a fact leaves open, wherever it holds."""

    name: str
    reason: str


class _Found:
    """A reference under construction."""

    __slots__ = ("certainty", "direct", "positions", "rules")

    def __init__(self) -> None:
        self.positions: set[int] = set()
        self.rules: set[str] = set()
        self.certainty = Certainty.POSSIBLE
        self.direct = False


class _Collected:
    """References under construction, by source and target."""

    def __init__(self, program: Program, engine: Engine) -> None:
        self._program = program
        self._engine = engine
        self._found: dict[_Key, _Found] = {}
        self._answers: dict[int, list[_Edge | _Gap]] = {}  # by serial number of the lookup
        self._unresolved: dict[tuple[str, str, str, int], None] = {}
        self._sites = Sites({})

    def add(self, function: Function) -> None:
        """The facts of one unit, as references of the symbol it belongs to."""
        source = source_symbol(function)
        noted = function.noted
        for index in sorted(noted):
            for fact in noted[index]:
                if fact[0] in (f.INHERIT, f.INHERIT_EXTERNAL):
                    owner = self._class_source(function, source)
                    for one in self._read(fact):
                        self._note(owner, one, fact[f.POSITION[fact[0]]], Certainty.DEFINITE)
            self._note_site(function, index, source, self.said(function, index))

    def said(self, function: Function, index: int) -> list[tuple[int, _Edge | _Gap]]:
        """What the facts of one operation say of the symbol that it belongs to."""
        said: list[tuple[int, _Edge | _Gap]] = []
        here = function.position(index)
        for fact in function.noted[index]:
            place = f.POSITION.get(fact[0])
            if place is None or fact[0] in (f.INHERIT, f.INHERIT_EXTERNAL):
                continue
            pos = here if abs(fact[place]) == f.HERE else fact[place]
            answer = self._answer(fact[1]) if fact[0] == f.ASKED else self._read(fact)
            said.extend([(pos, one) for one in answer])
        return said

    def _note_site(
        self, function: Function, index: int, source: str, said: list[tuple[int, _Edge | _Gap]]
    ) -> None:
        for pos, one, certainty in self.weighed(function, index, said):
            self._note(source, one, pos, certainty)

    def weighed(
        self, function: Function, index: int, said: list[tuple[int, _Edge | _Gap]]
    ) -> Iterator[tuple[int, _Edge | _Gap, Certainty]]:
        """What one operation says: its calls are weighed against each other."""
        alternatives: dict[str, set[str]] = {}
        for _, one in said:
            if isinstance(one, _Edge) and one.is_call:
                owner, _, name = one.target.rpartition(".")
                others = alternatives.setdefault(one.group, set())
                others.add(f"{owner}.{_TOGETHER.get(name, name)}")
        # Of the operation, whatever it may call.
        exact = bool(alternatives) and self._is_exact(function, index)
        doubted = bool(alternatives) and self._is_doubted(function, index)
        for pos, one in said:
            certainty = Certainty.DEFINITE
            if isinstance(one, _Edge):
                if one.is_call:
                    callees = len(alternatives[one.group])
                    certainty = call_certainty(
                        one.rule, shown=one.certain, callees=callees, exact=exact
                    )
                    if certainty is Certainty.DEFINITE and doubted:
                        certainty = Certainty.LIKELY
                elif not one.certain:
                    certainty = Certainty.POSSIBLE
            yield pos, one, certainty

    def _is_exact(self, function: Function, index: int) -> bool:
        """Whether the objects whose kind decides what the operation calls are all known."""
        if index < 0:
            return False
        op = function.unit.ops[index]
        values = self._engine.values
        deciding = 2 if op[0] in (s.BINARY, s.COMPARE) else 1
        for register in reads(op)[:deciding]:
            for value in function.registers[register]:
                kind = values[value]
                if kind[0] == "B":
                    kind = values[kind[2]]
                if kind[0] in _VAGUE or (kind[0] in ("I", "C") and not kind[2]):
                    return False
        return True

    def _is_doubted(self, function: Function, index: int) -> bool:
        """Whether what is worked on was guessed, or what is called partly answers by itself."""
        if index < 0:
            return False
        registers = [function.registers[register] for register in reads(function.unit.ops[index])]
        if any(self._engine.guess_id in values for values in registers[:2]):
            return True
        kinds = {self._engine.values[value][0] for values in registers[:1] for value in values}
        return not kinds.isdisjoint(_BUILTIN) and not kinds.isdisjoint(_OURS)

    def _answer(self, lookup: Lookup) -> list[_Edge | _Gap]:
        known = self._answers.get(lookup.serial)
        if known is None:
            known = self._answers[lookup.serial] = []
            for fact in lookup.facts:
                known.extend(self._answer(fact[1]) if fact[0] == f.ASKED else self._read(fact))
        return known

    def _read(self, fact: f.Fact) -> Iterable[_Edge | _Gap]:
        kind = fact[0]
        if kind == f.CALL:
            return (_Edge(fact[1].id, ReferenceKind.CALL, fact[4], fact[3], not fact[5]),)
        if kind == f.NAME:
            how = ReferenceKind.WRITE if fact[4] < 0 else ReferenceKind.READ
            targets = self._program.definitions(fact[1], fact[2])
            return [_Edge(target, how, "name") for target in targets]
        if kind == f.MEMBER and fact[6]:
            how = ReferenceKind.WRITE if fact[5] == "write" else ReferenceKind.READ
            return (_Edge(f"{fact[1].id}.{fact[2]}", how, "member"),)
        if kind == f.INSTANCE:
            return (_Edge(fact[1].id, ReferenceKind.CALL, "instance"),)
        if kind == f.INHERIT:
            return (_Edge(fact[1].id, ReferenceKind.INHERIT, "base"),)
        if kind == f.INHERIT_EXTERNAL:
            return (_Edge(f"external:{fact[1]}", ReferenceKind.INHERIT, "base"),)
        if kind == f.ANNOTATE:
            targets = self._program.definitions(fact[1], fact[2])
            return [_Edge(target, ReferenceKind.ANNOTATE, "annotation") for target in targets]
        if kind == f.EXTERNAL and fact[3]:
            return (_Edge(f"external:{fact[1]}", ReferenceKind.CALL, "external"),)
        if kind == f.MODULE:
            return (_Edge(fact[1], ReferenceKind.IMPORT, "module"),)
        if kind == f.UNRESOLVED:
            return (_Gap(fact[1], fact[2]),)
        if kind == f.UNKNOWN and fact[3]:
            return (_Gap(fact[1], "unknown-receiver"),)
        return ()

    @staticmethod
    def _class_source(function: Function, source: str) -> str:
        for op in function.unit.ops:
            if op[0] == s.CLASS:
                return f"{function.module.name}:{function.module.summary.classes[op[2]].qualname}"
        return source

    def _note(self, source: str, one: _Edge | _Gap, pos: int, certainty: Certainty) -> None:
        if isinstance(one, _Gap):
            self._unresolved[source, one.name, one.reason, abs(pos)] = None
            return
        key = (source, one.target, one.kind)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = _Found()
        found.positions.add(abs(pos))
        found.rules.add(one.rule)
        if certainty.rank < found.certainty.rank:
            found.certainty = certainty
        found.direct = found.direct or one.direct

    def take(self) -> tuple[list[Reference], list[Unresolved]]:
        """What has been added since the last time, each once; of whole modules."""
        references = [
            Reference(
                source=source,
                target=target,
                kind=kind,
                sites=self._sites.of(source, [p for p in sorted(found.positions) if p >> 12]),
                certainty=found.certainty,
                evidence=tuple(sorted(found.rules)),
                via_external=not found.direct,
            )
            for (source, target, kind), found in self._found.items()
        ]
        unresolved = [
            Unresolved(source=source, name=name, reason=reason, site=site)
            for source, name, reason, pos in self._unresolved
            for site in self._sites.of(source, (pos,))
        ]
        self._found = {}
        self._unresolved = {}
        return references, unresolved


class SiteCall(NamedTuple):
    """A call that one operation may make."""

    target: str
    rule: str
    certainty: Certainty
    position: int


def calls_of(
    program: Program, engine: Engine, function: Function
) -> Iterator[tuple[int, list[SiteCall]]]:
    """For every operation of an evaluated unit that calls: its index, and what it may call."""
    collected = _Collected(program, engine)
    for index in sorted(function.noted):
        calls = [
            SiteCall(one.target, one.rule, certainty, abs(pos))
            for pos, one, certainty in collected.weighed(
                function, index, collected.said(function, index)
            )
            if isinstance(one, _Edge) and one.kind is ReferenceKind.CALL
        ]
        if calls:
            yield index, calls


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
        symbols=graph.symbols,
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

"""The reference graph of a whole program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.arguments import check_kind, check_number, check_program, check_texts
from depslice.callgraph.collecting import Collected, source_symbol
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.errors import OptionError
from depslice.callgraph.graph import Direction, ReferenceGraph, Selection
from depslice.callgraph.model import Site, Symbol, SymbolKind, Unresolved
from depslice.callgraph.program import Module, Program
from depslice.callgraph.remembered import recall_around, recall_graph, remember_graph
from depslice.callgraph.resting import without_collection
from depslice.callgraph.summary import unpack
from depslice.callgraph.unknown import Words


@without_collection()
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
    :raises OptionError: no resolver of that name, or what is passed is of another type.
    """
    check_program(program)
    check_texts("resolvers", resolvers, "a list of names, such as ['own', 'jedi']")
    if not resolvers:
        raise OptionError("resolvers is empty: ['own'] is the default")
    workers = check_number("workers", workers, least=1)
    if progress is not None and not callable(progress):
        raise OptionError(f"progress must be a function of two numbers, or None: {progress!r:.60}")
    if options is not None:
        check_kind("options", options, Mapping, "a mapping, such as {'pycg.python': PATH}")
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


def _build(
    program: Program,
    resolvers: Sequence[str],
    workers: int | None,
    progress: Callable[[int, int], None] | None,
    options: Mapping[str, str] | None,
) -> ReferenceGraph:
    graph = None
    others = [name for name in resolvers if name != "own"]
    _refuse_unknown(others)
    if "own" in resolvers:
        graph = recall_graph(program)
        if graph is None:
            graph = _evaluated(program, workers, progress)
            remember_graph(program, graph)
    if graph is None or others:
        modules = program.load_all(workers=workers, progress=progress)
        if graph is None:
            symbols = _symbols(program, modules)
            graph = ReferenceGraph(symbols=symbols, diagnostics=program.diagnostics)
        graph = _merge_others(program, graph, modules, others, options or {}, progress)
    return graph


def _evaluated(
    program: Program, workers: int | None, progress: Callable[[int, int], None] | None
) -> ReferenceGraph:
    """What our own engine finds."""
    modules = program.load_all(workers=workers, progress=progress, sharing=True)
    engine = Engine(program, whole=True)
    engine.run(engine.all_functions(modules))
    program.stubs.save()
    engine.conclude()  # the room is needed for what is made
    collected = Collected(program, engine)
    for module in modules:
        for unit in module.summary.units:
            function = engine.function(module, unit.index)
            collected.add(function)
            function.noted, function.registers = {}, []
        collected.add_imports(module)
        collected.pack()
    collected.finish()
    unresolved = _in_words(program, engine, modules, [*collected.unresolved()])
    engine.release()
    return ReferenceGraph.of_merged(
        symbols=_symbols(program, modules),
        references=[*collected.references()],
        unresolved=unresolved,
        diagnostics=program.diagnostics,
    )


def _in_words(
    program: Program, engine: Engine, modules: Iterable[Module], found: list[Unresolved]
) -> list[Unresolved]:
    """With what the code says where a call has no name of its own: ``table[…]``, ``made(…)``."""
    nameless = {each.source for each in found if not each.name}
    if not nameless:
        return found
    units: dict[str, list[tuple[Module, s.Unit]]] = {}
    for module in modules:
        for unit in module.summary.units:
            source = source_symbol(engine.function(module, unit.index))
            if source in nameless:
                units.setdefault(source, []).append((module, unit))
    words = Words(program)
    return [each if each.name else words.named(each, units.get(each.source, ())) for each in found]


def _symbols(program: Program, modules: Iterable[Module]) -> list[Symbol]:
    return [symbol for module in modules for symbol in program.symbol_table(module).values()]


def list_functions(program: Program, *, workers: int | None = None) -> list[Symbol]:
    """All functions and methods of the program, nested ones included, by path and line.

    :raises OptionError: ``program`` is none, or ``workers`` no number from 1 on.
    """
    check_program(program)
    workers = check_number("workers", workers, least=1)
    return [
        symbol
        for module in program.load_all(workers=workers)
        for symbol in program.symbol_table(module).values()
        if symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
    ]


def _refuse_unknown(names: Sequence[str]) -> None:
    """See that there are such resolvers, before the work that they would add to."""
    if names:
        from depslice.callgraph.resolvers import load_resolvers

        load_resolvers(names)


def _merge_others(
    program: Program,
    graph: ReferenceGraph,
    modules: Sequence[Module],
    names: Sequence[str],
    options: Mapping[str, str],
    progress: Callable[[int, int], None] | None,
) -> ReferenceGraph:
    from depslice.callgraph.resolvers import load_resolvers
    from depslice.callgraph.resolvers.called import called_expressions
    from depslice.callgraph.resolvers.protocol import (
        CallSite,
        ResolveRequest,
        ResolverFile,
        resolved,
    )

    sites: list[CallSite] = []
    for module in modules:
        called = called_expressions(program.text(module))
        for unit in module.summary.units:
            function_id = f"{module.name}:{unit.qualname}" if unit.kind != "piece" else module.name
            for op in unit.ops:
                if op[0] == s.CALL:
                    line, column = unpack(op[6])
                    site = Site(line=line, column=column)
                    sites.append(
                        CallSite(
                            source=function_id,
                            path=module.file.path,
                            name_site=site,
                            text=called(site),
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
        progress=progress,
    )
    for resolver in load_resolvers(names):
        result = resolved(resolver, request)
        graph = graph.merge(
            result.references, unresolved=result.unresolved, diagnostics=result.diagnostics
        )
    return graph

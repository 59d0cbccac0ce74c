"""Statements that import modules without being an import, when their own module runs.

    importlib.import_module("pkg.words")
    for _, name, _ in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{name}")
    load_all()                              # a function that imports
    TABLE = {"words": load("pkg.words")}    # or imports what it is told

What the modules do when they run (they enter themselves in a table) counts as if an import
statement stood there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import IMPORTING
from depslice.callgraph.engine.values import Function
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Piece, Unit
from depslice.slicer.pieces import NAMED, runs_on_import
from depslice.slicer.wiring import imported_modules

_IMPORTING: Final = frozenset(name.rpartition(".")[2] for name in IMPORTING)
_RUNNING: Final = frozenset({"assign", "expr", "if", "loop", "with"})
_MOST: Final = 64
"""So many modules one statement may import: more are all that there is."""


def importing_statements(
    program: Program, engine: Engine, module: Module
) -> Iterator[tuple[Piece, list[str]]]:
    """The statements of ``module`` that import others so, and which."""
    for piece in module.summary.pieces:
        if piece.owner >= 0 or piece.unit < 0 or not runs_on_import(piece):
            continue
        unit = module.summary.units[piece.unit]
        function = engine.function(module, piece.unit)
        found: dict[str, None] = {}
        if _spells(unit):
            found |= dict.fromkeys(imported_by_name(engine.facts_of(function)))
        elif piece.kind in _RUNNING and _calls_what_imports(program, module, unit, piece.kind):
            facts = engine.facts_of(function)
            for fact in facts:
                if fact[0] == f.CALL:
                    found |= dict.fromkeys(_by_function(program, engine, fact[1]))
                    found |= dict.fromkeys(_passed(program, engine, fact[1], facts))
        if 0 < len(found) <= _MOST:
            yield piece, list(found)


def _spells(unit: Unit) -> bool:
    """Whether code has the name of a function that imports."""
    return any(op[0] in NAMED and op[NAMED[op[0]]] in _IMPORTING for op in unit.ops)


def imported_by_name(facts: Iterable[f.Fact]) -> Iterator[str]:
    """The modules that code imports by texts, as its facts state."""
    places = {fact[2] for fact in facts if fact[0] == f.EXTERNAL and fact[1] in IMPORTING}
    for fact in facts if places else ():
        if fact[0] == f.MODULE and fact[2] in places:
            yield fact[1]


def _by_function(program: Program, engine: Engine, function: Function) -> Iterator[str]:
    """The modules that a function imports, by statements and by texts."""
    for op in function.unit.ops:
        if op[0] == s.IMPORT:
            yield from imported_modules(program, function.module, op[2], op[3], op[4])
    if _spells(function.unit):
        yield from imported_by_name(engine.facts_of(function))


def _passed(
    program: Program, engine: Engine, function: Function, facts: Iterable[f.Fact]
) -> Iterator[str]:
    """The modules that ``function`` imports by names which it is passed, by ``facts`` of a caller."""
    if not _spells(function.unit):
        return
    opened: set[tuple[Function, int]] = set()
    for fact in engine.facts_of(function):
        if fact[0] == f.IMPORTED:
            kind = engine.values[fact[1]]
            while kind[0] == "R":  # `import_module(name)` of what callers have as `name`
                kind = engine.values[kind[1]]
            if kind[0] == "P":
                opened.add((kind[1], kind[2]))
    for fact in facts if opened else ():
        if fact[0] == f.PASS and (fact[1], fact[2]) in opened:
            for kind in [engine.values[each] for each in fact[3]]:
                if kind[0] == "S" and program.is_module(kind[1]):
                    yield kind[1]


def _calls_what_imports(program: Program, module: Module, unit: Unit, kind: str) -> bool:
    """Whether a statement calls a function of the repository that imports, as far as names tell.

    One that does for nothing but that, or by a name.
    """
    imports = _imports if kind == "expr" else _spells
    sources: dict[int, Module] = {}
    functions: set[int] = set()
    for op in unit.ops:
        if op[0] == s.GLOBAL:
            source = _module_named(program, module, op[2])
            if source is not None:
                sources[op[1]] = source
            elif any(imports(each) for each in _functions_named(program, module, op[2])):
                functions.add(op[1])
        elif op[0] == s.ATTR and op[2] in sources:
            if any(imports(each) for each in _functions_named(program, sources[op[2]], op[3])):
                functions.add(op[1])
        elif op[0] == s.CALL and op[2] in functions:
            return True
    return False


def _imports(unit: Unit) -> bool:
    return _spells(unit) or any(op[0] == s.IMPORT for op in unit.ops)


def _module_named(program: Program, module: Module, name: str) -> Module | None:
    """The module that an import of ``module`` binds to ``name``."""
    for index in module.summary.scope.get(name, ()):
        for alias, level, target, item in module.summary.pieces[index].imports:
            if alias == name:
                absolute = program.import_target(module, level, target)
                if item is not None:
                    absolute = f"{absolute}.{item}"
                elif level < 0 or target.partition(".")[0] == name:
                    absolute = target if level < 0 else name
                source = program.module(absolute)
                if source is not None:
                    return source
    return None


def _functions_named(program: Program, module: Module, name: str) -> Iterator[Unit]:
    """The functions that ``module`` has by that name: its own, or those that it imports."""
    for index in module.summary.scope.get(name, ()):
        piece = module.summary.pieces[index]
        source: Module | None = module
        for alias, level, target, item in piece.imports:
            if alias == name and item is not None:
                source = program.module(program.import_target(module, level, target))
                name = item
        if source is None:
            continue
        for each in source.summary.scope.get(name, ()) if piece.imports else (index,):
            defined = source.summary.pieces[each]
            if defined.kind == "def" and defined.unit >= 0:
                for op in source.summary.units[defined.unit].ops:
                    if op[0] == s.FUNCTION:
                        yield source.summary.units[op[2]]

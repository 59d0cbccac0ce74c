"""What modules say of each other: which of their units may have a variable of another module.

Syntax alone, of the modules that run: by the names that units spell, and by what they do with a
module. Most units say nothing of others' variables; so that few are evaluated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Op, Register, Unit
from depslice.slicer.pieces import NAMED

Names = dict[str, set[str]]
"""By module, the names of it that are a variable: its own, and those that imports bind to it."""
Held = dict[Register, "str | None"]
"""The modules of the program in registers of a unit; ``None``: what may be one."""
Place = tuple[Module, int]
"""A unit: its module and index."""

_OUT_OF: Final = frozenset({s.ITEM, s.ITER, s.SUB})
"""What gives something that a container holds."""
_GIVING_MODULES: Final = frozenset({"import_module", "modules"})
"""Names of what gives a module by its name."""
_MOST_IMPORTS: Final = 4  # by which a module is handed on from one to another
_PARTS: Final = frozenset({s.BY_NAME, s.ITEM, s.ITER, s.NARROW, s.PHI, s.SUB})
"""What gives the object itself, or something that it holds."""
_READING_NOTHING: Final = frozenset({s.CLASSVAR, s.FREE, s.GLOBAL, s.IMPORT, s.STRING, s.TOLD})
_TELLING: Final = frozenset({"__import__", "globals", "vars"})
"""Builtins that give a module, or what it has, without an import."""
_BY_NAME: Final = _TELLING | _GIVING_MODULES


@dataclass(slots=True)
class Spelled:
    """What one module says of others. Units go by their index.

    ``imports``: all that it imports, by absolute names, ``stars``: what of it by a star.
    ``bound``: the names that stand for modules of the program then (``None``: for one of several).
    ``importing``: by the name of what is imported, what it is called, and where it is from.
    ``names``: the units that spell a name. ``handing``: those that do more with modules than to
    read attributes of them, and with which; ``maybe``: what stands for modules then, perhaps.
    ``texts``: of these, and of those that get modules by their names, the units that have a text.
    ``storing``: of the latter, and of those with what stands for modules, perhaps, those that
    store attributes.

    None of it depends on which modules run, so that it lives as long as the program.
    """

    imports: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)
    bound: dict[str, str | None] = field(default_factory=dict)
    importing: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    names: dict[str, list[int]] = field(default_factory=dict)
    texts: dict[str, list[int]] = field(default_factory=dict)
    handing: dict[int, set[str]] = field(default_factory=dict)
    maybe: set[str] = field(default_factory=set)
    storing: dict[int, None] = field(default_factory=dict)


class Spelling:
    """Answers for ``modules`` of a program."""

    def __init__(self, program: Program, modules: Sequence[Module]) -> None:
        self._program = program
        self._starring: dict[str, list[Module]] = {}  # by what the star is of
        self._of: dict[str, Spelled] = {}
        self._binding: dict[str, dict[str, None]] = {}
        self._importing: dict[str, list[tuple[str, str, str]]] = {}  # module, its name, source
        self._names: dict[str, list[Place]] = {}
        self._texts: dict[str, list[Place]] = {}
        self._handing: dict[str, list[Place]] = {}  # by module
        self._storing: list[Place] = []
        self._held: dict[tuple[str, int], Held] = {}
        self._outside: dict[str, set[str]] = {}
        known = program.attachments.setdefault("spelled", {})
        assert isinstance(known, dict)
        for module in modules:
            spelled = known.get(module.name)
            if spelled is None:
                spelled = known[module.name] = self._read(module)
            self._of[module.name] = spelled
            for bound in spelled.bound.values():
                if bound is not None:
                    self._binding.setdefault(bound, {})[module.name] = None
            for source in spelled.stars:
                self._starring.setdefault(source, []).append(module)
            for item, found in spelled.importing.items():
                for alias, source in found:
                    self._importing.setdefault(item, []).append((module.name, alias, source))
            for into, by_name in ((self._names, spelled.names), (self._texts, spelled.texts)):
                for name, units in by_name.items():
                    into.setdefault(name, []).extend([(module, unit) for unit in units])
            self._storing += [(module, unit) for unit in spelled.storing]
            for unit, handed in spelled.handing.items():
                for each in sorted(handed):
                    self._handing.setdefault(each, []).append((module, unit))

    def of(self, module: Module) -> Spelled:
        """What a module says; nothing if it is none of them."""
        return self._of.get(module.name) or Spelled()

    def spelling(self, name: str) -> Sequence[Place]:
        """The units that spell a name, as far as they have anything of other modules."""
        return self._names.get(name, ())

    def handing(self, module: str) -> Sequence[Place]:
        """The units that do more with a module than to read attributes of it."""
        return self._handing.get(module, ())

    def storing_by_text(self) -> Sequence[Place]:
        """The units that store attributes on what may be a module, though no import says so."""
        return self._storing

    def having_text(self, text: str) -> Sequence[Place]:
        """Of those that name modules, or what they have, by texts: the units with this one."""
        return self._texts.get(text, ())

    def names_of(self, owner: Module, name: str) -> Names:
        """What a variable goes by, re-exports and star imports included."""
        found: Names = {owner.name: {name}}
        pending = [(owner.name, name)]
        while pending:
            source, known = pending.pop()
            aliases = [each[:2] for each in self._importing.get(known, ()) if each[2] == source]
            for module in self._starring.get(source, ()):
                if known not in module.summary.scope and self._has_from(module, known, source):
                    aliases.append((module.name, known))
            for importer, alias in aliases:
                if alias not in found.setdefault(importer, set()):
                    found[importer].add(alias)
                    pending.append((importer, alias))
        return found

    def _has_from(self, module: Module, name: str, source: str) -> bool:
        """Whether the star import of ``source`` gives ``module`` that name: the last one counts."""
        given_by = self._program.module(source)
        if given_by is None or name not in self._program.star_names(given_by):
            return False
        if len(self._of[module.name].stars) == 1:
            return True
        star = self._program.star_source(module, name)
        return star is not None and star[0] is given_by

    def held(self, module: Module, unit: Unit) -> Held:
        """The modules of the program in registers of ``unit``; ``None``: what may be one."""
        key = module.name, unit.index
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = self._find_held(module, unit, self._of[module.name])
        return held

    def modules_in(self, module: Module, unit: Unit) -> set[Register]:
        """The registers of ``unit`` in which there may be a module, of whatever name."""
        found = set(self.held(module, unit))
        giving = {op[1] for op in unit.ops if op[0] in NAMED and op[NAMED[op[0]]] in _BY_NAME}
        for op in unit.ops if giving else ():
            if (op[0] == s.CALL and op[2] in giving) or (
                op[0] in _PARTS and not (giving | found).isdisjoint(reads(op)[:1])
            ):
                found.add(op[1])
        return found

    def from_outside(self, module: Module) -> Collection[str]:
        """The names that imports of ``module`` bind to what the program does not have."""
        known = self._outside.get(module.name)
        if known is None:
            known = self._outside[module.name] = {
                alias if item is not None or level < 0 else alias.partition(".")[0]
                for piece in module.summary.pieces
                if piece.owner < 0
                for alias, level, target, item in piece.imports
                if alias != "*" and not self._is_inside(module, level, target)
            }
        return known

    def _is_inside(self, module: Module, level: int, target: str) -> bool:
        absolute = self._program.import_target(module, level, target)
        return self._program.is_module(absolute.partition(".")[0])

    def having(self, module: str) -> Iterable[str]:
        """The modules that have a module under a name of theirs."""
        return self._binding.get(module, ())

    def _module_of(self, dotted: str) -> str:
        """The module of the program that a dotted name stands for; the empty text if none is.

        ``app.lib`` where ``app`` has imported ``lib`` is that. What a package binds itself is not
        its module of that name: ``from .solve import solve``.
        """
        for _ in range(_MOST_IMPORTS):
            owner, _, name = dotted.rpartition(".")
            module = self._program.module(owner)
            found = None if module is None else _imported(module, name)
            further = dotted
            if module is not None and found is not None:
                level, target, item = found
                further = self._program.import_target(module, level, target)
                if item is not None:
                    further = f"{further}.{item}"
                elif level >= 0:
                    further = further.partition(".")[0]
            if further == dotted:  # `from . import name`, too
                return dotted if self._program.is_module(dotted) else ""
            dotted = further
        return ""

    def source(self, module: Module, op: Op) -> str:
        """The absolute name of the module that an import in ``module`` names."""
        return self._program.import_target(module, op[2], op[3])

    def _read(self, module: Module) -> Spelled:
        found = Spelled()
        imported = self._note_imports(module, found)
        silent: set[int] = set()
        for unit in module.summary.units:
            named = {op[2] for op in unit.ops if op[0] == s.GLOBAL}
            imports = [op for op in unit.ops if op[0] == s.IMPORT]
            if not imports and named.isdisjoint(imported):
                silent.add(unit.index)
                continue
            attributes = {op[3] for op in unit.ops if op[0] == s.ATTR}
            self._note_spelled(module, unit, named | attributes, imports, found)
            hands_on: set[str] = set()
            if imports or not named.isdisjoint(found.bound):
                hands_on = _hands_on(unit, self._find_held(module, unit, found))
            if hands_on:
                found.handing[unit.index] = hands_on
                found.maybe.update(_binds(unit))
            by_name = not _BY_NAME.isdisjoint(named | attributes)
            if by_name and _stores(unit):
                found.storing[unit.index] = None
            if hands_on or by_name:
                _note_texts(unit, found)
        for unit in module.summary.units if found.maybe else ():
            if any(op[0] in NAMED and op[NAMED[op[0]]] in found.maybe for op in unit.ops):
                _note_texts(unit, found)
                if unit.kind == "piece" and any(op[0] in _OUT_OF for op in unit.ops):
                    found.maybe.update(_binds(unit))  # `for module in MODULES: …`
                if _stores(unit):
                    found.storing[unit.index] = None
                if unit.index in silent:
                    named = {op[NAMED[op[0]]] for op in unit.ops if op[0] in NAMED}
                    self._note_spelled(module, unit, named, (), found)
        return found

    def _note_imports(self, module: Module, found: Spelled) -> set[str]:
        """The names by which code of ``module`` gets at what others have."""
        imported: set[str] = set(_TELLING)
        for piece in module.summary.pieces:
            for alias, level, target, item in piece.imports:
                absolute = self._program.import_target(module, level, target)
                found.imports.add(absolute)
                if alias == "*":
                    found.stars.append(absolute)
                    source = self._program.module(absolute)
                    imported |= self._program.star_names(source) if source is not None else set()
                    continue
                imported.add(alias)
                if item is not None:
                    if piece.owner < 0:
                        found.importing.setdefault(item, []).append((alias, absolute))
                    absolute = f"{absolute}.{item}"
                    found.imports.add(absolute)
                elif level >= 0:  # `import a.b` binds `a`
                    absolute = absolute.partition(".")[0]
                absolute = self._module_of(absolute)
                if absolute and piece.owner < 0:
                    of_before = found.bound.get(alias, absolute)
                    found.bound[alias] = absolute if of_before == absolute else None
        return imported

    def _note_spelled(
        self,
        module: Module,
        unit: Unit,
        names: set[str],
        imports: Sequence[Op],
        found: Spelled,
    ) -> None:
        for op in imports:
            found.imports.add(self.source(module, op))
            if op[4] is not None:
                names.add(op[4])
        for name in names:
            found.names.setdefault(name, []).append(unit.index)

    def _find_held(self, module: Module, unit: Unit, spelled: Spelled) -> Held:
        """The modules of the program in registers of ``unit``; ``None``: what may be one."""
        bound, maybe = spelled.bound, spelled.maybe
        held: Held = {}
        for op in unit.ops:
            code = op[0]
            if code == s.GLOBAL and op[2] in bound:
                held[op[1]] = bound[op[2]]
            elif code == s.IMPORT:
                absolute = self.source(module, op)
                absolute = self._module_of(absolute if op[4] is None else f"{absolute}.{op[4]}")
                if absolute:
                    held[op[1]] = absolute
            elif code == s.ATTR and held.get(op[2]) is not None:
                inner = self._module_of(f"{held[op[2]]}.{op[3]}")
                if inner:
                    held[op[1]] = inner
                elif op[3] in maybe:
                    held[op[1]] = None
            elif (code == s.GLOBAL and op[2] in maybe) or (
                code == s.ATTR and (op[3] in maybe or op[3] in _GIVING_MODULES)
            ):
                held[op[1]] = None
            elif code == s.CALL:
                if op[2] in held:
                    held[op[1]] = None
            elif code in _PARTS and held and not held.keys().isdisjoint(reads(op)[:1]):
                held.setdefault(op[1], None)
        return held


def _imported(module: Module, name: str) -> tuple[int, str, str | None] | None:
    """What an import of ``module`` binds ``name`` to: level, module, name there."""
    for index in module.summary.scope.get(name, ()):
        for alias, level, target, item in module.summary.pieces[index].imports:
            if alias == name:
                return level, target, item
    return None


def _stores(unit: Unit) -> bool:
    """Whether code stores an attribute."""
    return any(op[0] == s.SETATTR for op in unit.ops)


def _note_texts(unit: Unit, found: Spelled) -> None:
    for text in {op[2] for op in unit.ops if op[0] == s.STRING}:
        units = found.texts.setdefault(text, [])
        if unit.index not in units:
            units.append(unit.index)


def _hands_on(unit: Unit, held: Mapping[Register, str | None]) -> set[str]:
    """The modules that ``unit`` does more with than to read attributes, or names them itself."""
    modules = {register: module for register, module in held.items() if module is not None}
    found: set[str] = set()
    for op in unit.ops if modules else ():
        if op[0] == s.ATTR:
            if op[2] in modules and op[3].startswith("__"):
                found.add(modules[op[2]])
        elif op[0] == s.CALL and not op[4] and op[5] is None:
            if not modules.keys().isdisjoint(op[3]):
                found.update(modules[register] for register in op[3] if register in modules)
        elif op[0] not in _READING_NOTHING:
            found.update(modules[register] for register in reads(op) if register in modules)
    return found


def _binds(unit: Unit) -> Iterator[str]:
    """The names by which others get at what ``unit`` has: variables, attributes, itself."""
    if unit.kind == "function":
        yield unit.qualname.rpartition(".")[2]
    for op in unit.ops:
        if op[0] in (s.BIND, s.SETGLOBAL):
            yield op[1]
        elif op[0] == s.SETATTR:
            yield op[2]

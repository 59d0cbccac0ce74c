"""What the names of several modules stand for once they share one namespace.

Every name a module binds or imports is an :class:`Entity`: a definition of the
slice, something imported from outside it, or a module object. A re-export, an
``import ... as`` and an attribute of a module object are only other spellings
of an entity; :class:`Program` follows them.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from depslice.callgraph.program import top_bound
from depslice.slicer.cut import FileCut, Link
from depslice.slicer.render.flatten_scopes import (
    ImportedName,
    ImportStatement,
    ModuleScopes,
    Position,
    Scope,
    ScopeKind,
    Use,
    is_type_checking,
    lookup,
)
from depslice.slicer.render.flatten_spelled import makes_names

_BUILTINS = frozenset(dir(builtins))
# Modules that cost nothing and exist on every platform.
_EVERYWHERE = frozenset(
    {
        "abc",
        "collections",
        "collections.abc",
        "dataclasses",
        "enum",
        "functools",
        "io",
        "itertools",
        "os",
        "re",
        "sys",
        "time",
        "types",
        "typing",
    }
)
_LAST: Position = (1 << 30, 0)


class EntityKind(Enum):
    """What an entity is."""

    OWN = "own"  # bound by code of the slice
    EXTERNAL = "external"  # imported from outside the slice
    MODULE = "module"  # a module object of the slice


@dataclass(slots=True, eq=False)
class Entity:
    """A thing with a name in the flat file (``flat``, given out last).

    For ``EXTERNAL``, ``name`` is what is taken from ``module`` (``None``: the
    module itself), ``bound`` the name the source gives it. ``scopes`` records
    the blocks that refer to it: the spellings used there, and the last place.
    ``effect_only``: imported, but never used. ``made``: its module makes it when it
    runs, by a text, so that it has that very name.
    """

    kind: EntityKind
    module: str
    name: str | None
    bound: str
    flat: str = ""
    effect_only: bool = False
    made: bool = False
    scopes: dict[Scope, tuple[set[str], Position]] = field(default_factory=dict)

    def refer(self, scope: Scope, name: str, position: Position) -> None:
        """Record that code in ``scope`` refers to it as ``name``."""
        names, last = self.scopes.get(scope, (set(), position))
        names.add(name)
        self.scopes[scope] = names, max(last, position)


class Meaning(NamedTuple):
    """What a use refers to; ``consumed`` attributes of its chain belong to the name.

    ``imported_here``: through an import inside the function, not a global.
    """

    entity: Entity
    consumed: int
    imported_here: bool = False


@dataclass(slots=True, eq=False)
class Source:
    """One cut module: its text, its names, its place among the cuts."""

    cut: FileCut
    scopes: ModuleScopes
    index: int
    stars: list[str] = field(default_factory=list)
    outer_stars: tuple[str, ...] = ()  # those of modules outside, whose names nobody lists
    blocks: dict[str, str] = field(default_factory=dict)  # bound name -> shared block
    block_units: dict[int, str] = field(default_factory=dict)
    makes_names: bool = field(init=False)  # that nothing spells

    def __post_init__(self) -> None:
        self.makes_names = makes_names(self.scopes)

    @property
    def module(self) -> str:
        """The dotted name."""
        return self.cut.module


def absolute_module(node: ast.ImportFrom, cut: FileCut) -> str:
    """The dotted module an import-from names, relative levels resolved."""
    if not node.level:
        return cut.modules.get(node.module or "", node.module or "")
    parts = cut.module.split(".")
    drop = node.level - 1 if cut.is_package else node.level
    if drop >= len(parts):  # beyond the top: nothing it could mean
        return "." * node.level + (node.module or "")
    base = ".".join(parts[: len(parts) - drop])
    return f"{base}.{node.module}" if node.module else base


def imported_module(alias: ast.alias, cut: FileCut) -> str:
    """The module that ``import a.b`` binds, or ``import a.b as c``."""
    absolute = cut.modules.get(alias.name, alias.name)
    return absolute if alias.asname else top_bound(absolute, alias.name)


class Program:
    """The modules of a slice and what their names mean.

    ``roots`` are the modules that are imported first. ``sure`` has those that run
    whenever the roots are imported; ``optional`` those that are reached only under
    a module-level ``if`` or ``try``. The others are imported by functions.
    """

    def __init__(self, sources: list[Source], roots: Collection[str] = ()) -> None:
        self.sources = {one.module: one for one in sources}
        self.unbound: dict[str, list[tuple[Source, Use]]] = {}
        self.asked_by_text: set[str] = set()  # what stand-ins are asked for, and modules make
        self.known = {prefix for name in self.sources for prefix in (*parent_packages(name), name)}
        self._entities: dict[tuple[EntityKind, str, str | None, str], Entity] = {}
        self._resolved: dict[tuple[str, str], Entity | None] = {}
        self._local: dict[tuple[Scope, str], Entity | None] = {}
        self._written: set[tuple[str, str]] = set()
        self._ended: dict[str, dict[str, int]] = {}
        self._exported: dict[str, frozenset[str] | None] = {}
        self._met: dict[Source, set[str]] = {}
        for source in sources:
            stars = [
                absolute_module(one.node, source.cut)
                for one in source.scopes.imports
                if one.star and isinstance(one.node, ast.ImportFrom)
            ]
            source.stars = [base for base in stars if base in self.sources]
            source.outer_stars = tuple(base for base in stars if base not in self.sources)
            source.makes_names |= bool(source.outer_stars)
        self._bound_by_imports: dict[str, Counter[str]] = {}
        self.sure, self.optional = self._find_reached(roots or self.sources)
        self._hoisted = self._find_hoisted()
        self._find_written()
        self._find_blocks()

    # What may never run

    def run_by(self, source: Source, statement: ImportStatement) -> list[str]:
        """The modules of the slice that an import statement runs, as it is spelled.

        Each comes after its parent packages.
        """
        node = statement.node
        spelled: list[str] = []
        if isinstance(node, ast.ImportFrom):
            base = absolute_module(node, source.cut)
            spelled = [base, *(f"{base}.{one.name}" for one in node.names)]
        else:
            spelled = [source.cut.modules.get(one.name, one.name) for one in node.names]
        for one in statement.names:
            link = source.cut.links.get(one.bound)
            if (
                statement.scope.parent is None
                and link is not None
                and link.module is not None
                and self._is_bound_once(source, one.bound)
            ):
                spelled.append(link.module)
        return [
            module
            for one in spelled
            for module in (*parent_packages(one), one)
            if module in self.sources
        ]

    def _is_bound_once(self, source: Source, name: str) -> bool:
        """Whether one import of the module binds ``name``: a link is of what binds it last."""
        bound = self._bound_by_imports.get(source.module)
        if bound is None:
            bound = self._bound_by_imports[source.module] = Counter(
                one.bound
                for each in source.scopes.imports
                if each.scope.parent is None
                for one in each.names
            )
        return bound[name] == 1

    def _find_reached(self, roots: Iterable[str]) -> tuple[set[str], set[str]]:
        """The modules that are sure to run at load time, and the optional ones."""
        sure: set[str] = set()
        for root in roots:
            self._reach([*parent_packages(root), root], sure, _runs_always)
        required = set(sure)
        for module in sure:
            source = self.sources[module]
            for statement in source.scopes.imports:
                if not statement.guarded and not statement.typing_only:
                    self._reach(self.run_by(source, statement), required, _runs_when_called)
        self._reach(self._behind_branches(required), required, _runs_when_called)
        everything = set(required)
        for module in required:
            source = self.sources[module]
            for statement in source.scopes.imports:
                if statement.guarded:
                    self._reach(self.run_by(source, statement), everything, _runs_perhaps)
        return sure, everything - required

    def _behind_branches(self, modules: Iterable[str]) -> list[str]:
        """The modules that what one branch of a statement imports needs, and what another does.

        They run whichever is taken: ``if PROD: from prod import *``, ``else: from dev import *``,
        and both have ``from base import *``.
        """
        found: dict[str, None] = {}
        for module in sorted(modules):
            source = self.sources[module]
            by_unit: dict[int, list[ImportStatement]] = {}
            for statement in source.scopes.imports:
                if statement.guarded and not statement.typing_only:
                    by_unit.setdefault(statement.unit, []).append(statement)
            for statements in by_unit.values():
                if len(statements) > 1:
                    found.update(dict.fromkeys(sorted(self._met_twice(source, statements))))
        return list(found)

    def _met_twice(self, source: Source, statements: list[ImportStatement]) -> set[str]:
        """The modules that imports in different branches of one statement lead to, both."""
        direct = {module for one in statements for module in self.run_by(source, one)}
        within = [{id(node) for each in one.suite for node in ast.walk(each)} for one in statements]
        leading: dict[str, list[int]] = {}
        for number, one in enumerate(statements):
            for module in self._behind(source, one) - direct:
                leading.setdefault(module, []).append(number)
        return {
            module
            for module, numbers in leading.items()
            if any(
                id(statements[number].node) not in within[numbers[0]]
                and id(statements[numbers[0]].node) not in within[number]
                for number in numbers[1:]
            )
        }

    def _behind(self, source: Source, statement: ImportStatement) -> set[str]:
        reached: set[str] = set()
        self._reach(self.run_by(source, statement), reached, _runs_always)
        return reached

    def _reach(
        self,
        modules: Iterable[str],
        reached: set[str],
        follows: Callable[[ImportStatement], bool],
    ) -> None:
        waiting = [one for one in modules if one in self.sources]
        while waiting:
            module = waiting.pop()
            if module in reached:
                continue
            reached.add(module)
            source = self.sources[module]
            for statement in source.scopes.imports:
                if not statement.typing_only and follows(statement):
                    waiting.extend(self.run_by(source, statement))

    def _find_hoisted(self) -> set[tuple[str, str | None, str]]:
        """The external names that modules which are sure to run import directly."""
        return {
            self._external_key(source, one)
            for source in self.sources.values()
            if source.module not in self.optional
            for statement in source.scopes.imports
            if statement.direct and not statement.typing_only
            for one in statement.names
        }

    def _external_key(self, source: Source, one: ImportedName) -> tuple[str, str | None, str]:
        node = one.statement.node
        if isinstance(node, ast.ImportFrom):
            return absolute_module(node, source.cut), one.node.name, one.bound
        return imported_module(one.node, source.cut), None, one.bound

    def hoists(self, source: Source, one: ImportedName) -> bool:
        """Whether an external import may move to the top of the flat file."""
        if not one.statement.direct:
            return False
        if source.module not in self.optional or one.statement.typing_only:
            return True
        module, _, _ = key = self._external_key(source, one)
        return key in self._hoisted or module in _EVERYWHERE

    # Entities

    def entity(
        self, kind: EntityKind, module: str, name: str | None = None, bound: str = ""
    ) -> Entity:
        """The one entity with these coordinates."""
        key = kind, module, name, bound
        found = self._entities.get(key)
        if found is None:
            found = self._entities[key] = Entity(kind, module, name, bound)
        return found

    def entities(self) -> list[Entity]:
        """All entities met so far, in the order in which they were met."""
        return list(self._entities.values())

    def module_entity(self, module: str) -> Entity:
        """The module object of ``module``."""
        return self.entity(EntityKind.MODULE, module, None, identifier(module.rpartition(".")[2]))

    def resolve(self, module: str, name: str) -> Entity | None:
        """What attribute ``name`` of ``module`` is; ``None`` when the slice lacks it."""
        key = module, name
        if key not in self._resolved:
            self._resolved[key] = None  # a cycle of re-exports binds nothing
            self._resolved[key] = self._resolve(module, name)
        return self._resolved[key]

    def _resolve(self, module: str, name: str) -> Entity | None:
        source = self.sources.get(module)
        made: Entity | None = None
        if source is not None:
            found = self._bound(source, name)
            if found is not None:
                return found
            if self._may_make(source, name):
                made = self.entity(EntityKind.OWN, module, name, name)
                made.made, made.flat = True, name
            lasting = {*self._given(source, name)}
            if len(lasting) > 1:  # the last one that there is
                return self.entity(EntityKind.OWN, module, name, name)
            if lasting:
                target = lasting.pop()
                copied = self._is_rebound(target)
                return self.entity(EntityKind.OWN, module, name, name) if copied else target
            for star in source.stars:
                made = made or self.given_by_star(star, name)
        submodule = f"{module}.{name}"
        return self.module_entity(submodule) if submodule in self.known else made

    def given_by_star(self, module: str, name: str) -> Entity | None:
        """What ``name`` is that a star of ``module`` binds, a module of the slice; if it does."""
        exported = self._exports(module)
        public = not name.startswith("_") if exported is None else name in exported
        return self.resolve(module, name) if public else None

    def _given(self, source: Source, name: str) -> Iterator[Entity]:
        """What stars of ``source`` give under ``name``, if its statements bind that."""
        for star in source.stars:
            found = self.given_by_star(star, name)
            if found is not None and not found.made:
                yield found

    def names_met(self, source: Source) -> set[str]:
        """The names that ``source`` binds and has of a star, or of several, or that others rebind."""
        if source not in self._met:
            self._met[source] = self._find_met(source)
        return self._met[source]

    def _find_met(self, source: Source) -> set[str]:
        scopes = source.scopes
        names = {*scopes.scope.bound, *scopes.scope.imports, *scopes.rebound, *scopes.deleted}
        names |= {*source.cut.overriding}
        names |= {name for module, name in self._written if module == source.module}
        given = [self._names_in(star, set()) for star in source.stars]
        counts = Counter(name for each in given for name in each)
        return {
            name
            for name, count in counts.items()
            if count > 1 or name in names or any(map(self._is_rebound, self._given(source, name)))
        }

    def _names_in(self, module: str, seen: set[str]) -> set[str]:
        """The names that statements of ``module`` bind, and those that its stars give."""
        source = self.sources.get(module)
        if source is None or module in seen:
            return set()
        seen.add(module)
        scope = source.scopes.scope
        own = {*scope.bound, *scope.imports, *source.scopes.rebound}
        return own.union(*(self._names_in(star, seen) for star in source.stars))

    def _may_make(self, source: Source, name: str) -> bool:
        """Whether ``source`` may make ``name`` when it runs, or some function of it."""
        return (
            not name.startswith("__")
            and name not in _BUILTINS
            and source.makes_names
            and not source.scopes.scope.binds("__getattr__")
        )

    def _bound(self, source: Source, name: str) -> Entity | None:
        scope = source.scopes.scope
        if name in source.blocks:
            return self.entity(EntityKind.OWN, source.blocks[name], name, name)
        own = (
            name in scope.bound
            or name in source.scopes.rebound
            or name in source.scopes.deleted
            or (source.module, name) in self._written
            or name in source.cut.overriding
        )
        imported = scope.imports.get(name, [])
        if not own and imported:
            targets = {self.target(source, one) for one in imported}
            target = targets.pop()
            own = (
                bool(targets)
                or self._must_copy(source, target, imported)
                or not {*self._given(source, name)} <= {target}
            )
            if not own:
                return target
        return self.entity(EntityKind.OWN, source.module, name, name) if own else None

    def _must_copy(self, source: Source, target: Entity, imported: list[ImportedName]) -> bool:
        """Whether an imported name is more than another spelling of ``target``."""
        if target.kind is EntityKind.EXTERNAL:
            # Imported under a condition: the statement stays where it is.
            return not all(self.hoists(source, one) for one in imported)
        return self._is_rebound(target)

    def _is_rebound(self, target: Entity) -> bool:
        """Whether it is bound anew later, while who has imported it keeps what it was."""
        owner = self.sources.get(target.module)
        return target.kind is EntityKind.OWN and (
            (target.module, target.name) in self._written
            or (owner is not None and target.name in owner.scopes.rebound)
        )

    def _exports(self, module: str) -> frozenset[str] | None:
        """The names of a literal ``__all__``; ``None`` when it is not that simple."""
        if module not in self._exported:
            self._exported[module] = _literal_exports(self.sources[module].scopes.tree)
        return self._exported[module]

    def target(self, source: Source, imported: ImportedName) -> Entity:
        """What an import alias fetches."""
        node, alias, cut = imported.statement.node, imported.node, source.cut
        spelled: Entity | None = None
        if isinstance(node, ast.ImportFrom):
            module, name = absolute_module(node, cut), alias.name
            if module in self.known:
                spelled = self.resolve(module, name)
                if spelled is None and f"{module}.{name}" in self.known:
                    # `from . import a` in the package itself: `a` is this very name.
                    spelled = self.module_entity(f"{module}.{name}")
            link = cut.links.get(imported.bound)
            if (
                (spelled is None or spelled.made)
                and link is not None
                and link.name == name
                and link.outside
            ):
                module, spelled = link.outside, None  # `module` has it by a star
            external = self.entity(EntityKind.EXTERNAL, module, name, imported.bound)
        else:
            module = imported_module(alias, cut)
            if module in self.known:
                spelled = self.module_entity(module)
            external = self.entity(EntityKind.EXTERNAL, module, None, imported.bound)
        if imported.statement.scope.parent is not None:
            return spelled or external
        link = cut.links.get(imported.bound)
        alone = len(source.scopes.scope.imports.get(imported.bound, ())) == 1
        if link is None or (alone and link.module is None):
            # The analysis saw the whole repository and knows it for external.
            return external if link is not None else spelled or external
        linked = self._linked(link)
        return (linked or spelled or external) if alone else (spelled or linked or external)

    def _linked(self, link: Link) -> Entity | None:
        if link.module is None or link.module not in self.known:
            return None
        if link.name is None:
            return self.module_entity(link.module)
        found = self.resolve(link.module, link.name)
        return None if found is not None and found.made and link.outside else found

    def local_alias(self, source: Source, scope: Scope, name: str) -> Entity | None:
        """What a name that a function binds only by importing it from the slice stands for."""
        key = scope, name
        if key not in self._local:
            found: Entity | None = None
            if scope.kind is ScopeKind.FUNCTION and name not in scope.bound:
                targets = {self.target(source, one) for one in scope.imports.get(name, ())}
                if len(targets) == 1:
                    found = targets.pop()
            external = found is not None and found.kind is EntityKind.EXTERNAL
            self._local[key] = None if external else found
        return self._local[key]

    def meaning(self, source: Source, use: Use) -> Meaning | None:
        """What a use refers to.

        ``None`` for local names and for those that nothing binds (builtins), which
        are added to ``unbound``.
        """
        binds = use.stores and not use.chain
        scope = lookup(use.scope, use.name, _LAST if binds else use.start)
        local = scope.parent is not None
        if local:
            entity = self.local_alias(source, scope, use.name)
        elif not binds and self._reads_builtin(source, use):
            entity = None
        else:
            entity = self.resolve_global(source, use.name)
        if entity is None:
            if not local:
                self.unbound.setdefault(use.name, []).append((source, use))
            return None
        consumed = 0
        limit = len(use.chain) - use.dotted
        while entity.kind is EntityKind.MODULE and consumed < limit:
            member = self.resolve(entity.module, use.chain[consumed].attr)
            if member is None:
                break
            if member.made:  # its stand-in tells whether it is there
                self.asked_by_text.add(member.flat)
                break
            entity, consumed = member, consumed + 1
        return Meaning(entity, consumed, local)

    def resolve_global(self, source: Source, name: str) -> Entity | None:
        """What a name means at module scope.

        The import system binds a submodule in its package, so there it is a name.
        """
        if name in _BUILTINS and not source.scopes.scope.binds(name) and not source.stars:
            return None
        return self.resolve(source.module, name)

    def _reads_builtin(self, source: Source, use: Use) -> bool:
        """Whether a builtin is read that the module shadows only later, or no longer.

        Functions run when the module has: what it deletes last is gone then. Of what it makes
        itself, the statements stand in the flat file, and so does the `del`: who reads it before finds it.
        """
        scope = source.scopes.scope
        if use.name in _BUILTINS and use.name in source.scopes.deleted:
            end = self._deleted_in(source).get(use.name)
            if end is not None and (not use.eager or use.unit > end):
                return not self._makes_before(source, use.name, end)
        return (
            use.eager
            and use.name in _BUILTINS
            and scope.binds(use.name)
            and use.start < scope.first_binding(use.name)
            and not any(True for _ in self._given(source, use.name))
        )

    def _makes_before(self, source: Source, name: str, end: int) -> bool:
        """Whether a statement before ``end``, which deletes it, binds a name without importing it."""
        line, _ = source.scopes.scope.bound[name]  # a `del` binds, too
        return line < source.scopes.tree.body[end].lineno

    def _deleted_in(self, source: Source) -> dict[str, int]:
        """The names that a module no longer has when it has run, and the statement that ends them."""
        found = self._ended.get(source.module)
        if found is None:
            found = self._ended[source.module] = {
                node.id: unit
                for unit, statement in enumerate(source.scopes.tree.body)
                if isinstance(statement, ast.Delete)
                for target in statement.targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)
            }
            for name, units in self._binders(source).items():
                if name in found and max(units) > found[name]:
                    del found[name]
        return found

    def _find_written(self) -> None:
        """Find the module attributes that code of another module rebinds (``m.X = 1``)."""
        for source in self.sources.values():
            for use in source.scopes.uses:
                if not use.stores or not use.chain or use.dotted:
                    continue
                *path, last = use.chain
                if isinstance(last.ctx, ast.Del):  # binds nothing, so need not be bound here
                    continue
                holder = self._holder(source, use, path)
                if holder is not None and holder in self.sources:
                    self._written.add((holder, last.attr))
        self._forget()

    def _holder(self, source: Source, use: Use, path: list[ast.Attribute]) -> str | None:
        scope = lookup(use.scope, use.name, use.start)
        entity = (
            self.resolve_global(source, use.name)
            if scope.parent is None
            else self.local_alias(source, scope, use.name)
        )
        for step in path:
            if entity is None or entity.kind is not EntityKind.MODULE:
                return None
            entity = self.resolve(entity.module, step.attr)
        if entity is None or entity.kind is not EntityKind.MODULE:
            return None
        return entity.module

    def _find_blocks(self) -> None:
        """Let modules share an import fallback that they spell in the same words.

        ``try: import tomllib`` / ``except ImportError: import tomli as tomllib``
        in five modules would otherwise bind five names.
        """
        found: dict[Source, dict[int, str]] = {}
        for source in self.sources.values():
            if source.module in self.optional:
                continue
            binders = self._binders(source)
            for unit, statement in enumerate(source.scopes.tree.body):
                gathered = isinstance(statement, ast.If) and is_type_checking(statement.test)
                if isinstance(statement, (ast.If, ast.Try)) and not gathered:
                    key = self._block_key(source, unit, statement, binders)
                    if key is not None:
                        found.setdefault(source, {})[unit] = key
        for source, units in found.items():
            binders = self._binders(source)
            source.block_units = units
            source.blocks = {
                name: units[unit]
                for name, places in binders.items()
                for unit in places
                if unit in units
            }
        self._forget()

    def _binders(self, source: Source) -> dict[str, set[int]]:
        places: dict[str, set[int]] = {}
        for use in source.scopes.uses:
            if use.stores and not use.chain and use.scope.parent is None:
                places.setdefault(use.name, set()).add(use.unit)
        for name, imported in source.scopes.scope.imports.items():
            places.setdefault(name, set()).update(one.statement.unit for one in imported)
        return places

    def _block_key(
        self, source: Source, unit: int, statement: ast.stmt, binders: dict[str, set[int]]
    ) -> str | None:
        loads: set[str] = set()
        imports = False
        for node in ast.walk(statement):
            if not isinstance(node, _PLAIN_NODES):
                return None
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                imports = True
                if isinstance(node, ast.ImportFrom) and (
                    node.level or node.module in self.known or node.names[0].name == "*"
                ):
                    return None
                if isinstance(node, ast.Import) and any(
                    one.name.partition(".")[0] in self.known for one in node.names
                ):
                    return None
            if isinstance(node, ast.ExceptHandler) and node.name is not None:
                return None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                loads.add(node.id)
        bound = {name for name, places in binders.items() if unit in places}
        if not imports or any(binders[name] != {unit} for name in bound):
            return None
        if any(
            name in source.scopes.rebound
            or name in source.scopes.deleted
            or (source.module, name) in self._written
            for name in bound
        ):
            return None
        meanings: list[str] = []
        for name in sorted(loads - bound):
            entity = self.resolve_global(source, name)
            if entity is None:
                meanings.append(name)
            elif entity.kind is EntityKind.EXTERNAL:
                meanings.append(f"{entity.module}:{entity.name}:{entity.bound}")
            else:
                return None
        return f"<block> {ast.dump(statement)} {meanings}"

    def _forget(self) -> None:
        self._resolved.clear()
        self._local.clear()
        self._entities.clear()


_PLAIN_NODES = (
    ast.If,
    ast.Try,
    ast.ExceptHandler,
    ast.Import,
    ast.ImportFrom,
    ast.alias,
    ast.Pass,
    ast.Assign,
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Tuple,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.expr_context,
)


def _runs_always(statement: ImportStatement) -> bool:
    return statement.eager and not statement.guarded


def _runs_when_called(statement: ImportStatement) -> bool:
    return not statement.guarded


def _runs_perhaps(_: ImportStatement) -> bool:
    return True


def _literal_exports(tree: ast.Module) -> frozenset[str] | None:
    names: set[str] = set()
    found = False
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AugAssign(target=ast.Name(id="__all__"), value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
            ):
                if not isinstance(value, (ast.List, ast.Tuple)):
                    return None
                for item in value.elts:
                    if not isinstance(item, ast.Constant) or not isinstance(item.value, str):
                        return None
                    names.add(item.value)
                found = True
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="__all__")))):
                return None
            case _:
                pass
    return frozenset(names) if found else None


def identifier(text: str) -> str:
    """A dotted or file name as an identifier."""
    name = re.sub(r"\W", "_", text)
    return f"_{name}" if not name.isidentifier() or keyword.iskeyword(name) else name


def parent_packages(module: str) -> Iterator[str]:
    """The dotted names of the packages around ``module``, outermost first."""
    parts = module.split(".")
    for length in range(1, len(parts)):
        yield ".".join(parts[:length])


def module_scope_import(statement: ImportStatement, bound: str) -> bool:
    """Whether an import binds ``bound`` in the module's scope."""
    return statement.scope.parent is None or bound in statement.scope.global_names

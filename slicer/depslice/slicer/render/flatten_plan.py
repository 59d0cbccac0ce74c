"""What the flat file consists of: what stays, what is used, what it is called."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import partial

from depslice.slicer.render.flatten_imports import External, ImportPlan, Phase, plan_import
from depslice.slicer.render.flatten_names import Entity, EntityKind, Meaning, Program, Source
from depslice.slicer.render.flatten_naming import give_names
from depslice.slicer.render.flatten_order import Unit, execution_order
from depslice.slicer.render.flatten_scopes import Place, Scope, Use, is_type_checking
from depslice.slicer.render.flatten_shadowed import shadowed_in_part

Distances = dict[tuple[str, str], int]
"""How far the top-level name of a module is from the nearest target."""

KNOWN_ATTRIBUTES = frozenset({"__name__", "__file__"})
"""Attributes of a module object that can be written without the object."""

VIEW_BUILTINS = frozenset({"globals", "super", "KeyError", "AttributeError", "property"})
"""The builtins that the code of stand-ins uses."""


class FlatPlan:
    """Everything there is to know before the first line is written.

    * ``meanings``: per module, the uses that mean an entity; all of those that
      are referred to have their ``flat`` names.
    * ``imports``: per module, what becomes of each import statement.
    * ``order``: the statements in the order of the flat file, without ``dropped``.
    * ``references``: how often code that stays refers to an entity.
    * ``externals``: what is imported at the top.
    * ``standins``: the module objects that are used as values, and their members.
    * ``spelled_lazy``: whether annotations that a module keeps as texts are spelled as texts,
      since another module of the file has theirs evaluated.
    * ``shadowed``: per module, the builtins that it may bind or not, and the statement that may.
    * ``view``, ``named``: the class of stand-ins and the decorator that restores
      the names of renamed definitions, neither of which the source has.
    """

    def __init__(self, program: Program, roots: list[str], distances: Distances) -> None:
        self.program = program
        self._distances = distances
        self.sources = list(program.sources.values())
        self._by_scope = {one.scopes.scope: one for one in self.sources}
        self.meanings: dict[str, list[tuple[Use, Meaning]]] = {
            source.module: [
                (use, meaning)
                for use in source.scopes.uses
                for meaning in [program.meaning(source, use)]
                if meaning is not None
            ]
            for source in self.sources
        }
        self.imports: dict[str, list[ImportPlan]] = {
            source.module: [plan_import(program, source, one) for one in source.scopes.imports]
            for source in self.sources
        }
        self.order = execution_order(program, self.meanings, roots)
        for plan in (plan for plans in self.imports.values() for plan in plans):
            plan.inlined = bool(self.order.inlined.get(id(plan.statement.node)))
        self.dropped = self._dropped_units()
        self.spelled_lazy = any(one.scopes.lazy_annotations for one in self.sources) and any(
            one.scopes.annotations and not one.scopes.lazy_annotations for one in self.sources
        )
        self.references: Counter[Entity] = Counter()  # from code that stays
        self._mentions: Counter[Entity] = Counter()  # from any code
        self.standins: dict[str, dict[str, Entity]] = {}
        self.externals: dict[Entity, External] = {}
        self.shadowed: dict[str, dict[str, int]] = {}
        self.view = Entity(EntityKind.OWN, "<view>", "_ModuleView", "_ModuleView")
        self._classes = {
            meaning.entity
            for meanings in self.meanings.values()
            for use, meaning in meanings
            if use.place is Place.DEFINITION and isinstance(use.node, ast.ClassDef)
        }
        self.named = Entity(EntityKind.OWN, "<named>", "_named", "_named")
        self.absent = Entity(EntityKind.OWN, "<absent>", "_Absent", "_Absent")
        self._count()
        self._collect_externals()
        self._collect_standins()
        self._name()

    # What goes

    def _dropped_units(self) -> set[Unit]:
        dropped: set[Unit] = set()
        for source in self.sources:
            plans = {id(one.statement.node): one for one in self.imports[source.module]}
            binding = {
                use.unit
                for use in source.scopes.uses
                if use.stores and not use.chain and use.scope.parent is None
            }
            for index, statement in enumerate(source.scopes.tree.body):
                if _idle(statement, plans) and index not in binding:
                    dropped.add(Unit(source.module, index))
        return dropped | self._unread_exports()

    def _unread_exports(self) -> set[Unit]:
        """The statements that build an ``__all__`` which nothing else reads."""
        if any(map(self._asks_for_exports, self.sources)):
            return set()
        builders: dict[Unit, Entity] = {}
        for source in self.sources:
            own = self.program.resolve(source.module, "__all__")
            if own is None or own.kind is not EntityKind.OWN or own.module != source.module:
                continue
            for index, statement in enumerate(source.scopes.tree.body):
                if _builds_exports(statement):
                    builders[Unit(source.module, index)] = own
        readers: dict[Entity, set[Unit]] = {}
        for module, meanings in self.meanings.items():
            for use, meaning in meanings:
                if meaning.entity.bound == "__all__":
                    readers.setdefault(meaning.entity, set()).add(Unit(module, use.unit))
        dropped = set(builders)
        changed = True
        while changed:  # `__all__ += sub.__all__` keeps that of `sub` if it stays itself
            needed = {unit for unit in dropped if readers.get(builders[unit], set()) - dropped}
            changed = bool(needed)
            dropped -= needed
        return dropped

    def _asks_for_exports(self, source: Source) -> bool:
        """Whether code asks a module that it is given for ``__all__``: any may be meant."""
        if "__all__" not in source.scopes.text:
            return False
        known = {
            id(attribute)
            for use, meaning in self.meanings[source.module]
            for attribute in use.chain[: meaning.consumed]
        }
        return any(
            (isinstance(node, ast.Attribute) and node.attr == "__all__" and id(node) not in known)
            or (isinstance(node, ast.Constant) and node.value == "__all__")
            for node in ast.walk(source.scopes.tree)
        )

    # What is used

    def live(self, source: Source, unit: int) -> bool:
        """Whether a top-level statement stays."""
        return Unit(source.module, unit) not in self.dropped

    def _count(self) -> None:
        for source in self.sources:
            for use, (entity, consumed, imported_here) in self.meanings[source.module]:
                self._mentions[entity] += 1
                if self.live(source, use.unit):
                    self.references[entity] += 1
                    plain = not consumed and not imported_here
                    entity.refer(use.scope, use.name if plain else "", use.start)
            for plan in self.imports[source.module]:
                if not self.live(source, plan.statement.unit):
                    continue
                for imported, bound, target in plan.assigned:
                    self.references[target] += 1
                    self._mentions[target] += 1
                    target.refer(plan.statement.scope, "", (0, 0))
                    if bound is not None:
                        self.references[bound] += 1
                        if plan.statement.scope.parent is not None:
                            bound.refer(plan.statement.scope, imported.bound, (0, 0))
                for _, bound in plan.kept:
                    if bound is not None:
                        self.references[bound] += 1

    def _collect_externals(self) -> None:
        for plans in self.imports.values():
            for plan in plans:
                sure = plan.source.module in self.program.sure
                for imported, entity in plan.hoisted:
                    self.externals.setdefault(entity, External()).add(imported, sure=sure)

    def _collect_standins(self) -> None:
        """Find the module objects that are used as values, and what they contain."""
        waiting: list[str] = []
        for source in self.sources:
            for use, (entity, consumed, _) in self.meanings[source.module]:
                if entity.kind is EntityKind.MODULE and self.live(source, use.unit):
                    rest = use.chain[consumed:]
                    if not (rest and rest[0].attr in KNOWN_ATTRIBUTES):
                        waiting.append(entity.module)
            for plan in self.imports[source.module]:
                if self.live(source, plan.statement.unit):
                    waiting.extend(
                        target.module
                        for _, _, target in plan.assigned
                        if target.kind is EntityKind.MODULE
                    )
        while waiting:
            module = waiting.pop(0)
            if module not in self.standins:
                members = self.standins[module] = dict(self._members(module))
                waiting.extend(
                    one.module for one in members.values() if one.kind is EntityKind.MODULE
                )

    def _members(self, module: str) -> Iterator[tuple[str, Entity]]:
        names = {one.rpartition(".")[2] for one in self.program.known if _inside(one, module)}
        waiting, seen = [module], {module}
        while waiting:
            source = self.program.sources.get(waiting.pop())
            if source is not None:
                names |= source.scopes.scope.bound.keys() | source.scopes.scope.imports.keys()
                waiting.extend(one for one in source.stars if one not in seen)
                seen.update(source.stars)
        for name in sorted(names):
            entity = self.program.resolve(module, name)
            match entity:
                case None:
                    continue
                case Entity(made=True):  # found when it is asked for, if there is no import of it
                    if self.program.sources[module].scopes.scope.imports.get(name):
                        yield name, entity
                case Entity(kind=EntityKind.OWN) if not self.references[entity]:
                    continue
                case Entity(kind=EntityKind.EXTERNAL) if not self._at_runtime(entity):
                    continue
                case _:
                    yield name, entity

    def makes_names(self, module: str) -> bool:
        """Whether a module, or one that it has a star of, may have names that nothing spells."""
        waiting, seen = [module], {module}
        while waiting:
            source = self.program.sources.get(waiting.pop())
            if source is not None:
                if source.makes_names:
                    return True
                waiting.extend(one for one in source.stars if one not in seen)
                seen.update(source.stars)
        return False

    def _at_runtime(self, entity: Entity) -> bool:
        external = self.externals.get(entity)
        return external is not None and external.phase is not Phase.TYPING

    # Names

    def _name(self) -> None:
        shown = {one for members in self.standins.values() for one in members.values()}
        for entity in list(self.externals):
            # Imported for its effect if nothing ever used it; else its users are gone.
            if not self.references[entity]:
                entity.effect_only = True
                if self._mentions[entity] and entity not in shown:
                    del self.externals[entity]
        if any(one.phase is Phase.TYPING for one in self.externals.values()):
            self.require("typing", "TYPE_CHECKING")
        extra = [self.named, self.absent]
        if self.standins:
            self.require("types", None)
            extra.append(self.view)
        entities = [
            one
            for one in self.program.entities()
            if one in self.externals
            or (one.kind is EntityKind.OWN and self.references[one] and not one.made)
            or (one.kind is EntityKind.MODULE and one.module in self.standins)
        ]
        reserved = {
            name
            for name, uses in self.program.unbound.items()
            if any(self.live(source, use.unit) for source, use in uses)
        }
        reserved |= {
            one.flat for one in self.program.entities() if one.made and self.references[one]
        }
        reserved |= self.program.asked_by_text
        bound = Counter(one.bound for one in entities)
        for source in self.sources:  # what stands for the builtin to begin with is not another's
            shadowed = shadowed_in_part(source.scopes, partial(self.live, source))
            for name, unit in shadowed.items():
                shadowed[name] = min([unit, *self._stars_giving(source, name)])
            self.shadowed[source.module] = shadowed
            reserved |= {name for name in shadowed if bound[name] > 1}
        if self.standins:
            reserved |= VIEW_BUILTINS
        if any(one.star for plans in self.imports.values() for one in plans):
            reserved |= self.program.unbound.keys()
        give_names(
            sorted([*entities, *extra], key=self._precedence),
            reserved=reserved,
            vanishes=self._vanishes,
        )

    def _stars_giving(self, source: Source, name: str) -> Iterator[int]:
        """The statements of ``source`` that are stars of modules of the slice which may give a name."""
        for plan in self.imports[source.module]:
            if plan.statement.star and any(one.bound == name for one, _, _ in plan.assigned):
                yield plan.statement.unit

    def _vanishes(self, scope: Scope, name: str) -> bool:
        if name in scope.bound:
            return False
        imported = scope.imports.get(name)
        if not imported:
            return False
        source = self._source_of(scope)
        return self.program.local_alias(source, scope, name) is not None

    def _source_of(self, scope: Scope) -> Source:
        while scope.parent is not None:
            scope = scope.parent
        return self._by_scope[scope]

    def renamed_in(self, source: Source) -> dict[str, str]:
        """The names that module-level statements of a module bind, and what they are called here."""
        scope = source.scopes.scope
        names = {name for name in (*scope.bound, *scope.imports) if not name.startswith("__")}
        found = {}
        for name in sorted(names):
            entity = self.program.resolve_global(source, name)
            if entity is not None and entity.flat not in ("", name):
                found[name] = entity.flat
        return found

    def require(self, module: str, name: str | None) -> Entity:
        """An external entity that the flat file itself needs."""
        entity = self.program.entity(EntityKind.EXTERNAL, module, name, name or module)
        self.externals.setdefault(entity, External()).plain = Phase.ALWAYS
        self.references[entity] += 1
        entity.effect_only = False
        return entity

    def _precedence(self, entity: Entity) -> tuple[int, int, int, str, str]:
        """Who keeps its name: targets, what renaming would change, the nearest.

        A class is among the second: its metaclass may read its name.
        """
        source = self.program.sources.get(entity.module)
        index = source.index if source is not None else -1
        distance = self._distances.get((entity.module, entity.name or ""), -1)
        match entity.kind:
            case EntityKind.EXTERNAL:
                rank = 1 if self.externals[entity].dotted else 3
            case EntityKind.MODULE:
                rank = 5
            case EntityKind.OWN:
                rank = 4 if distance < 0 else 2 if distance else 0
        if rank and entity in self._classes:
            rank = 1
        return rank, distance, index, entity.bound, f"{entity.module}:{entity.name}"


def _idle(statement: ast.stmt, plans: dict[int, ImportPlan]) -> bool:
    """Whether nothing is left of a statement once the imports in it have gone."""

    def gone(body: list[ast.stmt]) -> bool:
        return all(
            isinstance(one, ast.Pass) or (id(one) in plans and plans[id(one)].vanishes)
            for one in body
        )

    match statement:
        case ast.Import() | ast.ImportFrom():
            return gone([statement])
        case ast.If(test=test, body=body, orelse=[]) if is_type_checking(test):
            return gone(body)
        case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=[]):
            return gone(body) and not any(
                id(one) in plans and not plans[id(one)].vanishes
                for handler in handlers
                for one in ast.walk(handler)
            )
        case _:
            return False


def _builds_exports(statement: ast.stmt) -> bool:
    """Whether a statement only sets or extends ``__all__``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.AugAssign(target=ast.Name(id="__all__")):
            return True
        case ast.AnnAssign(target=ast.Name(id="__all__")):
            return True
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="__all__"), attr="append" | "extend")
            )
        ):
            return True
        case _:
            return False


def _inside(module: str, package: str) -> bool:
    return module.rpartition(".")[0] == package

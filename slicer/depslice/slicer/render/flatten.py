"""Flattening a slice that spans several modules into one runnable file.

The statements of all modules stand in the order in which importing the modules
would run them; imports between them are gone, and every name that they bound
is spelled as the definition it stood for. The stages, in order: what each name
is (:mod:`flatten_scopes`, :mod:`flatten_names`), what becomes of each import
(:mod:`flatten_imports`), one name for each thing (:mod:`flatten_naming`), the
order (:mod:`flatten_order`), and the edits of the text, made here. Text that is
not a changed name or import is copied byte for byte.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from depslice.slicer.cut import FileCut
from depslice.slicer.model import Slice
from depslice.slicer.render.flatten_imports import (
    External,
    ImportPlan,
    Phase,
    from_lines,
    import_lines,
    plan_import,
)
from depslice.slicer.render.flatten_names import (
    Entity,
    EntityKind,
    Meaning,
    Program,
    Source,
)
from depslice.slicer.render.flatten_naming import give_names
from depslice.slicer.render.flatten_order import Unit, execution_order
from depslice.slicer.render.flatten_positions import SourceBytes
from depslice.slicer.render.flatten_scopes import (
    Place,
    Scope,
    Use,
    is_type_checking,
    lookup,
    read_scopes,
)


def flatten_slice(sliced: Slice) -> str:
    r"""Return one Python file that does what the cut modules of ``sliced`` do.

    For ``pkg/b.py`` (``def scale(x): return x * 2``) and ``pkg/a.py``
    (``from .b import scale as s`` and ``def run(x): return s(x)``)::

        # --- pkg/b.py

        def scale(x): return x * 2


        # --- pkg/a.py

        def run(x): return scale(x)

    * Imports from outside the slice are collected at the top, those under
      ``if TYPE_CHECKING`` in one such block; guarded ones (``try``, ``if``) stay
      where they are, and the same guarded import of several modules stands once.
      A repo name that the slice lacks counts as outside it, by its absolute name.
    * Of two things with one name the one nearest to a target keeps it; the other
      is called ``name_module``. No reference is captured by a local name.
    * ``m.X = 1`` on a module of the slice becomes ``global X`` and ``X = 1``.
      Where a module object is itself a value (``getattr(m, name)``), a stand-in
      takes its place: an object of type :class:`types.ModuleType` that reads and
      writes this file's globals.
    * What only modules import that functions import in their turn is imported in
      a ``try``: a package that is not installed then fails where it is used.
    * A module that is only imported under a condition (``if``, ``try``) stands
      there, in place of the import.
    * ``__name__`` becomes the name of the module it stood in, except in
      ``__name__ == "__main__"`` and ``sys.modules[__name__]``. ``__all__`` goes
      unless something reads it. With ``from __future__ import annotations`` in
      one module, the annotations of all become strings.
    * Functions and classes that had to be renamed keep their ``__name__``, by way
      of an innermost decorator.

    Raises :class:`SyntaxError` when the text of a cut does not parse.
    """
    from depslice.slicer.render.cutting import cut_file

    return flatten_texts([(cut, cut_file(cut)) for cut in sliced.cuts], distances(sliced))


Distances = dict[tuple[str, str], int]
"""How far the top-level name of a module is from the nearest target."""


def distances(sliced: Slice) -> Distances:
    """The distance of every top-level definition with an item; targets have 0."""
    found: Distances = {}
    for item in sliced.items:
        key = item.symbol.module, item.symbol.qualname.partition(".")[0]
        found[key] = min(found.get(key, item.distance), item.distance)
    for target in sliced.targets:
        module, _, qualname = target.partition(":")
        found[module, qualname.partition(".")[0]] = 0
    return found


def flatten_texts(texts: list[tuple[FileCut, str]], distances: Distances) -> str:
    """Flatten modules that have been cut already; see :func:`flatten_slice`."""
    sources = [
        Source(cut, read_scopes(text.replace("\r\n", "\n").lstrip("\ufeff")), index)
        for index, (cut, text) in enumerate(texts)
    ]
    for source in sources:
        _bind_docstring(source)
    roots = [module for (module, _), distance in distances.items() if not distance]
    return _Flattening(Program(sources, roots), roots, distances).text()


def _bind_docstring(source: Source) -> None:
    """Make ``__doc__`` a variable of the module where its code reads it."""
    scopes = source.scopes
    if _has_docstring(scopes.tree) and any(
        use.name == "__doc__" and lookup(use.scope, "__doc__", use.start) is scopes.scope
        for use in scopes.uses
    ):
        scopes.scope.bind("__doc__", (0, 0))


def _has_docstring(tree: ast.Module) -> bool:
    return ast.get_docstring(tree, clean=False) is not None


@dataclass(slots=True, eq=False)
class _Edits:
    """Replacements in the bytes of one module."""

    source: SourceBytes
    found: list[tuple[int, int, bytes]] = field(default_factory=list)

    def replace(self, span: tuple[int, int] | None, text: str) -> None:
        if span is not None and self.source.data[span[0] : span[1]] != text.encode():
            self.found.append((*span, text.encode()))

    def apply(self, start: int, end: int) -> str:
        """The text of a byte range with its replacements made; ``found`` must be sorted."""
        data = self.source.data
        parts: list[bytes] = []
        for first, last, text in self.found[bisect_left(self.found, (start, 0, b"")) :]:
            if first > end or last > end:
                break
            parts += data[start:first], text
            start = max(start, last)
        parts.append(data[start:end])
        return b"".join(parts).decode()


class _Flattening:
    def __init__(self, program: Program, roots: list[str], distances: Distances) -> None:
        self._program = program
        self._distances = distances
        self._sources = list(program.sources.values())
        self._by_scope = {one.scopes.scope: one for one in self._sources}
        self._meanings: dict[str, list[tuple[Use, Meaning]]] = {
            source.module: [
                (use, meaning)
                for use in source.scopes.uses
                for meaning in [program.meaning(source, use)]
                if meaning is not None
            ]
            for source in self._sources
        }
        self._plans: dict[str, list[ImportPlan]] = {
            source.module: [plan_import(program, source, one) for one in source.scopes.imports]
            for source in self._sources
        }
        self._order = execution_order(program, self._meanings, roots)
        for plan in (plan for plans in self._plans.values() for plan in plans):
            plan.inlined = bool(self._order.inlined.get(id(plan.statement.node)))
        self._dropped = self._dropped_units()
        self._references: Counter[Entity] = Counter()  # from code that stays
        self._mentions: Counter[Entity] = Counter()  # from any code
        self._standins: dict[str, dict[str, Entity]] = {}
        self._externals: dict[Entity, External] = {}
        self._view = Entity(EntityKind.OWN, "<view>", "_ModuleView", "_ModuleView")
        self._named = Entity(EntityKind.OWN, "<named>", "_named", "_named")
        self._count()

    def text(self) -> str:
        self._collect_externals()
        self._collect_standins()
        self._name()
        parts = [self._head(), *self._regions()]
        return "\n\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"

    # What goes

    def _dropped_units(self) -> set[Unit]:
        dropped: set[Unit] = set()
        for source in self._sources:
            plans = {id(one.statement.node): one for one in self._plans[source.module]}
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
        builders: dict[Unit, Entity] = {}
        for source in self._sources:
            own = self._program.resolve(source.module, "__all__")
            if own is None or own.kind is not EntityKind.OWN or own.module != source.module:
                continue
            for index, statement in enumerate(source.scopes.tree.body):
                if _builds_exports(statement):
                    builders[Unit(source.module, index)] = own
        readers: dict[Entity, set[Unit]] = {}
        for module, meanings in self._meanings.items():
            for use, meaning in meanings:
                if meaning.entity.bound == "__all__":
                    readers.setdefault(meaning.entity, set()).add(Unit(module, use.unit))
        dropped = set(builders)
        changed = True
        while changed:  # `__all__ += sub.__all__` keeps that of `sub` if it stays itself
            needed = {
                unit for unit in dropped if readers.get(builders[unit], set()) - dropped
            }
            changed = bool(needed)
            dropped -= needed
        return dropped

    # What is used

    def _live(self, source: Source, unit: int) -> bool:
        return Unit(source.module, unit) not in self._dropped

    def _count(self) -> None:
        for source in self._sources:
            for use, (entity, consumed, imported_here) in self._meanings[source.module]:
                self._mentions[entity] += 1
                if self._live(source, use.unit):
                    self._references[entity] += 1
                    plain = not consumed and not imported_here
                    entity.refer(use.scope, use.name if plain else "", use.start)
            for plan in self._plans[source.module]:
                if not self._live(source, plan.statement.unit):
                    continue
                for imported, bound, target in plan.assigned:
                    self._references[target] += 1
                    self._mentions[target] += 1
                    target.refer(plan.statement.scope, "", (0, 0))
                    if bound is not None:
                        self._references[bound] += 1
                        if plan.statement.scope.parent is not None:
                            bound.refer(plan.statement.scope, imported.bound, (0, 0))
                for _, bound in plan.kept:
                    if bound is not None:
                        self._references[bound] += 1

    def _collect_externals(self) -> None:
        for plans in self._plans.values():
            for plan in plans:
                sure = plan.source.module in self._program.sure
                for imported, entity in plan.hoisted:
                    self._externals.setdefault(entity, External()).add(imported, sure=sure)

    def _collect_standins(self) -> None:
        """Find the module objects that are used as values, and what they contain."""
        waiting: list[str] = []
        for source in self._sources:
            for use, (entity, consumed, _) in self._meanings[source.module]:
                if entity.kind is EntityKind.MODULE and self._live(source, use.unit):
                    rest = use.chain[consumed:]
                    if not (rest and rest[0].attr in _KNOWN_ATTRIBUTES):
                        waiting.append(entity.module)
            for plan in self._plans[source.module]:
                if self._live(source, plan.statement.unit):
                    waiting.extend(
                        target.module
                        for _, _, target in plan.assigned
                        if target.kind is EntityKind.MODULE
                    )
        while waiting:
            module = waiting.pop(0)
            if module not in self._standins:
                members = self._standins[module] = dict(self._members(module))
                waiting.extend(
                    one.module for one in members.values() if one.kind is EntityKind.MODULE
                )

    def _members(self, module: str) -> Iterator[tuple[str, Entity]]:
        names = {one.rpartition(".")[2] for one in self._program.known if _inside(one, module)}
        waiting, seen = [module], {module}
        while waiting:
            source = self._program.sources.get(waiting.pop())
            if source is not None:
                names |= source.scopes.scope.bound.keys() | source.scopes.scope.imports.keys()
                waiting.extend(one for one in source.stars if one not in seen)
                seen.update(source.stars)
        for name in sorted(names):
            entity = self._program.resolve(module, name)
            match entity:
                case None:
                    continue
                case Entity(kind=EntityKind.OWN) if not self._references[entity]:
                    continue
                case Entity(kind=EntityKind.EXTERNAL) if not self._at_runtime(entity):
                    continue
                case _:
                    yield name, entity

    def _at_runtime(self, entity: Entity) -> bool:
        external = self._externals.get(entity)
        return external is not None and external.phase is not Phase.TYPING

    # Names

    def _name(self) -> None:
        shown = {one for members in self._standins.values() for one in members.values()}
        for entity in list(self._externals):
            # Imported for its effect if nothing ever used it; else its users are gone.
            if not self._references[entity] and self._mentions[entity] and entity not in shown:
                del self._externals[entity]
        if any(one.phase is Phase.TYPING for one in self._externals.values()):
            self._require("typing", "TYPE_CHECKING")
        extra = [self._named]
        if self._standins:
            self._require("types", None)
            extra.append(self._view)
        entities = [
            one
            for one in self._program.entities()
            if one in self._externals
            or (one.kind is EntityKind.OWN and self._references[one])
            or (one.kind is EntityKind.MODULE and one.module in self._standins)
        ]
        reserved = {
            name
            for name, uses in self._program.unbound.items()
            if any(self._live(source, use.unit) for source, use in uses)
        }
        if self._standins:
            reserved |= _VIEW_BUILTINS
        if any(one.star for plans in self._plans.values() for one in plans):
            reserved |= self._program.unbound.keys()
        give_names(
            sorted([*entities, *extra], key=self._precedence),
            reserved=reserved,
            vanishes=self._vanishes,
        )

    def _vanishes(self, scope: Scope, name: str) -> bool:
        if name in scope.bound:
            return False
        imported = scope.imports.get(name)
        if not imported:
            return False
        source = self._source_of(scope)
        return self._program.local_alias(source, scope, name) is not None

    def _source_of(self, scope: Scope) -> Source:
        while scope.parent is not None:
            scope = scope.parent
        return self._by_scope[scope]

    def _require(self, module: str, name: str | None) -> Entity:
        """An external entity that the flat file itself needs."""
        entity = self._program.entity(EntityKind.EXTERNAL, module, name, name or module)
        self._externals.setdefault(entity, External()).plain = Phase.ALWAYS
        self._references[entity] += 1
        return entity

    def _precedence(self, entity: Entity) -> tuple[int, int, int, str, str]:
        """Who keeps its name: targets, what cannot be renamed simply, the nearest."""
        source = self._program.sources.get(entity.module)
        index = source.index if source is not None else -1
        distance = self._distances.get((entity.module, entity.name or ""), -1)
        match entity.kind:
            case EntityKind.EXTERNAL:
                rank = 1 if self._externals[entity].dotted else 3
            case EntityKind.MODULE:
                rank = 5
            case EntityKind.OWN:
                rank = 4 if distance < 0 else 2 if distance else 0
        return rank, distance, index, entity.bound, f"{entity.module}:{entity.name}"

    # The head of the file

    def _head(self) -> str:
        lines: list[str] = []
        futures = {
            alias.name
            for source in self._sources
            for statement in source.scopes.imports
            if statement.future
            for alias in statement.node.names
        }
        if futures:
            lines += [f"from __future__ import {', '.join(sorted(futures))}", ""]
        stars = {one.star for plans in self._plans.values() for one in plans if one.star}
        lines += [f"from {one} import *  # noqa: F403" for one in sorted(stars)]
        lines += self._import_block(Phase.ALWAYS)
        lines += self._optional_imports()
        guarded = self._import_block(Phase.TYPING, indent="    ")
        if guarded:
            test = self._require("typing", "TYPE_CHECKING")
            lines += ["", f"if {test.flat}:", *guarded]
        if self._renamed():
            lines += ["", "", *_NAMED.format(named=self._named.flat).splitlines()]
        if self._standins:
            lines += ["", "", *self._view_lines()]
        return "\n".join(lines)

    def _renamed(self) -> bool:
        """Whether a function or class has another name here."""
        return any(
            use.place is Place.DEFINITION
            and meaning.entity.flat not in ("", use.name)
            and self._live(source, use.unit)
            for source in self._sources
            for use, meaning in self._meanings[source.module]
        )

    def _import_block(self, phase: Phase, *, indent: str = "") -> list[str]:
        plain: list[str] = []
        used: dict[str, list[Entity]] = {}
        unused: dict[str, list[Entity]] = {}
        for entity, external in self._externals.items():
            referenced = bool(self._references[entity])
            if entity.name is None:
                for line in import_lines(entity, external, phase):
                    noqa = "" if referenced or "# noqa" in line else "  # noqa: F401"
                    plain.append(f"{indent}{line}{noqa}")
            elif external.phase is phase:
                group = used if referenced else unused
                group.setdefault(entity.module, []).append(entity)
        return [
            *sorted(set(plain)),
            *from_lines(used, indent=indent),
            *(f"{line}  # noqa: F401" for line in from_lines(unused, indent=indent, width=10**6)),
        ]

    def _optional_imports(self) -> list[str]:
        """Imports that only modules need which functions import, each in a ``try``."""
        lines: list[str] = []
        for entity, external in sorted(self._externals.items(), key=lambda one: one[0].flat):
            found = import_lines(entity, external, Phase.IF_INSTALLED)
            if entity.name is not None and external.phase is Phase.IF_INSTALLED:
                found = from_lines({entity.module: [entity]}, width=10**6)
            if not found:
                continue
            noqa = "" if self._references[entity] else "  # noqa: F401"
            fallback = f"{entity.flat} = None"
            if external.phase is not Phase.IF_INSTALLED:
                fallback = "pass"
            lines += [
                "",
                "try:",
                *(f"    {line}{'' if '# noqa' in line else noqa}" for line in found),
                "except ImportError:  # only some functions need it",
                f"    {fallback}",
            ]
        return lines

    def _view_lines(self) -> list[str]:
        types = self._require("types", None).flat
        hooked = any("__getattr__" in members for members in self._standins.values())
        lines = _VIEW.format(
            view=self._view.flat, types=types, hook=_VIEW_HOOK if hooked else ""
        ).splitlines()
        lines += ["", ""]
        for module, members in sorted(self._standins.items()):
            flat = self._program.module_entity(module).flat
            table = [f'"{name}": "{entity.flat}"' for name, entity in sorted(members.items())]
            line = f'{flat} = {self._view.flat}("{module}", {{{", ".join(table)}}})'
            if len(line) <= 100:
                lines.append(line)
            else:
                lines.append(f"{flat} = {self._view.flat}(")
                lines += [f'    "{module}",', "    {", *(f"        {one}," for one in table)]
                lines += ["    },", ")"]
        return lines

    # The body of the file

    def _regions(self) -> Iterator[str]:
        texts = {source.module: self._unit_texts(source) for source in self._sources}
        yield from self._region_texts(self._order.units, texts, set())

    def _region_texts(
        self, units: list[Unit], texts: dict[str, list[str]], blocks: set[str]
    ) -> Iterator[str]:
        """The text of a run of statements, one part per stretch of one module."""
        current, region = "", ""
        for unit in units:
            source = self._program.sources[unit.module]
            block = source.block_units.get(unit.number)
            if unit in self._dropped or block in blocks:
                continue
            if block is not None:
                blocks.add(block)
            text = texts[unit.module][unit.number]
            if "\0" in text:
                text = self._fill(text, texts, blocks)
            if not text.strip():
                continue
            if unit.module != current:
                yield region
                current, region = unit.module, f"# --- {source.cut.path}\n\n{text.lstrip(chr(10))}"
            else:
                region += text
        yield region

    def _fill(self, text: str, texts: dict[str, list[str]], blocks: set[str]) -> str:
        """Put inlined modules where the imports that run them were."""
        lines: list[str] = []
        for line in text.split("\n"):
            mark = line.strip()
            if not mark.startswith("\0"):
                lines.append(line)
                continue
            number = int(mark.split("\0")[1])
            parts = self._region_texts(self._order.inlined[number], texts, blocks)
            inner = "\n\n".join(part.strip("\n") for part in parts if part.strip())
            indent = line[: len(line) - len(line.lstrip())]
            lines += _indented(inner, indent) or [f"{indent}pass"]
        return "\n".join(lines)

    def _unit_texts(self, source: Source) -> list[str]:
        """The edited text of each top-level statement, with the comments above it."""
        data = SourceBytes(source.scopes.text)
        edits = _Edits(data)
        self._edit_names(source, edits)
        self._edit_unbound(source, edits)
        self._edit_imports(source, edits)
        self._edit_declarations(source, edits)
        body = source.scopes.tree.body
        if "__doc__" in source.scopes.scope.bound and _has_docstring(source.scopes.tree):
            entity = self._program.resolve(source.module, "__doc__")
            start, _ = data.span(body[0])
            if entity is not None and entity.flat:
                edits.replace((start, start), f"{entity.flat} = ")
        edits.found = sorted(set(edits.found))
        texts: list[str] = []
        previous = 0  # the last line that is used up
        for index, statement in enumerate(body):
            first, last = _first_line(statement), statement.end_lineno or 0
            follower = _first_line(body[index + 1]) if index + 1 < len(body) else last + 1
            if first > previous and follower > last:
                start, end = data.line_start(previous + 1), data.line_start(last + 1)
            else:  # several statements on one line
                start, end = data.span(statement)
            texts.append(edits.apply(start, end).rstrip("\n") + "\n")
            previous = last
        return texts

    def _edit_names(self, source: Source, edits: _Edits) -> None:
        for use, (entity, consumed, imported_here) in self._meanings[source.module]:
            rest = use.chain[consumed:]
            if entity.kind is EntityKind.MODULE and rest and rest[0].attr in _KNOWN_ATTRIBUTES:
                known = rest[0].attr
                if known == "__name__":
                    known = _literal(entity.module, use, edits.source)
                edits.replace(edits.source.chain_span(use, consumed + 1), known)
                continue
            if not entity.flat or not self._live(source, use.unit):
                continue
            if not consumed and entity.flat == use.name and not imported_here:
                continue
            edits.replace(edits.source.chain_span(use, consumed), entity.flat)
            if use.place is Place.DEFINITION:
                start = edits.source.offset(*use.start)
                line = edits.source.line_start(use.start[0])
                indent = edits.source.data[line:start].decode()
                if not indent.strip():
                    edits.replace((line, line), f'{indent}@{self._named.flat}("{use.name}")\n')

    def _edit_unbound(self, source: Source, edits: _Edits) -> None:
        package = source.module if source.cut.is_package else source.module.rpartition(".")[0]
        for name, value in (("__name__", source.module), ("__package__", package)):
            for owner, use in self._program.unbound.get(name, ()):
                if owner is source and id(use.node) not in source.scopes.runtime_names:
                    literal = _literal(value, use, edits.source)
                    edits.replace(edits.source.name_span(use), literal)
        for owner, use in self._program.unbound.get("__path__", ()):
            if owner is source and use.fstring is None:
                edits.replace(edits.source.name_span(use), '[__file__.rpartition("/")[0]]')

    def _edit_imports(self, source: Source, edits: _Edits) -> None:
        plans = [
            one
            for one in self._plans[source.module]
            if self._live(source, one.statement.unit) and not one.unchanged
        ]
        gone = {id(one.statement.node) for one in plans if not one.lines()}
        for plan in plans:
            node, suite = plan.statement.node, plan.statement.suite
            if id(node) not in gone:
                self._replace_statement(node, plan.lines(), edits)
                continue
            keeps = any(id(one) not in gone for one in suite)
            if suite is source.scopes.tree.body:
                edits.replace(edits.source.span(node), "")
            elif keeps or node is not suite[0]:
                self._delete_statement(node, edits)
            else:
                edits.replace(edits.source.span(node), "pass")

    def _replace_statement(self, node: ast.stmt, lines: list[str], edits: _Edits) -> None:
        data = edits.source
        alone = _alone(node, data)
        start, end = data.span(node)
        indent = data.data[data.line_start(node.lineno) : start].decode()
        separator = f"\n{indent}" if alone else "; "
        noqa = "  # noqa: F401" if alone and b"noqa" in data.data[start:end] else ""
        edits.replace((start, end), separator.join(lines) + noqa)

    def _delete_statement(self, node: ast.stmt, edits: _Edits) -> None:
        data = edits.source
        if _alone(node, data):
            edits.replace(
                (data.line_start(node.lineno), data.line_start((node.end_lineno or 0) + 1)), ""
            )
        else:
            edits.replace(data.span(node), "pass")

    def _edit_declarations(self, source: Source, edits: _Edits) -> None:
        """Declare ``global X`` where ``m.X = 1`` has become ``X = 1``."""
        wanted: dict[Scope, set[str]] = {}
        for use, (entity, consumed, _) in self._meanings[source.module]:
            written = use.stores and consumed and consumed == len(use.chain)
            if written and use.scope.parent is not None and entity.kind is EntityKind.OWN:
                wanted.setdefault(use.scope, set()).add(entity.flat)
        for scope, names in wanted.items():
            declared = {
                meaning.entity.flat
                for use, meaning in self._meanings[source.module]
                if use.place is Place.DECLARATION and use.scope is scope
            }
            missing = sorted(names - declared)
            if missing:
                self._declare(scope.node, f"global {', '.join(missing)}", edits)

    def _declare(self, node: ast.AST, statement: str, edits: _Edits) -> None:
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        documented = ast.get_docstring(node, clean=False) is not None
        first = node.body[1 if documented and len(node.body) > 1 else 0]
        data = edits.source
        line = _first_line(first)
        start = data.line_start(line)
        column = data.offset(line, min(first.col_offset, _indent(first, data)))
        indent = data.data[start:column]
        if indent.strip():  # `def f(): m.X = 1`
            at = data.offset(first.lineno, first.col_offset)
            edits.replace((at, at), f"{statement}; ")
        else:
            edits.replace((start, start), f"{indent.decode()}{statement}\n")


def _indented(text: str, indent: str) -> list[str]:
    """The lines of some statements, indented where they do not continue a string."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
        ):
            inside.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
    return [
        line if number in inside or not line else indent + line
        for number, line in enumerate(text.split("\n"), 1)
        if text
    ]


def _literal(value: str, use: Use, data: SourceBytes) -> str:
    """A string literal that may stand where ``use`` stands."""
    quote = '"'
    if use.fstring is not None:
        start, end = data.span(use.fstring)
        text = data.data[start:end]
        quote = '"' if b'"' not in text else "'"
        if b'"' in text and b"'" in text and sys.version_info < (3, 12):
            return use.name
    return f"{quote}{value}{quote}"


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


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _indent(statement: ast.stmt, data: SourceBytes) -> int:
    """The column a statement starts at, that of ``@`` when it is decorated."""
    line = _first_line(statement)
    if line == statement.lineno:
        return statement.col_offset
    start = data.line_start(line)
    return data.data.index(b"@", start) - start


def _alone(node: ast.stmt, data: SourceBytes) -> bool:
    """Whether a statement has its lines to itself, comments aside."""
    start, end = data.span(node)
    before = data.data[data.line_start(node.lineno) : start]
    after = data.data[end : data.line_start((node.end_lineno or 0) + 1)].strip()
    return not before.strip() and (not after or after.startswith(b"#"))


def _inside(module: str, package: str) -> bool:
    return module.rpartition(".")[0] == package


_KNOWN_ATTRIBUTES = frozenset({"__name__", "__file__"})

_VIEW_BUILTINS = frozenset({"globals", "super", "KeyError", "AttributeError", "property"})

_NAMED = '''def {named}(name):
    """Let a definition that had to be renamed here keep its own name inside."""

    def rename(definition):
        definition.__name__ = definition.__qualname__ = name
        return definition

    return rename'''

_VIEW_HOOK = '''
        if "__getattr__" in self._members and name not in self._members:
            return globals()[self._members["__getattr__"]](name)'''

_VIEW = '''class {view}({types}.ModuleType):
    """A module of the original code, whose members are globals of this file."""

    def __init__(self, name, members):
        super().__init__(name)
        super().__setattr__("_members", members)

    def __getattr__(self, name):{hook}
        try:
            return globals()[self._members[name]]
        except KeyError:
            message = f"module {{self.__name__!r}} has no attribute {{name!r}}"
            raise AttributeError(message) from None

    def __setattr__(self, name, value):
        if name in self._members:
            globals()[self._members[name]] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._members:
            del globals()[self._members[name]]
        else:
            super().__delattr__(name)

    @property
    def __dict__(self):
        found = globals()
        return {{name: found[flat] for name, flat in self._members.items() if flat in found}}

    def __dir__(self):
        return [*super().__dir__(), *self.__dict__]'''

"""What becomes of the import statements of a module in the flat file."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from depslice.slicer.render.flatten_names import (
    Entity,
    EntityKind,
    Program,
    Source,
    absolute_module,
    module_scope_import,
)
from depslice.slicer.render.flatten_scopes import ImportedName, ImportStatement, ScopeKind


@dataclass(slots=True, eq=False)
class ImportPlan:
    """The fate of one import statement.

    ``kept`` names stay imported here, as the entity where one names it;
    ``assigned`` names become assignments of the entity they fetch. The others
    vanish: their uses spell the entity itself, and ``hoisted`` ones are imported
    at the top of the flat file.
    """

    statement: ImportStatement
    source: Source
    kept: list[tuple[ImportedName, Entity | None]] = field(default_factory=list)
    assigned: list[tuple[ImportedName, Entity | None, Entity]] = field(default_factory=list)
    hoisted: list[tuple[ImportedName, Entity]] = field(default_factory=list)
    inlined: bool = False  # the module it runs takes its place
    star: str = ""  # the module of a star import that is hoisted
    whole: bool = False  # left as it is

    @property
    def vanishes(self) -> bool:
        """Whether nothing of the statement stays where it is."""
        return not (self.kept or self.assigned or self.whole or self.inlined)

    def lines(self, *, alone: bool = True) -> list[str]:
        """The statements that take its place; ``alone``: with its lines to itself."""
        node = self.statement.node
        found: list[str] = [placeholder(node)] if self.inlined else []
        plain: list[str] = []
        noqa = ""
        for imported, entity in self.kept:
            name, alias = imported.node.name, imported.node.asname
            flat = entity.flat if entity is not None else imported.bound
            if isinstance(node, ast.ImportFrom):
                plain.append(_aliased(name, flat, keep=alias == name))
                if alias == name != flat:  # `y as y` said that nothing need read it
                    noqa = "  # noqa: F401"
            elif alias is None and "." in name and flat != imported.bound:
                # Importing a submodule makes it an attribute of its package.
                submodule = f"{flat}_{name.partition('.')[2].replace('.', '_')}"
                found.append(
                    f"import {imported.bound} as {flat}, {name} as {submodule}  # noqa: F401, F811"
                )
            else:
                plain.append(name if alias is None and "." in name else _aliased(name, flat))
        if plain and isinstance(node, ast.ImportFrom):
            module = absolute_module(node, self.source.cut)
            found.append(f"from {module} import {', '.join(plain)}{noqa}")
        elif plain:
            found.append(f"import {', '.join(plain)}")
        for imported, entity, target in self.assigned:
            flat = entity.flat if entity is not None else imported.bound
            in_class = self.statement.scope.kind is ScopeKind.CLASS and entity is None
            given = target.flat or target.bound  # of a star from outside
            if flat != given or in_class:
                # A star gives what is there; a name that is not cannot be read.
                unsure = self.statement.star and alone and target.kind is EntityKind.OWN
                condition = f'if "{given}" in globals(): ' if unsure else ""
                found.append(f"{condition}{flat} = {given}")
        return found

    @property
    def unchanged(self) -> bool:
        """Whether the statement can stay letter for letter."""
        node = self.statement.node
        return self.whole or (
            not self.inlined
            and not self.statement.star
            and len(self.kept) == len(node.names)
            and not (isinstance(node, ast.ImportFrom) and node.level)
            and all(entity is None or entity.flat == one.bound for one, entity in self.kept)
        )


def placeholder(node: ast.stmt) -> str:
    """A line that no source has, for what is inlined in place of an import."""
    return f"\0{id(node)}\0"


def plan_import(program: Program, source: Source, statement: ImportStatement) -> ImportPlan:
    """Decide what becomes of an import statement; names need not be given out yet."""
    plan = ImportPlan(statement, source)
    if statement.future:
        return plan
    if statement.star:
        node = statement.node
        assert isinstance(node, ast.ImportFrom)
        module = absolute_module(node, source.cut)
        if module not in program.sources:
            plan.kept = [
                (
                    ImportedName(ast.alias(name), statement, name),
                    program.resolve(source.module, name),
                )
                for name, given_by in source.cut.overriding.items()
                if given_by == module
            ]
            if statement.direct and source.module not in program.optional:
                plan.star = module
            else:
                plan.whole = True
        elif not statement.typing_only:
            plan.assigned = list(bound_anew(program, source, statement, module))
        return plan
    for imported in statement.names:
        target = program.target(source, imported)
        external = target.kind is EntityKind.EXTERNAL
        if module_scope_import(statement, imported.bound):
            bound = program.resolve(source.module, imported.bound)
            if bound is target:
                if external:
                    plan.hoisted.append((imported, target))
            elif statement.typing_only or (
                external
                and (
                    target.module in program.sources or not _is_of_slice(program, source, statement)
                )
            ):
                # For type checkers alone it need not be there; what a module of the slice lacks
                # (one written in C, say), nobody else here imports.
                plan.kept.append((imported, bound))
            else:
                plan.assigned.append((imported, bound, target))
        elif external:
            plan.kept.append((imported, None))
        elif program.local_alias(source, statement.scope, imported.bound) is None:
            plan.assigned.append((imported, None, target))
    return plan


def _is_of_slice(program: Program, source: Source, statement: ImportStatement) -> bool:
    """Whether it imports names of a module of the slice, which may have them from outside."""
    node = statement.node
    return isinstance(node, ast.ImportFrom) and (
        absolute_module(node, source.cut) in program.sources
    )


def bound_anew(
    program: Program, source: Source, statement: ImportStatement, module: str
) -> Iterator[tuple[ImportedName, Entity, Entity]]:
    """What a star of a module of the slice gives that ``source`` has elsewhere, too."""
    for name in sorted(program.names_met(source)):
        bound = program.resolve(source.module, name)
        target = program.given_by_star(module, name)
        if target is not None and bound is not None and target is not bound and not target.made:
            yield ImportedName(ast.alias(name), statement, name), bound, target


def _aliased(name: str, flat: str, *, keep: bool = False) -> str:
    return f"{name} as {flat}" if keep or name != flat else name


class Phase(Enum):
    """When the flat file imports an external name."""

    ALWAYS = "always"
    IF_INSTALLED = "if installed"  # only code that functions import needs it
    TYPING = "typing"


@dataclass(slots=True, eq=False)
class External:
    """How the modules of a slice import one external entity.

    ``plain``: otherwise than as the root of ``dotted`` ones (``import a.b``).
    """

    plain: Phase | None = None
    dotted: dict[str, Phase] = field(default_factory=dict)

    def add(self, imported: ImportedName, *, sure: bool) -> None:
        """Count one more import of it, by a module that is sure to run or not."""
        node, name = imported.statement.node, imported.node.name
        module = name if isinstance(node, ast.Import) else node.module or ""
        root = module.partition(".")[0]
        if imported.statement.typing_only:
            phase = Phase.TYPING
        elif sure or (
            root in sys.stdlib_module_names
            and root not in _PLATFORM
            and (isinstance(node, ast.Import) or root not in _PARTLY_PLATFORM)
        ):
            phase = Phase.ALWAYS
        else:
            phase = Phase.IF_INSTALLED
        if isinstance(node, ast.Import) and imported.node.asname is None and "." in name:
            self.dotted[name] = _stronger(phase, self.dotted.get(name))
        else:
            self.plain = _stronger(phase, self.plain)

    @property
    def phase(self) -> Phase:
        """When its name is bound at first."""
        return min(
            (one for one in (self.plain, *self.dotted.values()) if one is not None),
            key=_PHASES.index,
        )


_PHASES = list(Phase)

# Modules of which each platform has other names: `from ctypes import windll`.
_PARTLY_PLATFORM = frozenset(
    {
        "asyncio",
        "ctypes",
        "errno",
        "mmap",
        "multiprocessing",
        "select",
        "selectors",
        "signal",
        "socket",
        "socketserver",
        "subprocess",
    }
)

# Modules of the standard library that some platforms or builds do not have.
_PLATFORM = frozenset(
    {
        "_curses",
        "_winapi",
        "curses",
        "dbm",
        "fcntl",
        "grp",
        "msvcrt",
        "nt",
        "posix",
        "pty",
        "pwd",
        "readline",
        "resource",
        "sqlite3",
        "syslog",
        "termios",
        "tkinter",
        "tty",
        "winreg",
        "winsound",
    }
)


def _stronger(phase: Phase, other: Phase | None) -> Phase:
    return phase if other is None else min(phase, other, key=_PHASES.index)


def import_lines(entity: Entity, external: External, phase: Phase) -> list[str]:
    """The ``import`` statements that bind a module, those of one phase only."""
    dotted = sorted(name for name, when in external.dotted.items() if when is phase)
    if entity.flat == entity.bound:
        lines = [f"import {name}" for name in dotted]
        if external.plain is phase and not dotted:
            lines.append(f"import {_aliased(entity.module, entity.flat)}")
        return lines
    # Importing a submodule makes it an attribute of the package, whatever it binds.
    lines = [
        f"import {name} as {entity.flat}_{name.partition('.')[2].replace('.', '_')}  # noqa: F401"
        for name in dotted
    ]
    if external.phase is phase and (external.plain is not None or not entity.effect_only):
        lines.append(f"import {_aliased(entity.module, entity.flat)}")
    return lines


def from_lines(names: dict[str, list[Entity]], *, indent: str = "", width: int = 100) -> list[str]:
    """``from m import a, b as c`` statements, one per module, wrapped at ``width``."""
    lines: list[str] = []
    for module, entities in sorted(names.items()):
        parts = sorted(_aliased(one.name or "", one.flat) for one in entities)
        line = f"{indent}from {module} import {', '.join(parts)}"
        if len(line) <= width:
            lines.append(line)
        else:
            lines.append(f"{indent}from {module} import (")
            lines.extend(f"{indent}    {part}," for part in parts)
            lines.append(f"{indent})")
    return lines

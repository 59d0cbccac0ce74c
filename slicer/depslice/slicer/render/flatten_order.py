"""The order in which the statements of several modules run.

Language reference, section 5.4: importing a module runs it, once, at the first
import that reaches it, after its parent packages. Acting that out on the cut
modules gives the order in which the repository itself would run the kept
statements, import cycles included, without running anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from depslice.slicer.render.flatten_imports import bound_anew
from depslice.slicer.render.flatten_names import (
    Entity,
    EntityKind,
    Meaning,
    Program,
    Source,
    absolute_module,
    module_scope_import,
    parent_packages,
)
from depslice.slicer.render.flatten_scopes import ImportStatement, Use, is_type_checking

_Wanted = tuple[str, "list[Unit]", "Unit | None"]
"""A module to run now, where its statements go, and what they are inlined in."""


_Missing = tuple[Entity, str]
"""What is read too early, and the module that reads it."""


class Unit(NamedTuple):
    """A top-level statement: its module and its number there."""

    module: str
    number: int


Meanings = Mapping[str, list[tuple[Use, Meaning]]]
"""Per module, the uses that mean an entity, and which."""


@dataclass(slots=True, eq=False)
class Order:
    """The statements in the order in which they run.

    ``inlined`` has what runs at a guarded import (the ``id`` of its node) and
    perhaps not at all: modules that nothing imports without a guard.
    """

    units: list[Unit]
    inlined: dict[int, list[Unit]]


def execution_order(program: Program, meanings: Meanings, roots: Iterable[str]) -> Order:
    """All top-level statements of the program, in the order in which they run.

    ``roots`` are imported first, in order; modules that nothing imports at load
    time come last. Where that would read a name before any statement binds it
    (the cut no longer has the import that the original order hung on), the
    statements that bind it move up.
    """
    flow = _Flow(program, meanings)
    later = sorted(program.sources, key=lambda one: one in program.optional)
    simulation = _Simulation(flow)
    simulation.run([*roots, *later])
    flow.lift(simulation.hosts)
    units = _settle(simulation.order.units, flow)
    return Order(_with_mentions_first(program, flow, units), simulation.order.inlined)


def _with_mentions_first(program: Program, flow: _Flow, units: list[Unit]) -> list[Unit]:
    """What never runs can wait for the names that it mentions, and waits no longer."""
    place = {unit: number for number, unit in enumerate(units)}
    number = dict(place)
    idle = [unit for unit in units if _never_runs(program, unit)]
    moved = True
    while moved:  # ends: places only grow, up to the last statement's
        moved = False
        for unit in idle:
            for entity in flow.mentions(unit):
                bound = [place[one] for one in flow.binders.get(entity, ()) if one in place]
                if bound and min(bound) > place[unit]:
                    place[unit] = min(bound)
                    moved = True
    return sorted(units, key=lambda unit: (place[unit], place[unit] > number[unit], number[unit]))


def _never_runs(program: Program, unit: Unit) -> bool:
    statement = program.sources[unit.module].scopes.tree.body[unit.number]
    return (
        isinstance(statement, ast.If) and not statement.orelse and is_type_checking(statement.test)
    )


def _run_by_call(name: str) -> Iterator[str]:
    """The owners of the bodies that calling or decorating with ``name`` runs."""
    yield name
    for method in ("__new__", "__init__", "__post_init__", "__call__", "__set_name__"):
        yield f"{name}.{method}"


class _Flow:
    """Per statement and function body: what it imports, reads, calls and binds."""

    def __init__(self, program: Program, meanings: Meanings) -> None:
        self.program = program
        self.imports: dict[Unit, list[ImportStatement]] = {}
        self.reads: dict[Unit, list[Entity]] = {}
        self.calls: dict[Unit, list[Entity]] = {}
        self.binders: dict[Entity, list[Unit]] = {}
        self.bound_by: dict[Unit, list[Entity]] = {}
        self._bits = {module: bit for bit, module in enumerate(program.sources)}
        self._may_run: dict[Unit, int] = {}  # sets of modules, as bits
        self._may_call: dict[Unit, list[Entity]] = {}
        self._body_reads: dict[tuple[Unit, str], list[Entity]] = {}
        self._body_calls: dict[tuple[Unit, str], list[Entity]] = {}
        for source in program.sources.values():
            self._read_imports(source)
            for use, (entity, consumed, _) in meanings[source.module]:
                if entity.kind is EntityKind.OWN:
                    self._read_use(Unit(source.module, use.unit), use, entity, consumed)
        for entity, places in self.binders.items():
            places.sort(key=lambda unit: (program.sources[unit.module].index, unit.number))
            for unit in places:
                self.bound_by.setdefault(unit, []).append(entity)
        self._spread()

    def _spread(self) -> None:
        """Add to the modules that a definition may run those of what it may call.

        By statement and by name: a class may run what any of its methods or bases
        does, a variable what making its value may.
        """
        callers: dict[Unit, list[Unit]] = {}
        for unit, entities in self._may_call.items():
            for entity in dict.fromkeys(entities):
                for place in self.binders.get(entity, ()):
                    callers.setdefault(place, []).append(unit)
        waiting = list(self._may_run)
        while waiting:
            place = waiting.pop()
            modules = self._may_run[place]
            for unit in callers.get(place, ()):
                before = self._may_run.get(unit, 0)
                if before | modules != before:
                    self._may_run[unit] = before | modules
                    waiting.append(unit)

    def _read_imports(self, source: Source) -> None:
        for statement in source.scopes.imports:
            unit = Unit(source.module, statement.unit)
            if statement.typing_only:
                continue
            if not statement.eager:
                for module in self.imported(source.module, statement):
                    self._may_run[unit] = self._may_run.get(unit, 0) | 1 << self._bits[module]
                continue
            self.imports.setdefault(unit, []).append(statement)
            if statement.star and isinstance(statement.node, ast.ImportFrom):
                star = absolute_module(statement.node, source.cut)
                given = bound_anew(self.program, source, statement, star)
                for _, own, target in given if star in self.program.sources else ():
                    self.binders.setdefault(own, []).append(unit)
                    self.reads.setdefault(unit, []).append(target)
            for one in statement.names:
                if module_scope_import(statement, one.bound):
                    bound = self.program.resolve(source.module, one.bound)
                    target = self.program.target(source, one)
                    if bound is not None and bound is not target:
                        self.binders.setdefault(bound, []).append(unit)
                        self.reads.setdefault(unit, []).append(target)

    def _read_use(self, unit: Unit, use: Use, entity: Entity, consumed: int) -> None:
        if use.called or use.inherits:
            self._may_call.setdefault(unit, []).append(entity)
        if not use.eager:
            body = unit, use.owner
            self._body_reads.setdefault(body, []).append(entity)
            if use.called:
                self._body_calls.setdefault(body, []).append(entity)
        elif use.stores and consumed == len(use.chain):
            self.binders.setdefault(entity, []).append(unit)
        else:
            self.reads.setdefault(unit, []).append(entity)
            if use.called:
                self.calls.setdefault(unit, []).append(entity)

    def needs(self, unit: Unit) -> Iterator[Entity]:
        """What running a statement reads: itself, and the functions it calls."""
        yield from self.reads.get(unit, ())
        for body in self._bodies(self.calls.get(unit, ())):
            yield from self._body_reads.get(body, ())

    def mentions(self, unit: Unit) -> Iterable[Entity]:
        """What the statements of an ``if TYPE_CHECKING:`` name."""
        return self._body_reads.get((unit, ""), ())

    def called_imports(self, unit: Unit) -> list[str]:
        """The modules that functions import which running ``unit`` may call."""
        if unit not in self.calls:
            return []
        modules = 0
        for entity in self.reads[unit]:
            for place in self.binders.get(entity, ()):
                modules |= self._may_run.get(place, 0)
        return [module for module, bit in self._bits.items() if modules >> bit & 1]

    def _bodies(self, called: Iterable[Entity]) -> Iterator[tuple[Unit, str]]:
        """The function bodies that calls reach, by name, through other calls too."""
        waiting = list(dict.fromkeys(called))
        seen = set(waiting)
        while waiting:
            entity = waiting.pop()
            for place in self.binders.get(entity, ()):
                for owner in _run_by_call(entity.bound):
                    body = place, owner
                    yield body
                    for one in self._body_calls.get(body, ()):
                        if one not in seen:
                            seen.add(one)
                            waiting.append(one)

    def lift(self, hosts: Mapping[Unit, Unit]) -> None:
        """Count what inlined statements read and bind as done by their hosts."""
        for unit, host in hosts.items():
            self.reads.setdefault(host, []).extend(self.reads.pop(unit, ()))
        for places in self.binders.values():
            places[:] = dict.fromkeys(hosts.get(unit, unit) for unit in places)

    def imported(self, module: str, statement: ImportStatement) -> list[str]:
        """The modules of the slice that an import statement runs, parents first."""
        source = self.program.sources[module]
        found: list[str] = []
        if isinstance(statement.node, ast.ImportFrom):
            found.append(absolute_module(statement.node, source.cut))
        else:
            modules = source.cut.modules
            found.extend(modules.get(one.name, one.name) for one in statement.node.names)
        for name in statement.names:
            target = self.program.target(source, name)
            if target.kind is not EntityKind.EXTERNAL:
                found.append(target.module)
        return [module for one in found for module in self.in_slice(one)]

    def in_slice(self, module: str) -> list[str]:
        """The parent packages of a module and itself, as far as the slice has them."""
        names = (*parent_packages(module), module)
        return [one for one in names if one in self.program.sources]


class _Simulation:
    """Acts out the imports.

    What only functions import comes last, unless a statement seems to call such a
    function: then before it, or as soon as nothing that it reads is still missing
    from a module that is half run.
    """

    def __init__(self, flow: _Flow) -> None:
        self.order = Order([], {})
        self.hosts: dict[Unit, Unit] = {}  # inlined statement -> the one it is inlined in
        self._flow = flow
        self._started: set[str] = set()
        self._bound: set[Entity] = set()
        self._wanted: dict[str, _Wanted] = {}
        self._missing: dict[str, _Missing] = {}
        self._trial = False
        self._late: _Missing | None = None

    def run(self, roots: Iterable[str]) -> None:
        # A stack of half-run modules: deep import chains must not nest Python frames.
        for root in roots:
            first: list[_Wanted] = [(one, self.order.units, None) for one in self._parents(root)]
            stack = [iter(first)]
            while stack and self._late is None:
                wanted = next(stack[-1], None)
                if wanted is None:
                    stack.pop()
                    continue
                name, sink, host = wanted
                if name not in self._started:
                    self._started.add(name)
                    if name not in self._flow.program.optional:
                        sink, host = self.order.units, None
                    stack.append(self._run_module(name, sink, host))

    def _parents(self, module: str) -> list[str]:
        return self._flow.in_slice(module)

    def _run_module(self, module: str, sink: list[Unit], host: Unit | None) -> Iterator[_Wanted]:
        flow = self._flow
        for number in range(len(flow.program.sources[module].scopes.tree.body)):
            unit = Unit(module, number)
            for statement in flow.imports.get(unit, ()):
                inner, outer = sink, host
                if statement.guarded:
                    inner = self.order.inlined.setdefault(id(statement.node), [])
                    outer = host or unit
                for one in flow.imported(module, statement):
                    yield one, inner, outer
            if self._trial:
                if not self._check(unit):
                    return
            else:
                for one in flow.called_imports(unit):
                    if one not in self._started:
                        self._wanted.setdefault(one, (one, sink, host))
                yield from self._ready()
            sink.append(unit)
            self._bound.update(flow.bound_by.get(unit, ()))
            if host is not None:
                self.hosts[unit] = host
        yield from self._ready()

    def _ready(self) -> Iterator[_Wanted]:
        for module, wanted in list(self._wanted.items()):
            if module in self._started:
                self._wanted.pop(module, None)
            elif module in self._missing and self._still_misses(self._missing[module]):
                continue
            else:
                missing = self._first_missing(module)
                if missing is None:
                    self._wanted.pop(module, None)
                    yield wanted
                else:
                    self._missing[module] = missing

    def _still_misses(self, missing: _Missing) -> bool:
        entity, reader = missing
        return entity not in self._bound and reader not in self._started

    def _first_missing(self, module: str) -> _Missing | None:
        """Something that running ``module`` now would read too early, and the module that would."""
        trial = _Simulation(self._flow)
        trial._started |= self._started
        trial._bound |= self._bound
        trial._trial = True
        trial.run([module])
        return trial._late

    def _check(self, unit: Unit) -> bool:
        for entity in self._flow.needs(unit):
            binders = self._flow.binders.get(entity, ())
            if binders and entity not in self._bound and unit not in binders:
                self._late = entity, unit.module
                return False
        return True


def _settle(order: list[Unit], flow: _Flow) -> list[Unit]:
    """Move the binders of a name before its first reader where they come too late."""
    late = _late(order, flow)
    if not late:
        return order
    settled = _bound_first(order, flow)
    # A name that only another program point binds cannot be satisfied by any order.
    return settled if _late(settled, flow) < late else order


def _bound_first(order: list[Unit], flow: _Flow) -> list[Unit]:
    settled: list[Unit] = []
    seen: set[Unit] = set()

    def needs(unit: Unit) -> Iterator[Unit]:
        for entity in flow.reads.get(unit, ()):
            binders = flow.binders.get(entity, [])
            if unit not in binders and done.isdisjoint(binders):
                yield from binders

    done: set[Unit] = set()
    for first in order:
        running = [(first, needs(first))] if first not in seen else []
        seen.add(first)
        while running:
            unit, pending = running[-1]
            wanted = next(pending, None)
            if wanted is None:
                running.pop()
                settled.append(unit)
                done.add(unit)
            elif wanted not in seen:
                seen.add(wanted)
                running.append((wanted, needs(wanted)))
    return settled


def _late(order: list[Unit], flow: _Flow) -> int:
    """How many reads come before everything that binds what they read."""
    late = 0
    done: set[Unit] = set()
    for unit in order:
        for entity in flow.reads.get(unit, ()):
            binders = flow.binders.get(entity, [])
            late += bool(binders) and unit not in binders and done.isdisjoint(binders)
        done.add(unit)
    return late

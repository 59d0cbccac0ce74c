"""Code of other modules that has a variable, in whatever way it gets at it.

    from lib import *                             # and then `handlers.append(f)`
    importlib.import_module("lib").handlers.append(f)
    def setup():                                  # which module-level code runs
        from lib import handlers as known
        known.append(f)
    vars(lib)["handlers"] = []                    # rebinds it
    setattr(lib, NAME, [])
    monkey(lib)                                   # which stores an attribute of what it is given

Of the plain ways (``from lib import handlers``, ``lib.handlers.append(f)``) syntax tells; of
these the facts of the engine do. Few units are evaluated for it: those of modules that import the
module, which spell the name, or do something else with the module than to read attributes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import EMPTY, Function, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Register, Unit
from depslice.slicer.closure.aliases import Link
from depslice.slicer.closure.arguments import STORING, Arguments, acts, is_constant, puts
from depslice.slicer.closure.registering import changes_in_place
from depslice.slicer.closure.spelling import Held, Names, Place, Spelling
from depslice.slicer.wiring import with_packages

_SAME: Final = frozenset({s.ATTR, s.BY_NAME, s.ITEM, s.ITER, s.NARROW, s.PHI, s.SUB})
"""What gives the object itself, or a part of it."""
_DEFINED: Final = frozenset({"C", "F", "W"})
_ANY: Final = "*"
"""Some name of a module, which nobody knows."""
_PASSED_ON: Final = 2  # functions that a module is followed through
_TESTING: Final = frozenset({s.COMPARE, s.COMPARED, s.TRUTH})
_KEEPING: Final = frozenset({s.BIND, s.MAPPING, s.SEQUENCE, s.SETFREE, s.SETGLOBAL})


class Reading(NamedTuple):
    """A unit has a variable in ``roots``; ``writes``: it rebinds it, or may."""

    unit: Unit
    roots: dict[Register, Link]
    writes: bool


class _Variable(NamedTuple):
    """What is looked for: ``name`` of ``owner``, which goes by ``names``."""

    owner: Module
    name: str
    names: Names


class ByReading:
    """Answers for one engine."""

    def __init__(self, engine: Engine, arguments: Arguments) -> None:
        self._engine = engine
        self._arguments = arguments
        # The variables that a unit reads or writes, and (of no module) the keywords it passes.
        self._touched: dict[Function, tuple[list[f.Fact], set[tuple[str, str]]]] = {}
        self._stored: dict[Function, tuple[list[f.Fact], set[tuple[str, str]]]] = {}

    def readings(
        self, spelling: Spelling, owner: Module, name: str
    ) -> Iterator[tuple[Module, Reading]]:
        """The units that have the variable ``name`` of ``owner``, and may change it.

        In the module itself those that have it by a text, or by the module (``import lib`` in a
        module of ``lib``). Functions, classes and constants are
        rebound alone: what else is done to them, nobody does in roundabout ways.
        """
        variable = _Variable(owner, name, spelling.names_of(owner, name))
        having = {*variable.names, *spelling.having(owner.name)}
        giving = {package for module in having for package in with_packages(module)}
        telling = {module.name for module, _ in spelling.having_text(owner.name)}
        defined = self._is_defined(owner, name)
        places = self._places(spelling, variable, giving, defined=defined)
        for place, told in sorted(places.items(), key=_order):
            module, index = place
            has_it = module is owner or module.name in telling
            if not has_it and spelling.of(module).imports.isdisjoint(giving):
                continue
            unit = module.summary.units[index]
            held = spelling.held(module, unit)
            if defined and not _may_write(spelling, module, unit, variable):
                continue
            roots = _roots(spelling, module, unit, variable)
            if told or _may_change(unit, roots):
                found = self._reading(module, unit, held, variable, roots)
                if found is not None and (found.writes or not defined):
                    yield module, found

    def _places(
        self, spelling: Spelling, variable: _Variable, giving: set[str], *, defined: bool
    ) -> dict[Place, bool]:
        """The units to look at, and whether they get at the variable by more than its names.

        ``giving`` are the modules that have it, and their packages.
        """
        known = {(module, each) for module, names in variable.names.items() for each in names}
        known |= {("", variable.name), (variable.owner.name, _ANY)}
        handing = [place for module in sorted(giving) for place in spelling.handing(module)]
        handing += spelling.storing_by_text()
        # What rebinds a definition is told by how it does (`_may_write`), before it is evaluated.
        places = {place: defined or not known.isdisjoint(self._touches(place)) for place in handing}
        places.update(dict.fromkeys(spelling.having_text(variable.name), True))
        has_itself = not spelling.of(variable.owner).imports.isdisjoint(giving)
        for each in set() if defined else set().union(*variable.names.values()):
            for place in spelling.spelling(each):
                if has_itself or place[0] is not variable.owner:
                    places.setdefault(place, False)
        return places

    def _touches(self, place: Place) -> set[tuple[str, str]]:
        """The variables that a unit reads or writes, and the keywords that it passes."""
        function = self._engine.function(*place)
        facts = self._engine.facts_of(function)
        of_before, touched = self._touched.get(function, (None, set()))
        if of_before is not facts:
            touched = {(fact[1], fact[2]) for fact in facts if fact[0] in (f.NAME, f.WRITE)}
            touched |= self._stored_by_called(function)
            for op in function.unit.ops:
                if op[0] == s.CALL:
                    touched.update(("", keyword) for keyword, _ in op[4])
            self._touched[function] = facts, touched
        return touched

    def _stored_by_called(self, function: Function) -> set[tuple[str, str]]:
        """What functions that are called with a module store there: of which, and the names.

        And what ``function`` itself stores under a name that is computed: :data:`_ANY`.
        """
        engine = self._engine
        facts = engine.facts_of(function)
        of_before, known = self._stored.get(function, (None, set()))
        if of_before is facts:
            return known
        passed = [fact[1:4] for fact in facts if fact[0] == f.PASS]
        stored = {
            (engine.values[value][1], name)
            for called, place, values in passed
            for value in values
            if engine.values[value][0] == "M"
            for name in self._stored_on(called, place, _PASSED_ON)
        }
        modules = {
            value for op in function.unit.ops if op[0] == s.CALL for value in _first(function, op)
        }
        for value in modules:
            if engine.values[value][0] == "M" and _ANY in self._stored_in(function, value):
                stored.add((engine.values[value][1], _ANY))
        self._stored[function] = facts, stored
        return stored

    def _stored_on(self, function: Function, place: int, deep: int) -> set[str]:
        """The attributes that a function, or who it passes that to, stores on a parameter."""
        engine, unit = self._engine, function.unit
        given = engine.intern(("P", function, place))
        stored: set[str] = set()
        for each in function.module.summary.units[unit.index :]:
            if unit.index in (each.index, each.parent):
                stored |= self._stored_in(engine.function(function.module, each.index), given)
        if deep and any(place in reads(op)[1:] for op in unit.ops if op[0] == s.CALL):
            for fact in engine.facts_of(function):
                if fact[0] == f.PASS and given in fact[3]:
                    stored |= self._stored_on(fact[1], fact[2], deep - 1)
        return stored

    def _stored_in(self, function: Function, value: int) -> set[str]:
        """The attributes that the code of ``function`` stores on a value."""
        engine = self._engine
        engine.facts_of(function)
        registers, stored = function.registers, set[str]()
        for op in function.unit.ops:
            if op[0] == s.SETATTR and value in registers[op[1]]:
                stored.add(op[2])
            elif op[0] == s.CALL and value in _first(function, op):
                called = [engine.values[each] for each in registers[op[2]]]
                if ("X", "builtins.setattr") in called and len(op[3]) > 1:
                    names = [engine.values[each] for each in registers[op[3][1]]]
                    stored |= {each[1] if each[0] == "S" else _ANY for each in names} or {_ANY}
        return stored

    def _is_defined(self, owner: Module, name: str) -> bool:
        """Whether the variable is a function, class, text or number, and nothing else."""
        kinds = [self._engine.values[each] for each in self._engine.name_values(owner, name, None)]
        return bool(kinds) and all(kind[0] in _DEFINED or is_constant(kind) for kind in kinds)

    def _reading(
        self,
        module: Module,
        unit: Unit,
        held: Held,
        variable: _Variable,
        roots: dict[Register, Link],
    ) -> Reading | None:
        """What ``unit`` has of the variable, after what the engine finds out."""
        function = self._engine.function(module, unit.index)
        owner, name, names = variable
        writes = False
        for op in unit.ops:
            place = s.POSITION_AT.get(op[0])
            here = () if place is None else self._arguments.facts_at(function, op[place])
            reads_it = any(fact[0] == f.NAME and fact[2] in names.get(fact[1], ()) for fact in here)
            writes = writes or any(fact[:3] == (f.WRITE, owner.name, name) for fact in here)
            if reads_it and roots.get(op[1]) is Link.NONE:
                roots[op[1]] = Link.SAME
            elif reads_it and op[0] in (s.CALL, s.SUB) and not _exact(unit, roots, op):
                roots[op[1]] = Link.SAME | Link.CALLED
        writes = writes or self._told(function, held, variable)
        touched = {(owner.name, name), (owner.name, _ANY)}
        writes = writes or not touched.isdisjoint(self._stored_by_called(function))
        roots = {register: link for register, link in roots.items() if link}
        if writes or (roots and _may_change(unit, roots)):
            return Reading(unit, roots, writes)
        return None

    def _told(self, function: Function, held: Held, variable: _Variable) -> bool:
        """Whether code tells a function that changes modules the name: ``put(lib, "x", 1)``."""
        unit, name = function.unit, variable.name
        texts = {op[1]: op[2] for op in unit.ops if op[0] == s.STRING}
        for op in unit.ops if held else ():
            if op[0] == s.CALL:
                named = {texts.get(register) for register in reads(op)[1:]}
                if name in named or any(keyword == name for keyword, _ in op[4]):
                    for register in reads(op)[1:]:
                        if held.get(register) == variable.owner.name and self._arguments.changes(
                            function, op, register, defined=False
                        ):
                            return True
        return False


def _first(function: Function, call: Op) -> Values:
    """What a call is given first."""
    return function.registers[call[3][0]] if call[3] else EMPTY


def _roots(
    spelling: Spelling, module: Module, unit: Unit, variable: _Variable
) -> dict[Register, Link]:
    """Where ``unit`` has the variable, as names tell; ``NONE``: perhaps, values will tell.

    In its own module only by the module: what it does with the name is looked at anyway.
    """
    names = variable.names
    own = set() if module is variable.owner else names.get(module.name, set())
    attributes = set().union(*names.values())
    roots: dict[Register, Link] = {}
    held = spelling.held(module, unit)
    for op in unit.ops:
        if (op[0] == s.GLOBAL and op[2] in own) or (
            op[0] == s.IMPORT and op[4] in names.get(spelling.source(module, op), ())
        ):
            roots[op[1]] = Link.SAME
        elif op[0] == s.ATTR and op[2] in held and op[3] in attributes:
            source = held[op[2]]
            if source is None or op[3] in names.get(source, ()):
                roots[op[1]] = Link.SAME if source is not None else Link.NONE
    return roots


def _may_write(spelling: Spelling, module: Module, unit: Unit, variable: _Variable) -> bool:
    """Whether ``unit`` may rebind the variable, or pass a module to what does, as syntax tells.

    Others would be evaluated, with all that they call, to see that they do not.
    """
    names = {variable.name}.union(*variable.names.values())
    texts = {op[1] for op in unit.ops if op[0] == s.STRING and op[2] in names}
    held = spelling.modules_in(module, unit)
    imported = spelling.from_outside(module)
    outside: set[Register] = set()  # what an import from outside gives, and attributes of that
    for op in unit.ops:
        code = op[0]
        if (code == s.GLOBAL and op[2] in imported) or (code == s.ATTR and op[2] in outside):
            outside.add(op[1])
        elif code == s.ATTR and op[3] == "__dict__" and op[2] in held:
            return True
        elif code == s.SETATTR:
            if op[2] in names:
                return True
        elif code == s.SETGLOBAL:
            if op[1] in names:
                return True
        elif code == s.CALL:
            given = reads(op)[1:]
            if not texts.isdisjoint(given) or any(keyword in names for keyword, _ in op[4]):
                return True
            if op[2] not in outside and not held.isdisjoint(given):
                return True
        elif code not in _TESTING and not texts.isdisjoint(reads(op)):
            return True
    return False


def _order(place: tuple[Place, bool]) -> tuple[str, int]:
    return place[0][0].name, place[0][1]


def _exact(unit: Unit, roots: Mapping[Register, Link], call: Op) -> bool:
    """Whether something in ``roots`` stands where the call does: it is what is called."""
    return any(op[1] in roots and op[-1] == call[-1] for op in unit.ops if op[0] == s.ATTR)


def _may_change(unit: Unit, roots: Mapping[Register, Link]) -> bool:
    """Whether more is done with what is in ``roots`` than to read it, as far as syntax tells."""
    held = set(roots)
    called: dict[Register, str] = {}  # results of methods
    methods: dict[Register, str] = {}
    wanted: set[Register] = set()
    for op in unit.ops if held else ():
        code = op[0]
        of_it = not held.isdisjoint(reads(op))
        wanted.update(reads(op))
        if not of_it:
            continue
        if code == s.CALL:
            if not held.isdisjoint(reads(op)[1:]):
                return True
            if roots.get(op[2], Link.NONE) & Link.CALLED:
                return True
            method = methods.get(op[2])
            if method is not None:
                if puts(method):
                    return True
                called[op[1]] = method
                held.add(op[1])
        elif code in STORING:
            if op[1] in held or (code == s.SETATTR and op[3] in held):
                return True
        elif code in _KEEPING or code == s.DECORATE or changes_in_place(op):
            return True
        elif code in _SAME:
            held.add(op[1])
            if code == s.ATTR:
                methods[op[1]] = op[3]
    return any(result not in wanted and acts(name) for result, name in called.items())

"""Module-level statements that change a variable's object through another name.

    parser = ArgumentParser()
    group = parser.add_argument_group("more")     # a part of it
    group.add_argument("--x")                     # changes it
    register = TABLE.setdefault                   # a method: calls of it change TABLE
    for class_ in (One, Two):                     # each of them
        class_.tag = "t"

One pass over the statements of a module in their order, as they run once, for one variable. A
value is of its object one of four: the *same*, a *part* of it, something whose *call* changes it,
a container that *holds* it. A part of a part is a part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from heapq import heappop, heappush
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import NO_RESULT, reads
from depslice.callgraph.engine.values import Class, Function, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Piece, Register, Unit
from depslice.slicer.closure.arguments import STORING, Arguments, acts, named_in, puts
from depslice.slicer.closure.registering import changes_in_place, given_by

_PARTIAL: Final = (f.EXTERNAL, "functools.partial")
_DEFINED: Final = frozenset({"C", "F", "M", "W"})
_CONSTANT: Final = frozenset({"S", "N"})
_DECIDING: Final = frozenset({"if", "match"})
"""Statements that change what they ask of, but seldom: ``if seen.setdefault(key, f): …``."""
_KINDS: Final = _DECIDING | {"assign", "def", "class", "expr", "loop", "other", "with"}
_IN_CLASSES: Final = frozenset({"assign", "def"})


class Link(IntFlag):
    """What a value is of the object that a variable stands for."""

    NONE = 0
    SAME = 1
    PART = 2
    CALLED = 4
    HOLDS = 8


_REAL: Final = Link.SAME | Link.PART


@dataclass(slots=True)
class Aliased:
    """Who changes a variable by none of its own names.

    ``pieces``: statements. ``names`` and ``members``, class attributes by the index of the class:
    what else has it in the module.
    """

    pieces: dict[int, Piece] = field(default_factory=dict)
    names: dict[str, Link] = field(default_factory=dict)
    members: dict[tuple[int, str], None] = field(default_factory=dict)


class Aliases:
    """Answers for the variables of one module, those that it imports included."""

    def __init__(self, engine: Engine, arguments: Arguments, module: Module) -> None:
        self._engine = engine
        self._arguments = arguments
        self._module = module
        units = module.summary.units
        self._mentioning: dict[str, list[int]] = {}  # by name: indices of statements
        for piece in module.summary.pieces:
            kinds = _KINDS if piece.owner < 0 else _IN_CLASSES
            if piece.unit >= 0 and piece.kind in kinds:
                for name in {op[2] for op in units[piece.unit].ops if op[0] == s.GLOBAL}:
                    self._mentioning.setdefault(name, []).append(piece.index)
        self._giving: dict[str, set[str]] = {}  # by variable, the functions that give it
        for unit in units:
            if unit.kind == "function" and unit.owner < 0 and unit.parent < 0:
                for name in given_by(unit):
                    self._giving.setdefault(name, set()).add(unit.qualname)

    def of(self, variable: str, link: Link = Link.SAME) -> Aliased:
        """The statements that change the object ``variable`` names, through other names of it."""
        giving = self._giving.get(variable, set())
        defined = self._is_defined(self._module, variable)
        subject = _Subject(self._module, variable, variable, link, giving, defined, {})
        return self._follow(subject, {variable, *giving})

    def of_readings(
        self, owner: Module, variable: str, roots: Mapping[int, Mapping[Register, Link]]
    ) -> Aliased:
        """Who changes a variable of ``owner``, which statements of this module have in registers.

        ``roots``: by their indices, what the registers are of it.
        """
        defined = self._is_defined(owner, variable)
        subject = _Subject(owner, variable, "", Link.NONE, set(), defined, roots)
        return self._follow(subject, set())

    def _is_defined(self, owner: Module, variable: str) -> bool:
        values = self._engine.name_values(owner, variable, None)
        return any(self._engine.values[value][0] in _DEFINED for value in values)

    def _follow(self, subject: _Subject, names: set[str]) -> Aliased:
        """``names``: those that statements may have of it to begin with."""
        found = Aliased()
        looked_for: set[str] = set()
        waiting: list[int] = sorted(subject.roots)
        done = -1
        while True:
            for name in {*names, *found.names} - looked_for:
                looked_for.add(name)
                for index in self._mentioning.get(name, ()):
                    if index > done:
                        heappush(waiting, index)
            while waiting and waiting[0] <= done:
                heappop(waiting)
            if not waiting:
                return found
            done = heappop(waiting)
            one = _Pass(self._engine, self._arguments, self._module, subject)
            one.run(self._module.summary.pieces[done], found)


@dataclass(frozen=True, slots=True)
class _Subject:
    """The object that is followed: what ``variable`` of ``owner`` stands for.

    ``name`` has it in the module that is looked at, as ``link`` says; so have the functions
    ``giving``, and the registers of statements that are ``roots``. ``defined``: it is a function
    or a class, or may be, which nobody is expected to change.
    """

    owner: Module
    variable: str
    name: str
    link: Link
    giving: set[str]
    defined: bool
    roots: Mapping[int, Mapping[Register, Link]]


def _wanted(unit: Unit) -> set[Register]:
    """The registers whose values are taken; a display that nobody takes takes none of its own."""
    found: set[Register] = set()
    for op in reversed(unit.ops):
        if op[0] not in (s.SEQUENCE, s.MAPPING) or op[1] in found:
            found.update(reads(op))
    return found


class _Pass:
    """One statement, for one variable."""

    def __init__(
        self, engine: Engine, arguments: Arguments, module: Module, subject: _Subject
    ) -> None:
        self._engine = engine
        self._arguments = arguments
        self._module = module
        self._subject = subject
        self._links: dict[Register, Link] = {}
        self._methods: dict[Register, tuple[Register, str]] = {}
        self._givers: set[Register] = set()
        self._elements: dict[Register, tuple[Register, ...]] = {}  # of displays
        self._seen: set[Register] = set()  # others see whether the statement changes what is there

    def run(self, piece: Piece, found: Aliased) -> None:
        """Note whether ``piece`` changes the variable, and what it binds to something of it."""
        unit = self._module.summary.units[piece.unit]
        links = self._links
        subject = self._subject
        roots = subject.roots.get(piece.index, {})
        elements = self._elements
        wanted = _wanted(unit)
        # Where a statement has the name itself, others see whether it changes that.
        seen_by_others = subject.link is Link.SAME and piece.kind not in _DECIDING
        changes = False
        for op in unit.ops:
            code = op[0]
            if code == s.GLOBAL:
                same = op[2] == subject.name
                links[op[1]] = subject.link if same else found.names.get(op[2], Link.NONE)
                if same and seen_by_others:
                    self._seen.add(op[1])
                if op[2] in subject.giving:
                    self._givers.add(op[1])
            elif code == s.ATTR:
                links[op[1]] = self._attribute(self._link(op[2]), op[3])
                self._methods[op[1]] = op[2], op[3]
            elif code in (s.SEQUENCE, s.MAPPING):
                elements[op[1]] = tuple(reads(op))
                if self._union(elements[op[1]]) & ~Link.CALLED:
                    links[op[1]] = Link.HOLDS
            elif code == s.ITEM and 0 <= op[3] < len(elements.get(op[2], ())):
                links[op[1]] = self._link(elements[op[2]][op[3]])
            elif code in (s.ITEM, s.ITER, s.SUB):
                links[op[1]] = Link.PART if self._link(op[2]) & ~Link.CALLED else Link.NONE
            elif code in (s.PHI, s.NARROW, s.BY_NAME):
                links[op[1]] = self._union(op[2] if code == s.PHI else (op[2],))
                if code == s.NARROW and op[2] in self._seen:
                    self._seen.add(op[1])
            elif code in STORING:
                changes = changes or bool(self._real_link(op[1]))
                if code == s.SETSUB and self._link(op[3]) & ~Link.CALLED:
                    self._note_holder(named_in(unit, op[1]), found)
            elif code == s.DECORATE:
                link = self._link(op[2])
                changes = changes or bool(
                    link & Link.CALLED or (link & Link.PART and not self._leaves_it(unit, op))
                )
            elif code == s.CALL:
                method = self._methods.get(op[2], (op[2], ""))[1]
                # `v = x.cached(key)`, but not `option = x.define("name")`.
                asks = method and op[1] in wanted and not (puts(method) or self._enters(op[2]))
                changes = changes or bool(self._link(op[2]) & Link.CALLED and not asks)
                if method:
                    receiver, method = self._methods[op[2]]
                    link = self._link(receiver)
                    real = self._real_link(receiver)
                    # `x.get(key) is None` reads no result either.
                    if op[1] not in wanted and piece.kind == "expr":
                        changes = changes or bool(
                            real and acts(method) and self._acts_on(unit, receiver, method)
                        )
                    if link is Link.CALLED and not subject.defined:
                        changes = changes or self._keeper_fills(unit, receiver, method)
                changes = changes or self._calls_itself(unit, op) or self._passes(unit, op)
                links[op[1]] = self._call(unit, op)
                given = [r for r in reads(op)[1:] if subject.defined or not self._carries_itself(r)]
                if self._union(given) & ~Link.CALLED:
                    function = self._engine.function(self._module, unit.index)
                    self._note_holder(self._arguments.holder(function, op), found)
                own = {each for each in reads(op)[1:] if self._link(each) & ~Link.CALLED}
                for register in self._filled_with(unit, op, own):
                    self._note_holder(named_in(unit, register), found)
            elif code == s.BINARY and self._operator_enters(unit, op):  # `flow = first | second`
                changes = True
            elif changes_in_place(op) and self._real_link(op[2]) & Link.PART:
                function = self._engine.function(self._module, unit.index)
                changes = changes or not self._arguments.is_constant_in(function, op[2])
                links[op[1]] = self._link(op[2])
            elif code == s.BINARY and self._union(op[2:4]) & Link.HOLDS:  # `L += [X]`
                links[op[1]] = Link.HOLDS
                self._note_holder(named_in(unit, op[2]) if op[4] == "iadd" else "", found)
            elif code == s.BIND and piece.owner >= 0:
                if self._link(op[2]) & Link.SAME:
                    found.members[piece.owner, op[1]] = None
            elif code == s.BIND and op[1] != subject.name:
                known = found.names.get(op[1], Link.NONE) | self._link(op[2])
                if known:
                    found.names[op[1]] = known
            if roots and code not in NO_RESULT and op[1] in roots:
                links[op[1]] = roots[op[1]]
        if changes:
            found.pieces[piece.index] = piece

    def _filled_with(self, unit: Unit, op: Op, given: set[Register]) -> Iterable[Register]:
        """The arguments of a call that a function of the repository puts ``given`` into."""
        if not given:
            return ()
        function = self._engine.function(self._module, unit.index)
        return self._arguments.filled_with(function, op, given)

    def _note_holder(self, holder: str, found: Aliased) -> None:
        """Note that a variable has it from now on: ``table.append(X)``, ``table["x"] = X``."""
        if holder and holder != self._subject.name:
            found.names[holder] = found.names.get(holder, Link.NONE) | Link.HOLDS

    def _link(self, register: Register) -> Link:
        return self._links.get(register, Link.NONE)

    def _real_link(self, register: Register) -> Link:
        """What a register is of the object, but where others see what is done with it."""
        return self._link(register) & (Link.PART if register in self._seen else _REAL)

    def _union(self, registers: Iterable[Register]) -> Link:
        found = Link.NONE
        for register in registers:
            found |= self._link(register)
        return found

    def _attribute(self, link: Link, name: str) -> Link:
        found = link & Link.HOLDS  # `table.items`
        if link & _REAL:
            found |= Link.PART
            if self._method_changes(link, name):
                found |= Link.CALLED
        return found

    def _method_changes(self, link: Link, name: str) -> bool:
        """Whether a call of that attribute changes the variable."""
        kinds = self._kinds()
        if kinds and (kinds <= _CONSTANT or (link & Link.SAME and kinds <= _DEFINED)):
            return False
        methods = list(self._methods_of(name)) if link & Link.SAME else []
        if methods:
            return any(self._arguments.changes_parameter(method, 0) for method in methods)
        return puts(name)

    def _enters(self, method: Register) -> bool:
        """Whether what is called is a method that puts something into the variable each time."""
        receiver, name = self._methods[method]
        return bool(self._link(receiver) & Link.SAME) and any(
            self._arguments.enters(each) for each in self._methods_of(name)
        )

    def _operator_enters(self, unit: Unit, op: Op) -> bool:
        """Whether an operator puts something into the variable, which is one of its operands."""
        if not self._union(op[2:4]) & Link.SAME:
            return False
        function = self._engine.function(self._module, unit.index)
        return any(
            fact[0] == f.CALL and self._arguments.enters(fact[1])
            for fact in self._arguments.facts_at(function, op[5])
        )

    def _classes_in(self, unit: Unit, register: Register) -> list[Class] | None:
        """The classes of the instances in a register; ``None``: there may be others."""
        function = self._engine.function(self._module, unit.index)
        self._engine.facts_of(function)
        kinds = [self._engine.values[value] for value in function.registers[register]]
        if not kinds or any(kind[0] != "I" for kind in kinds):
            return None
        return [kind[1] for kind in kinds]

    def _leaves_it(self, unit: Unit, call: Op) -> bool:
        """Whether what is read of the object does not know of it, or changes nothing of it.

        ``@Tools.memoized``.
        """
        if call[2] not in self._methods:
            return False
        function = self._engine.function(self._module, unit.index)
        return self._arguments.is_of_its_own(function, call[2]) or (
            self._arguments.leaves_receiver(function, call, self._methods[call[2]][1])
        )

    def _acts_on(self, unit: Unit, receiver: Register, method: str) -> bool:
        """Whether a method may change what it is called on: one of the repository tells."""
        classes = self._classes_in(unit, receiver)
        if classes is None:
            return True
        for class_ in classes:
            found = list(self._functions(class_, method))
            if not found or any(self._arguments.changes_parameter(each, 0) for each in found):
                return True
        return False

    def _keeper_fills(self, unit: Unit, receiver: Register, method: str) -> bool:
        """Whether a method of an instance that keeps the object (``Registrar(X)``) fills it."""
        classes = self._classes_in(unit, receiver)
        if classes is None:
            return puts(method)
        for class_ in classes:
            for constructor in self._functions(class_, "__init__"):
                given = range(1, len(constructor.unit.params))
                for op in constructor.unit.ops:
                    if op[0] == s.SETATTR and op[1] == 0 and op[3] in given:
                        fillers = self._arguments.filling_methods(constructor, op[2])
                        names = {each.unit.qualname.rpartition(".")[2] for each in fillers}
                        if method in names:
                            return True
        return False

    def _functions(self, class_: Class, name: str) -> Iterator[Function]:
        owner = self._engine.find_member(class_, name)
        for member in self._engine.member_values(owner, name) if owner is not None else ():
            found = self._engine.values[member]
            if found[0] == "F":
                yield found[1]

    def _carries_itself(self, register: Register) -> bool:
        """Whether a register has the object, be it as an element of a display; not only parts."""
        registers = (register, *self._elements.get(register, ()))
        return any(self._link(each) & Link.SAME for each in registers)

    def _passes(self, unit: Unit, op: Op) -> bool:
        """Whether a call is given the object, and changes it: ``put(table, key, value)``.

        Or a part of it, which a function of the repository changes: ``fill(table[key])``. Or what
        changes it, and calls that: ``map(table.__setitem__, keys, values)``.
        """
        function = self._engine.function(self._module, unit.index)
        holder = self._arguments.holder(function, op)
        for register in dict.fromkeys(reads(op)[1:]):
            link = self._link(register)
            if holder and not self._carries_itself(register):
                continue  # who has the container changes what is read of it, if anyone
            itself = self._real_link(register) & Link.SAME or link & Link.HOLDS
            if itself or link & Link.PART:
                defined = self._subject.defined or not (itself or self._is_it(function, register))
                if self._arguments.changes(function, op, register, defined=defined):
                    return True
            if link & Link.CALLED and self._arguments.calls_with_elements(function, op):
                return True
        return False

    def _calls_itself(self, unit: Unit, op: Op) -> bool:
        """Whether a call is of the object by what gives it, and changes it: ``table.get(k, X)(1)``."""
        if not self._real_link(op[2]):
            return False
        function = self._engine.function(self._module, unit.index)
        return self._is_it(function, op[2]) and any(
            self._arguments.changes_parameter(method, 0) for method in self._methods_of("__call__")
        )

    def _is_it(self, function: Function, register: Register) -> bool:
        """Whether what a container gives is the object itself, as far as values tell."""
        self._engine.facts_of(function)
        return not self._values().isdisjoint(function.registers[register])

    def _methods_of(self, name: str) -> Iterator[Function]:
        for value in self._values():
            kind = self._engine.values[value]
            if kind[0] == "I":
                yield from self._functions(kind[1], name)

    def _kinds(self) -> set[str]:
        return {str(self._engine.values[value][0]) for value in self._values()}

    def _values(self) -> Values:
        return self._engine.name_values(self._subject.owner, self._subject.variable, None)

    def _call(self, unit: Unit, op: Op) -> Link:
        """What the result of a call is."""
        function = self._engine.function(self._module, unit.index)
        found = Link.NONE
        if op[2] in self._methods:
            receiver = self._link(self._methods[op[2]][0])
            if receiver & Link.HOLDS:
                found |= Link.HOLDS
                if self._arguments.takes_out(function, op):
                    found |= Link.PART
            kinds = self._kinds() if receiver & _REAL else set()
            if receiver & _REAL and not (kinds and kinds <= _DEFINED):
                found |= Link.PART
        if op[2] in self._givers:
            found |= Link.PART
        for register in dict.fromkeys(reads(op)[1:]):
            link = self._link(register)
            if not link:
                continue
            facts = self._arguments.facts_at(function, op[-1])
            if any(fact[:2] == _PARTIAL for fact in facts):
                found |= link & Link.CALLED
            if not link & ~Link.CALLED:
                continue
            if self._arguments.gives_elements(function, op):
                found |= Link.HOLDS
            elif self._arguments.gives_an_element(function, op):
                found |= Link.PART
            elif self._arguments.gives_itself(function, op, register):
                found |= link
            elif link & _REAL and self._arguments.keeps(function, op, register):
                found |= Link.CALLED
        return found

"""Whether code changes the object a variable stands for, where its syntax only says it may.

``X.add(f)`` fills ``X``; ``X.info("…")`` says the same of a logger, and changes nothing that
anyone would read. Code that calls loggers alone is told apart here: each use of the variable
must be a call of a method named as a logger's, whose result nobody takes, on an object that is
not one of the repository's own. Everything else changes, but a function that is called.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from depslice.callgraph import summary as s
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.facts import CALL
from depslice.callgraph.engine.library import LOGGERS, SAYING, TELLING
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import OPEN_OR_OUTSIDE, Class, Function, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Piece, Register
from depslice.slicer.closure.aliases import Aliased, Aliases, Link
from depslice.slicer.closure.arguments import Arguments
from depslice.slicer.closure.by_reading import ByReading, Reading
from depslice.slicer.closure.registering import defaults_of
from depslice.slicer.closure.spelling import Spelling

_OUTSIDE = OPEN_OR_OUTSIDE | {"XI", "XM", "G", "GS"}
_PUTTING = frozenset({s.BIND, s.MAPPING, s.PHI, s.RETURN, s.SEQUENCE})
_OFTEN = frozenset({"", "once", "advice"})


class Changing:
    """Answers for one engine."""

    def __init__(self, engine: Engine, arguments: Arguments) -> None:
        self._engine = engine
        self._arguments = arguments
        self._aliases: dict[str, Aliases] = {}  # by module
        self._by_reading = ByReading(engine, arguments)
        self._defaults: dict[str, dict[str, list[tuple[int, int]]]] = {}  # by module

    def changes(self, module: Module, unit: int, name: str, *, called: bool | None = None) -> bool:
        """Whether a unit of ``module`` rebinds its variable ``name``, or may change its object.

        ``called``: calls of it are known to leave it as it is, or not to.
        """
        ops = module.summary.units[unit].ops
        if any(op[0] in (s.SETGLOBAL, s.BIND) and op[1] == name for op in ops):
            return True
        users: dict[Register, list[Op]] = {}
        for op in ops:
            for register in reads(op):
                users.setdefault(register, []).append(op)
        roots = [op[1] for op in ops if op[0] == s.GLOBAL and op[2] == name]
        if not roots:  # it is changed by a name that is not read: `setattr`, an inner function
            return True
        called = self._is_called(module, name) if called is None else called
        function = self._engine.function(module, unit)
        return not all(
            self._only_logs(module, name, root, users, function)
            for root in roots
            if not (called and _is_only_called(root, users))
        )

    def aliases_of(self, module: Module, variable: str, link: Link) -> Aliased:
        """Who changes an object by other names of ``module`` than ``variable``.

        ``link``: what the variable, which may be imported, is of the object. Functions are
        hardly changed by other names: they are not looked for.
        """
        values = self._engine.name_values(module, variable, None)
        functions = bool(values) and all(self._engine.values[each][0] == "F" for each in values)
        if link is Link.SAME and functions:
            return Aliased()
        return self._aliases_in(module).of(variable, link)

    def readings(
        self, spelling: Spelling, owner: Module, name: str
    ) -> Iterator[tuple[Module, Aliased, list[int]]]:
        """Who changes a variable of ``owner``, in ways that names do not tell.

        For each module the statements that do, with what they bind to something of it, and the
        functions that do.
        """
        by_module: dict[str, tuple[Module, list[Reading]]] = {}
        for module, reading in self._by_reading.readings(spelling, owner, name):
            by_module.setdefault(module.name, (module, []))[1].append(reading)
        for module, found in by_module.values():
            roots = {
                reading.unit.piece: reading.roots
                for reading in found
                if reading.unit.kind == "piece"
            }
            aliased = self.aliases_of_roots(module, owner, name, roots)
            functions: list[int] = []
            for reading in found:
                unit = reading.unit
                if unit.kind == "piece":
                    if reading.writes:
                        aliased.pieces[unit.piece] = module.summary.pieces[unit.piece]
                else:
                    functions += self._changing_functions(module, reading)
            yield module, aliased, functions

    def _changing_functions(self, module: Module, reading: Reading) -> Iterator[int]:
        """The function of ``reading``, if it changes what it has; methods, where it keeps that."""
        function = self._engine.function(module, reading.unit.index)
        if reading.writes or self._arguments.changes_what(function, set(reading.roots)):
            yield function.unit.index
        yield from self._methods_that_fill(function, reading.roots)

    def _methods_that_fill(self, function: Function, roots: Container[Register]) -> Iterator[int]:
        """The methods that change what ``function``, one of them, keeps of what is in ``roots``."""
        for op in function.unit.ops if function.unit.owner >= 0 else ():
            if op[0] == s.SETATTR and op[1] == 0 and op[3] in roots:
                for method in self._arguments.filling_methods(function, op[2]):
                    yield method.unit.index

    def aliases_of_roots(
        self,
        module: Module,
        owner: Module,
        name: str,
        roots: Mapping[int, Mapping[Register, Link]],
    ) -> Aliased:
        """Who changes a variable of ``owner``, which statements of ``module`` have in ``roots``."""
        return self._aliases_in(module).of_readings(owner, name, roots)

    def _aliases_in(self, module: Module) -> Aliases:
        aliases = self._aliases.get(module.name)
        if aliases is None:
            aliases = self._aliases[module.name] = Aliases(self._engine, self._arguments, module)
        return aliases

    def filled_by_calls(self, module: Module, piece: Piece) -> set[str]:
        """The variables of its class that calls in a statement of a class body change.

        ``register(table, "key", method)``, ``@into(table)``, ``@table`` of an instance that puts
        what it is given somewhere. What code outside does counts where nobody takes the result.
        """
        function = self._engine.function(module, piece.unit)
        held = {op[1]: op[3] for op in function.unit.ops if op[0] == s.CLASSVAR}
        calls = [
            op
            for op in function.unit.ops
            if held and op[0] in (s.CALL, s.DECORATE) and not held.keys().isdisjoint(reads(op))
        ]
        if not calls:
            return set()
        self._engine.facts_of(function)
        registers = function.registers
        held = {each: name for each, name in held.items() if not self._is_defined(registers[each])}
        found = set()
        for op in calls:
            if op[2] in held and any(map(self.stores_when_called, registers[op[2]])):
                found.add(held[op[2]])
            given = held.keys() & set(reads(op)[1:]) if op[0] == s.CALL else ()
            if given and (
                piece.kind in ("expr", "loop", "with")
                or any(fact[0] == CALL for fact in self._arguments.facts_at(function, op[-1]))
            ):
                found |= {
                    held[each]
                    for each in given
                    if self._arguments.changes(function, op, each, defined=False)
                }
        return found

    def fillers(self, module: Module, name: str, mentioning: Iterable[int]) -> list[int]:
        """The functions of ``module`` that fill its variable by other ways than a statement.

        They pass it to who changes it (``put(X, key, value)``), or have it as the default of a
        parameter. ``mentioning``: those whose code has the name.
        """
        values = self._engine.name_values(module, name, None)
        defined = self._is_defined(values)
        mentioning = list(mentioning)
        found = [
            unit
            for unit in (mentioning if not defined else ())
            if self._arguments.fills(self._engine.function(module, unit), name)
        ]
        for unit in mentioning if not defined else ():
            function = self._engine.function(module, unit)
            roots = {op[1] for op in function.unit.ops if op[0] == s.GLOBAL and op[2] == name}
            found += self._methods_that_fill(function, roots)
        for unit, index in self._defaults_of(module).get(name, ()):
            function = self._engine.function(module, unit)
            if self._arguments.changes_parameter(function, index, defined=defined):
                found.append(unit)
        return found

    def fillers_of_elements(
        self, module: Module, holder: str, name: str, mentioning: Iterable[int]
    ) -> list[int]:
        """The functions that change what a variable ``holder`` of ``module`` holds.

        ``name``: the variable that it holds; functions and classes are hardly changed that way.
        """
        if self._is_defined(self._engine.name_values(module, name, None)):
            return []
        found = []
        for unit in mentioning:
            function = self._engine.function(module, unit)
            if self._arguments.changes_what(function, _elements(function.unit.ops, holder)):
                found.append(unit)
        return found

    def _defaults_of(self, module: Module) -> dict[str, list[tuple[int, int]]]:
        found = self._defaults.get(module.name)
        if found is None:
            found = self._defaults[module.name] = defaults_of(module.summary)
        return found

    def _is_called(self, module: Module, name: str) -> bool:
        """Whether calls leave the variable as it is: not instances that store, or give themselves.

        Nor functions that keep something in what is around them.
        """
        values = self._engine.name_values(module, name, None)
        return not any(map(self.stores_when_called, values))

    def stores_when_called(self, value: int) -> bool:
        """Whether what is called keeps something: around it, or on the object that it is, or has."""
        kind = self._engine.values[value]
        if kind[0] == "F":
            return self._arguments.keeps_around(kind[1])
        if kind[0] == "B":  # `signal = Namespace().signal`
            return self._arguments.changes_parameter(kind[1], 0)
        return kind[0] == "I" and any(
            self._arguments.changes_parameter(function, 0)
            or any(op[0] == s.RETURN and op[1] == 0 for op in function.unit.ops)
            for function in self._members(kind[1], "__call__")
        )

    def _is_defined(self, values: Values) -> bool:
        """Whether they are functions and classes, and nothing else."""
        kinds = [self._engine.values[value][0] for value in values]
        return bool(kinds) and all(kind in ("F", "C", "W") for kind in kinds)

    def _member_values(self, values: Values, attribute: str) -> Values:
        """What ``name.attribute`` is, if the name is that of a module; nothing known otherwise."""
        engine = self._engine
        found: set[int] = set()
        for kind in [engine.values[value] for value in values]:
            source = engine.program.module(kind[1]) if kind[0] == "M" else None
            if source is not None:
                found |= engine.module_member(source, attribute)
        return found

    def _only_handed_on(
        self, op: Op, register: Register, values: Values, function: Function
    ) -> bool:
        """Whether an operation puts ``values`` somewhere, or passes them to what leaves them alone."""
        if op[0] != s.CALL:
            return op[0] in _PUTTING
        return op[2] != register and not self._arguments.changes(
            function, op, register, defined=self._is_defined(values)
        )

    def _only_logs(
        self,
        module: Module,
        name: str,
        root: Register,
        users: dict[Register, list[Op]],
        function: Function,
    ) -> bool:
        """Whether the variable in ``root`` only writes log records, or is passed unchanged."""
        numbers = {s.INT, *(op[1] for op in function.unit.ops if op[0] == s.TOLD)}
        values = self._engine.name_values(module, name, None)
        for op in users.get(root, ()):
            if self._only_handed_on(op, root, values, function):
                continue
            if op[0] != s.ATTR:
                return False
            members = self._member_values(values, op[3])
            given = users.get(op[1], ())
            if given and all(self._only_handed_on(i, op[1], members, function) for i in given):
                continue
            if self._only_gives(op, values, users, function):
                continue
            attribute = op[3]
            if attribute in LOGGERS:  # `app.logger.info("…")`
                if not all(
                    inner[0] == s.ATTR and _is_record(inner, users, numbers)
                    for inner in users.get(op[1], ())
                ):
                    return False
            elif attribute not in TELLING and not (
                _is_record(op, users, numbers) and self._is_logger(module, name, attribute)
            ):
                return False
        return True

    def _only_gives(
        self, attribute: Op, values: Values, users: dict[Register, list[Op]], function: Function
    ) -> bool:
        """Whether classes only give what is called: ``@Tools.memoized`` leaves ``Tools`` as it is."""
        given = users.get(attribute[1], ())
        return (
            bool(given)
            and all(op[0] in (s.CALL, s.DECORATE) and op[2] == attribute[1] for op in given)
            # An instance that is called, or does more, may change it.
            and all(use[0] == s.BIND for op in given for use in users.get(op[1], ()))
            and bool(values)
            and all(self._engine.values[value][0] == "C" for value in values)
            and (
                self._arguments.is_of_its_own(function, attribute[1])
                or all(self._arguments.leaves_receiver(function, op, attribute[3]) for op in given)
            )
        )

    def _is_logger(self, module: Module, name: str, method: str) -> bool:
        """Whether the variable may be a logger as far as its ``method`` tells."""
        engine = self._engine
        kinds = [engine.values[value] for value in engine.name_values(module, name, None)]
        return bool(kinds) and all(
            kind[0] in _OUTSIDE or (kind[0] == "I" and not any(self._methods(kind[1], method)))
            for kind in kinds
        )

    def _methods(self, class_: Class, name: str) -> Iterator[Function]:
        """What a class or one of its subclasses has under ``name`` that does something."""
        for function in self._members(class_, name):
            if any(inner[0] != s.RETURN for inner in function.unit.ops):
                yield function

    def _members(self, class_: Class, name: str) -> Iterator[Function]:
        for each in (class_, *class_.below()):
            owner = self._engine.find_member(each, name)
            if owner is None:
                continue
            summary = owner.module.summary
            units = [summary.pieces[index].unit for index in owner.info.members[name]]
            for op in (op for unit in units if unit >= 0 for op in summary.units[unit].ops):
                if op[0] == s.FUNCTION:
                    yield self._engine.function(owner.module, op[2])


def _elements(ops: Iterable[Op], holder: str) -> set[Register]:
    """Where a function has what the variable ``holder`` holds: ``for x in table.values()``."""
    has = {op[1] for op in ops if op[0] == s.GLOBAL and op[2] == holder}
    found: set[Register] = set()
    for op in ops:
        if op[0] in (s.ATTR, s.CALL) and op[2] in has:
            has.add(op[1])
        elif op[0] in (s.ITEM, s.ITER, s.SUB) and op[2] in has:
            found.add(op[1])
    return found


def _is_only_called(root: Register, users: dict[Register, list[Op]]) -> bool:
    """Whether all that is done with a register is to call what is in it: ``f(…)``, ``@f``."""
    return all(
        op[0] in (s.CALL, s.DECORATE) and op[2] == root and reads(op).count(root) == 1
        for op in users.get(root, ())
    )


def _is_record(
    attribute: Op, users: dict[Register, list[Op]], numbers: Container[Register]
) -> bool:
    """Whether ``logger.info`` is there to be called, with something to say, and no more.

    A number is no such thing, unless it is a level.
    """
    word, _, rest = attribute[3].partition("_")
    if word not in SAYING or rest not in _OFTEN:
        return False
    calls = users.get(attribute[1], [])
    return bool(calls) and all(
        call[0] == s.CALL
        and call[2] == attribute[1]
        and not users.get(call[1])
        and (bool(call[3]) or call[5] is not None)
        and (word == "log" or not call[3] or call[3][0] not in numbers)
        for call in calls
    )

"""The engine: evaluates units until no cell grows any more."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.containers import ContainerEvaluation
from depslice.callgraph.engine.parts import FULL, NO_RESULT, RETURNS, operations
from depslice.callgraph.engine.parts import users as register_users
from depslice.callgraph.engine.values import (
    EMPTY,
    FIRST_PARAMETER,
    WORK_BITS,
    Function,
    Lookup,
    Values,
)
from depslice.callgraph.program import Module, Program

_MOST_EVALUATIONS: Final = 12
_DEEPEST: Final = 120


class Engine(ContainerEvaluation):
    """Evaluates units of a program.

    ``whole``: the arguments that callers pass flow into parameters, which needs every
    unit of the program (:meth:`run` on all). Without it a unit's facts depend only on
    the definitions it can see, never on who calls it: what a slice is made of.
    """

    def __init__(self, program: Program, *, whole: bool) -> None:
        super().__init__(program, whole=whole)
        self._depth = 0
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))

    # --- scheduling

    def run(self, functions: Iterable[Function]) -> None:
        """Evaluate ``functions`` and whatever they need, to a fixpoint."""
        for function in functions:
            if function.wanted != FULL:
                function.wanted = FULL
                self.enqueue(function)
        self.settle()

    def settle(self) -> None:
        """Evaluate queued units until none is left."""
        queue = self.queue
        while queue:
            task = queue.popleft()
            task.queued = False
            if type(task) is Function:
                self._evaluate(task)
            else:
                assert isinstance(task, Lookup)
                self.answer(task)

    def facts_of(self, function: Function) -> list[f.Fact]:
        """The facts of ``function``, evaluated now if it was not."""
        if function.done != FULL:
            function.wanted = FULL
            self.enqueue(function)
        if self.queue:
            self.settle()
        return function.facts

    def ensure(self, function: Function, wanted: int = RETURNS) -> None:
        """Have ``function`` evaluated at least once, now if the stack allows."""
        if wanted & ~function.wanted:
            function.wanted |= FULL if self.whole else wanted
            if self._depth < _DEEPEST and not function.running:
                self._evaluate(function)
            else:
                self.enqueue(function)

    def _evaluate(self, function: Function) -> None:
        """Execute what is wanted and was not, and what read something that has grown."""
        if function.running:
            self.enqueue(function)  # it is further up the stack
            return
        if function.done == function.wanted and not function.dirty:
            return
        saved = self.current, self.facts, self.reader, self.settled
        self.current = function
        function.running = True
        function.evaluations += 1
        self._depth += 1
        try:
            self._execute(function, function.wanted)
        finally:
            function.running = False
            self._depth -= 1
            self.current, self.facts, self.reader, self.settled = saved

    # --- one unit

    def _execute(self, function: Function, wanted: int) -> None:
        unit = function.unit
        ops = unit.ops
        base = function.serial << WORK_BITS
        if not function.registers:
            function.registers = [EMPTY] * unit.registers + self.tail
            for index in range(len(unit.params)):
                self._enter(function, base, index)
        if function.done != wanted:
            chosen = operations(unit, wanted)
            fresh = [index for index in chosen if index not in function.selected]
            if wanted != FULL:
                function.selected |= frozenset(fresh)
            function.done = wanted
            function.spent += len(fresh)
            self._run(function, base, ops, fresh)
            if unit.flags & s.HAS_LOOP:
                # φs at loop heads have seen only the first pass.
                registers = function.registers
                for index in fresh:
                    op = ops[index]
                    if op[0] == s.PHI and any(not registers[r] <= registers[op[1]] for r in op[2]):
                        function.dirty.add(index)
        if function.dirty:
            self._repeat(function, base, ops)
        registers = function.registers
        for name, captured in unit.captured.items():
            held: set[int] = set()
            for register in captured:
                held |= registers[register]
            self.write(self.free_cell(function, name), held)

    def _enter(self, function: Function, base: int, index: int) -> bool:
        """Find parameter ``index``; true if it has grown."""
        self.reader = base + FIRST_PARAMETER + index
        self.facts = []
        values = self.shared(self.parameter_values(function, index))
        if self.facts:
            function.noted[index - FIRST_PARAMETER] = self.facts
            function.flat = None
        known = function.registers[index]
        function.registers[index] = values
        return values is not known

    def _repeat(self, function: Function, base: int, ops: list[s.Op]) -> None:
        """Execute the dirty operations, and those that read what they give, in order."""
        users = function.users
        if users is None:
            users = function.users = register_users(function.unit)
        selected = None if function.done == FULL else function.selected
        registers = function.registers
        limit = _MOST_EVALUATIONS * (len(ops) + 10)
        dirty = function.dirty
        while dirty:
            heap = sorted(dirty)
            while heap:
                index = heappop(heap)
                if index not in dirty:
                    continue
                dirty.discard(index)
                if index >= FIRST_PARAMETER:
                    register = index - FIRST_PARAMETER
                    grown = self._enter(function, base, register)
                else:
                    op = ops[index]
                    if op[0] in NO_RESULT:
                        self._run(function, base, ops, (index,))
                        grown = False
                    else:
                        register = op[1]
                        before = registers[register]
                        self._run(function, base, ops, (index,))
                        grown = registers[register] is not before
                if grown:
                    for user in users.get(register, ()):
                        if user not in dirty and (selected is None or user in selected):
                            dirty.add(user)
                            heappush(heap, user)
                function.spent += 1
                if function.spent > limit:
                    dirty.clear()
                    return

    def answer(self, lookup: Lookup) -> None:
        """Answer a question, (again) after something it depends on has grown."""
        if lookup.settled or lookup.evaluations >= _MOST_EVALUATIONS:
            return
        lookup.evaluations += 1
        saved = self.current, self.facts, self.reader, self.settled
        self.current = None
        self.facts = []
        self.reader = lookup.serial << WORK_BITS
        self.settled = True
        try:
            values = self.shared(self.find_answer(lookup.question))
            facts = tuple(self.facts)
            lookup.settled = self.settled
        finally:
            self.current, self.facts, self.reader, self.settled = saved
        if values is not lookup.answer or facts != lookup.facts:
            lookup.answer = values
            lookup.facts = facts
            if lookup.readers:
                readers, lookup.readers = lookup.readers, []
                self.wake(readers)

    def find_answer(self, question: tuple[Any, ...]) -> Values:
        """What ``question`` asks for, with its facts at position 0."""
        if question[0] == "attribute":
            return self.find_attribute(question[1], question[2], 0)
        return self.find_name(question[1], question[2], question[3], 0)

    def _run(self, function: Function, base: int, ops: list[s.Op], chosen: Iterable[int]) -> None:
        """Execute the ``chosen`` operations of a unit, once each."""
        registers = function.registers
        noted = function.noted
        shared = self.shared
        for index in chosen:
            self.reader = base + index
            facts: list[f.Fact] = []
            self.facts = facts
            op = ops[index]
            if op[0] in NO_RESULT:
                self._effect(function, registers, op)
            else:
                registers[op[1]] = shared(self._value(function, registers, op))
            if facts:
                if noted.get(index) != facts:
                    noted[index] = facts
                    function.flat = None
            elif index in noted:
                del noted[index]
                function.flat = None

    def _value(self, function: Function, registers: list[frozenset[int]], op: s.Op) -> Values:
        """What an operation gives. Tests are in order of frequency."""
        module = function.module
        code = op[0]
        if code == s.ATTR:
            return self.load_attribute(registers[op[2]], op[3], op[4])
        if code == s.CALL:
            return self.call_operation(op, registers)
        if code == s.GLOBAL:
            return self.read_name(module, op[2], op[3], op[4])
        if code == s.STRING:
            return self.single(("S", op[2]))
        if code == s.PHI:
            merged: set[int] = set(registers[op[1]])
            for register in op[2]:
                merged |= registers[register]
            return merged
        if code == s.SEQUENCE:
            return self.make_sequence(op, registers)
        if code in (s.FUNCTION, s.LAMBDA):
            return self.make_function(function, op, registers)
        if code == s.SUB:
            return self.subscript(registers[op[2]], registers[op[3]], op[4])
        if code == s.ITER:
            return self.iterate(registers[op[2]], op[3], is_async=op[4])
        if code == s.BINARY:
            return self.binary(registers[op[2]], registers[op[3]], op[4], op[5])
        if code == s.FREE:
            return self.read_free(module, op[2], op[3])
        if code == s.ITEM:
            return self.unpack_item(registers[op[2]], op[3], op[4])
        if code == s.DECORATE:
            return self.decorate(registers[op[2]], registers[op[3]], op[4])
        if code == s.NARROW:
            return self.narrow(registers[op[2]], registers[op[3]])
        if code == s.MAPPING:
            return self.make_mapping(op, registers)
        if code == s.CLASSVAR:
            return self.read_class_variable(module, op[2], op[3], op[4], op[5])
        if code == s.UNARY:
            return self.protocol(registers[op[2]], (op[3],), op[4])
        if code == s.CLASS:
            return self.make_class(function, op, registers)
        if code == s.IMPORT:
            return self.import_values(module, op[2], op[3], op[4], op[5])
        if code == s.ENTER:
            return self.enter_context(registers[op[2]], op[3], is_async=op[4])
        if code == s.AWAIT:
            return self.await_value(registers[op[2]], op[3])
        if code == s.YIELD_FROM:
            self.write(function.yields, self.iterate(registers[op[2]], op[3], is_async=False))
            return self.generator_return(registers[op[2]])
        if code == s.DECLARE:
            return self.declare(function, op[2], op[3], registers)
        if code == s.SUPER:
            return self.zero_argument_super(module, op[2], op[3], registers, op[4])
        if code == s.NAME_LITERAL:
            return self.single(("N", op[2], op[3]))
        assert code == s.CLASS_MATCH
        return self.match_class(registers[op[2]], registers[op[3]])

    def _effect(self, function: Function, registers: list[frozenset[int]], op: s.Op) -> None:
        """Execute an operation that gives nothing (:data:`NO_RESULT`)."""
        module = function.module
        code = op[0]
        if code == s.BIND:
            self.bind(function, op[1], registers[op[2]])
        elif code == s.TRUTH:
            self.truth(registers[op[1]], op[2])
        elif code == s.RETURN:
            self.write(function.ret, registers[op[1]])
        elif code == s.SETATTR:
            self.store_attribute(registers[op[1]], op[2], registers[op[3]], op[4])
        elif code == s.COMPARE:
            self.compare(registers[op[1]], registers[op[2]], op[3], op[4])
        elif code == s.ANNOTATION:
            self.note_annotation(function, op[1], op[2], eager=op[3])
        elif code == s.SETSUB:
            self.store_item(registers[op[1]], registers[op[2]], registers[op[3]], op[4])
        elif code == s.CONTAINS:
            self.contains(registers[op[1]], registers[op[2]], op[3])
        elif code == s.FORMAT_VALUE:
            self.protocol(registers[op[1]], (op[2], "__str__", "__repr__"), op[3])
        elif code == s.RAISE:
            self.raise_value(registers[op[1]], op[2])
        elif code == s.YIELD:
            self.write(function.yields, registers[op[1]])
        elif code == s.SETGLOBAL:
            self.facts.append((f.WRITE, module.name, op[1], 0))
            self.write(self.variable_cell(module, op[1], -1), registers[op[2]])
        elif code == s.SETFREE:
            self.write(self.free_cell(self.function(module, op[1]), op[2]), registers[op[3]])
        else:
            assert code == s.DELETE_SUB
            self.protocol(registers[op[1]], ("__delitem__",), op[3])

    def all_functions(self, modules: Iterable[Module]) -> list[Function]:
        """Every unit of ``modules``, in order."""
        return [
            self.function(module, unit.index) for module in modules for unit in module.summary.units
        ]

"""The engine: evaluates units until no cell grows any more."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.containers import ContainerEvaluation
from depslice.callgraph.engine.parts import FULL, RETURNS, operations
from depslice.callgraph.engine.values import EMPTY, Function, Values
from depslice.callgraph.program import Module, Program

_MOST_EVALUATIONS: Final = 12
_MOST_PASSES: Final = 4
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
        """Evaluate ``functions`` and whatever they need, to a fixpoint.

        Over a whole program first what runs by itself, and what that calls: with just the
        arguments and on just the instances it passes. What is left someone else may call,
        with anything.
        """
        known = list(functions)
        if self.whole:
            self._want([each for each in known if each.unit.kind == "piece"])
            for function in known:
                if function.unit.kind != "piece" and function not in self.called:
                    self.open_function(function)
        self._want(known)

    def _want(self, functions: list[Function]) -> None:
        for function in functions:
            if function.wanted != FULL:
                function.wanted = FULL
                self.enqueue(function)
        self.settle()

    def settle(self) -> None:
        """Evaluate queued units until none is left."""
        queue = self.queue
        while queue:
            function = next(iter(queue))
            del queue[function]
            self._evaluate(function)

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
            if self._depth < _DEEPEST:
                self._evaluate(function)
            else:
                self.enqueue(function)

    def _evaluate(self, function: Function) -> None:
        wanted = function.wanted
        if function.evaluations >= _MOST_EVALUATIONS and function.done == wanted:
            return
        function.evaluations += 1
        saved, self.current = self.current, function
        saved_facts, self.facts = self.facts, []
        saved_registers, self.registers = self.registers, []
        self._depth += 1
        try:
            self._execute(function, wanted)
        finally:
            function.facts = self.facts
            function.done |= wanted
            self.current, self.facts, self.registers = saved, saved_facts, saved_registers
            self._depth -= 1

    # --- one unit

    def _execute(self, function: Function, wanted: int) -> None:
        unit = function.unit
        ops = function.parts.get(wanted)
        if ops is None:
            ops = function.parts[wanted] = operations(unit, wanted)
        registers: list[Values] = [EMPTY] * (unit.registers + 10)
        self.registers = registers
        constants = self.constants
        for number, values in constants.items():
            registers[number] = values  # the last places, so that -1 … -8 index them
        self._enter(function, registers)
        self._operations(function, registers, ops)
        if unit.flags & s.HAS_LOOP:
            # φs at loop heads have seen only the first pass.
            for _ in range(_MOST_PASSES):
                if not any(
                    op[0] == s.PHI and any(not registers[r] <= registers[op[1]] for r in op[2])
                    for op in ops
                ):
                    break
                del self.facts[:]
                self._operations(function, registers, ops)
        for name, captured in unit.captured.items():
            held: set[int] = set()
            for register in captured:
                held |= registers[register]
            self.write(self.free_cell(function, name), held)

    def _enter(self, function: Function, registers: list[Values]) -> None:
        unit = function.unit
        for index in range(len(unit.params)):
            registers[index] = self.parameter_values(function, index)

    def _operations(self, function: Function, registers: list[Values], ops: list[s.Op]) -> None:
        """Run the operations of a unit once. The order of tests is that of frequency."""
        append = self.facts.append
        module = function.module
        for op in ops:
            code = op[0]
            if code == s.GLOBAL:
                registers[op[1]] = self.read_name(module, op[2], op[3], op[4])
            elif code == s.ATTR:
                registers[op[1]] = self.load_attribute(registers[op[2]], op[3], op[4])
            elif code == s.CALL:
                registers[op[1]] = self.call_operation(op, registers)
            elif code == s.STRING:
                registers[op[1]] = self.single(("S", op[2]))
            elif code == s.PHI:
                merged: set[int] = set()
                for register in op[2]:
                    merged |= registers[register]
                registers[op[1]] = merged
            elif code == s.TRUTH:
                self.truth(registers[op[1]], op[2])
            elif code == s.SETATTR:
                self.store_attribute(registers[op[1]], op[2], registers[op[3]], op[4])
            elif code == s.RETURN:
                self.write(function.ret, registers[op[1]])
            elif code == s.SUB:
                registers[op[1]] = self.subscript(registers[op[2]], registers[op[3]], op[4])
            elif code == s.SEQUENCE:
                registers[op[1]] = self.make_sequence(op, registers)
            elif code == s.BIND:
                self.bind(function, op[1], registers[op[2]])
            elif code == s.COMPARE:
                self.compare(registers[op[1]], registers[op[2]], op[3], op[4])
            elif code == s.ITER:
                registers[op[1]] = self.iterate(registers[op[2]], op[3], is_async=op[4])
            elif code == s.BINARY:
                registers[op[1]] = self.binary(registers[op[2]], registers[op[3]], op[4], op[5])
            elif code in (s.FUNCTION, s.LAMBDA):
                registers[op[1]] = self.make_function(function, op, registers)
            elif code == s.FREE:
                registers[op[1]] = self.read_free(module, op[2], op[3])
            elif code == s.ITEM:
                registers[op[1]] = self.unpack_item(registers[op[2]], op[3], op[4])
            elif code == s.ANNOTATION:
                self.note_annotation(function, op[1], op[2], eager=op[3])
            elif code == s.DECORATE:
                registers[op[1]] = self.decorate(registers[op[2]], registers[op[3]], op[4])
            elif code == s.NARROW:
                if op[4]:
                    registers[op[1]] = self.narrow(registers[op[2]], registers[op[3]])
                else:
                    registers[op[1]] = self.exclude(registers[op[2]], registers[op[3]])
            elif code == s.MAPPING:
                registers[op[1]] = self.make_mapping(op, registers)
            elif code == s.SETSUB:
                self.store_item(registers[op[1]], registers[op[2]], registers[op[3]], op[4])
            elif code == s.CONTAINS:
                self.contains(registers[op[1]], registers[op[2]], op[3])
            elif code == s.FORMAT_VALUE:
                self.protocol(registers[op[1]], (op[2], "__str__", "__repr__"), op[3])
            elif code == s.CLASSVAR:
                registers[op[1]] = self.read_class_variable(module, op[2], op[3], op[4], op[5])
            elif code == s.RAISE:
                self.raise_value(registers[op[1]], op[2])
            elif code == s.UNARY:
                registers[op[1]] = self.protocol(registers[op[2]], (op[3],), op[4])
            elif code == s.CLASS:
                registers[op[1]] = self.make_class(function, op, registers)
            else:
                self._rare(code, op, function, registers, append)

    def _rare(
        self,
        code: int,
        op: s.Op,
        function: Function,
        registers: list[Values],
        append: Any,
    ) -> None:
        module = function.module
        if code == s.IMPORT:
            registers[op[1]] = self.import_values(module, op[2], op[3], op[4], op[5])
        elif code == s.ENTER:
            registers[op[1]] = self.enter_context(registers[op[2]], op[3], is_async=op[4])
        elif code == s.AWAIT:
            registers[op[1]] = self.await_value(registers[op[2]], op[3])
        elif code == s.YIELD:
            self.write(function.yields, registers[op[1]])
            registers[op[2]] = self.read(self.cell("sent", function))
        elif code == s.YIELD_FROM:
            self.write(function.yields, self.iterate(registers[op[2]], op[3], is_async=False))
            registers[op[1]] = self.generator_return(registers[op[2]])
        elif code == s.SETGLOBAL:
            append((f.WRITE, module.name, op[1], 0))
            self.write(self.variable_cell(module, op[1], -1), registers[op[2]])
        elif code == s.SETFREE:
            owner = self.function(module, op[1])
            self.write(self.free_cell(owner, op[2]), registers[op[3]])
        elif code == s.DECLARE:
            registers[op[1]] = self.declare(function, op[2], op[3], registers)
        elif code == s.DELETE_SUB:
            self.protocol(registers[op[1]], ("__delitem__",), op[3])
        elif code == s.DELETE_ATTR:
            self.delete_attribute(registers[op[1]], op[2], op[3])
        elif code == s.NARROW_TEXT:
            registers[op[1]] = self.narrow_text(registers[op[2]], op[3])
        elif code == s.SUPER:
            registers[op[1]] = self.zero_argument_super(module, op[2], op[3], registers, op[4])
        elif code == s.NAME_LITERAL:
            registers[op[1]] = self.single(("N", op[2], op[3]))
        elif code == s.CLASS_MATCH:
            registers[op[1]] = self.match_class(registers[op[2]], registers[op[3]])

    def all_functions(self, modules: Iterable[Module]) -> list[Function]:
        """Every unit of ``modules``, in order."""
        return [
            self.function(module, unit.index) for module in modules for unit in module.summary.units
        ]

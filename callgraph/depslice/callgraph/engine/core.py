"""The engine: evaluates units until no cell grows any more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.base import CONSTRUCTORS, HOOKS, MOST_DERIVED
from depslice.callgraph.engine.conventions import Conventions
from depslice.callgraph.engine.library import BUILTIN_METHODS
from depslice.callgraph.engine.outside import Outside
from depslice.callgraph.engine.parts import FULL, RETURNS, operations, reads
from depslice.callgraph.engine.parts import users as register_users
from depslice.callgraph.engine.shapes import Shapes, guesses
from depslice.callgraph.engine.standing import Updating
from depslice.callgraph.engine.values import (
    EMPTY,
    FIRST_PARAMETER,
    OPEN,
    WORK_BITS,
    Cell,
    Class,
    Function,
    Lookup,
    Value,
    Values,
)
from depslice.callgraph.program import Module, Program
from depslice.callgraph.templates import SHOWN_BY

_MOST_EVALUATIONS: Final = 12
_DEEPEST: Final = 120
_STORING: Final = frozenset({s.CALL, s.SETATTR, s.SETSUB})
"""Operations that may rebind a variable of another module."""


def _only_names(unit: s.Unit, text: s.Register) -> bool:
    """Whether all that is done with a text is to pass it on, or to look it up: it may be a name."""
    users = [op for op in unit.ops if text in reads(op)]
    return bool(users) and all(
        (op[0] == s.CALL and op[2] != text) or (op[0] == s.SUB and op[2] != text) for op in users
    )


def _constructs(unit: s.Unit) -> bool:
    return unit.owner >= 0 and unit.qualname.rpartition(".")[2] in CONSTRUCTORS


class Engine(Updating):
    """Evaluates units of a program.

    ``whole``: the arguments that callers pass flow into parameters, which needs every
    unit of the program (:meth:`run` on all). Without it a unit's facts depend only on
    the definitions it can see, never on who calls it: what a slice is made of.
    """

    def __init__(self, program: Program, *, whole: bool) -> None:
        super().__init__(program, whole=whole)
        self._handlers = self._operations()
        self._depth = 0
        self.outside = Outside(self, program.stubs)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))

    def patch(self, module: Module, name: str, writer: Function) -> None:
        """From now on a variable has what ``writer``, of another module, stores there too.

        Over a whole program it has so from the start. Else that depends on who runs: a test
        that replaces it is no matter of a slice that the test is not in.
        """
        writers = self.patched.setdefault((module.name, name), set())
        if writer not in writers:
            writers.add(writer)
            ops = writer.unit.ops
            storing = {index for index, op in enumerate(ops) if op[0] in _STORING}
            writer.dirty = storing if writer.dirty is None else writer.dirty | storing
            self.enqueue(writer)

    # --- scheduling

    def run(self, functions: Iterable[Function]) -> None:
        """Evaluate ``functions`` and whatever they need, to a fixpoint.

        Over a whole program first what runs by itself, and what that calls: with just the
        arguments and on just the instances it passes. What is left someone else may call,
        with anything. Last, what is still unknown is guessed: methods by computed names, and
        parameters, by where they stand, by what is done with them, then by what those of the
        same name are.
        """
        known = list(functions)
        if self.whole:
            self.known_functions = known
            self.stored = {name for each in known for name in each.unit.stores}
            self.deleted = set(_deleted_in(known))
            self.runs_texts = any(each.unit.flags & s.USES_LOCALS for each in known)
            self.stored_later = self.stored.union(
                *(each.unit.self_stores for each in known if not _constructs(each.unit))
            )
            for each in known:
                if (
                    each.unit.owner >= 0
                    and each.unit.kind == "function"
                    and not (each.unit.flags & s.ABSTRACT)
                ):
                    name = each.unit.qualname.rpartition(".")[2]
                    if name in HOOKS:
                        self.hooking.add(name)
                    if name in BUILTIN_METHODS:
                        continue  # who knows not the receiver means those rather
                    self.methods.setdefault(name, []).append(each)
            self.closed = True
            self._want([u for u in known if u.unit.kind == "piece" and u.unit.parent < 0])
            self.closed = False
            imported = set(self._imported_modules())
            dynamic = {each.module for each in known if each.unit.flags & s.USES_LOCALS}
            for each in known:
                others = each.module.name in imported or each.module in dynamic
                if each in self.called and others:
                    self.leave_out(each, each.signature.optional)  # as others may
            self._open([each for each in known if each not in self.called])
        self._want(known)
        if self.whole:
            self._open(known)
            self.settle()
            self.write(self.cell("settled"), self.guess)
            self.settle()
            self._guess_by_place(known)
            self.settle()
            self._guess_by_shape(known)
            self.settle()
            self._guess_by_name(known)
            self.settle()
            self.tell_plain()
            self.settle()
            self.note_crowded_out(known)

    def _imported_modules(self) -> Iterator[str]:
        """Modules that others of the program import: what is not among them is a script."""
        for module in filter(None, map(self.program.module, self.program.files)):
            for piece in module.summary.pieces:
                for _, level, target, item in piece.imports:
                    found = self.program.import_target(module, level, target)
                    yield found
                    if item is not None:
                        yield f"{found}.{item}"

    def _open(self, functions: list[Function]) -> None:
        """Whoever calls those that have no receiver yet is not known."""
        for function in functions:
            if function.unit.kind != "piece" and not self.has_receiver(function):
                self.open_function(function)

    def _guess_by_place(self, functions: list[Function]) -> None:
        """What a lambda in a class body calls ``self`` is an instance of the class (PEP 8)."""
        for function in functions:
            unit = function.unit
            if unit.kind != "lambda" or not unit.params or unit.params[0][0] != "self":
                continue
            cell = self.parameter_cell(function, 0)
            if self._known(cell.values):
                continue
            around = unit.qualname.rpartition(".")[0]
            for info in function.module.summary.classes:
                if info.qualname == around:
                    self._take(cell, self.class_(function.module, info.index))

    def _guess_by_shape(self, functions: list[Function]) -> None:
        """Parameters that nothing is known of are what the function takes them for."""
        shapes = Shapes({class_: self.mro(class_) for class_ in self._classes.values()})
        for function, index, meant in guesses(functions, shapes):
            cell = self.parameter_cell(function, index)
            if self.receiver(function, index) is None and not self._known(cell.values):
                self._take(cell, meant)

    def _guess_by_name(self, functions: list[Function]) -> None:
        """Parameters that nothing is known of are what those of the same name are elsewhere."""
        conventions = Conventions(self.mro)
        untold: dict[str, list[Cell]] = {}
        for function in functions:
            for index, (name, kind, annotation, _) in enumerate(function.unit.params):
                if kind in ("va", "kw") or self.receiver(function, index) is not None:
                    continue
                cell = self.parameter_cell(function, index)
                if annotation is None and not self._known(cell.values):
                    untold.setdefault(name, []).append(cell)
                elif known := self._known(function.registers[index]):
                    conventions.tell(name, {each[1] for each in known if each[0] == "I"})
        for name, cells in untold.items():
            meant = conventions.meant(name)
            if meant is not None:
                for cell in cells:
                    self._take(cell, meant)

    def _take(self, cell: Cell, meant: Class) -> None:
        """A guess: the parameter holds an instance of ``meant``, or of a subclass."""
        self.write(cell, self.guess | self.single(("I", meant, False)))

    def _known(self, values: Values) -> list[Value]:
        """What tells of a parameter: some object from outside among others says little."""
        kinds = [self.values[value] for value in values]
        return [kind for kind in kinds if kind[0] not in OPEN and kind[0] != "XI"]

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
            if self.whole:
                self.sweep()
            task = queue.popleft()
            task.queued = False
            if type(task) is Function:
                self._evaluate(task)
            else:
                assert isinstance(task, Lookup)
                if not self.forget(task):
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
            if self.closed and not self._runs(function):
                return  # what it would store is read when someone calls it
            function.wanted |= FULL if self.whole else wanted
            if self._depth < _DEEPEST and not function.running:
                self._evaluate(function)
            else:
                self.enqueue(function)

    def _runs(self, function: Function) -> bool:
        unit = function.unit
        return function in self.called or (unit.kind == "piece" and unit.parent < 0)

    def _evaluate(self, function: Function) -> None:
        """Execute what is wanted and was not, and what read something that has grown."""
        if function.running:
            self.enqueue(function)  # it is further up the stack
            return
        if function.done == function.wanted and not function.dirty:
            return
        saved = self.current, self.facts, self.reader, self.settled, self.starred
        self.current = function
        self.starred = False
        function.running = True
        function.evaluations += 1
        self._depth += 1
        try:
            self._execute(function, function.wanted)
        finally:
            function.running = False
            self._depth -= 1
            self.current, self.facts, self.reader, self.settled, self.starred = saved

    # --- one unit

    def _execute(self, function: Function, wanted: int) -> None:
        unit = function.unit
        base = function.serial << WORK_BITS
        if not function.registers:
            function.registers = [EMPTY] * unit.registers + self.tail
            for index in range(len(unit.params)):
                self._enter(function, base, index)
        if function.done != wanted:
            chosen: Sequence[int] = operations(unit, wanted)
            if function.selected:
                chosen = [index for index in chosen if index not in function.selected]
            if wanted != FULL:
                function.selected |= frozenset(chosen)
            function.done = wanted
            function.spent += len(chosen)
            self._run(function, base, chosen)
            if unit.flags & s.HAS_LOOP:
                self._close_loops(function, chosen)
        if function.dirty:
            self._repeat(function, base)
        if unit.captured:
            registers = function.registers
            for name, captured in unit.captured.items():
                held: set[int] = set()
                for register in captured:
                    held |= registers[register]
                self.write(self.free_cell(function, name), held)

    def _close_loops(self, function: Function, chosen: Sequence[int]) -> None:
        """φs at loop heads have seen only the first pass: those that miss values are dirty."""
        ops = function.unit.ops
        registers = function.registers
        missing: set[int] = set()
        for index in chosen:
            op = ops[index]
            if op[0] == s.PHI:
                known = registers[op[1]]
                for register in op[2]:
                    if not registers[register] <= known:
                        missing.add(index)
        if missing:
            function.dirty = missing if function.dirty is None else function.dirty | missing

    def _enter(self, function: Function, base: int, index: int) -> bool:
        """Find parameter ``index``; true if it has grown."""
        self.reader = base + FIRST_PARAMETER + index
        self.facts = []
        values = self.shared(self.parameter_values(function, index))
        if self.facts:
            function.noted[index - FIRST_PARAMETER] = self.told(self.facts)
            self._retell(function)
        known = function.registers[index]
        function.registers[index] = values
        return values is not known

    def _repeat(self, function: Function, base: int) -> None:
        """Execute the dirty operations, and those that read what they give, in order."""
        ops = function.unit.ops
        users = function.users
        if users is None:
            users = function.users = register_users(function.unit)
        selected = None if function.done == FULL else function.selected
        limit = _MOST_EVALUATIONS * (len(ops) + 10)
        dirty = function.dirty
        while dirty:
            heap = sorted(dirty)
            while heap:
                index = heappop(heap)
                if index not in dirty:
                    continue
                dirty.discard(index)
                is_parameter = index >= FIRST_PARAMETER
                if is_parameter:
                    grown = self._enter(function, base, index - FIRST_PARAMETER)
                else:
                    grown = self._run(function, base, (index,))
                if grown:
                    register: int = index - FIRST_PARAMETER if is_parameter else ops[index][1]
                    for user in users[register]:
                        if user not in dirty and (selected is None or user in selected):
                            dirty.add(user)
                            heappush(heap, user)
                function.spent += 1
                if function.spent > limit:
                    function.dirty = None
                    for facts in function.noted.values():
                        self.keep(facts)
                    return
        function.dirty = None

    def answer(self, lookup: Lookup) -> None:
        """Answer a question, (again) after something it depends on has grown."""
        # Who overrides a method grows by one class statement at a time, and is asked once for all.
        bounded = lookup.question[0] != "overrides"
        if lookup.settled or (bounded and lookup.evaluations >= _MOST_EVALUATIONS):
            self.keep(lookup.facts)
            return
        lookup.evaluations += 1
        saved = self.current, self.facts, self.reader, self.settled, self.starred
        self.current = None
        self.starred = False
        self.facts = []
        self.reader = lookup.serial << WORK_BITS
        self.settled = True
        try:
            found = self.find_answer(lookup.question)
            if len(found) > self.room and lookup.question[0] != "parts":
                found = self.bounded(found, lookup.question)
            values = self.shared(found)
            facts = self.told(self.facts)
            lookup.settled = self.settled
        finally:
            self.current, self.facts, self.reader, self.settled, self.starred = saved
        if values is not lookup.answer or facts != lookup.facts:
            lookup.answer = values
            lookup.facts = facts
            if not self.whole:
                self.changed.append(lookup)
            if lookup.readers:
                self.wake(lookup)

    def find_answer(self, question: tuple[Any, ...]) -> Values:
        """What ``question`` asks for, with its facts at position 0."""
        match question:
            case ("attribute", receiver, name):
                return self.find_attribute(receiver, name, 0)
            case ("private", receiver, name):
                return self.load_attribute(self.only(receiver), name, 0)
            case ("name", module, name, versions):
                return self.find_name(module, name, versions, 0)
            case ("binary", left, right, name):
                return self.binary(left, right, name, 0)
            case ("compare", left, right, dunder):
                return self.compare(left, right, dunder, 0)
            case ("iterate", objects, is_async):
                return self.iterate_instances(objects, 0, is_async=is_async)
            case ("contains", containers, items):
                self.contains(containers, items, 0)
                return EMPTY
            case ("protocol", values, dunders):
                return self.protocol(values, dunders, 0)
            case ("call", callees, args, keywords):
                return self.call_each(callees, args, dict(keywords), 0)
            case ("fitting", function, annotation, passed):
                return self.find_fitting(function, annotation, passed)
            case ("called-back", values):
                self.call_back_each(values, 0)
                return EMPTY
            case ("left-over", value, rule, external):
                self.call_left_over(value, rule, external=external)
                return self.unknown
            case ("probe", receiver, tag, extra, where):
                return self.find_probed(receiver, tag, extra, where)
            case ("called-outside", callee, args, keywords, spread, where):
                self.current = where
                return self.call(self.only(callee), args, dict(keywords), 0, spread=spread)
            case ("parts", containers):
                return self.find_parts(containers)
            case ("overrides", class_, owner, dunder):
                return self.note_overrides(class_, owner, dunder)
            case ("caught", classes, how):
                return self.caught(classes, how)
            case ("carried", name):
                return self.read(self.cell("carried", name))
        raise AssertionError(question)

    def _run(self, function: Function, base: int, chosen: Iterable[int]) -> bool:
        """Execute the ``chosen`` operations of a unit, once each; true if the last gave more."""
        ops = function.unit.ops
        registers = function.registers
        noted = function.noted
        handlers = self._handlers
        sets = self._sets
        whole = self.whole
        widest = self.room if whole else MOST_DERIVED
        standing = function.unit.standing if whole else None
        stored_for = function.unit.stored_for if whole else ()
        facts: list[f.Fact] = []
        self.facts = facts
        grown = False
        for index in chosen:
            op = ops[index]
            self.reader = base + index
            values = handlers[op[0]](function, registers, op)
            if values is None:
                grown = False
                if stored_for and index in stored_for:
                    self.write(
                        self.cell("stands", function.module.name, function.unit.index, index),
                        registers[op[3]],
                    )
            else:
                if standing and index in standing:
                    values = self.standing(function, index, registers[op[2]], values)
                if stored_for and index in stored_for:
                    self.write(
                        self.cell("stands", function.module.name, function.unit.index, index),
                        values,
                    )
                if len(values) > widest:
                    if whole:
                        values = self.bounded(values, (function, index))
                    else:
                        values = self.thinned(values, registers[op[1]])
                elif type(values) is set:
                    values = frozenset(values)
                values = sets.setdefault(values, values)
                register = op[1]
                grown = registers[register] is not values
                registers[register] = values
            if facts:
                told = self.told(facts)
                if noted.get(index) != told:
                    noted[index] = told
                    self._retell(function)
                self.facts = facts = []
            elif index in noted:
                del noted[index]
                self._retell(function)
        return grown

    def _retell(self, function: Function) -> None:
        """The facts of ``function`` are others than those that somebody may have read."""
        if function.flat is not None:
            function.flat = None
            if not self.whole:
                self.retold.append(function)

    def _operations(self) -> list[Callable[..., Any]]:
        """What executes each operation: gives values for its register, or nothing."""
        table: dict[int, Callable[[Function, list[frozenset[int]], s.Op], Values | None]] = {
            s.ANNOTATION: lambda fn, r, op: self.note_annotation(fn, op[1], op[2], eager=op[3]),
            s.ATTR: lambda fn, r, op: self.load_attribute(
                r[op[2]], op[3], f.HERE if op[4] >= 0 else -f.HERE
            ),
            s.AWAIT: lambda fn, r, op: self.await_value(r[op[2]], f.HERE),
            s.BINARY: self._binary,
            s.BIND: lambda fn, r, op: self.bind(fn, op[1], r[op[2]]),
            s.BY_NAME: self._by_name,
            s.CALL: lambda fn, r, op: self.call_operation(op, r),
            s.CLASS: lambda fn, r, op: self.make_class(fn, op, r),
            s.CLASSVAR: lambda fn, r, op: self.read_class_variable(
                fn.module, op[2], op[3], op[4], f.HERE
            ),
            s.CLASS_MATCH: lambda fn, r, op: self.match_class(r[op[2]], r[op[3]]),
            s.MATCH_ARG: lambda fn, r, op: self.match_argument(r[op[2]], r[op[3]], op[4], f.HERE),
            s.COMPARE: self._test,
            s.COMPARED: self._compare,
            s.CONTAINS: self._contains,
            s.DECLARE: lambda fn, r, op: self.declare(fn, op[2], op[3], r),
            s.DECORATE: lambda fn, r, op: self.decorate(r[op[2]], r[op[3]], f.HERE, below=op[4]),
            s.DELETE_SUB: lambda fn, r, op: self._delete_item(r[op[1]], r[op[2]], f.HERE),
            s.ENTER: lambda fn, r, op: self.enter_context(r[op[2]], f.HERE, is_async=op[4]),
            s.FORMAT_VALUE: self._show,
            s.FREE: lambda fn, r, op: self.read_free(fn.module, op[2], op[3]),
            s.FUNCTION: lambda fn, r, op: self.make_function(fn, op, r),
            s.GLOBAL: self._global,
            s.IMPORT: lambda fn, r, op: self.import_values(fn.module, op[2], op[3], op[4], f.HERE),
            s.AMONG: lambda fn, r, op: self.among(
                r[op[2]], r[op[3]], r[op[4]], [r[by] for by in op[5]], op[6], f.HERE
            ),
            s.ITEM: lambda fn, r, op: self.unpack_item(r[op[2]], op[3], f.HERE),
            s.ITER: lambda fn, r, op: self.iterate(r[op[2]], f.HERE, is_async=op[4]),
            s.LAMBDA: lambda fn, r, op: self.make_function(fn, op, r),
            s.MAPPING: lambda fn, r, op: self.make_mapping(op, r),
            s.TEXT: self._text,
            s.NARROW: self._narrow,
            s.PHI: self._merge,
            s.RAISE: lambda fn, r, op: self.raise_value(r[op[1]], f.HERE),
            s.RETURN: self._return,
            s.SEQUENCE: lambda fn, r, op: self.make_sequence(op, r),
            s.SETATTR: lambda fn, r, op: self.store_attribute(r[op[1]], op[2], r[op[3]], f.HERE),
            s.SETFREE: lambda fn, r, op: self.write(
                self.free_cell(self.function(fn.module, op[1]), op[2]), r[op[3]]
            ),
            s.SETGLOBAL: self._set_global,
            s.SETSUB: lambda fn, r, op: self.store_operation(op, r),
            s.STRING: lambda fn, r, op: self.single(("S", op[2])),
            s.SUB: lambda fn, r, op: self.subscript_operation(op, r),
            s.SUPER: lambda fn, r, op: self.zero_argument_super(fn.module, op[2], op[3], r, f.HERE),
            s.THIS_CLASS: lambda fn, r, op: self.this_class(fn.module, op[2], f.HERE),
            s.TRUTH: lambda fn, r, op: self._special(r[op[1]], ("__bool__", "__len__"), f.HERE),
            s.UNARY: self._unary,
            s.DELETE_ATTR: lambda fn, r, op: self.delete_attribute(r[op[1]], op[2], f.HERE),
            s.NARROW_TEXT: lambda fn, r, op: self.narrow_text(r[op[2]], op[3], op[4]),
            s.TOLD: lambda fn, r, op: self.single(("XI", op[2], op[3])),
            s.YIELD: self._yield,
            s.YIELD_FROM: self._yield_from,
        }
        return [table[code] for code in range(len(table))]

    def _by_name(self, function: Function, registers: Sequence[frozenset[int]], op: s.Op) -> Values:
        """What is made by a name from elsewhere, another name makes something else of."""
        made = registers[op[2]]
        if self.whole or not self.may_be_others(function, op[4], registers[op[4]]):
            return made
        self.note_spelled(registers[op[3]], op[5], f.HERE)
        return made | self.unknown

    def _merge(self, function: Function, registers: Sequence[frozenset[int]], op: s.Op) -> Values:
        """A φ keeps what it had: loops settle.

        One with names is of what a test has shown and of what is there behind a call: only the
        former counts where no function but constructors stores such an attribute.
        """
        merged = registers[op[1]]
        sources = op[2]
        if len(op) > 3 and self.whole and self.stored_later.isdisjoint(op[3]):
            sources = sources[:1]
        for register in sources:
            values = registers[register]
            if values is not merged:
                merged = merged | values if merged else values
        return merged

    def _special(self, values: frozenset[int], dunders: tuple[str, ...], pos: int) -> None:
        if values:
            self.protocol_of(values, dunders, pos)

    def _show(self, function: Function, registers: Sequence[frozenset[int]], op: s.Op) -> None:
        """An f-string, a mapping pattern, or the message of an ``assert``.

        Whether that is shown, only a slice asks.
        """
        if op[2] != s.BY_ERROR:
            self._special(registers[op[1]], SHOWN_BY.get(op[2], (op[2],)), f.HERE)
        elif not self.whole:
            self._special(registers[op[1]], SHOWN_BY["__str__"], f.HERE)

    def _global(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        versions = op[3]
        if versions is None:
            module, piece = function.module, function.unit.piece
            seen = module.pieces_seen_from if self.whole else module.pieces_seen_within
            versions = seen(op[2], piece)
        return self.read_name(function.module, op[2], versions, f.HERE if op[4] >= 0 else -f.HERE)

    def _narrow(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        values, classes = registers[op[2]], registers[op[3]]
        if self.whole and op[2] == s.UNBOUND and op[4] in (True, s.GROUPED) and classes:
            return self.asked(("caught", classes, op[4]), f.HERE)
        shown = self.shown(values, classes, op[4])
        if not self.whole and self.constants[s.STR] <= shown and _only_names(function.unit, op[1]):
            # `import_module(text)`: what callers know of it counts
            shown = shown.union(v for v in values if self.values[v][0] in OPEN)
        return shown

    def _contains(self, function: Function, registers: Sequence[Values], op: s.Op) -> None:
        self.contains_of(registers[op[1]], registers[op[2]], f.HERE)

    def _delete_item(self, receivers: frozenset[int], keys: Values, pos: int) -> None:
        self._special(receivers, ("__delitem__",), pos)
        self.delete_item(receivers, keys, pos)

    def _text(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        pieces = [piece if type(piece) is str else registers[piece] for piece in op[2]]
        text = self.joined_text(pieces)
        if op[3] < 0:
            return text
        if not op[4]:  # what methods of its own make of it
            return text.union(v for v in registers[op[3]] if self.values[v][0] in ("S", "N"))
        return text | self.add_to_text(text, registers[op[3]], f.HERE)

    def _binary(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        return self.binary_of(registers[op[2]], registers[op[3]], op[4], f.HERE)

    def _unary(self, function: Function, registers: Sequence[frozenset[int]], op: s.Op) -> Values:
        if self.whole:
            return self.protocol_of(registers[op[2]], (op[3],), f.HERE)
        return self.unary(registers[op[2]], op[3], f.HERE)

    def _compare(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        return self.compare_of(registers[op[2]], registers[op[3]], op[4], f.HERE)

    def _test(self, function: Function, registers: Sequence[Values], op: s.Op) -> None:
        self.compare_of(registers[op[1]], registers[op[2]], op[3], f.HERE)

    def _return(self, function: Function, registers: Sequence[Values], op: s.Op) -> None:
        values = registers[op[1]]
        self.write(function.ret, values)
        if self.whole and function.tests:
            guards = op[2] if len(op) > 2 else ()
            cell = function.guarded.get(guards)
            if cell is None:
                cell = function.guarded[guards] = Cell()
            self.write(cell, values)

    def _set_global(self, function: Function, registers: Sequence[Values], op: s.Op) -> None:
        module = function.module
        self.facts.append((f.WRITE, module.name, op[1], 0))
        self.write(self.variable_cell(module, op[1], -1), registers[op[2]])

    def _yield(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        self.write(function.yields, registers[op[2]])
        return self.read(self.cell("sent", function))

    def _yield_from(self, function: Function, registers: Sequence[Values], op: s.Op) -> Values:
        self.write(function.yields, self.iterate(registers[op[2]], f.HERE, is_async=False))
        if not self.whole:
            self._delegate(self.objects_in(registers[op[2]]))
        return self.generator_return(registers[op[2]])

    def _delegate(self, values: Values) -> None:
        """What drives a generator drives the iterators that ``values`` give, too (PEP 380)."""
        made: Values = EMPTY
        for value in sorted(values):
            if self.values[value][0] in OPEN:
                made = made | self.operate(value, "__iter__", [], f.HERE)
            else:
                made = made | self.protocol(self.only(value), ("__iter__",), f.HERE)
        iterators = self.objects_in(made)
        for name in ("send", "throw", "close"):
            self.protocol(iterators, (name,), f.HERE)

    def all_functions(self, modules: Iterable[Module]) -> list[Function]:
        """Every unit of ``modules`` that has something to say, in order."""
        return [
            self.function(module, unit.index)
            for module in modules
            for unit in module.summary.units
            if not self.defines_only(module, unit)
        ]

    @staticmethod
    def defines_only(module: Module, unit: s.Unit) -> bool:
        """Whether all ``unit`` does is an undecorated ``def`` without defaults.

        Its value is known without evaluation (:meth:`direct_definition`).
        """
        ops = unit.ops
        return (
            len(ops) == 2
            and ops[0][0] == s.FUNCTION
            and ops[1][0] == s.BIND
            and not ops[0][3]
            and not module.summary.units[ops[0][2]].flags & (s.DECORATED | s.PROPERTY)
        )


def _deleted_in(functions: Sequence[Function]) -> Iterator[str]:
    """The attributes that ``del x.name`` deletes; any text may be one where ``delattr`` is named."""
    ops = [op for function in functions for op in function.unit.ops]
    yield from (op[2] for op in ops if op[0] == s.DELETE_ATTR)
    if any(op[0] == s.GLOBAL and op[2] == "delattr" for op in ops):
        yield from (op[2] for op in ops if op[0] == s.STRING)

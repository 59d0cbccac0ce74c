"""Code that uses up the iterator a variable stands for: who reads it later has what is left.

    HEADER, *_ = ROWS                # csv.reader(…)
    for line in LINES: break
    FIRST = list(islice(NUMBERS, 2))

As it changes nothing else, no other rule sees it. Iterators of other ones (``zip(ROWS, …)``) have
something of those; they are followed in the statements of a module, in their order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Function, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Register, Unit
from depslice.slicer.closure.arguments import Arguments, makes_iterator, parameters_given
from depslice.slicer.pieces import NAMED, units_by_name

_PASSED_ON: Final = 3  # functions that an iterator is followed through
_LEAVING: Final = frozenset(
    f"builtins.{name}"
    for name in (
        *(
            "bool",
            "callable",
            "dir",
            "getattr",
            "hasattr",
            "hash",
            "id",
            "isinstance",
            "issubclass",
        ),
        *("print", "repr", "setattr", "str", "type"),
    )
)
"""Functions of the library that do not go through what they are given."""
_GOING_THROUGH: Final = frozenset(
    {
        *("csv.DictReader", "csv.reader", "json.load", "pickle.load", "tomllib.load"),
        *(
            f"builtins.{name}"
            for name in (
                *("all", "any", "dict", "frozenset", "list", "max", "min", "next", "set"),
                *("sorted", "sum", "tuple", "str.join"),
            )
        ),
    }
)
"""Functions that read a file which they are given; others may write it, or hold it."""
_TAKING: Final = frozenset(
    {
        *("__next__", "close", "send", "throw"),
        *("read", "read1", "readinto", "readline", "readlines", "seek"),
        *("choice", "choices", "getrandbits", "randbytes", "randint", "random", "randrange"),
        *("gauss", "normalvariate", "sample", "shuffle", "triangular", "uniform"),
    }
)
"""Methods of iterators, files and random numbers among them, that then give something else."""
_NAMED: Final = {**NAMED, s.CLASSVAR: 3}
_DRAWN: Final = frozenset({("G", "random.Random"), ("XI", "random.Random")})


class UsingUp:
    """Answers for one engine."""

    def __init__(self, engine: Engine, arguments: Arguments) -> None:
        self._engine = engine
        self._arguments = arguments
        self._reading: dict[str, dict[str, list[int]]] = {}  # module -> name -> units that have it

    def iterators(self, values: Values) -> Values:
        """Those of ``values`` that are iterators, of which each element is there once."""
        return frozenset(value for value in values if self._is_iterator(value))

    def _is_iterator(self, value: int) -> bool:
        engine = self._engine
        kind = engine.values[value]
        if kind[0] == "K" and type(kind[3]) is int:
            made_by = kind[2].unit.ops
            called = {op[2] for op in made_by if op[0] == s.CALL and op[1] == kind[3]}
            return kind[1] == "generator" or any(
                engine.values[each][0] == "X" and makes_iterator(engine.values[each][1])
                for register in called
                for each in kind[2].registers[register]
            )
        if kind[0] in ("KM", "SM"):  # `take = count().__next__`
            return kind[-1] in _TAKING and self._is_iterator(kind[1])
        if kind[0] == "I":
            return engine.find_member(kind[1], "__next__") is not None
        if kind[0] == "PT":  # `take = partial(next, count())`
            called = {engine.values[each] for each in kind[1]}
            first = kind[2][0] if kind[2] else ()
            return ("X", "builtins.next") in called and any(map(self._is_iterator, first))
        if kind[:2] in _DRAWN:
            return True
        if kind[0] in ("G", "XI"):
            class_ = engine.outside.types.class_of(kind)
            stubs = engine.outside.stubs
            return class_ is not None and any("__next__" in k.members for k in stubs.mro(class_))
        return bool(kind[0] == "GE")

    def _is_file(self, values: Values) -> bool:
        """Whether one of the iterators is a file, which is more than that."""
        outside = self._engine.outside
        kinds = [self._engine.values[value] for value in values]
        classes = [outside.types.class_of(kind) for kind in kinds if kind[0] in ("G", "XI")]
        return any(
            "readline" in each.members
            for class_ in classes
            if class_ is not None
            for each in outside.stubs.mro(class_)
        )

    def units(
        self, module: Module, owner: Module, name: str, iterators: Values, *, member: bool
    ) -> Iterator[Unit]:
        """The units of ``module`` that use up what ``name`` of ``owner`` stands for.

        ``member``: it is an attribute of a class there.
        """
        names, attribute = _spelled(module, owner, name, member=member)
        is_file = self._is_file(iterators)
        known = iterators
        methods: set[str] = set()  # `take = ROWS.__next__`
        for unit in self._units_with(module, names, attribute, methods) if iterators else ():
            started = _read_by(unit, names, attribute, member=member)
            taking = {op[1] for op in unit.ops if op[0] == s.GLOBAL and op[2] in methods}
            if any(op[0] == s.CALL and not taking.isdisjoint(reads(op)) for op in unit.ops):
                yield unit
                continue
            if not started:
                continue
            function = self._engine.function(module, unit.index)
            self._engine.facts_of(function)
            given = {each for each in started if not known.isdisjoint(function.registers[each])}
            if given and self._goes_through(function, given, is_file=is_file, depth=0):
                yield unit
            for op in unit.ops if unit.kind == "piece" else ():  # `given` has what has it now
                if op[0] == s.BIND and op[2] in given:
                    names.add(op[1])
                    known |= self.iterators(frozenset(function.registers[op[2]]))
            methods.update(_taking_methods(unit, given) if unit.kind == "piece" else ())

    def calling(
        self, module: Module, owner: Module, name: str, counters: Values, *, member: bool
    ) -> Iterator[Unit]:
        """The units of ``module`` that call what ``name`` of ``owner`` stands for.

        ``counters``: of that, what gives something else after each call.
        """
        names, attribute = _spelled(module, owner, name, member=member)
        for unit in self._units_with(module, names, attribute) if counters else ():
            started = _read_by(unit, names, attribute, member=member)
            called = {op[2] for op in unit.ops if op[0] == s.CALL}.intersection(started)
            if called:
                function = self._engine.function(module, unit.index)
                self._engine.facts_of(function)
                if any(not counters.isdisjoint(function.registers[each]) for each in called):
                    yield unit

    def _units_with(
        self, module: Module, names: set[str], attribute: str, methods: Collection[str] = ()
    ) -> Iterator[Unit]:
        """The units of ``module``, in order, that have a variable or attribute of these names.

        ``names`` and ``methods`` may grow by those that have been given.
        """
        reading = self._reading.get(module.name)
        if reading is None:
            reading = self._reading[module.name] = units_by_name(module.summary.units, _NAMED)
        met = -1
        having: set[int] = set()
        for unit in module.summary.units:
            if met < len(names) + len(methods):
                met = len(names) + len(methods)
                for name in (*names, *methods, attribute):
                    having.update(reading.get(name, ()))
            if unit.index in having:
                yield unit

    def _goes_through(
        self, function: Function, given: set[Register], *, is_file: bool, depth: int
    ) -> bool:
        """Whether ``function`` goes through what is in ``given``, to which it adds what has it."""
        methods: set[Register] = set()
        slices = {s.SLICE}
        for op in function.unit.ops:
            code = op[0]
            if code in (s.ITER, s.ITEM, s.YIELD_FROM):
                through: Iterable[Register] = (op[2],)
            elif code == s.SEQUENCE:
                through = op[4]
            elif code == s.CONTAINS:
                through = (op[1],)
            elif code == s.BINARY:
                through = (op[3],) if op[4] != "mod" else ()  # `many += iterator`
            elif code == s.SETSUB:
                through = (op[3],) if op[2] in slices else ()  # `many[:] = iterator`
            elif code == s.TOLD:
                through = ()
                if op[2] == "builtins.slice":
                    slices.add(op[1])
            elif code == s.CALL:
                through = op[5][0] if op[5] is not None else ()
                if (
                    op[2] in methods
                    or op[2] in given
                    or self._calls_through(function, op, given, is_file=is_file, depth=depth)
                ):
                    return True
            else:
                through = ()
                if code == s.ATTR and op[2] in given and op[3] in _TAKING:
                    methods.add(op[1])
                elif code in (s.PHI, s.NARROW, s.DECLARE) and not given.isdisjoint(reads(op)):
                    given.add(op[1])
            if not given.isdisjoint(through):
                return True
        return False

    def _calls_through(
        self, function: Function, call: Op, given: set[Register], *, is_file: bool, depth: int
    ) -> bool:
        """Whether a call goes through an argument that is ``given``; or its result does, added."""
        passed = given.intersection(reads(call)[1:])
        if not passed:
            return False
        for fact in self._arguments.facts_at(function, call[-1]):
            if fact[0] == f.EXTERNAL:
                if makes_iterator(fact[1]):
                    given.add(call[1])
                elif fact[1] in _GOING_THROUGH or not (is_file or fact[1] in _LEAVING):
                    return True
            elif fact[0] == f.CALL and not fact[5] and depth < _PASSED_ON:
                of_it = {i for each in passed for i in parameters_given(fact[1], call, each)}
                if of_it and fact[1].unit.flags & s.GENERATOR:  # it does when that is gone through
                    given.add(call[1])
                elif of_it and self._goes_through(fact[1], of_it, is_file=is_file, depth=depth + 1):
                    return True
        return False


def _spelled(module: Module, owner: Module, name: str, *, member: bool) -> tuple[set[str], str]:
    """The variables of ``module`` that may be ``name`` of ``owner``, and the attribute that may."""
    if module is owner and not member:
        return {name}, ""
    return (set() if member else set(bound_to(module, name))), name


def _read_by(unit: Unit, names: set[str], attribute: str, *, member: bool) -> list[Register]:
    """Where a unit has one of those variables, or that attribute of anything."""
    return [
        op[1]
        for op in unit.ops
        if (op[0] == s.GLOBAL and op[2] in names)
        or (op[0] == s.ATTR and op[3] == attribute)
        or (op[0] == s.CLASSVAR and op[3] == attribute and member)
    ]


def _taking_methods(unit: Unit, given: set[Register]) -> Iterator[str]:
    """The names that a statement binds to a method which takes something of what is ``given``."""
    taking = {op[1] for op in unit.ops if op[0] == s.ATTR and op[2] in given and op[3] in _TAKING}
    for op in unit.ops:
        if op[0] == s.BIND and op[2] in taking:
            yield op[1]


def bound_to(module: Module, name: str) -> Iterator[str]:
    """The names that imports of ``module`` may bind to ``name`` of another one."""
    for piece in module.summary.pieces:
        for alias, _, _, item in piece.imports:
            if item == name or alias == "*":
                yield name if alias == "*" else alias

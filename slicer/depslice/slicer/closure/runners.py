"""Which code runs a function: who calls it, directly or not, and which statements do.

A function that changes a variable changes nothing before somebody calls it. Code is asked what
it calls only where its names let it get at the function at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.parts import reads
from depslice.callgraph.engine.values import Class, Function, Value, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.arguments import Arguments
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.registering import (
    PassedOn,
    called_for_effect,
    has_no_result,
    passed_on,
)
from depslice.slicer.closure.turns import News
from depslice.slicer.pieces import NAMED, units_by_name

_CALLS: Final = 3  # calls from a function that module-level code runs to one that fills something
_MOST_HANDED: Final = 16  # parameters for which one function is passed on
_RUNNING: Final = frozenset(
    {"assign", "class", "def", "expr", "if", "jump", "loop", "match", "other", "try", "with"}
)
"""What may run a function: ``for each in filling(): …``, ``with entered(): …``, ``if set_up(): …``."""
_INIT: Final = "__init__"
_PROPERTY: Final = "property"
_NOWHERE: Final[frozenset[int]] = frozenset()
_WRAPPING: Final = frozenset(
    {
        *("builtins.classmethod", "builtins.property", "builtins.staticmethod"),
        *("contextlib.contextmanager", "contextlib.asynccontextmanager", "types.MethodType"),
        *(f"functools.{name}" for name in ("cache", "cached_property", "lru_cache", "partial")),
        *(f"functools.{name}" for name in ("partialmethod", "singledispatch", "update_wrapper")),
        "functools.wraps",
    }
)
"""What keeps a function and does not run it."""


_Passed: TypeAlias = "dict[Function, set[tuple[Function, int]]]"
"""Functions that code passes to others, and the parameters of those."""


class _Calls(NamedTuple):
    """What the ``facts`` of a function say that it calls, where, and what it passes on.

    ``got``: where it gets properties. What stands there, ``self.make(…)``, calls what they give.
    """

    facts: list[f.Fact]
    called: dict[Function, set[int]]
    passed: _Passed
    got: dict[Function, set[int]]


class _Calling:
    """The places of the statements of a module that call a function, or pass it to what they call."""

    __slots__ = ("_by_function", "is_known")

    def __init__(self) -> None:
        self.is_known = False
        self._by_function: dict[Function, list[int]] = {}

    def note(self, place: int, called: dict[Function, set[int]], passed: _Passed) -> None:
        """The statement at ``place`` does so."""
        for function in called.keys() | passed.keys() if called else ():
            self._by_function.setdefault(function, []).append(place)

    def places(
        self, functions: dict[Function, None], by_wrapper: dict[Function, set[Function]]
    ) -> list[int]:
        """Where one of ``functions`` may be run, be it by what wraps it, in order."""
        known = self._by_function
        met = functions.keys() & known.keys()
        met.update(
            each
            for each, run in by_wrapper.items()
            if each in known and not run.isdisjoint(functions)
        )
        return sorted({place for each in met for place in known[each]})


class Runners:
    """Answers for one slice."""

    def __init__(self, growth: Growth, arguments: Arguments) -> None:
        self._growth = growth
        self._engine = growth.engine
        self._arguments = arguments
        self._statements: dict[str, list[tuple[Piece, Function]]] = {}
        self._calling: dict[str, _Calling] = {}  # of modules that have been gone through
        self._retold = News(growth.engine.retold)
        self._mentioned: dict[str, dict[str, list[int]]] = {}  # module -> name -> units
        self._imported_by: dict[str, frozenset[str]] = {}  # module -> names in its imports
        # The places of calls in a function whose results it returns, and whose nobody takes.
        self._passed_on: dict[Function, dict[int, PassedOn]] = {}
        self._for_effect: dict[Function, set[int]] = {}
        self._returned_by: dict[Function, Function] = {}  # who does no more with it
        self._makers: dict[Class, frozenset[Function]] = {}  # of the fields of a class
        self._wrapped = arguments.wrapped
        self._calling_given: dict[tuple[Function, int], bool] = {}
        self._calls: dict[Function, _Calls] = {}

    def returned(self, functions: Iterable[Function]) -> dict[Function, None]:
        """Those that do no more with one of ``functions`` than to define and return it."""
        given = self._returned_by
        return {given[each]: None for each in functions if each in given}

    def runs_one_of(
        self, function: Function, functions: dict[Function, None], *, decorating: bool
    ) -> bool:
        """Whether a statement calls one of ``functions`` so that its body really runs.

        A function that yields does not, where it is a decorator or makes one: nobody iterates that.
        """
        if not self.calls_one_of(function, functions):
            return False
        called = self._calls[function].called
        met = functions.keys() & called.keys()
        return (
            not decorating
            or not met
            or any(
                not each.unit.flags & s.GENERATOR
                or not all(_only_decorates(function.unit, place) for place in called[each])
                for each in met
            )
        )

    def hands_on(self, piece: Piece, function: Function, returned: AbstractSet[Function]) -> bool:
        """Whether a statement gets a function from the one that returns it, and another may call it.

        ``@at_once`` above ``@counted``, whose wrapper counts; what runs for the class of a method.
        """
        if not returned or not self.calls_one_of(function, dict.fromkeys(returned)):
            return False
        if piece.owner >= 0:
            class_ = self._engine.class_(function.module, piece.owner)
            statement = self._engine.function(class_.module, class_.info.unit)
            if any(fact[0] == f.CALL for fact in self._engine.facts_of(statement)):
                return True
        return any(self._may_call(each) for each in self._calls[function].called.keys() - returned)

    def _may_call(self, function: Function) -> bool:
        """Whether a function calls what it is given, or passes it on to something that may."""
        given = set(range(len(function.unit.params)))
        return any(
            op[0] in (s.CALL, s.DECORATE)
            and not given.isdisjoint(reads(op))
            and not self._only_wraps(function, op)
            for op in function.unit.ops
        )

    def statements_of(self, module: Module) -> list[tuple[Piece, Function]]:
        """The statements of ``module`` that may run a function for what it changes."""
        found = self._statements.get(module.name)
        if found is None:
            found = self._statements[module.name] = [
                (piece, self._engine.function(module, piece.unit))
                for piece in module.summary.pieces
                if piece.unit >= 0 and piece.kind in _RUNNING
            ]
        return found

    def statements_calling(
        self, module: Module, functions: dict[Function, None]
    ) -> Iterator[tuple[Piece, Function]]:
        """Those of :meth:`statements_of` that run and may call one of ``functions``, and others.

        A module is gone through once; from then on what its statements are known to call tells.
        """
        statements = self.statements_of(module)
        if module.name not in self._calling:
            yield from statements
            self._calling[module.name] = _Calling()
            return
        place, known = -1, None
        waiting: list[int] = []
        while True:
            calling = self._calling_in(module, statements)
            state = calling, self._wrapped.known
            if state != known:
                known = state
                waiting = calling.places(functions, self._wrapped.by_wrapper)
            place = next((each for each in waiting if each > place), -1)
            if place < 0:
                return
            yield statements[place]

    def _calling_in(self, module: Module, statements: list[tuple[Piece, Function]]) -> _Calling:
        """What the statements of ``module`` call by now."""
        if self._engine.queue:
            self._engine.settle()
        for function in self._retold.take():
            if function.unit.kind == "piece" and function.module.name in self._calling:
                self._calling[function.module.name] = _Calling()
        found = self._calling[module.name]
        if not found.is_known:
            found.is_known = True
            for place, (piece, function) in enumerate(statements):
                if self._growth.runs(module, piece):
                    calls = self._called_by(function)
                    found.note(place, calls.called, calls.passed)
        return found

    def with_those_that_pass_on(self, functions: dict[Function, None]) -> dict[Function, None]:
        """``functions``, and those that return what they give: ``return Registry.instance()``."""

        def passes_on(caller: Function, called: dict[Function, None]) -> dict[Function, None]:
            places = self._passed_on.get(caller)
            if places is None:
                places = self._passed_on[caller] = passed_on(caller.unit)
            # Half a program returns what some call gives: who calls others there is not evaluated.
            names = {name for each in called for name in self.names_of(each)} if places else set()
            meant = {
                place: each.registers
                for place, each in places.items()
                if each.names is None or not each.names.isdisjoint(names)
            }
            called_at = self.calls_of(caller, called) if meant else set()
            if called_at.isdisjoint(meant):
                return {}
            more = [
                place
                for place, given in meant.items()
                if not all(self._arguments.is_constant_in(caller, each) for each in given)
            ]
            return {} if called_at.isdisjoint(more) else {caller: None}

        return self._with_further(functions, passes_on)

    def with_callers(self, functions: dict[Function, None]) -> dict[Function, None]:
        """``functions``, and those that call them: ``register`` by ``decorate`` by its ``wrap``."""

        def calls(caller: Function, called: dict[Function, None]) -> dict[Function, None]:
            if not self.calls_one_of(caller, called):
                return {}
            return self.with_enclosing(caller.module, (caller.unit.index,))

        return self._with_further(functions, calls)

    def with_those_that_get(self, functions: dict[Function, None]) -> dict[Function, None]:
        """``functions``, and those that call them for what they give, or to make an instance.

        ``self.order = next_id()``, ``super().__init__()``. Who makes instances of a class that
        numbers them, as one of many things it does, would be half a program.
        """

        def gets(caller: Function, called: dict[Function, None]) -> dict[Function, None]:
            giving = {
                each: None
                for each in called
                if (_initialises(caller) if _initialises(each) else self._gives_plain(each))
            }
            return {caller: None} if giving and self.calls_one_of(caller, giving) else {}

        return self._with_further(functions, gets)

    def _gives_plain(self, function: Function) -> bool:
        """Whether a function gives something that is no instance of the repository."""
        self._engine.facts_of(function)
        kinds = [self._engine.values[value][0] for value in function.ret.values]
        return not has_no_result(function.unit) and "I" not in kinds

    def with_those_that_call_for_effect(
        self, functions: dict[Function, None]
    ) -> dict[Function, None]:
        """``functions``, and those that call them, and give no result: ``def fill(): add(1)``."""

        def calls(caller: Function, called: dict[Function, None]) -> dict[Function, None]:
            places = self._for_effect.get(caller)
            if places is None:
                places = self._for_effect[caller] = called_for_effect(caller.unit)
            called_at = self.calls_of(caller, called) if places else set()
            return {} if called_at.isdisjoint(places) else {caller: None}

        return self._with_further(functions, calls)

    def calling_later(self, functions: Iterable[Function]) -> dict[Function, None]:
        """Those that call what statements hand to others for it, these being ``functions``.

        ``@on_ready`` puts a function into a list, ``start()`` goes through that.
        """
        found: dict[Function, None] = {}
        for function in functions:
            handed = list(self._handed_to(function)) if function.unit.parent < 0 else []
            for receiver, _ in handed:  # it, or a wrapper that it defines, puts that somewhere
                for unit in receiver.module.summary.units:
                    if unit.parent == receiver.unit.index:
                        self._engine.facts_of(self._engine.function(receiver.module, unit.index))
            for receiver, place in handed:
                kept = ("P", receiver, place)
                for unit in receiver.module.summary.units:
                    if unit.kind == "function" and _calls_what_is_held(unit):
                        other = self._engine.function(receiver.module, unit.index)
                        if any(
                            fact[0] == f.APPLY and self._engine.root_of(fact[1]) == kept
                            for fact in self._engine.facts_of(other)
                        ):
                            found[other] = None
        return found

    def _handed_to(self, function: Function) -> Iterator[tuple[Function, int]]:
        """The parameters for which a function is passed by statements of its module, and further."""
        module, engine = function.module, self._engine
        name = last_part(function.unit.qualname)
        waiting: list[tuple[Function, Value]] = [
            (statement, ("F", function))
            for piece, statement in self.statements_of(module)
            if name in piece.binds
            or any(op[0] == s.GLOBAL and op[2] == name for op in statement.unit.ops)
        ]
        met: set[tuple[Function, int]] = set()
        while waiting and len(met) < _MOST_HANDED:
            passing, value = waiting.pop()
            for fact in engine.facts_of(passing):
                if fact[0] == f.PASS and any(engine.values[each] == value for each in fact[3]):
                    to = fact[1], fact[2]
                    if to not in met:
                        met.add(to)
                        yield to
                        waiting.append((fact[1], ("P", *to)))

    def _with_further(
        self,
        functions: dict[Function, None],
        found_by: Callable[[Function, dict[Function, None]], dict[Function, None]],
    ) -> dict[Function, None]:
        """``functions``, and what ``found_by`` gives for those that name them; in so many rounds."""
        found = dict(functions)
        latest = functions
        for _ in range(_CALLS):
            if not latest:
                break
            further: dict[Function, None] = {}
            for module in self.which_may_name(latest):
                for unit in self.naming(module, latest):
                    function = self._engine.function(module, unit)
                    if function not in found:
                        further |= found_by(function, latest)
            latest = {each: None for each in further if each not in found}
            found |= latest
        return found

    def calls_one_of(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether ``function`` calls one of ``functions``, or passes it to code that does.

        Or what a decorator made of one, by its name.
        """
        facts, called, passed, _ = self._called_by(function)
        if not called:
            return False
        # Of two views the shorter one is gone through: most statements call next to nothing.
        if not called.keys().isdisjoint(functions.keys()):
            return True
        wrappers = self._wrapped.met(facts, called.keys(), functions.keys())
        return any(True for _ in wrappers) or self._has_run(passed, functions)

    def calls_of(self, function: Function, functions: dict[Function, None]) -> set[int]:
        """Where ``function`` calls one of ``functions``, or what a decorator made of one.

        For what it gives: that of a property is not what a call gives where that is got.
        """
        facts, called, _, got = self._called_by(function)
        if not called:
            return set()
        wrappers = self._wrapped.met(facts, called.keys(), functions.keys())
        met = functions.keys() & called.keys() | set(wrappers)
        return set().union(*(called[each] - got.get(each, _NOWHERE) for each in met))

    def gets_of(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether one of ``functions`` is a property that ``function`` gets."""
        return not self._called_by(function).got.keys().isdisjoint(functions)

    def _called_by(self, function: Function) -> _Calls:
        """What ``function`` calls, as far as it is known by now."""
        known = self._calls.get(function)
        if known is None or known.facts is not function.flat or self._engine.queue:
            facts = self._engine.facts_of(function)
            if known is None or known.facts is not facts:
                called: dict[Function, set[int]] = {}
                passed: _Passed = {}
                got: dict[Function, set[int]] = {}
                for fact in facts:
                    if fact[0] == f.CALL:
                        called.setdefault(fact[1], set()).add(fact[2])
                        if fact[4] == _PROPERTY:
                            got.setdefault(fact[1], set()).add(fact[2])
                    elif fact[0] == f.INSTANCE:
                        for factory in self._factories(fact[1]):
                            called.setdefault(factory, set()).add(fact[2])
                    elif fact[0] == f.PASS:
                        for each in self._functions_in(fact[3]):
                            passed.setdefault(each, set()).add(fact[1:3])
                known = self._calls[function] = _Calls(facts, called, passed, got)
        return known

    def _functions_in(self, values: Values) -> Iterator[Function]:
        """The functions among ``values``, be they methods, or with arguments already."""
        for kind in map(self._engine.values.__getitem__, values):
            if kind[0] in ("F", "B"):
                yield kind[1]
            elif kind[0] == "PT":
                yield from self._functions_in(kind[1])

    def _factories(self, class_: Class) -> frozenset[Function]:
        """What a generated constructor of the class calls: ``field(default_factory=next_id)``."""
        found = self._makers.get(class_)
        if found is None:
            pieces = [
                (k.module, k.module.summary.pieces[i])
                for k in self._engine.mro(class_)
                for i in k.info.pieces
            ]
            found = self._makers[class_] = frozenset(
                fact[1]
                for module, piece in pieces
                if piece.kind == "assign" and piece.unit >= 0
                if any(op[0] == s.CALL and op[4] for op in module.summary.units[piece.unit].ops)
                for fact in self._engine.facts_of(self._engine.function(module, piece.unit))
                if fact[0] == f.CALL and fact[4] == "default-factory"
            )
        return found

    def _has_run(self, passed: _Passed, functions: dict[Function, None]) -> bool:
        """Whether one of ``functions`` is passed to code that calls it: ``attempt(set_up)``."""
        return any(
            self._calls_given(*to, _CALLS)
            for function in passed.keys() & functions.keys()
            for to in passed[function]
        )

    def _calls_given(self, function: Function, place: int, deep: int) -> bool:
        """Whether a function calls what it is given for a parameter, or who it passes that to."""
        key = (function, place)
        known = self._calling_given.get(key)
        if known is None:
            self._calling_given[key] = False  # it passes that to itself
            engine, given = self._engine, ("P", function, place)
            facts = engine.facts_of(function)
            known = any(
                fact[0] == f.APPLY and engine.values[fact[1]] == given for fact in facts
            ) or any(
                fact[0] == f.PASS
                and deep > 0
                and any(engine.values[value] == given for value in fact[3])
                and self._calls_given(fact[1], fact[2], deep - 1)
                for fact in facts
            )
            if known or not engine.queue:
                self._calling_given[key] = known
            else:
                del self._calling_given[key]
        return known

    def takes_from(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether ``function`` gets more of one of ``functions`` than a text, a number or the like."""
        if not self.calls_one_of(function, functions):
            return False
        plain = {
            op[-1]
            for op in function.unit.ops
            if op[0] == s.CALL and self._arguments.is_constant_in(function, op[1])
        }
        called = self._calls[function].called
        met = functions.keys() & called.keys()
        return not met or any(not called[each] <= plain for each in met)

    def names_of(self, function: Function) -> Iterable[str]:
        """The names by which code gets at a function, what it stands in, or what wraps it."""
        return (*_names_of(function), *self._wrapped.names(function))

    def which_may_name(self, functions: Iterable[Function]) -> list[Module]:
        """The modules that run and have one of these functions, or may import it, or who has it.

        Theirs run in any case, be it that the target imports them only when it runs.
        """
        functions = tuple(functions)
        own = {function.module.name: function.module for function in functions}
        names = {name for function in functions for name in self.names_of(function)}
        names |= {"*", *map(last_part, own)}
        running = {module.name: module for module in self._growth.running()}
        # Packages that have it from a module of theirs give it on: `import pkg; pkg.register(…)`.
        names |= {
            last_part(module.name)
            for module in running.values()
            if module.package == module.name and not names.isdisjoint(self.imported(module))
        }
        found = [
            module
            for module in running.values()
            if module.name in own or not names.isdisjoint(self.imported(module))
        ]
        return found + [own[name] for name in sorted(own.keys() - running.keys())]

    def naming(self, module: Module, functions: Iterable[Function]) -> list[int]:
        """The functions of ``module`` whose code names one of ``functions``, or what it stands in.

        Special methods go by one name in all classes: ``Base.__new__`` is looked up.
        """
        plain: set[str] = set()
        special: dict[str, set[Class]] = {}
        for function in functions:
            outer, last = _names_of(function)
            plain.add(outer)
            plain.update(self._wrapped.names(function))
            if function.unit.owner < 0 or last[:2] != "__":
                plain.add(last)
            else:
                owner = self._engine.class_(function.module, function.unit.owner)
                special.setdefault(last, set()).add(owner)
        found = set(self.mentioning(module, plain))
        for unit in self.mentioning(module, set(special)) if special else ():
            if unit not in found and self._reaches(module, unit, special):
                found.add(unit)
        return sorted(found)

    def _reaches(self, module: Module, unit: int, special: dict[str, set[Class]]) -> bool:
        """Whether a unit may read a special method of such a class, as far as its receivers tell."""
        made: dict[int, s.Op] = {}
        for op in module.summary.units[unit].ops:
            if op[0] in (s.GLOBAL, s.SUPER):
                made[op[1]] = op
            elif op[0] == s.ATTR and op[3] in special:
                receiver = made.get(op[2])
                owners = special[op[3]]
                if receiver is None:
                    return True
                if receiver[0] == s.SUPER:
                    kinds = [("C", self._engine.class_(module, receiver[2]))]
                else:
                    values = self._engine.name_values(module, receiver[2], None)
                    kinds = [self._engine.values[value] for value in values]
                for kind in kinds:
                    if kind[0] in ("C", "I"):
                        if not owners.isdisjoint(self._engine.mro(kind[1])):
                            return True
                    elif kind[0] != "X":
                        return True
        return False

    def mentioning(self, module: Module, names: set[str]) -> list[int]:
        """The functions of ``module`` whose code has one of ``names``."""
        by_name = self._mentioned.get(module.name)
        if by_name is None:
            functions = (u for u in module.summary.units if u.kind in ("function", "lambda"))
            by_name = self._mentioned[module.name] = units_by_name(functions, NAMED)
        return sorted({unit for name in names for unit in by_name.get(name, ())})

    def imported(self, module: Module) -> frozenset[str]:
        """The last parts of all that ``module`` imports."""
        found = self._imported_by.get(module.name)
        if found is None:
            found = self._imported_by[module.name] = frozenset(
                name
                for piece in module.summary.pieces
                for _, _, target, item in piece.imports
                for name in (item or "", last_part(target))
            )
        return found

    def with_enclosing(self, module: Module, writers: Iterable[int]) -> dict[Function, None]:
        """The ``writers``, and the functions that define them and may run them.

        Not those that only return them: who runs what a decorator gives, calls it.
        """
        functions: dict[Function, None] = {}
        for unit in writers:
            current = unit
            while current >= 0:
                functions[self._engine.function(module, current)] = None
                outer = module.summary.units[current].parent
                if outer >= 0 and self._only_returns(module, outer, current):
                    inner = self._engine.function(module, current)
                    self._returned_by[inner] = self._engine.function(module, outer)
                    break
                current = outer
        return functions

    def _only_returns(self, module: Module, outer: int, inner: int) -> bool:
        """Whether a function does no more with one that it defines than to return it.

        Be it wrapped up by something that does not run it.
        """
        function = self._engine.function(module, outer)
        units = module.summary.units
        known = (outer, last_part(units[inner].qualname))
        if function.unit.flags & s.USES_LOCALS or any(
            op[0] == s.FREE and op[2:4] == known for unit in units for op in unit.ops
        ):
            return False  # others that it defines have it
        held: set[int] = set()
        for op in function.unit.ops:
            code = op[0]
            if code in (s.FUNCTION, s.LAMBDA) and op[2] == inner:
                held.add(op[1])
            elif held.isdisjoint(reads(op)) or code == s.RETURN:
                continue
            elif code == s.PHI or (
                code in (s.CALL, s.DECORATE)
                and op[2] not in held
                and self._only_wraps(function, op)
            ):
                held.add(op[1])
            elif code != s.SETATTR or op[3] in held:
                return False
        return bool(held)

    def _only_wraps(self, function: Function, op: s.Op) -> bool:
        """Whether what ``op`` calls, or decorates with, runs no function that it is given."""
        self._engine.facts_of(function)
        called = [self._engine.values[value] for value in function.registers[op[2]]]
        return bool(called) and all(
            kind[0] == "W" or (kind[0] in ("X", "XI") and kind[1] in _WRAPPING) for kind in called
        )


def _initialises(function: Function) -> bool:
    return last_part(function.unit.qualname) == _INIT


def _calls_what_is_held(unit: s.Unit) -> bool:
    """Whether code calls what it takes out of something."""
    held = {op[1] for op in unit.ops if op[0] in (s.CALL, s.ITEM, s.ITER, s.SUB)}
    return any(op[0] == s.CALL and op[2] in held for op in unit.ops)


def _names_of(function: Function) -> tuple[str, ...]:
    """The names by which code gets at a function, or at what it stands in."""
    outer = function.unit.qualname.partition(".<locals>")[0].split(".")
    return outer[0], outer[-1]


def _only_decorates(unit: s.Unit, place: int) -> bool:
    """Whether what is called at ``place`` is a decorator whose result is only bound, or makes one."""
    for op in unit.ops:
        if op[0] in (s.CALL, s.DECORATE) and op[-1] == place:
            for user in unit.ops:
                if op[1] in reads(user) and not (
                    (op[0] == s.CALL and user[0] == s.DECORATE and user[2] == op[1])
                    or (op[0] == s.DECORATE and user[0] == s.BIND)
                ):
                    return False
    return True


def last_part(dotted: str) -> str:
    """The last name of a dotted one."""
    return dotted.rpartition(".")[2]

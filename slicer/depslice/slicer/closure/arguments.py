"""Whether a call changes what it is given: ``setup(app)``, ``fill(TABLE, one, two)``.

Functions of the repository are read: one that stores an attribute or an item of its parameter,
calls a method of it for nothing but its effect, or passes it on to a function that does,
changes it; so does one that keeps it, in a function that it defines or on the instance that
it makes, where that may. Of the standard library a few functions are known to; code of other
packages may. Methods of builtin containers leave it as it is, unless it is an iterator, which they
use up; where they put it into what others have (``many.append(X)``), those may change it.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator
from typing import Any, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import SAYING, SETTING, STANDARD_MODULES, TELLING
from depslice.callgraph.engine.parts import PUTTING, is_in_place, reads
from depslice.callgraph.engine.values import Function
from depslice.callgraph.summary import Op, Register, Unit
from depslice.slicer.closure.wrapped import Wrapped

_CONSTANT: Final = frozenset(f"builtins.{name}" for name in s.CONSTANT_TYPES.values())
STORING: Final = frozenset({s.SETATTR, s.SETSUB, s.DELETE_ATTR, s.DELETE_SUB})
_PASSED_ON: Final = 3  # functions that a value is followed through
_CHANGING: Final = {
    **dict.fromkeys(
        (
            *("builtins.setattr", "builtins.delattr", "builtins.next", "builtins.anext"),
            "builtins.vars",  # gives what can be filled
            "xml.etree.ElementTree.SubElement",
            *("operator.setitem", "operator.delitem", "operator.iadd", "operator.ior"),
            *("random.shuffle", "heapq.heapify", "heapq.heappop", "collections.deque"),
        ),
        (0,),
    ),
    **dict.fromkeys(
        (
            *("heapq.heappush", "heapq.heappushpop", "heapq.heapreplace", "shutil.copyfileobj"),
            *("bisect.insort", "bisect.insort_left", "bisect.insort_right"),  # by comparing
        ),
        (0, 1),
    ),
    "builtins.exec": (1, 2),  # with a namespace
    **dict.fromkeys(("pickle.dump", "json.dump"), (1,)),
}
"""Functions of the standard library that change an argument, or use it up: its places.

``setattr(C, "one", X)`` changes ``C``, and leaves ``X`` as it is.
"""
_ELEMENTS: Final = frozenset(
    {
        *(
            f"builtins.{name}"
            for name in (
                *("dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "reversed"),
                *("set", "sorted", "tuple", "zip"),
            )
        ),
        *(
            f"itertools.{name}"
            for name in (
                *("batched", "chain", "chain.from_iterable", "combinations", "compress", "cycle"),
                *("dropwhile", "filterfalse", "groupby", "islice", "pairwise", "permutations"),
                *("product", "repeat", "takewhile", "tee", "zip_longest"),
            )
        ),
    }
)
"""What gives the elements of what it is given."""
_ELEMENT: Final = frozenset({"builtins.max", "builtins.min", "builtins.next"})
"""What gives one of them."""
_ITSELF: Final = frozenset({"typing.cast", "typing_extensions.cast"})
"""What gives what it is given."""
_GIVING_BACK: Final = frozenset({"get", "pop", "setdefault"})
"""Methods of a dictionary that give their second argument where a key is not there."""
_JOINING: Final = frozenset(
    {
        *("union", "intersection", "symmetric_difference"),
        *(f"__{name}__" for name in ("add", "and", "iadd", "iand", "ior", "ixor", "or", "xor")),
    }
)
"""Methods of containers whose result has elements of the argument, too."""
_GOING_THROUGH: Final = frozenset(
    {
        *("__iadd__", "__init__", "__ior__", "difference", "difference_update", "extend"),
        *("extendleft", "fromkeys", "intersection", "intersection_update", "isdisjoint"),
        *("issubset", "issuperset", "symmetric_difference", "symmetric_difference_update"),
        *("union", "update"),
    }
)
"""Methods of containers that go through an argument."""
_TAKING_OUT: Final = frozenset({"__getitem__", "get", "pop", "popleft", "setdefault"})
"""Methods of containers that give one of the elements."""
_GIVING_NOTHING: Final = frozenset(
    {"add", "append", "appendleft", "clear", "extend", "insert", "remove", "update"}
)
"""Methods of containers that give nothing."""
_TAKING_AWAY: Final = frozenset({"pop", "popitem", "popleft"})
"""Methods of containers after which they have less, whoever takes what they give."""
_ITERATORS: Final = frozenset(
    f"builtins.{name}" for name in ("enumerate", "filter", "iter", "map", "reversed", "zip")
)
"""Functions that give an iterator of what they are given, as all of itertools do."""
_MAPPED: Final = frozenset({"builtins.map", "concurrent.futures.ThreadPoolExecutor.map"})
_WITH_ELEMENTS: Final = frozenset(
    {
        *(*_MAPPED, "builtins.filter", "functools.reduce"),
        *(f"itertools.{name}" for name in ("dropwhile", "filterfalse", "starmap", "takewhile")),
    }
)
"""What calls its first argument with the elements of the others."""
_MAKING: Final = frozenset(
    {
        *("clone", "copy", "deepcopy", "replace", "split", "new"),
        *("union", "difference", "intersection", "symmetric_difference"),
    }
)
"""Methods that make something new of what they are called on."""
_NO_HOLDERS: Final = frozenset({"S", "N", "F", "C", "M", "X"})
"""Texts, functions, classes and modules: nobody puts something into these by an argument."""
_READING: Final = frozenset({s.CONTAINS, s.COMPARE, s.FORMAT_VALUE, s.ITER, s.SUB, s.TRUTH})
_TAKING: Final = frozenset({s.ATTR, s.SUB, s.ITER, s.ITEM, s.NARROW, s.CALL})
"""Operations whose result may be a part of what they read first."""


class Arguments:
    """Answers for one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.wrapped = Wrapped(engine, self._called_by)
        self._known: dict[tuple[Function, int, bool, int], bool] = {}
        self._entering: dict[Function, bool] = {}  # methods that put something into what has them
        self._around: dict[Function, bool] = {}  # functions that change what is around them
        self._giving: dict[Function, bool] = {}  # methods that give what is in it
        self._facts: dict[Function, tuple[list[f.Fact], dict[int, list[f.Fact]]]] = {}

    def changes(
        self, function: Function, call: Op, register: Register, *, defined: bool, depth: int = 0
    ) -> bool:
        """Whether a call in ``function`` may change what ``register``, an argument of it, holds.

        ``defined``: functions or classes, which nobody outside is expected to change. ``depth``:
        calls that the value has been followed through.
        """
        if self.is_constant_in(function, register):
            return False
        here = self.facts_at(function, call[-1])
        called = [fact[1] for fact in here if fact[0] == f.CALL and not fact[5]]
        if any(
            self.changes_parameter(each, index, defined=defined, depth=depth)
            for each in called
            for index in parameters_given(each, call, register)
        ) or any(
            self.changes_parameter(each, index, defined=defined, depth=depth)
            for each, index in self._passed_by_wrappers(function, call, register, called)
        ):
            return True
        callees = [self._engine.values[value] for value in function.registers[call[2]]]
        by_library = any(kind[0] == "X" for kind in callees)
        if by_library and any(
            self.changes_parameter(each, index, defined=defined, depth=depth)
            for each in called
            for index in range(1, len(each.unit.params))
        ):
            return True  # `setattr(instance, "name", value)` calls a setter with it
        if called and not by_library:  # `heappush` asks what it is given, and puts it there
            return not (depth or defined) and self._uses_up_by_method(function, call, register)
        if self._maps(function, call, register, here, defined=defined, depth=depth):
            return True
        if any(fact[0] == f.INSTANCE for fact in here):
            return False  # no constructor of its own
        outside = _outside_in(here)
        if not outside:
            return not (depth or defined or self._leaves_alone(function, call, register))
        if "builtins.print" in outside and ("file", register) in call[4]:
            return True
        # `list.append(table, value)`; `table.append(value)` leaves the value as it is.
        first = register in call[3][:1] and by_library
        if "builtins.vars" in outside and _is_only_read(function.unit, call[1]):
            return False  # `"%(name)s" % vars(X)`
        return any(
            (
                dotted in _CHANGING
                and (("X", dotted) not in callees or _stands_at(_CHANGING[dotted], call, register))
            )
            or (first and dotted.rpartition(".")[2] in PUTTING)
            or (not defined and dotted.partition(".")[0] not in STANDARD_MODULES)
            for dotted in outside
        )

    def _passed_by_wrappers(
        self, function: Function, call: Op, register: Register, called: Iterable[Function]
    ) -> Iterator[tuple[Function, int]]:
        """The parameters that get an argument of a call by what a decorator made of a function.

        Any of them, where the wrapper calls it with others than it is given itself.
        """
        inner = [each for each in called if each.unit.parent >= 0 or each.unit.owner >= 0]
        if not inner:
            return
        facts = [*self.facts_at(function, call[-1])]
        for op in function.unit.ops:
            if op[0] in s.POSITION_AT and op[1] == call[2]:
                facts += self.facts_at(function, op[s.POSITION_AT[op[0]]])
        for wrapper in inner:
            for each in dict.fromkeys(self.wrapped.behind(wrapper, facts)):
                if _passes_all(wrapper.unit):
                    given: Iterable[int] = parameters_given(each, call, register)
                else:
                    given = range(len(each.unit.params))
                for index in given:
                    yield each, index

    def is_of_its_own(self, function: Function, register: Register) -> bool:
        """Whether a register holds classes that know of nothing they are read of.

        Those with a constructor that calls nothing. A bound method does, and a plain function may:
        by a default, or another name of what it changes.
        """
        self._engine.facts_of(function)
        kinds = [self._engine.values[value] for value in function.registers[register]]
        return bool(kinds) and all(kind[0] == "C" and self._knows_nothing(kind) for kind in kinds)

    def _knows_nothing(self, kind: tuple[Any, ...]) -> bool:
        called = [
            self._engine.values[value]
            for name in ("__new__", "__init__")
            if (owner := self._engine.find_member(kind[1], name)) is not None
            for value in self._engine.member_values(owner, name)
        ]
        return all(
            each[0] == "F" and all(fact[0] != f.CALL for fact in self._engine.facts_of(each[1]))
            for each in called
        )

    def is_constant_in(self, function: Function, register: Register) -> bool:
        """Whether a register holds texts, numbers and the like, which nobody changes."""
        if register < 0:
            return True
        self._engine.facts_of(function)
        kinds = [self._engine.values[value] for value in function.registers[register]]
        return bool(kinds) and all(map(is_constant, kinds))

    def _leaves_alone(self, function: Function, call: Op, register: Register) -> bool:
        """Whether a call is of a method of a builtin container, which changes no argument.

        Not where others have that container, and what it is given from then on; nor where the
        argument is an iterator, or may be one, and the method goes through it.
        """
        method = self.method_of_container(function, call)
        if not method:
            return False
        if self._uses_up_by_method(function, call, register):
            return False
        if method not in PUTTING:
            return True
        receivers = _receivers(function, call)
        made_here = {
            self._engine.values[self._engine.values[value][1]][2:]
            for value in function.registers[call[2]]
        }
        uses = sum(reads(op).count(each) for op in function.unit.ops for each in receivers)
        return uses == 1 and made_here == {(function, receivers[0])}

    def _uses_up_by_method(self, function: Function, call: Op, register: Register) -> bool:
        """Whether a call is of a method of a builtin container that may use ``register`` up."""
        return (
            self.method_of_container(function, call) in _GOING_THROUGH
            and register not in (given for _, given in call[4])
            and self._uses_up(function, register)
        )

    def _uses_up(
        self, function: Function, register: Register, seen: frozenset[int] = frozenset()
    ) -> bool:
        """Whether who goes through what is in a register may use something up: an iterator.

        One that is made right there is nobody else's: what it goes through may be. ``seen``:
        values that are asked about already, which a loop has again.
        """
        if register < 0:
            return False  # a constant
        values = function.registers[register]
        return not values or any(
            self._is_used_up(function, value, seen | {value}) for value in values - seen
        )

    def _is_used_up(self, function: Function, value: int, seen: frozenset[int]) -> bool:
        kind = self._engine.values[value]
        if kind[0] == "K" and type(kind[3]) is int:
            maker, made = kind[2], kind[3]
            call = self._iterator_made(maker, made) if made >= 0 else None
            taken: Iterable[Register] = () if call is None else call[3]
            if kind[1] == "generator":
                taken = [op[2] for op in function.unit.ops if op[0] == s.ITER]
            elif call is None:
                return False
            return maker is not function or any(
                self._uses_up(function, each, seen) for each in taken
            )
        if kind[0] == "I":
            return self._engine.find_member(kind[1], "__next__") is not None or (
                self._engine.outside.declares(kind[1], "__next__")
            )
        if kind[0] in ("G", "XI"):
            outside = self._engine.outside
            class_ = outside.types.class_of(kind)
            return class_ is None or any(
                "__next__" in each.members for each in outside.stubs.mro(class_)
            )
        return kind[0] in ("GE", "U")

    def _iterator_made(self, function: Function, register: Register) -> Op | None:
        """The call that makes an iterator in a register of ``function``, if one does."""
        for op in function.unit.ops:
            if op[0] == s.CALL and op[1] == register:
                called = [self._engine.values[value] for value in function.registers[op[2]]]
                names = [kind[1] for kind in called if kind[0] == "X"]
                if any(map(makes_iterator, names)):
                    return op
        return None

    def _maps(
        self,
        function: Function,
        call: Op,
        register: Register,
        facts: list[f.Fact],
        *,
        defined: bool,
        depth: int,
    ) -> bool:
        """Whether a call is ``map(fill, …, register, …)``, and ``fill`` changes what it is given.

        ``fill`` may be a partial of a function, or an instance that is called.
        """
        how = _with_elements(facts)
        if register not in call[3][1:] or not how:
            return False
        for value in function.registers[call[3][0]]:
            for each, before, names in self._called_by(value):
                passed = (*call[:3], (s.NONE,) * before + call[3][1:], *call[4:])
                if how <= _MAPPED:
                    indices: Iterable[int] = parameters_given(each, passed, register, shifted=False)
                else:  # its arguments do not tell which element is passed for which
                    indices = range(len(each.unit.params))
                if any(
                    self.changes_parameter(each, index, defined=defined, depth=depth)
                    for index in indices
                    if each.unit.params[index][0] not in names
                ):
                    return True
        return False

    def _called_by(self, value: int) -> Iterator[tuple[Function, int, Collection[str]]]:
        """The functions that a call of ``value`` runs.

        Each with how many arguments it is given before those of the call, be it ``self``, and the
        names of others.
        """
        kind = self._engine.values[value]
        if kind[0] in ("B", "F"):
            yield kind[1], int(kind[0] == "B"), ()
        elif kind[0] == "I":
            owner = self._engine.find_member(kind[1], "__call__")
            for member in self._engine.member_values(owner, "__call__") if owner else ():
                for function, before, names in self._called_by(member):
                    yield function, before + (self._engine.values[member][0] == "F"), names
        elif kind[0] in ("CF", "PY"):  # a class method, a property
            for callee in set().union(*kind[1:]):
                for function, before, names in self._called_by(callee):
                    yield function, before + 1, names
        elif kind[0] == "PT":
            names = {name for name, _ in kind[3]}
            for callee in kind[1]:
                for function, before, others in self._called_by(callee):
                    yield function, before + len(kind[2]), {*names, *others}

    def calls_with_elements(self, function: Function, call: Op) -> bool:
        """Whether a call calls its first argument with elements of others: ``map(fill, many)``."""
        return bool(_with_elements(self.facts_at(function, call[-1])))

    def holder(self, function: Function, call: Op) -> str:
        """The variable whose container a statement puts things in: ``table.append(value)``.

        Who changes what the container holds, has it from there.
        """
        if function.unit.kind != "piece" or not self.method_of_container(function, call):
            return ""
        receivers = _receivers(function, call)
        return named_in(function.unit, receivers[0]) if receivers else ""

    def method_of_container(self, function: Function, call: Op) -> str:
        """The method of a builtin container that a call calls, if it is nothing else."""
        self._engine.facts_of(function)
        called = [self._engine.values[value] for value in function.registers[call[2]]]
        return called[0][2] if called and all(kind[0] == "KM" for kind in called) else ""

    def filled_with(self, function: Function, call: Op, given: set[Register]) -> Iterator[Register]:
        """The arguments of a call that have what is ``given`` from then on: ``put(table, value)``."""
        others = [register for register in reads(call)[1:] if register not in given]
        for fact in self.facts_at(function, call[-1]) if others else ():
            if fact[0] != f.CALL or fact[5]:
                continue
            values = {i for each in given for i in parameters_given(fact[1], call, each)}
            for register in others:
                for index in parameters_given(fact[1], call, register):
                    if _puts_into(fact[1].unit, index, values):
                        yield register

    def facts_at(self, function: Function, pos: int) -> list[f.Fact]:
        """The facts of a function at one place."""
        facts = self._engine.facts_of(function)
        known, by_place = self._facts.get(function, (None, {}))
        if known is not facts:  # more is known of it by now
            by_place = {}
            for fact in facts:
                if fact[0] in f.POSITION:
                    by_place.setdefault(fact[f.POSITION[fact[0]]], []).append(fact)
            self._facts[function] = facts, by_place
        return by_place.get(pos, [])

    def changes_parameter(
        self, function: Function, index: int, *, defined: bool = False, depth: int = 0
    ) -> bool:
        """Whether a function changes what it is given for a parameter."""
        if depth >= _PASSED_ON:
            return False
        key = (function, index, defined, depth)
        if key not in self._known:
            self._known[key] = False  # a function that calls itself with it
            self._known[key] = self._does_change(function, index, defined=defined, depth=depth)
        return self._known[key]

    def _does_change(self, function: Function, index: int, *, defined: bool, depth: int) -> bool:
        if self._is_changed(function, {index}, defined=defined, depth=depth):
            return True
        name = function.unit.params[index][0]
        if any(
            self._is_changed(inner, of_parameter, defined=defined, depth=depth)
            for inner, of_parameter in self._inside(function, name)
        ):
            return True
        return function.unit.qualname.endswith("__init__") and any(
            any(self.filling_methods(function, attribute))
            for attribute in {
                op[2] for op in function.unit.ops if op[0] == s.SETATTR and op[3] == index
            }
        )

    def keeps(self, function: Function, call: Op, register: Register) -> bool:
        """Whether the result of a call may change what ``register``, an argument of it, holds.

        ``partial(put, X)``, ``Registrar(X)``, ``decorator_for(X)``.
        """
        here = self.facts_at(function, call[-1])
        if "functools.partial" in _outside_in(here):
            return register not in call[3][:1] and self._partial_changes(function, call, register)
        known = any(fact[0] == f.CALL for fact in here)
        return known and self.changes(function, call, register, defined=False)

    def _partial_changes(self, function: Function, call: Op, register: Register) -> bool:
        """Whether the function of ``partial(function, …, register, …)`` may change that."""
        for value in function.registers[call[3][0]] if call[3] else ():
            kind = self._engine.values[value]
            rest = (*call[:3], call[3][1:], *call[4:])
            if kind[0] == "X":
                changes = kind[1].rpartition(".")[2] in PUTTING or (
                    kind[1] in _CHANGING and _stands_at(_CHANGING[kind[1]], rest, register)
                )
            elif kind[0] == "F":
                changes = any(
                    self.changes_parameter(kind[1], index)
                    for index in parameters_given(kind[1], rest, register)
                )
            else:
                changes = True
            if changes:
                return True
        return False

    def fills(self, function: Function, name: str) -> bool:
        """Whether a function changes the object that a variable of its module stands for."""
        given = {op[1] for op in function.unit.ops if op[0] == s.GLOBAL and op[2] == name}
        return self._is_changed(function, given, defined=False, depth=0, known=True)

    def changes_what(self, function: Function, registers: set[Register]) -> bool:
        """Whether a function changes what is in ``registers``."""
        return self._is_changed(function, registers, defined=False, depth=0)

    def filling_methods(self, constructor: Function, attribute: str) -> Iterator[Function]:
        """The methods of the class that change what instances have under ``attribute``."""
        units = constructor.module.summary.units
        for unit in units:
            if unit.owner == constructor.unit.owner and unit.kind == "function" and unit.params:
                held = {
                    op[1]
                    for op in unit.ops
                    if op[0] == s.ATTR and op[2] == 0 and op[3] == attribute
                }
                method = self._engine.function(constructor.module, unit.index)
                if held and self._is_changed(method, held, defined=False, depth=1, known=True):
                    yield method

    def enters(self, method: Function) -> bool:
        """Whether a method puts something into what it is called on, whoever takes its result.

        ``def define(self, name): self.options[name] = option = Option(name); return option``. Not
        one that gives what is there already: what a cache has, it computes again.
        """
        return self._puts_in(method) and not self._gives_what_is_in(method)

    def keeps_around(self, function: Function) -> bool:
        """Whether a function changes variables of the functions around it, or what they hold.

        ``nonlocal count; count += 1``, ``items.append(item)``, or a decorator that it gives does.
        Not one that gives what is there.
        """
        unit = function.unit
        if unit.parent < 0:
            return False
        if function not in self._around:
            own = frozenset({unit.index})
            within = [each for each in function.module.summary.units if each.parent == unit.index]
            self._around[function] = self._keeps_outside(function, own) or any(
                self._keeps_outside(
                    self._engine.function(function.module, each.index), own | {each.index}
                )
                for each in within
            )
        return self._around[function]

    def _keeps_outside(self, function: Function, within: Container[int]) -> bool:
        """Whether a function changes variables of others than those units, or what they hold."""
        unit = function.unit
        free = {op[1] for op in unit.ops if op[0] == s.FREE and op[2] not in within}
        return any(op[0] == s.SETFREE and op[1] not in within for op in unit.ops) or (
            self._is_changed(function, free, defined=False, depth=1, known=True)
            and not _gives(unit, free - _counted(unit, free))
        )

    def changes_receiver(self, function: Function, call: Op, name: str) -> bool:
        """Whether a call of a method of that name changes what it is called on."""
        return any(
            _has_itself(each.unit) and self.changes_parameter(each, 0)
            for each in self._methods_called(function, call, name)
        )

    def keeps_something(self, function: Function) -> bool:
        """Whether calls leave something behind in a function: where it stands, or in a default."""
        return function.unit.parent >= 0 or bool(self.keeping_defaults(function))

    def keeping_defaults(self, function: Function) -> list[int]:
        """The parameters whose default is an object that calls change: ``def f(seen=[])``."""
        return [
            index
            for index, param in enumerate(function.unit.params)
            if param[3]
            and self._may_hold(function, index)
            and self.changes_parameter(function, index)
        ]

    def _may_hold(self, function: Function, index: int) -> bool:
        """Whether the default of a parameter is more than a constant, a function or a class."""
        module, unit = function.module, function.unit
        piece = module.summary.pieces[unit.piece]
        if unit.parent < 0 and piece.unit >= 0:
            self._engine.facts_of(self._engine.function(module, piece.unit))
        cell = function.defaults.get(index)
        values = cell.values if cell is not None else ()
        return any(self._engine.values[value][0] not in _NO_HOLDERS for value in values)

    def leaves_receiver(self, function: Function, call: Op, name: str) -> bool:
        """Whether a call is known to run functions of classes that leave these as they are.

        A decorator that gives a wrapper, which has the class, too.
        """
        methods = list(self._methods_called(function, call, name))
        return bool(methods) and all(
            not any(param[3] for param in each.unit.params)  # an object that it keeps
            and (
                each.unit.flags & s.STATIC
                or (each.unit.flags & s.CLASSMETHOD and not self.changes_parameter(each, 0))
            )
            for each in methods
        )

    def _enters_at(self, function: Function, call: Op, name: str) -> bool:
        """Whether a call is of such a method."""
        return any(map(self.enters, self._methods_called(function, call, name)))

    def _methods_called(self, function: Function, call: Op, name: str) -> Iterator[Function]:
        """What a call runs that goes by that name; others may run there, too."""
        here = self.facts_at(function, call[-1])
        for called in [fact[1] for fact in here if fact[0] == f.CALL and not fact[5]]:
            if called.unit.qualname.rpartition(".")[2] == name:
                yield called

    def _puts_in(self, method: Function) -> bool:
        if method not in self._entering:
            self._entering[method] = False  # one that calls itself
            self._entering[method] = _has_itself(method.unit) and (
                self._is_changed(method, {0}, defined=False, depth=1, known=True)
                or any(map(self._puts_in, self._called_on_itself(method)))
            )
        return self._entering[method]

    def _called_on_itself(self, method: Function) -> Iterator[Function]:
        """The methods that a method calls on what it is called on."""
        own = {op[1] for op in method.unit.ops if op[0] == s.ATTR and op[2] == 0}
        for op in method.unit.ops:
            if op[0] == s.CALL and op[2] in own:
                for fact in self.facts_at(method, op[-1]):
                    if fact[0] == f.CALL and not fact[5]:
                        yield fact[1]

    def _gives_what_is_in(self, method: Function) -> bool:
        """Whether a method returns a part of what it is called on, and not only itself.

        What counts further with each call, is another each time.
        """
        if method not in self._giving:
            self._giving[method] = False
            self._giving[method] = self._returns_what_is_in(method)
        return self._giving[method]

    def _returns_what_is_in(self, method: Function) -> bool:
        parts: set[Register] = set()
        methods: set[Register] = set()
        gives = False
        for op in method.unit.ops:
            code = op[0]
            if code == s.ATTR and op[2] == 0:
                methods.add(op[1])
                parts.add(op[1])
            elif code == s.CALL and op[2] in methods:
                here = self.facts_at(method, op[-1])
                called = [fact[1] for fact in here if fact[0] == f.CALL and not fact[5]]
                if not called or any(map(self._gives_what_is_in, called)):
                    parts.add(op[1])
            elif code == s.BINARY and op[2] in methods and is_in_place(op[4]):
                return False
            elif code == s.PHI:
                if not parts.isdisjoint(op[2]):
                    parts.add(op[1])
            elif code in _TAKING and not parts.isdisjoint(reads(op)[:1]):
                parts.add(op[1])
            gives = gives or (code == s.RETURN and op[1] in parts)
        return gives

    def _inside(self, function: Function, name: str) -> Iterator[tuple[Function, set[Register]]]:
        """The functions defined in ``function`` that read its variable, and where they have it."""
        pending = [function]
        while pending:
            for op in pending.pop().unit.ops:
                if op[0] in (s.FUNCTION, s.LAMBDA):
                    inner = self._engine.function(function.module, op[2])
                    pending.append(inner)
                    taken = {
                        each[1]
                        for each in inner.unit.ops
                        if each[0] == s.FREE and each[2] == function.unit.index and each[3] == name
                    }
                    if taken:
                        yield inner, taken

    def _is_changed(
        self,
        function: Function,
        start: set[Register],
        *,
        defined: bool,
        depth: int,
        known: bool = False,
    ) -> bool:
        """Whether ``function`` changes what is in ``start``.

        ``known``: by what surely fills it; not by any method called for nothing but its effect,
        unless it is named so.
        """
        given = set(start)
        holding: set[Register] = set()  # what holds it: displays, what their methods give
        methods: dict[Register, str] = {}
        gave: dict[Register, str] = {}  # what its methods give, which may be called
        results: list[Register] = []
        wanted: set[Register] = set()
        getters: set[Register] = set()
        receivers: dict[Register, Register] = {}
        filled: set[str] = set()  # variables that have it from then on
        params = function.unit.params
        fresh = {index for index, each in enumerate(params) if each[1] in ("va", "kw")}
        does = puts if known else acts
        for op in function.unit.ops:
            code = op[0]
            wanted.update(reads(op))
            if code == s.ATTR:
                receivers[op[1]] = op[2]
            if code == s.GLOBAL and op[2] == "getattr":
                getters.add(op[1])
            elif code == s.GLOBAL and op[2] in filled:
                holding.add(op[1])
            elif (
                (code == s.CALL and op[2] in getters and not given.isdisjoint(op[3][:1]))
                or (code == s.PHI and not given.isdisjoint(op[2]))
                or (code == s.NARROW and op[2] in given)
            ):
                given.add(op[1])
            elif code in (s.SEQUENCE, s.MAPPING):
                if not (given | holding).isdisjoint(reads(op)):
                    holding.add(op[1])
            elif (code == s.PHI and not holding.isdisjoint(op[2])) or (
                code == s.NARROW and op[2] in holding
            ):
                holding.add(op[1])
            elif code in STORING and op[1] in given:
                return True
            elif code == s.ATTR and op[2] in given:
                methods[op[1]] = op[3]
                given.add(op[1])  # what it has is a part of it
            elif code == s.ATTR and op[2] in holding:
                holding.add(op[1])
            elif code in (s.SUB, s.ITER, s.ITEM) and (op[2] in given or op[2] in holding):
                given.add(op[1])
            elif code == s.CALL and op[2] in holding:
                holding.add(op[1])
            elif code == s.CALL and op[2] in methods:
                if methods[op[2]] in PUTTING:
                    return True
                if methods[op[2]] in _TAKING_AWAY and receivers[op[2]] not in fresh:
                    return True
                if self._enters_at(function, op, methods[op[2]]):
                    return True
                if does(methods[op[2]]):
                    results.append(op[1])
                gave[op[1]] = methods[op[2]]
                if not defined and self._gives_a_part(function, op, methods[op[2]]):
                    given.add(op[1])
            elif code == s.CALL and op[2] in gave:  # `bus.on("saved")(f)`
                if self._keeps_at(function, op):
                    return True
                if does(gave[op[2]]):
                    results.append(op[1])
            elif code == s.DECORATE and (op[2] in gave or op[2] in methods):
                if does(gave.get(op[2]) or methods[op[2]]) or self._keeps_at(function, op):
                    return True  # whoever has the function then
            elif code == s.CALL:
                for register in (given | holding).intersection(reads(op)[1:]):
                    if self.changes(function, op, register, defined=defined, depth=depth + 1):
                        return True
                holder = receivers.get(op[2])
                if holder is not None and self._puts_elements(function, op, given | holding):
                    holding.add(holder)
                    filled.add(named_in(function.unit, holder))
                self._add_elements(function, op, given, holding)
        return any(result not in wanted for result in results)

    def _keeps_at(self, function: Function, op: Op) -> bool:
        """Whether what is called there keeps something in what is around it."""
        here = self.facts_at(function, op[s.POSITION_AT[op[0]]])
        return any(fact[0] == f.CALL and self.keeps_around(fact[1]) for fact in here)

    def _add_elements(
        self, function: Function, call: Op, given: set[Register], holding: set[Register]
    ) -> None:
        """Note what the result of a call has of what is ``given``, or of what is ``holding`` that."""
        parts, whole = holding.intersection(call[3]), given.intersection(call[3])
        if not (parts or whole):
            return
        if self.gives_elements(function, call):
            # `map(make, given)` has what is made of the elements.
            if parts or not self.calls_with_elements(function, call):
                holding.add(call[1])
        elif self.gives_an_element(function, call) or any(
            self.gives_itself(function, call, each) for each in whole
        ):
            given.add(call[1])

    def _puts_elements(self, function: Function, call: Op, given: set[Register]) -> bool:
        """Whether a call puts something ``given`` into a container: ``many.append(X)``."""
        if given.isdisjoint(reads(call)[1:]):
            return False
        return self.method_of_container(function, call) in PUTTING

    def gives_elements(self, function: Function, call: Op) -> bool:
        """Whether a call gives the elements of what it is given: ``enumerate(many)``.

        Or has them among others: ``set(few).union(many)``.
        """
        if self._is_one_of(_ELEMENTS, function, call):
            return True
        return self.method_of_container(function, call) in _JOINING

    def takes_out(self, function: Function, call: Op) -> bool:
        """Whether a call gives an element of the container it is called on: ``many.pop()``."""
        return self.method_of_container(function, call) in _TAKING_OUT

    def gives_an_element(self, function: Function, call: Op) -> bool:
        """Whether a call gives one of the elements of what it is given: ``next(many)``."""
        return self._is_one_of(_ELEMENT, function, call)

    def gives_itself(self, function: Function, call: Op, register: Register) -> bool:
        """Whether a call gives its argument ``register``: ``cast(list, X)``, ``table.get(k, X)``."""
        if self._is_one_of(_ITSELF, function, call):
            return True
        return register in call[3][1:] and (
            self.method_of_container(function, call) in _GIVING_BACK
        )

    def _is_one_of(self, names: frozenset[str], function: Function, call: Op) -> bool:
        return not names.isdisjoint(_outside_in(self.facts_at(function, call[-1])))

    def _gives_a_part(self, function: Function, call: Op, method: str) -> bool:
        """Whether a method gives something of what it is called on: ``table.get(key)``.

        One of the repository tells; of others all do but those that make something new.
        """
        called = [fact[1] for fact in self.facts_at(function, call[-1]) if fact[0] == f.CALL]
        if called:
            return any(_returns_a_part(each.unit) for each in called)
        return method not in _MAKING and method[:2] != "__"


def _has_itself(unit: Unit) -> bool:
    """Whether a function is a method that has what it is called on as its first parameter."""
    return unit.owner >= 0 and bool(unit.params) and not unit.flags & (s.STATIC | s.CLASSMETHOD)


def _is_only_read(unit: Unit, register: Register) -> bool:
    """Whether all that is done with what is in a register is to read something of it."""
    return all(
        op[0] in _READING or (op[0] == s.BINARY and not is_in_place(op[4]))
        for op in unit.ops
        if register in reads(op)
    )


def _counted(unit: Unit, registers: Collection[Register]) -> set[Register]:
    """Those of ``registers`` whose variable holds a number that is counted on: ``n[0] += 1``.

    What a function gives of that is another thing each time: it is no cache.
    """
    names = {op[1]: op[3] for op in unit.ops if op[0] == s.FREE and op[1] in registers}
    held: dict[Register, str] = {}  # what the variables hold, and what is computed of it
    counted: set[str] = set()
    for op in unit.ops:
        if op[0] == s.SUB and op[2] in names:
            held[op[1]] = names[op[2]]
        elif op[0] == s.BINARY and op[2] in held:
            held[op[1]] = held[op[2]]
        elif op[0] == s.SETSUB and op[1] in names and held.get(op[3]) == names[op[1]]:
            counted.add(names[op[1]])
    return {register for register, name in names.items() if name in counted}


def _gives(unit: Unit, registers: Collection[Register]) -> bool:
    """Whether a function returns a part of what is in ``registers``."""
    parts = set(registers)
    others: set[Register] = set()
    for op in unit.ops:
        code = op[0]
        taken = op[2] if code == s.PHI else reads(op)[:1] if code in _TAKING else ()
        if code == s.ATTR and (op[3] in _GIVING_NOTHING or op[3] == "__wrapped__"):
            others.add(op[1])
        if code == s.CALL and (op[2] in registers or op[2] in others):
            continue  # a function around it; `items.append(f) or f`
        if not parts.isdisjoint(taken):
            parts.add(op[1])
        elif code == s.RETURN and op[1] in parts and op[1] not in registers:
            return True
    return False


def _returns_a_part(unit: Unit) -> bool:
    """Whether a method returns what it is called on, or something that has."""
    parts = {0}
    for op in unit.ops:
        code = op[0]
        taken = op[2] if code == s.PHI else reads(op)[:1] if code in _TAKING else ()
        if not parts.isdisjoint(taken):
            parts.add(op[1])
        elif code == s.RETURN and op[1] in parts:
            return True
    return False


def _with_elements(facts: list[f.Fact]) -> frozenset[str]:
    """Which functions of the library a call calls that call their first argument with elements."""
    return _WITH_ELEMENTS.intersection(_outside_in(facts))


def _receivers(function: Function, call: Op) -> list[Register]:
    """What a method call is made on."""
    return [op[2] for op in function.unit.ops if op[0] == s.ATTR and op[1] == call[2]]


def _outside_in(facts: list[f.Fact]) -> list[str]:
    """What of the library is called, as facts of one place state it."""
    return [fact[1] for fact in facts if fact[0] == f.EXTERNAL]


def makes_iterator(function: str) -> bool:
    """Whether a function of the library gives an iterator of what it is given."""
    return function in _ITERATORS or function.startswith("itertools.")


def parameters_given(
    function: Function, call: Op, register: Register, *, shifted: bool = True
) -> Iterator[int]:
    """The parameters of ``function`` that an argument of ``call`` is passed for.

    ``shifted``: what a method is called on is no argument.
    """
    params = function.unit.params
    signature = function.signature
    bound = shifted and function.unit.owner >= 0 and not function.unit.flags & s.STATIC
    for place, given in enumerate(call[3]):
        if given == register:
            index = place + bound
            if index < len(signature.positional):
                yield signature.positional[index]
            elif signature.variadic is not None:
                yield signature.variadic
    for name, given in call[4]:
        if given == register:
            if name in signature.by_name:
                yield signature.by_name[name]
            elif signature.rest is not None:
                yield signature.rest
    if call[5] is not None and any(register in part for part in call[5][:2]):
        yield from range(bound, len(params))


def _passes_all(unit: Unit) -> bool:
    """Whether all that ``unit`` calls with its arguments gets them as they are given to it."""
    by_kind: dict[str, list[Register]] = {}
    for index, (_, kind, _, _) in enumerate(unit.params):
        by_kind.setdefault(kind, []).append(index)
    several = by_kind.pop("va", [])
    rest = by_kind.pop("kw", [])
    if by_kind.pop("ko", []):
        return False
    single = tuple(sorted(each for found in by_kind.values() for each in found))
    return all(
        tuple(op[3]) == single and not op[4] and tuple(op[5][0]) == tuple(several)
        for op in unit.ops
        if op[0] == s.CALL and op[5] is not None and {*op[5][0], *op[5][1]} & {*several, *rest}
    )


def _stands_at(places: Collection[int], call: Op, register: Register) -> bool:
    """Whether an argument of ``call`` is at one of ``places``; by name or star it may be."""
    return (
        any(given == register and place in places for place, given in enumerate(call[3]))
        or any(given == register for _, given in call[4])
        or (call[5] is not None and any(register in part for part in call[5][:2]))
    )


def _puts_into(unit: Unit, holder: Register, values: set[Register]) -> bool:
    """Whether a function itself puts one of ``values`` into what is in ``holder``."""
    putting: set[Register] = set()
    for op in unit.ops:
        if op[0] == s.ATTR and op[2] == holder and op[3] in PUTTING:
            putting.add(op[1])
        elif (op[0] == s.CALL and op[2] in putting and not values.isdisjoint(reads(op)[1:])) or (
            op[0] == s.SETSUB and op[1] == holder and op[3] in values
        ):
            return True
    return False


def is_constant(kind: tuple[Any, ...]) -> bool:
    """Whether a value is a text, a number or the like."""
    return kind[0] in ("N", "S") or (kind[0] == "XI" and kind[1] in _CONSTANT)


def named_in(unit: Unit, register: Register) -> str:
    """The module-level variable that is in a register, if that is what it is there for."""
    names = (op[2] for op in unit.ops if op[0] == s.GLOBAL and op[1] == register)
    return next(names, "")


def acts(method: str) -> bool:
    """Whether a method called for nothing but its effect changes what it is called on."""
    return method not in TELLING and method.partition("_")[0] not in SAYING


def puts(method: str) -> bool:
    """Whether a method changes what it is called on, by its name; its result may be taken."""
    return method in PUTTING or method.startswith(SETTING)

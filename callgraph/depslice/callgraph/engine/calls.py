"""Calls of any value, and decorators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.base import MOST_NAMESAKES
from depslice.callgraph.engine.demands import DEMANDS
from depslice.callgraph.engine.external_calls import GIVING_PARTS, ExternalCalls
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.library import (
    CACHING,
    CONTAINER,
    COPYING,
    INERT_BASES,
    ITERATING,
    KEEPING,
    LOGGING,
    SAYING,
    only_uses,
)
from depslice.callgraph.engine.literals import Literals
from depslice.callgraph.engine.values import (
    EMPTY,
    NO_KEYWORDS,
    OPEN,
    OPEN_OR_TEXT,
    Class,
    Function,
    Value,
    Values,
)
from depslice.callgraph.summary import Op, Position, Register

_MANY_CALLEES = 3
_MAKING_A_CLASS = 3  # arguments: name, bases, members
_OF_OUTSIDE = frozenset({"XI", "S", "N", "K", "G", "GS"})
_CALLABLE = frozenset({"KM", "F", "B", "C", "I", "PT", "CM", "PS", "L"})
_MOST_PLACES = 32
_MOST_TOLD = 24  # values of an argument by which results of open values are told apart
_MOST_GIVEN = 12  # arguments by place that open values are called with; then all others are one
_MOST_STARRED = 3  # places of a function outside that `*args` may fill
_OUTSIDE = frozenset({"X", "XA", "XI", "XM", "SM", "U"})
_PLACING = frozenset({"X", "XA", "XM", "SM", "KM", "OG"})
"""Values of which it is known what they do with the argument at a place."""
_CALLING = frozenset({"builtins.filter", "builtins.iter", "builtins.map", "operator.call"})
_FREEZING = frozenset({"functools.partial", "functools.partialmethod"})
_CALLING_DECORATORS = frozenset({"atexit.register"})
_PROPERTY = s.PROPERTY | s.CACHED_PROPERTY
_DESCRIBED = {
    "builtins.staticmethod": s.STATIC,
    "builtins.classmethod": s.CLASSMETHOD,
    "builtins.property": _PROPERTY,
    "builtins.property.getter": _PROPERTY,
    "builtins.property.setter": _PROPERTY,
    "builtins.property.deleter": _PROPERTY,
    "functools.cached_property": _PROPERTY,
    "abc.abstractproperty": _PROPERTY,
}
"""Decorators for methods, with the flags of those that have them in their definition."""
_PLACES = {"builtins.property.setter": 1, "builtins.property.deleter": 2}
_CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


_NO_NAMES: AbstractSet[str] = frozenset()
_WHOSE = "unknown-receiver"
_SEVERAL = 3
"""So many values in one place may be what was left of more: an open one, and two objects."""


def _untold(facts: Iterable[Fact]) -> str:
    """The method that is called of who knows what, if one is."""
    for fact in facts:
        if fact[0] == f.UNRESOLVED and fact[2] == _WHOSE:
            name: str = fact[1]
            return name
    return ""


def _takes(method: Function, op: Op) -> bool:
    """Whether ``method`` takes the arguments of a call operation, a receiver in front."""
    unit = method.unit
    if unit.flags & (s.PROPERTY | s.CACHED_PROPERTY):
        return False
    if op[5] is not None:
        return True
    given = len(op[3]) + (not unit.flags & s.STATIC)
    return _binds(method, given, {name for name, _ in op[4]})


def _binds(function: Function, given: int, names: AbstractSet[str]) -> bool:
    """Whether so many arguments by place, and those of these names, have parameters (6.3.4)."""
    unit, signature = function.unit, function.signature
    if given > len(signature.positional) and signature.variadic is None:
        return False
    if not names:
        return 0 <= signature.least <= given
    if signature.rest is None and not names <= signature.by_name.keys():
        return False
    missing = (*signature.positional[given:], *signature.keyword_only)
    return all(unit.params[index][3] or unit.params[index][0] in names for index in missing)


def _only_uses(callee: Value) -> bool:
    """Whether something outside the repo does with objects what is told of it, and no more."""
    if callee[0] == "U":
        return False
    if callee[0] not in ("SM", "XM"):
        return only_uses(callee[1])
    owner, method = callee[-2:]
    says = owner in LOGGING and method in SAYING
    return says or (owner.startswith("builtins.") and method not in KEEPING)


def _whose(callee: Value) -> str:
    """The dotted name of something outside the repo that is called, or of whose method it is."""
    if callee[0] == "U":
        return ""
    dotted: str = callee[-2] if callee[0] in ("SM", "XM") else callee[1]
    return dotted


def _asks(callee: Value) -> bool:
    """Whether something outside the repo asks objects for special methods, and calls nothing."""
    if callee[0] != "X":
        return True
    dotted: str = callee[1]
    if dotted in _CALLING:
        return False
    known = (DEMANDS, CONTAINER, ITERATING, COPYING)
    return dotted.startswith(("operator.", "math.")) or any(dotted in each for each in known)


def _fills_fields(callee: Value) -> bool:
    """Whether it is ``str.format`` of a text, whose fields take what they name of what is spread."""
    return callee[0] == "SM" and callee[2:] == ("builtins.str", "format")


_OF_BASES = frozenset({"asked-by-base", "called-by-base", "handed", "registered"})
"""Rules by which code outside calls what a class overrides, or what it has kept."""


class CallEvaluation(ExternalCalls):
    """``f(…)`` for every value ``f`` can have (language reference, 6.3.4)."""

    def call_container(
        self,
        container: int,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
    ) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def fill_namespace(
        self,
        space: int,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
    ) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def enter_context(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def call_operation(self, op: Op, registers: Sequence[Values]) -> Values:
        """A ``CALL`` operation."""
        args = [registers[r] for r in op[3]]
        keywords = {name: registers[r] for name, r in op[4]} if op[4] else NO_KEYWORDS
        if not self.whole and any(self.values[v][0] != "X" for v in registers[op[2]]):
            args = [self._as_passed(r, values) for r, values in zip(op[3], args, strict=True)]
            if op[4]:
                keywords = {name: self._as_passed(r, registers[r]) for name, r in op[4]}
        spread: Values = EMPTY
        if op[5] is not None:
            stars, double, before = op[5]
            args, found, known = self._spread_out(args, stars, before, registers)
            for register in double:
                names, loose = self.names_of(registers[register])
                keywords = {**names, **keywords}
                found |= loose | self.entries_of(registers[register], f.HERE)
                known = known or bool(names)
            spread = found or (EMPTY if known else self.unknown)
            spaces = self.only_namespaces(found)
            if spaces and not self._are_filling(registers[op[2]]):
                self.read_namespaces(spaces, f.HERE)
        self.starred = op[5] is not None
        made = self.call(registers[op[2]], args, keywords, f.HERE, register=op[1], spread=spread)
        self.starred = False
        if self.whole and self.facts and op[2] >= 0:
            self._name_unresolved(op, registers)
        return made

    def _spread_out(
        self,
        args: Sequence[Values],
        stars: Sequence[Register],
        before: Sequence[int],
        registers: Sequence[Values],
    ) -> tuple[list[Values], set[int], bool]:
        """What is passed at each place, what at any, and whether the places of a star are known.

        ``before``: how many arguments stand before each star. Behind one that is as long as nobody
        knows, each of those that follow may be at any place.
        """
        placed: list[Values] = []
        found: set[int] = set()
        known = False
        lost = False  # whether it is not known any more which place comes next
        done = 0
        for register, count in zip(stars, before, strict=True):
            values = registers[register]
            for each in args[done:count]:
                found.update(each) if lost else placed.append(each)
            done = count
            places = None if lost else self.places_of(values)
            self.ask_length(values, f.HERE)
            elements = self.iterate(values, f.HERE, is_async=False)
            if places is None:
                found |= elements
                lost = True
                continue
            placed.extend(places)
            known = True
            lost = any(self.lengths.get(value) != len(places) for value in values)
        for each in args[done:]:
            found.update(each) if lost else placed.append(each)
        return placed, found, known

    def _as_passed(self, register: Register, values: Values) -> Values:
        """What is passed: beside a text from elsewhere some other one, which may stand there."""
        function = self.current
        if function is None or not self.may_be_others(function, register, values):
            return values
        return values | self.constants[s.STR]

    def may_be_others(self, function: Function, register: Register, values: Values) -> bool:
        """Whether ``values`` are texts from elsewhere: those that are seen to be stored there.

        There may be others: of subclasses, or stored by a name that is computed.
        """
        if not any(self.values[value][0] == "S" for value in values):
            return False
        literals = self._literals.get(function)
        if literals is None:
            literals = Literals(function.module.summary, function.unit)
            self._literals[function] = literals
        return not literals.stands_there(register)

    def _are_filling(self, callees: Values) -> bool:
        """Whether all of them are ``str.format``, which reads the names of its template."""
        kinds = [self.values[v] for v in callees]
        return all(kind[0] == "SM" and kind[3] == "format" for kind in kinds)

    def _name_unresolved(self, op: Op, registers: Sequence[Values]) -> None:
        """``x.go()`` on who knows what: the call that is not resolved has a name."""
        unresolved = (f.UNRESOLVED, "", "unknown-callee", f.HERE)
        if unresolved not in self.facts or self.current is None:
            return
        read = self.read_from(self.current, op[2])
        if read is None:
            return
        name, receiver = read
        place = self.facts.index(unresolved)
        self.facts[place] = (f.UNRESOLVED, name, _WHOSE, f.HERE)
        methods = self.methods.get(name, ())
        values = registers[receiver]
        # What callers pass is known, but for what nobody knows of it.
        beside = self.unknown_id in values
        if 0 < len(methods) <= MOST_NAMESAKES and all(
            self.values[v][0] in OPEN
            or ((beside or self.values[v][0] != "I") and self._has_no(v, name))
            for v in values
        ):
            self.note_namesakes([m for m in methods if _takes(m, op)], f.HERE)

    def note_crowded_out(self, functions: Iterable[Function]) -> None:
        """``x.go()`` where nothing of what is known of ``x`` has that method: those of that name.

        There may be more than is known: which objects there was room for, here or where they came
        from, depends on which came first. Whatever objects of the repo are there instead, be it some
        that may have any attribute, somebody means to call some ``go``. Where one of them has it,
        or something from outside may, hardly ever another is meant.
        Asked when all places are filled: no value comes of it.
        """
        for function in functions:
            for index, facts in function.noted.items():
                name = _untold(facts)
                methods = self.methods.get(name, ())
                if not 0 < len(methods) <= MOST_NAMESAKES:
                    continue
                op = function.unit.ops[index]
                read = self.read_from(function, op[2])
                if read is None or not self._may_be_more(function.registers[read[1]], name):
                    continue
                called = {fact[1] for fact in facts if fact[0] == f.CALL}
                if called.isdisjoint(methods):
                    meant = [method for method in methods if _takes(method, op)]
                    added = [(f.CALL, m, f.HERE, False, f.CROWDED_OUT, False) for m in meant]
                    function.noted[index] = self.told([*facts, *added])

    def _may_be_more(self, receivers: Values, name: str) -> bool:
        """Whether nothing that is known there has what is called, or may from outside.

        Of one object that is passed alone, or declared, all is known.
        """
        if len(receivers) < _SEVERAL:
            return False
        for value in receivers:
            kind = self.values[value]
            if kind[0] == "I":
                if self.find_member(kind[1], name) is not None:
                    return False
            elif kind[0] not in OPEN and not self._has_no(value, name):
                return False
        return True

    def read_from(self, function: Function, register: Register) -> tuple[str, Register] | None:
        """The attribute that is in a register, and of what it was read."""
        reading = self._attributes_read.get(function)
        if reading is None:
            reading = {op[1]: op for op in function.unit.ops if op[0] == s.ATTR}
            self._attributes_read[function] = reading
        op = reading.get(register)
        return None if op is None else (op[3], op[2])

    def stored_by_own_name(
        self, name: Register, value: Register
    ) -> tuple[dict[str, Values], Values] | None:
        """What is stored by its own name: ``table[f.__name__] = f``, ``setattr(x, f.__name__, f)``.

        Each function or class by its name, and what has none that is known. Over all functions
        that are ever stored there, each name would go with each of them.
        """
        function = self.current
        if function is None or not self.whole:
            return None
        if self.read_from(function, name) != ("__name__", value):
            return None
        named: dict[str, Values] = {}
        others: set[int] = set()
        for each in function.registers[value]:
            own = self.own_name(each)
            if own is None:
                others.add(each)
            else:
                named[own] = named.get(own, EMPTY) | self.only(each)
        return named, others

    def _has_no(self, value: int, name: str) -> bool:
        """Whether it is known to be of a class that has no such attribute."""
        kind = self.values[value]
        if kind[0] == "I":
            bases = self.external_bases(kind[1])
            has = any(self.find_member(kind[1], each) for each in (name, "__getattr__"))
            return not has and name not in self.stored and INERT_BASES.issuperset(bases)
        if kind[0] not in _OF_OUTSIDE:
            return False
        class_ = self.outside.types.class_of(kind)
        return class_ is not None and not any(
            name in each.members for each in self.outside.stubs.mro(class_)
        )

    def places_of(self, values: Values) -> list[Values] | None:
        """What stands at each place of a sequence, if all its elements have known places."""
        places: list[set[int]] = []
        for value in values:
            if value not in self.lengths or self.read(self.anywhere_cell(value)):
                return None
            self.read(self.elements_cell(value))
            for text in self.keys_of.get(value, ()):
                if int(text) >= _MOST_PLACES:
                    return None  # `def f(*args): f(1, *args)` would have ever more
                while len(places) <= int(text):
                    places.append(set())
                places[int(text)] |= self.read(self.item_cell(value, text))
        return list(places) if values else None

    def names_of(self, values: Values) -> tuple[dict[str, Values], Values]:
        """What stands under each known key of a mapping, and what under keys that are not."""
        names: dict[str, Values] = {}
        loose: Values = EMPTY
        for value in values:
            if self.values[value][0] != "K":
                continue
            elements = self.read(self.elements_cell(value))
            anywhere = self.read(self.anywhere_cell(value))
            keys = self.keys_of.get(value, ())
            for text in keys:
                names[text] = names.get(text, EMPTY) | self.read(self.item_cell(value, text))
            loose = loose | (anywhere if keys or anywhere else elements)
        return names, loose

    def call(
        self,
        callees: Values,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        *,
        register: int = -1,
        spread: Values = EMPTY,
        rule: str = "call",
        external: bool = False,
    ) -> Values:
        """The results of calling any of ``callees``."""
        if not callees:
            self.facts.append((f.UNRESOLVED, "", "unknown-callee", pos))
            return self.unknown
        if self.whole and rule == "call" and not spread and not external and not self.starred:
            callees = self.shared(callees)
            if self._is_dispatch(callees):
                given = tuple([self.shared(values) for values in args])
                names = tuple([(name, self.shared(v)) for name, v in keywords.items()])
                return self.asked(("call", callees, given, names), pos)
        return self.call_each(callees, args, keywords, pos, register, spread, rule, external)

    def _is_dispatch(self, callees: frozenset[int]) -> bool:
        """Whether calling ``callees`` is much work and leaves nothing at the call site.

        Functions if there are many, and classes with a constructor of their own.
        """
        known = self._dispatches.get(callees)
        if known is None:
            kinds = [self.values[v] for v in callees]
            known = all(
                kind[0] in ("F", "B", "L")
                or (
                    kind[0] == "C"
                    and not self.constructor_is_generated(kind[1])
                    and not self.is_typed_dict(kind[1])
                )
                for kind in kinds
            ) and (len(callees) >= _MANY_CALLEES or any(kind[0] == "C" for kind in kinds))
            self._dispatches[callees] = known
        return known

    def call_each(
        self,
        callees: Values,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        register: int = -1,
        spread: Values = EMPTY,
        rule: str = "call",
        external: bool = False,
    ) -> Values:
        """Call one after the other; a method once, for all its receivers."""
        result: Values = EMPTY
        methods, others = self.methods_apart(callees)
        for method, receivers in methods.items():
            result = result | self.call_function(
                method,
                [self.shared(receivers), *args],
                pos,
                rule=rule if rule in _OF_BASES else "method",
                certain=external or self._fits(method, 1 + len(args), keywords, spread, rule),
                keywords=keywords,
                spread=spread,
                external=external,
            )
        for callee in others:
            made = self._call_value(callee, args, keywords, pos, register, spread, rule, external)
            if made is not result:
                result = result | made if result else made
        return result

    def _fits(
        self,
        function: Function,
        given: int,
        keywords: Mapping[str, Values],
        spread: Values,
        rule: str,
        *,
        plain: bool = False,
    ) -> bool:
        """Whether the arguments of a call that is written bind: else the body does not run.

        Then another value is meant there, of those that a table holds, say. What a decorator
        makes of a function may take others than itself. ``plain``: a function by itself; one that
        stands in a class may be called with the class or an instance before the rest.
        """
        if not self.whole or self.starred or spread or rule != "call":
            return True
        if function.unit.flags & s.DECORATED:
            return True
        names = keywords.keys() if keywords else _NO_NAMES
        return _binds(function, given, names) or (
            plain and function.unit.owner >= 0 and _binds(function, given + 1, names)
        )

    def _call_value(
        self,
        callee: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        register: int,
        spread: Values,
        rule: str,
        external: bool,
    ) -> Values:
        value = self.values[callee]
        kind = value[0]
        if kind == "F":
            return self.call_function(
                value[1],
                args,
                pos,
                rule=rule,
                certain=external
                or self._fits(value[1], len(args), keywords, spread, rule, plain=True),
                keywords=keywords,
                spread=spread,
                external=external,
            )
        if kind == "C":
            instance = self.instantiate(value[1], value[2], args, keywords, spread, pos)
            if self.whole and self.is_typed_dict(value[1]):
                entries = Call(args, keywords, spread, pos, register)
                return self._models["builtins.dict"](self, entries)
            if len(args) == _MAKING_A_CLASS and self.is_metaclass(value[1]):
                below = self._made_below(value[1], Call(args, keywords, spread, pos, register))
                own = self.whole or self.find_member(value[1], "__new__") is not None
                return below | instance if own else below or instance
            return instance
        if not self.whole and kind in _OUTSIDE and not _only_uses(value):
            self.note_handed((*args, *keywords.values(), spread), pos, to=_whose(value))
        places = kind in _PLACING and not spread <= self.unknown
        places = places and (self.whole or not _fills_fields(value))
        if places and not self.only_namespaces(spread):
            given: Values = spread
            if self.whole:
                given = self.objects_in(spread) if _asks(value) else EMPTY
            made: Values = EMPTY
            if given:
                made = self._call_with_star(
                    callee, args, keywords, pos, register, given, rule, external
                )
            if not self.whole:
                return made
        if kind == "X":
            return self.call_external(value[1], Call(args, keywords, spread, pos, register))
        if kind == "I":
            return self._call_instance(callee, value[1], args, keywords, spread, pos)
        if kind == "KM":
            return self.call_container(value[1], value[2], args, keywords, pos)
        if kind == "FG":
            self.facts.append((f.EXTERNAL, "builtins.function.__get__", pos, True))
            receivers = args[0] if args else EMPTY  # an empty set stands for None
            if value[1].unit.flags & (s.PROPERTY | s.CACHED_PROPERTY):
                return self.call_function(value[1], [receivers], pos, rule="property")
            made = {self.intern(("B", value[1], receiver)) for receiver in receivers}
            return made or self.single(("F", value[1]))
        if kind == "PT":
            merged = [*value[2], *args]
            names = {**dict(value[3]), **keywords}
            if value[2] or value[3]:  # `staticmethod(f)` is no other function
                rule = "partial"
            return self.call(
                value[1],
                merged,
                names,
                pos,
                register=register,
                spread=spread,
                rule=rule,
                external=external,
            )
        if kind == "L":
            return self.asked(("left-over", callee, rule, external), pos)
        if kind == "PS":
            return self._call_partial(callee, args, keywords, spread, pos, register)
        if kind == "CM":
            self.call_function(value[1], args, pos, rule=rule, keywords=keywords, spread=spread)
            return self.single(("CI", value[1]))
        if kind in OPEN:
            return self._call_open(callee, args, keywords, spread, pos)
        if kind == "M":
            return self._call_module(callee, args, keywords, spread, pos) or self.unknown
        if kind == "CB":
            result: Values = value[1]  # Callable[…, R]
            return result
        if kind == "CD":
            entered = self.values[value[1]]
            if entered[0] == "CI":  # made anew for each call
                self.call_function(entered[1], [], pos, rule="protocol", external=True)
            self.enter_context(self.only(value[1]), pos, is_async=False)
            return self.call(value[2], args, keywords, pos, spread=spread)
        if kind == "NT":
            return self._named_tuple(value[1], args, keywords, register)
        if kind == "NR":
            rows = args[0] if args else EMPTY
            held = [self.unpack_item(rows, place, pos) for place in range(len(value[1]))]
            return self._named_tuple(value[1], held, NO_KEYWORDS, register)
        if kind == "TC":
            self.facts.append((f.EXTERNAL, "builtins.type.__call__", pos, True))
            return self.instantiate(value[1], value[2], args, keywords, spread, pos, by_type=True)
        if kind == "SC":
            self.facts.append((f.EXTERNAL, f"builtins.type.{value[3]}", pos, True))
            if value[3] == "__subclasses__" and not self.whole:
                how, is_open = "subclasses", not value[2]
                self.facts.append((f.MEMBER, value[1], f.ALL, pos, is_open, how, False))
            classes = self.line_of(value[1], value[3], exact=value[2])
            return self.container_of("list", register, classes)
        if kind == "NG":
            self.facts.append((f.EXTERNAL, "builtins.dict.get", pos, True))
            found = self.global_names(value[1], args[0], pos) if args else EMPTY
            return found | args[1] if len(args) > 1 else found
        if kind == "NM":
            self.facts.append((f.EXTERNAL, f"builtins.dict.{value[2]}", pos, True))
            if value[2] in ("items", "values", "keys", "copy", "__iter__"):
                return self._listed(value[1], value[2], register, pos)
            return self._call_attributes(value[1], value[2], args, keywords, spread, pos)
        if kind == "SR":
            passed = [values for values in args if any(self.values[v][0] == "F" for v in values)]
            classes = value[2] if len(args) < 2 else frozenset(args[0])
            for functions in passed:
                self._register((kind, value[1], classes), functions, pos)
            if passed:
                return passed[0]
            dotted = self.dispatchers.get(value[1], "functools.singledispatch")
            self.facts.append((f.EXTERNAL, f"{dotted}.register", pos, True))
            return self.single(("SR", value[1], frozenset(args[0] if args else EMPTY)))
        if kind == "OG" and args:
            return self.get_by_name(value, args[0], pos)
        if kind == "W" and args:
            self.mark_wrapper(args[0], value[1])
            return args[0]
        call = Call(args, keywords, spread, pos, register)
        if kind == "SM":
            return self._call_declared(value, call)
        if kind == "XA":
            self.facts.append((f.EXTERNAL, value[1], pos, True))
            return self.outside.instantiate(value[1], value[2], call) or self.unknown
        if kind in ("XI", "G", "GS"):
            if self.may_be_caught(callee):
                self.note_protocol("__call__", pos, callee)
            called = self.outside.call_instance(callee, call)
            if called is not None:
                return called
        if kind == "XM":
            return self._call_external_method(value[1], value[2], call)
        return self.unknown if kind != "XI" else self.constants[s.OPAQUE]

    def _call_with_star(
        self,
        callee: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        register: int,
        spread: Values,
        rule: str,
        external: bool,
    ) -> Values:
        """``len(*args)``: what code outside asks of an argument depends on its place.

        Of how many there are, nobody knows: all are tried. Over a whole program objects
        only, of what calls none of them: what meets there would all call each other.
        """
        result: Values = EMPTY
        facts, self.facts = self.facts, []
        least = 0 if args or keywords else 1
        most = max(least, _MOST_STARRED - len(args))
        if args and self.values[callee][-1] in _FREEZING:  # each is another value
            most = 1
            least = int(any(self.values[value][0] == "PT" for value in args[0]))
        for more in range(least, most + 1):
            given = (*args, *((spread,) * more))
            result = result | self._call_value(
                callee, given, keywords, pos, register, EMPTY, rule, external
            )
        facts += dict.fromkeys(self.facts)
        self.facts = facts
        return result

    def call_left_over(self, value: int, rule: str, *, external: bool) -> None:
        """Any of too many may be called; what is passed, and what they give, is not followed."""
        for number in sorted(self.left_over(value)):
            kind = self.values[number]
            how = "method" if kind[0] == "B" else rule
            self.facts.append((f.CALL, kind[1], 0, True, how, external))

    def _listed(self, owner: int, method: str, register: int, pos: Position) -> Values:
        """All of ``owner.__dict__``: names, and whatever they are."""
        names = self.names_in(self.only(owner), pos, inherited=False)
        if method == "items":
            return self.tuples_of(register, [names, self.values_in(owner)])
        if method == "copy":
            return self.single(("ND", owner))
        found = self.values_in(owner) if method == "values" else names
        return self.container_of("list", register, found)

    def _call_attributes(
        self,
        owner: int,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        """A method of ``owner.__dict__``."""
        if method == "update":
            named, somehow = dict(keywords), spread
            for values in args:
                under, loose = self.names_of(values)
                named.update(under)
                somehow = somehow.union(
                    loose, *(self.derive("E", v) for v in values if self.values[v][0] in OPEN)
                )
            for name, values in named.items():
                self.store_in_namespace(owner, name, values, pos)
            self.have_stored_somehow(owner, somehow)
        if method not in ("__getitem__", "get", "pop", "setdefault") or not args:
            return EMPTY
        default = args[1] if len(args) > 1 else EMPTY
        kind = self.values[owner]
        if method == "setdefault":
            for key in args[0]:
                if self.values[key][0] == "S":
                    self.store_in_namespace(owner, self.values[key][1], default, pos)
        if kind[0] == "C" and kind[2]:  # what it does not have is not amiss: it has the default
            names = [self.values[key] for key in args[0]]
            if names and all(
                name[0] == "S"
                and name[1] != "__annotations__"
                and self.find_member(kind[1], name[1]) is None
                for name in names
            ):
                return default
        return self.subscript(self.single(("ND", owner)), args[0], pos) | default

    def _call_open(
        self,
        callee: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        value = self.values[callee]
        if not self.whole:
            self.hand_namespaces((*args, *keywords.values()), pos)
            if value[0] == "A" and value[2] in ("format", "format_map"):
                mapped = value[2] == "format_map"
                call = Call(args, keywords, spread, pos)
                self.fill_unknown_fields(call, mapped=mapped, is_text=False)
            if value[0] == "A" and value[2] in ("setdefault", "update"):
                self.fill_namespace(value[1], value[2], args, keywords, pos)
        if value[0] == "P":
            self.facts.append((f.UNRESOLVED, self._parameter_name(value), "parameter", pos))
        elif value[0] == "U":
            self.facts.append((f.UNRESOLVED, "", "unknown-callee", pos))
        if self.whole or value[0] == "U":
            return self.derive("R", callee)
        given = tuple([self.traced(values) for values in args[:_MOST_GIVEN]])
        if value[0] == "A" and value[2] in GIVING_PARTS:  # `path.rpartition(".")`
            given = tuple([frozenset(values) for values in args[:_MOST_GIVEN]])
        spread = spread.union(*args[_MOST_GIVEN:])
        named = tuple([(name, self.traced(values)) for name, values in keywords.items()])
        self.facts.append((f.APPLY, callee, given, named, self.traced(spread), pos))
        # The result may be passed on to the same call: each set of arguments is another result.
        told = [values if len(values) <= _MOST_TOLD else EMPTY for values in given]
        return self.derive("R", callee, tuple(told))

    def _parameter_name(self, value: tuple[object, ...]) -> str:
        function, index = value[1], value[2]
        assert isinstance(function, Function)
        assert isinstance(index, int)
        return function.unit.params[index][0]

    def decorate(
        self, decorators: Values, decorated: Values, pos: Position, *, below: bool
    ) -> Values:
        """``@decorator`` over ``decorated`` (language reference, 8.7).

        ``below``: under one that makes a property of what this one gives.
        """
        result: set[int] = set()
        if not decorators and self.whole:  # a local of a function that has not run yet
            return result
        told = self.whole and any(self.values[v][0] in _CALLABLE for v in decorators)
        for decorator in tuple(decorators):
            value = self.values[decorator]
            kind = value[0]
            if kind in ("X", "XI"):
                result |= self._external_decorator(value[1], decorated, pos)
            elif kind == "I" and "contextlib.ContextDecorator" in self.external_bases(value[1]):
                if not self.whole:  # whoever calls what it decorates enters it
                    self.call_back(decorator, "__call__", pos, written=True)
                result |= self.decorated_by(decorator, decorated)
            elif kind == "CI" and self.whole:
                result |= self.decorated_by(decorator, decorated)
            elif kind == "SR":
                self._register(value, decorated, pos)
                result |= decorated
            elif kind == "W":
                self.mark_wrapper(decorated, value[1])
                result |= decorated
            elif kind == "WM":
                self.make_again(decorated, value[1], pos)
                result |= decorated
            elif kind in OPEN_OR_TEXT:
                if kind != "P" or not told:
                    result |= decorated
                if kind in OPEN and not self.whole:
                    made = self._call_open(decorator, [decorated], NO_KEYWORDS, EMPTY, pos)
                    result |= made - self.unknown  # who knows the decorator knows what it gives
            elif kind in _CALLABLE:
                called = self.only(decorator)
                made = self.call_each(called, [decorated], NO_KEYWORDS, pos, rule="decorator")
                itself = {decorator, *(value[1] if kind == "PT" else self._applied(decorator)[0])}
                result |= {v for v in made if self._may_stand_for(v, decorated, itself)}
                if not below:
                    result |= {v for v in decorated if self._is_property(v)}
                if not self.whole:
                    result |= self._called_there(value, made, decorated, pos)
        return result or decorated

    def _called_there(
        self, decorator: Value, made: Values, decorated: Values, pos: Position
    ) -> Values:
        """What ``decorator`` gives of what it decorates by calling it: ``return cls()``."""
        given = self._parameters_decorated(decorator)
        result: Values = EMPTY
        for value in made:
            kind = self.values[value]
            if kind[0] == "R" and self.values[kind[1]] in given:
                args = [] if len(kind) < 3 or isinstance(kind[2], str) else kind[2]
                result = result | self.call(decorated, args, NO_KEYWORDS, pos)
        return result

    def _parameters_decorated(self, decorator: Value) -> list[Value]:
        """The parameters that a decorator of the repository gets what it decorates as."""
        kind, of = decorator[:2]
        if kind == "F":
            return [("P", of, 0)]
        if kind == "B":
            return [("P", of, 1)]
        owner = self.find_member(of, "__call__") if kind == "I" else None
        members = self.member_values(owner, "__call__") if owner is not None else EMPTY
        functions = [self.values[member] for member in members]
        return [("P", function[1], 1) for function in functions if function[0] == "F"]

    def _made_below(self, metaclass: Class, call: Call) -> Values:
        """``Meta(name, bases, members)``: as with ``type``, the bases, which a slice takes for made so."""
        made = {v for v in self._models["builtins.type"](self, call) if self.values[v][0] == "C"}
        for base in () if self.whole else [self.values[value][1] for value in sorted(made)]:
            self.join_metaclass(base, metaclass)
        return made

    def _is_property(self, value: int) -> bool:
        """Whether it is a function that is a property by the name of its decorator.

        What reading it gives is what the function gives, not what the decorator's ``__get__``
        gives over all it was ever given.
        """
        kind = self.values[value]
        return kind[0] == "F" and bool(kind[1].unit.flags & (s.PROPERTY | s.CACHED_PROPERTY))

    def check_kind(self, values: Values, classes: Values, pos: Position) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def _register(self, value: tuple[Any, ...], functions: Values, pos: Position) -> None:
        if not value[2]:
            dotted = self.dispatchers.get(value[1], "functools.singledispatch")
            self.facts.append((f.EXTERNAL, f"{dotted}.register", pos, True))
        for each in functions if value[2] else ():
            kind = self.values[each]
            if kind[0] == "F":
                self.write(self.cell("dispatched on", value[1], kind[1]), value[2])
        self.write(self.cell("dispatch", value[1]), functions)
        if not self.whole:
            self._check_dispatched(value[1], functions, pos)

    def _check_dispatched(self, function: Function, registered: Values, pos: Position) -> None:
        """What ``function`` will be given is asked whether it is one of those registered for."""
        place = self.place_dispatched_on(function)
        given = self.single(("P", function, place)) if place < len(function.unit.params) else EMPTY
        for kind in map(self.values.__getitem__, registered if given else ()):
            if kind[0] == "F" and kind[1] is not function:
                targets = self.dispatched_on(function, kind[1])
                self.check_kind(given, frozenset(map(self.intern, targets)), pos)

    def place_dispatched_on(self, function: Function) -> int:
        """Implemented by the part for dispatching."""
        raise NotImplementedError

    def dispatched_on(self, function: Function, registered: Function) -> Iterator[Value]:
        """Implemented by the part for dispatching."""
        raise NotImplementedError

    def _named_tuple(
        self,
        names: Sequence[str],
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        register: int,
    ) -> Values:
        """An instance of a class that ``namedtuple`` has made: a tuple with names."""
        made = self.container_of("collections.namedtuple", register, EMPTY)
        given = {**dict(zip(names, args, strict=False)), **keywords}
        for container in made:
            self.lengths[container] = len(names)
            self.names_of_tuples[container] = names
            for place, name in enumerate(names):
                self.write_item(container, str(place), given.get(name, EMPTY))
                self.write(self.cell("field", container, name), given.get(name, EMPTY))
        return made

    def dynamic_attribute(
        self, receivers: Values, prefix: str, suffix: str, pos: Position
    ) -> Values:
        """Implemented by the part for computed names."""
        raise NotImplementedError

    def get_by_name(self, getter: tuple[Any, ...], values: Values, pos: Position) -> Values:
        """What ``attrgetter``, ``itemgetter`` or ``methodcaller`` does with ``values``."""
        _, kind, given, names = getter
        result: set[int] = set()
        for keys in given[:1] if kind == "method" else given:
            if kind == "item":
                result |= self.subscript(values, keys, pos)
                continue
            for key in keys:
                name = self.values[key]
                if name[0] == "S":
                    found = values
                    for part in name[1].split("."):
                        found = self.load_attribute(found, part, pos)
                else:
                    start, end = name[1:] if name[0] == "N" else ("", "")
                    found = self.dynamic_attribute(values, start, end, pos)
                if kind == "method":
                    found = self.call(
                        found, given[1:], dict(names), pos, rule="callback", external=True
                    )
                result |= found
        return result

    def mark_wrapper(self, wrappers: Values, wrapped: Values) -> None:
        """``functools.wraps``: the wrappers know what they wrap."""
        for value in wrappers:
            kind = self.values[value]
            if kind[0] == "F":
                self.write(self.cell("fa", kind[1], "__wrapped__"), wrapped)

    def _may_stand_for(self, value: int, decorated: Values, itself: Values) -> bool:
        """Whether a decorator that was given ``decorated`` may have made ``value`` of it.

        What it gives is merged over all it was ever given: other decorated functions come
        from there, and data where a wrapper was called instead.
        """
        kind = self.values[value]
        if kind[0] in ("F", "B"):
            unit = kind[1].unit
            return value in decorated or unit.parent >= 0 or not unit.flags & s.DECORATED
        if kind[0] == "C":
            info = kind[1].info
            return value in decorated or info.parent_function >= 0 or not info.decorators
        if kind[0] == "I" and all(self.values[v][0] == "C" for v in decorated):
            return any(self.values[v][1] is kind[1] for v in decorated)
        if kind[0] in ("PT", "PS") and not itself.isdisjoint(
            kind[1] if kind[0] == "PT" else self._applied(value)[0]
        ):
            return False  # a partial of the decorator is for the call without a function
        return kind[0] in _CALLABLE or kind[0] == "PY"

    def _described(self, dotted: str, decorated: Values) -> Values:
        """What decorators for methods make of what others gave: its definition does not tell."""
        made: set[int] = set()
        for value in decorated:
            kind = self.values[value]
            flags = kind[1].unit.flags if kind[0] == "F" else 0
            if kind[0] not in _CALLABLE or flags & _DESCRIBED[dotted]:
                made.add(value)
            elif dotted == "builtins.staticmethod":
                made |= self.single(("PT", self.only(value), (), ())) if kind[0] == "F" else {value}
            elif dotted == "builtins.classmethod":
                made.add(self.intern(("CF", self.only(value))))
            else:
                accessors = [EMPTY, EMPTY, EMPTY]
                accessors[_PLACES.get(dotted, 0)] = self.only(value)
                made.add(self.intern(("PY", *accessors)))
        return made

    def _external_decorator(self, dotted: str, decorated: Values, pos: Position) -> Values:
        if dotted in _CONTEXT_MANAGERS:
            if self.whole:
                self.facts.append((f.EXTERNAL, dotted, pos, True))
            made: set[int] = set()
            for value in decorated:
                kind = self.values[value]
                made.add(self.intern(("CM", kind[1])) if kind[0] == "F" else value)
            return made
        self.facts.append((f.EXTERNAL, dotted, pos, True))
        if not only_uses(dotted):
            self.note_handed((decorated,), pos, to=dotted)
        if dotted in CACHING:
            for value in decorated:
                kind = self.values[value]
                if kind[0] == "F":
                    self.write(self.cell("caching", kind[1]), self.constants[s.BOOL])
        self.note_dispatching(dotted, decorated)
        for value in decorated if self.whole and dotted == "functools.total_ordering" else ():
            kind = self.values[value]
            if kind[0] == "C":
                self.ordered.add(kind[1])
        if dotted in _DESCRIBED:
            return self._described(dotted, decorated)
        if dotted in _CALLING_DECORATORS:
            self._callbacks([decorated], NO_KEYWORDS, EMPTY, pos, skip=-1)
        return decorated

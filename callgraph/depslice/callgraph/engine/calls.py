"""Calls: binding of arguments, instantiation, decorators, library functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine import library
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.base import MOST_NAMESAKES
from depslice.callgraph.engine.fitting import FittingEvaluation
from depslice.callgraph.engine.library import INERT_BASES
from depslice.callgraph.engine.outside import Arguments
from depslice.callgraph.engine.parts import FULL, names_attributes, returns_first
from depslice.callgraph.engine.values import (
    EMPTY,
    OPEN,
    OPEN_OR_OUTSIDE,
    OPEN_OR_TEXT,
    Class,
    Function,
    Value,
    Values,
)
from depslice.callgraph.summary import Op, Position

_MOST_RECEIVERS = 8
_MANY_CALLEES = 3
_MOST_GIVEN = 200  # passing the same again changes nothing, and takes time only
_NO_KEYWORDS: Mapping[str, Values] = {}
_CALLABLE = frozenset({"KM", "F", "B", "C", "I", "PT", "CM", "PS"})
_TRACED = OPEN | {"F", "B", "C", "I", "M", "K", "G", "GS", "PT", "SU", "GE", "CM", "CB"}
_PASSED = frozenset(
    {"U", "F", "B", "C", "I", "M", "K", "G", "GS", "PT", "SU", "GE", "CM", "CB", "PS"}
)
_DISPATCHING = frozenset({"functools.singledispatch", "functools.singledispatchmethod"})
_FUNCTIONS = frozenset({"F", "B", "C", "PT", "PS", "CM"})
_TEXT = frozenset({"S", "N"})
_NEXT = {"builtins.next": "__next__", "builtins.anext": "__anext__"}
_CALLING_DECORATORS = frozenset({"atexit.register"})
_CONTEXT_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


def _takes(method: Function, op: Op) -> bool:
    """Whether ``method`` takes the arguments of a call operation, a receiver in front."""
    unit = method.unit
    if unit.flags & (s.PROPERTY | s.CACHED_PROPERTY):
        return False
    if op[5] is not None:
        return True
    signature = method.signature
    given = len(op[3]) + (not unit.flags & s.STATIC)
    names = {name for name, _ in op[4]}
    if given > len(signature.positional) and signature.variadic is None:
        return False
    if signature.rest is None and not names <= signature.by_name.keys():
        return False
    missing = (*signature.positional[given:], *signature.keyword_only)
    return all(unit.params[index][3] or unit.params[index][0] in names for index in missing)


class CallEvaluation(FittingEvaluation):
    """``f(…)`` for every value ``f`` can have (language reference, 6.3.4)."""

    def iterate(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

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

    def container_of(self, kind: str, op_register: int, elements: Values) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def enter_context(self, values: Values, pos: Position, *, is_async: bool) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def write_item(self, container: int, text: str, values: Values) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def subscript(self, receivers: Values, keys: Values, pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def global_names(self, module_name: str, keys: Values, pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def hash_values(self, values: Values, *, alone: bool = False) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def protocol(self, values: Values, dunders: Sequence[str], pos: Position) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    # --- the operation

    def call_operation(self, op: Op, registers: Sequence[Values]) -> Values:
        """A ``CALL`` operation."""
        args = [registers[r] for r in op[3]]
        keywords = {name: registers[r] for name, r in op[4]} if op[4] else _NO_KEYWORDS
        spread: Values = EMPTY
        if op[5] is not None:
            found: set[int] = set()
            stars, double, mixed = op[5]
            known = False
            for register in stars:
                places = None if mixed or len(stars) > 1 else self.places_of(registers[register])
                elements = self.iterate(registers[register], f.HERE, is_async=False)
                if places is None:
                    found |= elements
                else:
                    args.extend(places)
                    known = True
            for register in double:
                names, loose = self.names_of(registers[register])
                keywords = {**names, **keywords}
                found |= loose
                known = known or bool(names)
            spread = found or (EMPTY if known else self.unknown)
        made = self.call(registers[op[2]], args, keywords, f.HERE, register=op[1], spread=spread)
        if self.whole and self.facts and op[2] >= 0:
            self._name_unresolved(op, registers)
        return made

    def _name_unresolved(self, op: Op, registers: Sequence[Values]) -> None:
        """``x.go()`` on who knows what: the call that is not resolved has a name."""
        unresolved = (f.UNRESOLVED, "", "unknown-callee", f.HERE)
        if unresolved not in self.facts or self.current is None:
            return
        names = self._called_names.get(self.current)
        if names is None:
            ops = self.current.unit.ops
            names = {each[1]: (each[3], each[2]) for each in ops if each[0] == s.ATTR}
            self._called_names[self.current] = names
        if op[2] not in names:
            return
        name, receiver = names[op[2]]
        place = self.facts.index(unresolved)
        self.facts[place] = (f.UNRESOLVED, name, "unknown-receiver", f.HERE)
        methods = self.methods.get(name, ())
        if 0 < len(methods) <= MOST_NAMESAKES and all(
            self.values[v][0] in OPEN for v in registers[receiver]
        ):
            self.note_namesakes([m for m in methods if _takes(m, op)], f.HERE)

    def places_of(self, values: Values) -> list[Values] | None:
        """What stands at each place of a sequence, if all its elements have known places."""
        places: list[set[int]] = []
        for value in values:
            if value not in self.lengths or self.read(self.cell("n", value)):
                return None
            self.read(self.cell("e", value))
            for text in self.keys_of.get(value, ()):
                while len(places) <= int(text):
                    places.append(set())
                places[int(text)] |= self.read(self.cell("k", value, text))
        return list(places) if values else None

    def names_of(self, values: Values) -> tuple[dict[str, Values], Values]:
        """What stands under each known key of a mapping, and what under keys that are not."""
        names: dict[str, Values] = {}
        loose: Values = EMPTY
        for value in values:
            if self.values[value][0] != "K":
                continue
            elements = self.read(self.cell("e", value))
            anywhere = self.read(self.cell("n", value))
            keys = self.keys_of.get(value, ())
            for text in keys:
                names[text] = names.get(text, EMPTY) | self.read(self.cell("k", value, text))
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
        if self.whole and rule == "call" and not spread and not external:
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
                kind[0] in ("F", "B")
                or (kind[0] == "C" and not self._constructor_is_generated(kind[1]))
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
        """Call one after the other."""
        result: Values = EMPTY
        for callee in callees:
            made = self._call_value(callee, args, keywords, pos, register, spread, rule, external)
            if made is not result:
                result = result | made if result else made
        return result

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
                value[1], args, pos, rule=rule, keywords=keywords, spread=spread, external=external
            )
        if kind == "B":
            bound = [self.only(value[2]), *args]
            return self.call_function(
                value[1],
                bound,
                pos,
                rule="method",
                keywords=keywords,
                spread=spread,
                external=external,
            )
        if kind == "C":
            return self.instantiate(value[1], value[2], args, keywords, spread, pos)
        if kind == "X":
            return self.call_external(value[1], args, keywords, spread, pos, register)
        if kind == "I":
            return self._call_instance(callee, value[1], args, keywords, spread, pos)
        if kind == "KM":
            return self.call_container(value[1], value[2], args, keywords, pos)
        if kind == "PT":
            merged = [*value[2], *args]
            names = {**dict(value[3]), **keywords}
            return self.call(
                value[1], merged, names, pos, register=register, spread=spread, rule="partial"
            )
        if kind == "PS":
            return self._call_partial(callee, args, keywords, spread, pos, register)
        if kind == "CM":
            self.call_function(value[1], args, pos, rule=rule, keywords=keywords, spread=spread)
            return self.single(("CI", value[1]))
        if kind in OPEN:
            return self._call_open(callee, args, pos)
        if kind == "CB":
            result: Values = value[1]  # Callable[…, R]
            return result
        if kind == "CD":
            self.enter_context(self.only(value[1]), pos, is_async=False)
            return self.call(value[2], args, keywords, pos, spread=spread)
        if kind == "XB":
            self.facts.append((f.EXTERNAL, value[1], pos, True))
            self.call_back(value[1], value[2], pos)
            return self.unknown
        if kind == "NT":
            return self._named_tuple(value[1], args, keywords, register)
        if kind == "TC":
            self.facts.append((f.EXTERNAL, "builtins.type.__call__", pos, True))
            return self.instantiate(value[1], value[2], args, keywords, spread, pos, by_type=True)
        if kind == "SC":
            self.facts.append((f.EXTERNAL, "builtins.type.__subclasses__", pos, True))
            self.depend(value[1].family)
            below = {self.intern(("C", subclass, True)) for subclass in value[1].subclasses}
            return self.container_of("list", register, below)
        if kind == "NG":
            self.facts.append((f.EXTERNAL, "builtins.dict.get", pos, True))
            found = self.global_names(value[1], args[0], pos) if args else EMPTY
            return found | args[1] if len(args) > 1 else found
        if kind == "NM":
            self.facts.append((f.EXTERNAL, f"builtins.dict.{value[2]}", pos, True))
            if value[2] == "update":
                named = dict(keywords)
                for values in args:
                    named.update(self.names_of(values)[0])
                for name, values in named.items():
                    self.store_attribute(self.only(value[1]), name, values, pos)
            return EMPTY
        if kind == "SR":
            passed = [values for values in args if any(self.values[v][0] == "F" for v in values)]
            for functions in passed:
                self._register(value, functions, pos)
            if passed:
                return passed[0]
            dotted = self.dispatchers.get(value[1], "functools.singledispatch")
            self.facts.append((f.EXTERNAL, f"{dotted}.register", pos, True))
            return self.single(("SR", value[1], True))
        if kind == "OG" and args:
            return self.get_by_name(value, args[0], pos)
        if kind == "W" and args:
            self.mark_wrapper(args[0], value[1])
            return args[0]
        if kind == "SM":
            return self._call_declared(value, args, keywords, spread, pos, register)
        if kind == "XA":
            self.facts.append((f.EXTERNAL, value[1], pos, True))
            arguments = Arguments(args, keywords, spread, pos, register)
            return self.outside.instantiate(value[1], value[2], arguments) or self.unknown
        if kind in ("XI", "G", "GS"):
            called = self.outside.call_instance(
                callee, Arguments(args, keywords, spread, pos, register)
            )
            if called is not None:
                return called
        if kind == "XM":
            return self._call_external_method(
                value[1], value[2], args, keywords, spread, pos, register
            )
        return self.unknown if kind != "XI" else self.constants[s.OPAQUE]

    def partial_of(self, call: Call) -> Values:
        """The ``functools.partial`` made at this place: what it holds may grow."""
        made = self.intern(("PS", self.current, call.register))
        self.write(self.cell("pf", made), call.args[0])
        given = self.applied.setdefault(made, {})
        arguments: list[tuple[int | str, Values]] = [*enumerate(call.args[1:])]
        arguments.extend(call.keywords.items())
        for place, values in arguments:
            given[place] = None
            self.write(self.cell("pa", made, place), values)
        return self.only(made)

    def _call_partial(
        self,
        partial: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        register: int,
        *,
        external: bool = False,
    ) -> Values:
        if partial in self._entered:  # `f = partial(f, …)`: what is made here holds itself
            return EMPTY
        callees, first, names = self._applied(partial)
        if not callees:
            return EMPTY  # not known yet
        self._entered.add(partial)
        try:
            return self.call(
                callees,
                [*first, *args],
                {**names, **keywords},
                pos,
                register=register,
                spread=spread,
                rule="callback" if external else "partial",
                external=external,
            )
        finally:
            self._entered.discard(partial)

    def _applied(self, value: int) -> tuple[Values, list[Values], dict[str, Values]]:
        """What a partial calls, with which arguments in front and by name."""
        first: list[Values] = []
        names: dict[str, Values] = {}
        for place in self.applied.get(value, ()):
            values = self.read(self.cell("pa", value, place))
            if isinstance(place, str):
                names[place] = values
            else:
                first.append(values)
        return self.read(self.cell("pf", value)), first, names

    def _call_open(self, callee: int, args: Sequence[Values], pos: Position) -> Values:
        value = self.values[callee]
        if value[0] == "P":
            self.facts.append((f.UNRESOLVED, self._parameter_name(value), "parameter", pos))
        elif value[0] == "U":
            self.facts.append((f.UNRESOLVED, "", "unknown-callee", pos))
        if self.whole or value[0] == "U":
            return self.derive("R", callee)
        given = tuple(
            [frozenset(v for v in values if self.values[v][0] in _TRACED) for values in args]
        )
        self.facts.append((f.APPLY, callee, given, pos))
        return self.derive("R", callee, given)

    def _parameter_name(self, value: tuple[object, ...]) -> str:
        function, index = value[1], value[2]
        assert isinstance(function, Function)
        assert isinstance(index, int)
        return function.unit.params[index][0]

    # --- functions of the repo

    def call_function(
        self,
        function: Function,
        args: Sequence[Values],
        pos: Position,
        *,
        rule: str,
        certain: bool = True,
        external: bool = False,
        keywords: Mapping[str, Values] = _NO_KEYWORDS,
        spread: Values = EMPTY,
    ) -> Values:
        """Call ``function``: note the edge, pass the arguments, give what it returns."""
        self.facts.append((f.CALL, function, pos, certain, rule, external))
        if self.whole:
            given = (*args, None, *keywords.items(), spread) if keywords or spread else (*args,)
            try:
                known = function.given
                if known is None or len(known) >= _MOST_GIVEN:
                    known = function.given = set()
                if given not in known:
                    known.add(given)
                    self._pass_arguments(function, args, keywords, spread)
            except TypeError:  # a set that is not frozen: a model made it
                self._pass_arguments(function, args, keywords, spread)
        else:
            self._pass_arguments(function, args, keywords, spread)
        flags = function.unit.flags
        if self.whole:
            if function in self.dispatchers:
                return self._dispatch(function, args, pos, keywords, spread)
            self.called.add(function)
            if not function.wanted and flags & (s.GENERATOR | s.ASYNC):
                function.wanted = FULL
                self.enqueue(function)
        if flags & s.GENERATOR:
            return self.single(("GE", function))
        if flags & s.ASYNC:
            return self.single(("CO", function))
        if function.tests and self.whole and not spread:
            return self._returned_here(function, args, keywords)
        return self.returned(function, args, keywords)

    def returned(
        self,
        function: Function,
        args: Sequence[Values] = (),
        keywords: Mapping[str, Values] = _NO_KEYWORDS,
    ) -> Values:
        """What a call of ``function`` gives: declared, or inferred with these arguments."""
        unit = function.unit
        if unit.returns is not None and not self.whole:
            # A declared class is as good as what inference would find, and costs nothing.
            declared = self.declared(function.module, function, unit.returns)
            known = any(self.values[v][0] in ("I", "G", "XI") for v in declared)
            if known and not self.is_vague(declared):
                return args[0] if args and self._declares_self(unit.returns) else declared
        if function is not self.current:
            self.ensure(function)
        inferred = self.read(function.ret)
        if inferred is not function.plain:
            result = self._with_arguments(function, inferred, args, keywords)
        else:
            result = inferred
        if unit.returns is not None and (not result or result <= self.unknown):
            declared = self.declared(function.module, function, unit.returns)
            if args and self._declares_self(unit.returns):
                return args[0]
            if declared:
                return declared
        return result

    def _returned_here(
        self, function: Function, args: Sequence[Values], keywords: Mapping[str, Values]
    ) -> Values:
        """What a call gives whose arguments decide which `return` is reached."""
        everything = self.returned(function, args, keywords)
        possible: set[int] = set()
        left_out = False
        for guards, cell in tuple(function.guarded.items()):
            if all(self._may_hold(function, guard, args, keywords) for guard in guards):
                possible |= self.read(cell)
            else:
                left_out = True
        if not left_out:
            return everything
        return self._with_arguments(function, frozenset(possible), args, keywords)

    def _may_hold(
        self,
        function: Function,
        guard: tuple[int, str, bool],
        args: Sequence[Values],
        keywords: Mapping[str, Values],
    ) -> bool:
        """Whether what a test shows of a parameter may hold for these arguments."""
        index, shown, holds = guard
        name, kind, _, has_default = function.unit.params[index]
        if kind in ("va", "kw"):
            return True
        if kind != "ko" and index < len(args):
            values = args[index]
        elif name in keywords:
            values = keywords[name]
        else:  # an empty set stands for None
            return not (has_default and holds and not self._default_values(function, index))
        tags = {self.values[v][0] for v in values}
        if not tags:
            return True
        if tags <= _FUNCTIONS:
            return holds
        return not (holds and shown == "callable" and tags <= _TEXT)

    def _dispatch(
        self,
        function: Function,
        args: Sequence[Values],
        pos: Position,
        keywords: Mapping[str, Values],
        spread: Values,
    ) -> Values:
        """A ``singledispatch`` function: what is registered runs as well as itself."""
        self.called.add(function)
        result = set(self.returned(function, args, keywords))
        for value in tuple(self.read(self.cell("dispatch", function))):
            kind = self.values[value]
            if kind[0] == "F" and kind[1] is not function:
                result |= self.call_function(
                    kind[1], args, pos, rule="dispatch", keywords=keywords, spread=spread
                )
        return result

    def _with_arguments(
        self,
        function: Function,
        inferred: frozenset[int],
        args: Sequence[Values],
        keywords: Mapping[str, Values],
    ) -> Values:
        """``inferred``, with what was passed in place of the parameters it names."""
        result: set[int] = set()
        plain = True
        through = self._through_parameters(function, inferred) if self.whole else EMPTY
        for value in inferred:
            kind = self.values[value]
            if kind[0] == "P" and kind[1] is function:
                plain = False
                result |= self._argument(function, kind[2], args, keywords)
            elif value in through:
                plain = False  # what other callers passed
            elif kind[0] == "I" and self._is_self(function, value, kind[2]):
                plain = False  # `return self` keeps the caller's type
                result |= (args[0] if args else EMPTY) or self.only(value)
            else:
                result.add(value)
        if plain:
            function.plain = inferred
        return result

    def _through_parameters(self, function: Function, inferred: Values) -> Values:
        """What comes back through a parameter, from whatever caller."""
        through: set[int] = set()
        for value in inferred:
            kind = self.values[value]
            if kind[0] == "P" and kind[1] is function:
                through |= self.parameter_cell(function, kind[2]).values
        return through

    @staticmethod
    def _declares_self(expression: tuple[object, ...]) -> bool:
        return expression[-1] == "Self" and expression[0] in (s.T_NAME, s.T_ATTR)

    def _is_self(self, function: Function, value: int, exact: bool) -> bool:
        receiver = self.receiver(function, 0)
        if receiver is None:
            return False
        if not exact:
            return value in receiver
        passed = function.params.get(0)
        if passed is None or value not in passed.values:
            return False
        known = self._returning_self.get(function)
        if known is None:
            known = self._returning_self[function] = returns_first(function.unit)
        return known

    def _argument(
        self,
        function: Function,
        index: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
    ) -> Values:
        name, kind, _, has_default = function.unit.params[index]
        if kind in ("po", "pk") and index < len(args):
            return args[index]
        if name in keywords:
            return keywords[name]
        if has_default:
            return self._default_values(function, index)
        return self.unknown

    def _pass_arguments(
        self,
        function: Function,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
    ) -> None:
        signature = function.signature
        positional = signature.positional
        count = len(positional)
        for place, values in enumerate(args):
            index = positional[place] if place < count else signature.variadic
            if values and index is not None:
                self._pass(function, index, values)
                if place >= count and self.whole:
                    gathered = self.intern(("K", "tuple", function, index))
                    self.lengths[gathered] = None
                    self.write_item(gathered, str(place - count), self._passed(values))
        if not keywords and not spread:
            return
        for name, values in keywords.items():
            index = signature.by_name.get(name, signature.rest)
            if values and index is not None:
                self._pass(function, index, values)
                if index == signature.rest and self.whole:
                    gathered = self.intern(("K", "dict", function, index))
                    self.write_item(gathered, name, self._passed(values))
        if spread and not spread <= self.unknown:
            self._spread(function, len(args), keywords, spread)

    def _spread(
        self, function: Function, taken: int, keywords: Mapping[str, Values], spread: Values
    ) -> None:
        """What ``*args`` and ``**kwargs`` hold may go to any parameter still free."""
        signature = function.signature
        params = function.unit.params
        for index in (*signature.positional[taken:], *signature.keyword_only):
            if params[index][0] not in keywords:
                self._pass(function, index, spread)
        for rest, kind in ((signature.variadic, "tuple"), (signature.rest, "dict")):
            if rest is not None:
                self._pass(function, rest, spread)
                if self.whole:
                    gathered = self.intern(("K", kind, function, rest))
                    self.write(self.cell("n", gathered), self._passed(spread))

    def _pass(self, function: Function, index: int, values: Values) -> None:
        """Values of the repo flow into parameters; what is outside or unknown adds nothing."""
        passed = self._passed(values)
        if self.whole and index in names_attributes(function):
            passed = passed | {v for v in values if self.values[v][0] in ("S", "N")}
        if not passed:
            return
        if not self.whole:
            self.facts.append((f.PASS, function, index, passed))
            return
        cell = self.parameter_cell(function, index)
        if passed <= cell.values:
            return
        receiver = self.receiver(function, index)
        if receiver is not None and (
            self.unknown_id in passed or len(cell.values | passed) > _MOST_RECEIVERS
        ):
            passed = self.shared(receiver)
        self.write(cell, passed)

    def _passed(self, values: Values) -> frozenset[int]:
        """Those of ``values`` that are worth passing."""
        if isinstance(values, set):
            values = self.shared(values)
        passed = self._passing.get(values)
        if passed is None:
            wanted = _PASSED if self.whole else _TRACED
            known = self.values
            passed = self.shared({v for v in values if known[v][0] in wanted})
            if not self.whole and passed == self.unknown:
                passed = EMPTY
            self._passing[values] = passed
        return passed

    # --- classes

    def instantiate(
        self,
        class_: Class,
        exact: bool,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        by_type: bool = False,
    ) -> Values:
        """Call a class (3.3.1): ``__call__`` of the metaclass, ``__new__``, ``__init__``.

        ``by_type``: that ``__call__`` is at work, and asks for the rest.
        """
        if not by_type:  # it was called to get there
            self.facts.append((f.INSTANCE, class_, pos))
        instance = self.single(("I", class_, exact))
        result: set[int] = set()
        metaclasses = [m for k in self.mro(class_) for m in k.metaclasses]
        for metaclass in () if by_type else metaclasses:
            caller = self.find_member(metaclass, "__call__")
            if caller is not None:
                made = self._call_member(
                    metaclass,
                    "__call__",
                    [self.single(("C", class_, exact)), *args],
                    pos,
                    "metaclass-call",
                )
                result |= {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
                if self.whole:
                    return result or instance
        if self.whole and any(b.startswith("enum.") for b in self.external_bases(class_)):
            if self.find_member(class_, "_missing_") is not None:
                self._call_member(
                    class_, "_missing_", [self.single(("C", class_, exact)), *args], pos, "enum"
                )
            return instance
        made_others = False
        new = self.find_member(class_, "__new__")
        if new is not None:
            self.facts.append((f.MEMBER, new, "__new__", pos, not exact, "call", True))
            for value in tuple(self.member_values(new, "__new__")):
                if self.values[value][0] == "F":
                    made = self.call_function(
                        self.values[value][1],
                        [self.single(("C", class_, exact)), *args],
                        pos,
                        rule="new",
                        keywords=keywords,
                        spread=spread,
                    )
                    found = {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
                    result |= (
                        found if self.whole else {v for v in found if self.values[v][0] == "I"}
                    )
                    made_others = len(found) == len(made) > 0 and not any(
                        self.values[v][0] == "I" and class_ in self.mro(self.values[v][1])
                        for v in found
                    )
        init = self.find_member(class_, "__init__")
        if made_others and self.whole:
            return result
        if init is not None:
            self.facts.append((f.MEMBER, init, "__init__", pos, not exact, "call", True))
            for value in tuple(self.member_values(init, "__init__")):
                if self.values[value][0] == "F":
                    self.call_function(
                        self.values[value][1],
                        [instance, *args],
                        pos,
                        rule="init",
                        keywords=keywords,
                        spread=spread,
                    )
        else:
            self._pass_fields(class_, args, keywords)
            self._make_defaults(class_, len(args), keywords, pos)
        for hook in ("__post_init__", "__attrs_post_init__") if init is None else ():
            if self.find_member(class_, hook) is not None:
                self._call_member(class_, hook, [instance], pos, "post-init")
        if not exact and self.whole:
            for subclass in self.live_subclasses(class_):
                self.facts.append((f.INSTANCE, subclass, pos))
                own = subclass.info.members.get("__init__")
                if own:
                    for value in tuple(self.member_values(subclass, "__init__")):
                        if self.values[value][0] == "F":
                            self.call_function(
                                self.values[value][1],
                                [self.single(("I", subclass, True)), *args],
                                pos,
                                rule="init-of-subclass",
                                certain=False,
                                keywords=keywords,
                                spread=spread,
                            )
        return instance | result

    def _make_defaults(
        self, class_: Class, given: int, keywords: Mapping[str, Values], pos: Position
    ) -> None:
        """A generated constructor calls the factories of fields it is not given."""
        if not self.whole or not self._constructor_is_generated(class_):
            return
        for place, name in enumerate(self._fields(class_)):
            if place < given or name in keywords:
                continue
            owner = self.find_member(class_, name)
            for value in tuple(self.member_values(owner, name)) if owner is not None else ():
                kind = self.values[value]
                if kind[0] == "DF":
                    self.call(kind[1], [], {}, pos, rule="default-factory", external=True)

    def _constructor_is_generated(self, class_: Class) -> bool:
        """Whether a decorator or a base outside the repo may have written ``__init__``."""
        known = class_.generated
        if known is None:
            order = self.mro(class_)
            known = any(
                k.info.decorators or any(b not in INERT_BASES for b in k.external_bases)
                for k in order
            )
            if class_.mro_cache is not None:
                class_.generated = known
        return known

    def _fields(self, class_: Class) -> tuple[str, ...]:
        """What a generated constructor takes, in order."""
        known = class_.fields
        if known is None:
            order = self.mro(class_)
            names = dict.fromkeys(
                name
                for k in reversed(order)
                if self._constructor_is_generated(k)
                for name, pieces in k.info.members.items()
                if k.module.summary.pieces[pieces[0]].kind == "assign"
            )
            known = tuple(names)
            if class_.mro_cache is not None:
                class_.fields = known
        return known

    def _pass_fields(
        self, class_: Class, args: Sequence[Values], keywords: Mapping[str, Values]
    ) -> None:
        """Generated constructors (dataclass, attrs, NamedTuple) store their arguments."""
        if not (self.whole and (args or keywords) and self._constructor_is_generated(class_)):
            return
        for name, values in keywords.items():
            if self.find_member(class_, name) is not None:
                self.write(self.attribute_cell(class_, name), values)
        for name, values in zip(self._fields(class_), args, strict=False):
            self.write(self.attribute_cell(class_, name), values)

    def _call_instance(
        self,
        callee: int,
        class_: Class,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        owner = self.find_member(class_, "__call__")
        if owner is None:
            self.facts.append((f.UNRESOLVED, f"{class_.id}.__call__", "not-callable", pos))
            return self.unknown
        self.facts.append((f.MEMBER, owner, "__call__", pos, True, "call", True))
        values: set[int] = set()
        for value in tuple(self.member_values(owner, "__call__")):
            if self.values[value][0] == "F":
                values |= self.call_function(
                    self.values[value][1],
                    [self.only(callee), *args],
                    pos,
                    rule="callable-instance",
                    keywords=keywords,
                    spread=spread,
                )
        return values

    # --- decorators

    def decorate(self, decorators: Values, decorated: Values, pos: Position) -> Values:
        """``@decorator`` over ``decorated`` (language reference, 8.7)."""
        result: set[int] = set()
        for decorator in tuple(decorators):
            value = self.values[decorator]
            kind = value[0]
            if kind in ("X", "XI"):
                result |= self._external_decorator(value[1], decorated, pos)
            elif kind == "I" and "contextlib.ContextDecorator" in self.external_bases(value[1]):
                result |= self.single(("CD", decorator, self.shared(decorated)))
            elif kind == "SR":
                self._register(value, decorated, pos)
                result |= decorated
            elif kind == "W":
                self.mark_wrapper(decorated, value[1])
                result |= decorated
            elif kind in OPEN_OR_TEXT:
                result |= decorated
            elif kind in _CALLABLE:
                made = self._call_value(
                    decorator, [decorated], _NO_KEYWORDS, pos, -1, EMPTY, "decorator", False
                )
                itself = {decorator, *(value[1] if kind == "PT" else self._applied(decorator)[0])}
                result |= {v for v in made if self._may_stand_for(v, decorated, itself)}
        return result or decorated

    def _register(self, value: tuple[Any, ...], functions: Values, pos: Position) -> None:
        if not value[2]:
            dotted = self.dispatchers.get(value[1], "functools.singledispatch")
            self.facts.append((f.EXTERNAL, f"{dotted}.register", pos, True))
        self.write(self.cell("dispatch", value[1]), functions)

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
            for place, name in enumerate(names):
                self.write_item(container, str(place), given.get(name, EMPTY))
                self.write(self.cell("field", container, name), given.get(name, EMPTY))
        return made

    def call_back(self, dotted: str, class_: Class, pos: Position) -> None:
        """What a method of a standard base calls of a class that extends it."""
        instance = self.single(("I", class_, True))
        for name in library.CALLED_BACK.get(dotted, ()):
            if name.endswith("*"):
                members = {n: None for k in self.mro(class_) for n in k.info.members}
                names = [each for each in members if each.startswith(name[:-1])]
            else:
                names = [name] if self.find_member(class_, name) is not None else []
            for each in names:
                found = self.load_attribute(instance, each, pos)
                self.call(found, [], {}, pos, rule="callback", external=True)

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
                if name[0] != "S":
                    continue
                found = values
                for part in name[1].split("."):
                    found = self.load_attribute(found, part, pos)
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
        return kind[0] in _CALLABLE

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
        for value in decorated if self.whole else ():
            kind = self.values[value]
            if kind[0] == "F" and dotted in _DISPATCHING:
                self.dispatchers[kind[1]] = dotted
            elif kind[0] == "C" and dotted == "functools.total_ordering":
                self.ordered.add(kind[1])
            elif kind[0] == "C" and dotted.startswith("dataclasses.dataclass"):
                self.records.add(kind[1])
        if dotted in _CALLING_DECORATORS:
            self._callbacks([decorated], _NO_KEYWORDS, EMPTY, pos, skip=-1)
        return decorated

    # --- outside the repo

    def call_external(
        self,
        dotted: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        register: int,
    ) -> Values:
        """Call something outside the repo; what is known of it is modelled."""
        if not dotted.endswith("()"):  # what a model made has no name
            self.facts.append((f.EXTERNAL, dotted, pos, True))
        if args and self.whole and dotted in ("builtins.exec", "builtins.eval"):
            self.facts.append((f.UNRESOLVED, dotted.rpartition(".")[2], "exec", pos))
        model = self._models.get(dotted)
        if model is not None:
            return model(self, Call(args, keywords, pos, register))
        self._protocols(dotted, args, pos)
        same = library.SAME.get(dotted)
        if same is not None:
            self._callbacks(args, keywords, spread, pos, skip=same)
            return args[same] if same < len(args) else self.single(("X", dotted))
        if dotted in library.ELEMENT:
            made = self._element(dotted, args, keywords, pos)
            if made:
                return made
        if dotted in library.CONTAINER:
            return self._container(dotted, args, keywords, pos, register)
        if dotted.startswith("builtins.super"):
            return self.unknown
        if dotted in library.NAMESPACES:
            return self.single(("XI", dotted))
        declared = self.outside.call(dotted, Arguments(args, keywords, spread, pos, register))
        if declared is not None and (declared != self.unknown or not library.is_inert(dotted)):
            return declared
        if declared is None:
            self._callbacks(args, keywords, spread, pos, skip=-1)
        if library.is_inert(dotted):
            return self.single(("XI", dotted))
        return self.single(("XI", dotted)) | self.unknown

    def _call_declared(
        self,
        method: Value,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        register: int,
    ) -> Values:
        """A method that a stub declares."""
        name = self.outside.method_name(method)
        self.facts.append((f.EXTERNAL, name, pos, True))
        self._protocols(name, args, pos)
        for dotted in self.outside.names_of_method(method):
            model = self._models.get(dotted)
            if model is not None:
                return model(self, Call(args, keywords, pos, register))
        made = self.outside.call_method(method, Arguments(args, keywords, spread, pos, register))
        return self.constants[s.OPAQUE] if made is None else made

    def _call_external_method(
        self,
        dotted: str,
        method: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        register: int,
    ) -> Values:
        """A method of an object from outside the repo."""
        name = f"{dotted}.{method}"
        self.facts.append((f.EXTERNAL, name, pos, True))
        self._protocols(name, args, pos)
        model = self._models.get(name)
        if model is not None:
            return model(self, Call(args, keywords, pos, register))
        self._callbacks(args, keywords, spread, pos, skip=-1)
        if dotted == "builtins.str":
            return self.constants[s.STR]
        return self.constants[s.OPAQUE] if library.is_inert(dotted) else self.unknown

    def _protocols(self, dotted: str, args: Sequence[Values], pos: Position) -> None:
        dunders = library.BUILTIN_PROTOCOLS.get(dotted)
        if dunders:
            of_elements = dotted in library.COMPARING and len(args) == 1
            if dotted in library.TESTING:
                args = [self.iterate(values, pos, is_async=False) for values in args]
            for values in args:
                operands = self.iterate(values, pos, is_async=False) if of_elements else values
                for dunder in dunders if of_elements else ():
                    self.protocol(operands, (dunder,), pos)
                if not of_elements:
                    self.protocol(operands, dunders, pos)
        if dotted in library.ITERATING:
            for values in args:
                self.iterate(values, pos, is_async=False)

    def _element(
        self, dotted: str, args: Sequence[Values], keywords: Mapping[str, Values], pos: Position
    ) -> Values:
        result: set[int] = set()
        if dotted == "functools.reduce":
            items = self.iterate(args[1], pos, is_async=False) if len(args) > 1 else EMPTY
            made = (
                self.call(
                    args[0],
                    [items | (args[2] if len(args) > 2 else EMPTY), items],
                    {},
                    pos,
                    rule="callback",
                    external=True,
                )
                if args
                else EMPTY
            )
            return made | items
        self._keyed(args, keywords, pos)
        if len(args) > 1 and dotted in ("builtins.min", "builtins.max"):
            for values in args:
                result |= values
            return result
        if args and dotted in _NEXT:
            result |= self._next(args[0], _NEXT[dotted], pos)
        elif args:
            result |= self.iterate(args[0], pos, is_async=False)
        if len(args) > 1:
            result |= args[1]
        return result

    def _next(self, iterators: Values, dunder: str, pos: Position) -> Values:
        """The next element of what is an iterator already: nothing asks it for another."""
        own = {
            v
            for v in iterators
            if self.values[v][0] == "I" and self.find_member(self.values[v][1], dunder) is not None
        }
        made = self.protocol(own, (dunder,), pos)
        return made | self.iterate(iterators - own if own else iterators, pos, is_async=False)

    def _keyed(self, args: Sequence[Values], keywords: Mapping[str, Values], pos: Position) -> None:
        key = keywords.get("key")
        if key and args:
            self.call(
                key,
                [self.iterate(args[0], pos, is_async=False)],
                {},
                pos,
                rule="callback",
                external=True,
            )

    def _container(
        self,
        dotted: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        register: int,
    ) -> Values:
        self._keyed(args, keywords, pos)
        elements: set[int] = set()
        if dotted == "builtins.filter" and len(args) > 1:
            elements |= self.iterate(args[1], pos, is_async=False)
            self.call(args[0], [elements], {}, pos, rule="callback", external=True)
        elif dotted == "itertools.chain.from_iterable":
            for values in args:
                elements |= self.iterate(
                    self.iterate(values, pos, is_async=False), pos, is_async=False
                )
        else:
            for values in args:
                elements |= self.iterate(values, pos, is_async=False)
        if library.CONTAINER[dotted] == "set":
            self.hash_values(elements)
        return self.container_of(library.CONTAINER[dotted], register, elements)

    def hand_over(self, groups: Sequence[Values], pos: Position) -> None:
        """Functions among these values are handed to code outside the repo."""
        self._callbacks(groups, _NO_KEYWORDS, EMPTY, pos, skip=-1)

    def _callbacks(
        self,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        skip: int,
    ) -> None:
        """Functions handed to code outside the repo may be called by it."""
        groups = [values for place, values in enumerate(args) if place != skip]
        groups.extend(keywords.values())
        groups.append(spread)
        for values in groups:
            for value in values:
                kind = self.values[value]
                if kind[0] in ("F", "B"):
                    function: Function = kind[1]
                    bound = [self.only(kind[2])] if kind[0] == "B" else []
                    self.call_function(
                        function, bound, pos, rule="callback", certain=False, external=True
                    )
                elif kind[0] == "PT":
                    self.call(kind[1], kind[2], dict(kind[3]), pos, rule="callback", external=True)
                elif kind[0] == "PS":
                    self._call_partial(value, [], _NO_KEYWORDS, EMPTY, pos, -1, external=True)
                elif kind[0] == "I":
                    self._call_member(kind[1], "__call__", [self.only(value)], pos, "callback")
                    if not kind[2] and self.find_member(kind[1], "__call__") is not None:
                        self.facts.append((f.MEMBER, kind[1], "__call__", pos, True, "call", False))

    _models: ClassVar[Mapping[str, Callable[..., Values]]]  # of library functions, by name

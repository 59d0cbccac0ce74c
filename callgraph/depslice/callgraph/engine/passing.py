"""Calls of functions of the repo: arguments flow in, what is returned flows out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.fitting import PLAIN, SCALARS, FittingEvaluation
from depslice.callgraph.engine.metaclasses import Put, put_by
from depslice.callgraph.engine.parts import (
    FULL,
    fills_templates,
    names_attributes,
    names_members,
    returns_first,
)
from depslice.callgraph.engine.values import (
    CALLABLES_OUTSIDE,
    EMPTY,
    NO_KEYWORDS,
    OBJECTS_OR_OPEN,
    OPEN,
    TRACED,
    Function,
    Passing,
    Value,
    Values,
)
from depslice.callgraph.summary import Position

_MOST_RECEIVERS = 8
_MANY_KEYWORDS = 4
_MOST_GIVEN_BY_NAME = 4000
_MOST_GIVEN = 200  # passing the same again changes nothing, and takes time only
_PASSED = CALLABLES_OUTSIDE | {
    *("U", "F", "B", "C", "I", "M", "K", "G", "GS", "PT", "SU", "GE", "CM", "CB", "CD", "PS", "L"),
}
_FUNCTIONS = frozenset({"F", "B", "C", "PT", "PS", "CM", "L"})
_TEXT = frozenset({"S", "N"})


class FunctionCalls(FittingEvaluation):
    """``f(…)`` where ``f`` is a function (language reference, 6.3.4)."""

    def write_item(self, container: int, text: str, values: Values) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def hash_values(self, values: Values, *, alone: bool = False) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def call_function(
        self,
        function: Function,
        args: Sequence[Values],
        pos: Position,
        *,
        rule: str,
        certain: bool = True,
        external: bool = False,
        keywords: Mapping[str, Values] = NO_KEYWORDS,
        spread: Values = EMPTY,
    ) -> Values:
        """Call ``function``: note the edge, pass the arguments, give what it returns."""
        if self.whole and function in self.dispatchers:
            running, others = self.chosen(function, args)
            # Not all that is passed has a value here (`None`, what `*args` holds): the others may run.
            for each in others:
                self.facts.append((f.CALL, each, pos, False, "dispatch-else", external))
                self.called.add(each)
            made: set[int] = set()
            for each in running:
                if each is function:
                    how = (certain, rule, external)
                    made |= self._call_itself(function, args, pos, how, keywords, spread)
                else:
                    made |= self.call_function(
                        each, args, pos, rule="dispatch", keywords=keywords, spread=spread
                    )
            if function in others:
                made |= self.returned(function, args, keywords)
            return made
        return self._call_itself(function, args, pos, (certain, rule, external), keywords, spread)

    def _call_itself(
        self,
        function: Function,
        args: Sequence[Values],
        pos: Position,
        how: tuple[bool, str, bool],
        keywords: Mapping[str, Values],
        spread: Values,
    ) -> Values:
        """``how``: whether that is certain, by which rule, and whether by code outside."""
        self.facts.append((f.CALL, function, pos, *how))
        self._give(function, args, keywords, spread)
        put = self._put_by(function) if args and function.unit.params else None
        if put is not None:
            given = self.single(put.given(args))
            return given if put.bases else given | self.returned(function, args, keywords)
        flags = function.unit.flags
        if flags & s.DECORATED and self.read(self.cell("caching", function)):
            for values in (*args, *keywords.values(), spread):
                self.hash_values(values)
        if self.whole:
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

    def _put_by(self, function: Function) -> Put | None:
        try:
            return self.putting[function]
        except KeyError:
            put = self.putting[function] = put_by(function)
            return put

    def run_function(
        self, function: Function, args: Sequence[Values], pos: Position, *, rule: str
    ) -> None:
        """Code outside the repo may call ``function``: what it gives stays there."""
        waits = function in self.dispatchers or function.unit.flags & (s.GENERATOR | s.ASYNC)
        if waits or not self.whole:
            self.call_function(function, args, pos, rule=rule, certain=False, external=True)
            return
        self.facts.append((f.CALL, function, pos, False, rule, True))
        self._give(function, args, NO_KEYWORDS, EMPTY)
        self.called.add(function)
        self.ensure(function)

    def _give(
        self,
        function: Function,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
    ) -> None:
        """Pass the arguments, over a whole program once."""
        if self.whole:
            given = (*args, None, *keywords.items(), spread) if keywords or spread else (*args,)
            if self.starred:
                given = (*given, None, None)  # not the same as without stars
            known = function.given
            if known is None or len(known) >= _MOST_GIVEN:
                known = function.given = set()
            try:
                if given in known:
                    return
                known.add(given)
            except TypeError:  # a set that is not frozen: a model made it
                pass
        self._pass_arguments(function, args, keywords, spread)

    def returned(
        self,
        function: Function,
        args: Sequence[Values] = (),
        keywords: Mapping[str, Values] = NO_KEYWORDS,
    ) -> Values:
        """What a call of ``function`` gives: declared, or inferred with these arguments."""
        unit = function.unit
        known: Values = EMPTY
        if unit.returns is not None and not self.whole:
            declared = self.declared(function.module, function, unit.returns)
            if any(self.values[v][0] in ("I", "G", "XI") for v in declared) and not self.is_vague(
                declared
            ):
                if args and self._declares_self(unit.returns):
                    return args[0]
                if self.tells_all(function.module, function, unit.returns):
                    return declared  # as good as what inference would find, and costs nothing
                known = declared
        if function is not self.current:
            self.ensure(function)
        inferred = self.read(function.ret)
        if inferred is not function.plain:
            result = self._with_arguments(function, inferred, args, keywords)
        else:
            result = inferred
        if unit.returns is not None and self.whole and result:
            result = self.fitting(function, unit.returns, result)
        if unit.returns is not None and (not result or result <= self.unknown):
            declared = self.declared(function.module, function, unit.returns)
            if args and self._declares_self(unit.returns):
                return args[0]
            if declared:
                return declared
        if known and unit.returns is not None:
            if self.tells_all(function.module, function, unit.returns, items=True):
                result = {v for v in result if self.values[v][0] in OBJECTS_OR_OPEN}
            return (result - self.unknown) | known
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

    def chosen(
        self, function: Function, args: Sequence[Values]
    ) -> tuple[list[Function], list[Function]]:
        """Implemented by the part for dispatch."""
        raise NotImplementedError

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
        if through and not self.tables.isdisjoint(inferred):
            passed = through.union(*(self.left_over(v) for v in self.tables & through))
            through |= {v for v in self.tables & inferred if self.left_over(v) <= passed}
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
                    self._gather(gathered, str(place - count), values)
        if self.whole:
            if signature.optional and function not in self.spared:
                self._note_left_out(function, args, keywords)
            if function not in self.opened:
                self._note_untold(function, args, keywords, spread)
        if not keywords and not spread:
            return
        for name, values in self._named_anew(function, keywords):
            index = signature.by_name.get(name, signature.rest)
            if values and index is not None:
                self._pass(function, index, values)
                if index == signature.rest and self.whole:
                    gathered = self.intern(("K", "dict", function, index))
                    self._gather(gathered, name, values)
        if spread and not spread <= self.unknown:
            self._spread(function, len(args), keywords, spread)

    def _named_anew(
        self, function: Function, keywords: Mapping[str, Values]
    ) -> Iterable[tuple[str, Values]]:
        """The ``keywords``, over a whole program those that were not passed before as they are.

        What is built of a schema has as many as the schema has names, and each class hands all of
        them on to the one constructor above.
        """
        if not self.whole or len(keywords) < _MANY_KEYWORDS:
            return keywords.items()
        known = function.given_by_name
        if known is None or len(known) >= _MOST_GIVEN_BY_NAME:
            known = function.given_by_name = set()
        anew = [
            each for each in keywords.items() if type(each[1]) is not frozenset or each not in known
        ]
        known.update([each for each in anew if type(each[1]) is frozenset])
        return anew

    def _note_left_out(
        self, function: Function, args: Sequence[Values], keywords: Mapping[str, Values]
    ) -> None:
        """The defaults that a call uses; with ``*args`` it may be any."""
        signature = function.signature
        left = signature.optional
        if not self.starred:
            left = left.difference(
                signature.positional[: len(args)], map(signature.by_name.get, keywords)
            )
        if left:
            self.leave_out(function, left)

    def _note_untold(
        self,
        function: Function,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
    ) -> None:
        """The parameters that are keys or places, and for which something else is passed."""
        names = names_attributes(function)
        if not names:
            return
        cell = self.cell("untold", function)
        untold: set[int] = set()
        for index in names.difference(cell.values):
            values = self._argument(function, index, args, keywords)
            if self.starred or spread or not values or not all(map(self.is_told, values)):
                untold.add(index)
        self.mark(cell, untold)

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
                    self._gather(gathered, None, spread)

    def _gather(self, gathered: int, key: str | None, values: Values) -> None:
        """``values`` are in what ``*args`` or ``**kwargs`` holds, under ``key`` or somewhere."""
        passed, plain, _ = self._passing_of(values)
        if plain and not self.telling_plain:
            self.plain_passed.setdefault((gathered, key), set()).update(plain)
        elif plain:
            passed |= plain
        if key is None:
            self.write(self.anywhere_cell(gathered), passed)
        else:
            self.write_item(gathered, key, passed)

    def tell_plain(self) -> None:
        """Pass the texts and numbers of which nothing has been told so far: their types.

        They decide hardly anything, and are passed almost everywhere. So they come last, and
        only where nothing else is known.
        """
        self.telling_plain = True
        for passed_to, plain in self.plain_passed.items():
            place: Function | int = passed_to[0]
            key: int | str | None = passed_to[1]
            if isinstance(place, Function):
                assert isinstance(key, int)
                self._pass_plain(place, key, frozenset(plain))
            else:
                self._gather(place, None if key is None else str(key), frozenset(plain))
        self.plain_passed.clear()

    def _pass_plain(self, function: Function, index: int, plain: frozenset[int]) -> None:
        if not self.telling_plain:
            self.plain_passed.setdefault((function, index), set()).update(plain)
            return
        cell = self.parameter_cell(function, index)
        if all(self.values[v][0] in OPEN or self.values[v][:2] in SCALARS for v in cell.values):
            self.write(cell, plain)

    def _pass(self, function: Function, index: int, values: Values) -> None:
        """Values of the repo flow into parameters; what is outside or unknown adds nothing."""
        passed, plain, parameters = self._passing_of(values)
        if parameters is not None and self._is_name(function, index, parameters):
            keys = {v for v in values if self._is_key(self.values[v])}
            passed = passed | keys | (values & self.constants[s.STR])
        elif not self.whole and index in fills_templates(function):
            passed = passed | {v for v in values if self.values[v][0] in _TEXT}
        if plain:
            self._pass_plain(function, index, plain)
        if not passed:
            return
        if not self.whole:
            self.facts.append((f.PASS, function, index, passed))
            return
        cell = self.parameter_cell(function, index)
        if passed <= cell.values:
            return
        receiver = self.receiver(function, index)
        if receiver is not None:
            if self.unknown_id in passed:
                passed = self.shared(receiver)
            elif len(cell.values | passed) > _MOST_RECEIVERS:
                room = max(0, _MOST_RECEIVERS - len(cell.values))
                exact = frozenset(sorted(passed - cell.values - self.functions)[:room])
                known = cell.values | exact
                passed = self.shared(
                    (self.in_their_place(known, passed - known) or receiver) | exact
                )
        self.write(cell, passed)

    @staticmethod
    def _is_key(kind: Value) -> bool:
        """Whether a value may name something: a text, or a number."""
        return kind[0] in _TEXT or (kind[0] == "XI" and kind[1] == "builtins.int")

    def _is_name(
        self, function: Function, index: int, passed_on: tuple[tuple[Function, int], ...]
    ) -> bool:
        """Whether the parameter names something, or is passed on for one that does."""
        names = (names_attributes if self.whole else names_members)(function)
        if index not in names and index not in self.read(self.cell("naming", function)):
            return False
        for source, place in passed_on:
            cell = self.cell("naming", source)
            if place not in cell.values:
                # Names that were passed for it did not count: once more.
                source.given = source.given_by_name = None
                self.write(cell, {place})
        return True

    def _is_told(self, kind: Value) -> bool:
        """Whether it is an object from outside that does more than hold data."""
        told = self.whole and kind[0] == "XI" and kind[1] not in PLAIN
        return told and not str(kind[1]).startswith("types.")

    def _passing_of(self, values: Values) -> Passing:
        """What it comes to that ``values`` are passed."""
        given = self.shared(values) if isinstance(values, set) else values
        found = self._passing.get(given)
        if found is None:
            found = self._passing[given] = self._find_passing(given)
        return found

    def _find_passing(self, given: frozenset[int]) -> Passing:
        known = self.values
        wanted = _PASSED if self.whole else TRACED
        passed = self.shared(
            {
                v
                for v in given
                if known[v][0] in wanted or self._is_told(known[v]) or self.may_be_caught(v)
            }
        )
        if not self.whole and passed == self.unknown:
            passed = EMPTY
        kinds = [known[v] for v in given]
        behind = [known[kind[1]] if kind[0] == "E" else kind for kind in kinds]  # of `*args`
        parameters = tuple([(kind[1], kind[2]) for kind in behind if kind[0] == "P"])
        names = bool(parameters) or any(map(self._is_key, kinds))
        plain = self._plain(kinds) if self.whole else EMPTY
        return Passing(passed, plain, parameters if names else None)

    def _plain(self, kinds: list[Value]) -> frozenset[int]:
        """The types of the texts and numbers among these values."""
        found: set[int] = set()
        for kind in kinds:
            if kind[0] in _TEXT:
                found |= self.constants[s.STR]
            elif kind[:2] in SCALARS:
                found |= self.single(kind[:2])
        return self.shared(found)

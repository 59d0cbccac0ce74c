"""Operators, comparisons, membership tests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import is_in_place
from depslice.callgraph.engine.protocols import OF_PARTS, Protocols
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Function, Value, Values
from depslice.callgraph.summary import Position

# What total_ordering derives everything from, and what of it asks for equality too.
_ROOTS: Final = ("__lt__", "__le__", "__gt__", "__ge__")
_WITH_EQUALITY: Final = {
    "__lt__": ("__gt__", "__le__"),
    "__le__": ("__ge__", "__lt__"),
    "__gt__": ("__lt__", "__ge__"),
    "__ge__": ("__le__", "__gt__"),
}
_NOT_IMPLEMENTED: Final = ("X", "builtins.NotImplemented")
_SEQUENCES: Final = frozenset({"list", "tuple", "deque"})
_MAYBE_CONTAINERS: Final = frozenset({"K", "G", "GS", "XI", *OPEN})


class Operators(Protocols):
    """``a + b``, ``a < b``, ``a in b`` (language reference, 3.3.1, 3.3.7, 3.3.8 and 6.10)."""

    def binary_of(self, left: Values, right: Values, name: str, pos: Position) -> Values:
        """``left <op> right``; over a whole program once for all that ask it of these values."""
        if self.whole:
            return self.asked(("binary", self.shared(left), self.shared(right), name), pos)
        return self.binary(left, right, name, pos)

    def compare_of(self, left: Values, right: Values, dunder: str, pos: Position) -> Values:
        """The same for a comparison."""
        if self.whole:
            return self.asked(("compare", self.shared(left), self.shared(right), dunder), pos)
        return self.compare(left, right, dunder, pos)

    def contains_of(self, containers: Values, items: Values, pos: Position) -> None:
        """The same for a membership test."""
        if self.whole:
            self.asked(("contains", self.shared(containers), self.shared(items)), pos)
        else:
            self.contains(containers, items, pos)

    def compare(self, left: Values, right: Values, dunder: str, pos: Position) -> Values:
        """A rich comparison; the reflected method when the left has none. What it gives."""
        result = set(self.constants[s.BOOL])
        self._compare_parts(left, right, dunder, pos)
        reflected = {"__lt__": "__gt__", "__gt__": "__lt__", "__le__": "__ge__", "__ge__": "__le__"}
        for values, other, name in (
            (left, right, dunder),
            (right, left, reflected.get(dunder, dunder)),
        ):
            answered = self.whole and bool(values)
            asked: dict[str, list[int]] = {}
            for value in tuple(values):
                kind = self.values[value]
                if kind[0] == "I":
                    called = name
                    if name == "__ne__" and self.find_member(kind[1], name) is None:
                        called = "__eq__"
                    asked.setdefault(called, []).append(value)
                elif kind[0] in OPEN:
                    result |= self.operate(value, name, [other], pos)
                    if name == "__ne__":
                        self.note_protocol("__eq__", pos, value)
                    answered = False
                else:
                    self.ask_caught(value, (name,), pos)
                    if kind[0] == "C":
                        self.call_of_metaclass(value, kind[1], name, [other], pos)
                    answered = False
            for called, receivers in asked.items():
                for group in self.together(receivers, called):
                    made, answers = self._compare_together(group, called, other, pos)
                    result |= made
                    answered = answered and answers
            if answered:
                break
        return {value for value in result if self.values[value] != _NOT_IMPLEMENTED}

    def _compare_together(
        self, group: Sequence[int], called: str, other: Values, pos: Position
    ) -> tuple[Values, bool]:
        """What a comparison gives of objects that find the same method; whether it answers."""
        class_ = self.values[group[0]][1]
        made = self.call_together(group, called, [other], pos)
        held = self.held_in(self.shared(set(group)), (called,)) if called in OF_PARTS else EMPTY
        for passed_on in OF_PARTS[called] if held else ():
            self.protocol(held, (passed_on,), pos)
        if self.find_member(class_, called) is None:  # then it is one alone
            return made, bool(self.ordered) and self.derived_comparison(
                group[0], class_, called, other, pos
            )
        return made, not self._declined(made)

    def _compare_parts(self, left: Values, right: Values, dunder: str, pos: Position) -> None:
        """Builtin containers compare what they hold, the first that differs decides (6.10.1)."""
        of_left, of_right = self.parts(left), self.parts(right)
        if not (of_left or of_right) or not all(
            any(self.values[v][0] in _MAYBE_CONTAINERS for v in side) for side in (left, right)
        ):
            return
        for name in OF_PARTS[dunder]:
            self.compare(of_left, of_right, name, pos)

    def derived_comparison(
        self, receiver: int, class_: Class, dunder: str, other: Values, pos: Position
    ) -> bool:
        """A comparison that ``functools.total_ordering`` has added; whether it has.

        It adds none that a base has, as ``tuple`` has them all.
        """
        if dunder not in _ROOTS or not any(k in self.ordered for k in self.mro(class_)):
            return False
        if self.outside.declares(class_, dunder):
            return False
        root = next((each for each in _ROOTS if self.find_member(class_, each)), None)
        if root is None:
            return False
        self.call_dunder(receiver, class_, root, [other], pos)
        if dunder in _WITH_EQUALITY[root]:
            self.call_dunder(receiver, class_, "__eq__", [other], pos, "derived")
        return True

    def _has_operator(self, class_: Class, dunder: str) -> bool:
        """Whether it has a method for an operator, or one in place from a base outside.

        Those give their object, whatever the other is.
        """
        if self.find_member(class_, dunder) is not None:
            return True
        return is_in_place(dunder.strip("_")) and self.outside.declares(class_, dunder)

    def contains(self, containers: Values, items: Values, pos: Position) -> None:
        """``item in container`` (6.10.2)."""
        for value in tuple(containers):
            kind = self.values[value]
            if kind[0] == "I":
                if self.find_member(kind[1], "__contains__") is not None:
                    self.call_dunder(value, kind[1], "__contains__", [items], pos)
                    if self.surely_has(kind[1], "__contains__"):
                        continue
                self.ask_below(value, kind[1], "__contains__", [items], pos)
                for above in self.open_bases(kind[1], instances=True):
                    self.operate(above, "__contains__", [items], pos)
                called = self.call_back(value, "__contains__", pos, written=False)
                if not called and not (
                    self.whole and self.outside.declares_builtin(kind[1], "__contains__")
                ):
                    self.iterate(self.only(value), pos, is_async=False)
            elif kind[0] in OPEN:
                self.operate(value, "__contains__", [items], pos)
            elif kind[0] == "ND":
                self.subscript(self.only(value), items, pos)
            elif kind[0] == "XI":
                self.ask_caught(value, ("__contains__", "__iter__"), pos)
            elif kind[0] == "C" and (
                self.call_of_metaclass(value, kind[1], "__contains__", [items], pos) is None
            ):
                self._iterate_class(value, kind[1], pos)
        asking = self._leaving_to_items(containers)
        if containers and not asking:
            return
        dunders = ("__eq__",) if self._are_sequences(asking) else ("__eq__", "__hash__")
        asked = dict.fromkeys((*items, *self.parts(items)))
        objects = [value for value in asked if self.values[value][0] == "I"]
        for dunder in dunders:
            self.call_all(objects, dunder, [containers], pos)
        for value in asked:
            kind = self.values[value]
            for dunder in dunders if kind[0] != "I" else ():
                if kind[0] == "C":
                    self.call_of_metaclass(value, kind[1], dunder, [containers], pos)
                elif kind[0] in OPEN:
                    self.note_protocol(dunder, pos, value)
                else:
                    self.ask_caught(value, (dunder,), pos)
        if not self.whole:  # reflected, where those that are looked for do not answer
            sequences = {v for v in containers if self._are_sequences((v,))}
            self.protocol(self.parts(sequences), ("__eq__",), pos)

    def _leaving_to_items(self, containers: Values) -> Values:
        """Those that do not answer by ``__contains__`` of their own: what is looked for is asked."""
        if not self.whole:
            return containers
        return {
            value
            for value in containers
            for kind in (self.values[value],)
            if kind[0] != "I" or self.find_member(kind[1], "__contains__") is None
        }

    def _are_sequences(self, containers: Collection[int]) -> bool:
        """Whether what is looked for is compared with each element, and never hashed."""
        return bool(containers) and all(
            (kind[0] == "K" and kind[1] in _SEQUENCES)
            or (kind[0] == "G" and kind[1] in ("builtins.list", "builtins.tuple"))
            or kind[0] == "GE"
            or (kind[0] == "I" and self.whole and self._is_gone_through(kind[1]))
            for kind in map(self.values.__getitem__, containers)
        )

    def _is_gone_through(self, class_: Class) -> bool:
        """Whether ``in`` takes one element of an instance after the other (6.10.2)."""
        own = self.find_member(class_, "__iter__") or self.find_member(class_, "__getitem__")
        return own is not None and not self.active_bases(class_)

    def binary(self, left: Values, right: Values, name: str, pos: Position) -> Values:
        """``left <op> right``: in-place, forward, then reflected (3.3.8)."""
        left, right = self._uncounted(left), self._uncounted(right)
        merged = self.merge_dicts(left, right) if name == "or" and self.whole else None
        if merged is not None:
            return merged
        result: set[int] = set()
        answered = self.whole and bool(left)  # by methods that never give NotImplemented
        declines = False  # a method gives nothing else
        in_place = is_in_place(name)
        forward = name[1:] if in_place else name
        extended: list[int] = []
        asked: list[int] = []
        for value in tuple(left):
            kind = self.values[value]
            if kind[0] == "I":
                if self._reflected_first(kind, right, forward):
                    continue
                if in_place:
                    made = self.call_dunder(value, kind[1], f"__{name}__", [right], pos)
                    declined = self._declined(made)
                    result |= made - declined
                    declines = declines or (bool(declined) and declined == made)
                    if self._has_operator(kind[1], f"__{name}__") and not declined:
                        continue
                asked.append(value)
            elif kind[0] in OPEN:
                if in_place:
                    result |= self.operate(value, f"__{name}__", [right], pos)
                result |= self.operate(value, f"__{forward}__", [right], pos)
            elif kind[0] in ("S", "N"):  # which text, is told only of what stands in one place
                result |= self.constants[s.STR]
            elif kind[0] in ("K", "G", "GS", "XI"):
                names = [f"__{name}__", f"__{forward}__"] if in_place else [f"__{forward}__"]
                self.ask_caught(value, names, pos)
                result |= self.outside.operated(value, names, right, pos)
                if kind[0] == "K" and (forward == "add" or name == "ior"):
                    extended.append(value)
                    result |= {value} if forward != "add" else EMPTY
                elif kind[0] == "K" and forward == "mul":
                    self.lose_places(value)
            elif kind[0] == "C":
                made_by = self.call_of_metaclass(value, kind[1], f"__{forward}__", [right], pos)
                if made_by is not None:
                    result |= made_by
                elif forward == "or":
                    result |= self._types_in(left | right)
            elif forward == "or" and self._is_type(kind):
                result |= self._types_in(left | right)
        for group in self.together(asked, f"__{forward}__"):
            made = self.call_together(group, f"__{forward}__", [right], pos)
            declined = self._declined(made)
            result |= made - declined
            declines = declines or (bool(declined) and declined == made)
            has_it = self._has_operator(self.values[group[0]][1], f"__{forward}__")
            answered = answered and has_it and not declined
        self.update_containers(extended, right, pos)
        answered = answered and all(self.values[v][0] == "I" for v in left)
        result |= self._reflected(left, right, forward, pos, (answered, declines))
        for value in tuple(right):
            kind = self.values[value]
            if kind[0] == "XI":
                self.ask_caught(value, (f"__r{forward}__",), pos)
            if kind[0] in OPEN:
                if answered:
                    continue
                result |= self.operate(value, f"__r{forward}__", [left], pos)
                if forward == "mul" and not self.whole:
                    self.note_protocol("__index__", pos, value)
            elif kind[0] == "K" or (kind[0] in ("XI", "G", "GS") and not result):
                result |= EMPTY if answered else self.only(value)
            elif kind[0] in ("C", "XA") and forward == "or" and not left:
                result.add(value)  # `None | C`
        if forward == "mod" and any(self.values[v][0] in ("S", "N", "XI") for v in left):
            self._fill_template(left, right, pos)
        elif forward == "mod" and not self.whole and any(self.values[v][0] in OPEN for v in left):
            known = frozenset(v for v in right if self.values[v][0] not in OPEN)
            self._fill_template(left, known, pos)  # what only callers know is a number as likely
        return result

    def _declined(self, made: Values) -> Values:
        return {value for value in made if self.values[value] == _NOT_IMPLEMENTED}

    def _reflected(
        self, left: Values, right: Values, forward: str, pos: Position, told: tuple[bool, bool]
    ) -> Values:
        """What the reflected methods of ``right`` give, where they are tried.

        ``told``: whether ``left`` has answered, and whether a method of it gives nothing but
        ``NotImplemented``.
        """
        answered, declines = told
        dunder = f"__r{forward}__"
        result: Values = EMPTY
        asked: dict[tuple[frozenset[int], str], list[int]] = {}
        for value in right:
            kind = self.values[value]
            if kind[0] != "I":
                continue
            first = any(self._reflected_first(self.values[v], {value}, forward) for v in left)
            if answered and not first:
                continue
            others = self._of_another_type(left, value)
            if left and not others:
                continue
            sure = first or declines
            rule = "protocol" if sure else self._rule_of_reflected(left, kind[1], forward)
            asked.setdefault((frozenset(others), rule), []).append(value)
            if forward == "mul" and self.find_member(kind[1], dunder) is None:
                self.call_dunder(value, kind[1], "__index__", [], pos)  # `[0] * value`
        for (others, rule), values in asked.items():
            result = result | self.call_all(values, dunder, [others], pos, rule)
        return result

    def _rule_of_reflected(self, left: Values, right: Class, forward: str) -> str:
        """How the reflected method of ``right`` is found beside ``left``.

        Those that have the operator themselves decline strangers, as a rule, and no others.
        """
        line = self.mro(right)
        known = [kind for kind in map(self.values.__getitem__, left) if kind[0] not in OPEN]
        having = bool(known) and all(
            kind[0] == "I" and self.find_member(kind[1], f"__{forward}__") in line for kind in known
        )
        return "reflected" if having else "protocol"

    def _of_another_type(self, left: Values, right: int) -> Values:
        """Those of ``left`` for which the reflected method is tried: of its own type it is not."""
        kind = self.values[right]
        if not self.whole or not kind[2] or right not in left:
            return left
        return frozenset(left) - {right}

    def _uncounted(self, values: Values) -> Values:
        """``values``, numbers as some number: what is computed of them is another one."""
        numbers = [value for value in values if self.number_of(value) is not None]
        if not numbers:
            return values
        return frozenset(values).difference(numbers) | self.constants[s.INT]

    def _types_in(self, values: Values) -> set[int]:
        """``int | C | list[D]``: the types of a union (PEP 604), where an alias stands for all."""
        types = {value for value in values if self._is_type(self.values[value])}
        is_open = any(self.values[value][0] in OPEN for value in values)
        return types | self.unknown if is_open else types

    def _is_type(self, kind: Value) -> bool:
        return kind[0] in ("C", "XA") or (
            kind[0] == "X" and self.outside.class_name(kind[1]) is not None
        )

    def unary(self, values: Values, dunder: str, pos: Position) -> Values:
        """``-value``, ``+value``, ``~value`` (3.3.8)."""
        opened = {value for value in values if self.values[value][0] in OPEN}
        result = self.protocol(values - opened, (dunder,), pos)
        for value in sorted(opened):
            result = result | self.operate(value, dunder, [], pos)
        return result

    def add_to_text(self, text: Values, right: Values, pos: Position) -> Values:
        """``"text" + right``: what the reflected methods of ``right`` give, if it is no text."""
        result: Values = EMPTY
        for value in right:
            kind = self.values[value]
            if kind[0] == "I":
                result = result | self.call_dunder(value, kind[1], "__radd__", [text], pos)
            elif kind[0] in OPEN:
                self.note_protocol("__radd__", pos, value)
        return result

    def _fill_template(self, left: Values, right: Values, pos: Position) -> None:
        """``left % right``: a tuple gives the values in order, anything else is the one."""
        tuples = [v for v in right if self.values[v][:2] == ("K", "tuple")]
        one = frozenset(right).difference(tuples)
        lengths = [self.lengths.get(each) for each in tuples]
        places: list[Values] = []
        rest: Values = EMPTY
        if None in lengths:
            rest = one.union(*(self.read(self.elements_cell(each)) for each in tuples))
        else:
            for place in range(max((length or 0 for length in lengths), default=0)):
                held = (self.read(self.item_cell(each, str(place))) for each in tuples)
                places.append(EMPTY.union(*held))
            places[:1] = [one.union(*places[:1])]
        self.fill_template(left, places, rest, right, pos)

    def _reflected_first(self, left: tuple[Any, ...], right: Values, forward: str) -> bool:
        """Whether all of ``right`` is of subclasses that override the reflected method."""
        if not self.whole or left[0] != "I" or not right:
            return False
        for value in right:
            kind = self.values[value]
            if kind[0] != "I" or kind[1] is left[1] or left[1] not in self.mro(kind[1]):
                return False
            name = f"__r{forward}__"
            if self.find_member(kind[1], name) in (None, self.find_member(left[1], name)):
                return False
        return True

    def update_containers(self, containers: Collection[int], values: Values, pos: Position) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def merge_dicts(self, left: Values, right: Values) -> Values | None:
        """Implemented by the container part."""
        raise NotImplementedError

    def raise_value(self, values: Values, pos: Position) -> None:
        """``raise C`` instantiates the class."""
        for value in tuple(values):
            kind = self.values[value]
            if kind[0] == "C":
                self.instantiate(kind[1], kind[2], [], {}, EMPTY, pos)
            elif kind[0] == "I" and self.whole:  # whoever has made it
                self.mark(self.cell("exceptions made"), self.only(value))

    def _may_mutate(self, container: tuple[object, ...]) -> bool:
        """Without a whole program, only code of its own module changes a container."""
        owner = container[2]
        assert owner is None or isinstance(owner, Function)
        if owner is None:
            return True
        return self.whole or self.current is None or owner.module is self.current.module

"""``functools.partial`` and methods of what is no function: arguments that a call adds to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.construction import Construction
from depslice.callgraph.engine.values import EMPTY, Values, binds_other
from depslice.callgraph.summary import Position

_MOST_BOUND = 3


class PartialCalls(Construction):
    """Partials, and the places and names that they hold."""

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

    def bound_to(self, called: int, receiver: int) -> Values:
        """The method that calls what is no function with ``receiver`` in front.

        Of methods of methods a few are told apart: a loop that binds what it has bound
        (``f = MethodType(f, x)``) makes another one with each step.
        """
        inner, deep = self.values[called], 0
        while binds_other(inner):
            [inner], deep = [self.values[each] for each in inner[1]], deep + 1
        if deep >= _MOST_BOUND:
            return self.unknown
        return self.single(("PT", self.only(called), (self.only(receiver),), (), True))

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

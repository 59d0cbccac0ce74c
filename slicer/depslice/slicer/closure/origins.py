"""Where open values come from, within one slice.

The engine leaves a parameter open (``P``), and what is made of one: an attribute
(``A``), an element (``E``), the result of a call (``R``). Here the arguments that kept
code passes are bound to parameters, and open values are traced to known ones. So a
slice knows the classes of its receivers from its own calls alone, and two slices of
one program do not disturb each other.
"""

from __future__ import annotations

from depslice.callgraph.engine.containers import ContainerEvaluation
from depslice.callgraph.engine.values import OPEN, Function, Values

_WIDEST = 24


class Origins:
    """Bindings of parameters, and the known values behind open ones."""

    def __init__(self, engine: ContainerEvaluation) -> None:
        self._engine = engine
        self._bound: dict[tuple[Function, int], set[int]] = {}
        self._before: dict[int, frozenset[int]] = {}  # the last round's answers
        self._known: dict[int, frozenset[int]] = {}  # this round's
        self._busy: set[int] = set()
        self.grown = False

    def bind(self, function: Function, index: int, values: Values) -> None:
        """Kept code passes ``values`` for the parameter."""
        bound = self._bound.setdefault((function, index), set())
        if not values <= bound and len(bound) < _WIDEST:
            bound |= values
            self.grown = True

    def refresh(self) -> bool:
        """Start another round if bindings or answers have grown since; whether they have.

        Within a round each value is traced once, and a cycle sees the last round's answer;
        answers only grow, so the rounds end.
        """
        grown, self.grown = self.grown, False
        if grown:
            self._before.update(self._known)
            self._known.clear()
        return grown

    def trace(self, value: int, where: Function) -> frozenset[int]:
        """The known values behind ``value``; empty when only callers outside the slice know."""
        engine = self._engine
        if engine.values[value][0] not in OPEN:
            return frozenset((value,))
        known = self._known.get(value)
        if known is not None:
            return known
        before = self._before.get(value, frozenset())
        if value in self._busy:
            return before
        self._busy.add(value)
        try:
            found = self._trace(value, where) | before
        finally:
            self._busy.discard(value)
        if len(found) > _WIDEST:
            found = set(sorted(found)[:_WIDEST]) | before
        self._known[value] = frozenset(found)
        if len(found) > len(before):
            self.grown = True
        return self._known[value]

    def _trace(self, value: int, where: Function) -> set[int]:
        engine = self._engine
        kind = engine.values[value]
        if kind[0] == "P":
            return self._all(self._bound.get((kind[1], kind[2]), ()), where)
        if kind[0] == "U":
            return {value}
        inner = engine.values[kind[1]]
        if kind[0] == "E" and inner[0] == "P" and inner[1].unit.params[inner[2]][1] in ("va", "kw"):
            return self._all(self._bound.get((inner[1], inner[2]), ()), where)
        result: set[int] = set()
        extra = kind[2] if len(kind) > 2 else None
        sources = sorted(self.trace(kind[1], where))
        if kind[0] == "A" and not sources:
            # Of what functions carry under this name (field-based: Feldthaus et al. 2013).
            result |= self._all(engine.cell("fan", extra).values, where)
        for source in sources:
            if source == engine.unknown_id:
                result.add(source)
            elif engine.values[source][0] not in OPEN:
                result |= self._all(engine.probe(source, kind[0], extra, where), where)
        return result

    def _all(self, values: Values | tuple[()], where: Function) -> set[int]:
        result: set[int] = set()
        for value in sorted(values):
            result |= self.trace(value, where)
            if len(result) > _WIDEST:
                break
        return result

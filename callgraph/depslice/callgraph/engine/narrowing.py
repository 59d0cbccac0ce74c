"""What tests show of a value: ``isinstance``, comparisons with text, class patterns."""

from __future__ import annotations

from depslice.callgraph.engine.operators import Operators
from depslice.callgraph.engine.values import Values


class Narrowing(Operators):
    """Values that are left where a test holds, or does not."""

    def narrow(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` holds."""
        targets = self._class_targets(classes)
        result: set[int] = set()
        fits = False
        for value in values:
            kind = self.values[value]
            if kind[0] == "I":
                order = self.mro(kind[1])
                if any(t[0] == "C" and t[1] in order for t in targets):
                    result.add(value)
                    fits = True
            elif kind[0] in ("K", "G", "GS", "XI", "S", "N") and any(t[0] == "X" for t in targets):
                result.add(value)
                fits = True
        if not fits or not values:
            for target in targets:
                if target[0] == "C":
                    result.add(self.intern(("I", target[1], False)))
                elif target[0] == "X":
                    result.add(self.intern(("XI", target[1])))
        return result or values

    def exclude(self, values: Values, classes: Values) -> Values:
        """``isinstance(values, classes)`` does not hold."""
        targets = [t[1] for t in self._class_targets(classes) if t[0] == "C"]
        return {
            v
            for v in values
            if self.values[v][0] != "I"
            or not any(target in self.mro(self.values[v][1]) for target in targets)
        }

    def narrow_text(self, values: Values, prefix: str, suffix: str) -> Values:
        """``values.startswith(prefix)`` and ``values.endswith(suffix)`` hold."""
        result: set[int] = set()
        for value in values or self.unknown:
            kind = self.values[value]
            if kind[0] == "I":
                result.add(value)  # an object with such a method of its own
                continue
            if kind[0] == "S":
                if kind[1].startswith(prefix) and kind[1].endswith(suffix):
                    result.add(value)
                continue
            start, end = kind[1:] if kind[0] == "N" else ("", "")
            if start.startswith(prefix) or prefix.startswith(start):
                longest = max(start, prefix, key=len), max(end, suffix, key=len)
                if end.endswith(suffix) or suffix.endswith(end):
                    result.add(self.intern(("N", *longest)))
        return result

    def _class_targets(self, classes: Values) -> list[tuple[object, ...]]:
        found: list[tuple[object, ...]] = []
        for value in tuple(classes):
            kind = self.values[value]
            if kind[0] in ("C", "X"):
                found.append(kind)
            elif kind[0] == "K":
                found.extend(
                    self.values[v]
                    for v in self.read(self.cell("e", value))
                    if self.values[v][0] in ("C", "X")
                )
        return found

    def match_class(self, subject: Values, classes: Values) -> Values:
        """The subject when a class pattern matched."""
        return self.narrow(subject, classes)

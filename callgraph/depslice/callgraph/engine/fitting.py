"""What cannot be meant: arguments that a declared type rules out, receivers that an override does.

Flow joins all callers of a function; what is known of the function tells apart again what
they have mixed.
"""

from __future__ import annotations

from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.lineage import Lineages
from depslice.callgraph.engine.values import Class, Function, Values
from depslice.callgraph.summary import TypeExpr

_MOST_HEIRS: Final = 7
_MANY: Final = 8
_OBJECTS: Final = frozenset({"I", "F", "B"})
"""Kinds of values that are known to be no instance of a class but their own."""
PLAIN: Final = frozenset(
    f"builtins.{kind.__name__}"
    for kind in (
        str,
        bytes,
        bytearray,
        int,
        float,
        complex,
        bool,
        list,
        dict,
        tuple,
        set,
        frozenset,
    )
)
"""Types that nothing but their subclasses is taken for."""
SCALARS: Final = frozenset(
    ("XI", f"builtins.{kind.__name__}") for kind in (str, bytes, int, float, complex)
)
_TOWER: Final = {
    "builtins.float": ("builtins.float", "builtins.int"),
    "builtins.complex": ("builtins.complex", "builtins.float", "builtins.int"),
}
"""What is taken for a number, too."""


class FittingEvaluation(Lineages):
    """Values beside what is declared or overridden."""

    def fitting(self, function: Function, annotation: TypeExpr, passed: Values) -> Values:
        """What of ``passed`` can be meant where ``annotation`` is declared.

        Only objects of the repo, texts and numbers are ruled out, and only by types that are
        known to the last alternative. What may be an instance of some subclass is one of a
        declared subclass.
        """
        if self.whole and len(passed) > _MANY:  # many callers have the same of them
            return self.asked(("fitting", function, annotation, self.shared(passed)), 0)
        return self.find_fitting(function, annotation, passed)

    def find_fitting(self, function: Function, annotation: TypeExpr, passed: Values) -> Values:
        """The same, not asked before."""
        known = self.values
        objects = [value for value in passed if known[value][0] in _OBJECTS]
        scalars = [v for v in passed if known[v][:2] in SCALARS] if self.telling_plain else ()
        if not (objects or scalars) or not self._is_known(function, annotation):
            return passed
        declared = self.declared(function.module, function, annotation)
        kept = set(passed)
        for value in objects:
            meant = self._meant(value, declared)
            if value not in meant:
                kept.discard(value)
                kept |= meant
        kept.difference_update(v for v in scalars if not self._may_be_scalar(v, declared))
        return kept

    def _is_known(self, function: Function, expression: TypeExpr) -> bool:
        """Whether every alternative of a declared type is a type that is known."""
        if expression[0] == s.T_NONE:
            return True
        if expression[0] == s.T_UNION:
            return all(self._is_known(function, each) for each in expression[1])
        if expression[0] == s.T_SUBSCRIPT and expression[1][-1] in ("Optional", "Union"):
            return all(self._is_known(function, each) for each in expression[2])
        declared = self.declared(function.module, function, expression)
        return bool(declared) and not declared & self.unknown and not self.is_vague(declared)

    def _meant(self, value: int, declared: Values) -> Values:
        """``value`` if it fits what is declared, else what is declared of its subclasses."""
        narrower: set[int] = set()
        for other in declared:
            kind = self.values[other]
            if kind[0] == "I":
                if self._is_above(value, kind[1]):
                    narrower.add(other)
                elif self._may_be(value, kind[1]):
                    return {value}
            elif (
                kind[0] not in ("XI", "G")  # a protocol, or what someone else has made like one
                or kind[1] not in PLAIN
                or self._may_extend(value, kind[1])
            ):
                return {value}
        return narrower

    def _may_be_scalar(self, value: int, declared: Values) -> bool:
        """Whether a text or a number can be meant by what is declared."""
        type_ = self.values[value][1]
        for other in declared:
            kind = self.values[other]
            if kind[0] == "I":
                if self.is_open_class(kind[1]):
                    return True
            elif (
                kind[0] not in ("XI", "G")
                or kind[1] not in PLAIN
                or type_ in _TOWER.get(kind[1], (kind[1],))
            ):
                return True
        return False

    def _is_above(self, value: int, declared: Class) -> bool:
        """Whether ``value`` may be of any subclass, and ``declared`` is one of those."""
        kind = self.values[value]
        return (
            kind[0] == "I"
            and not kind[2]
            and kind[1] is not declared
            and kind[1] in self.mro(declared)
        )

    def _may_be(self, value: int, declared: Class) -> bool:
        """Whether ``value`` can be an instance of ``declared``."""
        if self.is_open_class(declared):
            return True
        kind = self.values[value]
        if kind[0] != "I":
            return False
        if declared in self.mro(kind[1]) or self.is_open_class(kind[1]):
            return True
        below = () if kind[2] else self.live_subclasses(kind[1])
        return any(declared in self.mro(each) for each in below)

    def _may_extend(self, value: int, builtin: str) -> bool:
        """Whether ``value`` can be an instance of the builtin type of that name.

        Or stand for one, as an ``int`` does for a ``float`` (PEP 484, the numeric tower).
        """
        kind = self.values[value]
        if kind[0] != "I":
            return False
        if self.outside.types.has_unread_base(kind[1]):
            return True
        meant = _TOWER.get(builtin, (builtin,))
        stubs = self.outside.stubs
        bases = [stubs.class_named(name) for name in self.external_bases(kind[1])]
        return any(each.dotted in meant for base in bases if base for each in stubs.mro(base))

    def is_open_class(self, class_: Class) -> bool:
        """Whether what does not inherit from ``class_`` may be taken for an instance of it.

        By PEP 3119 (``register`` and the two hooks) or PEP 544, or by a base nobody knows.
        """
        return (
            any(base == "?" or base.endswith(".Protocol") for base in self.external_bases(class_))
            or self.find_member(class_, "__subclasshook__") is not None
            or bool(self.read(self.cell("register", class_)))
            or self.has_check(class_)
        )

    def has_check(self, class_: Class) -> bool:
        """Whether a metaclass says itself what is an instance of ``class_``."""
        metaclasses = self.metaclasses_of(class_)
        return any(self.find_member(k, "__instancecheck__") is not None for k in metaclasses)

    def heirs(self, receiver: int, method: str) -> Values | None:
        """The instances on which ``method`` is the one of the class of ``receiver``.

        A subclass that has overridden it is none of them, but for what its own code
        passes on (``super()``), which is seen as an argument.
        """
        tag, class_, _ = self.values[receiver]
        owner = self.find_member(class_, method)
        below = self.live_subclasses(class_)
        heirs = [each for each in below if self.find_member(each, method) is owner]
        if len(heirs) == len(below) or len(heirs) > _MOST_HEIRS:
            return None
        return frozenset(self.intern((tag, each, True)) for each in (class_, *heirs))

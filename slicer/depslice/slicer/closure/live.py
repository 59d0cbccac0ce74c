"""The live classes of a slice, found by the classes they extend and by the names they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import Class
from depslice.slicer.closure.overrides import Overrides

_NONE: Final[Sequence[Class]] = ()


class Live:
    """Classes in the order in which they became live, with indices of them.

    Of the names a class has there are two sorts: what its body and those of its bases bind or
    their methods store (its attributes), and what those bodies bind, or bases outside answer
    by calling methods of it (what it *answers*). Both may grow, as more of its bases is known.
    """

    def __init__(self, engine: Engine, overrides: Overrides) -> None:
        self._engine = engine
        self._overrides = overrides
        self._order: dict[Class, tuple[Class, ...]] = {}  # -> its order of inheritance so far
        self._serial: dict[Class, int] = {}
        self._below: dict[Class, list[Class]] = {}  # the class itself included
        self.extended: list[Class] = []
        """Classes that are live, or extended by one that is: again for each.

        Metaclasses too, for each class that they have made.
        """
        self._made: dict[Class, dict[Class, None]] = {}  # by the metaclass, and those it extends
        self._having: dict[str, list[Class]] = {}
        self._answering: dict[str, list[Class]] = {}
        self._indexed: dict[Class, tuple[frozenset[str], frozenset[str]]] = {}
        self._unsettled: dict[Class, None] = {}  # not all their bases are known
        # By the order of inheritance, and the bases outside.
        self._names: dict[tuple[Class, ...], frozenset[str]] = {}
        self._attributes: dict[tuple[Class, ...], frozenset[str]] = {}
        self._answered: dict[tuple[Class | str, ...], frozenset[str]] = {}
        # By the class, for as long as no more is known of bases (``Engine.based``).
        self._has_by_now: dict[Class, tuple[int, frozenset[str]]] = {}
        self._answers_by_now: dict[Class, tuple[int, frozenset[str]]] = {}
        self._indexed_at = -1  # what is unsettled

    def __contains__(self, class_: Class) -> bool:
        return class_ in self._order

    def __iter__(self) -> Iterator[Class]:
        return iter(tuple(self._order))

    def add(self, class_: Class) -> None:
        """``class_`` is live from now on."""
        if class_ not in self._order:
            self._serial[class_] = len(self._order)
            self._order[class_] = ()
            self.place(class_)

    def place(self, class_: Class) -> bool:
        """Put a live class below the classes that it extends; whether there are new ones.

        Those that lend it methods are as good.
        """
        order = self.order_of(class_)
        known = self._order[class_]
        self._index(class_)
        for metaclass in self._engine.metaclasses_of(class_):
            for k in self._engine.mro(metaclass):
                made = self._made.setdefault(k, {})
                if class_ not in made:
                    made[class_] = None
                    self.extended.append(k)
        if order == known:
            return False
        self._order[class_] = order
        for k in order:
            if k not in known:
                self._below.setdefault(k, []).append(class_)
                self.extended.append(k)
        return True

    def order_of(self, class_: Class) -> tuple[Class, ...]:
        """The classes of which methods may get an instance of ``class_``, its own line first."""
        order = self._engine.mro(class_)
        if not class_.lenders:
            return order
        lent = (each for lender in class_.lenders for each in self._engine.mro(lender))
        return tuple(dict.fromkeys((*order, *lent)))

    def _index(self, class_: Class) -> None:
        """Find ``class_`` by the names it has now."""
        had, answered = self._indexed.get(class_, (frozenset[str](), frozenset[str]()))
        now = self.attributes_of(class_), self.answered_by(class_)
        if now != (had, answered):
            self._indexed[class_] = now
            for name in now[0] - had:
                self._having.setdefault(name, []).append(class_)
            for name in now[1] - answered:
                self._answering.setdefault(name, []).append(class_)
        if class_.mro_cache is None:
            self._unsettled[class_] = None
        else:
            self._unsettled.pop(class_, None)

    def below(self, class_: Class) -> Sequence[Class]:
        """The live classes that are ``class_`` or extend it, in the order in which they became so."""
        return self._below.get(class_, _NONE)

    def made_by(self, metaclass: Class) -> Sequence[Class]:
        """The live classes that ``metaclass`` has made, or one that extends it, in that order."""
        return tuple(self._made.get(metaclass, ()))

    def is_extended(self, class_: Class) -> bool:
        """Whether it or a subclass is live."""
        return class_ in self._below

    def having(self, attribute: str) -> list[Class]:
        """Those that have an attribute."""
        return self._in_order(self._having, attribute)

    def answering(self, *names: str) -> list[Class]:
        """Those that answer one of ``names``."""
        return self._in_order(self._answering, *names)

    def is_had(self, attribute: str) -> bool:
        """Whether one of them has an attribute."""
        self._index_unsettled()
        return bool(self._having.get(attribute))

    def _index_unsettled(self) -> None:
        based = self._engine.based
        if self._indexed_at != based:
            for class_ in tuple(self._unsettled):
                self._index(class_)
            self._indexed_at = based

    def _in_order(self, index: dict[str, list[Class]], *names: str) -> list[Class]:
        self._index_unsettled()
        found = {class_ for name in names for class_ in index.get(name, ())}
        return sorted(found, key=self._serial.__getitem__)

    def has(self, class_: Class, attribute: str) -> bool:
        """Whether ``class_``, live or not, has an attribute."""
        return attribute in self.attributes_of(class_)

    def attributes_of(self, class_: Class) -> frozenset[str]:
        """The names that bodies bind, and those that methods store on ``self``."""
        known = self._has_by_now.get(class_)
        if known is not None and known[0] == self._engine.based:
            return known[1]
        order = self._engine.mro(class_)
        found = self._attributes.get(order)
        if found is None:
            stored = (k.info.self_stores for k in order)
            found = self._attributes[order] = self._names_of(order).union(*stored)
        self._has_by_now[class_] = self._engine.based, found
        return found

    def _names_of(self, order: tuple[Class, ...]) -> frozenset[str]:
        """The names that the bodies of a class and of its bases bind."""
        found = self._names.get(order)
        if found is None:
            found = self._names[order] = frozenset().union(*(k.info.members for k in order))
        return found

    def answered_by(self, class_: Class) -> frozenset[str]:
        """What bodies bind, and what bases outside define, as far as that calls methods of it."""
        known = self._answers_by_now.get(class_)
        if known is not None and known[0] == self._engine.based:
            return known[1]
        found = self._find_answered(class_)
        self._answers_by_now[class_] = self._engine.based, found
        return found

    def _find_answered(self, class_: Class) -> frozenset[str]:
        outside = self._engine.active_bases(class_)
        order = self._engine.mro(class_)
        if not outside or not self._overrides.waits(outside):
            return self._names_of(order)
        key: tuple[Class | str, ...] = (*order, *outside)
        found = self._answered.get(key)
        if found is None:
            found = self._names_of(order) | self._overrides.calling(outside)
            self._answered[key] = found
        return found

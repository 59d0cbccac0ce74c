"""Classes of which a base may be one of several: ``class C(A if new else B)``.

Each choice has an order of its own. What one base lacks that another has comes from behind it
there, from a base that only it has, or from ``__getattr__``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Final, TypeAlias

from depslice.callgraph.engine.classes import ClassEvaluation
from depslice.callgraph.engine.mro import linearise
from depslice.callgraph.engine.values import Class, Values

_MOST_ORDERS: Final = 64
_UNKNOWN: Final = "?"
_Base: TypeAlias = Class | str
"""A class of the repo, or the dotted name of one outside (``?`` for one that nobody knows)."""
Order: TypeAlias = tuple[tuple[Class, ...], tuple[str, ...]]
"""The linearisation for one choice of bases, and the bases outside that it comes to."""


class EitherBase(ClassEvaluation):
    """What a name may be of a class whose bases are a choice of the program (3.3.3, 3.3.2)."""

    def instead_of(
        self, class_: Class, owner: Class, name: str, behind: Class | None = None
    ) -> list[Class]:
        """The other owners that a member has where a base is another class.

        ``super()`` asks for those ``behind`` the class in which it stands.
        """
        bare = self._behind_deleted(class_, owner, name) if name in self.deleted else []
        if not self.either_base:
            return bare
        orders = self._orders(class_)
        if not orders:
            return bare
        known = class_.holders_elsewhere.get((name, behind))
        if known is None:
            found = [self._holder(line, name, behind) for line, _ in orders]
            known = [k for k in dict.fromkeys(found) if k is not None]
            class_.holders_elsewhere[name, behind] = known
        return [*bare, *(k for k in known if k is not owner and k not in bare)]

    def _behind_deleted(self, class_: Class, owner: Class, name: str) -> list[Class]:
        """Who has the member where code deletes it from ``owner``: ``del Sub.method``."""
        found: list[Class] = []
        line = self.mro(class_)
        if not self.whole or owner not in line:
            return found
        for k in line[line.index(owner) :]:
            if not self.binds(k, name):
                continue
            found.append(k)
            if not self.read(self.cell("deleted", k, name)):
                break
        return found[1:]

    def may_lack(self, class_: Class, name: str) -> bool:
        """Whether instances have no such attribute where a base is another class.

        A base outside of which nothing is known is taken for what stands in its place elsewhere.
        """
        if not self.either_base:
            return False
        orders = self._orders(class_)
        if not orders:
            return False
        lacking = class_.orders_without.get(name)
        if lacking is None:
            lacking = [
                order
                for order in orders
                if self._holder(order[0], name, None) is None
                and not any(self._may_come_from(base, name) for base in order[1])
            ]
            class_.orders_without[name] = lacking
        return any(not any(self._stores_itself(k, name) for k in line) for line, _ in lacking)

    def surely_has(self, class_: Class, name: str) -> bool:
        """Whether a class of the repo binds ``name`` for it, whatever its bases are."""
        return self.find_member(class_, name) is not None and not self.may_lack(class_, name)

    def _holder(self, line: tuple[Class, ...], name: str, behind: Class | None) -> Class | None:
        """The first of ``line`` that binds ``name``; else the first that tells its type."""
        if behind is not None:
            line = line[line.index(behind) + 1 :] if behind in line else ()
        having = [k for k in line if name in k.info.members]
        return next((k for k in having if self.binds(k, name)), having[0] if having else None)

    def _stores_itself(self, class_: Class, name: str) -> bool:
        """Whether something stores the attribute on instances of that very class."""
        cell = class_.attributes.get(name)
        return name in class_.info.self_stores or (cell is not None and bool(cell.values))

    def _may_come_from(self, base: str, name: str) -> bool:
        """Whether a base outside may have the attribute."""
        known = self.outside.stubs.class_named(base)
        return known is None or self.outside.member(known, name) is not None

    def _orders(self, class_: Class) -> tuple[Order, ...]:
        """The order for each choice of its bases and of those above; none if there is none.

        What is remembered by name is of these orders: it goes when they do.
        """
        line = self.mro(class_)
        found = class_.orders
        if found is None or (class_.mro_cache is None and class_.ordered_at != self.based):
            found = class_.orders = tuple(self._find_orders(class_, line))
            class_.ordered_at = self.based
            class_.holders_elsewhere = {}
            class_.orders_without = {}
        return found

    def _find_orders(self, class_: Class, line: tuple[Class, ...]) -> Iterator[Order]:
        slots = {
            (k, place): self._bases_among(base)
            for k in line
            for place, base in enumerate(k.base_values or ())
        }
        open_ = [slot for slot, bases in slots.items() if len(bases) > 1]
        if not open_:
            return
        taken = {slot: bases[:1] for slot, bases in slots.items()}
        for choice in islice(product(*(slots[slot] for slot in open_)), _MOST_ORDERS):
            taken.update(zip(open_, ([base] for base in choice), strict=True))
            bases_of: dict[int, list[_Base]] = {}
            for (k, _), bases in taken.items():
                bases_of.setdefault(k.serial, []).extend(bases)
            yield self._order(class_, {k.serial: k for k in line}, bases_of)

    def _order(
        self, class_: Class, classes: dict[int, Class], bases_of: dict[int, list[_Base]]
    ) -> Order:
        """The order of one choice. By numbers: classes remember the order of all choices."""
        numbers = linearise(
            class_.serial,
            lambda number: [
                base.serial
                for base in dict.fromkeys(bases_of.get(number, ()))
                if isinstance(base, Class) and base.serial in classes
            ],
        )
        outside = {
            base: None
            for number in numbers
            for base in bases_of.get(number, ())
            if isinstance(base, str)
        }
        return tuple(classes[number] for number in numbers), tuple(outside)

    def _bases_among(self, values: Values) -> list[_Base]:
        """What one place of a class statement may be."""
        found: dict[_Base, None] = {}
        for kind in map(self.values.__getitem__, sorted(values)):
            found[kind[1] if kind[0] in ("C", "X", "XA") else _UNKNOWN] = None
        return [*found]

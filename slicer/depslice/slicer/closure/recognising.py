"""Duck typing: the class of which one uncommon attribute is read is the one that is iterated.

Names that many types have say nothing of a value, nor do operators and loops. But an unknown
value is expected to have them all, so that live classes with what is telling are asked for the rest.
So is the class of a target: others of its instances are passed to it more often than anything else.
So is a class that the slice makes of what callers pass: ``Row(row)`` may copy what another one holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from depslice.callgraph.engine.values import Class
from depslice.slicer.closure.classes import ORDERING, Classes
from depslice.slicer.closure.growth import Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.origins import Origins
from depslice.slicer.closure.turns import News, Turns

STEPS: Final = {"__iter__": "__next__", "__aiter__": "__anext__"}
"""What an iterator is asked for that somebody asks for."""
_GIVING_PARTS: Final = frozenset(
    {"__getitem__", "__iter__", "__next__", "get", "items", "keys", "pop", "values"}
)
"""The methods of a container that give what it holds."""

_CONSTRUCTORS: Final = (".__init__", ".__new__")
_OF_PLAIN: Final = frozenset(
    {"__bool__", "__format__", "__hash__", "__len__", "__repr__", "__str__"}
)
"""What texts and numbers are asked for as well: it shows nothing of what callers pass."""
_COMPARING: Final = frozenset({"__eq__", "__ne__", *ORDERING})


class Recognition:
    """What is done with open values, and what of it tells which classes they may be of.

    A value wakes by what is done with it, or with what may be the same object (``_named_by``: of
    which values that have been looked at); when more is known of it; when such objects are passed
    on; and when who uses it comes nearer (``_used_by``).
    """

    def __init__(self, growth: Growth, classes: Classes, origins: Origins) -> None:
        self._growth = growth
        self._engine = growth.engine
        self._classes = classes
        self._origins = origins
        self._turns: Turns[int] = Turns()
        self._told: dict[int, set[str]] = {}  # the telling attributes
        self._vague: dict[int, list[tuple[str, Demand]]] = {}  # and what else is done
        self._used_by: dict[str, set[int]] = {}
        self._named_by: dict[int, set[int]] = {}
        self._asked: dict[str, set[tuple[str, int]]] = {}  # telling -> (name, distance)
        self._passed_to: dict[int, Class] = {}  # parameters of targets -> whose methods these are
        self._asked_of: dict[Class, set[tuple[str, int]]] = {}  # (name, distance)
        self._moved, self._linked = News(growth.moved), News(origins.linked)

    def place(self, value: int) -> int:
        """``value`` is used: its turn is after those of values that were used before."""
        return self._turns.place(value)

    def note_passed_to(self, class_: Class, parameter: int) -> None:
        """Callers outside the slice pass ``parameter`` to a method of ``class_``."""
        self._passed_to[parameter] = class_

    def note_telling(self, value: int, name: str) -> None:
        """An attribute that few classes have is used of ``value``."""
        told = self._told.setdefault(value, set())
        if name not in told:
            told.add(name)
            self._turns.wake(self._named_by.get(value, ()))

    def note_vague(self, value: int, name: str, demand: Demand) -> None:
        """A method that any object may have is asked of ``value``."""
        self._vague.setdefault(value, []).append((name, demand))
        self._used_by.setdefault(demand.source, set()).add(value)
        self._turns.wake((value,))

    def note_grown(self, values: Iterable[int]) -> None:
        """More is known of ``values``."""
        self._turns.wake(self._vague.keys() & values)

    def ask(self) -> bool:
        """Ask live classes that an unknown value may be of for what else is done with it.

        Whether something new was asked.
        """
        asked = False
        for value in self._turns.due(self._hear):
            asked |= self._ask_about(value)
        return asked

    def _hear(self) -> None:
        """Wake values after what has come nearer, and what has been passed on."""
        for item in self._moved.take():
            self._turns.wake(self._used_by.get(item, ()))
        for value in self._linked.take():
            self._turns.wake(self._named_by.get(value, ()))

    def _ask_about(self, value: int) -> bool:
        unknown = self._engine.unknown_id
        if value == unknown or unknown not in self._origins.known(value):
            return False
        if self._origins.is_declared(value):
            self._turns.wake((value,))  # as something that is no class of the slice, so far
            return False
        vague = self._nearest(value)
        told: set[str] = set()
        for each in self._origins.names_of_one(value):
            self._named_by.setdefault(each, set()).add(value)
            told |= self._told.get(each, set())
        asked = False
        # The uncommon attributes that are read of what may be the same object.
        for telling in sorted(told):
            asked |= self._ask_for(telling, vague)
        compared = self._is_compared(value)
        for class_ in self._classes_of_targets(value):
            asked |= self._ask_class(class_, vague, plain=compared)
        parts = {each: demand for each, demand in vague.items() if each[0] in _GIVING_PARTS}
        for class_ in self._classes_made_of(value) if parts else ():
            asked |= self._ask_class(class_, parts)
        return asked

    def _classes_of_targets(self, value: int) -> dict[Class, None]:
        """The classes whose methods get ``value`` from callers of a target, or what holds it."""
        found: dict[Class, None] = {}
        if not self._passed_to:
            return found
        for each in [*self._origins.names_of_one(value)]:
            held_by = self._holder_of(each)
            for name in self._origins.names_of_one(held_by) if held_by != each else (each,):
                self._named_by.setdefault(name, set()).add(value)
                if name in self._passed_to:
                    found[self._passed_to[name]] = None
        return found

    def _is_compared(self, value: int) -> bool:
        """Whether ``value`` is what an object is compared with: mostly another of its class."""
        kind = self._engine.values[value]
        return kind[0] == "P" and kind[1].unit.qualname.rpartition(".")[2] in _COMPARING

    def _classes_made_of(self, value: int) -> dict[Class, None]:
        """The classes whose constructors get ``value``: ``Row(row)`` copies the parts of another."""
        found: dict[Class, None] = {}
        for each in self._origins.names_of_one(value):
            kind = self._engine.values[each]
            if kind[0] == "P" and kind[1].unit.qualname.endswith(_CONSTRUCTORS):
                unit = kind[1].unit
                if unit.owner >= 0 and unit.params[kind[2]][2] is None:
                    found[self._engine.class_(kind[1].module, unit.owner)] = None
        return found

    def _holder_of(self, value: int) -> int:
        """The container that ``value`` is taken out of, however deep; or itself."""
        values = self._engine.values
        while True:
            kind = values[value]
            if kind[0] == "R":
                method = values[kind[1]]
                if method[0] != "A" or method[2] not in _GIVING_PARTS:
                    return value
                value = method[1]
            elif kind[0] == "E":
                value = kind[1]
            else:
                return value

    def _ask_class(
        self, class_: Class, vague: dict[tuple[str, int], Demand], *, plain: bool = False
    ) -> bool:
        """Ask the class of a target for what is done with what may be another of its instances.

        ``plain``: also for what texts and numbers have.
        """
        known = self._asked_of.setdefault(class_, set())
        asked = False
        for (name, distance), demand in vague.items():
            if (name, distance) not in known and (plain or name not in _OF_PLAIN):
                known.add((name, distance))
                alike = demand.guessed("duck-typed")
                for each in (name, STEPS[name]) if name in STEPS else (name,):
                    self._classes.want_found(class_, each, alike)
                    self._classes.want_override(class_, each, alike)
                asked = True
        return asked

    def _nearest(self, value: int) -> dict[tuple[str, int], Demand]:
        """What else is done with a value, by who is nearest: (name, distance)."""
        found: dict[tuple[str, int], Demand] = {}
        for name, demand in self._vague[value]:
            found.setdefault((name, self._growth.distance_by(demand)), demand)
        return found

    def _ask_for(self, telling: str, vague: dict[tuple[str, int], Demand]) -> bool:
        """Ask what has the attribute ``telling`` for the rest; whether it is new."""
        known = self._asked.setdefault(telling, set())
        asked = False
        for (name, distance), demand in vague.items():
            if (name, distance) not in known:
                known.add((name, distance))
                duck_typed = demand.guessed("duck-typed")
                for each in (name, STEPS[name]) if name in STEPS else (name,):
                    asked |= self._classes.want_where(telling, each, duck_typed)
        return asked

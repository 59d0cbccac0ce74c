"""What stands in an attribute where it is read right behind the statement that stored it.

::

    box.handler = first
    box.handler()  # whatever else is ever stored there, here it is `first`
    box.handler = second

A strong update of a place that is surely the same (must alias): the same attribute of what the same
name holds, on a straight line of code. Between the two no code may run but that of the names
themselves. What the attribute really does (a property, ``__setattr__``) the engine knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.summary import Op, Register

LONGEST: Final = 16
"""Of longer lists it is not told apart what stands where."""
Place: TypeAlias = tuple[str, str]
"""A name, and an attribute of what it holds."""

_QUIET: Final = frozenset(
    {
        *(s.ANNOTATION, s.BIND, s.CLASSVAR, s.DECLARE, s.FREE, s.FUNCTION, s.GLOBAL, s.LAMBDA),
        *(s.NARROW, s.PHI, s.STRING, s.THIS_CLASS, s.TOLD),
    }
)
"""Operations that run no code but their own, and store nothing in an object."""


class Occupant(NamedTuple):
    """What a store has put into a place.

    ``source``: the register, or of a statement of the module its unit and operation. ``holder``:
    what the name was bound to then. ``start``: the first operation behind it.
    """

    source: Register | tuple[int, int]
    holder: Register | tuple[int, ...] | None
    start: int


class Elements(NamedTuple):
    """What stands where in a list that a display of a function has made: nobody else has it yet."""

    sources: tuple[Register, ...]
    holder: Register


class Line:
    """The places of which it is known what stands there, on a straight line of code.

    ``lists``: by the name that alone has one. ``shared``: names that other functions read, or what
    a generator will run. ``noted``: by the name, the operations that read what stands in its list,
    of those in ``standing``. ``inside``: how many comprehensions are around.
    """

    __slots__ = ("inside", "lists", "noted", "places", "shared", "standing")

    def __init__(self, standing: dict[int, s.Stored]) -> None:
        self.standing = standing
        self.noted: dict[str, list[int]] = {}
        self.places: dict[Place, Occupant] = {}
        self.lists: dict[str, Elements] = {}
        self.shared: set[str] = set()
        self.inside = 0

    def clear(self) -> None:
        """Nothing is known any more."""
        self.places.clear()
        self.lists.clear()

    def read(self, name: str) -> None:
        """Whoever reads the name may have the list from now on."""
        self.lists.pop(name, None)
        if self.inside:
            self.share(name)

    def unbind(self, name: str) -> None:
        """The name has something else from now on."""
        self.lists.pop(name, None)
        for place in [place for place in self.places if place[0] == name]:
            del self.places[place]

    def share(self, name: str) -> None:
        """Another function reads the name, whenever it is called: in the next round, too."""
        self.lists.pop(name, None)
        self.shared.add(name)
        for index in self.noted.pop(name, ()):
            self.standing.pop(index, None)

    def note_element(self, name: str, index: int, source: Register) -> None:
        """An operation reads what stands in the list that the name has."""
        self.standing[index] = source, ()
        self.noted.setdefault(name, []).append(index)

    def both(self, one: dict[str, Elements], other: dict[str, Elements]) -> None:
        """Of two ways one has been taken: what is the same on both is known."""
        self.lists = {name: held for name, held in one.items() if other.get(name) is held}

    def forget(self, attribute: str) -> None:
        """Something else may have been stored under that name, whatever holds it."""
        for place in [place for place in self.places if place[1] == attribute]:
            del self.places[place]

    def step(self, ops: Sequence[Op]) -> None:
        """A statement of the module has run; the next has operations of its own."""
        for place, known in [*self.places.items()]:
            if between(known, ops, len(ops)) == ():
                self.places[place] = known._replace(start=0)
            else:
                del self.places[place]

    def interrupt(self) -> None:
        """Other code may have run."""
        self.places.clear()


def changed(
    held: Elements, method: str, numbers: Sequence[int | None], given: Sequence[Register]
) -> tuple[Elements, Register | None] | None:
    """The list behind a call of ``method``, and what that gives; ``None``: that is not known.

    ``numbers``: which number an argument is; ``given``: what has its value.
    """
    sources = list(held.sources)
    taken: Register | None = None
    match method, numbers:
        case "append", [_]:
            sources.append(given[0])
        case "clear", []:
            sources.clear()
        case "reverse", []:
            sources.reverse()
        case "insert", [int(place), _]:
            sources.insert(place, given[1])
        case "pop", [] if sources:
            taken = sources.pop()
        case "pop", [int(place)] if -len(sources) <= place < len(sources):
            taken = sources.pop(place)
        case _:
            return None
    if len(sources) > LONGEST:
        return None
    return held._replace(sources=tuple(sources)), taken


def _is_quiet(op: Op) -> bool:
    return op[0] in _QUIET or (op[0] == s.SEQUENCE and op[2] != "set" and not op[4])


def between(known: Occupant, ops: Sequence[Op], end: int) -> tuple[str, ...] | None:
    """The other attributes of the same object that are read and stored behind the store, up to ``end``.

    ``None`` where more happens than that.
    """
    touched: dict[str, None] = {}
    for op in islice(ops, known.start, end):
        code = op[0]
        if _is_quiet(op):
            continue
        if code == s.ATTR and op[2] == known.holder:
            touched[op[3]] = None
        elif code == s.SETATTR and op[1] == known.holder:
            touched[op[2]] = None
        else:
            return None
    return tuple(touched)

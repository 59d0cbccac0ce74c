"""What stands in an attribute where it is read right behind the statement that stored it.

::

    box.handler = first
    box.handler()  # whatever else is ever stored there, here it is `first`
    box.handler = second

A strong update of a place that is surely the same (must alias): the same attribute of what the same
name holds, on a straight line of code. Between the two only such code may run that stores nothing
there: nothing at all, or, of the module's own statements, calls of functions of which none does so,
which the engine knows. What the attribute really does (a property, ``__setattr__``) it knows too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.summary import Op, Register

Place: TypeAlias = tuple[str, str]
"""A name, and an attribute of what it holds."""

_QUIET: Final = frozenset(
    {
        *(s.ANNOTATION, s.BIND, s.CLASSVAR, s.DECLARE, s.FREE, s.FUNCTION, s.GLOBAL, s.LAMBDA),
        *(s.NARROW, s.PHI, s.STRING, s.THIS_CLASS, s.TOLD),
    }
)
"""Operations that run no code but their own, and store nothing in an object."""


class Standing(NamedTuple):
    """What a store has put into a place.

    ``source``: the register, or of a statement of the module its unit and operation. ``holder``:
    what the name was bound to then. ``start``: the first operation behind it. ``others``: whether
    code has run since that may be anyone's.
    """

    source: Register | tuple[int, int]
    holder: Register | tuple[int, ...] | None
    start: int
    others: bool


class Line:
    """The places of which it is known what stands there, on a straight line of code.

    ``untouched``: the classes by their names, of which nobody has asked anything since they were made.
    """

    __slots__ = ("places", "untouched")

    def __init__(self) -> None:
        self.places: dict[Place, Standing] = {}
        self.untouched: dict[str, int] = {}

    def clear(self) -> None:
        """Nothing is known any more."""
        self.places.clear()
        self.untouched.clear()

    def forget(self, attribute: str) -> None:
        """Something else may have been stored under that name, whatever holds it."""
        for place in [place for place in self.places if place[1] == attribute]:
            del self.places[place]

    def step(self, ops: Sequence[Op]) -> None:
        """A statement of the module has run; the next has operations of its own."""
        if self.untouched and not all(map(is_store_or_quiet, ops)):
            self.untouched.clear()
        for place, known in self.places.items():
            others = known.others or between(known, ops, len(ops)) != ()
            self.places[place] = known._replace(start=0, others=others)

    def interrupt(self) -> None:
        """Other code may have run."""
        self.untouched.clear()
        for place, known in self.places.items():
            self.places[place] = known._replace(others=True)


def runs_nothing(ops: Sequence[Op]) -> bool:
    """Whether operations run no code but their own."""
    return all(map(_is_quiet, ops))


def _is_quiet(op: Op) -> bool:
    return op[0] in _QUIET or (op[0] == s.SEQUENCE and op[2] != "set" and not op[4])


def is_store_or_quiet(op: Op) -> bool:
    """Whether it runs no code but its own, or stores an attribute."""
    return op[0] == s.SETATTR or _is_quiet(op)


def between(known: Standing, ops: Sequence[Op], end: int) -> tuple[str, ...] | None:
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

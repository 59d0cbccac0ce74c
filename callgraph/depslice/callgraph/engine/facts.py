"""What the evaluation of a unit finds out: tuples that start with their kind.

Positions are packed (:func:`depslice.callgraph.summary.pack`). While an operation is executed
its own is :data:`HERE`: so what many operations find alike is one tuple (and a program has
millions of them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from depslice.callgraph.engine.values import Lookup

Fact: TypeAlias = tuple[Any, ...]
Access: TypeAlias = Literal["read", "write", "delete"]
Whose: TypeAlias = Literal["library", "somebody", "others"]
"""Whose code gets something: none but the standard library's, nobody knows, that of others."""
Listing: TypeAlias = Literal["vars", "line", "dir", "annotated", "hints", "subclasses", "outside"]
"""What is read of a class: its names, its annotations; ``dir`` and ``hints`` inherited, too.

``outside``: all that an object has which stands in for something outside, and that its methods
give.
"""

NAME: Final = 0  # module name versions|None pos ["dynamic"]   a module-scope name is read
MEMBER: Final = (
    1  # class name pos open how certain    a member found on a class: "call", "read", "write", "delete",
    #    "class" (on the class itself), "line" (on any class that it is made of), "super",
    #    "named" (in an annotation), "checked" (a protocol, by isinstance);
    #    ALL names: a listing, "write" (those that are told)
)
CALL: Final = 2  # function pos certain rule external   a function body may run
UNKNOWN: Final = 3  # attr pos access value              attribute of an open value
PROTOCOL: Final = 4  # dunder pos value                  implicit call on an open value
EXTERNAL: Final = 5  # dotted pos is_call                something outside the repo
UNRESOLVED: Final = 6  # name reason pos
INSTANCE: Final = 7  # class pos                         a class of the repo is instantiated
MODULE: Final = 8  # module pos ["attribute"]                          a module object is named
ANNOTATE: Final = 9  # module name pos eager             a name stands in an annotation (eager:
#                    None in a string that linters do not take for one)
DYNAMIC: Final = 10  # owner prefix suffix pos value     getattr with a computed name; owner: class, module or None
NAMED: Final = (
    11  # value name access pos of_many       getattr, setattr … of an open value with an open name
    # of_many: the value is one of more modules than a few
)
WRITE: Final = (
    12  # module name pos                     a module-scope name is rebound or its object changed
)
INHERIT: Final = 13  # class pos
CLASSREF: Final = 15  # class pos                        a class object is used as a value
PASS: Final = 16  # function index values               these values are passed to a parameter
APPLY: Final = 17  # value args keywords spread pos      an open value is called with these
ASKED: Final = 18  # lookup pos                         the facts of that lookup hold here
INHERIT_EXTERNAL: Final = 19  # dotted pos              a base outside the repo
LISTED: Final = 20  # value name|ALL how pos            a listing of an open value
BY_NAME: Final = (
    21  # value access pos                an attribute by a name that some text elsewhere is
    # ("fill": one, or an item, that a field of a template reads)
)
FILL: Final = (
    22  # class name values                   a generated constructor stores these in a field
    # container name values: these are put into a container that another module has made
)
HANDED: Final = 23  # values pos whose                  code outside the repo gets these objects
IMPORTED: Final = (
    24  # value pos is_there             a module by a name that callers know: which, is open
)
"""Kinds; the comment names the fields that follow."""

POSITION: Final = {
    NAME: 4,
    MEMBER: 3,
    CALL: 2,
    UNKNOWN: 2,
    PROTOCOL: 2,
    EXTERNAL: 2,
    UNRESOLVED: 3,
    INSTANCE: 2,
    MODULE: 2,
    ANNOTATE: 3,
    DYNAMIC: 4,
    NAMED: 4,
    WRITE: 3,
    INHERIT: 2,
    INHERIT_EXTERNAL: 2,
    CLASSREF: 2,
    APPLY: 5,
    ASKED: 2,
    LISTED: 4,
    BY_NAME: 3,
    HANDED: 2,
    IMPORTED: 2,
}
"""Where a fact of each kind holds its position; the others have none."""


BY_NAME_ALONE: Final = "by-name"
CROWDED_OUT: Final = "by-name-beside"
"""Rules by which methods are called because of their name alone: of something of which nothing is
known; beside what is known there, and does not have it."""
ALL: Final = "*"
"""Stands for every name of a class."""

HERE: Final = 2
"""Stands for the position of the operation that notes the fact; ``-HERE`` where that is negative."""


def placed(facts: Iterable[Fact], here: int) -> Iterator[Fact]:
    """``facts`` of an operation at ``here`` as they hold there, those of its lookups included."""
    for fact in facts:
        place = POSITION.get(fact[0])
        pos = here if place is None or abs(fact[place]) == HERE else fact[place]
        if fact[0] == ASKED:
            yield from answered(fact[1], pos)
        else:
            yield fact if place is None else (*fact[:place], pos, *fact[place + 1 :])


def answered(lookup: Lookup, pos: int) -> Iterator[Fact]:
    """The facts of ``lookup`` as they hold where it was asked."""
    for fact in lookup.facts:
        if fact[0] == ASKED:
            yield from answered(fact[1], pos)
            continue
        place = POSITION.get(fact[0])
        yield fact if place is None else (*fact[:place], pos, *fact[place + 1 :])

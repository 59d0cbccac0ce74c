"""What the evaluation of a unit finds out: tuples that start with their kind.

Positions are packed (:func:`depslice.callgraph.summary.pack`).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Fact: TypeAlias = tuple[Any, ...]

NAME: Final = 0  # module name versions|None pos        a module-scope name is read
MEMBER: Final = (
    1  # class name pos open how certain    a member found on a class ("call"/"read"/"write")
)
CALL: Final = 2  # function pos certain rule external   a function body may run
UNKNOWN: Final = 3  # attr pos is_call value             attribute of an open value
PROTOCOL: Final = 4  # dunder pos value                  implicit call on an open value
EXTERNAL: Final = 5  # dotted pos is_call                something outside the repo
UNRESOLVED: Final = 6  # name reason pos
INSTANCE: Final = 7  # class pos                         a class of the repo is instantiated
MODULE: Final = 8  # module pos ["attribute"]                          a module object is named
ANNOTATE: Final = 9  # module name pos eager             a name stands in an annotation
DYNAMIC: Final = 10  # owner prefix suffix pos value     getattr with a computed name; owner: class, module or None
WRITE: Final = (
    12  # module name pos                     a module-scope name is rebound or its object changed
)
INHERIT: Final = 13  # class pos
CLASSREF: Final = 15  # class pos                        a class object is used as a value
PASS: Final = 16  # function index values               these values are passed to a parameter
APPLY: Final = 17  # value args                          an open value is called with these
"""Kinds; the comment names the fields that follow."""

"""What a method of a base outside calls of the class of the repo that extends it.

``parser.feed(text)`` of an ``HTMLParser`` calls ``handle_starttag``, if the class overrides it.
Which methods ask their object for what was read from the standard library's sources
(:mod:`depslice.callgraph.stubs.called_back`); here it meets the classes of a program.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, NamedTuple

from depslice.callgraph.engine.library import FOUND_BY_NAME
from depslice.callgraph.engine.values import Class
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.called_back import MAKE, called_back
from depslice.callgraph.stubs.store import StubClass, Stubs

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation
    from depslice.callgraph.engine.stubtypes import StubTypes


class Asked(NamedTuple):
    """What a method asks its object for, and the methods that it calls in turn.

    ``own`` are the names that the class has itself, or :data:`MAKE`; ``others`` those that a
    subclass may have. ``known``: whether it is known at all what the method asks for.
    """

    own: tuple[str, ...]
    others: tuple[str, ...]
    known: bool


_UNKNOWN: Final = Asked((), (), False)
_VIEWS: Final = {
    "keys": ("__contains__", "__len__"),
    "items": ("__len__",),
    "values": ("__len__",),
}
"""What is asked of a mapping by way of what these methods give."""
_OBJECT: Final = "builtins.object"
_MADE_WITH: Final = frozenset({"__init__", "__new__"})


class Overridden:
    """Answers for one engine; a method of a class is looked at once."""

    def __init__(self, engine: ContainerEvaluation, stubs: Stubs, types: StubTypes) -> None:
        self._engine = engine
        self._stubs = stubs
        self._types = types
        self._known: dict[tuple[Class | str, ...], Asked] = {}

    def asked_by(self, class_: Class, name: str) -> Asked:
        """What the method ``name``, which ``class_`` has from outside, asks its object for."""
        key: tuple[Class | str, ...] = (class_, name, *self._engine.external_bases(class_))
        found = self._known.get(key)
        if found is None:
            found = self._find(class_, name)
            if class_.mro_cache is not None:
                self._known[key] = found
        return found

    def all_of(self, class_: Class, declared: Sequence[StubClass]) -> tuple[str, ...]:
        """The methods that ``class_`` overrides of a base, where that is one of ``declared``."""
        bases = [base for base, _ in self._types.outer_bases(class_)]
        order = [each for base in bases for each in self._stubs.mro(base)]
        dotted = {each.dotted for each in order}
        if not any(each.dotted in dotted for each in declared if each.dotted != _OBJECT):
            return ()
        asked = {
            n for c in order for names in called_back().get(c.dotted, {}).values() for n in names
        }
        patterns = [name for name in asked if "*" in name]
        patterns += [name for each in dotted for name in FOUND_BY_NAME.get(each, ())]
        declares = {
            n
            for c in order
            if c.dotted != _OBJECT
            for n, m in c.members.items()
            if m[0] == d.FUNCTION
        }
        members = dict.fromkeys(n for k in self._engine.mro(class_) for n in k.info.members)
        return tuple(
            name
            for name in members
            if name not in _MADE_WITH
            and (name in declares or any(fnmatchcase(name, pattern) for pattern in patterns))
        )

    def _find(self, class_: Class, name: str) -> Asked:
        bases = [base for base, _ in self._types.outer_bases(class_)]
        order = [each for base in bases for each in self._stubs.mro(base)]
        if not _names(order, name):
            return _UNKNOWN
        own: dict[str, None] = {}
        others: dict[str, None] = {}
        members = dict.fromkeys(n for k in self._engine.mro(class_) for n in k.info.members)
        queue = [name]
        if name in _VIEWS and not self._engine.whole:  # what the view may be asked
            own.update(dict.fromkeys(each for each in _VIEWS[name] if each in members))
        while queue:
            for asked in _names(order, queue.pop()):
                if asked in own or asked in others or asked == name:
                    continue
                if asked == MAKE or asked in members:
                    own[asked] = None
                elif "*" in asked:
                    own.update(dict.fromkeys(n for n in members if fnmatchcase(n, asked)))
                    if "__getattr__" in members:
                        own["__getattr__"] = None
                else:
                    others[asked] = None
                    queue.append(asked)
                    if asked == "__ne__" and "__eq__" in members:  # which that of `object` asks
                        own["__eq__"] = None
        return Asked(tuple(own), tuple(others), True)


def _names(order: list[StubClass], method: str) -> tuple[str, ...]:
    """What ``method`` asks for, by the first of these classes that defines it."""
    known = called_back()
    for each in order:
        if each.dotted == _OBJECT:
            continue  # the last of all, though each base has it
        asked = known.get(each.dotted, {}).get(method)
        if asked is not None:
            return tuple(asked)
        # Written in C, or asking for nothing. (Stubs derive `dict` from `MutableMapping`.)
        if method in each.members or each.dotted.startswith("builtins."):
            return ()
    return ()

"""What code that comes with an argument inherits from classes that a slice has in part.

The slice's class stands where the original's did, as the base of an argument's own class. The
slice lacks what only the argument's code asks for: that is the argument's own affair, and lent
to this code alone. To the slice's code it is not there, as it would not be elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from .parts import mro_of, namespace_of

_WRAPPERS = {"staticmethod": staticmethod, "classmethod": classmethod}
_BASES = type.__dict__["__bases__"]

Members = list[tuple[str, str, str]]
"""Of each: its name, its wrapper or nothing, and the name by which it is lent."""


def asked_members(kind: type, name_of: Callable[[Any], str]) -> Members:
    """The members of bases with a name that code of ``kind`` names, or code of such members."""
    names = set(_names_in(namespace_of(kind).values()))
    owners = {base: name_of(base) for base in mro_of(kind)[1:]}
    found: dict[str, tuple[str, str, str]] = {}
    fresh = names
    while fresh:
        more: set[str] = set()
        for name in sorted(fresh):
            if name.startswith("__") or name in namespace_of(kind):
                continue
            for base, owner in owners.items():
                if name in namespace_of(base):
                    if owner:
                        member = namespace_of(base)[name]
                        found[name] = name, type(member).__name__, f"{owner}.{name}"
                        more.update(_names_in([member]))
                    break
        fresh = more - names
        names |= more
    return list(found.values())


def _names_in(values: Any) -> Iterator[str]:
    for value in values:
        for part in (value, *(getattr(value, each, None) for each in ("fget", "fset", "__func__"))):
            if type(part) is FunctionType:
                yield from _names_of(part.__code__)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _names_of(constant)


class Inherited:
    """In a class that came with an argument: a member that its base lacks in the slice."""

    def __init__(self, member: tuple[str, str, str], home: Any) -> None:
        self.name, self.wrapper, self.key = member
        self.home = home

    def __get__(self, instance: Any, owner: type) -> Any:
        """The original's, for code that came with arguments; for other code it is not there."""
        if not sys._getframe(1).f_code.co_filename.startswith(self.home.lenders):  # noqa: SLF001
            what = f"type object {owner.__name__!r}"
            raise AttributeError(
                f"{what if instance is None else repr(owner.__name__) + ' object'}"
                f" has no attribute {self.name!r}",
                name=self.name,
                obj=owner if instance is None else instance,
            )
        value = self.home.find(self.key)
        value = _WRAPPERS.get(self.wrapper, lambda plain: plain)(value)
        bind = getattr(type(value), "__get__", None)
        return value if bind is None else bind(value, instance, owner)


def give(kind: type, members: Members, home: Any) -> None:
    """Give ``kind`` a last base with what no class has here that it is made of.

    A base, which `super()` finds, too; the last, which changes nothing of the instances' form.
    """
    lacking: dict[str, Any] = {}
    for member in members:
        home.asked.setdefault(member[2])
        if not any(member[0] in namespace_of(each) for each in mro_of(kind)):
            lacking[member[0]] = Inherited(member, home)
    if lacking:
        base = type(kind.__name__, (), {"__slots__": (), **lacking})
        _BASES.__set__(kind, (*_BASES.__get__(kind), base))

"""What code that comes with an argument asks of classes that a slice has in part.

The slice's class stands where the original's did: as the base of an argument's own class, or as
that of an object which a callback gets. The slice lacks what only the argument's code asks for:
that is the argument's own affair, and lent to this code alone. To the slice's code it is not
there, as it would not be elsewhere.

Special methods that a class of an argument inherits are asked for by no code but the interpreter's
(``repr`` of a list asks for ``__repr__``): the slice, which does not have the class, cannot know of
them. The class has them as its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FrameType, FunctionType, MemberDescriptorType
from typing import Any

from .parts import attributes_of, dictionary_of, mro_of, namespace_of

_WRAPPERS = {"staticmethod": staticmethod, "classmethod": classmethod}
_WRAPPED: dict[type, tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}
_BASES = type.__dict__["__bases__"]
_SPECIAL = (FunctionType, staticmethod, classmethod, type(None))  # None: `__hash__`
_BY_A_NAME = frozenset({"__getattribute__", "__setattr__", "__delattr__"})
"""Special methods that are asked with a name which stands in the code that asks."""
_OF_EACH = frozenset({"__doc__", "__init_subclass__"})  # had, or asked for, where a class is made

NameOf = Callable[[Any], str]
Member = tuple[str, str, str]
"""Its name, its wrapper or nothing, and the name by which it is lent."""

Members = list[Member]
Owned = list[tuple[str, Member]]
"""Members with the names of their classes."""


def asked_members(kind: type, name_of: NameOf) -> Members:
    """The members of bases with a name that code of ``kind`` names, or code of such members."""
    names = set(names_in(kind))
    owners = {base: name_of(base) for base in mro_of(kind)[1:]}
    found: dict[str, Member] = {}
    fresh = names | {"__getattr__"}  # which the reading of any name may ask for
    while fresh:
        more: set[str] = set()
        for name in sorted(fresh):
            is_own = name in namespace_of(kind)
            if (is_own and "super" not in names) or (_is_special(name) and not is_own):
                continue
            base = _first_with(name, owners)
            if base is None or not owners[base]:
                continue
            member = namespace_of(base)[name]
            if _is_lent(name, member):
                found[name] = name, type(member).__name__, f"{owners[base]}.{name}"
                more.update(names_in(member))
        fresh = more - names
        names |= more
    return list(found.values())


def special_members(kind: type, name_of: NameOf) -> Owned:
    """The special methods that ``kind`` inherits from classes which a slice may have in part."""
    owners = {base: name_of(base) for base in mro_of(kind)[1:]}
    found: dict[str, tuple[str, Member]] = {}
    for base, owner in owners.items():
        for name, member in namespace_of(base).items() if owner else ():
            if (
                _is_special(name)
                and name not in _BY_A_NAME
                and name not in namespace_of(kind)
                and _first_with(name, owners) is base
                and _is_lent(name, member)
            ):
                found[name] = owner, (name, type(member).__name__, f"{owner}.{name}")
    return list(found.values())


def _first_with(name: str, bases: Iterable[type]) -> type | None:
    return next((base for base in bases if name in namespace_of(base)), None)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name != "__getattr__"


def _is_lent(name: str, member: Any) -> bool:
    """Whether it is a member that code asks for, not what each class has, nor part of its form."""
    if name.startswith("__"):
        return name not in _OF_EACH and issubclass(type(member), _SPECIAL)
    return type(member) is not MemberDescriptorType


def names_in(definition: Any) -> Iterator[str]:
    """The names in the code of a function, a class, or what stands for a function in one."""
    if issubclass(type(definition), type):
        for each in namespace_of(definition).values():
            if not issubclass(type(each), type):
                yield from names_in(each)
        return
    parts = [definition]
    for wrapper, inner in _WRAPPED.items():
        if issubclass(type(definition), wrapper):
            parts = [getattr(definition, each) for each in inner]
    for part in parts:
        if type(part) is FunctionType:
            yield from _names_of(part.__code__)


def _names_of(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _names_of(constant)


def members_named(kinds: Iterable[type], names: set[str], name_of: NameOf) -> Owned:
    """The members of these classes and their bases with one of these names, or one in their code."""
    owners = {owner: name_of(owner) for kind in kinds for owner in mro_of(kind)}
    found: Owned = []
    fresh, seen = names, set(names)
    while fresh:
        more: set[str] = set()
        for owner, known in owners.items():
            for name in sorted(fresh & namespace_of(owner).keys()) if known else ():
                member = namespace_of(owner)[name]
                if not name.startswith("__") and type(member) is not MemberDescriptorType:
                    found.append((known, (name, type(member).__name__, f"{known}.{name}")))
                    more.update(names_in(member))
        fresh = more - seen
        seen |= more
    return found


class Inherited:
    """A member that a class lacks in the slice, for code that came with arguments.

    To other code it is not there: an attribute of this name is one like others.
    """

    def __init__(self, member: Member, home: Any) -> None:
        self.name, self.wrapper, self.key = member
        self.home = home

    def __get__(self, instance: Any, owner: type) -> Any:
        """The original's, for code that came with arguments."""
        known = {} if instance is None else attributes_of(instance)
        if not self._is_for(sys._getframe(1)):  # noqa: SLF001
            if self.name in known:
                return known[self.name]
            raise self._missing(instance, owner)
        value = self._member()
        if self.name in known and not hasattr(type(value), "__set__"):
            return known[self.name]
        bind = getattr(type(value), "__get__", None)
        return value if bind is None else bind(value, instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        """By the original's, if that minds, for code that came with arguments."""
        if self._is_for(sys._getframe(1)):  # noqa: SLF001
            member = self._member()
            if hasattr(type(member), "__set__"):
                type(member).__set__(member, instance, value)
                return
        dictionary_of(instance)[self.name] = value

    def __delete__(self, instance: Any) -> None:
        """Take out the attribute of this name."""
        if self.name not in attributes_of(instance):
            raise self._missing(instance, type(instance))
        del dictionary_of(instance)[self.name]

    def _is_for(self, frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(self.home.lenders)

    def _member(self) -> Any:
        value = self.home.find(self.key)
        return _WRAPPERS.get(self.wrapper, lambda plain: plain)(value)

    def _missing(self, instance: Any, owner: type) -> AttributeError:
        what = f"type object {owner.__name__!r}"
        return AttributeError(
            f"{what if instance is None else repr(owner.__name__) + ' object'}"
            f" has no attribute {self.name!r}",
            name=self.name,
            obj=owner if instance is None else instance,
        )


class Special(Inherited):
    """A special method that a class of an argument inherits, as one of its own."""

    def __get__(self, instance: Any, owner: type) -> Any:
        """The original's, whoever asks."""
        value = self._member()
        bind = getattr(type(value), "__get__", None)
        return value if bind is None else bind(value, instance, owner)

    def _is_for(self, frame: FrameType) -> bool:
        return True


def give(kind: type, members: Members, special: Owned, home: Any) -> None:
    """Give ``kind`` a last base with what no class has here that it is made of.

    A base, which `super()` finds, too; the last, which changes nothing of the instances' form.
    Special methods that it lacks become its own: others of this name, `object`'s, come before
    the last base.
    """
    for owner, member in special:
        home.asked.setdefault(member[2])
        if not _owns(owner, member[0], home):
            type.__setattr__(kind, member[0], Special(member, home))
    lacking: dict[str, Any] = {}
    for member in members:
        home.asked.setdefault(member[2])
        if not _has_behind(kind, member[0]):
            lacking[member[0]] = Inherited(member, home)
    if lacking:
        base = type(kind.__name__, (), {"__slots__": (), **lacking})
        _BASES.__set__(kind, (*_BASES.__get__(kind), base))


def give_to_owners(members: Owned, home: Any) -> None:
    """Give classes of the slice what they lack of these members."""
    for owner, member in members:
        home.asked.setdefault(member[2])
        try:
            kind = home.find(owner)
        except (AttributeError, ImportError, KeyError):
            continue  # nor is there an instance of it
        if not _has(kind, member[0]):
            type.__setattr__(kind, member[0], Inherited(member, home))


def _has(kind: type, name: str) -> bool:
    return any(name in namespace_of(each) for each in mro_of(kind))


def _has_behind(kind: type, name: str) -> bool:
    """Whether one of its bases has it; `object`, which is behind the last base, aside."""
    return any(name in namespace_of(each) for each in mro_of(kind)[1:-1])


def _owns(owner: str, name: str, home: Any) -> bool:
    """Whether the class of this name has the member here; or is none, so that it is not a base."""
    try:
        return name in namespace_of(home.find(owner))
    except (AttributeError, ImportError, KeyError):
        return True

"""Which members of a class its bases outside the repository look for.

A base can call what it knows the name of: what it declares itself, and what its documentation
says it finds by name (``do_GET``, ``visit_Name``). Of classes of the standard library, typeshed
says the former, and their sources (:mod:`~depslice.callgraph.stubs.called_back`) and
:mod:`~depslice.callgraph.engine.library` the latter; of some others a table there. Any other base may do what it likes: read the class body, call every method.
"""

from __future__ import annotations

import collections.abc
import contextlib
import numbers
import os
import sys
import typing
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from depslice.callgraph.engine.library import FOUND_BY_NAME, INERT_BASES, WAITING, is_of
from depslice.callgraph.program import Module
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.called_back import called_back, private_names
from depslice.callgraph.stubs.store import StubClass, Stubs
from depslice.callgraph.summary import Piece
from depslice.slicer.pieces import is_decorated

_WITH_INTERFACES: Final = {
    each.__name__: each for each in (collections.abc, contextlib, numbers, os, typing)
}
_EXPORTS: Final = "types.ModuleType"  # what imports an instance reads what it likes


class _Known(NamedTuple):
    """What a base looks for; ``is_all``: of private names, too, which stubs do not list."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    is_all: bool


def abstract_of(base: str) -> frozenset[str]:
    """What an interface of the standard library (dotted name) leaves to who implements it."""
    module, _, name = base.rpartition(".")
    found = getattr(_WITH_INTERFACES.get(module), name, None)
    class_ = getattr(found, "__origin__", found)  # `typing.Mapping`
    return frozenset(getattr(class_, "__abstractmethods__", ()))


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class Overrides:
    """Answers for one program; a base is looked at once."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._known: dict[str, _Known | None] = {}
        self._waiting: dict[str, bool] = {}
        self._declared: dict[tuple[str, ...], frozenset[str]] = {}

    def takes_all(self, bases: Iterable[str]) -> bool:
        """Whether one of these bases (dotted names, ``?``) may look for any member."""
        return any(base not in INERT_BASES and self._of(base) is None for base in bases)

    def knows(self, base: str) -> bool:
        """Whether it is known what a base looks for."""
        return base not in INERT_BASES and self._of(base) is not None

    def waits(self, bases: Iterable[str]) -> bool:
        """Whether all of these bases ask an instance for nothing until somebody uses it.

        Interfaces, and classes of which the source tells what each method calls: not those whose
        instances frameworks make, which nobody sees.
        """
        return all(map(self._is_waiting, bases))

    def _is_waiting(self, base: str) -> bool:
        known = self._waiting.get(base)
        if known is None:
            class_ = self._stubs.class_named(base) if is_of(base, WAITING) else None
            known = self._waiting[base] = class_ is not None and all(
                each.dotted in INERT_BASES
                or is_of(each.dotted, WAITING)
                or each.dotted in called_back()
                for each in self._stubs.mro(class_)
            )
        return known

    def reads(self, base: str, piece: Piece) -> bool:
        """Whether a base that waits has data, no code, of what ``piece``, a member, binds."""
        return any(
            each.members[name][0] == d.VARIABLE
            for each in self._line((base,))
            for name in piece.binds
            if name in each.members
        )

    def calling(self, bases: Iterable[str]) -> frozenset[str]:
        """The methods of these bases, inherited ones too, that call others of their object."""
        return frozenset(
            name for each in self._line(bases) for name in called_back().get(each.dotted, {})
        )

    def declared(self, bases: Sequence[str]) -> frozenset[str]:
        """The members of these bases, inherited ones too, as far as code may be told by them."""
        key = tuple(bases)
        found = self._declared.get(key)
        if found is None:
            names = {name for each in self._line(bases) for name in each.members}
            found = self._declared[key] = self.calling(bases) | names
        return found

    def _line(self, bases: Iterable[str]) -> Iterator[StubClass]:
        """All that these bases are made of, but ``object``."""
        for class_ in filter(None, map(self._stubs.class_named, bases)):
            yield from (e for e in self._stubs.mro(class_) if e.dotted != "builtins.object")

    def looks_for(self, bases: Iterable[str], module: Module, piece: Piece) -> bool:
        """Whether one of them may look for what ``piece``, a member, binds.

        A member with decorators of its own may have been registered by them. A private name is
        looked for by a base whose source was not read, a special one by any.
        """
        if is_decorated(module, piece) or self.names(bases, piece):
            return True
        known = [base for base in bases if self.knows(base)]
        is_all = all(found.is_all for found in map(self._of, known) if found)
        return bool(known) and any(
            _is_special(name) if is_all else name[0] == "_" for name in piece.binds
        )

    def names(self, bases: Iterable[str], piece: Piece) -> bool:
        """Whether one of them is known to look for it, or may look for anything."""
        return any(self.asks_for(bases, name) for name in piece.binds)

    def asks_for(self, bases: Iterable[str], name: str) -> bool:
        """Whether one of them is known to look for a member of that name, or for any."""
        return any(base not in INERT_BASES and self._wants(base, name) for base in bases)

    def _wants(self, base: str, name: str) -> bool:
        known = self._of(base)
        if known is None or name in known.names:
            return True
        return any(fnmatchcase(name, pattern) for pattern in known.patterns)

    def _of(self, base: str) -> _Known | None:
        if base not in self._known:
            self._known[base] = self._find(base)
        return self._known[base]

    def _find(self, base: str) -> _Known | None:
        if base.partition(".")[0] not in sys.stdlib_module_names:
            found = FOUND_BY_NAME.get(base)
            return None if found is None else _Known(frozenset(), found, is_all=True)
        class_ = self._stubs.class_named(base)
        if class_ is None:
            return None
        order = [each.dotted for each in self._stubs.mro(class_)]
        if _EXPORTS in order:
            return None
        names = {name for each in self._stubs.mro(class_) for name in each.members}
        names.update(name for each in order for name in private_names().get(each, ()))
        patterns = [name for each in order for name in FOUND_BY_NAME.get(each, ())]
        asked = called_back()
        patterns += [n for each in order for names in asked.get(each, {}).values() for n in names]
        is_all = any(each in asked for each in order)
        return _Known(frozenset(names), tuple(patterns), is_all)

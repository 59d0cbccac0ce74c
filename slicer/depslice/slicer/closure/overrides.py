"""Which members of a class its bases outside the repository look for.

A base can call what it knows the name of: what it declares itself, and what its documentation
says it finds by name (``do_GET``, ``visit_Name``). Of classes of the standard library, typeshed
says the former, and their sources (:mod:`~depslice.callgraph.stubs.called_back`) and
:mod:`~depslice.callgraph.engine.library` the latter; of some others a table there. Any other base may do what it likes: read the class body, call every method.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from depslice.callgraph.engine.library import FOUND_BY_NAME, INERT_BASES
from depslice.callgraph.program import Module
from depslice.callgraph.stubs.called_back import called_back
from depslice.callgraph.stubs.store import Stubs
from depslice.callgraph.summary import Piece
from depslice.slicer.pieces import is_decorated

_EXPORTS: Final = "types.ModuleType"  # what imports an instance reads what it likes


class _Known(NamedTuple):
    """What a base looks for, beside private names, which nobody lists."""

    names: frozenset[str]
    patterns: tuple[str, ...]


class Overrides:
    """Answers for one program; a base is looked at once."""

    def __init__(self, stubs: Stubs) -> None:
        self._stubs = stubs
        self._known: dict[str, _Known | None] = {}

    def takes_all(self, bases: Iterable[str]) -> bool:
        """Whether one of these bases (dotted names, ``?``) may look for any member."""
        return any(base not in INERT_BASES and self._of(base) is None for base in bases)

    def knows(self, base: str) -> bool:
        """Whether it is known what a base looks for."""
        return base not in INERT_BASES and self._of(base) is not None

    def looks_for(self, bases: Iterable[str], module: Module, piece: Piece) -> bool:
        """Whether one of them may look for what ``piece``, a member, binds.

        A member with decorators of its own may have been registered by them, and private
        names nobody lists.
        """
        return (
            is_decorated(module, piece)
            or self.names(bases, piece)
            or (any(map(self.knows, bases)) and any(name[0] == "_" for name in piece.binds))
        )

    def names(self, bases: Iterable[str], piece: Piece) -> bool:
        """Whether one of them is known to look for it, or may look for anything."""
        return any(
            base not in INERT_BASES and any(self._wants(base, name) for name in piece.binds)
            for base in bases
        )

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
            return None if found is None else _Known(frozenset(), found)
        class_ = self._stubs.class_named(base)
        if class_ is None:
            return None
        order = [each.dotted for each in self._stubs.mro(class_)]
        if _EXPORTS in order:
            return None
        names = {name for each in self._stubs.mro(class_) for name in each.members}
        patterns = [name for each in order for name in FOUND_BY_NAME.get(each, ())]
        asked = called_back()
        patterns += [n for each in order for names in asked.get(each, {}).values() for n in names]
        return _Known(frozenset(names), tuple(patterns))

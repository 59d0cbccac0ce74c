"""Statements that change an instance by a special method or a property, which nobody calls by name.

    4 in SEEN                        # `__contains__` notes what it was asked for
    with SEEN:                       # `__enter__`
        pass
    FIRST >> SECOND                  # `__rshift__`, of either
    SEEN.next                        # a property

They count where that is all a statement does. Who takes the result would have it without: what
is kept for others on the way to it (a query, settings that load themselves) is made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import Function, Values
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.arguments import Arguments
from depslice.slicer.closure.using_up import bound_to

_KINDS: Final = frozenset({"expr", "loop", "with"})
_MAKING: Final = frozenset(
    {"__class_getitem__", "__del__", "__init__", "__init_subclass__", "__new__"}
)
"""Special methods of which the instance knows nothing yet, or no more."""


class BySpecial:
    """Answers for one engine."""

    def __init__(self, engine: Engine, arguments: Arguments) -> None:
        self._engine = engine
        self._arguments = arguments

    def methods_that_change(self, values: Values) -> frozenset[Function]:
        """The special methods and properties that change the instances among ``values``."""
        classes = dict.fromkeys(
            each
            for kind in map(self._engine.values.__getitem__, sorted(values))
            if kind[0] == "I"
            for each in self._engine.mro(kind[1])
        )
        return frozenset(
            function
            for class_ in classes
            for unit in class_.module.summary.units
            if unit.owner == class_.info.index and unit.kind == "function" and unit.params
            if unit.flags & s.PROPERTY or _is_special(unit.qualname.rpartition(".")[2])
            if self._arguments.changes_parameter(
                function := self._engine.function(class_.module, unit.index), 0
            )
        )

    def pieces(
        self, module: Module, owner: Module, name: str, methods: frozenset[Function]
    ) -> Iterator[Piece]:
        """The statements of ``module`` that run one of ``methods`` on ``name`` of ``owner``."""
        names = {name} if module is owner else set(bound_to(module, name))
        for piece in module.summary.pieces:
            if piece.kind not in _KINDS or piece.unit < 0:
                continue
            unit = module.summary.units[piece.unit]
            if any(
                (op[0] == s.GLOBAL and op[2] in names)
                or (op[0] == s.ATTR and op[3] == name and module is not owner)
                for op in unit.ops
            ):
                facts = self._engine.facts_of(self._engine.function(module, unit.index))
                if any(fact[0] == f.CALL and fact[1] in methods for fact in facts):
                    yield piece


def _is_special(name: str) -> bool:
    return name[:2] == name[-2:] == "__" and name not in _MAKING

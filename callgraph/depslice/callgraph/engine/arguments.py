"""What one call passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from depslice.callgraph.engine.values import Values
from depslice.callgraph.summary import Position, Register


class Call(NamedTuple):
    """One call as a model of a library function sees it.

    ``args`` and ``keywords`` hold the possible values of each argument, ``register`` is the
    one the result goes to (-1: none, so that what is made there has no place of its own).
    """

    args: Sequence[Values]
    keywords: Mapping[str, Values]
    pos: Position
    register: Register

    def argument(self, index: int, name: str) -> Values:
        """The argument at ``index``, or of that name; empty if there is none."""
        if index < len(self.args):
            return self.args[index]
        return self.keywords.get(name, frozenset())

"""What one call passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from depslice.callgraph.engine.values import EMPTY, NO_KEYWORDS, Values
from depslice.callgraph.summary import Position, Register


class Call(NamedTuple):
    """One call of something outside the repo, as a model or a stub sees it.

    ``args`` and ``keywords`` hold the possible values of each argument, ``spread`` what
    ``*args`` and ``**kwargs`` may hold; ``register`` is the one the result goes to (-1: none,
    so that what is made there has no place of its own). ``declines``: an operator's, which says
    that it is not implemented for strangers; then these are asked (data model, 3.3.8).
    """

    args: Sequence[Values] = ()
    keywords: Mapping[str, Values] = NO_KEYWORDS
    spread: Values = EMPTY
    pos: Position = 0
    register: Register = -1
    declines: bool = False

    def argument(self, index: int, name: str) -> Values:
        """The argument at ``index``, or of that name; empty if there is none."""
        if index < len(self.args):
            return self.args[index]
        return self.keywords.get(name, frozenset())

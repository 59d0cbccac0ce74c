"""What an unannotated parameter can be, by what the function does with it.

Nobody of the program passes anything to the parameter of a public function. But a function
that reads ``graph.nodes``, ``graph.is_directed`` and ``graph.adj`` of it means an instance of
the one class of the repository that has all three, or of a subclass. A guess, not a proof:
what comes of it is never ``definite``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.library import BUILTIN_METHODS
from depslice.callgraph.engine.mro import common_base
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.summary import Unit

_FEWEST: Final = 2  # attributes that tell a class from others


def parameter_shapes(unit: Unit) -> dict[int, set[str]]:
    """For each parameter the attributes that are read of it: a parameter is a register."""
    shapes: dict[int, set[str]] = {}
    for op in unit.ops:
        if op[0] == s.ATTR and 0 <= op[2] < len(unit.params):
            shapes.setdefault(op[2], set()).add(op[3])
    return shapes


class Shapes:
    """The classes of a program by the attributes that their instances have."""

    def __init__(self, lines: Mapping[Class, tuple[Class, ...]]) -> None:
        """``lines``: each class with its linearisation."""
        self._lines = lines
        self._having: dict[str, set[Class]] = {}
        for class_, line in lines.items():
            for name in {n for k in line for n in (*k.info.members, *k.info.self_stores)}:
                self._having.setdefault(name, set()).add(class_)

    def meant(self, names: Iterable[str]) -> Class | None:
        """The class whose instances have all ``names``, the base of all others that do."""
        telling = sorted(names)
        if sum(name not in BUILTIN_METHODS and name[:2] != "__" for name in telling) < _FEWEST:
            return None
        fitting = set.intersection(*(self._having.get(name, set()) for name in telling))
        return common_base(fitting, self._lines.__getitem__)


def guesses(functions: Iterable[Function], shapes: Shapes) -> Iterator[tuple[Function, int, Class]]:
    """Each function, the index of a parameter that tells nothing of itself, and what it means."""
    for function in functions:
        params = function.unit.params
        for index, names in sorted(parameter_shapes(function.unit).items()):
            _, kind, annotation, _ = params[index]
            if annotation is None and kind not in ("va", "kw"):
                meant = shapes.meant(names)
                if meant is not None:
                    yield function, index, meant

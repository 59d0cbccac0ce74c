"""What an unannotated parameter can be, by its name: programs name the same thing alike.

Nobody of the program passes anything to the parameter ``graph`` of a public function, which
does nothing with it but ``len(graph)``. Where ten other parameters are called ``graph``, and
nearly all of them hold instances of one class or its subclasses, this one does too. A
guess, not a proof: what comes of it is never ``definite``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from depslice.callgraph.engine.mro import common_base
from depslice.callgraph.engine.values import Class

_FEWEST: Final = 10  # parameters that make a convention
_SHARE: Final = 0.8  # of those that hold something known


class Conventions:
    """The classes that parameters of each name hold."""

    def __init__(self, mro: Callable[[Class], Iterable[Class]]) -> None:
        """``mro`` linearises a class."""
        self._mro = mro
        self._held: dict[str, list[Class | None]] = {}

    def tell(self, name: str, classes: Iterable[Class]) -> None:
        """A parameter ``name`` holds something known: instances of ``classes``, if any."""
        self._held.setdefault(name, []).append(common_base(set(classes), self._mro))

    def meant(self, name: str) -> Class | None:
        """The class that a parameter ``name`` of which nothing is known means."""
        held = self._held.get(name, ())
        fewest = max(_FEWEST, _SHARE * len(held))
        if len(held) < fewest:
            return None
        counts = Counter(base for class_ in held if class_ for base in self._mro(class_))
        fitting = {class_ for class_ in held if class_ and counts[class_] >= fewest}
        return common_base(fitting, self._mro)

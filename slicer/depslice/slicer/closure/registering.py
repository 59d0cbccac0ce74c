"""Whether a function registers: puts what it is given into an object that others read.

``REGISTRY[name] = function`` in a decorator registers; ``_cache[key] = compute(key)`` does not.
Who calls a function that registers, directly or not, gives the object its content; who fills
a cache on the way gives it nothing that would not be computed again.
"""

from __future__ import annotations

from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.parts import FILLING, reads
from depslice.callgraph.summary import Unit

_HOLDING: Final = frozenset({s.PHI, s.SEQUENCE, s.MAPPING})
"""Operations whose result is, or holds, what they read."""


def fills_class_variable(unit: Unit, name: str) -> bool:
    """Whether a statement of a class body puts something into its variable ``name``.

    ``@name.register``, ``name[key] = method``, ``name.append(method)``.
    """
    objects: set[int] = set()
    for op in unit.ops:
        if op[0] == s.CLASSVAR and op[3] == name:
            objects.add(op[1])
        elif (op[0] == s.ATTR and op[2] in objects and op[3] in FILLING) or (
            op[0] == s.SETSUB and op[1] in objects
        ):
            return True
    return False


def registers(unit: Unit, names: frozenset[str]) -> bool:
    """Whether ``unit`` stores an argument, or one of a function around it, in what has a name.

    ``names`` are those of a module's variable, or of a class attribute. What is stored may be
    in a display (``X[k] = (f, more)``), the place in what is held there (``X[k].append(f)``).
    """
    given = set(range(len(unit.params)))
    objects: set[int] = set()  # what has the name, and what it holds
    methods: dict[int, str] = {}
    for op in unit.ops:
        code = op[0]
        if code == s.FREE or (code in _HOLDING and not given.isdisjoint(reads(op))):
            given.add(op[1])
        elif (code == s.GLOBAL and op[2] in names) or (code == s.ATTR and op[3] in names):
            objects.add(op[1])
        elif code == s.ATTR and op[2] in objects:
            methods[op[1]] = op[3]
        elif code == s.SUB and op[2] in objects:
            objects.add(op[1])
        elif code == s.SETSUB and op[1] in objects and op[3] in given:
            return True
        elif code == s.CALL and op[2] in methods:
            if methods[op[2]] in FILLING and not given.isdisjoint(reads(op)[1:]):
                return True
            objects.add(op[1])  # `X.setdefault(k, []).append(f)`
    return False

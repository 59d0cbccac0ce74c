"""Which operations of a unit matter for what it returns, and for what it stores.

Asking what a function returns should not evaluate all the function does: the operations
that its results do not depend on are left out (a backward slice within the unit, over
registers). Only a function whose references are wanted is evaluated in full.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import EMPTY
from depslice.callgraph.summary import Op, Unit

if TYPE_CHECKING:
    from depslice.callgraph.engine.values import Function

RETURNS: Final = 1
STORES: Final = 2
FULL: Final = 7

_IMPORTING: Final = frozenset({"import_module", "__import__"})
_NAMING: Final = frozenset({"getattr", "setattr", "delattr", "hasattr"})
_TAKING: Final = frozenset({s.ITEM, s.ITER})
_DIVIDING: Final = frozenset({"partition", "rpartition", "rsplit", "split"})
_NAMED: Final = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")
_FORMATTING: Final = frozenset({"format", "format_map"})
_RESULTS: Final = frozenset({s.RETURN, s.YIELD, s.YIELD_FROM})
_STORES: Final = frozenset({s.SETATTR, s.SETGLOBAL, s.SETFREE, s.BIND})
FILLING: Final = frozenset(
    {"append", "add", "appendleft", "insert", "extend", "update", "setdefault", "put", "register"}
)
PUTTING: Final = FILLING | {
    "__delattr__",
    "__delitem__",
    "__iadd__",
    "__ior__",
    "__setattr__",
    "__setitem__",
}
"""Methods that change what they are called on, those included that statements call."""
NO_RESULT: Final = frozenset(
    {
        s.SETATTR,
        s.SETSUB,
        s.COMPARE,
        s.TRUTH,
        s.FORMAT_VALUE,
        s.RETURN,
        s.BIND,
        s.SETGLOBAL,
        s.SETFREE,
        s.ANNOTATION,
        s.DELETE_SUB,
        s.DELETE_ATTR,
        s.CONTAINS,
        s.RAISE,
    }
)


_READ_AT: Final[dict[int, tuple[int, ...]]] = {
    s.ANNOTATION: (),
    s.ATTR: (2,),
    s.AWAIT: (2,),
    s.BINARY: (2, 3),
    s.BIND: (2,),
    s.BY_NAME: (2, 3, 4),
    s.CLASSVAR: (),
    s.CLASS_MATCH: (2, 3),
    s.COMPARE: (1, 2),
    s.COMPARED: (2, 3),
    s.CONTAINS: (1, 2),
    s.DECORATE: (2, 3),
    s.DELETE_SUB: (1, 2),
    s.ENTER: (2,),
    s.FORMAT_VALUE: (1,),
    s.FREE: (),
    s.GLOBAL: (),
    s.IMPORT: (),
    s.ITEM: (2,),
    s.ITER: (2,),
    s.MATCH_ARG: (2, 3),
    s.NARROW: (2, 3),
    s.RAISE: (1,),
    s.RETURN: (1,),
    s.SETATTR: (1, 3),
    s.SETFREE: (3,),
    s.SETGLOBAL: (2,),
    s.SETSUB: (1, 2, 3),
    s.STRING: (),
    s.TOLD: (),
    s.SUB: (2, 3),
    s.SUPER: (3,),
    s.THIS_CLASS: (),
    s.TRUTH: (1,),
    s.UNARY: (2,),
    s.YIELD: (2,),
    s.DELETE_ATTR: (1,),
    s.NARROW_TEXT: (2,),
    s.YIELD_FROM: (2,),
}
"""Which operands of an operation are registers it reads, where their number is fixed."""
_ALONE: Final = tuple([(index,) for index in range(512)])  # most registers are read once


def operations(unit: Unit, wanted: int) -> Sequence[int]:
    """Indices of the operations of ``unit`` that matter for ``wanted`` (the bits above)."""
    if wanted & FULL == FULL or unit.kind == "piece":
        return range(len(unit.ops))
    needed: set[int] = set()
    for registers in unit.captured.values():
        needed.update(registers)
    kept: set[int] = set()
    ops = unit.ops
    fillers = {op[1]: op[2] for op in ops if op[0] == s.ATTR and op[3] in FILLING}
    changed = True
    while changed:  # φs of loops read registers that are defined further down
        changed = False
        for index in range(len(ops) - 1, -1, -1):
            if index in kept:
                continue
            op = ops[index]
            if _matters(op, wanted, needed, fillers):
                kept.add(index)
                before = len(needed)
                needed.update(reads(op))
                changed = changed or len(needed) != before
    return sorted(kept)


def users(unit: Unit) -> list[tuple[int, ...]]:
    """For every register the indices of the operations that read it."""
    found: dict[int, list[int]] = {}
    for index, op in enumerate(unit.ops):
        places = _READ_AT.get(op[0])
        for register in reads(op) if places is None else [op[place] for place in places]:
            if register >= 0:
                readers = found.get(register)
                if readers is None:
                    found[register] = [index]
                else:
                    readers.append(index)
    for index, (source, _) in (unit.standing or {}).items():
        if type(source) is int and source >= 0:
            found.setdefault(source, []).append(index)
            found[source].sort()
    users: list[tuple[int, ...]] = [()] * unit.registers
    for register, readers in found.items():
        first = readers[0]
        alone = len(readers) == 1 and first < len(_ALONE)
        users[register] = _ALONE[first] if alone else tuple(readers)
    return users


def returns_first(unit: Unit) -> bool:
    """Whether ``unit`` may return its first parameter."""
    same = {0}
    for op in unit.ops:
        if op[0] == s.PHI and not same.isdisjoint(op[2]):
            same.add(op[1])
        elif op[0] == s.RETURN and op[1] in same:
            return True
    return False


def names_attributes(function: Function) -> frozenset[int]:
    """The parameters of ``function`` that name an attribute, a key or a module."""
    found = function.naming
    if found is None:
        found = _parameters(function, _named_in)
        found = function.naming = found | _kept(function, _names_in_calls) or EMPTY
    return found


def names_members(function: Function) -> frozenset[int]:
    """The parameters of ``function`` that name a member: for ``getattr``, or as its own job.

    Also where methods of its class have the name from an attribute that it stores.
    """
    found = function.naming
    if found is None:
        found = _parameters(function, _named_in_calls)
        found = function.naming = found | _kept(function, _names_in_calls) or EMPTY
    return found


def fills_templates(function: Function) -> frozenset[int]:
    """The parameters of ``function`` that may be templates: ``t.format(…)``, ``t % values``.

    Also by way of ``self``: it stores them, and a method of its class fills what it has there.
    """
    found = function.templates
    if found is None:
        found = _parameters(function, _templates_in)
        found = function.templates = found | _kept(function, _templates_in) or EMPTY
    return found


def _kept(function: Function, asked_in: Callable[[Unit], Iterable[int]]) -> frozenset[int]:
    """The parameters that a method stores, where methods have them in the registers ``asked_in``."""
    unit = function.unit
    given = {index: {index} for index in range(1, len(unit.params))}
    kept: dict[str, set[int]] = {}
    read: dict[int, str] = {}
    texts: dict[int, str] = {}
    for op in unit.ops if unit.owner >= 0 and given else ():
        name, stored = "", s.NONE
        if op[0] == s.PHI:  # `text or self.text`
            given[op[1]] = set().union(*(given.get(register, ()) for register in op[2]))
        elif op[0] == s.STRING:
            texts[op[1]] = op[2]
        elif op[0] == s.ATTR:
            read[op[1]] = op[3]
        elif op[0] == s.SETATTR and op[1] == 0:
            name, stored = op[2], op[3]
        elif op[0] == s.SETSUB and read.get(op[1]) == "__dict__":  # `self.__dict__["name"] = …`
            name, stored = texts.get(op[2], ""), op[3]
        elif op[0] == s.CALL and read.get(op[2]) == "__setattr__" and len(op[3]) > 1:
            name, stored = texts.get(op[3][-2], ""), op[3][-1]
        if name and given.get(stored):
            kept.setdefault(name, set()).update(given[stored])
    asked = _attributes_asked(function, asked_in) if kept else ()
    return frozenset().union(*(given for name, given in kept.items() if name in asked))


def _attributes_asked(
    method: Function, asked_in: Callable[[Unit], Iterable[int]]
) -> frozenset[str]:
    """The attributes that methods of its class have in the registers ``asked_in``."""
    owner = method.unit.owner
    known = method.module.asked_of_attributes
    found = known.get((owner, asked_in))
    if found is None:
        names: set[str] = set()
        for each in method.module.summary.units:
            if each.owner == owner and each.kind == "function":
                read = {op[1]: op[3] for op in each.ops if op[0] == s.ATTR}
                names.update(read[register] for register in asked_in(each) if register in read)
        found = known[owner, asked_in] = frozenset(names)
    return found


def _templates_in(unit: Unit) -> Iterator[int]:
    for op in unit.ops:
        if (op[0] == s.ATTR and op[3] in _FORMATTING) or (op[0] == s.BINARY and op[4] == "mod"):
            yield op[2]


def _named_in(unit: Unit) -> Iterator[int]:
    yield from _named_in_calls(unit)
    for op in unit.ops:
        if op[0] in (s.SUB, s.SETSUB):
            yield op[3] if op[0] == s.SUB else op[2]
        elif op[0] == s.BINARY:
            yield op[3]


def _named_in_calls(unit: Unit) -> Iterator[int]:
    """What names members and modules, and the objects that are asked."""
    yield from _names_in_calls(unit)
    getters = _getters(unit)
    for op in unit.ops if getters else ():
        if op[0] == s.CALL and op[2] in getters:
            yield from op[3][:1]


def _getters(unit: Unit) -> set[int]:
    """Where ``getattr`` and its like are, or ``object.__getattribute__`` and its."""
    found: set[int] = set()
    objects: set[int] = set()
    for op in unit.ops:
        if op[0] == s.GLOBAL and op[2] in _NAMING:
            found.add(op[1])
        elif op[0] == s.GLOBAL and op[2] == "object":
            objects.add(op[1])
        elif op[0] == s.ATTR and op[2] in objects and op[3] in _NAMED:
            found.add(op[1])
    return found


def _names_in_calls(unit: Unit) -> Iterator[int]:
    if unit.qualname.rpartition(".")[2] in _NAMED:
        yield 1
    getters = dict.fromkeys(_getters(unit), slice(1, 2))
    for op in unit.ops:
        if op[0] in (s.GLOBAL, s.ATTR) and op[2 if op[0] == s.GLOBAL else 3] in _IMPORTING:
            getters[op[1]] = slice(2)  # the module, and the package it is relative to
    tables = {op[1] for op in unit.ops if op[0] == s.ATTR and op[3] == "modules"}
    put_together = {op[1]: op[2] for op in unit.ops if op[0] == s.TEXT} if getters else {}
    for op in unit.ops if getters or tables else ():
        if op[0] == s.SUB and op[2] in tables:  # `sys.modules[name]`
            yield op[3]
        elif op[0] == s.CALL and op[2] in getters:
            named = [
                *op[3][getters[op[2]]],
                *(each for keyword, each in op[4] if keyword == "name"),
            ]
            yield from named
            for register in named:  # `"do_" + name`
                yield from (p for p in put_together.get(register, ()) if type(p) is int)
        elif op[0] == s.ATTR and op[3] in _DIVIDING:  # `"a.b".split(".")`
            yield op[2]


def is_in_place(dunder: str) -> bool:
    """Whether the name of an operator is that of ``x += y`` or one of its kind: ``iadd``."""
    return dunder[0] == "i" and len(dunder) > 2 and dunder not in ("index", "invert")


def _parameters(function: Function, named_in: Callable[[Unit], Iterable[int]]) -> frozenset[int]:
    """The parameters that are, or hold, what is in the registers ``named_in``.

    Also of functions within, which have them by their names or as a default:
    ``def delegate(*names): … for name in names: def method(self, name=name): …``.
    """
    unit = function.unit
    captured = {param[0]: i for i, param in enumerate(unit.params) if param[0] in unit.captured}
    held = {index: index for index in range(len(unit.params))}
    given: dict[int, dict[int, int]] = {unit.index: held}
    _follow_parts(unit, held, given)
    found = {held[register] for register in held.keys() & named_in(unit)}
    for inner in function.module.summary.units if captured or len(given) > 1 else ():
        if inner.parent < 0:
            continue
        held = given.setdefault(inner.index, {})
        for op in inner.ops if captured else ():
            if op[0] == s.FREE and op[2] == unit.index and op[3] in captured:
                held[op[1]] = captured[op[3]]
        if held:
            _follow_parts(inner, held, given)
            found.update(held[register] for register in held.keys() & named_in(inner))
    return frozenset(found)


def _follow_parts(unit: Unit, held: dict[int, int], given: dict[int, dict[int, int]]) -> None:
    """Note where code has what parameters hold, and ``given``: what functions have as a default."""
    for op in unit.ops:
        code = op[0]
        if code in _TAKING and op[2] in held:
            held[op[1]] = held[op[2]]
        elif code in (s.FUNCTION, s.LAMBDA):
            for index, register in op[3]:
                if register in held:
                    given.setdefault(op[2], {})[index] = held[register]


def _matters(op: Op, wanted: int, needed: set[int], fillers: dict[int, int]) -> bool:
    code = op[0]
    if code in _RESULTS:
        return bool(wanted & RETURNS)
    if code in _STORES:
        return bool(wanted & STORES)
    if code == s.SETSUB:
        return op[1] in needed
    if code in NO_RESULT:
        return False
    if op[1] in needed:
        return True
    # `x.append(…)` gives nothing, but fills what may be returned.
    return code == s.CALL and op[2] in fillers and fillers[op[2]] in needed


def reads(op: Op) -> list[int]:
    """The registers ``op`` reads."""
    code = op[0]
    places = _READ_AT.get(code)
    if places is not None:
        return [op[place] for place in places]
    if code == s.CALL:
        found = [op[2], *op[3], *(r for _, r in op[4])]
        if op[5] is not None:
            found.extend(op[5][0])
            found.extend(op[5][1])
        return found
    if code == s.PHI:
        return list(op[2])
    if code == s.AMONG:
        return [op[2], op[3], op[4], *op[5]]
    if code == s.TEXT:
        return [op[3], *(piece for piece in op[2] if type(piece) is not str)]
    if code == s.SEQUENCE:
        return [*op[3], *op[4]]
    if code == s.MAPPING:
        return [*(r for _, k, v in op[2] for r in (k, v)), *op[3]]
    if code in (s.FUNCTION, s.LAMBDA):
        return [r for _, r in op[3]]
    if code == s.CLASS:
        return [*op[3], *(r for _, r in op[4])]
    assert code == s.DECLARE
    return [] if op[3] is None else [op[3]]

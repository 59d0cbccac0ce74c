"""What in a class body is a field of the record that a decorator makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import NAMED_TUPLE, Class
from depslice.callgraph.summary import Op, Register, TypeExpr, Unit

RECORDS: Final = frozenset({"attributes", "attrs", "dataclass", "define", "frozen", "mutable", "s"})
"""What decorators go by that write special methods which go by the fields (dataclasses, attrs)."""
_OF_CALLS: Final = frozenset({"attributes", "s"})
"""Those to which a field is what ``attr.ib(…)`` gives, unless they are told ``auto_attribs``."""
_NOT_BY_PLACE: Final = frozenset({"init", "kw_only"})
"""What a field is told to be none that is passed by place: nobody spells what is so anyway."""

_SPELLED: Final = {s.GLOBAL: 2, s.ATTR: 3, s.CALL: 2, s.FREE: 3, s.IMPORT: 4}
"""Where operations have the name that they read; ``from m import name`` in a function does, too."""


def spelled(unit: Unit, register: Register) -> str:
    """The last name of what a register is read from, or of what is called for it."""
    for op in unit.ops:
        if op[0] in _SPELLED and op[1] == register:
            if op[0] == s.CALL:
                return spelled(unit, op[2])
            return str(op[_SPELLED[op[0]]] or "")
    return ""


def is_class_variable(expression: TypeExpr) -> bool:
    """Whether an annotation is ``ClassVar[T]`` (PEP 526)."""
    return outermost(expression) == "ClassVar"


def outermost(expression: TypeExpr) -> str:
    """The last name of an annotation, without what stands in brackets."""
    named = expression[1] if expression[0] == s.T_SUBSCRIPT else expression
    return str(named[-1])


def fields_in(class_: Class) -> list[tuple[str, bool]]:
    """The fields that the body of ``class_`` itself has, in order; whether each is passed by place.

    Of dataclasses and named tuples what is annotated (PEP 557), of attrs what ``attr.ib()`` or
    ``field()`` gives, where one without an annotation does. Of other classes all that is assigned.
    """
    summary, info = class_.module.summary, class_.info
    definer = summary.units[info.unit]
    calls = {op[1]: op for op in definer.ops if op[0] == s.CALL}
    makers = {spelled(definer, each): calls.get(each) for each in info.decorators}
    decorators = makers.keys() & RECORDS
    assigned: list[str] = []
    declared: list[str] = []
    made: dict[str, Op] = {}
    # What stands behind `_: KW_ONLY`, or is decorated by `@dataclass(kw_only=True)`.
    by_name: set[str] = set()
    behind = any(call is not None and "kw_only" in dict(call[4]) for call in makers.values())
    for name, places in info.members.items():
        pieces = [summary.pieces[place] for place in places]
        if pieces[0].kind != "assign":
            continue
        assigned.append(name)
        if behind:
            by_name.add(name)
        for unit in (summary.units[piece.unit] for piece in pieces if piece.unit >= 0):
            types = [op[2] for op in unit.ops if op[0] == s.DECLARE]
            if any(outermost(each) == "KW_ONLY" for each in types):
                behind = True
                assigned.remove(name)
            elif any(not is_class_variable(each) for each in types):
                declared.append(name)
            made.update((name, op) for op in _making(unit, name))
    if decorators:
        if "dataclass" in decorators:
            found = declared
        elif not made.keys() <= set(declared) or (made and _goes_by_calls(makers)):
            found = [name for name in assigned if name in made]
        else:
            found = declared or assigned
    else:
        found = declared if NAMED_TUPLE in class_.external_bases else assigned
    return [
        (name, name not in by_name and _is_by_place(made.get(name)))
        for name in dict.fromkeys(found)
    ]


def _is_by_place(made: Op | None) -> bool:
    return made is None or _NOT_BY_PLACE.isdisjoint(dict(made[4]))


def _goes_by_calls(makers: dict[str, Op | None]) -> bool:
    """Whether to one of these decorators, and how it is called, annotations are nothing."""
    return any(
        name in _OF_CALLS and (call is None or "auto_attribs" not in dict(call[4]))
        for name, call in makers.items()
    )


def _making(unit: Unit, name: str) -> Iterator[Op]:
    """The call that makes a field of what a statement binds to ``name``: ``attr.ib()``, ``field()``."""
    bound = {op[2] for op in unit.ops if op[0] == s.BIND and op[1] == name}
    bound |= {op[3] for op in unit.ops if op[0] == s.DECLARE and op[1] in bound}
    for op in unit.ops:
        if op[0] == s.CALL and op[1] in bound:
            called = spelled(unit, op[2]).lower()
            if called == "ib" or "attr" in called or "field" in called:
                yield op

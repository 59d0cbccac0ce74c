"""Whether code changes the object a variable stands for, where its syntax only says it may.

``X.add(f)`` fills ``X``; ``X.info("…")`` says the same of a logger, and changes nothing that
anyone would read. What is called decides: a method of the repository by what it does with its
receiver, one from outside by its name (:data:`~depslice.callgraph.engine.library.SAYING`).
Where neither is known, it changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from depslice.callgraph import summary as s
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import LOOKING, SAYING
from depslice.callgraph.engine.values import OPEN_OR_OUTSIDE, Class, Function
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Register

_ALIASES = (s.ATTR, s.SUB, s.NARROW, s.AWAIT)  # dst src …: part of the source, or itself
_STORES = (s.SETATTR, s.SETSUB, s.DELETE_ATTR, s.DELETE_SUB)  # receiver first
_OUTSIDE = OPEN_OR_OUTSIDE | {"XI", "XM", "G", "GS"}


class Changing:
    """Answers for one engine; a method is looked at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reading: dict[Function, bool] = {}

    def changes(self, module: Module, unit: int, name: str) -> bool:
        """Whether a unit of ``module`` rebinds its variable ``name``, or may change its object."""
        ops = module.summary.units[unit].ops
        if any(op[0] == s.SETGLOBAL and op[1] == name for op in ops):
            return True
        roots = {op[1] for op in ops if op[0] == s.GLOBAL and op[2] == name}
        parts = _parts(ops, roots)
        called_back = {op[2] for op in ops if op[0] in (s.CALL, s.DECORATE)}
        methods = {
            op[1]: (op[3], op[2] in roots) for op in ops if op[0] == s.ATTR and op[2] in parts
        }
        for op in ops:
            if op[0] in _STORES and op[1] in parts:
                return True
            if op[0] != s.CALL:
                continue
            if op[2] in methods:
                method, direct = methods[op[2]]
                if op[1] in called_back or not self._only_reads(module, name, method, direct):
                    return True
            elif _hands_over(op, parts) and _builtin(module, ops, op[2]) in ("setattr", "delattr"):
                return True
        return False

    def _only_reads(self, module: Module, name: str, method: str, direct: bool) -> bool:
        """Whether calling ``name.method`` leaves its object as it is.

        Not ``direct``: the method of something that the object holds.
        """
        if not direct:
            return _says(method)
        engine = self._engine
        kinds = [engine.values[value] for value in engine.name_values(module, name, None)]
        return bool(kinds) and all(self._reads(kind, method) for kind in kinds)

    def _reads(self, kind: tuple[object, ...], method: str) -> bool:
        if kind[0] in _OUTSIDE:
            return _says(method)
        if kind[0] != "I":
            return False
        class_, exact = kind[1], kind[2]
        assert isinstance(class_, Class)
        found = list(self._methods(class_, method))
        if not exact:
            found += [each for below in _below(class_) for each in self._methods(below, method)]
        # A body that does nothing, of a class that others stand for, tells nothing.
        telling = [
            each for each in found if exact or any(op[0] != s.RETURN for op in each.unit.ops)
        ]
        return all(map(self._reads_receiver, telling)) if telling else _says(method)

    def _methods(self, class_: Class, name: str) -> Iterator[Function]:
        """The functions that ``name`` is bound to where ``class_`` finds it."""
        owner = self._engine.find_member(class_, name)
        if owner is None:
            return
        for index in owner.info.members[name]:
            piece = owner.module.summary.pieces[index]
            for op in owner.module.summary.units[piece.unit].ops if piece.unit >= 0 else ():
                if op[0] == s.FUNCTION:
                    yield self._engine.function(owner.module, op[2])

    def _reads_receiver(self, method: Function) -> bool:
        found = self._reading.get(method)
        if found is None:
            found = self._reading[method] = _reads_first_parameter(method)
        return found


def _reads_first_parameter(function: Function) -> bool:
    """Whether a method only looks at its receiver, and at nothing else that outlives it."""
    unit, ops = function.unit, function.unit.ops
    if unit.globals_written or unit.self_stores or unit.stores:
        return False
    parts = _parts(ops, {0})
    methods = {op[1]: op[3] for op in ops if op[0] == s.ATTR and op[2] in parts}
    for op in ops:
        if op[0] in (*_STORES, s.SETFREE, s.DECORATE):
            return False
        if op[0] == s.CALL:
            if op[2] in methods and not _says(methods[op[2]]):
                return False
            if _hands_over(op, parts) and _builtin(function.module, ops, op[2]) not in LOOKING:
                return False
    return True


def _says(method: str) -> bool:
    """Whether a method of that name writes a record: ``warning``, ``warning_once``."""
    return method.partition("_")[0] in SAYING


def _parts(ops: list[Op], roots: set[Register]) -> set[Register]:
    """The registers that hold what is in ``roots``, or something read from it."""
    found = set(roots)
    for op in ops:  # in the order in which they run: sources come before
        if (op[0] in _ALIASES and op[2] in found) or (
            op[0] == s.PHI and not found.isdisjoint(op[2])
        ):
            found.add(op[1])
    return found


def _hands_over(call: Op, parts: set[Register]) -> bool:
    """Whether a call is given one of ``parts``."""
    given = {*call[3], *(value for _, value in call[4])}
    if call[5] is not None:
        spread, spread_keywords, _ = call[5]
        given.update(spread, spread_keywords)
    return not parts.isdisjoint(given)


def _builtin(module: Module, ops: list[Op], register: Register) -> str:
    """The name of the builtin in a register, or nothing."""
    for op in ops:
        if op[0] == s.GLOBAL and op[1] == register and op[2] not in module.summary.scope:
            return str(op[2])
    return ""


def _below(class_: Class) -> Iterator[Class]:
    """The subclasses that are known so far."""
    stack, seen = list(class_.subclasses), {class_}
    while stack:
        found = stack.pop()
        if found not in seen:
            seen.add(found)
            stack.extend(found.subclasses)
            yield found

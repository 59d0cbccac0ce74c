"""Models of what reads and stores by name: ``getattr``, ``setattr``, ``vars``, ``globals``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.library import DICTS
from depslice.callgraph.engine.models.common import Model
from depslice.callgraph.engine.parts import users
from depslice.callgraph.engine.values import EMPTY, PARSED, SPACE, Function, Values
from depslice.callgraph.summary import Op, Register

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation


_FOLLOWED: Final = frozenset({s.ATTR, s.CALL, s.ITEM, s.ITER, s.PHI, s.SUB})


def _globals(engine: ContainerEvaluation, call: Call) -> Values:
    """The namespace of this module, or (``vars(x)``) of what is given."""
    if call.args:
        outside = {v for v in call.args[0] if engine.whole and engine.values[v][0] == "XI"}
        of_own = engine.load_attribute(call.args[0] - outside, "__dict__", call.pos)
        return of_own.union(*(engine.single(("ND", each)) for each in sorted(outside)))
    return EMPTY if engine.current is None else engine.single(("NS", engine.current.module.name))


def _locals(engine: ContainerEvaluation, call: Call) -> Values:
    """``locals()`` of a module is its namespace, in a slice also that of a class body.

    Those of a function are no matter of others.
    """
    current = engine.current
    if current is None or current.unit.kind != "piece":
        return engine.unknown
    if current.unit.owner < 0:
        return _globals(engine, call)
    if engine.whole:
        return engine.unknown
    class_ = engine.class_(current.module, current.unit.owner)
    return engine.single(("ND", engine.intern(("C", class_, True))))


def _vars(engine: ContainerEvaluation, call: Call) -> Values:
    return _globals(engine, call) if call.args else _locals(engine, call)


def _namespace(engine: ContainerEvaluation, call: Call, kind: str = SPACE) -> Values:
    made = engine.container_of(kind, call.register, EMPTY)
    for container in made:
        for name, values in call.keywords.items():
            engine.write_item(container, name, values)
    return made


def _parsed(engine: ContainerEvaluation, call: Call) -> Values:
    return _namespace(engine, call, PARSED)


def _dir(engine: ContainerEvaluation, call: Call) -> Values:
    engine.protocol(call.argument(0, ""), ("__dir__",), call.pos)
    looked_for = () if engine.whole or engine.current is None else _looked_for(engine.current, call)
    for name in looked_for:
        engine.load_attribute(call.args[0], name, call.pos)
    if looked_for:
        return engine.container_of("list", call.register, engine.constants[s.STR])
    names = engine.names_in(call.argument(0, ""), call.pos, inherited=True)
    return engine.container_of("list", call.register, names)


def _looked_for(function: Function, call: Call) -> list[str]:
    """The texts of ``"name" in dir(x)``, where that is all that is done with the list.

    Of other names whether they are there is not asked then.
    """
    ops = function.unit.ops
    made = {op[1]: op for op in ops if op[0] in (s.CALL, s.GLOBAL, s.STRING)}
    asked = made.get(call.register, ())
    if (
        not call.args
        or asked[:1] != (s.CALL,)
        or made.get(asked[2], ())[::2][:2] != (s.GLOBAL, "dir")
    ):
        return []
    readers = [ops[index] for index in users(function.unit)[call.register]]
    texts = [made.get(op[2], ()) if op[:2] == (s.CONTAINS, call.register) else () for op in readers]
    return [text[2] for text in texts] if all(t[:1] == (s.STRING,) for t in texts) else []


_PREDICATES: Final = {
    "inspect.isclass": frozenset({"C", "X", "XA", "NT"}),
    "inspect.isfunction": frozenset({"F"}),
    "inspect.ismethod": frozenset({"B"}),
    "inspect.ismodule": frozenset({"M"}),
    "inspect.isroutine": frozenset({"F", "B", "X"}),
}
"""Kinds of values for which functions of :mod:`inspect` hold."""


def _getmembers(engine: ContainerEvaluation, call: Call) -> Values:
    owners = call.argument(0, "object")
    names = engine.names_in(owners, call.pos, inherited=True)
    predicates = call.argument(1, "predicate")
    members = EMPTY.union(*(engine.members_of(owner, call.pos) for owner in owners))
    engine.call(predicates, [members], {}, call.pos, rule="callback", external=True)
    tests = [_PREDICATES.get(engine.values[each][1]) for each in predicates]
    if tests and None not in tests:
        kinds = {"U"}.union(*filter(None, tests))
        members = frozenset(v for v in members if engine.values[v][0] in kinds)
    return engine.tuples_of(call.register, [names, members or engine.unknown])


def _getattr(engine: ContainerEvaluation, call: Call, *, by_object: bool = False) -> Values:
    load = engine.attribute_by_object if by_object else engine.load_attribute
    if len(call.args) < 2:
        return EMPTY
    result: set[int] = set(call.args[2]) if len(call.args) > 2 else set()
    computed = False
    for value in tuple(call.args[1]):
        kind = engine.values[value]
        if kind[0] == "S":
            result |= load(call.args[0], kind[1], call.pos)
        elif kind[0] == "N":
            result |= engine.dynamic_attribute(call.args[0], kind[1], kind[2], call.pos)
        elif engine.open_name(call.args[0], value, call.pos):
            result |= engine.attribute_by_open(call.args[0], value)
        else:
            computed = True
            result |= engine.attribute_of_itself(call.args[0], value)
    if computed or not call.args[1]:
        result |= engine.dynamic_attribute(call.args[0], "", "", call.pos)
        if engine.whole and not any(engine.values[v][0] in ("S", "N") for v in call.args[1]):
            result |= engine.any_method(call.args[0])
    return result


def _object_getattribute(engine: ContainerEvaluation, call: Call) -> Values:
    """``object.__getattribute__(receiver, name)``: what the class has overridden does not run."""
    return _getattr(engine, call, by_object=True)


def _entries_stored(
    engine: ContainerEvaluation, result: Register
) -> tuple[list[tuple[str, Values]], bool]:
    """The entries of dictionaries that a loop stores: ``for k, v in d.items(): setattr(x, k, v)``.

    And what is stored by its own name. Each value under its name, which is empty where it is not
    known; and whether that is all that the call with that ``result`` stores.
    """
    if engine.current is None or not engine.whole:
        return [], False
    made = {op[1]: op for op in engine.current.unit.ops if op[0] in _FOLLOWED}
    call = made.get(result)
    stored = call is not None and call[0] == s.CALL and len(call[3]) == 3
    apart = engine.stored_by_own_name(call[3][1], call[3][2]) if call and stored else None
    if apart is not None:
        named, others = apart
        return [*named.items(), ("", others)], True
    register = _mapping_stored(call, made) if call is not None and stored else None
    if register is None:
        return [], False
    entries: list[tuple[str, Values]] = []
    held = engine.current.registers[register]
    known = bool(held)
    for container in held:
        kind = engine.values[container]
        if kind[0] != "K" or kind[1] not in DICTS or engine.read(engine.anywhere_cell(container)):
            known = False
        if kind[0] != "K":
            continue
        engine.read(engine.elements_cell(container))
        for name in tuple(engine.keys_of.get(container, ())):
            entries.append((name, engine.read(engine.item_cell(container, name))))
    return entries, known


def _mapping_stored(call: Op, made: Mapping[Register, Op]) -> Register | None:
    """Where the dictionary is whose entry a call has for its name and its value."""
    name, value = _defined(call[3][1], made), _defined(call[3][2], made)
    if name is None or value is None:
        return None
    if name[0] == value[0] == s.ITEM and name[2:4] == (value[2], 0) and value[3] == 1:
        entry = _defined(name[2], made)
        items = _defined(entry[2], made) if entry is not None and entry[0] == s.ITER else None
        method = _defined(items[2], made) if items is not None and items[0] == s.CALL else None
        if method is not None and method[0] == s.ATTR and method[3] == "items":
            return int(method[2])
    if name[0] == s.ITER and value[0] == s.SUB and _defined(value[3], made) is name:
        return int(name[2]) if name[2] == value[2] else None
    return None


def _defined(register: Register, made: Mapping[Register, Op]) -> Op | None:
    """The operation that gives what is in a register, behind those that join one path."""
    op = made.get(register)
    while op is not None and op[0] == s.PHI and len(op[2]) == 1:
        op = made.get(op[2][0])
    return op


def _setattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 3:
        entries, all_of_them = _entries_stored(engine, call.register)
        for name, values in entries:
            if name:
                engine.store_attribute(call.args[0], name, values, call.pos)
            else:
                engine.store_somewhere(call.args[0], values, call.pos)
        if all_of_them:
            return EMPTY
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(call.args[0], kind[1], call.args[2], call.pos)
            else:
                engine.store_somewhere(call.args[0], call.args[2], call.pos)
                engine.note_any(call.args[0], value, call.pos, "write")
                engine.name_of_open(call.args[0], value, call.pos, "write")
    return EMPTY


def _delattr(engine: ContainerEvaluation, call: Call) -> Values:
    for value in tuple(call.args[1]) if len(call.args) == 2 else ():
        kind = engine.values[value]
        if kind[0] == "S":
            engine.delete_attribute(call.args[0], kind[1], call.pos)
        else:
            engine.note_any(call.args[0], value, call.pos, "delete")
            engine.name_of_open(call.args[0], value, call.pos, "delete")
    return EMPTY


def _object_setattr(engine: ContainerEvaluation, call: Call) -> Values:
    """``object.__setattr__(receiver, name, value)``: what the class has overridden does not run.

    ``super().__setattr__(name, value)`` passes no receiver; what it stores is not known.
    """
    if len(call.args) == 3:
        for value in call.args[1]:
            kind = engine.values[value]
            if kind[0] == "S":
                engine.store_attribute(
                    call.args[0], kind[1], call.args[2], call.pos, by_object=True
                )
    return EMPTY


def _patch_object(engine: ContainerEvaluation, call: Call) -> Values:
    """``patch.object(target, "name", new)``: who reads that finds ``new``, for a time."""
    for value in tuple(call.argument(1, "attribute")):
        kind = engine.values[value]
        if kind[0] == "S":
            engine.store_attribute(
                call.argument(0, "target"), kind[1], call.argument(2, "new"), call.pos
            )
    engine.hand_over([*call.keywords.values()], call.pos)
    return engine.outside.call("unittest.mock.patch.object", call) or EMPTY


def _patch(engine: ContainerEvaluation, call: Call) -> Values:
    """``patch("package.module.name", new)``: the same, of what a text names."""
    for value in tuple(call.argument(0, "target")):
        kind = engine.values[value]
        owner, _, name = kind[1].rpartition(".") if kind[0] == "S" else ("", "", "")
        found = _named_by_path(engine, owner, call)
        engine.store_attribute(found, name, call.argument(1, "new"), call.pos)
    engine.hand_over([*call.keywords.values()], call.pos)
    return engine.outside.call("unittest.mock.patch", call) or EMPTY


def _named_by_path(engine: ContainerEvaluation, dotted: str, call: Call) -> Values:
    """What ``"package.module.Class"`` names: a module, or a part of one; or something outside."""
    module = dotted
    attributes: list[str] = []
    while module and not engine.program.is_module(module):
        module, _, last = module.rpartition(".")
        attributes.insert(0, last)
    if not module:
        return engine.single(("X", dotted)) if dotted else EMPTY
    found = engine.imported(engine.single(("S", module)), "", call.pos)
    for name in attributes:
        found = engine.load_attribute(found, name, call.pos)
    return found


def _set_defaults(engine: ContainerEvaluation, call: Call) -> Values:
    """``parser.set_defaults(run=f)``: what is parsed has it, and who has that may call it."""
    if not engine.whole:
        engine.hand_over([*call.keywords.values()], call.pos)
        return EMPTY
    for name, values in call.keywords.items():
        engine.write(engine.cell("carried", name), values)
    return EMPTY


def _hasattr(engine: ContainerEvaluation, call: Call) -> Values:
    if len(call.args) == 2:
        for value in tuple(call.args[1]):
            kind = engine.values[value]
            if kind[0] == "S":
                engine.load_attribute(call.args[0], kind[1], call.pos)
            elif kind[0] == "N" and not engine.whole:
                engine.dynamic_attribute(call.args[0], kind[1], kind[2], call.pos)
            elif not engine.whole:  # told; not followed: it would ask for all that is there
                engine.note_unknown_name(call.args[0], call.pos)
    return engine.constants[-7]


MODELS: Final[dict[str, Model]] = {
    "builtins.globals": _globals,
    "builtins.locals": _locals,
    "builtins.vars": _vars,
    "builtins.dir": _dir,
    "inspect.getmembers": _getmembers,
    "inspect.getmembers_static": _getmembers,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _parsed,
    "builtins.getattr": _getattr,
    "builtins.object.__getattribute__": _object_getattribute,
    "argparse.ArgumentParser.set_defaults": _set_defaults,
    "builtins.object.__setattr__": _object_setattr,
    "builtins.setattr": _setattr,
    "builtins.type.__setattr__": _setattr,
    "builtins.delattr": _delattr,
    "builtins.hasattr": _hasattr,
    "threading.local": _namespace,
    "unittest.mock.patch": _patch,
    "unittest.mock.patch.object": _patch_object,
}

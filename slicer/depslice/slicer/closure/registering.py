"""Whether a function registers: puts what it is given into an object that others read.

``REGISTRY[name] = function`` in a decorator registers; ``_cache[key] = compute(key)`` does not.
Who calls a function that registers, directly or not, gives the object its content; who fills
a cache on the way gives it nothing that would not be computed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine.library import ASKING_NAMESPACES
from depslice.callgraph.engine.parts import FILLING, is_in_place, reads
from depslice.callgraph.summary import FileSummary, Op, Register, Unit
from depslice.slicer.pieces import NAMED

_NAMESPACES: Final = frozenset({"globals", "locals", "vars"})
_SPACE: Final = "namespace"
_MODULE: Final = "module"
_TABLE: Final = "modules"  # `sys.modules`
_HOLDING: Final = frozenset({s.PHI, s.SEQUENCE, s.MAPPING})
"""Operations whose result is, or holds, what they read."""


def changes_in_place(op: Op) -> bool:
    """Whether an operation is ``x += y`` or one of its kind."""
    return op[0] == s.BINARY and is_in_place(op[4])


def filled_class_variables(unit: Unit) -> set[str]:
    """The variables of its class that a statement of the class body puts something into.

    ``@name.validator``, ``@name.on("key")``, ``name[key] = method``, ``name.append(method)``.
    """
    filled: set[str] = set()
    objects: dict[int, str] = {}
    decorators: dict[int, str] = {}  # methods of them, and what these give
    for op in unit.ops:
        code = op[0]
        if code == s.CLASSVAR:
            objects[op[1]] = op[3]
        elif code == s.ATTR and op[2] in objects:
            decorators[op[1]] = objects[op[2]]
            if op[3] in FILLING:
                filled.add(objects[op[2]])
        elif code == s.CALL and op[2] in decorators:
            decorators[op[1]] = decorators[op[2]]
        elif code == s.DECORATE and op[2] in decorators:
            filled.add(decorators[op[2]])
        elif code == s.SETSUB and op[1] in objects:
            filled.add(objects[op[1]])
    return filled


def decorators_of(unit: Unit) -> set[str]:
    """The functions of its class that a statement of the class body decorates with.

    ``@name``, ``@name("key")``. They may know variables of the class body by their defaults.
    """
    found: set[str] = set()
    made: dict[int, str] = {}
    for op in unit.ops:
        if op[0] == s.CLASSVAR:
            made[op[1]] = op[3]
        elif op[0] == s.CALL and op[2] in made:
            made[op[1]] = made[op[2]]
        elif op[0] == s.DECORATE and op[2] in made:
            found.add(made[op[2]])
    return found


def registers(unit: Unit, names: frozenset[str], defaults: Collection[Register] = ()) -> bool:
    """Whether ``unit`` stores an argument, or one of a function around it, in what has a name.

    ``names`` are those of a module's variable, a class attribute, a variable of the function
    around it, or a function that gives it; ``defaults`` the parameters that have it as a default.
    What is stored may be in a display (``X[k] = (f, more)``), the place in what is held there
    (``X[k].append(f)``), or it is the variable itself that is set (``global X; X = f``).
    """
    objects = {*defaults}  # what has the name, and what it holds
    given = set(range(len(unit.params))) - objects
    methods: dict[int, str] = {}
    # What is made for the variable counts, too, where nobody gets it and nobody looks whether it is there.
    asked = {op[NAMED[op[0]]] for op in unit.ops if op[0] in NAMED}
    is_setter = fills_alone(unit)

    def is_kept(value: Register, name: str) -> bool:
        return value in given or (is_setter and name not in asked)

    for op in unit.ops:
        code = op[0]
        if code == s.FREE and op[3] in names:
            objects.add(op[1])
        elif code == s.FREE or (code in _HOLDING and not given.isdisjoint(reads(op))):
            given.add(op[1])
        elif (code == s.GLOBAL and op[2] in names) or (code == s.ATTR and op[3] in names):
            objects.add(op[1])
        elif code == s.ATTR and op[2] in objects:
            methods[op[1]] = op[3]
        elif code == s.SUB and op[2] in objects:
            objects.add(op[1])
        elif (
            (code == s.SETSUB and op[1] in objects and op[3] in given)
            or (changes_in_place(op) and op[2] in objects and op[3] in given)
            or (code == s.SETGLOBAL and op[1] in names and is_kept(op[2], op[1]))
            or (
                code == s.SETATTR and (op[1] in objects or op[2] in names) and is_kept(op[3], op[2])
            )
        ):
            return True
        elif code == s.CALL and op[2] in objects:
            objects.add(op[1])  # what a function of that name gives
        elif code == s.CALL and op[2] in methods:
            if methods[op[2]] in FILLING and not given.isdisjoint(reads(op)[1:]):
                return True
            objects.add(op[1])  # `X.setdefault(k, []).append(f)`
    return False


def counts(unit: Unit, names: frozenset[str], defaults: Collection[Register] = ()) -> bool:
    """Whether ``unit`` makes what has a name, or what is put there, of what it was before.

    ``global N; N += 1``, ``cls.made += 1``, ``NUMBERS[key] = len(NUMBERS)``: who runs it later gets
    something else.
    """
    held = {*defaults}  # what has the name, and what is computed of it
    methods: set[int] = set()
    for op in unit.ops:
        code = op[0]
        if (code == s.GLOBAL and op[2] in names) or (code == s.ATTR and op[3] in names):
            held.add(op[1])
        elif code == s.ATTR and op[2] in held and op[3] in FILLING:
            methods.add(op[1])
        elif code == s.CALL and not held.isdisjoint(reads(op)[1:]):
            if op[2] in methods:
                return True  # `NUMBERS.setdefault(key, len(NUMBERS))`
            held.add(op[1])
        elif code == s.BINARY and not held.isdisjoint(reads(op)):
            held.add(op[1])
        elif (
            (code == s.SETGLOBAL and op[1] in names and op[2] in held)
            or (code == s.SETATTR and op[2] in names and op[3] in held)
            or (code == s.SETSUB and op[1] in held and op[3] in held)
        ):
            return True
    return False


def sets_up(unit: Unit) -> bool:
    """Whether what ``unit`` does is the same each time: a function of no arguments, without result.

    Unlike caches, which are filled for an argument, or on the way to a result.
    """
    own = 1 if unit.owner >= 0 and not unit.flags & s.STATIC else 0
    return unit.parent < 0 and len(unit.params) <= own and has_no_result(unit)


def has_no_result(unit: Unit) -> bool:
    """Whether ``unit`` gives nothing to who calls it."""
    return (
        unit.kind == "function"
        and not unit.flags & s.GENERATOR
        and all(op[1] == s.NONE for op in unit.ops if op[0] == s.RETURN)
    )


def fills_alone(unit: Unit) -> bool:
    """Whether to change something is all that ``unit`` is called for: it gives nothing new."""
    given = {*s.CONSTANT_TYPES, *range(len(unit.params))}
    return (
        unit.kind == "function"
        and not unit.flags & s.GENERATOR
        and all(op[1] in given for op in unit.ops if op[0] == s.RETURN)
    )


def called_for_effect(unit: Unit) -> set[int]:
    """The places of the calls whose result nobody takes, in a function that gives none itself.

    What they put where is what the function is for: ``def fill(): add(1); add(2)``. A cache is
    filled on the way to a result, which an instance is too.
    """
    if not has_no_result(unit) or unit.qualname.endswith(".__init__"):
        return set()
    wanted = {register for op in unit.ops for register in reads(op)}
    return {op[-1] for op in unit.ops if op[0] == s.CALL and op[1] not in wanted}


def makes_names(unit: Unit, spaces: Mapping[str, str]) -> bool:
    """Whether ``unit`` may bind names of its module that nothing spells.

    ``globals()[name] = value``, ``globals().update(…)``, ``vars()[…]`` and ``locals()[…]`` of the
    module scope, ``setattr(sys.modules[__name__], name, value)``, ``exec(code)``; any call that is
    given the namespace. ``spaces`` are variables of the module that hold it (:func:`spaces_of`).
    """
    named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
    held = _spaces_in(unit, spaces)
    for op in unit.ops:
        code = op[0]
        if (code == s.ATTR and held.get(op[2]) == _SPACE and op[3] in FILLING) or (
            code == s.SETSUB and held.get(op[1]) == _SPACE
        ):
            return True
        if code == s.CALL:
            name = named.get(op[2])
            if name == "exec" and unit.kind == "piece" and len(op[3]) == 1:
                return True
            if name == "setattr" and held.get(next(iter(op[3]), -1)) == _MODULE:
                return True
            if name not in ASKING_NAMESPACES and any(held.get(r) == _SPACE for r in reads(op)[1:]):
                return True
    return False


def names_bound_by_text(unit: Unit) -> Iterator[str]:
    """The names that a statement binds in its module's namespace: ``globals()["name"] = value``."""
    spaces = _spaces_in(unit, {})
    texts: dict[int, str] = {}
    methods: set[int] = set()
    for op in unit.ops if _SPACE in spaces.values() else ():
        code = op[0]
        if code == s.STRING:
            texts[op[1]] = op[2]
        elif code == s.SETSUB and spaces.get(op[1]) == _SPACE and op[2] in texts:
            yield texts[op[2]]
        elif code == s.ATTR and op[3] == "update" and spaces.get(op[2]) == _SPACE:
            methods.add(op[1])
        elif code == s.CALL and op[2] in methods:
            yield from (name for name, _ in op[4])


def replacing(unit: Unit, spaces: Mapping[str, str]) -> Iterator[tuple[Register, bool]]:
    """What ``unit`` puts in the place of its module, and whether only its class is replaced.

    ``sys.modules[__name__] = proxy``, ``sys.modules[__name__].__class__ = Lazy``.
    """
    named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
    if "__name__" not in named.values() and _MODULE not in spaces.values():
        return
    held = _spaces_in(unit, spaces)
    for op in unit.ops:
        if op[0] == s.SETSUB and named.get(op[2]) == "__name__" and held.get(op[1]) == _TABLE:
            yield op[3], False
        elif op[0] == s.SETATTR and op[2] == "__class__" and held.get(op[1]) == _MODULE:
            yield op[3], True


def called_by_name(unit: Unit) -> Iterator[Register]:
    """What ``unit`` calls with the name of its module: ``Lazy.replace(__name__)``."""
    named = {op[1] for op in unit.ops if op[0] == s.GLOBAL and op[2] == "__name__"}
    for op in unit.ops if named else ():
        if op[0] == s.CALL and not named.isdisjoint(reads(op)[1:]):
            yield op[2]


def put_in_place(unit: Unit) -> Iterator[Register]:
    """What a function puts in the place of a module it is given the name of.

    ``sys.modules[name] = proxy``.
    """
    held = _spaces_in(unit, {})
    for op in unit.ops if _TABLE in held.values() else ():
        if op[0] == s.SETSUB and held.get(op[1]) == _TABLE and op[2] < len(unit.params):
            yield op[3]


def spaces_of(summary: FileSummary) -> dict[str, str]:
    """The variables of a module that hold its own namespace, or a module: ``G = globals()``."""
    found: dict[str, str] = {}
    for piece in summary.pieces:
        if piece.kind == "assign" and piece.owner < 0 and piece.unit >= 0:
            unit = summary.units[piece.unit]
            held = _spaces_in(unit, found)
            bound = [(op[1], op[2]) for op in unit.ops if op[0] == s.BIND and op[2] in held]
            found.update({name: held[register] for name, register in bound})
    return found


def _spaces_in(unit: Unit, spaces: Mapping[str, str]) -> dict[int, str]:
    held: dict[int, str] = {}
    named: dict[int, str] = {}
    for op in unit.ops:
        code = op[0]
        if code == s.GLOBAL:
            named[op[1]] = op[2]
            if op[2] in spaces or op[2] == "modules":  # `from sys import modules`
                held[op[1]] = spaces.get(op[2], _TABLE)
        elif code == s.CALL and named.get(op[2]) in _NAMESPACES:
            held[op[1]] = _SPACE
        elif code == s.ATTR and op[3] == "modules":
            held[op[1]] = _TABLE
        elif code == s.ATTR and op[3] == "__dict__" and held.get(op[2]) == _MODULE:
            held[op[1]] = _SPACE
        elif code == s.SUB and held.get(op[2]) == _TABLE:
            held[op[1]] = _MODULE
    return held


def given_by(unit: Unit) -> dict[str, bool]:
    """The variables that ``unit`` returns, or something of what they hold; ``.name`` attributes.

    ``return REGISTRY``, ``return _signals[name]``, ``return cls._instance``. Each with whether it
    is more than what ``__new__`` of it gives (``return Base.__new__(cls)``).
    """
    given: dict[str, bool] = {}
    held: dict[int, dict[str, bool]] = {}
    methods: dict[int, dict[str, bool]] = {}
    for op in unit.ops:
        code = op[0]
        if code == s.GLOBAL:
            held[op[1]] = {op[2]: True}
        elif code == s.ATTR:
            methods[op[1]] = dict.fromkeys(held.get(op[2], ()), op[3] != "__new__")
            filling = methods[op[1]] if op[3] in FILLING else ()  # `return X[key].append`
            held[op[1]] = {**dict.fromkeys(filling, True), f".{op[3]}": True}
        elif code == s.SUB:
            held[op[1]] = held.get(op[2], {})
        elif code == s.CALL:
            held[op[1]] = methods.get(op[2], {})  # `X.setdefault(key, …)`, `X.get(key)`
        elif code == s.PHI:
            held[op[1]] = {}
            for register in op[2]:
                _add_given(held[op[1]], held.get(register, {}))
        elif code == s.RETURN:
            _add_given(given, held.get(op[1], {}))
    return given


class PassedOn(NamedTuple):
    """A call whose result a function returns: in which ``registers``.

    ``names``: those by which it is called; ``None``: by what has none, or as well.
    """

    registers: set[Register]
    names: set[str] | None


def passed_on(unit: Unit) -> dict[int, PassedOn]:
    """By their places, the calls whose result, or something that it holds, ``unit`` returns."""
    found: dict[int, PassedOn] = {}
    held: dict[int, set[int]] = {}
    named: dict[Register, str] = {}
    called: dict[int, set[str] | None] = {}
    for op in unit.ops:
        code = op[0]
        if code in NAMED:
            named[op[1]] = op[NAMED[code]]
        if code == s.CALL:
            held[op[1]] = {op[-1], *held.get(op[2], ())}  # `get().setdefault(key, …)`
            names = called.setdefault(op[-1], set())
            if op[2] not in named:
                called[op[-1]] = None
            elif names is not None:
                names.add(named[op[2]])
        elif code in (s.ATTR, s.SUB, s.NARROW):
            held[op[1]] = held.get(op[2], set())
        elif code == s.PHI:
            held[op[1]] = set().union(*(held.get(register, set()) for register in op[2]))
        elif code == s.RETURN:
            for place in held.get(op[1], ()):
                found.setdefault(place, PassedOn(set(), called[place])).registers.add(op[1])
    return found


def _add_given(into: dict[str, bool], more: dict[str, bool]) -> None:
    for name, is_more in more.items():
        into[name] = is_more or into.get(name, False)


def same_objects(summary: FileSummary) -> dict[str, set[str]]:
    """The names of a module that an assignment binds to one object: ``X = Y = []``, ``Y = X``."""
    alike: dict[str, set[str]] = {}
    for piece in summary.pieces:
        if piece.kind != "assign" or piece.owner >= 0 or piece.unit < 0:
            continue
        named: dict[int, set[str]] = {}
        for op in summary.units[piece.unit].ops:
            if op[0] == s.GLOBAL:
                named.setdefault(op[1], set()).add(op[2])
            elif op[0] == s.BIND:
                named.setdefault(op[2], set()).add(op[1])
        for names in named.values():
            for name in names if len(names) > 1 else ():
                alike.setdefault(name, set()).update(names - {name})
    return alike


def handed_on(summary: FileSummary) -> Iterator[str]:
    """The names of a module that its statements hand to somebody who may change what they name.

    Defaults of parameters, arguments and methods that an assignment keeps or calls, class
    attributes, what is changed by another name: of a loop (`for c in (A, B): c.x = 1`), or given.
    """
    for piece in summary.pieces:
        if piece.unit < 0:
            continue
        ops = summary.units[piece.unit].ops
        if piece.kind == "loop" and any(name in summary.mutations for name in piece.binds):
            yield from (op[2] for op in ops if op[0] == s.GLOBAL)
        if piece.kind not in ("assign", "def", "class"):
            continue
        named: dict[int, str] = {}
        methods: dict[int, str] = {}
        for op in ops:
            code = op[0]
            if code == s.GLOBAL:
                named[op[1]] = op[2]
            elif code == s.ATTR and op[2] in named and op[3] not in FILLING:
                methods[op[1]] = named[op[2]]
            elif code in (s.FUNCTION, s.LAMBDA) or (code == s.CALL and piece.kind == "assign"):
                if op[2] in methods:
                    yield methods[op[2]]
                yield from (named[register] for register in reads(op) if register in named)
            elif code == s.BINARY and piece.kind == "assign":  # `flow = first | second`
                yield from (named[register] for register in reads(op) if register in named)
            elif (code == s.ATTR and op[3] in FILLING and op[2] in named) or (
                code == s.BIND
                and op[2] in named
                and (piece.owner >= 0 or op[1] in summary.mutations)
            ):
                yield named[op[2]]


def defaults_of(summary: FileSummary) -> dict[str, list[tuple[int, int]]]:
    """The functions that have a variable of the module as a default: unit, parameter."""
    found: dict[str, list[tuple[int, int]]] = {}
    for unit in summary.units:
        named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
        for op in unit.ops if named else ():
            for index, register in op[3] if op[0] in (s.FUNCTION, s.LAMBDA) else ():
                if register in named:
                    found.setdefault(named[register], []).append((op[2], index))
    return found

"""Types that stubs declare, as values: what they stand for, and type variables bound by arguments.

The rules are those of PEP 484 and of the typing specification, one step loose: a
parameter ``Iterable[T]`` that is given a list binds ``T`` to all that the list holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine.values import (
    EMPTY,
    NAMED_TUPLE,
    OPEN,
    Class,
    Function,
    Value,
    Values,
)
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.summary import Position, TypeExpr

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation
    from depslice.callgraph.stubs.store import Definition, StubClass, StubModule, Stubs

Bindings: TypeAlias = "dict[str, Values]"
Param: TypeAlias = "tuple[str, str, TypeExpr | None, bool]"

_DEEPEST: Final = 8
_DEEPEST_ARGUMENT: Final = 3
_WIDEST_ARGUMENT: Final = 10
_SPECIAL: Final = frozenset({"typing", "typing_extensions", "_typeshed"})
_OF_FIRST: Final = frozenset(
    {"Optional", "ClassVar", "Final", "Annotated", "Required", "NotRequired", "ReadOnly"}
)
_OF_STRING: Final = frozenset({"LiteralString", "Text"})
_NOTHING: Final = frozenset({"NoReturn", "Never"})
_KINDS: Final = {
    "list": "builtins.list",
    "tuple": "builtins.tuple",
    "set": "builtins.set",
    "dict": "builtins.dict",
    "deque": "collections.deque",
    "defaultdict": "collections.defaultdict",
    "OrderedDict": "collections.OrderedDict",
    "WeakKeyDictionary": "weakref.WeakKeyDictionary",
    "WeakValueDictionary": "weakref.WeakValueDictionary",
}
_STRUCTURED: Final = frozenset({"XI", "G", "GS", "K", "GE", "CI", "CO"})
_FUNCTIONS: Final = frozenset({"F", "B", "PT", "CM", "SM", "KM", "CB"})
_CALLED_BACK: Final = frozenset({"F", "B", "PT", "CM", "C", "I", "SM", "KM", "CB", "OG", "X"})
_NEVER_EXACT: Final = frozenset({"typing", "collections", "contextlib", "numbers", "os"})


class Scope:
    """Where a type of a stub is read: its module, what its variables stand for, ``Self``."""

    __slots__ = ("bindings", "module", "receiver")

    def __init__(
        self, module: StubModule, bindings: Bindings | None = None, receiver: Values = EMPTY
    ) -> None:
        self.module = module
        self.bindings: Bindings = {} if bindings is None else bindings
        self.receiver = receiver


class StubTypes:
    """Types of stubs for one engine."""

    def __init__(self, engine: ContainerEvaluation, stubs: Stubs) -> None:
        self.engine = engine
        self.stubs = stubs
        self._depth = 0
        self._constant: dict[tuple[str, TypeExpr], Values] = {}
        # By the identity of types, which stand behind: whether they name a type variable.
        self._varying: dict[tuple[int, str], tuple[bool, TypeExpr]] = {}
        self._nesting: dict[int, int] = {}
        self._bases: dict[Class, tuple[tuple[Class, ...], list[tuple[StubClass, Bindings]]]] = {}

    # --- types to values

    def values_of(self, expression: TypeExpr, scope: Scope) -> Values:
        """What an object of the type can be; nothing for ``None``, unknown for ``Any``."""
        kind = expression[0]
        if kind == s.T_NONE:
            return EMPTY
        if kind == d.T_LITERAL:
            return self.engine.constants[s.STR]
        if self._depth > _DEEPEST:
            return self.engine.unknown
        self._depth += 1
        try:
            if kind in (s.T_NAME, s.T_ATTR):
                return self._named(expression, scope)
            if kind == s.T_SUBSCRIPT:
                return self._generic(expression, scope)
            if kind == s.T_UNION:
                return self.union([self.values_of(e, scope) for e in expression[1]])
        finally:
            self._depth -= 1
        return self.engine.unknown

    def union(self, alternatives: Iterable[Values]) -> Values:
        """One of several; ``X | Any`` is typeshed's way to say ``X``, but do not insist."""
        merged: set[int] = set()
        for values in alternatives:
            merged |= values
        if len(merged) > 1:
            merged.discard(self.engine.unknown_id)
        return merged

    def _named(self, expression: TypeExpr, scope: Scope) -> Values:
        bound = scope.bindings.get(expression[-1]) if expression[0] == s.T_NAME else None
        if bound is not None:
            return bound
        if expression[-1] == "Self" and scope.receiver:
            return scope.receiver
        key = (scope.module.name, expression)
        known = self._constant.get(key)
        if known is None:
            known = self._constant[key] = frozenset(self._constant_type(expression, scope.module))
        return known

    def _constant_type(self, expression: TypeExpr, module: StubModule) -> Values:
        definition = self.stubs.resolve(module, expression)
        return self.engine.unknown if definition is None else self.defined(definition)

    def defined(self, definition: Definition, bindings: Bindings | None = None) -> Values:
        """An object of the type that a definition (a class, an alias, …) names."""
        declaration = definition.declaration
        if declaration is None:
            return self.engine.unknown
        kind = declaration[0]
        if kind == d.CLASS:
            return self.instance(definition.dotted)
        if kind == d.ALIAS:
            return self.values_of(declaration[1], Scope(definition.module, bindings))
        if kind == d.TYPE_VARIABLE:
            scope = Scope(definition.module)
            bounds = [self.values_of(bound, scope) for bound in declaration[1][:1]]
            return bounds[0] if bounds else self.engine.unknown
        if definition.module.name in _SPECIAL:
            if definition.name in _OF_STRING:
                return self.engine.constants[s.STR]
            if definition.name in _NOTHING:
                return EMPTY
        return self.engine.unknown

    def instance(self, dotted: str, arguments: Sequence[Values] = ()) -> Values:
        """An object of a class outside the repo, with its type arguments where they are known."""
        engine = self.engine
        if dotted in ("builtins.object", "typing.Any"):
            return engine.unknown
        if dotted == "types.NoneType":
            return EMPTY
        if all(values <= engine.unknown for values in arguments):
            return engine.single(("XI", dotted))
        frozen = tuple([self._argument(values) for values in arguments])
        made = engine.intern(("G", dotted, frozen))
        if made not in self._nesting:
            inner = [self._nesting.get(v, 0) for values in frozen for v in values]
            self._nesting[made] = 1 + max(inner, default=0)
        if self._nesting[made] > _DEEPEST_ARGUMENT:
            return engine.single(("XI", dotted))
        return frozenset((made,))

    def _argument(self, values: Values) -> frozenset[int]:
        if len(values) > _WIDEST_ARGUMENT:
            return frozenset(sorted(values)[:_WIDEST_ARGUMENT]) | self.engine.unknown
        return frozenset(values)

    def _generic(self, expression: TypeExpr, scope: Scope) -> Values:
        _, base, arguments = expression
        definition = self.stubs.resolve(scope.module, base)
        if definition is None or definition.declaration is None:
            return self.engine.unknown
        kind = definition.declaration[0]
        if kind == d.CLASS:
            return self._generic_class(definition.dotted, arguments, scope)
        if kind == d.ALIAS:
            names = definition.declaration[2] or self._variables(
                definition.module, definition.declaration[1]
            )
            given = [self.values_of(argument, scope) for argument in arguments]
            return self.defined(definition, dict(zip(names, given, strict=False)))
        name = definition.name
        if name in _OF_FIRST:
            return self.values_of(arguments[0], scope)
        if name == "Union":
            return self.union([self.values_of(argument, scope) for argument in arguments])
        if name == "Callable":
            made = frozenset(self.values_of(arguments[-1], scope))
            return self.engine.single(("CB", made)) if made else self.engine.unknown
        if name in ("TypeGuard", "TypeIs"):
            return self.engine.constants[s.BOOL]
        return self.defined(definition)

    def _generic_class(self, dotted: str, arguments: tuple[TypeExpr, ...], scope: Scope) -> Values:
        if dotted == "builtins.type":
            return self.classes_of(self.values_of(arguments[0], scope))
        given = [
            EMPTY if argument[0] == d.T_ELLIPSIS else self.values_of(argument, scope)
            for argument in arguments
        ]
        return self.instance(dotted, given)

    def classes_of(self, instances: Values) -> Values:
        """``type[T]``."""
        engine = self.engine
        made: set[int] = set()
        for value in instances:
            kind = engine.values[value]
            if kind[0] == "I":
                made.add(engine.intern(("C", kind[1], kind[2])))
            elif kind[0] in ("XI", "G", "GS"):
                made.add(engine.intern(("X", kind[1])))
        return made or engine.unknown

    def _variables(self, module: StubModule, expression: TypeExpr) -> tuple[str, ...]:
        """The type variables of an alias, in order."""
        found: dict[str, None] = {}
        stack = [expression]
        while stack:
            part = stack.pop(0)
            if part[0] == s.T_NAME:
                what = self.stubs.name_in(module, part[1])
                if what is not None and what.declaration and what.declaration[0] == d.TYPE_VARIABLE:
                    found[part[1]] = None
            elif part[0] == s.T_SUBSCRIPT:
                stack = [*part[2], *stack]
            elif part[0] in (s.T_UNION, s.T_LIST):
                stack = [*part[1], *stack]
        return tuple(found)

    def is_fixed(self, expression: TypeExpr, module: StubModule) -> bool:
        """Whether a type means the same whatever its type variables stand for."""
        kind = expression[0]
        if kind in (s.T_NAME, s.T_ATTR):
            if expression[-1] == "Self":
                return False
            found = self.stubs.resolve(module, expression)
            if found is None or found.declaration is None:
                return True
            if found.declaration[0] == d.ALIAS and found.module is not module:
                return self.is_fixed(found.declaration[1], found.module)
            return bool(found.declaration[0] != d.TYPE_VARIABLE)
        if kind == s.T_SUBSCRIPT:
            return self.is_fixed(expression[1], module) and all(
                self.is_fixed(argument, module) for argument in expression[2]
            )
        if kind in (s.T_UNION, s.T_LIST):
            return all(self.is_fixed(part, module) for part in expression[1])
        return True

    # --- values as objects of a class

    def class_of(self, value: Value) -> StubClass | None:
        """The class outside the repo that a value is an instance of."""
        tag = value[0]
        if tag in ("XI", "G", "GS"):
            return self.stubs.class_named(value[1])
        if tag in ("S", "N"):
            return self.stubs.class_named("builtins.str")
        if tag == "K":
            return self.stubs.class_named(_KINDS.get(str(value[1]), str(value[1])))
        if tag == "GE":
            is_async = value[1].unit.flags & s.ASYNC
            return self.stubs.class_named(
                "typing.AsyncGenerator" if is_async else "typing.Generator"
            )
        if tag == "CO":
            return self.stubs.class_named("typing.Coroutine")
        if tag == "CI":
            is_async = value[1].unit.flags & s.ASYNC
            kind = "AbstractAsyncContextManager" if is_async else "AbstractContextManager"
            return self.stubs.class_named(f"contextlib.{kind}")
        return None

    def arguments_of(self, number: int, class_: StubClass) -> Bindings:
        """What the type parameters of its class stand for in a value."""
        engine = self.engine
        value = engine.values[number]
        tag = value[0]
        names = class_.parameters
        if tag == "G":
            arguments = value[2]
            if class_.dotted == "builtins.tuple":
                merged: set[int] = set()
                for values in arguments:
                    merged |= values
                return dict.fromkeys(names, merged)
            return dict(zip(names, arguments, strict=False))
        if tag == "GS":
            found: Bindings = {}
            for name in names:
                values = engine.read(engine.cell("tv", number, name))
                if values:
                    found[name] = frozenset(values)
            return found
        if tag == "K":
            held = engine.read(engine.elements_cell(number))
            if len(names) == 2:
                keys = engine.read(engine.keys_cell(number)) or engine.constants[s.STR]
                return dict(zip(names, (keys, held), strict=False))
            return dict.fromkeys(names, held)
        if tag == "GE":
            engine.ensure(value[1])
            cells = value[1].yields, value[1].ret
            yielded, sent_back = engine.read(cells[0]), engine.read(cells[1])
            return dict(zip(names, (yielded, engine.unknown, sent_back), strict=False))
        if tag == "CO":
            returned = engine.returned(value[1])
            return dict(zip(names, (engine.unknown, engine.unknown, returned), strict=False))
        if tag == "CI":
            engine.ensure(value[1])
            return dict(zip(names[:1], (engine.read(value[1].yields),), strict=False))
        return {}

    def seen_as(self, number: int, target: StubClass) -> Bindings | None:
        """The type arguments of ``target`` in a value that is one; ``None`` if it is none."""
        value = self.engine.values[number]
        if value[0] == "I":
            return self._instance_seen_as(value[1], target)
        class_ = self.class_of(value)
        if class_ is None or target not in self.stubs.mro(class_):
            return None
        return self.ascend(class_, self.arguments_of(number, class_), target)

    def _instance_seen_as(self, class_: Class, target: StubClass) -> Bindings | None:
        for base, bindings in self.outer_bases(class_):
            if target in self.stubs.mro(base):
                return self.ascend(base, bindings, target)
        return None

    def outer_bases(self, class_: Class) -> list[tuple[StubClass, Bindings]]:
        """The bases of a repo class that stubs declare, in MRO order, with their arguments."""
        engine = self.engine
        order = engine.mro(class_)
        known = self._bases.get(class_)
        if known is not None and known[0] is order:
            return known[1]
        found: list[tuple[StubClass, Bindings]] = []
        self._bases[class_] = (order, found)
        for inner in order:
            if not inner.external_bases:
                continue
            for values in inner.base_values or ():
                for number in values:
                    value = engine.values[number]
                    if value[0] == "NT":
                        value = ("X", NAMED_TUPLE)
                    if value[0] in ("X", "XA"):
                        base = self.stubs.class_named(value[1])
                        if base is not None:
                            given = value[2] if value[0] == "XA" else ()
                            found.append((base, dict(zip(base.parameters, given, strict=False))))
        return found

    def ascend(self, class_: StubClass, bindings: Bindings, target: StubClass) -> Bindings:
        """The type arguments of a base, from those of the class."""
        if class_ is target:
            return bindings
        for parent, expression in class_.parents:
            if target in self.stubs.mro(parent):
                given: Bindings = {}
                if expression[0] == s.T_SUBSCRIPT:
                    scope = Scope(class_.module, bindings)
                    for name, argument in zip(parent.parameters, expression[2], strict=False):
                        if argument[0] == s.T_NAME and argument[1] in class_.parameters:
                            if argument[1] in bindings:
                                given[name] = bindings[argument[1]]
                        else:
                            given[name] = self.values_of(argument, scope)
                return self.ascend(parent, given, target)
        return {}

    def names_in(self, class_: StubClass, target: StubClass) -> dict[str, str]:
        """Type parameters of a base -> those of the class that they are, where it is that simple."""
        if class_ is target:
            return {name: name for name in class_.parameters}
        for parent, expression in class_.parents:
            if target in self.stubs.mro(parent) and expression[0] == s.T_SUBSCRIPT:
                own = {
                    name: argument[1]
                    for name, argument in zip(parent.parameters, expression[2], strict=False)
                    if argument[0] == s.T_NAME and argument[1] in class_.parameters
                }
                above = self.names_in(parent, target)
                return {name: own[middle] for name, middle in above.items() if middle in own}
        return {}

    # --- values to types

    def bind(self, expression: TypeExpr, values: Values, scope: Scope, pos: Position) -> None:
        """Bind the type variables of a parameter's type by what is passed."""
        if not values:
            return
        kind = expression[0]
        if kind == s.T_UNION:
            for alternative in expression[1]:
                self.bind(alternative, values, scope, pos)
            return
        if kind == s.T_NAME:
            self._bind_name(expression[1], values, scope, pos)
        elif kind == s.T_SUBSCRIPT and self._depth <= _DEEPEST:
            self._depth += 1
            try:
                self._bind_generic(expression, values, scope, pos)
            finally:
                self._depth -= 1

    def _names_variables(self, expression: TypeExpr, module: StubModule) -> bool:
        """Whether there is something to bind in a type, or in what it is an alias of.

        An alias may be one of itself: ``Json = dict[str, "Json"] | list["Json"] | str``.
        """
        known = self._varying.get((id(expression), module.name))
        if known is None:
            known = self._find_variables(expression, module), expression
            self._varying[id(expression), module.name] = known
        return known[0]

    def _find_variables(self, expression: TypeExpr, module: StubModule) -> bool:
        waiting = [(expression, module)]
        seen: set[tuple[TypeExpr, str]] = set()
        while waiting:
            part, where = waiting.pop()
            if (part, where.name) in seen:
                continue
            seen.add((part, where.name))
            kind = part[0]
            if kind in (s.T_UNION, s.T_LIST):
                waiting += [(each, where) for each in part[1]]
            elif kind == s.T_SUBSCRIPT:
                waiting += [(part[1], where), *((each, where) for each in part[2])]
            elif kind in (s.T_NAME, s.T_ATTR):
                found = self.stubs.resolve(where, part)
                if found is None or found.declaration is None:
                    continue
                if found.declaration[0] == d.TYPE_VARIABLE:
                    return True
                if found.declaration[0] == d.ALIAS:
                    waiting.append((found.declaration[1], found.module))
        return False

    def _bind_name(self, name: str, values: Values, scope: Scope, pos: Position) -> None:
        found = self.stubs.name_in(scope.module, name)
        if found is None or found.declaration is None:
            return
        kind = found.declaration[0]
        if kind == d.TYPE_VARIABLE:
            known = scope.bindings.get(name)
            scope.bindings[name] = values if known is None else known | values
        elif kind == d.ALIAS and found.declaration[1][0] == s.T_UNION:
            if not self._names_variables(found.declaration[1], found.module):
                return
            inner = Scope(found.module, scope.bindings)
            self.bind(found.declaration[1], values, inner, pos)

    def _bind_generic(
        self, expression: TypeExpr, values: Values, scope: Scope, pos: Position
    ) -> None:
        _, base, arguments = expression
        definition = self.stubs.resolve(scope.module, base)
        if definition is None or definition.declaration is None:
            return
        kind = definition.declaration[0]
        if kind == d.ALIAS:
            # Its variables are bound first under their own names, then passed on.
            names = definition.declaration[2] or self._variables(
                definition.module, definition.declaration[1]
            )
            inner = Scope(definition.module)
            self.bind(definition.declaration[1], values, inner, pos)
            for name, argument in zip(names, arguments, strict=False):
                self.bind(argument, inner.bindings.get(name, EMPTY), scope, pos)
        elif kind == d.CLASS:
            if definition.dotted == "builtins.type":
                self.bind(arguments[0], self._instances_of(values), scope, pos)
                return
            target = self.stubs.class_of(definition)
            for number in tuple(values):
                given = self._given(number, target, pos)
                for name, argument in zip(target.parameters, arguments, strict=False):
                    if name in given:
                        self.bind(argument, given[name], scope, pos)
        elif definition.name in _OF_FIRST:
            self.bind(arguments[0], values, scope, pos)
        elif definition.name == "Union":
            for argument in arguments:
                self.bind(argument, values, scope, pos)

    def _instances_of(self, classes: Values) -> Values:
        engine = self.engine
        made: set[int] = set()
        for number in classes:
            value = engine.values[number]
            if value[0] == "C":
                made.add(engine.intern(("I", value[1], value[2])))
            elif value[0] == "X" and self.stubs.class_named(value[1]) is not None:
                made |= self.instance(value[1])
        return made

    def _given(self, number: int, target: StubClass, pos: Position) -> Bindings:
        """The type arguments of ``target`` that a value has, by its class or by its methods."""
        engine = self.engine
        seen = self.seen_as(number, target)
        if seen is not None:
            return seen
        value = engine.values[number]
        if value[0] in OPEN or value[0] == "X":
            if value[0] == "X":
                found = engine.outside.variable(value[1])
                merged: Bindings = {}
                for inner in found:
                    merged.update(self._given(inner, target, pos))
                return merged
            return self._given_by_open(number, target, pos)
        if target.is_protocol and (value[0] == "I" or value[0] in _STRUCTURED):
            return self._given_by_methods(number, value, target, pos)
        return {}

    def _given_by_open(self, number: int, target: StubClass, pos: Position) -> Bindings:
        """An open value that is iterated has elements, whatever they are."""
        values = frozenset((number,))
        for member in ("__iter__", "__next__", "__getitem__"):
            if any(member in c.members for c in self.stubs.mro(target)) and target.parameters:
                elements = self.engine.derive("E", number)
                return {target.parameters[-1]: elements}
        if any("__await__" in c.members for c in self.stubs.mro(target)) and target.parameters:
            return {target.parameters[-1]: self.engine.await_value(values, pos)}
        return {}

    def _given_by_methods(
        self, number: int, value: Value, target: StubClass, pos: Position
    ) -> Bindings:
        """Structural typing (PEP 544): ``SupportsNext[T]`` is given by what ``__next__`` returns."""
        engine = self.engine
        found = Scope(target.module)
        for class_ in self.stubs.mro(target):
            if class_.parameters != target.parameters and class_ is not target:
                continue
            for name, declaration in class_.members.items():
                if declaration[0] != d.FUNCTION or not name.startswith("__"):
                    continue
                if name in ("__init__", "__class_getitem__", "__exit__", "__aexit__"):
                    continue
                if set(target.parameters) <= found.bindings.keys():
                    break
                if not self._variables(class_.module, declaration[1][0][1]):
                    continue
                if value[0] == "I":
                    made = engine.call_dunder(
                        number, value[1], name, [engine.constants[s.INT]], pos
                    )
                else:
                    made = engine.outside.result_of(number, name, pos)
                self.bind(declaration[1][0][1], made, found, pos)
        return found.bindings

    # --- whether values fit a type

    def fits(self, expression: TypeExpr, values: Values, scope: Scope) -> bool | None:
        """Whether values can be of the type: surely, surely not, or ``None`` if unknown."""
        kind = expression[0]
        if kind == s.T_UNION:
            answers = [self.fits(alternative, values, scope) for alternative in expression[1]]
            return True if True in answers else None if None in answers else False
        if not values:
            return True if kind == s.T_NONE else None
        answers = [self._fits(expression, number, scope) for number in values]
        return True if True in answers else None if None in answers else False

    def _fits(self, expression: TypeExpr, number: int, scope: Scope) -> bool | None:
        value = self.engine.values[number]
        tag = value[0]
        if tag in OPEN or expression[0] in (s.T_UNKNOWN, s.T_LIST):
            return None
        if expression[0] == s.T_NONE:
            return False
        if expression[0] == d.T_LITERAL:
            if tag == "S":
                return value[1] in expression[1]
            return None if tag in ("XI", "N") and self._is_text(value) else False
        arguments = expression[2] if expression[0] == s.T_SUBSCRIPT else ()
        name = expression[1] if arguments else expression
        definition = self.stubs.resolve(scope.module, name)
        if definition is None or definition.declaration is None:
            return None
        kind = definition.declaration[0]
        if kind == d.ALIAS:
            return self.fits(
                definition.declaration[1], frozenset((number,)), Scope(definition.module)
            )
        if kind == d.TYPE_VARIABLE:
            bounds = definition.declaration[1]
            if not bounds:
                return True
            inner = Scope(definition.module)
            answers = [self._fits(bound, number, inner) for bound in bounds]
            return True if True in answers else None if None in answers else False
        if kind != d.CLASS:
            if definition.name == "LiteralString":
                return True if tag == "S" else None if tag in ("N", "XI") else False
            if definition.name == "Callable":
                return True if tag in _FUNCTIONS or tag == "C" else None if tag in "IX" else False
            if definition.name in _OF_FIRST and arguments:
                return self.fits(arguments[0], frozenset((number,)), scope)
            if definition.name == "Union":
                return self.fits((s.T_UNION, arguments), frozenset((number,)), scope)
            return None
        target = self.stubs.class_of(definition)
        answer = self._is_instance(value, target)
        if answer and arguments and target.parameters and tag in ("K", "G", "GS"):
            seen = self.seen_as(number, target) or {}
            for parameter, argument in zip(target.parameters, arguments, strict=False):
                held = seen.get(parameter, EMPTY)
                if held and self.fits(argument, held, scope) is False:
                    return False
        return answer

    def _is_text(self, value: Value) -> bool:
        return bool(value[0] != "XI" or value[1] == "builtins.str")

    def _is_instance(self, value: Value, target: StubClass) -> bool | None:
        if target.dotted == "builtins.object":
            return True
        structural = target.is_protocol or target.dotted.partition(".")[0] in _NEVER_EXACT
        tag = value[0]
        if tag == "I":
            if "?" in self.engine.external_bases(value[1]):
                return None
            if any(target in self.stubs.mro(base) for base, _ in self.outer_bases(value[1])):
                return True
            return None if structural or self.has_unread_base(value[1]) else False
        if tag == "X":
            return None
        if tag in _FUNCTIONS or tag in ("C", "M"):
            return None if structural or target.dotted == "builtins.type" else False
        class_ = self.class_of(value)
        if class_ is None:
            return None
        if target in self.stubs.mro(class_):
            return True
        outside = self.engine.outside
        methods = tuple(outside.protocols.methods_of(target)) if target.is_protocol else ()
        if methods:
            return all(outside.member(class_, name) is not None for name in methods)
        numbers = ("builtins.int", "builtins.float", "builtins.complex", "builtins.bool")
        if structural or (class_.dotted in numbers and target.dotted in numbers):
            return None
        return False

    def has_unread_base(self, class_: Class) -> bool:
        """Whether a base of a class of the repo lies where no stub tells of it."""
        return any(
            self.stubs.class_named(base) is None for base in self.engine.external_bases(class_)
        )

    # --- callables

    def callback(
        self,
        expression: TypeExpr,
        values: Values,
        scope: Scope,
        rest: tuple[Sequence[Values], Mapping[str, Values]],
        pos: Position,
    ) -> bool:
        """Call what is passed for ``Callable[…, R]``, and bind the variables of ``R``.

        ``rest`` is what goes on to a ``ParamSpec``. Whether the type was such a callable.
        """
        found = self._callable(expression, scope)
        if found is None:
            return False
        params, returns, inner = found
        engine = self.engine
        called = frozenset(
            v
            for v in values
            if engine.values[v][0] in _CALLED_BACK
            or (engine.values[v][0] in OPEN and not engine.whole)
        )
        if not called:
            return True
        args: Sequence[Values] = ()
        keywords: Mapping[str, Values] = {}
        if params[0] == s.T_LIST:
            args = [self.values_of(param, inner) for param in params[1]]
        elif params[0] in (s.T_NAME, s.T_SUBSCRIPT):
            args, keywords = rest
        made = engine.call(called, list(args), keywords, pos, rule="callback", external=True)
        self.bind(returns, made, inner, pos)
        engine.outside.use(returns, made, inner.module, pos)
        return True

    def is_callable(self, expression: TypeExpr, scope: Scope) -> bool:
        """Whether a parameter's type is a ``Callable``."""
        return self._callable(expression, scope) is not None

    def _callable(
        self, expression: TypeExpr, scope: Scope
    ) -> tuple[TypeExpr, TypeExpr, Scope] | None:
        """Parameters and result of the ``Callable[…, …]`` in a type, if there is one."""
        if expression[0] == s.T_UNION:
            for alternative in expression[1]:
                found = self._callable(alternative, scope)
                if found is not None:
                    return found
            return None
        if expression[0] not in (s.T_NAME, s.T_ATTR, s.T_SUBSCRIPT):
            return None
        name = expression[1] if expression[0] == s.T_SUBSCRIPT else expression
        definition = self.stubs.resolve(scope.module, name)
        if definition is None or definition.declaration is None:
            return None
        kind = definition.declaration[0]
        if kind == d.ALIAS:
            return self._callable(
                definition.declaration[1], Scope(definition.module, scope.bindings)
            )
        if kind == d.TYPE_VARIABLE:
            for bound in definition.declaration[1]:
                if self._callable(bound, Scope(definition.module)) is not None:
                    # `F = TypeVar("F", bound=Callable)`: handed back, as decorators do.
                    return None
            return None
        if expression[0] != s.T_SUBSCRIPT:
            return None
        if definition.name == "Callable" and len(expression[2]) == 2:
            return expression[2][0], expression[2][1], scope
        if definition.name in ("Optional", "Union"):
            return self._callable((s.T_UNION, expression[2]), scope)
        return None


__all__ = ["Bindings", "Function", "Param", "Scope", "StubTypes"]

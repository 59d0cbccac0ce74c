"""Annotations as values: what an expression declared to be ``T`` can be (PEP 484)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import SCALARS
from depslice.callgraph.engine.scopes import ScopeEvaluation
from depslice.callgraph.engine.values import EMPTY, OPEN_OR_OUTSIDE, Class, Function, Values
from depslice.callgraph.lowering.annotations import parse_type, type_names
from depslice.callgraph.program import BUILTIN_NAMES, Module
from depslice.callgraph.summary import Position, TypeExpr

_WRAPPERS: Final = frozenset(
    {
        "Optional",
        "Final",
        "ClassVar",
        "Annotated",
        "Required",
        "NotRequired",
        "ReadOnly",
        "InitVar",
        "TypeGuard",
    }
)
_EXACT: Final = frozenset({"Self", "Literal", "LiteralString", "NoReturn", "Never", "AnyStr"})
_BARE: Final = frozenset({"ClassVar", "Final", "TypeAlias"})
_DEEPEST_TYPE: Final = 12


class AnnotationEvaluation(ScopeEvaluation):
    """Declared types."""

    _type_depth = 0

    def note_annotation(
        self, function: Function, expression: TypeExpr, pos: Position, *, eager: bool | None
    ) -> None:
        """The names of an annotation must stay bound (evaluated, if ``eager``)."""
        module = function.module
        for dotted in type_names(expression):
            name = dotted[0]
            member = None if self.whole else self._name_of_body(function, name, pos, eager=eager)
            if member is not None:
                self._note_path(member, dotted, pos, eager=eager)
            elif name in module.summary.scope or self.program.star_source(module, name) is not None:
                self.facts.append((f.ANNOTATE, module.name, name, pos, eager))
                self._note_path(self._type_name(module, name), dotted, pos, eager=eager)

    def _name_of_body(
        self, function: Function, name: str, pos: Position, *, eager: bool | None
    ) -> Values | None:
        """What the class body that an annotation stands in binds ``name`` to, if it does.

        One that is evaluated at once finds only what is bound before it: in
        ``def on(cls, day: date)`` above ``def date(self)`` the module's ``date`` is meant.
        """
        unit = function.unit
        if unit.owner < 0 or unit.kind != "piece":
            return None
        owner = self.class_(function.module, unit.owner)
        bound = owner.info.members.get(name, ())
        if not bound or (eager and all(piece >= unit.piece for piece in bound)):
            return None
        return self._named_member(owner, name, pos)

    def _named_member(self, owner: Class, name: str, pos: Position) -> Values:
        self.facts.append((f.MEMBER, owner, name, pos, False, "named", True))
        return self.member_values(owner, name)

    def _note_path(
        self, values: Values, dotted: tuple[str, ...], pos: Position, *, eager: bool | None
    ) -> None:
        """``m.C`` in an annotation names ``C`` of the module ``m``, or of a class."""
        for part in dotted[1:]:
            following: set[int] = set()
            for value in values:
                kind = self.values[value]
                owner = self.find_member(kind[1], part) if kind[0] == "C" else None
                if owner is not None and not self.whole:
                    following |= self._named_member(owner, part, pos)
                if kind[0] == "X" and eager and not self.whole:
                    outside = f"{kind[1]}.{part}"
                    self.facts.append((f.EXTERNAL, outside, pos, False))
                    following |= self.single(("X", outside))
                if kind[0] != "M":
                    continue
                inner = self.program.module(kind[1])
                if inner is not None and part in inner.summary.scope:
                    self.facts.append((f.ANNOTATE, inner.name, part, pos, eager))
                    following |= self.module_member(inner, part)
                elif self.program.is_module(f"{kind[1]}.{part}"):
                    self.facts.append((f.MODULE, f"{kind[1]}.{part}", pos))
                    following |= self.single(("M", f"{kind[1]}.{part}"))
            values = following

    def declare(
        self,
        function: Function,
        expression: TypeExpr,
        source: int | None,
        registers: Sequence[Values],
    ) -> Values:
        """``x: T = source``: the assigned values, else what is declared."""
        declared = self.declared(function.module, function, expression)
        if source is None:
            return declared
        values = registers[source]
        if not values or values <= self.unknown:
            return declared or values
        if function.unit.owner < 0 and all(map(self.is_told, values)):
            return values  # `KEY: int = 1`; of a field, constructors may make something else
        self.outside.adopt(values, declared)
        if declared and all(self.values[v][0] in OPEN_OR_OUTSIDE for v in values):
            return declared | values
        return values | declared if declared and not declared <= self.unknown else values

    def external_bases(self, class_: Class) -> Sequence[str]:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def find_member(self, class_: Class, name: str) -> Class | None:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def member_values(self, owner: Class, name: str) -> Values:
        """Implemented by the part for class statements."""
        raise NotImplementedError

    def declared(self, module: Module, function: Function | None, expression: TypeExpr) -> Values:
        """The values a variable of this declared type can have."""
        if self._type_depth > _DEEPEST_TYPE:
            return EMPTY
        self._type_depth += 1
        try:
            return self._declared(module, function, expression)
        finally:
            self._type_depth -= 1

    def _declared(self, module: Module, function: Function | None, expression: TypeExpr) -> Values:
        kind = expression[0]
        if kind in (s.T_NAME, s.T_ATTR):
            if expression[-1] == "Self" and function is not None:
                owner = self.method_around(function).unit.owner
                if owner >= 0:
                    return self.single(("I", self.class_(module, owner), False))
            return self._instances(
                self._type_values(module, function, expression), module, function
            )
        if kind == s.T_SUBSCRIPT:
            return self._generic(module, function, expression)
        if kind == s.T_UNION:
            values: set[int] = set()
            for alternative in expression[1]:
                values |= self.declared(module, function, alternative)
            return values
        return EMPTY

    def tells_all(
        self,
        module: Module,
        function: Function | None,
        expression: TypeExpr,
        *,
        items: bool = False,
    ) -> bool:
        """Whether a declared type says to the last part what an object is.

        ``Any``, ``object``, a type variable, protocols, and classes outside but for numbers and
        texts do not, since they are extended, or are protocols: what is really there says more.
        ``items``: whether it says so of what is in it, ``Iterable[T]`` whatever object that is.
        """
        key = (module.name, function, expression, items)
        known = self._all_told.get(key)
        if known is None:
            self._all_told[key] = True  # an alias of itself
            known = self._tells_all(module, function, expression, items)
            self._all_told[key] = known
        return known

    def _tells_all(
        self, module: Module, function: Function | None, expression: TypeExpr, items: bool
    ) -> bool:
        kind = expression[0]
        if kind == s.T_NONE:
            return True
        if kind == s.T_UNION:
            return len(expression[1]) <= self.widest and all(
                self.tells_all(module, function, each, items=items) for each in expression[1]
            )
        if kind in (s.T_NAME, s.T_ATTR):
            if expression[-1] in _EXACT:
                return True
            types = self._type_values(module, function, expression)
            return bool(types) and all(self._tells(value, module, function) for value in types)
        if kind != s.T_SUBSCRIPT:
            return False
        _, base, arguments = expression
        name = base[-1] if base[0] in (s.T_NAME, s.T_ATTR) else ""
        if name in ("Callable", "Concatenate", "Unpack"):
            return False
        if name == "Literal":
            return True
        types = self._type_values(module, function, base)
        if not types or not (items or all(self.values[value][0] == "C" for value in types)):
            return False
        if name in _WRAPPERS:
            arguments = arguments[:1]
        elif name in ("tuple", "Tuple") and len(arguments) == 2 and arguments[1][0] == s.T_UNKNOWN:
            arguments = arguments[:1]  # `tuple[int, ...]`
        return all(self.tells_all(module, function, each, items=items) for each in arguments)

    def _tells(self, value: int, module: Module, function: Function | None) -> bool:
        """Whether the name of a type, or an alias, says all of what is declared so."""
        kind = self.values[value]
        if kind[0] == "C":
            return not self.is_typed_dict(kind[1]) and not self.is_protocol(kind[1])
        if kind[0] in ("X", "XI"):
            return (
                self.outside.class_name(kind[1]) in SCALARS
            )  # who extends others, or is like them
        if kind[0] in ("XA", "G"):
            name: str = kind[1].rpartition(".")[2]
            return name != "Callable" and self._tell(kind[2], module, function)
        if kind[0] == "S":
            return self.tells_all(module, function, parse_type(kind[1]))
        return bool(kind[0] == "I")

    def _tell(
        self, arguments: tuple[frozenset[int], ...], module: Module, function: Function | None
    ) -> bool:
        """Whether each argument of a generic type says all."""
        return all(
            bool(inner) and all(self._tells(each, module, function) for each in inner)
            for inner in arguments
        )

    def is_typed_dict(self, class_: Class) -> bool:
        """Whether instances of a class are dictionaries (PEP 589)."""
        return any(base.endswith(".TypedDict") for base in self.external_bases(class_))

    def _type_values(
        self, module: Module, function: Function | None, expression: TypeExpr
    ) -> Values:
        if expression[0] == s.T_NAME:
            local = self._local_type(module, function, expression[1])
            if local is not None:
                return local
            named = self._type_name(module, expression[1])
            return named or self._imported_here(module, function, expression[1])
        if expression[0] != s.T_ATTR:
            return EMPTY
        saved, self.facts = self.facts, []
        try:
            return self.load_attribute(
                self._type_values(module, function, expression[1]), expression[2], 0
            )
        finally:
            self.facts = saved

    def _local_type(self, module: Module, function: Function | None, name: str) -> Values | None:
        """A class that a function around defines, or the class whose body the type stands in.

        The bodies of other classes are not looked into (language reference, 4.2.2).
        """
        if function is None:
            return None
        named = [
            info
            for info in module.summary.classes
            if (info.owner >= 0 or info.parent_function >= 0)
            and info.qualname.rpartition(".")[2] == name
        ]
        if not named:
            return None
        unit = function.unit
        seen = [info for info in named if info.owner >= 0 and info.owner == unit.owner]
        while not seen:
            seen = [i for i in named if i.owner < 0 and i.parent_function == unit.index]
            if unit.parent < 0:
                break
            unit = module.summary.units[unit.parent]
        found = [self.single(("C", self.class_(module, info.index), True)) for info in seen]
        return EMPTY.union(*found) if found else None

    def _imported_here(self, module: Module, function: Function | None, name: str) -> Values:
        """What a function that an annotation stands in imports by this name."""
        units = module.summary.units
        unit = None if function is None else function.unit
        while unit is not None:
            for op in unit.ops:
                if op[0] == s.IMPORT and op[4] == name:
                    saved, self.facts = self.facts, []
                    try:
                        return self.import_values(module, op[2], op[3], op[4], 0)
                    finally:
                        self.facts = saved
            unit = units[unit.parent] if unit.parent >= 0 else None
        return EMPTY

    def _type_name(self, module: Module, name: str) -> Values:
        if name in module.summary.scope:
            return self.name_values(module, name, None)
        found = self.program.star_source(module, name)
        if found is not None:
            source, piece = found
            if source is not None:
                return self.module_member(source, name)
            dotted = self.program.given_outside(module, piece, name)
            return EMPTY if dotted is None else self.single(("X", dotted))
        if name in BUILTIN_NAMES:
            return self.single(("X", f"builtins.{name}"))
        return EMPTY

    def _instances(self, types: Values, module: Module, function: Function | None) -> Values:
        values: set[int] = set()
        for value in types:
            kind = self.values[value]
            if kind[0] == "C":
                values.add(self.intern(("I", kind[1], False)))
            elif kind[0] == "X":
                values |= self._external_type(kind[1])
            elif kind[0] == "XA":
                values |= self.aliased(kind[1], kind[2])
            elif kind[0] in ("I", "G", "K"):
                values.add(value)  # an alias that is already a declared type
            elif kind[0] == "S":  # `Name: TypeAlias = "A | B"`
                values |= self.declared(module, function, parse_type(kind[1]))
        return values

    def aliased(self, dotted: str, arguments: tuple[frozenset[int], ...]) -> frozenset[int]:
        """``Pair = Tuple[A, B]``: what is declared by the name of a generic type."""
        name = dotted.rpartition(".")[2]
        if name == "Callable":
            return self.single(("CB", arguments[-1])) if arguments[-1] else EMPTY
        if name in _WRAPPERS:
            return arguments[0]
        if name in ("Type", "type"):
            return EMPTY
        if name == "Union":
            return EMPTY.union(*arguments)
        return self.single(("G", self.outside.class_name(dotted) or dotted, arguments))

    def _external_type(self, dotted: str) -> Values:
        name = dotted.rpartition(".")[2]
        if dotted in ("typing.Any", "builtins.object", "typing_extensions.Any"):
            return EMPTY
        if name in _BARE and dotted.startswith("typing"):
            return EMPTY  # `x: Final = 1` declares what it is assigned
        if name in ("Callable", "Type", "Optional", "Union", "TypeVar", "ParamSpec"):
            return EMPTY
        known = self.outside.declared(dotted)
        return self.single(("XI", dotted)) if known is None else known

    def _generic(self, module: Module, function: Function | None, expression: TypeExpr) -> Values:
        _, base, arguments = expression
        types = self._type_values(module, function, base)
        values: set[int] = set()
        for value in types:
            kind = self.values[value]
            if kind[0] == "C":
                values.add(self.intern(("I", kind[1], False)))
            elif kind[0] == "X":
                values |= self._external_generic(module, function, kind[1], arguments)
        return values

    def _external_generic(
        self,
        module: Module,
        function: Function | None,
        dotted: str,
        arguments: tuple[TypeExpr, ...],
    ) -> Values:
        name = dotted.rpartition(".")[2]
        if name == "Literal":
            return self._external_type(dotted)
        if name in _WRAPPERS:
            return self.declared(module, function, arguments[0]) if arguments else EMPTY
        if name == "Union":
            merged: set[int] = set()
            for argument in arguments:
                merged |= self.declared(module, function, argument)
            return merged
        if name in ("Type", "type"):
            return self._classes_of(module, function, arguments)
        if name == "Callable":
            if len(arguments) == 2:
                made = frozenset(self.declared(module, function, arguments[1]))
                return self.single(("CB", made)) if made else EMPTY
            return EMPTY
        inner = tuple([frozenset(self.declared(module, function, a)) for a in arguments])
        return self.single(("G", self.outside.class_name(dotted) or dotted, inner))

    def _classes_of(
        self, module: Module, function: Function | None, arguments: tuple[TypeExpr, ...]
    ) -> Values:
        made: set[int] = set()
        for argument in arguments:
            for value in self.declared(module, function, argument):
                kind = self.values[value]
                if kind[0] == "I":
                    made.add(self.intern(("C", kind[1], False)))
                elif kind[0] in ("XI", "G"):
                    made.add(self.intern(("X", kind[1])))
        return made

"""Objects from outside the repo at work: their attributes, calls, elements, by their stubs.

What a stub does not know is not answered here (``None``): the engine then goes by
the names alone (:mod:`depslice.callgraph.engine.library`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.library import EXCEPTIONS, INERT_BASES, SCALARS
from depslice.callgraph.engine.overridden import Asked, Overridden
from depslice.callgraph.engine.structural import IMITATED, Located, Protocols
from depslice.callgraph.engine.stubtypes import Bindings, Param, Scope, StubTypes
from depslice.callgraph.engine.values import EMPTY, OPEN, Class, Value, Values
from depslice.callgraph.stubs import declarations as d
from depslice.callgraph.stubs.store import Definition, StubClass, StubModule, Stubs
from depslice.callgraph.summary import Position, TypeExpr

if TYPE_CHECKING:
    from depslice.callgraph.engine.containers import ContainerEvaluation

_BUILT: Final = {
    "builtins.list": "list",
    "builtins.set": "set",
    "builtins.frozenset": "frozenset",
}


# Methods of texts that change each letter alone: what is known of a text's ends stays known.
_BY_LETTER: Final = {"lower": str.lower, "upper": str.upper, "casefold": str.casefold}
_BY_TEXT: Final = (
    *("format", "format_map", "__mod__"),
    *("split", "rsplit", "partition", "rpartition"),
)
"""Other methods that give something else for each text."""
_STEPPED: Final = {"__iter__": "__next__", "__aiter__": "__anext__"}
_CONTEXTS: Final = frozenset(
    {"contextlib.AbstractAsyncContextManager", "contextlib.AbstractContextManager"}
)
"""Classes that enter as themselves, which their stubs do not say."""
_COMPLETE: Final = SCALARS | {
    f"builtins.{name}"
    for name in (
        *("bytearray", "dict", "frozenset", "list", "memoryview", "range", "set", "slice"),
        "tuple",
    )
}
"""Classes whose instances have what their stubs declare. What is declared an ``object``, a ``type``
or an exception may be any other, which has more."""
_FROZEN: Final = frozenset({"XI", "G", "S", "N", "X", "U", "M"})
"""Kinds of values of which all is known from the value itself: no cell is read."""
_CALLABLES: Final = frozenset({"F", "B", "PT", "CM", "C", "I", "SM", "KM", "CB", "OG"})
_HOLDING: Final = frozenset({"K", "G", "GS", "GE"})
_PLAIN: Final = frozenset(
    {f"builtins.{name}" for name in ("int", "str", "float", "bytes", "object")}
)


_IN_C: Final = frozenset({"builtins", "math", "re", "struct", "time"})
"""Modules that take numbers and texts as they are, and call no method of theirs by name."""
_ABSTRACT: Final = "collections.abc."
_DEEPEST: Final = 3  # iterables of iterables of …


class Member(NamedTuple):
    """A member of a class outside the repo: the class that defines it, and what it is."""

    owner: StubClass
    declaration: d.Declaration


class Outside:
    """What an engine knows of code outside the repo."""

    def __init__(self, engine: ContainerEvaluation, stubs: Stubs) -> None:
        self.engine = engine
        self.stubs = stubs
        self.types = StubTypes(engine, stubs)
        self.protocols = Protocols(stubs)
        self.overridden = Overridden(engine, stubs, self.types)
        self._members: dict[tuple[str, str], Member | None] = {}
        self._method_names: dict[tuple[str, str], tuple[str, ...]] = {}
        self._fixed: dict[int, Values | None] = {}  # by the identity of declarations
        self._results: dict[tuple[object, ...], Values] = {}
        self._elements: dict[tuple[int, bool], Values | None] = {}
        self._variables: dict[str, Values] = {}
        self._mappings: dict[str, bool] = {}
        self._caught: dict[int, str] = {}
        self._using: dict[int, bool] = {}  # by the identity of declarations
        self._declared: dict[str, Values | None] = {}

    # --- members

    def member(self, class_: StubClass, name: str) -> Member | None:
        """``name`` in the MRO of a class."""
        key = (class_.dotted, name)
        try:
            return self._members[key]
        except KeyError:
            found = None
            for candidate in self.stubs.mro(class_):
                declaration = candidate.members.get(name)
                if declaration is not None:
                    found = Member(candidate, declaration)
                    break
            self._members[key] = found
            return found

    def _label(self, class_: StubClass, name: str) -> str:
        """What a member goes by: the class of the object, as it is known to who uses it.

        For a private class, or an abstract one that a stub only borrows from, the first
        public one that it inherits from.
        """
        for candidate in self.stubs.mro(class_):
            if not any(part.startswith("_") for part in candidate.dotted.split(".")):
                return f"{candidate.dotted}.{name}"
        return f"{class_.dotted}.{name}"

    def _label_in(self, class_: Class, base: StubClass, name: str) -> str:
        """What a member goes by that a class of the repo has from ``base``.

        Stubs have the classes of ``collections.abc`` in ``typing``.
        """
        dotted = self._label(base, name)
        module, _, rest = dotted.partition(".")
        if module == "typing" and any(
            each.startswith(_ABSTRACT) for each in self.engine.external_bases(class_)
        ):
            return _ABSTRACT + rest.removeprefix("Abstract")
        return dotted

    def attribute(self, number: int, name: str, pos: Position) -> Values | None:
        """``value.name`` for an object from outside; ``None`` if nothing is known of it."""
        value = self.engine.values[number]
        class_ = self.types.class_of(value)
        if class_ is None:
            return None
        found = self.member(class_, name)
        if found is None or (found.owner.dotted == "builtins.object" and name == "__class__"):
            return self._undeclared(number, class_, name, pos)
        dotted = self._label(class_, name)
        self.engine.facts.append((f.EXTERNAL, dotted, pos, False))
        if value[0] in ("S", "N") and name not in _BY_LETTER and name not in _BY_TEXT:
            # One value for all texts: they differ in nothing else.
            number = self.engine.intern(("XI", "builtins.str"))
        return self._read(number, found, name, pos)

    def declares_of(self, number: int, name: str) -> bool:
        """Whether the class of an object from outside is known to have an attribute."""
        class_ = self.types.class_of(self.engine.values[number])
        return class_ is not None and self.member(class_, name) is not None

    def is_without(self, number: int, name: str) -> bool:
        """Whether an object from outside is known to have no such attribute.

        What fits an interface may have more, and of an exception all that extend it count.
        """
        value = self.engine.values[number]
        class_ = self.types.class_of(value)
        return class_ is not None and not (
            self.caught_as(number)
            or self.is_structural(value)
            or self.member(class_, name) is not None
            or self.member(class_, "__getattr__") is not None
        )

    def lacks(self, dotted: str, name: str) -> bool:
        """Whether something is a builtin class that has no such attribute, nor its instances."""
        class_ = self.stubs.class_named(dotted) if dotted in _COMPLETE else None
        if class_ is None or self.member(class_, name) is not None:
            return False
        above = self.stubs.class_named("builtins.type")
        return above is not None and self.member(above, name) is None

    def _undeclared(self, number: int, class_: StubClass, name: str, pos: Position) -> Values:
        """An attribute that the stub does not declare: computed, or somebody has stored it."""
        engine = self.engine
        is_instance = engine.values[number][0] == "XI"
        values: Values = EMPTY
        if is_instance and engine.whole:  # in a slice those who store are not all evaluated
            values = engine.read(engine.cell("carried", name))
        for dunder in ("__getattr__", "__getattribute__"):
            found = self.member(class_, dunder)
            if found is None or found.owner.dotted == "builtins.object":
                continue
            if found.declaration[0] == d.FUNCTION:
                scope = Scope(found.owner.module, {}, frozenset((number,)))
                return values | self.types.values_of(found.declaration[1][0][1], scope)
        if is_instance and not engine.whole:  # it may be of a subclass, too
            engine.note_unknown(name, pos, engine.unknown_id)
            if self.caught_as(number):
                engine.note_unknown(name, pos, number)
            values = values | engine.unknown
        if engine.whole and class_.dotted in _COMPLETE and name != "__class__":
            return values  # no object of such a type has it
        if engine.whole and class_.dotted in EXCEPTIONS and self._is_of_ours(class_.dotted, name):
            return values
        engine.facts.append((f.EXTERNAL, f"{class_.dotted}.{name}", pos, False))
        return values | engine.single(("XM", class_.dotted, name))

    def _is_of_ours(self, dotted: str, name: str) -> bool:
        """Whether exceptions of the program that extend one outside have the attribute."""
        engine = self.engine
        made = [engine.values[v][1] for v in engine.read(engine.cell("exceptions made"))]
        return any(engine.answers(k, name) for k in made if self.is_subclass(k, dotted))

    def _read(self, number: int, found: Member, name: str, pos: Position) -> Values:
        kind = found.declaration[0]
        if kind == d.FUNCTION:
            if found.declaration[2] == "property":
                return self._invoke(number, found, name, Call(pos=pos)) or EMPTY
            return self.engine.single(("SM", number, found.owner.dotted, name))
        if kind == d.VARIABLE:
            return self.types.values_of(found.declaration[1], self._scope(number, found.owner))
        if kind == d.ALIAS:  # `__radd__ = __add__`
            other = self.member(found.owner, str(found.declaration[1][-1]))
            if other is not None and other.declaration is not found.declaration:
                return self._read(number, other, str(found.declaration[1][-1]), pos)
        if kind == d.CLASS:
            return self.engine.single(("X", f"{found.owner.dotted}.{name}"))
        return self.engine.unknown

    def _scope(self, number: int, owner: StubClass) -> Scope:
        bindings = self.types.seen_as(number, owner) or {}
        return Scope(owner.module, dict(bindings), frozenset((number,)))

    def inherited(self, number: int, class_: Class, name: str, pos: Position) -> Values | None:
        """A member that a class of the repo has from a base outside; ``None`` if no stub has it."""
        for base, _ in self.types.outer_bases(class_):
            found = self.member(base, name)
            if found is not None and found.owner.dotted != "builtins.object":
                dotted = self._label_in(class_, base, name)
                self.engine.facts.append((f.EXTERNAL, dotted, pos, False))
                if found.declaration[-1] == "property":
                    self.engine.call_back(number, name, pos, written=True)
                return self._read(number, found, name, pos)
        return None

    def inherited_result(
        self, number: int, class_: Class, name: str, args: Sequence[Values], pos: Position
    ) -> Values:
        """What a special method gives that a class of the repo has from a base outside."""
        self.engine.call_back(number, name, pos, written=False, call=Call(args, pos=pos))
        for base, _ in self.types.outer_bases(class_):
            found = self.member(base, name)
            if found is not None and found.owner.dotted != "builtins.object":
                return self._invoke(number, found, name, Call(args, pos=pos)) or EMPTY
        return EMPTY

    def asked_by(self, class_: Class, name: str) -> Asked:
        """What a method that a class of the repo has from a base outside asks its object for."""
        return self.overridden.asked_by(class_, name)

    # --- calls

    def method_name(self, value: Value) -> str:
        """The dotted name of the method that an ``SM`` value is."""
        _, number, owner, name = value
        defining = self.stubs.class_named(owner)
        if defining is None:
            return f"{owner}.{name}"
        holder = self.engine.values[number]
        class_ = self.types.class_of(holder)
        if class_ is None and holder[0] in ("I", "C"):
            for base, _ in self.types.outer_bases(holder[1]):
                if defining in self.stubs.mro(base):
                    return self._label_in(holder[1], base, name)
        return self._label(class_ or defining, name)

    def names_of_method(self, value: Value) -> tuple[str, ...]:
        """The names that the method of an ``SM`` value goes by, over the MRO of its receiver."""
        _, number, owner, name = value
        class_ = self.types.class_of(self.engine.values[number]) or self.stubs.class_named(owner)
        if class_ is None:
            return ()
        key = (class_.dotted, name)
        known = self._method_names.get(key)
        if known is None:
            known = tuple([f"{c.dotted}.{name}" for c in self.stubs.mro(class_)])
            self._method_names[key] = known
        return known

    def call_method(self, value: Value, arguments: Call) -> Values | None:
        """Call the method that an ``SM`` value is; ``None`` where its stub says nothing."""
        _, number, owner, name = value
        text = self.engine.values[number]
        if text[0] in ("S", "N") and name in _BY_LETTER:
            change = _BY_LETTER[name]
            return self.engine.single((text[0], *[change(part) for part in text[1:]]))
        class_ = self.stubs.class_named(owner)
        found = None if class_ is None else self.member(class_, name)
        if found is None or found.declaration[0] != d.FUNCTION:
            return None
        return self._invoke(number, found, name, arguments)

    def result_of(
        self,
        number: int,
        name: str,
        pos: Position,
        args: Sequence[Values] = (),
        *,
        declines: bool = False,
    ) -> Values:
        """What a special method of an object from outside gives; nothing if it has none.

        ``declines`` as in :class:`Call`.
        """
        value = self.engine.values[number]
        if value[0] not in _FROZEN or any(self._may_read(values) for values in args):
            return self._result_of(number, name, Call(args, pos=pos, declines=declines))
        key = (number, name, *map(self.engine.shared, args))
        known = self._results.get(key)
        if known is None:
            call = Call(args, pos=pos, declines=declines)
            known = self._results[key] = frozenset(self._result_of(number, name, call))
        return known

    def _may_read(self, values: Values) -> bool:
        known = self.engine.values
        return any(known[value][0] not in _FROZEN for value in values)

    def _result_of(self, number: int, name: str, call: Call) -> Values:
        class_ = self.types.class_of(self.engine.values[number])
        found = None if class_ is None else self.member(class_, name)
        if found is not None and found.declaration[0] == d.ALIAS:
            found = self.member(found.owner, str(found.declaration[1][-1]))
        if found is None or found.declaration[0] != d.FUNCTION:
            return EMPTY
        return self._invoke(number, found, name, call) or EMPTY

    def call(self, dotted: str, arguments: Call) -> Values | None:
        """Call a function or class by its dotted name; ``None`` if no stub tells what it gives."""
        head, _, name = dotted.rpartition(".")
        definition = self.stubs.find(dotted)
        if definition is None:
            found: set[int] = set()
            for number in self.variable(head):
                made = self._call_member(number, name, arguments)
                if made is not None:
                    found |= made
            return found or None
        declaration = definition.declaration
        if declaration is None:
            return None
        if declaration[0] == d.CLASS:
            return self._instantiate(self.stubs.class_of(definition), arguments)
        if declaration[0] == d.VARIABLE:
            found = set()
            for number in self.variable(dotted):
                made = self._call_member(number, "__call__", arguments)
                if made is not None:
                    found |= made
            return found or None
        if declaration[0] == d.ALIAS:
            return self._call_alias(definition, arguments)
        if declaration[0] != d.FUNCTION:
            return None
        owner = self.stubs.class_named(head) if head else None
        if owner is None:
            fixed = self._fixed_result(declaration, definition.module, arguments)
            if fixed is not None:
                return fixed
            return self._apply(declaration, Scope(definition.module), arguments, skip=0)
        member = self.member(owner, name)
        if member is None:
            return None
        if member.declaration[2] in ("static", "class"):
            of = self.types.instance(owner.dotted)
            receiver = next(iter(of), self.engine.unknown_id)
            return self._invoke(receiver, member, name, arguments)
        if not arguments.args:
            return None
        made_all: set[int] = set()
        for number in arguments.args[0]:  # `str.lower(text)`
            made = self._invoke(number, member, name, arguments._replace(args=arguments.args[1:]))
            made_all |= made or EMPTY
        return made_all or None

    def _call_alias(self, definition: Definition, arguments: Call) -> Values | None:
        """``choice = _inst.choice``, or the name of a type."""
        assert definition.declaration is not None
        expression = definition.declaration[1]
        module = definition.module
        holder = self.stubs.resolve(module, expression[1]) if expression[0] == s.T_ATTR else None
        if holder is None:
            return self.types.defined(definition)
        found: set[int] = set()
        if holder.declaration is not None and holder.declaration[0] == d.VARIABLE:
            for number in self.types.values_of(holder.declaration[1], Scope(holder.module)):
                found |= self._call_member(number, expression[2], arguments) or EMPTY
        return found or None

    def call_instance(self, number: int, arguments: Call) -> Values | None:
        """Call an object from outside; ``None`` if its class has no known ``__call__``."""
        return self._call_member(number, "__call__", arguments)

    def _call_member(self, number: int, name: str, arguments: Call) -> Values | None:
        class_ = self.types.class_of(self.engine.values[number])
        found = None if class_ is None else self.member(class_, name)
        if found is None or found.declaration[0] != d.FUNCTION:
            return None
        return self._invoke(number, found, name, arguments)

    def instantiate(self, dotted: str, given: tuple[Values, ...], arguments: Call) -> Values | None:
        """Call a class with type arguments: ``Queue[Task]()``."""
        class_ = self.stubs.class_named(dotted)
        if class_ is None:
            return None
        self._instantiate(class_, arguments)
        return self.types.instance(class_.dotted, given)

    def _instantiate(self, class_: StubClass, arguments: Call) -> Values:
        engine = self.engine
        found = self.member(class_, "__init__")
        if found is None or found.owner.dotted == "builtins.object":
            found = self.member(class_, "__new__") or found
        made: Values
        number = -1
        if class_.parameters and arguments.register >= 0:
            number = engine.intern(("GS", class_.dotted, engine.current, arguments.register))
            made = frozenset((number,))
        else:
            made = self.types.instance(class_.dotted) or engine.unknown
        if found is not None and found.declaration[0] == d.FUNCTION:
            scope = Scope(found.owner.module, {}, made)
            result = self._apply(found.declaration, scope, arguments._replace(register=-1), skip=1)
            if found.declaration[2] == "class" and result and not result <= engine.unknown | made:
                return result  # `__new__` says more than `Self`
            if number >= 0:
                self._learn(number, class_, found.owner, scope.bindings)
            elif class_.parameters:
                names = self.types.names_in(class_, found.owner)
                by_name = {names[n]: v for n, v in scope.bindings.items() if n in names}
                given = [by_name.get(name, engine.unknown) for name in class_.parameters]
                made = self.types.instance(class_.dotted, given)
        return made

    def _learn(self, number: int, class_: StubClass, owner: StubClass, bindings: Bindings) -> None:
        """What was passed to a method is what the object holds from now on."""
        engine = self.engine
        value = engine.values[number]
        if not engine.whole and (
            engine.current is None
            or value[2] is None
            or value[2].module is not engine.current.module
        ):
            return
        for name, own in self.types.names_in(class_, owner).items():
            values = bindings.get(name)
            if values:
                engine.write(engine.cell("tv", number, own), values)

    def _invoke(self, number: int, found: Member, name: str, arguments: Call) -> Values | None:
        engine = self.engine
        owner = found.owner
        if found.declaration[0] != d.FUNCTION:
            return None  # `__hash__: ClassVar[None]`
        if name in ("__enter__", "__aenter__") and owner.dotted in _CONTEXTS:
            itself = engine.only(number)
            if name == "__enter__":
                return itself
            return engine.single(("G", "typing.Awaitable", (itself,)))
        if name in _STEPPED and self._has(engine.values[number], _STEPPED[name]):
            return engine.only(number)  # an iterator gives itself (library reference, 4.5)
        fixed = self._fixed_result(found.declaration, owner.module, arguments)
        if fixed is not None:
            return fixed
        scope = self._scope(number, owner)
        made = self._apply(found.declaration, scope, arguments, skip=1)
        value = engine.values[number]
        if value[0] == "GS":
            class_ = self.stubs.class_named(value[1])
            if class_ is not None:
                self._learn(number, class_, owner, scope.bindings)
        return made

    def caught_as(self, number: int) -> str:
        """The class of an exception from outside, which may be one of the repo as well.

        What is raised anywhere is caught by the names of its bases (language reference, 8.4).
        """
        known = self._caught.get(number)
        if known is None:
            value = self.engine.values[number]
            class_ = self.types.class_of(value) if value[0] == "XI" else None
            line = self.stubs.mro(class_) if class_ is not None else ()
            raised = any(each.dotted == "builtins.BaseException" for each in line)
            known = self._caught[number] = class_.dotted if class_ is not None and raised else ""
        return known

    def extended_as(self, number: int) -> str:
        """What a stub calls the class of an object from outside, for those that extend it."""
        class_ = self.types.class_of(self.engine.values[number])
        return "" if class_ is None else class_.dotted

    def is_subclass(self, class_: Class, dotted: str) -> bool:
        """Whether a class is known to extend one outside of that name."""
        target = self.stubs.class_named(dotted)
        bases = filter(None, map(self.stubs.class_named, self.engine.external_bases(class_)))
        return target is not None and any(target in self.stubs.mro(base) for base in bases)

    def declares(self, class_: Class, name: str) -> bool:
        """Whether a base outside of a class has a member of this name."""
        return any(self.member(base, name) for base, _ in self.types.outer_bases(class_))

    def declares_builtin(self, class_: Class, name: str) -> bool:
        """Whether a class has a method of this name from a builtin type: it calls none of its own.

        Elsewhere a stub may declare what the class of the library has from a base.
        """
        having = (base for base, _ in self.types.outer_bases(class_) if self.member(base, name))
        nearest = next(having, None)
        return nearest is not None and nearest.dotted.startswith("builtins.")

    def is_told_of(self, base: str) -> bool:
        """Whether a stub tells what a base outside has, or it is known to have nothing."""
        return base in INERT_BASES or self.stubs.class_named(base) is not None

    def _has(self, value: Value, name: str) -> bool:
        """Whether an object of the repo has a member, by its class or from outside."""
        return value[0] == "I" and (
            self.engine.find_member(value[1], name) is not None or self.declares(value[1], name)
        )

    # --- signatures

    def _fixed_result(
        self, declaration: d.Declaration, module: StubModule, arguments: Call
    ) -> Values | None:
        """What a function gives whatever it is called with; ``None`` where that matters.

        Or what it does with the arguments. Most give the same: asked for each call, the rest of
        this part would cost more than it tells.
        """
        fixed = self._fixed_by_type(declaration, module)
        if fixed is not None and self._may_call_back(
            arguments, held=self._uses_elements(declaration, module)
        ):
            return None
        return fixed

    def _fixed_by_type(self, declaration: d.Declaration, module: StubModule) -> Values | None:
        key = id(declaration)
        try:
            return self._fixed[key]
        except KeyError:
            overloads = declaration[1]
            returns = {returned for _, returned, is_async in overloads if not is_async}
            found: Values | None = None
            if len(returns) == 1 and all(not overload[2] for overload in overloads):
                returned = next(iter(returns))
                if self.types.is_fixed(returned, module):
                    found = frozenset(self.types.values_of(returned, Scope(module)))
            self._fixed[key] = found
            return found

    def _uses_elements(self, declaration: d.Declaration, module: StubModule) -> bool:
        """Whether a function uses what iterables hold that are passed to it, by their types."""
        key = id(declaration)
        known = self._using.get(key)
        if known is None:
            known = self._using[key] = any(
                self._is_used(located)
                for params, _, _ in declaration[1]
                for param in params
                if param[2] is not None
                for located in self.protocols.elements(module, param[2])
            )
        return known

    def _is_used(self, elements: Located) -> bool:
        """Whether what is known of the type of elements tells what is done with them."""
        module, expression, _ = elements
        protocols = self.protocols
        return bool(
            protocols.of(module, expression)
            or protocols.elements(module, expression)
            or any(
                not each.dotted.startswith("builtins.")
                for each in protocols.classes(module, expression)
            )
        )

    def _may_call_back(self, arguments: Call, *, held: bool) -> bool:
        """Whether what is passed may be called, or what it holds (if the function uses that)."""
        known = self.engine.values
        called = _CALLABLES if self.engine.whole else _CALLABLES | OPEN
        if held:
            called = called | _HOLDING
        for group in (arguments.args, arguments.keywords.values(), (arguments.spread,)):
            for values in group:
                for value in values:
                    if known[value][0] in called:
                        return True
        return False

    def _apply(
        self, declaration: d.Declaration, scope: Scope, arguments: Call, *, skip: int
    ) -> Values | None:
        """Bind arguments to the first overload that fits, call callbacks, give the result."""
        _, overloads, how = declaration
        if how == "static":
            skip = 0
        params, returns, is_async = self._chosen(overloads, scope, arguments, skip)
        placed = _placed(params[skip:], arguments)
        if skip and params and params[0][2] is not None and scope.receiver:
            expression = params[0][2]
            receiver = self.types.classes_of(scope.receiver) if how == "class" else scope.receiver
            if not (expression[0] == s.T_SUBSCRIPT and scope.bindings):
                self.types.bind(expression, receiver, scope, arguments.pos)
        later: list[tuple[TypeExpr, Values]] = []
        loose: list[Values] = []
        for param, values in placed:
            declared = param[2]
            if not values:
                continue
            if declared is None or declared[0] in (s.T_UNKNOWN, s.T_ATTR):
                loose.append(values)
            elif self._takes_callables(values):
                later.append((declared, values))
            else:
                self.types.bind(declared, values, scope, arguments.pos)
            if declared is not None:
                self.use(declared, values, scope.module, arguments.pos, declines=arguments.declines)
        if len(overloads) > 1 and not self.engine.whole:
            for other, _, _ in overloads:
                if other is not params:
                    self._use_open(other[skip:], scope.module, arguments)
        rest = _rest(params[skip:], arguments)
        if len(later) > 1:  # what is called may be called with what the others hold
            later.sort(key=lambda each: self.types.is_callable(each[0], scope))
        for expression, values in later:
            if not self.types.callback(expression, values, scope, rest, arguments.pos):
                self.types.bind(expression, values, scope, arguments.pos)
                if expression[-1] == "Any":
                    loose.append(values)
        if loose and not any(_is_parameters(param) for param in params):
            self.engine.hand_over(loose, arguments.pos)
        result = self.types.values_of(returns, scope)
        if is_async:
            unknown = self.engine.unknown
            return self.types.instance("typing.Coroutine", (unknown, unknown, result))
        return self._built(result, arguments.register) if scope.bindings else result

    def _use_open(self, params: tuple[Param, ...], module: StubModule, arguments: Call) -> None:
        """An overload is meant as well, if nobody knows what is passed."""
        for param, values in _placed(params, arguments):
            unknown = frozenset(v for v in values if self.engine.values[v][0] in OPEN)
            if unknown and param[2] is not None:
                self.use(param[2], unknown, module, arguments.pos)

    def use(
        self,
        declared: TypeExpr,
        values: Values,
        module: StubModule,
        pos: Position,
        *,
        deep: int = 0,
        declines: bool = False,
    ) -> None:
        """Objects of the repo are used as the protocols in a type of ``module`` have it.

        So are the elements of what is passed for an iterable of such. Who ``declines`` has no use
        for strangers.
        """
        engine = self.engine
        objects = engine.objects_in(values)
        protocols = self.protocols.of(module, declared) if objects else ()
        for number in objects if protocols else ():
            if engine.values[number][0] == "I":
                engine.call_back_methods(number, protocols, pos)
            else:
                for methods in protocols:
                    self._use_methods(number, methods, pos)
        for located in self.protocols.elements(module, declared) if deep < _DEEPEST else ():
            if self._is_used(located):
                iterated = values - objects if located.exact else values
                held = engine.iterate(iterated, pos, is_async=False)
                self.use(located.expression, held, located.module, pos, deep=deep + 1)
        if engine.whole:
            self._use_classes(declared, values, module, pos)
        if objects:
            self._use_alike(declared, objects, module, pos, declines=declines)

    def _use_alike(
        self,
        declared: TypeExpr,
        objects: Values,
        module: StubModule,
        pos: Position,
        *,
        declines: bool,
    ) -> None:
        """An object that is passed for one of a class, and is none, has to do what those do."""
        for class_ in self.protocols.classes(module, declared):
            if class_.dotted.startswith("builtins."):
                continue  # code in C looks at what it is
            if declines and class_.dotted not in IMITATED:
                continue
            names = self.protocols.declared_by(class_)
            for number in objects:
                kind = self.engine.values[number]
                if kind[0] != "I":
                    self._use_methods(number, names if class_.dotted in IMITATED else (), pos)
                elif self.types.seen_as(number, class_) is None:
                    found = [n for n in names if self.engine.find_member(kind[1], n) is not None]
                    self.engine.hand_to_base(number, found, pos)

    def _use_methods(self, number: int, names: Iterable[str], pos: Position) -> None:
        """Methods of an open value, which are called where it is an object that has them."""
        for name in names:
            self.engine.note_protocol(name, pos, number)

    def _use_classes(
        self, declared: TypeExpr, values: Values, module: StubModule, pos: Position
    ) -> None:
        """Objects of the repo, and classes, are used as the class in a parameter's type has it."""
        known = self.engine.values
        ours = [
            v for v in values if known[v][0] in ("I", "C") and self.types.outer_bases(known[v][1])
        ]
        classes = self.protocols.classes(module, declared) if ours else ()
        if module.name in _IN_C:
            classes = tuple([each for each in classes if each.dotted not in SCALARS])
        for number in ours if classes else ():
            names = self.overridden.all_of(known[number][1], classes)
            if names:
                self.engine.hand_to_base(number, names, pos)

    def _built(self, result: Values, register: int) -> Values:
        """A new list or set is a container of this place, that may be filled later."""
        engine = self.engine
        if register < 0 or len(result) != 1:
            return result
        value = engine.values[next(iter(result))]
        if value[0] == "G" and value[1] in _BUILT:
            return engine.container_of(_BUILT[value[1]], register, value[2][0])
        return result

    def _takes_callables(self, values: Values) -> bool:
        known = self.engine.values
        return any(known[v][0] not in ("XI", "S", "N", "K", "G", "GS") for v in values)

    def _chosen(
        self,
        overloads: tuple[tuple[tuple[Param, ...], TypeExpr, bool], ...],
        scope: Scope,
        arguments: Call,
        skip: int,
    ) -> tuple[tuple[Param, ...], TypeExpr, bool]:
        if len(overloads) == 1:
            return overloads[0]
        fitting = [o for o in overloads if _has_room(o[0][skip:], arguments)] or list(overloads)
        if len(fitting) == 1:
            return fitting[0]
        for overload in fitting:
            params = overload[0]
            own = params[0][2] if skip and params and scope.receiver else None
            if own is not None and self.types.fits(own, scope.receiver, scope) is False:
                continue
            if not any(
                param[2] is not None and self.types.fits(param[2], values, scope) is False
                for param, values in _placed(params[skip:], arguments)
            ):
                return overload
        return fitting[0]

    # --- variables and types by name

    def variable(self, dotted: str) -> Values:
        """The object that a variable outside the repo holds: ``os.environ``; else nothing."""
        known = self._variables.get(dotted)
        if known is not None:
            return known
        self._variables[dotted] = EMPTY
        head, _, name = dotted.rpartition(".")
        definition = self.stubs.find(dotted)
        found: set[int] = set()
        if definition is None:
            if head:
                for number in self.variable(head):
                    class_ = self.types.class_of(self.engine.values[number])
                    member = None if class_ is None else self.member(class_, name)
                    if member is not None:
                        found |= self._read(number, member, name, 0)
        elif definition.declaration is not None and definition.declaration[0] == d.VARIABLE:
            scope = Scope(definition.module)
            found |= self.types.values_of(definition.declaration[1], scope)
            found -= self.engine.unknown
        self._variables[dotted] = frozenset(found)
        return self._variables[dotted]

    def replace(self, dotted: str, values: Values, pos: Position) -> bool:
        """``sys.stdout = values``: code outside uses them as what it declares there, if it does."""
        definition = self.stubs.find(dotted) if self.engine.objects_in(values) else None
        declaration = None if definition is None else definition.declaration
        if definition is not None and declaration is not None and declaration[0] == d.VARIABLE:
            self.use(declaration[1], values, definition.module, pos)
            return True
        return False

    def declared(self, dotted: str) -> Values | None:
        """An object declared to be of the type of this name; ``None`` if no stub has the name."""
        try:
            return self._declared[dotted]
        except KeyError:
            definition = self.stubs.find(dotted)
            found: Values | None = None
            if definition is not None and definition.declaration is not None:
                kind = definition.declaration[0]
                if kind == d.TYPE_VARIABLE:
                    found = EMPTY
                elif kind in (d.CLASS, d.ALIAS):
                    found = frozenset(self.types.defined(definition)) - self.engine.unknown
            self._declared[dotted] = found
            return found

    def class_name(self, dotted: str) -> str | None:
        """The name that a class outside goes by: ``builtins.list`` for ``typing.List``."""
        class_ = self.stubs.class_named(dotted)
        return None if class_ is None else class_.dotted

    def adopt(self, values: Values, declared: Values) -> None:
        """``v: ContextVar[T] = ContextVar("v")``: the object holds what is declared."""
        known = self.engine.values
        for number in values:
            value = known[number]
            if value[0] == "GS":
                class_ = self.stubs.class_named(value[1])
                for other in declared:
                    kind = known[other]
                    if kind[0] == "G" and class_ is not None and kind[1] == value[1]:
                        for name, held in zip(class_.parameters, kind[2], strict=False):
                            self.engine.write(self.engine.cell("tv", number, name), held)

    # --- protocols

    def elements(self, number: int, pos: Position, *, is_async: bool) -> Values | None:
        """What iterating over an object gives; ``None`` if nothing is known of it."""
        value = self.engine.values[number]
        if value[0] in ("XI", "G"):
            key = (number, is_async)
            try:
                return self._elements[key]
            except KeyError:
                found = self._elements[key] = self._find_elements(number, pos, is_async=is_async)
                return found
        if value[0] == "X":
            return self._of_variable(
                value[1], lambda inner: self.elements(inner, pos, is_async=is_async)
            )
        return self._find_elements(number, pos, is_async=is_async)

    def _find_elements(self, number: int, pos: Position, *, is_async: bool) -> Values | None:
        value = self.engine.values[number]
        target = self.stubs.class_named("typing.AsyncIterable" if is_async else "typing.Iterable")
        seen = None if target is None else self.types.seen_as(number, target)
        if seen is not None and target is not None:
            return seen.get(target.parameters[0], self.engine.unknown)
        if self.types.class_of(value) is None:
            return None
        first, second = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        found: set[int] = set()
        for iterator in tuple(self.result_of(number, first, pos)):
            found |= self.result_of(iterator, second, pos)
        if not found and not is_async:
            return self.result_of(number, "__getitem__", pos, [self.engine.constants[s.INT]])
        return self.engine.await_value(found, pos) if is_async else found

    def item(self, number: int, keys: Values, pos: Position) -> Values | None:
        """``value[key]``."""
        engine = self.engine
        value = engine.values[number]
        if value[0] == "X":
            return self._of_variable(value[1], lambda inner: self.item(inner, keys, pos))
        if self.types.class_of(value) is None:
            return None
        if keys == engine.constants[s.OPAQUE]:
            keys = engine.single(("XI", "builtins.slice"))
        return self.result_of(number, "__getitem__", pos, [keys])

    def is_mapping(self, value: Value) -> bool:
        """Whether an object from outside has keys, by its class."""
        class_ = self.types.class_of(value)
        if class_ is None:
            return False
        known = self._mappings.get(class_.dotted)
        if known is None:
            known = any(each.dotted == "typing.Mapping" for each in self.stubs.mro(class_))
            self._mappings[class_.dotted] = known
        return known

    def is_structural(self, value: Value) -> bool:
        """Whether an object is declared by what it can do: by a protocol, or as if by one."""
        class_ = self.types.class_of(value)
        return class_ is not None and self.protocols.is_protocol(class_)

    def operated(self, number: int, dunders: Sequence[str], other: Values, pos: Position) -> Values:
        """``value <op> other`` by the first of ``dunders`` its class has; most give what they are."""
        same = frozenset((number,))
        value = self.engine.values[number]
        if value[0] not in ("XI", "G", "GS") or value[1] in _PLAIN:
            return same
        dunder = next((name for name in dunders if self.declares_of(number, name)), dunders[-1])
        return self.result_of(number, dunder, pos, [other], declines=True) or same

    def entered(self, number: int, pos: Position, *, is_async: bool) -> Values | None:
        """What ``with value as …`` binds."""
        value = self.engine.values[number]
        if value[0] == "X":
            return self._of_variable(
                value[1], lambda inner: self.entered(inner, pos, is_async=is_async)
            )
        if self.types.class_of(value) is None:
            return None
        made = self.result_of(number, "__aenter__" if is_async else "__enter__", pos)
        return self.engine.await_value(made, pos) if is_async else made

    def awaited(self, number: int) -> Values | None:
        """What ``await value`` gives."""
        value = self.engine.values[number]
        target = self.stubs.class_named("typing.Awaitable")
        seen = None if target is None else self.types.seen_as(number, target)
        if seen is None or target is None or value[0] == "X":
            return None
        return seen.get(target.parameters[0], self.engine.unknown)

    def _of_variable(self, dotted: str, ask: Callable[[int], Values | None]) -> Values | None:
        found: set[int] = set()
        for number in self.variable(dotted):
            found |= ask(number) or EMPTY
        return found or None


def _has_room(params: Sequence[Param], arguments: Call) -> bool:
    """Whether a signature takes as many arguments, with such names."""
    count = len(arguments.args)
    positional = [p for p in params if p[1] in ("po", "pk")]
    kinds = {p[1] for p in params}
    if count > len(positional) and "va" not in kinds:
        return False
    names = {p[0] for p in params if p[1] in ("pk", "ko")}
    if "kw" not in kinds and not arguments.keywords.keys() <= names:
        return False
    if arguments.spread:
        return True
    given = arguments.keywords.keys()
    missing = [p for p in positional[count:] if not p[3] and p[0] not in given]
    return not missing and all(p[3] or p[0] in given for p in params if p[1] == "ko")


def _placed(params: Sequence[Param], arguments: Call) -> list[tuple[Param, Values]]:
    """Parameters with what is passed to them."""
    positional = [p for p in params if p[1] in ("po", "pk")]
    by_name = {p[0]: p for p in params if p[1] in ("pk", "ko")}
    variadic = next((p for p in params if p[1] == "va"), None)
    rest = next((p for p in params if p[1] == "kw"), None)
    found: list[tuple[Param, Values]] = []
    for place, values in enumerate(arguments.args):
        param = positional[place] if place < len(positional) else variadic
        if param is not None:
            found.append((param, values))
    for name, values in arguments.keywords.items():
        param = by_name.get(name, rest)
        if param is not None:
            found.append((param, values))
    if arguments.spread:
        free = positional[len(arguments.args) :]
        found.extend((p, arguments.spread) for p in (*free, variadic) if p is not None)
    return found


def _rest(
    params: Sequence[Param], arguments: Call
) -> tuple[Sequence[Values], Mapping[str, Values]]:
    """What goes to ``*args`` and ``**kwargs``: the arguments of a ``ParamSpec``."""
    positional = [p for p in params if p[1] in ("po", "pk")]
    named = {p[0] for p in params if p[1] in ("pk", "ko")}
    keywords = {k: v for k, v in arguments.keywords.items() if k not in named}
    return arguments.args[len(positional) :], keywords


def _is_parameters(param: Param) -> bool:
    """``*args: P.args``."""
    return param[2] is not None and param[2][0] == s.T_ATTR and param[2][-1] in ("args", "kwargs")


__all__ = ["Outside"]

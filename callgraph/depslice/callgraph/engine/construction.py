"""Calls of classes and of their instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.calling_back import CallingBack
from depslice.callgraph.engine.fields import fields_in, outermost
from depslice.callgraph.engine.library import INERT_BASES, is_inert, keeps_nothing
from depslice.callgraph.engine.values import (
    EMPTY,
    MADE,
    NAMED_TUPLE,
    OPEN_OR_OUTSIDE,
    SPACES,
    Class,
    Function,
    Value,
    Values,
    has_no_statement,
)
from depslice.callgraph.summary import Op, Position, TypeExpr

_MADE_BY_NEW: Final = frozenset({"builtins.frozenset", "builtins.tuple"})
_RAISED: Final = "builtins.BaseException"
_HOOKS: Final = frozenset({"converter", "validator"})


class Construction(CallingBack):
    """What makes an instance (language reference, 3.3.1 and 3.3.3), and what calling one does."""

    def instantiate(
        self,
        class_: Class,
        exact: bool,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        by_type: bool = False,
    ) -> Values:
        """Call a class (3.3.1): ``__call__`` of the metaclass, ``__new__``, ``__init__``.

        ``by_type``: that ``__call__`` is at work, and asks for the rest.
        """
        if not by_type and not has_no_statement(class_):  # it was called to get there
            self.facts.append((f.INSTANCE, class_, pos))
        instance = self.single(("I", class_, exact))
        self.note_raisable(class_, exact)
        made_by_open = self.made_by_open(class_)
        result: set[int] = set()
        if made_by_open and not by_type:
            result |= self.call(made_by_open, args, keywords, pos, spread=spread)
        for k in () if by_type else self.mro(class_):
            calling = [m for m in k.metaclasses if self.find_member(m, "__call__") is not None]
            for metaclass in calling:  # one of them, where a condition chooses
                made = self.call_member(
                    metaclass,
                    "__call__",
                    [self.single(("C", class_, exact)), *args],
                    pos,
                    "metaclass-call",
                    keywords,
                    spread,
                )
                result |= {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
            if calling and self.whole:
                return result or instance
        if self.whole and any(b.startswith("enum.") for b in self.external_bases(class_)):
            if self.find_member(class_, "_missing_") is not None:
                self.call_member(
                    class_, "_missing_", [self.single(("C", class_, exact)), *args], pos, "enum"
                )
            return instance
        made_others = False
        new = self.find_member(class_, "__new__")
        if new is not None:
            news = (new, *self.instead_of(class_, new, "__new__"))
            for each in news:
                self.facts.append((f.MEMBER, each, "__new__", pos, not exact, "call", True))
            makers = [value for each in news for value in self.member_values(each, "__new__")]
            for value in makers:
                if self.values[value][0] == "F":
                    made = self.call_function(
                        self.values[value][1],
                        [self.single(("C", class_, exact)), *args],
                        pos,
                        rule="new",
                        keywords=keywords,
                        spread=spread,
                    )
                    found = {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
                    result |= (
                        found if self.whole else {v for v in found if self.values[v][0] == "I"}
                    )
                    made_others = len(found) == len(made) > 0 and not any(
                        self._may_be_made(class_, self.values[v]) for v in found
                    )
        given_class = [self.single(("C", class_, exact)), *args]
        made = self.call_put(
            class_, "__new__", given_class, keywords, spread, pos, exact=exact, rule="new"
        )
        result |= {v for v in made if self.values[v][0] not in OPEN_OR_OUTSIDE}
        if not (self.whole or exact):
            receiver = self.single(("C", class_, False))
            result |= self._call_below(class_, "__new__", [receiver, *args], keywords, spread, pos)
        init = self.find_member(class_, "__init__")
        if made_others and self.whole:
            return result
        given = [instance, *args]
        self.call_put(class_, "__init__", given, keywords, spread, pos, exact=exact, rule="init")
        if init is not None:
            for owner in (init, *self.instead_of(class_, init, "__init__")):
                self.facts.append((f.MEMBER, owner, "__init__", pos, not exact, "call", True))
                self._call_defined(owner, "__init__", given, keywords, spread, pos, rule="init")
        else:
            for above in self.open_bases(class_, instances=False):
                self.call(self.only(above), args, keywords, pos, spread=spread)
            made_with = Call(args, keywords, spread, pos)
            self.call_back(
                self.intern(("I", class_, exact)), "__init__", pos, written=True, call=made_with
            )
            if any(base in SPACES for base in self.external_bases(class_)):
                for name, values in keywords.items():
                    self.have_stored(self.intern(("I", class_, exact)), name, values)
            held = self.held_by(class_)
            if held is not None and (new is None or self.held_as[held] not in _MADE_BY_NEW):
                self.fill_held(held, Call(args, keywords, spread, pos))
            for base in () if self.whole else self.external_bases(class_):
                self.meet_demands(base, Call(args, keywords, spread, pos))
            if not self.whole and not keeps_nothing(self.external_bases(class_)):
                to = min(self.external_bases(class_), key=is_inert, default="")  # of others first
                self.note_handed((*args, *keywords.values(), spread), pos, to=to)
            if new is None or not self.named_fields(class_):
                self.pass_fields(class_, args, keywords)
            if self.keeper_of(class_) is not None:
                self.call_kept(class_, "__init__", Call(args, keywords, spread, pos))
            self._make_defaults(class_, len(args), keywords, pos)
            if self.whole and self.constructor_is_generated(class_):
                self._check_fields(class_, instance, pos)
        for hook in ("__post_init__", "__attrs_post_init__") if init is None else ():
            if self.find_member(class_, hook) is not None:
                given = [instance, *self._init_variables(class_, args, keywords)]
                self.call_member(class_, hook, given, pos, "post-init")
        if not exact and self.whole:
            for subclass in self.live_subclasses(class_):
                if not has_no_statement(subclass):
                    self.facts.append((f.INSTANCE, subclass, pos))
                if subclass.info.members.get("__init__"):
                    self._call_defined(
                        subclass,
                        "__init__",
                        [self.single(("I", subclass, True)), *args],
                        keywords,
                        spread,
                        pos,
                        rule="init-of-subclass",
                        certain=False,
                    )
        return instance | result

    def note_raisable(self, class_: Class, exact: bool) -> None:
        """An exception is made, or may be: handlers may catch it, over a whole program."""
        if self.whole and self._is_raisable(class_):
            self.mark(self.cell("exceptions made"), self.single(("I", class_, exact)))

    def _is_raisable(self, class_: Class) -> bool:
        """Whether its instances are known to be exceptions, by a base outside."""
        known = self._raisable.get(class_)
        if known is None:
            known = self.outside.is_subclass(class_, _RAISED)
            if class_.mro_cache is not None:
                self._raisable[class_] = known
        return known

    def _may_be_made(self, class_: Class, made: Value) -> bool:
        """Whether what ``__new__`` gives may be an instance of the class that is called."""
        if made[0] != "I":
            return False
        return class_ in self.mro(made[1]) or (not made[2] and made[1] in self.mro(class_))

    def _call_defined(
        self,
        owner: Class,
        name: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        rule: str,
        certain: bool = True,
    ) -> Values:
        """Call the functions that ``owner`` itself defines as ``name``, the receiver in front."""
        made: set[int] = set()
        for value in tuple(self.member_values(owner, name)):
            kind = self.values[value]
            if kind[0] == "F":
                made |= self.call_function(
                    kind[1],
                    args,
                    pos,
                    rule=rule,
                    certain=certain,
                    keywords=keywords,
                    spread=spread,
                )
        return made

    def _init_variables(
        self, class_: Class, args: Sequence[Values], keywords: Mapping[str, Values]
    ) -> Iterator[Values]:
        """What a constructor only hands on to ``__post_init__`` (``dataclasses.InitVar``)."""
        places = {name: at for at, name in enumerate(self.fields(class_, by_place=True))}
        for name in self.fields(class_):
            owner = self.find_member(class_, name)
            declared = () if owner is None else self.declarations_of(owner, name)
            if owner is not None and any(_is_init_variable(each) for _, each in declared):
                if places.get(name, len(args)) < len(args):
                    yield args[places[name]]
                else:
                    yield keywords.get(name, self.member_values(owner, name))

    def _make_defaults(
        self, class_: Class, given: int, keywords: Mapping[str, Values], pos: Position
    ) -> None:
        """A generated constructor calls the factories of fields it is not given."""
        if not self.whole or not self.constructor_is_generated(class_):
            return
        passed = self.fields(class_, by_place=True)[:given]
        for name in self.fields(class_):
            if name in passed or name in keywords:
                continue
            owner = self.find_member(class_, name)
            for value in tuple(self.member_values(owner, name)) if owner is not None else ():
                kind = self.values[value]
                if kind[0] == "DF":
                    self.call(kind[1], [], {}, pos, rule="default-factory", external=True)

    def _check_fields(self, class_: Class, instance: Values, pos: Position) -> None:
        """Constructors that attrs generates convert values, ask for defaults, and validate."""
        fields, methods = self._attrs_hooks(class_)
        for field in fields:
            converters = self.read(self.cell("converter", field))
            self.call(converters, [self.unknown], {}, pos, rule="field", external=True)
            checks = self.read(self.cell("validator", field))
            given = [instance, self.unknown, self.unknown]
            self.call(checks, given, {}, pos, rule="field", external=True)
        for method in methods:
            self.call_function(method, [instance], pos, rule="field")

    def _attrs_hooks(self, class_: Class) -> tuple[Sequence[Function], Sequence[Function]]:
        """The fields of a class that name functions for it, and its methods that fields decorate.

        ``x = field(validator=f)``; ``@x.validator`` and ``@x.default`` (documentation of attrs).
        """
        known = self._hooks.get(class_)
        if known is None:
            fields: list[Function] = []
            methods: list[Function] = []
            for k in self.mro(class_):
                pieces = (k.module.summary.pieces[index] for index in k.info.pieces)
                for unit in (piece.unit for piece in pieces if piece.unit >= 0):
                    ops = k.module.summary.units[unit].ops
                    if any(op[0] == s.CALL and not _HOOKS.isdisjoint(dict(op[4])) for op in ops):
                        fields.append(self.function(k.module, unit))
                    methods.extend(self.function(k.module, each) for each in _decorated(ops))
            known = fields, methods
            if class_.mro_cache is not None:
                self._hooks[class_] = known
        return known

    def constructor_is_generated(self, class_: Class) -> bool:
        """Whether a decorator or a base outside the repo may have written ``__init__``."""
        known = class_.generated
        if known is None:
            order = self.mro(class_)
            known = any(
                k.info.decorators
                or any(b not in INERT_BASES or b == NAMED_TUPLE for b in k.external_bases)
                for k in order
            )
            if class_.mro_cache is not None:
                class_.generated = known
        return known

    def fields(self, class_: Class, *, by_place: bool = False) -> tuple[str, ...]:
        """What a generated constructor takes, in order; or what of that by place."""
        known = class_.fields
        if known is None:
            found = {
                name: placed
                for k in reversed(self.mro(class_))
                if self.constructor_is_generated(k)
                for name, placed in fields_in(k)
            }
            named = self.named_fields(class_)
            known = named or tuple(found), named or tuple(name for name in found if found[name])
            if class_.mro_cache is not None:
                class_.fields = known
        return known[by_place]

    def pass_fields(
        self, class_: Class, args: Sequence[Values], keywords: Mapping[str, Values]
    ) -> None:
        """Generated constructors (dataclass, attrs, NamedTuple) store their arguments."""
        if not ((args or keywords) and self.constructor_is_generated(class_)):
            return
        for name, values in keywords.items():
            if self.find_member(class_, name) is not None or name in self.named_fields(class_):
                self._fill_field(class_, name, values)
        for name, values in zip(self.fields(class_, by_place=True), args, strict=False):
            self._fill_field(class_, name, values)

    def _fill_field(self, class_: Class, name: str, values: Values) -> None:
        if self.whole:
            self.write(self.attribute_cell(class_, name), values)
        elif traced := self.traced(values):
            self.facts.append((f.FILL, class_, name, traced))

    def fill_held(self, held: int, call: Call) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def meet_demands(self, dotted: str, call: Call) -> None:
        """Implemented by the part for calls of code outside."""
        raise NotImplementedError

    def ask_below(
        self, receiver: int, class_: Class, method: str, args: Sequence[Values], pos: Position
    ) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def _call_instance(
        self,
        callee: int,
        class_: Class,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        owner = self.find_member(class_, "__call__")
        overrides: Values | None = None
        if not self.values[callee][2]:
            given_below = (args, keywords, spread, pos)
            if not self.whole:
                overrides = self._call_below(class_, "__call__", *given_below)
            elif owner is not None:
                overrides = self._call_overriding(class_, owner, *given_below)
        given = [self.only(callee), *args]
        exact = bool(self.values[callee][2])
        rule = "callable-instance"
        put = self.call_put(
            class_, "__call__", given, keywords, spread, pos, exact=exact, rule=rule
        )
        if owner is None and put:
            return put
        if owner is None:
            below = self.ask_below(callee, class_, "__call__", args, pos) or overrides
            if below:
                return below | self.unknown
            if self.call_back(callee, "__call__", pos, written=True):
                decorated = self.shared(args[0]) if len(args) == 1 else EMPTY
                is_decorator = "contextlib.ContextDecorator" in self.external_bases(class_)
                return self.decorated_by(callee, decorated) if is_decorator else self.unknown
            if not self.whole and self.is_metaclass(class_):  # a class that it has made
                classes = self.single(("O", class_, MADE))
                return self.call(classes, args, keywords, pos, spread=spread) | self.unknown
            self.facts.append((f.UNRESOLVED, f"{class_.id}.__call__", "not-callable", pos))
            return self.unknown
        made = put | (overrides or EMPTY)
        owners = [owner, *self.instead_of(class_, owner, "__call__")]
        if self.whole and overrides is not None and self._is_open_member(owner, "__call__"):
            owners.remove(owner)
        for each in owners:
            self.facts.append((f.MEMBER, each, "__call__", pos, True, "call", True))
            made = made | self._call_defined(
                each, "__call__", given, keywords, spread, pos, rule="callable-instance"
            )
        return made

    def _call_module(
        self,
        callee: int,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        """A module, which its class may make callable: ``sys.modules[__name__].__class__ = C``.

        In a slice the method is asked for as a name of the module: what gives it that, or puts
        something callable in its place.
        """
        module = self.program.module(self.values[callee][1])
        result: Values = EMPTY
        if module is None:
            return result
        if not self.whole:
            self.facts.append((f.NAME, module.name, "__call__", None, pos))
        for class_ in tuple(self.read(self.variable_cell(module, "__class__", -1))):
            if self.values[class_][0] != "C":
                continue
            owner = self.find_member(self.values[class_][1], "__call__")
            if owner is not None:
                self.facts.append((f.MEMBER, owner, "__call__", pos, False, "call", True))
                itself = {callee, self.intern(("I", *self.values[class_][1:]))}
                given = [self.shared(itself), *args]
                result = result | self._call_defined(
                    owner, "__call__", given, keywords, spread, pos, rule="callable-instance"
                )
        return result

    def _is_open_member(self, owner: Class, name: str) -> bool:
        """Whether all that ``owner`` has there stands for what classes below it have."""
        return all(map(self._is_left_open, self.member_values(owner, name)))

    def _call_overriding(
        self,
        class_: Class,
        owner: Class,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values | None:
        """What ``__call__`` of the classes below gives; ``None`` if none of them has one to run.

        They are alternatives to that of the class itself, as are those of a method.
        """
        made: Values | None = None
        for found, subclass in self.overriding(class_, owner, "__call__"):
            given = [self.single(("I", subclass, False)), *args]
            for kind in map(self.values.__getitem__, self.member_values(found, "__call__")):
                if kind[0] == "F" and not self.is_left_open(kind[1]):
                    made = (made or EMPTY) | self.call_function(
                        kind[1],
                        given,
                        pos,
                        rule="callable-below",
                        certain=True,
                        keywords=keywords,
                        spread=spread,
                    )
        return made

    def _call_below(
        self,
        class_: Class,
        name: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
    ) -> Values:
        """What a special method gives that subclasses may have instead: a slice asks the live ones."""
        if not self.has_below(class_, name):
            return EMPTY
        return self.call(self.single(("O", class_, name)), args, keywords, pos, spread=spread)


def _decorated(ops: Sequence[Op]) -> Iterator[int]:
    """The functions that an attribute of a field decorates, in a statement of a class body."""
    fields: set[int] = set()
    hooks: set[int] = set()
    functions: dict[int, int] = {}
    for op in ops:
        if op[0] == s.CLASSVAR:
            fields.add(op[1])
        elif op[0] == s.ATTR and op[2] in fields and op[3] in ("default", "validator"):
            hooks.add(op[1])
        elif op[0] == s.FUNCTION:
            functions[op[1]] = op[2]
        elif op[0] == s.DECORATE and op[2] in hooks and op[3] in functions:
            yield functions[op[3]]


def _is_init_variable(expression: TypeExpr) -> bool:
    """Whether an annotation is ``InitVar[T]``."""
    return outermost(expression) == "InitVar"

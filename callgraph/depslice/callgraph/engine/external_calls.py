"""Calls of what is outside the repo: by a model, by its stub, or by its name."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar, Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine import library
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.demands import (
    ALL,
    DEMANDS,
    NAMED,
    ORDERED,
    SHOWN,
    TESTED,
    Demand,
)
from depslice.callgraph.engine.metaclasses import put_by_package
from depslice.callgraph.engine.models.common import INNER
from depslice.callgraph.engine.texts import Texts
from depslice.callgraph.engine.values import (
    EMPTY,
    NAMED_TUPLE,
    NO_KEYWORDS,
    OPEN,
    Class,
    Value,
    Values,
)
from depslice.callgraph.lowering.syntax import names_taken
from depslice.callgraph.summary import Position

_MANY_CALLBACKS = 2
_COPIED_BY: Final = {"copy.copy": "__copy__", "copy.deepcopy": "__deepcopy__"}
_REACHED: Final = dict.fromkeys(("copy.deepcopy", *library.COPYING_FIELDS), "__deepcopy__")
_OF_STATE: Final = ("__getnewargs_ex__", "__getnewargs__", "__getstate__", "__setstate__")
"""What is asked of an object that says nothing else of how it is copied."""
_KEPT: Final = frozenset({"B", "C", "CD", "CM", "F", "I", "PS", "PT"})
"""Values that are worth keeping for those who call them."""
_BY_ITEMS: Final = frozenset({"get", "pop", "setdefault", "items", "values"})
_TYPES: Final = frozenset(
    {
        *("bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "object", "set"),
        *("str", "tuple"),
    }
)

_FORMATTING: Final = frozenset({"string.Formatter.format", "string.Formatter.vformat"})
GIVING_PARTS: Final = frozenset({"partition", "rpartition", "rsplit", "split"})
"""Methods of texts that give several parts of one."""


class ExternalCalls(Texts):
    """What is known of a library function, and what it may call back."""

    _models: ClassVar[Mapping[str, Callable[..., Values]]]
    """Of library functions, by dotted name."""

    def binary(self, left: Values, right: Values, name: str, pos: Position) -> Values:
        """Implemented by the operator part."""
        raise NotImplementedError

    def fields_of_tuple(
        self, receiver: int, class_: Class, place: int | None, pos: Position
    ) -> Values:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def container_of(self, kind: str, op_register: int, elements: Values) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def tuples_of(self, register: int, items: Sequence[Values]) -> Values:
        """Implemented by the container part."""
        raise NotImplementedError

    def lose_places(self, container: int) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def note_shrunk(self, container: int) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def parts(self, values: Values) -> frozenset[int]:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def held_in(self, values: Values, dunders: Sequence[str]) -> frozenset[int]:
        """Implemented by the protocol part."""
        raise NotImplementedError

    def call_external(self, dotted: str, call: Call) -> Values:
        """Call something outside the repo; what is known of it is modelled."""
        args, keywords, spread, pos, register, _ = call
        if not dotted.endswith("()"):  # what a model made has no name
            self.facts.append((f.EXTERNAL, dotted, pos, True))
        if args and dotted in ("builtins.exec", "builtins.eval"):
            self._run_code(dotted.rpartition(".")[2], args[0], pos)
        self.meet_demands(dotted, call)
        model = self._models.get(dotted)
        if model is not None:
            return model(self, call)
        put = put_by_package(dotted, args)
        if put is not None:
            return self.single(put)
        if args and dotted.endswith(".__new__") and self._are_objects_made(args[0]):
            return self._models["builtins.object.__new__"](self, call)
        if args and dotted.count(".") == 2:
            unbound = self._call_unbound(dotted, call)
            if unbound is not None:
                return unbound
        self._protocols(dotted, args, pos)
        if not self.whole and dotted not in library.TAKING_AS_ONE:
            self.hand_namespaces((*args, *keywords.values()), pos)
        if args and dotted in library.ANNOTATIONS:
            self.note_annotations(args[0], pos, library.ANNOTATIONS[dotted])
            instances = frozenset(v for v in args[0] if self.values[v][0] == "I")
            if instances:
                self.load_attribute(instances, "__annotations__", pos)
        same = library.SAME.get(dotted)
        if same is not None and dotted in library.CACHING and not self._may_be_cached(args):
            return self.single(("X", dotted))  # `@lru_cache(128)`
        if same is not None:
            if args:
                self.note_dispatching(dotted, args[0])
            self._callbacks(args, keywords, spread, pos, skip=same)
            if self.whole and dotted in library.TASKS and (task := self.outside.call(dotted, call)):
                return task | (args[same] if same < len(args) else EMPTY)  # for who awaits it
            if same >= len(args):
                return self.single(("X", dotted))
            return self._copies(dotted, args[same], pos) if dotted in _COPIED_BY else args[same]
        if args and (dotted in library.ANNOTATIONS or dotted.startswith(library.LOOKING)):
            call = self._looked_at(call)
            args = call.args
        if dotted in library.ELEMENT:
            made = self._element(dotted, args, keywords, pos)
            if made:
                return made
        if dotted in library.CONTAINER:
            return self._container(dotted, args, keywords, pos, register)
        if dotted.startswith("builtins.super"):
            return self.unknown
        if dotted in library.NAMESPACES:
            return self.single(("XI", dotted))
        declared = self.outside.call(dotted, call)
        if declared is not None and (
            declared != self.unknown or keywords or dotted not in library.PLAIN_DATA
        ):
            makers = [name for name in library.MAKING.get(dotted, ()) if name in keywords]
            return declared | self._made_by(makers, call) if makers else declared
        if declared is None:
            skip = 0 if args and self._is_receiver(dotted, args[0]) else -1
            self._callbacks(args, keywords, spread, pos, skip=skip)
        if library.is_inert(dotted):
            return self.single(("XI", dotted))
        return self.single(("XI", dotted)) | self.unknown

    def _copies(self, dotted: str, values: Values, pos: Position) -> Values:
        """What a copy of ``values`` is: the same, or what a method of theirs gives for one."""
        result: set[int] = set()
        for value in values:
            kind = self.values[value]
            made = (
                self.protocol(self.only(value), (_COPIED_BY[dotted],), pos)
                if kind[0] == "I" and self.find_member(kind[1], _COPIED_BY[dotted]) is not None
                else EMPTY
            )
            told = {each for each in made if self.values[each][0] not in OPEN}
            result |= told or self.only(value)
        return result

    def _made_by(self, makers: Sequence[str], call: Call) -> Values:
        """What ``json.loads`` is made of: what hooks give, which others get, or a list of that."""
        result = self.cell("made by", self.current, call.register)
        made = self.read(result)
        held = made | self.unknown
        given = {
            "object_hook": self.container_of("dict", call.register, held),
            "object_pairs_hook": self.tuples_of(call.register, [self.constants[s.STR], held]),
        }
        for name in makers:
            passed = [given.get(name, self.constants[s.STR])]
            hook = call.keywords[name]
            self.write(
                result, self.call(hook, passed, {}, call.pos, rule="callback", external=True)
            )
        return made | self.container_of("list", INNER - call.register, made) if made else made

    def _run_code(self, function: str, texts: Values, pos: Position) -> None:
        """``exec(code)``: of known texts the names that they take are read, here and now.

        What they do with those is not followed; what stands in the call itself, the lowering has.
        """
        kinds = [self.values[text] for text in sorted(texts)]
        told = not self.whole and bool(kinds) and all(kind[0] == "S" for kind in kinds)
        if told and self.current is not None:
            codes = [names_in_code(kind[1]) for kind in kinds]
            told = all(simple for _, simple in codes)
            for name in dict.fromkeys(name for names, _ in codes for name in names):
                self.read_name(self.current.module, name, None, pos)
        if not told:
            self.facts.append((f.UNRESOLVED, function, "exec", pos))

    def _call_unbound(self, dotted: str, call: Call) -> Values | None:
        """``dict.update(table, …)``, a method of a builtin type by its name, as ``table.update(…)``.

        What a class that extends the type has overridden does not run.
        """
        module, owner, name = dotted.split(".")
        if self.whole and dotted == "builtins.type.__call__":
            return self._make_by_type(call)
        if module != "builtins" or owner not in _TYPES:
            return None
        if owner == "object":
            self.protocol(call.args[0], library.BY_DEFAULT.get(name, ()), call.pos)
            return None
        methods: set[int] = set()
        for receiver in call.args[0]:
            kind = self.values[receiver]
            if kind[0] == "K" and kind[1] == owner:
                methods.add(self.intern(("KM", receiver, name)))
            elif kind[0] in ("S", "N", "XI"):
                methods |= self.outside.attribute(receiver, name, call.pos) or EMPTY
            elif kind[0] == "I":
                held = self.held_by(kind[1])
                if held is not None:
                    methods.add(self.intern(("KM", held, name)))
                else:
                    methods |= self.outside.inherited(receiver, kind[1], name, call.pos) or EMPTY
        if not methods:
            return None
        return self.call(methods, call.args[1:], call.keywords, call.pos, spread=call.spread)

    def _is_receiver(self, dotted: str, values: Values) -> bool:
        """Whether ``Base.method(self)`` gets its own instance, as ``super().method()`` does.

        It is no callback then, though it may be called.
        """
        owner = dotted.rpartition(".")[0]
        known = self.outside.stubs.class_named(owner) if owner else None

        def extends(value: int) -> bool:
            kind = self.values[value]
            bases = self.external_bases(kind[1]) if kind[0] == "I" else ()
            lines = (
                self.outside.stubs.mro(c) for c in map(self.outside.stubs.class_named, bases) if c
            )
            return owner in bases or (known is not None and any(known in line for line in lines))

        return bool(values) and all(map(extends, values))

    def _are_objects_made(self, classes: Values) -> bool:
        """Whether ``Base.__new__(cls, …)`` is asked for instances of classes of the repo.

        Whatever the base is (``str``, ``Thread``, one that no stub declares), it makes one. What
        a metaclass asks for is a class.
        """
        return any(not self.is_metaclass(class_) for class_ in self.classes_in(classes))

    def _make_by_type(self, call: Call) -> Values | None:
        """``type.__call__(cls, …)``, by whom metaclasses have instances made (3.3.3.6)."""
        kinds = [self.values[value] for value in sorted(call.args[0])]
        classes = [kind for kind in kinds if kind[0] == "C"]
        makers = {self.intern(("TC", kind[1], kind[2])) for kind in classes}
        if not makers:
            return None
        return self.call(makers, call.args[1:], call.keywords, call.pos, spread=call.spread)

    def note_dispatching(self, dotted: str, functions: Values) -> None:
        """``singledispatch(f)``, called or as a decorator: others are registered with ``f``."""
        if dotted in library.DISPATCHING:
            for value in functions:
                kind = self.values[value]
                if kind[0] == "F":
                    self.dispatchers[kind[1]] = dotted

    def _may_be_cached(self, args: Sequence[Values]) -> bool:
        known = self.values
        return bool(args) and any(known[v][0] not in ("XI", "S", "N") for v in args[0])

    def _looked_at(self, call: Call) -> Call:
        """The call without the code that is its first argument: that is looked at, and not run."""
        first = frozenset(v for v in call.args[0] if not self._has_code(v))
        return call._replace(args=[first, *call.args[1:]])

    def _has_code(self, value: int) -> bool:
        return self.values[value][0] in ("F", "B", "C")

    def _call_declared(self, method: Value, call: Call) -> Values:
        """A method that a stub declares."""
        name = self.outside.method_name(method)
        self.facts.append((f.EXTERNAL, name, call.pos, True))
        names = self.outside.names_of_method(method)
        for each in dict.fromkeys((name, *names)):
            self.meet_demands(each, call)
            self._protocols(each, call.args, call.pos)
        if name in ("builtins.str.format", "builtins.str.format_map"):
            self.fill_fields(self.values[method[1]], call, mapped=name.endswith("_map"))
        elif name in _FORMATTING and call.args:
            self._fill_fields_of(call, given=name.endswith(".vformat"))
        elif not self.whole:
            self.hand_namespaces((*call.args, *call.keywords.values()), call.pos)
        if method[3] in GIVING_PARTS and name.startswith("builtins.str."):
            parts = self.parts_of_text(self.values[method[1]], method[3], call)
            if parts:
                return self.container_of("list", call.register, parts)
        if name == "builtins.str.__mod__" and call.args:
            return self.binary(self.only(method[1]), call.args[0], "mod", call.pos)
        if method[2] == "builtins.object":
            self.protocol(self.only(method[1]), library.BY_DEFAULT.get(method[3], ()), call.pos)
        if method[3] == "_asdict" and self.values[method[1]][0] == "I":
            return self._fields_by_name(method[1], call)
        if method[3] in ("_replace", "_make"):
            self._fill_tuple(self.values[method[1]], method[3], call)
        if method[3] == "__getitem__" and self.values[method[1]][0] == "I":
            self.protocol(self.only(method[1]), ("__missing__",), call.pos)
        if self.values[method[1]][0] == "I":
            self.call_back(method[1], method[3], call.pos, written=True, call=call)
        if call.args and any(each.startswith(library.LOOKING) for each in names):
            call = self._looked_at(call)  # `Signature.from_callable(f)`
        if self.whole:
            call = self._kept_for_later(names, call)
        for dotted in names:
            model = self._models.get(dotted)
            if model is not None:
                return model(self, call)
        made = self.outside.call_method(method, call)
        made = self.constants[s.OPAQUE] if made is None else made
        if method[3] == "__get__" and not self.whole:
            made = made | self.unknown  # a descriptor of the library gives what it was made with
        if self.values[method[1]][0] == "I" and self.keeper_of(self.values[method[1]][1]):
            made = made | self.call_kept(self.values[method[1]][1], method[3], call)
        of_name = self.made_of_name(method[1])
        if of_name and method[3] in GIVING_PARTS:
            made = made | self.container_of("list", call.register, of_name)
        elif of_name and not self.constants[s.STR].isdisjoint(made):
            made = made | of_name
        return made | self._by_items(self.values[method[1]], method[3], call)

    def _fill_fields_of(self, call: Call, *, given: bool) -> None:
        """``Formatter().format(template, *args)``; ``given``: what it shows is in containers."""
        templates, *args = call.args
        shown = call._replace(args=args)
        if given:
            held = (self.parts(values) for values in (*args, *call.keywords.values()))
            shown = Call([], {}, EMPTY.union(*held), call.pos)
        for template in sorted(templates):
            self.fill_fields(self.values[template], shown, mapped=False)

    def _kept_for_later(self, names: Iterable[str], call: Call) -> Call:
        """``parser.add_argument(type=f)`` keeps ``f``, ``parser.parse_args()`` calls what was kept.

        What is left of the call.
        """
        for name in names:
            for kept in library.REGISTERING.get(name, ()):
                call = self._keep(name, kept, call)
            for each in library.RUNNING.get(name, ()):
                self.call_kept_by(each, call.pos)
        return call

    def _keep(self, method: str, kept: library.Kept, call: Call) -> Call:
        place = len(call.args) if kept.place < 0 else kept.place
        given = call.argument(place, kept.keyword)
        values: Values = self.shared({v for v in given if self.values[v][0] in _KEPT})
        if values and kept.made:
            classes = {v for v in values if self.values[v][0] == "C"}
            made = self.call(
                classes, [], {}, call.pos, spread=self.unknown, rule="handed", external=True
            ) if classes else EMPTY  # fmt: skip
            values = (values - classes) | made
        elif values and kept.passed:
            passed = tuple([self.shared(each) for each in call.args[place + 1 :]])
            names = tuple([(name, self.shared(v)) for name, v in sorted(call.keywords.items())])
            values = self.single(("PT", values, passed, names))
        self.write(self.cell("kept", method), values)
        args = [EMPTY if at == place else each for at, each in enumerate(call.args)]
        keywords = {name: each for name, each in call.keywords.items() if name != kept.keyword}
        return call._replace(args=args, keywords=keywords)

    def call_kept_by(self, method: str, pos: Position) -> None:
        """What ``method`` has kept is called here."""
        for value in sorted(self.read(self.cell("kept", method))):
            kind = self.values[value]
            given = [] if kind[0] == "PT" else [self.unknown]
            if kind[0] == "I":
                self.call_member(kind[1], "__call__", [self.only(value), *given], pos, "registered")
            elif kind[0] == "PT":
                self.call(kind[1], kind[2], dict(kind[3]), pos, rule="registered", external=True)
            else:
                self.call(self.only(value), given, {}, pos, rule="registered", external=True)

    def _fill_tuple(self, receiver: Value, method: str, call: Call) -> None:
        """``pair._replace(first=x)``, ``Pair._make(row)``: of a class that extends a named tuple."""
        if receiver[0] not in ("I", "C") or receiver[1] is None:
            return
        class_ = receiver[1]
        if NAMED_TUPLE not in self.external_bases(class_):
            return
        if method == "_replace":
            self.pass_fields(class_, (), call.keywords)
            return
        for row in call.args[:1]:
            places = len(self.fields(class_))
            self.pass_fields(
                class_, [self.unpack_item(row, place, call.pos) for place in range(places)], {}
            )

    def _fields_by_name(self, receiver: int, call: Call) -> Values:
        """``pair._asdict()``, of a class that extends a named tuple."""
        held = self.fields_of_tuple(receiver, self.values[receiver][1], None, call.pos)
        made = self.container_of("dict", call.register, held)
        for each in made:
            self.write(self.anywhere_cell(each), held)
        return made

    def _by_items(self, receiver: Value, method: str, call: Call) -> Values:
        """What mappings of the library get from the ``__getitem__`` of the class that extends it."""
        if receiver[0] != "I" or method not in _BY_ITEMS:
            return EMPTY
        owner = self.find_member(receiver[1], "__getitem__")
        if owner is None or "__getitem__" not in self.outside.asked_by(receiver[1], method).own:
            return EMPTY  # `dict` does not ask
        keys = call.args[0] if call.args else self.constants[s.STR]
        given = [self.single(receiver), keys]
        items = self.call_member(owner, "__getitem__", given, call.pos, "protocol")
        if method == "items":
            return self.tuples_of(call.register, [self.constants[s.STR], items])
        if method == "values":
            return self.container_of("list", call.register, items)
        return items

    def _say(self, said: Sequence[Values], pos: Position) -> None:
        """What a logger writes: a message, of any type, filled as a template for ``%`` is."""
        self.protocol(said[0], SHOWN, pos)
        texts = frozenset(v for v in said[0] if self.values[v][0] not in ("I", "C"))
        if len(said) > 1:
            self.fill_template(texts, said[1:], EMPTY, said[1], pos)

    def _call_external_method(self, dotted: str, method: str, call: Call) -> Values:
        """A method of an object from outside the repo."""
        name = f"{dotted}.{method}"
        self.facts.append((f.EXTERNAL, name, call.pos, True))
        self.meet_demands(name, call)
        self._protocols(name, call.args, call.pos)
        model = self._models.get(name)
        if model is not None:
            return model(self, call)
        self._callbacks(call.args, call.keywords, call.spread, call.pos, skip=-1)
        if dotted == "builtins.str":
            return self.constants[s.STR]
        return self.constants[s.OPAQUE] if library.is_inert(dotted) else self.unknown

    def meet_demands(self, dotted: str, call: Call) -> None:
        """What a function or method of the standard library asks of what it is given."""
        for demand in DEMANDS.get(dotted, ()):
            for values in self._demanded(demand, call):
                if demand.every:
                    for dunder in demand.dunders:
                        self.protocol(values, (dunder,), call.pos)
                else:
                    self.protocol(values, demand.dunders, call.pos)
        if not self.whole and call.args and dotted in library.EXCEPTIONS:
            self._show_error(call)
        if dotted in library.MOVING:
            for each in EMPTY.union(*call.args[:1], *call.keywords.values(), call.spread):
                self.lose_places(each)

    def _show_error(self, call: Call) -> None:
        """Whoever shows an error shows what it was made with: one by itself, several as a tuple."""
        for values in call.args:
            self.protocol(values, SHOWN if len(call.args) == 1 else SHOWN[1:], call.pos)

    def _demanded(self, demand: Demand, call: Call) -> Iterator[Values]:
        given: Iterable[Values]
        if demand.place == ALL:
            given = (*call.args, call.spread)
        elif demand.place == NAMED:
            given = call.keywords.values()
        else:
            given = (call.argument(demand.place, demand.name),)
        alone = len(call.args) == 1 and not call.spread
        for values in given:
            if not values:
                continue
            if demand.way == "elements" or (demand.way == "alone" and alone):
                yield self.iterate(values, call.pos, is_async=False)
            elif demand.way == "keys":
                pairs = self.iterate(values, call.pos, is_async=False)
                yield self.unpack_item(pairs, 0, call.pos)
            elif demand.way == "parts":
                yield self.parts(values)
            else:
                yield values

    def _protocols(self, dotted: str, args: Sequence[Values], pos: Position) -> None:
        copying = library.COPYING.get(dotted)
        if copying and args:
            copied = args[0]
            if dotted != "copy.copy":
                state = self.state_of(copied)
                held = state | self.parts(copied) | self.parts(state)
                copied = held if dotted in library.COPYING_FIELDS else copied | held
            if self.whole:
                self._copy(copied, copying, pos, anew=not dotted.startswith("pickle."))
            else:
                for dunder in copying:
                    self.protocol(copied, (dunder,), pos)
                for dunder in library.FILLED_ANEW:
                    self.protocol(self._filled_anew(copied), (dunder,), pos)
            if dotted != "copy.copy":
                for value in copied:  # what that holds in turn, a slice knows
                    self.note_protocol(_REACHED.get(dotted, library.PICKLED), pos, value)
            if dotted in library.COPYING_FIELDS and not self.whole:
                self._list_fields(args[0], pos)
        for dunder in library.WRAPPING.get(dotted, ()):
            for values in args:
                self.protocol(values, (dunder,), pos)
        if dotted in library.ITERATING:
            for values in args:
                self.iterate(values, pos, is_async=False)
        outside, _, name = dotted.rpartition(".")
        said = args[1:] if name == "log" else args
        if said and name in library.SAYING and outside in library.LOGGING:
            self._say(said, pos)

    def _filled_anew(self, copied: Values) -> Values:
        """Those of ``copied`` whose copies are filled by methods of theirs."""
        kinds = {value: self.values[value] for value in copied}
        return {v for v, kind in kinds.items() if kind[0] == "I" and self.is_filled_anew(kind[1])}

    def is_filled_anew(self, class_: Class) -> bool:
        """Whether copying an instance fills the copy by methods of it."""
        return self.keeper_of(class_) is not None or any(
            self.find_member(class_, name) for name in ("__reduce__", "__reduce_ex__")
        )

    def _copy(self, copied: Values, copying: Sequence[str], pos: Position, *, anew: bool) -> None:
        """Ask objects for copies: one with a way of its own for that only (``copy``, ``pickle``).

        ``anew``: they are made anew at once, not when somebody reads what was written.
        """
        plain: set[int] = set()
        for value in self.objects_in(copied):
            class_ = self.values[value][1]
            own = [name for name in copying if self.find_member(class_, name) is not None]
            if own and own[0] not in _OF_STATE:
                self.protocol(self.only(value), (own[0],), pos)
            else:
                plain.add(value)
            if not self.values[value][2]:  # those below it may have one
                for name in copying:
                    self.protocol(self.only(value), (name,), pos)
        for dunder in _OF_STATE if anew else _OF_STATE[:-1]:
            self.protocol(plain, (dunder,), pos)
        if not anew:
            self.write(self.cell("pickled"), self.objects_in(copied))

    def _list_fields(self, values: Values, pos: Position) -> None:
        """The fields of records are read, and those of records that they hold (PEP 557)."""
        for value in sorted(self.objects_in(values) | self.held_in(values, ())):
            kind = self.values[value]
            if kind[0] == "I":
                self.facts.append((f.CLASSREF, kind[1], pos))

    def state_of(self, values: Values) -> Values:
        """What instances hold: code outside reads all of it, and names nothing."""
        state: Values = EMPTY
        for value in values:
            kind = self.values[value]
            names: set[str] = set()
            for k in self.mro(kind[1]) if kind[0] == "I" else ():
                names.update(k.info.self_stores)
                if not self.whole:
                    names.update(k.attributes)  # stored elsewhere
                names.update(name for name in k.info.members if self.is_assigned(k, name))
            state = state | self.held_under(value, sorted(names))
        return state

    def held_under(self, value: int, names: Iterable[str]) -> Values:
        """The attributes ``names`` of an object, read where no code of the repo does."""
        saved, self.facts = self.facts, []
        held: set[int] = set()
        for name in names:
            if name[:1] == "_" and "__" in name:  # it may be mangled with the name of a class
                held |= self.load_attribute(self.only(value), name, 0)
                continue
            lookup = self.attribute_of(value, name)
            if not lookup.settled:
                self.depend(lookup)
            held |= lookup.answer
        self.facts = saved
        return frozenset(held)

    def _element(
        self, dotted: str, args: Sequence[Values], keywords: Mapping[str, Values], pos: Position
    ) -> Values:
        result: set[int] = set()
        self._keyed(args, keywords, pos)
        if len(args) > 1 and dotted in ("builtins.min", "builtins.max"):
            for values in args:
                result |= values
            return result
        if args and dotted == "builtins.next":
            result |= self._next(args[0], pos)
        elif args:
            result |= self.iterate(args[0], pos, is_async=False)
        if len(args) > 1:
            result |= args[1]
        return result

    def _next(self, iterators: Values, pos: Position) -> Values:
        """The next element of what is an iterator already: nothing asks it for another."""
        own = {
            v
            for v in iterators
            if self.values[v][0] == "I"
            and self.find_member(self.values[v][1], "__next__") is not None
        }
        made = self.protocol(own, ("__next__",), pos)
        return made | self.iterate(iterators - own if own else iterators, pos, is_async=False)

    def _keyed(self, args: Sequence[Values], keywords: Mapping[str, Values], pos: Position) -> None:
        key = keywords.get("key")
        if key and args:
            elements = EMPTY.union(*args)
            if len(args) == 1:
                elements = frozenset(self.iterate(elements, pos, is_async=False))
            made = self.call(key, [elements], {}, pos, rule="callback", external=True)
            self.protocol(made, ORDERED, pos)

    def _container(
        self,
        dotted: str,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        pos: Position,
        register: int,
    ) -> Values:
        if dotted.startswith("heapq."):
            args = args[1:]  # how many
        self._keyed(args, keywords, pos)
        elements: set[int] = set()
        if dotted == "builtins.filter" and len(args) > 1:
            elements |= self.iterate(args[1], pos, is_async=False)
            tested: Values = elements  # `filter(None, xs)`
            if args[0]:
                tested = self.call(args[0], [elements], {}, pos, rule="callback", external=True)
            self.protocol(tested, TESTED, pos)
        elif dotted == "itertools.chain.from_iterable":
            for values in args:
                elements |= self.iterate(
                    self.iterate(values, pos, is_async=False), pos, is_async=False
                )
        else:
            for values in args:
                if dotted in library.ASKING_LENGTH:
                    self.ask_length(values, pos)
                elements |= self.iterate(values, pos, is_async=False)
        if library.CONTAINER[dotted] in ("frozenset", "set"):
            self.hash_values(elements)
        return self.container_of(library.CONTAINER[dotted], register, elements)

    def hand_over(self, groups: Sequence[Values], pos: Position) -> None:
        """Functions among these values are handed to code outside the repo."""
        self._callbacks(groups, NO_KEYWORDS, EMPTY, pos, skip=-1)

    def _callbacks(
        self,
        args: Sequence[Values],
        keywords: Mapping[str, Values],
        spread: Values,
        pos: Position,
        *,
        skip: int,
    ) -> None:
        """Functions handed to code outside the repo may be called by it."""
        groups = [values for place, values in enumerate(args) if place != skip]
        groups.extend(keywords.values())
        groups.append(spread)
        for values in groups:
            if self.whole and len(values) > _MANY_CALLBACKS:
                self.asked(("called-back", self.shared(values)), pos)
            else:
                self.call_back_each(values, pos)

    def call_back_each(self, values: Values, pos: Position) -> None:
        """Those of ``values`` that can be called may be, by code outside the repo."""
        methods, others = self.methods_apart(values)
        for method, receivers in methods.items():
            self.run_function(method, [self.shared(receivers)], pos, rule="callback")
        for value in others:
            kind = self.values[value]
            if kind[0] == "F":
                self.run_function(kind[1], [], pos, rule="callback")
            elif kind[0] == "PT":
                self.call(kind[1], kind[2], dict(kind[3]), pos, rule="callback", external=True)
            elif kind[0] == "K":
                self.note_shrunk(value)
            elif kind[0] == "C":
                self.note_raisable(kind[1], bool(kind[2]))
            elif kind[0] == "CD":
                self.call(self.only(value), [], {}, pos, rule="callback", external=True)
            elif kind[0] == "PS":
                self._call_partial(value, [], NO_KEYWORDS, EMPTY, pos, -1, external=True)
            elif kind[0] == "I":
                self.call_member(kind[1], "__call__", [self.only(value)], pos, "callback")
                if not kind[2] and self.find_member(kind[1], "__call__") is not None:
                    self.facts.append((f.MEMBER, kind[1], "__call__", pos, True, "call", False))


@cache
def names_in_code(text: str) -> tuple[tuple[str, ...], bool]:
    """The names that a text takes when it is run, and whether it does no more than call them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (), False
    nodes = [node for statement in body for node in ast.walk(statement)]
    return tuple(names_taken(body)), not any(isinstance(node, ast.Attribute) for node in nodes)

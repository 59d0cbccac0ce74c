"""Classes in a slice: which are live, and which of their members can run.

A class is *live* when something in the slice uses it as a value: it can be instantiated
then, and reached through its bases (rapid type analysis, Bacon and Sweeney 1996). What is
asked of a class and its subclasses, of what follows a class in some method resolution
order, or of a receiver that nobody knows, is asked of live classes only: of those there
are, and of each that becomes live later. So such demands stand until the slice is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import (
    CHECKING_BASES,
    EXCEPTIONS,
    INERT_BASES,
    LOOKED_FOR,
    MODEL_BASES,
    SCHEMA_HOOKS,
    SHARED,
    SPECIAL_NAMES,
)
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece, Unit, pack
from depslice.slicer.closure.growth import Asked, Growth
from depslice.slicer.closure.live import Live
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.overrides import Overrides, abstract_of
from depslice.slicer.closure.records import annotated_of, external_names, fields_of, is_record
from depslice.slicer.closure.type_arguments import OF_BASES, OF_INSTANCES
from depslice.slicer.pieces import (
    holding_piece,
    is_abstract,
    is_decorated,
    is_property,
    start_of,
)

ORDERING: Final = ("__lt__", "__le__", "__gt__", "__ge__")
_CONSTRUCTORS: Final = ("__new__", "__init__", "__post_init__", "__attrs_post_init__")
_INITIALIZERS: Final = frozenset(_CONSTRUCTORS[1:])
"""Those that nobody asks for who gets an instance, or copies one."""
_ASKED: Final = ("__getattribute__", "__dict__", "__class__", "__del__")
"""What code outside the repo asks any object: `vars`, `copy`, `isinstance`, the collector."""
_ENUM_HOOKS: Final = ("_missing_", "_generate_next_value_", "_ignore_", "_order_")
_ON_TYPES: Final = ("__getitem__", "__or__", "__ror__")
"""What annotations ask of the classes that they name."""
_PROMOTED: Final = {
    "builtins.float": ("builtins.int",),
    "builtins.complex": ("builtins.float", "builtins.int"),
    "builtins.bytes": ("builtins.bytearray", "builtins.memoryview"),
}
"""What is taken where that is declared, though it extends no such class (PEP 484)."""
_NOT_LOOKING: Final = frozenset(("runtime_checkable", "final", "dataclass", "total_ordering"))
"""Decorators, of the standard library, to which the docstring of a class is nothing."""
_READING_ANNOTATIONS: Final = frozenset(
    {
        *("__annotations__", "annotation", "fields", "get_annotations", "get_type_hints"),
        *("getfullargspec", "return_annotation", "signature"),
    }
)
_BY_TEXT: Final = "__annotations__"  # `namespace.get("__annotations__")`
_GIVING_TYPES: Final = frozenset({"__annotations__", "get_annotations", "get_type_hints"})
"""What gives code the types that a class body names, to do with them what it does with classes."""
_DECLARING: Final = _GIVING_TYPES | {"getfullargspec"}
"""What gives code the types that parameters are declared with."""
_PARAMETER: Final = "annotation"
_OF_FUNCTIONS: Final = frozenset({"from_callable", "signature"})
"""So does that of a parameter, which these give: syntax trees have such an attribute, too."""
_OF_ANY: Final = ("__bool__", "__class__", "__len__", "__module__")
"""What is asked of any object, whatever it is; special methods that it has not included."""
_TEST_CASE: Final = "TestCase"
_OF_TESTED_MODULES: Final = ("setUpModule", "tearDownModule")
_SHOWN: Final = ("__eq__", "__format__", "__hash__", "__ne__", "__repr__", "__str__")
"""What any object has, records by their fields."""
_DERIVED: Final = frozenset({*ORDERING, "__getitem__", "__hash__"})
"""What is looked for by other names where it is missing."""
_TOLD: Final = {
    "write": ("__set__", "__setattr__"),
    "delete": ("__delete__", "__delattr__"),
}
"""Who is told what is done to an attribute: a descriptor of its name, or the class itself."""
_READ_BY_TYPE: Final = (
    *("__slots__", "__match_args__", "__hash__"),
    *("__module__", "__qualname__"),  # what it is called, wherever it is shown or pickled
)
"""What is read when a class is made."""

Caught: TypeAlias = f.Access | Literal["extended", "matching"]
"""What is done with an attribute of an exception that is caught; those whose names fit are read. Or
it is read of another object from outside, which may be of a class that extends its own."""


class Classes:
    """Live classes, and what is demanded of them.

    ``wanted`` are the members that are in the slice. ``build_class``, … ``ask_by_name`` are the
    requests that go upwards from here: what else builds a member, is a rule of builders; what
    ``__getattr__`` does with a name, one of open values.
    """

    build_class: Callable[[Class], None]
    build_member: Callable[[Class, str], None]
    fill_member: Callable[[Class, str], None]
    keep_subclasses: Callable[[Class, Demand], None]
    build_absent: Callable[[str, str, Demand], None]
    keep_told: Callable[[Class], None]
    meet_added: Callable[[Class], None]
    ask_by_name: Callable[[Class, str, Demand], None]

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self.wanted = Asked(growth)
        self._engine = growth.engine
        self._overrides = Overrides(growth.program.stubs)
        self._live = Live(growth.engine, self._overrides)
        self.live_below, self.extended = self._live.below, self._live.extended
        self.live_made_by = self._live.made_by
        self._found: dict[tuple[str, int], set[Class]] = {}  # (attribute, distance): asked of whom
        self._named: dict[Class, None] = {}  # by annotations
        self._may_be: dict[tuple[Class, str], Demand] = {}  # those of them that have what is read
        self._answering_all: dict[tuple[Class, str], Demand] = {}  # what `__getattr__` may give
        self._made_live = Asked(growth)
        # Of those that are live: by how many guesses in a row, and how many before the last.
        self._supposed: dict[Class, tuple[int, int]] = {}
        self._constructed: set[Class] = set()  # the live ones that code of the slice may make
        self._standing = Asked(growth)
        # Demands that stand, by what they are asked of.
        self._of_subclasses: dict[Class, dict[str, Demand]] = {}
        self._of_instances: dict[Class, dict[str, Demand]] = {}
        self._stored: dict[Class | None, dict[tuple[str, f.Access], Demand]] = {}  # None: any
        self._in_line: dict[Class, dict[str, Demand]] = {}
        self._all: dict[tuple[Class, f.Listing], Demand] = {}
        self._after: dict[tuple[Class, str], Demand] = {}
        self._anywhere: dict[str, Demand] = {}
        self._beside: dict[str, dict[str, Demand]] = {}  # by what they tell of the receiver
        self._matching: dict[tuple[Class | None, str, str], Demand] = {}
        self._of_waiting: dict[str, Demand] = {}
        # Of exceptions: as whose instances, what is done, by which name or ends of one.
        self._of_caught: dict[tuple[str, Caught, Any], Demand] = {}
        # By bases outside: the dotted names of these, and of all that they extend.
        self._lines_outside: dict[tuple[str, ...], frozenset[str]] = {}
        self._annotated: dict[Class, tuple[Piece, ...]] = {}
        self._plain: set[tuple[Class, str]] = set()  # members that are no descriptors
        self._asked: set[Class] = set()  # whose own demands are made
        self._checked: set[Class] = set()  # protocols that somebody tests for
        self._looked_at: set[Class] = set()
        self._met: dict[Class, None] = {}  # and not live so far
        # Where the repository has who asks for them, that one's code tells when it does.
        self._schema_hooks = tuple(
            name
            for asking, names in SCHEMA_HOOKS.items()
            if not growth.program.is_module(asking)
            for name in names
        )
        # All that stands, by the class (None: any), and whether it is asked of that itself.
        self._asked_of: dict[tuple[Class | None, bool], dict[str, Demand]] = {}
        self.annotations_are_read = False  # by some code of the slice, whosever they are
        self.listed: set[Class] = set()  # those that are asked for their annotations
        self._declared_is_made = False  # by some code that takes what parameters are declared with
        self._of_parameters: set[str] = set()  # what some code reads that may give that
        self.types_are_taken = False  # of what class bodies annotate: to make it, say
        self.asks_of_aliases: set[str] = set()  # what some code reads that tells of aliases
        # Those of which code outside gets an instance; or of them and their subclasses.
        self._handed_itself: set[Class] = set()
        self._handed: set[Class] = set()

    # --- liveness

    def keep_as_value(
        self, module: Module, piece: Piece, demand: Demand, *, item: str = ""
    ) -> None:
        """Keep one piece; a class that it makes is live."""
        self._growth.take_as_value(module, piece, demand)
        self._growth.keep(module, piece, demand, item=item)
        if piece.kind == "class":
            self.make_live(self._growth.class_of(module, piece), demand)

    def make_live(self, class_: Class, demand: Demand, *, made: bool = True) -> None:
        """``class_`` is used as a value: it can be instantiated, its members reached.

        Not ``made``: what is declared as an instance, or tested for, has been made by others.
        """
        if self._growth.doubts(demand):
            self._omit_live(class_, demand)
            return
        if not self._made_live.is_new((class_, made), demand):
            return
        if made:
            self._constructed.add(class_)
        self._live.add(class_)
        self._suppose(class_, self._growth.guesses_by(demand))
        self._met.pop(class_, None)
        if self._keep_statement(class_, demand):
            self.ask_for_own(class_)

    def _suppose(self, class_: Class, guesses: tuple[int, int]) -> bool:
        """``class_`` is live if so many guesses in a row are right; whether none fewer did it."""
        known = self._supposed.get(class_)
        if known is not None and known <= guesses:
            return False
        self._supposed[class_] = guesses
        return True

    def _of_live(self, class_: Class, demand: Demand) -> Demand:
        """``demand`` of an instance of ``class_``: if there is one."""
        return demand.supposing(self._supposed.get(class_, (0, 0)))

    def _omit_live(self, class_: Class, demand: Demand) -> None:
        """Note what a class would bring that is live for no reference that is followed."""
        growth, engine = self._growth, self._engine
        if growth.omits(growth.item_of_class(class_), demand) or class_.info.piece < 0:
            return
        for name in _CONSTRUCTORS:  # its header is there already
            found = engine.find_member(class_, name)
            if found is not None and not growth.omits(growth.item_of_class(found), demand):
                growth.omits(f"{found.id}.{name}", demand)
        if is_record(engine, class_, self._overrides):
            for module, piece in fields_of(engine, class_, self._overrides):
                owner = engine.class_(module, piece.owner)
                for name in piece.binds:
                    growth.omits(f"{owner.id}.{name}", demand)

    def hand_to_hook(self, class_: Class) -> None:
        """The statement of ``class_`` runs: an ``__init_subclass__`` gets it (3.3.3.1).

        What that reads of it has to be there, whoever else wants the class.
        """
        order = self._engine.mro(class_)
        hooked = any("__init_subclass__" in k.info.members for k in order[1:])
        guesses = self._growth.guesses_to(self._growth.item_of_class(class_))
        if hooked and self._suppose(class_, (guesses, guesses)):
            self._live.add(class_)
            self._answer_standing(class_, order)

    def place(self) -> bool:
        """Look at live classes again of which more bases are known since; whether there are such."""
        placed = [class_ for class_ in self._live if self._live.place(class_)]
        for class_ in placed:
            if class_ in self._asked:
                self.ask_for_own(class_)
        return bool(placed)

    def is_used(self, class_: Class) -> bool:
        """Whether it or a subclass is live, or somebody who may look at it makes or gets it."""
        if self._live.is_extended(class_) or self._decorators_looking(class_) > 0:
            return True
        order = self._engine.mro(class_)
        return any(k.metaclasses or "__init_subclass__" in k.info.members for k in order)

    def rests(self, class_: Class) -> bool:
        """Whether its metaclass may stay without its methods: nobody looks at the class.

        It is named in annotations alone, which nobody reads, and no class is live that the same
        metaclass makes. Keywords of the statement are for the metaclass to take.
        """
        metaclasses = self._engine.metaclasses_of(class_)
        if not metaclasses or self.annotations_are_read or self._decorators_looking(class_):
            return False
        told = any(name != "metaclass" for name, _ in class_.info.keywords)
        if told or not self._looked_at.isdisjoint(self._engine.mro(class_)):
            return False
        return not any(map(self._live.is_extended, (class_, *metaclasses)))

    def is_made_alone(self, class_: Class) -> bool:
        """Whether making the class makes no instance, and asks nothing of it but its own body.

        No metaclass does, no base outside, hook or generated method.
        """
        engine = self._engine
        order = engine.mro(class_)
        return not (
            engine.metaclasses_of(class_)
            or class_.info.decorators
            or any(base not in INERT_BASES for base in engine.external_bases(class_))
            or any("__init_subclass__" in k.info.members for k in order)
            or is_record(engine, class_, self._overrides)
        )

    def makes_fields(self, class_: Class) -> bool:
        """Whether a base outside makes instances of what fields of the class are annotated with."""
        return not MODEL_BASES.isdisjoint(self._engine.external_bases(class_))

    def may_make_fields(self, class_: Class) -> bool:
        """Whether a base outside of which nothing is known may make such instances."""
        return self._overrides.takes_all(self._engine.external_bases(class_))

    def note_met(self, class_: Class) -> None:
        """Code reads an attribute of ``class_``, or passes on what is declared as an instance.

        That makes none. Where somebody asks for what instances have, it is live all the same.
        """
        if class_ in self._live or class_ in self._met:
            return
        self._met[class_] = None
        above = self._engine.mro(class_)
        for k in above:
            self.keep_told(k)
        for key in [*((k, True) for k in (*above, None)), *((k, False) for k in above[1:])]:
            for name, demand in tuple(self._asked_of.get(key, {}).items()):
                self._take_for(class_, name, demand)

    def _take_for(self, class_: Class, name: str, demand: Demand) -> None:
        """What is asked for ``name`` may be an instance of a class that has been met."""
        if name == f.ALL or (name not in _CONSTRUCTORS and self._live.has(class_, name)):
            self.make_live(class_, demand, made=False)

    def _stands(
        self, what: Hashable, of: Class | None, name: str, demand: Demand, *, itself: bool = True
    ) -> bool:
        """Whether ``demand`` is new: for ``name`` of instances of ``of``, or of classes below it.

        ``None``: of any class. Not ``itself``: what asks has found what ``of`` has.
        """
        if not self._standing.is_new(what, demand):
            return False
        self._growth.stand(self._asked_of.setdefault((of, itself), {}), name, demand)
        for class_ in tuple(self._met):
            if of is None or (of in self._engine.mro(class_) and (itself or of is not class_)):
                self._take_for(class_, name, demand)
        return True

    def look_at(self, class_: Class) -> None:
        """The class itself is asked for something, which its metaclass may have given it."""
        self._looked_at.add(class_)

    def _decorators_looking(self, class_: Class) -> int:
        """How many decorators of a class may look at it."""
        return len(class_.info.decorators) - sum(
            name.rpartition(".")[2] in _NOT_LOOKING for name in external_names(self._engine, class_)
        )

    def note_read(self, unit: Unit) -> None:
        """The code of ``unit`` is in the slice: whether it asks for annotations, or of aliases."""
        texts = {op[2] for op in unit.ops if op[0] == s.STRING}
        names = {op[2] for op in unit.ops if op[0] == s.GLOBAL}
        read = {op[3] for op in unit.ops if op[0] == s.ATTR}
        self.asks_of_aliases |= (texts | names | read) & (OF_BASES | OF_INSTANCES)
        names |= texts & {_BY_TEXT}
        if "fields" in names | read and "type" in read:  # `for f in fields(C): f.type(…)`
            self.types_are_taken = True
        self.types_are_taken |= not _GIVING_TYPES.isdisjoint(names | read)
        if not self.annotations_are_read:
            names |= read - {"fields"}
            self.annotations_are_read = not names.isdisjoint(_READING_ANNOTATIONS)
        self._of_parameters |= (names | read) & (_OF_FUNCTIONS | {_PARAMETER})
        declared = not _DECLARING.isdisjoint(names | read) or (
            _PARAMETER in self._of_parameters and len(self._of_parameters) > 1
        )
        if declared and not self._declared_is_made:
            self._declared_is_made = True
            for class_ in [each for each in self._live if each in self._asked]:
                if class_ not in self._constructed:
                    self.ask_for_own(class_)

    def ask_for_own(self, class_: Class) -> None:
        """What the class itself asks for as soon as it is live."""
        if class_ not in self._live:
            return
        self._asked.add(class_)
        order = self._engine.mro(class_)
        item, start = self._growth.item_of_class(class_), pack(class_.info.line, 0)
        own = Demand.of(item, class_.module, ReferenceKind.CALL, "constructs", start)
        own = self._of_live(class_, own)
        self._want_constructors(class_, order, own)
        if is_record(self._engine, class_, self._overrides):
            self._keep_fields(class_, own)
        outside = self._engine.active_bases(class_)
        if outside and self._overrides.waits(outside) and not self._is_handed(class_):
            self._keep_undefined(class_, outside, own)
        elif outside:
            self._keep_overrides(class_, outside[0], own)
        if any(base.endswith(_TEST_CASE) for base in outside):
            self._keep_fixtures(class_.module, own)
        for k in order:
            self.keep_told(k)
        self.meet_added(class_)
        self.build_class(class_)
        self._answer_standing(class_, order)

    def _keep_fixtures(self, module: Module, own: Demand) -> None:
        """What ``unittest`` runs before and after the tests of a module."""
        hooked = replace(
            own, certainty=Certainty.LIKELY, evidence="external-base unittest.TestCase"
        )
        for name in _OF_TESTED_MODULES:
            for index in module.summary.scope.get(name, ()):
                self._growth.keep(module, module.summary.pieces[index], hooked)

    def want_what_is_checked(self, protocol: Class, own: Demand) -> None:
        """``isinstance`` looks for all members of the protocol (PEP 544), of whatever it is asked."""
        if protocol in self._checked or not any(
            name.endswith(".runtime_checkable") for name in external_names(self._engine, protocol)
        ):
            return
        self._checked.add(protocol)
        names = [
            (k, name)
            for k in self._engine.mro(protocol)
            for name in k.info.members
            if self._engine.is_protocol(k) and (name[0] != "_" or name.startswith("__"))
        ]
        checked = replace(own, certainty=Certainty.POSSIBLE, evidence="runtime-checkable")
        for k, name in names:
            self.want_member(k, name, own)
            self.want_where(names[0][1], name, checked)

    def _keep_statement(self, class_: Class, demand: Demand) -> bool:
        """Keep the class statement, or what holds it; whether there is one in the slice."""
        module, info = class_.module, class_.info
        if info.piece >= 0:
            return self._growth.keep(
                module, module.summary.pieces[info.piece], demand, item=class_.id
            )
        return info.parent_function >= 0 and self._growth.keep(
            module, holding_piece(module, info.unit), demand
        )

    def _want_constructors(self, class_: Class, order: Sequence[Class], own: Demand) -> None:
        enumerates = any(b.startswith("enum.") for b in self._engine.external_bases(class_))
        hooks = _ENUM_HOOKS if enumerates else ()
        for name in (*_CONSTRUCTORS, *_ASKED, *self._schema_hooks, *hooks):
            found = self._engine.find_member(class_, name)
            if found is not None:
                is_run = name not in _INITIALIZERS or self._may_be_constructed(class_)
                self.want_member(found, name, own if is_run else own.guessed())
        for k in order:
            if k is not class_ and "__init_subclass__" in k.info.members:
                self.want_member(k, "__init_subclass__", own)

    def _may_be_constructed(self, class_: Class) -> bool:
        """Whether code of the slice may make instances, as far as ``class_`` is there at all.

        Whoever makes what a guessed constructor takes by its annotations makes what that one's
        takes, too (dependency injection): as one guess.
        """
        if class_ in self._constructed:
            return True
        return self._declared_is_made and self._supposed.get(class_, (0, 0)) > (0, 0)

    def make_instance(self, class_: Class, demand: Demand) -> None:
        """``class_`` is instantiated: it is live, and if it is an exception, it is told.

        Its message is printed when nobody handles it (language reference, 4.3).
        """
        self.make_live(class_, demand)
        if not EXCEPTIONS.isdisjoint(self._engine.external_bases(class_)):
            found = self._engine.find_member(class_, "__str__")
            if found is not None:
                shown = demand.guessed("traceback")
                self.want_member(found, "__str__", shown)

    def constructors(self, class_: Class) -> Iterator[Function]:
        """The functions of the repository that run when ``class_`` is instantiated."""
        for name in _CONSTRUCTORS:
            yield from self.functions(class_, name)

    def functions(self, class_: Class, name: str) -> Iterator[Function]:
        """The functions of the repository that ``class_`` has, or inherits, as ``name``."""
        engine = self._engine
        found = engine.find_member(class_, name)
        for value in sorted(engine.member_values(found, name)) if found is not None else ():
            kind = engine.values[value]
            if kind[0] == "F":
                yield kind[1]

    def _keep_fields(self, class_: Class, own: Demand) -> None:
        for module, piece in fields_of(self._engine, class_, self._overrides):
            self.keep_as_value(module, piece, own)
            if piece.kind == "assign":
                self._want_callables(module, piece, own)
                owner = self._engine.class_(module, piece.owner)
                for name in piece.binds:
                    self.fill_member(owner, name)
                    # A constructor that is generated stores it, and asks the class for a default.
                    self._want_if_notified(class_, name, "write", own)
                    self.want_descriptor(owner, name, own)

    def _want_callables(self, module: Module, field: Piece, own: Demand) -> None:
        """What a field is made with, generated methods call: validators, converters."""
        for fact in self._engine.facts_of(self._engine.function(module, field.unit)):
            for value in sorted(fact[3]) if fact[0] == f.PASS else ():
                kind = self._engine.values[value]
                if kind[0] == "I":
                    found = self._engine.find_member(kind[1], "__call__")
                    if found is not None:
                        self.want_member(found, "__call__", own)

    def _waits(self, class_: Class) -> bool:
        """Whether its bases outside call of it only what those ask for who use an instance."""
        outside = self._engine.active_bases(class_)
        return bool(outside) and self._overrides.waits(outside)

    def _asks_by_use(self, class_: Class) -> bool:
        """Whether who uses an instance alone runs what it overrides of its bases outside.

        Those that wait, and containers, texts and numbers: they answer where it is missing, too.
        """
        has_some = bool(self._engine.external_bases(class_))
        return has_some and self._overrides.waits(self._engine.active_bases(class_))

    def _keep_undefined(self, class_: Class, outside: Sequence[str], own: Demand) -> None:
        """What bases that wait need all the same: methods they do not define, and data.

        There is no instance without the former (PEP 3119); the finalizer of a file closes it.
        """
        for base in outside:
            required = replace(own, evidence=f"external-base {base}")
            kept = replace(required, certainty=Certainty.LIKELY)
            asked = dict.fromkeys(sorted(abstract_of(base)), required)
            if "__len__" in self._overrides.declared([base]):  # which anything may ask
                asked.setdefault("__len__", kept)
            for name, demand in asked.items():
                found = self._engine.find_member(class_, name)
                if found is not None:
                    self.want_member(found, name, demand)
            for k in self._engine.mro(class_):
                for piece in map(k.module.summary.pieces.__getitem__, k.info.pieces):
                    is_data = piece.kind == "assign" or is_property(k.module, piece)
                    if is_data and self._overrides.reads(base, piece):
                        self._growth.keep(k.module, piece, kept)
        self.ask_base(class_, "__del__", own)

    def hand(self, class_: Class, *, below: bool) -> None:
        """Code outside gets an instance, or makes one: it may call all that it knows of."""
        handed = self._handed if below else self._handed_itself
        if class_ not in handed:
            handed.add(class_)
            for live in tuple(self._live.below(class_)) if below else (class_,):
                if live in self._asked and self._waits(live):
                    self.ask_for_own(live)

    def want_for_others(self, class_: Class, demand: Demand, whose: f.Whose) -> None:
        """Code outside has an object: its special methods that Python knows nothing of are for that.

        ``__conform__`` of what a database gets, ``__html__``, ``__array__``: methods. Who is known
        to be of others may look for any. The library looks for what it names; and of who gets it
        nobody knows, what the repository itself looks for is taken to be its own affair, unless it
        is a protocol of many.
        """
        outside = replace(demand, certainty=Certainty.LIKELY, evidence="handed")
        for k in self._engine.mro(class_):
            pieces = k.module.summary.pieces
            for name, bound in tuple(k.info.members.items()):
                special = name[:2] == "__" == name[-2:] and name not in SPECIAL_NAMES
                if whose == "library":
                    special = special and name in LOOKED_FOR
                elif whose == "somebody":
                    special = special and (name in SHARED or not self._growth.looks_for(name))
                if special and any(pieces[each].kind == "def" for each in bound):
                    self.want_member(k, name, outside)

    def _is_handed(self, class_: Class) -> bool:
        return class_ in self._handed_itself or not self._handed.isdisjoint(
            self._engine.mro(class_)
        )

    def ask_base(self, class_: Class, name: str, demand: Demand) -> None:
        """``name`` is asked of ``class_``, which has it from a base outside: what that calls."""
        asked = self._engine.outside.asked_by(class_, name).own if self._waits(class_) else ()
        if asked:
            base = replace(demand, certainty=Certainty.LIKELY, evidence="called-by-base")
            for each in asked:
                found = self._engine.find_member(class_, each)
                if found is not None:
                    self.want_member(found, each, base)

    def _keep_overrides(self, class_: Class, base: str, own: Demand) -> None:
        """What a base class outside the repo may look for."""
        outside = replace(own, certainty=Certainty.LIKELY, evidence=f"external-base {base}")
        if self._overrides.takes_all(self._engine.external_bases(class_)):
            outside = outside.guessed()
        known = [b for b in self._engine.external_bases(class_) if self._overrides.knows(b)]
        for k in self._engine.mro(class_):
            bases = self._engine.external_bases(k)
            inert = all(b in INERT_BASES for b in bases)
            for index in k.info.pieces:
                piece = k.module.summary.pieces[index]
                if piece.kind not in ("def", "assign"):
                    continue
                if (
                    self._overrides.names(known, piece)  # a mixin answers the base beside it
                    if inert
                    else self._overrides.looks_for(bases, k.module, piece)
                ):
                    self._growth.keep(k.module, piece, outside)

    def _answer_standing(self, live: Class, order: Sequence[Class]) -> None:
        """What was demanded of live classes before this one was."""
        lent = self._live.order_of(live)[len(order) :]
        for k in (*order, *lent):
            self._answer(live, self._of_subclasses.get(k, {}))
            for name, demand in tuple(self._of_instances.get(k, {}).items()):
                self._want_where_missing(live, name, self._of_live(live, demand))
        for k in order:
            for name, demand in tuple(self._in_line.get(k, {}).items()):
                self._want_each(order, name, self._of_live(live, demand))
        for stored in (*order, *lent, None):
            for (name, how), demand in tuple(self._stored.get(stored, {}).items()):
                self._want_if_notified(live, name, how, self._of_live(live, demand))
        made_by = self._made_by(live)
        for (k, listing), demand in tuple(self._all.items()):
            if k in order or k in lent or k in made_by:
                self._keep_all(live, listing, self._of_live(live, demand))
        for k in made_by:
            self._answer_made(live, self._of_subclasses.get(k, {}))
        inherited = frozenset(order)
        for k, name, demand in [(*key, d) for key, d in self._after.items() if key[0] in inherited]:
            self._want_next(live, k, name, self._of_live(live, demand))
        self._answer(live, self._anywhere, fallback=True)
        for name, demand in tuple(self._of_waiting.items()) if self._asks_by_use(live) else ():
            self._want_inherited(live, name, self._of_live(live, demand))
        for (caught, done, name), demand in tuple(self._of_caught.items()):
            self._want_if_caught(live, caught, done, name, self._of_live(live, demand))
        attributes = self._live.attributes_of(live)
        for beside in [each for telling, each in self._beside.items() if telling in attributes]:
            self._answer(live, beside)
        for (owner, prefix, suffix), demand in tuple(self._matching.items()):
            if owner is None or owner in order or owner in lent:
                self._want_fitting(live, prefix, suffix, self._of_live(live, demand))

    def _answer(
        self, live: Class, standing: Mapping[str, Demand], *, fallback: bool = False
    ) -> None:
        """What is demanded by name of a live class; the names it has not are thousands."""
        if not standing:
            return
        names = self._live.answered_by(live)
        if not fallback or "__getattr__" not in names:
            asked = standing.keys() & names | standing.keys() & _DERIVED
        else:
            asked = {*standing}
        for name in sorted(asked):
            self.want_found(live, name, self._of_live(live, standing[name]), fallback=fallback)

    def _made_by(self, live: Class) -> dict[Class, None]:
        """The metaclasses of which ``live`` is an instance (data model, 3.3.3)."""
        engine = self._engine
        return dict.fromkeys(k for m in engine.metaclasses_of(live) for k in engine.mro(m))

    def _answer_made(self, live: Class, standing: Mapping[str, Demand]) -> None:
        """What is demanded of an instance of a metaclass; special methods are that one's."""
        for name, demand in tuple(standing.items()):
            if not name.startswith("__") and name in self._live.answered_by(live):
                self.want_found(live, name, self._of_live(live, demand))

    # --- members

    def want_member(
        self, owner: Class, name: str, demand: Demand, *, written: bool = False
    ) -> None:
        """The member ``name`` that the body of ``owner`` binds (``written``: only changed)."""
        if owner.info.piece < 0 and owner.info.owner < 0:
            return  # a class in a function: kept whole with it
        if written:
            if (owner, name) in self.wanted:
                return
        elif not self.wanted.is_new((owner, name), demand):
            return
        module = owner.module
        kept = False
        for index in owner.info.members.get(name, ()):
            piece = module.summary.pieces[index]
            if piece.kind == "import":
                self._growth.import_alias(module, piece, name, demand)
                kept = True
                continue
            item = f"{owner.id}.{name}" if name in piece.binds else ""
            kept |= self._growth.keep(module, piece, demand, item=item)
            if is_abstract(module, piece):  # PEP 3119: no instance without the override
                self.want_override(owner, name, demand)
            if piece.kind == "class":
                self.make_live(self._growth.class_of(module, piece), demand)
        if kept and not written:
            self.build_member(owner, name)
            if name == "__eq__":  # without it the class would say that nothing hashes (3.3.1)
                beside = ReferenceKind.READ, "class-body", pack(owner.info.line, 0)
                self.want_member(
                    owner, "__hash__", Demand.of(f"{owner.id}.__eq__", module, *beside)
                )

    def want_named(self, owner: Class, name: str, demand: Demand) -> None:
        """The member ``name`` of ``owner`` stands in an annotation: what the body binds to it."""
        if (owner, name) in self.wanted or not self._standing.is_new(
            ("named", owner, name), demand
        ):
            return
        module = owner.module
        for piece in map(module.summary.pieces.__getitem__, owner.info.members.get(name, ())):
            if piece.kind == "class":
                nested = self._growth.class_of(module, piece)
                self._growth.keep(module, piece, demand, item=f"{owner.id}.{name}")
                self.note_named(nested, demand)
            else:
                self.want_member(owner, name, demand)

    def want_read_by_type(self, class_: Class, item: str) -> None:
        """Members that the making of the class itself reads, or its decorator demands."""
        module = class_.module
        piece = module.summary.pieces[class_.info.piece]
        demand = Demand.of(item, module, ReferenceKind.READ, "class-body", start_of(piece))
        members = class_.info.members
        if not CHECKING_BASES.isdisjoint(self._engine.external_bases(class_)):
            for index in class_.info.pieces:
                member = module.summary.pieces[index]
                if member.kind == "assign" or is_decorated(module, member):
                    self.keep_as_value(module, member, demand)
        for name in _READ_BY_TYPE:
            if name in members and all(
                module.summary.pieces[p].kind == "assign" for p in members[name]
            ):
                self.want_member(class_, name, demand)
        if any(
            dotted.startswith("functools.total_ordering")
            for dotted in external_names(self._engine, class_)
        ):
            for name in ORDERING:  # the decorator demands one of them
                if name in members:
                    self.want_member(class_, name, demand)

    def want_ordering(self, class_: Class, demand: Demand) -> None:
        """``functools.total_ordering`` derives what is missing from what is there."""
        for k in self._engine.mro(class_):
            if k.info.decorators:
                for name in (*ORDERING, "__eq__"):
                    if name in k.info.members:
                        self.want_member(k, name, demand)

    def want_missing(self, class_: Class, demand: Demand) -> None:
        """A subclass of ``dict`` is asked for a key: what it has for those that are missing."""
        found = self._engine.find_member(class_, "__missing__")
        if found is not None:
            self.want_member(found, "__missing__", demand)

    # --- demands that stand

    def want_on_instance(self, class_: Class, name: str, demand: Demand) -> None:
        """``name`` on an instance of ``class_``, which is live, or of a live subclass.

        What is asked of any object (``if engine:``) shows nothing of one whose class has no answer
        of its own.
        """
        if not self._is_plain(class_, name):
            self.make_live(class_, demand, made=False)
        if self._engine.is_protocol(class_):
            self._want_of_alike(class_, name, demand)
        self.want_override(class_, name, demand)
        if not name.startswith("__") and self._stands(("on", class_, name), class_, name, demand):
            self._growth.stand(self._of_instances.setdefault(class_, {}), name, demand)
            for live in tuple(self._live.below(class_)):
                self._want_where_missing(live, name, self._of_live(live, demand))

    def _is_plain(self, class_: Class, name: str) -> bool:
        """Whether ``object`` answers for an instance: no method, written or generated, does."""
        if name in self._live.answered_by(class_):
            return False
        generated = name in _SHOWN and is_record(self._engine, class_, self._overrides)
        return name in _OF_ANY or (name in _SHOWN and not generated)

    def _want_of_alike(self, protocol: Class, name: str, demand: Demand) -> None:
        """``name`` on what is like a protocol (PEP 544): on classes that have a method of it.

        Where it has none, anyone may be like it: who has data is not always seen. Nothing but the
        name speaks for that; of arguments that code passes, or of who extends it, more is known.
        """
        if name.startswith("__"):
            demand = demand.guessed("protocol-of-names")
        pieces = protocol.module.summary.pieces
        methods = [
            each
            for each, (first, *_) in protocol.info.members.items()
            if not each.startswith("_") and pieces[first].kind == "def"
        ]
        if name in protocol.info.members or not methods:
            self.want_anywhere(name, demand)
        else:
            self.want_where(methods[0], name, demand)

    def _want_where_missing(self, live: Class, name: str, demand: Demand) -> None:
        """``__getattr__`` of an instance that may not have ``name`` (data model, 3.3.2)."""
        if self._engine.lacks(live, name):
            self.ask_by_name(live, name, demand)

    def want_override(
        self, class_: Class, name: str, demand: Demand, *, of_class: bool = False
    ) -> None:
        """``name`` on ``class_`` or a subclass of it, as far as they are live.

        ``of_class``: not of an instance.
        """
        if self._stands(
            ("below", class_, name, of_class), class_, name, demand, itself=not of_class
        ):
            self._growth.stand(self._of_subclasses.setdefault(class_, {}), name, demand)
            derived = name in _DERIVED
            for live in tuple(self._live.below(class_)):
                if derived or name in self._live.answered_by(live):
                    self.want_found(live, name, self._of_live(live, demand))
            if self._engine.is_metaclass(class_):
                for live in self._live:
                    if class_ in self._made_by(live):
                        self._answer_made(live, {name: demand})

    def want_notified(
        self, class_: Class, name: str, how: f.Access, demand: Demand, *, below: bool
    ) -> None:
        """``name`` is stored on an instance, or deleted: who is told (data model, 3.3.2).

        What a class binds to anything else is only hidden by that. With the name ``ALL``
        nobody knows which one is stored; with ``start*end``, how that starts and ends.
        """
        self._want_if_notified(class_, name, how, demand)
        if below and self._stands(("stored", class_, name, how), class_, name, demand):
            self._growth.stand(self._stored.setdefault(class_, {}), (name, how), demand)
            for live in tuple(self._live.below(class_)):
                self._want_if_notified(live, name, how, self._of_live(live, demand))

    def want_notified_anywhere(self, name: str, how: f.Access, demand: Demand) -> None:
        """``name`` is stored or deleted on a receiver nobody knows: any live class may be it."""
        if self._stands(("stored", None, name, how), None, name, demand):
            self._growth.stand(self._stored.setdefault(None, {}), (name, how), demand)
            for live in self._live:
                self._want_if_notified(live, name, how, self._of_live(live, demand))
            for class_ in tuple(self._named):
                self._recognise_stored(class_, name, demand)

    def _want_if_notified(self, live: Class, name: str, how: f.Access, demand: Demand) -> None:
        dunder, intercepting = _TOLD[how]
        interceptor = self._engine.find_member(live, intercepting)
        if interceptor is not None:
            self.want_member(interceptor, intercepting, demand)
        names: Iterable[str] = (name,)
        if f.ALL in name:
            start, _, end = name.partition(f.ALL)
            members = {each for k in self._engine.mro(live) for each in k.info.members}
            names = sorted(n for n in members if n.startswith(start) and n.endswith(end))
        for each in names:
            owner = self._engine.find_member(live, each)
            notified = None if owner is None else self._engine.notified(owner, each, dunder)
            if owner is not None and notified is not None:
                self.want_member(owner, each, demand)
                for holder in notified:
                    self.want_member(holder, dunder, demand)
            elif owner is not None and self._hides_told(live, owner, each, dunder):
                self.want_member(owner, each, demand)

    def _hides_told(self, live: Class, owner: Class, name: str, dunder: str) -> bool:
        """Whether a plain member of ``owner`` stands before a descriptor: without it that is told."""
        order = self._engine.mro(live)
        above = order[order.index(owner) + 1 :] if owner in order else ()
        return any(
            name in k.info.members and self._engine.notified(k, name, dunder) is not None
            for k in above
        )

    def want_descriptor(self, owner: Class, name: str, demand: Demand) -> None:
        """What is read on who knows what, a descriptor gives (data model, 3.3.2)."""
        if name.startswith("__"):
            return  # implicit: looked up on the type, and called
        key = owner, name
        if key in self._plain:
            return
        members = self._engine.member_values(owner, name)
        if self._is_plain_member(owner, name):
            self._plain.add(key)
            return
        for member in members:
            kind = self._engine.values[member]
            getter = self._engine.find_member(kind[1], "__get__") if kind[0] == "I" else None
            if getter is not None:
                self.want_member(getter, "__get__", demand)

    def _is_plain_member(self, owner: Class, name: str) -> bool:
        """Whether it is what undecorated statements define, whatever is evaluated."""
        engine, module = self._engine, owner.module
        places = owner.info.members.get(name, ())
        return bool(places) and all(
            engine.direct_definition(module, module.summary.pieces[place]) is not None
            for place in places
        )

    def want_in_line(self, class_: Class, name: str, demand: Demand) -> None:
        """``name`` of every class that a live subclass of ``class_`` is made of: ``__mro__``."""
        if self._stands(("line", class_, name), class_, name, demand):
            self._growth.stand(self._in_line.setdefault(class_, {}), name, demand)
            for live in tuple(self._live.below(class_)):
                self._want_each(self._engine.mro(live), name, self._of_live(live, demand))

    def want_all(self, class_: Class, how: f.Listing, demand: Demand, *, below: bool) -> None:
        """All that is in the namespace of ``class_``, and (``below``) of its live subclasses."""
        self._keep_all(class_, how, demand)
        if below and self._stands(("all", class_, how), class_, f.ALL, demand):
            self._growth.stand(self._all, (class_, how), demand)
            for live in tuple(self._live.below(class_)):
                self._keep_all(live, how, self._of_live(live, demand))
            for live in self._live if self._engine.is_metaclass(class_) else ():
                if class_ in self._made_by(live):
                    self._keep_all(live, how, self._of_live(live, demand))

    def want_after(self, class_: Class, name: str, demand: Demand) -> None:
        """``super().name`` in ``class_``: what comes next depends on the live subclass."""
        if self._stands(("after", class_, name), class_, name, demand):
            self._growth.stand(self._after, (class_, name), demand)
            for live in tuple(self._live.below(class_)):
                self._want_next(live, class_, name, self._of_live(live, demand))

    def want_of_waiting(self, name: str, demand: Demand) -> None:
        """``name``, which says nothing, on a receiver nobody knows.

        Of live classes whose bases outside have it, and wait for somebody to use an instance: this
        may be one, and without its own it would answer as the base does.
        """
        if self._stands(("waiting", None, name), None, name, demand):
            self._growth.stand(self._of_waiting, name, demand)
            for live in self._live:
                if self._asks_by_use(live):
                    self._want_inherited(live, name, self._of_live(live, demand))

    def _want_inherited(self, live: Class, name: str, demand: Demand) -> None:
        """``name``, if a base outside of ``live`` has it, too."""
        if name in self._overrides.declared(self._engine.external_bases(live)):
            self.want_found(live, name, demand)

    def want_anywhere(self, name: str, demand: Demand) -> None:
        """``name`` on a receiver nobody knows: any live class may be it."""
        if self._stands(("anywhere", None, name), None, name, demand):
            self._growth.stand(self._anywhere, name, demand)
            answering = self._live.answering(name, "__getattr__")
            for live in self._live if name in _DERIVED else answering:
                self.want_found(live, name, self._of_live(live, demand), fallback=True)
            for class_ in tuple(self._named):
                self._recognise(class_, name, demand)

    def want_of_caught(self, caught: str, how: Caught, name: Any, demand: Demand) -> None:
        """``name`` on an exception that is caught as one from outside: a live subclass has it.

        It is read, stored or deleted; or names that fit are read, and it is how they start and end.
        """
        key = caught, how, name
        if how == "matching" or f.ALL in name:
            is_new = self._standing.is_new(("caught", *key), demand)
        else:
            is_new = self._stands(("caught", *key), None, name, demand)
        if is_new:
            self._growth.stand(self._of_caught, key, demand)
            for live in self._live:
                self._want_if_caught(live, caught, how, name, self._of_live(live, demand))

    def _want_if_caught(
        self, live: Class, caught: str, how: Caught, name: Any, demand: Demand
    ) -> None:
        outside = self._engine.external_bases(live)
        meant = (caught, *_PROMOTED.get(caught, ()))
        told = how != "extended" or all(map(self._engine.outside.is_told_of, outside))
        if told and self._line_outside(outside).isdisjoint(meant):
            return
        if how == "matching":
            prefix, suffix = name
            self._want_fitting(live, prefix, suffix, demand)
        elif how == "read" or how == "extended":  # noqa: PLR1714 (mypy tells literals apart by ==)
            self.want_found(live, name, demand, fallback=True)
        else:
            self._want_if_notified(live, name, how, demand)

    def _line_outside(self, bases: tuple[str, ...]) -> frozenset[str]:
        """The dotted names of ``bases`` outside that stubs tell of, and of all that these extend."""
        known = self._lines_outside.get(bases)
        if known is None:
            stubs = self._growth.program.stubs
            classes = filter(None, map(stubs.class_named, bases))
            known = frozenset(each.dotted for base in classes for each in stubs.mro(base))
            self._lines_outside[bases] = known
        return known

    def note_named(self, class_: Class, named: Demand) -> None:
        """An annotation names ``class_``: what nobody knows may well be an instance of it.

        Who checks types as calls are made asks its metaclass what is one (data model, 3.3.4).
        """
        if class_ not in self._named:
            self._named[class_] = None
            checked = named.guessed("checked-type")
            made = self._engine.find_member(class_, "__class_getitem__")
            if made is not None:  # `x: Box[int]` (PEP 560)
                self.want_member(made, "__class_getitem__", named)
            for hook in self._schema_hooks:  # of the field of a model
                found = self._engine.find_member(class_, hook)
                if found is not None:
                    self.want_member(found, hook, named)
            for metaclass in self._engine.metaclasses_of(class_):
                self.want_found(metaclass, "__instancecheck__", checked)
                for name in _ON_TYPES:
                    self.want_found(metaclass, name, named)
            for name, demand in tuple(self._anywhere.items()):
                self._recognise(class_, name, demand)
            for (name, _), demand in tuple(self._stored.get(None, {}).items()):
                self._recognise_stored(class_, name, demand)

    def _recognise(self, class_: Class, name: str, demand: Demand) -> None:
        """A receiver that nobody knows has ``name``: if ``class_`` has it, it may be one."""
        if class_ not in self._live and self._live.has(class_, name):
            self._growth.stand(self._may_be, (class_, name), demand)

    def recognise(self) -> bool:
        """Take receivers nobody knows for what annotations name, where nothing else is like them.

        Asked when all else is followed: a live class that has the name explains it. So it does
        where a class would have it by ``__getattr__`` alone, as it has any. Whether there is more.
        """
        while self._may_be:
            (class_, name), demand = next(iter(self._may_be.items()))
            del self._may_be[class_, name]
            if class_ not in self._live and not self._live.is_had(name):
                self.make_live(class_, demand, made=False)
                return True
        answering, self._answering_all = self._answering_all, {}
        unexplained = [
            (class_, name, demand)
            for (class_, name), demand in answering.items()
            if not self._live.is_had(name)
        ]
        for each in unexplained:
            self.ask_by_name(*each)
        return bool(unexplained)

    def _recognise_stored(self, class_: Class, name: str, demand: Demand) -> None:
        """One that has ``name`` stored is taken for one of ``class_`` if that is told of it."""
        owner = self._engine.find_member(class_, name)
        if owner is not None and self._engine.notified(owner, name, "__set__") is not None:
            self.make_live(class_, demand, made=False)

    def want_where(self, telling: str, name: str, demand: Demand) -> bool:
        """``name`` on a receiver of which only the attribute ``telling`` is known.

        Of each live class that has one of this name. Whether it is a new demand.
        """
        if not self._stands(("beside", telling, name), None, name, demand):
            return False
        self._growth.stand(self._beside.setdefault(telling, {}), name, demand)
        found = self._found.setdefault((name, self._growth.distance_by(demand)), set())
        for live in self._live.having(telling):
            if live not in found:
                if live.mro_cache is not None:
                    found.add(live)
                self.want_found(live, name, self._of_live(live, demand))
        return True

    def want_matching(self, class_: Class, prefix: str, suffix: str, demand: Demand) -> None:
        """Members of ``class_`` and of its live subclasses whose name fits."""
        if (prefix or suffix) and self._stands(
            ("matching", class_, prefix, suffix), class_, f.ALL, demand
        ):
            self._growth.stand(self._matching, (class_, prefix, suffix), demand)
            self._want_fitting(class_, prefix, suffix, demand)
            for live in tuple(self._live.below(class_)):
                self._want_fitting(live, prefix, suffix, self._of_live(live, demand))

    def want_matching_anywhere(self, prefix: str, suffix: str, demand: Demand) -> None:
        """Members of any live class whose name fits: of more than are told apart."""
        if (prefix or suffix) and self._standing.is_new(("matching", None, prefix, suffix), demand):
            self._growth.stand(self._matching, (None, prefix, suffix), demand)
            for live in self._live:
                self._want_fitting(live, prefix, suffix, self._of_live(live, demand))

    # --- what a demand means for one live class

    def want_found(self, live: Class, name: str, demand: Demand, *, fallback: bool = False) -> None:
        """``live.name``; where it is missing, ``__getattr__`` as a ``fallback``."""
        found = self._engine.find_member(live, name)
        if found is None:
            self.ask_base(live, name, demand)
        if found is not None:
            for owner in (found, *self._engine.instead_of(live, found, name)):
                self.want_member(owner, name, demand)
                self.want_descriptor(owner, name, demand)
            if fallback and self._engine.falls_back(live, found, name):
                self.ask_by_name(live, name, demand)
        elif name in ORDERING:
            self.want_ordering(live, demand)
        elif name == "__getitem__":
            self.want_missing(live, demand)
        elif fallback and not name.startswith("__"):
            self._growth.stand(self._answering_all, (live, name), demand)
        if name == "__hash__" and self._engine.hashes_no_more(live):
            self.want_found(live, "__eq__", demand)

    def _want_each(self, order: Sequence[Class], name: str, demand: Demand) -> None:
        """``name`` of each class of ``order`` that binds it."""
        for k in order:
            if name in k.info.members:
                self.want_member(k, name, demand)

    def _keep_all(self, class_: Class, how: f.Listing, demand: Demand) -> None:
        if how == "subclasses":
            self.keep_subclasses(class_, demand)
            return
        for k in self._engine.mro(class_) if how in ("dir", "hints", "line") else (class_,):
            if how in ("vars", "dir", "line"):
                self._growth.keep_members(k, demand)
                for name in tuple(k.info.members):  # who asks for names, asks for what has them
                    self.want_member(k, name, demand)
                    self.want_descriptor(k, name, demand)
                continue
            self.listed.add(k)
            if k not in self._annotated:
                self._annotated[k] = tuple(annotated_of(k))
            for piece in self._annotated[k]:
                self._growth.keep(k.module, piece, demand)

    def _want_next(self, live: Class, class_: Class, name: str, demand: Demand) -> None:
        """The ``name`` that comes after ``class_`` in the order of ``live``."""
        order = self._engine.mro(live)
        if class_ in order:
            for k in order[order.index(class_) + 1 :]:
                if self._engine.binds(k, name):
                    for owner in (k, *self._engine.instead_of(live, k, name, class_)):
                        self.want_member(owner, name, demand)
                    return

    def _want_fitting(self, live: Class, prefix: str, suffix: str, demand: Demand) -> None:
        for k in self._engine.mro(live):
            for name in tuple(k.info.members):
                fits = name.startswith(prefix) and name.endswith(suffix)
                if fits and (not name.startswith("__") or prefix.startswith("__")):
                    self.want_member(k, name, demand)

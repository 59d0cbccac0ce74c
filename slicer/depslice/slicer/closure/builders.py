"""What builds a variable: every statement that gives the object it stands for its content.

A variable is not only its assignment. ``X.append(…)``, ``X[k] = …``, registration by a
decorator or by a call of a function that writes it, patches of a class from outside: all
are needed, wherever in the modules that importing the targets runs they stand.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.parts import FILLING, reads
from depslice.callgraph.engine.values import Class, Function, Values
from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Piece
from depslice.slicer.closure.added import AddedMembers
from depslice.slicer.closure.aliases import Aliased, Link
from depslice.slicer.closure.arguments import STORING, Arguments
from depslice.slicer.closure.by_methods import ByMethods
from depslice.slicer.closure.by_special import BySpecial
from depslice.slicer.closure.by_value import ByValue
from depslice.slicer.closure.changing import Changing
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.growth import Asked, Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.registering import (
    changes_in_place,
    counts,
    decorators_of,
    filled_class_variables,
    fills_alone,
    given_by,
    handed_on,
    registers,
    same_objects,
    sets_up,
)
from depslice.slicer.closure.runners import Runners, last_part
from depslice.slicer.closure.spelling import Spelling
from depslice.slicer.closure.using_up import UsingUp, bound_to
from depslice.slicer.pieces import (
    NAMED,
    binds_constant,
    changes_attribute,
    enclosing_pieces,
    fills_attribute,
    ops_of,
    start_of,
    stores_on_type,
)

_FILTERED: Final = frozenset({"expr", "assign", "def", "class"})
_NAMESPACES: Final = frozenset({"globals", "locals", "vars"})
_CACHING: Final = frozenset({"functools.cache", "functools.lru_cache"})
_METACLASS: Final = "builtins.type"
_TOLD: Final = "__set_name__"
_GIVEN: Final = "getattr()"
_STARTED: Final = frozenset({"threading.Thread", "threading.Timer"})
"""What runs functions when it is told to, in this process."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Changed:
    """An import of ``module``, in order of ``place``, whose bound name code of it may change.

    ``mutations`` are the pieces that do, ``writers`` the functions.
    """

    place: int
    module: Module
    piece: Piece
    bound: str
    mutations: tuple[int, ...]
    writers: tuple[int, ...]


class Builders:
    """Finds the statements that build variables and class attributes."""

    def __init__(self, growth: Growth, classes: Classes) -> None:
        self._growth = growth
        self._classes = classes
        self._program = growth.program
        self._engine = growth.engine
        self._arguments = arguments = Arguments(growth.engine)
        self._changing = Changing(growth.engine, arguments)
        self._by_methods = ByMethods(growth.engine, arguments)
        self._by_value = ByValue(growth.engine)
        self._by_special = BySpecial(growth.engine, arguments)
        self._using_up = UsingUp(growth.engine, arguments)
        self._runners = Runners(growth, arguments)
        self._built = Asked(growth)
        # Statements `C.member = …`, which count when that member is wanted.
        self.added = AddedMembers(growth, self._keep)
        self._patches: dict[tuple[Class, str], list[tuple[Module, Piece]]] = {}
        # Module -> variable -> functions that return it, or (False) what its `__new__` gives.
        self._giving: dict[str, dict[str, list[tuple[Function, bool]]]] = {}
        self._alike: dict[str, dict[str, set[str]]] = {}  # module -> name -> names of the same
        self._using: dict[str, list[Piece]] = {}  # by module
        self._methods: dict[str, dict[int, list[tuple[s.Unit, s.Unit]]]] = {}  # module -> class
        self._followed = Asked(growth)  # by aliases
        self._absent = Asked(growth)  # attributes that nobody is seen to give
        self._stored = Asked(growth)  # names that a module has by an import
        self._members: dict[str, dict[str, list[tuple[Class, str]]]] = {}  # by module
        self._told: list[tuple[Function, set[str]]] | None = None  # `__set_name__`, what it fills
        self._filling: dict[Class, dict[str, list[Piece]]] = {}  # by variables of the class body
        self._changed: dict[str, list[_Changed]] | None = None  # by a name in the import
        # What the facts of a class statement say that it extends.
        self._bases: dict[Function, tuple[list[f.Fact], set[Class]]] = {}
        self._spelling: Spelling | None = None  # of all modules that run
        self._by_metaclasses: set[Class] = set()
        self._bound: list[tuple[Module, str]] = []  # by statements that put it into something

    def build_variable(self, module: Module, name: str) -> None:
        """Keep every statement that changes the object ``name`` stands for."""
        item = f"{module.name}:{name}"
        own = Demand.of(item, module, ReferenceKind.WRITE, "builds")
        if item not in self._growth.closure.distances or not self._built.is_new(item, own):
            return
        values = self._engine.name_values(module, name, None)
        alike = self._same_objects(module).get(name, set()) | self._beside(module, name, values)
        for each in (name, *sorted(alike)):
            self._build_here(module, each, item)
            self._build_by_functions(module, each, item)
            self._build_elsewhere(module, each, item)
            self._build_by_aliases(module, each, item)
        self._build_through_results(module, item, name, values)
        self._build_by_readings(module, name, item)
        self._build_by_value(module, values, item)
        self._build_by_methods(module, values, name)
        self._build_by_special(module, name, values, item)
        self._build_by_use(module, name, values, item)
        self._build_by_closures(module, name, values, item)
        self._build_by_defaults(name, values, item)

    def _beside(self, module: Module, name: str, values: Values) -> set[str]:
        """The names of functions that keep something where ``name`` finds it.

        ``add, listing = make()``: around both, which it defines, or on an object whose methods
        they are.
        """
        engine = self._engine
        shared = {self._shared_by(value) for value in values} - {None}
        found: set[str] = set()
        for index in module.summary.scope.get(name, ()) if shared else ():
            for other in module.summary.pieces[index].binds:
                for value in engine.name_values(module, other, None):
                    if self._shared_by(value) in shared and self._changing.stores_when_called(
                        value
                    ):
                        found.add(other)
        return found - {name}

    def _shared_by(self, value: int) -> Class | Function | None:
        """What a closure, or a method of an instance, shares with others that are made with it."""
        kind = self._engine.values[value]
        if kind[0] == "F" and kind[1].unit.parent >= 0:
            return self._engine.function(kind[1].module, kind[1].unit.parent)
        receiver = self._engine.values[kind[2]] if kind[0] == "B" else None
        return receiver[1] if receiver is not None and receiver[0] == "I" else None

    def build_bound(self) -> bool:
        """Keep what builds what kept statements have put into something; whether there was any.

        ``@cli.group() def db(): …`` puts ``db`` into ``cli``: what has ``cli`` may get at it.
        """
        bound, self._bound = self._bound, []
        for module, name in bound:
            self.build_variable(module, name)
        return bool(bound)

    def build_class(self, class_: Class) -> None:
        """Keep what builds a class that is used, though nobody in the slice may name it.

        A nested one is changed by the name of what stands around it (`Outer.Inner.x = …`), of
        which nothing else is asked.
        """
        self._build_by_metaclasses(class_)
        module, info = class_.module, class_.info
        outermost = module.summary.pieces[info.piece] if info.piece >= 0 else None
        nested = outermost is not None and outermost.owner >= 0
        while outermost is not None and outermost.owner >= 0:
            around = self._engine.class_(module, outermost.owner).info.piece
            outermost = module.summary.pieces[around] if around >= 0 else None
        for name in outermost.binds if outermost is not None else ():
            if not nested:
                self.build_variable(module, name)
                continue
            for index in module.summary.mutations.get(name, ()):
                piece = module.summary.pieces[index]
                last = last_part(info.qualname)
                if any(op[0] == s.ATTR and op[3] == last for op in ops_of(module, piece)) and (
                    self._counts(module, piece, name)
                ):
                    self._keep(module, piece, class_.id)

    def _build_by_metaclasses(self, class_: Class) -> None:
        """Classes below, which a metaclass enters in what it has given ``class_``.

        ``cls.plugins = []`` for the first, ``cls.plugins.append(cls)`` for those that inherit it.
        """
        if class_ in self._by_metaclasses:
            return
        self._by_metaclasses.add(class_)
        for metaclass in self._engine.metaclasses_of(class_):
            units = [unit for unit, _ in self._methods_of(metaclass)]
            stored = {op[2] for unit in units for op in unit.ops if op[0] == s.SETATTR}
            for name in sorted(stored):
                if self._engine.find_member(class_, name) is None and any(
                    fills_attribute(unit.ops, name) and _asks_for(unit, name) for unit in units
                ):
                    self.added.when_asked(class_, name, partial(self._keep_below, class_))

    def _units_of_metaclasses(self, class_: Class) -> Iterator[s.Unit]:
        """What stands in the methods of the metaclasses of ``class_``."""
        for metaclass in self._engine.metaclasses_of(class_):
            yield from (unit for unit, _ in self._methods_of(metaclass))

    def _keep_below(self, class_: Class) -> None:
        """Keep the statements of all classes below ``class_``."""
        for module in self._growth.running():
            for piece in module.summary.pieces:
                if piece.kind == "class" and piece.unit >= 0 and self._growth.runs(module, piece):
                    below = self._growth.class_of(module, piece)
                    if below is not class_ and class_ in self._engine.mro(below):
                        self._keep(module, piece, class_.id)

    def _build_by_functions(self, module: Module, name: str, item: str) -> None:
        """What module-level code runs of the functions of ``module`` that change ``name``."""
        summary = module.summary
        writers = [
            unit
            for unit in _functions(summary.global_writers.get(name, ()), module)
            if self._changing.changes(module, unit, name)
        ]
        mentioning = set(self._runners.mentioning(module, {name})).difference(writers)
        writers += self._changing.fillers(module, name, sorted(mentioning))
        if writers:
            self._build_through(module, writers, item, frozenset((name,)))

    def _build_by_elements(self, module: Module, holder: str, name: str, item: str) -> None:
        """What module-level code runs of the functions that change what ``holder`` holds."""
        writers = self._changing.fillers_of_elements(
            module, holder, name, self._runners.mentioning(module, {holder})
        )
        if writers:
            self._build_through(module, writers, item, frozenset((holder,)))

    def build_member(self, owner: Class, name: str) -> None:
        """Keep what changes a class attribute: patches, registration in a class registry."""
        for module, piece in self._patches.get((owner, name), ()):
            self._keep(module, piece, owner.id)
        self.fill_member(owner, name)
        pieces = [owner.module.summary.pieces[p] for p in owner.info.members.get(name, ())]
        if any(piece.kind == "def" for piece in pieces):
            item = f"{owner.id}.{name}"
            self._build_by_defaults(name, self._engine.member_values(owner, name), item)
        if not any(piece.kind == "assign" for piece in pieces):
            return
        self._build_through_class(owner, name, f"{owner.id}.{name}")
        constant = all(binds_constant(owner.module, piece, name) for piece in pieces)
        if constant and not self._may_be_stored(name):
            return
        values = self._engine.member_values(owner, name)
        self._build_by_told(owner, name)
        self._build_by_passed_names(owner, name)
        self._build_by_value(owner.module, values, f"{owner.id}.{name}", name)
        self._build_through_results(owner.module, f"{owner.id}.{name}", f".{name}", values)
        self._build_by_use(owner.module, name, values, f"{owner.id}.{name}", member=True)

    def _build_through_class(self, owner: Class, name: str, item: str) -> None:
        """Module-level code that runs a method or hook of the class which changes ``cls.name``.

        Of instances too, where they have no attribute of that name of their own.
        """
        shared = name not in owner.info.self_stores
        writers = []
        for unit, method in self._methods_of(owner):
            if method.flags & (s.CLASSMETHOD | s.STATIC):
                changes = changes_attribute(unit.ops, name, but_on=_made_in(unit))
            else:
                changes = stores_on_type(unit.ops, name) or (
                    shared and fills_attribute(unit.ops, name)
                )
            if changes:
                writers.append(unit.index)
        if writers:
            self._build_through(owner.module, writers, item, frozenset((name,)))
        units = owner.module.summary.units
        called = (last_part(units[unit].qualname) for unit in writers)
        methods = {each for each in called if not each.startswith("__")}  # those are its own
        if any(
            fills_attribute(each.ops, name)
            or any(op[0] == s.ATTR and op[3] in methods for op in each.ops)
            for each in self._units_of_metaclasses(owner)
        ):
            self._keep_below(owner)  # `cls.steps.append(cls)`, `cls.register()` when each is made

    def _build_by_passed_names(self, owner: Class, name: str) -> None:
        """Functions that fill an attribute of ``owner`` by a name which they are passed.

        ``getattr(hooks, name).append(function)``.
        """
        last = last_part(owner.info.qualname)
        statement = self._engine.function(owner.module, owner.info.unit)
        for module in self._runners.which_may_name((statement,)):
            units = module.summary.units
            writers = [
                unit
                for unit in self._runners.mentioning(module, {last})
                if _fills_by_name(units[unit], last)
            ]
            if writers:
                self._build_through(module, writers, f"{owner.id}.{name}", frozenset((name,)))

    def _build_by_told(self, owner: Class, name: str) -> None:
        """Classes below, of which descriptors enter themselves in what ``owner`` has as ``name``.

        ``def __set_name__(self, owner, name): owner.table[name] = self``.
        """
        telling = dict.fromkeys(each for each, names in self._filling_told() if name in names)
        for module in self._runners.which_may_name(telling) if telling else ():
            for piece in module.summary.pieces:
                if piece.kind != "class" or piece.unit < 0 or not self._growth.runs(module, piece):
                    continue
                class_ = self._growth.class_of(module, piece)
                if (
                    class_ is not owner
                    and owner in self._engine.mro(class_)
                    and self._engine.find_member(class_, name) is owner
                    and self._runners.calls_one_of(
                        self._engine.function(module, piece.unit), telling
                    )
                ):
                    item = f"{owner.id}.{name}"
                    self._keep(module, piece, item)
                    self._keep_told(module, piece, telling, item)

    def _filling_told(self) -> list[tuple[Function, set[str]]]:
        """The ``__set_name__`` of modules that run, and what of the class they may fill."""
        if self._told is None:
            self._told = []
            for module in self._growth.running():
                for info in module.summary.classes:
                    for index in info.members.get(_TOLD, ()):
                        for op in ops_of(module, module.summary.pieces[index]):
                            if op[0] == s.FUNCTION:
                                unit = module.summary.units[op[2]]
                                read = {each[3] for each in unit.ops if each[0] == s.ATTR}
                                filled = {name for name in read if fills_attribute(unit.ops, name)}
                                function = self._engine.function(module, op[2])
                                self._told.append((function, filled))
        return self._told

    def _may_be_stored(self, name: str) -> bool:
        """Whether code that runs may store a class attribute of that name."""
        for module in self._growth.running():
            for index in module.summary.attribute_writers.get(name, ()):
                unit = module.summary.units[index]
                instances = _made_in(unit) | self._instances_in(module, unit)
                if changes_attribute(unit.ops, name, but_on=instances):
                    return True
        return False

    def _instances_in(self, module: Module, unit: s.Unit) -> set[int]:
        """The register with ``self``, where that is no class."""
        if unit.owner < 0 or unit.flags & (s.CLASSMETHOD | s.STATIC):
            return set()
        bases = self._engine.external_bases(self._engine.class_(module, unit.owner))
        return set() if _METACLASS in bases else {0}

    def _methods_of(self, owner: Class) -> Sequence[tuple[s.Unit, s.Unit]]:
        """The functions that stand in the class body, and the method that each is in."""
        by_class = self._methods.get(owner.module.name)
        if by_class is None:
            by_class = self._methods[owner.module.name] = {}
            units = owner.module.summary.units
            for unit in units:
                if unit.kind == "function":
                    method = _method_around(units, unit)
                    by_class.setdefault(method.owner, []).append((unit, method))
        return by_class.get(owner.info.index, ())

    def fill_member(self, owner: Class, name: str) -> None:
        """Keep what the class body puts into its variable ``name`` after it is bound."""
        filling = self._filling.get(owner)
        if filling is None:
            filling = self._filling[owner] = {}
            for index in owner.info.pieces:
                piece = owner.module.summary.pieces[index]
                if piece.unit >= 0:
                    unit = owner.module.summary.units[piece.unit]
                    filled = filled_class_variables(unit)
                    filled |= self._changing.filled_by_calls(owner.module, piece)
                    for decorator in decorators_of(unit):
                        filled |= _named_in_defaults(owner, decorator)
                    for each in sorted(filled.difference(piece.binds)):
                        filling.setdefault(each, []).append(piece)
        for piece in filling.get(name, ()):
            self._keep(owner.module, piece, owner.id)

    def keep_subclasses(self, class_: Class, demand: Demand) -> None:
        """Keep what ``class_.__subclasses__()`` gives: the class statements that run."""
        for module in self._runners.which_may_name(
            (self._engine.function(class_.module, class_.info.unit),)
        ):
            for piece in module.summary.pieces:
                if piece.kind == "class" and piece.unit >= 0 and self._growth.runs(module, piece):
                    statement = self._engine.function(module, piece.unit)
                    if class_ in self._extended_by(statement):
                        self._classes.keep_as_value(module, piece, demand)
                        self._growth.effects.setdefault(module.name)

    def _extended_by(self, statement: Function) -> set[Class]:
        """The classes that a class statement names as its bases."""
        known = self._bases.get(statement)
        if known is None or known[0] is not statement.flat or self._engine.queue:
            facts = self._engine.facts_of(statement)
            if known is None or known[0] is not facts:
                bases = {fact[1] for fact in facts if fact[0] == f.INHERIT}
                known = self._bases[statement] = facts, bases
        return known[1]

    def keep_callers(self, module: Module, unit: int, demand: Demand) -> None:
        """Keep the module-level statements that run a function, for what it changes."""
        self._build_through(module, (unit,), demand.source, frozenset())

    def build_rebound(self, module: Module, name: str, demand: Demand) -> None:
        """Keep what makes an imported name another object: what runs a ``global`` function."""
        writers = [
            unit
            for unit in _functions(module.summary.global_writers[name], module)
            if any(op[0] == s.SETGLOBAL and op[1] == name for op in module.summary.units[unit].ops)
        ]
        if writers:
            self._build_through(module, writers, demand.source, frozenset((name,)))

    def build_missing(self, module: Module, name: str, demand: Demand) -> None:
        """Keep what gives ``module`` a name that it does not bind: ``lib.name = 1`` elsewhere."""
        self._build_elsewhere(module, name, demand.source)
        self._build_by_readings(module, name, demand.source)

    def build_stored(self, module: Module, name: str, demand: Demand) -> None:
        """Keep what puts something else where ``module`` has a name by an import: ``lib.name = 1``."""
        if not self._stored.is_new((module.name, name), demand):
            return
        for each in sorted(
            self._changed_imports().get(last_part(module.name), ()), key=lambda each: each.place
        ):
            other = each.module
            if other is module or self._imported_as(each, module, name) != "module":
                continue
            for index in each.mutations:
                piece = other.summary.pieces[index]
                if self._growth.runs(other, piece) and self._rebinds(
                    each, piece.unit, module, name
                ):
                    self._keep(other, piece, demand.source)
            writers = [unit for unit in each.writers if self._rebinds(each, unit, module, name)]
            if writers:
                names = frozenset((name, each.bound))
                self._build_through(other, writers, demand.source, names)

    def _rebinds(self, changed: _Changed, unit: int, module: Module, name: str) -> bool:
        """Whether a unit stores ``module.name``, where ``changed`` imports the module."""
        how = self._said_of(changed, unit, module, name)
        return how is not None and f.WRITE in how

    def _said_of(self, changed: _Changed, unit: int, module: Module, name: str) -> set[int] | None:
        """The kinds of facts of a unit about ``module.name``; ``None``: it cannot spell that."""
        other = changed.module
        if unit < 0 or not _may_spell(other.summary.units[unit], changed.bound, module.name, name):
            return None
        facts = self._engine.facts_of(self._engine.function(other, unit))
        return {
            fact[0]
            for fact in facts
            if fact[0] in (f.WRITE, f.NAME) and fact[1] == module.name and fact[2] == name
        }

    def build_absent(self, class_id: str, name: str, demand: Demand) -> None:
        """Keep what gives a class or its instances an attribute that nobody is seen to.

        ``related = TABLE[key]; related.name = value``: which class it is, values do not tell.
        """
        if not name or not self._absent.is_new((class_id, name), demand):
            return
        for module in self._growth.running():
            for index in module.summary.attribute_writers.get(name, ()):
                function = self._engine.function(module, index)
                if not self._may_store_on(function, class_id, name):
                    continue
                piece = module.summary.pieces[function.unit.piece]
                if function.unit.kind == "function":
                    self._build_through(module, (index,), demand.source, frozenset((name,)))
                elif self._growth.runs(module, piece):
                    self._keep(module, piece, demand.source)

    def _may_store_on(self, function: Function, class_id: str, name: str) -> bool:
        """Whether code stores an attribute on that class or one of its instances, or may."""
        engine = self._engine
        engine.facts_of(function)
        for op in function.unit.ops:
            if op[0] != s.SETATTR or op[2] != name or (op[1] == 0 and function.unit.owner >= 0):
                continue
            kinds = [engine.values[value] for value in function.registers[op[1]]]
            if not kinds or any(
                kind[0] not in ("C", "F", "I", "M")
                or (kind[0] in ("C", "I") and class_id in (each.id for each in engine.mro(kind[1])))
                for kind in kinds
            ):
                return True
        return False

    def keep_statement(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Keep a statement for what it changes, if it runs; its module has to."""
        if self._growth.runs(module, piece):
            self._classes.keep_as_value(module, piece, demand)
            self._growth.effects.setdefault(module.name)

    def _keep(self, module: Module, piece: Piece, item: str, *, enters: bool = True) -> None:
        """Keep a statement that builds ``item``; its module has to run.

        ``enters``: what it binds may be in there from then on.
        """
        demand = Demand.of(item, module, ReferenceKind.WRITE, "builds", start_of(piece))
        demand = demand.supposing(self._growth.guesses_to_run(module))
        own = piece.kind in ("expr", "assign", "other") and not piece.binds
        self._classes.keep_as_value(module, piece, demand, item=item if own else "")
        self._growth.effects.setdefault(module.name)
        if enters and piece.owner < 0 and piece.kind in ("assign", "def"):
            self._bound += [(module, name) for name in piece.binds]
        if piece.kind in ("loop", "with"):  # what leaves it tells how often it runs, how it ends
            for jump in module.summary.pieces:
                if jump.kind == "jump" and piece in enclosing_pieces(module, jump):
                    self._growth.keep(module, jump, demand, item=item)

    def _counts(self, module: Module, piece: Piece, name: str, *, handle: bool = False) -> bool:
        """Whether a statement that may change the object of ``name`` does.

        ``handle``: what is called by that name changes it, be it a function.
        """
        called = False if handle else None
        return self._growth.runs(module, piece) and (
            piece.kind not in _FILTERED
            or self._changing.changes(module, piece.unit, name, called=called)
        )

    # --- in the module of the variable

    def _build_here(self, module: Module, name: str, item: str) -> None:
        summary = module.summary
        for index in summary.mutations.get(name, ()):
            piece = summary.pieces[index]
            if piece.kind == "class" and piece.index in summary.scope.get(name, ()):
                continue
            if not self._counts(module, piece, name):
                continue
            if not self._waits_for_member(module, name, piece, item):
                self._keep(module, piece, item)

    def _waits_for_member(self, module: Module, name: str, piece: Piece, item: str) -> bool:
        """Whether a statement changes one member of a class, and nobody asks for that so far."""
        patched = self._patched_member(module, name, piece)
        if patched is None:
            return self.added.waits(module, name, piece, item)
        self._patches.setdefault(patched, []).append((module, piece))
        return patched not in self._classes.wanted

    def _patched_member(self, module: Module, name: str, piece: Piece) -> tuple[Class, str] | None:
        """The class member that ``C.member = …`` replaces, if that is all the piece does."""
        if piece.kind != "assign":
            return None
        stored = [op[2] for op in ops_of(module, piece) if op[0] == s.SETATTR]
        if len(stored) != 1:
            return None
        for value in self._engine.name_values(module, name, None):
            kind = self._engine.values[value]
            if kind[0] == "C":
                owner = self._engine.find_member(kind[1], stored[0])
                if owner is not None:
                    return owner, stored[0]
        return None

    # --- through functions that write it

    def _build_through(
        self,
        module: Module,
        writers: Sequence[int],
        item: str,
        names: frozenset[str],
        *,
        in_turn: bool = False,
        defaults: Sequence[int] = (),
    ) -> None:
        """Module-level calls and decorators that run a function which writes the variable.

        ``names``: of the variable; none of state outside. Of functions that register or set up,
        those count that call them too; of those that count, who gets the number; of others those
        that do for nothing but the effect. ``in_turn``: what the writers give depends on how often
        they have run. ``defaults``: the parameters of a writer that have it as a default.
        """
        functions = self._runners.with_enclosing(module, writers)
        units = module.summary.units
        registering = [
            unit
            for unit in writers
            if registers(units[unit], names, defaults) or (names and sets_up(units[unit]))
        ]
        callers = functions | self._runners.with_callers(
            self._runners.with_enclosing(module, registering)
        )
        counting = [unit for unit in writers if in_turn or counts(units[unit], names, defaults)]
        counted = self._runners.with_those_that_get(self._runners.with_enclosing(module, counting))
        if names:
            # Not methods: half a program names one of that name, and all of it would be evaluated.
            filling = {
                each: None for each in functions if each.unit.owner < 0 and fills_alone(each.unit)
            }
            filling |= self._runners.calling_later(filling)
            callers |= self._runners.with_those_that_call_for_effect(filling)
        script = callers  # which runs last: who counts there counts for nobody
        callers = callers | counted
        returned = self._runners.returned(callers)
        either = callers | returned
        for other in self._runners.which_may_name(either):
            for piece, function in self._runners.statements_calling(other, either):
                running = script if piece.script else callers
                if self._growth.runs(other, piece) and (
                    self._runners.runs_one_of(function, running, decorating=piece.kind == "def")
                    or self._runners.hands_on(piece, function, returned.keys())
                ):
                    self._keep(other, piece, item, enters=bool(names))
                    if piece.kind == "class":
                        self._keep_told(other, piece, callers, item)
                    if any(
                        fact[0] == f.EXTERNAL and fact[1] in _STARTED for fact in function.facts
                    ):
                        for name in piece.binds:  # `worker = Thread(target=fill)`
                            self.build_variable(other, name)

    def _keep_told(
        self, module: Module, piece: Piece, functions: dict[Function, None], item: str
    ) -> None:
        """Keep what a class binds to instances that one of ``functions`` is told of: descriptors.

        ``__set_name__`` is one of them (3.3.3.6), be it that their class inherits it.
        """
        telling = {
            self._engine.class_(each.module, each.unit.owner)
            for each in functions
            if _is_told(each)
        }
        class_ = self._growth.class_of(module, piece)
        for index in class_.info.pieces if telling else ():
            child = module.summary.pieces[index]
            if child.kind in ("assign", "def") and child.unit >= 0:
                made = self._instances_bound(class_, child)
                if any(self._engine.find_member(each, _TOLD) in telling for each in made):
                    self._keep(module, child, item)

    def _instances_bound(self, class_: Class, piece: Piece) -> set[Class]:
        """Of what classes are the instances that a statement of a class body makes, or binds."""
        engine = self._engine
        facts = engine.facts_of(engine.function(class_.module, piece.unit))
        kinds = [
            engine.values[value]
            for name in piece.binds
            for value in engine.class_piece_values(class_, name, piece.index)
        ]
        bound = {kind[1] for kind in kinds if kind[0] == "I"}
        return bound | {fact[1] for fact in facts if fact[0] == f.INSTANCE}

    def _build_through_results(self, module: Module, item: str, name: str, values: Values) -> None:
        """What changes what a function gives it of the variable: statements, and functions they run.

        ``signal("saved").connect(f)``, ``@get_registry().add``, ``handlers_of("x") += [f]``. The
        ``values`` of the variable tell whether ``__new__`` of it gives something that is new.
        """
        by_name = self._giving.get(module.name)
        if by_name is None:
            by_name = self._giving[module.name] = {}
            for unit in module.summary.units:
                for given, is_more in given_by(unit).items() if unit.kind == "function" else ():
                    function = self._engine.function(module, unit.index)
                    by_name.setdefault(given, []).append((function, is_more))
        found = [*by_name.get(name, ()), *self._cached(module, name)]
        making = not all(is_more for _, is_more in found) and self._make_new(values)
        functions = self._runners.with_those_that_pass_on(
            dict.fromkeys(function for function, is_more in found if is_more or not making)
        )
        names = {each for function in functions for each in self._runners.names_of(function)}
        kinds = [self._engine.values[value] for value in values]
        are_functions = bool(kinds) and all(
            kind[0] == "F" and not self._arguments.keeps_something(kind[1]) for kind in kinds
        )
        for other in self._runners.which_may_name(functions) if functions else ():
            writers = [
                unit
                for unit in self._runners.naming(other, functions)
                if self._fills_a_result(function := self._engine.function(other, unit), functions)
                or self._changes_a_result(function, functions)
            ]
            if writers:
                self._build_through(other, writers, item, frozenset(names))
            for piece in self._using_results(other):
                if self._growth.runs(other, piece):
                    function = self._engine.function(other, piece.unit)
                    if self._runners.takes_from(function, functions) and not (
                        are_functions and self._only_calls_a_result(function, functions)
                    ):
                        self._keep(other, piece, item)
            roots = self._bound_results(other, names, functions)
            if roots:
                aliased = self._changing.aliases_of_roots(other, module, name, roots)
                self._keep_aliased(other, name, item, aliased)

    def _fills_a_result(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether code puts something into what one of ``functions`` gives: ``table()[key] = f``."""
        if not _fills_a_result(function.unit) or not self._runners.takes_from(function, functions):
            return False
        places = self._runners.calls_of(function, functions)
        if not places and not self._runners.gets_of(function, functions):
            return True  # by something that it passes one to
        return _fills_a_result(function.unit, places)

    def _changes_a_result(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether code calls a method that changes what one of ``functions`` gives: ``bus().on(f)``."""
        if not _calls_methods_of_results(function.unit):
            return False
        places = self._runners.calls_of(function, functions)
        results: set[s.Register] = set()
        methods: dict[s.Register, str] = {}
        for op in function.unit.ops if places else ():
            if op[0] == s.ATTR and op[2] in results:
                methods[op[1]] = op[3]
            elif op[0] == s.CALL and op[2] in methods:
                if self._arguments.changes_receiver(function, op, methods[op[2]]):
                    return True
            elif op[0] == s.CALL and op[-1] in places:
                results.add(op[1])
        return False

    def _only_calls_a_result(self, function: Function, functions: dict[Function, None]) -> bool:
        """Whether code only calls what one of ``functions`` gives: a function stays what it is."""
        ops = function.unit.ops
        calls = [op for op in ops if op[0] in (s.CALL, s.DECORATE)]
        places = self._runners.calls_of(function, functions)
        results = {op[1] for op in calls if op[-1] in places}
        given_by_them = {op[1] for op in calls if op[2] in results}
        results -= given_by_them  # what it is called for is something else
        return all(
            op[0] in (s.CALL, s.DECORATE) and op[2] in results and reads(op).count(op[2]) == 1
            for op in ops
            if not results.isdisjoint(reads(op))
        )

    def _bound_results(
        self, module: Module, names: set[str], functions: dict[Function, None]
    ) -> dict[int, dict[int, Link]]:
        """By statements of ``module`` that bind what one of ``functions`` gives: where it is."""
        roots: dict[int, dict[int, Link]] = {}
        units = module.summary.units
        for piece in module.summary.pieces:
            if piece.kind != "assign" or piece.owner >= 0 or piece.unit < 0:
                continue
            ops = units[piece.unit].ops
            if names.isdisjoint(op[NAMED[op[0]]] for op in ops if op[0] in NAMED):
                continue
            function = self._engine.function(module, piece.unit)
            places = self._runners.calls_of(function, functions)
            for op in ops:
                if op[0] == s.CALL and op[-1] in places:
                    roots.setdefault(piece.index, {})[op[1]] = Link.PART
        return roots

    def _cached(self, module: Module, name: str) -> Iterator[tuple[Function, bool]]:
        """The function of that name, if an object that it makes is kept (``functools.cache``)."""
        for index in module.summary.scope.get(name, ()):
            piece = module.summary.pieces[index]
            if piece.kind == "def" and piece.unit >= 0:
                facts = self._engine.facts_of(self._engine.function(module, piece.unit))
                if any(fact[0] == f.EXTERNAL and fact[1] in _CACHING for fact in facts):
                    for op in module.summary.units[piece.unit].ops:
                        if op[0] == s.FUNCTION:
                            function = self._engine.function(module, op[2])
                            self._engine.facts_of(function)
                            if any(
                                self._engine.values[value][0] in ("I", "K")
                                for value in function.ret.values
                            ):
                                yield function, True

    def _make_new(self, values: Values) -> bool:
        """Whether these are classes, and each makes its instances by what ``object`` does."""
        engine = self._engine
        for kind in [engine.values[value] for value in values]:
            owner = engine.find_member(kind[1], "__new__") if kind[0] == "C" else None
            made = () if owner is None else engine.member_values(owner, "__new__")
            makers = [engine.values[value] for value in made]
            if not makers or not all(
                maker[0] == "F" and given_by(maker[1].unit).keys() == {"object"} for maker in makers
            ):
                return False
        return bool(values)

    def _using_results(self, module: Module) -> list[Piece]:
        """The statements of a module that may change what a call gives them."""
        found = self._using.get(module.name)
        if found is None:
            found = self._using[module.name] = []
            for piece in module.summary.pieces:
                if piece.unit >= 0 and piece.kind in _FILTERED:
                    used = _stores_in_a_result if piece.kind == "assign" else _uses_a_result
                    if used(module.summary.units[piece.unit]):
                        found.append(piece)
        return found

    # --- by who has it from elsewhere

    def _build_by_aliases(
        self, module: Module, name: str, item: str, link: Link = Link.SAME
    ) -> None:
        """What changes the object by other names of ``module``, or as a class attribute.

        ``link``: what ``name`` is of the object that ``item`` stands for.
        """
        own = Demand.of(item, module, ReferenceKind.WRITE, "builds")
        if not self._followed.is_new((item, module.name, name, link), own):
            return
        self._keep_aliased(module, name, item, self._changing.aliases_of(module, name, link))
        for owner, member in self._members_of(module).get(name, ()):
            self._build_through_class(owner, member, item)

    def _build_by_readings(self, module: Module, name: str, item: str) -> None:
        """What changes the object in other modules, where names do not tell that it has it."""
        found = self._changing.readings(self._spelling_of_all(), module, name)
        for other, aliased, writers in found:
            self._keep_aliased(other, name, item, aliased)
            if writers:
                self._build_through(other, writers, item, frozenset((name,)))

    def _spelling_of_all(self) -> Spelling:
        if self._spelling is None:
            self._spelling = Spelling(self._program, list(self._growth.running()))
        return self._spelling

    def _keep_aliased(self, module: Module, name: str, item: str, aliased: Aliased) -> None:
        """Keep what changes ``item`` by other names of ``module`` than ``name``."""
        mutations = module.summary.mutations.get(name, ())
        for piece in aliased.pieces.values():
            waits = piece.index in mutations and self._waits_for_member(module, name, piece, item)
            if not waits and self._growth.runs(module, piece):
                self._keep(module, piece, item)
        for index, member in aliased.members:
            owner = self._engine.class_(module, index)
            self._build_through_class(owner, member, item)
        for other, of_other in aliased.names.items():
            self._build_elsewhere(module, other, item, of_other)
            if of_other & Link.SAME:
                self._build_by_functions(module, other, item)
            elif of_other & Link.HOLDS:
                self._build_by_elements(module, other, name, item)
            if of_other & Link.CALLED:
                calling = [
                    unit
                    for unit in self._runners.mentioning(module, {other})
                    if self._changing.changes(module, unit, other, called=False)
                ]
                self._build_through(module, calling, item, frozenset((name,)))

    def _build_by_value(
        self, holder: Module, values: Values, item: str, attribute: str = ""
    ) -> None:
        """What changes a container of ``holder`` that no name stands for there, or that attribute."""
        running = dict.fromkeys((*self._growth.running(), holder))
        for module, unit in self._by_value.changing(running, values, attribute):
            piece = module.summary.pieces[unit.piece]
            if unit.kind != "piece":
                self._build_through(module, (unit.index,), item, frozenset((attribute,)))
            elif self._growth.runs(module, piece):
                self._keep(module, piece, item)

    def _build_by_methods(self, holder: Module, values: Values, name: str) -> None:
        """What changes the class of that name by its class methods, whatever these are called."""
        for kind in map(self._engine.values.__getitem__, sorted(values)):
            if kind[0] != "C" or kind[1].module is not holder or kind[1].info.qualname != name:
                continue
            class_ = kind[1]
            if self._by_methods.methods_that_change(class_):
                statement = self._engine.function(holder, class_.info.unit)
                modules = self._runners.which_may_name((statement,))
                for module, piece in self._by_methods.changing(modules, class_):
                    if self._growth.runs(module, piece):
                        self._keep(module, piece, class_.id)

    def _build_by_special(self, holder: Module, name: str, values: Values, item: str) -> None:
        """What changes the instance of that name by special methods and properties of it."""
        methods = self._by_special.methods_that_change(values)
        for module in dict.fromkeys((holder, *self._growth.running())) if methods else ():
            if module is holder or self._may_have(module, holder, name):
                for piece in self._by_special.pieces(module, holder, name, methods):
                    if self._growth.runs(module, piece):
                        self._keep(module, piece, item)

    def _may_have(self, module: Module, holder: Module, name: str) -> bool:
        """Whether another module may import a variable, or the module that has it."""
        return not self._runners.imported(module).isdisjoint({name, "*", last_part(holder.name)})

    def _build_by_use(
        self, holder: Module, name: str, values: Values, item: str, *, member: bool = False
    ) -> None:
        """What uses up the iterator of that name, so that others have what it leaves.

        ``member``: it is an attribute of a class; instances may be anywhere.
        """
        iterators = self._using_up.iterators(values)
        counters = self._counters(holder, name, values, member=member) - iterators
        used = iterators | counters
        for module in dict.fromkeys((holder, *self._growth.running())) if used else ():
            if not (member or module is holder or self._may_have(module, holder, name)):
                continue
            using = [*self._using_up.units(module, holder, name, iterators, member=member)]
            using += self._using_up.calling(module, holder, name, counters, member=member)
            for unit in using:
                piece = module.summary.pieces[unit.piece]
                if unit.kind != "piece":
                    names = frozenset((name,))
                    self._build_through(module, (unit.index,), item, names, in_turn=True)
                elif self._growth.runs(module, piece):
                    self._keep(module, piece, item)
                    if piece.kind == "loop":  # its body tells how far it goes
                        demand = Demand.of(item, module, ReferenceKind.WRITE, "builds")
                        self._growth.keep_all(module, piece, demand)

    def _counters(self, holder: Module, name: str, values: Values, *, member: bool) -> Values:
        """Those of ``values`` that give something else after each call: ``number = counter()``.

        Not what a decorator made of a function under its own name, a cache as a rule.
        """
        pieces = [holder.summary.pieces[index] for index in holder.summary.scope.get(name, ())]
        if not (member or any(piece.kind == "assign" for piece in pieces)):
            return frozenset()
        return frozenset(filter(self._changing.stores_when_called, values))

    def _members_of(self, module: Module) -> dict[str, list[tuple[Class, str]]]:
        """By the variables of a module, the class attributes that are bound to them: ``X = X``."""
        found = self._members.get(module.name)
        if found is None:
            found = self._members[module.name] = {}
            for piece in module.summary.pieces:
                if piece.kind == "assign" and piece.owner >= 0 and piece.unit >= 0:
                    ops = ops_of(module, piece)
                    named = {op[1]: op[2] for op in ops if op[0] == s.GLOBAL}
                    for op in ops:
                        if op[0] == s.BIND and op[2] in named:
                            owner = self._engine.class_(module, piece.owner)
                            found.setdefault(named[op[2]], []).append((owner, op[1]))
        return found

    def _same_objects(self, module: Module) -> dict[str, set[str]]:
        found = self._alike.get(module.name)
        if found is None:
            found = self._alike[module.name] = same_objects(module.summary)
        return found

    def _build_by_closures(self, module: Module, name: str, values: Values, item: str) -> None:
        """What runs a function that shares variables of the one around it with what ``name`` has.

        ``fns = make(); fns["add"](f)``, ``on = pair[0]``: what one of them keeps there, the others
        find.
        """
        engine = self._engine
        having: dict[tuple[Module, int], set[str]] = {}
        own: set[Function] = set()
        for value in values:
            kind = engine.values[value]
            held = engine.elements_cell(value).values if kind[0] == "K" else {value}
            for each in held:
                tag, function, *_ = engine.values[each]
                if tag == "F" and function.unit.parent >= 0:
                    place = function.module, function.unit.parent
                    having.setdefault(place, set()).update(_free_names(function))
                    if each == value:
                        own.add(function)  # what calls that is found by its name
        for (holder, around), free in having.items():
            writers = [
                unit.index
                for unit in holder.summary.units
                if unit.parent == around
                and not free.isdisjoint(_free_names(closure := engine.function(holder, unit.index)))
                and closure not in own
                and self._arguments.keeps_around(closure)
            ]
            if writers:
                self._build_through(holder, writers, item, frozenset((name, *free)))
                self._build_by_callers(module, name, item, holder, writers)

    def _build_by_callers(
        self, module: Module, name: str, item: str, holder: Module, writers: Iterable[int]
    ) -> None:
        """What runs a function that calls one of ``writers``, which it has by that variable."""
        called = {self._engine.function(holder, unit): None for unit in writers}
        for other in dict.fromkeys((module, *self._growth.running())):
            if other is module or self._may_have(other, module, name):
                names = (
                    {name} if other is module else {*bound_to(other, name), last_part(module.name)}
                )
                calling = [
                    unit
                    for unit in self._runners.mentioning(other, set(names))
                    if self._runners.calls_one_of(self._engine.function(other, unit), called)
                ]
                if calling:
                    self._build_through(other, calling, item, frozenset((name,)))

    def _build_by_defaults(self, name: str, values: Values, item: str) -> None:
        """What calls a function that keeps something in the default of a parameter."""
        for kind in [self._engine.values[value] for value in sorted(values)]:
            defaults = self._arguments.keeping_defaults(kind[1]) if kind[0] == "F" else ()
            if defaults:
                module, unit = kind[1].module, kind[1].unit.index
                self._build_through(module, (unit,), item, frozenset((name,)), defaults=defaults)

    # --- in other modules

    def _build_elsewhere(
        self, module: Module, name: str, item: str, link: Link = Link.SAME
    ) -> None:
        """Code of other modules that changes the object (``from reg import X; X[k] = …``).

        Statements, and functions that module-level code runs.
        """
        by_name = self._changed_imports()
        found = {*by_name.get(name, ()), *by_name.get(last_part(module.name), ())}
        for each in sorted(found, key=lambda changed: changed.place):
            other = each.module
            imported = self._imported_as(each, module, name) if other is not module else None
            if imported is None:
                continue
            if imported == "name" and link is not Link.SAME:
                self._build_by_aliases(other, each.bound, item, link)
                continue
            for mutation in each.mutations:
                piece = other.summary.pieces[mutation]
                if piece.kind == "class" or not self._counts(
                    other, piece, each.bound, handle=bool(link & Link.CALLED)
                ):
                    continue
                if imported == "name":
                    if not self._waits_for_member(other, each.bound, piece, item):
                        self._keep(other, piece, item)
                elif self._writes_attribute(each, piece.unit, module, name):
                    self._keep(other, piece, item)
            writers = [
                unit
                for unit in each.writers
                if self._changing.changes(other, unit, each.bound)
                and (imported == "name" or self._writes_attribute(each, unit, module, name))
            ]
            if imported == "name":
                writers += self._changing.fillers(other, each.bound, ())
                self._build_by_aliases(other, each.bound, item)
            if writers:
                self._build_through(other, writers, item, frozenset((name, each.bound)))

    def _changed_imports(self) -> dict[str, list[_Changed]]:
        """What modules import and change, by the name of what is imported."""
        if self._changed is None:
            self._changed = {}
            place = 0
            for module in self._growth.running():
                summary = module.summary
                handed = dict.fromkeys(handed_on(summary))
                for bound in {**summary.mutations, **summary.global_writers, **handed}:
                    importing = summary.scope.get(bound, ())
                    if not importing and summary.stars:
                        given = self._program.star_sources(module, bound)
                        importing = tuple(sorted(index for _, index in given))
                    for index in importing:
                        piece = summary.pieces[index]
                        if not piece.imports:
                            continue
                        found = _Changed(
                            place=place,
                            module=module,
                            piece=piece,
                            bound=bound,
                            mutations=summary.mutations.get(bound, ()),
                            writers=_functions(summary.global_writers.get(bound, ()), module),
                        )
                        place += 1
                        for alias, _, target, item in piece.imports:
                            if alias == "*":
                                self._changed.setdefault(bound, []).append(found)
                            elif alias == bound:
                                last = last_part(target) if item is None else item
                                self._changed.setdefault(last, []).append(found)
        return self._changed

    def _imported_as(
        self, changed: _Changed, module: Module, name: str
    ) -> Literal["name", "module"] | None:
        """Whether that import binds ``module.name``, or ``module``; ``None``: neither."""
        other = changed.module
        for alias, level, target, item in changed.piece.imports:
            if alias == "*" and changed.bound == name:
                source = self._program.star_of(other, changed.piece.index, name)
                if source is not None and self._gives(source.name, name, module):
                    return "name"
            if alias != changed.bound:
                continue
            absolute = self._program.import_target(other, level, target)
            if item == name and self._gives(absolute, name, module):
                return "name"
            if module.name == (absolute if item is None else f"{absolute}.{item}"):
                return "module"
        return None

    def _gives(self, absolute: str, name: str, module: Module) -> bool:
        """Whether ``absolute.name`` is ``module.name``, or a re-export of it."""
        seen: set[str] = set()
        while absolute not in seen and absolute != module.name:
            seen.add(absolute)
            source = self._program.module(absolute)
            if source is None:
                return False
            for index in source.summary.scope.get(name, ()):
                for alias, level, target, item in source.summary.pieces[index].imports:
                    if alias == name and item == name:
                        absolute = self._program.import_target(source, level, target)
            star = self._program.star_source(source, name) if absolute in seen else None
            if star is not None and star[0] is not None:
                absolute = star[0].name
        return absolute == module.name

    def _writes_attribute(self, changed: _Changed, unit: int, module: Module, name: str) -> bool:
        """Whether a unit changes ``module.name``, where ``changed`` imports the module."""
        how = self._said_of(changed, unit, module, name)
        if how is None:
            return False
        other = changed.module
        return (
            f.WRITE in how
            or (f.NAME in how and not self._only_calls(other.summary.units[unit], module, name))
            or self._deletes(self._engine.function(other, unit), module, name)
        )

    def _deletes(self, function: Function, module: Module, name: str) -> bool:
        """Whether code takes a name away from a module: ``del lib.name``."""
        return any(
            op[0] == s.DELETE_ATTR
            and op[2] == name
            and any(
                self._engine.values[value][:2] == ("M", module.name)
                for value in function.registers[op[1]]
            )
            for op in function.unit.ops
        )

    def _only_calls(self, unit: s.Unit, module: Module, name: str) -> bool:
        """Whether ``name`` is a function, and all that ``unit`` does with it is to call it.

        One that has attributes keeps there what it is called with.
        """
        if module.summary.mutations.get(name):
            return False
        values = self._engine.name_values(module, name, None)
        if not values or any(self._engine.values[value][0] != "F" for value in values):
            return False
        held = {op[1] for op in unit.ops if op[0] == s.ATTR and op[3] == name}
        return bool(held) and all(
            op[0] in (s.CALL, s.DECORATE) and op[2] in held and held.isdisjoint(reads(op)[1:])
            for op in unit.ops
            if not held.isdisjoint(reads(op))
        )


def _asks_for(unit: s.Unit, name: str) -> bool:
    """Whether code asks if something has the attribute, inherited ones included (``hasattr``)."""
    named = {op[1]: op[2] for op in unit.ops if op[0] == s.GLOBAL}
    texts = {op[1] for op in unit.ops if op[0] == s.STRING and op[2] == name}
    return (
        any(
            op[0] == s.CALL
            and named.get(op[2]) in ("getattr", "hasattr")
            and not texts.isdisjoint(op[3][1:2])
            for op in unit.ops
        )
        or "AttributeError" in named.values()
    )


def _named_in_defaults(owner: Class, function: str) -> set[str]:
    """The variables of the class body that the statement of its ``function`` reads."""
    summary = owner.module.summary
    makers = (summary.pieces[index] for index in owner.info.members.get(function, ()))
    units = [summary.units[maker.unit] for maker in makers if maker.kind == "def"]
    return {op[3] for unit in units for op in unit.ops if op[0] == s.CLASSVAR}


def _fills_by_name(unit: s.Unit, name: str) -> bool:
    """Whether code fills what ``getattr`` gives it of ``name``."""
    held: dict[s.Register, str] = {}
    methods: set[s.Register] = set()
    for op in unit.ops:
        code = op[0]
        if code == s.GLOBAL:
            held[op[1]] = op[2]
        elif code == s.CALL and held.get(op[2]) == "getattr" and op[3]:
            if held.get(op[3][0]) == name:
                held[op[1]] = _GIVEN
        elif code == s.BY_NAME and held.get(op[2]) == _GIVEN:
            held[op[1]] = _GIVEN
        elif code == s.ATTR and held.get(op[2]) == _GIVEN and op[3] in FILLING:
            methods.add(op[1])
        elif (code == s.CALL and op[2] in methods) or (
            code == s.SETSUB and held.get(op[1]) == _GIVEN
        ):
            return True
    return False


def _free_names(function: Function) -> set[str]:
    """The variables of the function around it that a function has, or those that it defines."""
    parent = function.unit.parent
    units = function.module.summary.units
    within = {function.unit.index}
    found: set[str] = set()
    for unit in units[function.unit.index :]:
        if unit.parent in within or unit.index in within:
            within.add(unit.index)
            for op in unit.ops:
                if op[0] == s.FREE and op[2] == parent:
                    found.add(op[3])
                elif op[0] == s.SETFREE and op[1] == parent:
                    found.add(op[2])
    return found


def _functions(units: Iterable[int], module: Module) -> tuple[int, ...]:
    """Those of ``units`` that run when someone calls them."""
    return tuple(unit for unit in units if module.summary.units[unit].kind != "piece")


def _method_around(units: Sequence[s.Unit], unit: s.Unit) -> s.Unit:
    """The outermost function that a unit stands in."""
    while unit.parent >= 0 and units[unit.parent].kind == "function":
        unit = units[unit.parent]
    return unit


def _is_told(function: Function) -> bool:
    return function.unit.owner >= 0 and function.unit.qualname.endswith(f".{_TOLD}")


def _made_in(unit: s.Unit) -> set[int]:
    """The registers of a class method with what is new there, and so is not the class.

    The class that ``__init_subclass__`` is told of; what ``cls(…)`` and ``__new__`` give.
    """
    made = {0} if unit.qualname.rpartition(".")[2] == "__init_subclass__" else set()
    making = {0} if unit.parent < 0 else set()
    for op in unit.ops:
        if op[0] == s.ATTR and op[3] == "__new__":
            making.add(op[1])
        elif op[0] == s.CALL and op[2] in making:
            made.add(op[1])
    return made


def _may_spell(unit: s.Unit, bound: str, module: str, name: str) -> bool:
    """Whether code may change ``module.name``, having the module, or a package of it, as ``bound``.

    It spells the name, or does something else with the module than to read attributes of it.
    """
    within = module.split(".")
    held: set[int] = set()
    for op in unit.ops:
        code = op[0]
        if code == s.GLOBAL:
            if op[2] == bound:
                held.add(op[1])
            elif op[2] in _NAMESPACES:
                return True
        elif code == s.ATTR and op[2] in held:
            if op[3] == name or op[3].startswith("__"):
                return True
            if op[3] in within:
                held.add(op[1])
        elif code in (s.SETATTR, s.DELETE_ATTR) and op[1] in held:
            if op[2] == name or (code == s.SETATTR and op[3] in held):
                return True
        elif code == s.IMPORT or not held.isdisjoint(reads(op)):
            return True
    return False


def _uses_a_result(unit: s.Unit) -> bool:
    """Whether a statement does more with the result of a call than to let it go."""
    results = {op[1] for op in unit.ops if op[0] == s.CALL}
    return any(not results.isdisjoint(reads(op)) for op in unit.ops)


def _stores_in_a_result(unit: s.Unit, places: Container[int] | None = None) -> bool:
    """Whether a statement puts something into the result of a call: ``table_of("x")[key] = f``.

    Of one at these ``places``, if there are any.
    """
    results: set[int] = set()
    for op in unit.ops:
        if _is_call_at(op, places) or (op[0] in (s.ATTR, s.SUB) and op[2] in results):
            results.add(op[1])
        elif (op[0] in STORING and op[1] in results) or (changes_in_place(op) and op[2] in results):
            return True
    return False


def _calls_methods_of_results(unit: s.Unit) -> bool:
    """Whether code calls a method of what a call gives: ``bus().on(f)``."""
    results: set[s.Register] = set()
    methods: set[s.Register] = set()
    for op in unit.ops:
        if op[0] == s.CALL:
            if op[2] in methods:
                return True
            results.add(op[1])
        elif op[0] == s.ATTR and op[2] in results:
            methods.add(op[1])
    return False


def _fills_a_result(unit: s.Unit, places: Container[int] | None = None) -> bool:
    """Whether a function puts something into the result of a call: ``table()[key] = f`` too."""
    results: set[int] = {op[1] for op in unit.ops if _is_call_at(op, places)}
    return _stores_in_a_result(unit, places) or any(
        op[0] == s.ATTR and op[2] in results and op[3] in FILLING for op in unit.ops
    )


def _is_call_at(op: s.Op, places: Container[int] | None) -> bool:
    return op[0] == s.CALL and (places is None or op[-1] in places)

"""State that all parts of the engine share, and their common small operations."""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from sys import getrefcount
from typing import TYPE_CHECKING, Any, Final, TypeVar

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.arguments import Call
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.literals import Literals
from depslice.callgraph.engine.parts import RETURNS
from depslice.callgraph.engine.values import (
    DERIVED,
    EMPTY,
    NO_CELLS,
    NOBODY,
    OBJECTS,
    OBJECTS_OR_OPEN,
    OPEN,
    SLICES,
    TRACED,
    WORK_BITS,
    Cell,
    Class,
    Function,
    Lookup,
    Passing,
    Signature,
    Value,
    Values,
    is_name,
)
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import ClassInfo, Piece, TypeExpr, Unit

if TYPE_CHECKING:
    from depslice.callgraph.engine.metaclasses import Put
    from depslice.callgraph.engine.outside import Outside

_WIDEST: Final = 10
WIDEST_OPEN: Final = 24
"""So many values of one place are told apart for slices."""
MOST_NAMES: Final = 200
"""The same where they are texts, which name attributes: settings have many."""
MOST_DERIVED: Final = 64
"""So many values that come of open ones a register of a slice tells apart, beside the unknown."""
MOST_NAMESAKES: Final = 8
_CROWDING: Final = frozenset({"B", "C", "F", "I"})
"""Kinds of values that are objects of the repo, or give some."""
_MADE_OF_OPEN: Final = DERIVED - {"AM", "AN"}
_MOST_FUNCTIONS: Final = 40
_MOST_TABLES: Final = 4  # those that are left over elsewhere: of more, so many functions are told
_MOST_TOLD: Final = 3000  # so many functions beyond those tables: the dispatch of thirty classes
_MOST_TOLD_AT_ALL: Final = 20_000  # in all such places: three times what thirty dialects need
_MOST_COUNTS: Final = 1 << 14
_MOST_KNOWN: Final = 40
_LONGEST_PATH: Final = 7
HOOKS: Final = frozenset({"__delattr__", "__getattr__", "__getattribute__", "__setattr__"})
"""What runs when an attribute is used (3.3.2)."""
CONSTRUCTORS: Final = frozenset(
    {"__attrs_post_init__", "__init__", "__new__", "__post_init__", "__setstate__"}
)
"""Methods that give an object its first attributes."""
_MANY_READERS: Final = 32
_SOME_READERS: Final = 4
_INDEX: Final = (1 << WORK_BITS) - 1
_MOST_SETS: Final = 200_000  # before those that nobody holds any more are looked for


_Shared = TypeVar("_Shared")


def _forget_unheld(shared: dict[_Shared, _Shared], nobodys: list[_Shared]) -> None:
    """Remove what only the table itself refers to, as it alone does to what ``nobodys`` gives."""
    mark = nobodys.pop()
    shared[mark] = mark
    del mark
    counts = [getrefcount(each) for each in shared]
    unheld = counts[-1]
    for each in [one for one, count in zip(shared, counts, strict=True) if count <= unheld]:
        del shared[each]


def _some(values: AbstractSet[int], before: Values, most: int) -> frozenset[int]:
    """So many of ``values``: those of ``before`` all stay, and others as far as there is room."""
    held = frozenset(values & before)
    return held.union(sorted(values - held)[: max(0, most - len(held))])


class EngineState:
    """Cells, interned values, and the worklist."""

    outside: Outside
    """What stubs say about code outside the repo."""

    def __init__(self, program: Program, *, whole: bool) -> None:
        self.program = program
        self.whole = whole
        self.widest = _WIDEST if whole else WIDEST_OPEN
        self.room = _WIDEST if whole else sys.maxsize  # more values than these are `bounded`
        self.objects = OBJECTS if whole else OBJECTS_OR_OPEN
        self.values: list[Value] = []
        self._ids: dict[Value, int] = {}
        self.tables: set[int] = set()  # values that stand for what is left over of many functions
        self.functions: set[int] = set()  # those of the values that are functions or methods
        # Those of which a name chooses one, of which the start or the end stands in the code.
        self.chosen_by_name: set[int] = set()
        self._left_over: dict[object, int] = {}  # by where too many functions came together
        self._rests: dict[int, Cell] = {}  # what is left over there, by value
        self._room_for_told = _MOST_TOLD_AT_ALL  # for what tables stand for, where many meet
        self._singles: list[frozenset[int] | None] = []
        self._sets: dict[frozenset[int], frozenset[int]] = {EMPTY: EMPTY}
        self._room_for_sets = _MOST_SETS
        self.texts: set[int] = set()  # those of the values that are
        self.spelled: set[int] = set()  # those of the texts of which no part is open
        self.modules: set[int] = set()  # those that are modules of the repo
        self.classes: set[int] = set()  # those that are classes of the repo
        self.slices: set[int] = set()  # those that are slices: `1:`, or declared to be one
        self.namespaces: set[int] = set()  # those that are the `__dict__` of something
        # For a slice, which asks that of the same values again and again: those that are
        # followed from an argument to the parameter; the special method of an open value, and
        # what calling it with so many arguments gives.
        self._traced: dict[frozenset[int], frozenset[int]] = {}
        self._specials: dict[tuple[int, str, int], tuple[int, frozenset[int]]] = {}
        self._written: dict[frozenset[str], frozenset[str]] = {}  # by classes: many have the same
        self._storing: dict[Class, bool] = {}  # by computed names, in methods
        self._counts: dict[frozenset[int], tuple[int, int, int]] = {}  # of sets that are full
        self._without_room: set[tuple[frozenset[int], Values]] = set()  # what is known, and more
        self._told: dict[tuple[Fact, ...], tuple[Fact, ...]] = {}
        self.queue: deque[Function | Lookup] = deque()
        self.tasks: list[Function | Lookup | None] = [None]  # by serial number
        self.changed: list[Lookup] = []  # for a slice, which asks again: again for each change
        self.retold: list[Function] = []  # and those of which the facts that were read have changed
        self.current: Function | None = None
        self.reader = 0  # the work number that reads register under; 0 for none
        self.settled = True  # nothing that may still grow was read
        self.facts: list[Fact] = []
        self.called: set[Function] = set()
        self.opened: set[Function] = set()  # someone who is not known may call them
        self.starred = False  # arguments come from `*args` or `**kwargs`: not every call has them
        self.spared: set[Function] = set()  # called without any argument that has a default
        self._decorated_records: dict[Class, bool] = {}
        self.had_stored: dict[Class, set[str]] = {}  # by functions that instances are passed to
        # Open value -> the other bases of the classes that are made below it.
        self.made_beside: dict[int, dict[Class, None]] = {}
        self._stored_on_others: dict[Module, frozenset[str]] = {}
        self.either_base = False  # a class has been met of which a base is one of several
        self.putting: dict[Function, Put | None] = {}  # metaclasses in, as far as they are called
        self.dispatchers: dict[Function, str] = {}  # -> the dotted name of their decorator
        self.ordered: set[Class] = set()  # by functools.total_ordering
        self.based = 0  # how often a class has got bases, or something else that its line is of
        self.closed = False  # only what is called runs
        self._returning_self: dict[Function, bool] = {}
        self.stored: set[str] = set()  # attributes that are set on something, somewhere
        self.stored_later: set[str] = set()  # and by what is no constructor on `self`
        self.known_functions: list[Function] = []  # of the whole program
        self.calm: bool | None = None  # whether no code runs or stores where nobody sees it
        self.spoken: set[str] | None = None  # attributes whose names stand in texts
        self.displayed: dict[int, frozenset[str]] = {}  # by dict displays: their constant keys
        self._raisable: dict[Class, bool] = {}
        self.runs_texts = False  # some code runs a text, or has all names of a scope at once
        self.deleted: set[str] = set()  # attributes that are deleted from something, somewhere
        self.hooking: set[str] = set()  # the names in HOOKS under which some class has a method
        self.patched: dict[tuple[str, str], set[Function]] = {}  # variables, and who rebinds them
        self._attributes_read: dict[Function, dict[int, s.Op]] = {}  # by the register they are in
        self._private: dict[str, tuple[Class, str]] = {}
        self._running_at_first: dict[Class, set[str]] = {}  # methods, as an instance is made
        self._declarations: dict[tuple[Class, str], tuple[tuple[Function, TypeExpr], ...]] = {}
        self._getters: dict[tuple[str, int, str], Function] = {}
        self._direct: dict[Piece, Values | None] = {}  # what a `def` or `class` alone tells
        self._hooks: dict[Class, tuple[list[Function], list[Function]]] = {}
        self.methods: dict[str, list[Function]] = {}  # of all classes, by name
        self._entered: set[int] = set()  # the partials at work
        self.applied: dict[int, dict[int | str, None]] = {}  # places and names a partial gives
        self.keys_of: dict[int, dict[str, None]] = {}  # known keys of containers
        self.places: dict[int, dict[str, None]] = {}  # of sequences, by length; shared by them
        # Of tuples of the same constants in a function: the register of the first.
        self.alike: dict[tuple[Function, tuple[int, ...]], int] = {}
        self.held_as: dict[int, str] = {}  # what instances of a class hold, by its base outside
        self.names_of_tuples: dict[int, Sequence[str]] = {}  # made by `namedtuple`: their fields
        self.lengths: dict[int, int | None] = {}  # of sequences with known places; None: unknown
        self._functions: dict[str, list[Function | None]] = {}  # by module, as its units
        self._signatures: dict[tuple[object, ...], Signature] = {}
        self._classes: dict[tuple[str, int], Class] = {}
        self._class_serial = 0
        self._made_classes: dict[tuple[Function, int], Class] = {}  # by `type(name, bases, …)`
        self._cells: dict[tuple[object, ...], Cell] = {}
        # By the value of the container: all elements, those under each known key or at a known
        # place, those that may be anywhere, and the keys.
        self._elements: dict[int, Cell] = {}
        self._items: dict[tuple[int, str], Cell] = {}
        self._anywhere: dict[int, Cell] = {}
        self._keys: dict[int, Cell] = {}
        self._attributes: dict[str, dict[int, Lookup]] = {}
        self._names: dict[str, dict[object, Lookup]] = {}
        self._all_told: dict[tuple[str, Function | None, TypeExpr, bool], bool] = {}
        self._dispatches: dict[frozenset[int], bool] = {}
        self._questions: dict[tuple[Any, ...], Lookup] = {}
        self._passing: dict[frozenset[int], Passing] = {}
        # The types of texts and numbers that are passed: by parameter, or container and key.
        self.plain_passed: dict[tuple[Any, int | str | None], set[int]] = {}
        self.telling_plain = False
        self._literals: dict[Function, Literals] = {}
        self._stable: dict[tuple[str, str], Values | None] = {}
        self._running_others: dict[Module, bool] = {}  # whether it imports some of the program
        self._resolving: set[tuple[str, str]] = set()
        self.unknown = self.single(("U", "unknown"))
        self.unknown_id = self.intern(("U", "unknown"))
        self.crowd = self.single(("U", "crowd"))
        """What stands for those of too many objects that are not told apart, in a slice."""
        self.guess = self.single(("U", "guess"))  # stands beside what was guessed
        self.guess_id = self.intern(("U", "guess"))
        self.constants: dict[int, frozenset[int]] = {
            register: self.single(("XI", f"builtins.{name}"))
            for register, name in s.CONSTANT_TYPES.items()
        }
        self.constants[s.NONE] = EMPTY  # None has no attribute worth following
        self.constants[s.OPAQUE] = self.single(("XI", "builtins.object"))
        self.constants[s.UNBOUND] = EMPTY
        plain = (s.STR, s.BYTES, s.INT, s.FLOAT)
        self.scalars = frozenset().union(*map(self.constants.__getitem__, plain))
        self.tail = [self.constants.get(number, EMPTY) for number in range(-10, 0)]

    def sweep(self) -> None:
        """Let go of sets and facts that nobody holds: values grow step by step, and each step
        was shared once.

        Not while something is evaluated, which may hold what it has just asked for.
        """
        if len(self._sets) < self._room_for_sets:
            return
        remembered: tuple[dict[frozenset[int], Any] | set[Any], ...]
        remembered = self._passing, self._counts, self._dispatches, self._without_room
        for table in remembered:
            table.clear()
        for task in self.tasks:
            if type(task) is Function:
                task.given = task.given_by_name = None  # passing the same again changes nothing
                task.users = None  # most are not asked for again
        for asked in self._asked_at_all():
            if type(asked.readers) is array and len(asked.readers) >= _SOME_READERS:
                once = dict.fromkeys(asked.readers)
                if len(once) < len(asked.readers):
                    asked.readers = array("q", [*once])
        nobodys: list[tuple[Fact, ...]] = [((self._room_for_sets,),)]
        _forget_unheld(self._told, nobodys)
        _forget_unheld(self._sets, [frozenset((-1,))])
        self._room_for_sets = max(_MOST_SETS, len(self._sets) * 5 // 4)

    def _asked_at_all(self) -> Iterator[Cell | Lookup]:
        """What may have many readers: most of what operations read."""
        yield from self._cells.values()
        yield from self._elements.values()
        yield from self._items.values()
        yield from self._anywhere.values()
        yield from self._keys.values()
        yield from self._rests.values()
        for class_ in self._classes.values():
            yield class_.family
            yield from class_.attributes.values()
        for task in self.tasks:
            if isinstance(task, Lookup):
                yield task
            elif task is not None:
                yield task.ret

    def conclude(self) -> None:
        """Let go of what only evaluation needs: registers, values, elements and facts stay."""
        for task in self.tasks:
            if type(task) is Function:
                task.given = task.given_by_name = task.users = None
                task.params = task.defaults = NO_CELLS
            elif type(task) is Lookup:
                task.question, task.readers = (), NOBODY
        for elements in self._elements.values():
            elements.readers = NOBODY
        tables: tuple[list[Any] | dict[Any, Any], ...] = (
            *(self._singles, self._ids, self._sets, self.keys_of, self.lengths, self.held_as),
            *(self.names_of_tuples, self.places, self.alike),
            *(self._cells, self._items, self._anywhere, self._keys),
            *(self._questions, self._attributes, self._names),
            *(self._passing, self._literals, self._left_over, self._rests, self._counts),
            *(self._traced, self._specials),
        )
        for table in tables:
            table.clear()

    def release(self) -> None:
        """Let go of the rest of what was evaluated; nothing can be asked afterwards.

        What is left refers to itself, so that otherwise it would all wait for the cycle
        collector, which rests while a graph or a slice is made.
        """
        for task in self.tasks:
            if type(task) is Function:
                task.noted, task.registers, task.flat = {}, [], None
        for class_ in self._classes.values():
            class_.mro_cache = class_.descendants = class_.kept_below = class_.orders = None
            class_.settled, class_.order_so_far = False, (-1, ())
            class_.written = None
            class_.holders_elsewhere.clear()
            class_.orders_without.clear()
            for table in (class_.subclasses, class_.holders, class_.declarers, class_.overrides):
                table.clear()
            for cells in (class_.attributes, class_.members):
                cells.clear()
        tables: tuple[list[Any] | dict[Any, Any], ...] = (
            *(self.values, self.tasks, self._told, self._functions, self._classes),
            *(self._elements, self._direct),
        )
        for each in tables:
            each.clear()

    # --- values

    def intern(self, value: Value) -> int:
        """The id of ``value``."""
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self.values)
            self.values.append(value)
            if value[0] in ("F", "B"):
                self.functions.add(found)
            elif value[0] in ("S", "N") or is_name(value):
                self.texts.add(found)
                if value[0] != "N":
                    self.spelled.add(found)
            elif value[0] == "M":
                self.modules.add(found)
            elif value[0] == "C":
                self.classes.add(found)
            elif value[0] == "ND":
                self.namespaces.add(found)
            elif value[:2] in SLICES:
                self.slices.add(found)
            self._singles.append(None)  # many are never asked for
        return found

    def single(self, value: Value) -> frozenset[int]:
        """The set of just ``value``."""
        found = self._ids.get(value)
        return self.only(self.intern(value) if found is None else found)

    def only(self, value: int) -> frozenset[int]:
        """The set of just the value with that id."""
        found = self._singles[value]
        if found is None:
            only = frozenset((value,))
            found = self._singles[value] = self._sets.setdefault(only, only)
        return found

    def methods_apart(self, values: Values) -> tuple[dict[Function, set[int]], list[int]]:
        """The receivers of the bound methods among ``values``, by method, and the other values."""
        methods: dict[Function, set[int]] = {}
        others: list[int] = []
        for value in values:
            kind = self.values[value]
            if kind[0] == "B":
                methods.setdefault(kind[1], set()).add(kind[2])
            else:
                others.append(value)
        return methods, others

    def number_of(self, value: int) -> int | None:
        """Which number a value is, if it is one that stands in the code."""
        kind = self.values[value]
        told = kind[0] == "XI" and len(kind) > 2 and kind[1] == "builtins.int"
        return int(kind[2]) if told else None

    def is_told(self, value: int) -> bool:
        """Whether a value is a text or a number that stands in the code."""
        return self.values[value][0] == "S" or self.number_of(value) is not None

    def objects_in(self, values: Values) -> frozenset[int]:
        """Those whose special methods may be of the repo."""
        known, objects = self.values, self.objects
        return frozenset([value for value in values if known[value][0] in objects])

    def shared(self, values: Values) -> frozenset[int]:
        """``values`` as the one set object that stands for them."""
        if not values:
            return EMPTY
        frozen = frozenset(values)
        return self._sets.setdefault(frozen, frozen)

    def root_of(self, value: int) -> Value:
        """What an open value is derived of, however many attributes and results deep; or itself."""
        kind = self.values[value]
        while kind[0] in DERIVED:
            kind = self.values[kind[1]]
        return kind

    def derive(self, tag: str, source: int, *rest: object) -> frozenset[int]:
        """The attribute, element or result of an open value: open too, but traceable.

        Only a slice asks where open values come from (:mod:`depslice.slicer.closure.origins`); in
        a whole program what callers pass is there already.
        """
        kind = self.values[source]
        if tag == "R" and source in self.crowd:
            return self.crowd | self.unknown
        if self.whole or kind[0] == "U":
            return self.guess if source == self.guess_id else self.unknown
        depth = 1
        while kind[0] in DERIVED:
            # An interpreter's loop applies each operator to what each of them gives.
            depth += 2 if kind[0] == "A" and kind[2].startswith("__") else 1
            kind = self.values[kind[1]]
        if depth > _LONGEST_PATH:
            return self.unknown
        return self.single((tag, source, *rest))

    def told(self, facts: list[Fact]) -> tuple[Fact, ...]:
        """``facts`` to keep: over a whole program, as the one tuple that stands for them."""
        if not self.whole:
            return tuple(facts)
        interned = self._told
        whole = tuple(facts)
        known = interned.get(whole)
        if known is None:
            if len(facts) > 1:
                whole = tuple([interned.setdefault((fact,), (fact,))[0] for fact in facts])
            known = interned[whole] = whole
        return known

    def note_unknown(self, name: str, pos: int, source: int, how: f.Access = "read") -> None:
        """An attribute of an open value is used."""
        self.facts.append((f.UNKNOWN, name, pos, how, source))

    def note_annotations(self, receivers: Values, pos: int, how: f.Listing) -> None:
        """The annotations of classes are read (library reference, Annotations Best Practices)."""
        for receiver in receivers if not self.whole else ():
            kind = self.values[receiver]
            if kind[0] in ("C", "I"):
                self.facts.append((f.MEMBER, kind[1], f.ALL, pos, not kind[2], how, False))
            elif kind[0] in OPEN:
                self.facts.append((f.LISTED, receiver, f.ALL, how, pos))

    def note_namesakes(self, methods: Iterable[Function], pos: int) -> None:
        """Methods that may be meant because of their name alone: nothing flows to them."""
        for method in methods:
            self.facts.append((f.CALL, method, pos, False, f.BY_NAME_ALONE, False))

    def note_protocol(self, dunder: str, pos: int, source: int) -> None:
        """A special method of an open value may run: a slice asks for it where the value is known."""
        if not self.whole:
            self.facts.append((f.PROTOCOL, dunder, pos, source))

    def operate(self, value: int, dunder: str, args: Sequence[Values], pos: int) -> Values:
        """Syntax asks an open value for a special method, and calls it; what that gives."""
        self.note_protocol(dunder, pos, value)
        return self.apply_special(value, dunder, args, pos)

    def apply_special(self, value: int, dunder: str, args: Sequence[Values], pos: int) -> Values:
        """What an open value has under a name is called with ``args``; what that gives."""
        if self.whole:
            return self.unknown
        self.hand_namespaces(args, pos)
        key = value, dunder, len(args)
        known = self._specials.get(key)
        if known is None:
            [method] = self.derive("A", value, dunder)
            # Whatever is passed: sets grow, and each would be another value.
            known = self._specials[key] = method, self.derive("R", method, (EMPTY,) * len(args))
        method, result = known
        if method != self.unknown_id:
            given = tuple([self.traced(values) for values in args])
            if any(given):
                self.facts.append((f.APPLY, method, given, (), EMPTY, pos))
        return result

    def hand_namespaces(self, args: Iterable[Values], pos: int) -> None:
        """Implemented by the container part."""
        raise NotImplementedError

    def traced(self, values: Values) -> frozenset[int]:
        """Those of ``values`` that a slice follows from an argument to the parameter."""
        if not values:
            return EMPTY
        whole = frozenset(values)
        found = self._traced.get(whole)
        if found is None:
            known = self.values
            found = frozenset([v for v in whole if known[v][0] in TRACED or self.may_be_caught(v)])
            found = self._traced[whole] = whole if len(found) == len(whole) else found
        return found

    def may_be_caught(self, value: int) -> bool:
        """Whether it is an exception from outside, which may be one of the slice."""
        return (
            not self.whole and self.values[value][0] == "XI" and bool(self.outside.caught_as(value))
        )

    # --- objects

    def method_around(self, function: Function) -> Function:
        """The method that ``function`` stands in, however deep; the outermost, if that is none."""
        while function.unit.owner < 0 and function.unit.parent >= 0:
            function = self.function(function.module, function.unit.parent)
        return function

    def function(self, module: Module, index: int) -> Function:
        """The unit ``index`` of ``module`` at work."""
        units = self._functions.get(module.name)
        if units is None:
            units = self._functions[module.name] = [None] * len(module.summary.units)
        found = units[index]
        if found is None:
            found = units[index] = self.new_function(module, module.summary.units[index])
            self.tasks.append(found)
        return found

    def new_function(self, module: Module, unit: Unit) -> Function:
        """A unit at work that is none of the tasks yet."""
        return Function(module, unit, len(self.tasks), self._signatures)

    def class_(self, module: Module, index: int) -> Class:
        """The class ``index`` of ``module`` at work."""
        key = (module.name, index)
        found = self._classes.get(key)
        if found is None:
            found = self.own_class(module, module.summary.classes[index])
        return found

    def own_class(self, module: Module, info: ClassInfo) -> Class:
        """A class that is at work from now on."""
        self._class_serial += 1
        made = Class(module, info, self._class_serial)
        self._classes[module.name, info.index] = made
        return made

    # --- cells

    def cell(self, *key: object) -> Cell:
        """The cell of ``key``."""
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = Cell()
        return found

    def variable_cell(self, module: Module, name: str, piece: int) -> Cell:
        """What ``piece`` binds ``name`` to in the module scope (-1: what functions do)."""
        return self.cell("v", module.name, name, piece)

    def elements_cell(self, container: int) -> Cell:
        """All that a container made in the repo holds."""
        found = self._elements.get(container)
        if found is None:
            found = self._elements[container] = Cell()
        return found

    def item_cell(self, container: int, text: str) -> Cell:
        """What a container holds under a key, or at a place, that is known."""
        key = (container, text)
        found = self._items.get(key)
        if found is None:
            found = self._items[key] = Cell()
        return found

    def anywhere_cell(self, container: int) -> Cell:
        """What a container holds under keys, or at places, of which nothing is known."""
        found = self._anywhere.get(container)
        if found is None:
            found = self._anywhere[container] = Cell()
        return found

    def keys_cell(self, container: int) -> Cell:
        """The keys of a dictionary."""
        found = self._keys.get(container)
        if found is None:
            found = self._keys[container] = Cell()
        return found

    def free_cell(self, function: Function, name: str) -> Cell:
        """A local of ``function`` that nested units read."""
        return self.cell("f", function, name)

    def read(self, cell: Cell) -> frozenset[int]:
        """The values of ``cell``; the operation at work depends on it from now on."""
        self.depend(cell)
        return cell.values

    def depend(self, asked: Cell | Lookup) -> None:
        """Put the operation at work among the readers of what is ``asked``."""
        self.settled = False
        reader = self.reader
        readers = asked.readers
        if not reader:
            return
        if isinstance(readers, int):
            if not readers:
                asked.readers = reader
            elif readers != reader:
                asked.readers = array("q", (readers, reader))
        elif readers[-1] != reader:
            readers.append(reader)
            count = len(readers)
            if count >= _MANY_READERS and not count & (count - 1):
                once = dict.fromkeys(readers)  # in vain at most as often as the list doubles
                if len(once) <= count // 2:
                    asked.readers = array("q", once)

    def write(self, cell: Cell, values: Values) -> None:
        """Add ``values``; whoever has read the cell is evaluated again if it grew."""
        known = cell.values
        if values <= known:
            return
        if self.telling_plain and not self.scalars.isdisjoint(values):
            values = self._without_plain(known, values)
            if values <= known:
                return
        if len(values) > self.widest - len(known):
            values = self._room_for(known, values, cell)
            if values <= known:
                return
        cell.values = self.shared(known | values)
        if cell.readers:
            self.wake(cell)

    def _without_plain(self, known: frozenset[int], values: Values) -> Values:
        """``values``; without types of texts and numbers that are told last, beside others."""
        if all(v in self.scalars or self.values[v][0] in OPEN for v in known.union(values)):
            return values
        return values - self.scalars

    def mark(self, cell: Cell, places: AbstractSet[int]) -> None:
        """Add ``places``, which are no values, to a cell: all of them count."""
        if not places <= cell.values:
            cell.values |= places
            self.wake(cell)

    def _room_for(self, known: frozenset[int], values: Values, place: object) -> Values:
        """What of ``values`` there is room for beside what is ``known`` in that place.

        For modules there always is, in a slice: there are as many as files, and whichever of them
        a computed name imports is asked for names alone.
        """
        if self.whole:
            if type(values) is frozenset and (known, values) in self._without_room:
                return EMPTY
            added = frozenset(values) - known
            kept = self._room_for_whole(known, added, place)
            if kept <= known and added.isdisjoint(self.tables) and self._lines_last(added, known):
                # As long as no more is known there: what tables stand for may grow.
                if len(self._without_room) >= _MOST_COUNTS:
                    self._without_room.clear()
                self._without_room.add((known, frozenset(values)))
            return kept
        added = frozenset(values) - known
        texts, held = added & self.texts, known & self.texts
        modules, others = added & self.modules, added - texts - self.modules
        held_others = len(known) - len(held) - len(known & self.modules)
        kept_texts = sorted(texts)[: max(0, MOST_NAMES - len(held))]
        kept_others = sorted(others)[: max(0, self.widest - held_others)]
        kept = frozenset((*kept_texts, *modules, *kept_others))
        if len(kept) == len(added):
            return kept
        if any(self.values[value][0] in _CROWDING for value in added - kept):
            kept |= self.crowd
        return kept | self.unknown

    def _room_for_whole(
        self, known: frozenset[int], added: frozenset[int], place: object
    ) -> frozenset[int]:
        """The same over a whole program: there is more room for functions, as in a table of them.

        Those for which it is too small are left over, and can be called still.
        """
        functions = added & self.functions
        tables = added & self.tables  # they stand for what there was no room for
        full = len(known) >= self.widest and not functions and self.unknown_id in known
        if full and not tables:
            return self.in_their_place(known, added)
        held_tables, held_functions, held_others = self._census(known)
        if tables:
            room = max(0, _MOST_TABLES - held_tables)
            if len(tables) > room:  # then hardly anything is told: it may be any function
                kept = frozenset(sorted(tables)[:room])
                tables = kept | self._leave_over_tables(place, tables - kept)
                added |= self.unknown
        if full:
            return tables | self.in_their_place(known, added - tables)
        others = added - functions - tables
        room = max(0, _MOST_FUNCTIONS - held_functions - held_others)
        if len(functions) > room:
            kept = frozenset(sorted(functions)[:room]) if room else EMPTY
            held = (self._rests[table].values for table in (known & self.tables) | tables)
            rest = (functions - kept).difference(*held)
            functions = kept
            if rest:
                functions |= self._leave_over(place, rest)
        room = max(0, self.widest - held_others)
        if len(others) > room:
            kept = frozenset(sorted(others)[:room] if room else ())
            others = self.unknown | kept | self.in_their_place(known | kept, others - kept)
        return others | functions | tables

    def in_their_place(self, known: frozenset[int], left: frozenset[int]) -> frozenset[int]:
        """What stands for classes that there was no room for: the one that all there extend.

        It is one of the ``known``. Else it mattered which of many had come first.
        """
        if self.classes.isdisjoint(left):
            return EMPTY
        held = [kind[1] for value in known & self.classes if (kind := self.values[value])[2]]
        if not held:
            return EMPTY
        lines = [self.mro(self.values[value][1]) for value in left & self.classes]
        shared = [k for k in lines[0] if k in held and all(k in line for line in lines)]
        family = next((k for k in shared if all(k in self.mro(each) for each in held)), None)
        return EMPTY if family is None else self.only(self.intern(("C", family, False))) - known

    def _lines_last(self, added: frozenset[int], known: frozenset[int]) -> bool:
        """Whether what stands for classes among ``added`` is the same whenever that is asked."""
        classes = added & self.classes
        return not classes or all(
            self.values[value][1].settled for value in classes.union(known & self.classes)
        )

    def _census(self, values: frozenset[int]) -> tuple[int, int, int]:
        """How many tables, functions and other values they are."""
        if not values:
            return 0, 0, 0
        found = self._counts.get(values)
        if found is None:
            if len(self._counts) >= _MOST_COUNTS:
                self._counts.clear()
            tables, functions = len(values & self.tables), len(values & self.functions)
            found = self._counts[values] = tables, functions, len(values) - tables - functions
        return found

    def _leave_over(self, place: object, functions: Iterable[int]) -> frozenset[int]:
        """The value that stands for ``functions``, and what was left over there before."""
        value = self._left_over.get(place)
        if value is None:
            value = self._left_over[place] = self.intern(("L", len(self._left_over)))
            self.tables.add(value)
            self._rests[value] = Cell()
        rest = self._rests[value]
        if not rest.values.issuperset(functions):
            rest.values = rest.values.union(functions)
            self.wake(rest)
        return self.only(value)

    def _leave_over_tables(self, place: object, tables: frozenset[int]) -> frozenset[int]:
        """The same for what ``tables`` stand for, as far as there is room for so much.

        There and in all such places: where hierarchies are wide, tables meet in ten thousands of
        them, go on to others, and each would have nearly the same once more.
        """
        value = self._left_over.get(place)
        held = EMPTY if value is None else self._rests[value].values
        room = max(0, min(_MOST_TOLD - len(held), self._room_for_told))
        if not room:
            return EMPTY if value is None else self.only(value)
        rest = sorted(EMPTY.union(*map(self.left_over, tables)) - held)[:room]
        self._room_for_told -= len(rest)
        return self._leave_over(place, rest)

    def left_over(self, value: int) -> frozenset[int]:
        """The functions and methods that an ``L`` value stands for."""
        return self.read(self._rests[value])

    def bounded(self, values: Values, place: object) -> frozenset[int]:
        """What a result keeps of many values: beside the unknown, as many as a cell has room for.

        They come together where results of many calls are united, and tell nothing any more.
        """
        if self.unknown_id not in values and len(values) <= _MOST_KNOWN:
            return frozenset(values)
        if self.whole:
            whole = values if self.unknown_id in values else values | self.unknown
            if len(whole) <= _MOST_TABLES + _MOST_FUNCTIONS + self.widest:
                whole = frozenset(whole)
                tables, functions, others = self._census(whole)
                if (
                    tables <= _MOST_TABLES
                    and functions <= _MOST_FUNCTIONS
                    and others <= self.widest
                ):
                    return whole
        return frozenset(self._room_for(EMPTY, values, place) | self.unknown)

    def thinned(self, values: Values, before: Values) -> frozenset[int]:
        """In a slice: ``values`` with no more than some that are derived from open ones.

        A loop that applies each operation to what the one before gave (an interpreter's) makes
        thousands of them. Beside the unknown, which may be anything, they tell hardly more. So do
        dotted names outside, of which one that goes from name to name (``f = getattr(f, part)``)
        makes as many as there are ways: of these, too, some are told apart.
        """
        known = self.values
        if len(values) > MOST_NAMES:
            dotted = {value for value in values if known[value][0] == "X"}
            if len(dotted) > MOST_NAMES:
                told = _some(dotted, before, MOST_NAMES)
                values = (values - dotted) | told | self.unknown
        if self.unknown_id not in values:
            return frozenset(values)
        derived = {value for value in values if known[value][0] in _MADE_OF_OPEN}
        if len(derived) <= MOST_DERIVED:
            return frozenset(values)
        return (frozenset(values) - derived) | _some(derived, before, MOST_DERIVED)

    def wake(self, asked: Cell | Lookup) -> None:
        """It has grown: what has read it is to be done again."""
        readers, asked.readers = asked.readers, NOBODY
        if not readers:
            return
        tasks = self.tasks
        for reader in (readers,) if isinstance(readers, int) else readers:
            task = tasks[reader >> WORK_BITS]
            if task is None:
                continue  # forgotten
            if type(task) is Function:
                if task.dirty is None:
                    task.dirty = {reader & _INDEX}
                else:
                    task.dirty.add(reader & _INDEX)
            if not task.queued:
                task.queued = True
                self.queue.append(task)

    def enqueue(self, function: Function) -> None:
        """Evaluate ``function`` (again) later."""
        if not function.queued:
            function.queued = True
            self.queue.append(function)

    # --- questions asked alike in many places

    def ask(self, lookup: Lookup, pos: int) -> frozenset[int]:
        """The answer of ``lookup``, whose facts hold at ``pos`` from now on."""
        if lookup.facts:
            self.facts.append((f.ASKED, lookup, pos))
        if not lookup.settled:
            self.depend(lookup)
        return lookup.answer

    def asked(self, question: tuple[Any, ...], pos: int) -> frozenset[int]:
        """The answer to a question that may have been asked elsewhere."""
        return self.ask(self.question(question), pos)

    def question(self, question: tuple[Any, ...]) -> Lookup:
        """What answers a question that may have been asked elsewhere; answered once at least."""
        lookup = self._questions.get(question)
        if lookup is None:
            lookup = self._questions[question] = self.new_lookup(question)
            self.answer(lookup)
        return lookup

    def forget(self, lookup: Lookup) -> bool:
        """Let go of a question that nobody asks any more; whoever does so later asks anew.

        Sets of callees and arguments grow step by step: with each step another question is asked.
        A slice keeps what it asks, and looks at it again.
        """
        if not self.whole or lookup.readers or lookup.kept:
            return False
        if self._questions.get(lookup.question) is not lookup:
            return False
        del self._questions[lookup.question]
        self.tasks[lookup.serial] = None
        return True

    def keep(self, facts: Iterable[Fact]) -> None:
        """Whoever noted ``facts`` is not evaluated again: what it has asked goes on growing."""
        for fact in facts:
            if fact[0] == f.ASKED:
                fact[1].kept = True

    def new_lookup(self, question: tuple[Any, ...]) -> Lookup:
        """A question not asked before; it is answered when it is evaluated first."""
        made = Lookup(len(self.tasks), question)
        self.tasks.append(made)
        return made

    # --- implemented by Engine

    def answer(self, lookup: Lookup) -> None:
        """Answer a question, (again) after something it depends on has grown."""
        raise NotImplementedError

    def ensure(self, function: Function, wanted: int = RETURNS) -> None:
        """Have ``function`` evaluated at least once, as far as ``wanted`` says."""
        raise NotImplementedError

    def call_back(
        self, number: int, name: str, pos: int, *, written: bool, call: Call | None = None
    ) -> bool:
        """What a method that an object has from a base outside calls of what its class overrides."""
        raise NotImplementedError

    def ask_length(self, values: Values, pos: int) -> None:
        """A list is made of what ``values`` give."""
        raise NotImplementedError

    def mro(self, class_: Class) -> tuple[Class, ...]:
        """Implemented by the class part."""
        raise NotImplementedError

    def note_handed(self, groups: Iterable[Values], pos: int, *, to: str = "") -> None:
        """Code outside the repo gets what is in ``groups``."""
        raise NotImplementedError

"""Abstract values and the cells that hold them.

A value is a small tuple, interned as an int so that sets of values are cheap and
their order does not depend on the hash seed. Kinds:

========== ============================== =========================================
tag        fields                         stands for
========== ============================== =========================================
``F``      function                       a function object
``B``      function, receiver value id    a bound method
``FG``     function                       its ``__get__``, which binds it
``C``      class, exact                   a class object (or, not exact, a subclass; None: or any
                                          that one of them is made of)
``I``      class, exact                   an instance of it (or of a subclass)
``M``      module name                    a module of the repo
``X``      dotted name                    something outside the repo
``XI``     dotted name[, text]            what calling it gives; of a number or a slice that stands
                                          in the code, which one; a text made of that name
``XM``     dotted name, attribute         an attribute of such a result
``XA``     dotted name, argument tuples   a generic class outside the repo with its arguments
``GS``     dotted name, unit, register    an instance of a generic class outside, made there
``SM``     receiver value id, class, name a bound method that a stub declares
``S``      text                           a string constant
``N``      prefix, suffix                 a string with a known start and end
``K``      kind, unit, register           a container made there, or (register, start, stop) a part
``G``      dotted name, argument tuples   an instance of a generic type outside the repo
``KM``     container value id, method     a bound method of a container
``P``      function, index                whatever a caller passes
``A``      open value id, attribute       that attribute of it
``AM``     open value id, (start, end)    any attribute of it whose name starts and ends so
``AN``     open name id, value id         the attribute by a name that callers pass
``E``      open value id                  an element of it, or (index) the one at a place
``R``      open value id, arguments       what calling it gives, or what it gives else (text)
``O``      class, attribute               what subclasses have that it leaves to them, or what a
                                          generated constructor stores; (container value id) what
                                          is put into a container that another module has made
``PT``     values, args, keywords[, True] functools.partial, or (True) a method of what is no
                                          function: its attributes are those of what it calls
``PB``     values, args, keywords         functools.partialmethod
``PS``     function, register             functools.partial made there, over a whole program
``SU``     class, receiver value id       super()
``GE``     function                       a generator made by calling it
``CO``     function                       a coroutine made by calling it
``CM``     function                       a @contextmanager function
``CI``     function                       what calling that gives
``CF``     values                         what ``classmethod`` gives of what others have decorated
``PY``     getters, setters, deleters     what ``property(…)`` gives
``W``      wrapped values                 what ``functools.wraps(…)`` gives
``OG``     kind, arguments, keywords      attrgetter, itemgetter or methodcaller
``L``      number                         the functions left over where too many meet
``SR``     function, class value ids      ``register`` of a ``singledispatch`` function
``CD``     instance id, function values   what a ``ContextDecorator`` decorates
``CB``     results                        something declared to be callable
``DF``     factories                      a field with a default factory
``NT``     field names                    a class that ``namedtuple`` has made
``NR``     field names                    ``_make`` of such a class, which takes a row
``NS``     module name                    the namespace of a module (``globals()``)
``NG``     module name                    ``get`` of such a namespace
``ND``     receiver value id              the ``__dict__`` of an object
``NM``     receiver value id, method      a bound method of that ``__dict__``
``TC``     class, exact                   ``type.__call__`` of that class
``SC``     class, exact, method           ``__subclasses__`` or ``mro`` of that class
``WM``     metaclasses, bases|None        what ``with_metaclass(M, B)`` gives, or ``add_metaclass(M)``
``U``      reason                         unknown
========== ============================== =========================================
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from depslice.callgraph.engine.facts import Fact, placed
from depslice.callgraph.summary import GENERATOR, POSITION_AT, RETURN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from depslice.callgraph.program import Module
    from depslice.callgraph.summary import ClassInfo, TypeExpr, Unit

Value: TypeAlias = tuple[Any, ...]
Guards: TypeAlias = tuple[tuple[int, str, bool], ...]
Values: TypeAlias = "set[int] | frozenset[int]"

EMPTY: frozenset[int] = frozenset()
NO_KEYWORDS: Mapping[str, Values] = {}

ENTERED = "entered"
ENTERED_ASYNC = "entered, async"
AWAITED = "awaited"
"""What an open value gives other than by a call: ``with``, ``async with``, ``await``."""
IMPORTED = "imported in "
"""What ``import_module`` of an open value gives; before the package that relative names start from."""

WORK_BITS = 20
"""A work number is a serial number above so many bits that hold the operation's index."""
MADE = "()"
"""Stands for an attribute of a metaclass: the classes that it has made."""
MODULES_IN = "modules in"
"""What going through the ``__path__`` of an open value gives: names of the modules in a package."""
KEPT = "[…]"
"""What stands for the name of the attribute that would hold what a container does."""
KEYS = "{…}"
"""And the keys of a dictionary."""
SPACE = "types.SimpleNamespace"
PARSED = "argparse.Namespace"
SPACES = (SPACE, PARSED)
"""Kinds of containers whose elements are attributes; parsers fill those of the second kind."""
NOBODY = 0
"""No readers yet."""
Readers: TypeAlias = "int | array[int]"
"""Work numbers: one, several, or :data:`NOBODY`."""
FIRST_PARAMETER = 1 << (WORK_BITS - 1)
"""Indices from here on stand for the parameters of a unit."""

DERIVED = frozenset({"A", "AM", "AN", "E", "R"})
"""Values that are made of an open one: an attribute, an element, a result."""
OPEN = DERIVED | {"U", "P", "O"}
"""Values that stand for whatever someone else decides: nothing is known of them here."""
OPEN_OR_OUTSIDE = OPEN | {"X", "XI", "XM", "XA", "SM"}
CALLABLES_OUTSIDE = frozenset({"KM", "OG", "SM", "X", "XM"})
"""Values that may be functions of the library, or methods of its objects."""
OPEN_OR_TEXT = OPEN | {"S", "N"}
NAMED_TUPLE = "typing.NamedTuple"
"""What stands for the class that ``namedtuple`` makes: it has the same methods."""
OBJECTS = frozenset({"I"})
"""Values whose special methods may be of the repo, over a whole program."""
OBJECTS_OR_OPEN = OBJECTS | DERIVED | {"P", "O"}
"""The same for a slice, which traces what is open to objects."""
TRACED = (
    OPEN
    | CALLABLES_OUTSIDE
    | {"F", "B", "C", "I", "M", "K", "G", "GS", "PT", "SU", "GE", "CM", "CB", "NS", "ND"}
)
"""Values that a slice follows from an argument to the parameter."""
SLICES = frozenset({("XI", "builtins.slice"), ("G", "builtins.slice")})
"""How values that are slices start."""
HANDED = DERIVED | {"I", "C", "P", "O"}
"""Values that may be objects of the repo, or make them, when code outside gets them."""
_OF_PARTIAL = 4
ITERABLE = OPEN | {"K", "G", "GE", "GS", "XI"}


def binds_other(value: Value) -> bool:
    """Whether it is a method of something that is no function."""
    return value[0] == "PT" and len(value) > _OF_PARTIAL


def has_no_statement(class_: Class) -> bool:
    """Whether ``type(name, bases, members)`` makes it, over a whole program."""
    return class_.info.index < 0


def is_name(value: Value) -> bool:
    """Whether it is the name of a definition, or a text that is made of it (``f.__name__[1:]``)."""
    return value[0] == "XI" and len(value) > 2 and value[1] == "builtins.str"


class Cell:
    """A growing set of values, and the work to do again when it grows.

    ``readers`` are work numbers (:data:`WORK_BITS`): each is told once, and registers
    again when it reads again. Of the cells that are read most have one reader: the number itself.
    """

    __slots__ = ("readers", "values")

    def __init__(self) -> None:
        self.values: frozenset[int] = EMPTY
        self.readers: Readers = NOBODY


class Passing(NamedTuple):
    """What it comes to that a set of values is passed.

    ``passed``: those that are worth it, ``plain``: the types of the texts and numbers among them.
    ``parameters``: those among them where some may name something (with strings, or with such
    parameters), else ``None``.
    """

    passed: frozenset[int]
    plain: frozenset[int]
    parameters: tuple[tuple[Function, int], ...] | None


class Lookup:
    """A question that many places ask alike, answered once: a name, an attribute of a value.

    Its facts have no position; whoever asks notes ``(ASKED, lookup, pos)``.
    """

    __slots__ = (
        "answer",
        "evaluations",
        "facts",
        "kept",
        "question",
        "queued",
        "readers",
        "serial",
        "settled",
    )

    def __init__(self, serial: int, question: tuple[Any, ...]) -> None:
        self.serial = serial
        self.question = question
        self.answer: frozenset[int] = EMPTY
        self.facts: tuple[Fact, ...] = ()
        self.readers: Readers = NOBODY
        self.evaluations = 0
        self.queued = False
        self.settled = False  # it will never change
        self.kept = False  # the facts of those who asked go on with it


class Signature:
    """Where arguments go: parameter indices by position and by keyword."""

    __slots__ = ("by_name", "keyword_only", "least", "optional", "positional", "rest", "variadic")

    def __init__(self, params: Iterable[tuple[str, str, TypeExpr | None, bool]]) -> None:
        self.positional: list[int] = []
        self.by_name: dict[str, int] = {}
        self.keyword_only: list[int] = []
        self.variadic: int | None = None
        self.rest: int | None = None
        optional: list[int] = []
        for index, (name, kind, _, has_default) in enumerate(params):
            if has_default:
                optional.append(index)
            if kind == "va":
                self.variadic = index
            elif kind == "kw":
                self.rest = index
            else:
                if kind != "ko":
                    self.positional.append(index)
                else:
                    self.keyword_only.append(index)
                if kind != "po":
                    self.by_name[name] = index
        self.optional = frozenset(optional)
        # How many there must be by place, where none comes by name; -1: one always does.
        self.least = len(set(self.positional) - self.optional)
        if not self.optional.issuperset(self.keyword_only):
            self.least = -1


_NO_PARAMETERS = Signature(())


def _signature(unit: Unit, known: dict[tuple[object, ...], Signature]) -> Signature:
    """Where arguments of ``unit`` go: one for all units that are called alike, among ``known``."""
    if not unit.params:
        return _NO_PARAMETERS
    key = tuple([(name, kind, has_default) for name, kind, _, has_default in unit.params])
    found = known.get(key)
    if found is None:
        found = known[key] = Signature(unit.params)
    return found


# What most units have none of: shared, and never written to.
NO_CELLS: dict[int, Cell] = {}
_NO_RESULTS: dict[Guards, Cell] = {}
_NEVER_GROWS = Cell()


class Function:
    """A unit of a module at work: a function body or a piece."""

    __slots__ = (
        "defaults",
        "dirty",
        "done",
        "evaluations",
        "flat",
        "given",
        "given_by_name",
        "guarded",
        "id",
        "module",
        "naming",
        "noted",
        "params",
        "plain",
        "queued",
        "registers",
        "ret",
        "running",
        "selected",
        "serial",
        "signature",
        "spent",
        "templates",
        "tests",
        "unit",
        "users",
        "wanted",
        "yields",
    )

    def __init__(
        self,
        module: Module,
        unit: Unit,
        serial: int,
        signatures: dict[tuple[object, ...], Signature],
    ) -> None:
        self.module = module
        self.unit = unit
        self.serial = serial
        self.id = f"{module.name}:{unit.qualname}" if unit.kind != "piece" else module.name
        self.wanted = 0  # what was asked for, in bits of `parts`
        self.done = 0  # what has been evaluated
        self.signature = _signature(unit, signatures)
        # Whether results depend on which parameters are given.
        self.tests = any(op[0] == RETURN and len(op) > 2 for op in unit.ops)
        has_defaults = any(has_default for _, _, _, has_default in unit.params)
        self.naming: frozenset[int] | None = None  # parameters that name attributes
        self.templates: frozenset[int] | None = None  # parameters that may be templates
        self.evaluations = 0
        self.spent = 0  # operations executed so far
        self.queued = False
        self.running = False
        self.registers: list[frozenset[int]] = []
        self.selected: frozenset[int] = EMPTY  # what `done` covers; unused when that is all
        self.dirty: set[int] | None = None  # indices of operations to execute again
        self.users: list[tuple[int, ...]] | None = None  # by register: operations that read it
        self.noted: dict[int, tuple[Fact, ...]] = {}  # operation -> its facts
        self.flat: list[Fact] | None = None
        self.given: set[tuple[object, ...]] | None = None  # the arguments passed so far
        self.given_by_name: set[tuple[str, Values]] | None = None  # where there are many
        self.ret = Cell()
        # Results by what tests have shown of parameters.
        self.guarded: dict[Guards, Cell] = {} if self.tests else _NO_RESULTS
        self.plain: frozenset[int] | None = EMPTY  # results that name no parameter
        self.yields = Cell() if unit.flags & GENERATOR else _NEVER_GROWS
        self.params: dict[int, Cell] = {} if unit.params else NO_CELLS
        self.defaults: dict[int, Cell] = {} if has_defaults else NO_CELLS

    @property
    def facts(self) -> list[Fact]:
        """What is known of the unit, in the order of its operations.

        The same list as long as nothing new was found.
        """
        flat = self.flat
        if flat is None:
            flat = self.flat = []
            for index in sorted(self.noted):
                flat.extend(placed(self.noted[index], self.position(index)))
        return flat

    def position(self, index: int) -> int:
        """Where an operation stands; 0 for those, and for parameters, that stand nowhere."""
        if index < 0:
            return 0
        op = self.unit.ops[index]
        place = POSITION_AT.get(op[0])
        position: int = 0 if place is None else op[place]
        return position

    def __repr__(self) -> str:
        return f"<{self.id}#{self.unit.index}>"


class Class:
    """A class of the repo at work. ``mro`` is linearised by C3 over the known bases."""

    __slots__ = (
        "attributes",
        "base_values",
        "declarers",
        "descendants",
        "external_bases",
        "family",
        "fields",
        "generated",
        "holders",
        "holders_elsewhere",
        "id",
        "info",
        "kept_below",
        "lenders",
        "makers",
        "members",
        "metaclasses",
        "module",
        "mro_cache",
        "named",
        "open_metaclasses",
        "order_so_far",
        "ordered_at",
        "orders",
        "orders_without",
        "outer",
        "overrides",
        "serial",
        "settled",
        "shifting",
        "subclasses",
        "written",
    )

    def __init__(self, module: Module, info: ClassInfo, serial: int) -> None:
        self.module = module
        self.info = info
        self.serial = serial
        self.id = f"{module.name}:{info.qualname}"
        self.base_values: list[Values] | None = None
        self.external_bases: tuple[str, ...] = ()
        self.makers: frozenset[int] = frozenset()  # what class statements name as its metaclass
        self.metaclasses: tuple[Class, ...] = ()
        self.open_metaclasses: Values = EMPTY  # that only callers know, in a slice
        self.mro_cache: tuple[Class, ...] | None = None
        # As long as not all of its bases are known: its linearisation, and the count of what classes
        # had got (``based``) by then.
        self.order_so_far: tuple[int, tuple[Class, ...]] = (-1, ())
        self.settled = False  # its linearisation is known, and the same for all who ask
        # Its linearisation for each choice of bases that may be one of several, with those outside.
        self.orders: tuple[tuple[tuple[Class, ...], tuple[str, ...]], ...] | None = None
        self.ordered_at = -1  # the count of what classes had got by then
        # Of these, by name: the classes that have it, also behind one; the orders in which none does.
        self.holders_elsewhere: dict[tuple[str, Class | None], list[Class]] = {}
        self.orders_without: dict[str, list[tuple[tuple[Class, ...], tuple[str, ...]]]] = {}
        self.outer: tuple[str, ...] | None = None  # the bases outside, of all its bases too
        # In a slice, the names that its methods and those above store, or code of their modules;
        # behind the linearisation that this is told by.
        self.written: tuple[tuple[Class, ...], frozenset[str]] | None = None
        self.shifting = False  # a function makes it, or a class above, below other bases each time
        self.holders: dict[str, Class | None] = {}  # name -> the class of the MRO that binds it
        self.declarers: dict[str, Class] = {}  # one before it that only tells the type of it
        self.attributes: dict[str, Cell] = {}
        self.members: dict[str, Cell] = {}
        self.subclasses: dict[Class, None] = {}
        # Classes that it does not extend, of which methods may have an instance of it as `self`.
        self.lenders: tuple[Class, ...] = ()
        self.descendants: list[Class] | None = None
        self.kept_below: set[str] | None = (
            None  # names that those have something else for, if asked
        )
        # owner and name -> the subclasses looked at, what they override
        self.overrides: dict[
            tuple[Class | None, str], tuple[list[Class], list[tuple[Class, Class]]]
        ] = {}
        self.family = Cell()  # its readers have asked for the descendants
        self.generated: bool | None = None  # its constructor; known once the bases are
        # What a generated constructor takes, and what of that by place.
        self.fields: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self.named: tuple[str, ...] = ()  # fields of the `namedtuple(…)` that it extends

    def below(self) -> Iterator[Class]:
        """The subclasses that are known so far, nearest first."""
        found: set[Class] = set()
        waiting = list(self.subclasses)
        while waiting:
            subclass = waiting.pop(0)
            if subclass not in found:
                found.add(subclass)
                yield subclass
                waiting.extend(subclass.subclasses)

    def __repr__(self) -> str:
        return f"<class {self.id}>"

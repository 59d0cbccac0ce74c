"""What is done with open values, settled for each known value behind them.

Inside a function nobody knows what a parameter is, nor an attribute of it, nor the result of
calling it. What the function does with such a value (reads an attribute, calls it, uses an
operator on it) is noted here. :class:`~depslice.slicer.closure.origins.Origins` traces the
value to the arguments that kept code passes; for each that turns up, what is done with it
becomes a demand on its class, function or module. Both grow with the slice, so this is
asked again until nothing does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.library import COPYING, FILLED_ANEW, INERT_BASES, REACHING
from depslice.callgraph.engine.naming import DESCRIBING
from depslice.callgraph.engine.protocols import OF_PARTS
from depslice.callgraph.engine.values import (
    CALLABLES_OUTSIDE,
    EMPTY,
    OPEN,
    Class,
    Function,
    Lookup,
    Value,
    Values,
    is_name,
)
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.summary import Position
from depslice.slicer.closure.classes import ORDERING, Classes
from depslice.slicer.closure.growth import Asked, Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.names import Names
from depslice.slicer.closure.origins import Origins
from depslice.slicer.closure.recognising import STEPS, Recognition
from depslice.slicer.closure.testing import Test
from depslice.slicer.closure.turns import News

# Names that objects of builtin types have: on an unknown receiver they say nothing.
_COMMON = frozenset(
    name
    for kind in (
        str,
        bytes,
        list,
        dict,
        set,
        frozenset,
        tuple,
        int,
        float,
        complex,
        type,
        BaseException,
    )
    for name in dir(kind)
) | {"read", "write", "close", "flush", "readline", "seek", "name", "group", "match", "search"}
_OF_ANY: Final = frozenset((*dir(object), "__bool__"))
_NAMELESS: Final = frozenset(
    {"matching", "named", "spelled", "filled", "made", "listed", "handed", "stored", "imported"}
)
_ACCESSES: Final = get_args(f.Access)
_ANSWERING: Final = ("__getattribute__", "__getattr__")
_SOME_TEXT: Final = ("XI", "builtins.str")
_OF_CLASSES: Final = frozenset({"__subclasses__", "__annotations__"})
_ASKED_EACH_TIME: Final = frozenset({"__annotations__", "__contains__", "__subclasses__"})
"""What is found by more than the classes that bind it."""
_READING_NAMESPACES: Final[dict[str, frozenset[str]]] = {
    "protocol": frozenset({"__contains__", "__getitem__", "__iter__", "__len__"}),
    "read": frozenset({"copy", "get", "items", "keys", "pop", "values"}),
}
_NAMESPACE_READS: Final = frozenset().union(*_READING_NAMESPACES.values())
_WHOSE: Final[tuple[f.Whose, ...]] = get_args(f.Whose)
"""Whose code gets objects: each looks for more than those before."""
_GATHERED: Final = frozenset({"protocol", *_ACCESSES})
"""What is done of which nothing but a name is asked."""
_LIKELY, _POSSIBLE = Certainty.LIKELY, Certainty.POSSIBLE
_CHECKS: Final = ("__instancecheck__", "__subclasscheck__")
_ASKED_OF_CLASSES: Final = {
    "__getitem__": "__class_getitem__",
    **dict.fromkeys(_CHECKS, "__subclasshook__"),
}
"""What a class itself is asked for where its metaclass has nothing to say, or passes it on."""
_MOST_PARTIALS: Final = 3
_FEW_METHODS: Final = 4

OutsideCall: TypeAlias = tuple[Function, Lookup, Position]
Use: TypeAlias = (
    Literal[
        "protocol",
        "matching",
        "call",
        "named",
        "spelled",
        "filled",
        "made",
        "listed",
        "handed",
        "stored",
        "imported",
    ]
    | f.Access
)
"""What is done with a value, and what ``name`` is then:

==========================  =====================================================================
read, write, delete         the attribute
protocol                    the special method that syntax or a builtin asks implicitly
matching                    (prefix, suffix) of a computed attribute
call                        the arguments, a ``Given``
named                       the value is a name given to ``getattr`` or the like: the value that
                            has the attribute, the access, whether that is one of many modules
spelled                     the access, by any name that texts of the slice spell
filled                      none: fields of templates in the slice read attributes of it
made                        (access, name of a definition): by a text that is made of that name
listed                      ``vars`` or ``dir`` of it: what is read of that, and its tests
handed                      who gets it of :data:`_WHOSE`, code outside
stored                      (attribute, or empty where it is computed; what is stored there)
imported                    whether it has been: it is a module, imported by a name
==========================  =====================================================================
"""


@dataclass(frozen=True, slots=True)
class Given:
    """What a call in ``where`` passes: by position, by keyword, what ``*args``, ``**kwargs`` hold.

    ``partials``: those that it goes through, which have passed their part of it.
    """

    args: tuple[Values, ...]
    keywords: tuple[tuple[str, Values], ...]
    spread: Values
    where: Function
    partials: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Open:
    """Something is done with an open value; ``done`` are the known values it is settled for.

    Of all places that do the same with it the nearest asks, which is at that ``distance`` from a
    target. ``gaps`` are what analysis cannot tell there (name, reason), at each of the ``sites``:
    where there may be some.
    """

    value: int
    use: Use
    name: Any
    demand: Demand
    distance: int
    done: frozenset[int] = EMPTY
    sites: dict[tuple[str, Position], None] | None = None
    gaps: dict[tuple[str, str], None] | None = None
    is_fresh: bool = True  # to be settled for all known values
    is_sure: bool = False  # settled for the only value there is
    called: set[Function] | None = field(default=None, init=False)  # which it keeps


class _Inside(NamedTuple):
    """What a special method of a container ``asked`` of what that holds; the nearest ``use`` of it."""

    use: _Open
    distance: int
    asked: list[tuple[int, str]]


def _tells(use: _Open) -> bool:
    """Whether few classes can be used so."""
    return use.use in _ACCESSES and use.name not in _COMMON and f.ALL not in use.name


class OpenValues:
    """The uses of open values so far, and where those values come from."""

    def __init__(self, growth: Growth, classes: Classes, names: Names) -> None:
        self._growth = growth
        self._engine = growth.engine
        self._classes = classes
        self._names = names
        self._origins = Origins(
            growth.engine, classes.live_below, classes.live_made_by, News(classes.extended)
        )
        self._uses: dict[int, list[_Open]] = {}  # by the value
        self._noted: dict[tuple[Any, ...], _Open] = {}
        self._fresh: list[_Open] = []
        # What calls have passed for `self`, by what else they pass, to which function.
        self._passed: dict[tuple[Given, Function], set[int | None]] = {}
        # While uses are settled: what a special method of a container asks of what that holds.
        self._parts: dict[tuple[int, str], list[tuple[int, str]]] = {}
        self._asking_parts: dict[tuple[int, str, bool], _Inside] = {}
        self._reached: dict[tuple[int, str], list[int]] = {}  # while uses are settled
        self._held: dict[Values, Values] = {}  # with what is handed over, while uses are settled
        self._reaching: dict[tuple[int, str, bool], _Open] = {}  # into objects that may grow
        # What is asked of a class whoever asks: how much was known of bases, and from how far.
        self._asked_alike: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._asked_by_names = Asked(growth)
        self._handed: dict[int, int] = {}  # by whom, of :data:`_WHOSE`
        self._to_whom: dict[Class, tuple[int, Demand]] = {}  # who has instances
        self._any_to_whom = 0  # who gets what nobody knows
        self.spelled: dict[tuple[int, f.Access], Demand] = {}
        """Known values whose attributes are accessed by names that texts of the slice spell."""
        self.filled: dict[int, Demand] = {}
        """Known values that are put into the fields of templates nobody knows."""
        self.made: dict[tuple[int, f.Access, str], Demand] = {}
        """The same by texts that are made of the name of a definition, which comes last."""
        self.listed: dict[str, Demand] = {}
        self.tested: dict[tuple[str, tuple[Test, ...]], Demand] = {}  # and what each is tested for
        """Modules of which all names are taken: others may read them of who has them then."""
        self.called_outside: dict[OutsideCall, None] = {}
        """Calls of code outside that functions were handed: who calls, what is done then, where."""
        self._recognition = Recognition(growth, classes, self._origins)
        self._imported: dict[int, bool] = {}  # by names: whether nobody tells all of them
        self._unnamed: list[_Open] = []  # accesses by names that nothing tells so far
        self._left_open: set[Function] = set()  # that code outside the slice calls
        self._unbound: list[int] = []  # open values whose parameters nothing binds so far
        # By names of methods: what is passed where nobody knows whose is called, who may get it.
        self._passed_by_name: dict[str, Values] = {}
        self._called_by_name: dict[str, list[tuple[Function, int]]] = {}
        self._newly_followed = News(self._origins.followed)

    def note(self, use: Use, value: int, name: Any, demand: Demand) -> None:
        """``value`` is used; settled by the next :meth:`trace`.

        Where the name is all that is asked, whoever is nearest asks for all who do the same: what
        they want has been asked for from there. Large slices have many loops over one value.
        """
        gathered = use in _GATHERED
        guessed = demand.certainty is _POSSIBLE, demand.certainty is _LIKELY  # (hashed faster)
        key: tuple[Any, ...] = value, use, name, guessed, demand.evidence
        if not gathered:
            key += demand.source, demand.pos
        distance = self._growth.distance_by(demand)
        noted = self._noted.get(key)
        if noted is None:
            self._origins.follow(value)
            noted = self._noted[key] = _Open(value, use, name, demand, distance)
            self._uses.setdefault(value, []).append(noted)
            self._fresh.append(noted)
            if gathered and (name in _NAMESPACE_READS or _tells(noted)):
                noted.sites, noted.gaps = {}, {}
        elif distance < noted.distance:
            noted.demand, noted.distance = demand, distance
            noted.done, noted.called = EMPTY, None
            noted.is_sure = False
            if not noted.is_fresh:
                noted.is_fresh = True
                self._fresh.append(noted)
        if noted.sites is not None and noted.gaps is not None:
            site = demand.source, demand.pos
            if site not in noted.sites:
                noted.sites[site] = None
                for gap in noted.gaps:
                    self._note_gap_at(site, gap)

    def _note_gap(self, use: _Open, name: str, reason: str) -> None:
        """Analysis cannot tell what ``use`` asks for, wherever it does."""
        gap = name, reason
        if use.sites is None or use.gaps is None:
            self._note_gap_at((use.demand.source, use.demand.pos), gap)
            return
        use.gaps[gap] = None
        for site in use.sites:
            self._note_gap_at(site, gap)

    def _note_gap_at(self, site: tuple[str, Position], gap: tuple[str, str]) -> None:
        source, pos = site
        self._growth.note_unresolved(source, *gap, pos)

    def hand(self, values: Values, demand: Demand, whose: f.Whose = "somebody") -> None:
        """Code outside gets ``values``: asked for once, unless somebody gets it who looks for more."""
        whom = _WHOSE.index(whose)
        known = self._handed
        for value in sorted([value for value in values if known.get(value, -1) < whom]):
            known[value] = whom
            self.note("handed", value, whom, demand)

    def note_named(
        self, receiver: int, name: int, how: f.Access, demand: Demand, *, of_many: bool
    ) -> None:
        """``getattr(receiver, name)`` and the like, where callers know the name.

        What a parameter holds may be another text than is seen: of an attribute or an element.
        Where the receiver is one ``of_many`` modules, that says nothing.
        """
        self.note("named", name, (receiver, how, of_many), demand)
        if self._engine.values[name][0] != "P" and not of_many:
            self.note("spelled", receiver, how, demand.guessed())

    def note_called(self, value: int, given: Given, demand: Demand) -> None:
        """``value`` is called; or stands for what stores an attribute, and gets what is stored."""
        kind = self._engine.values[value]
        if kind[0] == "A" and kind[2][-1:] == "=":
            self.note("stored", kind[1], (kind[2][:-1], given.args[0]), demand)
        self.note("call", value, given, demand)

    def bind(self, function: Function, index: int, values: Values) -> None:
        """Kept code passes ``values`` for a parameter."""
        self._origins.bind(function, index, values)

    def known(self, value: int) -> Values:
        """The known values behind ``value`` so far."""
        self._origins.follow(value)
        return self._origins.known(value)

    def fill(self, holder: Class | int, name: str, values: Values) -> None:
        """Kept code makes an instance of a class with ``values`` in a field, or fills a container."""
        self._origins.fill(holder, name, values)

    def leave_open(self, function: Function, class_: Class | None = None) -> None:
        """Code outside the slice calls ``function``, a method of ``class_``, with who knows what."""
        engine = self._engine
        self._left_open.add(function)
        for index in range(len(function.unit.params)):
            if engine.receiver(function, index) is None and not engine.is_declared(function, index):
                self.bind(function, index, engine.unknown)
                if class_ is not None and function.unit.params[index][2] is None:
                    passed = engine.intern(("P", function, index))
                    self._recognition.note_passed_to(class_, passed)

    def trace(self) -> bool:
        """Settle uses for the values that are known by now; whether to come back."""
        self._forget_parts()
        grown = self._origins.settle()
        fresh, self._fresh = self._fresh, []
        again = [use for value in grown for use in self._uses.get(value, ())]
        self._recognition.note_grown(grown)
        for use in fresh:
            use.is_fresh = False
            self._add(use)
        for use in (*again, *fresh):
            known = self._origins.known(use.value)
            if use.use == "named" and self._origins.is_full(known):
                known |= self._origins.crowd  # there may be names that are not told apart
            settled = use.done
            use.done = known if settled <= known else settled | known  # (one set for many uses)
            for value in sorted(known - settled):
                self._settle(use, value)
        return bool(fresh) or bool(self._fresh) or self._origins.stale

    def reach(self) -> bool:
        """Ask what containers hold by now, and objects that are copied or pickled.

        Whether there is more of it.
        """
        self._forget_parts()
        for (container, *_), inside in list(self._asking_parts.items()):
            self._settle_parts(inside.use, container)
        for (value, *_), use in list(self._reaching.items()):
            self._reach_from(value, use)
        return bool(self._fresh)

    def _add(self, use: _Open) -> None:
        self._recognition.place(use.value)
        if _tells(use):
            self._recognition.note_telling(use.value, use.name)
        elif use.use == "named":
            self._unnamed.append(use)
        elif use.use == "imported":
            if not use.name:
                self._imported.setdefault(use.value, False)
        elif use.use not in _NAMELESS and not (use.use in _ACCESSES and f.ALL in use.name):
            name = "__call__" if use.use == "call" else use.name
            self._recognition.note_vague(use.value, name, use.demand)

    def make_sure(self) -> bool:
        """Settle uses of what is one known object: they are definite. Whether there are such.

        As a call is of which flow shows one callee (:mod:`depslice.callgraph.certainty`).
        """
        found = False
        self._forget_parts()
        for value, uses in [*self._uses.items()] if self._growth.is_strict else ():
            known = self._origins.known(value)
            if len(known) != 1 or not self._is_exact(*known):
                continue
            for use in [*uses]:  # to settle one may note another
                if not use.is_sure and use.demand.certainty is Certainty.LIKELY:
                    use.is_sure = found = True
                    sure = replace(use.demand, certainty=Certainty.DEFINITE)
                    self._settle(replace(use, demand=sure), *known)
        return found

    def _is_exact(self, value: int) -> bool:
        kind = self._engine.values[value]
        return bool(kind[2]) if kind[0] in ("I", "C") else kind[0] not in OPEN

    def leave_unbound(self) -> bool:
        """Have parameters that nothing in the slice is seen to pass stand for anything.

        Then code outside passes them: a base class, a library that calls back, Python that
        makes a class. Those with a default may just never be passed. Whether there is one.
        """
        engine = self._engine
        found = self._leave_unnamed()
        waiting, self._unbound = [*self._unbound, *self._newly_followed.take()], []
        for value in waiting:
            parameter = self._parameter_behind(value)
            if (
                parameter is None
                or self._has_default(value)
                or self._origins.is_bound(*parameter)
                or engine.receiver(*parameter) is not None
            ):
                continue
            if engine.is_declared(*parameter):
                self._unbound.append(value)
            else:
                name = parameter[0].unit.qualname.rpartition(".")[2]
                self._called_by_name.setdefault(name, []).append(parameter)
                self.bind(*parameter, engine.unknown | self._passed_by_name.get(name, EMPTY))
                found = True
        return found

    def pass_by_name(self, name: str, values: Values, demand: Demand) -> None:
        """``x.name(values)`` of who knows what: methods of that name get these that get nothing else."""
        if name not in _COMMON:
            self._growth.do_by(demand.guessed(), partial(self._pass_by_name, name, values))

    def _pass_by_name(self, name: str, values: Values) -> None:
        self._passed_by_name[name] = self._passed_by_name.get(name, EMPTY) | values
        for parameter in self._called_by_name.get(name, ()):
            self.bind(*parameter, values)

    def _leave_unnamed(self) -> bool:
        """Take names that nothing in the slice tells for any; whether there are such."""
        self._unnamed = [use for use in self._unnamed if not use.done]
        unnamed = [
            use
            for use in self._unnamed
            if not self._origins.known(use.value) and not self._may_never_be_passed(use.value)
        ]
        for use in sorted(unnamed, key=lambda use: self._recognition.place(use.value)):
            use.done |= self._engine.unknown
            self._settle(use, self._engine.unknown_id)
        return bool(unnamed)

    def _may_never_be_passed(self, value: int) -> bool:
        """Whether it is a parameter with a default, of a function that only the slice calls."""
        kind = self._engine.values[value]
        return kind[0] == "P" and kind[1] not in self._left_open and self._has_default(value)

    def _parameter_behind(self, value: int) -> tuple[Function, int] | None:
        """The parameter that an open value is made of."""
        root = self._engine.root_of(value)
        return (root[1], root[2]) if root[0] == "P" else None

    def _has_default(self, value: int) -> bool:
        parameter = self._parameter_behind(value)
        return parameter is not None and bool(parameter[0].unit.params[parameter[1]][3])

    def import_spelled(self, modules: Values) -> bool:
        """Have ``modules``, which texts spell, be what is imported by names that nobody tells.

        Of those that come from elsewhere (an attribute, a text that a test has found to be one).
        Whether one of them is new.
        """
        found = False
        for value, is_open in self._imported.items() if modules else ():
            known = self._origins.known(value)
            if is_open or not known or self._engine.unknown_id in known:
                self._imported[value] = True
                found = self._origins.tell(value, modules) or found
        return found

    def recognise(self) -> bool:
        """Ask classes that unknown values may be of for what else is done with them (duck typing).

        Whether something new was asked.
        """
        return self._recognition.ask()

    def _settle(self, use: _Open, value: int) -> None:
        kind = self._engine.values[value]
        tag = kind[0]
        if use.use == "call":
            self._settle_call(use, kind)
        elif use.use == "named":
            self._settle_named(use, kind)
        elif use.use == "listed":
            self._settle_listed(use, kind)
        elif use.use == "handed":
            self._settle_handed(use, value)
        elif use.use == "spelled":
            if tag in ("I", "C", "M"):
                self._growth.stand(self.spelled, (value, use.name), use.demand)
        elif use.use == "filled":
            if tag in ("I", "C"):
                self._growth.stand(self.filled, value, use.demand)
                at = use.demand
                self._growth.note_unresolved(at.source, kind[1].id, at.evidence, at.pos)
        elif use.use == "made":
            if tag in ("I", "C", "M"):
                self._growth.stand(self.made, (value, *use.name), use.demand)
        elif use.use == "imported":
            if tag == "M":
                self._growth.keep_module(kind[1])
                if use.name:  # in `sys.modules`: somebody's import has put it there
                    self._growth.effects.setdefault(kind[1])
                else:
                    by, _ = self._growth.guesses_by(use.demand)
                    known = self._growth.late.get(kind[1], by)
                    self._growth.late[kind[1]] = min(known, by)
        elif use.use == "matching":
            prefix, suffix = use.name
            if tag in ("I", "C"):
                self._classes.want_matching(kind[1], prefix, suffix, use.demand)
            elif value in self._origins.crowd:  # one of more objects than are told apart
                crowd = use.demand.guessed("unknown-receiver")
                self._classes.want_matching_anywhere(prefix, suffix, crowd)
            elif caught := self._engine.outside.caught_as(value):
                fitting = use.demand.guessed("unknown-receiver")
                self._classes.want_of_caught(caught, "matching", use.name, fitting)
        elif use.use == "stored":
            name, values = use.name
            if tag in ("I", "C") and name:
                self._engine.have_stored(value, name, values)
            elif tag == "I":
                self._engine.have_stored_somehow(value, values)
            elif tag == "K" and name:
                self._engine.have_stored_in_space(value, name, values)
            if tag == "C" or (tag == "I" and self._engine.is_metaclass(kind[1])):
                self._settle_descriptors(values, use.demand)
        elif use.use in ("write", "delete") and tag != "M":
            self._settle_store(use, value)
        elif use.use == "protocol" and use.name in REACHING and tag in ("I", "K"):
            if tag == "I" and self._is_asked_anew(use, kind):
                anew = FILLED_ANEW if self._engine.is_filled_anew(kind[1]) else ()
                for name in (*REACHING[use.name], *anew):
                    each = replace(use, name=name)
                    self._settle_member(each, kind[1], exact=kind[2], instance=True)
            self._reach_from(value, use)
        elif use.use == "protocol" and tag == "K":
            self._settle_parts(use, value)
        elif use.use == "protocol" and tag == "C" and use.name == "__init_subclass__":
            self._engine.join_made_beside(use.value, kind[1])
            self._settle_member(use, kind[1], exact=True, instance=False)
        elif use.use == "protocol" and tag == "C" and use.name not in _OF_CLASSES:
            for metaclass in self._engine.metaclasses_of(kind[1]):
                self._settle_member(use, metaclass, exact=False, instance=True)
            by_class = _ASKED_OF_CLASSES.get(use.name)
            if by_class is not None:
                self._settle_member(
                    replace(use, name=by_class), kind[1], exact=kind[2], instance=False
                )
            if use.name == "__instancecheck__":
                self._classes.want_what_is_checked(kind[1], use.demand)
        elif tag in ("I", "C"):
            alike = use.use == "protocol" and tag == "I" and use.name not in _ASKED_EACH_TIME
            if not alike or self._is_asked_anew(use, kind):
                self._settle_member(use, kind[1], exact=kind[2], instance=tag == "I")
            if use.use == "protocol" and tag == "I":
                self._settle_parts(use, value)
                for name in self._asked_beside(use.name, kind[1]):
                    each = replace(use, name=name)
                    self._settle_member(each, kind[1], exact=kind[2], instance=True)
        elif tag in ("NS", "ND"):
            self._settle_namespace(use, kind)
        elif use.use in _ACCESSES and tag == "M":
            self._names.want_attribute(kind[1], use.name, use.demand)
        elif tag == "XI" and use.use in ("read", "protocol"):
            caught = self._engine.outside.caught_as(value)
            demand = use.demand.guessed("unknown-receiver")
            steps = (use.name, STEPS[use.name]) if use.name in STEPS else (use.name,)
            for name in steps if caught else ():
                self._classes.want_of_caught(caught, "read", name, demand)
            if caught and value != use.value:  # that it is another one is not told
                self._settle_unknown(use)
            elif not caught and value == use.value:  # of a subclass, where its class has none
                extended = self._engine.outside.extended_as(value)
                self._classes.want_of_caught(extended, "extended", use.name, demand)
        elif value in self._origins.crowd and use.use not in _NAMELESS:
            # One of more objects than are told apart: any live class that has it.
            self._classes.want_anywhere(use.name, use.demand.guessed("unknown-receiver"))
            self._settle_unknown(use)
        elif tag == "U":
            self._settle_unknown(use)

    def _asked_beside(self, name: str, class_: Class) -> Collection[str]:
        """What says more of an instance of ``class_`` where it is asked for a special method."""
        if name == "__reduce_ex__" and self._engine.is_filled_anew(class_):
            return FILLED_ANEW
        if name == "__hash__" and self._engine.hashes_no_more(class_):
            return ("__eq__",)
        return ()

    def _settle_unknown(self, use: _Open) -> None:
        """Nobody knows what it is: whoever has a telling attribute; of common ones, who waits."""
        demand = use.demand.guessed("unknown-receiver")
        if _tells(use):
            self._classes.want_anywhere(use.name, demand)
            self._note_gap(use, use.name, "unknown-receiver")
        elif use.use in ("read", "protocol") and use.name not in _OF_ANY:
            self._classes.want_of_waiting(use.name, demand)

    def _settle_handed(self, use: _Open, value: int) -> None:
        """Code outside has the object, or what a container holds."""
        kind = self._engine.values[value]
        if kind[0] in ("I", "C"):
            self._classes.hand(kind[1], below=not kind[2])
            if self._to_whom.get(kind[1], (-1, use.demand))[0] < use.name:
                self._to_whom[kind[1]] = use.name, use.demand
                whom = max(use.name, self._any_to_whom)
                self._classes.want_for_others(kind[1], use.demand, _WHOSE[whom])
            called = self._engine.find_member(kind[1], "__call__") if kind[0] == "I" else None
            if called is not None and self._is_to_be_called(kind[1]):
                self._classes.want_member(called, "__call__", use.demand)
        elif kind[0] != "U":
            held = self._handed_with(self._engine.only(value))
            self.hand(held, use.demand, _WHOSE[use.name])
        elif use.name > self._any_to_whom:  # what the library had, perhaps
            self._any_to_whom = use.name
            for class_, (whom, demand) in self._to_whom.items():
                if whom < use.name:
                    self._classes.want_for_others(class_, demand, _WHOSE[use.name])

    def _handed_with(self, values: Values) -> Values:
        """What whoever has ``values`` gets at: many calls of what nobody knows pass the same."""
        held = self._held.get(values)
        if held is None:
            held = self._held[values] = self._engine.handed_with(values)
        return held

    def _is_to_be_called(self, class_: Class) -> bool:
        """Whether instances may stand for functions: they have few methods to be used by else.

        One with many, an application that can be called, is handed over for those.
        """
        public = {
            name
            for k in self._engine.mro(class_)
            for name, pieces in k.info.members.items()
            if not name.startswith("_")
            and any(k.module.summary.pieces[index].kind == "def" for index in pieces)
        }
        return len(public) <= _FEW_METHODS

    def _settle_named(self, use: _Open, name: Value) -> None:
        """``getattr``, ``setattr`` or ``delattr`` of a value, by this name."""
        demand = use.demand
        receiver, how, of_many = use.name
        if of_many and name[0] != "S":  # some name of some module is everything there is
            self._growth.note_unresolved(demand.source, "…", demand.evidence, demand.pos)
        elif name[:2] == _SOME_TEXT:
            self.note("spelled", receiver, how, demand.guessed())
            if is_name(name):
                self.note("made", receiver, (how, name[2]), demand.guessed())
            self._growth.note_unresolved(demand.source, "…", demand.evidence, demand.pos)
        elif name[0] == "S":
            self.note(how, receiver, name[1], demand)
        elif name[0] == "N" and (name[1] or name[2]):
            self.note("matching", receiver, (name[1], name[2]), demand)
        elif name[0] in ("N", "U"):
            demand = demand.guessed()
            tag, *of = self._engine.values[receiver]
            owner = "…"
            if tag in ("I", "C"):
                owner = of[0].id
                self._classes.want_all(of[0], "dir", demand, below=not of[1])
                if tag == "I" and how == "read":
                    self.ask_by_names(of[0], self._engine.unknown, demand)
            elif tag == "M":
                owner = of[0]
                if self._engine.intern(name) in self._origins.crowd:
                    # More names than are told apart: those that code asks anything for.
                    self._growth.stand(self.listed, owner, demand)
                else:
                    self._names.want_public(owner, demand)
            else:
                self.note("spelled", receiver, how, demand)
            self._growth.note_unresolved(demand.source, owner, demand.evidence, demand.pos)

    def _settle_member(self, use: _Open, class_: Class, *, exact: bool, instance: bool) -> None:
        """``use.name`` on the class, or on an instance of it."""
        classes, engine = self._classes, self._engine
        name, demand = use.name, use.demand
        found = engine.find_member(class_, name)
        if found is None:
            for above in sorted(engine.open_bases(class_, instances=instance)):
                self.note(use.use, above, name, demand)
        if found is None and instance:
            classes.ask_base(class_, name, demand)
        if found is not None:
            for owner in (found, *engine.instead_of(class_, found, name)):
                classes.want_member(owner, name, demand)
                if use.use == "read":
                    classes.want_descriptor(owner, name, demand)
            if use.use == "read" and instance and engine.falls_back(class_, found, name):
                self.ask_by_names(class_, engine.single(("S", name)), demand)
            if not instance and not engine.binds(found, name):
                self._settle_by_metaclass(use, class_)
            # An iterator, which gives itself: it is driven.
            step = STEPS.get(name) if instance else None
            stepping = engine.find_member(class_, step) if step else None
            if step and stepping is not None:
                classes.want_member(stepping, step, demand)
        elif instance and name in ORDERING:
            classes.want_ordering(class_, demand)
        elif instance and name == "__getitem__":
            classes.want_missing(class_, demand)
        elif instance and name == "__contains__":  # 6.10.2: by iteration, which is driven
            self._settle_member(replace(use, name="__iter__"), class_, exact=exact, instance=True)
            self._drive(class_, demand)
        elif instance and name == "__iter__":  # 3.3.7: the old protocol
            old = engine.find_member(class_, "__getitem__")
            if old is not None:
                classes.want_member(old, "__getitem__", demand)
        elif not instance and not name.startswith("__"):
            self._settle_by_metaclass(use, class_)
        elif name == "__annotations__":
            classes.want_all(class_, "hints" if instance else "annotated", demand, below=not exact)
        elif name == "__subclasses__":
            classes.want_all(class_, "subclasses", demand, below=not exact)
        elif instance and not name.startswith("__"):
            fallback = engine.find_member(class_, "__getattr__")
            if fallback is not None and engine.lacks(class_, name):
                self.ask_by_names(class_, engine.single(("S", name)), demand)
        if not exact:
            classes.want_override(class_, name, demand)

    def _is_asked_anew(self, use: _Open, instance: Value) -> bool:
        """Whether instances of that class have not been asked the same from as near.

        Since more is known of bases, the same may find another member.
        """
        demand = use.demand
        key = use.use, use.name, instance, demand.certainty, demand.evidence
        based, distance = self._engine.based, self._growth.distance_by(demand)
        known = self._asked_alike.get(key)
        if known is not None and known[0] == based and known[1] <= distance:
            return False
        self._asked_alike[key] = based, distance
        return True

    def _settle_by_metaclass(self, use: _Open, class_: Class) -> None:
        """``use.name`` on a class that does not bind it."""
        for metaclass in self._engine.metaclasses_of(class_):
            self._settle_member(use, metaclass, exact=False, instance=True)

    def _drive(self, class_: Class, demand: Demand) -> None:
        """What iterators of instances are asked for."""
        engine = self._engine
        owner = engine.find_member(class_, "__iter__")
        for member in sorted(engine.member_values(owner, "__iter__")) if owner is not None else ():
            kind = engine.values[member]
            for made in sorted(engine.returned(kind[1])) if kind[0] == "F" else ():
                iterator = engine.values[made]
                found = engine.find_member(iterator[1], "__next__") if iterator[0] == "I" else None
                if found is not None:
                    self._classes.want_member(found, "__next__", demand)

    def _settle_parts(self, use: _Open, container: int) -> None:
        """A special method of a builtin container asks what that holds (for ``%``: a tuple).

        So does one that is generated for a record, of its fields.
        """
        key = (container, use.name, self._growth.doubts(use.demand))
        distance = self._growth.distance_by(use.demand)
        asked = self._asked_inside(container, use.name)
        known = self._asking_parts.get(key)
        if known is not None and known.distance <= distance:
            if known.asked == asked:
                return
            use, distance = known.use, known.distance
        self._asking_parts[key] = _Inside(use, distance, asked)
        for part, name in asked:
            self.note("protocol", part, name, use.demand)

    def _asked_inside(self, container: int, dunder: str) -> list[tuple[int, str]]:
        """What that special method of a container asks of what it holds by now."""
        key = container, dunder
        asked = self._parts.get(key)
        if asked is None:
            engine = self._engine
            kind = engine.values[container]
            names = list(OF_PARTS.get(dunder, ()))
            if dunder == "__str__" and kind[1] == "tuple":
                names.append("__str__")
            if dunder == "__contains__":  # 6.10.2
                names.append("__eq__")
            held = engine.held_in(engine.only(container), (dunder,)) if names else EMPTY
            asked = [(part, name) for part in sorted(held) for name in names]
            if dunder in _CHECKS and kind[0] == "K":  # a tuple of classes
                held = engine.elements_cell(container).values
                asked += [(part, dunder) for part in sorted(held)]
            self._parts[key] = asked
        return asked

    def _reach_from(self, value: int, use: _Open) -> None:
        """What copies or pickles an object asks all that it gets at from there the same.

        That may grow: :meth:`reach` asks again. Of several who copy it, the nearest asks.
        """
        key = (value, use.name, self._growth.doubts(use.demand))
        known = self._reaching.get(key, use)
        distance = self._growth.distance_by
        if known is not use and distance(known.demand) <= distance(use.demand):
            return
        self._reaching[key] = use
        held = self._reached.get((value, use.name))
        if held is None:
            found = self._written_of(value)
            held = self._reached[value, use.name] = sorted(self._engine.objects_in(found))
            held += sorted(v for v in found if self._engine.values[v][0] == "K")
        for part in held:
            self.note("protocol", part, use.name, use.demand)

    def _written_of(self, value: int) -> Values:
        """What an object holds, and what its class says that is written of it (``__getstate__``)."""
        engine = self._engine
        itself, kind = engine.only(value), engine.values[value]
        found = engine.held_in(itself, ()) | engine.state_of(itself)
        for name in COPYING["copy.deepcopy"] if kind[0] == "I" else ():
            owner = engine.find_member(kind[1], name)
            members = engine.member_values(owner, name) if owner is not None else EMPTY
            for member in map(engine.values.__getitem__, members):
                found = found | (engine.returned(member[1]) if member[0] == "F" else EMPTY)
        return found

    def _forget_parts(self) -> None:
        self._parts.clear()
        self._reached.clear()
        self._held.clear()

    def _settle_listed(self, use: _Open, kind: Value) -> None:
        """A name of ``vars(value)`` or ``dir(value)``, or all: what its class brings to that."""
        (name, how, tests), demand = use.name, use.demand
        if how == "outside":
            self._settle_standing_in(kind, demand)
            return
        of_class = self._engine.values[use.value][-1] == "__class__"
        if kind[0] == "U" and name == f.ALL and (how == "dir" or of_class):
            self._growth.note_unresolved(demand.source, "…", demand.evidence, demand.pos)
        if kind[0] == "M":
            self._growth.stand(self.listed, kind[1], demand)
            module = self._growth.program.module(kind[1])
            if module is not None and how == "dir" and "__dir__" in module.summary.scope:
                self._names.want_name(module, "__dir__", demand)
            if tests:
                self._growth.stand(self.tested, (kind[1], tests), demand)
        if kind[0] != "C" and (kind[0] != "I" or how == "vars"):
            return  # what an instance holds, somebody has stored there
        _, class_, exact = kind
        of_any = kind[0] == "C" and exact is None and how == "vars"
        if name == f.ALL:
            self._classes.want_all(class_, "line" if of_any else how, demand, below=not exact)
        elif of_any:
            self._classes.want_in_line(class_, name, demand)
        elif name == "__annotations__":
            self._classes.want_all(class_, "annotated", demand, below=not exact)
        elif name in class_.info.members:
            self._classes.want_member(class_, name, demand)

    def _settle_namespace(self, use: _Open, namespace: Value) -> None:
        """A function is given ``globals()`` or ``vars(C)``: whether it reads names of that."""
        if use.name not in _READING_NAMESPACES.get(use.use, ()):
            return
        owner = self._engine.values[namespace[1]] if namespace[0] == "ND" else namespace
        demand = use.demand.guessed()
        if owner[0] == "C":
            self._classes.want_all(owner[1], "vars", demand, below=not owner[2])
        elif owner[0] in ("M", "NS"):
            self._growth.stand(self.listed, owner[1], demand)
            self._note_gap(use, owner[1], "dynamic-attribute")

    def _settle_standing_in(self, kind: Value, demand: Demand) -> None:
        """The object is in the place of something outside, which uses all it has and gives.

        Of one that extends a class outside, that class tells what is used, but for names that
        it may lack: whoever imports of a module asks what is in its place (``ModuleType``).
        """
        if kind[0] not in ("I", "C"):
            return
        _, class_, exact = kind
        for asked in _ANSWERING if kind[0] == "I" else ():
            self._classes.want_found(class_, asked, demand)
        demand = demand.guessed()
        if any(base not in INERT_BASES for base in self._engine.external_bases(class_)):
            return
        self._classes.want_all(class_, "dir", demand, below=not exact)
        for k in self._engine.mro(class_):
            for name in k.info.members:
                for method in map(
                    self._engine.values.__getitem__, self._engine.member_values(k, name)
                ):
                    if method[0] == "F" and not name.startswith("_"):
                        for given in sorted(self._engine.returned(method[1])):
                            self.note("listed", given, (f.ALL, "outside", ()), demand)

    def _settle_descriptors(self, stored: Values, demand: Demand) -> None:
        """A class gets ``stored``: its methods run when that is read or stored of an instance."""
        for value in sorted(stored):
            kind = self._engine.values[value]
            if kind[0] == "I" or (kind[0] in OPEN and value != self._engine.unknown_id):
                for name in DESCRIBING:
                    self.note("protocol", value, name, demand)

    def _settle_store(self, use: _Open, value: int) -> None:
        """``.name`` of an instance is stored or deleted; on a class it is replaced or taken away."""
        kind = self._engine.values[value]
        name, demand = use.name, use.demand
        how: f.Access = "write" if use.use == "write" else "delete"
        caught = self._engine.outside.caught_as(value)
        if kind[0] == "I":
            self._classes.want_notified(kind[1], name, how, demand, below=not kind[2])
        elif kind[0] == "C":
            for metaclass in self._engine.metaclasses_of(kind[1]):
                self._classes.want_notified(metaclass, name, how, demand, below=False)
            if how == "write":
                return
            for owner in self._engine.needed_to_delete(kind[1], name):
                self._classes.want_member(owner, name, demand)
        elif caught:
            unknown = demand.guessed("unknown-receiver")
            self._classes.want_of_caught(caught, how, name, unknown)
        elif kind[0] == "U" and _tells(use):
            unknown = demand.guessed("unknown-receiver")
            self._classes.want_notified_anywhere(name, how, unknown)
            self._note_gap(use, name, "unknown-receiver")

    def ask_unknown(self, name: str, demand: Demand) -> None:
        """A text that is run reads ``name`` of an object that nobody knows: as where code does."""
        if name in _OF_ANY:
            return
        guessed = demand.guessed("unknown-receiver")
        if name in _COMMON:
            self._classes.want_of_waiting(name, guessed)
        else:
            self._classes.want_anywhere(name, guessed)

    def ask_by_name(self, class_: Class, name: str, demand: Demand) -> None:
        """``__getattr__`` of an instance, if it has one, is called for ``name``."""
        self.ask_by_names(class_, self._engine.single(("S", name)), demand)

    def ask_by_names(self, class_: Class, names: Values, demand: Demand) -> None:
        """``__getattr__`` of an instance, if it has one, is called for any of ``names``."""
        engine = self._engine
        owner = engine.find_member(class_, "__getattr__")
        if owner is None or not self._asked_by_names.is_new((owner, names), demand):
            return
        self._classes.want_member(owner, "__getattr__", demand)
        for member in engine.member_values(owner, "__getattr__"):
            kind = engine.values[member]
            if kind[0] == "F" and len(kind[1].unit.params) > 1:
                self._growth.do_by(demand, partial(self.bind, kind[1], 1, names))

    # --- calls

    def _settle_call(self, use: _Open, kind: Value) -> None:
        """The value is called with ``use.name``, what is :class:`Given`."""
        match kind[0]:
            case "F" | "GE" | "CM":
                self._call_function(use, kind[1])
            case "B":
                self._call_function(use, kind[1], receiver=kind[2])
            case "C":
                self._classes.make_instance(kind[1], use.demand)
                instance = ("I", kind[1], kind[2])
                self._call_member(use, instance, "__new__")
                self._call_member(use, instance, "__init__")
            case "I":
                self._call_member(use, kind, "__call__")
                if not kind[2]:
                    self._classes.want_override(kind[1], "__call__", use.demand)
            case "PT":
                self._call_partial(use, kind)
            case "U":
                demand = use.demand.guessed("unknown-receiver")
                if self._engine.intern(kind) in self._origins.crowd:  # more than are told apart
                    self._growth.note_unresolved(demand.source, "…", "unknown-callee", demand.pos)
                self._classes.want_of_waiting("__call__", demand)
                self._hand_given(use.name, demand, self._engine.values[use.value])
            case tag if tag in CALLABLES_OUTSIDE:
                self._call_outside(use, kind)
            case _:
                pass

    def _hand_given(self, given: Given, demand: Demand, callee: Value) -> None:
        """Whoever is called that nobody knows gets what is passed."""
        passed = EMPTY.union(*given.args, *(v for _, v in given.keywords), given.spread)
        handed = self._handed_with(passed)
        self.hand(handed, demand)
        if callee[0] == "A":
            self.pass_by_name(callee[2], handed, demand)

    def _call_outside(self, use: _Open, kind: Value) -> None:
        given: Given = use.name
        engine = self._engine
        callee = engine.intern(kind)
        held = engine.values[kind[1]] if kind[0] == "KM" else kind
        # Who passes a container to code of another module has it filled there.
        where = held[2] if held[0] == "K" and held[2] is not None else given.where
        lookup = engine.called_outside(callee, given.args, given.keywords, given.spread, where)
        self.called_outside.setdefault((given.where, lookup, use.demand.pos))

    def _call_partial(self, use: _Open, partial: Value) -> None:
        """``functools.partial(f, …)`` is called: ``f``, with what it holds as well."""
        _, callees, first, names, *_ = partial
        given: Given = use.name
        itself = self._engine.intern(partial)
        if itself in given.partials or len(given.partials) >= _MOST_PARTIALS:
            return  # `f = partial(f, …)`, wherever; of several, each order is another way
        passed = dict(given.keywords)
        whole = Given(
            args=(*first, *given.args),
            keywords=(*((name, v) for name, v in names if name not in passed), *given.keywords),
            spread=given.spread,
            where=given.where,
            partials=given.partials | {itself},
        )
        for callee in sorted(callees):
            self.note("call", callee, whole, use.demand)

    def _call_member(self, use: _Open, instance: Value, name: str) -> None:
        found = self._engine.find_member(instance[1], name)
        if found is None:
            self._classes.ask_base(instance[1], name, use.demand)
            return
        receiver = self._engine.intern(instance)
        for owner in (found, *self._engine.instead_of(instance[1], found, name)):
            self._classes.want_member(owner, name, use.demand)
            for member in self._engine.member_values(owner, name):
                kind = self._engine.values[member]
                if kind[0] == "F":
                    self._call_function(use, kind[1], receiver=receiver)

    def _call_function(
        self, use: _Open, function: Function, *, receiver: int | None = None
    ) -> None:
        given: Given = use.name
        if use.called is None:
            use.called = set()
        if function not in use.called:  # many objects have one method
            use.called.add(function)
            called = use.demand
            if called.kind is not ReferenceKind.CALL:
                called = replace(called, kind=ReferenceKind.CALL)
            self._growth.keep_function(function, called)
        if receiver not in self._passed.get((given, function), ()):  # as many calls have passed it
            self._growth.do_by(use.demand, partial(self._pass, given, function, receiver))

    def _pass(self, given: Given, function: Function, receiver: int | None) -> None:
        """Bind what a call of ``function`` passes."""
        self._passed.setdefault((given, function), set()).add(receiver)
        params, signature = function.unit.params, function.signature
        args = given.args if receiver is None else (self._engine.only(receiver), *given.args)
        free = dict.fromkeys((*signature.positional, *signature.keyword_only))
        for place, values in enumerate(args):
            if place < len(params) and params[place][1] in ("po", "pk"):
                self.bind(function, place, values)
                free.pop(place, None)
            elif signature.variadic is not None:
                self.bind(function, signature.variadic, values)
        for name, values in given.keywords:
            index = signature.by_name.get(name, signature.rest)
            if index is not None:
                self.bind(function, index, values)
                free.pop(index, None)
        if given.spread:
            rest = (signature.variadic, signature.rest)
            for index in (*free, *(each for each in rest if each is not None)):
                self.bind(function, index, given.spread)

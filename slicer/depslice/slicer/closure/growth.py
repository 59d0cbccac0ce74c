"""The growing closure: what keeping a piece means, and the worklist it goes on.

The one object that all rules of this package share. It knows nothing of names, values or
classes' members. What it adds to a kept piece is what no statement is without: the statements
around it, with what decides whether it runs at all (Ferrante, Ottenstein and Warren 1987:
control dependence; here coarse, by compound statement).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import Final, TypeVar

from depslice.callgraph import summary as s
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.facts import Fact
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.model import Certainty, ReferenceKind, Site, Unresolved
from depslice.callgraph.program import Module, Program
from depslice.callgraph.summary import Piece, unpack
from depslice.slicer.closure.importing_code import importing_statements
from depslice.slicer.closure.model import Closure, Demand, PieceKey
from depslice.slicer.pieces import (
    class_index,
    enclosing_pieces,
    holding_piece,
    outer_piece,
    start_of,
    units_of_piece,
)
from depslice.slicer.wiring import ImportEdge, import_closure, import_edges, with_packages

_Key = TypeVar("_Key", bound=Hashable)
_ENCLOSES = "encloses"
_MANY: Final = 1 << 24
"""More references than there can be in a chain, and more guesses."""
_SAYING: Final = {"certainty": 0, "guesses": 1, "depth": 2, "budget": 2}
"""Which option is named that left something out: the one that asks least when it is changed."""
OBSERVED = "observed"


@dataclass(slots=True, kw_only=True)
class Followed:
    """A unit of a kept piece whose facts are followed, for the symbol ``item``; with its ``place``.

    ``facts`` is the list that was followed last (the engine makes a new one when it finds
    more), ``seen`` every fact so far. ``supposed``: by how many guesses the module runs, as in
    :class:`Demand`. ``made`` is the class that a class statement makes,
    ``bases`` are those it names as its bases.
    """

    module: Module
    piece: Piece
    item: str
    function: Function
    place: int
    supposed: tuple[int, int] = (0, 0)
    facts: list[Fact] = field(default_factory=list)
    seen: set[Fact] = field(default_factory=set)
    bases: set[Class] = field(default_factory=set)
    made: Class | None = None


class Asked:
    """What rules have been asked for so far, each to be answered once.

    From where counts: what asks again, nearer to a target, brings nearer what it asks for (and
    what was too deep for the first need not be for the second). What is asked with less certainty
    than is followed is only omitted, and stands in nobody's way.
    """

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self._distances: dict[Hashable, int] = {}
        self._doubted: dict[Hashable, int] = {}

    def __contains__(self, what: Hashable) -> bool:
        return what in self._distances

    def __len__(self) -> int:
        return len(self._distances)

    def is_new(self, what: Hashable, demand: Demand) -> bool:
        """Whether nobody as near has asked for ``what``; from now on somebody has."""
        distance = self._growth.distance_by(demand)
        distances = self._doubted if self._growth.doubts(demand) else self._distances
        known = distances.get(what)
        if known is not None and known <= distance:
            return False
        distances[what] = distance
        return True


class Growth:
    """The closure so far, and the kept pieces whose facts are still to be followed.

    ``roots`` are the modules of the targets. ``effects`` are modules that are kept for what
    they do when they run: somebody must import them. ``import_alias`` is the one request
    that goes upwards from here, to the rules of names.
    """

    import_alias: Callable[[Module, Piece, str, Demand], None]

    def __init__(
        self,
        program: Program,
        engine: Engine,
        *,
        depth: int | None,
        whole_classes: bool,
        least: Certainty,
        guesses: int | None,
        most: int | None,
        late: Mapping[str, int] = MappingProxyType({}),
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.program = program
        self.engine = engine
        self.closure = Closure()
        self.moved: list[str] = []
        """Items that have come in, or nearer, in order."""
        self._begun: set[str] = set()  # modules of which what the future brings is kept
        self.followed_anew: list[Function] = []
        """Units whose facts are to be followed again, as if none had been."""
        self._far: dict[str, int] = {}  # of each item, as in `distance_by`
        self._stage = 0  # so many guesses in a row lead to what is followed now
        self._put_off: list[tuple[int, Callable[[], None]]] = []  # till so many are followed
        self._before: dict[str, int] = {}  # of those behind guesses: how many before the last
        self._queue: dict[int, deque[tuple[Module, int, str]]] = {}  # by how far
        self.followed: dict[Function, Followed] = {}
        self.roots: dict[str, None] = {}
        self.effects: dict[str, None] = {}
        self.late: dict[str, int] = {}
        """Modules that code of the slice imports by names that callers pass: by how many guesses."""
        self.as_values: set[PieceKey] = set()
        """Assignments of module scopes of which somebody has what they bind, not as a type alone."""
        self._wanted_by: dict[str, list[str]] = {}  # as in the demands: source -> items
        self._depth = depth
        # Which of two chains is the nearer one: that with fewer guesses, if these are counted; of
        # as many, the shorter. Where a depth is given, that counts first.
        self._guesses = guesses
        counted = int(guesses is not None)
        self._of_reference, self._of_guess = (
            (1, counted * _MANY) if depth is None else (_MANY, counted)
        )
        self.whole_classes = whole_classes
        self._least = least
        self._less = frozenset(each for each in Certainty if each.rank > least.rank)
        self._most = most
        self._progress = progress
        self._late = dict(late)  # modules that functions of the slice run: by how many guesses
        self._run_late: dict[str, tuple[int, int]] | None = None  # of them and what they import
        self._run_by_roots: dict[str, ImportEdge | None] | None = None

    # --- what is still to be followed

    @property
    def is_pending(self) -> bool:
        """Whether kept pieces are still to be followed, of those that come by so few guesses."""
        return any(True for _ in self._due())

    def _due(self) -> Iterator[int]:
        """How far those are."""
        return (far for far in self._queue if self.guesses_in(far) <= self._stage)

    def guess_on(self) -> bool:
        """Follow from now on what comes by one guess more in a row; whether there is such."""
        waiting = [*map(self.guesses_in, self._queue), *(guesses for guesses, _ in self._put_off)]
        if not waiting:
            return False
        self._stage = min(waiting)
        due = [then for guesses, then in self._put_off if guesses <= self._stage]
        self._put_off = [each for each in self._put_off if each[0] > self._stage]
        for then in due:
            then()
        return True

    def do_by(self, demand: Demand, then: Callable[[], None]) -> None:
        """Do what ``demand`` brings about, when so many guesses are followed as lead to it."""
        if self.doubts(demand):
            return
        guesses = self.guesses_in(self.distance_by(demand))
        if guesses <= self._stage:
            then()
        else:
            self._put_off.append((guesses, then))

    def follow(self, module: Module, index: int, item: str) -> None:
        """Have a kept piece followed, (again) as part of ``item``.

        The nearest first: what is brought nearer has to be followed anew.
        """
        self._queue.setdefault(self._far.get(item, 0), deque()).append((module, index, item))

    def next_piece(self) -> tuple[Module, int, str]:
        """The next one: module, index, item."""
        self._tell()
        nearest = min(self._due())
        waiting = self._queue[nearest]
        found = waiting.popleft()
        if not waiting:
            del self._queue[nearest]
        return found

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(len(self.closure.distances))

    # --- pieces

    def keep(self, module: Module, piece: Piece, demand: Demand, *, item: str = "") -> bool:
        """Keep one piece, as part of ``item``; whether it is in the slice afterwards."""
        key = (module.name, piece.index)
        if piece.kind == "future":
            return True
        if piece.kind == "import":
            if key not in self.closure.kept or key in self.closure.runs:
                for bound, *_ in piece.imports:
                    self.import_alias(module, piece, bound, demand)
            return True
        if piece.path[0] == "local":  # a class in a function is kept whole with it
            return self.keep(module, outer_piece(module, piece), demand)
        item = item or _item_of(module, piece) or demand.source
        within = self._note(item, demand)
        if key in self.closure.kept:
            return True
        if not within:
            return False
        self.closure.pieces_of.setdefault(item, {})[key] = None
        self._keep_in_place(module, piece, item)
        self.follow(module, piece.index, item)
        if piece.kind == "class" and self.whole_classes:
            self.keep_members(self.class_of(module, piece), demand)
        return True

    def take_as_value(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Somebody who is followed has what ``piece`` binds, not as a type alone."""
        if not self.doubts(demand):
            self.as_values.add((module.name, piece.index))

    def keep_all(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Keep ``piece`` and all that stands in it."""
        self.keep(module, piece, demand)
        for child in module.summary.pieces[piece.index + 1 :]:
            if child.path[0] == "local":  # of a class in a function: whole with that one
                continue
            if child.path[: len(piece.path)] != piece.path:
                break
            self.keep(module, child, demand)

    def keep_import(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Keep an import statement's place; its aliases are kept one by one."""
        if (module.name, piece.index) not in self.closure.kept:
            self._keep_in_place(module, piece, demand.source)

    def keep_function(self, function: Function, demand: Demand) -> None:
        """Keep what holds ``function``, which may run."""
        module = function.module
        piece = holding_piece(module, function.unit.index)
        # A closure or lambda runs; whoever made it is reached through its name.
        if function.unit.parent < 0 or (module.name, piece.index) not in self.closure.kept:
            self.keep(module, piece, demand)

    def keep_members(self, class_: Class, demand: Demand) -> None:
        """Keep every member of ``class_``."""
        for index in class_.info.pieces:
            piece = class_.module.summary.pieces[index]
            if piece.kind != "doc":
                self.keep(class_.module, piece, demand)

    def keep_docstring(self, module: Module) -> None:
        """Keep the docstring of ``module``, if it has one."""
        for piece in module.summary.pieces[:1]:
            if piece.kind == "doc":
                self.closure.kept.setdefault((module.name, piece.index))
                self.keep_module(module.name)

    def keep_module(self, name: str) -> None:
        """Have the module there, and the packages it is in."""
        for package in with_packages(name):
            if package in self.program.files:
                self.closure.modules.setdefault(package)

    def class_of(self, module: Module, piece: Piece) -> Class:
        """The class that a ``class`` statement makes."""
        return self.engine.class_(module, class_index(module, piece))

    def item_of_class(self, class_: Class) -> str:
        """The symbol in whose name ``class_`` asks: itself, or of a local class what holds it."""
        module, info = class_.module, class_.info
        if info.piece >= 0 and module.summary.pieces[info.piece].path[0] != "local":
            return class_.id
        return _item_of(module, holding_piece(module, info.unit)) or class_.id

    def _keep_in_place(self, module: Module, piece: Piece, item: str) -> None:
        """Keep ``piece``, what stands around it, and what decides whether it runs."""
        self.keep_module(module.name)
        self.closure.kept[module.name, piece.index] = None
        inside = Demand.of(item, module, ReferenceKind.READ, _ENCLOSES, start_of(piece))
        if module.name not in self._begun:
            self._begun.add(module.name)
            for future in module.summary.pieces:
                if future.kind == "future":
                    self.closure.kept.setdefault((module.name, future.index))
        child = piece
        for holder in enclosing_pieces(module, piece):
            if holder.kind == "class":
                self.keep(module, holder, inside)
                return
            key = (module.name, holder.index)
            if key not in self.closure.kept:
                self.closure.kept[key] = None
                self.follow(module, holder.index, item)
            self._control(module, holder, child, inside)
            child = holder

    def _control(self, module: Module, holder: Piece, child: Piece, demand: Demand) -> None:
        """Keep what ``child`` depends on in the compound statement ``holder``.

        Of a loop all, of a ``try`` the body (its part before an import that falls back),
        and how its handlers leave.
        """
        if child.path[: len(holder.path)] != holder.path:
            raise LookupError(f"{child.path} does not stand in {holder.path}")
        depth = len(holder.path)
        if holder.kind not in ("loop", "try"):
            return
        for sibling in [p for p in module.summary.pieces if p.parent == holder.index]:
            if holder.kind == "loop" or _decides_in_try(sibling, child, depth):
                self.keep_all(module, sibling, demand)

    # --- items

    def _note(self, item: str, demand: Demand) -> bool:
        """Record how ``item`` was first reached; ``False`` when the options leave it out."""
        closure = self.closure
        # What stands in a class is nowhere without its header: no option leaves that out.
        encloses = demand.evidence == _ENCLOSES
        if self.doubts(demand):
            self._omit(item, demand)
            return item in closure.distances
        known = closure.demands.get((demand.source, item))
        if known is None:
            self._wanted_by.setdefault(demand.source, []).append(item)
        if known is None or _surer(demand) < _surer(known):
            closure.demands[demand.source, item] = demand
        if item in closure.distances:
            if self.distance_by(demand) < self._far.get(item, 0):
                self._bring_nearer(item, demand)
            return True
        if not encloses and (self._is_too_deep(demand) or self._is_full()):
            self._omit(item, demand)
            return False
        self._place(item, demand)
        return True

    def _place(self, item: str, demand: Demand) -> None:
        """``item`` is as far as ``demand`` has it."""
        self._far[item] = far = self.distance_by(demand)
        if self.guesses_in(far):
            self._before[item] = self._before_last(demand)
        else:
            self._before.pop(item, None)
        self.closure.distances[item] = self._references_to(demand)
        self.closure.reasons[item] = demand
        self.moved.append(item)
        self._tell()

    def _bring_nearer(self, item: str, demand: Demand) -> None:
        """``item`` is nearer by ``demand`` than it was first reached; so is what it asks for."""
        nearer = deque([(item, demand)])
        while nearer:
            item, demand = nearer.popleft()
            if self.distance_by(demand) >= self._far.get(item, 0):
                continue
            self._place(item, demand)
            self._follow_anew(item)
            for wanted in self._wanted_by.get(item, ()):
                nearer.append((wanted, self.closure.demands[item, wanted]))

    def _follow_anew(self, item: str) -> None:
        """Have the pieces of ``item`` followed again, for what has been asked from farther."""
        for name, index in self.closure.pieces_of.get(item, ()):
            module = self.program.module(name)
            assert module is not None
            units = (self.engine.function(module, each) for each in units_of_piece(module, index))
            stale = [self.followed[each] for each in units if each in self.followed]
            if any(each.seen for each in stale):
                for each in stale:
                    each.seen.clear()
                    self.followed_anew.append(each.function)
            self.follow(module, index, item)  # (it may wait, farther away)

    def distance_by(self, demand: Demand) -> int:
        """How far from a target what ``demand`` asks for would be: to be compared, no more."""
        far = self._far.get(demand.source, 0) + self._of_reference
        if not self._of_guess:
            return far
        there = far // _MANY if self._depth is None else far % _MANY
        guess = demand.certainty is Certainty.POSSIBLE
        live, before = demand.supposed
        if live:  # who guesses a class may guess what is done with it: as one guess
            guesses = max(max(there, before) + guess, live, self._stage)
        elif there < self._stage:  # what fewer guesses ask for has been asked for
            guesses = self._stage + guess
        else:
            guesses = there + guess
        return far + (guesses - there) * self._of_guess

    def guesses_in(self, distance: int) -> int:
        """How many guesses in a row are on the way to what is so far; none where they do not count."""
        if not self._of_guess:
            return 0
        return distance // _MANY if self._depth is None else distance % _MANY

    def guesses_by(self, demand: Demand) -> tuple[int, int]:
        """How many guesses in a row are on the way to what ``demand`` asks for, and before the last."""
        guesses = self.guesses_in(self.distance_by(demand))
        return guesses, self._before_last(demand) if guesses else 0

    def _before_last(self, demand: Demand) -> int:
        source = demand.source
        before = self.guesses_to(source)
        if before and self._is_variable(source):  # what it holds is guessed with it
            before = self._before.get(source, 0)
        return max(before, demand.supposed[1])

    def _is_variable(self, item: str) -> bool:
        pieces = [
            module.summary.pieces[index]
            for name, index in self.closure.pieces_of.get(item, ())
            if (module := self.program.module(name)) is not None
        ]
        return bool(pieces) and all(each.kind not in ("def", "class") for each in pieces)

    def guesses_to(self, item: str) -> int:
        """How many guesses in a row are on the way to ``item``, if it is in the slice."""
        return self.guesses_in(self._far.get(item, 0))

    def _references_to(self, demand: Demand) -> int:
        """The number of references by which what ``demand`` asks for would be reached."""
        return self.closure.distances.get(demand.source, 0) + 1

    def doubts(self, demand: Demand) -> bool:
        """Whether ``demand`` is less certain than what is followed, or one guess too many."""
        if demand.evidence == OBSERVED:
            return False
        return demand.certainty in self._less or self._is_one_too_many(demand)

    def _is_one_too_many(self, demand: Demand) -> bool:
        """Whether ``demand`` is a guess behind as many as are followed in a row."""
        if self._guesses is None or demand.certainty is not Certainty.POSSIBLE:
            return False
        return self.guesses_in(self.distance_by(demand)) > self._guesses

    @property
    def is_strict(self) -> bool:
        """Whether nothing but definite references is followed."""
        return self._least is Certainty.DEFINITE

    def stand(self, standing: dict[_Key, Demand], key: _Key, demand: Demand) -> None:
        """Have ``demand`` stand for what is yet to come, if none does that is followed."""
        if key not in standing or not self.doubts(demand):
            standing[key] = demand

    def omits(self, item: str, demand: Demand) -> bool:
        """Whether ``item`` would be new and is left out, if ``demand`` reached it; noted then."""
        if item in self.closure.distances:
            return False
        if self.doubts(demand) or self._is_too_deep(demand) or self._is_full():
            self._omit(item, demand)
            return True
        return False

    def _is_too_deep(self, demand: Demand) -> bool:
        return self._depth is not None and self._references_to(demand) > self._depth

    def _is_full(self) -> bool:
        return self._most is not None and len(self.closure.distances) >= self._most

    def _omit(self, item: str, demand: Demand) -> None:
        if self.doubts(demand):
            why = "certainty" if demand.certainty in self._less else "guesses"
        else:
            why = "depth" if self._is_too_deep(demand) else "budget"
        known = self.closure.omitted.get(item)
        if known is None or _SAYING[why] > _SAYING[known[0]]:
            self.closure.omitted[item] = why, self._references_to(demand)

    def first_item(self) -> str:
        """The first target, in whose name things are done that no reference asks for."""
        return next(iter(self.closure.distances))

    def note_unresolved(self, item: str, name: str, reason: str, pos: int) -> None:
        """Record something in ``item`` that analysis cannot tell."""
        line, column = unpack(abs(pos))
        site = Site(line=line, column=column)
        unresolved = Unresolved(source=item, name=name, reason=reason, site=site)
        self.closure.unresolved[unresolved] = None

    # --- modules

    def run_by_roots(self) -> dict[str, ImportEdge | None]:
        """The modules that importing the targets' modules runs, and by which import.

        Those too that functions of the slice are known to run (:mod:`.running_late`).
        """
        if self._run_by_roots is None:
            found = import_closure(self.program, (*self.roots, *self._late))
            self._run_by_roots = found
            self._add_imported_by_code(found)
            for importer in map(self.program.module, self._late):
                for edge in import_edges(self.program, importer) if importer is not None else ():
                    # Which of them a function imports may be for callers to say.
                    late = edge[3] in self._late and found[edge[3]] is None
                    if late and edge[3] not in _importers(found, edge[0]):
                        found[edge[3]] = edge
        return self._run_by_roots

    def guesses_to_run(self, module: Module) -> tuple[int, int]:
        """How many guesses in a row have ``module`` run, and before the last.

        There are some where only functions import it which are guessed themselves.
        """
        if not any(self._late.values()):
            return 0, 0
        if self._run_late is None:
            self._run_late = {}
            sure = [name for name, by in self._late.items() if not by]
            found = import_closure(self.program, (*self.roots, *sure))
            self._add_imported_by_code(found)
            for name, guesses in sorted(self._late.items(), key=itemgetter(1)):
                if guesses:
                    more = import_closure(self.program, (name,), found)
                    found |= more
                    self._run_late |= dict.fromkeys(more, (guesses, guesses - 1))
        return self._run_late.get(module.name, (0, 0))

    def _add_imported_by_code(self, found: dict[str, ImportEdge | None]) -> None:
        """Add what statements import that are none themselves: ``import_module("pkg.words")``.

        The edge of such a one has no name that it binds.
        """
        waiting = deque(found)
        while waiting:
            module = self.program.module(waiting.popleft())
            if module is None:
                continue
            for piece, names in importing_statements(self.program, self.engine, module):
                for name in names:
                    for each, edge in import_closure(self.program, (name,), found).items():
                        found[each] = edge or (module.name, piece.index, "", each)
                        waiting.append(each)

    def running(self) -> Iterator[Module]:
        """Those of :meth:`run_by_roots` that the program has."""
        for name in self.run_by_roots():
            module = self.program.module(name)
            if module is not None:
                yield module

    def runs(self, module: Module, piece: Piece) -> bool:
        """Whether ``piece`` runs when a target is used; what only a script does, in a target's."""
        return not piece.script or module.name in self.roots

    def looks_for(self, name: str) -> bool:
        """Whether the repository asks for an attribute by its name: ``hasattr(x, "__show__")``.

        The modules that run have; who asks by an attribute may be a method of who has it.
        """
        known = self.program.attachments.setdefault("special names", {})
        assert isinstance(known, dict)
        for module in self.running():
            texts = known.get(module.name)
            if texts is None:
                units = module.summary.units
                texts = known[module.name] = {name for unit in units for name in _asked_for(unit)}
            if name in texts:
                return True
        return False

    def kept_names(self, module: Module) -> set[str]:
        """The names of the module scope that the slice binds."""
        found: set[str] = set()
        for piece in module.summary.pieces:
            key = (module.name, piece.index)
            if piece.owner < 0 and key in self.closure.kept:
                found.update(piece.binds if piece.kind != "import" else ())
                found.update(self.closure.aliases.get(key, ()))
                found.update(self.closure.stars.get(key, ()))
        return found


def _surer(demand: Demand) -> tuple[int, tuple[int, int]]:
    """The less, the surer a reference is."""
    return demand.certainty.rank, demand.supposed


def _importers(edges: dict[str, ImportEdge | None], name: str) -> Iterator[str]:
    """``name``, and what it is reached from, one by one."""
    yield name
    while (edge := edges.get(name)) is not None:
        name = edge[0]
        yield name


def _item_of(module: Module, piece: Piece) -> str:
    """The symbol a piece belongs to; empty for pieces that define none."""
    if piece.owner < 0:
        return f"{module.name}:{piece.binds[0]}" if piece.binds else ""
    info = module.summary.classes[piece.owner]
    names = piece.binds or tuple(name for name in piece.mutates if name in info.members)
    owner = f"{module.name}:{info.qualname}"
    return f"{owner}.{names[0]}" if names else owner


def _decides_in_try(sibling: Piece, child: Piece, depth: int) -> bool:
    """Whether a part of a ``try`` decides on ``child``; both stand at that depth of it."""
    part, inside = sibling.path[depth], child.path[depth]
    if part == "handlers":
        return sibling.kind == "jump"
    before = sibling.kind == "import" and sibling.index < child.index
    return part == "body" and (inside != "body" or before)


def _asked_for(unit: s.Unit) -> Iterator[str]:
    """The special names that code asks objects for: ``hasattr(x, name)``, ``getattr(x, name, None)``."""
    texts = {op[1]: op[2] for op in unit.ops if op[0] == s.STRING and op[2][:2] == "__"}
    asking = {op[1] for op in unit.ops if op[0] == s.GLOBAL and op[2] in ("getattr", "hasattr")}
    for op in unit.ops if texts else ():
        if op[0] == s.CALL and op[2] in asking:
            yield from (texts[each] for each in op[3] if each in texts)

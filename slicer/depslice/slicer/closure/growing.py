"""Growing a closure: the rules put together, and the rounds in which they are asked.

Rules keep to one order, and ask only those below: :mod:`~depslice.slicer.closure.growth`,
then classes, builders, names, then what follows facts. Two requests go upwards, and are
wired here: a kept import statement asks for its aliases, a wanted member for its builders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.values import Class
from depslice.callgraph.errors import UnknownTarget
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.program import Module, Program
from depslice.callgraph.resting import without_collection
from depslice.callgraph.summary import Piece, pack
from depslice.slicer.closure.builders import Builders
from depslice.slicer.closure.circles import Circles
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.computed import ComputedNames
from depslice.slicer.closure.descriptors import Descriptors
from depslice.slicer.closure.following import Following
from depslice.slicer.closure.growth import OBSERVED, Growth
from depslice.slicer.closure.importing import Importing
from depslice.slicer.closure.model import Closure, Demand
from depslice.slicer.closure.names import Names
from depslice.slicer.closure.open_values import OpenValues
from depslice.slicer.closure.outside_state import OutsideState
from depslice.slicer.closure.running_late import modules_run_late
from depslice.slicer.model import GUESSES
from depslice.slicer.pieces import needs_instance, pieces_of_symbol, units_of_piece

_MOST_TIMES: Final = 3
"""So often a closure is grown, each time with modules that functions of it run."""


@without_collection()
def grow_closure(
    program: Program,
    engine: Engine,
    targets: Sequence[str],
    *,
    depth: int | None,
    whole_classes: bool,
    observed: Sequence[str] = (),
    spelled: Sequence[str] = (),
    least: Certainty = Certainty.POSSIBLE,
    guesses: int | None = GUESSES,
    most: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Closure:
    """The closure of the symbols ``targets`` (ids), and of those ``observed`` to be needed.

    ``depth``, ``whole_classes``, ``observed``, ``spelled``, ``least`` and ``guesses`` as in
    :func:`~depslice.slicer.slicing.slice_symbols`. When
    there are ``most`` items, the others are left out (``budget``). ``progress`` is told how many
    there are, as they come and before each statement that is followed.

    :raises UnknownTarget: an id that no module of the program defines.
    """
    modules = [_module_of(program, target) for target in targets]
    late: dict[str, int] = {}
    first: Closure | None = None
    for _ in range(_MOST_TIMES):
        growth = Growth(
            program,
            engine,
            depth=depth,
            whole_classes=whole_classes,
            least=least,
            guesses=guesses,
            most=most,
            late=late,
            progress=progress,
        )
        growing = _Growing(growth)
        growth.roots.update(dict.fromkeys(name.partition(":")[0] for name in spelled))
        growth.roots.update(dict.fromkeys(module.name for module in modules))
        for module, target in zip(modules, targets, strict=True):
            growing.add_target(module, target)
        for name in spelled:
            growing.add_spelled(name, targets[0])
        for name in observed:
            growing.add_observed(_module_of(program, name), name, targets[0])
        growing.run()
        closure, more = growth.closure, modules_run_late(growth)
        growing.release()
        if first is not None:
            closure.without_late, closure.late = first, tuple(late)
        if not more:
            break
        first = first or closure
        late |= more
    return closure


def _module_of(program: Program, symbol_id: str) -> Module:
    module = program.module(symbol_id.partition(":")[0])
    if module is None or symbol_id not in program.symbol_table(module):
        raise UnknownTarget(f"no symbol {symbol_id}")
    return module


class _Growing:
    """One closure: its targets, and the rounds."""

    def __init__(self, growth: Growth) -> None:
        self._growth = growth
        self._classes = Classes(growth)
        self._builders = Builders(growth, self._classes)
        self._names = Names(growth, self._classes, self._builders)
        self._classes.build_member = self._builders.build_member
        self._classes.fill_member = self._builders.fill_member
        self._classes.build_class = self._builders.build_class
        self._classes.build_absent = self._builders.build_absent
        self._classes.keep_subclasses = self._builders.keep_subclasses
        self._classes.keep_told = Descriptors(growth, self._classes).keep_told
        self._classes.meet_added = self._builders.added.meet
        growth.import_alias = self._names.import_alias
        self._importing = Importing(growth, self._names)
        self._circles = Circles(growth, self._importing)
        self._open = OpenValues(growth, self._classes, self._names)
        self._classes.ask_by_name = self._open.ask_by_name
        self._computed = ComputedNames(growth, self._classes, self._names, self._open)
        self._outside = OutsideState(growth, self._builders, self._names)
        self._following = Following(
            growth,
            classes=self._classes,
            names=self._names,
            importing=self._importing,
            open_values=self._open,
            computed=self._computed,
            outside=self._outside,
            added=self._builders.added,
        )

    def add_target(self, module: Module, symbol_id: str) -> None:
        """A symbol the caller asked for: all pieces that define it."""
        growth = self._growth
        growth.keep_module(module.name)
        growth.closure.distances[symbol_id] = 0
        demand = Demand.of(symbol_id, module, ReferenceKind.READ, "target")
        qualname = symbol_id.partition(":")[2]
        if not qualname:
            self._names.keep_whole(module, demand)
            return
        for piece in pieces_of_symbol(module, qualname):
            self._add_definition(module, piece, symbol_id, demand)

    def _add_definition(self, module: Module, piece: Piece, item: str, demand: Demand) -> None:
        """A statement that defines a target, and what it is useless without."""
        growth = self._growth
        self._classes.keep_as_value(module, piece, demand, item=item)
        self._open_to_callers(module, piece)
        if piece.kind == "class":
            self._add_class(growth.class_of(module, piece), demand)
            self._build(module, piece, demand)
        elif piece.owner < 0:
            self._build(module, piece, demand)
        elif needs_instance(module, piece):
            class_ = growth.engine.class_(module, piece.owner)
            self._classes.make_live(class_, demand)
            self._open_constructors(class_)
        if piece.owner >= 0 and piece.kind == "def":  # which gets the class, or an instance
            self._builders.build_class(growth.engine.class_(module, piece.owner))

    def _add_class(self, class_: Class, demand: Demand) -> None:
        """A class is a target, or what a target is another name of: all of it is asked for.

        Of instances that the slice makes of classes below it, too: those may override what is
        but a stub here.
        """
        self._growth.keep_members(class_, demand)
        below = replace(demand, certainty=Certainty.LIKELY, evidence="override")
        for name in class_.info.members:
            if name[:2] != "__" or name[-2:] == "__":  # `__name` is the class's own
                self._classes.want_override(class_, name, below)
        self._builders.added.ask_all()
        for index in class_.info.pieces:
            self._open_to_callers(class_.module, class_.module.summary.pieces[index])
        self._open_constructors(class_)

    def _build(self, module: Module, piece: Piece, demand: Demand) -> None:
        """What builds the variables of the module scope that a target's statement binds.

        An instance with ``__call__`` is a function to those who ask for it by name.
        """
        engine = self._growth.engine
        for name in piece.binds if piece.owner < 0 else ():
            values = [engine.values[v] for v in engine.name_values(module, name, None)]
            if piece.kind != "class":
                for class_ in [value[1] for value in values if value[0] == "C" and value[2]]:
                    self._add_class(class_, demand)  # `Alias = Table`
            for class_ in [value[1] for value in values if value[0] == "I"]:
                self._classes.want_found(class_, "__call__", demand)
                for function in self._classes.functions(class_, "__call__"):
                    self._open.leave_open(function)
            self._builders.build_variable(module, name)

    def _open_to_callers(self, module: Module, piece: Piece) -> None:
        """A function of a target is called from outside the slice."""
        engine = self._growth.engine
        class_ = engine.class_(module, piece.owner) if piece.owner >= 0 else None
        for index in units_of_piece(module, piece.index):
            function = engine.function(module, index)
            if function.unit.kind == "function" and function.unit.parent < 0:
                self._open.leave_open(function, class_)

    def _open_constructors(self, class_: Class) -> None:
        """An instance of a target's class is made outside the slice."""
        for function in self._classes.constructors(class_):
            self._open.leave_open(function)

    def add_spelled(self, name: str, target: str) -> None:
        """A name of a module scope by which the target is asked for: what binds it is kept."""
        holder, _, bound = name.partition(":")
        module = self._growth.program.module(holder)
        if module is None or not bound:
            raise UnknownTarget(f"no name {name} of a module")
        self._growth.keep_module(holder)
        demand = Demand.of(target, module, ReferenceKind.READ, "target")
        self._names.want_name(module, bound, demand)

    def add_observed(self, module: Module, symbol_id: str, target: str) -> None:
        """A symbol that an execution of ``target`` showed to be needed."""
        program = self._growth.program
        holder = _module_of(program, target)
        line = program.symbol_table(holder)[target].span.start
        demand = Demand.of(
            target, holder, ReferenceKind.READ, OBSERVED, pack(line, 0), certain=False
        )
        self._growth.keep_module(module.name)
        for piece in pieces_of_symbol(module, symbol_id.partition(":")[2]):
            self._classes.keep_as_value(module, piece, demand, item=symbol_id)

    def run(self) -> None:
        """Follow every reference until nothing new is wanted.

        First all that is reached without a guess, then what one leads to, and so on: what code that
        is guessed passes to other code, or stores, is there by as many guesses.
        """
        while self._round() or self._growth.guess_on():
            pass
        self._importing.settle_dotted_imports()
        self._following.drain()
        self._following.note_unresolved()
        self._leave_out_docstrings()

    def _leave_out_docstrings(self) -> None:
        """Of classes that only annotations name: without members, and base of no live class.

        Unless something is there that is given the class when it is made.
        """
        closure = self._growth.closure
        kept = [
            (module, module.summary.pieces[index])
            for name, index in closure.kept
            if (module := self._growth.program.module(name)) is not None
        ]
        holders = {(module.name, piece.parent) for module, piece in kept}
        for module, piece in kept:
            key = (module.name, piece.index)
            if piece.kind == "class" and key not in holders:
                class_ = self._growth.class_of(module, piece)
                if not self._classes.is_used(class_):
                    closure.undocumented.add(key)

    def release(self) -> None:
        """Let go of what rules have noted; nothing can be asked afterwards.

        They refer to each other, so that otherwise all of it would wait for the collector.
        """
        for each in (*vars(self).values(), self):
            vars(each).clear()

    def _round(self) -> bool:
        """Follow what is kept; whether anything has come up since that asks for more.

        From the cheapest question to the dearest: imports are looked at only when all
        references are followed.
        """
        self._following.drain()
        return (
            self._open.trace()
            or self._growth.is_pending
            or self._builders.build_bound()
            or self._following.revisit()
            or self._open.make_sure()
            or self._open.recognise()
            or self._open.leave_unbound()
            or self._computed.match_strings()
            or self._classes.recognise()
            or self._open.reach()
            or self._outside.settle()
            or self._importing.connect_effects()
            or self._circles.settle()
        )

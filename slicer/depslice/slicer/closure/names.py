"""Names of module scopes, and the imports by which they travel.

A name is wanted by a reader; its bindings are kept. Where a binding is an import, its alias
is kept, and what it stands for is wanted in turn: a name of another module (through as many
re-exports as there are), a submodule, what a star gives, or what only the module's
``__getattr__`` gives (PEP 562).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.values import Class, Function
from depslice.callgraph.model import ReferenceKind
from depslice.callgraph.program import BUILTIN_NAMES, Module, strings_in
from depslice.callgraph.summary import Op, Piece, Unit
from depslice.slicer.closure.builders import Builders
from depslice.slicer.closure.classes import Classes
from depslice.slicer.closure.growth import Asked, Growth
from depslice.slicer.closure.import_order import ImportEntry
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.registering import (
    called_by_name,
    makes_names,
    names_bound_by_text,
    put_in_place,
    replacing,
    spaces_of,
)
from depslice.slicer.pieces import (
    enclosing_pieces,
    holding_piece,
    ops_of,
    runs_on_import,
    start_of,
    strings_of,
)

_CALLS_DEEP: Final = 2
"""How many functions may stand between a statement and the one that makes names."""


class Names:
    """Keeps what binds a name. ``wanted`` is what has been asked for so far."""

    def __init__(self, growth: Growth, classes: Classes, builders: Builders) -> None:
        self._growth = growth
        self.wanted = Asked(growth)
        self._closure = growth.closure
        self._program = growth.program
        self._classes = classes
        self._builders = builders
        self._replaced = Asked(growth)
        self._made = Asked(growth)
        self._makers: dict[str, list[Piece]] = {}
        self._by_text: dict[str, dict[str, list[Piece]]] = {}  # module -> name
        self._replacements: dict[str, list[tuple[tuple[object, ...], bool]]] = {}
        self._telling_name: dict[str, list[Unit]] = {}  # code of a module that passes its name

    def want_name(
        self,
        module: Module,
        name: str,
        demand: Demand,
        *,
        versions: tuple[int, ...] | None = None,
        local: bool = False,
        value: bool = True,
        written: bool = False,
    ) -> None:
        """The module-scope name ``name`` of ``module`` is referred to.

        ``versions``: the bindings that reach the reader, see :meth:`Module.current_pieces`.
        ``local``: by code of the module itself. ``value``: as a value, not only in an
        annotation or as a base class. ``written``: the object is only changed.
        """
        if local:
            self._closure.read_names.add((module.name, name))
        key = (module.name, name, versions, value, written, demand.reads, demand.tests)
        if not self.wanted.is_new(key, demand):
            return
        if name == "__doc__":  # also where a statement binds it anew: `__doc__ %= OPTIONS`
            self._growth.keep_docstring(module)
        if name == "__all__" and not (local or written) and _computes_all(module):
            self.want_made(module, name, demand)  # it may list what is made
        current = self._program.binding_pieces(module, name, versions)
        pieces = [module.summary.pieces[i] for i in current]
        if not pieces:
            self._want_unbound(module, name, demand, value=value)
            return
        for piece in pieces:
            self._want_binding(module, piece, name, demand, value=value)
        if written:
            return
        self._keep_running(module, self._bound_by_text(module).get(name, ()), demand)
        if value:
            self._want_replacement(module, name, pieces, demand)
        if demand.kind is ReferenceKind.ANNOTATE and not value:
            return  # what changes a type matters where somebody has it
        if any(piece.kind != "import" for piece in pieces):
            self._builders.build_variable(module, name)
        else:
            self._build_imported(module, name, demand)

    def _build_imported(self, module: Module, name: str, demand: Demand) -> None:
        """Keep what puts something else where ``module`` has a name by an import."""
        self._builders.build_stored(module, name, demand)
        if name in module.summary.global_writers:
            self._builders.build_rebound(module, name, demand)

    def _bound_by_text(self, module: Module) -> dict[str, list[Piece]]:
        """The statements that bind names of ``module`` anew as texts spell them."""
        found = self._by_text.get(module.name)
        if found is None:
            found = self._by_text[module.name] = {}
            for piece in module.summary.pieces:
                if piece.owner < 0 and piece.unit >= 0 and runs_on_import(piece):
                    for name in names_bound_by_text(module.summary.units[piece.unit]):
                        found.setdefault(name, []).append(piece)
        return found

    def _want_binding(
        self, module: Module, piece: Piece, name: str, demand: Demand, *, value: bool
    ) -> None:
        """``piece``, which binds ``name``."""
        if piece.kind == "import":
            if any(bound == "*" for bound, *_ in piece.imports):
                self.want_star(module, piece, name, demand, value=value)
            else:
                self.import_alias(module, piece, name, demand, value=value)
        elif piece.kind != "future":
            item = f"{module.name}:{name}"
            value = value and not piece.type_checking
            if value:
                self._growth.take_as_value(module, piece, demand)
            kept = self._growth.keep(module, piece, demand, item=item)
            if kept and piece.kind == "class":
                class_ = self._growth.class_of(module, piece)
                if demand.reads:
                    self._classes.note_met(class_)
                elif value:
                    self._classes.make_live(class_, demand, made=not demand.tests)
                elif demand.kind is ReferenceKind.ANNOTATE:
                    self._classes.note_named(class_, demand)

    def _want_unbound(self, module: Module, name: str, demand: Demand, *, value: bool) -> None:
        """A name that no statement of the module scope is seen to bind."""
        summary = module.summary
        if name == "__doc__":
            return
        found = self._program.star_source(module, name)
        if found is not None:
            sources = self._program.star_sources(module, name)
            indices = dict.fromkeys((found[1], *(each for _, each in sources)))
            stars = [summary.pieces[index] for index in indices]
            for star in stars:
                self.want_star(module, star, name, demand, value=value)
            if value:
                self._want_replacement(module, name, stars, demand)
            if (
                found[0] is None
                and name not in BUILTIN_NAMES
                and self._program.given_outside(module, found[1], name) is None
            ):
                self.want_made(module, name, demand)
            self._build_imported(module, name, demand)
        elif name not in summary.global_writers and "__getattr__" in summary.scope:
            self._want_lazy(module, name, demand, value=value)
        else:
            writers = summary.global_writers.get(name, ())
            for unit in writers:
                self._growth.keep(module, holding_piece(module, unit), demand)
            if writers:
                self._keep_running(module, self._running(module, set(writers)), demand)
            else:
                self.want_made(module, name, demand)

    def want_attribute(self, owner: str, name: str, demand: Demand) -> None:
        """``name`` of a module that callers pass, as code reads it of whatever they do."""
        module = self._program.module(owner)
        if module is None:
            return
        self.want_replaced(module, name, demand)
        inner = f"{owner}.{name}"
        if self._has(module, name) or (
            "__getattr__" in module.summary.scope and not self._program.is_module(inner)
        ):
            self.want_name(module, name, demand)
        elif self._program.is_module(inner):  # somebody's import must have bound it
            self._growth.keep_module(inner)
            self._growth.effects.setdefault(inner)
        else:
            self.want_made(module, name, demand)

    def want_public(self, owner: str, demand: Demand) -> None:
        """Any name of a module, by one that nobody in the slice tells: ``getattr(module, name)``."""
        module = self._program.module(owner)
        if module is None:
            return
        public = module.summary.dunder_all or ()
        for name in self._program.names_in(module):
            if not name.startswith("_") or name in public:
                self.want_attribute(owner, name, demand)

    # --- names that are made at run time

    def want_made(self, module: Module, name: str, demand: Demand) -> None:
        """A name of ``module`` that no statement is seen to bind: those that may compute it.

        They may stand in a module that it has a star of, which then stays a star: nobody knows
        whether the name is made, and a name that is not there cannot be imported.
        """
        if not self._made.is_new((module.name, name), demand):
            return
        self._builders.build_missing(module, name, demand)
        self._keep_running(module, self._making(module), demand)
        for stands_in in (*(each for each, _ in self._replacing(module)), *self._put(module)):
            match stands_in:
                case ("I" | "C", Class() as class_, *_):
                    self._classes.want_on_instance(class_, name, demand)
                case ("M", str() as other) if other != module.name:
                    self.want_attribute(other, name, demand)
        for piece, source in self._stars_making(module, name):
            self._keep_star(module, piece, source, name, demand)
            self.want_made(source, name, demand)

    def _making(self, module: Module) -> list[Piece]:
        """Statements of the module scope that may make names of it, or call what does."""
        known = self._makers.get(module.name)
        if known is None:
            spaces = spaces_of(module.summary)
            making = {
                unit.index
                for unit in module.summary.units
                if makes_names(unit, spaces)
                or any(replacing(unit, spaces))
                or any(self._put_by(module, unit))
            }
            reaching = self._reaching(module, making)
            known = self._makers[module.name] = list(self._running(module, reaching))
        return known

    def want_replaced(self, module: Module, name: str, demand: Demand) -> None:
        """``name``, asked of a module from outside: what stands in its place answers, if anything."""
        for stands_in, class_alone in self._replacing(module):
            if class_alone:  # the module keeps its names, but for properties
                is_own = isinstance(stands_in[1], Class) and (
                    self._growth.engine.find_member(stands_in[1], name) is None
                )
                if is_own:
                    continue
            self.want_made(module, name, demand)

    def _replacing(self, module: Module) -> list[tuple[tuple[object, ...], bool]]:
        """What is put in the place of a module; with whether that is only another class for it."""
        found = self._replacements.get(module.name)
        if found is None:
            found = self._replacements[module.name] = []
            spaces = spaces_of(module.summary)
            engine = self._growth.engine
            for unit in module.summary.units:
                for register, class_alone in replacing(unit, spaces):
                    function = engine.function(module, unit.index)
                    engine.facts_of(function)
                    values = sorted(function.registers[register])
                    found += [(engine.values[value], class_alone) for value in values]
        return found

    def _put(self, module: Module) -> Iterator[tuple[object, ...]]:
        """What functions that are told the name of ``module`` put in its place.

        ``Overlay.replace(__name__)``: what the module has itself is found without it.
        """
        engine = self._growth.engine
        told = self._telling_name.get(module.name)
        if told is None:
            units = module.summary.units
            told = self._telling_name[module.name] = [
                u for u in units if any(True for _ in called_by_name(u))
            ]
        for unit in told:
            for function, receiver, register in self._put_by(module, unit):
                engine.facts_of(function)
                for value in sorted(function.registers[register]):
                    kind = engine.values[value]
                    of_class = kind[0] == "R" and engine.values[kind[1]] == ("P", function, 0)
                    if of_class and receiver[0] == "C":  # `cls(name)`
                        kind = ("I", receiver[1], True)
                    yield kind

    def _put_by(
        self, module: Module, unit: Unit
    ) -> Iterator[tuple[Function, tuple[object, ...], int]]:
        """The functions that do, with what they are methods of, and the register of what they put."""
        engine = self._growth.engine
        for register in called_by_name(unit):
            calling = engine.function(module, unit.index)
            engine.facts_of(calling)
            for kind in map(engine.values.__getitem__, sorted(calling.registers[register])):
                if kind[0] in ("F", "B"):
                    receiver = engine.values[kind[2]] if kind[0] == "B" else ("",)
                    for put in put_in_place(kind[1].unit):
                        yield kind[1], receiver, put

    def _stars_making(self, module: Module, name: str) -> Iterator[tuple[Piece, Module]]:
        """The star imports by which ``module`` may have a name that another makes, and that one."""
        for piece, source in self._stars_of(module):
            if self._may_give(source, name, {module.name}):
                yield piece, source

    def _stars_of(self, module: Module) -> Iterator[tuple[Piece, Module]]:
        for index in module.summary.stars:
            piece = module.summary.pieces[index]
            for bound, level, target, _ in () if piece.type_checking else piece.imports:
                source = self._program.module(self._program.import_target(module, level, target))
                if bound == "*" and source is not None:
                    yield piece, source

    def _may_give(self, source: Module, name: str, seen: set[str]) -> bool:
        """Whether a star of ``source`` may give a name that no statement is seen to bind."""
        if source.name in seen:
            return False
        seen.add(source.name)
        summary = source.summary
        if "__all__" not in summary.scope:
            is_public = not name.startswith("_")
        else:
            listed = summary.dunder_all
            is_public = listed is None or name in listed or summary.all_is_open
        return is_public and (
            bool(self._making(source))
            or any(self._may_give(inner, name, seen) for _, inner in self._stars_of(source))
        )

    def _keep_star(
        self, module: Module, piece: Piece, source: Module, name: str, demand: Demand
    ) -> None:
        """Keep the star import ``piece`` for a name that ``source`` may have or not.

        Its ``__all__`` stays what it is where it is computed; a literal one would name what the
        slice lacks. What is partly literal is kept whole for who reads ``__all__`` of the module, and
        so is one to which a condition adds names.
        """
        self._growth.keep_import(module, piece, demand)
        self._growth.keep_module(source.name)
        key = (module.name, piece.index)
        self._closure.runs.pop(key, None)
        summary = source.summary
        changing = summary.mutations.get("__all__", ())
        on_condition = any(summary.pieces[index].conditional for index in changing)
        whole = (summary.all_is_open and name == "__all__") or on_condition
        for listed in (summary.dunder_all or ()) if whole else ():
            self.want_attribute(source.name, listed, demand)
        if summary.dunder_all is not None and not whole:
            self._closure.stars.setdefault(key, {})[name] = None
            return
        self._closure.aliases.setdefault(key, {})["*"] = None
        if "__all__" in summary.scope:
            self.want_name(source, "__all__", demand)

    def _keep_running(self, module: Module, pieces: Iterable[Piece], demand: Demand) -> None:
        """Keep statements of the module scope that make names, and have them run."""
        for piece in pieces:
            self._growth.keep(module, piece, demand)
            self._growth.effects.setdefault(module.name)

    def _running(self, module: Module, units: set[int]) -> Iterator[Piece]:
        """The statements of the module scope that are one of ``units``, or call one."""
        for piece in module.summary.pieces if units else ():
            if piece.unit < 0 or piece.owner >= 0 or not runs_on_import(piece):
                continue
            if piece.unit in units or not units.isdisjoint(self._called_by(module, piece.unit)):
                yield piece

    def _reaching(self, module: Module, units: set[int]) -> set[int]:
        """``units`` of a module, and the functions of it that call one, so many calls deep."""
        all_units = module.summary.units
        reaching = set(units)
        for _ in range(_CALLS_DEEP if any(all_units[i].kind == "function" for i in units) else 0):
            reaching |= {
                unit.index
                for unit in all_units
                if unit.kind == "function"
                and unit.index not in reaching
                and not reaching.isdisjoint(self._called_by(module, unit.index))
            }
        return reaching

    def _called_by(self, module: Module, unit: int) -> Iterator[int]:
        """The functions of the same module that a function, or a statement of its scope, calls."""
        engine = self._growth.engine
        for fact in engine.facts_of(engine.function(module, unit)):
            if fact[0] == f.CALL and fact[1].module is module:
                yield fact[1].unit.index

    def _want_lazy(self, module: Module, name: str, demand: Demand, *, value: bool = True) -> None:
        """A name that only the module's ``__getattr__`` gives (PEP 562)."""
        self._growth.keep_module(module.name)
        if "__getattr__" not in module.summary.scope:
            return
        self.want_name(module, "__getattr__", demand)
        found = self._program.lazy_target(module, name)
        if found is None:
            return
        target, attribute = found
        self._growth.keep_module(target)
        inner = self._program.module(target)
        if inner is not None and attribute:
            self.want_name(inner, attribute, demand, value=value)

    def _want_replacement(
        self, module: Module, name: str, pieces: list[Piece], demand: Demand, *, value: bool = True
    ) -> None:
        """What gives ``name`` at run time, when only type checkers see ``pieces`` bind it.

        The module's ``__getattr__`` (PEP 562), or else a call that is told the name,
        ``replace_module(__name__, {"submodule": ["name", …]})``, or what else may make it:
        ``load(globals())``.
        """
        if not pieces or not all(piece.type_checking for piece in pieces):
            return
        if not self._replaced.is_new((module.name, name, value), demand):
            return
        if "__getattr__" in module.summary.scope:
            self._want_lazy(module, name, demand, value=value)
            return
        self.want_made(module, name, demand)
        for piece in module.summary.pieces:
            if piece.owner < 0 and piece.kind in ("expr", "assign"):
                ops = ops_of(module, piece)
                if name in strings_of(ops) and any(op[0] == s.CALL for op in ops):
                    self._growth.keep(module, piece, demand)
                    self._growth.effects.setdefault(module.name)
                    self._want_listed(ops, name, demand, value=value)

    def _want_listed(self, ops: list[Op], name: str, demand: Demand, *, value: bool) -> None:
        """``{"submodule": ["name", "other"]}``: whoever fetches the one fetches all of them.

        Of the others nobody has more than the name.
        """
        tables = [op[2] for op in ops if op[0] == s.MAPPING]
        for key, _, register in (entry for table in tables for entry in table):
            listed = strings_in(ops, register)
            source = self._program.module(key) if key is not None and name in listed else None
            if source is not None:
                for other in listed:
                    self._growth.keep_module(source.name)
                    self.want_name(source, other, demand, value=value and other == name)

    # --- imports

    def want_star(
        self, module: Module, piece: Piece, name: str, demand: Demand, *, value: bool
    ) -> None:
        """The name that the star import ``piece`` gives."""
        self._growth.keep_import(module, piece, demand)
        key = (module.name, piece.index)
        source = self._program.star_of(module, piece.index, name)
        if source is None:
            self._closure.aliases.setdefault(key, {})["*"] = None
            for _, level, target, _ in piece.imports:
                absolute = self._program.import_target(module, level, target)
                self._closure.externals[absolute, "*"] = None
            return
        self.bind_by_star(module, piece, source, name, demand, value=value)

    def bind_by_star(
        self,
        module: Module,
        piece: Piece,
        source: Module,
        name: str,
        demand: Demand,
        *,
        value: bool = True,
    ) -> None:
        """The star import ``piece``, of ``source``, binds ``name``.

        What ``source`` has for type checkers alone cannot be imported by that name.
        """
        self._growth.keep_import(module, piece, demand)
        key = (module.name, piece.index)
        if not self._program.gives_surely(source, name):
            self._keep_star(module, piece, source, name, demand)
        elif piece.type_checking or self._program.gives_at_run_time(source, name, module):
            self._closure.stars.setdefault(key, {})[name] = None
            self._closure.runs.pop(key, None)
        self.want_name(source, name, demand, value=value)
        self._growth.keep_module(source.name)
        self._keep_failing(module, piece, source)

    def keep_whole(self, module: Module, demand: Demand) -> None:
        """Keep all that stands in ``module``, what it does as a script included."""
        self._growth.keep_module(module.name)
        for piece in module.summary.pieces:
            if piece.parent < 0 and piece.kind == "import":
                self.keep_whole_import(module, piece, demand)
            elif piece.parent < 0 and piece.kind != "future":
                self._growth.keep_all(module, piece, demand)

    def keep_whole_import(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Keep all that an import statement binds: whoever has the module may ask it for that."""
        value = not piece.type_checking
        for bound, level, target, _ in piece.imports:
            if bound != "*":
                self.import_alias(module, piece, bound, demand, value=value)
                continue
            source = self._program.module(self._program.import_target(module, level, target))
            for name in sorted(self._program.star_names(source)) if source else ("*",):
                self.want_star(module, piece, name, demand, value=value)

    def import_alias(
        self, module: Module, piece: Piece, bound: str, demand: Demand, *, value: bool = True
    ) -> None:
        """One alias of an import statement is needed: keep it, and what it stands for."""
        piece = _earlier_import(module, piece, bound) or piece
        for entry in piece.imports:
            if entry[0] != bound or bound == "*":
                continue
            if not self._follow_import(module, piece, entry, demand, value=value):
                return
            self._growth.keep_import(module, piece, demand)
            self._closure.aliases.setdefault((module.name, piece.index), {})[bound] = None
            self._closure.runs.pop((module.name, piece.index), None)
            _, level, target, item = entry
            absolute = self._program.import_target(module, level, target)
            inner = self._program.module(f"{absolute}.{item}") if item else None
            for source in (self._program.module(absolute), inner):
                if source is not None:
                    self._keep_failing(module, piece, source)

    def _keep_failing(self, module: Module, piece: Piece, source: Module) -> None:
        """Keep what may make the import of ``source`` fail, if ``piece`` stands in a ``try``.

        Else another branch runs than in the program: what ``source`` imports that not every
        Python has, and what it raises.
        """
        if source is module or not _is_tried(module, piece):
            return
        item = self._growth.first_item()
        for each in source.summary.pieces:
            if each.owner >= 0 or not runs_on_import(each):
                continue
            demand = Demand.of(item, source, ReferenceKind.IMPORT, "may-fail", start_of(each))
            if each.kind == "jump" and any(op[0] == s.RAISE for op in ops_of(source, each)):
                self._growth.keep(source, each, demand)
            if not each.conditional:
                for bound in self._unsure(source, each):
                    self.import_alias(source, each, bound, demand)

    def _unsure(self, module: Module, piece: Piece) -> list[str]:
        """What an import statement binds that comes from outside, and not with every Python."""
        return [
            bound
            for bound, level, target, item in piece.imports
            if bound != "*"
            and not self._program.is_module(self._program.import_target(module, level, target))
            and not self._program.stubs.is_everywhere(target, item)
        ]

    def _follow_import(
        self, module: Module, piece: Piece, entry: ImportEntry, demand: Demand, *, value: bool
    ) -> bool:
        """Want what one alias stands for; whether the options leave it in the slice."""
        program, growth = self._program, self._growth
        _, level, target, item = entry
        absolute = program.import_target(module, level, target)
        if item is None:
            if program.is_module(absolute):
                growth.keep_module(absolute)
            elif not program.is_module(absolute.partition(".")[0]):
                self._closure.externals[absolute, ""] = None
            return True
        source = program.module(absolute)
        inner = f"{absolute}.{item}"
        if source is not None and source is not module:
            self.want_replaced(source, item, demand)
        if program.comes_as_submodule(module, absolute, item):
            growth.keep_module(inner)
            return True
        if source is not None and self._has(source, item):
            # `from . import x` in `__init__`, where the only `x` is that very import.
            if source is module and program.binding_pieces(module, item, None) == (piece.index,):
                growth.keep_module(inner)
                return True
            growth.keep_module(absolute)
            return self._want_imported(
                source, item, demand, value=value, typing_only=piece.type_checking
            )
        if program.is_module(inner):
            growth.keep_module(inner)
        elif source is not None:
            self._want_lazy(source, item, demand, value=value)
            self.want_made(source, item, demand)
        elif not program.is_module(absolute):
            self._closure.externals[absolute, item] = None
        return True

    def _has(self, source: Module, item: str) -> bool:
        """Whether a statement of ``source`` may bind ``item``; its docstring is one."""
        return item == "__doc__" or self._program.may_have(source, item)

    def _want_imported(
        self, source: Module, item: str, demand: Demand, *, value: bool, typing_only: bool
    ) -> bool:
        """The name ``item`` of another module; whether the options leave it in the slice."""
        wanted = f"{source.name}:{item}"
        current = self._program.binding_pieces(source, item, None)
        pieces = [source.summary.pieces[i] for i in current]
        direct = any(piece.kind != "import" for piece in pieces)
        if direct and self._growth.omits(wanted, demand):
            return False
        self.want_name(source, item, demand, value=value)
        if not typing_only:
            self._want_replacement(source, item, pieces, demand, value=value)
        return True


def _is_tried(module: Module, piece: Piece) -> bool:
    """Whether a handler may take over when a statement fails."""
    return any(
        holder.kind == "try" and piece.path[len(holder.path)] == "body"
        for holder in enclosing_pieces(module, piece)
    )


def _earlier_import(module: Module, piece: Piece, bound: str) -> Piece | None:
    """An unconditional import further up that binds the same name to the same thing."""
    entry = next((e for e in piece.imports if e[0] == bound), None)
    for index in module.summary.scope.get(bound, ()):
        earlier = module.summary.pieces[index]
        if earlier.index >= piece.index or earlier.kind != "import":
            return None
        if earlier.parent < 0 and earlier.owner == piece.owner and entry in earlier.imports:
            return earlier
    return None


def _computes_all(module: Module) -> bool:
    """Whether the ``__all__`` of a module is more than what its text lists."""
    return module.summary.dunder_all is None or module.summary.all_is_open

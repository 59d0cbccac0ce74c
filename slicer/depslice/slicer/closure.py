"""The backward slice: everything of the repo that the targets need to be defined and to run.

A worklist over the pieces of modules. What a piece needs is in the facts of its units
(:mod:`depslice.callgraph.engine.facts`); what depends on the slice itself is decided
here: which overrides and special methods can be reached is a question of which classes
are *live*, that is used by something in the slice (rapid type analysis, Bacon and
Sweeney 1996), and which members an unknown receiver may have is asked of live classes
only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine import facts as f
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.engine.library import INERT_BASES, RECORD_BASES
from depslice.callgraph.engine.values import Class, Function, Values
from depslice.callgraph.model import Certainty, ReferenceKind, Site, Unresolved
from depslice.callgraph.program import Module, Program, strings_in
from depslice.callgraph.summary import Piece, unpack
from depslice.slicer.import_order import (
    ImportRun,
    ImportStep,
    all_steps,
    path_to,
    run_imports,
    runs_always,
)
from depslice.slicer.model import ExternalImport, Step
from depslice.slicer.origins import Origins
from depslice.slicer.wiring import import_closure, imported_modules, is_dotted_import, with_packages

PieceKey: TypeAlias = tuple[str, int]

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
_ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")
_ENCLOSES = "encloses"
_STEPS = {"__iter__": "__next__", "__aiter__": "__anext__"}
_CONSTRUCTORS = ("__new__", "__init__", "__post_init__", "__attrs_post_init__")


@dataclass(slots=True)
class Demand:
    """Why something is wanted: the symbol that refers to it, and how."""

    source: str
    kind: ReferenceKind
    certainty: Certainty
    evidence: str
    path: str
    pos: int


@dataclass(slots=True)
class Closure:
    """The result: kept pieces and what was learned on the way."""

    kept: dict[PieceKey, None] = field(default_factory=dict)
    modules: dict[str, None] = field(default_factory=dict)
    aliases: dict[PieceKey, dict[str, None]] = field(default_factory=dict)
    stars: dict[PieceKey, dict[str, None]] = field(default_factory=dict)
    read_names: set[tuple[str, str]] = field(default_factory=set)
    reasons: dict[str, Demand] = field(default_factory=dict)
    # Every pair of items of which one asked for the other; definite rather than possible.
    demands: dict[tuple[str, str], Demand] = field(default_factory=dict)
    distances: dict[str, int] = field(default_factory=dict)
    pieces_of: dict[str, dict[PieceKey, None]] = field(default_factory=dict)
    externals: dict[tuple[str, str], None] = field(default_factory=dict)
    unresolved: dict[Unresolved, None] = field(default_factory=dict)
    omitted: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    """Something is done with an open value; settled for each known value behind it."""

    value: int
    what: str  # "attribute", "protocol", "matching", "apply"
    name: Any
    demand: Demand
    where: Function
    done: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Followed:
    """A unit whose facts were followed, and which."""

    module: Module
    piece: int
    item: str
    facts: list[f.Fact] = field(default_factory=list)
    seen: set[f.Fact] = field(default_factory=set)


class Slicer:
    """Grows a :class:`Closure` from targets; one instance per slice."""

    def __init__(
        self,
        program: Program,
        engine: Engine,
        *,
        depth: int | None,
        whole_classes: bool,
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.program = program
        self.engine = engine
        self.depth = depth
        self.whole_classes = whole_classes
        self.excluded = excluded
        self.result = Closure()
        self._queue: deque[tuple[Module, int, str]] = deque()
        self._live: dict[Class, Demand] = {}
        self._open: dict[tuple[Class, str], Demand] = {}
        self._open_by_class: dict[Class, dict[str, Demand]] = {}
        self._super: dict[tuple[Class, str], Demand] = {}
        self._unknown: dict[str, Demand] = {}
        self._prefixes: dict[tuple[Class, str, str], Demand] = {}
        self._origins = Origins(engine)
        self._pending: list[_Open] = []
        self._traced = 0
        self._followed: dict[Function, _Followed] = {}
        self._steps: dict[str, Step] = {}
        self._names: set[tuple[str, str, tuple[int, ...] | None, bool, bool]] = set()
        self._built: set[tuple[str, str]] = set()
        self._replaced: set[tuple[str, str]] = set()
        self._patches: dict[tuple[Class, str], list[tuple[Module, Piece]]] = {}
        self._wanted_members: set[tuple[Class, str]] = set()
        self._dotted: dict[str, set[str]] = {}
        self._roots: dict[str, None] = {}
        self._effects: dict[str, None] = {}
        self._closure_modules: dict[str, object] | None = None
        self._original_run: ImportRun | None = None
        self._forced: set[tuple[str, int, str]] = set()
        self._named_by_strings: dict[str, Demand] = {}
        self._spelled: dict[str, None] = {}
        self._read_strings: set[Function] = set()

    # --- the way in

    def add_target(self, module: Module, symbol_id: str) -> None:
        """A symbol the caller asked for: all pieces that define it."""
        self._roots.setdefault(module.name)
        self._keep_module(module.name)
        qualname = symbol_id.partition(":")[2]
        self.result.distances[symbol_id] = 0
        demand = Demand(
            symbol_id, ReferenceKind.READ, Certainty.DEFINITE, "target", module.file.path, 0
        )
        if not qualname:
            for piece in module.summary.pieces:
                if piece.parent < 0 and piece.kind not in ("import", "future"):
                    self._keep_all(module, piece, demand)
            return
        for piece in pieces_of_symbol(module, qualname):
            self._keep(module, piece, demand, item=symbol_id)
            if piece.kind == "class":
                owner = self.engine.class_(module, _class_of(module, piece))
                self._make_live(owner, demand)
                self._widen(owner, demand)
            elif piece.owner < 0:
                for name in piece.binds:
                    self._build(module, name, None, demand)
            elif piece.owner >= 0 and _needs_instance(module, piece):
                self._make_live(self.engine.class_(module, piece.owner), demand)

    def add_observed(self, module: Module, symbol_id: str, target: str) -> None:
        """A symbol that an execution of ``target`` showed to be needed."""
        holder = self.program.module(target.partition(":")[0])
        assert holder is not None
        start = self.program.symbol_table(holder)[target].span.start
        demand = Demand(
            target,
            ReferenceKind.READ,
            Certainty.POSSIBLE,
            "observed",
            holder.file.path,
            s.pack(start, 0),
        )
        self._keep_module(module.name)
        for piece in pieces_of_symbol(module, symbol_id.partition(":")[2]):
            self._keep(module, piece, demand, item=symbol_id)
            if piece.kind == "class":
                self._make_live(self.engine.class_(module, _class_of(module, piece)), demand)

    def run(self) -> Closure:
        """Follow every reference until nothing new is wanted."""
        while True:
            while self._queue:
                module, piece, item = self._queue.popleft()
                self._expand(module, piece, item)
            if self._trace_open() or self._queue or self._revisit() or self._match_strings():
                continue
            if not self._connect_effects() and not self._settle_order():
                break
        self._settle_dotted_imports()
        self._note_unresolved()
        return self.result

    def _revisit(self) -> bool:
        """Values that grew since a piece was followed may have added references to it."""
        self.engine.settle()
        stale = [x for fn, x in self._followed.items() if fn.facts is not x.facts]
        for followed in stale:
            self._queue.append((followed.module, followed.piece, followed.item))
        return bool(stale)

    def _note_unresolved(self) -> None:
        """What is still unresolved when all values have settled."""
        for function, followed in self._followed.items():
            for fact in function.facts:
                if fact[0] == f.UNRESOLVED:
                    self._unresolved(followed.item, fact[1], fact[2], fact[3])

    # --- keeping

    def _keep_module(self, name: str) -> None:
        for package in with_packages(name):
            if package in self.program.files:
                self.result.modules.setdefault(package)

    def _keep_all(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Keep ``piece`` and all that stands in it."""
        self._keep(module, piece, demand)
        for child in module.summary.pieces[piece.index + 1 :]:
            if child.path[: len(piece.path)] != piece.path:
                break
            self._keep(module, child, demand)

    def _keep(self, module: Module, piece: Piece, demand: Demand, *, item: str = "") -> bool:
        """Keep one piece for ``demand``; whether it is in the slice afterwards."""
        key = (module.name, piece.index)
        if piece.kind in ("import", "future"):
            if piece.kind == "import" and key not in self.result.kept:
                for bound, *_ in piece.imports:
                    self._import_alias(module, piece, bound, demand, read=False)
            return True
        if piece.path[0] == "local":  # a class in a function is kept whole with it
            return self._keep(module, outer_piece(module, piece), demand)
        item = item or self._item_of(module, piece) or demand.source
        if key in self.result.kept:
            self._note(item, demand)
            return True
        if not self._note(item, demand):
            return False
        self._keep_module(module.name)
        self.result.kept[key] = None
        self.result.pieces_of.setdefault(item, {})[key] = None
        self._keep_surroundings(module, piece, item)
        self._queue.append((module, piece.index, item))
        if piece.kind == "class" and self.whole_classes:
            self._widen(self.engine.class_(module, _class_of(module, piece)), demand)
        return True

    def _note(self, item: str, demand: Demand) -> bool:
        """Record how ``item`` was first reached; ``False`` when the options leave it out."""
        result = self.result
        # What stands in a class is nowhere without its header: no option leaves that out.
        encloses = demand.evidence == _ENCLOSES
        if item in self.excluded and not encloses:
            return False
        known = result.demands.get((demand.source, item))
        if known is None or known.certainty is Certainty.POSSIBLE:
            result.demands[demand.source, item] = demand
        if item in result.distances:
            return True
        distance = result.distances.get(demand.source, 0) + 1
        if self.depth is not None and distance > self.depth and not encloses:
            result.omitted.setdefault(item, distance)
            return False
        result.distances[item] = distance
        result.reasons[item] = demand
        return True

    def _keep_surroundings(self, module: Module, piece: Piece, item: str) -> None:
        """Ancestors, and what decides whether the piece runs at all."""
        summary = module.summary
        inside = Demand(
            item,
            ReferenceKind.READ,
            Certainty.DEFINITE,
            _ENCLOSES,
            module.file.path,
            s.pack(piece.start, 0),
        )
        for future in summary.pieces:
            if future.kind == "future":
                self.result.kept.setdefault((module.name, future.index))
        parent = piece.parent
        child = piece
        while parent >= 0:
            holder = summary.pieces[parent]
            key = (module.name, parent)
            if holder.kind == "class":
                self._keep(module, holder, inside)
                return
            if key not in self.result.kept:
                self.result.kept[key] = None
                self._queue.append((module, parent, item))
            self._control(module, holder, child, inside)
            child = holder
            parent = holder.parent

    def _control(self, module: Module, holder: Piece, child: Piece, demand: Demand) -> None:
        """Control dependence of ``child`` in the compound statement ``holder``."""
        if child.path[: len(holder.path)] != holder.path:
            raise LookupError(f"{child.path} does not stand in {holder.path}")
        field_name = child.path[len(holder.path)]
        siblings = [p for p in module.summary.pieces if p.parent == holder.index]
        if holder.kind == "loop":
            for sibling in siblings:
                self._keep_all(module, sibling, demand)
        elif holder.kind == "try":
            for sibling in siblings:
                part = sibling.path[len(holder.path)]
                if (
                    part == "body"
                    and (
                        field_name != "body"
                        or (sibling.kind == "import" and sibling.index < child.index)
                    )
                ) or (part == "handlers" and sibling.kind == "jump"):
                    self._keep_all(module, sibling, demand)

    def _item_of(self, module: Module, piece: Piece) -> str:
        """The symbol a piece belongs to; empty for pieces that define none."""
        if piece.owner >= 0:
            info = module.summary.classes[piece.owner]
            names = piece.binds or tuple(n for n in piece.mutates if n in info.members)
            return (
                f"{module.name}:{info.qualname}.{names[0]}"
                if names
                else f"{module.name}:{info.qualname}"
            )
        if piece.binds:
            return f"{module.name}:{piece.binds[0]}"
        return ""

    # --- names

    def _want_name(
        self,
        module: Module,
        name: str,
        versions: tuple[int, ...] | None,
        demand: Demand,
        *,
        local: bool,
        value: bool,
        written: bool = False,
    ) -> None:
        """The module-scope name ``name`` of ``module`` is referred to.

        ``local``: by code of the module itself. ``value``: as a value, not only in an
        annotation or as a base class. ``written``: the object is only changed.
        """
        if local:
            self.result.read_names.add((module.name, name))
        key = (module.name, name, versions, value, written)
        if key in self._names:
            return
        self._names.add(key)
        summary = module.summary
        pieces = module.current_pieces(name, versions)
        if not pieces:
            self._want_unbound(module, name, demand, local=local, value=value)
            return
        for index in pieces:
            piece = summary.pieces[index]
            if piece.kind == "import":
                if any(bound == "*" for bound, *_ in piece.imports):
                    self._want_star(module, piece, name, demand, value=value)
                else:
                    self._import_alias(module, piece, name, demand, read=True, value=value)
                continue
            if piece.kind == "future":
                continue
            item = f"{module.name}:{name}"
            if self._keep(module, piece, demand, item=item) and piece.kind == "class" and value:
                self._make_live(self.engine.class_(module, _class_of(module, piece)), demand)
        if written:
            return
        if value:
            self._want_replacement(module, name, pieces, demand)
        if any(summary.pieces[p].kind != "import" for p in pieces):
            self._build(module, name, versions, demand)

    def _want_replacement(
        self, module: Module, name: str, pieces: tuple[int, ...], demand: Demand
    ) -> None:
        """What gives ``name`` at run time, when only type checkers see ``pieces`` bind it.

        The module's ``__getattr__`` (PEP 562), or else a call that is told the name:
        ``replace_module(__name__, {"submodule": ["name", …]})``.
        """
        if not pieces or not all(module.summary.pieces[p].type_checking for p in pieces):
            return
        if (module.name, name) in self._replaced:
            return
        self._replaced.add((module.name, name))
        if "__getattr__" in module.summary.scope:
            self._want_lazy(module, name, demand, value=True)
            return
        for piece in module.summary.pieces:
            if piece.owner < 0 and piece.unit >= 0 and piece.kind in ("expr", "assign"):
                ops = module.summary.units[piece.unit].ops
                if name in _strings(ops) and any(op[0] == s.CALL for op in ops):
                    self._keep(module, piece, demand)
                    self._effects.setdefault(module.name)
                    self._want_listed(ops, name, demand)

    def _want_listed(self, ops: list[s.Op], name: str, demand: Demand) -> None:
        """``{"submodule": ["name", "other"]}``: whoever fetches the one fetches all of them."""
        for op in ops:
            for key, _, register in op[2] if op[0] == s.MAPPING else ():
                listed = strings_in(ops, register)
                source = self.program.module(key) if key is not None and name in listed else None
                for other in listed if source is not None else ():
                    assert source is not None
                    self._keep_module(source.name)
                    self._want_name(source, other, None, demand, local=False, value=True)

    def _want_unbound(
        self, module: Module, name: str, demand: Demand, *, local: bool, value: bool
    ) -> None:
        if name == "__doc__":
            for piece in module.summary.pieces[:1]:
                if piece.kind == "doc":
                    self.result.kept.setdefault((module.name, piece.index))
                    self._keep_module(module.name)
            return
        found = self.program.star_source(module, name)
        if found is not None:
            self._want_star(module, module.summary.pieces[found[1]], name, demand, value=value)
            return
        if name not in module.summary.global_writers and "__getattr__" in module.summary.scope:
            self._want_lazy(module, name, demand, value=value)
            return
        for unit in module.summary.global_writers.get(name, ()):
            piece = module.summary.pieces[self._holder(module, unit)]
            self._keep(module, piece, demand)

    def _want_star(
        self, module: Module, piece: Piece, name: str, demand: Demand, *, value: bool
    ) -> None:
        key = (module.name, piece.index)
        if not self._wire(module, piece, demand):
            return
        found = self.program.star_source(module, name)
        source = None if found is None else found[0]
        if source is None:
            self.result.aliases.setdefault(key, {})["*"] = None
            for _, level, target, _ in piece.imports:
                self._external(self.program.import_target(module, level, target), "*")
            return
        self.result.stars.setdefault(key, {})[name] = None
        self._want_name(source, name, None, demand, local=False, value=value)
        self._keep_module(source.name)

    def _wire(self, module: Module, piece: Piece, demand: Demand) -> bool:
        """Keep an import statement's place (its aliases are kept one by one)."""
        key = (module.name, piece.index)
        if key not in self.result.kept:
            self._keep_module(module.name)
            self.result.kept[key] = None
            self._keep_surroundings(module, piece, demand.source)
        return True

    def _import_alias(
        self,
        module: Module,
        piece: Piece,
        bound: str,
        demand: Demand,
        *,
        read: bool,
        value: bool = True,
    ) -> None:
        """One alias of an import statement is needed: keep it, and what it stands for."""
        key = (module.name, piece.index)
        same = self._earlier_import(module, piece, bound)
        if same is not None:
            self._import_alias(module, same, bound, demand, read=read, value=value)
            return
        for name, level, target, item in piece.imports:
            if name != bound or bound == "*":
                continue
            if not self._follow_import(module, piece, level, target, item, demand, value=value):
                return
            self._wire(module, piece, demand)
            self.result.aliases.setdefault(key, {})[bound] = None

    def _earlier_import(self, module: Module, piece: Piece, bound: str) -> Piece | None:
        """An unconditional import further up that binds the same name to the same thing."""
        entry = next((e for e in piece.imports if e[0] == bound), None)
        for index in module.summary.scope.get(bound, ()):
            earlier = module.summary.pieces[index]
            if earlier.index >= piece.index or earlier.kind != "import":
                return None
            if earlier.parent < 0 and earlier.owner == piece.owner and entry in earlier.imports:
                return earlier
        return None

    def _follow_import(
        self,
        module: Module,
        piece: Piece,
        level: int,
        target: str,
        item: str | None,
        demand: Demand,
        *,
        value: bool,
    ) -> bool:
        program = self.program
        absolute = program.import_target(module, level, target)
        if item is None:
            if program.is_module(absolute):
                self._keep_module(absolute)
            elif not program.is_module(absolute.partition(".")[0]):
                self._external(absolute, "")
            return True
        source = program.module(absolute)
        if source is not None and (
            item in source.summary.scope
            or item in source.summary.global_writers
            or program.star_source(source, item) is not None
        ):
            if self._self_import(module, piece, source, item):
                self._keep_module(f"{absolute}.{item}")
                return True
            self._keep_module(absolute)
            return self._want_target(
                source, item, demand, value=value, typing_only=piece.type_checking
            )
        if program.is_module(f"{absolute}.{item}"):
            self._keep_module(f"{absolute}.{item}")
            return True
        if source is not None:
            self._want_lazy(source, item, demand, value=value)
            return True
        if not program.is_module(absolute):
            self._external(absolute, item)
        return True

    def _self_import(self, module: Module, piece: Piece, source: Module, item: str) -> bool:
        """``from . import x`` in ``__init__`` where the only ``x`` is that very import."""
        return source is module and module.current_pieces(item, None) == (piece.index,)

    def _want_target(
        self, source: Module, item: str, demand: Demand, *, value: bool, typing_only: bool
    ) -> bool:
        if f"{source.name}:{item}" in self.excluded:
            return False
        if self.depth is not None:
            distance = self.result.distances.get(demand.source, 0) + 1
            direct = any(
                source.summary.pieces[p].kind != "import" for p in source.current_pieces(item, None)
            )
            wanted = f"{source.name}:{item}"
            if direct and distance > self.depth and wanted not in self.result.distances:
                self.result.omitted.setdefault(wanted, distance)
                return False
        self._want_name(source, item, None, demand, local=False, value=value)
        if not typing_only:
            self._want_replacement(source, item, source.current_pieces(item, None), demand)
        return True

    def _want_lazy(self, module: Module, name: str, demand: Demand, *, value: bool) -> None:
        """A name that only the module's ``__getattr__`` gives (PEP 562)."""
        self._keep_module(module.name)
        if "__getattr__" in module.summary.scope:
            self._want_name(module, "__getattr__", None, demand, local=False, value=True)
            found = self.program.lazy_target(module, name)
            if found is not None:
                self._keep_module(found[0])
                inner = self.program.module(found[0])
                if inner is not None and found[1]:
                    self._want_name(inner, found[1], None, demand, local=False, value=value)

    def _external(self, module: str, name: str) -> None:
        self.result.externals[(module, name)] = None

    # --- what builds a variable

    def _build(
        self, module: Module, name: str, versions: tuple[int, ...] | None, demand: Demand
    ) -> None:
        """Every statement that changes the object ``name`` stands for."""
        if (module.name, name) in self._built:
            return
        self._built.add((module.name, name))
        item = f"{module.name}:{name}"
        if item not in self.result.distances:
            return
        summary = module.summary
        for index in summary.mutations.get(name, ()):
            piece = summary.pieces[index]
            if piece.kind == "class" and piece.index in summary.scope.get(name, ()):
                continue
            patched = self._patched_member(module, name, piece)
            if patched is not None:
                self._patches.setdefault(patched, []).append((module, piece))
                if patched not in self._wanted_members:
                    continue
            self._keep_builder(module, piece, item, name)
        writers = [
            u for u in summary.global_writers.get(name, ()) if summary.units[u].kind != "piece"
        ]
        imported = self._closure()
        if writers:
            self._build_through(module, name, writers, item)
        self._build_elsewhere(module, name, item, imported)

    def _patched_member(self, module: Module, name: str, piece: Piece) -> tuple[Class, str] | None:
        """The class member that ``C.member = …`` replaces, if that is all the piece does."""
        if piece.kind != "assign" or piece.unit < 0:
            return None
        stored = [op[2] for op in module.summary.units[piece.unit].ops if op[0] == s.SETATTR]
        if len(stored) != 1:
            return None
        for value in self.engine.name_values(module, name, None):
            kind = self.engine.values[value]
            if kind[0] == "C":
                owner = self.engine.find_member(kind[1], stored[0])
                if owner is not None:
                    return owner, stored[0]
        return None

    def _keep_builder(self, module: Module, piece: Piece, item: str, name: str) -> None:
        demand = Demand(
            item,
            ReferenceKind.WRITE,
            Certainty.DEFINITE,
            "builds",
            module.file.path,
            s.pack(piece.start, 0),
        )
        own = piece.kind in ("expr", "assign", "other") and not piece.binds
        self._keep(module, piece, demand, item=item if own else "")
        if piece.kind == "class":
            self._make_live(self.engine.class_(module, _class_of(module, piece)), demand)
        self._effects.setdefault(module.name)

    def _closure(self) -> dict[str, object]:
        """The modules that importing the targets' modules runs."""
        if self._closure_modules is None:
            self._closure_modules = dict(import_closure(self.program, self._roots))
        return self._closure_modules

    def _build_through(self, module: Module, name: str, writers: list[int], item: str) -> None:
        """Module-level calls and decorators that run a function which writes the variable."""
        functions: dict[Function, None] = {}
        for unit in writers:
            current = unit
            while current >= 0:
                functions[self.engine.function(module, current)] = None
                current = module.summary.units[current].parent
        simple = {fn.unit.qualname.split(".")[0] for fn in functions}
        simple |= {k.info.qualname for k in self._subclass_names(functions)}
        for other_name in self._closure():
            other = self.program.module(other_name)
            if other is None or not self._mentions(other, module, simple):
                continue
            for piece in other.summary.pieces:
                if piece.unit < 0 or piece.kind not in ("expr", "def", "class", "assign"):
                    continue
                facts = self.engine.facts_of(self.engine.function(other, piece.unit))
                if any(fact[0] == f.CALL and fact[1] in functions for fact in facts):
                    self._keep_builder(other, piece, item, name)

    def _subclass_names(self, functions: dict[Function, None]) -> list[Class]:
        return [
            self.engine.class_(fn.module, fn.unit.owner) for fn in functions if fn.unit.owner >= 0
        ]

    @staticmethod
    def _mentions(other: Module, module: Module, simple: set[str]) -> bool:
        if other is module:
            return True
        last = module.name.rpartition(".")[2]
        for piece in other.summary.pieces:
            for _, _, target, name in piece.imports:
                if name in simple or name in ("*", last) or target.rpartition(".")[2] == last:
                    return True
        return False

    def _build_elsewhere(
        self, module: Module, name: str, item: str, imported: dict[str, object]
    ) -> None:
        """Statements of other modules that change the object (``from reg import X; X[k] = …``)."""
        last = module.name.rpartition(".")[2]
        for other_name in imported:
            other = self.program.module(other_name)
            if other is None or other is module:
                continue
            for bound, pieces in other.summary.mutations.items():
                for index in other.summary.scope.get(bound, ()):
                    if self._binds(
                        other, other.summary.pieces[index], bound, module, name, last, pieces
                    ):
                        for piece in pieces:
                            if other.summary.pieces[piece].kind != "class":
                                self._keep_builder(other, other.summary.pieces[piece], item, name)

    def _binds(
        self,
        other: Module,
        piece: Piece,
        bound: str,
        module: Module,
        name: str,
        last: str,
        mutations: tuple[int, ...],
    ) -> bool:
        for alias, level, target, item in piece.imports:
            if alias != bound:
                continue
            absolute = self.program.import_target(other, level, target)
            if item == name and (absolute == module.name or self._same(absolute, name, module)):
                return True
            whole = absolute if item is None else f"{absolute}.{item}"
            if whole == module.name:
                return self._writes_attribute(other, mutations, module, name)
        return False

    def _same(self, absolute: str, name: str, module: Module) -> bool:
        """Whether ``absolute.name`` is a re-export of ``module.name``."""
        seen: set[str] = set()
        while absolute not in seen:
            seen.add(absolute)
            source = self.program.module(absolute)
            if source is None:
                return False
            if source is module:
                return True
            for index in source.summary.scope.get(name, ()):
                for alias, level, target, item in source.summary.pieces[index].imports:
                    if alias == name and item == name:
                        absolute = self.program.import_target(source, level, target)
        return absolute == module.name

    def _writes_attribute(
        self, other: Module, mutations: tuple[int, ...], module: Module, name: str
    ) -> bool:
        for index in mutations:
            unit = other.summary.pieces[index].unit
            if unit < 0:
                continue
            for fact in self.engine.facts_of(self.engine.function(other, unit)):
                if fact[0] in (f.WRITE, f.NAME) and fact[1] == module.name and fact[2] == name:
                    return True
        return False

    def _build_member(self, owner: Class, name: str) -> None:
        """Statements that change a class attribute: patches, registration in a class registry."""
        item = f"{owner.id}.{name}"
        for module, piece in self._patches.get((owner, name), ()):
            self._keep_builder(module, piece, owner.id, name)
        summary = owner.module.summary
        if not any(summary.pieces[p].kind == "assign" for p in owner.info.members.get(name, ())):
            return
        writers = [
            unit.index
            for unit in summary.units
            if unit.kind == "function"
            and unit.owner == owner.info.index
            and unit.flags & (s.CLASSMETHOD | s.STATIC)
            and _mutates_attribute(unit.ops, name)
        ]
        if writers:
            self._build_through(owner.module, name, writers, item)

    # --- facts

    def _holder(self, module: Module, unit: int) -> int:
        """The module- or class-level piece in which a unit stands."""
        return holding_piece(module, unit)

    def _expand(self, module: Module, index: int, item: str) -> None:
        """Follow what one kept piece refers to."""
        piece = module.summary.pieces[index]
        if piece.unit < 0:
            return
        bases: set[Class] = set()
        units = units_of_piece(module, index)
        for number in units:
            function = self.engine.function(module, number)
            facts = self.engine.facts_of(function)
            followed = self._followed.get(function)
            if followed is None:
                followed = self._followed[function] = _Followed(module, index, item)
            followed.facts = function.facts
            if number == piece.unit and piece.kind == "class":
                bases = {fact[1] for fact in facts if fact[0] == f.INHERIT}
                self._enclosing_class(module, piece, item)
            for fact in facts:
                if fact not in followed.seen:
                    followed.seen.add(fact)
                    own = bases if number == piece.unit else set()
                    self._follow(module, piece, item, fact, own, function)

    def _enclosing_class(self, module: Module, piece: Piece, item: str) -> None:
        owner = self.engine.class_(module, _class_of(module, piece))
        demand = Demand(
            item,
            ReferenceKind.READ,
            Certainty.DEFINITE,
            "class-body",
            module.file.path,
            s.pack(piece.start, 0),
        )
        for name in ("__slots__", "__match_args__", "__hash__"):
            if name in owner.info.members and all(
                module.summary.pieces[p].kind == "assign" for p in owner.info.members[name]
            ):
                self._want_member(owner, name, demand)
        definer = self.engine.function(owner.module, owner.info.unit)
        if any(
            fact[0] == f.EXTERNAL and fact[1].startswith("functools.total_ordering")
            for fact in self.engine.facts_of(definer)
        ):
            for name in _ORDERING:  # the decorator demands one of them
                if name in owner.info.members:
                    self._want_member(owner, name, demand)

    def _demand(
        self, module: Module, item: str, kind: ReferenceKind, certain: bool, rule: str, pos: int
    ) -> Demand:
        certainty = Certainty.DEFINITE if certain else Certainty.POSSIBLE
        return Demand(item, kind, certainty, rule, module.file.path, abs(pos))

    def _follow(
        self,
        module: Module,
        piece: Piece,
        item: str,
        fact: f.Fact,
        bases: set[Class],
        function: Function,
    ) -> None:
        kind = fact[0]
        if kind == f.NAME:
            self._follow_name(module, piece, item, fact, bases)
        elif kind == f.MEMBER:
            self._follow_member(module, item, fact)
        elif kind == f.CALL:
            self._follow_call(module, item, fact)
        elif kind == f.UNKNOWN:
            demand = self._demand(
                module, item, ReferenceKind.READ, False, "receiver-of-argument", fact[2]
            )
            self._pending.append(_Open(fact[4], "attribute", fact[1], demand, function))
        elif kind == f.PROTOCOL:
            demand = self._demand(module, item, ReferenceKind.CALL, False, "protocol", fact[2])
            self._pending.append(_Open(fact[3], "protocol", fact[1], demand, function))
        elif kind == f.PASS:
            self._origins.bind(fact[1], fact[2], fact[3])
        elif kind == f.APPLY:
            demand = self._demand(
                module, item, ReferenceKind.CALL, False, "call-of-argument", fact[3]
            )
            self._pending.append(_Open(fact[1], "apply", fact[2], demand, function))
        elif kind == f.EXTERNAL:
            self._dotted.setdefault(module.name, set()).add(fact[1])
        elif kind == f.INSTANCE:
            self._make_live(
                fact[1], self._demand(module, item, ReferenceKind.CALL, True, "instance", fact[2])
            )
        elif kind == f.MODULE:
            demand = self._demand(module, item, ReferenceKind.IMPORT, True, "module", fact[2])
            self._want_module(module, fact[1], demand)
            if len(fact) > 3:  # `package.module`: somebody's import must have bound it
                self._effects.setdefault(fact[1])
        elif kind == f.ANNOTATE:
            source = self.program.module(fact[1])
            if source is not None:
                demand = self._demand(
                    module, item, ReferenceKind.ANNOTATE, True, "annotation", fact[3]
                )
                local = source is module and fact[4] is not None
                self._want_name(source, fact[2], None, demand, local=local, value=False)
        elif kind == f.WRITE and fact[3] == 0:
            source = self.program.module(fact[1])
            if source is not None:
                demand = self._demand(
                    module, item, ReferenceKind.WRITE, True, "global", s.pack(piece.start, 0)
                )
                self._want_name(
                    source, fact[2], None, demand, local=False, value=False, written=True
                )
        elif kind == f.DYNAMIC:
            self._follow_dynamic(module, item, fact, function)
        elif kind == f.CLASSREF:
            self._make_live(
                fact[1], self._demand(module, item, ReferenceKind.READ, True, "class", fact[2])
            )

    def _follow_name(
        self, module: Module, piece: Piece, item: str, fact: f.Fact, bases: set[Class]
    ) -> None:
        _, owner, name, versions, pos, *dynamic = fact
        source = self.program.module(owner)
        if source is None:
            return
        written = pos < 0
        kind = ReferenceKind.WRITE if written else ReferenceKind.READ
        demand = self._demand(module, item, kind, True, "name", pos)
        value = True
        if bases and self._names_base(source, name, versions, bases):
            demand.kind = ReferenceKind.INHERIT
            value = False
        if source is not module:
            self._keep_module(source.name)
            self._dotted.setdefault(module.name, set()).add(f"{source.name}.{name}")
        # `globals()["name"]` reads a name that linters do not see read.
        local = source is module and not dynamic
        self._want_name(source, name, versions, demand, local=local, value=value, written=written)

    def _names_base(
        self, source: Module, name: str, versions: tuple[int, ...] | None, bases: set[Class]
    ) -> bool:
        values = self.engine.name_values(source, name, versions)
        return any(
            self.engine.values[v][0] == "C" and self.engine.values[v][1] in bases for v in values
        )

    def _follow_member(self, module: Module, item: str, fact: f.Fact) -> None:
        _, owner, name, pos, is_open, how, certain = fact
        kind = ReferenceKind.CALL if how == "call" else ReferenceKind.READ
        demand = self._demand(module, item, kind, certain, "member", pos)
        if how == "write":
            return  # a setter that runs is a call
        if certain:
            self._want_member(owner, name, demand, written=pos < 0)
        if how == "super":
            self._want_after(owner, name, demand)
        elif is_open and pos >= 0:
            self._want_override(owner, name, demand, instance=how != "class")

    def _follow_call(self, module: Module, item: str, fact: f.Fact) -> None:
        function: Function = fact[1]
        demand = self._demand(module, item, ReferenceKind.CALL, fact[3], fact[4], fact[2])
        index = self._holder(function.module, function.unit.index)
        target = function.module.summary.pieces[index]
        if (function.module.name, index) == (module.name, -1):
            return
        if function.unit.parent >= 0:
            # A closure or lambda runs; whoever made it is reached through its name.
            if (function.module.name, index) not in self.result.kept:
                self._keep(function.module, target, demand)
            return
        self._keep(function.module, target, demand)

    def _follow_dynamic(self, module: Module, item: str, fact: f.Fact, function: Function) -> None:
        _, owner, prefix, suffix, pos, value = fact
        demand = self._demand(module, item, ReferenceKind.READ, False, "dynamic-attribute", pos)
        if isinstance(owner, Class):
            if not prefix and not suffix:
                self._unresolved(item, owner.id, "dynamic-attribute", pos)
                self._widen(owner, demand)
            self._want_matching(owner, prefix, suffix, demand)
        elif owner is None:
            self._unresolved(item, f"{prefix}…{suffix}", "dynamic-attribute", pos)
            if prefix or suffix:
                self._pending.append(_Open(value, "matching", (prefix, suffix), demand, function))
        else:
            self._unresolved(item, owner, "dynamic-attribute", pos)
            if owner == module.name and not prefix and not suffix:
                self._named_by_strings.setdefault(owner, demand)

    def _match_strings(self) -> bool:
        """``globals()[name]``: the names of the module that strings of the slice spell."""
        if not self._named_by_strings:
            return False
        for function in self._followed:
            if function not in self._read_strings:
                self._read_strings.add(function)
                self._spelled.update(dict.fromkeys(_strings(function.unit.ops)))
        before = len(self._names)
        for owner, demand in self._named_by_strings.items():
            module = self.program.module(owner)
            for name in module.summary.scope if module is not None else ():
                if name in self._spelled:
                    assert module is not None
                    self._want_name(module, name, None, demand, local=False, value=True)
        return len(self._names) > before

    def _unresolved(self, item: str, name: str, reason: str, pos: int) -> None:
        line, column = unpack(abs(pos))
        self.result.unresolved[
            Unresolved(source=item, name=name, reason=reason, site=Site(line=line, column=column))
        ] = None

    # --- classes

    def _make_live(self, class_: Class, demand: Demand) -> None:
        """``class_`` is used as a value: it can be instantiated, its members reached."""
        if class_ in self._live or class_.id in self.excluded:
            return
        self._live[class_] = demand
        holder = self._class_piece(class_)
        if holder is None:
            return
        item = f"{class_.module.name}:{class_.info.qualname}"
        if class_.info.piece >= 0 and not self._keep(class_.module, holder, demand, item=item):
            return
        own = Demand(
            item,
            ReferenceKind.CALL,
            Certainty.DEFINITE,
            "constructs",
            class_.module.file.path,
            s.pack(class_.info.line, 0),
        )
        order = self.engine.mro(class_)
        for name in _CONSTRUCTORS:
            found = self.engine.find_member(class_, name)
            if found is not None:
                self._want_member(found, name, own)
        for k in order:
            for name in (
                "__init_subclass__",
                "__set_name__",
                "__class_getitem__",
                "__getattr__",
                "__getattribute__",
                "__setattr__",
            ):
                if name in k.info.members and (name != "__class_getitem__"):
                    if name == "__init_subclass__" and k is class_:
                        continue
                    if name in ("__getattr__", "__getattribute__", "__setattr__", "__set_name__"):
                        continue
                    self._want_member(k, name, own)
        if self._is_record(class_):
            self._keep_fields(class_, own)
        outside = [b for b in self.engine.external_bases(class_) if b not in INERT_BASES]
        if outside:
            self._keep_overrides(class_, outside[0], own)
        for k in order:
            for name, wanted in tuple(self._open_by_class.get(k, {}).items()):
                self._override_in(class_, name, wanted)
        for (k, name), wanted in tuple(self._super.items()):
            self._after_in(class_, k, name, wanted)
        for name, wanted in tuple(self._unknown.items()):
            self._anywhere_in(class_, name, wanted)
        for (k, prefix, suffix), wanted in tuple(self._prefixes.items()):
            if k in order:
                self._matching_in(class_, prefix, suffix, wanted)

    def _class_piece(self, class_: Class) -> Piece | None:
        summary = class_.module.summary
        if class_.info.piece >= 0:
            return summary.pieces[class_.info.piece]
        unit = class_.info.parent_function
        return summary.pieces[self._holder(class_.module, unit)] if unit >= 0 else None

    def _is_record(self, class_: Class) -> bool:
        """Whether something reads the class body as a list of fields."""
        for k in self.engine.mro(class_):
            if (
                k.info.decorators
                or k.metaclasses
                or any(n == "metaclass" for n, _ in k.info.keywords)
            ):
                return True
            if any(base in RECORD_BASES or base not in INERT_BASES for base in k.external_bases):
                return True
        return False

    def _keep_fields(self, class_: Class, demand: Demand) -> None:
        for k in self.engine.mro(class_):
            if not (k is class_ or k.info.decorators or k.external_bases or k.metaclasses):
                continue
            generated = self._generates_from_annotations(k)
            for index in k.info.pieces:
                piece = k.module.summary.pieces[index]
                if piece.kind == "class" and not generated:  # `class Meta:` is read like a field
                    self._keep(k.module, piece, demand)
                    self._make_live(
                        self.engine.class_(k.module, _class_of(k.module, piece)), demand
                    )
                if piece.kind == "assign" and (not generated or _is_field(k.module, piece)):
                    self._keep(k.module, piece, demand)
                    self._keep_callables(k.module, piece, demand)

    def _keep_callables(self, module: Module, field: Piece, demand: Demand) -> None:
        """What a field is made with, generated methods call: validators, converters."""
        for fact in self.engine.facts_of(self.engine.function(module, field.unit)):
            for value in sorted(fact[3]) if fact[0] == f.PASS else ():
                kind = self.engine.values[value]
                if kind[0] == "I":
                    found = self.engine.find_member(kind[1], "__call__")
                    if found is not None:
                        self._want_member(found, "__call__", demand)

    def _generates_from_annotations(self, class_: Class) -> bool:
        """Whether only annotated names are fields: dataclasses (PEP 557)."""
        definer = self.engine.function(class_.module, class_.info.unit)
        return any(
            fact[0] == f.EXTERNAL
            and fact[1] in ("dataclasses.dataclass", "dataclasses.dataclass.dataclass")
            for fact in self.engine.facts_of(definer)
        )

    def _keep_overrides(self, class_: Class, base: str, demand: Demand) -> None:
        """A base class outside the repo may call any method."""
        outside = Demand(
            demand.source,
            ReferenceKind.CALL,
            Certainty.POSSIBLE,
            f"external-base {base}",
            demand.path,
            demand.pos,
        )
        for k in self.engine.mro(class_):
            if not any(b not in INERT_BASES for b in self.engine.external_bases(k)):
                continue
            for index in k.info.pieces:
                piece = k.module.summary.pieces[index]
                if piece.kind in ("def", "assign"):
                    self._keep(k.module, piece, outside)

    def _widen(self, class_: Class, demand: Demand) -> None:
        """Keep every member of ``class_``."""
        for index in class_.info.pieces:
            piece = class_.module.summary.pieces[index]
            if piece.kind != "doc":
                self._keep(class_.module, piece, demand)

    def _want_member(
        self, owner: Class, name: str, demand: Demand, *, written: bool = False
    ) -> None:
        """The member ``name`` that the body of ``owner`` binds (``written``: only changed)."""
        if owner.info.piece < 0 and owner.info.owner < 0:
            return  # a class in a function: kept whole with it
        if (owner, name) in self._wanted_members:
            return
        if not written:
            self._wanted_members.add((owner, name))
        summary = owner.module.summary
        for index in owner.info.members.get(name, ()):
            piece = summary.pieces[index]
            if piece.kind == "import":
                self._import_alias(owner.module, piece, name, demand, read=True)
                continue
            item = f"{owner.module.name}:{owner.info.qualname}.{name}"
            self._keep(owner.module, piece, demand, item=item if name in piece.binds else "")
            if _is_abstract(owner.module, piece):  # PEP 3119: no instance without the override
                self._want_override(owner, name, demand, instance=False)
            if piece.kind == "class":
                self._make_live(
                    self.engine.class_(owner.module, _class_of(owner.module, piece)), demand
                )
        if not written:
            self._build_member(owner, name)

    def _want_override(self, class_: Class, name: str, demand: Demand, *, instance: bool) -> None:
        """``name`` on ``class_`` or a live subclass of it (on an ``instance``: it is live)."""
        if instance:
            self._make_live(class_, demand)
            if any(base.endswith(".Protocol") for base in class_.external_bases):
                self._want_anywhere(name, demand)  # structural: PEP 544
        if (class_, name) in self._open:
            return
        self._open[(class_, name)] = demand
        self._open_by_class.setdefault(class_, {})[name] = demand
        for live in tuple(self._live):
            if class_ in self.engine.mro(live):
                self._override_in(live, name, demand)

    def _override_in(self, live: Class, name: str, demand: Demand) -> None:
        found = self.engine.find_member(live, name)
        if found is not None:
            self._want_member(found, name, demand)
        elif name in _ORDERING:
            self._want_ordering(live, demand)

    def _want_ordering(self, live: Class, demand: Demand) -> None:
        """``functools.total_ordering`` derives what is missing from what is there."""
        for k in self.engine.mro(live):
            if k.info.decorators:
                for name in (*_ORDERING, "__eq__"):
                    if name in k.info.members:
                        self._want_member(k, name, demand)

    def _want_after(self, class_: Class, name: str, demand: Demand) -> None:
        if (class_, name) not in self._super:
            self._super[(class_, name)] = demand
            for live in tuple(self._live):
                self._after_in(live, class_, name, demand)

    def _after_in(self, live: Class, class_: Class, name: str, demand: Demand) -> None:
        order = self.engine.mro(live)
        if class_ not in order:
            return
        for k in order[order.index(class_) + 1 :]:
            if name in k.info.members:
                self._want_member(k, name, demand)
                return

    def _want_anywhere(self, name: str, demand: Demand) -> None:
        """``name`` on a receiver nobody knows: any live class may be it."""
        if name not in self._unknown:
            self._unknown[name] = demand
            for live in tuple(self._live):
                self._anywhere_in(live, name, demand)

    def _anywhere_in(self, live: Class, name: str, demand: Demand) -> None:
        found = self.engine.find_member(live, name)
        if found is not None:
            self._want_member(found, name, demand)
        elif name in _ORDERING:
            self._want_ordering(live, demand)
        elif not name.startswith("__"):
            fallback = self.engine.find_member(live, "__getattr__")
            if fallback is not None:
                self._want_member(fallback, "__getattr__", demand)

    def _want_matching(self, class_: Class, prefix: str, suffix: str, demand: Demand) -> None:
        """Members of ``class_`` and of its live subclasses whose name fits."""
        if (class_, prefix, suffix) not in self._prefixes and (prefix or suffix):
            self._prefixes[(class_, prefix, suffix)] = demand
            self._matching_in(class_, prefix, suffix, demand)
            for live in tuple(self._live):
                if class_ in self.engine.mro(live):
                    self._matching_in(live, prefix, suffix, demand)

    def _matching_in(self, live: Class, prefix: str, suffix: str, demand: Demand) -> None:
        for k in self.engine.mro(live):
            for name in tuple(k.info.members):
                fits = name.startswith(prefix) and name.endswith(suffix)
                if fits and (not name.startswith("__") or prefix.startswith("__")):
                    self._want_member(k, name, demand)

    # --- modules

    def _want_module(self, module: Module, name: str, demand: Demand) -> None:
        """A module object is named: it must be there, and be imported by someone."""
        self._keep_module(name)
        self._dotted.setdefault(module.name, set()).add(name)
        parent, _, _ = name.rpartition(".")
        package = self.program.module(parent) if parent else None
        if package is None or package is module:
            return
        # `package.last` is bound by whoever imports the submodule: keep the package's own import.
        for piece in package.summary.pieces:
            if piece.kind != "import" or piece.type_checking:
                continue
            for bound, level, target, item in piece.imports:
                if name in imported_modules(self.program, package, level, target, item):
                    absolute = self.program.import_target(package, level, target)
                    if name in (absolute, f"{absolute}.{item}"):
                        self._import_alias(package, piece, bound, demand, read=False)
                        return

    def _connect_effects(self) -> bool:
        """Modules that are kept for what they do when they run must be imported by someone."""
        closure = import_closure(self.program, self._roots)
        reached = self._reached()
        changed = False
        for name in tuple(self._effects):
            if name in reached:
                continue
            current: str | None = name
            while current is not None and current not in reached:
                edge = closure.get(current)
                if edge is None:
                    break
                importer, index, bound, _ = edge
                holder = self.program.module(importer)
                assert holder is not None
                key = (importer, index)
                if bound not in self.result.aliases.get(key, {}):
                    changed = True
                    self._force_alias(holder, holder.summary.pieces[index], bound, name)
                current = importer
        return changed or bool(self._queue)

    def _settle_order(self) -> bool:
        """Have a circle of imports entered from the side that the package enters it from."""
        run = run_imports(self.program, self._roots, self._kept_steps)
        if not run.blocked:
            return False
        if self._original_run is None:
            self._original_run = run_imports(self.program, self._roots, all_steps)
        for name, entered in run.blocked.items():
            if name in self._original_run.blocked:
                continue
            for importer, index, bound, wanted in path_to(self._original_run, entered):
                edge = (importer, index, wanted)
                if edge not in self._forced and not self._enters(importer, index, wanted):
                    self._forced.add(edge)
                    holder = self.program.module(importer)
                    assert holder is not None
                    piece = holder.summary.pieces[index]
                    self._force_alias(
                        holder, piece, self._cheapest(holder, piece, bound, wanted), wanted
                    )
                    return True
        return False

    def _kept_steps(self, module: Module) -> Iterator[ImportStep]:
        """What the slice's share of ``module`` does when it is imported."""
        for piece in module.summary.pieces:
            key = (module.name, piece.index)
            if key not in self.result.kept or not runs_always(piece):
                continue
            if piece.kind == "import":
                wanted = self.result.aliases.get(key, {})
                named = tuple(self.result.stars.get(key, ()))
                imports = tuple(
                    (name, level, target, item)
                    for bound, level, target, item in piece.imports
                    for name, item in (
                        [(n, n) for n in named]
                        if bound == "*" and "*" not in wanted
                        else [(bound, item)]
                        if bound in wanted
                        else ()
                    )
                )
                yield ImportStep(piece.index, imports, (), ())
                continue
            reads: tuple[tuple[str, str], ...] = ()
            if piece.unit >= 0:
                followed = self._followed.get(self.engine.function(module, piece.unit))
                reads = tuple(
                    (fact[1], fact[2]) if fact[0] == f.NAME else fact[1].rpartition(".")[::2]
                    for fact in (followed.facts if followed is not None else ())
                    if (fact[0] == f.NAME and fact[1] != module.name and fact[4] >= 0)
                    or (fact[0] == f.MODULE and len(fact) > 3)
                )
            yield ImportStep(piece.index, (), reads, piece.binds)

    def _enters(self, importer: str, index: int, wanted: str) -> bool:
        """Whether the slice keeps an alias of that import which runs ``wanted``."""
        holder = self.program.module(importer)
        assert holder is not None
        piece = holder.summary.pieces[index]
        key = (importer, index)
        if not runs_always(piece):
            return False
        kept = {**self.result.aliases.get(key, {}), **self.result.stars.get(key, {})}
        return any(
            wanted in imported_modules(self.program, holder, level, target, item)
            for bound, level, target, item in piece.imports
            if bound in kept or (bound == "*" and kept)
        )

    def _cheapest(self, holder: Module, piece: Piece, bound: str, wanted: str) -> str:
        """Of the names of an import that run ``wanted``, one that brings nothing new if there is."""
        for name, level, target, item in piece.imports:
            if wanted not in imported_modules(self.program, holder, level, target, item):
                continue
            source = self.program.module(self.program.import_target(holder, level, target))
            if item is None or source is None or item in self._kept_names(source):
                return name
        return bound

    def _force_alias(self, module: Module, piece: Piece, bound: str, wanted: str) -> None:
        source = next(iter(self.result.distances))
        demand = Demand(
            source,
            ReferenceKind.IMPORT,
            Certainty.DEFINITE,
            "side-effect import",
            module.file.path,
            s.pack(piece.start, 0),
        )
        if bound == "*":
            self._force_star(module, piece, demand)
        else:
            self._import_alias(module, piece, bound, demand, read=False)

    def _force_star(self, module: Module, piece: Piece, demand: Demand) -> None:
        """Import something by name that a star gives: without ``__all__`` it gives too much."""
        for _, level, target, _ in piece.imports:
            source = self.program.module(self.program.import_target(module, level, target))
            for name in sorted(self._kept_names(source)) if source is not None else ():
                found = self.program.star_source(module, name)
                if found is not None and found[1] == piece.index:
                    self._want_star(module, piece, name, demand, value=False)
                    return
            self._keep_module(self.program.import_target(module, level, target))
        self._wire(module, piece, demand)
        self.result.aliases.setdefault((module.name, piece.index), {})["*"] = None

    def _kept_names(self, module: Module) -> set[str]:
        """The names of the module scope that the slice binds."""
        found: set[str] = set()
        for piece in module.summary.pieces:
            key = (module.name, piece.index)
            if piece.owner < 0 and key in self.result.kept:
                found.update(piece.binds if piece.kind != "import" else ())
                found.update(self.result.aliases.get(key, ()))
                found.update(self.result.stars.get(key, ()))
        return found

    def _reached(self) -> set[str]:
        """The modules that the kept imports make run, starting from the targets'."""
        found: set[str] = set()
        stack = [p for root in self._roots for p in with_packages(root)]
        by_module: dict[str, list[tuple[int, str]]] = {}
        for (name, index), bounds in (*self.result.aliases.items(), *self.result.stars.items()):
            by_module.setdefault(name, []).extend((index, b) for b in bounds)
        while stack:
            name = stack.pop()
            if name in found:
                continue
            found.add(name)
            module = self.program.module(name)
            if module is None:
                continue
            for index, wanted in by_module.get(name, ()):
                piece = module.summary.pieces[index]
                if piece.type_checking:
                    continue
                for bound, level, target, item in piece.imports:
                    if bound in (wanted, "*"):
                        stack.extend(imported_modules(self.program, module, level, target, item))
        return found

    def _settle_dotted_imports(self) -> None:
        """``import a.b`` and ``import a.c`` both bind ``a``: keep those whose module is used."""
        for (name, index), bounds in tuple(self.result.aliases.items()):
            module = self.program.module(name)
            assert module is not None
            piece = module.summary.pieces[index]
            for bound in tuple(bounds):
                if not is_dotted_import(piece, bound):
                    continue
                used = self._dotted.get(name, set())
                for other in module.summary.scope.get(bound, ()):
                    sibling = module.summary.pieces[other]
                    dotted = is_dotted_import(sibling, bound)
                    if other != index and any(_prefixes(d, used) for d in dotted):
                        demand = Demand(
                            next(iter(self.result.distances)),
                            ReferenceKind.IMPORT,
                            Certainty.DEFINITE,
                            "module",
                            module.file.path,
                            0,
                        )
                        self._import_alias(module, sibling, bound, demand, read=True)
        while self._queue:
            module_, piece_, item_ = self._queue.popleft()
            self._expand(module_, piece_, item_)

    # --- open values

    def _trace_open(self) -> bool:
        """Ask where the receivers, operands and callees that were open come from."""
        grown = self._origins.refresh()
        fresh = self._pending[self._traced :]
        self._traced = len(self._pending)
        for asked in self._pending if grown else fresh:
            for value in sorted(self._origins.trace(asked.value, asked.where)):
                if value not in asked.done:
                    asked.done.add(value)
                    self._settle_open(asked, value)
        return bool(fresh) or self._origins.grown

    def _settle_open(self, asked: _Open, value: int) -> None:
        kind = self.engine.values[value]
        if asked.what == "apply":
            self._apply(asked, value, kind)
        elif asked.what == "matching":
            if kind[0] in ("I", "C"):
                prefix, suffix = asked.name
                self._want_matching(kind[1], prefix, suffix, asked.demand)
        elif kind[0] in ("I", "C"):
            self._open_member(asked, value, kind[1], instance=kind[0] == "I")
        elif kind[0] == "M" and asked.what == "attribute":
            source = self.program.module(kind[1])
            if source is not None and asked.name in source.summary.scope:
                self._want_name(source, asked.name, None, asked.demand, local=False, value=True)
        elif kind[0] == "U" and asked.what == "attribute" and asked.name not in _COMMON:
            demand = asked.demand
            self._want_anywhere(
                asked.name,
                Demand(
                    demand.source,
                    demand.kind,
                    demand.certainty,
                    "unknown-receiver",
                    demand.path,
                    demand.pos,
                ),
            )
            self._unresolved(demand.source, asked.name, "unknown-receiver", demand.pos)

    def _open_member(self, asked: _Open, value: int, class_: Class, *, instance: bool) -> None:
        name = asked.name
        found = self.engine.find_member(class_, name)
        if found is not None:
            self._want_member(found, name, asked.demand)
            step = _STEPS.get(name) if instance else None
            stepping = self.engine.find_member(class_, step) if step else None
            if step and stepping is not None:  # an iterator, that gives itself: it is driven
                self._want_member(stepping, step, asked.demand)
        elif instance and name in _ORDERING:
            self._want_ordering(class_, asked.demand)
        elif instance and not name.startswith("__"):
            fallback = self.engine.find_member(class_, "__getattr__")
            if fallback is not None and not any(
                name in k.info.self_stores for k in self.engine.mro(class_)
            ):
                self._want_member(fallback, "__getattr__", asked.demand)
        if not self.engine.values[value][2]:
            self._want_override(class_, name, asked.demand, instance=False)

    def _apply(self, asked: _Open, value: int, kind: tuple[object, ...]) -> None:
        args = list(asked.name)
        tag = kind[0]
        if tag == "B":
            args.insert(0, frozenset((kind[2],)))
        if tag in ("F", "B", "GE", "CM"):
            self._apply_function(asked, kind[1], args)
        elif tag in ("C", "I"):
            owner = kind[1]
            assert isinstance(owner, Class)
            if tag == "C":
                self._make_live(owner, asked.demand)
            for name in ("__new__", "__init__") if tag == "C" else ("__call__",):
                found = self.engine.find_member(owner, name)
                if found is not None:
                    self._want_member(found, name, asked.demand)
                    receiver = value if tag == "I" else self.engine.intern(("I", owner, kind[2]))
                    for member in self.engine.member_values(found, name):
                        inner = self.engine.values[member]
                        if inner[0] == "F":
                            self._apply_function(asked, inner[1], [frozenset((receiver,)), *args])

    def _apply_function(self, asked: _Open, function: object, args: list[Values]) -> None:
        assert isinstance(function, Function)
        self._follow_call(
            function.module,
            asked.demand.source,
            (f.CALL, function, asked.demand.pos, False, asked.demand.evidence, False),
        )
        params = function.unit.params
        for place, values in enumerate(args):
            if place < len(params) and params[place][1] in ("po", "pk"):
                self._origins.bind(function, place, values)
            else:
                rest = next((i for i, p in enumerate(params) if p[1] == "va"), None)
                if rest is not None:
                    self._origins.bind(function, rest, values)

    # --- results

    def externals(self) -> tuple[ExternalImport, ...]:
        """Imports from outside the repo, merged per module."""
        grouped: dict[str, set[str]] = {}
        for module, name in self.result.externals:
            names = grouped.setdefault(module, set())
            if name:
                names.add(name)
        return tuple(
            ExternalImport(module=m, names=tuple(sorted(n))) for m, n in sorted(grouped.items())
        )

    def _step(self, item: str) -> Step:
        demand = self.result.reasons[item]
        line, column = unpack(demand.pos)
        return Step(
            source=demand.source,
            target=item,
            kind=demand.kind,
            certainty=demand.certainty,
            evidence=demand.evidence,
            path=demand.path,
            site=Site(line=line, column=column),
        )

    def chain(self, item: str) -> tuple[Step, ...]:
        """The references from a target to ``item``."""
        steps: list[Step] = []
        current = item
        seen: set[str] = set()
        while current in self.result.reasons and current not in seen:
            seen.add(current)
            step = self._steps.get(current)
            if step is None:
                step = self._steps[current] = self._step(current)
            steps.append(step)
            current = step.source
        return tuple(reversed(steps))


def _prefixes(dotted: str, used: set[str]) -> bool:
    return any(u == dotted or u.startswith(dotted + ".") for u in used)


def _class_of(module: Module, piece: Piece) -> int:
    for op in module.summary.units[piece.unit].ops:
        if op[0] == s.CLASS and module.summary.classes[op[2]].piece == piece.index:
            return int(op[2])
    raise LookupError(piece.path)


def _is_field(module: Module, piece: Piece) -> bool:
    """Whether a class-level statement declares a dataclass field."""
    for op in module.summary.units[piece.unit].ops:
        if op[0] == s.DECLARE:
            base = op[2][1] if op[2][0] == s.T_SUBSCRIPT else op[2]
            return not (base[0] in (s.T_NAME, s.T_ATTR) and base[-1] == "ClassVar")
    return False


def _mutates_attribute(ops: list[s.Op], name: str) -> bool:
    """Whether ``receiver.name`` is stored, or what it holds is changed."""
    holders = {op[1] for op in ops if op[0] == s.ATTR and op[3] == name}
    called = {op[1] for op in ops if op[0] == s.ATTR and op[2] in holders}
    for op in ops:
        if op[0] == s.SETATTR and op[2] == name:
            return True
        if op[0] == s.SETSUB and op[1] in holders:
            return True
        if op[0] == s.CALL and op[2] in called:
            return True
    return False


def _strings(ops: list[s.Op]) -> Iterator[str]:
    for op in ops:
        if op[0] == s.STRING:
            yield op[2]
        elif op[0] == s.MAPPING:
            yield from (key for key, _, _ in op[2] if key is not None)


def _needs_instance(module: Module, piece: Piece) -> bool:
    """Whether the member is a method or property, called on an instance."""
    return piece.kind == "def" and not _flags(module, piece) & (s.STATIC | s.CLASSMETHOD)


def _is_abstract(module: Module, piece: Piece) -> bool:
    return piece.kind == "def" and bool(_flags(module, piece) & s.ABSTRACT)


def _flags(module: Module, piece: Piece) -> int:
    """The flags of the function that a ``def`` statement makes."""
    for op in module.summary.units[piece.unit].ops:
        if op[0] == s.FUNCTION:
            return module.summary.units[op[2]].flags
    raise LookupError(piece.path)


def holding_piece(module: Module, unit: int) -> int:
    """The piece of the module scope or of a module-level class that holds a unit."""
    summary = module.summary
    return outer_piece(module, summary.pieces[summary.units[unit].piece]).index


def outer_piece(module: Module, piece: Piece) -> Piece:
    """``piece``, or the one whose function holds the class it stands in."""
    summary = module.summary
    index = piece.index
    while True:
        owner = summary.pieces[index].owner
        if owner < 0:
            return summary.pieces[index]
        outermost = summary.classes[owner]
        while outermost.owner >= 0:
            outermost = summary.classes[outermost.owner]
        if outermost.parent_function < 0:
            return summary.pieces[index]
        index = summary.units[outermost.parent_function].piece


def units_of_piece(module: Module, index: int) -> list[int]:
    """The units that stand in one piece, the piece's own first (class members excluded)."""
    table = module.units_by_piece
    if table is None:
        table = {}
        for unit in module.summary.units:
            table.setdefault(holding_piece(module, unit.index), []).append(unit.index)
        module.units_by_piece = table
    return table.get(index, [])


def pieces_of_symbol(module: Module, qualname: str) -> list[Piece]:
    """The pieces that define ``qualname``; for a nested symbol, the piece that holds it."""
    summary = module.summary
    found: list[Piece] = []
    for piece in summary.pieces:
        if piece.kind in ("import", "future"):
            continue
        prefix = "" if piece.owner < 0 else summary.classes[piece.owner].qualname + "."
        if (
            any(prefix + name == qualname for name in piece.binds)
            and summary.pieces[
                holding_piece(module, piece.unit) if piece.unit >= 0 else piece.index
            ].index
            == piece.index
        ):
            found.append(piece)
    if found:
        return found
    holders: dict[int, None] = {}
    for unit in summary.units:
        if unit.qualname == qualname and unit.kind != "piece":
            holders[holding_piece(module, unit.index)] = None
    for info in summary.classes:
        if (info.qualname == qualname and info.parent_function >= 0) or (
            info.qualname and qualname.startswith(info.qualname + ".") and info.parent_function >= 0
        ):
            holders[holding_piece(module, info.parent_function)] = None
    return [summary.pieces[index] for index in holders]

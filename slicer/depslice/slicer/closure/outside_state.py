"""What the repository's modules change in code outside it: ``os.environ``, codecs, defaults.

A statement that stores into a module from outside (``json.JSONEncoder.default = f``), into
what it has (``os.environ["HOME"] = "/"``), or calls a function of it that sets something
(``mimetypes.add_type(…)``), builds the state of that module, as one that fills a variable
builds the variable. It is needed where the slice uses what it changes. Where state is used is
not known of code outside, so it is told by names: of a module that is one thing (`decimal`),
any use of it counts; of one that is many (`os`, `sys`), use of the very name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from depslice.callgraph import summary as s
from depslice.callgraph.engine.library import SETTING, STANDARD_MODULES
from depslice.callgraph.engine.parts import FILLING, reads
from depslice.callgraph.program import Module
from depslice.callgraph.summary import Op, Piece, Register, Unit
from depslice.slicer.closure.builders import Builders
from depslice.slicer.closure.growth import Asked, Growth
from depslice.slicer.closure.model import Demand
from depslice.slicer.closure.names import Names

_MANY_THINGS: Final = frozenset(
    {"builtins", "collections", "concurrent", "email", "http", "importlib", "logging"}
    | {"multiprocessing", "os", "sys", "types", "typing", "unittest", "urllib", "xml"}
)
"""Modules whose names have little to do with each other."""
_WITHOUT_STATE: Final = frozenset({"abc", "bisect", "copy", "functools", "heapq", "operator"})
"""Modules whose functions change what they are passed, and nothing for later."""
_CODING: Final = (
    *(
        "builtins.str.encode",
        "builtins.bytes.decode",
        "builtins.open",
        "io.open",
        "io.TextIOWrapper",
    ),
    *(f"codecs.{name}" for name in ("EncodedFile", "decode", "encode", "getdecoder", "getencoder")),
    *(f"codecs.getincremental{name}" for name in ("decoder", "encoder")),
    *(f"codecs.{name}" for name in ("getreader", "getwriter", "iterdecode", "iterencode")),
    *("codecs.lookup", "codecs.open"),
)
_SEEN_BY: Final = {
    "codecs.register": _CODING,
    "codecs.register_error": (*_CODING, "codecs.lookup_error"),
    "copyreg.pickle": ("copy", "pickle"),
    "logging.addLevelName": ("logging.getLevelName", "logging.getLogger"),
    "logging.config.dictConfig": ("logging.getLogger",),
    "logging.config.fileConfig": ("logging.getLogger",),
    "logging.setLogRecordFactory": ("logging.getLogger",),
    "logging.setLoggerClass": ("logging.getLogger",),
    "os.environ": ("os.getenv",),
}
"""Who else sees what is changed."""
_RANDOM: Final = "random"
_SEED: Final = "random.seed"
_DRAWING_NOTHING: Final = frozenset({_SEED, "random.Random", "random.SystemRandom"})
_RUNNING: Final = frozenset({"assign", "def", "expr", "if", "loop", "other", "with"})
"""Statements of a module scope that may draw a number."""
_PARTIAL: Final = "functools.partial"
_LOADED: Final = "sys.modules"
_FINDERS: Final = "sys.meta_path"
"""What tells where imports find what they name: so every import uses it of what is not the library's."""


_Changed: TypeAlias = "tuple[str, str | None, str | None, Register | None]"
"""The first four fields of a change."""


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A unit of ``module`` that changes what has the dotted name ``path``.

    ``key``: of the item that is ``stored``, where it is a constant, ``package``: else where the
    modules are that are stored, if their names start alike. ``piece``: the statement; ``None``: a
    function, which counts if a statement runs it.
    """

    path: str
    key: str | None
    package: str | None
    stored: Register | None
    module: Module
    unit: Unit
    piece: Piece | None


class OutsideState:
    """Finds the statements that change what the slice uses of code outside the repository."""

    def __init__(self, growth: Growth, builders: Builders, names: Names) -> None:
        self._growth = growth
        self._builders = builders
        self._names = names
        self._used = Asked(growth)
        self._new: list[tuple[str, Demand]] = []  # uses since the last time
        self._changes: dict[str, list[_Change]] | None = None  # by top-level module
        self._kept = Asked(growth)

    def note_use(self, dotted: str, demand: Demand) -> None:
        """Something outside the repository is used."""
        if dotted.partition(".")[0] not in STANDARD_MODULES:
            self.note_use(_FINDERS, demand)
        if self._used.is_new(dotted, demand):
            self._new.append((dotted, demand))

    def settle(self) -> bool:
        """Keep what changes that which has been used since; whether there was any."""
        new, self._new = self._new, []
        asked = False
        for dotted, demand in new:
            top = dotted.partition(".")[0]
            for change in self._changes_of(top):
                if not _is_seen(change, dotted):
                    continue
                if self._kept.is_new(change, demand):
                    asked = True
                    self._keep(change, demand)
            if top not in STANDARD_MODULES:
                loaded = self._changes_of(_LOADED.partition(".")[0])
                for change in dict.fromkeys((*self._changes_of(top), *loaded)):
                    if change.path == _LOADED and change.stored is not None:
                        self._want_of_loaded(change, change.stored, dotted, demand)
        return asked

    def _want_of_loaded(
        self, change: _Change, stored: Register, dotted: str, demand: Demand
    ) -> None:
        """A name is asked of a module by another name of that, which ``sys.modules`` has.

        Where nobody knows that one, the module is asked for what it has of what is named.
        """
        if change.key is not None and not dotted.startswith(f"{change.key}."):
            return
        engine = self._growth.engine
        function = engine.function(change.module, change.unit.index)
        engine.facts_of(function)
        values = function.registers[stored] if stored >= 0 else frozenset()
        held = (engine.elements_cell(value).values for value in values)
        for kind in [engine.values[each] for each in sorted(values.union(*held))]:
            source = self._growth.program.module(kind[1]) if kind[0] == "M" else None
            if source is not None:
                known = self._growth.program.names_in(source)
                parts = dotted.split(".")[1 if change.key is None else change.key.count(".") + 1 :]
                name = next((part for part in parts if part in known), None)
                self._growth.keep_module(source.name)
                if name is not None:
                    self._names.want_name(source, name, demand)
                elif parts:  # `real.words = words`
                    self._builders.build_missing(source, parts[0], demand)

    def _keep(self, change: _Change, demand: Demand) -> None:
        if change.piece is None:
            self._builders.keep_callers(change.module, change.unit.index, demand)
        else:
            self._builders.keep_statement(change.module, change.piece, demand)

    def _changes_of(self, top: str) -> list[_Change]:
        if self._changes is None:
            self._changes = {}
            for module in self._growth.running():
                for change in self._changes_in(module):
                    for seen in _seen_by(change):
                        self._changes.setdefault(seen.partition(".")[0], []).append(change)
            known = self._changes.get(_RANDOM, [])
            if any(change.path == _SEED and change.piece is not None for change in known):
                known += [each for module in self._growth.running() for each in _draws_in(module)]
        return self._changes.get(top, [])

    def _changes_in(self, module: Module) -> Iterator[_Change]:
        summary = module.summary
        statements: dict[int, Piece] = {}
        functions: dict[int, None] = {}
        outside: dict[str, str] = {}
        for bound in {**summary.mutations, **summary.global_writers}:
            path = self._path_of(module, bound)
            if path is None:
                continue
            outside[bound] = path
            for index in summary.mutations.get(bound, ()):
                piece = summary.pieces[index]
                if piece.unit >= 0 and piece.kind in ("expr", "assign", "def", "other"):
                    statements[piece.unit] = piece
            functions |= dict.fromkeys(
                unit
                for unit in summary.global_writers.get(bound, ())
                if summary.units[unit].kind == "function"
            )
        for unit, piece in statements.items():
            for changed in _changed_by(summary.units[unit], outside):
                yield _Change(*changed, module, summary.units[unit], piece)
        for unit in functions:
            for changed in _changed_by(summary.units[unit], outside):
                yield _Change(*changed, module, summary.units[unit], None)

    def _path_of(self, module: Module, bound: str) -> str | None:
        """The dotted name of what an import of code outside the repository binds."""
        for index in module.summary.scope.get(bound, ()):
            for alias, level, target, name in module.summary.pieces[index].imports:
                if alias == bound and level <= 0:
                    top = target.partition(".")[0]
                    if self._growth.program.is_module(top):
                        return None
                    if name is not None:
                        return f"{target}.{name}"
                    return target if level < 0 else top
        return None


def _draws_in(module: Module) -> Iterator[_Change]:
    """What draws numbers from a generator that all share: what is drawn next depends on it."""
    outside = {
        alias: _RANDOM if name is None else f"{target}.{name}"
        for piece in module.summary.pieces
        for alias, level, target, name in piece.imports
        if level <= 0 and target == _RANDOM
    }
    pieces = {piece.unit: piece for piece in module.summary.pieces if piece.kind in _RUNNING}
    for index, unit in enumerate(module.summary.units if outside else ()):
        piece = pieces.get(index)
        if (piece is not None or unit.kind == "function") and _draws(unit, outside):
            yield _Change(_RANDOM, None, None, None, module, unit, piece)


def _draws(unit: Unit, outside: Mapping[str, str]) -> bool:
    paths: dict[int, str] = {}
    for op in unit.ops:
        if op[0] == s.GLOBAL and op[2] in outside:
            paths[op[1]] = outside[op[2]]
        elif op[0] == s.ATTR and op[2] in paths:
            paths[op[1]] = f"{paths[op[2]]}.{op[3]}"
        elif op[0] == s.CALL and paths.get(op[2], _SEED) not in _DRAWING_NOTHING:
            return True
    return False


def _changed_by(unit: Unit, outside: dict[str, str]) -> Iterator[_Changed]:
    """What ``unit`` changes of that which its module's names ``outside`` stand for.

    With the key of an item, or the package of what it names, and what is stored there.

    What a module does with itself, by ``sys.modules[__name__]``, is asked for by its name.
    """
    paths: dict[int, str] = {}
    texts: dict[int, str] = {}
    packages: dict[int, str] = {}  # of modules whose names are made: `f"pkg.vendored.{name}"`
    itself: set[int] = set()  # `__name__`
    maps: dict[int, Op] = {}
    made: set[int] = set()  # what calls give
    partials: set[int] = set()
    wanted = {register for op in unit.ops for register in reads(op)}
    for op in unit.ops:
        code = op[0]
        if code == s.GLOBAL and op[2] in outside:
            paths[op[1]] = outside[op[2]]
        elif code == s.GLOBAL and op[2] == "__name__":
            itself.add(op[1])
        elif (code == s.SUB and paths.get(op[2]) == _LOADED and op[3] in itself) or (
            code == s.SETSUB and paths.get(op[1]) == _LOADED and op[2] in itself
        ):
            pass
        elif code == s.STRING:
            texts[op[1]] = op[2]
        elif code == s.TEXT and op[2] and isinstance(op[2][0], str) and "." in op[2][0]:
            packages[op[1]] = op[2][0].rpartition(".")[0]
        elif code == s.MAPPING:
            maps[op[1]] = op
        elif code in (s.ATTR, s.SUB) and op[2] in paths:
            paths[op[1]] = f"{paths[op[2]]}.{op[3]}" if code == s.ATTR else paths[op[2]]
        elif code == s.CALL and op[2] in paths:
            path = paths[op[1]] = paths[op[2]]
            if path.rpartition(".")[0] == _LOADED:
                if path.rpartition(".")[2] in FILLING:
                    yield from _loaded_by(op, texts, packages, maps)
            elif path == _PARTIAL:
                paths[op[1]] = paths.get(next(iter(op[3]), -1), path)
                partials.add(op[1])
            elif op[1] not in wanted and _sets(path):
                yield path, None, None, None
            made.add(op[1])
        elif code == s.DECORATE and op[2] in paths and op[2] not in made - partials:
            if _sets(paths[op[2]]):  # `@codecs.register`
                yield paths[op[2]], None, None, None
        elif code in (s.SETATTR, s.DELETE_ATTR) and op[1] in paths:
            yield f"{paths[op[1]]}.{op[2]}", None, None, None
        elif code in (s.SETSUB, s.DELETE_SUB) and op[1] in paths:
            stored = op[3] if code == s.SETSUB else None
            yield paths[op[1]], texts.get(op[2]), packages.get(op[2]), stored


def _loaded_by(
    call: Op,
    texts: Mapping[Register, str],
    packages: Mapping[Register, str],
    maps: Mapping[Register, Op],
) -> Iterator[_Changed]:
    """What ``sys.modules.update(…)``, or another method that fills it, puts there."""
    match call[3]:
        case (key, value):
            yield _LOADED, texts.get(key), packages.get(key), value
        case (given,) if given in maps:
            yield from ((_LOADED, text, None, value) for text, _, value in maps[given][2])
        case (given,):
            yield _LOADED, None, None, given
    for name, value in call[4]:
        yield _LOADED, name, None, value


def _sets(path: str) -> bool:
    """Whether a function of code outside the repository changes something for later."""
    if path.partition(".")[0] in _WITHOUT_STATE:
        return False
    name = path.rpartition(".")[2].lstrip("_")
    return name.startswith(SETTING) or name.endswith("seed") or path in _SEEN_BY


def _seen_by(change: _Change) -> set[str]:
    """Dotted names by which code gets at what is changed, or at what is in it."""
    path = change.path
    if path == _LOADED:
        return {path, change.package or _FINDERS} if change.key is None else {change.key}
    top, _, name = path.partition(".")
    more = {each for changed, by in _SEEN_BY.items() for each in by if _is_in(path, changed)}
    if top not in _MANY_THINGS and not path.endswith(".register"):
        return {top, *more}
    owner = path.rpartition(".")[0]  # of a function that sets: what it is a method of
    return {path, owner if "." in name else _asking(path), *more}


def _is_seen(change: _Change, dotted: str) -> bool:
    return any(_is_in(dotted, seen) for seen in _seen_by(change))


def _is_in(dotted: str, outer: str) -> bool:
    return dotted == outer or dotted.startswith(f"{outer}.")


def _asking(path: str) -> str:
    """``sys.getrecursionlimit`` for ``sys.setrecursionlimit``."""
    owner, _, name = path.rpartition(".")
    return f"{owner}.get{name.removeprefix('set')}" if name.startswith("set") else path

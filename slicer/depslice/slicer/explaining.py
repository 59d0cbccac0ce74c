"""Why a definition is in a slice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from depslice.callgraph.arguments import check_kind, check_text
from depslice.callgraph.program import Program
from depslice.callgraph.summary import unpack
from depslice.slicer.closure import Closure
from depslice.slicer.model import Item, Slice, Step
from depslice.slicer.pieces import start_of
from depslice.slicer.wiring import ImportEdge, import_closure

_NEAREST: Final = 5
_ALIKE: Final = 0.75  # of names, for one to be meant by the other
_FOR_EFFECT: Final = "side-effect import"
_BUILDS: Final = "builds"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Whether ``symbol`` is in a slice, and by which chain of references.

    ``item`` is the definition of the slice that ``symbol`` is, or is a nested part of;
    ``None`` when it is not in the slice, and then ``nearest`` has ids that are.
    """

    symbol: str
    item: Item | None
    nearest: tuple[str, ...] = ()

    @property
    def chain(self) -> tuple[Step, ...]:
        """The shortest chain of references from a target; empty for a target."""
        return () if self.item is None else self.item.reason


def explain_symbol(found: Slice, symbol_id: str) -> Explanation:
    """Why the symbol with this id is in the slice ``found``, or that it is not.

    :raises OptionError: ``found`` is no slice, or ``symbol_id`` no text.
    """
    check_kind("found", found, Slice, "a Slice, as slice_symbols makes it")
    check_text("symbol_id", symbol_id)
    item = _item(found, symbol_id)
    nearest = () if item is not None else tuple(_nearest(found, symbol_id))
    return Explanation(symbol=symbol_id, item=item, nearest=nearest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A statement that runs because of an import, and the item that it builds or changes."""

    path: str
    line: int
    item: str


def effects_of(
    program: Program, closure: Closure, targets: Sequence[str], step: Step
) -> tuple[Effect, ...]:
    """What a step's import is kept for, where that is not the name that it binds: nearest first.

    ``closure`` is that of the slice of ``targets``.
    """
    if step.evidence != _FOR_EFFECT:
        return ()
    run = import_closure(program, [each.partition(":")[0] for each in targets])
    near = [(_imports_to(program, run, name, step), each) for name, each in _builds(closure)]
    near += [
        (_imports_to(program, run, name, step), each) for name, each in _strays(program, closure)
    ]
    found = {pair for pair in near if pair[0] >= 0}
    ordered = sorted(found, key=lambda pair: (pair[0], pair[1].path, pair[1].line, pair[1].item))
    return tuple(effect for _, effect in ordered)


def _builds(closure: Closure) -> Iterator[tuple[str, Effect]]:
    """Definitions whose statements build something else: a registry, by a decorator."""
    for (source, item), demand in closure.demands.items():
        name = item.partition(":")[0]
        # What a module does to its own needs no import of anybody.
        if demand.evidence == _BUILDS and name != source.partition(":")[0]:
            line, _ = unpack(demand.pos)
            yield name, Effect(path=demand.path, line=line, item=source)


def _strays(program: Program, closure: Closure) -> Iterator[tuple[str, Effect]]:
    """Statements that belong to an item of another module, which they change."""
    for item, keys in closure.pieces_of.items():
        for name, index in keys:
            module = program.module(name)
            if module is not None and name != item.partition(":")[0]:
                line, _ = unpack(start_of(module.summary.pieces[index]))
                yield name, Effect(path=module.file.path, line=line, item=item)


def _imports_to(
    program: Program, run: Mapping[str, ImportEdge | None], name: str, step: Step
) -> int:
    """How many imports lead from that of ``step`` to a module; -1: it is reached without it."""
    count = 0
    while (edge := run.get(name)) is not None:
        importer = program.module(edge[0])
        assert importer is not None
        line, _ = unpack(start_of(importer.summary.pieces[edge[1]]))
        if importer.file.path == step.path and line == step.site.line:
            return count
        name, count = edge[0], count + 1
    return -1


class SourceLines:
    """The source lines that steps are made from; each file is taken apart once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: dict[str, list[str]] = {}

    def of(self, step: Step) -> str:
        """The line of ``step``, without indentation; empty where there is none.

        :raises SourceChanged: the file is no longer the one that was analysed.
        """
        return self.at(step.path, step.site.line)

    def at(self, path: str, line: int) -> str:
        """A line of a file, without indentation; as :meth:`of`."""
        lines = self._lines.get(path)
        if lines is None:
            lines = self._lines[path] = self._split(path)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    def _split(self, path: str) -> list[str]:
        file = self._program.by_path.get(path)
        module = None if file is None else self._program.module(file.module)
        return [] if module is None else self._program.text(module).split("\n")


def _item(found: Slice, symbol_id: str) -> Item | None:
    items = {item.symbol.id: item for item in found.items}
    identifier = symbol_id
    while identifier not in items:
        shorter = identifier.rpartition(".")[0]
        if ":" not in shorter:
            return None
        identifier = shorter
    # Nested definitions belong to the function that holds them; members of a class do not.
    inside = symbol_id[len(identifier) :]
    return items[identifier] if not inside or inside.startswith(".<locals>") else None


def _nearest(found: Slice, symbol_id: str) -> list[str]:
    """Items that may have been meant: of the same name, then with one like it, of its class.

    None where nothing is like it.
    """
    import difflib  # nobody pays for it who finds what he asks for

    ids = [item.symbol.id for item in found.items]
    holder, last = _parted(symbol_id)
    alike = difflib.get_close_matches(
        last, {_parted(each)[1] for each in ids}, n=_NEAREST, cutoff=_ALIKE
    )
    names = {name: place for place, name in enumerate([last, *alike])}
    named = [each for each in ids if _parted(each)[1] in names]
    named.sort(key=lambda each: (names[_parted(each)[1]], _parted(each)[0] != holder))
    in_class = not holder.endswith(":")
    members = [each for each in ids if in_class and _parted(each)[0] == holder]
    return list(dict.fromkeys([*named, *members]))[:_NEAREST]


def _parted(symbol_id: str) -> tuple[str, str]:
    """What holds a symbol, and its last name: ``m:.Shop`` and ``open`` of ``m:Shop.open``."""
    head, _, last = symbol_id.replace(":", ":.").rpartition(".")
    return head, last

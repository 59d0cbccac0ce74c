"""Why a definition is in a slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from depslice.callgraph.program import Program
from depslice.slicer.model import Item, Slice, Step

_NEAREST: Final = 5


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
    """Why the symbol with this id is in the slice ``found``, or that it is not."""
    item = _item(found, symbol_id)
    nearest = () if item is not None else tuple(_nearest(found, symbol_id))
    return Explanation(symbol=symbol_id, item=item, nearest=nearest)


class SourceLines:
    """The source lines that steps are made from; each file is taken apart once."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines: dict[str, list[str]] = {}

    def of(self, step: Step) -> str:
        """The line of ``step``, without indentation; empty where there is none.

        :raises SourceChanged: the file is no longer the one that was analysed.
        """
        lines = self._lines.get(step.path)
        if lines is None:
            lines = self._lines[step.path] = self._split(step.path)
        return lines[step.site.line - 1].strip() if 0 < step.site.line <= len(lines) else ""

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
    """Items whose names are like the one asked for, those of its module and class first."""
    import difflib  # nobody pays for it who finds what he asks for

    ids = [item.symbol.id for item in found.items]
    module, _, qualname = symbol_id.partition(":")
    holder = symbol_id.rpartition(".")[0] if "." in qualname else f"{module}:"
    close = difflib.get_close_matches(symbol_id, ids, n=_NEAREST, cutoff=0)
    siblings = [each for each in ids if each.startswith(holder)]
    return list(dict.fromkeys([*siblings[:_NEAREST], *close]))[:_NEAREST]

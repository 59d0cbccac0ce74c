"""The part of a closure that a budget leaves: some of its items, with the imports they need.

Nothing is asked again: what is left was in the closure, also where it came only because of
something that is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from depslice.callgraph.program import Module, Program
from depslice.slicer.closure import Closure, Demand, PieceKey
from depslice.slicer.cut import FileCut, Form, StatementPath
from depslice.slicer.pieces import enclosing_pieces
from depslice.slicer.render import cut_file
from depslice.slicer.wiring import with_packages

_WORD: Final = re.compile(r"[^\W\d]\w*")


def reduce_closure(
    program: Program,
    closure: Closure,
    items: AbstractSet[str],
    forms: Mapping[str, Form],
    remote: Mapping[str, int],
) -> Closure:
    """``closure`` with no more than ``items``, and the classes that they stand in.

    ``forms``: how items are shown; what only a body names that is not shown, needs no import.
    The reason of an item leads to a target by what is left, if any of its reasons does: it
    does where ``items`` are the nearest by :meth:`Closure.remoteness`, which is ``remote``.
    """
    return _Reduction(program, closure, items).reduced(forms, remote)


class _Reduction:
    def __init__(self, program: Program, closure: Closure, items: AbstractSet[str]) -> None:
        self._program = program
        self._closure = closure
        self._item_of = {key: item for item, keys in closure.pieces_of.items() for key in keys}
        self._items = set(items)
        for item in items:
            for module, key in self._pieces(item):
                for holder in enclosing_pieces(module, module.summary.pieces[key[1]]):
                    self._items.update(self._owner((key[0], holder.index)))
        self._paths: dict[str, dict[StatementPath, int]] = {}  # of what items keep, by module
        self._imports: dict[tuple[str, str], list[PieceKey]] = {}  # what binds a name
        self._bound: dict[tuple[str, str], bool] = {}  # whether what it is bound to is left
        self._kept: dict[PieceKey, dict[str, None]] = {}  # import -> names that are left of it
        self._modules: dict[str, None] = {}
        self._outside: set[tuple[str, str]] = set()

    def reduced(self, forms: Mapping[str, Form], remote: Mapping[str, int]) -> Closure:
        """The rest; see :func:`reduce_closure`."""
        closure = self._closure
        self._place()
        texts = {name: self._text(name, paths, forms) for name, paths in self._paths.items()}
        words = {name: set(_WORD.findall(text)) for name, text in texts.items()}
        for name, bound in tuple(self._imports):
            if bound == "*" and name in words:
                for key in self._imports[name, bound]:
                    self._kept.setdefault(key, {})[bound] = None
            elif bound in words.get(name, ()):
                self._is_left(name, bound)
        runs = {
            key: alone
            for key, alone in closure.runs.items()
            if key not in self._kept and key[0] in words and alone.module in words
        }
        kept = dict.fromkeys(self._all_kept({*self._kept, *runs}, words.keys()))
        modules = {*self._modules, *(alone.module for alone in runs.values())}
        modules |= {package for name, _ in kept for package in with_packages(name)}
        said = set().union(*words.values())
        return replace(
            closure,
            kept=kept,
            modules={name: None for name in closure.modules if name in modules},
            aliases=self._named(closure.aliases),
            stars=self._named(closure.stars),
            runs=runs,
            reasons=self._reasons(remote),
            demands={
                pair: demand
                for pair, demand in closure.demands.items()
                if self._items.issuperset(pair)
            },
            distances={i: far for i, far in closure.distances.items() if i in self._items},
            pieces_of={i: keys for i, keys in closure.pieces_of.items() if i in self._items},
            externals={
                (name, item): None
                for name, item in closure.externals
                if (name, item) in self._outside or (item or name.partition(".")[0]) in said
            },
            unresolved={each: None for each in closure.unresolved if each.source in self._items},
        )

    def _pieces(self, item: str) -> Iterator[tuple[Module, PieceKey]]:
        for key in self._closure.pieces_of.get(item, ()):
            module = self._program.module(key[0])
            if module is not None:
                yield module, key

    def _owner(self, key: PieceKey) -> tuple[str, ...]:
        item = self._item_of.get(key)
        return () if item is None else (item,)

    def _place(self) -> None:
        """Find the statements of the items, and what the imports of the closure bind."""
        for name, index in self._closure.kept:
            module = self._program.module(name)
            assert module is not None
            piece = module.summary.pieces[index]
            key = (name, index)
            if piece.kind == "import":
                names = {**self._closure.aliases.get(key, {}), **self._closure.stars.get(key, {})}
                for bound in names:
                    self._imports.setdefault((name, bound), []).append(key)
            elif self._item_of.get(key) in self._items:
                self._paths.setdefault(name, {})[piece.path] = index

    def _text(
        self, name: str, paths: Mapping[StatementPath, int], forms: Mapping[str, Form]
    ) -> str:
        """The code of a module as it is shown, without its imports."""
        module = self._program.module(name)
        assert module is not None
        pieces = module.summary.pieces
        around = {h.path for i in paths.values() for h in enclosing_pieces(module, pieces[i])}
        shown = {
            path: forms.get(self._item_of[name, index], Form.FULL) for path, index in paths.items()
        }
        return cut_file(
            FileCut(
                path=module.file.path,
                module=name,
                is_package=module.is_package,
                text=self._program.text(module),
                keep=frozenset({*paths, *around}),
                forms=shown,
            )
        )

    def _is_left(self, name: str, bound: str) -> bool:
        """Whether an import of ``bound`` in the module leads to something; it is kept then."""
        known = self._bound.get((name, bound))
        if known is None:
            self._bound[name, bound] = False  # imports in a circle lead nowhere
            module = self._program.module(name)
            for key in self._imports.get((name, bound), ()) if module is not None else ():
                if module is not None and self._leads(module, key[1], bound):
                    self._bound[name, bound] = True
                    self._kept.setdefault(key, {})[bound] = None
            known = self._bound[name, bound]
        return known

    def _leads(self, module: Module, index: int, bound: str) -> bool:
        program = self._program
        for alias, level, target, item in module.summary.pieces[index].imports:
            if alias == "*":
                source = program.star_source(module, bound)
                if source is not None and source[0] is not None:
                    return self._has(source[0].name, bound)
            if alias != bound:
                continue
            absolute = program.import_target(module, level, target)
            wanted = absolute if item is None else f"{absolute}.{item}"
            if item is not None and self._has(absolute, item):
                return True
            if program.is_module(wanted):
                self._modules.update(dict.fromkeys(with_packages(wanted)))
                return True
            if not program.is_module(absolute.partition(".")[0]):
                self._outside.add((absolute, item or ""))
                return True
        return False

    def _has(self, module: str, name: str) -> bool:
        """Whether something is left of what ``name`` stands for in a module of the program."""
        if f"{module}:{name}" in self._items or self._is_left(module, name):
            self._modules.update(dict.fromkeys(with_packages(module)))
            return True
        return False

    def _all_kept(
        self, imports: AbstractSet[PieceKey], modules: AbstractSet[str]
    ) -> Iterator[PieceKey]:
        """The pieces that are left, in the order of the closure, with those around them."""
        holders: set[PieceKey] = set()
        for name, paths in self._paths.items():
            holders.update(self._around(name, paths.values()))
        for name, index in imports:
            holders.update(self._around(name, (index,)))
        for key in self._closure.kept:
            module = self._program.module(key[0])
            assert module is not None
            piece = module.summary.pieces[key[1]]
            of_module = piece.kind in ("future", "doc") and piece.owner < 0 and key[0] in modules
            is_item = piece.path in self._paths.get(key[0], {})
            if key in imports or key in holders or is_item or of_module:
                yield key

    def _around(self, name: str, indices: Iterable[int]) -> set[PieceKey]:
        module = self._program.module(name)
        assert module is not None
        pieces = module.summary.pieces
        return {(name, h.index) for i in indices for h in enclosing_pieces(module, pieces[i])}

    def _named(self, names: Mapping[PieceKey, dict[str, None]]) -> dict[PieceKey, dict[str, None]]:
        """Of the names that imports give, those that are left."""
        found = {}
        for key, bounds in names.items():
            left = {bound: None for bound in bounds if bound in self._kept.get(key, ())}
            if left:
                found[key] = left
        return found

    def _reasons(self, remote: Mapping[str, int]) -> dict[str, Demand]:
        """Of each item the nearest reason of which the source is left."""
        closure, items = self._closure, self._items
        found: dict[str, Demand] = {}
        ways: dict[str, list[Demand]] = {}
        for (source, item), demand in closure.demands.items():
            if item in items and source in items:
                ways.setdefault(item, []).append(demand)
        for item in closure.distances:
            reason = closure.reasons.get(item)
            if item not in items or reason is None:
                continue
            if reason.source not in items:
                far = [d for d in ways.get(item, ()) if remote[d.source] < remote[item]]
                reason = min(far, key=lambda d: (remote[d.source], d.source), default=reason)
            found[item] = reason
        return found

"""The repair loop: what a replay shows to be needed is added, and told of as a miss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from depslice.callgraph.program import Program
from depslice.slicer import slice_symbols
from depslice.slicer.model import Slice
from depslice.validator.calls import Replay
from depslice.validator.checking import Check, CheckReport, Observed

_MOST_ROUNDS: Final = 30


def repair(check: Check, found: Slice, *, whole_classes: bool = False) -> tuple[Slice, CheckReport]:
    """Add what the calls of the slice's targets need, until they give what the original gives.

    In each round first what exceptions name as missing; when they name nothing that can be
    added, what only the original has executed. What turns out not to be needed is taken
    out again. The result may still fail, when nothing more can be added.
    """
    repairing = _Repair(check, found, whole_classes=whole_classes)
    repairing.grow()
    if repairing.report.passes:
        repairing.shrink()
    misses = tuple(Observed(symbol=name, why=why) for name, why in repairing.observed.items())
    return repairing.slice, replace(repairing.report, observed=misses)


class _Repair:
    """A slice on its way: what was added and why, and what the last replay said."""

    def __init__(self, check: Check, found: Slice, *, whole_classes: bool) -> None:
        self.check = check
        self.targets = found.targets
        self.whole_classes = whole_classes
        self.observed: dict[str, str] = {}
        self._take(self.observed, found)

    def _take(self, observed: dict[str, str], found: Slice) -> None:
        self.observed = observed
        self.slice = found
        self.done = self.check.replay_of(found)
        self.report = self.check.report(found, self.done)

    def _with(self, observed: dict[str, str]) -> Slice:
        return slice_symbols(
            self.check.program,
            self.targets,
            whole_classes=self.whole_classes,
            observed=tuple(observed),
        )

    def grow(self) -> None:
        """Add, round by round, until it passes or there is nothing to add."""
        for _ in range(_MOST_ROUNDS):
            if self.report.passes:
                return
            inside = {item.symbol.id for item in self.slice.items}
            fresh = {
                name: why
                for name, why in _named(self.check, self.done)
                if name not in inside and name not in self.observed
            } or {
                name: "executed in the original"
                for name in self.report.not_in_slice
                if name not in self.observed
            }
            if not fresh:
                return
            observed = self.observed | fresh
            self._take(observed, self._with(observed))

    def shrink(self) -> None:
        """Take out again, one by one, what is not needed."""
        for name in tuple(self.observed):
            before = self.observed, self.slice, self.done, self.report
            fewer = {other: why for other, why in self.observed.items() if other != name}
            self._take(fewer, self._with(fewer))
            if not self.report.passes:
                self.observed, self.slice, self.done, self.report = before


def _named(check: Check, done: Replay) -> Iterator[tuple[str, str]]:
    """Definitions of the repository that exceptions name, with what they say of them."""
    lists = [done.missing, *(outcome.missing for outcome in done.outcomes.values())]
    for missing in lists:
        for what, owners, name in missing:
            for owner in owners:
                symbol = _symbol(check.program, owner, name)
                if symbol:
                    yield symbol, f"{what} {name!r} is missing"
                    break


def _symbol(program: Program, owner: str, name: str) -> str:
    """The definition ``name`` of a module or class; of an unnamed one, the module itself."""
    module = program.module(owner.partition(":")[0])
    if module is None:
        return ""
    wanted = (f"{owner}.{name}" if ":" in owner else f"{owner}:{name}") if name else owner
    table = program.symbol_table(module)
    if wanted in table:
        return wanted
    if ":" in owner or not name:
        return ""
    return next(iter(program.definitions(owner, name)), "")

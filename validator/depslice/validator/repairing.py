"""The repair loop: what a replay shows to be needed is added, and told of as a miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from depslice.callgraph.model import Certainty, SymbolKind
from depslice.callgraph.program import Program
from depslice.slicer import slice_symbols
from depslice.slicer.model import GUESSES, Slice
from depslice.validator.calls import Replay
from depslice.validator.checking import Check, CheckReport, Observed

_MOST_ROUNDS: Final = 30


def repair(
    check: Check,
    found: Slice,
    *,
    whole_classes: bool = False,
    least: Certainty = Certainty.POSSIBLE,
    guesses: int | None = GUESSES,
) -> tuple[Slice, CheckReport]:
    """Add what the calls of the slice's targets need, until they give what the original gives.

    In each round first what exceptions name as missing; when they name nothing that can be
    added, what only the original has executed; at last the special methods of the slice's
    classes. What turns out not to be needed is taken out again, and those special methods where
    they have not helped. The result may still fail, when nothing more can be added. ``whole_classes``,
    ``least`` and ``guesses`` are those that ``found`` was sliced with.
    """
    limits = {"whole_classes": whole_classes, "least": least, "guesses": guesses}
    repairing = _Repair(check, found, limits)
    repairing.grow()
    if repairing.report.passes:
        repairing.shrink()
    misses = tuple(Observed(symbol=name, why=why) for name, why in repairing.observed.items())
    return repairing.slice, replace(repairing.report, observed=misses)


class _Repair:
    """A slice on its way: what was added and why, and what the last replay said."""

    def __init__(self, check: Check, found: Slice, limits: Mapping[str, Any]) -> None:
        self.check = check
        self.targets = found.targets
        self.spelled = found.spelled
        self.limits = limits
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
            observed=tuple(observed),
            spelled=self.spelled,
            **self.limits,
        )

    def grow(self) -> None:
        """Add, round by round, until it passes or there is nothing to add."""
        before_guesses = None
        for _ in range(_MOST_ROUNDS):
            if self.report.passes:
                return
            fresh = self._fresh(self._shown())
            if not fresh:
                fresh = self._fresh([self._special_methods()])
                if before_guesses is None:
                    before_guesses = self.observed, self.slice, self.done, self.report
            if not fresh:
                break
            observed = self.observed | fresh
            self._take(observed, self._with(observed))
        if before_guesses is not None and self.report.same <= before_guesses[-1].same:
            # They have not helped: they are no misses.
            self.observed, self.slice, self.done, self.report = before_guesses

    def _shown(self) -> Iterator[Iterator[tuple[str, str]]]:
        """What a replay shows to be missing, the surest first."""
        yield _named(self.check, self.done)
        yield ((name, "executed in the original") for name in self.report.not_in_slice)

    def _fresh(self, kinds: Iterable[Iterable[tuple[str, str]]]) -> dict[str, str]:
        """What to add next, and why: of the first of ``kinds`` that there is anything of."""
        inside = {item.symbol.id for item in self.slice.items} | set(self.observed)
        for kind in kinds:
            fresh = {name: why for name, why in kind if name not in inside}
            if fresh:
                return fresh
        return {}

    def _special_methods(self) -> Iterator[tuple[str, str]]:
        """Those of the slice's classes: what looks for them, as ``callable`` does, names none."""
        for item in self.slice.items:
            if item.symbol.kind is SymbolKind.CLASS:
                module = self.check.program.module(item.symbol.id.partition(":")[0])
                for name in self.check.program.symbol_table(module) if module is not None else ():
                    owner, _, method = name.rpartition(".")
                    if owner == item.symbol.id and method[:2] == "__" == method[-2:]:
                        yield name, "its class is not the same without"

    def shrink(self) -> None:
        """Take out again what is not needed: halves of what was added, then halves of those."""
        names = tuple(self.observed)
        if len(names) > 1:  # without any of them it fails
            self._take_out(names[: len(names) // 2])
            self._take_out(names[len(names) // 2 :])

    def _take_out(self, names: tuple[str, ...]) -> None:
        before = self.observed, self.slice, self.done, self.report
        fewer = {name: why for name, why in self.observed.items() if name not in names}
        self._take(fewer, self._with(fewer))
        if self.report.passes:
            return
        self.observed, self.slice, self.done, self.report = before
        if len(names) > 1:
            self._take_out(names[: len(names) // 2])
            self._take_out(names[len(names) // 2 :])


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

"""The repair loop: what a replay shows to be needed is added, and told of as a miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    program = check.program
    observed: dict[str, str] = {}

    def grown(names: Iterable[str]) -> Slice:
        return slice_symbols(
            program, found.targets, whole_classes=whole_classes, observed=tuple(names)
        )

    current, done = found, _replayed(check, found)
    for _ in range(_MOST_ROUNDS):
        report = check.report(current, done)
        if report.passes:
            break
        inside = {item.symbol.id for item in current.items}
        fresh = {
            name: why for name, why in _named(check, done) if name not in inside | observed.keys()
        } or {
            name: "executed in the original"
            for name in report.not_in_slice
            if name not in observed
        }
        if not fresh:
            break
        observed |= fresh
        current = grown(observed)
        done = _replayed(check, current)
    report = check.report(current, done)
    if report.passes:
        observed, current, report = _least(check, observed, current, report, grown)
    misses = tuple(Observed(symbol=name, why=why) for name, why in observed.items())
    return current, replace(report, observed=misses)


def _least(check, observed, current, report, grown):  # type: ignore[no-untyped-def]
    """Take out again, one by one, what is not needed."""
    for name in list(observed):
        fewer = {other: why for other, why in observed.items() if other != name}
        smaller = grown(fewer)
        tried = check.of(smaller)
        if tried.passes:
            observed, current, report = fewer, smaller, tried
    return observed, current, report


def _replayed(check: Check, found: Slice) -> Replay:
    from depslice.slicer.render import render_tree

    modules = list(dict.fromkeys(cut.module for cut in found.cuts))
    return check.replayed(render_tree(found), modules, found.targets)


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

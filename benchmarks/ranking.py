"""Which definitions a budget should keep: those that run when the target does.

    python benchmarks/ranking.py [PACKAGE ...] [--each N] [--python PYTHON3.12+]

Takes functions that test suites execute (``callgraph/packages.py``), replays their recorded calls
on their slices, and asks how well an order of the slice's functions puts those first that ran:
*average precision*, the mean of the precision at each that ran. Orders are by the shortest way
from the target, where a possible reference counts as 1 + *n* references. And how much of what ran a
budget shows: in full, in full or as a signature, at all (the mean of the shares). **This runs
the packages' code.** Prints a row for each package, and one for all; ``remoteness`` of
``slicer/closure/model.py`` has the *n* that was chosen, ``slicer/budget.py`` the forms.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "callgraph"))

from packages import select
from recording import Failed, traces_folder
from recording import record as trace_tests
from replayed import replaying

from depslice.callgraph import Program
from depslice.slicer import Form, slice_symbols
from depslice.slicer.assemble import assemble
from depslice.slicer.closure import grow_closure
from depslice.slicer.slicing import engine_of, forget_engine
from depslice.validator import Check

_PACKAGES: Final = (
    *("click", "jinja2", "werkzeug", "boltons", "marshmallow", "wtforms", "cattrs", "parso"),
)
_WEIGHTS: Final = (0, 1, 2, 3, 5, 10, 1000)
_BUDGETS: Final = (2_000, 4_000, 8_000)
_SEED: Final = 2026
_FEWEST: Final = 8  # functions that there are to put in an order


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=list(_PACKAGES))
    parser.add_argument("--each", type=int, default=12, metavar="N")
    parser.add_argument("--python", default=sys.executable, help="runs the tests: 3.12 or newer")
    parser.add_argument("--folder", type=Path, default=traces_folder())
    options = parser.parse_args()
    found: list[_Row] = []
    heads = [f"{f'n = {n}':>10}" for n in _WEIGHTS] + [f"{f'{b} tokens':>22}" for b in _BUDGETS]
    print(f"{'':<16}{'functions':>10}" + "".join(heads))
    for package in select(options.packages):
        try:
            _, trace = trace_tests(package, folder=options.folder, python=options.python)
        except Failed as error:
            print(f"{package.name}: {error}", file=sys.stderr)
            continue
        own = list(_package(options.folder / package.name, trace, options.each))
        _show(package.name, own)
        found += own
    _show("all", found)


class _Row(NamedTuple):
    """Of one function: the average precision by weight, and what of that ran budgets show."""

    precision: Mapping[int, float]
    shown: Mapping[int, tuple[float, float, float]]


def _show(name: str, rows: list[_Row]) -> None:
    cells = [f"{fmean(row.precision[n] for row in rows):>10.3f}" for n in _WEIGHTS if rows]
    for budget in _BUDGETS if rows else ():
        shares = [fmean(row.shown[budget][i] for row in rows) for i in range(3)]
        cells.append(f"{'  '.join(f'{share:.3f}' for share in shares):>22}")
    print(f"{name:<16}{len(rows):>10}" + "".join(cells), flush=True)


def _package(home: Path, trace: Path, each: int) -> Iterator[_Row]:
    with replaying(home, trace, each, seed=_SEED) as (program, check, targets):
        done = 0
        for target in targets:
            row = _ranked(program, check, target) if done < each else None
            if row is not None:
                done += 1
                yield row


def _ranked(program: Program, check: Check, target: str) -> _Row | None:
    """Nothing where all ran, or none, or there are few."""
    if not check.expected([target]):
        return None
    forget_engine(program)
    closure = grow_closure(program, engine_of(program), [target], depth=None, whole_classes=False)
    found = assemble(program, closure, (target,))
    report = check.of(found)
    functions = {
        item.symbol.id
        for item in found.items
        if item.symbol.kind.value in ("function", "method") and not item.is_target
    }
    ran = functions - set(report.never_executed)
    if not (report.passes and report.proven and ran < functions and len(functions) >= _FEWEST):
        return None
    if not ran:
        return None
    orders = {n: closure.remoteness(doubt=n) for n in _WEIGHTS}
    return _Row(
        precision={
            n: _average_precision(sorted(functions, key=lambda each: (far[each], each)), ran)
            for n, far in orders.items()
        },
        shown={budget: _shown(program, target, ran, budget) for budget in _BUDGETS},
    )


def _shown(program: Program, target: str, ran: set[str], budget: int) -> tuple[float, float, float]:
    found = slice_symbols(program, [target], budget=budget)
    forms = [item.form for item in found.items if item.symbol.id in ran]
    in_full = sum(form is Form.FULL for form in forms)
    read = in_full + sum(form is Form.SIGNATURE for form in forms)
    return in_full / len(ran), read / len(ran), len(forms) / len(ran)


def _average_precision(order: list[str], wanted: set[str]) -> float:
    hits = 0
    precisions = []
    for place, each in enumerate(order, 1):
        if each in wanted:
            hits += 1
            precisions.append(hits / place)
    return fmean(precisions)


if __name__ == "__main__":
    main()

"""``docs/strategies.md`` from verdicts of ``strategies.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from statistics import fmean
from typing import Any, Final

Line = dict[str, Any]

PLACES: Final = ("in-file", "out-file")
BUILDERS: Final = ("equivalence", "output-prediction")
CONTEXTS: Final = ("naive", "full", "sliced", "usages")
CELLS: Final = len(BUILDERS) * len(CONTEXTS)
_WEAK: Final = ("coverage", "mutation", "control-")
"""Reasons against a harness that is valid and only too weak."""

_PAPER: Final = {  # R2E, Table 1, GPT-4-Turbo: validity and branch coverage in percent
    ("equivalence", "naive"): ("44.25 / 87.96", "19.82 / 76.59"),
    ("equivalence", "full"): ("51.73 / 87.32", "32.24 / 77.23"),
    ("equivalence", "sliced"): ("52.37 / 88.18", "35.01 / 79.65"),
    ("output-prediction", "sliced"): ("35.43 / 87.59", "30.68 / 82.54"),
}
_HEAD: Final = """\
# Contexts for a model that writes tests

Written by `benchmarks/strategies.py`, whose docstring says what is compared. Functions are drawn \
by a fixed seed from those that have a docstring, an argument and a returned value. *In-file*: \
their slice stays in their file. Each cell asks for one harness of each function; an answer that \
fails the static checks is asked for once more. Every verdict, with its harness and what it took: \
[{results}]({results}).

*Valid*: the harness runs, deterministically, passes on the original, reaches an assertion, and \
really calls what it should; how much it finds out is not asked. *Accepted*: it passes all gates \
of [the validator](verdict.md) too. Coverage (of branches; of lines where there are none) and \
mutants killed are means over valid harnesses. Tokens, seconds, calls and dollars are means for a \
function, valid or not: CPU of the model, if it is a local one, and of the validator together, \
shared evenly among harnesses that were made side by side. Where a run was ended and went on, CPU and wall time lack what was answered before.

```console
$ python benchmarks/strategies.py --model MODEL
```
"""
_DIFFERENT: Final = (
    "Rows are of different functions where their numbers differ: do not compare those.\n"
)


def page(lines: Sequence[Line], *, results: str, wanted: int) -> str:
    """The page, one part for each model and settings. ``wanted``: functions of the sample."""
    parts = [_HEAD.format(results=results)]
    if not lines:
        parts.append(f"**Nothing is measured yet:** 0 of {wanted} functions.\n")
    groups: dict[str, list[Line]] = {}
    for line in lines:
        told = ", ".join(f"{name} {value}" for name, value in line["settings"].items())
        groups.setdefault(f"{line['model']}\n\n{told}", []).append(line)
    for name, group in groups.items():
        parts.append(_part(name, group, wanted))
    parts.append("## The paper's figures\n\n" + _paper())
    return "\n".join(parts)


def is_valid(line: Line) -> bool:
    """Whether there is a harness with nothing against it but that it finds out too little."""
    if line["verdict"] not in ("accepted", "rejected"):
        return False
    return all(reason["slug"].startswith(_WEAK) for reason in line["reasons"])


def _part(name: str, lines: Sequence[Line], wanted: int) -> str:
    model, _, settings = name.partition("\n\n")
    complete = _complete(lines)
    tried = {_function(line) for line in lines}
    said = f"Settings: {settings}. {len(tried)} functions, {len(lines)} harnesses asked for."
    if len(complete) < wanted:
        said += (
            f"\n\n**Not finished:** {len(complete)} of {wanted} functions have all {CELLS}"
            " harnesses; the same command goes on."
        )
    shared = [line for line in lines if _function(line) in complete]
    parts = [f"## {model}\n\n{said}\n"]
    if shared:
        parts += ["### Functions with all harnesses\n", _cells(shared)]
    if len(shared) < len(lines):
        parts += ["### All that was asked for\n", _DIFFERENT, _cells(lines)]
    parts += ["### Why harnesses are not valid, or not accepted\n", _causes(lines)]
    return "\n".join(parts)


def _function(line: Line) -> tuple[str, str]:
    return line["package"], line["target"]


def _complete(lines: Iterable[Line]) -> set[tuple[str, str]]:
    counts = Counter(map(_function, lines))
    return {function for function, count in counts.items() if count == CELLS}


def _cells(lines: Sequence[Line]) -> str:
    head = (
        "tests", "context", "functions", "n", "valid", "", "accepted", "branches", "mutants",
        "tokens in", "tokens out", "calls", "rounds", "model s", "CPU s", "wall s", "$",
    )  # fmt: skip
    rows = []
    for builder, place, strategy in product(BUILDERS, PLACES, CONTEXTS):
        found = [
            line
            for line in lines
            if (line["builder"], line["place"], line["strategy"]) == (builder, place, strategy)
        ]
        if found:
            rows.append((builder, strategy, place, *_figures(found)))
    return _table(head, rows)


def _figures(lines: Sequence[Line]) -> tuple[str, ...]:
    valid = [line for line in lines if is_valid(line)]
    accepted = sum(line["verdict"] == "accepted" for line in lines)

    def used(name: str) -> float:
        return fmean(line["usage"][name] for line in lines)

    known = all(line["usage"]["dollars"] is not None for line in lines)
    return (
        str(len(lines)), str(len(valid)), f"{len(valid) / len(lines):.0%}", str(accepted),
        _share(line["branch_coverage"] for line in valid),
        _share(line["mutation_score"] for line in valid),
        f"{used('input_tokens'):,.0f}", f"{used('output_tokens'):,.0f}", f"{used('calls'):.1f}",
        f"{fmean(line['rounds'] for line in lines):.1f}", f"{used('seconds'):,.0f}",
        f"{fmean(line['cpu'] for line in lines):,.0f}",
        f"{fmean(line['seconds'] for line in lines):,.0f}",
        f"{used('dollars'):.4f}" if known else "unknown",
    )  # fmt: skip


def _share(values: Iterable[float | None]) -> str:
    found = [each for each in values if each is not None]
    return f"{fmean(found):.0%}" if found else "-"


def _causes(lines: Sequence[Line]) -> str:
    """The first reason of each that was not accepted, by kind of test and context."""
    columns = list(product(BUILDERS, CONTEXTS))
    counted: dict[tuple[str, str], Counter[str]] = {column: Counter() for column in columns}
    for line in lines:
        if line["verdict"] != "accepted":
            counted[line["builder"], line["strategy"]][_cause(line)] += 1
    total = Counter(name for counter in counted.values() for name in counter.elements())
    rows = [
        (name, *(str(counted[column][name] or "") for column in columns), str(count))
        for name, count in total.most_common()
    ]
    return _table(("first reason", *(f"{b} {s}" for b, s in columns), "all"), rows)


def _cause(line: Line) -> str:
    """What makes it invalid comes before what makes it weak."""
    slugs: list[str] = [reason["slug"] for reason in line["reasons"]]
    invalid = [slug for slug in slugs if not slug.startswith(_WEAK)]
    return next(iter(invalid + slugs), str(line["verdict"]))


def _paper() -> str:
    rows = [(builder, strategy, *_PAPER[builder, strategy]) for builder, strategy in _PAPER]
    said = "GPT-4-Turbo, Table 1: validity / branch coverage in percent.\n\n"
    return said + _table(("tests", "context", *PLACES), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"

"""Draw edges of the default graph that no test took, to be judged by hand.

    python benchmarks/callgraph/sampling.py [--count 50] [--folder FOLDER] [--page PAGE] [PACKAGE ...]

A trace proves an edge and never disproves one. So precision against a trace is a lower
bound, and what the edges that were not seen are worth is for a reader of the code to say:
``docs/callgraph-judged.md`` holds the verdicts. What is drawn depends on the edges alone:
each has a number (SHA-256 of the seed, its package, caller and callee), and the lowest are
taken. So anyone draws the same sample from the same graph, and one from a better graph has
the edges that both have in common, whose verdicts still hold.

Prints a line for each edge: package, caller, callee, certainty, rules, place, source line.
With ``--page`` the sample is written beside the verdicts in ``verdicts.tsv``, and what they
say of the precision.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from packages import PACKAGES, select
from recording import analysed_root, trace_file, traces_folder

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.model import Certainty
from depslice.callgraph.tracing import read_trace
from depslice.callgraph.tracing.comparing import ComparedEdge, compare

_SEED = "depslice-judged-1"
_VERDICTS = Path(__file__).with_name("verdicts.tsv")
_NORMAL = 1.96  # standard deviations around 95 % of a normal distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """``drawn`` of the ``unseen`` edges, of ``covered`` edges of executed callers in ``packages``."""

    packages: Sequence[str]
    covered: int
    unseen: int
    drawn: Sequence[tuple[str, ComparedEdge]]

    def precision(self, share: float) -> float:
        """The precision if ``share`` of the edges that were not seen are right."""
        return (self.covered - self.unseen + share * self.unseen) / self.covered


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=traces_folder())
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    sample = _draw(options.packages, options.folder, options.count)
    if not sample.drawn:
        raise SystemExit(f"nothing to draw: no traces in {options.folder}, or all edges were taken")
    if options.page is None:
        print(f"# {sample.covered} edges of executed callers, {sample.unseen} not seen")
        for name, edge in sample.drawn:
            print("\t".join(_fields(name, edge)))
    else:
        options.page.write_text("\n".join(_page(sample)) + "\n", encoding="utf-8")


def _draw(packages: list[str], folder: Path, count: int) -> Sample:
    unseen: list[tuple[str, ComparedEdge]] = []
    covered = 0
    names: list[str] = []
    for package in select(packages or [each.name for each in PACKAGES]):
        path = trace_file(package, folder)
        if not path.exists():
            print(f"{package.name}: not recorded", file=sys.stderr)
            continue
        program = open_program(analysed_root(package, folder), cache=None)
        trace = read_trace(path.read_text(encoding="utf-8"))
        comparison = compare(program, build_graph(program, workers=1), trace)
        [score] = [each for each in comparison.scores if each.certainty == "likely"]
        names.append(package.name)
        covered += score.covered
        unseen += [(package.name, edge) for edge in comparison.unseen if _shown(edge)]
    drawn = sorted(unseen, key=lambda each: _number(*each))[:count]
    return Sample(packages=names, covered=covered, unseen=len(unseen), drawn=drawn)


def _shown(edge: ComparedEdge) -> bool:
    """Whether the default graph has the edge."""
    return edge.certainty is not None and edge.certainty.rank <= Certainty.LIKELY.rank


def _number(package: str, edge: ComparedEdge) -> str:
    text = f"{_SEED}\n{package}\n{edge.caller}\n{edge.callee}"
    return hashlib.sha256(text.encode()).hexdigest()


def _fields(package: str, edge: ComparedEdge) -> Iterator[str]:
    yield package
    yield edge.caller
    yield edge.callee
    yield "" if edge.certainty is None else edge.certainty.value
    yield "+".join(edge.evidence)
    yield f"{edge.path}:{edge.line}"
    yield edge.text


def _page(sample: Sample) -> Iterator[str]:
    verdicts = _verdicts()
    judged = [
        (name, edge, *verdicts.get((name, edge.caller, edge.callee), ("unclear", "not judged")))
        for name, edge in sample.drawn
    ]
    said = Counter(verdict for _, _, verdict, _ in judged)
    yield "# Edges that no test took, judged by hand"
    yield ""
    yield (
        "Written by `python benchmarks/callgraph/sampling.py --page docs/callgraph-judged.md`, which"
        " draws the same sample from the same graph again; the verdicts are in"
        " `benchmarks/callgraph/verdicts.tsv`."
    )
    yield ""
    yield (
        "A test suite proves edges and disproves none. Of the default graphs"
        f" ([callgraph.md](callgraph.md)) of {', '.join(sample.packages)}, {sample.covered:,} edges"
        " begin in callers that ran, and"
        f" {sample.unseen:,} of these were never taken. {len(judged)} of them, drawn by a hash of"
        " their names, were judged by reading the code: can Python take this edge on some input that"
        " the code and its annotations allow?"
    )
    yield ""
    yield "| verdict | edges |"
    yield "|---|---|"
    for verdict, meaning in _MEANINGS.items():
        yield f"| {verdict}: {meaning} | {said[verdict]} |"
    yield ""
    yield "| precision | | 95 % interval |"
    yield "|---|---|---|"
    yield f"| nothing but what tests took is right | {sample.precision(0):.3f} | |"
    for what, right in (
        ("corrected, `environment` counted as wrong", said["yes"]),
        ("corrected", said["yes"] + said["environment"]),
    ):
        low, high = (sample.precision(share) for share in _interval(right, len(judged)))
        share = right / len(judged)
        yield f"| {what} | {sample.precision(share):.3f} | {low:.3f} to {high:.3f} |"
    yield ""
    yield "`unclear` counts as wrong. The interval is Wilson's, for the share of right ones."
    yield ""
    yield "| | edge | at | verdict | why |"
    yield "|---|---|---|---|---|"
    for number, (name, edge, verdict, reason) in enumerate(judged, 1):
        pair = f"{name}: `{edge.caller}` → `{edge.callee}`"
        place = f"{edge.path}:{edge.line} ({'+'.join(edge.evidence)})"
        yield f"| {number} | {pair} | {place} | {verdict} | {reason} |"


_MEANINGS = {
    "yes": "it can",
    "environment": "it can, but only where tests do not run: another system, documentation being built",
    "no": "it cannot",
    "unclear": "not decided",
}


def _verdicts() -> dict[tuple[str, str, str], tuple[str, str]]:
    with _VERDICTS.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {
            (row["package"], row["caller"], row["callee"]): (row["verdict"], row["reason"])
            for row in rows
        }


def _interval(right: int, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of which ``right`` of ``count`` were seen."""
    share, square = right / count, _NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    spread = (
        _NORMAL * sqrt(share * (1 - share) / count + square / (4 * count**2)) / (1 + square / count)
    )
    return middle - spread, middle + spread


if __name__ == "__main__":
    main()

"""Draw edges of the default graph that no test took, to be judged by hand.

    python benchmarks/callgraph/sampling.py [--count 50] [--folder FOLDER] [PACKAGE ...]

A trace proves an edge and never disproves one. So precision against a trace is a lower
bound, and what the edges that were not seen are worth is for a reader of the code to say:
``docs/callgraph-judged.md`` holds the verdicts. What is drawn depends on the edges alone:
each has a number (SHA-256 of the seed, its package, caller and callee), and the lowest are
taken. So anyone draws the same sample from the same graph, and one from a better graph has
the edges that both have in common, whose verdicts still hold.

Prints a line for each edge: package, caller, callee, certainty, rules, place, source line.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from packages import PACKAGES, select
from recording import analysed_root, trace_file, traces_folder

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.model import Certainty
from depslice.callgraph.tracing import read_trace
from depslice.callgraph.tracing.comparing import ComparedEdge, compare

_SEED = "depslice-judged-1"


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--folder", type=Path, default=traces_folder())
    options = parser.parse_args()
    drawn: list[tuple[str, str, ComparedEdge]] = []
    covered = seen = 0
    for package in select(options.packages or [each.name for each in PACKAGES]):
        path = trace_file(package, options.folder)
        if not path.exists():
            print(f"{package.name}: not recorded", file=sys.stderr)
            continue
        program = open_program(analysed_root(package, options.folder), cache=None)
        trace = read_trace(path.read_text(encoding="utf-8"))
        comparison = compare(program, build_graph(program, workers=1), trace)
        [score] = [each for each in comparison.scores if each.certainty == "likely"]
        covered += score.covered
        seen += score.seen
        drawn += [
            (_number(package.name, e), package.name, e) for e in comparison.unseen if _shown(e)
        ]
    drawn.sort(key=lambda each: each[0])
    print(f"# {covered} edges of executed callers, {seen} seen, {len(drawn)} not seen")
    for _, name, edge in drawn[: options.count]:
        print("\t".join(_fields(name, edge)))


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


if __name__ == "__main__":
    main()

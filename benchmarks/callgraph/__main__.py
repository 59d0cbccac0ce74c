"""How complete and how precise call graphs are, beside what test suites really call.

    python benchmarks/callgraph [PACKAGE ...] [--peer NAME ...] [--python PYTHON3.12+]

Fetches the packages, runs their tests under ``depslice trace`` (which **runs their
code**), scores depslice and its peers on the recorded edges, and writes
``docs/callgraph.md``. What is recorded is kept: see ``recording.py``. Scores are kept as a
JSON line for each package and tool in ``scores.jsonl``, and a second run takes up where
the first one ended; ``--fresh depslice`` scores a tool anew. ``--more`` takes other packages
(``MORE`` in ``packages.py``), with a page and scores of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))

from packages import MORE, PACKAGES, Traced, select
from peers import PEERS, TIMEOUT, ask
from recording import REPO, Failed, record, traces_folder

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.tracing import Trace, read_trace
from depslice.callgraph.tracing.comparing import compare, comparison_document

_OWN: Final = "depslice"
_PAGE: Final = REPO / "docs" / "callgraph.md"
_MORE_PAGE: Final = REPO / "docs" / "callgraph-more.md"


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--peer", action="append", metavar="NAME", help="default: all")
    parser.add_argument("--python", default=sys.executable, help="runs the tests: 3.12 or newer")
    parser.add_argument("--folder", type=Path, default=traces_folder())
    parser.add_argument("--fresh", action="append", default=[], metavar="TOOL")
    parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds for each peer")
    parser.add_argument("--more", action="store_true", help="other packages, on another page")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    options.page = options.page or (_MORE_PAGE if options.more else _PAGE)
    kept = options.folder / ("scores-more.jsonl" if options.more else "scores.jsonl")
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = [row for row in _read(kept) if row["tool"] not in options.fresh]
    wanted = [_OWN, *(peer.name for peer in PEERS if peer.name in (options.peer or [peer.name]))]
    for package in select(options.packages, more=options.more):
        try:
            root, path = record(package, folder=options.folder, python=options.python)
        except (Failed, subprocess.TimeoutExpired) as error:
            print(f"{package.name}: {error}", file=sys.stderr)
            continue
        trace = read_trace(path.read_text(encoding="utf-8"))
        for tool in wanted:
            if not any(r["package"] == package.name and r["tool"] == tool for r in rows):
                row = _scored(package, root, trace, tool, options)
                rows.append(row)
                _write(kept, rows)
                print(_line(row), flush=True)
    options.page.write_text("\n".join(_page(rows, options.folder)) + "\n", encoding="utf-8")
    print(options.page)


def _scored(
    package: Traced, root: Path, trace: Trace, tool: str, options: argparse.Namespace
) -> dict[str, Any]:
    program = open_program(root, cache=None)
    failure = ""
    if tool == _OWN:
        before = time.process_time()
        graph = build_graph(program, workers=1)
        seconds = time.process_time() - before
    else:
        [peer] = [peer for peer in PEERS if peer.name == tool]
        answer = ask(peer, program, options.folder / "peers", timeout=options.timeout)
        graph, seconds, failure = answer.graph, answer.seconds, answer.failure
    document = comparison_document(compare(program, graph, trace))
    row = {
        "package": package.name,
        "tool": tool,
        "seconds": round(seconds, 1),
        "failure": failure,
        "scores": document["scores"] if tool == _OWN else document["scores"][-1:],
        "kinds": document["kinds"],
    }
    if tool != _OWN:
        _forget_certainty(row)
    return row


def _line(row: dict[str, Any]) -> str:
    score = row["scores"][-1]
    said = row["failure"] or f"recall {score['recall']}, precision {score['precision']}"
    return f"{row['package']}: {row['tool']}: {said} ({row['seconds']} s)"


def _page(rows: list[dict[str, Any]], folder: Path) -> Iterator[str]:
    names = {row["package"] for row in rows}
    development = [p.name for p in (*PACKAGES, *MORE) if p.development and p.name in names]
    others = [p.name for p in (*PACKAGES, *MORE) if not p.development and p.name in names]
    yield "# The call graph beside what test suites really call"
    yield ""
    yield (
        "Written by `python benchmarks/callgraph` (`--more --peer depslice` for the page of other"
        " packages). The test suites of these releases ran under"
        " `depslice trace`. What is compared, and how instances count, is told under"
        " [`depslice.compare/1`](formats/json.md). Precision is the share of the edges of"
        " executed callers that were seen: a lower bound, since tests take some branches only."
        " *On lines that ran* counts only edges with a site on an executed line; peers give no"
        " sites. A tool that fails on a package counts as having found nothing there. Seconds are"
        " those of the run that scored a tool: to compare them, score the tools in one run"
        " (`--fresh`)."
    )
    yield ""
    releases = {p.name: f"{p.name} {p.version}" for p in (*PACKAGES, *MORE)}
    yield f"Used in development: {', '.join(releases[n] for n in development)}. "
    yield f"Not used: {', '.join(releases[n] for n in others)}."
    yield (
        "Used means that a rule was mended for what that package showed. Their scores were watched"
        " for all; edges of the packages that [callgraph-judged.md](callgraph-judged.md) names were"
        " looked at for it."
    )
    for title, chosen in (
        ("All packages", [*development, *others]),
        ("Not used in development", others),
    ):
        if chosen:
            yield f"\n## {title}\n"
            yield from _pooled([row for row in rows if row["package"] in chosen])
    yield "\n## Recall by kind of call\n"
    yield from _kinds(rows)
    yield "\n## Small programs\n"
    yield from _micro_programs()
    yield "\n## By package\n"
    yield from _packages(rows, [*development, *others])


def _tools(rows: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """Tools and the certainties each is scored at, in a fixed order."""
    found = {(row["tool"], score["certainty"]) for row in rows for score in row["scores"]}
    order = [_OWN, *(peer.name for peer in PEERS)]
    return sorted(found, key=lambda each: (order.index(each[0]), each[1]))


def _title(tool: str, certainty: str) -> str:
    return f"depslice, {certainty}" if tool == _OWN else tool


def _micro_programs() -> Iterator[str]:
    """How many of our own small programs have exactly the expected graph."""
    folder = REPO / "fixtures" / "callgraph"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))]
    programs = sum(line.startswith("== ") for text in texts for line in text.splitlines())
    listed = (folder / "not_yet.list").read_text(encoding="utf-8").splitlines()
    inexact = [line for line in listed if line and not line.startswith("#")]
    yield (
        f"[`fixtures/callgraph`](../fixtures/callgraph/README.md) has {programs} programs in"
        f" {len(texts)} categories, each executed under a tracer that holds its expected graph to"
        f" what happens. depslice's graph, calls to the outside included, is exactly the expected"
        f" one for {programs - len(inexact)}. The others:"
    )
    yield ""
    yield from (f"- {line}" for line in inexact)


def _pooled(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| tool | recall | precision | F1 | on lines that ran | CPU s | failed on |"
    yield "|---|---|---|---|---|---|---|"
    for tool, certainty in _tools(rows):
        own = [row for row in rows if row["tool"] == tool]
        missing = len({row["package"] for row in rows} - {row["package"] for row in own})
        scores = [s for row in own for s in row["scores"] if s["certainty"] == certainty]
        sums = {
            key: sum(s[key] for s in scores) for key in scores[0] if isinstance(scores[0][key], int)
        }
        recall = sums["found"] / max(sums["real"], 1)
        precision = sums["seen"] / max(sums["covered"], 1)
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        lines = f"{sums['seen_at_lines'] / sums['at_lines']:.3f}" if sums["at_lines"] else ""
        failed = ", ".join(row["package"] for row in own if row["failure"])
        failed += f" ({missing} not tried)" if missing else ""
        seconds = sum(row["seconds"] for row in own)
        yield (
            f"| {_title(tool, certainty)} | {recall:.3f} ({sums['found']}/{sums['real']}) "
            f"| {precision:.3f} ({sums['seen']}/{sums['covered']}) | {f1:.3f} "
            f"| {lines} | {seconds:.1f} | {failed} |"
        )


def _kinds(rows: list[dict[str, Any]]) -> Iterator[str]:
    tools = _tools(rows)
    real: dict[str, int] = {}
    found: dict[tuple[str, str, str], int] = {}
    for row in rows:
        for each in row["kinds"]:
            if row["tool"] == _OWN:
                real[each["kind"]] = real.get(each["kind"], 0) + each["real"]
            for certainty, count in each["found"].items():
                key = (row["tool"], certainty, each["kind"])
                found[key] = found.get(key, 0) + count
    yield f"| kind | edges | {' | '.join(_title(*tool) for tool in tools)} |"
    yield "|---|---|" + "---|" * len(tools)
    for kind, count in sorted(real.items(), key=lambda item: -item[1]):
        shares = (f"{found.get((*tool, kind), 0) / count:.2f}" for tool in tools)
        yield f"| {kind} | {count} | {' | '.join(shares)} |"


def _packages(rows: list[dict[str, Any]], names: list[str]) -> Iterator[str]:
    tools = _tools(rows)
    yield "Recall / precision.\n"
    yield f"| package | edges | {' | '.join(_title(*tool) for tool in tools)} |"
    yield "|---|---|" + "---|" * len(tools)
    for name in names:
        cells = []
        real = 0
        for tool, certainty in tools:
            scores = [
                score
                for row in rows
                if (row["package"], row["tool"]) == (name, tool)
                for score in row["scores"]
                if score["certainty"] == certainty
            ]
            real = max([real, *(score["real"] for score in scores)])
            cells.append(" ".join(_pair(score) for score in scores))
        yield f"| {name} | {real} | {' | '.join(cells)} |"


def _pair(score: dict[str, Any]) -> str:
    both = (score["recall"], score["precision"])
    return " / ".join("-" if value is None else f"{value:.2f}" for value in both)


def _read(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row["tool"] != _OWN:
            _forget_certainty(row)
    return rows


def _forget_certainty(row: dict[str, Any]) -> None:
    """Peers have none: their edges are scored under whatever name the last level had."""
    for score in row["scores"]:
        score["certainty"] = ""
    for kind in row["kinds"]:
        kind["found"] = {"": max(kind["found"].values())}


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    draft.replace(path)


if __name__ == "__main__":
    main()

"""Solvers on HumanEval with a local model; writes ``docs/solvers-measured.md``.

Makes the attempts of :data:`PLAN`, one evaluation after the other, with ``depslice evaluate``.
What was made is kept in ``--results`` and not made again: ended at any moment, the same
command goes on. ``--report`` makes nothing, and reports on what is there.

    nice python benchmarks/solvers.py --model qwen2.5-coder-1.5b-instruct-q4_k_m.gguf \
        --problems humaneval.jsonl.gz
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from depslice.solvers.page import comparison_page
from depslice.solvers.running.record import Attempt
from depslice.solvers.scoring import scores
from depslice.solvers.telling import score_table

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parent / "docs" / "solvers-measured.md"
PLAN = (
    ("direct", 164),
    ("adacoder", 30),
    ("reflexion:budget=6", 30),
    ("codetree:budget=6", 30),
    ("adacoder", 164),
)
MAX_TOKENS = 1024


def run(arguments: argparse.Namespace) -> None:
    """Make what is missing."""
    for solver, limit in PLAN:
        command = [
            *(sys.executable, "-m", "depslice.cli", "evaluate", arguments.problems),
            *("--model", f"local:{arguments.model}", "--max-tokens", str(MAX_TOKENS)),
            *("--solver", solver, "--limit", str(limit), "--results", arguments.results),
            *(("--completions", arguments.completions) if arguments.completions else ()),
        ]
        subprocess.run(command, check=True)


def report(path: Path) -> None:
    """Tables of what was made, and a page beside the attempts."""
    lines = path.read_text(encoding="utf-8").splitlines()
    attempts = [Attempt.of(json.loads(line)) for line in lines]
    found = scores(attempts)
    path.with_suffix(".html").write_text(comparison_page(found, attempts), encoding="utf-8")
    shared = of_shared_problems(attempts)
    text = (
        "# Solvers, measured\n\n"
        "Written by `benchmarks/solvers.py`, which has the exact commands. HumanEval, greedy"
        f" answers of at most {MAX_TOKENS} tokens, one thread of a shared machine: seconds tell"
        " little. The figures of the papers come from other, larger models; orderings and costs"
        " stand as measured. CPU is that of the answers' sandboxes alone: that of the solvers'"
        " own was not counted yet when these attempts were made. Every attempt, with its answer:"
        f" [{path.name}](../{path.relative_to(HERE.parent)}).\n\n"
        f"Model: {', '.join(sorted({each.model for each in attempts}))}\n\n"
        f"{missing(attempts)}"
        "## On the same problems\n\nThose that all of these solvers have tried.\n\n"
        f"```text\n{score_table(scores(shared))}```\n\n"
        "## All that was made\n\nRows are of different problems where their numbers differ:"
        " do not compare them.\n\n"
        f"```text\n{score_table(found)}```\n"
    )
    DOCUMENT.write_text(text, encoding="utf-8")


def missing(attempts: Sequence[Attempt]) -> str:
    """What of the plan was not made, in so many words."""
    wanted = dict(sorted(PLAN, key=lambda each: each[1]))
    counts = {solver: sum(each.solver == solver for each in attempts) for solver in wanted}
    open_ = [f"{s} ({counts[s]} of {wanted[s]})" for s in wanted if counts[s] < wanted[s]]
    return f"**Not finished:** {', '.join(open_)}.\n\n" if open_ else ""


def of_shared_problems(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts at problems that every solver has tried, of those that tried any."""
    tried: dict[str, set[str]] = {}
    for each in attempts:
        tried.setdefault(each.solver, set()).add(each.problem)
    shared = set.intersection(*tried.values())
    return [each for each in attempts if each.problem in shared]


def main() -> None:
    """Run the plan, unless only a report is wanted; then report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", help="a GGUF file")
    parser.add_argument("--problems", help="HumanEval's file")
    parser.add_argument("--results", default=str(HERE / "results" / "humaneval.jsonl"))
    parser.add_argument("--completions", help="where answers of the model are kept")
    parser.add_argument("--report", action="store_true", help="make nothing")
    arguments = parser.parse_args()
    if not arguments.report:
        if not (arguments.model and arguments.problems):
            parser.error("--model and --problems are needed, or --report")
        run(arguments)
    report(Path(arguments.results).resolve())


if __name__ == "__main__":
    main()

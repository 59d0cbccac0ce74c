"""Solvers on functions of real repositories, by context; writes ``docs/solvers-contexts.md``.

R2E, section 5.1: does a model do better with the function's dependencies, or with the whole
files around it? Three steps, each of which goes on where it was ended:

    python benchmarks/solver_contexts.py FOLDER… --run-python PATH --into FOLDER      # problems
    python benchmarks/solver_contexts.py FOLDER… … --model local:NAME.gguf            # attempts
    python benchmarks/solver_contexts.py FOLDER… … --report                           # the page

Each FOLDER is an unpacked source distribution with its tests; PATH a Python that has pytest
and what the tests need, but none of the packages: an answer could read them there.

*Which functions*: of each package those of at least 4 lines, with a *full* context of at most
3,000 tokens (so that the same prompt fits all contexts and a small machine), in the order of
the SHA-256 of their ids; of the first 24 of them, those that the tests call and
for which ``replay`` makes a harness that the validator accepts; of these the first 5 of which a
recorded call can be shown. The harness decides and stays hidden.

``--dry-run`` tells the prompts' tokens, and how long one answer to each takes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from depslice.callgraph import list_functions, open_program
from depslice.callgraph.model import Symbol
from depslice.callgraph.program import Program
from depslice.prompts.subjects import subject_of
from depslice.slicer.tokens import count_tokens
from depslice.solvers.loading import load_tasks
from depslice.solvers.running.record import Attempt
from depslice.solvers.scoring import scores
from depslice.solvers.telling import score_table
from depslice.validator.calls import is_test_module

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE / "results" / "solver-contexts.jsonl"
DOCUMENT: Final = HERE.parent / "docs" / "solvers-contexts.md"
CONTEXTS: Final = ("sliced", "full")
SOLVERS: Final = ("direct", "adacoder:iterations=1", "reflexion:budget=2", "codetree:budget=3")
MEASURED: Final = (
    *("boltons 26.2.0", "cachetools 8.0.1", "humanize 4.17.0", "natsort 8.4.0", "toolz 1.2.0"),
    "validators 0.36.0",
)
"""The releases that the kept attempts are of."""
FUNCTIONS: Final = 20  # that every solver is to try
MAX_TOKENS: Final = 768
LINES: Final = 4
FULL: Final = 3000  # tokens of the full context
ASKED: Final = 24  # functions of a package that harnesses are tried for
KEPT: Final = 5  # of a package
MUTANTS: Final = 20
READS, WRITES = 30, 8  # tokens a second of the model that was used, for --dry-run


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--run-python", required=True)
    parser.add_argument("--into", type=Path, default=Path("solver-contexts"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--model", help="as `depslice evaluate` takes it")
    parser.add_argument("--completions", help="where answers of the model are kept")
    parser.add_argument("--concurrency", default="1")
    parser.add_argument("--context", default="8192", help="of a local model, tokens")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--report", action="store_true", help="make nothing")
    options = parser.parse_args()
    problems = options.into / "problems.jsonl"
    if not options.report:
        options.into.mkdir(parents=True, exist_ok=True)
        prepare(options, problems)
    if options.dry_run:
        expect(problems)
    elif options.model and not options.report:
        attempt(options, problems)
    if options.report:
        report(options.results)


# --- problems


def prepare(options: argparse.Namespace, problems: Path) -> None:
    """Write the file of problems; harnesses that are there are not made again."""
    lines: list[str] = []
    for folder in options.folders:
        into = options.into / folder.name
        found = into / "problems.jsonl"
        if not found.exists():
            make(folder, into, found, options.run_python)
        known = {each["task_id"]: each for each in read(found) if each["visible"]}
        kept = sorted(known, key=digest)[:KEPT]
        lines += [json.dumps(moved(known[name], into.name)) + "\n" for name in kept]
    problems.write_text("".join(lines), encoding="utf-8")
    print(f"{len(lines)} problems in {problems}", file=sys.stderr)


def make(folder: Path, into: Path, found: Path, python: str) -> None:
    """Harnesses for the candidates of a package, as problems."""
    program = open_program(str(folder))
    targets = candidates(program)[:ASKED]
    print(f"{folder.name}: {len(targets)} functions", file=sys.stderr)
    command = [
        *(sys.executable, "-m", "depslice.cli", "harness", str(folder), *targets),
        *("--generator", "replay", "--into", str(into), "--problems", str(found)),
        *("--mutants", str(MUTANTS), "--run-python", python),
    ]
    done = subprocess.run(command, check=False)
    if not found.exists():
        raise SystemExit(f"solver_contexts: no harnesses for {folder} (exit {done.returncode})")


def candidates(program: Program) -> list[str]:
    """Functions that may be asked for, in the order of their digests."""
    functions = list_functions(program, workers=1)
    return [
        each.id for each in sorted(functions, key=lambda f: digest(f.id)) if fits(program, each)
    ]


def fits(program: Program, target: Symbol) -> bool:
    """Whether it is of the size that the module says."""
    if "<" in target.id or is_test_module(target.module):
        return False
    if target.span.end - target.span.start < LINES:
        return False
    files = subject_of(program, target, strategy="full", hide_target=True).files
    return sum(count_tokens(file.text) for file in files) <= FULL


def moved(problem: dict[str, Any], folder: str) -> dict[str, Any]:
    """A problem as a line of the file one folder higher."""
    names = ("repo", "harness")
    paths = {name: os.path.normpath(os.path.join(folder, problem[name])) for name in names}
    return problem | paths


def digest(name: str) -> str:
    """What functions are ordered by."""
    return hashlib.sha256(name.encode()).hexdigest()


# --- attempts


def attempt(options: argparse.Namespace, problems: Path) -> None:
    """Make the attempts that are missing, solver by solver."""
    options.results.parent.mkdir(parents=True, exist_ok=True)
    for solver in SOLVERS:
        command = [
            *(sys.executable, "-m", "depslice.cli", "evaluate", str(problems)),
            *("--model", options.model, "--max-tokens", str(MAX_TOKENS)),
            *("--context", options.context, "--concurrency", options.concurrency),
            *("--workers", options.concurrency, "--run-python", options.run_python),
            *(word for each in CONTEXTS for word in ("--strategy", each)),
            *("--solver", solver, "--results", str(options.results), "-v"),
            *(("--completions", options.completions) if options.completions else ()),
        ]
        subprocess.run(command, check=True)


def expect(problems: Path) -> None:
    """Tokens of the prompts of one answer each, and the time that the model takes for them."""
    for strategy in CONTEXTS:
        tasks = load_tasks(problems, strategies=(strategy,))
        sizes = [count_tokens(t.problem.context + t.problem.specification) for t in tasks]
        seconds = sum(sizes) / READS + len(sizes) * MAX_TOKENS / WRITES
        print(
            f"{strategy:<8} {len(sizes)} functions, {sum(sizes):,} tokens to read,"
            f" {max(sizes):,} at most; one answer to each takes {seconds / 60:.0f} min at most"
        )


# --- the page


def report(results: Path) -> None:
    """Tables of what was made; of attempts that were made again the last counts."""
    made = {
        (each["solver"], each["strategy"], each["problem"], each["sample"]): each
        for each in read(results)
    }
    attempts = [Attempt.of(each) for each in made.values()]
    shared = of_shared_functions(attempts)
    tried = len({each.problem for each in shared})
    text = (
        "# Solvers by context\n\n"
        "Written by `benchmarks/solver_contexts.py`, which says how the functions were chosen"
        f" and has the exact commands: functions of {', '.join(MEASURED)}."
        " An answer has to do what the original does in every call of a hidden harness; up to"
        f" three recorded calls are shown. Greedy answers of at most {MAX_TOKENS} tokens, on a"
        " shared machine: seconds tell little. R2E (section 5.1) asked larger models; the"
        f" figures stand as measured. Every attempt: [{results.name}]"
        f"(../benchmarks/results/{results.name}).\n\n"
        f"Model: {', '.join(sorted({each.model for each in attempts}))}\n\n"
        f"{missing(attempts)}"
        f"## The same functions\n\nThe {tried} that all solvers have tried with each context.\n\n"
        f"```text\n{score_table(scores(shared))}```\n\n"
        f"{paired(shared)}"
    )
    if len(shared) < len(attempts):
        text += (
            "## All attempts\n\nRows are of different functions where their numbers differ: do not"
            f" compare them.\n\n```text\n{score_table(scores(attempts))}```\n"
        )
    text = text.rstrip("\n") + "\n"
    DOCUMENT.write_text(text, encoding="utf-8")


def of_shared_functions(attempts: Sequence[Attempt]) -> list[Attempt]:
    """The attempts at functions that every solver has tried with every context."""
    tried: dict[tuple[str, str], set[str]] = {}
    for each in attempts:
        tried.setdefault((each.solver, each.strategy), set()).add(each.problem)
    shared = set.intersection(*tried.values()) if tried else set()
    return [each for each in attempts if each.problem in shared]


def paired(attempts: Sequence[Attempt]) -> str:
    """For each solver, the functions that one context solves and the other does not."""
    first, second = CONTEXTS
    rows = []
    for solver in dict.fromkeys(each.solver for each in attempts):
        passed = {
            strategy: {
                each.problem
                for each in attempts
                if (each.solver, each.strategy) == (solver, strategy) and each.passed
            }
            for strategy in CONTEXTS
        }
        only = passed[first] - passed[second], passed[second] - passed[first]
        both = passed[first] & passed[second]
        rows.append(f"| {solver} | {len(both)} | {len(only[0])} | {len(only[1])} |")
    if not rows:
        return ""
    head = f"| solver | solved with both | with {first} alone | with {second} alone |"
    return "\n".join([head, "|---|---|---|---|", *rows]) + "\n\n"


def missing(attempts: Sequence[Attempt]) -> str:
    """What of the plan was not made, in so many words."""
    open_ = [
        f"{solver} {strategy} ({made} of {FUNCTIONS})"
        for solver, strategy, made in counted(attempts)
        if made < FUNCTIONS
    ]
    unfinished = f"**Not finished:** {', '.join(open_)}.\n\n" if open_ else ""
    return unfinished + (
        "Of 23 functions that there were problems of, attempts at six were taken out: of their"
        " visible examples the originals themselves failed some, which are left out since. Three"
        " of the six were tried again; the other three are not counted.\n\n"
    )


def counted(attempts: Sequence[Attempt]) -> Iterator[tuple[str, str, int]]:
    """How many attempts there are of each solver with each context."""
    for solver in SOLVERS:
        for strategy in CONTEXTS:
            made = [(each.solver, each.strategy) for each in attempts]
            yield solver, strategy, made.count((solver, strategy))


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON; none if it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()

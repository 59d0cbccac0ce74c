"""What depslice promises, checked on real packages.

    python benchmarks/acceptance.py any-repo          no function of any package crashes or hangs
    python benchmarks/acceptance.py nothing-missing   slices compile; ruff finds no name missing,
                                                      no import unused
    python benchmarks/acceptance.py imports           slices import by themselves (RUNS the
                                                      packages' module bodies: see below)
    python benchmarks/acceptance.py idle              no kept definition can be taken out unnoticed
    python benchmarks/acceptance.py determinism       same bytes with any hash seed, number of
                                                      workers, cold and warm

Each prints a table and appends a JSON line a package to ``--results``; packages that have
one are not looked at again without ``--fresh``. ``--packages a,b``, ``--sample N`` (slices a
package), ``--seed`` and ``--workers`` (packages at a time) go for all.

``imports`` is the one check that executes third-party code, and depslice itself never
does: a developer runs it, on named releases of PyPI, in child processes with limits of time
and memory but outside any sandbox. It needs an environment with the packages' dependencies
(``python benchmarks/corpus.py --environment DIR``, then ``--python DIR/bin/python``).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

_HERE = Path(__file__).resolve().parent
for _component in ("callgraph", "slicer", "cli"):
    # From a source tree where nothing is installed; otherwise without effect.
    sys.path.append(str(_HERE.parent / _component))

import corpus  # noqa: E402
import determinism  # noqa: E402
import idle  # noqa: E402
import imports  # noqa: E402
import missing  # noqa: E402
import slicing  # noqa: E402
from checks import Job  # noqa: E402
from store import Store, table  # noqa: E402

PURE: Final = (
    "click",
    "flask",
    "requests",
    "networkx",
    "jinja2",
    "rich",
    "werkzeug",
    "boltons",
    "toolz",
    "humanize",
    "marshmallow",
    "httpx",
    "attrs",
    "python-dateutil",
    "sympy",
    "django",
)
"""Where ``imports`` looks by default: no compiled parts, dependencies that are wheels."""


def any_repo(job: Job) -> dict[str, Any]:
    """Slice every function; count what goes wrong."""
    opened = slicing.open_package(job.folder)
    targets = slicing.sample_of(opened.functions, job.sample, seed=job.seed)
    failures, seconds, slowest, items = [], 0.0, (0.0, ""), 0
    for outcome in slicing.slices(opened.program, targets, limit=job.limit):
        seconds += outcome.seconds
        slowest = max(slowest, (outcome.seconds, outcome.target))
        if outcome.failure is not None:
            failures.append(outcome.failure.record())
        elif outcome.slice is not None:
            items += len(outcome.slice.items)
    return {
        "files": opened.files,
        "functions": len(opened.functions),
        "sliced": len(targets),
        "items": items,
        "open_seconds": round(opened.seconds, 3),
        "slice_seconds": round(seconds, 3),
        "slowest": {"target": slowest[1], "seconds": round(slowest[0], 3)},
        "failures": failures,
        "diagnostics": list(opened.diagnostics),
    }


def any_repo_table(records: Iterable[dict[str, Any]]) -> str:
    """One row a package, and their sum."""
    rows = []
    for record in records:
        kinds = Counter(failure["kind"] for failure in record["failures"])
        count = max(record["sliced"], 1)
        rows.append(
            (
                record["package"],
                record["files"],
                record["functions"],
                record["sliced"],
                kinds["crash"],
                kinds["hang"],
                len(record["diagnostics"]),
                round(record["items"] / count, 1),
                round(1000 * record["slice_seconds"] / count, 1),
                record["slowest"]["seconds"],
            )
        )
    total = ["all", *(sum(row[i] for row in rows) for i in range(1, 7)), "", "", ""]
    header = ("package", "files", "functions", "sliced", "crashes", "hangs", "diagnostics")
    return table((*header, "items each", "ms each", "slowest s"), [*rows, total])


@dataclass(frozen=True, slots=True)
class Check:
    """A subcommand: what it does with one package, how its records read, its usual sample."""

    run: Callable[[Job], dict[str, Any]]
    show: Callable[[Iterable[dict[str, Any]]], str]
    sample: int | None
    packages: Sequence[str] = corpus.NAMES


CHECKS: Final = {
    "any-repo": Check(any_repo, any_repo_table, None),
    "nothing-missing": Check(missing.nothing_missing, missing.show, None),
    "imports": Check(imports.imports, imports.show, 100, PURE),
    "idle": Check(idle.idle, idle.show, 30, PURE),
    "determinism": Check(
        determinism.determinism,
        determinism.show,
        None,
        ("humanize", "six", "toolz", "jaraco.functools", "flask"),
    ),
}


def run(job: Job) -> dict[str, Any]:
    """Look at one package; a check that itself fails is a finding too."""
    start = time.perf_counter()
    try:
        record = CHECKS[job.check].run(job)
    except Exception as error:  # noqa: BLE001 - reported with the package
        import traceback

        last = (str(error).strip().splitlines() or [""])[-1]
        record = {"broken": f"{type(error).__name__}: {last}", "trace": traceback.format_exc()}
    seconds = round(time.perf_counter() - start, 1)
    return {"package": job.package, "check": job.check, "seconds": seconds, **record}


def main() -> None:
    """The command line; see the module's docstring."""
    options = _parser().parse_args()
    check = CHECKS[options.check]
    packages = corpus.select(_listed(options.packages) or check.packages)
    store = Store(folder=options.results, check=options.check)
    stored = {} if options.fresh else store.records()
    done = {name: record for name, record in stored.items() if "broken" not in record}
    waiting = [package for package in packages if package.name not in done]
    try:
        folders = corpus.fetch(waiting, options.corpus)
    except corpus.Unreachable as error:
        raise SystemExit(f"the registry cannot be reached, or lacks a release: {error}") from None
    jobs = [
        Job(
            check=options.check,
            package=package.name,
            folder=folder,
            sample=options.sample if options.sample is not None else check.sample,
            seed=options.seed,
            limit=options.limit,
            ruff=shutil.which("ruff", path=str(Path(sys.executable).parent)) or "ruff",
            python=options.python,
        )
        for package, folder in zip(waiting, folders, strict=True)
    ]
    fresh = {}
    for record in _records(jobs, options.workers):
        store.append(record)
        fresh[record["package"]] = record
        note = record.get("broken") or f"{record['seconds']} s"
        print(f"{options.check}: {record['package']}: {note}", file=sys.stderr, flush=True)
    found = {**done, **fresh}
    ours = [found[package.name] for package in packages]
    whole = [record for record in ours if "broken" not in record]
    print(check.show(whole))
    broken = [record for record in ours if "broken" in record]
    for record in broken:
        print(f"\n{record['package']} could not be checked:\n{record['trace']}")
    if broken:
        raise SystemExit(3)


def _records(jobs: Sequence[Job], workers: int) -> Iterable[dict[str, Any]]:
    if workers == 1:
        yield from map(run, jobs)
        return
    from concurrent.futures import as_completed

    # A process a package: none inherits what another has in memory.
    with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        for future in as_completed([pool.submit(run, job) for job in jobs]):
            yield future.result()


def _listed(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--packages", default="", metavar="A,B")
    parser.add_argument("--sample", type=int, help="slices a package; 0 for all", metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="packages at a time")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a slice may take")
    parser.add_argument("--fresh", action="store_true", help="look again at what has a result")
    parser.add_argument("--corpus", type=Path, default=corpus.corpus_folder())
    parser.add_argument("--results", type=Path, default=corpus.corpus_folder() / "results")
    parser.add_argument(
        "--python", default=sys.executable, help="for imports: has the packages' dependencies"
    )
    return parser


if __name__ == "__main__":
    main()

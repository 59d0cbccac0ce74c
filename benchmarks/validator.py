"""What sandboxes and verdicts cost, in one run.

    python benchmarks/validator.py                     all parts, docs/validator.md
    python benchmarks/validator.py --parts start,warm --output -

* ``start``: a program that does nothing, in the sandbox and as a bare subprocess, by turns;
* ``warm``: a run of a harness in a warm sandbox, beyond what its tests take;
* ``mutants``: 200 mutants of a function of 22 lines, all processes on one core;
* ``many``: 1,000 harnesses in one go, and what is left of them: memory, descriptors,
  processes, files.

Wall-clock time; medians, unless it says otherwise. The load of the machine is told.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parent.parent
sys.path += [str(_ROOT / name) for name in ("callgraph", "slicer", "validator", "cli")]

from store import table  # noqa: E402

from depslice.callgraph import open_program  # noqa: E402
from depslice.validator.sandbox import Job, choose_sandbox, interpreter_folders  # noqa: E402
from depslice.validator.validation import (  # noqa: E402
    Accepted,
    Evidence,
    Gates,
    open_session,
    parse_harness,
    validate_all,
)

Row = tuple[str, object, object]

CLAMP: Final = """\
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
"""
HARNESS: Final = """\
TARGET = "small:clamp"
def test_clamp(candidate, reference):
    for x in (-1, 0, 5, 10, 11, 0.0):
        assert candidate(x, 0, 10) == reference(x, 0, 10)
    assert type(candidate(0.0, 0, 10)) is type(reference(0.0, 0, 10))
"""
_LINE: Final = """\
    if a < {0} or (b > {1} and c != {2}):
        total += a * {0} - b // {1}
"""
SCORE: Final = (
    "def score(a, b, c):\n    total = 0\n"
    + "".join(_LINE.format(n + 2, 2 * n + 1, n) for n in range(10))
    + "    return total\n"
)
SCORE_HARNESS: Final = """\
TARGET = "small:score"
def test_score(candidate, reference):
    for a in range(0, 14):
        for b in (0, 1, 5, 12, 21):
            for c in (0, 3, 9):
                assert candidate(a, b, c) == reference(a, b, c)
"""


def start(repeat: int) -> Iterator[Row]:
    """A program that does nothing, in the sandbox and without one."""
    sandbox, python = choose_sandbox(), sys.executable
    argv = (python, "-I", "-c", "pass")
    job = Job(argv=argv, readable=interpreter_folders(Path(python)))
    bare = [sys.executable, "-I", "-c", "pass"]
    inside, outside = [], []
    for _ in range(repeat):
        outside.append(_seconds(lambda: subprocess.run(bare, check=True)))
        inside.append(_seconds(lambda: sandbox.run(job)))
    ratio = statistics.median(inside) / statistics.median(outside)
    yield "bare subprocess, ms", 1000 * statistics.median(outside), ""
    yield "in the sandbox, ms", 1000 * statistics.median(inside), ""
    yield "ratio", ratio, "at most 3"


def warm(repeat: int) -> Iterator[Row]:
    """Runs on the original by one warm sandbox: each a fork that ends."""
    over: list[float] = []
    with _session(CLAMP, Gates(runs=3, mutants=0)) as session:
        harness = parse_harness(HARNESS, session.ground.program)
        for _ in range(repeat):
            evidence = _evidence(session.validate(harness))
            own = sum(test.seconds for test in evidence.tests)
            over += [run.seconds - own for run in evidence.runs]
    yield "over the tests' own time, ms", 1000 * statistics.median(over), "at most 50"
    yield "nine of ten runs, ms", 1000 * sorted(over)[int(len(over) * 0.9)], ""


def mutants(_repeat: int) -> Iterator[Row]:
    """200 mutants on one core, then what all of the session has computed, its start included."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        with _session(SCORE, Gates(runs=1, mutants=200)) as session:
            harness = parse_harness(SCORE_HARNESS, session.ground.program)
            evidence = _evidence(session.validate(harness))
            running = session._lasting._running  # noqa: SLF001 - it is nobody else's business
            running.finish()
            outcome = running.wait()
    finally:
        os.sched_setaffinity(0, before)
    assert evidence.mutants is not None
    yield "tested", evidence.mutants.tested, 200
    yield "killed", evidence.mutants.killed, ""
    yield "survived", len(evidence.mutants.survived), ""
    yield "seconds, with looking for equivalents", evidence.seconds["mutants"], "at most 10"
    yield "CPU seconds of all", outcome.cpu_seconds, ""


def many(_repeat: int) -> Iterator[Row]:
    """1,000 harnesses, no two alike; what is held after 100 and at the end."""
    number = 1000
    before = _held()
    early = before
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.py").write_text(CLAMP, encoding="utf-8")
        program = open_program(folder)
        harnesses = [
            parse_harness(f"{HARNESS}\n# {each}\n", program, name=f"h{each}.py")
            for each in range(number)
        ]
        accepted = 0
        began = time.perf_counter()
        verdicts = validate_all(
            program, harnesses, sandbox=choose_sandbox(), python=sys.executable, gates=Gates(runs=2)
        )
        for count, (_, verdict) in enumerate(verdicts, 1):
            accepted += isinstance(verdict, Accepted)
            if count == number // 10:
                early = _held()
        took = time.perf_counter() - began
    after = _held()
    yield "accepted", accepted, number
    yield "seconds for each", took / number, ""
    yield "memory after 100, MiB", early["memory"] / 2**20, ""
    yield "memory at the end, MiB", after["memory"] / 2**20, "no more than 20 above"
    for name in ("descriptors", "processes", "files"):
        yield f"{name} more than before", after[name] - before[name], 0


PARTS: Final[dict[str, Callable[[int], Iterator[Row]]]] = {
    "start": start,
    "warm": warm,
    "mutants": mutants,
    "many": many,
}


@contextmanager
def _session(source: str, gates: Gates) -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small.py").write_text(source, encoding="utf-8")
        program = open_program(folder)
        with open_session(
            program, sandbox=choose_sandbox(), python=sys.executable, gates=gates
        ) as session:
            yield session


def _evidence(verdict: Any) -> Evidence:
    evidence = getattr(verdict, "evidence", None)
    if not isinstance(evidence, Evidence):
        raise SystemExit(f"no evidence: {verdict}")
    return evidence


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _held() -> dict[str, int]:
    """What this process holds, and what stands in the folder for temporary files."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    own = f"depslice-{os.getuid()}"  # locks, which stay
    temporary = [name for name in os.listdir(tempfile.gettempdir()) if name != own]
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "processes": len(_descendants()),
        "files": len(temporary),
    }


def _descendants() -> list[int]:
    parents = {}
    for name in os.listdir("/proc"):
        try:
            stat = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
            parents[int(name)] = int(stat.rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    found, todo = [], [os.getpid()]
    while todo:
        own = [pid for pid, parent in parents.items() if parent == todo[-1]]
        todo.pop()
        found += own
        todo += own
    return found


def _page(rows: dict[str, list[Row]]) -> str:
    told = [
        "# What validation costs",
        "<!-- Written by benchmarks/validator.py; do not edit. -->",
        (
            f"CPython {platform.python_version()}, {os.cpu_count()} cores, of which "
            f"{os.getloadavg()[0]:.1f} were asked for (load of the last minute); sandbox "
            f"{choose_sandbox().name}. How it is measured is said at the top of "
            "`benchmarks/validator.py`, which wrote this page in one run."
        ),
    ]
    for name, part in rows.items():
        text = " ".join((PARTS[name].__doc__ or "").split())
        told += [f"## {name}", text, table(("", "measured", "wanted"), part)]
    return "\n\n".join(told) + "\n"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--output", default=str(_ROOT / "docs" / "validator.md"))
    options = parser.parse_args()
    # A folder of this run alone, so that what is left in it is ours.
    tempfile.tempdir = tempfile.mkdtemp()
    Path(tempfile.tempdir).chmod(0o755)
    rows: dict[str, list[Row]] = {}
    for name in options.parts.split(","):
        rows[name] = list(PARTS[name](options.repeat))
        print(table((name, "measured", "wanted"), rows[name]), flush=True)
    if options.output != "-":
        Path(options.output).write_text(_page(rows), encoding="utf-8")
    shutil.rmtree(tempfile.tempdir)


if __name__ == "__main__":
    main()

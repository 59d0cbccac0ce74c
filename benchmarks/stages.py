"""Where the time of a whole graph goes: its stages as multiples of ``ast.parse``.

    python benchmarks/stages.py click networkx django

prints, for each package of the corpus (or folder), the user CPU of ``ast.parse`` on all files,
of each stage of the graph with an empty cache and one worker, and the modules of depslice in
which most of it is spent, by samples of the CPU clock. Sampling costs a few per cent.
"""

from __future__ import annotations

import ast
import contextlib
import resource
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.append(str(_ROOT / "callgraph"))  # from a source tree where nothing is installed

import corpus  # noqa: E402
from store import table  # noqa: E402

from depslice.callgraph import build_graph, open_program  # noqa: E402

_STAGES: Final = {
    "Program.load_all": "read and lower",
    "Engine.run": "evaluate",
    "Collected.add": "references",
    "Collected.pack": "references",
    "Collected.references": "references",
    "ReferenceGraph.__init__": "graph",
}
_STEP: Final = 0.005  # seconds of CPU between samples
_MOST: Final = 8


class Samples:
    """Samples of a running process, by stage and by module."""

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.modules: Counter[str] = Counter()

    def take(self, _signal: int, frame: FrameType | None) -> None:
        """One sample: the innermost module of depslice, and the stage it belongs to."""
        module = stage = ""
        while frame is not None:
            name = frame.f_globals.get("__name__", "")
            if not module and name.startswith("depslice."):
                module = name.removeprefix("depslice.callgraph.")
            stage = _STAGES.get(frame.f_code.co_qualname, stage)
            frame = frame.f_back
        self.modules[module or "other"] += 1
        self.stages[stage or "other"] += 1


def measure(folder: Path) -> tuple[float, float, Samples]:
    """Seconds of user CPU for parsing and for the graph, and what the latter did."""
    started = _cpu()
    for path in folder.rglob("*.py"):
        with warnings.catch_warnings(), contextlib.suppress(SyntaxError, ValueError):
            warnings.simplefilter("ignore")
            ast.parse(path.read_bytes())
    parsed = _cpu() - started
    samples = Samples()
    signal.signal(signal.SIGPROF, samples.take)
    signal.setitimer(signal.ITIMER_PROF, _STEP, _STEP)
    started = _cpu()
    build_graph(open_program(folder, cache=None), workers=1)
    spent = _cpu() - started
    signal.setitimer(signal.ITIMER_PROF, 0)
    return parsed, spent, samples


def _cpu() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main() -> None:
    """Print the tables."""
    rows: list[list[Any]] = []
    modules: dict[str, Samples] = {}
    stages = list(dict.fromkeys(_STAGES.values()))
    names = sys.argv[1:] or ["click", "networkx", "django"]
    wanted = corpus.select(name for name in names if not Path(name).is_dir())
    folders = corpus.fetch(wanted, corpus.corpus_folder())
    fetched = {each.name: folder for each, folder in zip(wanted, folders, strict=True)}
    for name in names:
        folder = Path(name) if Path(name).is_dir() else fetched[name]
        parsed, spent, samples = measure(folder)
        ratio = spent / parsed
        every = samples.stages.total()
        shares = [samples.stages[stage] / every for stage in stages]
        rest = 1 - sum(shares)
        rows.append([folder.name, ratio, *(ratio * share for share in (*shares, rest))])
        modules[folder.name] = samples
    print(table(["package", "all", *stages, "other"], [_rounded(row) for row in rows]))
    for name, samples in modules.items():
        every = samples.modules.total()
        shares_of = (f"{m} {n / every:.0%}" for m, n in samples.modules.most_common(_MOST))
        print(f"\n{name}: {', '.join(shares_of)}")


def _rounded(row: list[Any]) -> list[str]:
    return [f"{each:.1f}" if isinstance(each, float) else str(each) for each in row]


if __name__ == "__main__":
    main()

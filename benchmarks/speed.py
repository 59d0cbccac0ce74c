"""How fast, and with how much memory: depslice, ``ast.parse`` and PyCG on the same files.

    python benchmarks/speed.py                          all five packages, docs/benchmarks.md
    python benchmarks/speed.py --packages click,flask --repeat 5 --output -

For each package, each in a process of its own, the median of ``--repeat`` runs:

* ``parse``: :func:`ast.parse` of every file, read from disk: the physical limit;
* ``graph``: the reference graph of the whole package, with one worker, cache empty;
* ``cold slice``: one function's slice, rendered as a tree, cache empty;
* ``warm slice``: the same again, with the cache that the graph has filled;
* ``pycg``: PyCG 0.0.8, one pass, through depslice's adapter, where it ends in time
  (``--pycg PYTHON`` names an interpreter that has it; without one the column is empty);
* ``compiled``: graph and cold slice by the wheel that ``--compiled`` names, whose engine mypyc
  has compiled (``DEPSLICE_COMPILE=1 uv build --wheel``).

Times are user CPU of the work alone, interpreter start left out, except for ``warm wall``:
the whole command on the clock, next to ``python -c pass`` on the same clock.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parent.parent
_SOURCES: Final = [str(_ROOT / component) for component in ("callgraph", "slicer", "cli")]
sys.path += _SOURCES  # from a source tree where nothing is installed

import corpus  # noqa: E402
from store import Store, table  # noqa: E402

TARGETS: Final = {
    "click": "click.core:Command.main",
    "flask": "flask.app:Flask.full_dispatch_request",
    "networkx": "networkx.algorithms.shortest_paths.weighted:dijkstra_path",
    "django": "django.utils.text:slugify",
    "sympy": "sympy.simplify.simplify:simplify",
}
"""The packages, by size, and the function that is sliced in each."""

_COMMAND: Final = "from depslice.cli.main import main; main()"


# --- the work, in a child process


def parse(folder: Path, _target: str, _pycg: str) -> dict[str, Any]:
    """Read and parse every file of the package."""
    import ast
    import warnings

    from depslice.callgraph.project import find_project, read_file

    project = find_project(folder)
    warnings.simplefilter("ignore")
    lines = 0
    with _measured() as figures:
        for file in project.files:
            data = read_file(project, file)
            lines += data.count(b"\n")
            try:
                ast.parse(data)
            except (SyntaxError, ValueError, RecursionError):
                continue
    return {**figures, "files": len(project.files), "lines": lines}


def graph(folder: Path, _target: str, _pycg: str) -> dict[str, Any]:
    """Build the whole reference graph."""
    from depslice.callgraph import build_graph, open_program

    with _measured() as figures:
        build_graph(open_program(folder), workers=1)
    return dict(figures)


def slice_one(folder: Path, target: str, _pycg: str) -> dict[str, Any]:
    """Slice one function and render it."""
    from depslice.callgraph import open_program
    from depslice.slicer import render, slice_symbols

    with _measured() as figures:
        program = open_program(folder)
        context = render(program, slice_symbols(program, [target]))
    return {**figures, "rendered": len(context.files)}


def pycg(folder: Path, _target: str, python: str) -> dict[str, Any]:
    """Run PyCG through the adapter; ``figures`` count its process."""
    from depslice.callgraph import open_program
    from depslice.callgraph.errors import DepsliceError
    from depslice.callgraph.resolvers.protocol import ResolveRequest, ResolverFile
    from depslice.callgraph.resolvers.pycg_resolver import PycgResolver

    program = open_program(folder, cache=None)
    request = ResolveRequest(
        root=folder,
        files=tuple(
            ResolverFile(
                path=module.file.path,
                module=module.name,
                is_package=module.is_package,
                source_root=module.file.source_root,
                text=program.text(module),
            )
            for module in program.load_all(workers=1)
        ),
        symbols=(),
        call_sites=(),
        options={"pycg.python": python, "pycg.timeout": os.environ["DEPSLICE_PYCG_SECONDS"]},
    )
    with _measured(children=True) as figures:
        try:
            PycgResolver().resolve(request)
        except DepsliceError as error:
            return {"unfinished": error.message}
    return dict(figures)


class _measured:  # noqa: N801 - reads as a verb in `with`
    """User CPU seconds of the block and peak memory of the process so far, in MiB."""

    def __init__(self, *, children: bool = False) -> None:
        import resource

        self._who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
        self._usage = resource.getrusage
        self.figures: dict[str, float] = {}

    def __enter__(self) -> dict[str, float]:
        self._start = self._usage(self._who).ru_utime
        return self.figures

    def __exit__(self, *_error: object) -> None:
        usage = self._usage(self._who)
        # Linux counts kibibytes, macOS bytes.
        unit = 2**20 if sys.platform == "darwin" else 2**10
        self.figures["user"] = usage.ru_utime - self._start
        self.figures["peak"] = usage.ru_maxrss / unit


WORK: Final[Mapping[str, Callable[[Path, str, str], dict[str, Any]]]] = {
    "parse": parse,
    "graph": graph,
    "slice": slice_one,
    "pycg": pycg,
}


# --- the measuring, in the parent


class Failed(Exception):
    """A child process failed; the message says which, and the end of what it wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    """A package under measurement."""

    folder: Path
    target: str
    repeat: int
    pycg: str
    limit: float
    compiled: Path | None
    """The folder of a compiled depslice."""

    def measure(self) -> dict[str, Any]:
        """All figures of the package."""
        found: dict[str, Any] = {"target": self.target}
        with tempfile.TemporaryDirectory(prefix="depslice-speed-") as scratch:
            cold = [Path(scratch) / str(n) for n in range(2 * self.repeat)]
            found["parse"] = self._median("parse", cold[:1] * self.repeat)
            found["graph"] = self._median("graph", cold[: self.repeat])
            found["cold"] = self._median("slice", cold[self.repeat :])
            found["warm"] = self._median("slice", cold[:1] * self.repeat)
            found["wall"] = self._wall(self._command(), cold[0])
            found["start"] = self._wall([sys.executable, "-c", "pass"], cold[0])
            if self.compiled:
                fresh = [Path(scratch) / f"compiled-{n}" for n in range(2 * self.repeat)]
                graphs, slices = fresh[: self.repeat], fresh[self.repeat :]
                found["graph, compiled"] = self._median("graph", graphs, self.compiled)
                found["cold, compiled"] = self._median("slice", slices, self.compiled)
            if self.pycg:
                found["pycg"] = self._child("pycg", cold[0])
        return found

    def _median(
        self, work: str, caches: list[Path], depslice: Path | None = None
    ) -> dict[str, Any]:
        runs = [self._child(work, cache, depslice) for cache in caches]
        return {
            key: statistics.median(run[key] for run in runs) if isinstance(value, float) else value
            for key, value in runs[0].items()
        }

    def _child(self, work: str, cache: Path, depslice: Path | None = None) -> dict[str, Any]:
        command = [sys.executable, __file__, "--child", work, str(self.folder), self.target]
        done = subprocess.run(
            [*command, self.pycg],
            env=self._environment(cache, depslice),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failed(f"{work} of {self.folder.name} failed:\n{done.stderr[-2000:]}")
        figures: dict[str, Any] = json.loads(done.stdout)
        return figures

    def _command(self) -> list[str]:
        return [sys.executable, "-c", _COMMAND, "slice", str(self.folder), self.target]

    def _wall(self, command: list[str], cache: Path) -> float:
        """The median seconds of a whole command; of more runs, as the clock is noisier."""
        seconds = []
        for _ in range(2 * self.repeat + 1):
            start = time.perf_counter()
            done = subprocess.run(
                command, env=self._environment(cache), capture_output=True, text=True, check=False
            )
            seconds.append(time.perf_counter() - start)
            if done.returncode:
                raise Failed(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
        return statistics.median(seconds)

    def _environment(self, cache: Path, depslice: Path | None = None) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(depslice) if depslice else os.pathsep.join(_SOURCES),
            "PYTHONHASHSEED": "0",
            "XDG_CACHE_HOME": str(cache),
            "DEPSLICE_PYCG_SECONDS": f"{self.limit:g}",
        }


_INTRODUCTION: Final = """\
{python}, {cores} cores, of which one is used. Each figure is the median of {repeat} run{s}, each
in a process of its own. What is measured, and how, is said at the top of
`benchmarks/speed.py`, which wrote this page in one run."""

_TIME: Final = """\
User CPU as a multiple of `ast.parse` of all files of the package. *Warm command* is the wall
time of `depslice slice REPO TARGET` as a multiple of that of `python -c pass`. *Compiled* is the
wheel whose engine mypyc has compiled (`DEPSLICE_COMPILE=1 uv build --wheel`)."""

_TIMED: Final = ("graph", "cold", "warm", "graph, compiled", "cold, compiled")


def report(records: list[dict[str, Any]], repeat: int) -> str:
    """The page ``docs/benchmarks.md``: ratios, so that they hold on another machine."""
    times = []
    memory = []
    for record in records:
        base = record["parse"]["user"]
        lines = record["parse"]["lines"]
        times.append(
            (
                record["package"],
                f"{lines:,}",
                *(_ratio(record, work, base) for work in _TIMED),
                f"{record['wall'] / record['start']:.1f}",
                "yes" if record["wall"] <= 1 else f"no: {record['wall']:.2f} s",
                _pycg_cell(record, base),
            )
        )
        works = ("parse", "graph", "cold", "warm")
        memory.append(
            (
                record["package"],
                f"{lines:,}",
                *(f"{record[work]['peak']:.0f}" for work in works),
                f"{record['graph']['peak'] * 10_000 / lines:.1f}",
            )
        )
    python = f"{platform.python_implementation()} {platform.python_version()}"
    header = ("package", "lines", "graph", "cold slice", "warm slice")
    compiled = ("graph, compiled", "cold slice, compiled")
    return "\n".join(
        [
            "# Benchmarks",
            "",
            "<!-- Written by benchmarks/speed.py; do not edit. -->",
            "",
            _INTRODUCTION.format(
                python=python, cores=os.cpu_count(), repeat=repeat, s="s" if repeat > 1 else ""
            ),
            "",
            "## Time",
            "",
            _TIME,
            "",
            table((*header, *compiled, "warm command", "within 1 s", "PyCG"), times),
            "",
            "## Memory",
            "",
            "Peak, MiB. The last column is what the whole graph takes per 10,000 lines.",
            "",
            table((*header[:2], "parse", *header[2:], "graph / 10k lines"), memory),
            "",
            "## What was sliced",
            "",
            *(f"- {record['package']}: `{record['target']}`" for record in records),
            "",
        ]
    )


def _ratio(record: dict[str, Any], work: str, base: float) -> str:
    return f"{record[work]['user'] / base:.2f}" if work in record else "not run"


def _pycg_cell(record: dict[str, Any], base: float) -> str:
    found = record.get("pycg")
    if found is None:
        return "not run"
    return found.get("unfinished") or f"{found['user'] / base:.1f}"


def main() -> None:
    """The command line; see the module's docstring."""
    options = _parser().parse_args()
    if options.child:
        work, folder, target, python = options.child
        print(json.dumps(WORK[work](Path(folder), target, python)))
        return
    names = [name for name in options.packages.split(",") if name] or list(TARGETS)
    if unknown := set(names) - set(TARGETS):
        raise SystemExit(f"no target is chosen for: {', '.join(sorted(unknown))}")
    store = Store(folder=options.results, check="speed")
    records: list[dict[str, Any]] = []
    failed: list[str] = []
    try:
        folders = {name: corpus.fetch(corpus.select([name]), options.corpus)[0] for name in names}
    except corpus.Unreachable as error:
        raise SystemExit(f"the registry cannot be reached, or lacks a release: {error}") from None
    compiled = _unpacked(options.compiled)
    for name, folder in folders.items():
        bench = _Bench(
            folder=folder,
            target=TARGETS[name],
            repeat=options.repeat,
            pycg=options.pycg,
            limit=options.pycg_limit,
            compiled=compiled and Path(compiled.name),
        )
        try:
            record = {"package": name, **bench.measure()}
        except Failed as error:
            failed.append(str(error))
            continue
        store.append(record)
        records.append(record)
        print(json.dumps(record), file=sys.stderr, flush=True)
    page = report(records, options.repeat)
    print(page)
    if failed:
        # A page without them would look as if all were well.
        raise SystemExit("\n".join(["no page is written:", *failed]))
    if options.output != "-":
        Path(options.output).write_text(page, encoding="utf-8")


def _unpacked(wheel: Path | None) -> tempfile.TemporaryDirectory[str] | None:
    if wheel is None:
        return None
    folder = tempfile.TemporaryDirectory(prefix="depslice-compiled-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder.name)
    return folder


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--packages", default="", metavar="A,B")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    parser.add_argument("--pycg", default=os.environ.get("DEPSLICE_PYCG_PYTHON", ""), metavar="PY")
    parser.add_argument("--pycg-limit", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--compiled", type=Path, metavar="WHEEL")
    parser.add_argument("--corpus", type=Path, default=corpus.corpus_folder())
    parser.add_argument("--results", type=Path, default=corpus.corpus_folder() / "results")
    parser.add_argument("--output", default=str(_ROOT / "docs" / "benchmarks.md"), metavar="FILE")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()

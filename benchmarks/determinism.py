"""The check ``determinism``: the same bytes, whatever the hash seed, the workers, the cache.

Each run is a process of its own that slices every function and renders it (``tree``,
``module``, ``json``); it prints a digest a slice.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from store import table

if TYPE_CHECKING:
    from checks import Job

_FORMATS: Final = ("tree", "module", "json")
_ROOT: Final = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class _Run:
    """One way to run; ``cached`` ones share a cache, so the second of them is warm."""

    name: str
    seed: str
    workers: int
    cached: bool


_RUNS: Final = (
    _Run("seed 0, one worker", "0", 1, cached=False),
    _Run("another seed", "4242", 1, cached=False),
    _Run("two workers", "1", 2, cached=False),
    _Run("cold cache", "2", 1, cached=True),
    _Run("warm cache", "3", 2, cached=True),
)


def determinism(job: Job) -> dict[str, Any]:
    """Run all ways and compare with the first."""
    with tempfile.TemporaryDirectory(prefix="depslice-cache-") as cache:
        outputs = [_output(run, job, cache) for run in _RUNS]
    first = outputs[0]
    return {
        "slices": len(first),
        "digest": hashlib.sha256("\n".join(first).encode()).hexdigest(),
        "different": {
            run.name: _difference(first, output)
            for run, output in zip(_RUNS[1:], outputs[1:], strict=True)
        },
    }


def _difference(first: list[str], other: list[str]) -> list[str]:
    if len(first) != len(other):
        return [f"{len(first)} slices, then {len(other)}"]
    return [line for line, its in zip(first, other, strict=True) if line != its]


def _output(run: _Run, job: Job, cache: str) -> list[str]:
    sources = [str(_ROOT / part) for part in ("callgraph", "slicer", "cli")]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": run.seed,
        "PYTHONPATH": os.pathsep.join(sources),
        "XDG_CACHE_HOME": cache,
    }
    command = [sys.executable, __file__, str(job.folder), str(run.workers), str(int(run.cached))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{run.name}: {done.stderr.strip()[-1000:]}")
    return done.stdout.splitlines()


def print_digests(folder: str, *, workers: int, cached: bool) -> None:
    """The child: one line a slice, its target and a digest of its renderings."""
    from depslice.callgraph import open_program
    from depslice.slicer import render, slice_all

    program = open_program(folder, cache="auto" if cached else None)
    for sliced in slice_all(program, workers=workers):
        digest = hashlib.sha256()
        for form in _FORMATS:
            try:
                digest.update(render(program, sliced, format=form).digest.encode())
            except Exception as error:  # noqa: BLE001 - nothing-missing reports it
                digest.update(f"{form}: {error!r}".encode())
        print(sliced.targets[0], digest.hexdigest())


def show(records: Iterable[dict[str, Any]]) -> str:
    """A row a package: how many slices differ from those of the first run."""
    names = [run.name for run in _RUNS[1:]]
    rows: list[tuple[object, ...]] = []
    examples = []
    for record in records:
        different = record["different"]
        counts = [len(different[name]) for name in names]
        rows.append((record["package"], record["slices"], *counts, record["digest"][:16]))
        for name in names:
            examples += [
                f"  {record['package']} {name}: {line.split()[0]}" for line in different[name][:3]
            ]
    header = ("package", "slices", *(f"differ: {name}" for name in names), "digest")
    return "\n".join([table(header, rows), *examples])


if __name__ == "__main__":
    print_digests(sys.argv[1], workers=int(sys.argv[2]), cached=sys.argv[3] == "1")

"""How fast ``depslice serve`` answers: the time a real client waits, warm, on a large repository.

    python benchmarks/serving.py                         # django, 150,000 lines
    python benchmarks/serving.py --touch                 # a file changes before each question
    python benchmarks/serving.py REPO --questions 300 --transport http

A server of its own is started and asked by the SDK's client: each question once to warm it
(not counted), then other functions, drawn with a fixed seed; no question is asked twice, so
that no answer is one remembered. Server time is what the server spends from taking the
message to sending the answer; the wall time of the client is an upper bound of it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import copytree

from mcp import StdioServerParameters
from mcp.client import Client

_ROOT = Path(__file__).parents[1]
_SOURCES = [str(_ROOT / part) for part in ("callgraph", "slicer", "server", "cli")]
_CORPUS = Path(os.environ.get("DEPSLICE_CORPUS", "~/.cache/depslice-corpus")).expanduser()
_WARMING = 30
_SEED = 20


def main() -> int:
    """Print the table; 1 when a median is over the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repo", nargs="?", type=Path, default=_CORPUS / "django")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    parser.add_argument("--touch", action="store_true", help="change a file before each question")
    parser.add_argument("--limit", type=float, default=200.0, help="milliseconds at the median")
    parser.add_argument("--verbose", action="store_true", help="say each question's time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        repo = options.repo
        if options.touch:  # never the corpus itself
            repo = Path(copytree(repo, Path(folder) / repo.name, symlinks=True))
        times = asyncio.run(_measure(repo, options))
    failed = False
    print(f"{repo.name}, {options.transport}, milliseconds: median, 75 %, 90 %, largest")
    for tool, seconds in times.items():
        median = _quantile(seconds, 0.5)
        row = [median, _quantile(seconds, 0.75), _quantile(seconds, 0.9), max(seconds)]
        print(f"  {tool:16} {len(seconds):4}  " + "  ".join(f"{1000 * v:8.1f}" for v in row))
        failed |= 1000 * median > options.limit
    print("over the limit" if failed else f"each median within {options.limit:.0f} ms")
    return int(failed)


def _quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return statistics.median(ordered) if part == 0.5 else ordered[int(part * (len(ordered) - 1))]


async def _measure(repo: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    targets = _functions(repo)
    random.Random(_SEED).shuffle(targets)  # noqa: S311 - a sample, not a secret
    times: dict[str, list[float]] = {}
    async with _served(repo, options.transport) as client:
        for number, target in enumerate(targets[: _WARMING + options.questions]):
            for tool, arguments in (
                ("find_symbol", {"query": target}),
                ("slice_function", {"target": target}),
                ("explain_slice", {"target": target, "symbol": target}),
                ("slice_stats", {"target": target}),
            ):
                if options.touch and tool == "slice_function":
                    changed = repo / target.path
                    changed.write_bytes(changed.read_bytes() + b"\n# changed\n")
                started = time.perf_counter()
                result = await client.call_tool(
                    tool, {key: str(value) for key, value in arguments.items()}
                )
                seconds = time.perf_counter() - started
                if result.is_error:
                    raise SystemExit(f"{tool} {target}: {result.content}")
                if options.verbose:
                    print(f"{seconds:.3f} {tool} {target}", file=sys.stderr)
                if number >= _WARMING:
                    times.setdefault(tool, []).append(seconds)
    return times


class _Target(str):
    __slots__ = ("path",)
    path: str


def _functions(repo: Path) -> list[_Target]:
    from depslice.callgraph import list_functions, open_program

    found: list[_Target] = []
    for symbol in list_functions(open_program(repo)):
        if "<" not in symbol.id:
            target = _Target(symbol.id)
            target.path = symbol.path
            found.append(target)
    return found


@asynccontextmanager
async def _served(repo: Path, transport: str) -> AsyncIterator[Client]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_SOURCES)}
    arguments = ["-m", "depslice.cli", "serve", str(repo)]
    if transport == "stdio":
        started = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        async with Client(started) as client:
            yield client
        return
    process = subprocess.Popen(  # noqa: ASYNC220 - nothing else is waiting yet
        [sys.executable, *arguments, "--transport", "http", "--port", "0"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        found = next(m for m in (re.search(r"http://\S+", li) for li in process.stderr) if m)
        async with Client(found[0]) as client:
            yield client
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    sys.path[:0] = _SOURCES
    raise SystemExit(main())

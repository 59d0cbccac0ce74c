"""What has become of slices: the same functions sliced by two versions of depslice.

    python benchmarks/slice_changes.py BEFORE [PACKAGE ...] [--count 200] [--seed 0] [--page PAGE]

``BEFORE`` is a checkout of another version; this checkout is the later one. Functions are
drawn over the packages of the corpus (``corpus.py``), as many from each; each version
slices all of them, in a process of its own. Prints, or writes to ``PAGE``, how many item
sets are the same, smaller, larger, or changed in both ways, and which differ most.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from corpus import corpus_folder, select
from slicing import open_package, sample_of

_REPO: Final = Path(__file__).resolve().parent.parent
_COMPONENTS: Final = ("callgraph", "slicer")
_PACKAGES: Final = (
    "attrs", "boltons", "click", "flask", "humanize", "jinja2", "lark", "marshmallow",
    "more-itertools", "pydantic", "pygments", "requests", "rich", "scrapy", "toolz", "tornado",
    "tqdm", "werkzeug", "httpx", "beautifulsoup4",
)  # fmt: skip
_SHOWN: Final = 20

# What a child runs: it knows only what both versions have.
_CHILD: Final = """
import json, sys
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols
for root, targets in json.load(sys.stdin):
    program = open_program(root, cache=None)
    for target in targets:
        try:
            items = sorted(each.symbol.id for each in slice_symbols(program, [target]).items)
        except Exception as error:
            items = [f"{type(error).__name__}: {error}"]
        print(json.dumps([root, target, items]), flush=True)
"""

Slices = dict[tuple[str, str], frozenset[str]]


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=_PACKAGES)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    orders = list(_orders(options.packages, options.count, options.seed))
    before, now = (_sliced(version, orders) for version in (options.before, _REPO))
    text = "\n".join(_report(before, now)) + "\n"
    if options.page is None:
        print(text, end="")
    else:
        options.page.write_text(text, encoding="utf-8")


def _orders(packages: Sequence[str], count: int, seed: int) -> Iterator[tuple[str, list[str]]]:
    """Roots with the functions to slice there: drawn with ``seed``, as many from each."""
    chosen = select(sorted(packages))
    for number, package in enumerate(chosen):
        share = count // len(chosen) + (number < count % len(chosen))
        root = corpus_folder() / package.name
        functions = open_package(root).functions
        yield str(root), sorted(sample_of(functions, share, seed=seed))


def _sliced(version: Path, orders: Sequence[tuple[str, list[str]]]) -> Slices:
    path = os.pathsep.join(str(version / component) for component in _COMPONENTS)
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(orders),
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers = (json.loads(line) for line in ended.stdout.splitlines())
    return {(root, target): frozenset(items) for root, target, items in answers}


def _change(before: frozenset[str], now: frozenset[str]) -> str:
    if before == now:
        return "the same items"
    if now < before:
        return "smaller: a subset"
    if before < now:
        return "larger: a superset"
    return "some items for others"


def _report(before: Slices, now: Slices) -> Iterator[str]:
    both = sorted(before.keys() & now.keys())
    changes = {key: _change(before[key], now[key]) for key in both}
    yield f"{len(both)} slices, {sum(len(before[k]) for k in both):,} items before,"
    yield f"{sum(len(now[k]) for k in both):,} now."
    yield ""
    yield "| items now | slices | items gone | items new |"
    yield "|---|---|---|---|"
    kinds = "the same items", "smaller: a subset", "larger: a superset", "some items for others"
    for kind in kinds:
        keys = [key for key in both if changes[key] == kind]
        gone = sum(len(before[key] - now[key]) for key in keys)
        new = sum(len(now[key] - before[key]) for key in keys)
        yield f"| {kind} | {len(keys)} | {gone} | {new} |"
    differing = [key for key in both if before[key] != now[key]]
    differing.sort(key=lambda key: (-len(before[key] ^ now[key]), key))
    if differing:
        yield ""
        yield "| package | function | items before | gone | new |"
        yield "|---|---|---|---|---|"
    for root, target in differing[:_SHOWN]:
        old, new_items = before[root, target], now[root, target]
        gone, new = sorted(old - new_items), sorted(new_items - old)
        yield f"| {Path(root).name} | `{target}` | {len(old)} | {_few(gone)} | {_few(new)} |"


def _few(items: Sequence[str]) -> str:
    names = ", ".join(f"`{item}`" for item in items[:3])
    return f"{len(items)}: {names}" if items else ""


if __name__ == "__main__":
    main()

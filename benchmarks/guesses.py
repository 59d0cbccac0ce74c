"""How many guesses in a row a slice has to follow, by execution.

    python benchmarks/guesses.py [PACKAGE ...] [--each N] [--python PYTHON3.12+]

Takes packages with test suites (``MORE`` in ``callgraph/packages.py``), a sample of the functions that their
tests execute, records real calls, and replays them on the slices that follow no guess, one, two in
a row, and all there are. **This runs the packages' code.** Writes ``docs/guesses.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Final

sys.path.insert(0, str(Path(__file__).parent / "callgraph"))

from packages import select
from recording import REPO, Failed, traces_folder
from recording import record as trace_tests
from replayed import replaying

from depslice.slicer import render, slice_symbols

_PACKAGES: Final = (
    *("anytree", "cachetools", "dominate", "flask", "funcy", "glom", "h11", "lark", "parse"),
    *("pluggy", "pyflakes", "transitions", "webob"),
)
_GUESSES: Final = (0, 1, 2, None)
_SEED: Final = 54
_PAGE: Final = REPO / "docs" / "guesses.md"

_Row = list[tuple[bool, int, int]]
"""Of a function, by how many guesses are followed: whether the slice passes, items, tokens."""


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=list(_PACKAGES))
    parser.add_argument("--each", type=int, default=8, metavar="N")
    parser.add_argument("--python", default=sys.executable, help="runs the tests: 3.12 or newer")
    parser.add_argument("--folder", type=Path, default=traces_folder())
    parser.add_argument("--page", type=Path, default=_PAGE)
    options = parser.parse_args()
    rows: dict[str, list[_Row]] = {}
    for package in select(options.packages, more=True):
        try:
            _, trace = trace_tests(package, folder=options.folder, python=options.python)
        except Failed as error:
            print(f"{package.name}: {error}", file=sys.stderr)
            continue
        name = f"{package.name} {package.version}"
        rows[name] = list(_rows(options.folder / package.name, trace, options.each))
        print(name, *map(_told, _columns(rows[name])), flush=True)
        options.page.write_text("\n".join(_page(rows)) + "\n", encoding="utf-8")


def _rows(home: Path, trace: Path, each: int) -> Iterator[_Row]:
    with replaying(home, trace, each, seed=_SEED) as (program, check, targets):
        done = 0
        for target in targets:
            if done == each or not check.expected([target]):
                continue
            row: _Row = []
            for guesses in _GUESSES:
                found = slice_symbols(program, [target], guesses=guesses)
                report = check.of(found)
                if report.passes and not report.proven:
                    break  # its arguments cannot be made again: nothing was compared
                tokens = render(program, found, format="tree").tokens
                row.append((report.passes, len(found.items), tokens))
            if len(row) == len(_GUESSES):
                done += 1
                yield row


def _columns(rows: Sequence[_Row]) -> Iterator[_Row]:
    for index in range(len(_GUESSES)):
        yield [row[index] for row in rows]


def _told(column: _Row) -> str:
    if not column:
        return "none"
    passed = sum(passes for passes, _, _ in column)
    tokens = mean(tokens for _, _, tokens in column)
    return f"{passed}/{len(column)}, {tokens:,.0f}"


def _page(rows: dict[str, list[_Row]]) -> Iterator[str]:
    yield "# Guesses in a row"
    yield ""
    yield (
        "Written by `python benchmarks/guesses.py`. Of a sample of the functions that test suites"
        " execute, real calls, recorded once, are replayed on the slice alone"
        " ([how](execution.md)). By how many guesses in a row are followed: slices that give what"
        " the original gives, and their mean size (tokens: characters / 4)."
    )
    yield ""
    names = ["any" if guesses is None else str(guesses) for guesses in _GUESSES]
    yield f"| `--guesses` | {' | '.join(names)} |"
    yield "|---|" + "---|" * len(names)
    everything = [row for own in rows.values() for row in own]
    for name, own in [*sorted(rows.items()), ("all", everything)]:
        yield f"| {name} | {' | '.join(map(_told, _columns(own)))} |"


if __name__ == "__main__":
    main()

"""Whether slices run and give what the original gives, and how far they are from minimal.

    python benchmarks/execution.py [PACKAGE ...] [--each N] [--python PYTHON3.12+]

Takes packages with test suites (``callgraph/packages.py``), a sample of the functions that
their tests execute, records real calls, and replays them on each slice. **This runs the
packages' code.** Sizes are tokens (characters / 4) of the ``tree`` rendering, beside the
*pruned minimum*: what a greedy pruner leaves, which takes definitions out, the farthest
first, as long as the replay still passes. Rows are kept in ``execution.jsonl`` in the
folder of ``callgraph/recording.py``; ``--fresh`` measures again. Writes
``docs/execution.md``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "callgraph")]

from idle import _statements_of
from packages import select
from recording import REPO, Failed, record as trace_tests, traces_folder

from depslice.callgraph import Program, open_program
from depslice.slicer import Item, Slice, function_symbols, render, slice_symbols
from depslice.slicer.tokens import count_tokens
from depslice.validator import Check, Limits, ProcessRunner, open_workspace, record, repair

_PACKAGES: Final = ("click", "boltons", "more-itertools", "toolz", "attrs", "humanize")
_SEED: Final = 2026
_SPARE: Final = 3  # so many times more are sampled: not all calls can be recorded
_PAGE: Final = REPO / "docs" / "execution.md"


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", default=list(_PACKAGES))
    parser.add_argument("--each", type=int, default=8, metavar="N")
    parser.add_argument("--python", default=sys.executable, help="runs the tests: 3.12 or newer")
    parser.add_argument("--folder", type=Path, default=traces_folder())
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--page", type=Path, default=_PAGE)
    options = parser.parse_args()
    kept = options.folder / "execution.jsonl"
    rows = [] if options.fresh or not kept.exists() else _read(kept)
    for package in select(options.packages):
        if any(row["package"] == package.name for row in rows):
            continue
        try:
            _, trace = trace_tests(package, folder=options.folder, python=options.python)
        except Failed as error:
            print(f"{package.name}: {error}", file=sys.stderr)
            continue
        home = options.folder / package.name
        for row in _package(home, package.name, trace, options.each):
            rows.append({"package": package.name, "version": package.version, **row})
            print(json.dumps(rows[-1]), flush=True)
        kept.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options.page.write_text("\n".join(_page(rows)) + "\n", encoding="utf-8")
    print(options.page)


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _package(home: Path, name: str, trace: Path, each: int) -> Iterator[dict[str, Any]]:
    program = open_program(home / "source", cache=None)
    executed = set(json.loads(trace.read_text(encoding="utf-8"))["executed"])
    known = sorted(s.id for s in function_symbols(program) if s.id in executed)
    targets = random.Random(_SEED).sample(known, min(each * _SPARE, len(known)))
    with open_workspace(
        program.project,
        python=str(home / "environment" / "bin" / "python"),
        runner=ProcessRunner(),
        limits=Limits(seconds=120),
    ) as space:
        check = Check(space, program, record(space, program, targets))
        done = 0
        for target in targets:
            if done < each and check.expected([target]):
                row = _measured(program, check, target)
                if row is not None:
                    done += 1
                    yield row


def _measured(program: Program, check: Check, target: str) -> dict[str, Any] | None:
    found = slice_symbols(program, [target])
    report = check.of(found)
    if report.passes and not report.proven:
        return None  # its arguments cannot be made again: nothing was compared
    row: dict[str, Any] = {
        "target": target,
        "calls": report.steady,
        "passes": report.passes,
        "tokens": _tokens(program, found),
    }
    if not report.passes:
        first = next(iter(report.differences), None)
        row["difference"] = first.sliced[:300] if first else str(report.import_errors)
        found, report = repair(check, found)
        row["observed"] = [each.symbol for each in report.observed]
    row["passes_repaired"] = report.passes
    row["idle"] = len(report.never_executed)
    if report.passes:
        for column, closed in (("pruned", False), ("pruned_closed", True)):
            least, removed = _pruned(check, found, closed=closed)
            row[column] = _tokens(program, least)
            row["removed_" + column] = removed
    file = program.files[target.partition(":")[0]]
    top = file.module.partition(".")[0]
    row["whole_file"] = _file_tokens(program, file.module)
    row["whole_package"] = sum(
        _file_tokens(program, name) for name in program.files if name.partition(".")[0] == top
    )
    return row


def _tokens(program: Program, found: Slice) -> int:
    return render(program, found, format="tree").tokens


def _file_tokens(program: Program, name: str) -> int:
    module = program.module(name)
    return count_tokens(program.text(module)) if module is not None else 0


# --- the pruner


def _pruned(check: Check, found: Slice, *, closed: bool) -> tuple[Slice, list[str]]:
    """Take out what the replay does not need; the rest, and what was taken out.

    ``closed``: only what no code that stays names; otherwise whatever these calls can do
    without, if others cannot.
    """
    pruner = _Pruner(check, found, closed=closed)
    items = [item for item in reversed(found.items) if not item.is_target]
    pruner.remove(items)
    return pruner.current, pruner.removed


class _Pruner:
    def __init__(self, check: Check, found: Slice, *, closed: bool) -> None:
        self.check = check
        self.current = found
        self.closed = closed
        self.removed: list[str] = []

    def remove(self, items: Sequence[Item]) -> None:
        """Take these out: all at once, or what of the halves can be."""
        if not items:
            return
        if self.closed:
            named = _names_of(self.current, {item.symbol.id for item in items})
            if len(items) > 1 and any(_simple(item) in named for item in items):
                self._halves(items)
                return
            if any(_simple(item) in named for item in items):
                return
        smaller = _without(self.current, items)
        if smaller is not None and self._passes(smaller):
            self.current = smaller
            self.removed += [item.symbol.id for item in items]
        elif len(items) > 1:
            self._halves(items)

    def _halves(self, items: Sequence[Item]) -> None:
        middle = len(items) // 2
        self.remove(items[:middle])
        self.remove(items[middle:])

    def _passes(self, smaller: Slice) -> bool:
        try:
            done = self.check.replay_of(smaller)
        except SyntaxError:
            return False
        return not done.imports and self.check.same(done, smaller.targets)


def _simple(item: Item) -> str:
    return item.symbol.id.partition(":")[2].rpartition(".")[2]


def _names_of(found: Slice, without: set[str]) -> set[str]:
    """The names, attributes and words in strings of what stays."""
    import ast

    rest = _without(found, [item for item in found.items if item.symbol.id in without])
    names: set[str] = set()
    for cut in (rest or found).cuts:
        from depslice.slicer.render import cut_file

        for node in ast.walk(ast.parse(cut_file(cut))):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node.value.isidentifier():
                    names.add(node.value)
    return names


def _without(found: Slice, items: Sequence[Item]) -> Slice | None:
    """The slice without some definitions, and without the imports of them."""
    gone: dict[str, set[Any]] = {}
    names: set[tuple[str, str]] = set()
    cuts = {cut.path: cut for cut in found.cuts}
    for item in items:
        cut = cuts.get(item.symbol.path)
        if cut is not None:
            gone.setdefault(cut.path, set()).update(_statements_of(cut, item))
            qualname = item.symbol.id.partition(":")[2]
            names.add((cut.module, qualname))
    smaller = []
    for cut in found.cuts:
        paths = gone.get(cut.path, set())
        keep = {p for p in cut.keep if not any(p[: len(each)] == each for each in paths)}
        dead = {
            bound
            for bound, link in cut.links.items()
            if (link.module or "", link.name or "") in names
        }
        aliases = {p: frozenset(bounds - dead) for p, bounds in cut.aliases.items()}
        stars = {p: frozenset(bounds - dead) for p, bounds in cut.stars.items()}
        empty = {p for p, bounds in aliases.items() if not bounds and cut.aliases[p]}
        smaller.append(
            replace(
                cut,
                keep=frozenset(keep - empty),
                aliases={p: b for p, b in aliases.items() if p not in empty},
                stars={p: b for p, b in stars.items() if p not in empty},
                reexports={p: b - dead for p, b in cut.reexports.items() if p not in empty},
            )
        )
    left = tuple(item for item in found.items if item not in items)
    return replace(found, cuts=tuple(smaller), items=left)


# --- the page


def _page(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    passed = sum(row["passes"] for row in rows)
    repaired = sum(row["passes_repaired"] for row in rows)
    fair = [row for row in rows if "pruned" in row]
    yield "# Slices beside their original, by execution"
    yield ""
    yield (
        "Written by `python benchmarks/execution.py`. A sample of the functions that test suites"
        " execute; their real calls, recorded once, are replayed on each slice alone, and the"
        " results, changed arguments and output compared with those of the original."
        " Tokens are characters / 4 of the `tree` rendering. The *pruned minimum* is what a"
        " greedy pruner leaves while these calls still give the same: also code that other"
        " calls need. *Closed* is the same, but a definition stays if what stays names it."
    )
    yield ""
    yield (
        "| package | functions | calls | exec | with repair | tokens | pruned, closed | pruned |"
        " file | package |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    names = list(dict.fromkeys(f"{row['package']} {row['version']}" for row in rows))
    for name in [*names, "all"]:
        own = [r for r in rows if name in ("all", f"{r['package']} {r['version']}")]
        yield f"| {name} | " + " | ".join(_cells(own)) + " |"
    yield ""
    yield (
        f"Exec pass {passed} of {len(rows)} ({_share(passed, len(rows))}) without repair,"
        f" {repaired} ({_share(repaired, len(rows))}) with it. Mean tokens are"
        f" {_ratio(fair, 'pruned_closed')} times the closed minimum and"
        f" {_ratio(fair, 'pruned')} times the pruned one (means over the {len(fair)} functions"
        " that pass; ratio of the sums)."
    )
    yield "\n## What does not pass without repair\n"
    yield "| function | what the slice gives | added by repair |"
    yield "|---|---|---|"
    for row in rows:
        if not row["passes"]:
            added = ", ".join(f"`{each}`" for each in row["observed"])
            added = added or ("nothing" if row["passes_repaired"] else "not repaired")
            said = row["difference"].replace("|", "\\|")[:120]
            yield f"| `{row['target']}` | {said} | {added} |"
    yield "\n## The functions\n"
    yield "| function | calls | tokens | pruned, closed | pruned | idle functions |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        pruned = f"{row.get('pruned_closed', '–')} | {row.get('pruned', '–')}"
        target = f"`{row['target']}`"
        yield f"| {target} | {row['calls']} | {row['tokens']} | {pruned} | {row['idle']} |"


def _cells(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield str(len(rows))
    yield str(sum(row["calls"] for row in rows))
    for column in ("passes", "passes_repaired"):
        yield f"{sum(row[column] for row in rows)}/{len(rows)}"
    for column in ("tokens", "pruned_closed", "pruned", "whole_file", "whole_package"):
        found = [row[column] for row in rows if column in row]
        yield f"{sum(found) / max(len(found), 1):,.0f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


def _ratio(rows: Sequence[dict[str, Any]], column: str) -> str:
    return f"{sum(r['tokens'] for r in rows) / max(sum(r[column] for r in rows), 1):.2f}"


if __name__ == "__main__":
    main()

"""Whether slices run and give what the original gives, and how far they are from minimal.

    python benchmarks/execution.py [PACKAGE ...] [--each N] [--python PYTHON3.12+]

Takes packages with test suites (``callgraph/packages.py``), a sample of the functions that
their tests execute, records real calls, and replays them on each slice. **This runs the
packages' code.** Sizes are tokens (characters / 4) of the ``tree`` rendering, beside the
*pruned minimum*: what a greedy pruner leaves, which takes definitions out, the farthest
first, as long as the replay still passes; and beside other contexts, replayed as well
(``contexts.py``): the slices by definite and likely references alone, the closure of pyan3's call graph, the whole file, the whole package. Rows are kept in ``execution.jsonl`` in the
folder of ``callgraph/recording.py``; ``--fresh`` measures again. Writes
``docs/execution.md``.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "callgraph"))

from contexts import Contexts
from idle import _statements
from packages import select
from recording import REPO, Failed, traces_folder
from recording import record as trace_tests
from replayed import replaying

from depslice.callgraph import Certainty, Program
from depslice.slicer import Item, Slice, render, slice_symbols
from depslice.slicer.cut import StatementPath
from depslice.slicer.tokens import count_tokens
from depslice.validator import Check, repair
from depslice.validator.calls import Replay

_PACKAGES: Final = ("click", "boltons", "more-itertools", "toolz", "attrs", "humanize")
_SEED: Final = 2026
_TRIALS: Final = 100
_CONTEXTS: Final = (
    ("closure of pyan3", "closure", "closure_passes"),
    ("whole file", "whole_file", "whole_file_passes"),
    ("slice, definite", "definite", "definite_passes"),
    ("slice, likely", "likely", "likely_passes"),
    ("slice", "tokens", "passes"),
    ("whole package", "whole_package", ""),
)
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
        peers = options.folder / "peers"
        for row in _package(home, trace, options.each, peers):
            rows.append({"package": package.name, "version": package.version, **row})
            print(json.dumps(rows[-1]), flush=True)
        kept.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options.page.write_text("\n".join(_page(rows)) + "\n", encoding="utf-8")
    print(options.page)


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _package(home: Path, trace: Path, each: int, peers: Path) -> Iterator[dict[str, Any]]:
    with replaying(home, trace, each, seed=_SEED) as (program, check, targets):
        done = 0
        contexts: dict[str, Contexts] = {}
        for target in targets:
            if done < each and check.expected([target]):
                top = target.partition(":")[0].partition(".")[0]
                if top not in contexts:
                    contexts[top] = Contexts(program, top, peers)
                row = _measured(program, check, contexts[top], target)
                if row is not None:
                    done += 1
                    yield row


def _measured(
    program: Program, check: Check, contexts: Contexts, target: str
) -> dict[str, Any] | None:
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
            pruner = _pruned(check, found, closed=closed)
            row[column] = _tokens(program, pruner.current)
            row["removed_" + column] = pruner.removed
            row["unfinished_" + column] = pruner.trials >= _TRIALS
    return row | _others(program, check, contexts, target)


def _others(program: Program, check: Check, contexts: Contexts, target: str) -> dict[str, Any]:
    """Sizes of the other contexts, and whether what they leave of the package passes."""
    module = target.partition(":")[0]
    row: dict[str, Any] = {
        "whole_file": _file_tokens(program, module),
        "whole_package": sum(_file_tokens(program, name) for name in contexts.names),
    }
    done = check.replayed(contexts.file(target), [module], [target])
    row["whole_file_passes"] = _passes(check, done, target)
    for least in (Certainty.DEFINITE, Certainty.LIKELY):
        surer = slice_symbols(program, [target], least=least)
        row[least.value] = _tokens(program, surer)
        row[f"{least.value}_passes"] = _passes(check, check.replay_of(surer), target)
    if not contexts.failure:
        closure = contexts.closure(target)
        row["closure"] = _tokens(program, closure)
        row["closure_passes"] = _passes(check, check.replay_of(closure), target)
    return row


def _passes(check: Check, done: Replay, target: str) -> bool:
    return check.same(done, [target])


def _tokens(program: Program, found: Slice) -> int:
    return render(program, found, format="tree").tokens


def _file_tokens(program: Program, name: str) -> int:
    module = program.module(name)
    return count_tokens(program.text(module)) if module is not None else 0


# --- the pruner


def _pruned(check: Check, found: Slice, *, closed: bool) -> _Pruner:
    """Take out what the replay does not need; the rest, and what was taken out.

    ``closed``: only what no code that stays names; otherwise whatever these calls can do
    without, if others cannot. At most ``_TRIALS`` replays: what a pruner leaves that has
    come so far is no minimum, and is not counted as one.
    """
    pruner = _Pruner(check, found, closed=closed)
    items = [item for item in reversed(found.items) if not item.is_target]
    pruner.remove(items)
    return pruner


class _Pruner:
    def __init__(self, check: Check, found: Slice, *, closed: bool) -> None:
        self.check = check
        self.current = found
        self.closed = closed
        self.removed: list[str] = []
        self.trials = 0
        self.parts = _parts(found)

    def remove(self, items: Sequence[Item]) -> None:
        """Take these out: all at once, or what of the halves can be."""
        if not items or self.trials >= _TRIALS:
            return
        gone = {item.symbol.id for item in items}
        if not (self.closed and self._named(gone)):
            smaller = _without(self.current, gone, self.parts)
            self.trials += 1
            done = self.check.replay_of(smaller)
            if not done.imports and self.check.same(done, smaller.targets):
                self.current = smaller
                self.removed += sorted(gone)
                return
        middle = len(items) // 2
        if middle:
            self.remove(items[:middle])
            self.remove(items[middle:])

    def _named(self, gone: set[str]) -> bool:
        """Whether something that stays names one of them."""
        stays = [item.symbol.id for item in self.current.items if item.symbol.id not in gone]
        names = {name for each in stays for name in self.parts[each].names}
        return any(each.partition(":")[2].rpartition(".")[2] in names for each in gone)


class _Part(NamedTuple):
    """The statements of an item, and the names, attributes and words in its code."""

    paths: frozenset[StatementPath]
    names: frozenset[str]


def _parts(found: Slice) -> dict[str, _Part]:
    """By id of each item."""
    parts = {item.symbol.id: _Part(frozenset(), frozenset()) for item in found.items}
    for cut in found.cuts:
        own = [item for item in found.items if item.symbol.path == cut.path]
        statements = list(_statements(cut)) if own else []
        by_name: dict[str, list[tuple[StatementPath, ast.stmt]]] = {}
        by_line: dict[int, list[tuple[StatementPath, ast.stmt]]] = {}
        for path, node, scope in statements:
            if path in cut.keep:
                by_line.setdefault(node.lineno, []).append((path, node))
                by_name.setdefault(f"{scope}{getattr(node, 'name', '')}", []).append((path, node))
        for item in own:
            qualname = item.symbol.id.partition(":")[2]
            # What has no name of its own is an assignment, and stands where the symbol does.
            chosen = by_name.get(qualname) or by_line.get(item.symbol.span.start, [])
            parts[item.symbol.id] = _Part(
                frozenset(path for path, _ in chosen),
                frozenset(name for _, node in chosen for name in _names_in(node)),
            )
    return parts


def _names_in(statement: ast.stmt) -> Iterator[str]:
    """Those in its own code; the members of a class are items of their own."""
    whole: list[ast.AST] = [statement]
    if isinstance(statement, ast.ClassDef):
        whole = [*statement.bases, *statement.keywords, *statement.decorator_list]
    for part in whole:
        for node in ast.walk(part):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def _without(found: Slice, gone: set[str], parts: dict[str, _Part]) -> Slice:
    """The slice without some definitions, and without the imports of them."""
    names = {(each.partition(":")[0], each.partition(":")[2]) for each in gone}
    places = {item.symbol.id: item.symbol.path for item in found.items}
    smaller = []
    for cut in found.cuts:
        paths = {p for each in gone if places.get(each) == cut.path for p in parts[each].paths}
        keep = {p for p in cut.keep if not any(p[:n] in paths for n in range(1, len(p) + 1))}
        dead = {
            bound
            for bound, link in cut.links.items()
            if (link.module or "", link.name or "") in names
        }
        aliases = {p: frozenset(bounds - dead) for p, bounds in cut.aliases.items()}
        empty = {p for p, bounds in aliases.items() if not bounds and cut.aliases[p]}
        smaller.append(
            replace(
                cut,
                keep=frozenset(keep - empty),
                aliases={p: b for p, b in aliases.items() if p not in empty},
                stars={p: b - dead for p, b in cut.stars.items() if p not in empty},
                reexports={p: b - dead for p, b in cut.reexports.items() if p not in empty},
            )
        )
    left = tuple(item for item in found.items if item.symbol.id not in gone)
    return replace(found, cuts=tuple(smaller), items=left)


# --- the page


def _page(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    passed = sum(row["passes"] for row in rows)
    repaired = sum(row["passes_repaired"] for row in rows)
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
    )
    yield "|---|---|---|---|---|---|---|---|"
    names = list(dict.fromkeys(f"{row['package']} {row['version']}" for row in rows))
    for name in [*names, "all"]:
        own = [r for r in rows if name in ("all", f"{r['package']} {r['version']}")]
        yield f"| {name} | " + " | ".join(_cells(own)) + " |"
    yield ""
    yield (
        f"Exec pass: {passed} of {len(rows)} ({_share(passed, len(rows))}) without repair,"
        f" {repaired} ({_share(repaired, len(rows))}) with it. How many times the minimum:"
    )
    yield ""
    yield "| minimum | functions | mean of the ratios | ratio of the mean sizes | not finished |"
    yield "|---|---|---|---|---|"
    for column, name in (("pruned_closed", "pruned, closed"), ("pruned", "pruned")):
        done = [row for row in rows if column in row and not row["unfinished_" + column]]
        stopped = sum(row.get("unfinished_" + column, False) for row in rows)
        mean = sum(row["tokens"] / row[column] for row in done) / max(len(done), 1)
        sizes = sum(row["tokens"] for row in done) / max(sum(row[column] for row in done), 1)
        yield f"| {name} | {len(done)} | {mean:.2f} | {sizes:.2f} | {stopped} |"
    yield ""
    yield (
        f"Not finished: slices so large that {_TRIALS} replays did not settle what can go. They"
        " are left out of both means, and marked `≤` below. The table above has all."
        " What is *closed* is judged by simple names: any name, attribute or string that is"
        " spelt the same keeps a definition. So that minimum is an upper bound, which favours"
        " the slice; the other one is a lower bound of what is needed on all inputs."
    )
    yield "\n## Beside other contexts\n"
    yield (
        "Of the same functions: what the context has in tokens (mean), and for how many the"
        " package cut down to it still gives the same. The closure of pyan3 is every definition"
        " that its call graph reaches, the classes around them, and their imports; the file"
        " stands in packages that are empty."
    )
    yield ""
    yield "| context | functions | tokens | exec |"
    yield "|---|---|---|---|"
    for name, size, passes in _CONTEXTS:
        own = [row for row in rows if size in row]
        mean = sum(row[size] for row in own) / max(len(own), 1)
        exec_ = sum(row[passes] for row in own) if passes else len(own)
        yield f"| {name} | {len(own)} | {mean:,.0f} | {exec_}/{len(own)} |"
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
        pruned = f"{_least(row, 'pruned_closed')} | {_least(row, 'pruned')}"
        target = f"`{row['target']}`"
        yield f"| {target} | {row['calls']} | {row['tokens']} | {pruned} | {row['idle']} |"


def _cells(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield str(len(rows))
    yield str(sum(row["calls"] for row in rows))
    for column in ("passes", "passes_repaired"):
        yield f"{sum(row[column] for row in rows)}/{len(rows)}"
    for column in ("tokens", "pruned_closed", "pruned"):
        found = [row[column] for row in rows if "pruned" in row]  # of the same functions
        yield f"{sum(found) / max(len(found), 1):,.0f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.0f} %"


def _least(row: dict[str, Any], column: str) -> str:
    if column not in row:
        return "-"
    return f"≤ {row[column]}" if row["unfinished_" + column] else str(row[column])


if __name__ == "__main__":
    main()

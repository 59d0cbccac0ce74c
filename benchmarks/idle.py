"""The check ``idle``: a kept definition taken out of a slice is missed.

Each kept definition but the targets is taken out, by itself. Then either the rest has a
name unbound (``name``), or another kept file imports what is gone (``import``), or the
slice can say what needs it (``chain``): a chain of references from a target whose every
step starts at a definition of the slice and stands in a statement that is kept.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import lint
import slicing
from store import table

from depslice.callgraph.model import SymbolKind
from depslice.slicer import render
from depslice.slicer.cut import FileCut, StatementPath
from depslice.slicer.model import Item, Slice

if TYPE_CHECKING:
    from checks import Job


def idle(job: Job) -> dict[str, Any]:
    """Take one definition out of each of a sample of slices."""
    opened = slicing.open_package(job.folder)
    # More are sliced than asked for: one that needs nothing has nothing to take out.
    size = 4 * (job.sample or len(opened.functions))
    targets = slicing.sample_of(opened.functions, size, seed=job.seed)
    chance = random.Random(job.seed)  # noqa: S311
    linter = lint.Linter(job.ruff)
    reasons = Counter[str]()
    idlers: list[dict[str, str]] = []
    tried = 0
    for outcome in slicing.slices(opened.program, targets, limit=job.limit):
        if job.sample and tried >= job.sample:
            break
        if outcome.slice is None:
            continue
        items = [item for item in outcome.slice.items if _is_definition(item)]
        if not items:
            continue
        item = chance.choice(items)
        tried += 1
        reason, detail = _missed(opened.program, outcome.slice, item, linter)
        reasons[reason] += 1
        if reason not in {"name", "import", "chain"}:
            idlers.append(
                {
                    "target": outcome.target,
                    "item": item.symbol.id,
                    "cause": reason,
                    "detail": detail,
                }
            )
    return {"tried": tried, "reasons": dict(reasons), "idle": idlers}


def _is_definition(item: Item) -> bool:
    return not item.is_target and item.symbol.kind is not SymbolKind.MODULE


def _missed(program: Any, sliced: Slice, item: Item, linter: lint.Linter) -> tuple[str, str]:
    cut = next((cut for cut in sliced.cuts if cut.path == item.symbol.path), None)
    if cut is None:
        return "no file", f"{item.symbol.path} is not in the slice"
    gone = list(_statements_of(cut, item))
    if not gone:
        return "no statement", f"nothing that is kept stands at {item.symbol.span}"
    keep = frozenset(
        path for path in cut.keep if not any(path[: len(each)] == each for each in gone)
    )
    rest = replace(
        sliced,
        cuts=tuple(replace(each, keep=keep) if each is cut else each for each in sliced.cuts),
    )
    before, after = (_findings(program, each, linter) for each in (sliced, rest))
    if after - before:
        return "name", ""
    if any(_imports(each, cut, item) for each in sliced.cuts if each is not cut):
        return "import", ""
    return _chain(sliced, item)


def _findings(program: Any, sliced: Slice, linter: lint.Linter) -> set[tuple[str, str, str]]:
    files = render(program, sliced).files
    keys = [(file.path, linter.add(file.path, file.text)) for file in files]
    linter.run()
    return {
        (path, finding.code, finding.name)
        for path, key in keys
        for finding in linter.known[key]
        if finding.code in {"F821", "F822", "F823", "compile"}
    }


def _imports(other: FileCut, cut: FileCut, item: Item) -> bool:
    return any(
        link.module == cut.module and link.name == item.symbol.qualname.partition(".")[0]
        for link in other.links.values()
    )


def _chain(sliced: Slice, item: Item) -> tuple[str, str]:
    if not item.reason:
        return "no chain", ""
    inside = {each.symbol.id for each in sliced.items} | {cut.module for cut in sliced.cuts}
    cuts = {cut.path: cut for cut in sliced.cuts}
    for step in item.reason:
        if step.source not in inside:
            return "chain leaves the slice", f"{step.source} -> {step.target}"
        kept = kept_lines(cuts[step.path]) if step.path in cuts else set()
        if step.site.line not in kept:
            place = f"{step.path}:{step.site.line}"
            return "site is not kept", f"{step.source} -> {step.target} at {place}"
    return "chain", ""


def _statements_of(cut: FileCut, item: Item) -> Iterator[StatementPath]:
    """The kept statements that are the definition: overloads and redefinitions too."""
    span = item.symbol.span
    for path, node, scope in _statements(cut):
        name = f"{scope}{getattr(node, 'name', '')}"
        if path in cut.keep and (span == _Span(node) or name == item.symbol.qualname):
            yield path


class _Span:
    """The lines of a statement, decorators included; equal to a span of the same lines."""

    def __init__(self, node: ast.stmt | ast.ExceptHandler | ast.match_case) -> None:
        decorators = getattr(node, "decorator_list", [])
        pattern = getattr(node, "pattern", node)
        self.start: int = min(each.lineno for each in (*decorators, pattern))
        last = node.body[-1] if isinstance(node, ast.match_case) else node
        self.end: int = last.end_lineno or self.start

    def __eq__(self, other: object) -> bool:
        return (getattr(other, "start", 0), getattr(other, "end", 0)) == (self.start, self.end)

    __hash__ = None  # type: ignore[assignment]


def _statements(cut: FileCut) -> Iterator[tuple[StatementPath, ast.stmt, str]]:
    """Every statement outside functions, with its path as :mod:`depslice.slicer.cut` spells it.

    The third is the class it stands in: empty, or ``Class.``.
    """
    if not cut.text:
        return
    stack: list[tuple[StatementPath, ast.AST, str]] = [((), ast.parse(cut.text), "")]
    while stack:
        path, node, scope = stack.pop()
        if isinstance(node, ast.stmt):
            yield path, node, scope
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.ClassDef):
            scope = f"{scope}{node.name}."
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            children = getattr(node, name, None)
            if isinstance(children, list):
                stack += [((*path, name, i), child, scope) for i, child in enumerate(children)]


def kept_lines(cut: FileCut) -> set[int]:
    """The lines of kept statements; of a class or a compound statement its header alone."""
    lines: set[int] = set()
    for path, node, _ in _statements(cut):
        if path not in cut.keep:
            continue
        span = _Span(node)
        body = getattr(node, "body", None)
        is_whole = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not body
        # `with a: b` on one line: the header's line is the body's.
        end = span.end if is_whole or body is None else max(body[0].lineno - 1, node.lineno)
        if isinstance(node, ast.Match):
            end = span.end
        lines.update(range(span.start, end + 1))
        for handler in getattr(node, "handlers", []):
            lines.update(range(handler.lineno, handler.body[0].lineno))
    return lines


def show(records: Iterable[dict[str, Any]]) -> str:
    """A row a package, then what was idle."""
    records = list(records)
    rows: list[tuple[object, ...]] = []
    for record in records:
        reasons = record["reasons"]
        missed = [reasons.get(reason, 0) for reason in ("name", "import", "chain")]
        rows.append((record["package"], record["tried"], *missed, len(record["idle"])))
    rows.append(("all", *(sum(int(str(row[i])) for row in rows) for i in range(1, 6))))
    header = ("package", "taken out", "name unbound", "import fails", "chain shown", "idle")
    lines = [table(header, rows)]
    for record in records:
        for each in record["idle"]:
            detail = f" ({each['detail']})" if each["detail"] else ""
            lines.append(
                f"  {record['package']} {each['target']}: {each['item']}: {each['cause']}{detail}"
            )
    return "\n".join(lines)

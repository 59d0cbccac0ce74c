"""The check ``nothing-missing``: slices compile, and every name in them is bound.

A finding is a leftover when ruff has it in the rendering and not in the original: by rule
and name, in the file it was cut from (for ``module``, in any file of the slice). Unused
imports (F401) and code that does not compile always count; only an import inside a
function is the original's business, as functions are kept whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import lint
import slicing
from originals import Originals, read_originals
from store import table

from depslice.slicer import render
from depslice.slicer.model import Slice

if TYPE_CHECKING:
    from checks import Job

RENDERINGS: Final = ("tree", "module")
_BATCH: Final = 4000  # texts a run of ruff: it starts slowly and then reads fast
_EXAMPLES: Final = 8


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A rendering that waits for its findings: path in the slice -> key of the linter."""

    target: str
    rendering: str
    keys: tuple[tuple[str, lint.Key], ...]
    originals: tuple[str, ...]


def nothing_missing(job: Job) -> dict[str, Any]:
    """Render, compile and lint slices of a package."""
    opened = slicing.open_package(job.folder)
    original = read_originals(job.ruff, job.folder)
    targets = slicing.sample_of(opened.functions, job.sample, seed=job.seed)
    linter = lint.Linter(job.ruff)
    tally = _Tally()
    waiting: list[_Rendered] = []
    for outcome in slicing.slices(opened.program, targets, limit=job.limit):
        if outcome.slice is None:
            assert outcome.failure is not None
            tally.fail("slice", outcome.failure)
            continue
        for rendering in RENDERINGS:
            found, failure = slicing.attempt(
                outcome.target,
                partial(_rendered, opened.program, outcome.slice, rendering, linter),
                limit=job.limit,
            )
            if failure is not None:
                tally.fail(rendering, failure)
            else:
                waiting.append(found)
        if linter.waiting > _BATCH:
            linter.run()
            tally.take(waiting, linter, original)
            waiting.clear()
    linter.run()
    tally.take(waiting, linter, original)
    return {
        "functions": len(opened.functions),
        "sliced": len(targets),
        "texts": len(linter.known),
        **tally.record(),
    }


def _rendered(program: Any, sliced: Slice, rendering: str, linter: lint.Linter) -> _Rendered:
    files = render(program, sliced, format=rendering).files
    return _Rendered(
        target=sliced.targets[0],
        rendering=rendering,
        keys=tuple((file.path, linter.add(file.path, file.text)) for file in files),
        originals=tuple(cut.path for cut in sliced.cuts),
    )


class _Tally:
    """Clean renderings, and leftovers by cause with examples."""

    def __init__(self) -> None:
        self.clean = Counter[str]()
        self.failures: list[dict[str, str]] = []
        self.causes = Counter[str]()
        self.examples: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def fail(self, stage: str, failure: slicing.Failure) -> None:
        """Count what could not be sliced or rendered."""
        self.failures.append({"stage": stage, **failure.record()})

    def take(self, found: Iterable[_Rendered], linter: lint.Linter, original: Originals) -> None:
        """Count the leftovers of each rendering."""
        for rendered in found:
            leftovers = list(_leftovers(rendered, linter, original))
            self.clean[rendered.rendering] += not leftovers
            # A slice counts once for each kind of leftover, however often it has it.
            causes = {f"{rendered.rendering} {left.code}": (path, left) for path, left in leftovers}
            for cause, (path, left) in causes.items():
                self.causes[cause] += 1
                examples = self.examples[cause]
                fresh = all(known["message"] != left.message for known in examples)
                if len(examples) < _EXAMPLES and fresh:
                    examples.append(
                        {
                            "target": rendered.target,
                            "file": path,
                            "line": left.line,
                            "message": left.message,
                        }
                    )

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "clean": dict(self.clean),
            "failures": self.failures,
            "causes": dict(self.causes),
            "examples": dict(self.examples),
        }


def _leftovers(
    rendered: _Rendered, linter: lint.Linter, original: Originals
) -> Iterable[tuple[str, lint.Finding]]:
    for path, key in rendered.keys:
        sources = rendered.originals if rendered.rendering == "module" else (path,)
        for finding in linter.known[key]:
            always = finding.code == "compile" or (finding.code == "F401" and not finding.is_local)
            known = any(original.has(source, finding) for source in sources)
            if finding.code != lint.STAR_RULE and (always or not known):
                yield path, finding


def show(records: Iterable[dict[str, Any]]) -> str:
    """A row a package, then the leftovers by cause with examples."""
    records = list(records)
    rows: list[tuple[object, ...]] = []
    for record in records:
        counts = (record["sliced"], *(record["clean"].get(r, 0) for r in RENDERINGS))
        causes = ", ".join(f"{cause}: {n}" for cause, n in sorted(record["causes"].items()))
        rows.append((record["package"], *counts, len(record["failures"]), causes))
    total = [sum(int(str(row[i])) for row in rows) for i in range(1, 5)]
    share = [f"{100 * n / max(total[0], 1):.2f} %" for n in total[1:3]]
    rows += [("all", *total, ""), ("", "", *share, "", "")]
    header = ("package", "slices", "clean trees", "clean modules", "failed", "leftovers")
    return "\n".join([table(header, rows), *_causes(records)])


def _causes(records: Iterable[dict[str, Any]]) -> Iterable[str]:
    total = Counter[str]()
    examples: dict[str, list[str]] = defaultdict(list)
    for record in records:
        total.update(record["causes"])
        for failure in record["failures"]:
            cause = f"{failure['stage']} {failure['kind']}: {failure['message']}"
            total[cause] += 1
            examples[cause].append(f"{record['package']} {failure['target']}")
        for cause, found in record["examples"].items():
            for each in found[:3]:
                place = f"{each['file']}:{each['line']}"
                examples[cause].append(
                    f"{record['package']} {each['target']}: {place}: {each['message']}"
                )
    for cause, number in total.most_common():
        yield f"\n{cause}: {number} slices"
        yield from (f"  {example}" for example in examples[cause][:12])

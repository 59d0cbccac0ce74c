"""The check ``imports``: slices import with nothing of the package but themselves.

A slice whose module does not import from the whole package either (it is for another
platform, wants a package that is not installed), or does not have the target under its name
(another definition has replaced it), is counted apart, with the original's error.

RUNS the module bodies of the packages, in child processes (``import_child.py``). The
package's distribution metadata may be installed; its modules are hidden.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import slicing
from store import table

from depslice.slicer import render
from depslice.slicer.model import Slice
from depslice.slicer.render import write_tree

if TYPE_CHECKING:
    from checks import Job

_CHILD: Final = Path(__file__).with_name("import_child.py")
_SECONDS: Final = 30
_MEBIBYTES: Final = 4096
_NOT_THERE: Final = ("type object ", "module ")  # how messages start when a target is missing
_COMPILED: Final = (".so", ".pyd")


def imports(job: Job) -> dict[str, Any]:
    """Write trees of a sample of slices and import each target's module."""
    opened = slicing.open_package(job.folder)
    targets = slicing.sample_of(opened.functions, job.sample, seed=job.seed)
    unsliced: list[dict[str, str]] = []
    orders, warm = [], Counter[str]()
    own = own_modules(job.folder)
    with tempfile.TemporaryDirectory(prefix="depslice-imports-") as temporary:
        empty = Path(temporary) / "empty"
        empty.mkdir()
        for number, outcome in enumerate(slicing.slices(opened.program, targets, limit=job.limit)):
            if outcome.slice is None:
                assert outcome.failure is not None
                unsliced.append(outcome.failure.record())
                continue
            tree = Path(temporary) / str(number)
            _, failure = slicing.attempt(
                outcome.target,
                partial(_write, opened.program, outcome.slice, tree),
                limit=job.limit,
            )
            if failure is not None:
                unsliced.append(failure.record())
                continue
            module, _, qualname = outcome.target.partition(":")
            orders.append(
                {
                    "target": outcome.target,
                    "tree": str(tree),
                    "empty": str(empty),
                    "module": module,
                    "qualname": qualname,
                    "own_target": False,
                }
            )
            warm.update({external.module for external in outcome.slice.externals})
        order = {
            "own": sorted(own),
            # What most slices import is imported once, and each fork starts with it.
            "warm": [name for name, n in warm.most_common(40) if n > 1 and name not in own],
            "seconds": _SECONDS,
            "mebibytes": _MEBIBYTES,
            "slices": orders,
        }
        results = _run(job.python, order, empty)
        failed = {result["target"]: result for result in results if not result["ok"]}
        # Some modules do not import as they are either: of another platform, Python, package.
        # In others the target's class has lost its name to one of another module.
        again = [
            {
                **each,
                "tree": str(job.folder),
                "own_target": failed[each["target"]]["message"].startswith(_NOT_THERE),
            }
            for each in orders
            if each["target"] in failed
        ]
        for result in _run(job.python, {**order, "slices": again}, empty):
            if not result["ok"]:
                failed[result["target"]]["original"] = f"{result['error']}: {result['message']}"
    own_faults = [result for result in failed.values() if "original" not in result]
    return {
        "functions": len(opened.functions),
        "sliced": len(targets),
        "imported": len(results) - len(failed),
        "original_fails": [result for result in failed.values() if "original" in result],
        "failures": own_faults,
        "unsliced": unsliced,
    }


def _write(program: Any, sliced: Slice, tree: Path) -> None:
    write_tree(render(program, sliced).files, tree)


def own_modules(folder: Path) -> set[str]:
    """Every module of the package in ``folder``, compiled ones too; no namespace package."""
    found = set()
    for path in folder.rglob("*"):
        if path.suffix != ".py" and path.suffix not in _COMPILED:
            continue
        parts = [*path.relative_to(folder).parent.parts, path.name.partition(".")[0]]
        found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def _run(python: str, order: dict[str, Any], empty: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [python, "-I", "-X", "utf8", str(_CHILD)],
        input=json.dumps(order),
        capture_output=True,
        text=True,
        cwd=empty,
        env={"HOME": str(empty), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        check=False,
    )
    results = [json.loads(line) for line in done.stdout.splitlines()]
    if len(results) != len(order["slices"]):
        raise RuntimeError(f"the importing process ended early: {done.stderr.strip()[-500:]}")
    return results


def show(records: Iterable[dict[str, Any]]) -> str:
    """A row a package, then the failures by exception with examples."""
    rows: list[tuple[object, ...]] = []
    kinds = Counter[str]()
    examples: dict[str, list[str]] = defaultdict(list)
    for record in records:
        count = record["sliced"]
        excused = len(record["original_fails"])
        fair = max(count - excused, 1)
        rows.append(
            (
                record["package"],
                count,
                record["imported"],
                excused,
                len(record["unsliced"]),
                f"{100 * record['imported'] / fair:.1f} %",
            )
        )
        for excuse in record["original_fails"]:
            kind = "the original fails too"
            kinds[kind] += 1
            examples[kind].append(f"{record['package']} {excuse['target']}: {excuse['original']}")
        for failure in record["failures"]:
            kinds[failure["error"]] += 1
            examples[failure["error"]].append(
                f"{record['package']} {failure['target']}: {failure['message']}"
            )
    total = [sum(int(str(row[i])) for row in rows) for i in range(1, 5)]
    rows.append(("all", *total, f"{100 * total[1] / max(total[0] - total[2], 1):.2f} %"))
    header = ("package", "slices", "imported", "original fails", "not sliced", "share")
    lines = [table(header, rows)]
    for kind, number in kinds.most_common():
        lines.append(f"\n{kind}: {number} slices")
        lines += [f"  {example}" for example in examples[kind][:15]]
    return "\n".join(lines)

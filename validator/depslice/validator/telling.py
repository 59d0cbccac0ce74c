"""A check's report for people, and as JSON (``depslice.check/1``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from depslice.callgraph.counting import counted
from depslice.validator.checking import NOTHING_TO_CALL, CheckReport

CHECK_SCHEMA = "depslice.check/1"
_SHOWN: Final = 5
_MOST: Final = 300  # characters of an answer
_BEFORE: Final = 60  # of those that are the same in both, in front of the first that differs


def check_document(report: CheckReport, *, python: str) -> dict[str, Any]:
    """The report as JSON; the form is described in ``docs/formats/json.md``."""
    return {
        "schema": CHECK_SCHEMA,
        "targets": list(report.targets),
        "python": python,
        "verdict": verdict(report),
        "modules": report.imports,
        "import_errors": dict(report.import_errors),
        "calls": {
            "recorded": report.recorded,
            "replayed": report.steady,
            "same": report.same,
            "arguments_failed": report.unbuilt,
        },
        "differences": [
            {
                "call": each.call,
                "target": each.target,
                "original": each.original,
                "slice": each.sliced,
            }
            for each in report.differences
        ],
        "unsteady": [
            {"call": each.call, "target": each.target, "first": each.first, "again": each.again}
            for each in report.unsteady
        ],
        "not_in_slice": list(report.not_in_slice),
        "from_arguments": list(report.from_arguments),
        "never_executed": list(report.never_executed),
        "not_recorded": dict(report.not_recorded),
        "observed": [{"symbol": each.symbol, "why": each.why} for each in report.observed],
    }


def where_they_differ(one: str, other: str) -> tuple[str, str]:
    """Both texts, cut around the first place where they are not the same."""
    pairs = enumerate(zip(one, other, strict=False))
    alike = next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
    start = alike - _BEFORE if alike > 2 * _BEFORE else 0

    def part(text: str) -> str:
        end = "…" if len(text) > start + _MOST else ""
        return ("…" if start else "") + text[start : start + _MOST] + end

    return part(one), part(other)


def verdict(report: CheckReport) -> str:
    """``same``, ``different``, or ``imports`` when there was no call to compare."""
    if not report.passes:
        return "different"
    return "same" if report.proven else "imports"


def check_lines(
    report: CheckReport, *, everything: bool, repaired: bool = False, scripted: bool = False
) -> Iterator[str]:
    """The report in lines of text; ``everything``: without shortening lists.

    ``repaired``: after a repair, which may have failed. ``scripted``: calls are those of a file
    that the user has named.
    """
    failed = len(report.import_errors)
    yield f"check: {report.imports - failed} of {counted(report.imports, 'module')} imported"
    for module, error in report.import_errors.items():
        yield f"  {module}: {error}"
    unsteady = report.recorded - report.steady - report.unbuilt
    reasons = {
        "not the same twice on the original": unsteady,
        "with arguments that cannot be made again": report.unbuilt,
    }
    left_out = ", ".join(f"{number} {reason}" for reason, number in reasons.items() if number)
    kept = f" ({left_out})" if left_out else ""
    yield (
        f"check: {counted(report.recorded, 'call')} recorded, {report.steady} replayed{kept},"
        f" {report.same} gave the same"
    )
    if report.recorded and report.calls_ended:
        yield f"  {report.calls_ended}"
    for target, why in report.not_recorded.items():
        yield f"  {target}: no call recorded: {why}"
    if not scripted and any(why != NOTHING_TO_CALL for why in report.not_recorded.values()):
        yield f"  hint: {report.hint}"
    for each in report.unsteady[: None if everything else 1]:
        if each.is_unbuilt:
            yield f"  {each.target}, call {each.call}: {each.first[:300]}"
            continue
        yield f"  {each.target}, call {each.call}, is not the same twice on the original"
        first, again = where_they_differ(each.first, each.again)
        yield f"    first: {first}"
        yield f"    again: {again}"
    for difference in report.differences[: None if everything else 2]:
        yield f"  {difference.target}, call {difference.call}"
        original, sliced = where_they_differ(difference.original, difference.sliced)
        yield f"    original: {original}"
        yield f"    slice:    {sliced}"
    lists: tuple[tuple[str, Sequence[str]], ...] = (
        ("executed, but not in the slice", report.not_in_slice),
        ("in the slice, but never executed", report.never_executed),
    )
    for title, names in lists:
        if names:
            yield f"check: {counted(len(names), 'definition')} {title}"
            shown = names if everything else names[:_SHOWN]
            yield from (f"  {name}" for name in shown)
            if len(names) > len(shown):
                yield f"  and {len(names) - len(shown)} more (--verbose lists them)"
    needed = "a miss of static analysis" if report.passes else "added, which was not enough"
    for miss in report.observed:
        yield f"observed: {miss.symbol} ({miss.why}): {needed}"
    if repaired and report.passes and not report.proven:
        yield "check: --repair had nothing to go by: no call was compared"
    if repaired and not report.passes:
        yield (
            "check: --repair did not mend it: nothing names a definition that is missing; a"
            " statement of a module that nobody keeps (a call that fills a table) it cannot find"
        )

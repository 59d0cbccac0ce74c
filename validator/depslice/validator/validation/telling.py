"""Verdicts in words: a line for each harness, and below it what there is to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from depslice.validator.validation.evidence import Evidence, Mutants
from depslice.validator.validation.harness import Harness
from depslice.validator.validation.verdict import Accepted, Inconclusive, Reason, Rejected, Verdict

_SHOWN = 3  # surviving mutants, unless everything is wanted


def verdict_lines(harness: Harness, verdict: Verdict, *, everything: bool = False) -> list[str]:
    """What a person wants to read of a verdict; ``everything``: all survivors, all runs."""
    match verdict:
        case Accepted(evidence=evidence):
            return [_head("accepted", harness, evidence), *_details(evidence, everything)]
        case Rejected(reasons=reasons, evidence=evidence):
            head = _head("rejected", harness, evidence)
            return [head, *_reasons(reasons), *_details(evidence, everything)]
        case Inconclusive(cause=cause):
            return [_head("inconclusive", harness, None), *_reasons((cause,))]
        case _:
            assert_never(verdict)


def _head(word: str, harness: Harness, evidence: Evidence | None) -> str:
    return "  ".join([f"{word:<12}", harness.name, harness.target, *_numbers(evidence)])


def _numbers(evidence: Evidence | None) -> Iterator[str]:
    if evidence is None:
        return
    if evidence.branch_coverage is not None:
        total = evidence.branches_hit + len(evidence.branches_missed)
        yield f"branches {evidence.branches_hit}/{total}"
    else:
        yield f"lines {evidence.lines_hit}/{evidence.lines_hit + len(evidence.lines_missed)}"
    if evidence.mutants is not None:
        yield f"mutants {evidence.mutants.killed}/{_counted(evidence.mutants)}"
    passed = sum(run.ended == "result" and not run.failed for run in evidence.runs)
    yield f"runs {passed}/{len(evidence.runs)}"
    yield f"{evidence.seconds.get('all', 0):.1f} s"


def _counted(mutants: Mutants) -> int:
    return mutants.killed + len(mutants.survived)


def _reasons(reasons: tuple[Reason, ...]) -> Iterator[str]:
    for each in reasons:
        yield f"    {each.slug}: {each.message}"


def _details(evidence: Evidence | None, everything: bool) -> Iterator[str]:
    if evidence is None:
        return
    survived = evidence.mutants.survived if evidence.mutants else ()
    for each in survived if everything else survived[:_SHOWN]:
        where = "" if each.covered else ", which no test executes"
        yield f"    survives: {each.kind}, line {each.line}{where}"
        yield from (f"        {line}" for line in each.diff.splitlines())
    if len(survived) > _SHOWN and not everything:
        yield f"    and {len(survived) - _SHOWN} more survive (--verbose lists them)"
    if everything:
        for mutant in evidence.mutants.equivalent if evidence.mutants else ():
            yield f"    no fault: {mutant.kind}, line {mutant.line}: same on {mutant.inputs} inputs"
        for test in evidence.tests:
            yield f"    {test.status}: {test.name}, {test.seconds:.3f} s"

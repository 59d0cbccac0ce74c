"""Verdicts in words: a line for each harness, and below it what there is to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import assert_never

from depslice.validator.validation.evidence import Evidence, Mutants
from depslice.validator.validation.harness import Harness
from depslice.validator.validation.verdict import Accepted, Inconclusive, Reason, Rejected, Verdict

_SHOWN = 3  # surviving mutants, unless everything is wanted
_WIDE = 100  # characters of a line of a mutant; of longer ones what is around the fault
_AROUND = 30


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


def readable_difference(lines: Sequence[str]) -> list[str]:
    """The lines of a difference, long ones cut to what differs.

    A statement of many lines is one line here, as long as it may be, and a fault is one
    operator of it: without this, two lines of hundreds of characters were to be compared by eye.
    """
    old, new = ([line[1:] for line in lines if line.startswith(sign)] for sign in "-+")
    start = end = 0
    if len(old) == len(new) == 1:
        start = _alike(old[0], new[0])
        end = _alike(old[0][start:][::-1], new[0][start:][::-1])
    return [
        _cut(line, 0, 0) if line.startswith(" ") else _cut(line, start + 1, end) for line in lines
    ]


def _alike(left: str, right: str) -> int:
    """How many characters both begin with."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )


def _cut(line: str, start: int, end: int) -> str:
    """``line``, or of a long one what is not among its first ``start`` and last ``end`` characters."""
    if len(line) <= _WIDE:
        return line
    first = start - _AROUND if start > _AROUND + 1 else 0
    last = min(len(line) - end + _AROUND, first + _WIDE)
    head = f"{line[0]}…" if first else ""
    return f"{head}{line[first:last]}{'…' if last < len(line) else ''}"


def _details(evidence: Evidence | None, everything: bool) -> Iterator[str]:
    if evidence is None:
        return
    survived = evidence.mutants.survived if evidence.mutants else ()
    for each in survived if everything else survived[:_SHOWN]:
        where = "" if each.covered else ", which no test executes"
        yield f"    survives: {each.kind}, line {each.line}{where}"
        yield from (f"        {line}" for line in readable_difference(each.diff.splitlines()))
    if len(survived) > _SHOWN and not everything:
        yield f"    and {len(survived) - _SHOWN} more survive (--verbose lists them)"
    if everything:
        for mutant in evidence.mutants.equivalent if evidence.mutants else ():
            yield f"    no fault: {mutant.kind}, line {mutant.line}: same on {mutant.inputs} inputs"
        for test in evidence.tests:
            yield f"    {test.status}: {test.name}, {test.seconds:.3f} s"

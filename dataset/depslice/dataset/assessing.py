"""Verdicts of the validator, as generators read them; which of two is better."""

from __future__ import annotations

from typing import assert_never

from depslice.harness import Assessment
from depslice.validator.validation import (
    Accepted,
    Evidence,
    Inconclusive,
    Reason,
    Rejected,
    Verdict,
)


def assessment_of(verdict: Verdict) -> Assessment:
    """A verdict for a generator."""
    match verdict:
        case Accepted(evidence=evidence):
            return _assessment("accepted", (), evidence)
        case Rejected(reasons=reasons, evidence=found):
            return _assessment("rejected", reasons, found)
        case Inconclusive(cause=cause):
            return _assessment("inconclusive", (cause,), None)
        case _:
            assert_never(verdict)


def _assessment(verdict: str, reasons: tuple[Reason, ...], evidence: Evidence | None) -> Assessment:
    told = tuple((each.slug, each.message) for each in reasons)
    if evidence is None:
        return Assessment(verdict=verdict, reasons=told)
    failed = [f"{t.name}: {t.why}" for t in evidence.tests if t.status == "failed"]
    later = [why for run in evidence.runs for why in run.failures]
    return Assessment(
        verdict=verdict,
        reasons=told,
        branch_coverage=_reached(evidence),
        mutation_score=evidence.mutants.score if evidence.mutants else None,
        uncovered=evidence.branches_missed,
        survivors=tuple(each.diff for each in evidence.mutants.survived)
        if evidence.mutants
        else (),
        failures=tuple(dict.fromkeys([*failed, *later])),
    )


def _reached(evidence: Evidence) -> float | None:
    """Share of branches, or of lines where there are none."""
    found = evidence.branch_coverage
    return evidence.line_coverage if found is None else found


def evidence_of(verdict: Verdict) -> Evidence | None:
    """The evidence of a verdict, if it came to any."""
    match verdict:
        case Accepted(evidence=evidence):
            return evidence
        case Rejected(evidence=found):
            return found
        case Inconclusive():
            return None
        case _:
            assert_never(verdict)


def self_equivalent(verdict: Verdict) -> bool:
    """Whether the original passed beside itself, in every run, and was executed."""
    found = evidence_of(verdict)
    return (
        found is not None
        and found.deterministic
        and all(run.ended == "result" and run.passed and not run.failed for run in found.runs)
        and bool(found.candidate_calls and found.reference_calls and found.lines_hit)
    )


def rank(verdict: Verdict) -> tuple[bool, bool, float, float]:
    """The higher the better: accepted, self-equivalent, killed mutants, branches."""
    found = assessment_of(verdict)
    return (
        found.verdict == "accepted",
        self_equivalent(verdict),
        found.mutation_score or 0.0,
        found.branch_coverage or 0.0,
    )

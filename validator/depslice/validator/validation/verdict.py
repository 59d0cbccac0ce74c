"""Verdicts on harnesses: ``Accepted | Rejected | Inconclusive``, and their JSON."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Final, assert_never

from depslice.callgraph.errors import DepsliceError
from depslice.validator.validation.evidence import Evidence
from depslice.validator.validation.harness import HarnessError

SCHEMA: Final = "depslice.verdict/1"
JUDGED: Final = 4
"""Raised when a harness or a candidate may be judged otherwise than before: what is kept is made anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a harness is rejected: a slug that stays (``docs/verdict.md``), and a sentence."""

    slug: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """All gates are passed."""

    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """At least one gate is not passed. Without ``evidence`` it did not come to any."""

    reasons: tuple[Reason, ...]
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inconclusive:
    """Nothing can be said, and that is not the harness's doing."""

    cause: Reason


Verdict = Accepted | Rejected | Inconclusive


def not_a_harness(error: DepsliceError) -> Rejected:
    """The verdict on a file that could not be read as a harness.

    Its slug is ``not-a-harness``, or that of the error where it is about the target.
    """
    slug = "not-a-harness" if isinstance(error, HarnessError) else error.slug
    said = f"{error.message}: {error.hint}" if error.hint else error.message
    return Rejected(reasons=(Reason(slug=slug, message=said),))


def verdict_document(harness: str, target: str, digest: str, verdict: Verdict) -> dict[str, Any]:
    """One verdict as JSON; see ``docs/formats/json.md``."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "harness": harness,
        "target": target,
        "digest": digest,
    }
    match verdict:
        case Accepted(evidence=evidence):
            found: Evidence | None = evidence
            document |= {"verdict": "accepted", "reasons": []}
        case Rejected(reasons=reasons, evidence=found):
            document |= {"verdict": "rejected", "reasons": [dataclasses.asdict(r) for r in reasons]}
        case Inconclusive(cause=cause):
            found = None
            document |= {"verdict": "inconclusive", "reasons": [dataclasses.asdict(cause)]}
        case _:
            assert_never(verdict)
    return document | {"evidence": None if found is None else _evidence_document(found)}


def _evidence_document(evidence: Evidence) -> dict[str, Any]:
    mutants = evidence.mutants
    return dataclasses.asdict(evidence) | {
        "branch_coverage": evidence.branch_coverage,
        "line_coverage": evidence.line_coverage,
        "mutation_score": None if mutants is None else mutants.score,
    }

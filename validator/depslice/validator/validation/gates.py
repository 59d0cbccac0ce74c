"""What a harness has to reach, and the verdict that follows from evidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from depslice.validator.validation.evidence import Evidence, Run
from depslice.validator.validation.verdict import Accepted, Reason, Rejected, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The gates, with their defaults: ``[tool.depslice.validate]`` and the options of
    ``depslice validate``.

    ``branches``: least share of the target's branches that run (of its lines, if it has no
    branches). ``mutation``: least share of mutants that are killed. ``runs`` on the
    original, all with the same result. ``seconds``: most for one run. ``mutants``: at most
    so many are tried. ``equivalence``: the reference has to be called as well; without it,
    expected outputs may be written into the harness.
    """

    branches: float = 0.8
    mutation: float = 0.6
    runs: int = 3
    seconds: float = 20.0
    mutants: int = 200
    equivalence: bool = True


def judge(evidence: Evidence, gates: Gates) -> Verdict:
    """The verdict; all reasons are given, not only the first.

    Of a harness without tests that alone is told, beside what it does where it has no business:
    whatever else it fails in (no call, no assertion, no branch) only says that again.
    """
    reasons = tuple(_reasons(evidence, gates))
    if reasons:
        return Rejected(reasons=reasons, evidence=evidence)
    return Accepted(evidence=evidence)


def _reasons(evidence: Evidence, gates: Gates) -> Iterator[Reason]:
    yield from _on_the_original(evidence)
    if not _untested(evidence):
        yield from _really_compares(evidence, gates)
        yield from _coverage(evidence, gates)
        yield from _controls(evidence)
        yield from _mutation(evidence, gates)
    if evidence.tampering:
        said = ", ".join(evidence.tampering)
        yield Reason(slug="tampering", message=f"the harness does what tests do not: {said}")


def _untested(evidence: Evidence) -> bool:
    first = evidence.runs[0]
    return first.ended == "result" and not first.passed and not first.failed


def _on_the_original(evidence: Evidence) -> Iterator[Reason]:
    broken = [run for run in evidence.runs if run.ended != "result" or run.failed]
    first = evidence.runs[0]
    if not evidence.deterministic:
        text = "runs on the original differ"
        yield Reason(slug="flaky", message=f"{text}: {_told(broken[0])}" if broken else text)
    elif broken:
        yield Reason(slug="fails-on-original", message=_told(broken[0]))
    if _untested(evidence):
        text = "all tests are skipped" if first.skipped else "it has no tests: functions test_…"
        yield Reason(slug="no-tests", message=text)
    if evidence.original_differs:
        text = f"the original, as a candidate, is not the same: {evidence.original_differs}"
        yield Reason(slug="original-differs", message=text)


def _told(run: Run) -> str:
    how = f"hash seed {run.hash_seed}"
    match run.ended:
        case "result":
            return (
                f"{run.failed} of {run.passed + run.failed} tests fail ({how}): {run.failures[0]}"
            )
        case "time":
            return f"the run did not end in time ({how})"
        case "silent":
            return f"the process was ended from within, with no result ({how})"
        case "lost":
            return f"the run ended the process that watched it ({how})"
        case signal:
            return f"the run ended by {signal} ({how})"


def _really_compares(evidence: Evidence, gates: Gates) -> Iterator[Reason]:
    if not evidence.candidate_calls:
        yield Reason(slug="candidate-not-called", message="no test calls the candidate")
    elif not evidence.lines_hit:
        yield Reason(slug="target-not-executed", message="no line of the target runs")
    if not evidence.reference_calls and gates.equivalence:
        yield Reason(slug="reference-not-called", message="no test calls the reference")
    if not evidence.assertions_reached:
        yield Reason(slug="no-assertions", message="no assertion is reached")


def _coverage(evidence: Evidence, gates: Gates) -> Iterator[Reason]:
    share, what = evidence.branch_coverage, "branches"
    missing = [f"{a}->{b}" for a, b in evidence.branches_missed]
    if share is None:
        share, what = evidence.line_coverage, "lines"
        missing = [str(line) for line in evidence.lines_missed]
    if share is None or share < gates.branches:
        listed = ", ".join(missing[:10]) + (", …" if len(missing) > 10 else "")
        yield Reason(
            slug="coverage",
            message=f"{share or 0:.0%} of the target's {what} run, {gates.branches:.0%} wanted;"
            f" not: {listed or 'any'}",
        )


def _controls(evidence: Evidence) -> Iterator[Reason]:
    for each in evidence.controls or ():
        if each.applies and each.outcome != each.expected:
            told = {
                "fails": f"a wrong candidate passes: {each.name}",
                "passes": f"a candidate that does the same, otherwise written, fails: {each.why}",
            }
            yield Reason(slug=f"control-{each.name}", message=told[each.expected])


def _mutation(evidence: Evidence, gates: Gates) -> Iterator[Reason]:
    if evidence.mutants is None:
        return
    score = evidence.mutants.score
    if score is not None and score < gates.mutation:
        yield Reason(
            slug="mutation",
            message=f"{score:.0%} of the mutants are killed, {gates.mutation:.0%} wanted;"
            f" {len(evidence.mutants.survived)} survive",
        )

"""``insitu``: the repository's own tests, with a comparison at calls of the target.

Needs no arguments that could be kept: open files, parsers, contexts and closures are
compared as the tests have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from depslice.harness.model import Attempt, Declined, Draft, RecordedCall, Settings, Task
from depslice.harness.writing import harness_text

# In the first round, and when that was not enough; what reaches new branches is always taken.
_MOST_TESTS: Final = (8, 24)
_MOST_CALLS: Final = (12, 48)
_NO_CALL: Final = "no call to compare"


class InsituGenerator:
    """See the module. Further rounds leave out tests that differ from themselves, then take more."""

    name = "insitu"
    needs_calls = True
    rounds = 4

    def __init__(self, settings: Settings) -> None:
        pass

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        """See :class:`depslice.harness.HarnessGenerator`."""
        failed = [each for attempt in attempts for each in attempt.assessment.failures]
        calls = [
            call
            for call in task.calls
            if call.test and not any(f"{call.test}: " in each for each in failed)
        ]
        if attempts and attempts[-1].assessment.fails and not failed:
            return Declined(slug="nothing-left", message="its tests did not come to their end")
        if not calls:
            message = task.not_recorded or "no test calls it"
            return Declined(slug="nothing-left" if attempts else "no-calls", message=message)
        enough = [a for a in attempts if not a.assessment.failures]
        # Tests that need others before them make their calls when all of a file run.
        alone = not any(each.endswith(_NO_CALL) for each in failed)
        draft = _draft(task.target.id, _chosen(calls, 1 if enough else 0), alone=alone)
        if any(draft.text == each.draft.text for each in attempts):
            return Declined(slug="nothing-left", message="no other calls were recorded")
        return [draft]


def _chosen(calls: Sequence[RecordedCall], step: int) -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    taken = 0
    for call in sorted(calls, key=lambda each: -each.arcs):
        full = taken >= _MOST_CALLS[step] or len(found) >= _MOST_TESTS[step]
        if full and not call.arcs and (taken >= _MOST_CALLS[step] or call.test not in found):
            continue
        found.setdefault(call.test, []).append(call.number)
        taken += 1
    return found


def _draft(target: str, calls: Mapping[str, Sequence[int]], *, alone: bool) -> Draft:
    listed = "".join(f"    {test!r}: {sorted(set(numbers))},\n" for test, numbers in calls.items())
    says = (
        f"Calls of {target} where tests of its repository make them, by pytest.\n\n"
        "CALLS: tests, and which of the calls that each makes. Written by depslice (insitu).\n"
    )
    parts = [f"CALLS = {{\n{listed}}}"]
    files = sorted({test.partition("::")[0] for test in calls})
    more = ""
    if not alone:
        parts.append(f"TESTS = {files!r}")
        more = ", tests=TESTS"
    parts.append(f"def test_in_situ(context):\n    context.in_situ(CALLS{more})")
    return Draft(
        text=harness_text(target, says, (), parts),
        provenance={"tests": len(calls), "calls": sum(map(len, calls.values()))},
    )

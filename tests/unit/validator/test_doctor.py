"""What the doctor says, and that it only says what was tried."""

from __future__ import annotations

from depslice.validator.doctor import doctor_document, doctor_lines, examine
from depslice.validator.sandbox import (
    Availability,
    Job,
    Outcome,
    Running,
    all_sandboxes,
)
from depslice.validator.sandbox.unsafe import UnsafeSandbox


class Broken:
    """A sandbox that does not work here."""

    name = "broken"
    isolates = True

    def availability(self) -> Availability:
        return Availability(ok=False, reason="no rights", remedy="ask for them")

    def start(self, job: Job) -> Running:
        raise AssertionError(job)

    def run(self, job: Job) -> Outcome:
        raise AssertionError(job)


class Pretender(UnsafeSandbox):
    """Says that it isolates."""

    name = "pretender"
    isolates = True


def test_no_sandbox() -> None:
    found = examine([Broken(), UnsafeSandbox()])
    assert found.sandbox is None
    assert doctor_document(found)["sandbox"] is None
    lines = list(doctor_lines(found))
    assert any(line.split() == ["--", "broken", "no", "rights"] for line in lines)
    assert any(line.strip() == "ask for them" for line in lines)
    assert lines[-1].startswith("no sandbox works here")


def test_isolation_is_what_a_program_finds() -> None:
    found = examine([Pretender()])
    inside = {check.name: check.ok for check in found.checks if check.part == "isolation"}
    assert inside["files"] is inside["network"] is inside["rights"] is False


def test_the_chosen_one_isolates() -> None:
    working = [each for each in all_sandboxes() if each.isolates and each.availability().ok]
    found = examine()
    assert found.sandbox == (working[0].name if working else None)
    inside = [check for check in found.checks if check.part == "isolation"]
    assert bool(inside) == bool(working)
    assert [check for check in inside if not check.ok] == []

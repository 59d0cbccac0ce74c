"""Evidence as values, read from what came out of the sandbox: a stranger's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class BadEvidence(ValueError):
    """It does not have the form it should have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """A test on the original: ``passed``, ``failed`` or ``skipped``, and why not passed."""

    __test__ = False  # pytest

    name: str
    status: str
    why: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of all tests on the original.

    ``clock``: seconds by which it was ahead, or ``partly`` where not all clocks could be.
    ``ended`` is ``result``, or how the run ended without one: ``time``, ``silent`` (it
    exited by itself), ``lost``, or a signal's name.
    """

    hash_seed: int
    clock: int | str
    shuffled: bool
    ended: str
    passed: int
    failed: int
    skipped: int
    failures: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A candidate of which it is known whether it should pass. ``applies`` is false when the
    target itself does what the control does.
    """

    name: str
    expected: str
    outcome: str
    applies: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A mutant that no test killed. ``inputs``: on how many it does as the original."""

    kind: str
    line: int
    diff: str
    inputs: int = 0
    covered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutants:
    """``made`` mutants, of which ``tested`` were run and ``killed``."""

    made: int
    tested: int
    killed: int
    same_bytecode: int
    survived: tuple[Mutant, ...]
    equivalent: tuple[Mutant, ...]

    @property
    def score(self) -> float | None:
        """Killed, of those that are not equivalent; ``None`` when there are none."""
        all_ = self.killed + len(self.survived)
        return self.killed / all_ if all_ else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was found out about a harness.

    Branches are of the target alone, as ``(from line, to line)``; ``mutants`` and
    ``controls`` are missing where no test passes on the original, or one fails.
    ``original_differs`` tells how the original, as a candidate in another process, is not what
    it is; else empty.
    """

    tests: tuple[TestResult, ...]
    runs: tuple[Run, ...]
    deterministic: bool
    candidate_calls: int
    reference_calls: int
    assertions_written: int
    assertions_reached: int
    branches_hit: int
    branches_missed: tuple[tuple[int, int], ...]
    lines_hit: int
    lines_missed: tuple[int, ...]
    controls: tuple[Control, ...] | None
    mutants: Mutants | None
    tampering: tuple[str, ...]
    original_differs: str
    seconds: Mapping[str, float]

    @property
    def branch_coverage(self) -> float | None:
        """Share of the branches that ran; ``None`` when the target has none."""
        return _share(self.branches_hit, len(self.branches_missed))

    @property
    def line_coverage(self) -> float | None:
        """Share of the lines that ran."""
        return _share(self.lines_hit, len(self.lines_missed))


def _share(hit: int, missed: int) -> float | None:
    return hit / (hit + missed) if hit + missed else None


def parse_evidence(found: Any) -> Evidence:
    """The evidence in a message.

    :raises BadEvidence: see there.
    """
    try:
        return _parsed(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadEvidence(f"{type(error).__name__}: {error}") from None


def _parsed(found: Any) -> Evidence:
    controls, mutants = found.get("controls"), found.get("mutants")
    return Evidence(
        tests=tuple(
            TestResult(
                name=str(t["name"]),
                status=str(t["status"]),
                why=str(t["why"]),
                seconds=float(t["seconds"]),
            )
            for t in found["tests"]
        ),
        runs=tuple(_run(each) for each in found["runs"]),
        deterministic=found["deterministic"] is True,
        candidate_calls=int(found["calls"]["candidate"]),
        reference_calls=int(found["calls"]["reference"]),
        assertions_written=int(found["assertions"]["written"]),
        assertions_reached=int(found["assertions"]["reached"]),
        branches_hit=int(found["branches"]["hit"]),
        branches_missed=tuple((int(a), int(b)) for a, b in found["branches"]["missed"]),
        lines_hit=int(found["lines"]["hit"]),
        lines_missed=tuple(map(int, found["lines"]["missed"])),
        controls=None if controls is None else tuple(_control(each) for each in controls),
        mutants=None if mutants is None else _mutants(mutants),
        tampering=tuple(map(str, found["tampering"])),
        original_differs=str(found.get("original_differs", ""))[:1000],
        seconds={str(key): float(value) for key, value in found["seconds"].items()},
    )


def _run(found: Mapping[str, Any]) -> Run:
    clock = found["clock"]
    return Run(
        hash_seed=int(found["hash_seed"]),
        clock=int(clock) if isinstance(clock, int) else str(clock),
        shuffled=found["shuffled"] is True,
        ended=str(found["ended"]),
        passed=int(found["passed"]),
        failed=int(found["failed"]),
        skipped=int(found["skipped"]),
        failures=tuple(map(str, found["failures"])),
        seconds=float(found["seconds"]),
    )


def _control(found: Mapping[str, Any]) -> Control:
    return Control(
        name=str(found["name"]),
        expected=str(found["expected"]),
        outcome=str(found["outcome"]),
        applies=found["applies"] is True,
        why=str(found["why"]),
    )


def _mutants(found: Mapping[str, Any]) -> Mutants:
    return Mutants(
        made=int(found["made"]),
        tested=int(found["tested"]),
        killed=int(found["killed"]),
        same_bytecode=int(found["same_bytecode"]),
        survived=_mutant_list(found["survived"]),
        equivalent=_mutant_list(found["equivalent"]),
    )


def _mutant_list(found: Sequence[Mapping[str, Any]]) -> tuple[Mutant, ...]:
    return tuple(
        Mutant(
            kind=str(each["kind"]),
            line=int(each["line"]),
            diff=str(each["diff"]),
            inputs=int(each.get("inputs", 0)),
            covered=each.get("covered", True) is True,
        )
        for each in found
    )

"""Answers of warm processes, read as a stranger's: they may say anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def results(answer: dict[str, Any]) -> Iterator[tuple[str, str, str, float]]:
    """Name, status, reason and seconds of each test."""
    for each in answer.get("results") or ():
        match each:
            case [str(name), str(status), str(why), float() | int() as seconds]:
                yield name, status, why, float(seconds)
            case _:
                pass


def entries(answer: dict[str, Any]) -> list[list[str]]:
    """The transcript of a run."""
    return words(answer.get("transcript"))


def words(found: Any) -> list[list[str]]:
    """Lists of words, whatever was sent."""
    if not isinstance(found, list):
        return []
    return [[str(word) for word in each] for each in found if isinstance(each, list) and each]


def calls(answer: dict[str, Any]) -> tuple[int, int]:
    """How often each side was called: candidate, reference."""
    match answer.get("calls"):
        case [int(candidate), int(reference)]:
            return candidate, reference
        case _:
            return 0, 0


def passes(answer: dict[str, Any]) -> tuple[bool, str]:
    """Whether a run let its candidate pass; if not, what stopped it."""
    ended = str(answer.get("ended"))
    if ended == "import":
        return False, f"its module cannot be imported: {answer.get('why')}"[:500]
    if ended != "result":
        return False, ended
    failed = [name for name, status, _, _ in results(answer) if status == "failed"]
    return not failed, failed[0] if failed else ""


def tampering(answer: dict[str, Any]) -> list[str]:
    """What the harness did that tests have no reason to do."""
    return [str(each) for each in answer.get("tampering") or ()][:20]


def clearly_altered(answer: dict[str, Any]) -> bool:
    """Whether all that came of the calls were results, and some of them altered ones."""
    match answer.get("altered"):
        case [int(number), True]:
            return number > 0
        case _:
            return False


def run_document(number: int, clock: int, answer: dict[str, Any]) -> dict[str, Any]:
    """A run as evidence; ``statuses`` are for comparing runs."""
    found = list(results(answer))
    count = {key: sum(r[1] == key for r in found) for key in ("passed", "failed", "skipped")}
    failures = [f"{name}: {why}" for name, status, why, _ in found if status == "failed"]
    return {
        "hash_seed": number,
        "clock": clock if answer.get("all_clocks", True) else "partly",
        "shuffled": bool(number),
        "ended": str(answer.get("ended")),
        **count,
        "failures": failures[:5],
        "seconds": round(float(answer.get("seconds", 0)), 4),
        "statuses": sorted((name, status) for name, status, _, _ in found),
    }


def statuses(run: dict[str, Any]) -> tuple[Any, ...]:
    """What has to be the same in each run."""
    return run["ended"], tuple(run["statuses"])

"""What became of a function and a generator: the harness that was kept, and its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

SCHEMA: Final = "depslice.made/1"
_MOST: Final = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A line of a manifest.

    ``verdict`` is that of the validator, or ``declined``, ``failed``; ``reasons`` slugs and
    messages. ``harness`` is the file, relative to the folder of the manifest, empty if
    there is none. ``dollars`` are None where a price is not known. ``rounds`` counts drafts that were validated; ``seconds`` of the clock.
    """

    target: str
    generator: str
    strategy: str
    verdict: str
    reasons: tuple[tuple[str, str], ...] = ()
    self_equivalent: bool = False
    branch_coverage: float | None = None
    mutation_score: float | None = None
    harness: str = ""
    rounds: int = 0
    tokens: int = 0
    dollars: float | None = 0.0
    seconds: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)


def total_dollars(each: Iterable[float | None]) -> float | None:
    """Their sum; with an unknown part it is unknown."""
    found = list(each)
    return None if None in found else sum(part for part in found if part is not None)


def made_document(made: Made) -> dict[str, Any]:
    """As JSON; see ``docs/formats/json.md``."""
    return {
        "schema": SCHEMA,
        "target": made.target,
        "generator": made.generator,
        "strategy": made.strategy,
        "verdict": made.verdict,
        "reasons": [{"slug": slug, "message": message} for slug, message in made.reasons],
        "self_equivalent": made.self_equivalent,
        "branch_coverage": made.branch_coverage,
        "mutation_score": made.mutation_score,
        "harness": made.harness or None,
        "rounds": made.rounds,
        "tokens": made.tokens,
        "dollars": made.dollars,
        "seconds": round(made.seconds, 3),
        "provenance": dict(made.provenance),
    }


def parse_made(found: Mapping[str, Any]) -> Made | None:
    """What :func:`made_document` wrote; ``None`` if it is something else, edited by hand perhaps."""
    names = Made.__dataclass_fields__.keys() - {"reasons", "harness"}
    try:
        made = Made(
            **{name: found[name] for name in names},
            reasons=tuple((str(r["slug"]), str(r["message"])) for r in found["reasons"]),
            harness=found["harness"] or "",
        )
        dict(made.provenance)
    except (KeyError, TypeError, ValueError):
        return None
    return made if _has_its_types(made) else None


def _has_its_types(made: Made) -> bool:
    texts = (made.target, made.generator, made.strategy, made.verdict, made.harness)
    numbers = (made.branch_coverage, made.mutation_score, made.dollars)
    return (
        all(type(each) is str for each in texts)
        and all(each is None or _is_number(each) for each in numbers)
        and _is_number(made.seconds)
        and type(made.rounds) is type(made.tokens) is int
        and type(made.self_equivalent) is bool
    )


def _is_number(value: object) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < _MOST)

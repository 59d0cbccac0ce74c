"""What a run gave, by generator: counts, means and causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from depslice.dataset.model import Made, total_dollars


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One generator, or the best of all for each function (``together``).

    ``causes``: for those not accepted, the first reason, by number of functions. Shares
    are means of what was measured, ``None`` when nothing was; dollars are ``None`` where a
    price is not known.
    """

    name: str
    functions: int
    self_equivalent: int
    accepted: int
    branch_coverage: float | None
    mutation_score: float | None
    rounds: float
    tokens: int
    dollars: float | None
    seconds: float
    causes: tuple[tuple[str, int], ...]


def summarized(made: Iterable[Made]) -> list[Row]:
    """A row for each generator and strategy, then one for all together if there are several."""
    found = list(made)
    groups: dict[str, list[Made]] = {}
    for each in found:
        name = f"{each.generator} {each.strategy}".strip()
        groups.setdefault(name, []).append(each)
    rows = [_row(name, group) for name, group in groups.items()]
    if len(groups) > 1:
        rows.append(_row("together", best_of(found), spent=found))
    return rows


def best_of(found: Iterable[Made]) -> list[Made]:
    """Of what was made for each function, the best."""
    best: dict[str, Made] = {}
    for each in found:
        known = best.get(each.target)
        if known is None or _rank(each) > _rank(known):
            best[each.target] = each
    return list(best.values())


def _rank(made: Made) -> tuple[bool, bool, float, float]:
    return (
        made.verdict == "accepted",
        made.self_equivalent,
        made.mutation_score or 0.0,
        made.branch_coverage or 0.0,
    )


def _row(name: str, made: Sequence[Made], spent: Sequence[Made] | None = None) -> Row:
    spent = made if spent is None else spent
    causes = Counter(_cause(each) for each in made if each.verdict != "accepted")
    return Row(
        name=name,
        functions=len(made),
        self_equivalent=sum(each.self_equivalent for each in made),
        accepted=sum(each.verdict == "accepted" for each in made),
        branch_coverage=_mean([m.branch_coverage for m in made]),
        mutation_score=_mean([m.mutation_score for m in made]),
        rounds=fmean([each.rounds for each in made]) if made else 0.0,
        tokens=sum(each.tokens for each in spent),
        dollars=total_dollars(each.dollars for each in spent),
        seconds=sum(each.seconds for each in spent),
        causes=tuple(causes.most_common()),
    )


def _cause(made: Made) -> str:
    return made.reasons[0][0] if made.reasons else made.verdict


def _mean(values: Iterable[float | None]) -> float | None:
    found = [each for each in values if each is not None]
    return fmean(found) if found else None

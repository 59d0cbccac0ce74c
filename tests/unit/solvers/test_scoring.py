"""pass@k, intervals, and the figures of a comparison."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest

from depslice.solvers.page import comparison_page
from depslice.solvers.running.record import Attempt
from depslice.solvers.scoring import estimate, pass_at_k, scores
from depslice.solvers.telling import evaluation_document, score_table
from solving import ATTEMPT


def attempts() -> list[Attempt]:
    failed = replace(ATTEMPT, passed=False, problem="p1")
    return [
        ATTEMPT,
        failed,
        replace(failed, problem="p2", visible=0.5),
        replace(failed, problem="p3", answer=None, why="the solver failed"),
        *[replace(ATTEMPT, solver="<b>tree", problem=f"p{n}", oracle=1) for n in range(4)],
    ]


def test_pass_at_k_is_the_share_of_draws_that_have_one() -> None:
    for samples in range(1, 8):
        for correct in range(samples + 1):
            for k in range(1, samples + 1):
                draws = list(combinations(range(samples), k))
                share = sum(min(draw) < correct for draw in draws) / len(draws)
                assert pass_at_k(samples, correct, k) == pytest.approx(share)


def test_pass_at_k_needs_k_samples() -> None:
    with pytest.raises(ValueError, match="needs 3 samples"):
        pass_at_k(2, 1, 3)


def test_the_interval_is_wide_enough_and_not_too_wide() -> None:
    """Of many samples from one truth, about 95 % have it in their interval."""
    draw = random.Random(1)  # noqa: S311 - a sample
    inside = 0
    for _ in range(60):
        found = estimate([float(draw.random() < 0.7) for _ in range(100)])
        inside += found.low <= 0.7 <= found.high
    assert 52 <= inside <= 60
    assert estimate([1.0] * 9) == estimate([1.0] * 3)


def test_the_interval_is_the_same_each_time() -> None:
    values = [1.0, 0.0, 1.0, 1.0]
    assert estimate(values) == estimate(values)


def test_figures_of_a_solver() -> None:
    direct, tree = scores(attempts())
    assert (direct.solver, direct.problems, direct.passed) == ("direct", 4, 1)
    assert (direct.overfitted, direct.unanswered, direct.oracle) == (1, 1, 0)
    assert direct.pass_at[1].value == 0.25
    assert direct.tokens == 600
    assert direct.usage.dollars == pytest.approx(0.04)
    assert tree.oracle == 4


def test_several_samples_of_a_problem_are_one_problem() -> None:
    samples = [replace(ATTEMPT, sample=n, passed=n == 0) for n in range(4)]
    [score] = scores(samples, ks=(1, 2, 5))
    assert (score.problems, score.attempts) == (1, 4)
    assert {k: e.value for k, e in score.pass_at.items()} == {1: 0.25, 2: 0.5}


def test_a_price_that_is_not_known_makes_the_sum_unknown() -> None:
    unknown = replace(ATTEMPT, problem="p1", usage=replace(ATTEMPT.usage, dollars=None))
    [score] = scores([ATTEMPT, unknown])
    assert score.usage.dollars is None
    assert score_table([score]).splitlines()[1].endswith("unknown  unknown")


def test_the_table() -> None:
    head, direct, tree = score_table(scores(attempts())).splitlines()
    assert head.split()[:4] == ["solver", "context", "problems", "passed"]
    assert direct.split()[:5] == ["direct", "-", "4", "1/4", "25.0%"]
    assert direct.split()[-2:] == ["0.0100", "0.0400"]
    assert tree.startswith("<b>tree (oracle)")


def test_the_document() -> None:
    document = evaluation_document(scores(attempts()))
    assert document["schema"] == "depslice.evaluation/1"
    assert document["scores"][0]["pass_at"]["1"]["value"] == 0.25
    assert document["scores"][0]["model_seconds"] == 8.0


def test_an_attempt_travels_as_json() -> None:
    assert Attempt.of(ATTEMPT.document()) == ATTEMPT
    with pytest.raises(ValueError, match="not an attempt"):
        Attempt.of({"schema": "depslice.verdict/1"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("solver", None),
        ("problem", [1]),
        ("visible", None),
        ("passed", 1),
        ("cpu_seconds", 10**400),
        ("usage", {"calls": None}),
        ("events", ["text"]),
    ],
)
def test_a_line_that_is_no_attempt_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"type|object"):
        Attempt.of(ATTEMPT.document() | {name: value})


def test_the_page_escapes_what_it_shows() -> None:
    page = comparison_page(scores(attempts()), attempts())
    assert "&lt;b&gt;tree" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert comparison_page([], []).startswith("<!doctype html>")

"""Evidence that was worked out by hand: arcs, mutants and their fate agree exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from depslice.dataset.assessing import evidence_of
from depslice.validator.validation import Accepted, Evidence, Gates, Rejected, Session
from harnesses import validating, verdict_on

SOURCE = {
    "small.py": '''\
def larger(a, b):
    """Lines 1 to 5: two branches, out of line 3."""
    if a > b:
        return a
    return b


def steps(n):
    """Lines 8 to 14: branches out of 11 and 12, two each."""
    found = []
    while n > 0:
        if n % 2:
            found.append(n)
        n -= 1
    return found


def late(limit):
    """Lines 18 to 28: branches of the inner function count too."""

    def inner(value):
        for each in range(value):
            if each > limit:
                return each
        return None

    if limit < 0:
        raise ValueError(limit)
    return inner


def double(n):
    """No branches: lines count."""
    return n + n


class Counter:
    """A class."""

    def __init__(self, start):
        self.now = start

    def up(self, by=1):
        """Lines 42 to 46: the branch at 44."""
        if by < 0:
            raise ValueError(by)
        self.now += by

    @property
    def half(self):
        return self.now // 2

    @classmethod
    def at(cls, number):
        return cls(number * 10)

    @staticmethod
    def glue(one, two):
        return one + two

    def each(self):
        for number in range(self.now):
            yield number


async def later(value):
    if value:
        return [value]
    return []


def spoken(text):
    import warnings
    if not text:
        warnings.warn("empty")
    print(text)
    with open("said.txt", "w") as file:
        file.write(text)


def sorted_in_place(items):
    items.sort()
''',
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("small")
    gates = Gates(branches=0, mutation=0, runs=1, seconds=5)
    with validating(folder, SOURCE, gates=gates) as found:
        yield found


def evidence(session: Session, target: str, text: str) -> Evidence:
    verdict = verdict_on(session, f"small:{target}", text)
    assert isinstance(verdict, (Accepted, Rejected)), verdict
    assert verdict.evidence is not None, verdict
    return verdict.evidence


def test_both_branches(session: Session) -> None:
    """Mutants of ``a > b``: negated condition (the same as ``<=``), ``>=``; two returns.

    ``not a > b`` is its own bytecode. ``>=`` gives the other of two equal values: with
    integers the same on any input.
    """
    found = evidence(
        session,
        "larger",
        """
        def test_larger(candidate, reference):
            for a, b in [(1, 2), (2, 1), (2, 2), (-5, 3), (3, -5), (0, 0)]:
                assert candidate(a, b) == reference(a, b)
        """,
    )
    assert (found.branches_hit, found.branches_missed) == (2, ())
    assert found.branch_coverage == 1.0
    assert (found.candidate_calls, found.reference_calls) == (6, 6)
    assert found.mutants is not None
    # not a > b, a >= b, a <= b, return None, return None
    assert (found.mutants.made, found.mutants.tested) == (5, 5)
    assert found.mutants.killed == 4
    assert [m.line for m in found.mutants.equivalent] == [3]
    assert found.mutants.equivalent[0].inputs >= 100
    assert found.mutants.score == 1.0


def test_one_branch_of_two(session: Session) -> None:
    found = evidence(
        session,
        "larger",
        """
        def test_larger(candidate, reference):
            assert candidate(2, 1) == reference(2, 1)
        """,
    )
    assert (found.branches_hit, found.branches_missed) == (1, ((3, 5),))
    assert found.branch_coverage == 0.5
    assert found.lines_missed == (5,)
    assert found.mutants is not None
    # >= survives: one call has too few neighbours to say that it does no harm. No test
    # executes line 5, so its mutant survives untried.
    assert found.mutants.killed == 3
    assert sorted((m.line, m.covered) for m in found.mutants.survived) == [(3, True), (5, False)]
    assert found.mutants.score == 3 / 5


def test_three_arcs_of_four(session: Session) -> None:
    """What is counted are arcs, not lines: with 2 alone, line 13 and the way to it are missed."""
    found = evidence(
        session,
        "steps",
        """
        def test_steps(candidate, reference):
            assert candidate(0) == reference(0) == []
            assert candidate(1) == reference(1) == [1]
        """,
    )
    assert found.branches_hit == 3
    assert found.branches_missed == ((12, 14),)
    assert found.branch_coverage == 0.75
    assert found.lines_missed == ()


def test_nested_functions_count(session: Session) -> None:
    found = evidence(
        session,
        "late",
        """
        def test_late(candidate, reference):
            assert candidate(1)(1) == reference(1)(1)
        """,
    )
    # 22: to 23 and to 25; 23: to 24 (missed) and back to 22; 27: to 28 (missed) and to 29.
    assert found.branches_hit == 4
    assert found.branches_missed == ((23, 24), (27, 28))


def test_without_branches_lines_count(session: Session) -> None:
    found = evidence(
        session,
        "double",
        "def test_double(candidate, reference):\n    assert candidate(4) == reference(4)",
    )
    assert found.branch_coverage is None
    assert found.line_coverage == 1.0
    assert found.mutants is not None
    assert (found.mutants.made, found.mutants.killed) == (2, 2)  # n - n, return None


def test_what_the_reference_executes_does_not_count(session: Session) -> None:
    found = evidence(
        session,
        "larger",
        """
        def test_larger(candidate, reference):
            assert candidate(2, 1) == reference(2, 1)
            assert reference(1, 2) == 2
        """,
    )
    assert found.branches_missed == ((3, 5),)


KINDS = {
    "Counter.up": """
        from small import Counter
        def test_up(candidate, reference):
            ours, theirs = Counter(1), Counter(1)
            assert candidate(ours, 2) == reference(theirs, 2)
            assert ours.now == theirs.now == 3
            candidate(ours), reference(theirs)
            candidate(ours, 0), reference(theirs, 0)
            assert ours.now == theirs.now == 4
            for side in (candidate, reference):
                with pytest.raises(ValueError):
                    side(Counter(1), -1)
        import pytest
        """,
    "Counter.__init__": """
        from small import Counter
        def test_init(context, candidate, reference):
            ours, theirs = Counter.__new__(Counter), Counter.__new__(Counter)
            candidate(ours, 4); reference(theirs, 4)
            context.same(ours, theirs)
        """,
    "Counter.half": """
        from small import Counter
        def test_half(candidate, reference):
            for start in range(1, 10):
                assert candidate(Counter(start)) == reference(Counter(start))
        """,
    "Counter.at": """
        def test_at(context, candidate, reference):
            context.same(candidate(3), reference(3))
            assert type(candidate(3)) is type(reference(3))
        """,
    "Counter.glue": """
        def test_glue(candidate, reference):
            assert candidate("a", "b") == reference("a", "b")
            assert candidate(3, 4) == reference(3, 4)
        """,
    "Counter.each": """
        from small import Counter
        def test_each(candidate, reference, context):
            assert list(candidate(Counter(3))) == list(reference(Counter(3)))
            context.check(Counter(5))
        """,
    "later": """
        import asyncio
        def test_later(candidate, reference):
            for value in (0, 1, "x"):
                assert asyncio.run(candidate(value)) == asyncio.run(reference(value))
        async def test_inside(candidate, reference):
            assert await candidate(2) == await reference(2)
        """,
    "late.<locals>.inner": """
        def test_inner(candidate, reference):
            for limit in (0, 2, 5):
                for value in range(8):
                    assert candidate(limit)(value) == reference(limit)(value)
        """,
    "spoken": """
        def test_spoken(context):
            context.check("text")
            context.check("")
        """,
    "sorted_in_place": """
        def test_sorted(context):
            context.check([3, 1, 2])
            context.check([])
        """,
}


@pytest.mark.parametrize("target", KINDS)
def test_kinds_of_targets(session: Session, target: str) -> None:
    """Everything there is to notice is noticed: no mutant survives, the original passes."""
    verdict = verdict_on(session, f"small:{target}", KINDS[target])
    assert isinstance(verdict, Accepted), verdict
    found = verdict.evidence
    assert found.branches_missed == ()
    assert found.lines_missed == ()
    assert found.mutants is not None
    assert found.mutants.score == 1.0, found.mutants.survived


def test_where_mutants_take_long_not_all_are_tried(tmp_path: Path) -> None:
    source = {"shop.py": "def sums(x):\n" + "    x += 1\n" * 60 + "    return x\n"}
    harness = """
    import time
    def test_sums(candidate, reference):
        time.sleep(0.1)
        assert candidate(1) == reference(1)
    """
    with validating(tmp_path, source, gates=Gates(seconds=0.2)) as session:
        verdict = verdict_on(session, "shop:sums", harness)
    evidence = evidence_of(verdict)
    assert evidence is not None
    assert evidence.mutants is not None
    assert 0 < evidence.mutants.tested < 60 < evidence.mutants.made
    assert evidence.mutants.killed == evidence.mutants.tested
    assert {each.name for each in evidence.controls or ()} >= {"stub", "identity", "rewritten"}


def test_an_original_that_does_not_end_is_run_once(tmp_path: Path) -> None:
    harness = """
    def test_f(candidate, reference):
        while True: pass
    """
    with validating(
        tmp_path, {"shop.py": "def f(x): return x\n"}, gates=Gates(seconds=0.5)
    ) as session:
        evidence = evidence_of(verdict_on(session, "shop:f", harness))
    assert evidence is not None
    assert [run.ended for run in evidence.runs] == ["time"]

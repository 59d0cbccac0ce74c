"""Where two transcripts differ, told as Python spells values."""

from __future__ import annotations

import sys
from collections import Counter
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from depslice.validator.child.comparing import EXACT, Tolerance
from depslice.validator.child.describing import Description
from depslice.validator.child.harness.transcript import Entries, Transcript, transcripts_differ
from depslice.validator.child.reading import values_of


def told(*calls: tuple[str, Any, tuple[Any, ...], dict[str, Any]]) -> Entries:
    transcript = Transcript(())
    transcript.start("test_f")
    for word, *values in calls:
        transcript.tell(word, *values)
    return transcript.entries


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (("returned", 5, (6,), {}), ("returned", 2, (6,), {}), "f(6) gave 5 instead of 2"),
        (
            ("returned", [1, {"a": (2,)}], ([], "x y"), {"key": None}),
            ("raised", ValueError("no"), ([], "x y"), {"key": None}),
            "f([], 'x y', key=None) gave [1, {'a': (2,)}] instead of raised ValueError('no')",
        ),
        (
            ("returned", 5, (6,), {}),
            ("returned", 5, (7,), {}),
            "f(6) gave 5 instead of f(7) gave 5",
        ),
        (("returned", "a(", (), {}), ("returned", ")", (), {}), "f() gave 'a(' instead of ')'"),
        (("went on", 1), ("went on", 2), "went on 1 instead of went on 2"),
    ],
)
def test_a_call_that_differs(one: Any, other: Any, said: str) -> None:
    assert transcripts_differ(told(one), told(other), EXACT, name="f") == f"test_f: {said}"


def test_which_thread_is_first_is_not_told() -> None:
    sides = []
    for order in ([1, 2, 3], [3, 1, 2]):
        transcript = Transcript(())
        transcript.start("test_f")
        for number in order:
            thread = Thread(target=transcript.tell, args=("returned", number, (), {}))
            thread.start()
            thread.join()
        transcript.tell("returned", 4, (), {})
        sides.append(transcript.entries)
    assert sides[0] == sides[1]
    assert [entry[1] for entry in sides[0]] == ["test_f", "4", "1", "2", "3"]


def test_what_is_long_is_shown_where_it_differs() -> None:
    long = list(range(500))
    one, other = ("returned", long, (), {}), ("returned", [*long[:-1], 7], (), {})
    said = transcripts_differ(told(one), told(other), EXACT, name="f")
    kept = ") builtins.tuple( ) builtins.dict( )"
    assert said == (
        f"test_f: returned 496 497 498 499 {kept} instead of returned 496 497 498 7 {kept}"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1, 2}, "{1, 2}"),
        (set(), "set()"),
        (frozenset([1]), "frozenset(1)"),
        (int, "int"),
        (Counter("aa"), "collections.Counter('a', 2)"),
        ([(), ((),)], "[(), ((),)]"),
    ],
)
def test_values_as_python_spells_them(value: object, text: str) -> None:
    description = Description(())
    description.add(value)
    found = values_of(description.words)
    assert found is not None
    assert [str(each) for each in found] == [text]


def test_words_that_are_cut_off_are_no_values() -> None:
    assert values_of(["builtins.list(", "1"]) is None
    assert values_of(["…"]) is None


class generic(float):  # noqa: N801 - as numpy calls it
    """A number of numpy's, as far as it is looked at."""

    dtype = SimpleNamespace(str="<f8")

    def item(self) -> float:
        return float(self)


def test_arrays_of_two_processes_are_compared_with_the_tolerance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A digest of their elements would not tell how far they lie apart."""
    monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace(ndarray=list[int], generic=generic))

    def differ(one: float, other: float, tolerance: Tolerance) -> bool:
        sides = []
        for value in (one, other):
            transcript = Transcript((), tolerance)
            transcript.tell("returned", [generic(value)], (), {})
            transcript.note(generic(value))
            sides.append(transcript.entries)
        return transcripts_differ(*sides, tolerance) is not None

    near = Tolerance(relative=1e-6)
    assert not differ(0.1 + 0.2, 0.3, near)
    assert differ(0.1 + 0.2, 0.3, EXACT)
    assert differ(0.31, 0.3, near)

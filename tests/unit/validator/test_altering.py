"""A candidate that returns something else of the same type and size is told apart, or nothing is
said of it.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from depslice.validator.child.harness.altering import Opaque, altered
from depslice.validator.validation import Accepted, Gates, Rejected, Session
from harnesses import validating, verdict_on

Pair = namedtuple("Pair", "left right")  # noqa: PYI024 - what is altered may be one


@dataclass
class Box:
    """Something with attributes."""

    size: int
    names: list[str]


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (0, 1),
        (7, 8),
        (-95, -85),
        (100, 200),
        (1.5, 2.5),
        (0.0, 1.0),
        (-0.02, -0.03),
        (1e-07, 2e-07),
        (True, False),
        ("abZ9", "bcA0"),
        ("", ""),
        ("\n", "\t"),
        ("--", "_-"),
        (b"a", b"b"),
        (None, None),
        ([1, "a"], [2, "b"]),
        ((1, (2,)), (2, (3,))),
        ({"k": 1}, {"l": 2}),
        ({1, 2}, {2, 3}),
        (OrderedDict(a=1), OrderedDict(b=2)),
        (Pair(1, "a"), Pair(2, "b")),
        (Box(1, ["a"]), Box(2, ["b"])),
    ],
)
def test_altered(value: Any, other: Any) -> None:
    found = altered(value)
    assert found == other
    assert type(found) is type(value)


@pytest.mark.parametrize("value", [Decimal(1), object, [Decimal(1)], [10**5000], {"a": print}])
def test_what_cannot_be(value: Any) -> None:
    with pytest.raises(Opaque):
        altered(value)


SOURCE = {
    "shop.py": """\
        from decimal import Decimal


        def label(n):
            if n < 0:
                return "below zero"
            if n > 9:
                return "many"
            return "some"


        class Cart:
            def __init__(self):
                self.items = []
                self.name = "cart"

            def add(self, item, count=1):
                if count > 0:
                    self.items += [item] * count
                return self


        def told(n):
            if n > 2:
                print("more")
                return n * 2
            return n


        def parsed(text):
            if not text:
                return Decimal(0), 1
            return Decimal(text), 1


        def halves(n):
            while n > 1:
                yield n
                n = n // 2
        """,
}
SHAPES = {
    "lengths of texts": (
        "shop:label",
        """
        def test_label(candidate, reference):
            for n in (-5, -1, 0, 1, 9, 10, 11):
                assert len(repr(candidate(n))) == len(repr(reference(n)))
        """,
    ),
    "lengths and types of what is generated": (
        "shop:halves",
        """
        def test_halves(candidate, reference):
            for n in range(20):
                one, other = list(candidate(n)), list(reference(n))
                assert [type(each) for each in one] == [type(each) for each in other]
        """,
    ),
}
VALUES = {
    "what a method leaves, and not that it returns itself": (
        "shop:Cart.add",
        """
        from shop import Cart
        def test_add(candidate, reference):
            for count in (-1, 0, 1, 2, 3):
                one, other = Cart(), Cart()
                candidate(one, "a", count), reference(other, "a", count)
                candidate(one, "b"), reference(other, "b")
                assert one.items == other.items
        """,
    ),
    "what is printed": (
        "shop:told",
        """
        import contextlib, io
        def said(function, n):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                function(n)
            return out.getvalue()
        def test_told(candidate, reference):
            for n in (1, 2, 3, 4):
                assert said(candidate, n) == said(reference, n)
        """,
    ),
    "the part that cannot be altered": (
        "shop:parsed",
        """
        def test_parsed(candidate, reference):
            for text in ("", "1", "2.5"):
                assert candidate(text)[0] == reference(text)[0]
        """,
    ),
    "values": (
        "shop:halves",
        """
        def test_halves(candidate, reference):
            for n in range(20):
                assert list(candidate(n)) == list(reference(n))
        """,
    ),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("shop")
    # The gate of mutants has its say elsewhere.
    gates = Gates(seconds=5, mutants=5, mutation=0, runs=1)
    with validating(folder, SOURCE, gates=gates) as found:
        yield found


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_alone_are_not_enough(session: Session, name: str) -> None:
    target, text = SHAPES[name]
    verdict = verdict_on(session, target, text)
    assert isinstance(verdict, Rejected), verdict
    assert [each.slug for each in verdict.reasons] == ["control-other-values"]


@pytest.mark.parametrize("name", VALUES)
def test_who_compares_something_is_accepted(session: Session, name: str) -> None:
    target, text = VALUES[name]
    verdict = verdict_on(session, target, text)
    assert isinstance(verdict, Accepted), verdict

"""What a parameter that nobody passes anything to is taken for."""

from __future__ import annotations

import tempfile
from pathlib import Path

from check import write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.model import Certainty, ReferenceKind


def calls_of(text: str, caller: str) -> dict[str, Certainty]:
    """The callees of ``caller`` in the repository, each with its certainty."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(f"# --- shop.py\n{text}", Path(folder))
        graph = build_graph(open_program(Path(folder), cache=None))
    return {
        reference.target.partition(":")[2]: reference.certainty
        for reference in graph.references()
        if reference.source == f"shop:{caller}"
        and reference.kind is ReferenceKind.CALL
        and not reference.target.startswith("external:")
    }


CART = """
class Cart:
    def __iter__(self): return iter(())
    def price(self): return 1
    def count(self): return 1
    def weight(self): return 1
"""


def test_a_parameter_is_what_the_function_takes_it_for() -> None:
    found = calls_of(
        CART
        + """
def total(cart):
    for item in cart: pass
    return cart.price() + cart.weight()
""",
        "total",
    )
    assert found == {
        "Cart.__iter__": Certainty.LIKELY,
        "Cart.price": Certainty.LIKELY,
        "Cart.weight": Certainty.LIKELY,
    }


def test_a_subclass_may_be_meant_too() -> None:
    found = calls_of(
        CART
        + """
class Gift(Cart):
    def price(self): return 0
def total(cart): return cart.price() + cart.weight()
""",
        "total",
    )
    assert set(found) == {"Cart.price", "Gift.price", "Cart.weight"}


def test_nothing_is_guessed_between_two_that_fit() -> None:
    found = calls_of(
        CART
        + """
class Parcel:
    def __iter__(self): return iter(())
    def price(self): return 1
    def weight(self): return 1
def total(cart):
    for item in cart: pass
    return cart.price() + cart.weight()
""",
        "total",
    )
    assert not any(name.endswith("__iter__") for name in found)


def test_attributes_of_builtin_objects_tell_nothing() -> None:
    found = calls_of(
        """
class Bag:
    def __iter__(self): return iter(())
    def index(self, x): return 1
    def count(self, x): return 1
def find(bag):
    for item in bag: pass
    return bag.index(1) + bag.count(1)
""",
        "find",
    )
    assert not found


def test_what_is_passed_or_declared_is_not_guessed() -> None:
    text = (
        CART
        + """
class Parcel:
    def price(self): return 1
def total(cart): return cart.price() + cart.weight()
def paid(cart: Parcel): return cart.price() + cart.weight()
total(Parcel())
"""
    )
    assert calls_of(text, "total") == {"Parcel.price": Certainty.DEFINITE}
    assert set(calls_of(text, "paid")) == {"Parcel.price"}

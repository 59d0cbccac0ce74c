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


def named_alike(carts: int, others: int) -> str:
    """A shop where so many parameters ``cart`` are carts, so many are parcels, and one is open."""
    return (
        CART
        + "class Parcel: pass\n"
        + "".join(f"def sell{n}(cart: Cart): pass\n" for n in range(carts))
        + "".join(f"def send{n}(cart: Parcel): pass\n" for n in range(others))
        + "def unpack(cart):\n    for item in cart: pass\n"
    )


def test_a_parameter_is_what_those_of_its_name_are() -> None:
    assert calls_of(named_alike(10, 2), "unpack") == {"Cart.__iter__": Certainty.LIKELY}


def test_a_few_of_a_name_are_no_convention() -> None:
    assert not calls_of(named_alike(9, 0), "unpack")


def test_nor_is_a_name_for_several_things() -> None:
    assert not calls_of(named_alike(10, 3), "unpack")


def test_subclasses_follow_the_convention_of_their_base() -> None:
    gifts = "".join(f"def wrap{n}(cart: Gift): pass\n" for n in range(5))
    text = named_alike(5, 0) + "class Gift(Cart): pass\n" + gifts
    assert calls_of(text, "unpack") == {"Cart.__iter__": Certainty.LIKELY}


def test_what_is_declared_does_not_follow_it() -> None:
    text = named_alike(10, 0) + "def load(cart: Parcel):\n    for item in cart: pass\n"
    assert not calls_of(text, "load")

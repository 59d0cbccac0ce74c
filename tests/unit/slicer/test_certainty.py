"""Slices by definite references alone, and the order in which budgets cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import Program, open_program
from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import Certainty
from depslice.slicer import Form, function_symbols, render, slice_symbols

FIXTURES = Path(__file__).parents[3] / "fixtures"
SPECIMENS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.json"))[::4]

GUESSED = """\
import pickle


class Box:
    def unpacked(self):
        return deep()


def deep():
    return "a long text, so that this function is not the smallest of them all"


def sure():
    return surer()


def surer():
    return surest()


def surest():
    return "another long text, so that this function is not the smallest either"


def target(data):
    sure()
    return Box, pickle.loads(data).unpacked()
"""


@pytest.fixture
def guessed(tmp_path: Path) -> Program:
    (tmp_path / "app.py").write_text(GUESSED)
    return open_program(tmp_path, cache=None)


def test_a_guess_at_a_receiver_is_left_out_and_told(guessed: Program) -> None:
    whole = slice_symbols(guessed, ["app:target"])
    sure = slice_symbols(guessed, ["app:target"], least=Certainty.DEFINITE)
    names = [{item.symbol.id for item in found.items} for found in (whole, sure)]
    assert names[0] - names[1] == {"app:Box.unpacked", "app:deep"}
    assert {"app:Box", "app:surest"} <= names[1] < names[0]
    [left_out] = sure.omitted  # what that asks for in turn was never asked
    assert (left_out.symbol, left_out.why, left_out.distance) == (
        "app:Box.unpacked",
        "certainty",
        1,
    )
    assert "unpacked(self)" not in render(guessed, sure, format="bundle").files[0].text


def test_what_was_observed_is_no_guess(guessed: Program) -> None:
    found = slice_symbols(
        guessed, ["app:target"], least=Certainty.DEFINITE, observed=["app:Box.unpacked"]
    )
    assert {"app:Box.unpacked", "app:deep"} <= {item.symbol.id for item in found.items}


@pytest.mark.parametrize("specimen", SPECIMENS)
def test_definite_slices_are_part_of_the_whole_ones(specimen: str) -> None:
    program = open_program(FIXTURES / specimen, cache=None)
    for symbol in function_symbols(program)[:15]:
        whole = slice_symbols(program, [symbol.id])
        sure = slice_symbols(program, [symbol.id], least=Certainty.DEFINITE)
        items = {item.symbol.id for item in sure.items}
        assert symbol.id in items <= {item.symbol.id for item in whole.items}
        assert not items & {omitted.symbol for omitted in sure.omitted}
        assert {omitted.why for omitted in sure.omitted} <= {"certainty"}
        for file in render(program, sure, format="tree").files:
            compile(file.text, file.path, "exec")


def test_budgets_cut_what_is_guessed_before_what_is_sure(guessed: Program) -> None:
    whole = slice_symbols(guessed, ["app:target"])
    distances = {item.symbol.id: item.distance for item in whole.items}
    assert distances["app:deep"] < distances["app:surest"]
    tokens = render(guessed, whole, format="tree").tokens
    found = slice_symbols(guessed, ["app:target"], budget=tokens - 1)
    forms = {item.symbol.id: item.form for item in found.items}
    assert forms["app:deep"] is not Form.FULL
    assert forms["app:surest"] is Form.FULL


def sliced(text: str, least: Certainty, folder: Path) -> tuple[set[str], dict[str, str]]:
    """The names in the slice of ``target``, and what is omitted: name -> why."""
    (folder / "app.py").write_text(text)
    found = slice_symbols(open_program(folder, cache=None), ["app:target"], least=least)
    names = {item.symbol.id.partition(":")[2] for item in found.items}
    return names, {each.symbol.partition(":")[2]: each.why for each in found.omitted}


def test_a_guess_stands_in_the_way_of_nothing_surer(tmp_path: Path) -> None:
    text = """
class Box:
    def opened(self): return 1
class Proxy:
    def __getattr__(self, name): return getattr(Box(), name)
def target(given=None):
    given and given.opened()
    return Proxy().opened()
"""
    names, omitted = sliced(text, Certainty.LIKELY, tmp_path)
    assert "Box.opened" in names
    assert not omitted


def test_what_one_argument_is_asked_for_is_definite(tmp_path: Path) -> None:
    text = """
class Box:
    def opened(self): return 1
    def closed(self): return 2
class Other(Box):
    def closed(self): return 3
def show(box): return box.opened()
def shut(box): return box.closed()
def target(): return show(Box()), shut(Box()), shut(Other())
"""
    names, omitted = sliced(text, Certainty.DEFINITE, tmp_path)
    assert "Box.opened" in names
    assert omitted == {"Box.closed": "certainty", "Other.closed": "certainty"}


def test_what_an_interface_demands_is_definite(tmp_path: Path) -> None:
    text = """
import collections.abc
class Own(collections.abc.Mapping):
    def __getitem__(self, key): return key
    def __iter__(self): return iter(())
    def __len__(self): return 0
    def get(self, key, default=None): return default
def target(): return Own()
"""
    names, _ = sliced(text, Certainty.DEFINITE, tmp_path)
    assert {"Own.__getitem__", "Own.__iter__", "Own.__len__"} <= names
    assert "Own.get" not in names


def test_fields_that_are_left_out_are_told(tmp_path: Path) -> None:
    text = """
import enum
class Colour(enum.Enum):
    RED = 1
    BLUE = 2
def make(which): return which
def target(given: Colour):
    return given.opened() or RULES["a"](Colour.__name__)
RULES = {"a": make, "b": lambda x: Colour("x")}
"""
    names, omitted = sliced(text, Certainty.DEFINITE, tmp_path)
    assert {name for name in ("Colour.RED", "Colour.BLUE") if name not in names} <= omitted.keys()


def test_what_is_too_deep_is_not_omitted_for_its_certainty(tmp_path: Path) -> None:
    text = """
import pickle
class Box:
    def opened(self): return 1
def near(data): return pickle.loads(data).opened(), far()
def far(): return Box().opened()
def target(data): return near(data)
"""
    (tmp_path / "app.py").write_text(text)
    program = open_program(tmp_path, cache=None)
    found = slice_symbols(program, ["app:target"], least=Certainty.DEFINITE, depth=2)
    why = {each.symbol: each.why for each in found.omitted}
    assert why["app:Box.opened"] == "depth"


PASSED = """
class Big:
    def __init__(self): self.parts = assemble()
    def __new__(cls): return super().__new__(cls)
    def size(self): return len(self.parts)
class Small(Big): pass
def assemble(): return []
def make(given: Big): return type(given)()
"""


@pytest.mark.parametrize(
    ("target", "makes"),
    [
        ("def target(big: Big): return big.size()", False),
        ("class Own:\n    def target(self, big: Big): return big.size()", False),
        ("def target(big: Big): return big.size(), make(big)", True),
        ("def target(big: Big): return big.size(), Small", True),
        ("def target(big: Big): return big.size(), Big()", True),
    ],
)
def test_how_callers_make_what_they_pass_is_a_guess(
    target: str, makes: bool, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(f"{PASSED}{target}\n")
    program = open_program(tmp_path, cache=None)
    name = "app:Own.target" if "Own" in target else "app:target"
    for least in Certainty:
        slice_ = slice_symbols(program, [name], least=least)
        found = {item.symbol.id for item in slice_.items}
        assert "app:Big.size" in found
        # Whether a subclass is passed is no definite matter; copies ask for that.
        assert ("app:Big.__new__" in found) == (makes or least is not Certainty.DEFINITE)
        is_there = makes or least is Certainty.POSSIBLE
        assert ({"app:Big.__init__", "app:assemble"} <= found) == is_there


def test_of_a_private_name_a_start_says_nothing(tmp_path: Path) -> None:
    text = """
class Box:
    def _opened(self): return 1
    def on_open(self): return 2
def private(name): return getattr(Box(), f"_{name}")
def public(name): return getattr(Box(), f"on_{name}")
"""
    (tmp_path / "app.py").write_text(text)
    program = open_program(tmp_path, cache=None)
    for name, member, least in (
        ("app:public", "app:Box.on_open", Certainty.LIKELY),
        ("app:private", "app:Box._opened", Certainty.POSSIBLE),
    ):
        for each in Certainty:
            found = slice_symbols(program, [name], least=each).items
            assert (member in {item.symbol.id for item in found}) == (each.rank >= least.rank)


TAKEN = """
import elsewhere
from dataclasses import dataclass
from pydantic import BaseModel
from typing import Optional, get_type_hints
class Engine:
    def __init__(self): self.state = "on"
class Wheel:
    def __init__(self): self.state = "off"
Alias = Optional[Wheel]
@dataclass
class Car:
    engine: Engine
@dataclass
class Cart:
    wheel: Alias
def of_car(): return [each() for each in get_type_hints(Car).values()], Cart
def of_any(given): return [each() for each in get_type_hints(given).values()], Car, Cart
class Model(BaseModel):
    engine: Engine
class Unknown(elsewhere.Base):
    wheel: Wheel
def of_bases(): return Model, Unknown
"""


@pytest.mark.parametrize(
    ("target", "likely"),
    [("of_car", {"app:Engine.__init__"}), ("of_any", set()), ("of_bases", {"app:Engine.__init__"})],
)
def test_whose_annotations_code_reads_is_a_guess(
    target: str, likely: set[str], tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(f"{TAKEN}")
    program = open_program(tmp_path, cache=None)
    for least in (Certainty.LIKELY, Certainty.POSSIBLE):
        items = slice_symbols(program, [f"app:{target}"], least=least).items
        made = {item.symbol.id for item in items if item.symbol.id.endswith("__init__")}
        everything = {"app:Engine.__init__", "app:Wheel.__init__"}
        assert made == (likely if least is Certainty.LIKELY else everything)


LISTED = """
# --- app.py
from pkg import Big
def target(given: Big): return 1
def making(): return Big()
# --- pkg/__init__.py
from typing import TYPE_CHECKING
from lazily import replace_module
if TYPE_CHECKING:
    from pkg.core import Big, Other
replace_module(__name__, {"pkg.core": ["Big", "Other"]})
# --- pkg/core.py
class Big:
    def __init__(self): pass
class Other:
    def __init__(self): pass
"""


@pytest.mark.parametrize(
    ("target", "made"), [("target", set()), ("making", {"pkg.core:Big.__init__"})]
)
def test_what_is_fetched_with_a_name_is_there_as_a_name(
    target: str, made: set[str], tmp_path: Path
) -> None:
    write_files(LISTED, tmp_path)
    program = open_program(tmp_path, cache=None)
    items = slice_symbols(program, [f"app:{target}"], least=Certainty.LIKELY).items
    found = {item.symbol.id for item in items}
    assert {"pkg.core:Big", "pkg.core:Other"} <= found
    assert {each for each in found if each.endswith("__init__")} == made


def test_a_certainty_that_is_none_is_refused(guessed: Program) -> None:
    with pytest.raises(OptionError, match="Certainty"):
        slice_symbols(guessed, ["app:target"], least="likely")  # type: ignore[arg-type]

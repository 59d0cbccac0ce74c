"""Annotations that Python evaluates as it makes a function or class (PEP 3107, before PEP 649)."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

HEAD = """
# --- app.py
import enum
from dataclasses import dataclass
from typing import Annotated, Literal, Optional, Union
class Kind(enum.Enum):
    A = 1
    B = 2
class Gt:
    def __init__(self, least): self.least = check(least)
def check(least): return least
class Once(type):
    def __call__(cls, *given): return super().__call__(*given)
class Marker(metaclass=Once):
    def __init__(self, n): self.n = n
class Box:
    def __class_getitem__(cls, item): return boxed(item)
def boxed(item): return item
class Rows(type):
    def __getitem__(cls, item): return cls
class Table(metaclass=Rows): pass
class Outer:
    Alias = Union[str, bytes]
    class Inner: pass
class Shop:
    Price = int
    Names = Union[str, bytes]
    class State(enum.Enum):
        OPEN = 1
    def open(self, state: State = None) -> Optional[State]: return state
    @property
    def price(self) -> Price: return 3
    label: Names = "x"
    def deep(self):
        def inner(x: int) -> str: return x
        return inner(4)
@dataclass
class Row:
    Price = int
    price: Price = 5
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def target(x: Outer.Inner = 1): return x", "1"),
        ("def target(x: 'Outer.Inner' = 1) -> Outer.Alias: return x", "1"),
        ("def target(x: Optional[Outer.Inner] = 1): return x", "1"),
        ("def target(x: Literal[Kind.A, Kind.B] = 1): return x", "1"),
        ("def target(x: Annotated[int, Gt(1)] = 1): return x", "1"),
        ("def target(x: Annotated[int, Marker(1)] = 1): return x", "1"),
        ("def target(x: Marker(1) = 1): return x", "1"),
        ("def target(x: Box[int] = 1): return x", "1"),
        ("def target(x: Table[int] = 1): return x", "1"),
        ("def target(): return Shop().open(), Shop().price, Shop().label", "(None, 3, 'x')"),
        ("def target(): return Shop().deep()", "4"),
        ("def target(): return Row().price", "5"),
    ],
)
def test_what_an_annotation_evaluates_is_there(code: str, expected: str, tmp_path: Path) -> None:
    assert answer(HEAD + code + "\n", "app:target", "m.target()", tmp_path) == expected


def test_names_in_annotations_bring_no_more_than_names(tmp_path: Path) -> None:
    files = """
# --- app.py
from typing import Literal
class Outer:
    class Inner:
        def __init__(self): self.x = heavy()
    Alias = int
    def __init__(self): self.x = heavy()
def heavy(): return 1
def target(x: Outer.Inner, y: "Outer | None" = None): return y is x
"""
    write_files(files, tmp_path)
    assert slice_ids(tmp_path, "app:target") == {"app:Outer", "app:Outer.Inner", "app:target"}


@pytest.mark.parametrize(
    "code",
    [
        "ns.get('__annotations__', {})",
        "vars(D)['__annotations__']",
        "D.__dict__.get('__annotations__')",
    ],
)
def test_annotations_that_are_asked_for_by_a_text(code: str, tmp_path: Path) -> None:
    """The metaclass of what they name does not rest."""
    files = f"""
# --- app.py
class Meta(type):
    def __new__(cls, name, bases, ns): return super().__new__(cls, name, bases, ns)
    def __init__(cls, name, bases, ns): cls.tag = "t"
class E(metaclass=Meta): pass
class D:
    e: E = 1
ns = vars(D)
def target(): return {code}["e"].tag
"""
    assert answer(files, "app:target", "m.target()", tmp_path) == "t"


def test_the_docstring_of_a_parameter(tmp_path: Path) -> None:
    files = '''
# --- app.py
class Command:
    """Does it."""
def target(c: Command): return c.__doc__
'''
    assert answer(files, "app:target", "m.target(m.Command())", tmp_path) == "Does it."


LAZY = """
# --- pkg/__init__.py
# --- pkg/lazy.py
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar, Literal
from . import plain
def clash(): return "lazy"
def size(x: int, *more: "str", kind: Literal["a", 'b'] = "a", **rest: Unknown) -> dict[
    str,  # by name
    'int',
]:
    local: Nowhere = x
    return local + 1
@dataclass
class Row:
    table: ClassVar[dict[str, int]] = {}
    item: plain.Item | None = None
    def get(self, one: Row) -> Literal["\\n"]:
        self.seen: Nowhere = one
        return size(1)
# --- pkg/plain.py
class Item: pass
def clash(item: Item): return "plain"
# --- pkg/app.py
from dataclasses import dataclass, fields
from typing import get_type_hints
from .lazy import Row, size, clash as other
from .plain import clash
def run():
    kind = int
    @dataclass
    class Own:
        x: kind
    hints = {name: str(hint).split(".")[-1] for name, hint in get_type_hints(Row).items()}
    shown = {name: "".join(text.split()) for name, text in size.__annotations__.items()}
    del shown["return"], shown["kind"], shown["more"]  # these keep their quotes
    return (
        [each.type(size(2)) for each in fields(Own)], [each.name for each in fields(Row)],
        sorted(hints), shown, other(), clash(None), Row().get(Row()), Row.get.__annotations__["one"],
        get_type_hints(Row.get)["return"].__args__, clash.__annotations__["item"].__name__,
    )
"""


def test_one_file_keeps_as_texts_what_a_module_keeps_so(tmp_path: Path) -> None:
    original, *slices = answers(LAZY, tmp_path)
    assert slices == [original, original]


@pytest.mark.parametrize(
    "other", ["def clash(): return 1", "from __future__ import annotations\ndef clash() -> No: ..."]
)
def test_one_file_has_the_future_of_all_that_have_annotations(other: str, tmp_path: Path) -> None:
    write_files(
        f"""
# --- a.py
from __future__ import annotations
from b import clash
def size(x: Nowhere) -> None: return clash()
# --- b.py
{other}
""",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    [flat] = render(program, slice_symbols(program, ["a:size"]), format="module").files
    assert flat.text.startswith("from __future__ import annotations\n")
    assert "(x: Nowhere) -> None" in flat.text


def test_one_file_keeps_class_variables_of_dataclasses_with_long_types(tmp_path: Path) -> None:
    """``dataclasses`` looks for ``ClassVar`` where the text of an annotation begins."""
    files = """
# --- pkg/__init__.py
# --- pkg/lazy.py
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar, Literal, Optional
@dataclass
class D:
    table: ClassVar[
        dict[str, int]
    ] = {}
    kind: ClassVar[Literal["a", 'b']] = "a"
    size: (
        int |
        None
    ) = 2
    name: Optional["D"] | 'D' = None
# --- pkg/app.py
from .lazy import D
class Uses:
    def f(self, y: int): return y
def run():
    return D(3), D.table, Uses().f(1)
"""
    original, *slices = answers(files, tmp_path)
    assert slices == [original, original]

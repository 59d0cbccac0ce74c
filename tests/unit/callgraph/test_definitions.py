from __future__ import annotations

import ast

import pytest

from depslice.callgraph.definitions import accessor, definitions_of

TEXT = """\
@overload
def size(x: int) -> int: ...
def size(x): ...
try:
    from fast import home
except ImportError:
    def home(): ...
else:
    if windows:
        @cached
        def home(): ...
        def home(): ...
class C:
    @property
    def name(self): ...
    @name.setter
    def name(self, value): ...
    def outer(self):
        def inner(): ...
@typing.overload
def only(x): ...
"""


@pytest.mark.parametrize(
    ("name", "line", "chosen", "others", "same"),
    [
        ("size", 1, 3, [], [3]),
        ("home", None, 12, [7], [7, 11, 12]),
        ("home", 7, 7, [12], [7, 11, 12]),
        ("home", 10, 11, [7], [7, 11, 12]),
        ("C.name", None, 15, [], [15]),
        ("C.name", 14, 15, [], [15]),
        ("C.name", 16, 17, [], [17]),
        ("C.outer.<locals>.inner", None, 19, [], [19]),
        ("only", 20, 21, [], [21]),
    ],
)
def test_the_definitions_of_a_name(
    name: str, line: int | None, chosen: int, others: list[int], same: list[int]
) -> None:
    found = definitions_of(ast.parse(TEXT), name, line)
    assert found is not None
    assert found.chosen.lineno == chosen
    assert [each.lineno for each in found.others] == others
    assert [each.lineno for each in found.same] == same
    assert accessor(found.chosen) == ("setter" if chosen == 17 else "")


def test_what_is_not_there() -> None:
    assert definitions_of(ast.parse(TEXT), "C") is None
    assert definitions_of(ast.parse(TEXT), "C.nothing") is None


LIVE = """\
if fast:
    @register("int")
    def show(x): ...
if slow:
    @register("str")
    def show(x): ...
if fast:
    def plain(x): ...
if slow:
    def plain(x): ...
def total(kind):
    if kind:
        def op(a): ...
    else:
        def op(a): ...
    return op
"""


@pytest.mark.parametrize(
    ("name", "others", "same"),
    [
        ("show", [], [3, 6]),  # both are registered, if both branches run
        ("plain", [8], [8, 10]),
        ("total.<locals>.op", [], [15]),  # each call makes one
    ],
)
def test_what_another_definition_does_not_replace(
    name: str, others: list[int], same: list[int]
) -> None:
    found = definitions_of(ast.parse(LIVE), name)
    assert found is not None
    assert [each.lineno for each in found.others] == others
    assert [each.lineno for each in found.same] == same

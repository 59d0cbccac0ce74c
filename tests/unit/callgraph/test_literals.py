"""Which texts stand in the code of a function, so that no other may be in their place."""

from __future__ import annotations

import pytest

from depslice.callgraph import summary as s
from depslice.callgraph.engine.literals import Literals
from depslice.callgraph.lowering import summarize

STANDING = {
    "a literal": "getattr(x, 'a')",
    "one of two": "getattr(x, 'a' if x else 'b')",
    "a variable": "name = 'a'\n    if x:\n        name = 'b'\n    getattr(x, name)",
    "a loop over a tuple": "for name in ('a', 'b'):\n        getattr(x, name)",
    "a loop over a list nobody changes": "for name in ['a', 'b']:\n        getattr(x, name)",
    "sorted": "for name in sorted({'a', 'b'}):\n        getattr(x, name)",
    "enumerate": "for i, name in enumerate(('a', 'b')):\n        getattr(x, name)",
    "items of a display": "for name, y in {'a': 1, 'b': 2}.items():\n        getattr(x, name)",
    "an element": "getattr(x, ('a', 'b')[x.i])",
    "a variable of the module": "for name in NAMES:\n        getattr(x, name)",
}
FROM_ELSEWHERE = {
    "an attribute": "getattr(x, x.name)",
    "a parameter": "getattr(x, name)",
    "a result": "getattr(x, name_of(x))",
    "a literal or an attribute": "getattr(x, 'a' if x else x.name)",
    "a list that grows": "names = ['a']\n    names.append(x.b)\n    getattr(x, names[0])",
    "a list somebody has": "names = ['a']\n    x.has(names)\n    getattr(x, names[0])",
    "a list that is kept": "names = x.kept = ['a']\n    getattr(x, names[0])",
    "a list a nested function has": (
        "names = ['a']\n    def add(): names.append(x.b)\n    getattr(x, names[0])"
    ),
    "a sorted that is none": "getattr(x, own_sorted(['a'])[0])",
    "a variable of the module bound twice": "getattr(x, TWICE)",
    "a variable of the module set by a function": "getattr(x, SET)",
    "a list of the module that grows": "for name in GROWING:\n        getattr(x, name)",
    "a variable of another module": "getattr(x, IMPORTED)",
}
MODULE = """
from other import IMPORTED
NAMES = ("a", "b")
TWICE = "a"
TWICE = "b"
SET = "a"
GROWING = ["a"]
GROWING.append("b")
def setting():
    global SET
    SET = "b"
def f(x, name):
    {body}
"""


def stands_there(body: str) -> bool:
    """Whether the name that ``f`` gives to ``getattr`` does, or is written out."""
    summary = summarize(MODULE.format(body=body))
    [unit] = [unit for unit in summary.units if unit.kind != "piece" and unit.qualname == "f"]
    by_name = [op for op in unit.ops if op[0] == s.BY_NAME]
    return all(Literals(summary, unit).stands_there(op[4]) for op in by_name)


@pytest.mark.parametrize("body", STANDING.values(), ids=STANDING)
def test_stands_there(body: str) -> None:
    assert stands_there(body)


@pytest.mark.parametrize("body", FROM_ELSEWHERE.values(), ids=FROM_ELSEWHERE)
def test_may_be_another(body: str) -> None:
    assert not stands_there(body)


def test_what_is_written_by_computed_names_may_be_another() -> None:
    module = MODULE + "\ndef g(key):\n    globals()[key] = 1\n"
    summary = summarize(module.format(body="getattr(x, NAMES[0])"))
    [unit] = [unit for unit in summary.units if unit.kind != "piece" and unit.qualname == "f"]
    [by_name] = [op for op in unit.ops if op[0] == s.BY_NAME]
    assert not Literals(summary, unit).stands_there(by_name[4])

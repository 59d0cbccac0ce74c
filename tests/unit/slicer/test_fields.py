"""What generated constructors take by place: fields, not other attributes of the class."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, answers, slice_ids, write_files
from depslice.callgraph import build_graph, open_program

BODIES = {
    "without an annotation": "@dataclass\nclass Bound:\n    first = 1\n    params: list",
    "of the class": '@dataclass\nclass Bound:\n    first: "typing.ClassVar[int]" = 1\n    params: list',
    "not passed": (
        "@dataclass\nclass Bound:\n    first: int = field(init=False, default=1)\n    params: list"
    ),
    "by keyword": (
        "@dataclass\nclass Bound:\n    first: int = field(kw_only=True, default=1)\n"
        "    params: list = None"
    ),
    "of a base": (
        "@dataclass\nclass Base:\n    first = 1\n@dataclass\nclass Bound(Base):\n    params: list"
    ),
    "attr.ib": (
        "@attr.s\nclass Bound:\n    first = 1\n    second: int = 2\n    params = attr.ib()\n"
        "    last = attr.ib(default=None)"
    ),
    "attr.field": "@attr.define\nclass Bound:\n    first = 1\n    params = attr.field()",
    "auto_attribs": (
        "@attr.s(auto_attribs=True)\nclass Bound:\n    first = 1\n    params: list\n"
        "    last: int = attr.ib(default=1)"
    ),
    "own function": (
        "def one(): return attr.ib()\n@attr.s\nclass Bound:\n    params = one()\n    last = one()"
    ),
    "frozen": "@attrs.frozen\nclass Bound:\n    first = 1\n    params: list",
    "NamedTuple": "class Bound(typing.NamedTuple):\n    params: list\n    last: int = 1",
}


def files_of(body: str) -> str:
    given = "[Param()], 1" if "one()" in body else "[Param()]"
    return f"""
# --- m.py
import typing
from dataclasses import dataclass, field
try:
    import attr, attrs
except ImportError:
    pass
class Param:
    def post(self): return 1
    def idle(self): return 2
{body}
    def process(self): return [p.post() for p in self.params]
def run(): return Bound({given}).process()
"""


@pytest.mark.parametrize("which", BODIES)
def test_an_attribute_that_is_no_field_takes_no_place(which: str, tmp_path: Path) -> None:
    files = files_of(BODIES[which])
    write_files(files, tmp_path)
    ids = slice_ids(tmp_path, "m:run")
    assert "m:Param.post" in ids
    assert "m:Param.idle" not in ids
    graph = build_graph(open_program(tmp_path, cache=None))
    assert any(
        (each.source, each.target) == ("m:Bound.process", "m:Param.post")
        for each in graph.references()
    )
    if "attr" not in which and which not in ("frozen", "own function"):  # may not be installed
        assert answer(files, "m:run", "m.run()", tmp_path / "made") == "[1]"


def test_fields_that_a_decorator_makes_keyword_only_have_no_place(tmp_path: Path) -> None:
    files = """
# --- pkg/__init__.py
# --- pkg/app.py
from dataclasses import KW_ONLY, dataclass
class Idle:
    def show(self): return "idle"
class Used:
    def show(self): return "used"
    def other(self): return "other"
@dataclass(kw_only=True)
class Base:
    before: object = None
@dataclass
class Record(Base):
    first: object
    _: KW_ONLY
    last: object = None
    def run(self): return self.first.show(), self.last and self.last.other()
def run(): return Record(Used()).run(), Record(Used(), last=Used()).run()
"""
    shown = answers(files, tmp_path)
    assert shown == [shown[0]] * 3

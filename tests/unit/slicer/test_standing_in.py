"""Objects that the repository puts in the place of something outside of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, slice_ids, write_files

FINDER = """
# --- m.py
import html.parser
from html import parser as pages
class Found:
    def __init__(self, text): self.text = text
    def group(self): return self.text
    def end(self): return 5
    def kept(self): return Far()
class Far:
    def near(self): return 1
class Base:
    def match(self, text, at): return Found(text[at:at + 5]) if text[at:at + 2] == "&#" else None
class Finder(Base):
    def search(self, text, at=0): return None
class Unasked:
    def search(self, text): return None
STATEMENT
class Parser(html.parser.HTMLParser):
    def handle_charref(self, name): self.seen = name
def target():
    made = Parser(convert_charrefs=False)
    made.feed("a&#65;b")
    made.close()
    return made.seen
def other(kind): return Unasked().search(kind)
"""


@pytest.mark.parametrize(
    "statement",
    [
        "html.parser.charref = Finder()",
        "pages.charref = Finder()",
        "setattr(html.parser, 'charref', Finder())",
        "def put(what): html.parser.charref = what\nput(Finder())",
        "class Only:\n    @staticmethod\n    def match(text, at): return Found(text[at:at + 5])\nhtml.parser.charref = Only",
    ],
)
def test_code_outside_uses_all_of_what_stands_in_its_module(statement: str, tmp_path: Path) -> None:
    assert (
        answer(FINDER.replace("STATEMENT", statement), "m:target", "m.target()", tmp_path) == "65"
    )


def test_only_what_no_stub_declares_and_no_builtin_brings_all_of_it(tmp_path: Path) -> None:
    files = """
# --- m.py
import sys, builtins
class Out:
    def write(self, text): return 1
    def more(self): return 2
class Name:
    def more(self): return 3
sys.stdout = Out()
builtins.shown = Name()
def target():
    sys.stdout.flush()
    return shown
"""
    write_files(files, tmp_path)
    ids = slice_ids(tmp_path, "m:target")
    assert "m:Out.write" in ids
    assert not {"m:Out.more", "m:Name.more"} & set(ids)

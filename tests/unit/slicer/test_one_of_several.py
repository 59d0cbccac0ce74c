"""What is declared as one of several types, and asked for what only some of them have."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from check import answer, slice_ids, write_files

PROGRAM = """\
# --- app.py
from __future__ import annotations

import datetime
import pathlib
import threading
from collections.abc import Sized
from typing import Union

try:
    import somewhere
except ImportError:
    import builtins as somewhere
    somewhere.Mapping = dict


class Tree(dict):
    @property
    def parts(self):
        return grown()
    @property
    def iterdir(self):
        return grown


def grown():
    return ["t"]


class Bush(somewhere.Mapping):
    @property
    def parts(self):
        return []


class Failed(ValueError):
    @property
    def parts(self):
        return ["f"]


class Plain:
    def __init__(self):
        self.parts = ["p"]


class Other:
    @property
    def parts(self):
        return others()
    def iterdir(self):
        return others()
    def utctimetuple(self):
        return others()


class Proxy:
    def __getattr__(self, name):
        return others()


def others():
    return ["o"]


class Result:
    def tell(self):
        return "told"


class Worker:
    def __init__(self):
        self.outcome = None


def live():
    return Tree(), Bush(), Failed(), Other(), Proxy()


def started():
    thread = threading.Thread()
    thread.outcome = Result()
    return thread
"""


@pytest.mark.parametrize(
    ("declared", "read"),
    [
        ("Union[str, pathlib.Path]", "iterdir"),
        ("str | pathlib.Path | None", "iterdir"),
        ("int | datetime.datetime", "utctimetuple"),
    ],
)
def test_who_has_what_is_read_is_meant(declared: str, read: str, tmp_path: Path) -> None:
    text = f"def use(x: {declared}):\n    live()\n    return x.{read}()\n"
    write_files(PROGRAM + text, tmp_path)
    found = slice_ids(tmp_path, "app:use")
    assert not found & {f"app:Other.{read}", "app:Proxy.__getattr__", "app:others"}


def test_a_test_of_types_outside_tells_them_apart(tmp_path: Path) -> None:
    text = """
        Kind = Union[bytes, str, datetime.datetime]
        def use(x: Kind):
            live()
            if isinstance(x, str):
                return x
            elif isinstance(x, datetime.datetime):
                return x.utctimetuple()
    """
    write_files(PROGRAM + dedent(text), tmp_path)
    found = slice_ids(tmp_path, "app:use")
    assert not found & {"app:Other.utctimetuple", "app:Proxy.__getattr__"}


@pytest.mark.parametrize(
    ("declared", "given", "parts"),
    [
        ("dict | Plain", "Tree()", ["t"]),
        ("dict | pathlib.Path", "Tree()", ["t"]),
        ("Union[ValueError, Plain]", "Failed()", ["f"]),
        ("dict | Plain", "Plain()", ["p"]),
    ],
)
def test_a_class_of_the_repo_may_extend_what_lacks_it(
    declared: str, given: str, parts: list[str], tmp_path: Path
) -> None:
    text = f"""
        def use(x: {declared}):
            return live() and list(x.parts)
        def run():
            return use({given})
    """
    assert answer(PROGRAM + dedent(text), "app:run", "m.run()", tmp_path) == repr(parts)


def test_one_that_extends_it_is_asked_whoever_made_it(tmp_path: Path) -> None:
    text = "def use(x: dict | Plain):\n    live()\n    return x.parts\n"
    write_files(PROGRAM + text, tmp_path)
    found = slice_ids(tmp_path, "app:use")
    assert {"app:Tree.parts", "app:grown", "app:Bush.parts", "app:Plain.__init__"} <= found
    assert not found & {"app:Failed.parts", "app:Other.parts", "app:Proxy.__getattr__"}


def test_what_was_stored_on_an_object_from_outside(tmp_path: Path) -> None:
    text = """
        def use(x: Union[threading.Thread, Worker]):
            return x.outcome.tell()
        def run():
            return use(started())
    """
    assert answer(PROGRAM + dedent(text), "app:run", "m.run()", tmp_path) == "told"


def test_an_interface_may_be_anything(tmp_path: Path) -> None:
    text = "def use(x: Sized | Plain):\n    live()\n    return x.parts\n"
    write_files(PROGRAM + text, tmp_path)
    assert "app:Other.parts" in slice_ids(tmp_path, "app:use")


def test_a_declaration_that_cannot_be_true_says_nothing(tmp_path: Path) -> None:
    text = "def use(x: str | int):\n    live()\n    return x.parts\n"
    write_files(PROGRAM + text, tmp_path)
    assert "app:Other.parts" in slice_ids(tmp_path, "app:use")

"""Methods behind one wrapper: each keeps an instance of its own class as its receiver."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import build_graph, open_program

FILES = """
# --- app.py
import unittest
def coroutine(func):
    def wrapper(*args): return func(*args)
    return wrapper
class Handler:
    def write(self, x): pass
class Login(Handler):
    @coroutine
    def get(self): self.write(1)
class Case(unittest.TestCase):
    @coroutine
    def test_read(self): self.fill()
    def fill(self): pass
"""


@pytest.mark.parametrize("run", ["unittest.main()", "Case().test_read()"])
def test_a_method_that_others_are_passed_with(run: str, tmp_path: Path) -> None:
    """A run of `Case.test_read` passes a `Case` to whatever the wrapper wraps."""
    write_files(f"{FILES}{run}\n", tmp_path)
    graph = build_graph(open_program(tmp_path, cache=None))
    assert "app:Handler.write" in graph.callees("app:Login.get")
    assert "app:Case.fill" in graph.callees("app:Case.test_read")

"""A target that a class only inherits: it is told where it is defined."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import find_symbol, open_program
from depslice.callgraph.errors import UnknownTarget

FILES = """
# --- base.py
class Base:
    def send(self): return 1
# --- ports.py
from base import Base
class Port(Base):
    def close(self): return 2
class EchoPort(Port): pass
"""


@pytest.mark.parametrize("text", ["ports:EchoPort.send", "EchoPort.send", "ports.py:EchoPort.send"])
def test_an_inherited_method_is_told_where_it_is(text: str, tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    with pytest.raises(UnknownTarget, match="is inherited") as failure:
        find_symbol(open_program(tmp_path, cache=None), text)
    assert failure.value.candidates == ("base:Base.send",)
    assert failure.value.hint == "name it where it is defined: base:Base.send"


@pytest.mark.parametrize(
    "text", ["ports:EchoPort.sent", "ports:EchoPort.__init__", "ports:Pert.send"]
)
def test_what_no_base_has_is_unknown(text: str, tmp_path: Path) -> None:
    write_files(FILES, tmp_path)
    with pytest.raises(UnknownTarget, match="no symbol is called"):
        find_symbol(open_program(tmp_path, cache=None), text)

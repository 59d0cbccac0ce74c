"""Names that no statement spells: modules make them when they run, and stars carry them on."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import answer, write_files
from depslice.callgraph import open_program
from depslice.slicer import render, slice_symbols

PACKAGE = """
# --- pk/__init__.py
from .flags import *
# --- pk/more.py
NOT = "asked for"
globals()["MORE"] = 4
# --- use.py
import pk


def attribute():
    return pk.WRITE


def imported():
    from pk import WRITE
    return WRITE


def perhaps():
    return getattr(pk, "EXECUTE", "none"), pk.WRITE


class Reader:
    def read(self, module=pk):
        return [module.WRITE for _ in (1, 2)]
# --- star.py
from pk.flags import *


def plain():
    return WRITE


class Own:
    value = WRITE


async def later():
    return (lambda: WRITE)()
# --- pk/flags.py
"""
MAKING = {
    "update": """
import enum
class Flag(enum.IntEnum):
    READ = 1
    WRITE = 2
globals().update(Flag.__members__)
""",
    "a loop": """
for place, name in enumerate(("READ", "WRITE"), 1):
    globals()[name] = place
""",
    "setattr in a function": """
import sys as _sys
def _make(name, value):
    setattr(_sys.modules[__name__], name, value)
_make("READ", 1)
_make("WRITE", 2)
""",
    "a variable, and another star": """
from .more import *
space = globals()
space["WRITE"] = 2
""",
    "a computed __all__": """
import enum
class Flag(enum.IntEnum):
    READ = 1
    WRITE = 2
globals().update(Flag.__members__)
__all__ = ["Flag", *Flag.__members__]
""",
    "a literal __all__": """
UNUSED = 1
__all__ = ["UNUSED", "WRITE"]
vars().update({"WRITE": 2})
""",
}
ASKING = [
    ("use:attribute", "m.attribute()", "2"),
    ("use:imported", "m.imported()", "2"),
    ("use:Reader", "m.Reader().read()", "[2, 2]"),
    ("star:plain", "m.plain()", "2"),
    ("star:Own", "int(m.Own.value)", "2"),
    ("star:later", "__import__('asyncio').run(m.later())", "2"),
]


@pytest.mark.parametrize("making", MAKING)
def test_a_star_gives_what_a_module_makes(making: str, tmp_path: Path) -> None:
    for number, (target, expression, expected) in enumerate(ASKING):
        folder = tmp_path / str(number)
        shown = answer(f"{PACKAGE}{MAKING[making]}", target, expression, folder)
        assert shown.replace("<Flag.WRITE: 2>", "2") == expected, target


def test_a_name_that_is_not_made_is_not_imported(tmp_path: Path) -> None:
    shown = answer(f"{PACKAGE}{MAKING['a loop']}", "use:perhaps", "m.perhaps()", tmp_path)
    assert shown == "('none', 2)"


def test_a_star_that_cannot_give_the_name_stays_away(tmp_path: Path) -> None:
    """What is private, what its ``__all__`` lacks, and what a module makes of which there is no star."""
    write_files(
        """
# --- m.py
from a import *
from b import *
import c
def main(): return _hidden, MADE
# --- a.py
globals()["_hidden"] = 1
__all__ = ["OTHER"]
# --- b.py
X = 1
# --- c.py
globals()["MADE"] = 1
""",
        tmp_path,
    )
    program = open_program(tmp_path, cache=None)
    files = render(program, slice_symbols(program, ["m:main"])).files
    assert [file.path for file in files] == ["m.py"]

"""Slices end: what code does with itself is followed so far, and no further.

Each program stands for one that a slice was never done with. It is made in a process of its
own, with little memory: what grows without an end fails soon.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_SLICE = """
import resource
import sys
from pathlib import Path

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from depslice.callgraph import open_program
from depslice.slicer import slice_symbols

program = open_program(Path(sys.argv[1]), cache=None)
print(*sorted(item.symbol.id for item in slice_symbols(program, ["main:use"]).items))
"""
_PARTIALS = """
from functools import partial


class Machine:
    def __init__(self, states):
        self.states = states

    def find(self, name):
        return self.states[name]

    def __getattr__(self, name):
        return partial(self.find(name).add, name)

    def start(self, states):
        for state in states:
            state.add(len).go()
        return Machine(states).add(self)()


def use(items):
    return Machine({"a": Machine(items)}).start([Machine(items)])
"""


@pytest.mark.parametrize(
    ("program", "found"),
    [
        pytest.param(
            _PARTIALS,
            {"__init__", "find", "__getattr__", "start"},
            id="a partial of what may be a partial of it",
        ),
    ],
)
def test_a_slice_ends(program: str, found: set[str], tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(program, encoding="utf-8")
    made = subprocess.run(
        [sys.executable, "-c", _SLICE, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-1000:]
    assert {f"main:Machine.{name}" for name in found} <= set(made.stdout.split())

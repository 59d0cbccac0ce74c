"""What is loaded before processes are forked, so that no measured run pays for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from depslice.callgraph import open_program
from depslice.validator.child.evidence.gathering import _tools
from depslice.validator.validation.ground import open_ground
from harnesses import some_sandbox

CODE = """
from depslice.validator.child.own_tests import preload
preload({tools})
import hypothesis.internal.charmap as table
print(table._charmap is not None)
"""


@pytest.mark.parametrize(
    ("harness", "tools"),
    [
        ("def test_it(context): ...", []),
        ("from hypothesis import given, strategies as st\nst.integers()", ["hypothesis"]),
        ("from hypothesis import strategies as st\nst.text(max_size=6)", ["hypothesis", "texts"]),
        ("import pytest\ntext()", ["pytest"]),
    ],
)
def test_what_a_harness_will_want(harness: str, tools: list[str]) -> None:
    assert _tools(harness) == tools


@pytest.mark.parametrize(
    ("tools", "known"), [(["hypothesis"], False), (["hypothesis", "texts"], True)]
)
def test_hypothesis_knows_all_characters_before_a_run_is_measured(
    tools: list[str], known: bool
) -> None:
    """It looks at a million of them for its first text: a minute under a tracer."""
    pytest.importorskip("hypothesis")
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(tools=tools)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(known)


def test_tools_add_nothing_to_the_pytest_of_an_environment(tmp_path: Path) -> None:
    """The plug-in of time-machine was loaded where its compiled part is for another Python: pytest
    did not start, and no test made a call to compare.
    """
    (tmp_path / "a.py").touch()
    program = open_program(str(tmp_path))
    with open_ground(program, sandbox=some_sandbox(), python=sys.executable) as ground:
        tools = ground.folders[-1]
        assert [*tools.glob("hypothesis-*.dist-info/METADATA")]
        assert [*tools.rglob("entry_points.txt")] == []

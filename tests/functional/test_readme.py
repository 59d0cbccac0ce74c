"""What the README shows of the command line is what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from functional.running import Depslice

_ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"^```console\n\$ (depslice .*fixtures/.*)\n((?:(?!```).*\n)+)```$", re.MULTILINE
)
_LEFT_OUT = "[…]\n"
_SHOWN = _BLOCK.findall((_ROOT / "README.md").read_text(encoding="utf-8"))


def test_something_is_shown() -> None:
    assert _SHOWN


@pytest.mark.parametrize(("command", "output"), _SHOWN, ids=[command for command, _ in _SHOWN])
def test_commands_say_what_is_shown(depslice: Depslice, command: str, output: str) -> None:
    said = f"{depslice(*shlex.split(command)[1:], cwd=_ROOT).out.rstrip()}\n"
    first, *parts = output.split(_LEFT_OUT)
    assert said.startswith(first)
    rest = said.removeprefix(first)
    for part in parts:
        _, found, rest = rest.partition(part)
        assert found, said
    assert not rest

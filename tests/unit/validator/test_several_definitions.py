"""Targets that have several definitions, and files that are no UTF-8 or indented by tabs."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from depslice.callgraph import open_program
from depslice.validator import check_limits, open_workspace
from depslice.validator.reaching import record_reaching
from depslice.validator.validation import Accepted, Gates, Harness, parse_harness
from depslice.validator.validation.candidates import (
    Different,
    Same,
    replaced_text,
    source_of,
)
from harnesses import refereeing, some_sandbox, validating, verdict_on

SEVERAL = """\
import sys
from typing import overload


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    if isinstance(x, str):
        return x + x
    return x * 2


if sys.version_info < (3,):
    def triple(x):
        return x + x + x
else:
    def triple(x):
        if x == 0:
            return 0
        return x * 3


class Person:
    def __init__(self, name):
        self._name = name

    @property
    def name(self):
        return self._name or "nobody"

    @name.setter
    def name(self, value):
        self._name = value
"""
TESTS = {
    "double": "def test(context):\n    for x in (2, 0, 'a', ''):\n        context.check(x)\n",
    "triple": "def test(context):\n    for x in (2, 0, 'a', 7):\n        context.check(x)\n",
    "Person.name": "from several import Person\ndef test(context):\n"
    "    for x in ('Ann', '', 'Bo'):\n        context.check(Person(x))\n",
}
RIGHT = {
    "double": "def double(x):\n    return x + x",
    "triple": "def triple(x):\n    return 3 * x",
    # The whole class, as a model may answer: the getter is meant.
    "Person.name": "class Person:\n    @property\n    def name(self):\n"
    "        return self._name if self._name else 'nobody'\n"
    "    @name.setter\n    def name(self, value):\n        raise ValueError(value)\n",
}


def harness_of(text: str, name: str, target: str, folder: Path) -> Harness:
    (folder / "several.py").write_text(text, encoding="utf-8")
    return parse_harness("", open_program(str(folder)), name=name, target=f"several:{target}")


def placed(tmp_path: Path, source: str, target: str, candidate: str) -> str:
    text = replaced_text(source, harness_of(source, "h.py", target, tmp_path), candidate)
    ast.parse(text)
    return text


@pytest.mark.parametrize("target", RIGHT)
def test_a_right_candidate_is_the_same_and_a_wrong_one_is_not(target: str, tmp_path: Path) -> None:
    """A candidate stood where the stub or the other branch was, and the original ran: all passed."""
    name = target.rpartition(".")[2]
    head = "@property\n" if target == "Person.name" else ""
    with refereeing(tmp_path, {"several.py": SEVERAL}, gates=Gates(seconds=30)) as referee:
        harness = parse_harness(TESTS[target], referee.ground.program, target=f"several:{target}")
        assert referee.compare(harness, RIGHT[target]) == Same()
        wrong = referee.compare(harness, f"{head}def {name}(x):\n    return 'wrong'")
        assert isinstance(wrong, Different), wrong
        assert referee.compare(harness, RIGHT[target]) == Same()


@pytest.mark.parametrize("target", ["double", "triple"])
def test_what_runs_is_measured(target: str, tmp_path: Path) -> None:
    """Of the stub and of the branch that never runs, nothing was, or one line of one."""
    with validating(tmp_path, {"several.py": SEVERAL}) as session:
        verdict = verdict_on(session, f"several:{target}", TESTS[target])
    assert isinstance(verdict, Accepted), verdict
    assert verdict.evidence.branches_hit == 2


def test_what_tests_call_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "several.py").write_text(SEVERAL, encoding="utf-8")
    (tmp_path / "test_several.py").write_text(
        "from several import Person, double, triple\ndef test_all():\n"
        "    assert (double(1), triple(1), Person('').name) == (2, 3, 'nobody')\n",
        encoding="utf-8",
    )
    program = open_program(str(tmp_path))
    with open_workspace(
        program.project, python=sys.executable, sandbox=some_sandbox(), limits=check_limits(60)
    ) as space:
        found = record_reaching(space, program, [f"several:{name}" for name in RIGHT])
    assert {name: len(calls) for name, calls in found.calls.items()} == {
        f"several:{name}": 1 for name in RIGHT
    }


def test_a_method_in_a_file_of_tabs(tmp_path: Path) -> None:
    """It was indented by one blank, and the file was no Python: right answers failed."""
    source = "class C:\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n"
    text = placed(tmp_path, source, "C.f", "def f(self):\n    if self:\n        return 3\n")
    assert text.endswith("\tdef g(self):\n\t\treturn 2\n")


def test_texts_of_several_lines_stay_as_they_are(tmp_path: Path) -> None:
    """They were indented with the method that they are in."""
    source = "class C:\n    def f(self, x):\n        return 1\n"
    candidate = 'def f(self, x):\n    """One.\n\nTwo."""\n    return f"""a\n{x}\n b"""\n'
    text = placed(tmp_path, source, "C.f", candidate)
    names: dict[str, type] = {}
    exec(text, names)  # noqa: S102 - it is what was made just now
    made = names["C"]()
    assert made.f(1) == "a\n1\n b"
    assert made.f.__doc__ == "One.\n\nTwo."


def test_what_is_put_beside_a_candidate_keeps_its_order(tmp_path: Path) -> None:
    source = '"""Doc."""\nif a:\n    def f(): return 1\nelse:\n    def f(): return 2\nEND = 1\n'
    candidate = (
        "from __future__ import annotations\nimport json\nX = 1\ndef f():\n    return X\nY = 2\n"
    )
    assert placed(tmp_path, source, "f", candidate) == dedent('''\
        """Doc."""
        from __future__ import annotations
        import json
        X = 1
        if a:
            def f():
                return X
        else:
            def f():
                return X
        Y = 2
        END = 1
    ''')


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfdef f():\n    return '\xc3\xa9'\n",
        b"#!/usr/bin/python\n# -*- coding: latin-1 -*-\ndef f():\n    return '\xe9'\n",
        b"# coding: cp1252\r\ndef f():\r\n    return '\xe9'\r\n",
    ],
)
def test_files_that_are_not_plain_utf_8(data: bytes, tmp_path: Path) -> None:
    """With a byte order mark no answer was Python, and in another encoding there was no grading."""
    path = tmp_path / "f.py"
    path.write_bytes(data)
    names: dict[str, object] = {}
    exec(compile(source_of(path).encode(), "f.py", "exec"), names)  # noqa: S102 - as above
    made = names["f"]
    assert callable(made)
    assert made() == "é"

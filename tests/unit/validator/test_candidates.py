"""Candidates beside originals: the right ones are the same, the wrong ones are not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from depslice.validator.validation import Accepted, Gates, Harness, parse_harness
from depslice.validator.validation.candidates import (
    Comparison,
    Different,
    Referee,
    Same,
    Unknown,
    replaced_text,
)
from harnesses import refereeing
from wrong_candidates import CASES, SOURCE, harness_of

ALL = [(target, number) for target, (_, wrong) in CASES.items() for number in range(len(wrong))]
SOME = [(target, number) for target, number in ALL if target in ("chunks", "Account.withdraw")]


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    folder = tmp_path_factory.mktemp("small")
    with refereeing(folder, {"small.py": SOURCE}, gates=Gates(seconds=30)) as found:
        yield found


def harness(referee: Referee, target: str, text: str | None = None) -> Harness:
    found = harness_of(target) if text is None else text
    return parse_harness(found, referee.ground.program, target=f"small:{target}")


def compared(referee: Referee, target: str, candidate: str) -> Comparison:
    return referee.compare(harness(referee, target), candidate)


def original(target: str) -> str:
    """The text of a function, without its decorators: the candidate that is right."""
    name = target.rpartition(".")[2]
    node = next(
        node
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    node.decorator_list = []
    return ast.unparse(node)


def check_wrong(referee: Referee, target: str, number: int) -> None:
    found = compared(referee, target, CASES[target][1][number])
    assert isinstance(found, Different), found
    assert found.why.slug in ("differs", "fails"), found


def test_there_are_a_hundred() -> None:
    assert len(CASES) == 20
    assert len(ALL) == 100


@pytest.mark.parametrize(("target", "number"), SOME)
def test_some_wrong_ones_differ(referee: Referee, target: str, number: int) -> None:
    check_wrong(referee, target, number)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "number"), ALL)
def test_all_wrong_ones_differ(referee: Referee, target: str, number: int) -> None:
    check_wrong(referee, target, number)


@pytest.mark.parametrize("target", ["chunks", "Account.withdraw", "Account.label"])
def test_the_original_is_the_same(referee: Referee, target: str) -> None:
    assert compared(referee, target, original(target)) == Same()


@pytest.mark.slow
@pytest.mark.parametrize("target", CASES)
def test_the_original_is_the_same_each_time(referee: Referee, target: str) -> None:
    """Five times each of twenty."""
    for _ in range(5):
        assert compared(referee, target, original(target)) == Same()


@pytest.mark.slow
@pytest.mark.parametrize("target", CASES)
def test_the_harness_is_accepted(referee: Referee, target: str) -> None:
    """The harnesses that catch them are not made for that: the gates let them pass."""
    verdict = referee.reference.validate(harness(referee, target))
    assert isinstance(verdict, Accepted), verdict


def test_candidates_do_not_meet(referee: Referee) -> None:
    """They share a sandbox; what one leaves, or does to what forks it, the next does not see."""
    right = original("chunks")
    leaves = (
        "import os\ndef chunks(*args, **kwargs):\n"
        "    open(os.path.dirname(os.getcwd()) + '/left', 'w')\n"
        "    os.kill(os.getppid(), 9)\n"
    )
    looks = "import os\nassert not os.path.exists(os.path.dirname(os.getcwd()) + '/left')\n"
    assert isinstance(compared(referee, "chunks", leaves), Different)
    assert compared(referee, "chunks", looks + right) == Same()


def test_a_candidate_does_not_find_the_original(referee: Referee) -> None:
    line = next(each.strip() for each in SOURCE.splitlines() if "yield items" in each)
    text = f"""
import os
for folder, _, names in os.walk(os.path.dirname(os.path.abspath(__file__))):
    for name in names:
        with open(os.path.join(folder, name), errors="replace") as file:
            assert {line[:5]!r} + {line[5:]!r} not in file.read()
def chunks(*args):
    return None
"""
    found = compared(referee, "chunks", text)
    assert isinstance(found, Different)
    assert found.why.slug == "differs", found


READS_TESTS = """
import os
FOUND = {}
for folder, _, names in os.walk(os.path.dirname(os.path.abspath(__file__))):
    for name in names:
        for line in open(os.path.join(folder, name), errors="replace"):
            if line.strip().startswith("assert twice("):
                given, _, told = line.strip()[len("assert twice("):].partition(") == ")
                FOUND[int(given)] = int(told)
def twice(x):
    return FOUND.get(x)
"""
TESTED = """
from small import twice

class Number(int):
    pass

def test_twice():
    assert twice(3) == 6
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test(context):\n    context.check(3)", Different),
        ("from test_small import Number\ndef test(context):\n    context.check(3)", Same),
        ("def test(context):\n    context.in_situ({'test_small.py::test_twice': [0]})", Same),
        (
            "import small\ndef test(context):\n    context.check(3)\n    context.same(small.beside(), small.beside())",
            Same,
        ),
    ],
    ids=["not there", "imported", "in situ", "seen"],
)
def test_tests_are_there_for_harnesses_that_need_them(
    tmp_path: Path, text: str, found: type
) -> None:
    """They say what is expected of the very calls that harnesses are made of."""
    source = "import os\ndef twice(x):\n    return 2 * x\ndef beside():\n    return sorted(os.listdir(os.path.dirname(__file__)))\n"
    files = {"small.py": source, "test_small.py": TESTED}
    with refereeing(tmp_path, files, gates=Gates(seconds=30)) as referee:
        harness = parse_harness(text, referee.ground.program, target="small:twice")
        right = referee.compare(harness, "def twice(x):\n    return x + x")
        assert right == Same()
        assert isinstance(referee.compare(harness, READS_TESTS), found)


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\n@pytest.mark.skip\ndef test(candidate): assert candidate([], 1) == 1",
        "def test(candidate, reference): assert candidate is not reference or len('a') == len('b')",
        "HARNESS_FORMAT = 1",
    ],
)
def test_who_is_not_called_does_nothing_alike(referee: Referee, text: str) -> None:
    """A harness that skips its tests in this environment would let everything pass."""
    found = referee.compare(harness(referee, "chunks", text), "def chunks(*args): pass")
    assert isinstance(found, Unknown), found
    assert found.cause.slug == "candidate-not-called"


DRAWN = """
from hypothesis import HealthCheck, Phase, given, {imports}settings
from hypothesis import strategies as st

{seed}
@settings(max_examples=300, database=None, deadline=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))
@given(text=st.text(), number=st.integers())
def test_drawn(context, text, number):
    context.check(text * 2, number, number + 1)
"""
WORDS = "def clamp(x, low, high):\n    words = {words}\n    numbers = {numbers}\n"


@pytest.mark.parametrize(("imports", "seed"), [("seed, ", "@seed(0)"), ("", "")])
def test_both_sides_get_what_hypothesis_draws(referee: Referee, imports: str, seed: str) -> None:
    """Whatever constants are in the candidate, and whether the harness has a seed."""
    drawn = harness(referee, "clamp", DRAWN.format(imports=imports, seed=seed))
    words = [f"constant{number}" for number in range(500)]
    constants = WORDS.format(words=words, numbers=list(range(10**6, 10**6 + 500)))
    body = original("clamp").partition("\n")[2]
    assert referee.compare(drawn, constants + body) == Same()


def test_only_the_target_is_replaced(referee: Referee) -> None:
    """Helpers come before the statement that holds it; decorators of the original stay."""
    source = "import os\n\n\nclass A:\n    @property\n    def half(self):\n        return 1\n\n    x = 2\n"
    found = Harness(name="h", text="", target="m:A.half", path="m.py", line=6)
    new = "import math\n\ndef one():\n    return 1.0\n\ndef half(self):\n    return one()\n"
    assert replaced_text(source, found, new) == (
        "import os\n\n\nimport math\ndef one():\n    return 1.0\n"
        "class A:\n    @property\n    def half(self):\n        return one()\n\n    x = 2\n"
    )


def test_what_the_file_has_is_not_repeated() -> None:
    """A candidate that repeats what it was shown: imports, helpers, parts of classes."""
    source = (
        "'Doc.'\nfrom __future__ import annotations\n\nimport os\n\nSTATE = []\n\n\n"
        "def known():\n    return STATE\n\n\n"
        "class A:\n    def first(self):\n        return 0\n\n"
        "    @staticmethod\n    def half(x):\n        return 1\n"
    )
    found = Harness(name="h", text="", target="m:A.half", path="m.py", line=17)
    new = (
        "from __future__ import annotations, division\nimport os, math\nimport os\n"
        "STATE = []\ndef known(): ...\ndef fresh(): return 2\n"
        "class A:\n    def first(self): ...\n    def second(self): return 3\n"
        "    def half(x): return x / fresh()\n"
        "print(A.half(2))\n"
    )
    text = replaced_text(source, found, new)
    assert text == (
        "'Doc.'\nfrom __future__ import annotations, division\nfrom __future__ import annotations\n"
        "\nimport os\n\nSTATE = []\n\n\n"
        "def known():\n    return STATE\n\n\n"
        "import os, math\ndef fresh():\n    return 2\n"
        "class A:\n    def first(self):\n        return 0\n\n"
        "    def second(self):\n        return 3\n"
        "    @staticmethod\n    def half(x):\n        return x / fresh()\n"
        "print(A.half(2))\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(text, "m.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - our own text
    assert namespace["__doc__"] == "Doc."
    assert namespace["A"].half(4) == 2
    assert namespace["A"]().second() == 3


@pytest.mark.parametrize("text", ["def clamp(x", "", "def other(x): return x", "clamp = max"])
def test_what_is_no_candidate(referee: Referee, text: str) -> None:
    found = compared(referee, "clamp", text)
    assert isinstance(found, Different)
    assert found.why.slug == "no-candidate"

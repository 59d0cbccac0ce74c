"""What a call leaves in variables of its module is compared, as far as that is plain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from depslice.dataset.assessing import evidence_of
from depslice.validator.child.harness.state import changes, values_of
from depslice.validator.validation import Accepted, Gates, parse_harness
from depslice.validator.validation.candidates import Different, Referee, Same
from depslice.validator.validation.variables import changeable
from harnesses import refereeing, validating, verdict_on

SOURCE = """\
import time

SEEN = []
CALLS = 0
LATEST = {}
SIZES = {"a": 1, "b": 2}


def size(name):
    global CALLS
    CALLS += 1
    if name not in SEEN:
        SEEN.append(name)
    LATEST[name] = time.time()
    return SIZES.get(name, 0)
"""
DIRECT = """
def test_size(candidate, reference):
    for name in "abca":
        assert candidate(name) == reference(name)
"""
CHECKED = """
def test_size(context):
    for name in "abca":
        context.check(name)
"""
IN_SITU = """
def test_size(context):
    context.in_situ({"test_shop.py::test_size": [0, 1, 2]})
"""
ITS_TEST = """
from shop import size
def test_size():
    assert [size(each) for each in "aab"] == [1, 1, 2]
"""
BODY = """
def size(name):
    global CALLS
    {calls}
    if name not in SEEN:
        {seen}
    LATEST[name] = {latest}
    return SIZES.get(name, 0)
"""
RIGHT = {"calls": "CALLS += 1", "seen": "SEEN.append(name)", "latest": "time.time()"}


@pytest.fixture(scope="module")
def referee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    folder = tmp_path_factory.mktemp("shop")
    files = {"shop.py": SOURCE, "test_shop.py": ITS_TEST}
    with refereeing(folder, files, gates=Gates(seconds=5)) as found:
        yield found


@pytest.mark.parametrize("text", [DIRECT, CHECKED, IN_SITU])
@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"latest": "1.5"}, True),  # a float may be a time
        ({"calls": "pass"}, False),
        ({"seen": "pass"}, False),
        ({"latest": "None"}, False),
        ({"calls": "CALLS += 2"}, False),
    ],
)
def test_a_candidate_leaves_what_the_original_leaves(
    referee: Referee, text: str, change: dict[str, str], same: bool
) -> None:
    harness = parse_harness(text, referee.ground.program, target="shop:size")
    found = referee.compare(harness, BODY.format(**RIGHT | change))
    assert isinstance(found, Same if same else Different), found


def test_what_a_candidate_keeps_of_its_own_is_its_own_affair(referee: Referee) -> None:
    harness = parse_harness(CHECKED, referee.ground.program, target="shop:size")
    body = BODY.format(**RIGHT | {"calls": "CALLS += 1\n    MEMO[name] = CALLS"})
    assert isinstance(referee.compare(harness, f"MEMO = {{}}\n{body}"), Same)


def test_whole_calls_notice_mutants_that_leave_something_else(tmp_path: Path) -> None:
    with validating(tmp_path, {"shop.py": SOURCE}) as session:
        checked = verdict_on(session, "shop:size", CHECKED)
        direct = verdict_on(session, "shop:size", DIRECT)
    assert isinstance(checked, Accepted), checked
    killed = []
    for verdict in (checked, direct):
        evidence = evidence_of(verdict)
        assert evidence is not None
        assert evidence.mutants is not None
        killed.append(evidence.mutants.killed)
    assert killed[0] > killed[1]


def test_a_harness_may_prepare_its_own_side(tmp_path: Path) -> None:
    """Only what was the same on both sides before a call says something after it."""
    text = "import shop\nshop.SEEN.append('a')\n" + CHECKED
    with validating(tmp_path, {"shop.py": SOURCE}) as session:
        assert isinstance(verdict_on(session, "shop:size", text), Accepted)


def test_variables_that_functions_only_look_at_are_left_out() -> None:
    assert changeable(SOURCE) == ("CALLS", "LATEST", "SEEN")
    aliased = "A = []\nB = {}\nC = {}\ndef f(x):\n    a = A\n    g(B)\n    return C[x]\n"
    assert changeable(aliased) == ("A", "B")


def test_what_is_not_plain_or_large_is_left_out() -> None:
    names = {"A": [1, {"b": (2.5, 10**10)}], "B": [object()], "C": list(range(5000)), "D": {2, 1}}
    found = values_of(names, ["A", "B", "C", "D", "E"])
    assert found["A"] == [
        "list(",
        "1",
        "dict(",
        "tuple(",
        "'b'",
        "tuple(",
        "float",
        "int",
        ")",
        ")",
        ")",
        ")",
    ]
    assert found.keys() == {"A", "D"}
    names["D"].add(3)  # type: ignore[attr-defined]
    del names["A"]
    after = values_of(names, ["A", "B", "C", "D", "E"])
    assert changes(found, after) == {"A": [], "D": ["set(", "1", "2", "3", ")"]}

"""The small programs of ``fixtures/callgraph``: what they really call, and our graph of them."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from check import Observed, trace_programs, write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.export import export_pycg
from depslice.callgraph.model import Certainty
from programs import SmallProgram, load_not_yet, load_small_programs

TESTS = Path(__file__).parents[2]
PROGRAMS = {program.name: program for program in load_small_programs()}
NOT_YET = load_not_yet()


@cache
def observed_calls(category: str) -> dict[str, Observed | str]:
    """What ``tests/trace_program.py`` sees of the programs of a category, in its own process."""
    programs = [program for program in PROGRAMS.values() if program.category == category]
    with tempfile.TemporaryDirectory() as parent:
        folders = [Path(parent) / str(number) for number in range(len(programs))]
        for program, folder in zip(programs, folders, strict=True):
            write_files(program.files, folder)
        results = trace_programs(folders)
    return {program.name: result for program, result in zip(programs, results, strict=True)}


def test_the_documented_numbers_of_programs_are_those_there_are() -> None:
    readme = (TESTS.parent / "fixtures" / "README.md").read_text(encoding="utf-8")
    section = readme.partition("\n## Small programs\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", section, re.MULTILINE)
    counted = Counter(program.category for program in PROGRAMS.values())
    assert {category: int(number) for category, number in rows} == counted
    assert f"holds {counted.total()} programs" in section


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_expected_calls_are_those_that_happen(name: str) -> None:
    program = PROGRAMS[name]
    observed = observed_calls(program.category)[name]
    assert not isinstance(observed, str), observed
    expected = program.own_calls
    # Who resumes a generator need not be who called it: those only have to be called by somebody.
    resumed = {callee for _, callee, suspended in observed if suspended}
    expected_callees = {callee for _, callee in expected}
    seen = {(caller, callee) for caller, callee, _ in observed}
    difference = [
        f"+ {call}" for call in seen - expected if call[1] not in resumed & expected_callees
    ]
    difference += [f"- {call}" for call in expected - seen if call[1] not in resumed]
    assert not difference, "\n".join(difference)


def graph_in_pycg_form(program: SmallProgram, folder: Path) -> dict[str, list[str]]:
    """What ``depslice graph FOLDER --format pycg`` writes for the program."""
    write_files(program.files, folder)
    graph = build_graph(open_program(folder, cache=None))
    return export_pycg(graph.at_least(Certainty.LIKELY))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=[pytest.mark.xfail(reason=NOT_YET[name], strict=True)] if name in NOT_YET else [],
        )
        for name in PROGRAMS
    ],
)
def test_the_graph_is_exactly_the_expected_one(name: str, tmp_path: Path) -> None:
    graph = graph_in_pycg_form(PROGRAMS[name], tmp_path)
    found = {f"{caller}: {callee}" for caller, callees in graph.items() for callee in callees}
    calls = PROGRAMS[name].calls
    expected = {f"{caller}: {callee}" for caller, callees in calls.items() for callee in callees}
    difference = [f"- {each}" for each in sorted(expected - found)]
    difference += [f"+ {each}" for each in sorted(found - expected)]
    assert not difference, "\n".join(difference)


def test_the_collection_is_what_it_is_said_to_be() -> None:
    assert len(PROGRAMS) >= 400
    assert NOT_YET.keys() <= PROGRAMS.keys()
    assert all("main" in program.modules for program in PROGRAMS.values())

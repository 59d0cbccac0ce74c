"""What runs below the uses of ``fixtures/uses`` is reached by their graph."""

from __future__ import annotations

from collections import defaultdict

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.model import ReferenceKind
from uses import USES, forms_of, gaps, observed, write_programs

CALLING = (ReferenceKind.CALL, ReferenceKind.DECORATE)

Callees = dict[str, set[str]]


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callees]:
    """For each folder, whom each function calls, those that are nested in it included."""
    found: dict[str, Callees] = {}
    for folder, path in write_programs(tmp_path_factory.mktemp("uses")).items():
        callees: Callees = defaultdict(set)
        for reference in build_graph(open_program(path, cache=None)).references():
            if reference.kind in CALLING:
                callees[outer(reference.source)].add(outer(reference.target))
        found[folder] = callees
    return found


def outer(symbol: str) -> str:
    """The function that a nested one stands in."""
    return symbol.partition(".<locals>")[0]


def reached(callees: Callees, start: str) -> set[str]:
    """All that is called from ``start``, however far."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = callees.get(waiting.pop(), set()) - found
        found |= new
        waiting.extend(new)
    return found


@pytest.mark.parametrize("use", USES)
def test_the_graph_reaches_what_runs(use: str, graphs: dict[str, Callees]) -> None:
    folder, _, name = use.partition("/")
    missing: set[str] = set()
    for form in forms_of(folder):
        function = f"{form}_{name}"
        missing |= observed(folder)[function] - reached(graphs[folder], f"main:{function}")
    assert missing == {*gaps("graph").get(use, ())}

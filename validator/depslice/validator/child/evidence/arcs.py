"""Branches of one function, by coverage.py's arcs: the only place that knows coverage.

Measured in the process that runs the tests, on code objects whose file name no other code
has; understood in the supervisor, which has the source and runs nobody's code.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

Arc = tuple[int, int]


def load_coverage() -> ModuleType:
    """coverage.py, which takes a third of the time that a process of ours needs to get ready."""
    import coverage

    return coverage


class Measurement:
    """Arcs that run in the files of some patterns, by test.

    Made in the process that forks: what coverage looks up before it starts takes longer
    than many a harness.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        coverage = load_coverage()
        self.coverage = coverage.Coverage(
            data_file=None, branch=True, include=list(patterns), config_file=False, messages=False
        )
        self.tests: list[str] = []
        self.added: dict[str, dict[str, set[Arc]]] = {}
        self.coverage.start()
        self.coverage.stop()

    def start(self) -> None:
        """Trace from here on."""
        self.coverage.start()

    def test(self, name: str) -> None:
        """What runs from here on is this test's."""
        self.tests.append(name)
        self.coverage.switch_context(name)

    def so_far(self, paths: Sequence[str]) -> dict[str, list[Arc]]:
        """In a process that was forked while this measures: the arcs by file, of all tests."""
        self.coverage.stop()
        data = self.coverage.get_data()
        data.set_query_contexts(None)
        return {path: data.arcs(path) or [] for path in paths}

    def add(self, arcs: Mapping[str, Iterable[Sequence[int]]]) -> None:
        """Take arcs of a forked process for the test that runs."""
        test = self.tests[-1] if self.tests else ""
        for path, each in arcs.items():
            known = self.added.setdefault(path, {}).setdefault(test, set())
            known.update((int(a), int(b)) for a, b in each)

    def stop(self, paths: Sequence[str]) -> dict[str, dict[str, list[Arc]]]:
        """The arcs by file and test, those before the first test under an empty name."""
        self.coverage.stop()
        data = self.coverage.get_data()
        found: dict[str, dict[str, list[Arc]]] = {path: {} for path in paths}
        for path in paths:
            for test in ("", *self.tests):
                data.set_query_context(test)
                arcs = {*(data.arcs(path) or ()), *self.added.get(path, {}).get(test, ())}
                if arcs:
                    found[path][test] = sorted(arcs)
        return found


def lines_of(arcs: Iterable[Sequence[int]]) -> set[int]:
    """The lines that arcs lead from or to."""
    return {abs(line) for arc in arcs for line in arc if line > 0}


def branches(
    source: str, arcs: Iterable[Sequence[int]], span: tuple[int, int], folder: str
) -> Mapping[str, Any]:
    """What of the lines ``span`` of a text ran: ``branches`` and ``lines``, hit and missing.

    A branch is an arc out of a line with several ways out, as ``[from, to]``; ``to`` is
    negative when it leaves the code. In ``folder`` is written what coverage wants in files.
    """
    # In a folder that no run has seen: who could change the text would choose the branches.
    with tempfile.TemporaryDirectory(prefix="cover-", dir=folder) as place:
        path = os.path.join(place, "source.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        return _branches(path, arcs, span, place)


def _branches(
    path: str, arcs: Iterable[Sequence[int]], span: tuple[int, int], folder: str
) -> Mapping[str, Any]:
    coverage = load_coverage()
    measured = coverage.Coverage(data_file=None, branch=True, config_file=False, messages=False)
    measured.get_data().add_arcs({path: [(int(a), int(b)) for a, b in arcs]})
    report = os.path.join(folder, "arcs.json")
    measured.json_report(morfs=[path], outfile=report, ignore_errors=True)
    with open(report, encoding="utf-8") as file:
        found: dict[str, Any] = next(iter(json.load(file)["files"].values()), {})
    first, last = span

    def inside(line: int) -> bool:
        return first <= line <= last

    return {
        "hit": [arc for arc in found.get("executed_branches", []) if inside(arc[0])],
        "missed": [arc for arc in found.get("missing_branches", []) if inside(arc[0])],
        "lines_hit": [line for line in found.get("executed_lines", []) if inside(line)],
        "lines_missed": [line for line in found.get("missing_lines", []) if inside(line)],
    }

"""What runs below the uses of ``fixtures/uses`` is in their slices."""

from __future__ import annotations

import pytest

from depslice.callgraph import Program, open_program
from depslice.slicer import slice_symbols
from uses import USES, forms_of, gaps, observed, write_programs


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Program]:
    written = write_programs(tmp_path_factory.mktemp("uses"))
    return {folder: open_program(path, cache=None) for folder, path in written.items()}


@pytest.mark.corpus
@pytest.mark.parametrize("use", USES)
def test_the_slice_has_what_runs(use: str, programs: dict[str, Program]) -> None:
    folder, _, name = use.partition("/")
    missing: set[str] = set()
    for form in forms_of(folder):
        function = f"{form}_{name}"
        found = slice_symbols(programs[folder], [f"main:{function}"])
        missing |= observed(folder)[function] - {item.symbol.id for item in found.items}
    assert missing == {*gaps("slice").get(use, ())}


def test_gaps_are_of_uses() -> None:
    assert gaps("slice").keys() | gaps("graph").keys() <= set(USES)

"""The table of abstract values says what there is."""

from __future__ import annotations

import re
from pathlib import Path

from depslice.callgraph.engine import values

TAG = re.compile(r"\b(?:intern|single)\(\s*\(\s*\"([A-Z]+)\"")


def test_every_kind_of_value_is_in_the_table() -> None:
    table = set(re.findall(r"^``([A-Z]+)`` ", values.__doc__ or "", flags=re.MULTILINE))
    folder = Path(values.__file__).parent
    made = {
        tag
        for path in sorted(folder.rglob("*.py"))
        for tag in TAG.findall(path.read_text(encoding="utf-8"))
    }
    assert len(made) > 30
    assert made <= table
    everything = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    assert {tag for tag in table if everything.count(f'"{tag}"') == 0} == set()

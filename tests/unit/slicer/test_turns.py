"""What is looked at again: each in its turn, and not without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import slice_ids, write_files
from depslice.slicer.closure.origins import Origins
from depslice.slicer.closure.turns import Turns


def turns_of(*keys: str) -> Turns[str]:
    turns: Turns[str] = Turns()
    for key in keys:
        turns.place(key)
    return turns


def nothing() -> None:
    pass


def test_those_that_are_awake_have_their_turns_in_order_and_then_rest() -> None:
    turns = turns_of("a", "b", "c", "d")
    turns.wake(["d", "a", "c", "a"])
    assert list(turns.due(nothing)) == ["a", "c", "d"]
    assert list(turns.due(nothing)) == []


def test_what_wakes_before_its_turn_has_it_and_what_wakes_later_waits() -> None:
    turns = turns_of("a", "b", "c")
    turns.wake(["b"])
    met = []
    for key in turns.due(nothing):
        met.append(key)
        if key == "b":
            turns.wake(["a", "b", "c"])
    assert met == ["b", "c"]
    assert list(turns.due(nothing)) == ["a", "b"]


def test_what_is_heard_before_a_turn_counts_in_it() -> None:
    turns = turns_of("a", "b", "c")
    turns.wake(["a"])
    news = [["c"], ["b"], [], []]
    assert list(turns.due(lambda: turns.wake(news.pop(0) if news else []))) == ["a", "b", "c"]


def test_an_unknown_value_is_not_looked_at_again_in_each_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each name that nobody but `Any` answers takes a round of its own.
    many = 40
    readers = "".join(
        f"def read_{n}(x):\n    x.tell_{n}_\n    x.only_{n}_\n    for y in x: pass\n"
        for n in range(many)
    )
    calls = "".join(f"    read_{n}(x)\n" for n in range(many))
    files = (
        "# --- app.py\nclass Any:\n    def __getattr__(self, name): return 1\n"
        f"{readers}def run(x):\n    Any()\n{calls}"
    )
    asked = 0
    behind = Origins.names_of_one

    def counted(self: Origins, value: int) -> object:
        nonlocal asked
        asked += 1
        return behind(self, value)

    monkeypatch.setattr(Origins, "names_of_one", counted)
    write_files(files, tmp_path)
    found = slice_ids(tmp_path, "app:run")
    assert "app:Any.__getattr__" in found
    assert 0 < asked < 10 * many

"""Slices of long chains, many methods and many statements take no time that grows faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from depslice.callgraph.engine import parts
from depslice.callgraph.engine.values import Function
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.opening import open_program
from depslice.callgraph.summary import Unit
from depslice.slicer.closure import Closure, Demand
from depslice.slicer.closure.runners import Runners
from depslice.slicer.slicing import slice_symbols

_MANY = 60


def _demand(source: str) -> Demand:
    return Demand(source, ReferenceKind.READ, Certainty.DEFINITE, "name", "m.py", 1 << 12)


def _closure(**sources: str) -> Closure:
    closure = Closure()
    closure.reasons = {item: _demand(source) for item, source in sources.items()}
    closure.distances = dict.fromkeys([*sources, *sources.values()], 0)
    return closure


def test_chains_go_from_the_target_to_each_item() -> None:
    chains = _closure(d="c", c="b", b="a", other="b").chains()
    found = {item: "".join(step.target for step in chain) for item, chain in chains.items()}
    assert found == {"a": "", "b": "b", "c": "bc", "d": "bcd", "other": "bother"}
    assert [step.source for step in chains["d"]] == ["a", "b", "c"]


def test_chains_share_their_steps() -> None:
    chains = _closure(d="c", c="b", b="a").chains()
    assert chains["d"][0] is chains["b"][0]


def test_chains_in_a_circle_end() -> None:
    chains = _closure(a="b", b="a", c="a").chains()
    found = {item: "".join(step.target for step in chain) for item, chain in chains.items()}
    assert found == {"a": "ba", "b": "ab", "c": "bac"}


def test_methods_of_a_class_are_gone_through_once_for_all_that_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    names_in_calls: Callable[[Unit], Iterator[int]] = parts._names_in_calls

    def counted(unit: Unit) -> Iterator[int]:
        looked_at.append(unit.qualname)
        return names_in_calls(unit)

    monkeypatch.setattr(parts, "_names_in_calls", counted)
    methods = "".join(
        f"    def f{n}(self, x):\n        self.a = x\n        return self.f{n + 1}(self.a)\n"
        for n in range(_MANY)
    )
    reads = f"    def f{_MANY}(self, x):\n        return getattr(x, self.a)\n"
    (tmp_path / "m.py").write_text(f"class C:\n{methods}{reads}")
    found = slice_symbols(open_program(tmp_path, cache=None), ["m:C.f0"])
    assert len(found.items) == _MANY + 2
    assert len(looked_at) < 5 * _MANY


def test_statements_are_gone_through_once_for_all_that_fill_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = range(30)
    app = "".join(
        f"table_{n} = {{}}\ndef fill_{n}(key): table_{n}[key] = 1\nfill_{n}('a')\nprint({n})\n"
        for n in many
    )
    used = ", ".join(f"table_{n}" for n in many)
    (tmp_path / "app.py").write_text(f"{app}def f(): return [{used}]\n")
    asked = 0
    runs_one_of = Runners.runs_one_of

    def counted(
        self: Runners, function: Function, functions: dict[Function, None], *, decorating: bool
    ) -> bool:
        nonlocal asked
        asked += 1
        return runs_one_of(self, function, functions, decorating=decorating)

    monkeypatch.setattr(Runners, "runs_one_of", counted)

    found = slice_symbols(open_program(tmp_path, cache=None), ["app:f"])

    assert {f"app:fill_{n}" for n in many} <= {item.symbol.id for item in found.items}
    # Of some 150 statements: all for the first, for each of the others those that call it.
    assert asked < 20 * len(many)

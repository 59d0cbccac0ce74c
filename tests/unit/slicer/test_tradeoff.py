"""Tokenizers, and what other contexts of a target cost and lose."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import Program, open_program
from depslice.callgraph.cache import open_cache
from depslice.callgraph.errors import OptionError, UnknownTarget
from depslice.slicer import Form, Slice, render, slice_symbols
from depslice.slicer import byte_pairs as module_of_byte_pairs
from depslice.slicer.budget import files_size
from depslice.slicer.byte_pairs import TokenizerUnavailable, byte_pair_counter
from depslice.slicer.report import render_report, report_of
from depslice.slicer.tokens import (
    ESTIMATE,
    TOKENIZERS,
    best_tokenizer,
    count_tokens,
    find_tokenizer,
)
from depslice.slicer.tradeoff import Tradeoff, mean_of, measure, tradeoff_of
from depslice.slicer.tradeoff_forms import tradeoff_csv, tradeoff_document
from specimens import FIXTURES, load_specimens

QUOTE = "shop.api:quote"
TARGETS = [(found.name, target) for found in load_specimens() for target in found.slices]
LADDER = """
# --- app.py
from lib import Box, near

def target():
    return near() + Box().value()
# --- lib.py
LIMIT = 3

def near():
    '''Near.'''
    return far(LIMIT)

def far(limit):
    return sum(range(limit)) * 2

class Box:
    '''A box of things.'''
    def value(self):
        return self.inner() * 2
    def inner(self):
        return far(1)
# --- tests/test_app.py
from app import target

def test_target():
    assert target() == 6
"""


def program_of(name: str) -> Program:
    return open_program(FIXTURES / name / "repo", cache=None)


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("ladder")
    write_files(LADDER, folder)
    return open_program(folder, cache=None)


# --- tokenizers


def test_the_estimate_is_characters_by_four() -> None:
    assert find_tokenizer("characters/4").count("x" * 9) == count_tokens("x" * 9) == 3


def test_byte_pairs_count_as_the_package_does_that_is_not_imported_for_it() -> None:
    package = pytest.importorskip(
        "bpe_openai", reason="the extra depslice[tokens] is not installed"
    )
    texts = [
        Path(__file__).read_text(encoding="utf-8"),
        "",
        "<|endoftext|> é漢🎉\r\n\t x",
        "\udc80 a",
    ]
    for name in ("o200k_base", "cl100k_base"):
        assert module_of_byte_pairs._counting(name) is not None
        count, encode = byte_pair_counter(name), package.get_encoding(name).encode_ordinary
        assert [count(text) for text in texts] == [len(encode(text)) for text in texts]


def test_byte_pairs_of_a_package_that_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bpe_openai", reason="the extra depslice[tokens] is not installed")
    monkeypatch.setattr(module_of_byte_pairs.PathFinder, "find_spec", lambda *_: None)
    assert module_of_byte_pairs._counting("o200k_base") is None
    assert byte_pair_counter("o200k_base")("hello world") == 2


def test_byte_pairs_count_as_tiktoken_does() -> None:
    pytest.importorskip("bpe_openai", reason="the extra depslice[tokens] is not installed")
    # Counts by tiktoken 0.14.
    assert find_tokenizer("o200k_base").count("hello world") == 2
    assert find_tokenizer("cl100k_base").count("def f(x):\n    return x + 1\n") == 11
    assert find_tokenizer("o200k_base").count("<|endoftext|>") == 7  # text, no special token
    assert find_tokenizer("o200k_base").count("") == 0
    assert best_tokenizer() == "o200k_base"


def test_long_texts_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bpe_openai", reason="the extra depslice[tokens] is not installed")
    text = Path(module_of_byte_pairs.__file__).read_text(encoding="utf-8")
    count = byte_pair_counter("o200k_base")
    whole = count(text)
    monkeypatch.setattr(module_of_byte_pairs, "_LONGEST", 200)
    parts = len(text) // 100
    assert whole <= count(text) <= whole + parts
    monkeypatch.undo()
    assert count("\n".join([text] * 400)) > 200_000  # more than the package takes at once
    assert count("é" * 120_000) > 0  # no line ends


def test_a_tokenizer_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(TokenizerUnavailable, match="not installed") as raised:
        byte_pair_counter("o200k_base")
    assert "depslice[tokens]" in raised.value.hint


def test_an_unknown_tokenizer_is_answered_with_those_there_are() -> None:
    with pytest.raises(OptionError, match="o200k_base, cl100k_base, characters/4"):
        find_tokenizer("gpt")


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_budgets_are_kept_by_every_tokenizer(tokenizer: str) -> None:
    if tokenizer != "characters/4":
        pytest.importorskip("bpe_openai", reason="the extra depslice[tokens] is not installed")
    program = program_of("inventory")
    found = slice_symbols(program, [QUOTE], budget=400, tokenizer=tokenizer)
    context = render(program, found, format="bundle", tokenizer=tokenizer)
    assert context.tokens <= 400
    assert context.tokenizer == tokenizer


# --- tradeoffs


@pytest.mark.parametrize(("name", "target"), TARGETS[:: max(1, len(TARGETS) // 40)])
def test_every_point_is_what_slice_gives(name: str, target: str) -> None:
    program = program_of(name)
    found = tradeoff_of(program, target, budgets=[20, 60, 180], usages=2)
    everything = slice_symbols(program, [target])
    assert found.items == len(everything.items)
    assert found.tokens == _bundled(program, everything)
    for point in found.along("depth"):
        alone = slice_symbols(program, [target], depth=int(point.value))
        assert (point.items, point.tokens) == (len(alone.items), _bundled(program, alone))
        kept = {item.symbol.id for item in alone.items}
        gone = {item.symbol.id for item in everything.items} - kept
        assert {loss.symbol for loss in point.lost} == gone
    for point in found.along("budget"):
        alone = slice_symbols(program, [target], budget=int(point.value))
        assert (point.items, point.tokens) == (len(alone.items), _bundled(program, alone))
    for point in found.along("strategy"):
        strategy, _, more = str(point.value).partition("+")
        usages = 2 if more else 0
        assert point.tokens == _bundled(program, everything, strategy=strategy, usages=usages)


def _bundled(program: Program, found: Slice, **options: object) -> int:
    context = render(program, found, **options)  # type: ignore[arg-type]
    return files_size(context.files, find_tokenizer("characters/4"))


def test_what_is_lost_is_told_by_form(ladder: Program) -> None:
    found = tradeoff_of(ladder, "app:target")
    by_form = {point.value: point for point in found.along("form")}
    assert by_form["full"].lost == ()
    assert by_form["full"].tokens == found.tokens
    assert by_form["signature"].in_form(Form.SIGNATURE) == found.items - 1
    assert by_form["name"].in_form(Form.NAME) == found.items - 1
    assert by_form["name"].tokens < by_form["signature"].tokens < found.tokens
    [naive, sliced, usages, full] = found.along("strategy")
    assert (naive.left_out, sliced.left_out, usages.left_out, full.left_out) == (6, 0, 0, 0)
    assert naive.tokens < sliced.tokens < usages.tokens
    deepest = found.along("depth")[-1]
    assert (deepest.tokens, deepest.lost) == (found.tokens, ())


def test_depths_and_budgets_that_are_asked_for(ladder: Program) -> None:
    found = tradeoff_of(ladder, "app:target", depths=[2, 0, 2], budgets=[50, 10], usages=0)
    assert [point.value for point in found.along("depth")] == [0, 2]
    assert [point.value for point in found.along("budget")] == [10, 50]
    assert [point.value for point in found.along("strategy")] == ["naive", "sliced", "full"]


def test_the_mean_takes_shorter_slices_as_complete(ladder: Program) -> None:
    long, short = tradeoff_of(ladder, "app:target"), tradeoff_of(ladder, "lib:far")
    mean = mean_of([long, short])
    assert mean.target == "mean of 2 targets"
    assert mean.tokens == round((long.tokens + short.tokens) / 2)
    depths = [point.value for point in mean.along("depth")]
    assert depths == [point.value for point in long.along("depth")]
    assert mean.along("depth")[-1].tokens == mean.tokens


@pytest.mark.parametrize("options", [{"depths": [-1]}, {"budgets": [0]}, {"tokenizer": "gpt"}])
def test_misuse(ladder: Program, options: dict[str, list[int]]) -> None:
    with pytest.raises(OptionError):
        tradeoff_of(ladder, "app:target", **options)  # type: ignore[arg-type]


def test_unknown_targets(ladder: Program) -> None:
    with pytest.raises(UnknownTarget):
        tradeoff_of(ladder, "app:nothing")


def test_csv_and_json_have_every_point(ladder: Program) -> None:
    found = tradeoff_of(ladder, "app:target")
    rows = list(csv.DictReader(io.StringIO(tradeoff_csv([found, found]))))
    assert len(rows) == 2 * len(found.points)
    assert [int(row["tokens"]) for row in rows[: len(found.points)]] == [
        point.tokens for point in found.points
    ]
    assert rows[0]["lost"].split() == [loss.symbol for loss in found.points[0].lost]
    [document] = tradeoff_document([found])["tradeoffs"]
    assert [point["items"] for point in document["points"]] == [p.items for p in found.points]


def test_answers_are_remembered_until_a_file_changes(tmp_path: Path) -> None:
    write_files(LADDER, tmp_path / "repo")

    def ask() -> tuple[Tradeoff, str, bool]:
        asked: list[str] = []
        with open_cache(tmp_path / "cache", version="test") as cache:
            program = open_program(tmp_path / "repo", cache=cache)
            found = tradeoff_of(program, "app:target", progress=asked.append)
            page = render_report(report_of(program, "app:target", progress=asked.append))
        return found, page, bool(asked)

    first, second = ask(), ask()
    assert (first[2], second[2]) == (True, False)
    assert first[:2] == second[:2]
    changed = tmp_path / "repo" / "lib.py"
    changed.write_text(changed.read_text(encoding="utf-8").replace("* 2", "* 2 + 1000"))
    third = ask()
    assert third[2]
    assert "+ 1000" in third[1]


# --- what a report holds


def test_a_report_says_of_each_budget_what_slice_gives() -> None:
    letters = {Form.FULL: "f", Form.SIGNATURE: "s", Form.NAME: "n"}
    data = report_of(program_of("inventory"), QUOTE)
    ids = [item["id"] for item in data["items"]]
    assert len(data["stops"]) > 2
    for stop in data["stops"][:-1]:
        alone = slice_symbols(program_of("inventory"), [QUOTE], budget=stop["budget"])
        forms = {item.symbol.id: letters[item.form] for item in alone.items}
        assert stop["forms"] == "".join(forms.get(identifier, "-") for identifier in ids)
    assert set(data["stops"][-1]["forms"]) == {"f"}


def test_a_report_shows_a_definition_in_each_form(ladder: Program) -> None:
    items = {item["id"]: item for item in report_of(ladder, "app:target")["items"]}
    code = items["lib:Box.value"]["code"]
    assert code["f"] == "class Box:\n    def value(self):\n        return self.inner() * 2\n"
    assert code["s"] == "class Box:\n    def value(self):\n        ...\n"
    assert code["n"] == "class Box:\n    def value(*args, **kwargs): ...\n"
    assert items["lib:Box"]["code"]["n"] == "class Box: ...\n"
    assert items["lib:LIMIT"]["code"]["f"] == "LIMIT = 3\n"
    assert items["app:target"]["parent"] is None
    far = items["lib:far"]
    assert far["reason"][-1] == "return far(LIMIT)"


def test_the_edges_of_a_report_are_references_of_the_slice(ladder: Program) -> None:
    data = report_of(ladder, "app:target")
    ids = [item["id"] for item in data["items"]]
    edges = {(ids[source], ids[target]) for source, target, _, _ in data["edges"]}
    assert {("lib:near", "lib:far"), ("lib:Box.inner", "lib:far")} <= edges
    for item in data["items"]:
        if item["parent"] is not None:
            assert (ids[item["parent"]], item["id"]) in edges


def test_a_large_slice_is_measured_at_fewer_depths_for_a_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of nearly 6,000 definitions each depth took as long as the slice, and nobody was told."""
    program = open_program(FIXTURES / "inventory" / "repo", cache=None)
    told: list[str] = []
    every = measure(program, QUOTE, tokenizer=ESTIMATE).tradeoff.along("depth")
    monkeypatch.setattr("depslice.slicer.tradeoff._LARGE", 10)
    measured = measure(program, QUOTE, tokenizer=ESTIMATE, sparse=True, progress=told.append)
    fewer = measured.tradeoff.along("depth")
    assert [point.value for point in fewer[:4]] == [0, 1, 2, 4]
    assert {point.value: point for point in every}[4] == fewer[3]
    assert fewer[-1].items == measured.tradeoff.items
    assert told[0] == "slice"
    assert "depth 4 (31 definitions: a depth takes about as long as the slice)" in told

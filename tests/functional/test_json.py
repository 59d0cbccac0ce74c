"""The JSON schemas, key by key, as docs/formats/json.md has them."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from functional.running import ROOT, Depslice

COMPONENTS = [str(ROOT / name) for name in ("callgraph", "slicer", "server", "cli")]
SPAN = {"start", "end"}
STEP = {"source", "target", "kind", "certainty", "evidence", "path", "line", "column"}


def json_of(text: str, schema: str) -> dict[str, Any]:
    document = json.loads(text)
    assert next(iter(document)) == "schema"
    assert document["schema"] == schema
    assert f"## `{schema}`" in (ROOT / "docs" / "formats" / "json.md").read_text(encoding="utf-8")
    return dict(document)


def test_slice(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.api:quote", "--format", "json")
    document = json_of(done.out, "depslice.slice/1")
    keys = ["targets", "items", "externals", "unresolved", "omitted", "diagnostics", "files"]
    assert list(document) == ["schema", *keys]
    assert document["targets"] == ["shop.api:quote"]
    for item in document["items"]:
        assert set(item) == {"id", "kind", "path", "span", "distance", "form", "reason"}
        assert set(item["span"]) == SPAN
        assert all(set(step) == STEP for step in item["reason"])
        assert len(item["reason"]) == item["distance"]
    assert {"id": "shop.api:quote", "distance": 0}.items() <= document["items"][0].items()
    assert all(set(each) == {"module", "names"} for each in document["externals"])
    assert all(
        set(each) == {"source", "name", "reason", "line", "column"}
        for each in document["unresolved"]
    )
    assert {file["path"] for file in document["files"]} >= {"shop/api.py", "shop/config.py"}


def test_tradeoff(depslice: Depslice, shop: Path) -> None:
    done = depslice("tradeoff", shop, "shop.api:quote", "shop.text:money", "--format", "json")
    document = json_of(done.out, "depslice.tradeoff/1")
    assert list(document) == ["schema", "tradeoffs"]
    assert [each["target"] for each in document["tradeoffs"]] == [
        "shop.api:quote",
        "shop.text:money",
    ]
    for each in document["tradeoffs"]:
        assert list(each) == ["target", "tokenizer", "items", "tokens", "points"]
        axes = {point["axis"] for point in each["points"]}
        assert axes | {"budget"} == {
            "strategy",
            "certainty",
            "depth",
            "budget",
            "form",
        }  # it may never bind
        for point in each["points"]:
            assert list(point) == ["axis", "value", "tokens", "items", "lost"]
            assert all(list(loss) == ["symbol", "distance", "form"] for loss in point["lost"])
            assert {loss["form"] for loss in point["lost"]} <= {"signature", "name", None}


def test_report(depslice: Depslice, shop: Path) -> None:
    done = depslice("report", shop, "shop.api:quote", "--format", "json")
    document = json_of(done.out, "depslice.report/1")
    items = ["id", "kind", "path", "line", "distance", "parent", "reason", "code"]
    assert all(list(item) == items for item in document["items"])
    assert all(list(item["code"]) == ["f", "s", "n"] for item in document["items"])
    assert all(list(stop) == ["budget", "tokens", "forms"] for stop in document["stops"])
    assert {len(stop["forms"]) for stop in document["stops"]} == {len(document["items"])}
    keys = ["target", "tokenizer", "tokens", "items", "edges", "stops", "tradeoff"]
    assert list(document) == ["schema", *keys, "unresolved", "externals"]


def test_slice_says_what_the_options_left_out(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.api:quote", "--format", "json", "--depth", "1")
    omitted = json.loads(done.out)["omitted"]
    assert omitted
    assert all(set(each) == {"symbol", "why", "distance"} for each in omitted)
    assert {each["why"] for each in omitted} == {"depth"}


def test_slices_of_all(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "--all")
    lines = [json_of(line, "depslice.slices/1") for line in done.out.splitlines()]
    functions = json.loads(depslice("functions", shop, "--format", "json").out)["functions"]
    outermost = [each["id"] for each in functions if "<locals>" not in each["id"]]
    assert [line["target"] for line in lines] == outermost
    for line in lines:
        assert list(line) == [
            *("schema", "target", "path", "line", "items", "externals"),
            *("tokens", "unresolved", "omitted", "diagnostics"),
        ]
        assert {"id": line["target"], "distance": 0, "form": "full"} in line["items"]
        assert line["tokens"] > 0


def test_all_gives_the_slices_that_slice_gives(depslice: Depslice, shop: Path) -> None:
    lines = map(json.loads, depslice("slice", shop, "--all").out.splitlines())
    [among_all] = [line for line in lines if line["target"] == "shop.reports:low_stock"]
    alone = json.loads(depslice("slice", shop, "shop.reports:low_stock", "--format", "json").out)
    assert among_all["items"] == [
        {key: item[key] for key in ("id", "distance", "form")} for item in alone["items"]
    ]


def test_graph(depslice: Depslice, shop: Path) -> None:
    document = json_of(depslice("graph", shop, "--format", "json").out, "depslice.graph/1")
    assert list(document) == ["schema", "symbols", "references", "unresolved", "diagnostics"]
    assert {frozenset(each) for each in document["symbols"]} == {
        frozenset({"id", "kind", "path", "span"})
    }
    reference_keys = {"source", "target", "kind", "sites", "certainty", "evidence", "via_external"}
    assert all(set(each) == reference_keys for each in document["references"])
    assert {each["kind"] for each in document["references"]} == {"call"}
    pairs = {(each["source"], each["target"]) for each in document["references"]}
    assert ("shop.pricing:gross_price", "shop.config:tax_rate") in pairs


def test_functions(depslice: Depslice, shop: Path) -> None:
    document = json_of(depslice("functions", shop, "--format", "json").out, "depslice.functions/1")
    assert list(document) == ["schema", "functions"]
    found = document["functions"]
    assert all(list(each) == ["id", "path", "line", "end_line", "kind"] for each in found)
    assert [(each["path"], each["line"]) for each in found] == sorted(
        (each["path"], each["line"]) for each in found
    )
    assert {
        "id": "shop.stock:Stock.add",
        "path": "shop/stock.py",
        "line": 27,
        "end_line": 29,
        "kind": "method",
    } in found
    assert not [each for each in found if each["kind"] not in {"function", "method"}]


@pytest.mark.parametrize(("symbol", "code"), [("shop.discounts:bulk", 0), ("shop.api:sell", 1)])
def test_why(depslice: Depslice, shop: Path, symbol: str, code: int) -> None:
    done = depslice("why", shop, "shop.api:quote", symbol, "--format", "json")
    assert done.code == code
    document = json_of(done.out, "depslice.why/1")
    keys = ["target", "symbol", "in_slice", "item", "distance", "chain", "nearest", "omitted"]
    assert list(document) == ["schema", *keys]
    assert document["in_slice"] is (code == 0)
    assert all(set(step) == {*STEP, "text", "effects"} for step in document["chain"])
    assert document["nearest"] == []  # nothing there is like it


def test_trace_and_compare(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(
        "import shop.api as m\n"
        "stock = m.import_stock('kind,sku,name,price,quantity\\nbook,b1,Ulysses,12,3\\n')\n"
        "m.quote(stock, 'B1', 10)\n"
        "raise SystemExit(5)\n",
        encoding="utf-8",
    )
    path = tmp_path / "trace.json"
    env = {
        "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), *COMPONENTS, str(shop)])
    }
    command = ("trace", "--root", shop, "-o", path, "--", sys.executable, script)
    done = depslice(*command, env=env)
    assert done.code == 5
    trace = json_of(path.read_text(encoding="utf-8"), "depslice.trace/1")
    assert list(trace) == [
        *("schema", "command", "exit_code", "pythons", "processes"),
        *("calls", "executed", "lines", "unmapped"),
    ]
    assert trace["exit_code"] == 5
    call_keys = {"caller", "callee", "sites", "via_external", "through", "resumed"}
    assert all(set(each) == call_keys for each in trace["calls"])
    called = {(each["caller"], each["callee"]) for each in trace["calls"]}
    assert ("shop.pricing:gross_price", "shop.config:tax_rate") in called

    done = depslice("graph", shop, "--compare", path, "--format", "json")
    document = json_of(done.out, "depslice.compare/1")
    assert list(document) == [
        *("schema", "scores", "kinds", "missed", "unseen", "through_foreign", "unknown"),
    ]
    assert [list(score) for score in document["scores"]] == [
        [
            *("certainty", "real", "found", "covered", "seen", "at_lines", "seen_at_lines"),
            *("recall", "precision", "precision_at_lines", "f1"),
        ]
    ] * len(document["scores"])
    assert document["scores"][-1]["real"] == len(called)
    assert sum(each["real"] for each in document["kinds"]) == len(called)
    unseen_keys = {"caller", "callee", "certainty", "evidence", "path", "line", "text", "line_ran"}
    assert document["unseen"]
    assert all(set(each) == unseen_keys for each in document["unseen"])
    missed_keys = {"caller", "callee", "kind", "through", "path", "line", "text"}
    assert all(set(each) == missed_keys for each in document["missed"])


def test_cache(depslice: Depslice, tmp_path: Path, shop: Path) -> None:
    env = {"DEPSLICE_CACHE_DIR": str(tmp_path / "kept")}
    depslice("functions", shop, env=env)
    document = json_of(
        depslice("cache", "info", "--format", "json", env=env).out, "depslice.cache/1"
    )
    assert list(document) == ["schema", "directory", "files", "bytes"]
    assert document["directory"] == str(tmp_path / "kept")
    assert document["files"] == 1
    cleared = json.loads(depslice("cache", "clear", "--format", "json", env=env).out)
    assert list(cleared) == ["schema", "directory", "removed_bytes"]
    assert cleared["removed_bytes"] == document["bytes"] > 0
    assert json.loads(depslice("cache", "info", "--format", "json", env=env).out)["files"] == 0


def test_a_cache_that_is_no_folder(depslice: Depslice, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    for chosen, said in ((file, file), (file / "sub", file), (link, link)):
        for command in ("clear", "info"):
            done = depslice("cache", command, env={"DEPSLICE_CACHE_DIR": str(chosen)})
            assert (done.code, done.out) == (2, "")
            assert done.error == f"error: there can be no cache: {said} is no folder"
    assert file.read_text() == "mine"
    assert "0 bytes" in depslice("cache", "clear", env={"DEPSLICE_CACHE_DIR": f"{tmp_path}/no"}).out


def test_the_documentation_names_no_other_schema() -> None:
    text = (ROOT / "docs" / "formats" / "json.md").read_text(encoding="utf-8")
    described = re.findall(r"^## `(depslice\.\w+/\d+)`", text, re.MULTILINE)
    source = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("*/depslice/**/*.py"))
    assert set(described) == set(
        re.findall(r'SCHEMA\w*(?:: Final)? = "(depslice\.\w+/\d+)"', source)
    )

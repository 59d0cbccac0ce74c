"""The HTML that depslice makes, in a real browser."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from depslice.callgraph import build_graph, open_program
from depslice.callgraph.export import export_html
from depslice.slicer.report import render_report, report_of
from depslice.solvers.page import comparison_page
from depslice.solvers.scoring import scores
from functional.running import Depslice
from solving import ATTEMPT

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

QUOTE = "shop.api:quote"
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium: the one in $DEPSLICE_BROWSER, the system's, or Playwright's own."""
    asked = os.environ.get("DEPSLICE_BROWSER")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    system = asked or next(filter(None, map(shutil.which, names)), None)
    with playwright.sync_playwright() as driver:
        path = system or driver.chromium.executable_path
        if not os.path.exists(path):
            pytest.skip("no Chromium: apt-get install chromium, or playwright install chromium")
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open a page from a file; at the end, it must have fetched nothing and failed nowhere."""
    wrong: list[str] = []
    contexts = []

    def opened(text: str, fragment: str = "", **options: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(viewport={"width": 1400, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
        page.on("console", lambda m: wrong.append(m.text) if m.type != "log" else None)
        page.on("dialog", lambda dialog: wrong.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append(r.url),
        )
        page.goto(path.as_uri() + fragment)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    shop = Path(__file__).parents[2] / "fixtures" / "inventory" / "repo"
    return report_of(open_program(shop, cache=None), QUOTE)


def names_of(page: Any) -> list[str]:
    return list(page.locator("#list button span").all_inner_texts())


# --- the report


def test_the_command_writes_one_page(
    depslice: Depslice, shop: Path, tmp_path: Path, show: Open
) -> None:
    path = tmp_path / "out.html"
    done = depslice("report", shop, QUOTE, "-o", path)
    assert (done.code, done.out) == (0, "")
    page = show(path.read_text(encoding="utf-8"))
    assert page.title() == "Slice of shop.api:quote"
    assert page.inner_text("#counts").startswith("31 definitions, ")
    assert page.get_attribute("#graph", "data-drawn") == "31"
    assert page.locator("#cy canvas").count() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_nothing_is_cut_off(report: dict[str, Any], show: Open, scheme: str) -> None:
    page = show(render_report(report), color_scheme=scheme)
    page.set_viewport_size({"width": 700, "height": 900})
    page.emulate_media(media="print", color_scheme=scheme)
    cut = """[...document.querySelectorAll("#list,#detail,#detail pre,main")].filter(e =>
        e.scrollHeight > e.clientHeight + 2 || e.scrollWidth > e.clientWidth + 2).map(e => e.id)"""
    assert page.evaluate(cut) == []
    assert not page.is_visible("#search")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_definition_has_its_code_and_its_chain(
    depslice: Depslice, shop: Path, report: dict[str, Any], show: Open
) -> None:
    page = show(render_report(report))
    page.click("#list button:has-text('book_week')")
    assert page.inner_text("#detail h2") == "shop.discounts:book_week"
    assert page.inner_text("#detail pre").startswith('@rule("books")\ndef book_week(')
    assert page.locator("#detail pre .k").first.inner_text() == "def"
    why = depslice("why", shop, QUOTE, "shop.discounts:book_week", "--format", "json")
    chain = json.loads(why.out)["chain"]
    shown = page.locator("ol.why li").all()
    assert len(shown) == len(chain) + 1
    for row, step in zip(shown, chain, strict=False):
        assert row.locator(".link").inner_text() == step["source"]
        assert row.locator("pre").inner_text() == step["text"]
        assert f"{step['kind']} ({step['certainty']}, {step['evidence']})" in row.inner_text()
    shown[1].locator(".link").click()
    assert page.inner_text("#detail h2") == chain[1]["source"]


def test_a_click_in_the_graph_chooses(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report))
    frame = page.locator("#cy").bounding_box()
    # The target stands at the left, halfway: look for its node along that line.
    page.click("#list button:has-text('tax_rate')")
    page.click("#fit")
    for x in range(20, 120, 4):
        page.mouse.click(frame["x"] + x, frame["y"] + frame["height"] / 2 + 8)
        if page.locator("#detail h2").count() and page.inner_text("#detail h2") == QUOTE:
            return
    pytest.fail("no click on the line of the target chose it")


def test_the_budget_shows_what_steps_down_and_what_leaves(
    report: dict[str, Any], show: Open
) -> None:
    page = show(render_report(report))
    marks = {"f": "dot f", "s": "dot s", "n": "dot n", "-": "dot out"}
    for place, stop in enumerate(report["stops"]):
        page.locator("#budget").fill(str(place))
        dots = page.locator("#list .dot").evaluate_all("all => all.map(one => one.className)")
        assert dots == [marks[form] for form in stop["forms"]]
        assert f"{stop['tokens']} tokens" in page.inner_text("#spent")
    page.keyboard.press("Escape")
    page.locator("#budget").fill("0")
    left_out = report["stops"][0]["forms"].index("-")
    page.click(f"#list button[data-place='{left_out}']")
    assert "left out at this budget" in page.inner_text("#detail")
    assert page.locator("#detail pre.lost").count() == 1


def test_the_slider_keeps_its_width_while_it_is_moved(report: dict[str, Any], show: Open) -> None:
    """What it tells is longer for some budgets: the thumb ran away from who dragged it."""
    page = show(render_report(report))
    widths = set()
    for place in range(len(report["stops"])):
        page.locator("#budget").fill(str(place))
        widths.add(page.locator("#budget").bounding_box()["width"])
    assert len(widths) == 1


def test_a_long_id_is_broken_between_its_names(report: dict[str, Any], show: Open) -> None:
    whole = "shop.a_package_of_a_long_name.a_module_of_a_long_name:AClassOfALongName.a_method"
    items = [{**report["items"][0], "id": whole}, *report["items"][1:]]
    page = show(render_report({**report, "items": items, "target": whole}))
    heading = page.locator("#detail h2")
    assert heading.inner_text() == whole
    tops = heading.evaluate(
        """e => [...e.childNodes].filter(n => n.nodeType === 3).map(n => {
            const range = document.createRange(); range.selectNode(n);
            return range.getClientRects().length; })"""
    )
    assert tops == [1, 1, 1, 1, 1]


def test_the_search_narrows_the_list(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report))
    page.fill("#search", "_PRICE")
    assert names_of(page) == ["gross_price", "net_price"]
    page.fill("#search", "no such thing")
    assert names_of(page) == []
    assert page.inner_text("#found") == "0 definitions"


def test_everything_can_be_reached_by_keys(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report))
    page.keyboard.press("/")
    page.keyboard.type("gross")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#detail h2") == "shop.pricing:gross_price"
    page.locator("#cy").focus()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#detail h2") == QUOTE
    page.keyboard.press("ArrowRight")
    child = page.inner_text("#detail h2")
    assert report["items"][[i["id"] for i in report["items"]].index(child)]["distance"] == 1
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#detail h2") != child
    page.keyboard.press("[")
    assert page.locator("#budget").input_value() == str(len(report["stops"]) - 2)
    page.keyboard.press("/")
    page.keyboard.type("bulk")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h2") == "shop.discounts:bulk"
    page.keyboard.press("[")  # a command again, no text
    assert page.locator("#search").input_value() == "bulk"
    assert page.locator("#budget").input_value() == str(len(report["stops"]) - 3)
    page.keyboard.press("Escape")
    assert page.locator("#detail h2").count() == 0
    page.locator("#tab-graph").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#tab-chart", "aria-selected") == "true"
    assert page.locator("#chart svg").is_visible()


def test_the_list_is_one_stop_on_the_way_by_tab(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report))
    focused = "document.activeElement.id || document.activeElement.innerText"
    page.locator("#search").focus()
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "quote"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate(focused)
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "tab-graph"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(focused) == chosen
    page.fill("#search", "_price")  # the chosen one is not among them
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "gross_price"


def test_dark_as_the_system_and_by_hand(report: dict[str, Any], show: Open) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    dark = show(render_report(report), color_scheme="dark")
    assert dark.evaluate(background) == "rgb(18, 24, 30)"
    light = show(render_report(report), color_scheme="light")
    assert light.evaluate(background) == "rgb(244, 246, 249)"
    light.click("#theme")
    assert light.evaluate(background) == "rgb(18, 24, 30)"


def test_a_link_to_a_definition(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report), "#shop.text%3Amoney")
    assert page.inner_text("#detail h2") == "shop.text:money"


LABELS = "[...document.getElementById('cy')._cyreg.cy.nodes('[place]')].map(n => n.data('label'))"


def test_long_names_keep_what_tells_them_apart(report: dict[str, Any], show: Open) -> None:
    names = [f"_BaseProcessorOfPages.{name}" for name in ("feed", "close", "handle_starttag")]
    names += [f"a_function_of_a_very_long_name_with_{end}" for end in ("ab", "cd")]
    items = [
        {**item, "id": f"shop.api:{name}"}
        for item, name in zip(report["items"], names, strict=False)
    ]
    items += report["items"][len(names) :]
    page = show(render_report({**report, "items": items}))
    labels = page.evaluate(LABELS)
    assert len(set(labels)) == len(items)
    for label, end in zip(labels, ("…feed", "…close", "…handle_starttag"), strict=False):
        assert label.startswith(("_", "…"))
        assert label.endswith(end)
    # In the list the end of such a name is seen as well, and whole in a tooltip.
    assert names_of(page)[: len(names)] == names
    row = page.locator(f"#list button:has-text('{names[3]}')")
    whole, name = row.locator("span").bounding_box(), row.locator("bdi").bounding_box()
    assert name["x"] < whole["x"]
    assert abs(name["x"] + name["width"] - whole["x"] - whole["width"]) < 2


def test_what_is_unknown_stands_in_rows_that_can_be_read(
    report: dict[str, Any], show: Open
) -> None:
    gap = [QUOTE, "a.very_long_name" * 6, "no-such-attribute", 7]
    page = show(render_report({**report, "unresolved": [gap, [QUOTE, "run", "parameter", 8]]}))
    page.set_viewport_size({"width": 900, "height": 700})
    page.click("#tab-notes")
    heights = [each.bounding_box()["height"] for each in page.locator("#notes .reason").all()]
    assert len(heights) == 4
    words = page.locator("#notes td.reason").all()
    assert [each.inner_text() for each in words] == ["no-such-attribute", "parameter"]
    for each in page.locator("#notes small").all():
        assert each.bounding_box()["height"] < 24
    inner = "e => e.scrollWidth <= e.clientWidth"
    assert page.locator("#notes").evaluate(inner)
    assert all(each.evaluate(inner) for each in words)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_legend_covers_nothing_of_the_graph(
    report: dict[str, Any], show: Open, width: int
) -> None:
    page = show(render_report(report))
    page.set_viewport_size({"width": width, "height": 800})
    graph, legend = (page.locator(each).bounding_box() for each in ("#cy", "#legend"))
    assert graph["y"] + graph["height"] <= legend["y"] + 0.5
    assert graph["height"] > 200


def test_the_page_of_a_small_screen(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report))
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_choice_on_a_small_screen_shows_what_is_told_of_it(
    report: dict[str, Any], show: Open
) -> None:
    page = show(render_report(report))
    page.set_viewport_size({"width": 390, "height": 800})
    heading = page.locator("#detail h2")
    assert heading.bounding_box()["y"] > 800  # below list and graph
    page.click("#list button:has-text('tax_rate')")
    assert heading.inner_text().endswith("tax_rate")
    assert 0 <= heading.bounding_box()["y"] < 400
    page.click("#detail .link >> nth=0")
    assert 0 <= heading.bounding_box()["y"] < 400
    page.click("#detail .back")
    assert 0 <= page.locator("#list button:has-text('tax_rate')").bounding_box()["y"] < 800
    page.set_viewport_size({"width": 1400, "height": 900})
    assert not page.locator("#detail .back").is_visible()


def test_a_link_to_a_definition_on_a_small_screen(report: dict[str, Any], show: Open) -> None:
    page = show(render_report(report), "#shop.config%3Atax_rate")
    page.set_viewport_size({"width": 390, "height": 800})
    url = page.url
    page.goto("about:blank")
    page.goto(url)
    assert page.inner_text("#detail h2") == "shop.config:tax_rate"
    assert 0 <= page.locator("#detail h2").bounding_box()["y"] < 400


# --- what hostile code would like


EVIL = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


def test_hostile_names_and_strings_stay_text(tmp_path: Path, show: Open) -> None:
    folder = tmp_path / "repo" / "<img src=x onerror=window.hacked=1>"
    folder.mkdir(parents=True)
    (folder / "m.py").write_text(
        f"EVIL = '''{EVIL}<!-- ${{title}} $data'''\n\n\n"
        f"def target(x):\n    '''{EVIL}'''\n    # {EVIL}\n    return EVIL, x.oops(), '<b>'\n",
        encoding="utf-8",
    )
    program = open_program(tmp_path / "repo", cache=None)
    [target] = [
        symbol.id
        for file in program.project.files
        if (module := program.module(file.module)) is not None
        for symbol in program.symbol_table(module).values()
        if symbol.id.endswith(":target")
    ]
    page = show(render_report(report_of(program, target)))
    assert EVIL in page.inner_text("#detail pre")
    page.click("#list button:has-text('EVIL')")
    assert EVIL in page.inner_text("#detail pre")
    page.click("#tab-notes")
    page.click("#tab-chart")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    graph = show(export_html(build_graph(program, workers=1), title=EVIL))
    assert graph.evaluate("window.hacked") is None
    assert graph.locator("img").count() == 0


def test_the_policy_stops_a_script_that_got_in(report: dict[str, Any], browser: Any) -> None:
    text = render_report(report).replace("<noscript>", "<script>window.hacked=1</script><noscript>")
    page = browser.new_page()
    page.set_content(text)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#list button").count() == 31
    page.close()


# --- size


def test_two_thousand_definitions(report: dict[str, Any], show: Open) -> None:
    count = 2000
    [target, *_] = report["items"]
    items = [target]
    for place in range(1, count):
        parent = (place - 1) // 3
        items.append(
            {
                **target,
                "id": f"big.module{place % 40}:definition_{place}",
                "distance": items[parent]["distance"] + 1,
                "parent": parent,
                "reason": ["call", "definite", "name", "big.py", place, f"definition_{place}()"],
            }
        )
    items.sort(key=lambda item: item["distance"])  # breadth first already: places stay
    edges = [[item["parent"], i, "call", 0] for i, item in enumerate(items) if i]
    edges += [[i, (i * 7) % count, "read", i % 2] for i in range(count) if i != (i * 7) % count]
    stops = [
        {"budget": 1000, "tokens": 990, "forms": "f" + "n" * (count // 2) + "-" * (count // 2 - 1)},
        {"budget": None, "tokens": 90000, "forms": "f" * count},
    ]
    data = {**report, "items": items, "edges": sorted(edges), "stops": stops}
    page = show(render_report(data))
    page.wait_for_selector("#graph[data-drawn='2000']")
    assert page.locator("#list button").count() == count
    assert page.inner_text("#found") == "2,000 definitions"
    page.keyboard.press("[")
    page.keyboard.press("ArrowRight")
    assert "definition_1" in page.inner_text("#detail h2")
    page.fill("#search", "definition_1999")
    assert names_of(page) == ["definition_1999"]


# --- the chart, and the page of `graph`


def test_the_chart_of_several_targets(depslice: Depslice, shop: Path, show: Open) -> None:
    done = depslice("tradeoff", shop, QUOTE, "shop.text:money", "--format", "html")
    assert done.code == 0
    page = show(done.out)
    assert page.locator("#which option").all_inner_texts() == [QUOTE, "shop.text:money"]
    rows = depslice("tradeoff", shop, QUOTE, "--format", "csv").out.splitlines()[1:]
    assert page.locator("svg circle, svg rect").count() == len(rows)
    assert page.locator("tbody td").count() == 6 * len(rows)
    page.locator("svg .strategy rect").first.focus()
    assert page.inner_text(".told").startswith("strategy naive: ")
    page.select_option("#which", "1")
    assert page.inner_text("h1") == "shop.text:money"


def test_the_page_of_a_graph(shop: Path, show: Open) -> None:
    graph = build_graph(open_program(shop, cache=None), workers=1)
    page = show(export_html(graph, title="shop"), "#shop.api%3Aquote")
    assert page.inner_text("#name") == QUOTE
    boxes = page.locator("#drawing g.node title").all_text_contents()
    assert boxes
    assert len(boxes) == len(set(boxes))
    page.locator("#drawing g.node").first.click()
    assert page.inner_text("#name") == boxes[0]
    page.keyboard.press("/")
    page.fill("#search", "gross_price")
    page.keyboard.press("Enter")
    assert page.inner_text("#name") == "shop.pricing:gross_price"


def test_the_page_of_a_graph_opens_with_the_target(shop: Path, show: Open) -> None:
    graph = build_graph(open_program(shop, cache=None), workers=1)
    page = show(export_html(graph, title="shop", starts=["nowhere", "shop.text:money"]))
    assert page.inner_text("#name") == "shop.text:money"
    lines = page.locator("#rows td:nth-child(3)").all_inner_texts()
    assert all(len(set(each.split(", "))) == len(each.split(", ")) for each in lines)
    width = page.evaluate("at => document.getElementById(at).scrollWidth", "drawing")
    assert width <= page.evaluate("at => document.getElementById(at).clientWidth", "drawing")


# --- solvers compared


def test_the_comparison_of_solvers_shows_every_solver_and_problem(show: Open) -> None:
    attempts = [
        replace(ATTEMPT, problem="p<0>"),
        replace(ATTEMPT, problem="p1", passed=False, visible=0.0),
    ]
    attempts += [replace(each, solver="tree", passed=True) for each in attempts]
    page = show(comparison_page(scores(attempts), attempts))
    assert page.locator("svg circle").count() == 2
    labels = page.locator("svg text").all_text_contents()
    assert {"direct 50%", "tree 100%"} <= set(labels)
    cells = page.locator("table").nth(1).locator("tbody tr").all_inner_texts()
    assert [row.split()[0] for row in cells] == ["p<0>", "p1"]
    boxes = [each.bounding_box() for each in page.locator("svg text").all()[-2:]]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) >= 10  # no label lies on another


def test_long_names_and_many_solvers_stay_in_the_picture(show: Open) -> None:
    """Names were cut off at its right, those of solvers that pass nothing below it."""
    attempts = [
        replace(
            ATTEMPT,
            solver=f"solver:option={number},another-option={'x' * number}",
            passed=False,
            usage=replace(ATTEMPT.usage, input_tokens=7**number),
        )
        for number in range(1, 9)
    ]
    page = show(comparison_page(scores(attempts), attempts), color_scheme="dark")
    whole = page.locator("svg").bounding_box()
    boxes = [each.bounding_box() for each in page.locator("svg text").all()]
    for box in boxes:
        assert box["x"] + box["width"] <= whole["x"] + whole["width"]
        assert box["y"] + box["height"] <= whole["y"] + whole["height"] + 1
    flat = sorted((b for b in boxes if b["width"] > b["height"]), key=lambda b: (b["y"], b["x"]))
    for one, other in itertools.pairwise(flat):
        if abs(one["y"] - other["y"]) < 2:
            assert one["x"] + one["width"] <= other["x"]
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(13, 17, 23)"

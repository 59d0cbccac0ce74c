"""What the commands give when all is well."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET  # parses what the test has just made

import pytest

from check import write_files
from functional.running import Depslice


def test_a_bundle_goes_to_standard_output_and_notes_do_not(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:plural")
    assert done.code == 0
    assert done.out == (
        "# shop/text.py\n"
        "def plural(count: int, word: str) -> str:\n"
        '    return f"{count} {word}" if count == 1 else f"{count} {word}s"\n'
    )
    assert "1 definition of 1 file; " in done.err
    assert depslice("slice", shop, "shop.text:plural", "-q").err == ""


def test_only_definite_references(depslice: Depslice, tmp_path: Path) -> None:
    classes = "".join(
        f"class Box{n}:\n    def unpacked{n}(self):\n        return {n}\n\n\n" for n in range(250)
    )
    used = ", ".join(f"Box{n}, opened.unpacked{n}()" for n in range(250))
    (tmp_path / "app.py").write_text(
        f"import pickle\n\n\n{classes}def target(data):\n"
        f"    opened = pickle.loads(data)\n    return {used}\n"
    )
    whole = depslice("slice", tmp_path, "target")
    assert "501 definitions of 1 file" in whole.err
    assert "hint: 250 of them only by possible references; --certainty likely" in whole.err
    sure = depslice("slice", tmp_path, "target", "--certainty", "likely", "--format", "json")
    document = json.loads(sure.out)
    assert len(document["items"]) == 251
    assert {each["why"] for each in document["omitted"]} == {"certainty"}
    assert "250 definitions omitted (--certainty), with what only they bring" in sure.err
    assert "hint" not in sure.err
    assert depslice("slice", tmp_path, "target", "--certainty", "sure").code == 2


@pytest.mark.parametrize(
    "target",
    [
        "shop.stock:Stock.take",
        "shop.stock.Stock.take",
        "shop/stock.py:Stock.take",
        "shop/stock.py:39",
        "Stock.take",
        "take",
    ],
)
def test_every_name_of_a_target_gives_the_same_slice(
    depslice: Depslice, shop: Path, target: str
) -> None:
    expected = depslice("slice", shop, "shop.stock:Stock.take").out
    assert "def take(" in expected
    assert depslice("slice", shop, target).out == expected


def test_a_path_as_the_shell_completes_it(depslice: Depslice, shop: Path) -> None:
    done = depslice(
        "slice", "inventory/repo", "inventory/repo/shop/text.py:plural", cwd=shop.parents[1]
    )
    assert "def plural(" in done.out


def test_classes_variables_and_modules_are_targets(depslice: Depslice, shop: Path) -> None:
    whole = depslice("slice", shop, "shop.models:Food").out
    assert "def expired(" in whole
    assert "def category(" in whole
    assert "for _key in DEFAULTS" in depslice("slice", shop, "shop.config:SETTINGS").out
    assert "def low_stock_limit" in depslice("slice", shop, "shop/config.py").out


def test_a_tree_is_written_to_a_folder_and_imports(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tree"
    done = depslice("slice", shop, "shop.api:quote", "--format", "tree", "-o", folder)
    assert (done.code, done.out) == (0, "")
    subprocess.run(
        [sys.executable, "-c", "import shop.api; shop.api.quote"], cwd=folder, check=True
    )
    again = depslice("slice", shop, "shop.text:plural", "--format", "tree", "-o", folder)
    assert again.code == 2
    assert "not empty" in again.error
    forced = depslice(
        "slice", shop, "shop.text:plural", "--format", "tree", "-o", folder, "--force"
    )
    assert forced.code == 0
    assert "def money(" not in (folder / "shop" / "text.py").read_text(encoding="utf-8")
    assert (folder / "shop" / "api.py").exists()  # only the same paths are replaced


def test_a_tree_on_standard_output_has_headers(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.api:restock", "--format", "tree")
    assert "# shop/stock.py\n" in done.out
    ast.parse(done.out.replace("from __future__ import annotations", ""))


def test_a_module_runs_alone(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "low_stock.py"
    done = depslice("slice", shop, "shop.reports:low_stock", "--format", "module", "-o", path)
    assert done.code == 0
    subprocess.run([sys.executable, path], check=True)


def test_markup(depslice: Depslice, shop: Path) -> None:
    assert depslice("slice", shop, "plural", "--format", "md").out.startswith("# Slice of")
    root = ET.fromstring(depslice("slice", shop, "plural", "--format", "xml").out)  # noqa: S314
    assert root.tag == "slice"


def test_strategies_depth_and_budget(depslice: Depslice, shop: Path) -> None:
    sliced = depslice("slice", shop, "shop.api:quote").out
    naive = depslice("slice", shop, "shop.api:quote", "--strategy", "naive").out
    full = depslice("slice", shop, "shop.api:quote", "--strategy", "full").out
    near = depslice("slice", shop, "shop.api:quote", "--depth", "1").out
    small = depslice("slice", shop, "shop.api:quote", "--budget", "200").out
    assert "def sell(" in full
    assert "def sell(" not in sliced
    assert len(naive) < len(near) < len(sliced)
    assert len(small) < len(sliced)
    for text in (sliced, naive, full, near, small):
        assert "def quote(" in text


def test_one_of_a_kind_is_told_as_one(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def f(): return g\n\ng = 1\n")
    assert depslice("functions", tmp_path).err == "1 function or method\n"
    told = depslice("tradeoff", tmp_path, "one:f", "--tokenizer", "characters/4", "--budget", 9)
    assert "  1 as a name\n" in told.out
    told = depslice("report", tmp_path, "one:g", "--tokenizer", "characters/4", "-o", "r.html")
    assert told.err.endswith("1 definition, 4 tokens (characters/4)\n")
    assert "1 slice, 0 failed" in depslice("slice", tmp_path, "--all").err


def test_a_budget_that_does_not_hold_is_told(depslice: Depslice, shop: Path) -> None:
    def told(*options: object) -> str:
        return depslice("slice", shop, "shop.text:money", *options).err.splitlines()[-1]

    assert told("--budget", 10) == "more than the budget of 10 tokens: the target is never cut"
    usages = told("--budget", 100, "--usages", 2)
    assert usages == "more than the budget of 100 tokens: usages come on top"
    assert "more than" not in told("--budget", 100)
    [row] = [
        line
        for line in depslice("tradeoff", shop, "shop.text:money", "--budget", 10).out.splitlines()
        if line.startswith("  10 ")
    ]
    assert "over the budget" in row


def test_an_option_before_the_command_is_told_where_it_stands(depslice: Depslice) -> None:
    told = depslice("-q", "slice", ".", "f").err
    assert "options of a command stand behind its name (depslice COMMAND -q)" in told


@pytest.mark.parametrize("strategy", ["naive", "full"])
def test_a_context_that_is_no_slice_is_not_told_as_one(
    depslice: Depslice, shop: Path, strategy: str
) -> None:
    done = depslice("slice", shop, "shop.api:quote", "--strategy", strategy)
    told = done.err.splitlines()[-1]
    assert re.match(rf"{strategy}: [\d,]+ tokens \(characters/4\); the slice has 31 defin", told)
    done = depslice("slice", shop, "quote", "--strategy", strategy, "--budget", 9, "--depth", "1")
    assert (done.code, done.out) == (2, "")
    assert f"--depth and --budget: of slices alone, not of --strategy {strategy}" in done.err


def test_whole_classes_and_usages(depslice: Depslice, shop: Path) -> None:
    assert "def take" not in depslice("slice", shop, "shop.api:restock").out
    assert "def take" in depslice("slice", shop, "shop.api:restock", "--whole-classes").out
    assert "def low_stock(" not in depslice("slice", shop, "shop.text:plural").out
    assert "low_stock" in depslice("slice", shop, "shop.text:plural", "--usages", "2").out


def test_several_targets_give_one_slice(depslice: Depslice, shop: Path) -> None:
    done = depslice("slice", shop, "shop.text:plural", "shop.text:heading")
    assert done.out.count("# shop/text.py\n") == 1
    assert "def heading(" in done.out
    assert "def plural(" in done.out


@pytest.mark.parametrize("format_", ["bundle", "tree"])
def test_no_more_than_one_folder_is_made(
    depslice: Depslice, shop: Path, tmp_path: Path, format_: str
) -> None:
    asked = ("slice", shop, "shop.text:money", "--format", format_, "-o")
    done = depslice(*asked, tmp_path / "gone" / "in" / "x")
    assert done.code == 2, done.err
    assert f"there is no folder {tmp_path / 'gone'}" in done.error
    assert not list(tmp_path.iterdir())
    assert depslice(*asked, tmp_path / "new").code == 0


def test_a_module_without_code_is_told(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    done = depslice("slice", tmp_path, "pkg")
    assert done.code == 0
    assert "pkg: there is no code in it" in done.err


def test_an_output_file_is_replaced_whole(depslice: Depslice, shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.py"
    assert depslice("slice", shop, "plural", "-o", path).code == 0
    before = path.read_text(encoding="utf-8")
    assert depslice("slice", shop, "plurall", "-o", path).code == 2
    assert path.read_text(encoding="utf-8") == before
    assert list(path.parent.iterdir()) == [path]
    assert not path.stat().st_mode & 0o111


def test_all_reports_and_goes_on(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "good.py").write_text("def f():\n    return g()\ndef g():\n    return 1\n")
    (tmp_path / "bad.py").write_text("def broken(:\n")
    done = depslice("slice", tmp_path, "--all")
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    assert "bad.py:1: error:" in done.err
    assert "2 slices, 0 failed" in done.err


@pytest.mark.parametrize(
    ("format_", "start", "member"),
    [
        ("text", "shop.api:import_stock  shop/api.py:34\n", "  shop.storage:read_rows"),
        ("pycg", "{", '"shop.api.quote"'),
        ("dot", "digraph", "shop.pricing"),
        ("mermaid", "flowchart", "gross_price"),
        ("graphml", "<?xml", "shop.api:quote"),
        ("html", "<!DOCTYPE html>", "gross_price"),
    ],
)
def test_graph_formats(
    depslice: Depslice, shop: Path, format_: str, start: str, member: str
) -> None:
    done = depslice("graph", shop, "--format", format_)
    assert done.code == 0
    assert done.out.startswith(start)
    assert member in done.out


def test_pycg_has_decorators_and_constructors_of_external_bases(
    depslice: Depslice, tmp_path: Path
) -> None:
    """The command gives what the library does: the form needs more than references that are calls."""
    (tmp_path / "main.py").write_text(
        "import json\n"
        "import remote\n"
        "class Encoder(json.JSONEncoder): ...\n"
        "class Job(remote.Job):\n"
        "    @property\n"
        "    def name(self): return 'job'\n"
        "@remote.task\n"
        "def run(): ...\n"
        "Encoder()\n"
        "Job().start()\n"
    )
    done = depslice("graph", tmp_path, "--format", "pycg")
    assert json.loads(done.out)["main"] == [
        "json.JSONEncoder.__init__",
        "remote.Job.__init__",
        "remote.Job.start",
        "remote.task",
    ]


def test_a_tree_of_calls_and_of_callers(depslice: Depslice, shop: Path) -> None:
    calls = depslice("graph", shop, "shop.api:quote").out
    assert calls.startswith("shop.api:quote\n├── ")
    assert "│   └── " in calls
    shallow = depslice("graph", shop, "shop.api:quote", "--depth", "1").out
    assert 1 < len(shallow.splitlines()) < len(calls.splitlines())
    callers = depslice("graph", shop, "shop.config:setting", "--callers").out
    assert "shop.reports:low_stock" in callers
    assert "shop.reports:low_stock" not in calls


def test_other_references_and_the_outside(depslice: Depslice, shop: Path) -> None:
    calls = depslice("graph", shop, "shop.storage:save").out
    assert "external:" not in calls
    assert "external:csv.writer" in depslice("graph", shop, "shop.storage:save", "--externals").out
    told = depslice("graph", shop, "shop.text:money", "--kind", "all").out.splitlines()
    assert told == [
        "shop.text:money",
        "├── shop.config:setting",
        "│   └── read shop.config:SETTINGS",
        "└── read shop.text:SYMBOLS",
    ]
    everything = depslice("graph", shop, "shop.errors:BadRow", "--kind", "all").out
    assert "inherit shop.errors:ShopError" in everything


def test_a_form_feed_ends_no_line_of_what_is_explained(depslice: Depslice, tmp_path: Path) -> None:
    """Of a file with form feeds, which GNU projects have between parts, a line above was shown."""
    (tmp_path / "m.py").write_text(
        "def first(): pass\n\x0c\ndef second():\n    return first()\n", encoding="utf-8"
    )
    text = depslice("graph", tmp_path, "--explain", "m:second", "m:first").out
    assert "  m.py:4:11  call, definite\n      return first()\n" in text


def test_a_call_is_explained(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "class C:\n    def g(self): pass\ndef f(c: C):\n    c.g()\ndef other(): pass\n",
        encoding="utf-8",
    )
    text = depslice("graph", tmp_path, "--explain", "m:f", "m:C.g").out
    for more in (["m:f"], ["--resolver", "jedi"], ["--callers"], ["--depth", "1"]):
        done = depslice("graph", tmp_path, *more, "--explain", "m:f", "m:C.g")
        assert (done.code, done.out) == (2, "")
        assert "--explain is about one call" in done.error
    assert "m.py:4:6  method, definite\n      c.g()\n" in text
    assert "method m:C.g of instance of m:C or of a subclass" in text
    found = json.loads(
        depslice("graph", tmp_path, "--explain", "m:f", "m:C.g", "--format", "json").out
    )
    assert (found["schema"], found["caller"]) == ("depslice.explain/1", "m:f")
    [site] = found["sites"]
    assert (site["line"], site["rule"], site["alternatives"]) == (4, "method", ["m:C.g"])
    none = depslice("graph", tmp_path, "--explain", "m:f", "m:other")
    assert (none.code, none.out) == (1, "m:f does not call m:other, as far as depslice sees\n")
    assert depslice("graph", tmp_path, "--explain", "m:f", "m:nobody").code == 2


def test_certainty_selects(depslice: Depslice, shop: Path) -> None:
    def edges(*options: str) -> set[str]:
        return set(depslice("graph", shop, "--format", "dot", *options).out.splitlines())

    shown = {each: edges("--certainty", each) for each in ("definite", "likely", "possible")}
    arrows = {each: {e for e in found if "->" in e} for each, found in shown.items()}
    assert arrows["definite"] <= arrows["likely"] <= arrows["possible"]
    assert arrows["definite"] != arrows["possible"]
    assert edges() == shown["likely"]


def test_jedi_adds_its_evidence(depslice: Depslice, shop: Path) -> None:
    arguments = ("graph", shop, "shop.api:quote", "--format", "json", "--resolver", "own")
    merged = depslice(*arguments, "--resolver", "jedi")
    assert merged.code == 0
    assert '"jedi"' in merged.out
    assert '"jedi"' not in depslice(*arguments).out


def test_why_shows_the_source_of_each_step(depslice: Depslice, shop: Path) -> None:
    done = depslice("why", shop, "shop.api:quote", "shop.text:SYMBOLS")
    assert done.code == 0
    steps = done.out.splitlines()
    assert steps[0].startswith("shop.api:quote  --")
    assert "-->  shop.text:money   shop/api.py:16" in steps[0]
    assert "money(gross_price" in steps[1]
    assert "-->  shop.text:SYMBOLS   shop/text.py:10" in steps[-2]


def test_why_an_import_is_there_for_its_effects(depslice: Depslice, tmp_path: Path) -> None:
    write_files(
        """
# --- pkg/__init__.py
from .plug import plug
# --- pkg/core.py
REGISTRY = {}

def register(function):
    REGISTRY[function.__name__] = function
    return function

def run(name):
    return REGISTRY[name]()
# --- pkg/plug.py
from pkg.core import register

def plug():
    return 1

@register
def quick():
    return 2

register(lambda: 3)
""",
        tmp_path,
    )
    done = depslice("why", tmp_path, "pkg.core:run", "pkg.plug:plug")
    assert "side-effect import" in done.out
    assert done.out.endswith(
        "    from .plug import plug\n"
        "    runs pkg/plug.py:6, which has an effect on pkg.core:REGISTRY\n"
        "        @register\n"
        "    runs pkg/plug.py:10, which has an effect on pkg.core:REGISTRY\n"
        "        register(lambda: 3)\n"
    )


def test_why_not(depslice: Depslice, shop: Path) -> None:
    done = depslice("why", shop, "shop.api:restock", "shop.stock:Stock.take")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "shop.stock:Stock.take is not in the slice of shop.api:restock"
    assert "  nearest: shop.stock:Stock.quantity" in lines


def test_why_a_nested_function(depslice: Depslice, shop: Path) -> None:
    done = depslice("why", shop, "shop.api:quote", "shop.discounts:rule.<locals>.register")
    assert "is a part of shop.discounts:rule" in done.out


def test_functions_as_lines(depslice: Depslice, shop: Path) -> None:
    lines = depslice("functions", shop).out.splitlines()
    assert "shop/text.py:13\tfunction\tshop.text:plural" in lines


def test_a_single_script_and_an_unpacked_package(depslice: Depslice, shop: Path) -> None:
    script = depslice("slice", shop / "shop" / "text.py", "text:heading")
    assert "def heading(" in script.out
    package = depslice("slice", shop / "shop", "shop.text:plural")
    assert "def plural(" in package.out


def test_what_is_left_out_is_said_and_can_be_brought_back(
    depslice: Depslice, tmp_path: Path
) -> None:
    for name in ("a.py", "_vendor/b.py", "tests/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("def f(): pass\n")
    done = depslice("functions", tmp_path)
    assert len(done.out.splitlines()) == 2
    assert "left out: 1 path (1 vendored)" in done.err
    assert "_vendor: vendored" in depslice("functions", tmp_path, "-v").err
    more = depslice("functions", tmp_path, "--include", "_vendor/", "--exclude", "tests/")
    assert [line.split(":")[0] for line in more.out.splitlines()] == ["_vendor/b.py", "a.py"]
    refused = depslice("slice", tmp_path, "_vendor/b.py:f")
    assert "left out of the analysis (vendored)" in refused.error
    assert "--include" in refused.err


def test_workers_cache_and_hash_seed_change_nothing(depslice: Depslice, tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"m{number}.py").write_text(
            f"import m{(number + 1) % 60}\n\n\ndef f(x):\n    return m{(number + 1) % 60}.g(x)\n"
            "\n\ndef g(x):\n    return {x, 'a', 'b'}\n",
        )
    runs = [
        depslice("slice", tmp_path, "--all", *options, env={"PYTHONHASHSEED": seed}).out
        for options, seed in [
            (("--workers", "1", "--no-cache"), "1"),
            (("--workers", "3"), "2"),
            (("--workers", "2"), "3"),
        ]
    ]
    assert len(runs[0].splitlines()) == 120
    assert runs[0] == runs[1] == runs[2]


def test_nothing_analysed_is_run(depslice: Depslice, tmp_path: Path) -> None:
    """Not even what shadows the standard library, from the folder the user is in."""
    marker = f"open({str(tmp_path / 'RAN')!r}, 'w').close()\n"
    repo = tmp_path / "repo"
    repo.mkdir()
    names = ["json", "pickle", "click", "difflib", "tomllib", "struct", "conftest", "sitecustomize"]
    for name in names:
        (repo / f"{name}.py").write_text(f"{marker}def f(): pass\n")
    for number in range(60):
        (repo / f"m{number}.py").write_text(f"{marker}def f{number}(): pass\n")
    for arguments in (
        ("functions", ".", "--workers", "2"),
        ("slice", ".", "pickle:f", "--format", "module"),
        ("slice", ".", "--all"),
        ("graph", ".", "--format", "html"),
        ("why", ".", "json:f", "json:f"),
        ("slice", ".", "json:fff"),
    ):
        assert depslice(*arguments, cwd=repo).code == (2 if "json:fff" in arguments else 0)
    assert not (tmp_path / "RAN").exists()


# --- defaults


def test_defaults_come_from_the_users_own_project(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.depslice]\nquiet = true\n[tool.depslice.slice]\nformat = "md"\n'
    )
    below = tmp_path / "below"
    below.mkdir()
    done = depslice("slice", shop, "shop.text:plural", cwd=below)
    assert done.out.startswith("# Slice of")
    assert done.err == ""
    chosen = depslice("slice", shop, "shop.text:plural", "--format", "bundle", cwd=below)
    assert chosen.out.startswith("# shop/text.py")


def test_defaults_of_other_commands_are_none_of_this_one(
    depslice: Depslice, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.depslice]\nmax-dollars = 1.0\n[tool.depslice.graph]\nnope = 1\n"
    )
    assert depslice("slice", shop, "shop.text:plural", cwd=tmp_path).code == 0


def test_the_analysed_repository_gives_no_defaults(depslice: Depslice, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.depslice.slice]\nformat = "md"\n')
    (tmp_path / "a.py").write_text("def f(): pass\n")
    assert depslice("slice", tmp_path, "a:f").out.startswith("# a.py")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[tool.depslice.graph]\npycg-python = "/tmp/evil"', "only be given on the command line"),
        ('[tool.depslice]\noutput = "/tmp/evil"', "only be given on the command line"),
        ("[tool.depslice.graph]\nnope = 1", "graph has no option --nope"),
        ("[tool.depslice.graph]\ndept = 1", "graph has no option --dept; did you mean 'depth'?"),
        ('[tool.depslice]\nexclud = ["m.py"]', "--exclud; did you mean 'exclude'?"),
        ("[tool.depslice]\nmax_dollars = 1", "did you mean 'max-dollars'?"),
        ("[tool.depslice.slize]\nbudget = 5", "slize is no command; did you mean 'slice'?"),
        ("[tool.depslice]\nslice = 5", "no command has an option --slice"),
        ("[tool.depslice.graph]\ndepth = nan", "nan is not a whole number"),
        ("[tool.depslice.graph]\ndepth = 2.7", "2.7 is not a whole number"),
        ('[tool.depslice]\nquiet = "yes"', "must be true or false"),
        ('[tool.depslice]\nexclude = ["a", 5]', "must be a list of strings"),
        ('[tool.depslice.graph]\ndepth = "deep"', "pyproject.toml: tool.depslice.graph.depth: "),
        ('[tool.depslice.graph]\nformat = "nope"', "tool.depslice.graph.format: 'nope' is not one"),
        ("[tool.depslice]\nworkers = 0", "pyproject.toml: tool.depslice.workers: 0 is not in"),
        ("[tool.depslice", "pyproject.toml"),
        ("[tool]\ndepslice = 1", "must be a table"),
    ],
)
def test_bad_defaults(
    depslice: Depslice, shop: Path, tmp_path: Path, table: str, said: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(table)
    done = depslice("graph", shop, "shop.api:quote", cwd=tmp_path)
    assert done.code == 2
    assert said in done.error


# --- start-up


def test_no_command_is_told_in_half_a_sentence(depslice: Depslice) -> None:
    told = depslice("--help", env={"COLUMNS": "80"}).out.partition("Commands:")[2]
    assert "  slice      Show all that" in told
    assert "..." not in told


def test_help_and_version_import_no_analysis(environment: dict[str, str]) -> None:
    program = (
        "import sys; from depslice.cli.main import main\n"
        "for arguments in (['--version'], ['--help'], ['slice', '--help'], ['graph', '--help']):\n"
        "    assert main(arguments) == 0\n"
        "heavy = {'rich', 'libcst', 'networkx', 'jedi', 'multiprocessing', 'sqlite3'}\n"
        "sys.exit(sorted(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_known_answer_imports_nothing_that_makes_one(
    environment: dict[str, str], shop: Path
) -> None:
    slice_ = f"main(['slice', {str(shop)!r}, 'shop.api:quote', '--quiet'])"
    program = (
        "import sys; from depslice.cli.main import main\n"
        f"assert {slice_} == 0\n"
        "heavy = {'depslice.slicer.slicing', 'depslice.callgraph.engine.core', 'multiprocessing',"
        " 'depslice.callgraph.lowering', 'depslice.callgraph.graph', 'depslice.slicer.closure'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )
    first, again = (
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            check=False,
            text=True,
        )
        for _ in range(2)
    )
    assert (again.returncode, again.stderr.strip()) == (0, "")
    assert first.stdout == again.stdout
    for unused in ("multiprocessing", "depslice.callgraph.graph"):  # when it makes one, neither
        assert unused not in first.stderr.split()


def test_a_trace_is_compared_with_the_graph(depslice: Depslice, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "def hidden(): pass\n"
        "def main():\n"
        "    print(sys.argv[1:])\n"
        "    globals()['neddih'[::-1]]()\n"
        "main()\n",
        encoding="utf-8",
    )
    done = depslice("trace", "--", "script.py", "--own", "option", cwd=tmp_path)
    assert (done.code, done.out) == (0, "['--own', 'option']\n")
    assert "2 calls between 3 definitions in 1 process: depslice-trace.json" in done.err
    written = (tmp_path / "depslice-trace.json").read_text(encoding="utf-8")
    printed = depslice("trace", "-o", "-", "-q", "--", "script.py", "--own", "option", cwd=tmp_path)
    assert printed.out == written
    assert printed.err == "['--own', 'option']\n"
    table = depslice("graph", script, "--compare", "depslice-trace.json", cwd=tmp_path).out
    assert "possible    0.500         (1/2)" in table
    assert "missed: alias, getattr, dispatch (1)" in table
    assert "  script:main -> script:hidden   script.py:5" in table


def test_a_trace_without_calls_is_compared_with_nothing(depslice: Depslice, tmp_path: Path) -> None:
    for name, last in (("idle", "pass"), ("busy", "f()")):
        text = f"def f(): pass\nif len('x') > 1: f()\n{last}\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        root = tmp_path / f"{name}.py"
        depslice("trace", "-q", "-o", f"{name}.json", "--root", root, "--", root, cwd=tmp_path)
    for compared, said in (
        (("idle.py", "idle.json"), "idle.json has no calls: nothing was recorded"),
        (("idle.py", "busy.json"), "no call of the trace (1) is of this repository"),
    ):
        script, trace = compared
        for form in ("text", "json"):
            done = depslice("graph", script, "--compare", trace, "--format", form, cwd=tmp_path)
            assert (done.code, done.out, done.error) == (2, "", f"error: {said}")
    assert depslice("graph", "busy.py", "--compare", "busy.json", cwd=tmp_path).code == 0


def test_completion_knows_the_commands(depslice: Depslice) -> None:
    env = {"_DEPSLICE_COMPLETE": "bash_complete", "COMP_WORDS": "depslice f", "COMP_CWORD": "1"}
    assert depslice(env=env).out.strip() == "plain,functions"


def test_every_command_and_option_is_documented(depslice: Depslice) -> None:
    text = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    listed = depslice("--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    commands = {line.split()[0] for line in listed.splitlines()}
    assert {"functions", "slice", "cache"} <= commands
    for command in sorted(commands - {"cache"} | {"cache info", "cache clear"}):
        assert f"depslice {command}" in text
        for option in re.findall(
            r"(?<![\w-])--[a-z][a-z-]+", depslice(*command.split(), "--help").out
        ):
            assert option == "--help" or f"`{option}" in text, (command, option)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")
def test_a_table_on_a_terminal(environment: dict[str, str], shop: Path) -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "depslice.cli", "functions", shop, "--no-color"],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment | {"COLUMNS": "100"},
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            shown += piece
            if not piece:
                break
        assert process.wait() == 0
    os.close(ours)
    assert b"where" in shown
    assert b"shop.stock:Stock.add" in shown


def test_a_target_asked_for_by_a_re_export_is_importable_by_it(
    depslice: Depslice, tmp_path: Path
) -> None:
    repo, tree = tmp_path / "repo", tmp_path / "tree"
    write_files(
        """
# --- pkg/__init__.py
from .deep import Table
from .deep import idle
# --- pkg/deep.py
class Table:
    size = 3
def idle(): pass
""",
        repo,
    )
    for target in ("pkg:Table", "pkg.deep:Table"):
        done = depslice("slice", repo, target, "--format", "tree", "-o", tree, "--force")
        assert done.code == 0
        package = (tree / "pkg" / "__init__.py").read_text(encoding="utf-8")
        assert ("import Table" in package) == (target == "pkg:Table")
        assert "idle" not in package

"""Modules that share a name: each source root has its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import build_graph, open_program

SERVICES = """
# --- billing/pyproject.toml
[project]
name = "billing"
# --- billing/app/__init__.py
# --- billing/app/models.py
def item(): return "billing"
# --- billing/app/main.py
{imports}
def handler(): return {called}()
# --- orders/pyproject.toml
[project]
name = "orders"
# --- orders/app/__init__.py
# --- orders/app/models.py
def item(): return "orders"
# --- orders/app/main.py
{imports}
def handler(): return {called}()
# --- orders/run.py
from app.main import handler
def run(): return handler()
"""


@pytest.mark.parametrize(
    ("imports", "called"),
    [
        ("from app.models import item", "item"),
        ("from app import models", "models.item"),
        ("import app.models", "app.models.item"),
        ("import app.models as m", "m.item"),
        ("from .models import item", "item"),
    ],
)
def test_services_import_their_own(tmp_path: Path, imports: str, called: str) -> None:
    write_files(SERVICES.format(imports=imports, called=called), tmp_path)
    calls = _calls(tmp_path)
    assert calls["app.main:handler"] == {"app.models:item"}
    assert calls["orders.app.main:handler"] == {"orders.app.models:item"}
    assert calls["run:run"] == {"orders.app.main:handler"}


def test_imports_in_functions(tmp_path: Path) -> None:
    inner = "def item():\n    import app.models\n    return app.models.item()"
    write_files(SERVICES.format(imports=inner, called="item"), tmp_path)
    assert _calls(tmp_path)["orders.app.main:item"] == {"orders.app.models:item"}


@pytest.mark.parametrize(
    "body",
    ["importlib.import_module('app.models').item()", "sys.modules['app.models'].item()"],
)
def test_modules_by_their_names(tmp_path: Path, body: str) -> None:
    files = SERVICES.format(imports="import importlib, sys", called="str")
    write_files(
        f"{files}\n# --- orders/app/late.py\nimport importlib, sys\ndef get(): return {body}",
        tmp_path,
    )
    assert "orders.app.models:item" in _calls(tmp_path)["orders.app.late:get"]


def test_tests_beside_a_source_folder(tmp_path: Path) -> None:
    files = "".join(
        f"""
# --- {name}/setup.py
# --- {name}/src/core/__init__.py
# --- {name}/src/core/main.py
def made(): return "{name}"
# --- {name}/tests/test_main.py
from core.main import made
def test(): assert made()
"""
        for name in ("first", "other")
    )
    write_files(files, tmp_path)
    calls = _calls(tmp_path)
    found = {source: targets for source, targets in calls.items() if source.endswith(":test")}
    assert {"core.main:made"} in found.values()
    assert any("other" in next(iter(targets)) for targets in found.values()), found


def test_scripts_import_what_stands_beside_them(tmp_path: Path) -> None:
    script = "from utils import load, only_{n}\ndef main(): return load(), only_{n}()"
    helpers = "def load(): pass\ndef only_{n}(): pass"
    files = "".join(
        f"\n# --- ex{n}/train.py\n{script.format(n=n)}\n# --- ex{n}/utils.py\n{helpers.format(n=n)}"
        for n in range(3)
    )
    write_files(files, tmp_path)
    calls = _calls(tmp_path)
    assert calls["train:main"] == {"utils:load", "utils:only_0"}
    assert calls["ex2.train:main"] == {"ex2.utils:load", "ex2.utils:only_2"}


def _calls(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for reference in build_graph(open_program(folder, cache=None)).references():
        if reference.kind.value == "call":
            found.setdefault(reference.source, set()).add(reference.target)
    return found


def test_a_script_has_what_lies_beside_it_before_a_package_of_that_name(tmp_path: Path) -> None:
    files = """
# --- src/lib/__init__.py
def run(): return "package"
# --- examples/lib/__init__.py
def run(): return "beside"
# --- examples/use.py
import lib
def go(): return lib.run()
# --- tools/use.py
import lib
def go(): return lib.run()
"""
    write_files(files, tmp_path)
    calls = _calls(tmp_path)
    assert calls["examples.use:go"] == {"examples.lib:run"}
    assert calls["tools.use:go"] == {"lib:run"}

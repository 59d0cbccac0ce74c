"""Modules that statements import which are no imports: they enter themselves in what the slice has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from check import answer, slice_ids, write_files
from depslice.callgraph import open_program
from depslice.callgraph.program import Module, Program
from depslice.slicer import slice_symbols, wiring

PLUGINS = """
# --- pkg/__init__.py
# --- pkg/registry.py
KNOWN = []


def add(function):
    KNOWN.append(function.__name__)
    return function


# --- pkg/plugins/one.py
from pkg.registry import add


@add
def one():
    pass


# --- pkg/plugins/two.py
from ..registry import add


@add
def two():
    pass


# --- pkg/plugins/__init__.py
import importlib
import pkgutil
{loading}

# --- pkg/app.py
from pkg.registry import KNOWN
{importing}


def use():
    return sorted(KNOWN)
"""
LOADING = """
def load():
    from . import one
    import pkg.plugins.two


def discover():
    for _, name, _ in pkgutil.iter_modules(__path__):
        importlib.import_module("." + name, __name__)
"""
AT_ONCE = """
for _, name, _ in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{name}")
"""


@pytest.mark.parametrize(
    ("loading", "importing"),
    [
        (AT_ONCE, "import pkg.plugins"),
        (
            "for name in ('one', 'two'):\n    __import__('pkg.plugins.' + name)",
            "import pkg.plugins",
        ),
        (LOADING, "from pkg.plugins import load\nload()"),
        (LOADING, "from pkg import plugins\nplugins.load()"),
        (LOADING, "import pkg.plugins as p\np.discover()"),
        (LOADING, "from pkg.plugins import discover as find\nfind()"),
        (LOADING + "\n\nload()", "import pkg.plugins"),
    ],
)
def test_plugins_that_are_discovered(tmp_path: Path, loading: str, importing: str) -> None:
    files = PLUGINS.replace("{loading}", loading).replace("{importing}", importing)
    assert answer(files, "pkg.app:use", "m.use()", tmp_path) == "['one', 'two']"


def test_what_is_discovered_and_touches_nothing_stays_out(tmp_path: Path) -> None:
    files = PLUGINS.replace("{loading}", AT_ONCE).replace("{importing}", "import pkg.plugins")
    write_files(files.replace("return sorted(KNOWN)", "return 1"), tmp_path)
    assert slice_ids(tmp_path, "pkg.app:use") == {"pkg.app:use"}


GIVEN = """
# --- lib.py
value = 1

# --- setter.py
import lib
{0}

# --- m.py
import lib
import setter


def use():
    return lib.more


def ask():
    return getattr(lib, "more", 0), hasattr(lib, "more")
"""


@pytest.mark.parametrize(
    "statement",
    [
        "lib.more = 3",
        "for name in ('more', 'less'):\n    setattr(lib, name, 3)",
        "def go():\n    lib.more = 3\n\n\ngo()",
    ],
)
def test_names_that_others_give_a_module(tmp_path: Path, statement: str) -> None:
    files = GIVEN.format(statement)
    assert answer(files, "m:use", "m.use()", tmp_path / "use") == "3"
    assert answer(files, "m:ask", "m.ask()", tmp_path / "ask") == "(3, True)"


NAMES = [f"pkg.part{number}" for number in range(20)]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """``pkg.app`` imports many by texts, which all import it and the first of them."""
    loads = "".join(f'importlib.import_module("{name}")\n' for name in NAMES)
    files = f"# --- pkg/__init__.py\n# --- pkg/app.py\nimport importlib\n{loads}KNOWN = []\n\n\n"
    files += "def use():\n    return KNOWN\n"
    for name in NAMES:
        path = name.replace(".", "/")
        files += f"# --- {path}.py\nimport pkg.app, pkg.part0\npkg.app.KNOWN.append(1)\n"
    write_files(files, tmp_path)
    return open_program(tmp_path, cache=None)


def test_what_is_known_to_run_is_not_gone_through_again(program: Program) -> None:
    known = wiring.import_closure(program, ["pkg.app"])
    assert list(wiring.import_closure(program, ["pkg.part1"], known)) == ["pkg.part1", "pkg.part0"]


def test_a_program_is_asked_once_what_each_module_imports(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    edges = wiring._edges_of

    def counted(program: Program, module: Module) -> Iterator[wiring.ImportEdge]:
        asked.append(module.name)
        return edges(program, module)

    monkeypatch.setattr(wiring, "_edges_of", counted)
    for _ in range(2):
        found = slice_symbols(program, ["pkg.app:use"])
        assert {each.symbol.id for each in found.items} >= {"pkg.app:use", "pkg.app:KNOWN"}
    assert sorted(asked) == ["pkg", "pkg.app", *sorted(NAMES)]

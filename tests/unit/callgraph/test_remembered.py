"""The graph that is remembered between runs: byte for byte what a first run gives."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import build_graph, open_program
from depslice.callgraph.cache import Cache, open_cache
from depslice.callgraph.engine.core import Engine
from depslice.callgraph.export import export_json
from depslice.callgraph.graph import Direction, Selection
from depslice.callgraph.lowering import summarize
from depslice.callgraph.model import Certainty, ReferenceKind
from depslice.callgraph.moving import moved
from depslice.callgraph.program import Program
from depslice.callgraph.remembered import recall_around
from depslice.callgraph.summary import pack

ROOT = Path(__file__).parents[3]
FILES = """
# --- shop/__init__.py
from shop.prices import Price, total
# --- shop/prices.py
import functools
RATE = 19

class Price:
    '''What something costs.'''
    def __init__(self, net):
        self.net = net
    def gross(self):
        return self.net * (100 + RATE) / 100

def total(prices, key=lambda p: p.gross()):
    return functools.reduce(lambda a, b: a + key(b), prices, 0)
# --- shop/broken.py
def :
# --- main.py
from shop import total, Price
import shop.missing
def run(order):
    print(total([Price(one) for one in order]), order.unknown())
run([1, 2])
"""


def graph_text(folder: Path, cache: Cache | None) -> str:
    with cache or open_cache(folder.parent / "none", version="0") as used:
        program = open_program(folder, cache=None if cache is None else used)
        return json.dumps(export_json(build_graph(program, workers=1)))


class Repository:
    """A folder that changes, and the cache that goes with it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "repo"
        self._cache = folder / "cache"
        self._runs = 0
        run = Engine.run

        def counted(engine: Engine, functions: object) -> None:
            self._runs += 1
            run(engine, functions)  # type: ignore[arg-type]

        monkeypatch.setattr(Engine, "run", counted)
        write_files(FILES, self.folder)

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def is_remembered(self) -> bool:
        """Whether the graph was there; that it is the right one is asserted."""
        before = self._runs
        text = graph_text(self.folder, open_cache(self._cache, version="1"))
        is_remembered = self._runs == before
        assert text == graph_text(self.folder, None)
        return is_remembered

    @contextmanager
    def program(self) -> Iterator[Program]:
        """With the memory of earlier runs."""
        with open_cache(self._cache, version="1") as cache:
            yield open_program(self.folder, cache=cache)

    def damage(self) -> None:
        for path in self._cache.iterdir():
            data = bytearray(path.read_bytes())
            for place in range(len(data) // 2, len(data), 97):
                data[place] ^= 0xFF
            path.write_bytes(data)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return Repository(tmp_path, monkeypatch)


def test_a_repository_that_is_as_it_was(repository: Repository) -> None:
    assert not repository.is_remembered()
    assert repository.is_remembered()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RATE = 19", "# of 2021\n\nRATE = 19"),
        ("(100 + RATE) / 100", "(1000 + RATE) / 1000"),
        ("import functools\n", "import functools\n\n\n\n"),
        ("(100 + RATE)", "(\n            100   +   RATE\n        )"),
        ("What something costs.", "What something costs,\n    without tax."),
        ("lambda p: p", "lambda  p:\\\n  p"),
    ],
)
def test_an_edit_of_form_alone_moves_positions(repository: Repository, old: str, new: str) -> None:
    repository.is_remembered()
    repository.edit("shop/prices.py", old, new)
    assert repository.is_remembered()
    # It is measured from what is remembered, however many edits came between.
    repository.edit("main.py", "run([1", "# now\nrun([3")
    assert repository.is_remembered()


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("shop/prices.py", "a + key(b)", "key(b)"),
        ("shop/prices.py", "self.net * (100", "self.net + (100"),
        ("shop/prices.py", "def gross", "def more"),
        ("shop/broken.py", "def :", "def works(): run()"),
        ("main.py", "def run", "def :"),
        ("main.py", "print(", "str("),
        ("shop/prices.py", "RATE = 19", "RATE = 16"),  # a number with a name may be a key
        ("main.py", "[1, 2]", "['a']"),
    ],
)
def test_an_edit_that_says_something_else(
    repository: Repository, path: str, old: str, new: str
) -> None:
    repository.is_remembered()
    repository.edit(path, old, new)
    assert not repository.is_remembered()
    assert repository.is_remembered()


def test_two_lambdas_that_no_longer_share_a_line(repository: Repository) -> None:
    """They shared a name, too: what was found of one cannot be told from the other's."""
    repository.edit("main.py", "run([1, 2])", "run([lambda: run, lambda: 2])")
    repository.is_remembered()
    repository.edit("main.py", "run, lambda", "run,\n lambda")
    assert not repository.is_remembered()


def test_files_that_come_and_go(repository: Repository) -> None:
    repository.is_remembered()
    (repository.folder / "shop/missing.py").write_text("import main\n")
    assert not repository.is_remembered()
    (repository.folder / "shop/missing.py").unlink()
    assert repository.is_remembered()


def test_a_damaged_memory_is_none(repository: Repository) -> None:
    repository.is_remembered()
    repository.damage()
    assert not repository.is_remembered()
    assert repository.is_remembered()


@pytest.mark.parametrize(
    "edit", [("RATE = 19", "RATE = 19"), ("import functools", "#\nimport functools")]
)
def test_what_is_around_a_symbol_is_that_part_of_the_graph(
    repository: Repository, edit: tuple[str, str]
) -> None:
    """Read alone, and taken from the whole: of every symbol, in every direction."""
    repository.is_remembered()
    repository.edit("shop/prices.py", *edit)
    selections = (
        Selection(),
        Selection(externals=False),
        Selection(kinds=frozenset({ReferenceKind.CALL}), least=Certainty.LIKELY),
    )
    directions: tuple[Direction, ...] = ("targets", "sources", "both")
    found = 0
    with repository.program() as program:
        whole = build_graph(program)
        for symbol in whole.symbols:
            for selection, direction, depth in product(selections, directions, (0, 1, None)):
                taken = whole.select(selection).neighbourhood(
                    whole.inside(symbol.id), direction=direction, depth=depth
                )
                read = recall_around(
                    program, symbol.id, selection, direction=direction, depth=depth
                )
                assert read is not None
                assert export_json(read) == export_json(taken)
                found += len(list(read.references()))
    assert found > 900


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "callgraph/depslice/callgraph/engine").glob("*.py")),
    ids=lambda p: p.name,
)
def test_every_position_is_followed(path: Path) -> None:
    """Our own sources, a few lines further down: everything that stands somewhere has moved."""
    text = ast.unparse(ast.parse(path.read_text()))
    how = moved(summarize(text), summarize("#\n\n#\n" + text))
    assert how is not None
    down = pack(3, 0)
    assert all(new == old + down for old, new in how.positions.items() if old)

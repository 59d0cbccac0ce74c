"""Which symbol a text names: one small repository, asked in every way."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph.errors import AmbiguousTarget, UnknownTarget
from depslice.callgraph.model import SymbolKind
from depslice.callgraph.program import Program
from depslice.callgraph.project import find_project
from depslice.callgraph.targets import find_symbol

FILES = '''
# --- src/pkg/__init__.py
"""The package."""
from pkg.deep import Thing, make as build
from pkg.deep import *
from . import deep as below
import pkg.plain
# --- src/pkg/deep.py
LIMIT = 3

class Thing:
    size = 1

    class Part:
        def turn(self):
            return 1

    @property
    def weight(self):
        def heavy():
            return 2
        return heavy()

    def get(self): return 1

def make():
    def inner():
        return lambda: 3
    return inner()

def starred(): return 4

if LIMIT:
    def conditional(): return 5

if __name__ == "__main__":
    make()
# --- src/pkg/plain.py
from pkg.deep import Thing as Renamed
def get(): return 1
def only_here(): return 2
x = y = 1
# --- src/pkg/broken.py
def f(:
# --- src/pkg/sub/plain.py
def nested_module(): return 1
# --- src/pkg/lazy/__init__.py
_TABLE = {"Thing": "pkg.deep"}
def __getattr__(name):
    import importlib
    return getattr(importlib.import_module(_TABLE[name]), name)
# --- scripts/my-tool.py
def run(): return 1
# --- _vendor/v.py
def vendored(): return 1
# --- pyproject.toml
[project]
'''


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repo")
    write_files(FILES, folder)
    return folder


@pytest.fixture
def program(repo: Path) -> Program:
    return Program(find_project(repo))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # ids
        ("pkg.deep:make", "pkg.deep:make"),
        ("pkg.deep:Thing.Part.turn", "pkg.deep:Thing.Part.turn"),
        ("pkg.deep:make.<locals>.inner", "pkg.deep:make.<locals>.inner"),
        ("pkg.deep:make.inner", "pkg.deep:make.<locals>.inner"),
        ("pkg.deep:Thing.weight.heavy", "pkg.deep:Thing.weight.<locals>.heavy"),
        ("pkg.deep:LIMIT", "pkg.deep:LIMIT"),
        ("pkg.deep:Thing.size", "pkg.deep:Thing.size"),
        ("pkg.deep:conditional", "pkg.deep:conditional"),
        ("  pkg.deep:make ", "pkg.deep:make"),
        # as other tools print them
        ("pkg.deep:make()", "pkg.deep:make"),
        ("src/pkg/deep.py::Thing::Part::turn", "pkg.deep:Thing.Part.turn"),
        ("src/pkg/deep.py:7:13", "pkg.deep:Thing.Part.turn"),
        (":only_here", "pkg.plain:only_here"),
        ("pkg.deep", "pkg.deep"),
        ("pkg", "pkg"),
        ("pkg:", "pkg"),
        # dotted
        ("pkg.deep.Thing.get", "pkg.deep:Thing.get"),
        ("pkg.deep.make.<locals>.inner", "pkg.deep:make.<locals>.inner"),
        # through imports
        ("pkg.Thing", "pkg.deep:Thing"),
        ("pkg.Thing.get", "pkg.deep:Thing.get"),
        ("pkg:Thing.get", "pkg.deep:Thing.get"),
        ("pkg.build", "pkg.deep:make"),
        ("pkg.starred", "pkg.deep:starred"),
        ("pkg.below.Thing", "pkg.deep:Thing"),
        ("pkg.below", "pkg.deep"),
        ("pkg.plain.Renamed.Part", "pkg.deep:Thing.Part"),
        ("pkg.lazy.Thing.get", "pkg.deep:Thing.get"),
        ("pkg.lazy.__getattr__", "pkg.lazy:__getattr__"),
        # paths
        ("src/pkg/deep.py", "pkg.deep"),
        ("src/pkg/deep.py:Thing.get", "pkg.deep:Thing.get"),
        ("./src/pkg/../pkg/deep.py:make", "pkg.deep:make"),
        ("src/pkg/__init__.py:Thing", "pkg.deep:Thing"),
        ("src/pkg", "pkg"),
        ("src/pkg/", "pkg"),
        ("deep.py:make", "pkg.deep:make"),
        ("pkg/plain.py", "pkg.plain"),
        ("scripts/my-tool.py:run", "scripts.my-tool:run"),
        # lines
        ("src/pkg/deep.py:1", "pkg.deep:LIMIT"),
        ("src/pkg/deep.py:3", "pkg.deep:Thing"),
        ("src/pkg/deep.py:5", "pkg.deep:Thing"),
        ("src/pkg/deep.py:8", "pkg.deep:Thing.Part.turn"),
        ("src/pkg/deep.py:10", "pkg.deep:Thing.weight"),  # its decorator
        ("src/pkg/deep.py:13", "pkg.deep:Thing.weight.<locals>.heavy"),
        ("src/pkg/deep.py:16", "pkg.deep:Thing.get"),
        ("src/pkg/deep.py:20", "pkg.deep:make.<locals>.inner"),  # not the lambda
        ("src/pkg/deep.py:26", "pkg.deep:conditional"),
        ("src/pkg/deep.py:29", "pkg.deep"),
        ("src/pkg/__init__.py:2", "pkg"),
        ("src/pkg/plain.py:4", "pkg.plain:x"),
        # ends of names
        ("only_here", "pkg.plain:only_here"),
        ("Part.turn", "pkg.deep:Thing.Part.turn"),
        ("turn", "pkg.deep:Thing.Part.turn"),
        ("plain.get", "pkg.plain:get"),
        ("Thing.get", "pkg.deep:Thing.get"),
        ("plain:get", "pkg.plain:get"),
        ("make.inner", "pkg.deep:make.<locals>.inner"),
        ("deep", "pkg.deep"),
    ],
)
def test_ways_of_naming(program: Program, text: str, expected: str) -> None:
    assert find_symbol(program, text).id == expected


def test_a_symbol_comes_with_its_kind_and_place(program: Program) -> None:
    found = find_symbol(program, "pkg.Thing.get")
    assert (found.kind, found.path) == (SymbolKind.METHOD, "src/pkg/deep.py")
    assert (found.span.start, found.span.end) == (16, 16)


@pytest.mark.parametrize("inside", [".", "src/pkg"])
def test_paths_from_the_working_directory(
    program: Program, repo: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    monkeypatch.chdir(repo / inside)
    relative = os.path.relpath(repo / "src/pkg/deep.py")
    assert find_symbol(program, f"{relative}:make").id == "pkg.deep:make"
    assert find_symbol(program, f"{repo}/src/pkg/deep.py:make").id == "pkg.deep:make"


def test_paths_of_a_package_alone_may_have_its_name(repo: Path) -> None:
    program = Program(find_project(repo / "src" / "pkg"))
    for path in ("deep.py", "pkg/deep.py"):
        assert find_symbol(program, f"{path}:make").id == "pkg.deep:make"


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("pkg.plain:get", {"pkg.plain"}),
        ("pkg.plain.get", {"pkg.plain"}),
        ("src/pkg/plain.py:2", {"pkg.plain"}),
        ("only_here", {"pkg.plain"}),
        ("pkg.Thing", {"pkg", "pkg.deep"}),
    ],
)
def test_no_more_is_loaded_than_the_name_needs(
    program: Program, monkeypatch: pytest.MonkeyPatch, text: str, needed: set[str]
) -> None:
    asked: set[str] = set()
    real = Program.module

    def module(self: Program, name: str) -> object:
        asked.add(name)
        return real(self, name)

    monkeypatch.setattr(Program, "module", module)
    find_symbol(program, text)
    assert asked & set(program.files) == needed


@pytest.mark.parametrize(
    ("text", "said", "candidates"),
    [
        # What a package re-exports is named where it is defined.
        ("pkg:mak", "no symbol is called", ("pkg.deep:make",)),
        ("", "the target is empty", ()),
        (
            "pkg.deep:mak",
            "no symbol is called 'pkg.deep:mak' in src/pkg/deep.py",
            ("pkg.deep:make",),
        ),
        ("pkg.deep.Thing.gett", "in src/pkg/deep.py", ("pkg.deep:Thing.get",)),
        ("only_hre", "no symbol is called 'only_hre'", ("pkg.plain:only_here",)),
        ("Part.trun", "no symbol", ("pkg.deep:Thing.Part.turn",)),
        ("pkg.depe", "no symbol", ("pkg.deep",)),
        ("src/pkg/dep.py:make", "no file src/pkg/dep.py is analysed", ("src/pkg/deep.py",)),
        ("src/pkg/deep.py:2", "no definition on line 2", ("pkg.deep:LIMIT", "pkg.deep:Thing")),
        ("src/pkg/deep.py:0", "has 29 lines, no line 0", ()),
        ("src/pkg/deep.py:30", "has 29 lines, no line 30", ()),
        ("_vendor/v.py:vendored", "_vendor/v.py is left out of the analysis (vendored)", ()),
        ("pkg.broken:f", "src/pkg/broken.py cannot be analysed: invalid syntax on line 1", ()),
        ("pkg.broken.f", "src/pkg/broken.py cannot be analysed", ()),
        ("src/pkg/broken.py:1", "src/pkg/broken.py cannot be analysed", ()),
        (":", "the target is empty", ()),
        ("...", "no symbol", ()),
        ("a:b:c", "no symbol", ()),
        ("xyzzy_plugh", "no symbol", ()),
        ("pkg.lazy.Nothing", "no symbol", None),
    ],
)
def test_no_such_symbol(
    program: Program, text: str, said: str, candidates: tuple[str, ...] | None
) -> None:
    with pytest.raises(UnknownTarget) as raised:
        find_symbol(program, text)
    assert not isinstance(raised.value, AmbiguousTarget)
    assert said in raised.value.message
    if candidates is not None:
        assert raised.value.candidates[: len(candidates)] == candidates
        assert bool(raised.value.candidates) is bool(candidates)


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("get", ("pkg.deep:Thing.get", "pkg.plain:get")),
        ("plain", ("pkg.plain", "pkg.sub.plain")),
        ("plain.py:get", ("src/pkg/plain.py", "src/pkg/sub/plain.py")),
    ],
)
def test_several_such_symbols(program: Program, text: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(AmbiguousTarget) as raised:
        find_symbol(program, text)
    assert raised.value.candidates == candidates


def test_candidates_do_not_depend_on_what_was_loaded_before(repo: Path) -> None:
    cold, warm = Program(find_project(repo)), Program(find_project(repo))
    warm.load_all(workers=1)
    for text in ("mak", "Thing.sizes", "pkg.plain:gett"):
        answers = []
        for program in (cold, warm):
            with pytest.raises(UnknownTarget) as raised:
                find_symbol(program, text)
            answers.append(raised.value.candidates)
        assert answers[0] == answers[1]


def test_names_beyond_ascii(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("# coding: latin-1\ndef größe(): pass\n".encode("latin-1"))
    assert find_symbol(Program(find_project(tmp_path)), "größe").id == "a:größe"


def test_many_of_the_same_name_are_not_all_listed(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text("def f(): pass\n")
    with pytest.raises(AmbiguousTarget, match="any of 30 symbols") as raised:
        find_symbol(Program(find_project(tmp_path)), "f")
    assert len(raised.value.candidates) == 20
    assert "10 more" in raised.value.hint


def test_a_path_outside_the_repository(program: Program, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("def make(): pass\n")
    with pytest.raises(UnknownTarget, match="no file"):
        find_symbol(program, f"{other}:make")


def test_an_inherited_method_names_the_one_of_the_base(tmp_path: Path) -> None:
    """And a function that a class has got under its name."""
    write_files(
        """
# --- app.py
from other import Table
class Base:
    def get_alias(self): return 1
class Name(Base):
    def get_typecast(self): return 2
    def get_array(self): return 3
# --- other.py
from joining import join
class Table:
    def joined(self): return 1
Table.join = join
# --- joining.py
def join(self): return 2
""",
        tmp_path,
    )
    found = Program(find_project(tmp_path))
    with pytest.raises(UnknownTarget) as raised:
        find_symbol(found, "app:Name.get_alias")
    assert raised.value.candidates[0] == "app:Base.get_alias"
    with pytest.raises(UnknownTarget) as raised:
        find_symbol(found, "other:Table.join")
    assert raised.value.candidates[0] == "joining:join"


@pytest.mark.parametrize("text", ["a." * 30_000, "pkg." + "x." * 30_000, "a" * 60_000])
def test_a_text_without_end_is_refused_soon_and_not_repeated(program: Program, text: str) -> None:
    """It took 22 seconds: each beginning of 30,000 names was looked for among the modules."""
    started = time.process_time()
    with pytest.raises(UnknownTarget) as refused:
        find_symbol(program, text)
    assert time.process_time() - started < 3
    assert len(str(refused.value)) < 300


def test_a_line_number_without_end(program: Program) -> None:
    """`int` takes no more than 4,300 digits: that was a fault of depslice."""
    with pytest.raises(UnknownTarget, match="has no line 1111"):
        find_symbol(program, "src/pkg/plain.py:" + "1" * 5000)

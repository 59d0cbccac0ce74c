"""A repository that changes between questions: what is read again, and what is said of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from check import write_files
from depslice.callgraph import find_symbol
from depslice.callgraph.cache import open_cache
from depslice.callgraph.errors import RepositoryError, SourceChanged
from depslice.callgraph.program import Program
from depslice.callgraph.project import find_project
from depslice.callgraph.workspace import Change, Workspace

FILES = """
# --- a.py
from b import two
def one(): return two()
# --- b.py
def two(): return 2
# --- c.py
def three(): return 3
"""
LONG_AGO = 1_600_000_000


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write_files(FILES, tmp_path)
    for path in (*tmp_path.iterdir(), tmp_path):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return tmp_path


def read(workspace: Workspace, *names: str) -> Program:
    program = workspace.program()
    for name in names:
        program.module(name)
    assert workspace.settle(program) == ()
    return program


def test_nothing_changes(repo: Path) -> None:
    workspace = Workspace(repo)
    read(workspace, "a", "b")
    assert not workspace.refresh()
    assert workspace.revision == 1


def test_only_what_changed_is_read_again(repo: Path) -> None:
    workspace = Workspace(repo)
    before = read(workspace, "a", "b")
    (repo / "b.py").write_text("def two(): return 22\n")
    assert workspace.refresh() == Change(changed=("b.py",))
    after = read(workspace, "a", "b")
    assert after.module("a") is before.module("a")
    assert after.module("b") is not before.module("b")
    assert workspace.revision == 2


def test_a_file_that_was_only_touched_is_unchanged(repo: Path) -> None:
    workspace = Workspace(repo)
    read(workspace, "a", "b")
    os.utime(repo / "b.py")
    assert not workspace.refresh()


def test_a_change_that_keeps_size_and_time_is_seen(repo: Path) -> None:
    workspace = Workspace(repo)
    read(workspace, "b")
    (repo / "b.py").write_text("def two(): return 3\n")
    os.utime(repo / "b.py", (LONG_AGO, LONG_AGO))
    assert workspace.refresh() == Change(changed=("b.py",))


def test_changes_within_one_tick_of_the_clock_are_seen(repo: Path) -> None:
    workspace = Workspace(repo)
    for number in range(300):
        (repo / "b.py").write_text(f"def two(): return '{number:03}'\n")
        workspace.refresh()
        program = workspace.program()
        module = program.module("b")
        assert module is not None
        assert f"{number:03}" in program.text(module)
        workspace.settle(program)


def test_files_come_and_go(repo: Path) -> None:
    workspace = Workspace(repo)
    read(workspace, "a", "b", "c")
    (repo / "c.py").unlink()
    (repo / "sub").mkdir()
    (repo / "sub" / "d.py").write_text("def four(): return 4\n")
    assert workspace.refresh() == Change(added=("sub/d.py",), removed=("c.py",))
    assert find_symbol(workspace.program(), "four").id == "sub.d:four"
    (repo / "sub" / "e.py").write_text("def five(): return 5\n")
    assert workspace.refresh() == Change(added=("sub/e.py",))
    (repo / ".gitignore").write_text("e.py\n")
    assert workspace.refresh() == Change(removed=("sub/e.py",))


def test_a_file_in_a_folder_that_had_none(repo: Path) -> None:
    (repo / "data").mkdir()
    workspace = Workspace(repo)
    (repo / "data" / "late.py").write_text("x = 1\n")
    assert workspace.refresh() == Change(added=("data/late.py",))


def test_a_change_while_a_program_is_read(repo: Path) -> None:
    workspace = Workspace(repo)
    program = workspace.program()
    program.module("a")
    (repo / "a.py").write_text("def one(): return 1\n")
    module = program.module("a")
    assert module is not None
    with pytest.raises(SourceChanged, match=r"a\.py has changed"):
        program.text(module)
    assert workspace.settle(program) == ("a.py",)
    workspace.refresh()
    assert read(workspace, "a").module("a") is not module


def test_a_change_after_reading_shows_in_settle(repo: Path) -> None:
    workspace = Workspace(repo)
    program = workspace.program()
    program.module("b")
    program.module("c")
    (repo / "c.py").unlink()
    assert workspace.settle(program) == ("c.py",)


def test_a_file_that_cannot_be_analysed(repo: Path) -> None:
    (repo / "b.py").write_text("def two(:\n")
    workspace = Workspace(repo)
    assert read(workspace, "b").module("b") is None
    assert not workspace.refresh()
    (repo / "b.py").write_text("def two():\n    return 2\n")
    assert workspace.refresh() == Change(changed=("b.py",))
    assert read(workspace, "b").module("b") is not None


def test_a_repository_that_vanishes_and_returns(repo: Path) -> None:
    workspace = Workspace(repo)
    elsewhere = repo.with_name("elsewhere")
    repo.rename(elsewhere)
    with pytest.raises(RepositoryError):
        workspace.refresh()
    elsewhere.rename(repo)
    workspace.refresh()
    assert read(workspace, "a").module("a") is not None


def test_all_modules_at_once(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    cache = open_cache(tmp_path_factory.mktemp("cache"), version="test")
    workspace = Workspace(repo, cache=cache)
    first = workspace.program()
    modules = first.load_all(workers=1)
    assert workspace.settle(first) == ()
    second = workspace.program()
    assert all(x is y for x, y in zip(modules, second.load_all(workers=1), strict=True))
    workspace.close()


def test_what_a_single_file_is_served_from(repo: Path) -> None:
    workspace = Workspace(repo / "c.py")
    read(workspace, "c")
    (repo / "c.py").write_text("def three(): return 33\n")
    assert workspace.refresh() == Change(changed=("c.py",))
    assert workspace.root == repo


def test_all_that_decides_is_looked_at(repo: Path) -> None:
    (repo / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    decisive = find_project(repo).decisive
    assert {".", "pyproject.toml", ".git/info/exclude"} <= set(decisive)


def test_a_question_to_an_unchanged_repository_is_cheap(repo: Path) -> None:
    workspace = Workspace(repo)
    read(workspace, "a", "b", "c")
    workspace.refresh()
    started = time.perf_counter()
    for _ in range(20):
        workspace.refresh()
    assert time.perf_counter() - started < 1

"""What code outside the repository gets, and what it may look for on that.

The library looks for what it knows, a base's own method does not call its instance back, and
modules that a package enters under its own name are for who imports them by that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import check
from depslice.callgraph.engine.core import Engine

_OWN_PROTOCOL = """
# --- pkg/__init__.py
# --- pkg/app.py
from typing import List
class Page:
    def __show__(self): return heavy()
    def __conform__(self, protocol): return "page"
def heavy(): return 1
def shown(x): return x.__show__() if hasattr(x, "__show__") else repr(x)
def gather(pages: List[Page]):
    out: List[Page] = []
    out.append(Page())
    return out
def run():
    return len(gather([]))
"""
_OF_OTHERS = """
# --- pkg/__init__.py
# --- pkg/app.py
import queue
import markupsafe
class Page:
    def __html__(self): return show()
def show(): return "<b>"
def looks(x): return hasattr(x, "__html__")
def run():
    waiting = queue.Queue()
    waiting.put(Page())
    return str(markupsafe.escape(waiting.get()))
"""
_PASSED_ALONG = """
# --- pkg/__init__.py
# --- pkg/app.py
from concurrent.futures import ThreadPoolExecutor
import markupsafe
class Page:
    def __html__(self): return show()
def show(): return "<b>"
def looks(x): return hasattr(x, "__html__")
def run():
    with ThreadPoolExecutor(1) as pool:
        return str(pool.submit(markupsafe.escape, Page()).result())
"""
_ADAPTED = """
# --- pkg/__init__.py
# --- pkg/app.py
import sqlite3
class Point:
    def __conform__(self, protocol): return shown(self)
def shown(point): return "p"
def run(): return sqlite3.connect(":memory:").execute("select ?", (Point(),)).fetchone()
"""
_RECEIVER = """
# --- pkg/__init__.py
# --- pkg/app.py
class Answer(Exception):
    def __call__(self, environ): return heavy()
class Missing(Answer, KeyError):
    def __init__(self, key):
        super().__init__()
        KeyError.__init__(self, key)
def heavy(): return 1
def run():
    try: raise Missing("k")
    except KeyError as error: return error.args
"""
_CALLED_BACK = """
# --- pkg/__init__.py
# --- pkg/app.py
import threading
out = []
class Worker(threading.Thread):
    def __init__(self): threading.Thread.__init__(self, target=self)
    def __call__(self): out.append(heavy())
def heavy(): return 1
def run():
    worker = Worker(); worker.start(); worker.join()
    return out
"""
_MODULES = """
# --- pkg/__init__.py
from . import packages
# --- pkg/packages.py
import sys, json
for name in list(sys.modules):
    if name == "json" or name.startswith("json."):
        sys.modules[f"pkg.packages.{name}"] = sys.modules[name]
# --- pkg/app.py
import sys
import markupsafe
def run(): return str(markupsafe.escape("<"))
def listed(): return sys.modules["pkg.packages.json"].dumps(1)
"""
_LOOKING_FOR_PACKAGES = """
# --- pkg/__init__.py
def idle(): return 3
# --- pkg/app.py
import sys
from pathlib import Path
def python(): return bool(sys.executable)
def run(): return python(), (Path("/nowhere") / "__init__.py").exists()
"""
_RUNNING_ITS_PACKAGE = """
# --- pkg/__init__.py
VERSION = "1"
# --- pkg/app.py
import runpy
from pathlib import Path
def run(): return runpy.run_path(str(Path(__file__).parent / "__init__.py"))["VERSION"]
"""
_PROTOCOL = """
# --- pkg/__init__.py
# --- pkg/app.py
import asyncio
class Reader(asyncio.StreamReaderProtocol):
    def data_received(self, data): super().data_received(heavy(data))
def heavy(data): return b"<" + data
def run(loop, reader): return loop.create_connection(lambda: Reader(reader), "127.0.0.1", 80)
"""


def _items(files: str, folder: Path, target: str = "pkg.app:run") -> set[str]:
    check.write_files(files, folder / "items")
    return check.slice_ids(folder / "items", target)


def test_the_library_looks_for_what_it_knows(tmp_path: Path) -> None:
    original, tree, one = check.answers(_OWN_PROTOCOL, tmp_path)
    assert original == tree == one
    found = _items(_OWN_PROTOCOL, tmp_path)
    assert "pkg.app:Page.__show__" not in found
    assert "pkg.app:Page.__conform__" in found


def test_others_look_for_what_they_like(tmp_path: Path) -> None:
    for number, files in enumerate((_OF_OTHERS, _PASSED_ALONG, _ADAPTED)):
        original, tree, one = check.answers(files, tmp_path / str(number))
        assert original == tree == one


def test_a_method_of_its_base_calls_no_instance_back(tmp_path: Path) -> None:
    original, tree, one = check.answers(_RECEIVER, tmp_path / "receiver")
    assert original == tree == one
    assert "pkg.app:heavy" not in _items(_RECEIVER, tmp_path)
    original, tree, one = check.answers(_CALLED_BACK, tmp_path / "called")
    assert original == tree == one == "[1]"


def test_modules_under_a_name_of_the_package_are_for_who_asks_by_it(tmp_path: Path) -> None:
    original, tree, one = check.answers(_MODULES, tmp_path / "run")
    assert original == tree == one
    assert not any(each.startswith("pkg.packages") for each in _items(_MODULES, tmp_path))
    assert check.answer(_MODULES, "pkg.app:listed", "m.listed()", tmp_path / "listed") == "1"


def test_who_looks_for_packages_runs_none(tmp_path: Path) -> None:
    assert "pkg:idle" not in _items(_LOOKING_FOR_PACKAGES, tmp_path)
    run = check.answer(_RUNNING_ITS_PACKAGE, "pkg.app:run", "m.run()", tmp_path / "run")
    assert run == "1"


def test_a_protocol_of_asyncio_is_none_of_typing(tmp_path: Path) -> None:
    assert "pkg.app:Reader.data_received" in _items(_PROTOCOL, tmp_path)


def test_what_many_calls_pass_is_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[frozenset[int]] = []
    look = Engine.handed_with

    def counted(engine: Engine, values: frozenset[int]) -> frozenset[int]:
        looked.append(frozenset(values))
        return look(engine, values)

    monkeypatch.setattr(Engine, "handed_with", counted)
    calls = "".join(f"    show.on_{number}(PAGES)\n" for number in range(40))
    files = f"""
# --- app.py
class Page: pass
PAGES = [Page()]
def run(show):
{calls}"""
    check.write_files(files, tmp_path)
    assert "app:Page" in check.slice_ids(tmp_path, "app:run")
    assert len(looked) < 40

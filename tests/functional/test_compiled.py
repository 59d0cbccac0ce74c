"""The engine compiled by mypyc gives what it gives as Python, byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from check import write_files
from functional.running import ROOT
from programs import load_small_programs

pytestmark = pytest.mark.slow
NO_COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
WHERE = "import depslice.callgraph.engine.core as core; print(core.__file__)"
GRAPHS = """
import sys
from depslice.cli.main import main
for repo in sys.argv[1:]:
    assert main(["graph", repo, "--no-cache", "--quiet", "--format", "json"]) == 0
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The content of a wheel made with ``DEPSLICE_COMPILE=1``."""
    folder = tmp_path_factory.mktemp("compiled")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "uv",
            "build",
            "--wheel",
            "-q",
            "-p",
            sys.executable,
            "-o",
            folder,
            ROOT,
        ],
        # What is compiled does the same at every level; the highest costs the C compiler minutes.
        env=os.environ | {"DEPSLICE_COMPILE": "1", "MYPYC_OPT_LEVEL": "0"},
        check=True,
    )
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return str(folder / "site")


def _run(code: str, *arguments: Path, path: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


@NO_COMPILER
def test_the_engine_is_compiled(compiled: str) -> None:
    assert _run(WHERE, path=compiled).strip().endswith(".so")


@NO_COMPILER
def test_graphs_are_the_same(compiled: str, environment: dict[str, str]) -> None:
    specimens = sorted((ROOT / "fixtures").glob("*/repo"))
    graphs = _run(GRAPHS, *specimens, path=environment["PYTHONPATH"])
    assert len(graphs.splitlines()) > len(specimens)
    assert _run(GRAPHS, *specimens, path=compiled) == graphs


@NO_COMPILER
def test_graphs_of_small_programs_are_the_same(
    compiled: str, environment: dict[str, str], tmp_path: Path
) -> None:
    """More ways of writing code: where types are checked as it runs, one of them may fail alone."""
    folders = []
    for program in load_small_programs():
        folders.append(tmp_path / program.name)
        write_files(program.files, folders[-1])
    graphs = _run(GRAPHS, *folders, path=environment["PYTHONPATH"])
    assert _run(GRAPHS, *folders, path=compiled) == graphs


def test_an_editable_install_has_byte_code(tmp_path: Path) -> None:
    """Else whoever takes the README's first line waits for it in the second command."""
    checkout, site = tmp_path / "checkout", tmp_path / "site"
    checkout.mkdir()
    for path in (*ROOT.glob("*/depslice"), *map(ROOT.joinpath, ("compiling.py", "pyproject.toml"))):
        target = checkout / path.relative_to(ROOT)
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, target)
    for path in (ROOT / "README.md", ROOT / "LICENSE"):
        shutil.copy(path, checkout)
    uv = [sys.executable, "-m", "uv", "pip", "install", "-q", "-p", sys.executable]
    subprocess.run([*uv, "--no-deps", "--target", site, "-e", checkout], check=True)
    tag = sys.implementation.cache_tag
    sources = [*checkout.glob("*/depslice/**/*.py")]
    lacking = [
        path
        for path in sources
        if not path.parent.joinpath("__pycache__", f"{path.stem}.{tag}.pyc").exists()
    ]
    assert sources
    assert not lacking

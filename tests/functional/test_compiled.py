"""The engine compiled by mypyc gives what it gives as Python, byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from functional.running import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
]
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


def test_the_engine_is_compiled(compiled: str) -> None:
    assert _run(WHERE, path=compiled).strip().endswith(".so")


def test_graphs_are_the_same(compiled: str, environment: dict[str, str]) -> None:
    specimens = sorted((ROOT / "fixtures").glob("*/repo"))
    graphs = _run(GRAPHS, *specimens, path=environment["PYTHONPATH"])
    assert len(graphs.splitlines()) > len(specimens)
    assert _run(GRAPHS, *specimens, path=compiled) == graphs

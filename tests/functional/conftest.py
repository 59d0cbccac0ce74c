"""The real command line, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from depslice.validator.sandbox import SandboxUnavailable, choose_sandbox
from functional.running import ROOT, Depslice, Done


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of the command: a cache of the tests' own, no user settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("DEPSLICE_", "_DEPSLICE"))}
    components = (str(path.parent) for path in sorted(ROOT.glob("*/depslice")))
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(components),
        "DEPSLICE_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }


@pytest.fixture(scope="session")
def depslice(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Depslice:
    """Run ``depslice ARGUMENTS``, from an empty folder unless ``cwd`` is given."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*arguments: str | Path, cwd: Path = elsewhere, **options: Any) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "depslice.cli", *map(str, arguments)],
            cwd=cwd,
            capture_output=True,
            env=environment | options.pop("env", {}),
            timeout=120,
            check=False,
            **options,
        )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    return run


@pytest.fixture(scope="session")
def shop() -> Path:
    """The repository of the specimen ``inventory``."""
    return ROOT / "fixtures" / "inventory" / "repo"


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has nothing installed, not even pytest."""
    folder = tmp_path_factory.mktemp("bare") / "environment"
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="session")
def unsafe() -> list[str]:
    """What is tested is not the sandbox: where none works, it is done without."""
    try:
        choose_sandbox()
    except SandboxUnavailable:
        return ["--unsafe-no-sandbox"]
    return []

"""Fetch a package, make an environment for its tests, and record what they call.

Everything is kept under one folder, ``$DEPSLICE_TRACES`` or ``~/.cache/depslice-traces``::

    NAME/source/         the unpacked source distribution
    NAME/environment/    a virtual environment with the package, pytest and what tests need
    NAME/root/NAME/      what is analysed: the package without its tests
    NAME/trace.json      `depslice trace` of the test suite
    NAME/tests.txt       what pytest said

A step whose result is there is not done again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from packages import Traced

REPO: Final = Path(__file__).parents[2]
_PYTEST: Final = "pytest<9"  # 9.1 makes errors of what test suites of today still do
_TIMEOUT: Final = 1800  # seconds for a test suite


class Failed(Exception):
    """A step did not work; the message is one line."""


def traces_folder() -> Path:
    """Where packages and traces are kept."""
    given = os.environ.get("DEPSLICE_TRACES")
    return Path(given) if given else Path.home() / ".cache" / "depslice-traces"


def analysed_root(package: Traced, folder: Path) -> Path:
    """Where the copy of ``package`` that is analysed lies."""
    return folder / package.name / "root" / Path(package.root).name


def trace_file(package: Traced, folder: Path) -> Path:
    """Where the trace of ``package`` lies."""
    return folder / package.name / "trace.json"


def record(package: Traced, *, folder: Path, python: str) -> tuple[Path, Path]:
    """The analysed root and the trace of ``package``, made where they are missing.

    The tests run on ``python``, 3.12 or newer. **This runs the package's code.**
    Raises :class:`Failed`.
    """
    home = folder / package.name
    home.mkdir(parents=True, exist_ok=True)
    source = _fetched(package, home, python)
    root = _copied_root(package, source, folder)
    trace = trace_file(package, folder)
    if not trace.exists():
        environment = _environment(package, source, home, python)
        _run_tests(package, source, environment, trace)
    return root, trace


def _fetched(package: Traced, home: Path, python: str) -> Path:
    source = home / "source"
    if source.is_dir():
        return source
    with tempfile.TemporaryDirectory(dir=home) as temporary:
        requirement = f"{package.name}=={package.version}"
        download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", temporary]
        _checked([python, "-m", "pip", *download, requirement])  # it must be for that Python
        [archive] = Path(temporary).glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(temporary, filter="data")
        archive.unlink()
        [unpacked] = [each for each in Path(temporary).iterdir() if each.is_dir()]
        unpacked.rename(source)
    return source


def _copied_root(package: Traced, source: Path, folder: Path) -> Path:
    """A copy of the analysed folder, of the same name, without what is left out."""
    original = source / package.root
    root = analysed_root(package, folder)
    if not root.exists():
        names = [pattern.rstrip("/") for pattern in package.left_out]
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", *names)
        shutil.copytree(original, root, ignore=ignored)
    return root


def _environment(package: Traced, source: Path, home: Path, python: str) -> Path:
    environment = home / "environment"
    if not (environment / ".complete").exists():
        _checked([python, "-m", "venv", "--clear", str(environment)])
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        _checked([*pip, _PYTEST, *package.needs, "-e", str(source)])
        (environment / ".complete").touch()
    return environment


def _run_tests(package: Traced, source: Path, environment: Path, trace: Path) -> None:
    excluded = [word for pattern in package.left_out for word in ("--exclude", pattern)]
    command = [
        *(sys.executable, "-m", "depslice.cli", "trace"),
        *("--root", str(source / package.root), *excluded, "-o", str(trace), "--"),
        *(str(environment / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"),
        *package.tests,
    ]
    components = (str(REPO / name) for name in ("callgraph", "slicer", "validator", "cli"))
    with open(trace.with_name("tests.txt"), "wb") as said:
        subprocess.run(
            command,
            cwd=source,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(components)},
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=_TIMEOUT,
            check=False,
        )
    if not trace.exists():
        lines = trace.with_name("tests.txt").read_text(errors="replace").strip().splitlines()
        raise Failed(f"{package.name}: {lines[-1] if lines else 'no output'}")


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise Failed(f"{' '.join(command[:6])}: {lines[-1] if lines else 'no message'}")

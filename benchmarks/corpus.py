"""The corpus: real packages, pinned, that depslice is measured on.

    python benchmarks/corpus.py [PACKAGE ...]        unpack them (all, when none is named)
    python benchmarks/corpus.py --environment DIR    make a virtual environment with their
                                                     dependencies, for the import check

Each package is unpacked from its wheel into a folder of its own name, without its
dependencies. A wheel holds files to copy: nothing of the package is built or run. The
folder is ``$DEPSLICE_CORPUS``, by default ``~/.cache/depslice-corpus``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Package:
    """A release on PyPI, and what makes it worth having."""

    name: str
    version: str
    trait: str = ""


class Unreachable(Exception):
    """The registry did not give a package; the message is the installer's last line."""


PACKAGES: Final = (
    Package("aenum", "3.1.17", "a Python 2 file that does not parse"),
    Package("aiohttp", "3.14.5", "async, compiled parts"),
    Package("attrs", "26.1.0", "generated methods"),
    Package("babel", "2.18.0"),
    Package("beautifulsoup4", "4.15.0"),
    Package("black", "26.10.1", "compiled parts"),
    Package("boltons", "26.2.0"),
    Package("boto", "2.49.0", "old style, Python 2 era"),
    Package("bottle", "0.13.4", "one module"),
    Package("celery", "5.7.0", "lazy modules, proxies"),
    Package("click", "8.5.1"),
    Package("cookiecutter", "2.7.1"),
    Package("django", "5.2.19", "big"),
    Package("docutils", "0.23", "plug-in tables"),
    Package("fastapi", "0.165.0"),
    Package("fissix", "21.11.13", "Python 2 files, BOM, CRLF, a false encoding"),
    Package("flask", "3.1.3"),
    Package("future", "1.0.0", "Python 2 and 3, import hooks"),
    Package("google-cloud-core", "2.8.0", "namespace package"),
    Package("httpx", "0.28.1", "async"),
    Package("humanize", "4.17.0"),
    Package("ipython", "9.18.1"),
    Package("jaraco.functools", "4.6.0", "namespace package"),
    Package("jedi", "0.20.1"),
    Package("jinja2", "3.1.6"),
    Package("kedro", "1.7.0", "templates: {{ }} in .py files and folder names"),
    Package("lark", "1.3.1"),
    Package("mako", "1.4.3"),
    Package("marshmallow", "4.4.0"),
    Package("matplotlib", "3.11.2", "compiled parts"),
    Package("more-itertools", "11.2.1"),
    Package("mypy", "2.4.1", "dense types"),
    Package("networkx", "3.6.1", "dispatching decorators"),
    Package("nltk", "3.10.4", "lazy modules"),
    Package("nose", "1.3.7", "old style"),
    Package("numpy", "2.4.6", "compiled parts, stubs"),
    Package("pandas", "3.1.1", "big, compiled parts"),
    Package("pip", "26.3", "vendored packages"),
    Package("prompt-toolkit", "3.0.53"),
    Package("pydantic", "1.10.19", "version 1, metaclasses"),
    Package("pygments", "2.21.0", "plug-in tables"),
    Package("pylint", "4.1.4", "visitors"),
    Package("pytest", "9.2.0"),
    Package("python-dateutil", "2.9.0.post0"),
    Package("pyyaml", "6.0.3"),
    Package("requests", "2.34.2"),
    Package("rich", "15.0.0"),
    Package("scapy", "2.8.0", "operators everywhere, generated classes"),
    Package("scikit-learn", "1.9.1", "big, compiled parts"),
    Package("scrapy", "2.19.0", "templates"),
    Package("setuptools", "84.2.1", "vendored packages"),
    Package("six", "1.17.0", "one module, lazy modules"),
    Package("sphinx", "9.0.4"),
    Package("sqlalchemy", "2.1.9", "big, overloads"),
    Package("sympy", "1.14.0", "big"),
    Package("toolz", "1.2.0", "currying"),
    Package("tornado", "6.6.1", "async"),
    Package("tqdm", "4.70.1"),
    Package("twisted", "26.10.0", "big, old style"),
    Package("wagtail", "8.0.1", "big, project templates"),
    Package("werkzeug", "3.1.9"),
    Package("zope.interface", "8.7", "namespace package, compiled parts"),
)
NAMES: Final = tuple(package.name for package in PACKAGES)

# Their requirements contradict those of the others; the import check does without them.
_NOT_TOGETHER: Final = frozenset({"docutils", "pydantic"})


def corpus_folder() -> Path:
    """Where the packages are kept: ``$DEPSLICE_CORPUS`` or a folder of the user's cache."""
    given = os.environ.get("DEPSLICE_CORPUS")
    return Path(given) if given else Path.home() / ".cache" / "depslice-corpus"


def select(names: Iterable[str]) -> tuple[Package, ...]:
    """The packages with these names, in the order of the corpus; all when none is given.

    Raises ``SystemExit`` with one line when a name is not in the corpus.
    """
    wanted = set(names) or set(NAMES)
    if unknown := wanted - set(NAMES):
        raise SystemExit(f"not in the corpus: {', '.join(sorted(unknown))}")
    return tuple(package for package in PACKAGES if package.name in wanted)


def fetch(packages: Iterable[Package], into: Path) -> list[Path]:
    """Unpack ``packages`` under ``into``, those that are missing, and return their folders.

    A folder is put in place when it is complete, so an interrupted run leaves no part
    of one. Raises :class:`Unreachable`.
    """
    return [_fetched(package, into) for package in packages]


def _fetched(package: Package, into: Path) -> Path:
    folder = into / package.name
    marker = f"-{package.version}.dist-info"
    if folder.is_dir() and any(entry.name.endswith(marker) for entry in folder.iterdir()):
        return folder
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".fetch-") as beside:
        staging = Path(beside) / package.name
        requirement = f"{package.name}=={package.version}"
        _install(["--no-deps", "--target", str(staging), requirement])
        shutil.rmtree(folder, ignore_errors=True)
        staging.rename(folder)
    return folder


def make_environment(folder: Path) -> Path:
    """Make a virtual environment with the corpus and its dependencies; return its Python.

    The packages themselves are there for each other's sake: the import check hides the
    one it looks at. Raises :class:`Unreachable`.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    together = [package for package in PACKAGES if package.name not in _NOT_TOGETHER]
    _install([f"{package.name}=={package.version}" for package in together], python=python)
    return python


def _install(arguments: Sequence[str], *, python: Path | None = None) -> None:
    # Wheels only: building a source distribution would run the package's own code.
    wheels = ["--quiet", "--only-binary", ":all:"]
    target = str(python or sys.executable)
    if _has_uv():
        command = ["uv", "pip", "install", "--python", target, *wheels, *arguments]
    else:
        command = [sys.executable, "-m", "pip", "--python", target, "install", *wheels, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unreachable((done.stderr.strip().splitlines() or ["no message"])[-1])


def _has_uv() -> bool:
    # A shim of pyenv may stand on PATH and yet not run.
    asked = ["uv", "--version"]
    return (
        shutil.which("uv") is not None
        and not subprocess.run(asked, capture_output=True, check=False).returncode
    )


def main() -> None:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--into", type=Path, default=corpus_folder())
    parser.add_argument("--environment", type=Path, metavar="DIR")
    options = parser.parse_args()
    try:
        if options.environment is not None:
            print(make_environment(options.environment))
        else:
            for folder in fetch(select(options.packages), options.into):
                print(folder)
    except Unreachable as error:
        raise SystemExit(f"the registry cannot be reached, or lacks a release: {error}") from None


if __name__ == "__main__":
    main()

"""Which Pythons this machine has, and which of them a project wants."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from depslice.validator.environment.model import Cause, EnvironmentFailed, Interpreter

_NAME: Final = re.compile(r"python3\.(\d+)")


def find_interpreters() -> tuple[Interpreter, ...]:
    """Interpreters on the path, of pyenv and of uv, newest first; none of them is run."""
    found: dict[Path, Interpreter] = {}
    own = Path(getattr(sys, "_base_executable", None) or sys.executable).resolve()
    found[own] = Interpreter(path=own, version=sys.version_info[:3])
    for path in _candidates():
        real = path.resolve()
        version = _version(real)
        if real not in found and version is not None:
            found[real] = Interpreter(path=real, version=version)
    return tuple(sorted(found.values(), key=lambda each: (each.version, each.path), reverse=True))


def _candidates() -> Iterator[Path]:
    folders = [Path(name) for name in os.get_exec_path() if name]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    managed = Path(
        os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python"
    )
    for versions in (pyenv, managed):
        folders += [versions / name / "bin" for name in _names(versions)]
    for folder in folders:
        for path in (folder / name for name in _names(folder)):
            if _NAME.fullmatch(path.name) and os.access(path, os.X_OK) and _is_program(path):
                yield path


def _names(folder: Path) -> list[str]:
    """What a folder holds; nothing, when it is not there or not ours to read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_program(path: Path) -> bool:
    """Whether it is no script: shims of version managers need what is not in a sandbox."""
    try:
        with path.open("rb") as file:
            return file.read(2) != b"#!"
    except OSError:
        return False


def _version(executable: Path) -> tuple[int, int, int] | None:
    """Of the executable's name and the header that is installed with it."""
    named = _NAME.fullmatch(executable.name)
    if named is None:
        return None
    minor = int(named.group(1))
    include = executable.parent.parent / "include"
    for header in sorted(include.glob(f"python3.{minor}*/patchlevel.h")):  # python3.7m
        text = header.read_text(encoding="utf-8", errors="replace")
        if micro := re.search(r"define PY_MICRO_VERSION\s+(\d+)", text):
            return 3, minor, int(micro.group(1))
    return 3, minor, 0


def choose_interpreter(
    requires: str, found: Sequence[Interpreter], *, preferred: tuple[int, int]
) -> Interpreter:
    """The interpreter for ``requires-python``: the preferred version, else the nearest newer
    one, else the newest.

    :raises EnvironmentFailed: none fits, or ``requires`` is no specifier.
    """
    try:
        wanted = SpecifierSet(requires)
    except InvalidSpecifier:
        raise EnvironmentFailed(
            Cause.METADATA, f"requires-python is not a version specifier: {requires!r}"
        ) from None
    fitting = [each for each in found if wanted.contains(_text(each), prereleases=True)]
    if not fitting:
        have = ", ".join(_text(each) for each in found)
        raise EnvironmentFailed(
            Cause.PYTHON, f"the project needs Python {requires}; this machine has {have}"
        )
    newer = [each for each in fitting if each.version[:2] >= preferred]
    return (
        min(newer, key=lambda each: (each.version[:2], -each.version[2])) if newer else fitting[0]
    )


def _text(interpreter: Interpreter) -> str:
    return ".".join(map(str, interpreter.version))

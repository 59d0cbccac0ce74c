"""What an environment is to be made of, and the digest under which it is kept."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.project import Project
from depslice.validator.environment.declared import read_declared
from depslice.validator.environment.model import Cause, Declared, EnvironmentFailed, Interpreter
from depslice.validator.environment.pythons import choose_interpreter, find_interpreters
from depslice.validator.environment.registry import index_settings
from depslice.validator.environment.undeclared import imports_of_tests, needed_imports

_FORMAT: Final = 2
NOT_COPIED: Final = (
    "__pycache__", ".git", ".hg", ".svn", ".tox", ".nox", ".venv", "venv", "node_modules",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", "*.egg-info",
)  # fmt: skip
_BUILD_INPUTS: Final = frozenset({
    "pyproject.toml", "setup.py", "setup.cfg", "MANIFEST.in", "requirements.txt", "uv.lock",
    "poetry.lock", "pylock.toml", "Pipfile.lock", "PKG-INFO", ".python-version", "meson.build",
    "CMakeLists.txt", "Cargo.toml", "Cargo.lock", "version.py", "_version.py", "__about__.py",
    "__version__.py", "VERSION",
})  # fmt: skip
_NATIVE: Final = frozenset(
    {".c", ".cc", ".cpp", ".h", ".hpp", ".pyx", ".pxd", ".rs", ".f90", ".toml"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be made, and the digest of it. ``for_tests``: requirements, if tests are to run."""

    project: Project
    declared: Declared
    interpreter: Interpreter
    extras: tuple[str, ...]
    imports: tuple[str, ...]
    for_tests: tuple[str, ...] | None
    key: str


def make_plan(
    project: Project, python: Path | None, extras: tuple[str, ...], *, tests: bool = False
) -> Plan:
    """What is to be made of a project; see :func:`make_environment` for the arguments.

    :raises EnvironmentFailed: its metadata, or no Python fits.
    """
    root = Path(project.root)
    declared = read_declared(root)
    unknown = sorted(set(extras) - set(declared.extras))
    if unknown:
        raise EnvironmentFailed(Cause.METADATA, f"the project has no extra {unknown[0]!r}")
    interpreters = find_interpreters()
    if python is not None:
        wanted = python.resolve()
        interpreters = tuple(each for each in interpreters if each.path == wanted)
        if not interpreters:
            raise EnvironmentFailed(Cause.PYTHON, f"{python} is no Python that can be used")
    interpreter = choose_interpreter(
        "" if python is not None else declared.requires_python,
        interpreters,
        preferred=sys.version_info[:2],
    )
    imports = needed_imports(project)
    if tests:
        imports = tuple(sorted({*imports, *imports_of_tests(project)}))
    for_tests = declared.for_tests if tests else None
    digest = hashlib.sha256()
    said: Sequence[Any] = (
        _FORMAT, asdict(declared), str(interpreter.path), interpreter.version, extras, imports, for_tests,
        platform.machine(), platform.libc_ver(), index_settings(os.environ),
    )  # fmt: skip
    digest.update(json.dumps(said, sort_keys=True).encode())
    for path in _build_inputs(root):
        digest.update(b"\0" + str(path.relative_to(root)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return Plan(
        project=project,
        declared=declared,
        interpreter=interpreter,
        extras=extras,
        imports=imports,
        for_tests=for_tests,
        key=digest.hexdigest()[:32],
    )


def _build_inputs(root: Path) -> Iterator[Path]:
    """Files that can make a build come out differently, in order."""
    ignored = {name for name in NOT_COPIED if "*" not in name}
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in ignored)
        for name in sorted(files):
            path = Path(folder, name)
            wanted = name in _BUILD_INPUTS or path.suffix in _NATIVE
            if (wanted or "requirements" in path.parts) and path.is_file():
                yield path

"""What a project declares: metadata, requirement files and lock files, read as data."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from depslice.validator.environment.model import Cause, Declared, EnvironmentFailed

_REQUIREMENTS: Final = (
    "requirements.txt",
    "requirements/base.txt",
    "requirements/requirements.txt",
)
_TEST_REQUIREMENTS: Final = tuple(
    pattern.format(name)
    for name in ("test", "tests", "testing", "dev")
    for pattern in ("requirements-{}.txt", "requirements_{}.txt", "{}-requirements.txt",
                    "{}_requirements.txt", "requirements/{}.txt")
)  # fmt: skip
TEST_GROUPS: Final = ("test", "tests", "testing", "dev")
"""Names of groups, and of extras, that have what tests need."""
_VERSION_TOOLS: Final = ("setuptools_scm", "setuptools-scm", "hatch-vcs", "versioneer", "pbr",
                         "dynamic-versioning", "versioningit", "flit_scm", "pdm-backend")  # fmt: skip


def read_declared(root: Path) -> Declared:
    """What the files in ``root`` say.

    :raises EnvironmentFailed: one of them cannot be understood.
    """
    pyproject = _toml(root / "pyproject.toml")
    project = _table(pyproject, "project")
    poetry = _table(pyproject, "tool", "poetry")
    setup = _setup_cfg(root)
    sources = [
        name for name in ("pyproject.toml", "setup.py", "setup.cfg") if (root / name).is_file()
    ]
    installable = (
        (root / "setup.py").is_file()
        or bool(project or poetry or _table(pyproject, "build-system"))
        or setup.has_section("metadata")
    )
    requirements = _requirement_files(root)
    constraints, lock = _locked(root)
    sources += [*requirements, *lock]
    text = _text(root / "pyproject.toml") + _text(root / "setup.py") + _text(root / "setup.cfg")
    return Declared(
        name=str(project.get("name") or poetry.get("name") or _option(setup, "metadata", "name")),
        requires_python=_requires_python(root, project, poetry, setup),
        installable=installable,
        # Files beside metadata often pin tools of the developers: metadata is enough.
        requirements=() if installable else tuple(requirements),
        constraints=tuple(constraints),
        extras=tuple(sorted(_extras(project, poetry, setup))),
        sources=tuple(sources),
        dynamic=any(tool in text for tool in _VERSION_TOOLS),
        for_tests=tuple(dict.fromkeys(_for_tests(root, pyproject, poetry))),
    )


def _for_tests(
    root: Path, pyproject: Mapping[str, Any], poetry: Mapping[str, Any]
) -> Iterator[str]:
    """Requirements of tests that metadata does not have: extras are installed with the project."""
    yield from _of_groups(_table(pyproject, "dependency-groups"))
    for name in TEST_GROUPS:
        yield from _of_poetry_table(_table(poetry, "group", name, "dependencies"))
    yield from _of_poetry_table(_table(poetry, "dev-dependencies"))
    for name in _TEST_REQUIREMENTS:
        yield from _lines(root, root / name, set())


def _lines(root: Path, path: Path, seen: set[Path]) -> Iterator[str]:
    """Requirements in a file, and in those below ``root`` that it includes."""
    path = path.resolve()
    if path in seen or not path.is_relative_to(root.resolve()):
        return
    seen.add(path)
    for raw in _text(path).splitlines():
        line = re.split(r"(?:^|\s)#", raw)[0].strip()
        included = re.fullmatch(r"(?:-r|--requirement)[\s=]*(\S+)", line)
        if included:
            yield from _lines(root, path.parent / included.group(1), seen)
        elif _is_requirement(line):
            yield line


def _of_poetry_table(dependencies: Mapping[str, Any]) -> Iterator[str]:
    """Distributions of a registry, as requirements."""
    for name, said in dependencies.items():
        match said:
            case str(version) | {"version": str(version)}:
                extras = said.get("extras", ()) if isinstance(said, dict) else ()
                wanted = f"[{','.join(map(str, extras))}]" if extras else ""
                line = f"{name}{wanted}{_of_poetry(version)}"
                if _is_requirement(line):
                    yield line
            case _:
                continue


def _of_groups(groups: Mapping[str, Any]) -> Iterator[str]:
    """Requirements in those of the groups that are for tests, and in those they include."""
    named: Mapping[str, Any] = {
        canonicalize_name(name): entries for name, entries in groups.items()
    }
    waiting: list[str] = [name for name in TEST_GROUPS if name in named]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        entries = named.get(name)
        if name in seen or not isinstance(entries, list):
            continue
        seen.add(name)
        for entry in entries:
            match entry:
                case {"include-group": str(other)}:
                    waiting.append(canonicalize_name(other))
                case str(line) if _is_requirement(line):
                    yield line
                case _:
                    continue


def _is_requirement(line: str) -> bool:
    """Whether it names a distribution: an option of an installer, say, is none."""
    try:
        Requirement(line)
    except InvalidRequirement:
        return False
    return True


def _requires_python(
    root: Path,
    project: Mapping[str, Any],
    poetry: Mapping[str, Any],
    setup: configparser.ConfigParser,
) -> str:
    for said in (
        project.get("requires-python"),
        _of_poetry(_table(poetry, "dependencies").get("python")),
        _option(setup, "options", "python_requires"),
        _of_setup_py(_text(root / "setup.py")),
    ):
        if said:
            return str(said)
    return ""


def _of_setup_py(text: str) -> str:
    """``python_requires`` where it is a literal; the script is not run for it."""
    found = re.search(r"""python_requires\s*=\s*(['"])([^'"]+)\1""", text)
    return found.group(2) if found else ""


def _of_poetry(said: object) -> str:
    """Poetry's caret and tilde as specifiers: ``^3.8`` is ``>=3.8,<4``, ``^0.8.1`` ``>=0.8.1,<0.9``.

    Of alternatives (``~2.7 || ^3.6``) the last: no specifier has several, and the newest is last.
    """
    parts = []
    for part in str(said or "").rpartition("||")[2].split(","):
        each = part.strip()
        release = re.match(r"[\^~]\s*(\d+(?:\.\d+)*)", each)
        if release and not each.startswith("~="):
            numbers = [int(number) for number in release.group(1).split(".")]
            # The first that is not zero may not grow; of a tilde the second, if there is one.
            first = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
            kept = first if each[0] == "^" else min(1, len(numbers) - 1)
            above = [*numbers[:kept], numbers[kept] + 1]
            parts.append(f">={each[1:].strip()},<{'.'.join(map(str, above))}")
        elif each.rstrip(".*"):
            parts.append(each if each[0] in "<>=!~" else f"=={each.rstrip('.*')}.*")
    return ",".join(parts)


def _extras(
    project: Mapping[str, Any], poetry: Mapping[str, Any], setup: configparser.ConfigParser
) -> set[str]:
    found = {*_table(project, "optional-dependencies"), *_table(poetry, "extras")}
    if setup.has_section("options.extras_require"):
        found |= set(setup.options("options.extras_require"))
    return found


def _requirement_files(root: Path) -> list[str]:
    return [name for name in _REQUIREMENTS if (root / name).is_file()][:1]


def _locked(root: Path) -> tuple[list[str], list[str]]:
    """Versions that a lock file has fixed, and its name; of several files the first counts."""
    readers = {
        "uv.lock": lambda path: _packages(_toml(path)),
        "pylock.toml": lambda path: _packages({"package": _toml(path).get("packages", [])}),
        "poetry.lock": lambda path: _packages(_toml(path)),
        "Pipfile.lock": _pipfile,
    }
    for name, read in readers.items():
        if (root / name).is_file():
            return sorted(set(read(root / name))), [name]
    return [], []


def _packages(document: Mapping[str, Any]) -> Iterator[str]:
    """``name==version`` of packages with one version that a registry has."""
    versions: dict[str, set[str]] = {}
    for package in document.get("package", ()):
        match package:
            case {"source": {"editable": _} | {"virtual": _} | {"directory": _} | {"git": _}}:
                continue
            case {"name": str(name), "version": str(version)}:
                versions.setdefault(name, set()).add(version)
            case _:
                continue
    yield from (f"{name}=={min(each)}" for name, each in versions.items() if len(each) == 1)


def _pipfile(path: Path) -> Iterator[str]:
    try:
        document = json.loads(_text(path))
        packages = dict(document.get("default", {}))
    except (ValueError, AttributeError, TypeError):
        raise _unreadable(path, "not a lock file") from None
    for name, each in packages.items():
        match each:
            case {"version": str(version)}:
                yield f"{name}{version}"
            case _:
                continue


def _setup_cfg(root: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(_text(root / "setup.cfg"))
    except configparser.Error as error:
        raise _unreadable(root / "setup.cfg", str(error).splitlines()[0]) from None
    return parser


def _option(parser: configparser.ConfigParser, section: str, name: str) -> str:
    return parser.get(section, name, fallback="")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, str(error)) from None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""


def _table(document: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        found = document.get(name)
        if not isinstance(found, dict):
            return {}
        document = found
    return document


def _unreadable(path: Path, why: str) -> EnvironmentFailed:
    return EnvironmentFailed(Cause.METADATA, f"{path}: {why}")

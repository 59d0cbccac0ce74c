"""Imports that a project makes, as far as they come from distributions."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from depslice.callgraph.project import Project, SourceFile, read_file

_NOT_THE_PROJECT: Final = re.compile(
    r"(^|/)(tests?|testing|docs?|examples?|benchmarks?|scripts|tools|setup\.py|conftest\.py|noxfile\.py"
    r"|tasks\.py|test_[^/]*\.py|[^/]*_test\.py)(/|$)"
)
_TEST_FILE: Final = re.compile(r"(^|/)(conftest|test_[^/]*|[^/]*_test)\.py$")
_CONDITIONAL: Final = re.compile(r"TYPE_CHECKING|version_info|hexversion|platform|os\.name")
# What everybody has, or what is part of another distribution's own machinery.
_ALWAYS_THERE: Final = frozenset({"pip", "setuptools", "pkg_resources", "wheel", "distutils"})


def needed_imports(project: Project) -> tuple[str, ...]:
    """Top-level modules from outside that the project cannot be imported without, sorted.

    Those of the module scope alone: not in functions, under ``TYPE_CHECKING``, or in a
    ``try`` that expects them to be missing.
    """
    own = {file.module.partition(".")[0] for file in project.files}
    files = [file for file in project.files if not _NOT_THE_PROJECT.search(file.path)]
    return _from_outside(project, files, own)


def imports_of_tests(project: Project) -> tuple[str, ...]:
    """Top-level modules from outside that its test files import first of all, sorted.

    Tests import what stands beside them, too: no name of a file or folder is from outside.
    """
    own = {part for file in project.files for part in file.module.split(".")}
    files = [file for file in project.files if _TEST_FILE.search(file.path)]
    return _from_outside(project, files, own)


def _from_outside(project: Project, files: Iterable[SourceFile], own: set[str]) -> tuple[str, ...]:
    found = {name for file in files for name in imports_of(read_file(project, file))}
    return tuple(sorted(found - own - sys.stdlib_module_names - _ALWAYS_THERE))


def imports_of(source: bytes) -> Iterator[str]:
    """Top-level modules that importing a file imports, unless it does without."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        match waiting.pop():
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.If(test=test, body=body, orelse=orelse):
                # Which branch runs is another Python's or another system's business.
                if not _CONDITIONAL.search(ast.unparse(test)):
                    waiting += body + orelse
            case ast.Try(body=body, handlers=handlers, finalbody=final):
                if not any(map(_expects_none, handlers)):
                    waiting += body
                waiting += final
            case ast.With(body=body) | ast.ClassDef(body=body):
                waiting += body
            case _:
                pass


def _expects_none(handler: ast.ExceptHandler) -> bool:
    """Whether a handler lives with a missing module."""
    text = ast.unparse(handler.type) if handler.type else "Exception"
    names = ("ImportError", "ModuleNotFoundError", "Exception")
    if not any(name in text for name in names):
        return False
    return not (handler.body and isinstance(handler.body[-1], ast.Raise))


def read_mapping(text: str) -> Mapping[str, str]:
    """Distributions by the name of their import: lines ``import:distribution``, as pipreqs has."""
    pairs = (line.strip().partition(":") for line in text.splitlines())
    found: dict[str, str] = {}
    for name, _, distribution in pairs:
        if name and distribution:
            found.setdefault(name, distribution)
    return found

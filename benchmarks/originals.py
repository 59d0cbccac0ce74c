"""What ruff already finds in the files of a package, so that slices answer only for their own.

A star import hides what is missing: in a file that has one, ruff says F405 ("may be
undefined") where it would say F821. Such a name counts as undefined in the original too,
unless a module that the star import names may provide it.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import lint

_EVERYTHING = None  # what a star import from outside the package may provide


@dataclass(frozen=True, slots=True)
class _Names:
    """The module-level names of a file, and the files it imports all names from."""

    bound: frozenset[str]
    stars: tuple[Path | None, ...]


@dataclass(slots=True)
class Originals:
    """The findings in the files under ``folder``; paths are relative to it, with ``/``."""

    folder: Path
    findings: dict[str, set[tuple[str, str]]]
    _names: dict[Path, _Names] = field(default_factory=dict)

    def has(self, path: str, finding: lint.Finding) -> bool:
        """Whether the file has a finding of the same rule about the same name."""
        found = self.findings.get(path, set())
        if (finding.code, finding.name) in found:
            return True
        unsure = finding.code == "F821" and (lint.STAR_RULE, finding.name) in found
        return unsure and not self._may_provide(self.folder / path, finding.name, set())

    def _may_provide(self, file: Path, name: str, seen: set[Path]) -> bool:
        seen.add(file)
        for star in self._of(file).stars:
            if star is _EVERYTHING or (star not in seen and name in self._of(star).bound):
                return True
            if star not in seen and self._may_provide(star, name, seen):
                return True
        return False

    def _of(self, file: Path) -> _Names:
        if file not in self._names:
            self._names[file] = _names_of(file, self.folder)
        return self._names[file]


def read_originals(ruff: str, folder: Path) -> Originals:
    """Run ruff once over the package."""
    root = folder.resolve()
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path, finding in lint.run_ruff(ruff, root):
        found[Path(path).relative_to(root).as_posix()].add((finding.code, finding.name))
    return Originals(root, dict(found))


def _names_of(file: Path, root: Path) -> _Names:
    try:
        data = file.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = symtable.symtable(data, file.name, "exec")  # type: ignore[arg-type]
            tree = ast.parse(data)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return _Names(frozenset(), ())
    bound = frozenset(
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    )
    return _Names(bound, tuple(_stars(tree, file, root)))


def _stars(tree: ast.Module, file: Path, root: Path) -> Iterator[Path | None]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
            continue
        start = file.parents[node.level - 1] if node.level else root
        place = start.joinpath(*(node.module or "").split("."))
        candidates = (place / "__init__.py", place.with_suffix(".py"))
        yield next((each for each in candidates if each.is_file()), _EVERYTHING)

"""Does rendered code compile, and does ruff find names missing or imports unused?

Slices share most of their files, and what is found in a file depends on its text alone
(and on whether it is an ``__init__.py``), so each text is looked at once.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

RULES: Final = ("F821", "F822", "F823", "F401", "F811")
STAR_RULE: Final = "F405"
"""Undefined, or from a star import: asked for, but no fault by itself."""

_QUOTED: Final = re.compile(r"`([^`]*)`")


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A message about a text: ``code`` is a rule of ruff or ``compile``.

    ``is_local`` says that the line stands in a function.
    """

    code: str
    name: str
    message: str
    line: int
    is_local: bool = False


Key = tuple[bool, str]


@dataclass(slots=True)
class Linter:
    """Collects texts, checks the new ones in one go, and remembers."""

    ruff: str
    known: dict[Key, tuple[Finding, ...]] = field(default_factory=dict)
    _waiting: dict[Key, str] = field(default_factory=dict)

    def add(self, path: str, text: str) -> Key:
        """Remember to check ``text``; the key asks for its findings after :meth:`run`."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        key = (path.endswith("__init__.py"), digest)
        if key not in self.known:
            self._waiting[key] = text
        return key

    @property
    def waiting(self) -> int:
        """How many texts wait for :meth:`run`."""
        return len(self._waiting)

    def run(self) -> None:
        """Check what waits."""
        if not self._waiting:
            return
        found: dict[Key, list[Finding]] = {key: [] for key in self._waiting}
        with tempfile.TemporaryDirectory(prefix="depslice-lint-") as folder:
            places: dict[str, Key] = {}
            for number, (key, text) in enumerate(self._waiting.items()):
                place = Path(folder) / str(number) / ("__init__.py" if key[0] else "module.py")
                place.parent.mkdir()
                place.write_bytes(text.encode("utf-8", "surrogatepass"))
                places[str(place.resolve())] = key
                if (problem := _compile_problem(text)) is not None:
                    found[key].append(problem)
            for path, finding in run_ruff(self.ruff, Path(folder)):
                key = places[path]
                is_local = finding.code == "F401" and _in_function(self._waiting[key], finding.line)
                found[key].append(replace(finding, is_local=is_local))
        self.known.update((key, tuple(sorted(findings))) for key, findings in found.items())
        self._waiting.clear()


def _compile_problem(text: str) -> Finding | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text.encode("utf-8", "surrogatepass"), "<rendered>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, OverflowError) as error:
        line = getattr(error, "lineno", None) or 0
        return Finding("compile", "", f"{type(error).__name__}: {error}"[:200], line)
    return None


def _in_function(text: str, line: int) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return any(
        isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or 0)
        for node in ast.walk(ast.parse(text))
    )


def run_ruff(ruff: str, folder: Path) -> Iterable[tuple[str, Finding]]:
    """Ruff's findings in every file under ``folder``, with the absolute path of each.

    Raises ``RuntimeError`` when ruff does not run.
    """
    command = [
        *([ruff] if ruff else [sys.executable, "-m", "ruff"]),
        *("check", "--isolated", "--no-cache", "--no-respect-gitignore", "--exit-zero", "--quiet"),
        *(
            "--target-version",
            f"py3{sys.version_info[1]}",
            "--select",
            ",".join((*RULES, STAR_RULE)),
        ),
        *("--config", "exclude = []", "--output-format", "json", str(folder)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ruff ended with {done.returncode}: {done.stderr.strip()[:500]}")
    for entry in json.loads(done.stdout or "[]"):
        # Without a code it is a syntax error, which compile() has the last word on.
        if entry["code"] in RULES or entry["code"] == STAR_RULE:
            yield entry["filename"], _finding(entry)


def _finding(entry: Mapping[str, Any]) -> Finding:
    message = entry["message"]
    name = _QUOTED.search(message)
    return Finding(entry["code"], name[1] if name else "", message, entry["location"]["row"])

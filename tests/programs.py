"""The small programs of ``fixtures/callgraph``, read as values.

The format is described in ``fixtures/callgraph/README.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "fixtures" / "callgraph"
NOT_YET = FOLDER / "not_yet.list"
_PROGRAM = re.compile(r"^== (?P<name>\w+)$", re.MULTILINE)
_CALLS = "# --- calls\n"

Calls = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallProgram:
    """A program that ``import main`` runs, and its call graph.

    ``name`` is ``category/name``; ``files`` the sources as a multi-file string (see
    ``check.write_files``); ``calls`` the callees of every body that calls something,
    in the names of the ``pycg`` format.
    """

    name: str
    files: str
    calls: Calls

    @property
    def category(self) -> str:
        """The file it stands in."""
        return self.name.partition("/")[0]

    @property
    def own_calls(self) -> set[tuple[str, str]]:
        """Caller and callee of every call within the program."""
        modules = self.modules
        return {
            (caller, callee)
            for caller, callees in self.calls.items()
            for callee in callees
            if callee.partition(".")[0] in modules
        }

    @property
    def modules(self) -> set[str]:
        """The top-level modules and packages of the program."""
        paths = re.findall(r"^# --- (\S+)\.py$", self.files, re.MULTILINE)
        return {path.partition("/")[0] for path in paths}


def load_small_programs() -> tuple[SmallProgram, ...]:
    """All programs, by category and in the order of their file.

    Raises ``ValueError`` for a program without calls, or two of one name.
    """
    found: dict[str, SmallProgram] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        pieces = _PROGRAM.split(path.read_text(encoding="utf-8"))
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            program = _parse(f"{path.stem}/{name}", text)
            if program.name in found:
                raise ValueError(f"two programs are called {program.name}")
            found[program.name] = program
    return tuple(found.values())


def load_not_yet() -> dict[str, str]:
    """The programs whose graph is known to be wrong, and why: ``category/name: reason`` lines."""
    found: dict[str, str] = {}
    for line in NOT_YET.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, separator, reason = line.partition(": ")
            if not separator or name in found:
                raise ValueError(f"{NOT_YET.name}: not `name: reason`, or twice: {line!r}")
            found[name] = reason
    return found


def _parse(name: str, text: str) -> SmallProgram:
    head, separator, calls = text.partition(_CALLS)
    if not separator:
        raise ValueError(f"{name} has no calls")
    files = head[head.index("# --- ") :]
    graph: dict[str, frozenset[str]] = {}
    for line in calls.splitlines():
        if line:
            caller, _, callees = line.partition(": ")
            if caller in graph or not callees:
                raise ValueError(f"{name}: {line!r}")
            graph[caller] = frozenset(callees.split())
    return SmallProgram(name=name, files=files, calls=graph)

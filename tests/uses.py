"""The uses of ``fixtures/uses``, as programs.

Described in ``fixtures/uses/README.md``.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "fixtures" / "uses"
FOLDERS = ("asked", "handed", "carried", "declared", "extended", "indirect", "syntax", "below")
_KINDS = {"indirect": "asked"}  # whose classes a folder has that has none of its own
_ALL_FORMS = ("local", "passed", "declared", "returned")
_FORMS = {"declared": _ALL_FORMS, "below": _ALL_FORMS}
_GAP = re.compile(r"^(?P<side>slice|graph) (?P<use>\S+) (?P<names>.+?) -- .")


def forms_of(folder: str) -> tuple[str, ...]:
    """The ways in which a folder's uses get their values."""
    return _FORMS.get(folder, ("local", "passed"))


@cache
def names_of(folder: str) -> tuple[str, ...]:
    """The names of a folder's uses, in order."""
    lines = (FOLDER / folder / "uses.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.partition(":")[0] for line in lines if line and not line.startswith("=="))


USES = tuple(f"{folder}/{name}" for folder in FOLDERS for name in names_of(folder))
"""All uses, as ``folder/name``."""


def write_program(folder: str, to: Path) -> None:
    """Write ``kinds.py`` and ``main.py``, which has the uses of ``folder`` as functions."""
    to.mkdir(parents=True, exist_ok=True)
    source = FOLDER / folder
    kinds = FOLDER / _KINDS.get(folder, folder) / "kinds.py"
    (to / "kinds.py").write_bytes(kinds.read_bytes())
    header = (source / "header.py").read_text(encoding="utf-8")
    text = (source / "uses.txt").read_text(encoding="utf-8")
    functions = "".join(_functions(text, forms_of(folder)))
    (to / "main.py").write_text(header + functions, encoding="utf-8")


def write_programs(parent: Path) -> dict[str, Path]:
    """Write the programs of all folders below ``parent``; where each is."""
    written = {folder: parent / folder for folder in FOLDERS}
    for folder, to in written.items():
        write_program(folder, to)
    return written


def _functions(text: str, forms: tuple[str, ...]) -> Iterator[str]:
    values: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if line.startswith("=="):
            given = [each.partition(":") for each in line[2:].split("; ") if each.strip()]
            parts = [(name.strip(), rest.partition(" = ")) for name, _, rest in given]
            values = [(name, kind.strip(), value) for name, (kind, _, value) in parts]
        elif line:
            name, _, body = line.partition(": ")
            statements = "".join(f"    {each}\n" for each in body.split("; "))
            made = "".join(f"    {each} = {value}\n" for each, _, value in values)
            yield f"\n\ndef local_{name}():\n{made}{statements}"
            parameters = ", ".join(each for each, _, _ in values)
            passed = ", ".join(value for _, _, value in values)
            yield f"\n\ndef use_{name}({parameters}):\n{statements}"
            yield f"\n\ndef passed_{name}():\n    return use_{name}({passed})\n"
            if "declared" not in forms:
                continue
            declared = ", ".join(f"{each}: {kind!r}" for each, kind, _ in values)
            yield f"\n\ndef told_{name}({declared}):\n{statements}"
            yield f"\n\ndef declared_{name}():\n    return told_{name}({passed})\n"
            given = "".join(f"    {each} = give_{each}_{name}({each})\n" for each, _, _ in values)
            for each, kind, _ in values:
                yield f"\n\ndef give_{each}_{name}(value) -> {kind!r}:\n    return value\n"
            yield f"\n\ndef taking_{name}({parameters}):\n{given}{statements}"
            yield f"\n\ndef returned_{name}():\n    return taking_{name}({passed})\n"


@cache
def observed(folder: str) -> Mapping[str, frozenset[str]]:
    """For each function of a folder's program, the ids of those that run below it."""
    with tempfile.TemporaryDirectory() as parent:
        program, answer = Path(parent) / "program", Path(parent) / "answer.json"
        write_program(folder, program)
        script = Path(__file__).parent / "trace_uses.py"
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(script), str(program), str(answer)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert answer.exists(), done.stderr
        seen = json.loads(answer.read_text(encoding="utf-8"))
    return {name: frozenset(ids) for name, ids in seen.items()}


@cache
def gaps(side: str) -> Mapping[str, frozenset[str]]:
    """What the ``slice`` or the ``graph`` of a use, ``folder/name``, is known to lack."""
    found: dict[str, frozenset[str]] = {}
    for line in (FOLDER / "gaps.list").read_text(encoding="utf-8").splitlines():
        gap = _GAP.match(line)
        if gap is None:
            assert not line or line.startswith("#"), f"no gap: {line}"
        elif gap["side"] == side:
            found[gap["use"]] = frozenset(filter(None, map(_here, gap["names"].split())))
    return found


def _here(name: str) -> str | None:
    """A name of ``gaps.list``, or None if it says ``<3.13`` and this Python is no older."""
    name, _, before = name.partition("<")
    if before and sys.version_info >= tuple(map(int, before.split("."))):
        return None
    return name

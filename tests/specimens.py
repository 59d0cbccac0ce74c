"""The specimen repositories of ``fixtures/``, read as values.

The format is described in ``fixtures/README.md``. An expected answer may name:

>>> sorted(KEYS)
['edges', 'external', 'root', 'runs', 'slices']
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"
KEYS = frozenset({"edges", "external", "root", "runs", "slices"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """One specimen: a small repository and the right answers about it.

    ``source_root`` is the folder that stands on ``sys.path`` when it runs;
    ``runs`` gives, by symbol id, expressions that make a run reach that symbol.
    """

    name: str
    repo: Path
    source_root: Path
    slices: Mapping[str, tuple[str, ...]]
    edges: Mapping[str, tuple[str, ...]]
    external: tuple[str, ...] | None
    runs: Mapping[str, tuple[str, ...]]


def load_specimens() -> tuple[Specimen, ...]:
    """All specimens, sorted by name.

    Raises ``ValueError`` for an ``expected.json`` with an unknown key.
    """
    return tuple(_load(path) for path in sorted(FIXTURES.glob("*/expected.json")))


def rewrite_slice(specimen: Specimen, target: str, items: tuple[str, ...]) -> None:
    """Write ``items`` as the expected slice of ``target``; what ``--regenerate`` does."""
    path = FIXTURES / specimen.name / "expected.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["slices"][target] = sorted(items)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _load(path: Path) -> Specimen:
    document = json.loads(path.read_text(encoding="utf-8"))
    if unknown := document.keys() - KEYS:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    repo = path.parent / "repo"
    external = document.get("external")
    runs: dict[str, str | list[str]] = document.get("runs", {})
    return Specimen(
        name=path.parent.name,
        repo=repo,
        source_root=repo / document.get("root", "."),
        slices={target: tuple(items) for target, items in document["slices"].items()},
        edges={caller: tuple(callees) for caller, callees in document["edges"].items()},
        external=None if external is None else tuple(external),
        runs={
            target: (run,) if isinstance(run, str) else tuple(run) for target, run in runs.items()
        },
    )

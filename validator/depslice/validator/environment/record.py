"""The record of an environment that was made to its end: without one, it does not count."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from depslice.validator.environment.model import Environment

_RECORD: Final = "environment.json"


def write_record(folder: Path, record: Mapping[str, Any]) -> Environment:
    """Say that the environment in ``folder`` is ready, and what it is."""
    making = folder / f"{_RECORD}.new"
    making.write_text(json.dumps(record, indent=2), encoding="utf-8")
    making.replace(folder / _RECORD)
    found = read_record(folder, fresh=True)
    assert found is not None
    return found


def read_record(folder: Path, *, fresh: bool = False) -> Environment | None:
    """The environment in ``folder``, when it was made to its end and its Python is still there."""
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        if not Path(record["interpreter"]).exists():
            return None
        return Environment(
            folder=folder,
            python=folder / "venv" / "bin" / "python",
            generated=folder / "generated",
            log=folder.with_suffix(".log"),
            installed=tuple(record["installed"]),
            guessed=tuple((name, value) for name, value in record["guessed"]),
            unknown=tuple(record["unknown"]),
            fresh=fresh,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None

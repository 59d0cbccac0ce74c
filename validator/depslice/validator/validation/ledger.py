"""Verdicts in a file, line by line: a run that was ended goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.program import Program
from depslice.validator.validation.gates import Gates
from depslice.validator.validation.harness import Harness


class LedgerError(DepsliceError):
    """The file of verdicts cannot be read or written."""

    slug = "results"
    exit_code = 2


class Ledger:
    """The verdicts of a file. One writer at a time; the last line may be cut by a crash."""

    def __init__(self, path: Path, *, only_read: bool = False) -> None:
        """Read what is there; a last line that was cut is removed, unless it is ``only_read``.

        :raises LedgerError: it cannot be read, or is something else.
        """
        self.path = path
        self._known: dict[str, Mapping[str, Any]] = {}
        whole = 0
        try:
            data = path.read_bytes() if path.exists() else b""
        except OSError as error:
            raise _failed(path, error) from None
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            try:
                found = json.loads(line)
                self._known[found["key"]] = found
            except (ValueError, KeyError, TypeError):
                if line.endswith(b"\n"):
                    raise LedgerError(f"{path}:{number} is not a line of results") from None
                break
            whole += len(line)
        if whole < len(data) and not only_read:
            os.truncate(path, whole)

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The document of a verdict that is there."""
        return self._known.get(key)

    def add(self, key: str, document: Mapping[str, Any]) -> None:
        """Write a verdict, at once.

        :raises LedgerError: it cannot be written.
        """
        try:
            with self.path.open("ab") as file:
                file.write(json.dumps({"key": key, **document}).encode() + b"\n")
        except OSError as error:
            raise _failed(self.path, error) from None


def key_of(harness: Harness, program: Program, gates: Gates) -> str:
    """What a verdict depends on: the harness, the target's file, the gates."""
    module = program.module(harness.target.partition(":")[0])
    source = program.text(module) if module is not None else ""
    parts = (harness.digest, harness.target, source, asdict(gates))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _failed(path: Path, error: OSError) -> LedgerError:
    return LedgerError(f"{path}: {(error.strerror or str(error)).lower()}")

"""Results in a file, line by line: a run that was ended goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.program import Program
from depslice.validator.validation.gates import Gates
from depslice.validator.validation.harness import Harness


class LedgerError(DepsliceError):
    """The file of results cannot be read or written, or is something else."""

    slug = "results"
    exit_code = 2

    @classmethod
    def of(cls, path: Path, error: OSError) -> LedgerError:
        """What the system says of a path."""
        return cls(f"{path}: {(error.strerror or str(error)).lower()}")


class Ledger:
    """The results of a file: documents of one ``schema``.

    One writer at a time; the last line may be cut by a crash.
    """

    def __init__(self, path: Path, schema: str, *, only_read: bool = False) -> None:
        """Read what is there; a last line that was cut is removed.

        One that is ``only_read`` has to be there, and stays as it is.

        :raises LedgerError: it cannot be read, or is something else.
        """
        self.path = path
        self._known: dict[str, Mapping[str, Any]] = {}
        whole = 0
        data = _read(path, missing_ok=not only_read)
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            try:
                found = json.loads(line)
                key, kind = str(found["key"]), str(found["schema"])
            except (ValueError, KeyError, TypeError, RecursionError):
                if line.endswith(b"\n"):
                    raise LedgerError(f"{path}:{number} is not a line of results") from None
                break
            if kind != schema:
                raise LedgerError(
                    f"{path}:{number} is another command's: {kind[:80]}, not {schema}"
                )
            self._known[key] = found
            whole += len(line)
        if whole < len(data) and not only_read:
            try:
                os.truncate(path, whole)
            except OSError as error:
                raise LedgerError.of(path, error) from None

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The document that is there, if it is."""
        return self._known.get(key)

    def documents(self) -> Iterator[Mapping[str, Any]]:
        """All that were there, in the order of the file."""
        yield from self._known.values()

    def add(self, key: str, document: Mapping[str, Any]) -> None:
        """Write a document, at once.

        :raises LedgerError: it cannot be written.
        """
        try:
            with self.path.open("ab") as file:
                file.write(json.dumps({"key": key, **document}).encode() + b"\n")
        except OSError as error:
            raise LedgerError.of(self.path, error) from None


def key_of(harness: Harness, program: Program, gates: Gates) -> str:
    """What a verdict depends on: the harness, the target's file, the gates."""
    module = program.module(harness.target.partition(":")[0])
    source = program.text(module) if module is not None else ""
    parts = (harness.digest, harness.target, source, asdict(gates))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _read(path: Path, *, missing_ok: bool) -> bytes:
    """What is in a file.

    :raises LedgerError: it is none, or cannot be read.
    """
    try:
        if path.exists() and not path.is_file():  # a device may have no end
            raise LedgerError(f"{path} is not a file")
        return path.read_bytes()
    except FileNotFoundError as error:
        if missing_ok:
            return b""
        raise LedgerError.of(path, error) from None
    except OSError as error:
        raise LedgerError.of(path, error) from None

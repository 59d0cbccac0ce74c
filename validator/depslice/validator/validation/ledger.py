"""Results in a file, line by line: a run that was ended goes on where it was."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from depslice.callgraph.errors import DepsliceError
from depslice.callgraph.locking import wait_for
from depslice.callgraph.program import Program
from depslice.validator.validation.gates import Gates
from depslice.validator.validation.harness import FORMAT, Harness
from depslice.validator.validation.verdict import JUDGED


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

    Several processes may write at once: each holds the file's lock while it adds a line, and sees
    what others have added. The last line may be cut by a crash.
    """

    def __init__(self, path: Path, schema: str, *, only_read: bool = False) -> None:
        """Read what is there; a last line that was cut is removed.

        One that is ``only_read`` has to be there, and stays as it is.

        :raises LedgerError: it cannot be read, or is something else.
        """
        self.path = path
        self._schema = schema
        self._known: dict[str, Mapping[str, Any]] = {}
        self._lines = self._bytes = 0  # that were read
        if path.exists() and not path.is_file():  # a device may have no end
            raise LedgerError(f"{path} is not a file")
        try:
            if only_read:
                with path.open("rb") as file:
                    self._read_on(file)
            elif path.exists():
                self._open()
        except OSError as error:
            raise LedgerError.of(path, error) from None

    def get(self, key: str) -> Mapping[str, Any] | None:
        """The document that is there, if it is; another process may have added it just now.

        :raises LedgerError: what was added cannot be read, or is something else.
        """
        if key not in self._known:
            try:
                with self.path.open("rb") as file:
                    self._read_on(file)
            except FileNotFoundError:
                return None
            except OSError as error:
                raise LedgerError.of(self.path, error) from None
        return self._known.get(key)

    def documents(self) -> Iterator[Mapping[str, Any]]:
        """All that were there, in the order of the file."""
        yield from self._known.values()

    def add(self, key: str, document: Mapping[str, Any]) -> None:
        """Write a document, at once.

        :raises LedgerError: it cannot be written.
        """
        try:
            with self._alone() as file:
                file.write(json.dumps({"key": key, **document}).encode() + b"\n")
        except OSError as error:
            raise LedgerError.of(self.path, error) from None

    def _open(self) -> None:
        try:
            with self._alone():
                pass
        except OSError as error:  # what cannot be written to is still to be read
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            with self.path.open("rb") as file:
                self._read_on(file)

    @contextmanager
    def _alone(self) -> Iterator[IO[bytes]]:
        """The file, with no other writer, to be written to behind its last whole line."""
        with self.path.open("a+b") as file:
            wait_for(file.fileno())
            if self._read_on(file):  # whoever has begun that line was killed
                file.truncate(self._bytes)
            if self._bytes and not self._ends_a_line(file):
                file.write(b"\n")
            yield file

    def _ends_a_line(self, file: IO[bytes]) -> bool:
        file.seek(self._bytes - 1)
        return file.read(1) == b"\n"

    def _read_on(self, file: IO[bytes]) -> bool:
        """Read what was added since; whether the last line is not whole.

        :raises LedgerError: it is no result, or another command's.
        """
        if file.seek(0, os.SEEK_END) < self._bytes:  # another file has taken its place
            self._lines = self._bytes = 0
        file.seek(self._bytes)
        for line in file:
            if not line.endswith(b"\n") and not _is_whole(line):
                return True
            if line.strip():  # else the end of a line that was read without it
                self._lines += 1
                self._note(line)
            self._bytes += len(line)
        return False

    def _note(self, line: bytes) -> None:
        place = f"{self.path}:{self._lines}"
        try:
            found = json.loads(line)
            key, kind = str(found["key"]), str(found["schema"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise LedgerError(f"{place} is not a line of results") from None
        if kind != self._schema:
            raise LedgerError(f"{place} is another command's: {kind[:80]}, not {self._schema}")
        self._known[key] = found


def _is_whole(line: bytes) -> bool:
    """Whether nothing but its end is missing: no part of an object is one."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def key_of(harness: Harness, program: Program, gates: Gates, python: str = "") -> str:
    """What a verdict depends on: the harness, the target's file, the gates, what runs them, and
    how depslice judges.
    """
    module = program.module(harness.target.partition(":")[0])
    source = program.text(module) if module is not None else ""
    parts = (JUDGED, FORMAT, harness.digest, harness.target, source, asdict(gates), python)
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()

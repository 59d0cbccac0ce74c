"""Lines of JSON, compressed or not, with their numbers."""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from depslice.solvers.problem import ProblemError
from depslice.solvers.syntax import syntax_error

_ELEMENT: Final = re.compile(r"[^\s,\]]")  # begins the next one of a valid array


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One object of a file."""

    path: Path
    number: int
    fields: Mapping[str, Any]

    def error(self, message: str) -> ProblemError:
        """That something is wrong here."""
        return ProblemError(f"{self.path}:{self.number}: {message}")

    def text(self, *names: str) -> str:
        """The first of these fields that is there, which has to be a string.

        :raises ProblemError: there is none, or it is none.
        """
        for name in names:
            if name in self.fields:
                return self._of(name, str)
        raise self.error(f"there is no {' or '.join(map(repr, names))}")

    def entry_point(self) -> str:
        """The name of the function that is asked for.

        :raises ProblemError: there is none.
        """
        found = self.text("entry_point")
        if not found.isidentifier():
            raise self.error(f"the entry point {found!r} is no name")
        return found

    def python(self, name: str, text: str) -> str:
        """``text``, which a field has, and which has to be Python.

        :raises ProblemError: it is not.
        """
        error = syntax_error(text)
        if error is not None:
            raise self.error(f"{name!r} is not Python: {error}")
        return text

    def file_name(self, name: str) -> str:
        """A string that a file can be called.

        :raises ProblemError: it is something else.
        """
        text = self.text(name)
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            text = "\0"
        if "\0" in text:
            raise self.error(f"{name!r} is no name of a file")
        return text

    def texts(self, name: str) -> list[str]:
        """A list of strings; an empty one where the field is missing.

        :raises ProblemError: it is something else.
        """
        found = self.fields.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.error(f"{name!r} is not a list of strings")
        return found

    def objects(self, name: str) -> list[Mapping[str, str]]:
        """A list of objects whose values are strings; an empty one where the field is missing.

        :raises ProblemError: it is something else.
        """
        found = self.fields.get(name, [])
        if not isinstance(found, list) or not all(
            isinstance(each, dict) and all(isinstance(value, str) for value in each.values())
            for each in found
        ):
            raise self.error(f"{name!r} is not a list of objects with strings")
        return found

    def optional(self, name: str) -> str:
        """A string; an empty one where the field is missing.

        :raises ProblemError: it is something else.
        """
        return self._of(name, str) if self.fields.get(name) is not None else ""

    def _of(self, name: str, kind: type[str]) -> str:
        found = self.fields[name]
        if not isinstance(found, kind):
            raise self.error(f"{name!r} is not a string")
        return found


def read_lines(path: Path) -> Iterator[Line]:
    """The objects of a file of JSON lines, or of one JSON array; ``.gz`` is unpacked.

    Empty lines do not count. Objects of an array have the numbers of the lines they begin on.

    :raises ProblemError: it cannot be read, or an entry is no JSON object.
    """
    for number, fields in _entries(path):
        line = Line(path=path, number=number, fields=fields)
        if not isinstance(fields, dict):
            raise line.error("not a JSON object")
        yield line


def _entries(path: Path) -> Iterator[tuple[int, Any]]:
    texts = enumerate(_texts(path), 1)
    begun = False
    for number, text in texts:
        if not begun and text.lstrip().startswith(b"["):
            rest = b"".join(following for _, following in texts)
            yield from _elements(path, number, text + rest)
        elif text.strip():
            begun = True
            try:
                yield number, json.loads(text)
            except (ValueError, RecursionError) as error:
                raise ProblemError(f"{path}:{number}: not JSON: {error}") from None


def _elements(path: Path, first: int, array: bytes) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON array, each with the line that it begins on."""
    decoder = json.JSONDecoder()
    number = first
    try:
        text = array.decode("utf-8")
        try:
            json.loads(text)  # as a whole, or not at all
        except json.JSONDecodeError as error:
            number += error.lineno - 1
            raise
        place = text.index("[") + 1
        while found := _ELEMENT.search(text, place):
            begin = found.start()
            number += text.count("\n", place, begin)
            element, place = decoder.raw_decode(text, begin)
            yield number, element
            number += text.count("\n", begin, place)
    except (ValueError, RecursionError) as error:
        raise ProblemError(f"{path}:{number}: not JSON: {error}") from None


def _texts(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as plain:
            if path.suffix == ".gz":
                with gzip.open(plain) as unpacked:
                    yield from unpacked
            else:
                yield from plain
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ProblemError(f"cannot read {path}: {reason.lower()}") from None

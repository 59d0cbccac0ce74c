"""Files that only a test has: arguments that name one say nothing where they are used again."""

from __future__ import annotations

import os
import tempfile
from pathlib import PurePath
from typing import Any

from .parts import attributes_of, ids_of

_MOST_VALUES = 2000  # looked at, of the arguments of one call
_DEPTH = 4
_LONGEST = 4096  # no path is longer
_SEQUENCES = ids_of(tuple, list, set, frozenset)


class PassingFiles:
    """Finds arguments that name what a test has made, outside of ``folder``: the repository.

    Temporary files are gone when their test ends. A call that gets their names ends in
    ``FileNotFoundError`` wherever it is made again, or finds nothing; what is compared then is not
    what the test has seen.
    """

    def __init__(self, folder: str) -> None:
        self._folder = _below(folder)
        self._temporary = _below(tempfile.gettempdir())

    def named_by(self, values: Any) -> str:
        """The first path among ``values``, and in what they hold, that passes; empty if none."""
        met: set[int] = set()
        waiting = [(values, 0)]
        while waiting and len(met) < _MOST_VALUES:
            value, depth = waiting.pop()
            if id(value) in met:
                continue
            met.add(id(value))
            path = self._passing(value)
            if path:
                return path
            if depth < _DEPTH:
                waiting += [(each, depth + 1) for each in _held(value)]
        return ""

    def _passing(self, value: Any) -> str:
        """The path that it is of something that is there now, in a folder for such things."""
        path = _path_of(value)
        if not path or len(path) > _LONGEST or "\0" in path or "\n" in path:
            return ""
        try:
            real = os.path.realpath(path)
            passes = real.startswith(self._temporary) and os.path.lexists(path)
            return path if passes and not _below(real).startswith(self._folder) else ""
        except (OSError, ValueError):
            return ""


def _below(folder: str) -> str:
    return os.path.realpath(folder).rstrip(os.sep) + os.sep


def _path_of(value: Any) -> str:
    """The path that a text or a path object is; empty for all others, of which nothing is asked."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        return os.fsdecode(value)
    return PurePath.__str__(value) if issubclass(kind, PurePath) else ""


def _held(value: Any) -> list[Any]:
    """What a container of the language holds, or the attributes of an object."""
    kind = type(value)
    if id(kind) in _SEQUENCES:
        return list(value)
    if kind is dict:
        return [*value, *value.values()]
    return [] if issubclass(kind, type) else [*attributes_of(value).values()]


__all__ = ["PassingFiles"]

"""The fields of format strings (library reference, Format String Syntax), of ``%`` templates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter
from typing import Final, NamedTuple

_PIECE: Final = re.compile(r"\.([^.\[\]]+)|\[([^\]]+)\]")
_NAMED: Final = re.compile(r"%\(([^)]*)\)")
_DUNDERS: Final = {
    "r": ("__repr__",),
    "a": ("__repr__",),
    "s": ("__str__", "__repr__"),
}


class Field(NamedTuple):
    """One field: its argument, what is read of that, and what shows the result."""

    first: int | str
    rest: tuple[tuple[bool, str], ...]  # whether it is an attribute, its name or key
    dunders: tuple[str, ...]


def fields_of(template: str) -> Iterator[Field]:
    """The fields of a string for ``str.format``; none of one that is malformed."""
    try:
        pieces = list(Formatter().parse(template))
    except ValueError:
        return
    automatic = 0
    for _, name, _, conversion in pieces:
        if name is None:
            continue
        first = re.split(r"[.\[]", name, maxsplit=1)[0]
        rest = tuple((not key, attribute or key) for attribute, key in _PIECE.findall(name))
        dunders = _DUNDERS.get(conversion or "", ("__format__", "__str__", "__repr__"))
        if not first:
            yield Field(automatic, rest, dunders)
            automatic += 1
        else:
            yield Field(int(first) if first.isdecimal() else first, rest, dunders)


def keys_of(template: str) -> list[str]:
    """The keys that a template for ``%`` reads of a mapping."""
    return _NAMED.findall(template)

"""The fields of format strings (library reference, Format String Syntax), of ``%`` templates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Final, NamedTuple

_PIECE: Final = re.compile(r"\.([^.\[\]]+)|\[([^\]]+)\]")
_CONVERSION: Final = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?[#0\- +]*(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<type>.)"
)
_INDEX: Final = ("__index__",)
_CONVERTED: Final = {
    **dict.fromkeys("diu", ("__int__", "__index__")),
    **dict.fromkeys("eEfFgG", ("__float__", "__index__")),
    **dict.fromkeys("oxXc", _INDEX),
}
_DUNDERS: Final = {
    "r": ("__repr__",),
    "a": ("__repr__",),
    "s": ("__str__", "__repr__"),
}


SHOWN_BY: Final[Mapping[str, tuple[str, ...]]] = {
    dunders[0]: dunders
    for dunders in (
        ("__format__", "__str__", "__repr__"),
        *(*_DUNDERS.values(), *_CONVERTED.values()),
    )
}
"""Who shows a value asks for the first of these that it has, by the name of the first."""


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


def conversions_of(template: str) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    """What a template for ``%`` shows, in order: the key in a mapping, or ``None`` for the next
    value, and the special methods of which the first is asked.

    printf-style String Formatting (library reference); ``*`` takes a value, too.
    """
    for found in _CONVERSION.finditer(template):
        kind = found["type"]
        for part in ("width", "precision"):
            if found[part] == "*":
                yield None, _INDEX
        if kind != "%":
            yield found["key"], _DUNDERS.get(kind) or _CONVERTED.get(kind, ())

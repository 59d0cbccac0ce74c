"""The fields of format strings (library reference, Format String Syntax), of ``%`` templates; words of data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import count
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

_NAME: Final = r"[A-Za-z_]\w*"
_OF_DATA: Final = re.compile(
    rf"(?:^|[\"'=:,>(\[{{-])[ \t]*({_NAME}(?:[.:]{_NAME})*)"
    rf"(?=[ \t]*(?:$|[\"',<)\]}}])|[ \t]+[#;])",
    re.MULTILINE,
)
"""A word between marks, or the start and the end of a line, or of what a comment follows."""


class Field(NamedTuple):
    """A field for ``str.format``: its argument, what is read of that, and what shows the result.

    ``plain``: what it shows is ``str()`` of the result, unchanged.
    """

    first: int | str
    rest: tuple[tuple[bool, str], ...]  # whether it is an attribute, its name or key
    dunders: tuple[str, ...]
    plain: bool


class Conversion(NamedTuple):
    """What ``%`` shows: the key in a mapping, or ``None`` for the next value.

    ``dunders``: the special methods of which the first is asked. ``plain``: as for a field.
    """

    key: str | None
    dunders: tuple[str, ...]
    plain: bool


def fields_of(template: str) -> Iterator[str | Field]:
    """A string for ``str.format``, in order: text as it is, and fields.

    Those in the specification of a field come after it. Nothing comes of a string that is
    malformed.
    """
    try:
        yield from _fields_of(template, count())
    except ValueError:
        return


def _fields_of(template: str, automatic: Iterator[int]) -> list[str | Field]:
    from string import Formatter

    found: list[str | Field] = []
    for text, name, specification, conversion in Formatter().parse(template):
        if text:
            found.append(text)
        if name is None:
            continue
        first = re.split(r"[.\[]", name, maxsplit=1)[0]
        rest = tuple((not key, attribute or key) for attribute, key in _PIECE.findall(name))
        dunders = _DUNDERS.get(conversion or "", ("__format__", "__str__", "__repr__"))
        place: int | str = int(first) if first.isdecimal() else first
        plain = not specification and conversion in (None, "s")
        found.append(Field(next(automatic) if not first else place, rest, dunders, plain))
        if specification:
            inner = _fields_of(specification, automatic)
            found += [each._replace(plain=False) for each in inner if isinstance(each, Field)]
    return found


def conversions_of(template: str) -> Iterator[str | Conversion]:
    """A template for ``%``, in order: text as it is, and what it shows.

    printf-style String Formatting (library reference); ``*`` takes a value, too.
    """
    end = 0
    for found in _CONVERSION.finditer(template):
        if end < found.start():
            yield template[end : found.start()]
        end = found.end()
        kind = found["type"]
        for part in ("width", "precision"):
            if found[part] == "*":
                yield Conversion(None, _INDEX, plain=False)
        if kind == "%":
            yield "%"
        else:
            dunders = _DUNDERS.get(kind) or _CONVERTED.get(kind, ())
            yield Conversion(found["key"], dunders, found[0] in ("%s", f"%({found['key']})s"))
    if end < len(template):
        yield template[end:]


def words_of_data(text: str) -> list[str]:
    """The names and dotted paths in a text that is data: of JSON, TOML, YAML, sections, markup.

    What stands alone, as a key or a value; in plain language next to nothing does.
    """
    return _OF_DATA.findall(text)

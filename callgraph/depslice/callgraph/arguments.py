"""What callers of the Python API pass, looked at where it comes in.

Annotations say it all, but who does not run a type checker would meet an ``AttributeError`` far
inside, or get an answer to another question. Each function raises :exc:`OptionError`.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Collection, Iterable
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, Literal, overload

from depslice.callgraph.errors import OptionError

_MOST: Final = 60  # characters of a value that are shown


def check_kind(name: str, value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """See that ``value`` is of a type. ``wanted`` says of what, and where it comes from."""
    if not isinstance(value, kind):
        raise OptionError(f"{name} must be {wanted}: {_shown(value)}")


def check_program(value: object) -> None:
    """See that it is a program."""
    from depslice.callgraph.program import Program

    check_kind("program", value, Program, "a Program, as open_program makes it")


def check_path(name: str, value: object) -> None:
    """See that it is a path, and not an empty one: that would be the working directory."""
    if isinstance(value, bytes) or not isinstance(value, (str, os.PathLike)):
        raise OptionError(f"{name} must be a path, as a str or a Path: {_shown(value)}")
    if not os.fspath(value):
        raise OptionError(f"{name} is empty: '.' is the working directory")


def check_text(name: str, value: object) -> None:
    """See that it is a ``str``."""
    check_kind(name, value, str, "a str")


def check_texts(name: str, value: object, wanted: str = "a list of str") -> None:
    """See that it is a collection of ``str``, and not a single one."""
    members = [b""] if isinstance(value, str) or not isinstance(value, Collection) else [*value]
    if not all(isinstance(each, str) for each in members):
        raise OptionError(f"{name} must be {wanted}: {_shown(value)}")


def as_texts(value: Any) -> Any:
    """``None`` as no texts, paths as texts, and a generator as what it gives; all else as it is."""
    if value is None:
        return ()
    if isinstance(value, (str, bytes, os.PathLike)) or not isinstance(value, Iterable):
        return value  # nobody knows whether one is meant, or each of its letters
    return tuple(each.as_posix() if isinstance(each, PurePath) else each for each in value)


@overload
def check_number(
    name: str, value: object, *, least: int, optional: Literal[True] = True
) -> int | None: ...
@overload
def check_number(name: str, value: object, *, least: int, optional: Literal[False]) -> int: ...
def check_number(name: str, value: object, *, least: int, optional: bool = True) -> int | None:
    """See that it is a whole number from ``least`` on, or ``None`` where it is ``optional``.

    Gives it as an ``int``: ``100.0`` and numbers of other types (those of numpy) can mean one
    thing only.
    """
    if value is None and optional:
        return None
    number = _as_whole(value)
    if number is None:
        none = " or None" if optional else ""
        raise OptionError(f"{name} must be a whole number{none}: {_shown(value)}")
    if number < least:
        raise OptionError(f"{name} must not be less than {least}: {number}")
    return number


def _as_whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return operator.index(value) if hasattr(type(value), "__index__") else None


def check_flag(name: str, value: object) -> None:
    """See that it is true or false: texts such as ``"no"`` count as true to Python."""
    check_kind(name, value, bool, "True or False")


def check_member(name: str, value: object, kind: type[Enum]) -> None:
    """See that it is a member of an enumeration, not its name or its text."""
    example = f"{kind.__name__}.{next(reversed(kind.__members__))}"
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    check_kind(name, value, kind, f"{article} {kind.__name__}, such as {example}")


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    """See that it is one of the texts that are ``known``."""
    names = [*known]
    if not isinstance(value, str) or value not in names:
        raise OptionError(f"unknown {name} {_shown(value)}: one of {', '.join(names)}")


def _shown(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"

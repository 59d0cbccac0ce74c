"""From the text of one file to its :class:`~depslice.callgraph.summary.FileSummary`."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator

from depslice.callgraph.lowering.older import is_python_2
from depslice.callgraph.lowering.pieces import lower_module
from depslice.callgraph.summary import FileSummary

__all__ = ["SourceSyntaxError", "parsed_deeply", "summarize"]

_DEEP = 20_000
_DEEP_PARSE = 6_000  # the parser recurses in C: what its stack surely holds


class SourceSyntaxError(Exception):
    """The text is not Python that this interpreter can parse; ``line`` is 1-based or ``None``."""

    def __init__(self, slug: str, message: str, line: int | None) -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message
        self.line = line


_IN_PLACE = re.compile(r"=(?:(?<=[-+*/%|&^@]=)|(?<=<<=)|(?<=>>=))(?!=)")
"""It starts with the one character that all have, which is found far faster than any of many."""
_LAST_WORD = re.compile(r"\w+\Z")
_REBINDING = re.compile(r"\b(?:global|nonlocal)\b([^\n;]*(?:\\\r?\n[^\n;]*)*)")
_LONGEST_WORD = 200
_BY_NAME = ("globals(", "locals(", "vars(", "__dict__", "setattr(", "exec(")
"""What may store under names that do not stand there."""


def summarize(text: str) -> FileSummary:
    """Parse and lower ``text``.

    Raises :class:`SourceSyntaxError` where the parser gives up: a syntax error, or
    nesting beyond what the interpreter's parser takes.
    """
    limit = sys.getrecursionlimit()
    try:
        tree = parsed_deeply(text)
    except SyntaxError as error:
        said = error.msg or "invalid syntax"
        if is_python_2(error):
            said += " (it looks like Python 2)"
        raise SourceSyntaxError("syntax-error", said, error.lineno) from None
    except (RecursionError, MemoryError):
        raise SourceSyntaxError(
            "too-deep", "nested too deeply for the Python parser", None
        ) from None
    except ValueError as error:
        raise SourceSyntaxError("syntax-error", str(error), None) from None
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        return lower_module(
            tree,
            lines=text.count("\n") + 1,
            walrus=_walrus_lines(text),
            by_name=any(each in text for each in _BY_NAME),
            changing=frozenset(_changed_in_place(text)),
            rebound=frozenset(_rebound(text)),
        )
    except RecursionError:
        raise SourceSyntaxError("too-deep", "nested too deeply to analyse", None) from None
    finally:
        sys.setrecursionlimit(limit)


def parsed_deeply(text: str) -> ast.Module:
    """As :func:`ast.parse`, without warnings, for all texts that are analysed: a sum of some
    thousand terms is deeper than Python recurses by default.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP_PARSE))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    finally:
        sys.setrecursionlimit(limit)


def _changed_in_place(text: str) -> Iterator[str]:
    """Names, or ends of them, that augmented assignments change: before ``+=``, ``//=``, ``<<=``."""
    for found in _IN_PLACE.finditer(text):  # they are rare, and words are not
        end = found.start() - (2 if text[found.start() - 1] in "<>" else 1)
        before = text[max(0, end - _LONGEST_WORD) : end]
        word = _LAST_WORD.search(before.rstrip("*/").rstrip(" \t"))
        if word is not None:
            yield word[0]


def _rebound(text: str) -> Iterator[str]:
    """Names that ``global`` and ``nonlocal`` statements have: functions may rebind them."""
    if "global" not in text and "nonlocal" not in text:  # seen at once; the pattern is slow
        return
    for found in _REBINDING.finditer(text):  # and what such words of a comment are followed by
        yield from re.findall(r"\w+", found[1])


def _walrus_lines(text: str) -> list[int]:
    """The lines with a ``:=``, ascending, as ``ast`` counts them."""
    if ":=" not in text:
        return []
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return [number for number, line in enumerate(text.split("\n"), 1) if ":=" in line]

"""Tells from a syntax error that the text is Python 2: no newer Python would read it either."""

from __future__ import annotations

import re

_SAID = re.compile(
    r"Missing parentheses in call to '(?:print|exec)'|leading zeros in decimal integer literals"
    r"|.*parameters cannot be parenthesized"
)
"""What the parser says of nothing else."""
_THERE = re.compile(r"<>|`")
_AROUND = re.compile(r"\d[lL]\b|[fF]L\b|\b[uU][rR]['\"]")
_SPAN = 3  # characters on both sides of the place that is named
_LINE = re.compile(
    r"\s*(?:raise\s+[\w.]+\s*,|except\b[^:#'\"]*,\s*[a-z_]\w*\s*:|print\s*>>|exec\s+['\"\w])"
)


def is_python_2(error: SyntaxError) -> bool:
    """Whether what stands where ``error`` is was right in Python 2.

    ``except A, b:`` is right in Python 3.14, too, where ``b`` is a class: names of classes
    begin with a capital letter mostly, and those of the exception that was caught do not.
    """
    if _SAID.match(error.msg or ""):
        return True
    line, place = error.text or "", max((error.offset or 1) - 1, 0)
    if _THERE.match(line, place) or _LINE.match(line):
        return True
    return _AROUND.search(line, max(place - _SPAN, 0), place + _SPAN) is not None

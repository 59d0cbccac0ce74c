"""Gitignore rules: which paths a stack of ``.gitignore`` files leaves out.

The patterns are those of gitignore(5); :mod:`pathspec` implements them. It is
imported on first use, because most start-ups do not need it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class IgnoreRules:
    """The rules of one ``.gitignore`` file, and those of the directories above it.

    Immutable: :meth:`extended` gives the rules for a subdirectory.
    """

    __slots__ = ("_above", "_base", "_prefilter", "_spec")

    def __init__(
        self, lines: Sequence[str], *, base: str = "", above: IgnoreRules | None = None
    ) -> None:
        self._base = base + "/" if base else ""
        self._above = above
        self._spec = _compile(lines)
        self._prefilter = _union(self._spec)

    def extended(self, lines: Sequence[str], *, base: str) -> IgnoreRules:
        """These rules, overruled by ``lines`` for what lies below ``base``."""
        return IgnoreRules(lines, base=base, above=self)

    def ignores(self, path: str) -> bool:
        """Whether ``path`` (relative to the root, a trailing ``/`` for a directory) is left out.

        The caller prunes ignored directories: a file is asked about only when
        none of its directories is ignored, as gitignore(5) has it.
        """
        relative = path[len(self._base) :]
        # One combined match answers "no pattern fits" far faster than asking each.
        if self._prefilter.match(relative) is not None:
            include = self._spec.check_file(relative).include
            if include is not None:
                return include
        return self._above is not None and self._above.ignores(path)

    def matches_below(self, path: str) -> bool:
        """Whether ``path`` or a directory above it fits a pattern."""
        return self._spec.match_file(path)


def _compile(lines: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        # One malformed pattern ("!" alone, say); git skips it and takes the others.
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _union(spec: GitIgnoreSpec) -> re.Pattern[str]:
    """One expression that matches whatever any of the patterns matches."""
    expressions = [
        re.sub(r"\(\?P<\w+>", "(?:", pattern.regex.pattern)
        for pattern in spec.patterns
        if pattern.regex is not None
    ]
    return re.compile("|".join(f"(?:{expression})" for expression in expressions) or r"(?!)")

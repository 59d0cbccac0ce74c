"""Recorded calls as examples: what they are called with, and what comes of it.

For specifications that are refined, and for problems: a few of the calls are shown, the
harness that has the others stays hidden.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from depslice.callgraph.program import Program
from depslice.harness import RecordedCall
from depslice.validator.outcomes import Observed, observe
from depslice.validator.workspace import Workspace

_LONGEST: Final = 160  # characters of arguments that are worth reading
_SHARE: Final = 3


def examples(
    space: Workspace, program: Program, target: str, calls: Sequence[RecordedCall], *, most: int
) -> list[Observed]:
    """At most so many calls with their outcomes, those first that reach most.

    :raises CheckUnavailable: the code cannot be run.
    """
    ordered = sorted(_readable(calls), key=lambda each: -each.arcs)
    return _observed(space, program, target, ordered)[:most]


def shown(
    space: Workspace, program: Program, target: str, calls: Sequence[RecordedCall], *, most: int
) -> list[Observed]:
    """The part of the calls that a problem shows: at most so many, and a third of all.

    Of two, one. Which, is drawn by the digest of their text. They all have a value.

    :raises CheckUnavailable: the code cannot be run.
    """
    readable = _readable(calls)
    drawn = sorted(readable, key=lambda each: hashlib.sha256(_text(each).encode()).digest())
    found = [each for each in _observed(space, program, target, drawn) if each.value]
    return found[: min(most, max(len(readable) // _SHARE, len(readable) > 1))]


def _observed(
    space: Workspace, program: Program, target: str, calls: Sequence[RecordedCall]
) -> list[Observed]:
    return observe(space, program, target, [(_text(call), call.imports) for call in calls])


def _readable(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Calls with short arguments that have a text, each text once."""
    found: dict[str, RecordedCall] = {}
    for call in calls:
        if call.arguments is not None and len(call.arguments) <= _LONGEST:
            found.setdefault(call.arguments, call)
    return list(found.values())


def _text(call: RecordedCall) -> str:
    return call.arguments or ""

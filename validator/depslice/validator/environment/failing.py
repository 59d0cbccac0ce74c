"""Why a build failed, from what the tools have said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from depslice.validator.environment.model import Cause, EnvironmentFailed
from depslice.validator.sandbox import Ending, Outcome

_DECORATION: Final = " \t│├╰─▶\N{MULTIPLICATION SIGN}"  # of uv's messages


def failure(outcome: Outcome, doing: str, refused: Sequence[str], log: Path) -> EnvironmentFailed:
    """What to tell of a build that ended so while ``doing`` something.

    ``refused``: connections that the registry's door did not make.
    """
    text = outcome.stdout.decode("utf-8", "replace")
    cause = _cause(outcome, text)
    if cause in {Cause.LIMIT, Cause.SANDBOX}:
        why = f"ended by {outcome.ending} {outcome.detail}".strip()
    else:
        why = _telling_line(text)
    if refused and cause is Cause.NETWORK:
        why = f"{why} (refused: {refused[0]})"
    return EnvironmentFailed(cause, f"{doing or 'building'}: {why[:300]}", log=log)


def _telling_line(text: str) -> str:
    """The first line that speaks of an error, else the last one."""
    lines = [line.strip(_DECORATION) for line in text.splitlines()]
    telling = [line for line in lines if line and not line.startswith(("hint", "warning"))]
    errors = [line for line in telling if "error" in line.lower() or "failed" in line.lower()]
    return (errors or telling or ["no output"])[0 if errors else -1]


def _cause(outcome: Outcome, text: str) -> Cause:
    if outcome.ending in {Ending.LOST, Ending.NOT_STARTED}:
        return Cause.SANDBOX
    if outcome.ending not in {Ending.EXITED, Ending.KILLED}:
        return Cause.LIMIT
    words = {
        Cause.LIMIT: ("No space left on device", "Disk quota"),
        Cause.NETWORK: ("Failed to fetch", "error sending request", "dns error", "network was disabled",
                        "Network connectivity is disabled", "tunnel error", "timed out"),
        Cause.RESOLUTION: ("No solution found", "not found in the package registry",
                           "no versions of", "unsatisfiable"),
        Cause.PYTHON: ("No interpreter found", "does not satisfy Python"),
    }  # fmt: skip
    for cause, each in words.items():
        if any(word in text for word in each):
            return cause
    return Cause.BUILD

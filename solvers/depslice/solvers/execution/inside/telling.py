"""What went wrong, as both sides tell it."""

from __future__ import annotations

import traceback
from typing import Any

ANSWER, TEST = "<answer>", "<test>"
_SHOWN = 500  # characters of a value

Failure = dict[str, Any]


def described(error: BaseException, code: str) -> Failure:
    """An exception that ``code``, the answer, has raised or passed on."""
    kind = "raises"
    if isinstance(error, SyntaxError) and error.filename == ANSWER:
        kind = "syntax"
    elif isinstance(error, SystemExit):
        kind = "ended"
    elif isinstance(error, MemoryError):
        kind = "memory"
    line = error.lineno if isinstance(error, SyntaxError) and kind == "syntax" else _line(error)
    # Not `splitlines`: a form feed ends no line.
    lines = code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {
        "kind": kind,
        "type": type(error).__name__,
        "message": shown(error, str),
        "line": line,
        "source": lines[line - 1].strip()[:_SHOWN] if line and line <= len(lines) else None,
    }


def _line(error: BaseException) -> int | None:
    """The line of the answer where an error was raised, or was passed on last."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == ANSWER), None)


def shown(value: object, text_of: Any = repr) -> str:
    """A value as text, cut where it is long."""
    try:
        text = str(text_of(value))
    except Exception as error:  # noqa: BLE001 - it is the answer's code
        text = f"<{type(error).__name__} while it was shown>"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

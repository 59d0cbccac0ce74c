"""The calls that a run made, as values and as JSON (``depslice.trace/1``)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from depslice.callgraph.errors import DepsliceError

TRACE_SCHEMA = "depslice.trace/1"


class TraceError(DepsliceError):
    """A trace cannot be read, or a run left none."""

    slug = "trace"


class Through(StrEnum):
    """What stood between a caller and its callee on the stack."""

    NOTHING = "direct"
    C = "c"  # a function written in C: sorted(key=f), map, len()
    LIBRARY = "library"  # frames of the standard library, of what is installed, of dataclasses
    FOREIGN = "foreign"  # frames of other code outside the repository: tests, templates


# The nearer the better known: of several ways the first is told.
_ORDER = {way: rank for rank, way in enumerate(Through)}


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class CallSite:
    """The expression that called: 1-based lines, 0-based columns in UTF-8 bytes; end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicCall:
    """``caller`` called ``callee`` (symbol ids) at ``sites``, in the way ``through``.

    ``resumed`` tells that the callee is a generator or coroutine that was only seen
    when it first ran: who resumes it need not be who called it.
    """

    caller: str
    callee: str
    sites: tuple[CallSite, ...]
    through: Through
    resumed: bool

    @property
    def via_external(self) -> bool:
        """Whether the call passes through code outside the repository."""
        return self.through is not Through.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class UnmappedCode:
    """Code that ran and is no definition that depslice knows of (the file has changed)."""

    path: str
    line: int
    qualname: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What a run did: all lists sorted, each entry once.

    ``executed`` are the ids of the functions, class bodies and module bodies that ran;
    ``lines`` the lines that ran, by path, empty where the recorder cannot tell (3.11).
    ``pythons`` are the versions of the processes, ``processes`` how many there were.
    """

    command: tuple[str, ...]
    exit_code: int
    pythons: tuple[str, ...]
    processes: int
    calls: tuple[DynamicCall, ...]
    executed: tuple[str, ...]
    lines: dict[str, tuple[int, ...]]
    unmapped: tuple[UnmappedCode, ...]


def nearest(first: Through, second: Through) -> Through:
    """Of two ways, the one with less in between."""
    return min(first, second, key=_ORDER.__getitem__)


def trace_document(trace: Trace) -> dict[str, Any]:
    """The trace as a dictionary that :func:`json.dumps` takes; see ``docs/formats/json.md``."""
    return {
        "schema": TRACE_SCHEMA,
        "command": list(trace.command),
        "exit_code": trace.exit_code,
        "pythons": list(trace.pythons),
        "processes": trace.processes,
        "calls": [
            {
                "caller": call.caller,
                "callee": call.callee,
                "sites": [[s.line, s.column, s.end_line, s.end_column] for s in call.sites],
                "via_external": call.via_external,
                "through": call.through.value,
                "resumed": call.resumed,
            }
            for call in trace.calls
        ],
        "executed": list(trace.executed),
        "lines": {path: list(lines) for path, lines in trace.lines.items()},
        "unmapped": [
            {"path": code.path, "line": code.line, "qualname": code.qualname}
            for code in trace.unmapped
        ],
    }


def read_trace(text: str) -> Trace:
    """The inverse of :func:`trace_document`.

    :raises TraceError: ``text`` is no trace, or one of another version.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TraceError(
            f"not a trace: no JSON ({error})",
            hint="make one with `depslice trace -o FILE -- COMMAND`",
        ) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != TRACE_SCHEMA:
        raise TraceError(
            f"not a trace: its schema is {schema!r}, not {TRACE_SCHEMA!r}",
            hint="make one with `depslice trace -o FILE -- COMMAND`",
        )
    try:
        return _trace(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"{type(error).__name__}: {error}"
        raise TraceError(f"not a trace: a key is missing or wrong ({what})") from None


def _trace(document: dict[str, Any]) -> Trace:
    return Trace(
        command=tuple(document["command"]),
        exit_code=int(document["exit_code"]),
        pythons=tuple(document["pythons"]),
        processes=int(document["processes"]),
        calls=tuple(
            DynamicCall(
                caller=str(call["caller"]),
                callee=str(call["callee"]),
                sites=tuple(
                    CallSite(line=line, column=column, end_line=end_line, end_column=end_column)
                    for line, column, end_line, end_column in call["sites"]
                ),
                through=Through(call["through"]),
                resumed=bool(call["resumed"]),
            )
            for call in document["calls"]
        ),
        executed=tuple(map(str, document["executed"])),
        lines={path: tuple(map(int, lines)) for path, lines in document["lines"].items()},
        unmapped=tuple(
            UnmappedCode(path=code["path"], line=code["line"], qualname=code["qualname"])
            for code in document["unmapped"]
        ),
    )

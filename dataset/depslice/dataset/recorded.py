"""Recorded calls as generators want them, kept in a file: tests run once for many functions."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from depslice.callgraph.program import Program
from depslice.harness import RecordedCall
from depslice.validator.reaching import Reaching, ReachingCall, record_reaching
from depslice.validator.validation.ledger import LedgerError
from depslice.validator.workspace import CheckUnavailable, Workspace

_HINT: Final = "--tests names what to run, --test-seconds gives it more time"
_FORMAT: Final = 3  # raised when other calls are recorded than before


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Calls by target, and why arguments of a target were not kept or not written as text.

    ``ended`` tells why tests were not run, or not to their end; empty when all were. ``hint``:
    what to do about it. ``ran`` is false where no test was run: nothing is known then of which
    functions they call.
    """

    calls: Mapping[str, tuple[RecordedCall, ...]]
    failures: Mapping[str, str]
    ended: str = ""
    hint: str = _HINT
    ran: bool = True

    def why_not(self, target: str) -> str:
        """Why there is no call of ``target`` that can be made again; empty if nothing is known."""
        failed = self.failures.get(target, "")
        if failed or not self.ended or self.calls.get(target):
            return failed
        return f"no test calls it, but {self.ended}" if self.ran else self.ended


def recorded_calls(
    space: Workspace,
    program: Program,
    targets: Sequence[str],
    *,
    tests: Sequence[str] = (),
    kept: Path | None = None,
) -> Recording:
    """Calls of ``targets`` by the tests: those in the file ``kept``, or recorded now.

    What is kept may have been recorded for more targets than these.

    Tests that cannot be run are told in ``ended``: not every generator needs them. Then
    nothing is kept: what they lack may be there next time.
    """
    key = _key(program, tests)
    known = _read(kept, key, targets) if kept is not None else None
    if known is not None:
        return known
    try:
        found = _translated(record_reaching(space, program, targets, tests=tests))
    except CheckUnavailable as error:
        found = Recording(calls={}, failures={}, ended=error.message, hint=error.hint, ran=False)
    if kept is not None and not found.ended:
        _write(kept, key, targets, found)
    return found


def _translated(found: Reaching) -> Recording:
    return Recording(
        calls={t: tuple(_call(each) for each in calls) for t, calls in found.calls.items()},
        failures=dict(found.failures),
        ended=found.ended,
        hint=found.hint or _HINT,
        ran=found.ran,
    )


def _call(found: ReachingCall) -> RecordedCall:
    return RecordedCall(
        test=found.test,
        number=found.number,
        arguments=found.arguments,
        imports=found.imports,
        data=found.data,
        arcs=found.arcs,
    )


# --- the file


def _key(program: Program, tests: Sequence[str]) -> str:
    """What a recording depends on: sources, tests among them, and which tests are run."""
    parts = hashlib.sha256(repr((_FORMAT, list(tests))).encode())
    for file in _files(program):
        parts.update(file.encode("utf-8", "surrogatepass"))
    return parts.hexdigest()


def _files(program: Program) -> Iterable[str]:
    for name in sorted(program.files):
        module = program.module(name)
        yield f"{name}\0{program.text(module) if module is not None else ''}\0"


def _read(path: Path, key: str, targets: Sequence[str]) -> Recording | None:
    try:
        found = json.loads(path.read_bytes())
        if found["key"] != key or not set(targets) <= set(found["targets"]):
            return None
        calls = {
            str(t): tuple(_from_json(each) for each in calls) for t, calls in found["calls"].items()
        }
        return Recording(calls=calls, failures=found["failures"], ended=found["ended"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # not there, cut off, or another format: it is recorded again


def _from_json(found: dict[str, Any]) -> RecordedCall:
    return RecordedCall(
        **found | {"imports": tuple(found["imports"]), "data": base64.b64decode(found["data"])}
    )


def _write(path: Path, key: str, targets: Sequence[str], recording: Recording) -> None:
    calls = {
        target: [asdict(each) | {"data": base64.b64encode(each.data).decode()} for each in calls]
        for target, calls in recording.calls.items()
    }
    document = {
        "key": key,
        "targets": sorted(targets),
        "calls": calls,
        "failures": dict(recording.failures),
        "ended": recording.ended,
    }
    new = path.with_suffix(f".{os.getpid()}.new")  # another run may be writing, too
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise LedgerError.of(path, error) from None

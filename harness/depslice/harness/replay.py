"""``replay``: real calls, made again with the arguments they had.

Arguments are written as literals and constructor calls where that makes equal ones, and
are data files beside the harness where it does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from depslice.harness.model import Attempt, Declined, Draft, RecordedCall, Settings, Task
from depslice.harness.writing import call_lines, harness_text

_MOST_CALLS: Final = 16
_MOST_BYTES: Final = 2 << 20  # of all data files
_GIVEN: Final = "def given(*args, **kwargs):\n    return args, kwargs"


class ReplayGenerator:
    """See the module. A further round leaves out the calls that failed on the original."""

    name = "replay"
    needs_calls = True
    rounds = 3

    def __init__(self, settings: Settings) -> None:
        pass

    def draft(self, task: Task, attempts: Sequence[Attempt]) -> Sequence[Draft] | Declined:
        """See :class:`depslice.harness.HarnessGenerator`."""
        calls = [(f"test_{n}", call) for n, call in enumerate(_chosen(task.calls), 1)]
        if not calls:
            return Declined(
                slug="no-arguments" if task.calls else "no-calls",
                message=task.not_recorded or "no test calls it",
            )
        if attempts:
            failed = _failed(attempts)
            left = [(name, call) for name, call in calls if name not in failed]
            gone = {name for name, _ in calls} & _failed(attempts[-1:])
            if not left or not gone:
                return Declined(slug="nothing-left", message="no other calls were recorded")
            calls = left
        return [_draft(task.target.id, calls)]


def _chosen(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """Calls whose arguments are kept, those first that reach most, as far as there is room."""
    found, size = [], 0
    for call in sorted(calls, key=lambda each: -each.arcs):
        if call.arguments is None:
            size += len(call.data)
            if not call.data or size > _MOST_BYTES:
                continue
        found.append(call)
    most = max(_MOST_CALLS, sum(call.arcs > 0 for call in found))
    return found[:most]


def _failed(attempts: Sequence[Attempt]) -> set[str]:
    failures = (each for attempt in attempts for each in attempt.assessment.failures)
    return {each.partition(":")[0] for each in failures}


def _draft(target: str, calls: Sequence[tuple[str, RecordedCall]]) -> Draft:
    parts: list[str] = []
    imports: list[str] = []
    files: dict[str, bytes] = {}
    for name, call in calls:
        if call.arguments is None:
            file = f"{name}.pickle"
            files[file] = call.data
            body = f"    context.check_with(lambda: context.load({file!r}))"
        else:
            imports += call.imports
            body = _spelled(call)
        made = f"    # {call.test}" if call.test else "    # while modules were imported"
        parts.append(f"def {name}(context):\n{_printable(made)}\n{body}")
    if any(call.arguments is not None and call.imports for _, call in calls):
        parts.insert(0, _GIVEN)
    says = f"Real calls of {target}, recorded while the tests ran. Written by depslice (replay)."
    return Draft(
        text=harness_text(target, says, imports, parts),
        files=files,
        provenance={"calls": len(calls), "from_files": len(files)},
    )


def _spelled(call: RecordedCall) -> str:
    arguments = call.arguments or ""
    if call.imports:
        return call_lines("context.check_with(lambda: given(", arguments, "))", 4)
    return call_lines("context.check(", arguments, ")", 4)


def _printable(text: str) -> str:
    return re.sub(r"[^ -~]", "?", text)

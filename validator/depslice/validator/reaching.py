"""Real calls of many functions from one run of the tests, chosen by the branches they reach.

What comes back is text and bytes: neither is evaluated here.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from depslice.callgraph.model import Symbol
from depslice.callgraph.program import Program
from depslice.validator.calls import (
    are_unimportable,
    functions_of,
    misnamed_tests,
    not_run,
    own_modules,
    places_of,
    ran_out,
    seconds_for_a_test,
    test_files,
    why_tests_ended,
)
from depslice.validator.workspace import CheckUnavailable, Workspace, read_results

MOST_CALLS: Final = 60
_HINT_PYTHON: Final = (
    "--run-python names an interpreter that has pytest and what the tests need,"
    " --make-environment makes one"
)
_HINT_NAME: Final = "--tests names what to run, whatever it is called"
_HINT_TESTS: Final = f"--tests is what pytest takes, relative to REPO; {_HINT_PYTHON}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachingCall:
    """A call, as :class:`depslice.harness.RecordedCall` has it."""

    test: str
    number: int
    arcs: int
    arguments: str | None = None
    imports: tuple[str, ...] = ()
    data: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching:
    """The calls of each target, in the order in which they were made, and why arguments were
    not kept or not written as text. ``ended`` tells why the tests did not come to an end,
    ``hint`` what to do about it, ``ran`` is false where there are none.
    """

    calls: Mapping[str, tuple[ReachingCall, ...]]
    failures: Mapping[str, str]
    ended: str = ""
    hint: str = ""
    ran: bool = True


def record_reaching(
    space: Workspace,
    program: Program,
    targets: Sequence[str],
    *,
    tests: Sequence[str] = (),
    most: int = MOST_CALLS,
) -> Reaching:
    """Run the tests once, and keep at most so many calls of each of the ``targets``.

    Of a nested function the calls of the outermost one around it are kept. ``tests`` are
    arguments for pytest, by default all test files.

    :raises CheckUnavailable: the code cannot be run.
    """
    symbols = functions_of(program, sorted({_root(target) for target in targets}))
    found = list(tests) or test_files(space.original().folder, symbols)
    if not found:
        why = misnamed_tests(space.original().folder)
        ended = f"there are no tests{why and f': {why}'}"
        return Reaching(calls={}, failures={}, ended=ended, hint=_HINT_NAME, ran=False)
    if not symbols:
        return Reaching(calls={}, failures={})
    calls = space.path("calls.jsonl")
    calls.touch()
    order = _order(space, program, symbols) | {
        "most": most,
        "choose": "reaching",
        "seconds": seconds_for_a_test(space),
        "calls": "calls.jsonl",
        "tests": found,
    }
    outcome = space.run("recording", order, makes={"calls.jsonl": calls})
    lines = read_results(calls)
    why = why_tests_ended(outcome, lines, "--test-seconds")
    if not lines and why and not ran_out(outcome):
        raise CheckUnavailable(
            f"the tests could not be run by {space.python}: {why}",
            hint=_HINT_TESTS if tests else _HINT_PYTHON,
        )
    results = space.path("texts.jsonl")
    order |= {"calls": str(calls), "results": "texts.jsonl"}
    space.run("spelling", order, makes={"texts.jsonl": results})
    known = _read(lines, {line.get("call"): line for line in read_results(results)})
    return Reaching(
        calls={target: known.calls.get(_root(target), ()) for target in targets},
        failures={t: known.failures[_root(t)] for t in targets if _root(t) in known.failures},
        ended=why or not_run(lines, order["seconds"]),
        hint=_HINT_PYTHON if not why and are_unimportable(lines) else "",
    )


def _root(target: str) -> str:
    return target.partition(".<locals>")[0]


def _order(space: Workspace, program: Program, symbols: Sequence[Symbol]) -> dict[str, Any]:
    original = space.original()
    return {
        "folder": str(original.folder),
        "roots": [str(root) for root in original.roots],
        "own": sorted(own_modules(program, symbols)),
        "targets": places_of(program, symbols, original),
    }


def _read(lines: Sequence[Mapping[str, Any]], texts: Mapping[Any, Mapping[str, Any]]) -> Reaching:
    calls: dict[str, list[ReachingCall]] = {}
    failures: dict[str, str] = {}
    for number, line in enumerate(lines):
        match line:
            case {"target": str(target), "test": str(test), "number": int(which)}:
                call = ReachingCall(
                    test=test, number=which, arcs=_number(line.get("arcs")), data=_bytes(line)
                )
                text = texts.get(number, {})
                calls.setdefault(target, []).append(_spelled(call, text))
                if "why" in text:
                    failures.setdefault(target, str(text["why"]))
            case {"target": str(target), "failed": str(why)}:
                failures.setdefault(target, why)
            case _:
                pass
    return Reaching(calls={t: tuple(each) for t, each in calls.items()}, failures=failures)


def _spelled(call: ReachingCall, text: Mapping[str, Any]) -> ReachingCall:
    data = _bytes(text) if "data" in text else call.data
    match text:
        case {"arguments": str(arguments), "imports": [*imports]}:
            lines = tuple(str(each) for each in imports)
            return replace(call, arguments=arguments, imports=lines, data=data)
        case _:
            return replace(call, data=data)


def _number(found: Any) -> int:
    return found if isinstance(found, int) else 0


def _bytes(line: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(str(line.get("data", "")), validate=True)
    except (binascii.Error, ValueError):
        return b""

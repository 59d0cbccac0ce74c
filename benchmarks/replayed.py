"""Functions that test suites execute, sampled, with their real calls recorded in the sandbox."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from depslice.callgraph import Program, open_program
from depslice.slicer import function_symbols
from depslice.validator import Check, check_limits, open_workspace, record
from depslice.validator.sandbox import choose_sandbox

_SPARE: Final = 3  # so many times more are sampled: not all calls can be recorded


@contextmanager
def replaying(
    home: Path, trace: Path, each: int, *, seed: int
) -> Iterator[tuple[Program, Check, list[str]]]:
    """The package whose tests were traced under ``home``, and targets for ``each`` results.

    **This runs the package's code.**
    """
    program = open_program(home / "source", cache=None)
    executed = set(json.loads(trace.read_text(encoding="utf-8"))["executed"])
    known = sorted(s.id for s in function_symbols(program) if s.id in executed)
    targets = random.Random(seed).sample(  # noqa: S311 - a sample
        known, min(each * _SPARE, len(known))
    )
    with open_workspace(
        program.project,
        python=str(home / "environment" / "bin" / "python"),
        sandbox=choose_sandbox(),
        limits=check_limits(120),
    ) as space:
        yield program, Check(space, program, record(space, program, targets)), targets

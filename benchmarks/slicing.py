"""Slices of a package, one by one: whatever goes wrong is a value, also taking too long."""

from __future__ import annotations

import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from depslice.callgraph import open_program
from depslice.slicer import slice_symbols
from depslice.slicer.model import Slice
from depslice.slicer.slicing import function_symbols


class Overdue(BaseException):
    """The time of one step is up. Not an ``Exception``: analysis must not catch it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong for ``target``: ``crash`` or ``hang``, and the end of the traceback."""

    target: str
    kind: str
    message: str
    trace: str = ""

    def record(self) -> dict[str, str]:
        """As JSON."""
        return {
            "target": self.target,
            "kind": self.kind,
            "message": self.message,
            "trace": self.trace,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What slicing ``target`` gave, and the seconds it took."""

    target: str
    slice: Slice | None
    failure: Failure | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A package read as a program."""

    program: Any
    functions: tuple[str, ...]
    files: int
    seconds: float
    diagnostics: tuple[dict[str, str], ...] = field(default=())


def open_package(folder: Path) -> Opened:
    """Read every file of ``folder``, without a cache and in this process alone."""
    start = time.perf_counter()
    program = open_program(folder, cache=None)
    modules = program.load_all(workers=1)
    functions = [symbol.id for symbol in function_symbols(program)]
    seconds = time.perf_counter() - start
    return Opened(
        program=program,
        functions=tuple(functions),
        files=len(modules),
        seconds=seconds,
        diagnostics=tuple(
            {"slug": each.slug, "path": each.path, "message": each.message}
            for each in program.diagnostics
        ),
    )


def sample_of(targets: Sequence[str], size: int | None, *, seed: int) -> list[str]:
    """``size`` of the targets, or all (``None``, 0), in their order; the same for the same seed."""
    if not size or size >= len(targets):
        return list(targets)
    chosen = random.Random(f"{seed}:{len(targets)}").sample(range(len(targets)), size)  # noqa: S311
    return [targets[i] for i in sorted(chosen)]


def slices(program: Any, targets: Sequence[str], *, limit: float) -> Iterator[Outcome]:
    """Slice each target by itself, within ``limit`` seconds each."""
    for target in targets:
        start = time.perf_counter()
        value, failure = attempt(target, partial(slice_symbols, program, [target]), limit=limit)
        seconds = time.perf_counter() - start
        yield Outcome(target=target, slice=value, failure=failure, seconds=seconds)


def attempt(target: str, step: Callable[[], Any], *, limit: float) -> tuple[Any, Failure | None]:
    """What ``step`` returns, or how it failed."""
    try:
        with deadline(limit):
            return step(), None
    except Overdue:
        where = traceback.format_exc().splitlines()[-12:]
        message = f"more than {limit:g} s of CPU"
        return None, Failure(target=target, kind="hang", message=message, trace="\n".join(where))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a crash of any kind is a finding
        where = traceback.format_exc().splitlines()[-12:]
        message = f"{type(error).__name__}: {error}"[:300]
        return None, Failure(target=target, kind="crash", message=message, trace="\n".join(where))


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise :class:`Overdue` in the main thread after ``seconds`` of CPU time.

    Not of the clock: others may have the machine, and nothing here waits.
    """

    def ring(_signal: int, _frame: object) -> None:
        raise Overdue

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

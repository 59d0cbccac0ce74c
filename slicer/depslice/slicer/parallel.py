"""Many slices: file by file, on the cores there are, in one order whatever their number."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from depslice.callgraph.arguments import check_choice, check_kind, check_number
from depslice.callgraph.errors import OptionError
from depslice.callgraph.model import Certainty, Symbol
from depslice.callgraph.program import Program, default_workers
from depslice.slicer.limits import check_slicing
from depslice.slicer.model import GUESSES, Slice
from depslice.slicer.slicing import forget_engine, function_symbols, slice_symbols

if TYPE_CHECKING:  # what starts processes is imported by those who want several slices
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")


@dataclass(slots=True)
class _Work(Generic[T]):
    program: Program
    groups: list[list[Symbol]]
    make: Callable[[Program, Symbol, Slice | Exception], T]
    limits: dict[str, Any]


_LIMITS: Final = tuple(inspect.signature(check_slicing).parameters)[2:]
_work: _Work[Any] | None = None
_lifeline: tuple[int, int] | None = None
"""A pipe that nobody writes to: its end tells the processes that nobody waits for them."""


def map_slices(
    program: Program,
    symbols: Sequence[Symbol],
    make: Callable[[Program, Symbol, Slice | Exception], T],
    *,
    workers: int | None = None,
    **limits: Any,
) -> Iterator[T]:
    """``make(program, symbol, its slice or why there is none)`` for each symbol, in order.

    Symbols of one file are sliced together, each file with a fresh engine, so that the
    results do not depend on ``workers`` (``None``: the cores there are). The modules must
    be loaded. Processes are forked where the platform can; elsewhere there is one. ``limits`` are
    those of :func:`~depslice.slicer.slicing.slice_symbols`.

    :raises OptionError: at once, where what is passed is of another type; so does a limit that
        there is not.
    """
    workers = check_number("workers", workers, least=1)
    if not callable(make):
        raise OptionError(f"make must be a function of three arguments: {make!r:.60}")
    wanted = "a list of Symbols, as function_symbols gives"
    check_kind("symbols", symbols, Sequence, wanted)
    for symbol in symbols:
        check_kind("symbols", symbol, Symbol, wanted)
    for name in limits:
        check_choice("limit", name, _LIMITS)
    depth, budget = check_slicing(program, ["each"], **limits)
    return _mapped(program, symbols, make, workers, {**limits, "depth": depth, "budget": budget})


def _mapped(
    program: Program,
    symbols: Sequence[Symbol],
    make: Callable[[Program, Symbol, Slice | Exception], T],
    workers: int | None,
    limits: dict[str, Any],
) -> Iterator[T]:
    global _work  # noqa: PLW0603 - forked workers inherit it; nothing is sent to them
    groups = [list(group) for _, group in groupby(symbols, key=lambda symbol: symbol.path)]
    work = _Work(program, groups, make, limits)
    count = min(default_workers() if workers is None else workers, len(groups))
    if count < 2 or not sys.platform.startswith(("linux", "freebsd")):
        for group in groups:
            yield from _run(work, group)
        return
    _work = work
    try:
        yield from _run_in_processes(work, count)
    finally:
        _work = None


def _run_in_processes(work: _Work[T], count: int) -> Iterator[T]:
    """The groups in order; when a process dies, the rest go on, each in one of its own."""
    from concurrent.futures.process import BrokenProcessPool

    from depslice.callgraph.awaiting import results_of

    pending = list(range(len(work.groups)))
    with _pool(count) as pool:
        try:
            for results in results_of([pool.submit(_run_group, index) for index in pending]):
                yield from results
                pending.pop(0)
        except BrokenProcessPool:
            pass
    for index in pending:
        with _pool(1) as pool:
            try:
                [results] = results_of([pool.submit(_run_group, index)])
            except BrokenProcessPool:
                died = RuntimeError("the process that sliced this file was killed")
                results = [work.make(work.program, symbol, died) for symbol in work.groups[index]]
        yield from results


@contextmanager
def _pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end when the block does, however it does, or when this process does."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    global _lifeline  # noqa: PLW0603 - forked workers inherit it
    reading, writing = _lifeline = os.pipe()
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_start)
    try:
        yield pool
        pool.shutdown()
    finally:
        os.close(writing)
        os.close(reading)
        # Now they end by themselves. The thread that sees to it must have ended too: as the
        # interpreter ends, it would be woken through a pipe that it may be closing.
        pool.shutdown(cancel_futures=True)


def _start() -> None:
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool
    assert _work is not None
    assert _lifeline is not None
    reading, writing = _lifeline
    os.close(writing)
    threading.Thread(target=_end_with_parent, args=(reading,), daemon=True).start()
    _work.program.detach_cache()


def _end_with_parent(reading: int) -> None:
    os.read(reading, 1)
    os._exit(1)


def _run_group(index: int) -> list[Any]:
    assert _work is not None
    return list(_run(_work, _work.groups[index]))


def _run(work: _Work[T], group: list[Symbol]) -> Iterator[T]:
    forget_engine(work.program)
    for symbol in group:
        try:
            outcome: Slice | Exception = slice_symbols(work.program, [symbol.id], **work.limits)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next one goes on
            outcome = error
        yield work.make(work.program, symbol, outcome)
    forget_engine(work.program)


def slice_all(
    program: Program,
    *,
    workers: int | None = None,
    depth: int | None = None,
    budget: int | None = None,
    whole_classes: bool = False,
    least: Certainty = Certainty.POSSIBLE,
    guesses: int | None = GUESSES,
) -> Iterator[Slice]:
    """One slice per function and method, by path and line.

    The first failure ends it; :func:`map_slices` goes on.

    :raises OptionError: what is passed is of another type, or a limit that makes no sense.
    """
    workers = check_number("workers", workers, least=1)
    limits: dict[str, Any] = {"whole_classes": whole_classes, "least": least, "guesses": guesses}
    depth, budget = check_slicing(program, ["each"], depth=depth, budget=budget, **limits)
    return _unless_failed(program, workers, {**limits, "depth": depth, "budget": budget})


def _unless_failed(
    program: Program, workers: int | None, limits: dict[str, Any]
) -> Iterator[Slice]:
    program.load_all(workers=workers)
    for outcome in map_slices(
        program, function_symbols(program), _keep_outcome, workers=1, **limits
    ):
        if isinstance(outcome, Exception):
            raise outcome
        yield outcome


def _keep_outcome(
    _program: Program, _symbol: Symbol, outcome: Slice | Exception
) -> Slice | Exception:
    return outcome

"""The target compared where the repository's own tests call it, on the state they have then.

The target's functions get other code, which comes here. At a call that is asked for, the
process forks: one child runs the reference, one the candidate, both on the same live
objects; what each of them did comes back in words. Then the test goes on with the
reference. Nothing has to be serialised, and nothing that the children change is seen.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import stat
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ..comparing import EXACT, Tolerance, described_difference
from ..describing import Description
from ..own_tests import run_own_tests, test_at_hand
from .observing import observe
from .state import add_to, changes, values_of
from .trampoline import trampoline

_SECONDS = 5.0  # for one call
_FACTOR, _LEAST = 10.0, 0.5  # for a candidate, beside what the reference took
# A child has only the thread that made it: a call that waits for another waits for ever. After
# so many calls that did not end while others ran, the rest would take all the time there is.
_MOST_WAITING = 2


# An instance of a test case leads to all that runs it. That counts calls, and measures.
_RUNNERS = frozenset({"_pytest", "pluggy", "coverage", "depslice_child"})


class Sides(NamedTuple):
    """The functions to hook, and the code of the candidate; ``None`` when it defines nothing.

    ``rivals`` are further candidates, compared instead of it: many in one run of the tests.
    """

    functions: Sequence[FunctionType]
    candidate: CodeType | None
    rivals: Sequence[CodeType | None] = ()


class Answer(NamedTuple):
    """What a child said of its call, or ``None`` if it did not end; the arcs it ran; seconds."""

    description: Description | None
    arcs: Any
    seconds: float


class InSitu:
    """The comparison; ``own`` are modules of the repository.

    ``heard`` is told of each call, ``ran`` of the arcs of each candidate.

    ``variables`` of the target's module are compared too.

    ``measured`` gives, in a child, the arcs that have run so far. ``told_apart`` are the rivals
    that differ, by number, and how.
    """

    def __init__(
        self,
        sides: Sides,
        folder: str,
        tolerance: Tolerance,
        *,
        own: frozenset[str],
        heard: Callable[[tuple[Any, ...], dict[str, Any]], None],
        measured: Callable[[], Any] | None,
        ran: Callable[[Any], None],
        variables: Sequence[str] = (),
    ) -> None:
        self.sides = sides
        self.folder = folder
        # Another run works in another temporary folder: that is no difference.
        self._left_out = tuple(dict.fromkeys((folder, os.environ.get("TMPDIR", folder))))
        self.tolerance = tolerance
        self.opaque = _RUNNERS - own
        self.heard = heard
        self.measured = measured
        self.ran = ran
        self.variables = variables
        self.compared: list[Description] = []
        self.told_apart: dict[int, str] = {}
        self.unsteady = 0
        self.waiting = 0
        self.difference: str | None = None
        self._wanted: dict[str, frozenset[int]] = {}
        self._numbers: Counter[str] = Counter()
        self._process = os.getpid()
        self._threads: frozenset[int] = frozenset()
        self._codes = [each.__code__ for each in sides.functions]

    def run(self, calls: Mapping[str, Sequence[int]], tests: Sequence[str]) -> None:
        """Run ``tests``, or those that ``calls`` names, and compare these of their calls.

        Ends with the first difference.
        """
        self._wanted = {test: frozenset(numbers) for test, numbers in calls.items()}
        self._threads = frozenset(sys._current_frames())  # noqa: SLF001
        before, streams = os.getcwd(), (sys.stdout, sys.stderr)
        os.chdir(self.folder)
        path = list(sys.path)
        sys.path.append(self.folder)
        self._hook()
        try:
            with open(os.devnull, "w", encoding="utf-8") as nothing:
                sys.stdout = sys.stderr = nothing
                run_own_tests(list(tests or calls), self.folder, [_Stopper(self)])
        finally:
            sys.stdout, sys.stderr = streams
            self._unhook()
            sys.path[:] = path
            os.chdir(before)

    def _hook(self) -> None:
        for function, code in zip(self.sides.functions, self._codes, strict=True):
            twin = FunctionType(
                code,
                function.__globals__,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            twin.__kwdefaults__ = function.__kwdefaults__
            function.__code__ = trampoline(code, self._hook_of(function, twin))

    def _unhook(self) -> None:
        for function, code in zip(self.sides.functions, self._codes, strict=True):
            function.__code__ = code

    def _hook_of(self, function: FunctionType, twin: FunctionType) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() == self._process and not self.done:
                test = test_at_hand()
                number = self._numbers[test]
                self._numbers[test] += 1
                if number in self._wanted.get(test, ()):
                    self._compare(function, args, kwargs)
            return twin(*args, **kwargs)

        return called

    @property
    def done(self) -> bool:
        """Whether nothing more can be found out."""
        rivals = self.sides.rivals
        return (
            self.difference is not None
            or self.waiting >= _MOST_WAITING
            or 0 < len(rivals) <= len(self.told_apart)
        )

    @property
    def why_nothing(self) -> str:
        """Why no call was compared, as far as that is known: a clause that begins with a comma."""
        if self.waiting:
            return ", they wait for another thread, which a forked process does not have"
        return f", {self.unsteady} differ from themselves" if self.unsteady else ""

    def _compare(self, function: FunctionType, args: tuple[Any, ...], kwargs: Any) -> None:
        self.heard(args, kwargs)
        beside = sys._current_frames().keys() - self._threads  # noqa: SLF001
        call = _Call(self, function, args, kwargs)
        if call.reference.description is None and beside:
            self.waiting += 1
        if call.reference.description is None or call.reference.description.cut:
            self.unsteady += 1
            return
        for number, rival in enumerate(self.sides.rivals):
            if number not in self.told_apart:
                found = call.difference(rival)[0]
                if found is not None and call.steady:
                    self.told_apart[number] = found
        if self.sides.rivals:
            return
        found, arcs = call.difference(self.sides.candidate)
        if found is not None:
            if not call.steady:
                self.unsteady += 1
                return
            self.difference = f"{test_at_hand()}: {found}"
        self.compared.append(call.reference.description)
        self.ran(arcs)

    def told(self, one: Answer, reference: Answer) -> str | None:
        """How an answer differs from the reference's."""
        assert reference.description is not None
        if one.description is None:
            return "candidate did not come to an end"
        found = described_difference(one.description, reference.description, self.tolerance)
        return None if found is None else f"candidate {found} reference"

    def as_reference(self) -> None:
        """In a child: the functions are what they were."""
        self._unhook()

    def as_candidate(self, code: CodeType | None) -> None:
        """In a child: the functions have this code.

        :raises AttributeError: the candidate defines nothing.
        """
        if code is None:
            raise AttributeError("the candidate does not define the target")
        for function in self.sides.functions:
            function.__code__ = code

    # --- the children

    def answer(
        self,
        function: FunctionType,
        become: Callable[[], None],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        seconds: float,
    ) -> Answer:
        """What a child does that makes the call after ``become``."""
        offsets = _offsets()
        reads, writes = os.pipe()
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that threads do not survive a fork
            pid = os.fork()
        if not pid:
            os.close(reads)
            self._child(function, become, args, kwargs, writes)
        os.close(writes)
        try:
            data = _read(reads, seconds)
        finally:
            os.close(reads)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            for descriptor, offset in offsets.items():
                with contextlib.suppress(OSError):
                    os.lseek(descriptor, offset, os.SEEK_SET)
        return _answer_of(data, time.perf_counter() - begun)

    def _child(
        self,
        function: FunctionType,
        become: Callable[[], None],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        writes: int,
    ) -> None:
        try:
            asyncio = sys.modules.get("asyncio")
            if asyncio is not None:  # a coroutine gets a loop of its own
                asyncio._set_running_loop(None)  # noqa: SLF001 - there is no other way
            try:
                become()
            except AttributeError as error:
                description = Description(())
                description.error(error)
            else:
                place = os.environ.get("TMPDIR", ".")
                before = values_of(function.__globals__, self.variables)
                description = observe(
                    function,
                    args,
                    kwargs,
                    self._left_out,
                    place=place,
                    opaque=self.opaque,
                    spelled=self.tolerance != EXACT,
                )
                after = values_of(function.__globals__, self.variables)
                add_to(description, changes(before, after))
            arcs = self.measured() if self.measured is not None else None
            document = {"words": description.words, "cut": description.cut, "arcs": arcs}
            data = json.dumps(document).encode("utf-8", "surrogatepass")
            while data:
                data = data[os.write(writes, data) :]
        finally:
            os._exit(0)


class _Call:
    """One call, on the live state: what the reference does, and whether it does so again."""

    def __init__(
        self, situ: InSitu, function: FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._situ = situ
        self._call = function, args, kwargs
        self._steady: bool | None = None
        self.reference = self._again()

    def _again(self) -> Answer:
        function, args, kwargs = self._call
        return self._situ.answer(function, self._situ.as_reference, args, kwargs, _SECONDS)

    @property
    def steady(self) -> bool:
        """Whether the reference does the same twice.

        What differs from itself (a clock, an open file that both read) tells nothing.
        """
        if self._steady is None:
            self._steady = self._situ.told(self._again(), self.reference) is None
        return self._steady

    def difference(self, code: CodeType | None) -> tuple[str | None, Any]:
        """How a candidate differs, and the arcs it ran."""
        function, args, kwargs = self._call
        limit = min(_SECONDS, self.reference.seconds * _FACTOR + _LEAST)
        found = self._situ.answer(
            function, lambda: self._situ.as_candidate(code), args, kwargs, limit
        )
        return self._situ.told(found, self.reference), found.arcs


class _Stopper:
    """A plugin: no further test is run when there is nothing more to find out."""

    def __init__(self, found: InSitu) -> None:
        self._found = found

    def pytest_runtest_logfinish(self) -> None:
        if self._found.done:
            self._session.shouldstop = "done"

    def pytest_sessionstart(self, session: Any) -> None:
        self._session = session


def _offsets() -> dict[int, int]:
    """Where reading goes on in each open file: a forked process moves that for all."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if stat.S_ISREG(os.fstat(int(name)).st_mode):
                found[int(name)] = os.lseek(int(name), 0, os.SEEK_CUR)
    return found


def _read(descriptor: int, seconds: float) -> bytes:
    """All that comes in time; nothing when that is not all."""
    until = time.monotonic() + seconds
    pieces: list[bytes] = []
    while True:
        wait = until - time.monotonic()
        if wait <= 0 or not select.select([descriptor], [], [], wait)[0]:
            return b""
        piece = os.read(descriptor, 1 << 20)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def _answer_of(data: bytes, seconds: float) -> Answer:
    try:
        found = json.loads(data.decode("utf-8", "surrogatepass"))
        description = Description(())
        description.words = [str(word) for word in found["words"]]
        description.cut = bool(found["cut"])
        return Answer(description, found["arcs"], seconds)
    except (ValueError, KeyError, TypeError):
        return Answer(None, None, seconds)

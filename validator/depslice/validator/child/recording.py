"""Runs the repository's tests, or a script, and keeps the arguments of the targets' calls.

    python -m depslice_child.recording ORDER.json

ORDER has ``folder`` (the copied repository), ``roots`` (what is put on ``sys.path``),
``own`` (the modules a slice may hold), ``targets`` (``id``, ``path``, ``qualname``,
``line``), ``most`` (calls of each), ``tests`` (files, or ids of pytest) or ``script``,
``choose`` (``first`` calls, or those that are ``reaching`` new branches), ``seconds`` (for a
test), and ``calls``: the file to write. A line of JSON is appended for each call, so a killed
run loses none, and one for each target whose calls could not be kept, for each file of tests
that could not be imported, for each test that was stopped, for the first that failed and that was
skipped, with their number, for what ended the tests or the script before their end, and a last
one: where that is missing, what was run has ended the process.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import runpy
import sys
import time
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from .describing import text_of
from .own_tests import NOT_RUN, Ran, run_own_tests, test_at_hand
from .passing_files import PassingFiles
from .portable import Home, dump
from .tracing import Arc, Visit, trace_calls
from .watching import watch

_ATTEMPTS = 3000  # at a target whose calls repeat themselves, or cannot be kept
_FROM_ONE_PLACE = 3  # calls of one line of a test are much alike
_BYTES = 1 << 20
_FEW = 20  # calls to keep though they reach nothing new: values differ where branches do not
_IDLE = 300  # calls of a test in a row that are of no use: it is one of many tests
_VISITS = 30_000  # calls of a target, at most
_REPEATING = 30  # such calls, after which one is dumped only where a test makes it anew
_DUMPING = 1.0  # seconds for the arguments of one target's calls
_FAILING = 20  # calls whose arguments could not be kept: the next ones cannot either


class Recorder:
    """Writes calls of targets; which ones, its kinds decide."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.home = Home(frozenset(order["own"]), order["folder"])
        self.passing_files = PassingFiles(order["folder"])
        self.most = order["most"]
        self.file = open(order["calls"], "a", encoding="utf-8")  # noqa: SIM115 - until the end
        self.kept: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.places: Counter[tuple[str, str, int]] = Counter()
        self.seen: set[bytes] = set()
        self.failed: dict[str, str] = {}
        self.open = {target["id"] for target in order["targets"]}
        self.process = os.getpid()
        self.ran = Ran()
        self.script_ended = ""  # by what, if not as scripts should
        self.tests_ended_by = ""  # what else than their end

    def start(self) -> None:
        """Record from here on."""
        raise NotImplementedError

    def dumped(self, target: str, code: CodeType, frame: FrameType) -> bytes | None:
        """The arguments of a frame that starts; ``None`` when they cannot be kept."""
        try:
            values = arguments(code, frame)
            file = self.passing_files.named_by(values)
            if file:
                self.failed.setdefault(target, f"they name a file that only its test has: {file}")
                return None
            data = dump(self.home, values)
        except Exception as error:  # noqa: BLE001 - values that cannot travel have many ways
            self._failed(target, text_of(error, 200))
            return None
        if len(data) > _BYTES:
            self._failed(target, f"arguments of more than {_BYTES >> 20} MiB")
            return None
        return data

    def _failed(self, target: str, why: str) -> None:
        self.failures[target] += 1
        self.failed.setdefault(target, why)

    def is_new(self, target: str, data: bytes) -> bool:
        """Whether these arguments are met for the first time; they are not, from now on."""
        digest = hashlib.sha256(target.encode() + data).digest()
        found = digest not in self.seen
        self.seen.add(digest)
        return found

    def write(self, target: str, code: CodeType, data: bytes | None, **more: Any) -> None:
        """Keep a call."""
        self.kept[target] += 1
        line = {"target": target, "code": hashlib.sha256(code.co_code).hexdigest(), **more}
        if data is not None:
            line["data"] = base64.b64encode(data).decode()
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def finish(self) -> None:
        """Write what could not be kept, and end the process at once.

        Tests that did not even start are told by the exit code, and why on standard error.
        A copy of the process that a test has made has nothing to tell.
        """
        if os.getpid() != self.process:
            os._exit(0)
        if not self.kept and self.tests_ended_by:
            sys.stdout.flush()
            sys.stderr.write(f"{self.tests_ended_by}\n")
            sys.stderr.flush()
            os._exit(NOT_RUN[0])
        if not self.kept and self.ran.code in NOT_RUN:
            sys.stdout.flush()
            os._exit(self.ran.code)
        for name, why in self.ran.broken.items():
            self.file.write(json.dumps({"broken": name, "why": why}) + "\n")
        for name in self.ran.stopped:
            self.file.write(json.dumps({"stopped": name}) + "\n")
        for how, tests in (("failed", self.ran.failed), ("skipped", self.ran.skipped)):
            for name, why in itertools.islice(tests.items(), 1):
                first = {"test": name, "why": why, "how": how, "number": len(tests)}
                self.file.write(json.dumps(first) + "\n")
        if self.script_ended:
            self.file.write(json.dumps({"script": self.script_ended}) + "\n")
        if self.tests_ended_by:
            self.file.write(json.dumps({"tests": self.tests_ended_by}) + "\n")
        for target, why in self.failed.items():
            self.file.write(json.dumps({"target": target, "failed": why}) + "\n")
        self.file.write(json.dumps({"ended": True}) + "\n")
        self.file.flush()
        os._exit(0)


class FirstCalls(Recorder):
    """Keeps the first calls that differ, and few that are made in one place."""

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__(order)
        self.targets = {(t["path"], t["qualname"]): t["id"] for t in order["targets"]}
        self.attempts: Counter[str] = Counter()
        self.busy = False

    def start(self) -> None:
        """See :class:`Recorder`."""
        watch(self)

    def __call__(self, code: CodeType, frame: FrameType) -> bool:
        """Code starts: keep its arguments if it is a target's; for ``watch``."""
        target = self.targets.get((code.co_filename, code.co_qualname))
        if target is None or target not in self.open or os.getpid() != self.process:
            return False
        if self.busy:
            return True
        self.busy = True
        try:
            self._keep(target, code, frame)
        finally:
            self.busy = False
        if not self.open:
            self.finish()
        return target in self.open

    def _keep(self, target: str, code: CodeType, frame: FrameType) -> None:
        self.attempts[target] += 1
        place = _place(target, frame)
        if self.places[place] < _FROM_ONE_PLACE:
            data = self.dumped(target, code, frame)
            if data is not None and self.is_new(target, data):
                self.places[place] += 1
                self.write(target, code, data)
        if self.kept[target] >= self.most or self.attempts[target] >= _ATTEMPTS:
            self.open.discard(target)

    def finish(self) -> None:
        """See :class:`Recorder`; a call that was kept makes up for one that was not."""
        self.failed = {t: why for t, why in self.failed.items() if not self.kept[t]}
        super().finish()


class ReachingCalls(Recorder):
    """Keeps calls that reach branch arcs which no earlier one has, and a few more.

    Of a call it is known which of its test it was, so that it can be found again.
    """

    def __init__(self, order: dict[str, Any]) -> None:
        super().__init__(order)
        self.targets = {
            (t["path"], t["qualname"], line): t["id"]
            for t in order["targets"]
            for line in t["lines"]
        }
        self.named = {
            (path, qualname): target for (path, qualname, _), target in self.targets.items()
        }
        self.codes: dict[int, tuple[CodeType, str | None]] = {}
        self.arcs: dict[str, set[Arc]] = {target: set() for target in self.open}
        self.at_hand: dict[str, Visit] = {}
        self.numbers: Counter[str] = Counter()
        self.test = ""
        self.idle: Counter[str] = Counter()
        self.dull: Counter[str] = Counter()
        self.spent: dict[str, float] = {}
        self.sites: set[tuple[str, tuple[str, str, int]]] = set()

    def start(self) -> None:
        """See :class:`Recorder`."""
        trace_calls(self.entered)

    def entered(self, code: CodeType, frame: FrameType) -> Visit | None:
        """Code starts: trace it if it is a target's; for ``trace_calls``."""
        if id(code) not in self.codes:
            self.codes[id(code)] = code, self._target_of(code)
        target = self.codes[id(code)][1]
        if target is None:
            return None
        if "<locals>" in code.co_qualname:
            return self.at_hand.get(target)
        test = test_at_hand()
        if test != self.test:
            self.test = test
            self.numbers.clear()
            self.dull.clear()
        number = self.numbers[target]
        self.numbers[target] += 1
        if self.dull[target] >= _IDLE or target not in self.open or os.getpid() != self.process:
            self.at_hand.pop(target, None)
            return None
        return self._visit(target, code, frame, number)

    def _target_of(self, code: CodeType) -> str | None:
        """The target whose code it is, or within whose it is defined."""
        root, inner, _ = code.co_qualname.partition(".<locals>")
        if inner:
            return self.named.get((code.co_filename, root))
        return self.targets.get((code.co_filename, root, code.co_firstlineno))

    def _visit(self, target: str, code: CodeType, frame: FrameType, number: int) -> Visit:
        test, place = self.test, _place(target, frame)
        data = None
        if self._may_dump(target, test, place):
            begun = time.perf_counter()
            data = self.dumped(target, code, frame)
            self.spent[target] = self.spent.get(target, 0.0) + time.perf_counter() - begun
        kept = False

        def left(arcs: set[Arc]) -> None:
            nonlocal kept
            new = arcs - self.arcs[target]
            self.arcs[target] |= new
            if not kept and self._wanted(target, place, new, data):
                kept = True
                self.places[place] += 1
                self.idle[target] = self.dull[target] = 0
                self.write(target, code, data, test=test, number=number, arcs=len(new))
            else:
                self.idle[target] += 1
                self.dull[target] += 1
            if self.kept[target] >= self.most or self.idle[target] >= _VISITS:
                self._close(target)

        self.at_hand[target] = visit = Visit(left)
        return visit

    def _may_dump(self, target: str, test: str, place: tuple[str, str, int]) -> bool:
        if self.failures[target] >= _FAILING or self.spent.get(target, 0.0) >= _DUMPING:
            return False
        known = (test, place) in self.sites
        self.sites.add((test, place))
        return not known or self.idle[target] < _REPEATING

    def _close(self, target: str) -> None:
        self.open.discard(target)
        self.at_hand.pop(target, None)
        if not self.open:
            self.finish()

    def _wanted(
        self, target: str, place: tuple[str, str, int], new: set[Arc], data: bytes | None
    ) -> bool:
        if data is not None and not self.is_new(target, data):
            return bool(new)
        return bool(new) or (self.kept[target] < _FEW and self.places[place] < _FROM_ONE_PLACE)


def _place(target: str, frame: FrameType) -> tuple[str, str, int]:
    below = frame.f_back
    return (target, below.f_code.co_filename, below.f_lineno) if below else (target, "", 0)


def arguments(code: CodeType, frame: FrameType) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments with which a frame that just starts was called."""
    values = frame.f_locals
    names = code.co_varnames
    plain = code.co_argcount
    only = code.co_kwonlyargcount
    positional = tuple(values[name] for name in names[:plain])
    keywords = {name: values[name] for name in names[plain : plain + only]}
    rest = plain + only
    if code.co_flags & 0x04:  # CO_VARARGS
        positional += tuple(values[names[rest]])
        rest += 1
    if code.co_flags & 0x08:  # CO_VARKEYWORDS
        keywords.update(values[names[rest]])
    return positional, keywords


def _run_script(path: str) -> str:
    """Run a script; what ended it, if that was an error."""
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as error:
        return "" if error.code in (None, 0) else f"exit code {error.code}"
    except BaseException as error:  # noqa: BLE001 - whatever it raises, its calls are kept
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def main() -> None:
    """Read the order, run what it names."""
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    sys.path[:0] = [*order["roots"], order["folder"]]
    kinds = {"first": FirstCalls, "reaching": ReachingCalls}
    recorder = kinds[order["choose"]](order)  # which opens a file beside the order
    os.chdir(order["folder"])
    recorder.start()
    try:
        if "script" in order:
            sys.argv = [order["script"]]
            recorder.script_ended = _run_script(order["script"])
        else:
            recorder.ran = run_own_tests(order["tests"], order["folder"], seconds=order["seconds"])
    except BaseException as error:  # noqa: BLE001 - no test's: there is no pytest, or it gives up
        recorder.tests_ended_by = text_of(error, 200)
    finally:
        sys.setprofile(None)
        sys.settrace(None)
        recorder.finish()


if __name__ == "__main__":
    main()

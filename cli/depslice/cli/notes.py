"""What is said beside the result, on standard error: notes, diagnostics, progress."""

from __future__ import annotations

import math
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Protocol

from depslice.callgraph.counting import counted
from depslice.callgraph.model import Diagnostic, Severity
from depslice.cli.options import Output

if TYPE_CHECKING:
    from depslice.callgraph.project import LeftOut


class Progress(Protocol):
    """Is told how many are done, of how many, and what is being worked on."""

    def __call__(self, done: int, total: int, at_hand: str = "", /) -> None:
        """Show it, if it is time."""


_SHOWN = 5
_SECONDS_BETWEEN = 0.1
_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_HINT = 20.0
_ERASE_LINE = "\r\x1b[K"
_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class _Line:
    """Whether a line of progress stands on the terminal now: there is one of it."""

    stands = False


def erase_progress() -> None:
    """Take the line of progress away, before something else is written to the terminal."""
    if _Line.stands and sys.stderr is not None:
        _Line.stands = False
        with suppress(OSError):
            sys.stderr.write(_ERASE_LINE)
            sys.stderr.flush()


class Notes:
    """Says things, as far as ``--quiet`` and ``--verbose`` allow.

    With ``--quiet`` only what is told (:meth:`tell`) is left: progress and notes are about how an
    answer came to be, that is part of the answer.

    ``result_path`` is where what they are said beside goes.
    """

    def __init__(self, output: Output) -> None:
        self.result_path = output.path
        self._quiet = output.quiet
        self._verbose = output.verbose
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._color = self._terminal and output.color and not os.environ.get("NO_COLOR")

    @property
    def tells_all(self) -> bool:
        """Whether the user wants all notes, at full length."""
        return self._verbose

    def say(self, text: str) -> None:
        """A note, unless the user wants quiet."""
        if not self._quiet:
            erase_progress()
            self._write(f"{_DIM}{text}{_PLAIN}\n" if self._color else f"{text}\n")

    def tell(self, text: str) -> None:
        """What was asked for and does not stand in the result, or says that it falls short."""
        erase_progress()
        self._write(f"{text}\n")

    def detail(self, text: str) -> None:
        """A note for those who want to know all."""
        if self._verbose:
            self.say(text)

    def left_out(self, entries: Sequence[LeftOut]) -> None:
        """What is not analysed, by reason; with ``--verbose``, each path."""
        if not entries:
            return
        counts = Counter(entry.reason for entry in entries)
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
        tail = "" if self._verbose else "; --verbose lists them"
        self.say(f"left out: {counted(len(entries), 'path')} ({listed}){tail}")
        for entry in entries:
            self.detail(f"  {entry.path}: {entry.reason}")

    def diagnostics(self, found: Iterable[Diagnostic]) -> None:
        """What was wrong in the analysed code: errors, and with ``--verbose`` the rest."""
        told = sorted(
            (d for d in found if self._verbose or d.severity is Severity.ERROR),
            key=lambda d: (d.path, d.span.start if d.span else 0, d.slug),
        )
        shown = told if self._verbose else told[:_SHOWN]
        for each in shown:
            line = f":{each.span.start}" if each.span is not None else ""
            self.say(f"{each.path}{line}: {each.severity.value}: {each.message} [{each.slug}]")
        if len(told) > len(shown):
            self.say(f"and {counted(len(told) - len(shown), 'more error')} (--verbose lists them)")

    @contextmanager
    def progress(self, what: str, *, slow: bool = False) -> Iterator[Progress]:
        """Give a function for the numbers done and all, and what is being worked on.

        They are shown on one line of a terminal; elsewhere, a line is written every
        10 seconds at most, and for what is ``slow`` one at the beginning. Without a thread:
        beside one, worker processes could not be forked.
        """
        with self._line(at_once=slow) as show:
            named = ""

            def tell(done: int, total: int, at_hand: str = "", /) -> None:
                nonlocal named
                tail = f": {at_hand}" if at_hand else ""
                show(f"{what} {done:,}/{total:,}{tail}", at_hand != named)
                named = at_hand

            yield tell

    @contextmanager
    def steps(self, what: str, *, slow: bool = False) -> Iterator[Callable[[str], None]]:
        """Give a function that names the step at hand, shown as :meth:`progress` is."""
        with self._line(at_once=slow) as show:
            yield lambda step: show(f"{what}: {step}", True)

    @contextmanager
    def count(self, what: str, *, hint: str = "") -> Iterator[Callable[[int], None]]:
        """Give a function for a number of which nobody knows how far it goes.

        Shown as :meth:`progress` is; the ``hint`` is a note, once, when it has taken long.
        """
        late = time.monotonic() + _SECONDS_BEFORE_HINT
        with self._line(at_once=False) as show:

            def tell(number: int) -> None:
                nonlocal late
                if hint and time.monotonic() > late:
                    late = math.inf
                    self.say(hint)
                show(f"{what}: {number:,} so far", False)

            yield tell

    @contextmanager
    def _line(self, *, at_once: bool) -> Iterator[Callable[[str, bool], None]]:
        """Give a function for a text, and whether it says something new, which a terminal shows
        at once: it may stand there for long.
        """
        between = _SECONDS_BETWEEN if self._terminal else _SECONDS_BETWEEN_LINES
        last = 0.0 if self._terminal or at_once else time.monotonic()

        def show(text: str, is_new: bool) -> None:
            nonlocal last
            now = time.monotonic()
            due = now - last >= between or (is_new and self._terminal)
            if not self._quiet and due:
                last = now
                self._write(f"{_ERASE_LINE}{_fitting(text)}" if self._terminal else f"{text}\n")
                _Line.stands = self._terminal

        try:
            yield show
        finally:
            erase_progress()

    def _write(self, text: str) -> None:
        if sys.stderr is None:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            pass  # a note nobody reads


def _fitting(text: str) -> str:
    """The beginning, as wide as the terminal: of two lines only the last could be erased."""
    width = shutil.get_terminal_size().columns - 1
    return text if len(text) <= width else f"{text[: width - 1]}…"

"""What a test gets as ``context``: strict comparison, of values and of whole calls.

>>> context.same([1.0], [1.0])
>>> context.check("text", width=3)                 # both get a copy of their own
>>> context.check_with(lambda: ((make_list(),), {}))  # arguments made anew for each
>>> context.check_with(lambda: context.load("3"))     # from a data file beside the harness
>>> context.in_situ({"tests/test_a.py::test_b": [0]})  # the first call that this test makes
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ..comparing import EXACT, Tolerance, described_difference, difference
from ..describing import Description
from ..portable import Home, load
from .in_situ import InSitu
from .observing import observe
from .state import Values, add_changes
from .subjects import Subject
from .transcript import Transcript

NOWHERE = Home(frozenset(), os.sep)
Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


class Context:
    """See the module. ``folders`` are left out of texts: the two sides may differ in them."""

    def __init__(
        self,
        candidate: Callable[..., Any],
        reference: Callable[..., Any],
        *,
        tolerance: Tolerance = EXACT,
        folders: tuple[str, ...] = (),
        transcript: Transcript | None = None,
        data: str = "",
        home: Home = NOWHERE,
        situ: InSitu | None = None,
    ) -> None:
        self.candidate = candidate
        self.reference = reference
        self.tolerance = tolerance
        self.comparisons = 0
        self._folders = folders
        self._transcript = transcript
        self._data = data
        self._home = home
        self._situ = situ
        self._spelled = transcript is not None and tolerance != EXACT

    def same(
        self,
        left: object,
        right: object,
        *,
        relative: float | None = None,
        absolute: float | None = None,
    ) -> None:
        """Compare two values: exact types, NaN equal to NaN, -0.0 different from 0.0.

        :raises AssertionError: they differ; tells where.
        """
        self.comparisons += 1
        if self._transcript is not None:
            self._transcript.note(left)
            self._transcript.note(right)
        tolerance = self._tolerance(relative, absolute)
        found = difference(left, right, tolerance=tolerance, folders=self._folders)
        if found is not None:
            raise AssertionError(found)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Call both with copies of the arguments; compare all that came of it.

        That is the result or the exception (type and arguments), the arguments after the
        call, what was printed, warnings, files written to the working folder, and changes of
        plain variables of the module.

        :raises AssertionError: they differ; tells where.
        """
        self.check_with(lambda: copy.deepcopy((args, kwargs)))

    def check_with(self, make: Callable[[], Arguments]) -> None:
        """As :meth:`check`, with arguments that ``make`` makes: called once for each side."""
        self.comparisons += 1
        sides: list[Description] = []
        states: list[tuple[Values, Values]] = []
        for subject in (self.reference, self.candidate):
            args, kwargs = make()
            watched: Callable[[], Values] = getattr(subject, "watched", dict)
            before = watched()
            sides.append(
                observe(subject, tuple(args), dict(kwargs), self._folders, spelled=self._spelled)
            )
            states.append((before, watched()))
        add_changes(sides, states)
        if self._transcript is not None:
            self._transcript.add("checked", sides[1])
        found = described_difference(sides[1], sides[0], self.tolerance)
        if found is not None:
            raise AssertionError(f"candidate {found} reference")

    def load(self, name: str) -> Any:
        """The value in a data file beside the harness, made anew each time."""
        with open(os.path.join(self._data, name), "rb") as file:
            return load(self._home, file.read())

    def in_situ(self, calls: Mapping[str, Sequence[int]], tests: Sequence[str] = ()) -> None:
        """Compare calls where the repository's own tests make them.

        ``calls`` names tests as pytest does, relative to the repository, and which of the
        target's calls in each of them, from 0. ``tests`` are run instead of those named there,
        which may need others before them.

        :raises AssertionError: they differ, or none of the calls was made.
        """
        if self._situ is None:
            raise NotImplementedError("only `depslice validate` compares in situ")
        self._situ.run(calls, tests)
        if self._situ.sides.rivals:
            return
        found = self._situ.compared
        self.comparisons += len(found)
        for subject in (self.candidate, self.reference):
            if isinstance(subject, Subject):
                subject.calls += len(found)  # in processes of their own
        if self._transcript is not None:
            for each in found:
                self._transcript.add("checked", each)
        if self._situ.difference is not None:
            raise AssertionError(self._situ.difference)
        if not found:
            raise AssertionError(f"no call to compare{self._situ.why_nothing}")

    def _tolerance(self, relative: float | None, absolute: float | None) -> Tolerance:
        return Tolerance(
            self.tolerance.relative if relative is None else relative,
            self.tolerance.absolute if absolute is None else absolute,
        )


def shown_context(
    context: Context, *, candidate: Callable[..., Any], reference: Callable[..., Any]
) -> SimpleNamespace:
    """What a test gets of ``context``: what it offers, and nothing that leads to the rest."""
    offered = (context.same, context.check, context.check_with, context.load, context.in_situ)
    return SimpleNamespace(
        candidate=candidate,
        reference=reference,
        **{each.__name__: _closed(each) for each in offered},
    )


def _closed(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    call.__name__ = call.__qualname__ = method.__name__
    call.__doc__ = method.__doc__
    return call

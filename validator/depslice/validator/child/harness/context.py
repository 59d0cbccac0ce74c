"""What a test gets as ``context``: strict comparison, of values and of whole calls.

>>> context.same([1.0], [1.0])
>>> context.check("text", width=3)                 # both get a copy of their own
>>> context.check_with(lambda: ((make_list(),), {}))  # arguments made anew for each
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from ..comparing import EXACT, Tolerance, described_difference, difference
from .observing import observe
from .transcript import Transcript

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
    ) -> None:
        self.candidate = candidate
        self.reference = reference
        self.tolerance = tolerance
        self.comparisons = 0
        self._folders = folders
        self._transcript = transcript

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
        tolerance = self._tolerance(relative, absolute)
        found = difference(left, right, tolerance=tolerance, folders=self._folders)
        if found is not None:
            raise AssertionError(found)

    def check(self, *args: Any, **kwargs: Any) -> None:
        """Call both with copies of the arguments; compare all that came of it.

        That is the result or the exception (type and arguments), the arguments after the
        call, what was printed, warnings, and files written to the working folder.

        :raises AssertionError: they differ; tells where.
        """
        self.check_with(lambda: copy.deepcopy((args, kwargs)))

    def check_with(self, make: Callable[[], Arguments]) -> None:
        """As :meth:`check`, with arguments that ``make`` makes: called once for each side."""
        self.comparisons += 1
        sides = []
        for subject in (self.reference, self.candidate):
            args, kwargs = make()
            sides.append(observe(subject, tuple(args), dict(kwargs), self._folders))
        if self._transcript is not None:
            self._transcript.add("checked", sides[1])
        found = described_difference(sides[1], sides[0], self.tolerance)
        if found is not None:
            raise AssertionError(f"candidate {found} reference")

    def _tolerance(self, relative: float | None, absolute: float | None) -> Tolerance:
        return Tolerance(
            self.tolerance.relative if relative is None else relative,
            self.tolerance.absolute if absolute is None else absolute,
        )
